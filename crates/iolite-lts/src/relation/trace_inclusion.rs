//! Trace preorder: traces(i) ⊆ traces(s).
//!
//! Inclusion of specification sets is a right order: P ⊆ P' gives `P after a` ⊆ `P' after a`, and
//! what P' lacks P lacks.

use crate::{Closure, LabelId, LabelKind, Semantics, StateId};

use super::Allowed;
use super::nodes::Place;
use super::rules::{Goal, Next, PairRules};
use super::set_row::{SetRow, TargetSets};

#[derive(Clone)]
pub(super) struct TraceInclusion<N> {
    pub(super) model: N,
    at: SetRow,
}

impl<N: Semantics<State = StateId>> TraceInclusion<N> {
    pub(super) fn new(model: N) -> Self {
        Self {
            model,
            at: SetRow::default(),
        }
    }
}

/// `s₀ after ε`.
pub(super) fn initial_set<N: Semantics<State = StateId>>(model: &N) -> Vec<StateId> {
    let mut members = vec![model.initial()];
    Closure::default().close(model, &mut members);
    members
}

impl<N: Semantics<State = StateId>> PairRules for TraceInclusion<N> {
    fn initial(&mut self) -> (Vec<StateId>, u32) {
        (initial_set(&self.model), 0)
    }

    fn look_ahead(&self, members: &[StateId]) {
        self.model.look_ahead(members);
    }

    fn enter(&mut self, place: Place<'_>) {
        self.at.turn(place);
    }

    fn step(&mut self, label: LabelId, _kind: LabelKind, sets: &mut TargetSets) -> Next {
        match self.at.then(&self.model, label, sets) {
            None => Next::Forbidden,
            Some(set) => Next::Go(Goal { set, part: 0 }),
        }
    }

    fn allowed(&mut self) -> Allowed {
        Allowed::Actions(self.at.labels(&self.model).collect())
    }

    fn bytes(&self) -> usize {
        self.at.bytes()
    }
}
