//! A transition system of a specification.

use std::sync::Arc;

use iolite_lang::LazySystem;
use iolite_lts::{Labels, Lts, Semantics, StateId, Step};

use crate::Error;
use crate::explorer::ExploredSystem;

/// A transition system: explicit, or composed and explored on demand.
pub enum System {
    /// Explicit.
    Explicit(Arc<Lts>),
    /// Explored on demand.
    Lazy(LazySystem),
    /// Explored by another program.
    Explored(ExploredSystem),
}

impl System {
    /// The whole reachable system, of at most `budget` states.
    pub fn explicit(self, budget: usize) -> Result<Arc<Lts>, Error> {
        match self {
            Self::Explicit(lts) => Ok(lts),
            Self::Lazy(view) => iolite_lts::explore(&view, budget)
                .map(Arc::new)
                .map_err(|e| too_many_states(&e)),
            Self::Explored(view) => {
                let lts = iolite_lts::explore(&view, budget);
                view.believe()?;
                lts.map(Arc::new).map_err(|e| too_many_states(&e))
            }
        }
    }
}

/// What to do about a model that is too large.
pub(crate) fn too_many_states(error: &iolite_lts::BudgetExceeded) -> Error {
    Error::undecided(error.to_string()).hint("allow more with --max-states N")
}

impl Semantics for System {
    type State = StateId;

    fn labels(&self) -> &Labels {
        match self {
            Self::Explicit(lts) => lts.labels(),
            Self::Lazy(view) => view.labels(),
            Self::Explored(view) => view.labels(),
        }
    }

    fn initial(&self) -> StateId {
        match self {
            Self::Explicit(lts) => lts.initial(),
            Self::Lazy(view) => view.initial(),
            Self::Explored(view) => view.initial(),
        }
    }

    fn successors(&self, state: &StateId, row: &mut Vec<Step>) {
        match self {
            Self::Explicit(lts) => lts.successors(state, row),
            Self::Lazy(view) => view.successors(state, row),
            Self::Explored(view) => view.successors(state, row),
        }
    }

    fn describe(&self, state: &StateId) -> String {
        match self {
            Self::Explicit(lts) => lts.describe(state),
            Self::Lazy(view) => view.describe(state),
            Self::Explored(view) => view.describe(state),
        }
    }

    fn place(&self, state: &StateId) -> String {
        match self {
            Self::Explicit(lts) => Semantics::place(&**lts, state),
            Self::Lazy(view) => view.place(state),
            Self::Explored(view) => view.place(state),
        }
    }

    fn line(&self, state: &StateId) -> Option<u32> {
        match self {
            Self::Explicit(lts) => Semantics::line(&**lts, state),
            Self::Lazy(view) => view.line(state),
            Self::Explored(view) => view.line(state),
        }
    }
}
