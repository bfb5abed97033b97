//! Abstract interpretation: reachability forwards and coreachability backwards over the locations,
//! with boxes, then octagons, then polyhedra [SYM04, §3.4 and §5].
//!
//! Each domain iterates to a fixpoint: places where a loop closes are widened after a delay, with
//! thresholds from the model's comparisons, and a few decreasing rounds regain what widening lost. Octagons are
//! tried for each valuation of the variables that hold control, too. Where no domain is enough, both directions restrict each other, and locations are split.
//! What comes out is a candidate like any other: it is checked as inductive before it is believed.

use std::sync::Arc;

use iolite_expr::{Solver, Term};

use super::domain::{IntervalBox, NumericDomain, Octagon, Polyhedron};
use super::fixpoint::{Direction, Fixpoint, Priced};
use super::invariant::{Invariant, broken};
use super::member::{Member, Meter, Outcome, Slice};
use super::partition::Partition;
use super::problem::Problem;
use super::refinement::{Refined, Refinement};
use crate::iosts::Iosts;

/// Coordinates beyond which polyhedra are not tried: their cost grows too fast.
const MOST_FOR_POLYHEDRA: usize = 12;

/// The domains by turns.
enum Stage {
    Start,
    Boxes(Fixpoint<IntervalBox>),
    Octagons(Fixpoint<Octagon>),
    /// Octagons for each valuation of the variables that hold control.
    ControlledOctagons(Fixpoint<Octagon>),
    Polyhedra(Fixpoint<Polyhedron>),
    SplitOctagons(Refinement<Octagon>),
    SplitPolyhedra(Refinement<Polyhedron>),
    Done,
}

/// Forward reachability as a member of the portfolio.
pub(super) struct Interpretation {
    stage: Stage,
}

impl Default for Interpretation {
    fn default() -> Self {
        Self {
            stage: Stage::Start,
        }
    }
}

/// What an fixpoint found: nothing yet, or candidates, the simplest first.
fn worked<N: Priced>(
    fixpoint: &mut Fixpoint<N>,
    problem: &Problem<'_>,
    slice: &mut Slice<'_>,
) -> Work {
    let solver = &*slice.solver;
    if !fixpoint.run(problem, slice.meter, || solver.is_out_of_time()) {
        return Work::More;
    }
    let candidates = [fixpoint.short_terms(), fixpoint.terms()];
    Work::Stage(candidates.into_iter().flatten().collect())
}

fn refined<N: Priced>(
    refinement: &mut Refinement<N>,
    problem: &Problem<'_>,
    slice: &mut Slice<'_>,
) -> Work {
    match refinement.step(problem, slice) {
        Refined::More => Work::More,
        Refined::Candidate(terms) => Work::Part(terms),
        Refined::Done => Work::Stage(Vec::new()),
    }
}

/// What a slice of a stage's work has come to.
enum Work {
    /// There is more to do.
    More,
    /// A candidate, and there is more to do.
    Part(Vec<Term>),
    /// The stage is over, with these candidates.
    Stage(Vec<Vec<Term>>),
}

impl Member for Interpretation {
    fn name(&self) -> String {
        let domain = match self.stage {
            Stage::Start | Stage::Boxes(_) => IntervalBox::NAME,
            Stage::Octagons(_) | Stage::ControlledOctagons(_) | Stage::SplitOctagons(_) => {
                Octagon::NAME
            }
            Stage::Polyhedra(_) | Stage::SplitPolyhedra(_) | Stage::Done => Polyhedron::NAME,
        };
        let how = match self.stage {
            Stage::SplitOctagons(_) | Stage::SplitPolyhedra(_) => " in both directions",
            Stage::ControlledOctagons(_) => " for each state of control",
            _ => "",
        };
        format!("abstract interpretation with {domain}{how}")
    }

    fn run(&mut self, problem: &Problem<'_>, slice: &mut Slice<'_>) -> Outcome {
        while !slice.is_over() {
            let work = match &mut self.stage {
                Stage::Start => {
                    self.stage = Stage::Boxes(Fixpoint::new(problem, Direction::Forward));
                    continue;
                }
                Stage::Boxes(fixpoint) => worked(fixpoint, problem, slice),
                Stage::Octagons(fixpoint) | Stage::ControlledOctagons(fixpoint) => {
                    worked(fixpoint, problem, slice)
                }
                Stage::Polyhedra(fixpoint) => worked(fixpoint, problem, slice),
                Stage::SplitOctagons(refinement) => refined(refinement, problem, slice),
                Stage::SplitPolyhedra(refinement) => refined(refinement, problem, slice),
                Stage::Done => {
                    let why = "what the domains describe does not exclude a violation";
                    return Outcome::Stuck(why.into());
                }
            };
            let (candidates, over) = match work {
                Work::More => continue,
                Work::Part(terms) => (vec![terms], false),
                Work::Stage(candidates) => (candidates, true),
            };
            for terms in candidates {
                if let Some(outcome) = concluded(terms, problem, slice) {
                    return outcome;
                }
            }
            if over {
                self.stage = self.after(problem);
            }
        }
        Outcome::More
    }
}

