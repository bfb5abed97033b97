//! Trace preorder: traces(i) ⊆ traces(s).

use crate::{Determinised, LabelId, LabelKind, Semantics, SetId, StateId};

use super::Allowed;
use super::search::{Next, Node, PairRules};

pub(super) struct TraceInclusion<N> {
    pub(super) view: Determinised<N>,
}

impl<N: Semantics<State = StateId>> TraceInclusion<N> {
    pub(super) fn new(view: Determinised<N>) -> Self {
        Self { view }
    }
}

pub(super) fn node_of(set: SetId) -> Node {
    set.index() as Node
}

pub(super) fn set_of(node: Node) -> SetId {
    SetId::new(node as usize)
}

impl<N: Semantics<State = StateId>> PairRules for TraceInclusion<N> {
    fn initial(&mut self) -> Node {
        node_of(self.view.initial())
    }

    fn step(&mut self, node: Node, label: LabelId, _kind: LabelKind) -> Next {
        match self.view.after(set_of(node), label) {
            Some(set) => Next::Go(node_of(set)),
            None => Next::Forbidden,
        }
    }

    fn allowed(&mut self, node: Node) -> Allowed {
        Allowed::Actions(
            self.view
                .row(set_of(node))
                .iter()
                .map(|&(l, _)| l)
                .collect(),
        )
    }

    fn members(&self, node: Node) -> Vec<StateId> {
        self.view.members(set_of(node)).to_vec()
    }

    fn size(&self) -> (usize, usize) {
        (self.view.set_count(), self.view.bytes())
    }
}
