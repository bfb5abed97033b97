//! init(p) with internal steps taken first, as interned bit sets.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::{Closure, LabelId, LabelKind, Semantics, StateId, Step};

/// A set of labels: its bits where one word has them all, else the index of an interned one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct LabelSetId(u64);

/// Sets of labels as rows of bits, interned unless a row is one word.
#[derive(Clone, Debug)]
struct LabelSets {
    words: usize,
    bits: Vec<u64>,
    index: HashTable<LabelSetId>,
}

impl LabelSets {
    fn get<'a>(&'a self, id: &'a LabelSetId) -> &'a [u64] {
        if self.words == 1 {
            return std::slice::from_ref(&id.0);
        }
        &self.bits[id.0 as usize * self.words..][..self.words]
    }

    fn intern(&mut self, set: &[u64]) -> LabelSetId {
        if let [bits] = *set {
            return LabelSetId(bits);
        }
        let Self { words, bits, index } = self;
        let row = |bits: &Vec<u64>, id: LabelSetId| -> Vec<u64> {
            bits[id.0 as usize * *words..][..*words].to_vec()
        };
        let h = FxBuildHasher.hash_one(set);
        if let Some(&id) = index.find(h, |&id| bits[id.0 as usize * *words..][..*words] == *set) {
            return id;
        }
        let id = LabelSetId((bits.len() / *words) as u64);
        bits.extend_from_slice(set);
        index.insert_unique(h, id, |&id| {
            FxBuildHasher.hash_one(row(bits, id).as_slice())
        });
        id
    }
}

/// For each state that matters, the visible labels it enables weakly.
///
/// A state that can move on internally to a stable one does not matter: whatever the stable one
/// refuses, it refuses; so refusals, and inputs that all states of a closed set take, are decided by
/// the stable states and by those that can never become stable.
#[derive(Clone, Debug)]
pub(super) struct WeakInitials {
    memo: Vec<Initials>,
    sets: LabelSets,
    closure: Closure,
    members: Vec<StateId>,
    row: Vec<Step>,
    found: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Initials {
    #[default]
    Unknown,
    DoesNotMatter,
    Known(LabelSetId),
}

impl WeakInitials {
    /// For sets over so many labels.
    pub(super) fn new(labels: usize) -> Self {
        let words = labels.div_ceil(64);
        Self {
            memo: Vec::new(),
            sets: LabelSets {
                words,
                bits: Vec::new(),
                index: HashTable::new(),
            },
            closure: Closure::default(),
            members: Vec::new(),
            row: Vec::new(),
            found: vec![0; words],
        }
    }

    /// Whether the set holds `label`; one beyond the alphabet it cannot hold.
    pub(super) fn contains(&self, id: LabelSetId, label: LabelId) -> bool {
        let word = self.sets.get(&id).get(label.index() / 64);
        word.is_some_and(|w| w >> (label.index() % 64) & 1 == 1)
    }

    /// Whether set `a` of this table is a subset of set `b` of `other`.
    pub(super) fn is_subset(&self, a: LabelSetId, other: &Self, b: LabelSetId) -> bool {
        let zeros = std::iter::repeat(&0);
        let pairs = self
            .sets
            .get(&a)
            .iter()
            .zip(other.sets.get(&b).iter().chain(zeros));
        pairs.into_iter().all(|(a, b)| a & !b == 0)
    }

    /// The set of `state`, or `None` when it does not matter. `map` takes the model's labels to the
    /// ids that the sets hold.
    pub(super) fn of<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        map: impl Fn(LabelId) -> LabelId,
        state: StateId,
    ) -> Option<LabelSetId> {
        let kinds = model.labels().kinds();
        let is_visible = |label: LabelId| {
            let kind = kinds[label.index()];
            kind != LabelKind::Internal && kind != LabelKind::Delta
        };
        if self.sets.words == 1 && model.internal_step(&state) == Some(false) {
            // Its steps are read for the search anyway, and to read them again costs less than to remember one set
            // for each state: that would be more memory than all the rest, in each thread.
            self.row.clear();
            model.successors(&state, &mut self.row);
            let visible = self.row.iter().filter(|&&(label, _)| is_visible(label));
            let bits = visible.fold(0, |bits, &(label, _)| bits | 1 << map(label).index());
            return Some(LabelSetId(bits));
        }
        let i = state.index();
        if self.memo.len() <= i {
            self.memo.resize(i + 1, Initials::Unknown);
        }
        match self.memo[i] {
            Initials::Unknown => {}
            Initials::DoesNotMatter => return None,
            Initials::Known(id) => return Some(id),
        }
        self.members.clear();
        self.members.push(state);
        self.closure.close(model, &mut self.members);
        self.found.fill(0);
        let mut moves_on = false;
        for &member in &self.members {
            moves_on |= member != state && self.closure.is_stable(model, member);
            self.row.clear();
            model.successors(&member, &mut self.row);
            for &(label, _) in &self.row {
                if is_visible(label) {
                    let label = map(label).index();
                    self.found[label / 64] |= 1 << (label % 64);
                }
            }
        }
        let result = (!moves_on).then(|| self.sets.intern(&self.found));
        self.memo[i] = result.map_or(Initials::DoesNotMatter, Initials::Known);
        result
    }

    pub(super) fn bytes(&self) -> usize {
        self.memo.len() * size_of::<Initials>()
            + self.sets.bits.len() * size_of::<u64>()
            + self.sets.index.capacity() * (size_of::<LabelSetId>() + 1)
            + self.closure.bytes()
    }
}