impl Interpretation {
    /// The next stronger domain; after the last of them both directions, on locations that are split.
    fn after(&self, problem: &Problem<'_>) -> Stage {
        let few = || problem.data().len() <= MOST_FOR_POLYHEDRA;
        if let Stage::Octagons(_) = self.stage
            && let Some(control) = Partition::by_control(problem)
        {
            let control = Arc::new(control);
            let fixpoint = Fixpoint::within(problem, Direction::Forward, control, None);
            return Stage::ControlledOctagons(fixpoint);
        }
        match &self.stage {
            Stage::Start | Stage::Boxes(_) => {
                Stage::Octagons(Fixpoint::new(problem, Direction::Forward))
            }
            Stage::Octagons(octagons) | Stage::ControlledOctagons(octagons)
                if octagons.vocabulary.quantities().len() <= MOST_FOR_POLYHEDRA =>
            {
                Stage::Polyhedra(Fixpoint::new(problem, Direction::Forward))
            }
            Stage::Octagons(_) | Stage::ControlledOctagons(_) | Stage::Polyhedra(_) => {
                Stage::SplitOctagons(Refinement::new(problem))
            }
            Stage::SplitOctagons(_) if few() => Stage::SplitPolyhedra(Refinement::new(problem)),
            Stage::SplitOctagons(_) | Stage::SplitPolyhedra(_) | Stage::Done => Stage::Done,
        }
    }
}

/// A proof where no violating location is reached; else what is inductive helps the other members.
fn concluded(terms: Vec<Term>, problem: &Problem<'_>, slice: &mut Slice<'_>) -> Option<Outcome> {
    let invariant = Invariant::new(problem.model, terms);
    let stands = matches!(broken(problem, &invariant, slice.solver), Ok(None));
    if !stands {
        return None;
    }
    slice.shared.lemmas = slice.shared.lemmas.and(&invariant);
    let excluded = problem.violating().all(|l| invariant.at(l).is_false());
    excluded.then_some(Outcome::Proved(invariant))
}

/// For each location a condition that every state there satisfies from which a violating location is
/// reachable; `None` where `steps` are not enough.
pub(super) fn coreachable(problem: &Problem<'_>, steps: u64) -> Option<Vec<Term>> {
    let mut fixpoint = Fixpoint::<Octagon>::new(problem, Direction::Backward);
    let mut meter = Meter::new(steps);
    fixpoint.run(problem, &mut meter, || false).then_some(())?;
    fixpoint.terms()
}

/// The numerical domains, by strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// A range for each variable.
    Boxes,
    /// Bounds of sums and differences of two.
    Octagons,
    /// Linear inequalities.
    Polyhedra,
}

/// For each location what a domain says of the states that are reachable there, as it comes out of the
/// analysis; `None` where `steps` are not enough.
pub fn described(model: &Iosts, strength: Strength, steps: u64) -> Option<Vec<Term>> {
    fn by<N: Priced>(model: &Iosts, steps: u64) -> Option<Vec<Term>> {
        let problem = Problem::new(model, &[]);
        let mut fixpoint = Fixpoint::<N>::new(&problem, Direction::Forward);
        let done = fixpoint.run(&problem, &mut Meter::new(steps), || false);
        done.then(|| fixpoint.terms()).flatten()
    }
    match strength {
        Strength::Boxes => by::<IntervalBox>(model, steps),
        Strength::Octagons => by::<Octagon>(model, steps),
        Strength::Polyhedra => by::<Polyhedron>(model, steps),
    }
}

/// An inductive invariant of a system: for each location a condition that every reachable state there
/// satisfies; `None` where `steps` are not enough or the solver does not confirm it.
pub fn reachable(model: &Iosts, solver: &mut Solver, steps: u64) -> Option<Invariant> {
    let problem = Problem::new(model, &[]);
    let mut fixpoint = Fixpoint::<Octagon>::new(&problem, Direction::Forward);
    let mut meter = Meter::new(steps);
    fixpoint.run(&problem, &mut meter, || false).then_some(())?;
    let candidates = [fixpoint.short_terms(), fixpoint.terms()];
    let invariants = candidates.into_iter().flatten();
    invariants
        .map(|terms| Invariant::new(model, terms))
        .find(|invariant| matches!(broken(&problem, invariant, solver), Ok(None)))
}
