//! Pairs with their steps: what a search asks of the models, apart from what it remembers.

use crate::{LabelId, LabelKind, Semantics, StateId, Step};

use super::known::Known;
use super::nodes::{Node, Nodes, Place};
use super::rules::{Next, PairRules};
use super::set_row::TargetSets;

/// A pair that is taken: a state of the implementation and the node of what the specification may be
/// in.
pub(super) type Taken = (StateId, Node);

/// Appends the members of a node, and says its part. It is asked for the nodes of some pairs in their order, once
/// for those of one node that are together.
pub(super) type Places<'a> = dyn FnMut(Node, &mut Vec<StateId>) -> u32 + 'a;

impl Nodes {
    /// As [`Places`] has it.
    pub(super) fn append(&self, node: Node, members: &mut Vec<StateId>) -> u32 {
        let (states, part) = self.place(node);
        members.extend_from_slice(&states);
        part
    }
}

/// A visible step of the implementation, with what becomes of it.
#[derive(Clone, Copy)]
pub(super) struct ExpandedStep {
    /// An id of the joint table.
    pub(super) label: LabelId,
    pub(super) target: StateId,
    pub(super) next: Next,
}

/// What some pairs of a level refuse and do, in their order.
#[derive(Default)]
pub(super) struct Expansion {
    /// For each pair where its steps end.
    ends: Vec<u32>,
    /// The pairs, by their index, with a refusal that the specification lacks.
    refusals: Vec<(u32, Vec<LabelId>)>,
    steps: Vec<ExpandedStep>,
    /// The sets that steps lead to.
    pub(super) sets: TargetSets,
}

impl Expansion {
    fn clear(&mut self) {
        self.ends.clear();
        self.refusals.clear();
        self.steps.clear();
        self.sets.clear();
    }

    /// Number of pairs.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where the steps of a pair are.
    pub(super) fn steps_of(&self, pair: usize) -> std::ops::Range<usize> {
        let start = pair.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[pair] as usize
    }

    pub(super) fn step(&self, index: usize) -> ExpandedStep {
        self.steps[index]
    }

    /// The states that steps lead to.
    pub(super) fn targets(&self) -> impl Iterator<Item = StateId> + Clone {
        self.steps.iter().map(|step| step.target)
    }

    /// The refusal of a pair that the specification lacks.
    pub(super) fn refusal(&mut self, pair: usize) -> Option<Vec<LabelId>> {
        let found = self.refusals.iter_mut().find(|(p, _)| *p as usize == pair);
        found.map(|(_, refused)| std::mem::take(refused))
    }

    pub(super) fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<u32>()
            + self.steps.capacity() * size_of::<ExpandedStep>()
            + self.sets.bytes()
    }
}

/// Expands pairs: the rules of a relation and an implementation, a thread's own or lent.
pub(super) struct Expander<'a, R, M> {
    pub(super) rules: &'a mut R,
    implementation: &'a M,
    row: Vec<Step>,
    /// The members of the places of some pairs, those of one node after those of another, and where those
    /// of each end, with its part.
    members: Vec<StateId>,
    ends: Vec<(usize, u32)>,
}

/// States whose steps are read ahead.
const MOST_AHEAD: usize = 1024;

