//! Over-approximations of the states from which some locations can be reached [SYM04, def. 14].

use std::time::{Duration, Instant};

use iolite_expr::{Answer, Limits, Solver, Term};

use super::backward::Backward;
use super::interpretation;
use super::invariant::Invariant;
use super::member::{Member, Meter, Outcome, Shared, Slice};
use super::problem::Problem;
use crate::iosts::{Iosts, LocationId};

/// The outer limit of the search for exact preimages, and of one question in it: steps are counted, but one step may
/// take long where conditions grow.
const TIME: Duration = Duration::from_secs(10);
const QUESTION: Duration = Duration::from_millis(500);

/// Exact preimages, within the limits.
fn search(
    backward: &mut Backward,
    problem: &Problem<'_>,
    lemmas: Invariant,
    solver: &mut Solver,
    steps: u64,
) -> Outcome {
    let mut shared = Shared {
        lemmas,
        samples: Vec::new(),
    };
    let mut meter = Meter::new(steps);
    solver.set_limits(Limits::new(QUESTION, Limits::default().memory_mb));
    solver.set_deadline(Instant::now().checked_add(TIME));
    let outcome = backward.run(
        problem,
        &mut Slice {
            solver: &mut *solver,
            meter: &mut meter,
            shared: &mut shared,
        },
    );
    solver.set_deadline(None);
    solver.set_limits(Limits::default());
    outcome
}

/// For each location a condition that every state there satisfies from which one of the targets is
/// reachable: the exact preimages where they are found within `steps`, else what octagons say of
/// them, else `true` where the transitions lead there at all.
pub fn coreachable(
    model: &Iosts,
    targets: &[LocationId],
    solver: &mut Solver,
    steps: u64,
) -> Vec<Term> {
    let problem = Problem::new(model, targets);
    let mut backward = Backward::towards_targets();
    let all = Invariant::trivial(model);
    if let Outcome::Proved(outside) = search(&mut backward, &problem, all, solver, steps) {
        let locations = model.locations();
        return locations
            .map(|(l, _)| outside.at(l).negated().simplify())
            .collect();
    }
    interpretation::coreachable(&problem, steps).unwrap_or_else(|| connected(&problem))
}

/// The same of the states that the model reaches, by an inductive invariant that holds in them: what is
/// said of other states need not be true.
pub(crate) fn coreachable_within(
    model: &Iosts,
    targets: &[LocationId],
    reached: &Invariant,
    solver: &mut Solver,
    steps: u64,
) -> Vec<Term> {
    let problem = Problem::new(model, targets);
    let mut backward = Backward::towards_targets();
    let found = search(&mut backward, &problem, reached.clone(), solver, steps);
    let conditions = match found {
        Outcome::Proved(_) => backward.found(&problem),
        _ => interpretation::coreachable(&problem, steps).unwrap_or_else(|| connected(&problem)),
    };
    let said = model.locations().zip(conditions);
    said.map(|((l, _), condition)| {
        let outside = Term::all([reached.at(l).clone(), condition.negated()]).simplify();
        match solver.check_with(&outside) {
            Answer::Unsat => true.into(),
            _ => condition.simplify(),
        }
    })
    .collect()
}

/// `true` where transitions lead to a target, whatever their guards say.
fn connected(problem: &Problem<'_>) -> Vec<Term> {
    let mut seen = vec![false; problem.model.locations().len()];
    let mut open: Vec<LocationId> = problem.violating().collect();
    while let Some(l) = open.pop() {
        if std::mem::replace(&mut seen[l.index()], true) {
            continue;
        }
        let before = problem.incoming(l).iter();
        open.extend(before.map(|t| problem.model.transition(*t).source));
    }
    seen.into_iter().map(Term::from).collect()
}
