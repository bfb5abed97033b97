//! The steps of a set of specification states, and the sets that they lead to.

use crate::set_table::SetHash;
use crate::{Closure, LabelId, LabelKind, Semantics, StateId, Step};

use super::nodes::{
    IN_TABLE, Members, Node, Nodes, Place, members_without_table, number_without_table,
};

/// The sets after the labels that implementations take, as far as they were asked for.
///
/// They are not interned: an implementation takes few of the steps that a large set has, and a search
/// with an antichain keeps few of the pairs that these lead to.
#[derive(Default)]
pub(super) struct TargetSets {
    /// Those of several states.
    sets: Vec<TargetSet>,
    members: Vec<StateId>,
}

struct TargetSet {
    start: u32,
    end: u32,
    signature: u32,
    hash: SetHash,
    /// Its number with the part it was asked for last.
    number: (u32, Number),
}

/// What is known of the number of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Known(Node),
    /// It had none when so many were given.
    NoneOf(usize),
}

impl Number {
    const UNKNOWN: Self = Self::NoneOf(usize::MAX);

    /// The number of a place, if it has one. The same place is looked up again only after others got a number.
    #[inline]
    pub(super) fn find(&mut self, nodes: &Nodes, place: Place<'_>, hash: SetHash) -> Option<Node> {
        match *self {
            Self::Known(node) => return Some(node),
            Self::NoneOf(numbered) if numbered == nodes.numbered() => return None,
            Self::NoneOf(_) => {}
        }
        let found = nodes.find(place, hash);
        *self = found.map_or_else(|| Self::NoneOf(nodes.numbered()), Self::Known);
        found
    }
}

/// A set among [`TargetSets`], or one that needs no place there: numbers are those of
/// [`number_without_table`], or places with [`IN_TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target(u32);

impl Target {
    /// The empty set: σ is no trace of the specification.
    pub(super) const NONE: Self = Self(u32::MAX);

    /// Its number, if it needs no place: that of [`number_without_table`]. Else a number with [`IN_TABLE`].
    #[inline]
    pub(super) fn number(self) -> Node {
        self.0
    }

    /// The place in the table of one that has a place there.
    fn index(self) -> usize {
        (self.0 ^ IN_TABLE) as usize
    }
}

impl TargetSets {
    pub(super) fn clear(&mut self) {
        self.sets.clear();
        self.members.clear();
    }

    fn add(&mut self, members: &[StateId]) -> Target {
        if let Some(number) = number_without_table(members) {
            return Target(number);
        }
        let start = self.members.len() as u32;
        self.members.extend_from_slice(members);
        self.sets.push(TargetSet {
            start,
            end: self.members.len() as u32,
            signature: signature_of(members),
            hash: SetHash::of(members),
            number: (0, Number::UNKNOWN),
        });
        Target((self.sets.len() as u32 - 1) | IN_TABLE)
    }

    #[inline]
    pub(super) fn members(&self, target: Target) -> Members<'_> {
        members_without_table(target.0).unwrap_or_else(|| {
            let set = &self.sets[target.index()];
            Members::All(&self.members[set.start as usize..set.end as usize])
        })
    }

    #[inline]
    pub(super) fn signature(&self, target: Target) -> u32 {
        match self.sets.get(target.index()) {
            Some(set) => set.signature,
            None => signature_of(&self.members(target)),
        }
    }

    pub(super) fn hash(&self, target: Target) -> SetHash {
        let set = self.sets.get(target.index());
        set.map_or_else(SetHash::default, |set| set.hash)
    }

    /// The hashes of the sets that are looked for in a table.
    pub(super) fn hashes(&self) -> impl Iterator<Item = SetHash> + Clone {
        self.sets.iter().map(|set| set.hash)
    }

    /// What is known of the number of the set with a part.
    #[inline]
    pub(super) fn number(&self, target: Target, part: u32) -> Number {
        match self.sets.get(target.index()) {
            Some(set) if set.number.0 == part => set.number.1,
            _ => Number::UNKNOWN,
        }
    }

    #[inline]
    pub(super) fn set_number(&mut self, target: Target, part: u32, number: Number) {
        if let Some(set) = self.sets.get_mut(target.index()) {
            set.number = (part, number);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.sets.capacity() * size_of::<TargetSet>()
            + self.members.capacity() * size_of::<StateId>()
    }
}