impl<'a, R: PairRules, M: Semantics<State = StateId>> Expander<'a, R, M> {
    pub(super) fn new(rules: &'a mut R, implementation: &'a M) -> Self {
        Self {
            rules,
            implementation,
            row: Vec::new(),
            members: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Collects the places of these pairs, and reads from memory what the pairs need, all at once: one after
    /// the other, each would wait for its own.
    fn look_ahead(&mut self, pairs: &[Taken], places: &mut Places<'_>) {
        self.members.clear();
        self.members.extend(pairs.iter().map(|&(state, _)| state));
        self.implementation.look_ahead(&self.members);
        self.members.clear();
        self.ends.clear();
        for group in pairs.chunk_by(|a, b| a.1 == b.1) {
            let part = places(group[0].1, &mut self.members);
            self.ends.push((self.members.len(), part));
        }
        // More than a cache holds would be read in vain.
        let near = self.members.len().min(MOST_AHEAD);
        self.rules.look_ahead(&self.members[..near]);
    }

    /// Replaces `expansion` by that of these pairs, of which those of one node are together, without steps to pairs that
    /// are known. `map` takes the labels of the implementation to the joint table.
    pub(super) fn expand(
        &mut self,
        pairs: &[Taken],
        places: &mut Places<'_>,
        map: &[LabelId],
        known: &Known,
        expansion: &mut Expansion,
    ) {
        expansion.clear();
        self.look_ahead(pairs, places);
        let kinds = self.implementation.labels().kinds();
        let has_joint_labels = map
            .iter()
            .enumerate()
            .all(|(own, label)| own == label.index());
        let mut inputs = None;
        let mut unspecified = false;
        let mut entered = None;
        let (mut start, mut ends) = (0, self.ends.iter());
        for (k, &(state, node)) in pairs.iter().enumerate() {
            if entered.replace(node) != Some(node)
                && let Some(&(end, part)) = ends.next()
            {
                let members = &self.members[start..end];
                self.rules.enter(Place { members, part });
                inputs = None;
                start = end;
            }
            if let Some(refused) = self.rules.refusal(self.implementation, map, state) {
                expansion.refusals.push((k as u32, refused));
            }
            self.row.clear();
            let implementation = self.implementation;
            let mut loops = implementation.successors_and_loops(&state, &mut self.row);
            let Expansion { steps, sets, .. } = expansion;
            let mut add = |label: LabelId, target: StateId, next: Next| {
                // Nothing becomes of an action that is left open, but that no pair is dropped from the
                // first one on. The others need not be passed on; with completed inputs they are most steps.
                let is_needed = match next {
                    Next::Go(goal) | Next::Lost(goal) => !known.has(target, goal.set.number()),
                    Next::Unspecified => !std::mem::replace(&mut unspecified, true),
                    Next::Forbidden => true,
                    Next::Outside => false,
                };
                if is_needed {
                    steps.push(ExpandedStep {
                        label,
                        target,
                        next,
                    });
                }
            };
            for &(own, target) in &self.row {
                let kind = kinds[own.index()];
                if kind == LabelKind::Internal {
                    continue;
                }
                let label = map[own.index()];
                add(label, target, self.rules.step(label, kind, sets));
            }
            // Of the loops that completion adds, those under inputs that the set does not take would all be
            // found to be left open, or outside, by asking for each. That is known for all of them
            // together, so that only the others are asked for: they lead to the same state and another set.
            // An input without a bit is not among the loops.
            if loops != 0
                && let Some(known) = *inputs.get_or_insert_with(|| self.rules.inputs())
            {
                let joint = joint_bits(loops, map, has_joint_labels);
                if joint & known.open != 0 {
                    add(LabelId::TAU, state, Next::Unspecified);
                }
                if joint & known.taken == 0 {
                    loops = 0;
                }
            }
            for own in bits(loops) {
                let label = map[own];
                let next = self.rules.step(label, LabelKind::Input, sets);
                add(label, state, next);
            }
            expansion.ends.push(expansion.steps.len() as u32);
        }
    }
}

/// The numbers of the bits that are set, in order.
fn bits(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        bit
    })
}

/// Labels of the implementation, as bits, in the joint table; those without a bit there are left out. Most
/// often the two tables number them alike.
fn joint_bits(own: u64, map: &[LabelId], alike: bool) -> u64 {
    if alike {
        return own;
    }
    let joint = bits(own).map(|label| map[label].index());
    joint
        .filter(|&label| label < 64)
        .fold(0, |all, label| all | 1 << label)
}
