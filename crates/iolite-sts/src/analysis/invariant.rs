//! Inductive invariants, and the checker that every proof has to pass.

use std::fmt;
use std::sync::Arc;

use iolite_expr::{Answer, Kind, Op, Solver, Term};

use super::problem::{Problem, sound};
use crate::iosts::{Iosts, LocationId, TransitionId};

/// One condition over V ∪ C for each location. A state satisfies the invariant when the condition
/// of its location evaluates to true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant(Vec<Term>);

/// A question that the solver did not decide, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not decided: {0}")]
pub struct Undecided(pub Arc<str>);

impl Invariant {
    /// The condition of each location, in their order; locations without one have `true`.
    ///
    /// # Panics
    /// When a term is not Boolean.
    pub fn new(model: &Iosts, terms: Vec<Term>) -> Self {
        let mut terms = terms;
        terms.resize(model.locations().len(), true.into());
        Self(terms.iter().map(|t| sound(t).simplify()).collect())
    }

    /// `true` everywhere.
    pub fn trivial(model: &Iosts) -> Self {
        Self(vec![true.into(); model.locations().len()])
    }

    /// The condition at a location.
    pub fn at(&self, location: LocationId) -> &Term {
        &self.0[location.index()]
    }

    /// Both at once.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let pairs = self.0.iter().zip(&other.0);
        let both = pairs.map(|(a, b)| Term::all([a.clone(), b.clone()]).simplify());
        Self(both.collect())
    }

    /// The invariant in words, one line for each location that it says something of.
    pub fn describe(&self, model: &Iosts) -> String {
        let said = model.locations().filter(|(id, _)| !self.at(*id).is_true());
        said.fold(String::new(), |text, (id, l)| {
            text + &l.name + ": " + &self.at(id).to_string() + "\n"
        })
    }
}

/// Why an invariant proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// An initial state does not satisfy it.
    Initiation,
    /// A step leads out of it.
    Consecution(TransitionId),
    /// It allows a state in a violating location.
    Exclusion(LocationId),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Initiation => f.write_str("an initial state is outside"),
            Self::Consecution(t) => write!(f, "transition {} leads outside", t.index()),
            Self::Exclusion(l) => write!(f, "violating location {} is inside", l.index()),
        }
    }
}

/// Whether the invariant proves that no violating location is reached: it holds initially, every
/// transition preserves it, and it is false in the violating locations.
pub fn is_inductive(
    model: &Iosts,
    violating: &[LocationId],
    invariant: &Invariant,
    solver: &mut Solver,
) -> Result<bool, Undecided> {
    let problem = Problem::new(model, violating);
    let broken = broken(&problem, invariant, solver)?;
    Ok(broken.is_none() && excludes(&problem, invariant, solver)?)
}

/// The first of initiation and consecution that fails.
pub(super) fn broken(
    problem: &Problem<'_>,
    invariant: &Invariant,
    solver: &mut Solver,
) -> Result<Option<Broken>, Undecided> {
    let model = problem.model;
    let start = invariant.at(model.initial());
    if possible(solver, &[problem.initial(), start.negated()])? {
        return Ok(Some(Broken::Initiation));
    }
    for (id, t) in model.transitions() {
        let (from, to) = (invariant.at(t.source), invariant.at(t.target));
        if problem.is_violating(t.source) || to.is_true() || from.is_false() {
            continue;
        }
        let after = problem
            .before(id, to)
            .map_err(|e| Undecided(e.to_string().into()))?;
        // One question for each way to be inside: with a list of states each is nearly ground.
        for from in alternatives(from) {
            let enabled = problem.enabled(id).clone();
            if possible(solver, &[Term::all([from, enabled, after.negated()])])? {
                return Ok(Some(Broken::Consecution(id)));
            }
        }
    }
    Ok(None)
}

pub(super) fn excludes(
    problem: &Problem<'_>,
    invariant: &Invariant,
    solver: &mut Solver,
) -> Result<bool, Undecided> {
    for l in problem.violating() {
        if possible(solver, &[invariant.at(l).clone()])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The disjuncts of a term.
pub(super) fn alternatives(term: &Term) -> Vec<Term> {
    match term.kind() {
        Kind::App(Op::Or, args) if args.iter().all(Term::is_total) => args.to_vec(),
        _ => vec![term.clone()],
    }
}

/// Whether the terms can be true together.
pub(super) fn possible(solver: &mut Solver, terms: &[Term]) -> Result<bool, Undecided> {
    match solver.check_with(&Term::all(terms.iter().cloned())) {
        Answer::Sat(_) => Ok(true),
        Answer::Unsat => Ok(false),
        Answer::Unknown(why) => Err(Undecided(why)),
    }
}
