//! From a lazy view to an explicit system.

use crate::{Determinised, Interned, Labels, Lts, LtsBuilder, Semantics, SetId, StateId};

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
        let (name, place) = (view.describe(&state), view.place(&state));
        builder.set_name(state, &name);
        if place != name {
            builder.set_place(state, place.into());
        }
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

/// What the states of an explored system are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateNames {
    /// What they are made of: `{q1,q2}`, or the name of the one state that a set has.
    Members,
    /// Their numbers alone, for those who do not show names: names of many large sets cost more than
    /// the sets.
    Numbers,
}

/// det(M) as an explicit system [SAFE04, def. 3]: one state for each reachable set, numbered breadth
/// first.
pub fn determinise<M: Semantics<State = StateId>>(
    view: &mut Determinised<M>,
    names: StateNames,
    budget: usize,
) -> Result<Lts, BudgetExceeded> {
    let mut builder = LtsBuilder::with_labels(view.labels().clone());
    // The view may have met other sets before, so sets are numbered here in the order of the walk.
    let mut sets = vec![view.initial()];
    let mut numbers = vec![None; sets[0].index() + 1];
    numbers[sets[0].index()] = Some(StateId::FIRST);
    let mut name = String::new();
    let mut next = 0;
    while next < sets.len() {
        if sets.len() > budget {
            return Err(BudgetExceeded { budget });
        }
        let (set, state) = (sets[next], StateId::new(next));
        next += 1;
        if names == StateNames::Members {
            name.clear();
            write_set_name(view, set, &mut name);
            builder.set_name(state, &name);
        }
        let row = view.row_in_order(set);
        for &(label, target) in row {
            if numbers.len() <= target.index() {
                numbers.resize(target.index() + 1, None);
            }
            let target = *numbers[target.index()].get_or_insert_with(|| {
                sets.push(target);
                StateId::new(sets.len() - 1)
            });
            builder.transition(state, label, target);
        }
        builder.ensure_states(next);
    }
    Ok(builder.build().expect("the initial state is there"))
}

/// A set of one state goes by its name alone.
fn write_set_name<M: Semantics<State = StateId>>(
    view: &Determinised<M>,
    set: SetId,
    name: &mut String,
) {
    let members = view.members(set);
    if let [only] = members {
        name.push_str(&view.inner().describe(only));
        return;
    }
    let mut before = '{';
    for member in members {
        name.push(before);
        name.push_str(&view.inner().describe(member));
        before = ',';
    }
    name.push_str(if members.is_empty() { "{}" } else { "}" });
}
