//! A transition system of a shape known only at run time.

use std::sync::Arc;

use crate::{BudgetExceeded, Labels, Lts, Semantics, StateId, Step, explore};

/// A transition system: explicit, or explored on demand.
///
/// Whatever is written over any [`Semantics`] and used with this one type is compiled once. Explicit
/// systems, on which time is spent, are walked without a call through a table.
#[derive(Clone)]
pub enum System {
    /// Explicit.
    Explicit(Arc<Lts>),
    /// Explored on demand: states are numbered as they are met.
    OnDemand(Arc<dyn Semantics<State = StateId>>),
}

impl System {
    /// A system that is explored on demand.
    pub fn on_demand(system: impl Semantics<State = StateId> + 'static) -> Self {
        Self::OnDemand(Arc::new(system))
    }

    /// The whole reachable system, of at most `budget` states.
    pub fn explicit(self, budget: usize) -> Result<Arc<Lts>, BudgetExceeded> {
        match self {
            Self::Explicit(lts) => Ok(lts),
            Self::OnDemand(system) => explore(&system, budget).map(Arc::new),
        }
    }
}

impl Semantics for System {
    type State = StateId;

    #[inline]
    fn labels(&self) -> &Labels {
        match self {
            Self::Explicit(lts) => lts.labels(),
            Self::OnDemand(system) => system.labels(),
        }
    }

    #[inline]
    fn initial(&self) -> StateId {
        match self {
            Self::Explicit(lts) => lts.initial(),
            Self::OnDemand(system) => system.initial(),
        }
    }

    #[inline]
    fn successors(&self, state: &StateId, row: &mut Vec<Step>) {
        match self {
            Self::Explicit(lts) => lts.successors(state, row),
            Self::OnDemand(system) => system.successors(state, row),
        }
    }

    fn successors_of(&self, states: &[StateId], rows: &mut Vec<Step>, ends: &mut Vec<usize>) {
        match self {
            Self::Explicit(lts) => lts.successors_of(states, rows, ends),
            Self::OnDemand(system) => system.successors_of(states, rows, ends),
        }
    }

    fn internal_successors_of(
        &self,
        states: &[StateId],
        rows: &mut Vec<Step>,
        ends: &mut Vec<usize>,
    ) {
        match self {
            Self::Explicit(lts) => lts.internal_successors_of(states, rows, ends),
            Self::OnDemand(system) => system.internal_successors_of(states, rows, ends),
        }
    }

    fn look_ahead(&self, states: &[StateId]) {
        match self {
            Self::Explicit(lts) => lts.look_ahead(states),
            Self::OnDemand(system) => system.look_ahead(states),
        }
    }

    #[inline]
    fn internal_step(&self, state: &StateId) -> Option<bool> {
        match self {
            Self::Explicit(lts) => lts.internal_step(state),
            Self::OnDemand(system) => system.internal_step(state),
        }
    }

    fn is_completed(&self) -> bool {
        match self {
            Self::Explicit(_) => false,
            Self::OnDemand(system) => system.is_completed(),
        }
    }

    fn explicit_states(&self) -> Option<usize> {
        match self {
            Self::Explicit(lts) => lts.explicit_states(),
            Self::OnDemand(system) => system.explicit_states(),
        }
    }

    fn describe(&self, state: &StateId) -> String {
        match self {
            Self::Explicit(lts) => lts.describe(state),
            Self::OnDemand(system) => system.describe(state),
        }
    }

    fn place(&self, state: &StateId) -> String {
        match self {
            Self::Explicit(lts) => Semantics::place(&**lts, state),
            Self::OnDemand(system) => system.place(state),
        }
    }

    fn line(&self, state: &StateId) -> Option<u32> {
        match self {
            Self::Explicit(lts) => Semantics::line(&**lts, state),
            Self::OnDemand(system) => system.line(state),
        }
    }
}
