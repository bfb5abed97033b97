//! Inclusion of refusals: testing preorder and conf.
//!
//! `p after σ refuses A` when some state after σ can do none of `A`, not even after internal
//! actions [LTS96, def. 4.4]. A state i' of the implementation refuses just the subsets of
//! L \ init(i'), so its refusals are refusals of the specification iff some state s' after the same
//! trace has init(s') ⊆ init(i').
//!
//! A larger specification set has more refusals, so for testing preorder inclusion is a right order,
//! with the empty set for "σ is no trace of the specification" as the smallest. conf asks about the
//! traces of the specification alone, and a larger set has more of them: a label that a set lacks is
//! unspecified there. As long as the implementation takes no such label, conf asks what testing
//! preorder asks.

use crate::{Determinised, LabelId, LabelKind, Labels, Semantics, StateId};

use super::Allowed;
use super::pairs::{Goal, Node, NodeSet};
use super::search::{Next, PairRules};
use super::set_row::{SetRow, members_of, node_of, set_of};
use super::weak_initials::{LabelSetId, WeakInitials};

pub(super) struct RefusalInclusion<N> {
    pub(super) view: Determinised<N>,
    /// Whether σ ranges over all traces (testing) or over those of the specification (conf).
    all_traces: bool,
    at: SetRow,
    /// The sets of weak initials of the states that the specification may be in.
    acceptances: Vec<LabelSetId>,
    specification: WeakInitials,
    implementation: WeakInitials,
    /// L, of both sides together.
    visible: Vec<LabelId>,
}

impl<N: Semantics<State = StateId>> RefusalInclusion<N> {
    pub(super) fn new(view: Determinised<N>, all_traces: bool) -> Self {
        let labels = view.labels().len();
        Self {
            view,
            all_traces,
            at: SetRow::default(),
            acceptances: Vec::new(),
            specification: WeakInitials::new(labels),
            implementation: WeakInitials::new(labels),
            visible: Vec::new(),
        }
    }

    /// Turns to another implementation, with which the labels are these.
    pub(super) fn begin(&mut self, labels: &Labels) {
        self.implementation = WeakInitials::new(labels.len());
        let action = |kind| kind != LabelKind::Internal && kind != LabelKind::Delta;
        let actions = labels.iter().filter(|(_, l)| action(l.kind));
        self.visible = actions.map(|(id, _)| id).collect();
    }

    /// A smallest set, by inclusion, of labels outside `initials` that meets every acceptance: the
    /// implementation refuses it and the specification does not.
    fn witness(&self, initials: LabelSetId) -> Vec<LabelId> {
        let outside = |l: &LabelId| !self.implementation.contains(initials, *l);
        let mut witness: Vec<LabelId> = self.visible.iter().copied().filter(outside).collect();
        for label in witness.clone().into_iter().rev() {
            let others = || witness.iter().filter(|&&l| l != label);
            let meets = |&a: &LabelSetId| others().any(|&l| self.specification.contains(a, l));
            if self.acceptances.iter().all(meets) {
                witness.retain(|&l| l != label);
            }
        }
        witness
    }
}

impl<N: Semantics<State = StateId>> PairRules for RefusalInclusion<N> {
    fn initial(&mut self) -> Node {
        node_of(Some(self.view.initial()))
    }

    fn enter(&mut self, node: Node) {
        let Self {
            view,
            at,
            acceptances,
            specification,
            ..
        } = self;
        at.turn(set_of(node));
        acceptances.clear();
        if let Some(set) = at.set() {
            let states = view.members(set).iter();
            acceptances.extend(states.filter_map(|&s| specification.of(view.inner(), |l| l, s)));
            acceptances.sort_unstable();
            acceptances.dedup();
        }
    }

    fn refusal<M: Semantics<State = StateId>>(
        &mut self,
        implementation: &M,
        map: &[LabelId],
        state: StateId,
    ) -> Option<Vec<LabelId>> {
        if self.at.set().is_none() {
            return Some(Vec::new());
        }
        let own = self
            .implementation
            .of(implementation, |l| map[l.index()], state)?;
        let mut acceptances = self.acceptances.iter();
        let refused =
            acceptances.any(|&a| self.specification.is_subset(a, &self.implementation, own));
        (!refused).then(|| self.witness(own))
    }

    fn step(&mut self, label: LabelId, _kind: LabelKind) -> Next {
        let is_trace = self.at.set().is_some();
        match self.at.then(&mut self.view, label) {
            Some(set) => Next::Go(Goal::Step(Some(set), 0)),
            None if self.all_traces && is_trace => Next::Lost(Goal::Step(None, 0)),
            None if self.all_traces => Next::Outside,
            // No set takes a label that the specification does not know.
            None if label.index() >= self.view.labels().len() => Next::Outside,
            None => Next::Unspecified,
        }
    }

    fn set(&self, goal: Goal) -> NodeSet<'_> {
        NodeSet {
            members: self.at.goal_members(&self.view, goal),
            part: 0,
        }
    }

    fn node(&mut self, goal: Goal) -> Node {
        self.at.goal_node(&mut self.view, goal)
    }

    fn allowed(&mut self) -> Allowed {
        let specification = &self.specification;
        // Only the smallest sets of initials: what the others refuse, these refuse too.
        let smaller = |b: LabelSetId, a| a != b && specification.is_subset(b, specification, a);
        let all = &self.acceptances;
        let smallest = all.iter().filter(|&&a| !all.iter().any(|&b| smaller(b, a)));
        let refused = |&id: &LabelSetId| {
            let labels = self.visible.iter().copied();
            labels.filter(|&l| !specification.contains(id, l)).collect()
        };
        Allowed::Refusals(smallest.map(refused).collect())
    }

    fn members(&self) -> Vec<StateId> {
        members_of(&self.view, self.at.set()).to_vec()
    }

    fn size(&self) -> (usize, usize) {
        let initials = self.specification.bytes() + self.implementation.bytes();
        (self.view.set_count(), self.view.bytes() + initials)
    }
}
