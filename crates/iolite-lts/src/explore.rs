//! From a lazy view to an explicit system.

use crate::{Interned, Labels, Lts, LtsBuilder, Semantics, StateId};

/// The state budget ran out before the system was explored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {budget} states are reachable")]
pub struct BudgetExceeded {
    /// The budget in states.
    pub budget: usize,
}

/// The reachable part of `model` as an explicit system, states numbered breadth first and named by
/// their descriptions.
pub fn explore<M: Semantics>(model: &M, budget: usize) -> Result<Lts, BudgetExceeded> {
    let view = Interned::new(model);
    let mut builder = LtsBuilder::with_labels(Labels::clone(view.labels()));
    let initial = view.initial();
    builder.set_initial(initial);
    let mut row = Vec::new();
    let mut next = 0;
    while next < view.state_count() {
        if view.state_count() > budget {
            return Err(BudgetExceeded { budget });
        }
        let state = StateId::new(next);
        next += 1;
        builder.set_name(state, &view.describe(&state));
        if let Some(line) = view.line(&state) {
            builder.set_line(state, line);
        }
        row.clear();
        view.successors(&state, &mut row);
        for &(label, target) in &row {
            builder.transition(state, label, target);
        }
    }
    Ok(builder.build().expect("the initial state is there"))
}
