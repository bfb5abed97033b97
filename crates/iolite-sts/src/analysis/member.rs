//! What the members of the portfolio have in common.

use std::time::Duration;

use iolite_expr::{Answer, Assertion, Model, Solver, Term, Value, Var};

use super::invariant::Invariant;
use super::problem::Problem;
use super::run::Run;
use crate::iosts::LocationId;
use crate::semantics::State;

/// The price of a question to the solver, in steps; firing one transition costs one.
const QUESTION: u64 = 20;
/// Work of the solver, and nodes that it unfolded functions to, that cost another step: a question may take a
/// thousand times as long as another, and the budget is to say so.
const WORK: u64 = 2_000;
const UNFOLDED: u64 = 64;

/// Counts steps, so that answers do not depend on the speed of a machine.
#[derive(Debug)]
pub(super) struct Meter(u64);

impl Meter {
    pub(super) fn new(steps: u64) -> Self {
        Self(steps)
    }

    pub(super) fn spend(&mut self, steps: u64) {
        self.0 = self.0.saturating_sub(steps);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == 0
    }

    pub(super) fn left(&self) -> u64 {
        self.0
    }
}

/// What the members tell one another.
#[derive(Debug)]
pub(super) struct Shared {
    /// An invariant that holds in all reachable states, not strong enough yet.
    pub(super) lemmas: Invariant,
    /// Reachable states with the constants that they live with.
    pub(super) samples: Vec<(Vec<Value>, State)>,
}

/// Solver, budget and common knowledge for one slice of work.
pub(super) struct Slice<'s> {
    pub(super) solver: &'s mut Solver,
    pub(super) meter: &'s mut Meter,
    pub(super) shared: &'s mut Shared,
}

impl Slice<'_> {
    /// Whether the conjunction of the terms can be true, with values for `wanted` if so.
    pub(super) fn check(&mut self, terms: &[Term], wanted: &[Var]) -> Answer {
        self.check_beside(terms, std::iter::empty(), wanted)
    }

    /// The same beside conditions that were made ready before.
    pub(super) fn check_beside<'t>(
        &mut self,
        terms: &[Term],
        others: impl Iterator<Item = &'t Assertion>,
        wanted: &[Var],
    ) -> Answer {
        let before = self.solver.stats();
        self.meter.spend(QUESTION);
        self.solver.push();
        for v in wanted {
            self.solver.declare(v);
        }
        self.solver.assert(&Term::all(terms.iter().cloned()));
        for other in others {
            self.solver.assert_ready(other);
        }
        let answer = self.solver.check();
        self.solver.pop();
        let after = self.solver.stats();
        self.meter.spend((after.work - before.work) / WORK);
        self.meter
            .spend((after.unfolded - before.unfolded) / UNFOLDED);
        answer
    }

    pub(super) fn is_over(&self) -> bool {
        self.meter.is_empty() || self.solver.is_out_of_time()
    }
}

/// What a member says after a slice.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Found, still to be checked.
    Proved(Invariant),
    /// Found, still to be replayed.
    Refuted(Run),
    /// There is more to do.
    More,
    /// It cannot go on, and why.
    Stuck(String),
}

/// A way to an answer that works in slices.
pub(super) trait Member {
    /// Its name, for reports.
    fn name(&self) -> String;

    /// The steps of the k-induction that what it found is, if it is one.
    fn k(&self) -> Option<usize> {
        None
    }

    /// Works until the slice is used up or there is something to say.
    fn run(&mut self, problem: &Problem<'_>, slice: &mut Slice<'_>) -> Outcome;
}

/// What somebody outside suggests. Nothing of it is believed before it is checked.
#[derive(Clone, Debug)]
pub enum Suggestion {
    /// Conditions for each location that are taken for invariant: initiation, consecution, and exclusion of
    /// violating locations are checked.
    Invariant(Invariant),
    /// States on the way to a violation, from the first to the last, with values for V and then C: a run is looked
    /// for that goes from each to the next in one step.
    Way(Vec<(LocationId, Vec<Value>)>),
}

/// A source of suggestions from outside, such as a program that solves Horn clauses.
pub trait InvariantSource {
    /// Its name, for reports.
    fn name(&self) -> String;

    /// What it suggests.
    ///
    /// # Errors
    ///
    /// Why it suggests nothing.
    fn candidate(
        &mut self,
        problem: &Problem<'_>,
        solver: &mut Solver,
        time: Duration,
    ) -> Result<Suggestion, String>;
}

/// The values of variables in a model.
pub(super) fn row(model: &Model, vars: &[Var]) -> Vec<Value> {
    let value = |v: &Var| {
        let value = model.value(v.id).cloned();
        value.unwrap_or_else(|| v.sort.default_value())
    };
    vars.iter().map(value).collect()
}
