//! Trace preorder: traces(i) ⊆ traces(s).

use crate::{Determinised, LabelId, LabelKind, Semantics, SetId, StateId};

use super::Allowed;
use super::search::{Next, Node, PairRules};

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

/// The set that the search is at, with its steps.
#[derive(Default)]
pub(super) struct SetRow {
    set: Option<SetId>,
    row: Vec<(LabelId, SetId)>,
}

impl SetRow {
    /// Turns to `set`; `None` stands for "σ is no trace of the specification".
    pub(super) fn turn<N: Semantics<State = StateId>>(
        &mut self,
        view: &mut Determinised<N>,
        set: Option<SetId>,
    ) {
        self.set = set;
        self.row.clear();
        if let Some(set) = set {
            view.row_into(set, &mut self.row);
        }
    }

    pub(super) fn set(&self) -> Option<SetId> {
        self.set
    }

    /// The set after `label`.
    pub(super) fn then(&self, label: LabelId) -> Option<SetId> {
        let i = self.row.partition_point(|&(l, _)| l < label);
        self.row
            .get(i)
            .filter(|&&(l, _)| l == label)
            .map(|&(_, t)| t)
    }

    /// The labels with a step.
    pub(super) fn labels(&self) -> impl Iterator<Item = LabelId> + '_ {
        self.row.iter().map(|&(l, _)| l)
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
) -> Vec<StateId> {
    set.map(|set| view.members(set).to_vec())
        .unwrap_or_default()
}

impl<N: Semantics<State = StateId>> PairRules for TraceInclusion<N> {
    fn initial(&mut self) -> Node {
        node_of(Some(self.view.initial()))
    }

    fn enter(&mut self, node: Node) {
        self.at.turn(&mut self.view, set_of(node));
    }

    fn step(&mut self, label: LabelId, _kind: LabelKind) -> Next {
        match self.at.then(label) {
            None => Next::Forbidden,
            set => Next::Go(node_of(set)),
        }
    }

    fn allowed(&self) -> Allowed {
        Allowed::Actions(self.at.labels().collect())
    }

    fn members(&self) -> Vec<StateId> {
        members_of(&self.view, self.at.set())
    }

    fn size(&self) -> (usize, usize) {
        (self.view.set_count(), self.view.bytes())
    }
}
