//! Forward and backward analysis by turns, on locations that are split where it is not enough.
//!
//! F₁ is what is reachable, B₁ what reaches a violation within F₁, F₂ what is reachable within B₁:
//! a run to a violation never leaves B₁. With F₁ and F₂ the condition F₁ ∧ (¬B₁ ∨ F₂) is an
//! invariant, since no step leads from outside of B₁ into it.

use std::sync::Arc;

use iolite_expr::Term;

use super::domain::Abstract;
use super::fixpoint::{Direction, Fixpoint, Priced};
use super::member::Slice;
use super::partition::Partition;
use super::problem::Problem;

/// How often locations are split.
const SPLITS: u32 = 4;

/// What the work has come to.
pub(super) enum Refined {
    /// Nothing yet.
    More,
    /// Conditions for each location to look at; the work goes on if they are not enough.
    Candidate(Vec<Term>),
    /// There is nothing left to try.
    Done,
}

/// The fixpoint that is worked on.
enum Phase<N> {
    /// F₁.
    Reach(Fixpoint<N>),
    /// B₁, with the conditions of F₁.
    Coreach(Fixpoint<N>, Vec<Term>),
    /// F₂, with those of F₁ and B₁, and B₁ itself.
    Again(Fixpoint<N>, Vec<Term>, Vec<Term>, Vec<Abstract<N>>),
    /// All three are there: what is within both directions is left to be split.
    Split(Vec<Abstract<N>>),
    Done,
}

/// The three fixpoints, on finer and finer partitions.
pub(super) struct Refinement<N> {
    partition: Arc<Partition>,
    phase: Phase<N>,
    splits: u32,
}

impl<N: Priced> Refinement<N> {
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        let partition = Arc::new(Partition::whole(problem.model));
        Self {
            phase: Phase::Reach(Fixpoint::within(
                problem,
                Direction::Forward,
                partition.clone(),
                None,
            )),
            partition,
            splits: 0,
        }
    }

    /// Works on the fixpoint of this phase.
    pub(super) fn step(&mut self, problem: &Problem<'_>, slice: &mut Slice<'_>) -> Refined {
        let solver = &*slice.solver;
        let over = || solver.is_out_of_time();
        let done = match &mut self.phase {
            Phase::Reach(f) | Phase::Coreach(f, _) | Phase::Again(f, ..) => {
                f.run(problem, slice.meter, over)
            }
            Phase::Split(_) | Phase::Done => true,
        };
        if !done {
            return Refined::More;
        }
        match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Reach(reach) => {
                let Some(terms) = reach.terms() else {
                    return Refined::Done;
                };
                let coreach = self.fixpoint(problem, Direction::Backward, reach.at);
                self.phase = Phase::Coreach(coreach, terms.clone());
                Refined::Candidate(terms)
            }
            Phase::Coreach(coreach, reach) => {
                let Some(terms) = coreach.terms() else {
                    return Refined::Done;
                };
                let candidate = outside(&reach, &terms);
                let empty = coreach.is_empty_at(problem.model.initial());
                let again = self.fixpoint(problem, Direction::Forward, coreach.at.clone());
                self.phase = Phase::Again(again, reach, terms, coreach.at);
                if empty {
                    Refined::Candidate(candidate)
                } else {
                    Refined::More
                }
            }
            Phase::Again(again, reach, coreach, within) => {
                let Some(terms) = again.terms() else {
                    return Refined::Done;
                };
                let proved = problem.violating().all(|l| again.is_empty_at(l));
                let both = again.at.iter().zip(&within).map(|(a, b)| a.meet(b));
                self.phase = Phase::Split(both.collect());
                if !proved {
                    return Refined::More;
                }
                let parts = outside(&reach, &coreach).into_iter().zip(reach);
                let all = parts.zip(terms).map(|((outside, reach), again)| {
                    let inside = Term::all([reach, again]);
                    Term::any([outside, inside]).simplify()
                });
                Refined::Candidate(all.collect())
            }
            Phase::Split(left) => self.split(problem, &left),
            Phase::Done => Refined::Done,
        }
    }

    fn fixpoint(
        &self,
        problem: &Problem<'_>,
        direction: Direction,
        within: Vec<Abstract<N>>,
    ) -> Fixpoint<N> {
        Fixpoint::within(problem, direction, self.partition.clone(), Some(within))
    }

    fn split(&mut self, problem: &Problem<'_>, left: &[Abstract<N>]) -> Refined {
        let mixes = |k: usize, p: &Term| {
            let cell: &Abstract<N> = &left[k];
            !cell.guard(p).is_bottom() && !cell.guard(&p.negated()).is_bottom()
        };
        if self.splits == SPLITS {
            return Refined::Done;
        }
        self.splits += 1;
        let Some(finer) = self.partition.refined(problem, mixes) else {
            return Refined::Done;
        };
        self.partition = Arc::new(finer);
        let reach = Fixpoint::within(problem, Direction::Forward, self.partition.clone(), None);
        self.phase = Phase::Reach(reach);
        Refined::More
    }
}

/// What is reachable and cannot reach a violation.
fn outside(reach: &[Term], coreach: &[Term]) -> Vec<Term> {
    let pairs = reach.iter().zip(coreach);
    let outside = pairs.map(|(f, b)| Term::all([f.clone(), b.negated()]).simplify());
    outside.collect()
}
