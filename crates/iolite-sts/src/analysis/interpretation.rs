//! Abstract interpretation: reachability forwards and coreachability backwards over the locations,
//! with boxes, then octagons, then polyhedra [SYM04, §4].
//!
//! Each domain iterates to a fixpoint: places where a loop closes are widened after a delay, with
//! thresholds from the model's comparisons, and a few decreasing rounds regain what widening lost.
//! What comes out is a candidate like any other: it is checked as inductive before it is believed.

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::{Solver, Term};

use super::domain::{
    Abstract, IntervalBox, Limits, NumericDomain, Octagon, Polyhedron, Vocabulary, Widening,
};
use super::invariant::{Invariant, broken};
use super::member::{Member, Meter, Outcome, Slice};
use super::problem::Problem;
use crate::iosts::{Iosts, LocationId, TransitionId};

/// How often a place is joined before it is widened.
const DELAY: u32 = 3;
/// Decreasing rounds after the fixpoint.
const ROUNDS: u32 = 2;
/// Coordinates beyond which polyhedra are not tried: their cost grows too fast.
const MOST_FOR_POLYHEDRA: usize = 12;

/// The price of one step of a domain, in the steps of the portfolio.
trait Priced: NumericDomain {
    const PRICE: u64;
}

impl Priced for IntervalBox {
    const PRICE: u64 = 2;
}

impl Priced for Octagon {
    const PRICE: u64 = 10;
}

impl Priced for Polyhedron {
    const PRICE: u64 = 30;
}

/// The direction of an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// A fixpoint in the making.
struct Iteration<N> {
    direction: Direction,
    vocabulary: Arc<Vocabulary>,
    widening: Widening,
    /// By location.
    start: Vec<Abstract<N>>,
    at: Vec<Abstract<N>>,
    /// By location: whether a cycle closes there, and how often it grew.
    closes: Vec<bool>,
    grown: Vec<u32>,
    open: BTreeSet<usize>,
    rounds: u32,
}

impl<N: Priced> Iteration<N> {
    fn new(problem: &Problem<'_>, direction: Direction) -> Self {
        let model = problem.model;
        let count = model.locations().len();
        let vocabulary = Vocabulary::of(model, Limits::default());
        let mut start = vec![Abstract::bottom(&vocabulary); count];
        match direction {
            Direction::Forward => {
                start[model.initial().index()] = Abstract::initial(model, &vocabulary);
            }
            Direction::Backward => {
                for target in problem.violating() {
                    start[target.index()] = Abstract::top(&vocabulary);
                }
            }
        }
        Self {
            direction,
            widening: Widening::of(model, &vocabulary, DELAY),
            at: start.clone(),
            open: (0..count).filter(|l| !start[*l].is_bottom()).collect(),
            start,
            closes: closing(model, direction),
            grown: vec![0; count],
            rounds: 0,
            vocabulary,
        }
    }

    /// The transitions through which a place tells others of itself.
    fn transitions(&self, problem: &Problem<'_>, from: usize) -> Vec<TransitionId> {
        let location = LocationId::new(from);
        match self.direction {
            // A run ends with its first violation.
            Direction::Forward if problem.is_violating(location) => Vec::new(),
            Direction::Forward => problem.model.outgoing(location).to_vec(),
            Direction::Backward => problem.incoming(location).to_vec(),
        }
    }

    /// What a transition makes of the place that it comes from, and the place where that is.
    fn image(&self, problem: &Problem<'_>, t: TransitionId) -> (usize, Abstract<N>) {
        let transition = problem.model.transition(t);
        let (source, target) = (transition.source.index(), transition.target.index());
        match self.direction {
            Direction::Forward => (target, self.at[source].post(problem.model, transition)),
            Direction::Backward => {
                let before = Abstract::top(&self.vocabulary);
                let pre = self.at[target].pre(problem.model, transition, &before);
                (source, pre)
            }
        }
    }

    /// Works until there is a fixpoint, `true`, or the meter is empty.
    fn run(&mut self, problem: &Problem<'_>, meter: &mut Meter, over: impl Fn() -> bool) -> bool {
        while let Some(from) = self.open.pop_first() {
            for t in self.transitions(problem, from) {
                if meter.is_empty() || over() {
                    self.open.insert(from);
                    return false;
                }
                meter.spend(N::PRICE);
                let (to, image) = self.image(problem, t);
                self.grow(to, &image);
            }
        }
        while self.rounds < ROUNDS {
            let price = N::PRICE * problem.model.transitions().len() as u64;
            if meter.is_empty() || over() {
                return false;
            }
            meter.spend(price);
            self.rounds += 1;
            self.shrink(problem);
        }
        true
    }

    fn grow(&mut self, to: usize, image: &Abstract<N>) {
        if image.leq(&self.at[to]) {
            return;
        }
        let joined = self.at[to].join(image);
        self.at[to] = if self.closes[to] {
            self.grown[to] += 1;
            if self.grown[to] > self.widening.delay {
                self.at[to].widen(&joined, &self.widening.thresholds)
            } else {
                joined
            }
        } else {
            joined
        };
        self.open.insert(to);
    }

    /// One decreasing round: a step from the fixpoint is still above the least one.
    fn shrink(&mut self, problem: &Problem<'_>) {
        let mut next = self.start.clone();
        for from in 0..self.at.len() {
            for t in self.transitions(problem, from) {
                let (to, image) = self.image(problem, t);
                next[to] = next[to].join(&image);
            }
        }
        let pairs = self.at.iter().zip(&next);
        self.at = pairs
            .map(|(old, new)| {
                let meet = new.meet(old);
                if meet.leq(old) {
                    old.narrow(&meet)
                } else {
                    old.clone()
                }
            })
            .collect();
    }