/// One bit for each member, so that most sets that do not include one another are found to differ
/// without a look at their members.
pub(super) fn signature_of(set: &[StateId]) -> u32 {
    set.iter().fold(0, |bits, state| {
        let mixed = (state.index() as u32).wrapping_mul(0x9E37_79B9);
        bits | 1 << (mixed >> 27)
    })
}

/// The set that the questions are about. Its steps are sorted when the first label is asked for.
#[derive(Clone, Default)]
pub(super) struct SetRow {
    members: Vec<StateId>,
    is_read: bool,
    steps: Vec<Step>,
    /// One for each label that has a step, in the order of labels.
    labels: Vec<LabelSteps>,
    closure: Closure,
    scratch: Vec<StateId>,
}

#[derive(Clone)]
struct LabelSteps {
    label: LabelId,
    /// Where the label's steps are, in `steps`.
    steps: (u32, u32),
    /// The set after it, once it was asked for.
    target: Option<Target>,
}

impl SetRow {
    /// Turns to a place.
    pub(super) fn turn(&mut self, place: Place<'_>) {
        self.members.clear();
        self.members.extend_from_slice(place.members);
        self.is_read = false;
        self.labels.clear();
    }

    /// The states; none when σ is no trace of the specification.
    pub(super) fn members(&self) -> &[StateId] {
        &self.members
    }

    fn read<N: Semantics<State = StateId>>(&mut self, model: &N) {
        if self.is_read {
            return;
        }
        self.is_read = true;
        self.steps.clear();
        for state in &self.members {
            model.successors(state, &mut self.steps);
        }
        let kinds = model.labels().kinds();
        self.steps
            .retain(|(label, _)| kinds[label.index()] != LabelKind::Internal);
        self.steps.sort_unstable();
        self.steps.dedup();
        let mut start = 0;
        for group in self.steps.chunk_by(|a, b| a.0 == b.0) {
            let end = start + group.len() as u32;
            self.labels.push(LabelSteps {
                label: group[0].0,
                steps: (start, end),
                target: None,
            });
            start = end;
        }
    }

    /// The set after `label`, if a state of this one has such a step.
    pub(super) fn then<N: Semantics<State = StateId>>(
        &mut self,
        model: &N,
        label: LabelId,
        sets: &mut TargetSets,
    ) -> Option<Target> {
        self.read(model);
        let i = self.labels.partition_point(|l| l.label < label);
        let found = self.labels.get_mut(i).filter(|l| l.label == label)?;
        if found.target.is_none() {
            let steps = &self.steps[found.steps.0 as usize..found.steps.1 as usize];
            found.target = Some(match *steps {
                [(_, state)] if self.closure.is_stable(model, state) => sets.add(&[state]),
                _ => {
                    self.scratch.clear();
                    self.scratch.extend(steps.iter().map(|&(_, state)| state));
                    self.closure.close(model, &mut self.scratch);
                    sets.add(&self.scratch)
                }
            });
        }
        found.target
    }

    /// The labels with a step, as bits; those whose index is too large are left out.
    pub(super) fn label_bits<N: Semantics<State = StateId>>(&mut self, model: &N) -> u64 {
        self.read(model);
        let small = self.labels.iter().filter(|l| l.label.index() < 64);
        small.fold(0, |bits, l| bits | 1 << l.label.index())
    }

    /// The labels with a step.
    pub(super) fn labels<N: Semantics<State = StateId>>(
        &mut self,
        model: &N,
    ) -> impl Iterator<Item = LabelId> + '_ {
        self.read(model);
        self.labels.iter().map(|l| l.label)
    }

    pub(super) fn bytes(&self) -> usize {
        self.closure.bytes()
    }
}
