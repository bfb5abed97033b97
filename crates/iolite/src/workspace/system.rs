//! A transition system of a specification, as a whole.

use std::sync::Arc;

use iolite_lts::Lts;

use super::ExplicitSpec;
use crate::Error;

/// What to do about a model that is too large.
pub(crate) fn too_many_states(error: &iolite_lts::BudgetExceeded) -> Error {
    Error::undecided(error.to_string()).hint("allow more with --max-states N")
}

impl ExplicitSpec {
    /// The whole reachable system, of at most `budget` states.
    pub fn whole_system(&self, budget: usize) -> Result<Arc<Lts>, Error> {
        let lts = self.system().explicit(budget);
        // What a program gave that has failed is no system.
        self.believe()?;
        lts.map_err(|e| too_many_states(&e))
    }
}
