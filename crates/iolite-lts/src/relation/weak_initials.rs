//! init(p) with internal steps taken first, as interned bit sets.

use rustc_hash::FxHashMap;

use crate::{Closure, LabelId, LabelKind, Semantics, StateId, Step};

/// A set of labels as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct LabelSet(Vec<u64>);

impl LabelSet {
    pub(super) fn insert(&mut self, label: LabelId) {
        let (word, bit) = (label.index() / 64, label.index() % 64);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << bit;
    }

    pub(super) fn contains(&self, label: LabelId) -> bool {
        self.0
            .get(label.index() / 64)
            .is_some_and(|w| w >> (label.index() % 64) & 1 == 1)
    }

    pub(super) fn is_subset(&self, other: &Self) -> bool {
        let zeros = std::iter::repeat(&0);
        self.0
            .iter()
            .zip(other.0.iter().chain(zeros))
            .all(|(a, b)| a & !b == 0)
    }
}

/// Index of an interned label set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct LabelSetId(u32);

/// For each state that matters, the visible labels it enables weakly.
///
/// A state that can move on internally to a stable one does not matter: whatever the stable one
/// refuses, it refuses; so refusals, and inputs that all states of a closed set take, are decided by
/// the stable states and by those that can never become stable.
#[derive(Debug, Default)]
pub(super) struct WeakInitials {
    memo: Vec<Initials>,
    sets: Vec<LabelSet>,
    index: FxHashMap<LabelSet, LabelSetId>,
    closure: Closure,
}

#[derive(Clone, Copy, Debug, Default)]
enum Initials {
    #[default]
    Unknown,
    DoesNotMatter,
    Known(LabelSetId),
}

impl WeakInitials {
    pub(super) fn set(&self, id: LabelSetId) -> &LabelSet {
        &self.sets[id.0 as usize]
    }

    /// The set of `state`, or `None` when it does not matter. `map` takes the model's labels to the
    /// ids that the sets hold.
    pub(super) fn of<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        map: impl Fn(LabelId) -> LabelId,
        state: StateId,
    ) -> Option<LabelSetId> {
        let i = state.index();
        if self.memo.len() <= i {
            self.memo.resize(i + 1, Initials::Unknown);
        }
        match self.memo[i] {
            Initials::Unknown => {}
            Initials::DoesNotMatter => return None,
            Initials::Known(id) => return Some(id),
        }
        let kinds = model.labels().kinds();
        let mut row: Vec<Step> = Vec::new();
        let mut states = vec![state];
        self.closure.close(model, &mut states);
        let mut set = LabelSet::default();
        let mut moves_on = false;
        for member in &states {
            row.clear();
            model.successors(member, &mut row);
            let mut stable = true;
            for &(label, _) in &row {
                match kinds[label.index()] {
                    LabelKind::Internal => stable = false,
                    LabelKind::Delta => {}
                    _ => set.insert(map(label)),
                }
            }
            moves_on |= stable && *member != state;
        }
        let result = (!moves_on).then(|| self.intern(set));
        self.memo[i] = result.map_or(Initials::DoesNotMatter, Initials::Known);
        result
    }

    fn intern(&mut self, set: LabelSet) -> LabelSetId {
        let next = LabelSetId(u32::try_from(self.sets.len()).expect("fewer than 2^32 label sets"));
        *self.index.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            next
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.memo.len() * size_of::<Initials>()
            + self
                .sets
                .iter()
                .map(|s| 2 * s.0.len() * 8 + 64)
                .sum::<usize>()
            + self.closure.bytes()
    }
}
