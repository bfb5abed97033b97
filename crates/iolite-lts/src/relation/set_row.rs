//! The set of specification states that a search stands at, with the sets that its steps lead to.

use crate::{Determinised, LabelId, Semantics, SetId, StateId, Step};

use super::pairs::{Goal, Node};

/// The set that the search is at.
///
/// The set after a label is computed when the label is asked for, and interned only when the search
/// keeps a pair with it: an implementation takes few of the steps that a large set has, and a search
/// with an antichain keeps few of those.
#[derive(Default)]
pub(super) struct SetRow {
    set: Option<SetId>,
    is_read: bool,
    steps: Vec<Step>,
    /// One for each label that has a step, in the order of labels.
    labels: Vec<LabelSteps>,
    sets: Vec<TargetSet>,
    /// The members of the sets that are computed and not interned.
    members: Vec<StateId>,
    scratch: Vec<StateId>,
}

struct LabelSteps {
    label: LabelId,
    /// Where the label's steps are, in `steps`.
    steps: (u32, u32),
    /// The set after it, once it was asked for.
    target: Option<Target>,
}

/// `P after a`.
#[derive(Clone, Copy)]
enum TargetSet {
    /// Not interned; where its members are, in `members`.
    Members(u32, u32),
    Interned(SetId),
}

/// The set after one label, for as long as the row stands at its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target(u32);

impl SetRow {
    /// Turns to `set`; `None` stands for "σ is no trace of the specification".
    pub(super) fn turn(&mut self, set: Option<SetId>) {
        self.set = set;
        self.is_read = false;
        self.labels.clear();
        self.sets.clear();
        self.members.clear();
    }

    pub(super) fn set(&self) -> Option<SetId> {
        self.set
    }

    fn read<N: Semantics<State = StateId>>(&mut self, view: &Determinised<N>) {
        if self.is_read {
            return;
        }
        self.is_read = true;
        let Some(set) = self.set else { return };
        view.member_steps(set, &mut self.steps);
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

    /// The set after `label`.
    pub(super) fn then<N: Semantics<State = StateId>>(
        &mut self,
        view: &mut Determinised<N>,
        label: LabelId,
    ) -> Option<Target> {
        self.read(view);
        let i = self.labels.partition_point(|l| l.label < label);
        let found = self.labels.get_mut(i).filter(|l| l.label == label)?;
        if found.target.is_none() {
            let steps = &self.steps[found.steps.0 as usize..found.steps.1 as usize];
            self.scratch.clear();
            self.scratch.extend(steps.iter().map(|&(_, state)| state));
            view.close(&mut self.scratch);
            let start = self.members.len() as u32;
            self.members.extend_from_slice(&self.scratch);
            found.target = Some(Target(self.sets.len() as u32));
            let end = self.members.len() as u32;
            self.sets.push(TargetSet::Members(start, end));
        }
        found.target
    }

    /// The states of the set after a label.
    pub(super) fn members<'a, N: Semantics<State = StateId>>(
        &'a self,
        view: &'a Determinised<N>,
        target: Target,
    ) -> &'a [StateId] {
        match self.sets[target.0 as usize] {
            TargetSet::Members(start, end) => &self.members[start as usize..end as usize],
            TargetSet::Interned(set) => view.members(set),
        }
    }

    /// The number of the set after a label.
    pub(super) fn intern<N: Semantics<State = StateId>>(
        &mut self,
        view: &mut Determinised<N>,
        target: Target,
    ) -> SetId {
        let found = &mut self.sets[target.0 as usize];
        match *found {
            TargetSet::Interned(set) => set,
            TargetSet::Members(start, end) => {
                let set = view.intern_closed(&self.members[start as usize..end as usize]);
                *found = TargetSet::Interned(set);
                set
            }
        }
    }

    /// The states of a goal whose node, if it has one, is the number of a set.
    pub(super) fn goal_members<'a, N: Semantics<State = StateId>>(
        &'a self,
        view: &'a Determinised<N>,
        goal: Goal,
    ) -> &'a [StateId] {
        match goal {
            Goal::Node(node) => members_of(view, set_of(node)),
            Goal::Step(Some(target), _) => self.members(view, target),
            Goal::Step(None, _) => &[],
        }
    }

    /// The number of the set of a goal.
    pub(super) fn goal_node<N: Semantics<State = StateId>>(
        &mut self,
        view: &mut Determinised<N>,
        goal: Goal,
    ) -> Node {
        match goal {
            Goal::Node(node) => node,
            Goal::Step(target, _) => node_of(target.map(|target| self.intern(view, target))),
        }
    }

    /// The labels with a step.
    pub(super) fn labels<N: Semantics<State = StateId>>(
        &mut self,
        view: &Determinised<N>,
    ) -> impl Iterator<Item = LabelId> + '_ {
        self.read(view);
        self.labels.iter().map(|l| l.label)
    }
}

/// The node for "σ is no trace of the specification".
const NO_TRACE: Node = Node::MAX;

pub(super) fn node_of(set: Option<SetId>) -> Node {
    set.map_or(NO_TRACE, |set| set.index() as Node)
}

pub(super) fn set_of(node: Node) -> Option<SetId> {
    (node != NO_TRACE).then(|| SetId::new(node as usize))
}

/// The states of a set, none for no set.
pub(super) fn members_of<N: Semantics<State = StateId>>(
    view: &Determinised<N>,
    set: Option<SetId>,
) -> &[StateId] {
    set.map_or(&[], |set| view.members(set))
}
