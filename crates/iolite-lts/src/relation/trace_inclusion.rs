//! Trace preorder: traces(i) ⊆ traces(s).
//!
//! Inclusion of specification sets is a right order: P ⊆ P' gives `P after a` ⊆ `P' after a`, and
//! what P' lacks P lacks.

use crate::{Determinised, LabelId, LabelKind, Semantics, StateId};

use super::Allowed;
use super::pairs::{Goal, Node, NodeSet};
use super::search::{Next, PairRules};
use super::set_row::{SetRow, members_of, node_of, set_of};

pub(super) struct TraceInclusion<N> {
    pub(super) view: Determinised<N>,
    at: SetRow,
}

impl<N: Semantics<State = StateId>> TraceInclusion<N> {
    pub(super) fn new(view: Determinised<N>) -> Self {
        Self {
            view,
            at: SetRow::default(),
        }
    }
}

impl<N: Semantics<State = StateId>> PairRules for TraceInclusion<N> {
    fn initial(&mut self) -> Node {
        node_of(Some(self.view.initial()))
    }

    fn enter(&mut self, node: Node) {
        self.at.turn(set_of(node));
    }

    fn step(&mut self, label: LabelId, _kind: LabelKind) -> Next {
        match self.at.then(&mut self.view, label) {
            None => Next::Forbidden,
            set => Next::Go(Goal::Step(set, 0)),
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
        Allowed::Actions(self.at.labels(&self.view).collect())
    }

    fn members(&self) -> Vec<StateId> {
        members_of(&self.view, self.at.set()).to_vec()
    }

    fn size(&self) -> (usize, usize) {
        (self.view.set_count(), self.view.bytes())
    }
}