    /// A condition for each location; `None` where one is too large for a term.
    fn terms(&self) -> Option<Vec<Term>> {
        self.at.iter().map(|a| a.to_term().ok()).collect()
    }

    /// The same without Booleans and enumerations: weaker, and shorter where it is enough.
    fn short_terms(&self) -> Option<Vec<Term>> {
        self.at.iter().map(|a| a.merged().to_term().ok()).collect()
    }
}

/// Locations such that each cycle of transitions has one: those where a walk depth first meets its
/// own way again.
fn closing(model: &Iosts, direction: Direction) -> Vec<bool> {
    let count = model.locations().len();
    let mut next = vec![Vec::new(); count];
    for (_, t) in model.transitions() {
        let (from, to) = match direction {
            Direction::Forward => (t.source.index(), t.target.index()),
            Direction::Backward => (t.target.index(), t.source.index()),
        };
        next[from].push(to);
    }
    let mut closes = vec![false; count];
    // 0: not met, 1: on the way, 2: done.
    let mut mark = vec![0u8; count];
    for root in 0..count {
        if mark[root] != 0 {
            continue;
        }
        mark[root] = 1;
        let mut way = vec![(root, 0)];
        while let Some((at, k)) = way.last_mut() {
            let Some(&to) = next[*at].get(*k) else {
                mark[*at] = 2;
                way.pop();
                continue;
            };
            *k += 1;
            match mark[to] {
                0 => {
                    mark[to] = 1;
                    way.push((to, 0));
                }
                1 => closes[to] = true,
                _ => {}
            }
        }
    }
    closes
}

/// The domains by turns.
enum Stage {
    Start,
    Boxes(Iteration<IntervalBox>),
    Octagons(Iteration<Octagon>),
    Polyhedra(Iteration<Polyhedron>),
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

/// What an iteration found: nothing yet, or candidates, the simplest first.
fn worked<N: Priced>(
    iteration: &mut Iteration<N>,
    problem: &Problem<'_>,
    slice: &mut Slice<'_>,
) -> Option<Vec<Vec<Term>>> {
    let solver = &*slice.solver;
    let done = iteration.run(problem, slice.meter, || solver.is_out_of_time());
    done.then(|| {
        let candidates = [iteration.short_terms(), iteration.terms()];
        candidates.into_iter().flatten().collect()
    })
}

impl Member for Interpretation {
    fn name(&self) -> String {
        let domain = match self.stage {
            Stage::Start | Stage::Boxes(_) => IntervalBox::NAME,
            Stage::Octagons(_) => Octagon::NAME,
            Stage::Polyhedra(_) | Stage::Done => Polyhedron::NAME,
        };
        format!("abstract interpretation with {domain}")
    }

    fn run(&mut self, problem: &Problem<'_>, slice: &mut Slice<'_>) -> Outcome {
        while !slice.is_over() {
            let found = match &mut self.stage {
                Stage::Start => {
                    self.stage = Stage::Boxes(Iteration::new(problem, Direction::Forward));
                    continue;
                }
                Stage::Boxes(iteration) => worked(iteration, problem, slice),
                Stage::Octagons(iteration) => worked(iteration, problem, slice),
                Stage::Polyhedra(iteration) => worked(iteration, problem, slice),
                Stage::Done => {
                    let why = "what the domains describe does not exclude a violation";
                    return Outcome::Stuck(why.into());
                }
            };
            let Some(candidates) = found else {
                return Outcome::More;
            };
            for terms in candidates {
                if let Some(outcome) = concluded(terms, problem, slice) {
                    return outcome;
                }
            }
            self.stage = self.after(problem);
        }
        Outcome::More
    }
}

impl Interpretation {
    /// The next stronger domain.
    fn after(&self, problem: &Problem<'_>) -> Stage {
        match &self.stage {
            Stage::Start | Stage::Boxes(_) => {
                Stage::Octagons(Iteration::new(problem, Direction::Forward))
            }
            Stage::Octagons(octagons)
                if octagons.vocabulary.quantities().len() <= MOST_FOR_POLYHEDRA =>
            {
                Stage::Polyhedra(Iteration::new(problem, Direction::Forward))
            }
            Stage::Octagons(_) | Stage::Polyhedra(_) | Stage::Done => Stage::Done,
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
    let mut iteration = Iteration::<Octagon>::new(problem, Direction::Backward);
    let mut meter = Meter::new(steps);
    iteration.run(problem, &mut meter, || false).then_some(())?;
    iteration.terms()
}

/// An inductive invariant of a system: for each location a condition that every reachable state there
/// satisfies; `None` where `steps` are not enough or the solver does not confirm it.
pub fn reachable(model: &Iosts, solver: &mut Solver, steps: u64) -> Option<Invariant> {
    let problem = Problem::new(model, &[]);
    let mut iteration = Iteration::<Octagon>::new(&problem, Direction::Forward);
    let mut meter = Meter::new(steps);
    iteration
        .run(&problem, &mut meter, || false)
        .then_some(())?;
    let candidates = [iteration.short_terms(), iteration.terms()];
    let invariants = candidates.into_iter().flatten();
    invariants
        .map(|terms| Invariant::new(model, terms))
        .find(|invariant| matches!(broken(&problem, invariant, solver), Ok(None)))
}
