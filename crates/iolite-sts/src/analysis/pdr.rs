//! Property-directed reachability, location by location.
//!
//! Fᵢ over-approximates what is reachable in at most i steps: for each location a conjunction of
//! negated cubes. A cube that may lead to a violation is blocked where no step from the frame below
//! reaches it; then it is made as general as stays blocked, which is where invariants come from.
//! Preimages are cubes again: an implicant under the solver's model, the parameters eliminated or,
//! where that fails, replaced by their values.

use std::collections::BTreeMap;

use iolite_expr::{Answer, Model, Op, Term, Var, qe};

use super::backward::follow;
use super::cube::{Cube, apply, implicant, split};
use super::invariant::Invariant;
use super::member::{Member, Outcome, Slice};
use super::problem::{Problem, equation};
use super::run::Run;
use crate::iosts::{LocationId, TransitionId};

/// Frames before the member gives up, lemmas, and questions spent on making one cube general.
const FRAMES: usize = 60;
const LEMMAS: usize = 1_500;
const WEAKENINGS: usize = 60;

#[derive(Clone, Debug)]
struct Lemma {
    location: LocationId,
    cube: Cube,
    /// The highest frame that it is known to hold in.
    level: usize,
}

#[derive(Clone, Debug)]
struct Obligation {
    location: LocationId,
    cube: Cube,
    /// The transition to the next obligation on the way to a violation.
    next: Option<(TransitionId, usize)>,
}

#[derive(Default)]
pub(super) struct Pdr {
    lemmas: Vec<Lemma>,
    frontier: usize,
    obligations: Vec<Obligation>,
    /// Obligations that wait, by level and then by age.
    queue: BTreeMap<(usize, usize), usize>,
}

enum Reached {
    No,
    /// By this transition, from this cube of its source.
    From(TransitionId, Cube),
    Undecided(String),
}

impl Member for Pdr {
    fn name(&self) -> String {
        format!("property-directed reachability, {} frames", self.frontier)
    }

    fn run(&mut self, problem: &Problem<'_>, slice: &mut Slice<'_>) -> Outcome {
        if self.frontier == 0 {
            self.open_frame(problem);
        }
        while !slice.is_over() {
            if self.lemmas.len() > LEMMAS {
                return Outcome::Stuck(format!("{} lemmas are too many", self.lemmas.len()));
            }
            if let Some((&(level, age), &id)) = self.queue.iter().next() {
                if let Some(outcome) = self.handle(level, age, id, problem, slice) {
                    return outcome;
                }
                continue;
            }
            if let Some(invariant) = self.propagate(problem, slice) {
                return Outcome::Proved(invariant);
            }
            if self.frontier >= FRAMES {
                return Outcome::Stuck(format!("no fixed point in {FRAMES} frames"));
            }
            self.open_frame(problem);
        }
        Outcome::More
    }
}

impl Pdr {
    fn open_frame(&mut self, problem: &Problem<'_>) {
        self.frontier += 1;
        self.obligations.clear();
        for location in problem.violating() {
            let id = self.oblige(location, Vec::new(), None);
            self.queue.insert((self.frontier, id), id);
        }
    }

    fn oblige(
        &mut self,
        location: LocationId,
        cube: Cube,
        next: Option<(TransitionId, usize)>,
    ) -> usize {
        self.obligations.push(Obligation {
            location,
            cube,
            next,
        });
        self.obligations.len() - 1
    }

    /// Fᵢ at a location, for i ≥ 1, with what is known of all reachable states.
    fn frame(&self, level: usize, l: LocationId, problem: &Problem<'_>, slice: &Slice<'_>) -> Term {
        let lemmas = self.lemmas.iter();
        let here = lemmas.filter(|m| m.location == l && m.level >= level);
        let blocked = here.map(|m| Term::all(m.cube.iter().cloned()).negated());
        let known = [problem.lasting().clone(), slice.shared.lemmas.at(l).clone()];
        Term::all(known.into_iter().chain(blocked))
    }

    fn handle(
        &mut self,
        level: usize,
        age: usize,
        id: usize,
        problem: &Problem<'_>,
        slice: &mut Slice<'_>,
    ) -> Option<Outcome> {
        let Obligation { location, cube, .. } = self.obligations[id].clone();
        if location == problem.model.initial() {
            let start = Term::all([problem.initial(), Term::all(cube.iter().cloned())]);
            match slice.check(&[start], &problem.data()) {
                Answer::Sat(found) => {
                    return Some(match self.concrete(id, &found, problem, slice) {
                        Some(run) => Outcome::Refuted(run),
                        None => Outcome::Stuck("a violation could not be made concrete".into()),
                    });
                }
                Answer::Unknown(why) => return Some(Outcome::Stuck(why.to_string())),
                Answer::Unsat => {}
            }
        }
        if level == 0 {
            return Some(Outcome::Stuck(
                "an obligation lost its initial state".into(),
            ));
        }
        if let Some(known) = self.blocking(location, &cube, level) {
            self.queue.remove(&(level, age));
            if known < self.frontier {
                self.queue.insert((known + 1, age), id);
            }
            return None;
        }
        match self.reached(location, &cube, level, problem, slice) {
            Reached::Undecided(why) => return Some(Outcome::Stuck(why)),
            Reached::From(t, before) => {
                let source = problem.model.transition(t).source;
                let new = self.oblige(source, before, Some((t, id)));
                self.queue.insert((level - 1, new), new);
            }
            Reached::No => {
                self.queue.remove(&(level, age));
                let (cube, level) = self.generalise(location, cube, level, problem, slice);
                self.learn(location, cube, level);
                if level < self.frontier {
                    self.queue.insert((level + 1, age), id);
                }
            }
        }
        None
    }

    /// The highest frame in which a lemma is seen to block the cube, if that is at least `level`.
    fn blocking(&self, location: LocationId, cube: &Cube, level: usize) -> Option<usize> {
        let lemmas = self.lemmas.iter();
        let blocks = lemmas.filter(|m| {
            m.location == location && m.level >= level && m.cube.iter().all(|l| cube.contains(l))
        });
        blocks.map(|m| m.level).max()
    }

    /// Adds a lemma, without those that it makes superfluous.
    fn learn(&mut self, location: LocationId, cube: Cube, level: usize) {
        self.lemmas.retain(|m| {
            let weaker = m.location == location && cube.iter().all(|l| m.cube.contains(l));
            !(weaker && m.level <= level)
        });
        self.lemmas.push(Lemma {
            location,
            cube,
            level,
        });
    }

    /// Whether one step from Fᵢ₋₁ without the cube leads into the cube.
    fn reached(
        &self,
        location: LocationId,
        cube: &Cube,
        level: usize,
        problem: &Problem<'_>,
        slice: &mut Slice<'_>,
    ) -> Reached {
        let model = problem.model;
        let whole = Term::all(cube.iter().cloned());
        for &t in problem.incoming(location) {
            let source = model.transition(t).source;
            let from = if level == 1 {
                if source != model.initial() {
                    continue;
                }
                problem.initial()
            } else {
                self.frame(level - 1, source, problem, slice)
            };
            let Ok(after) = problem.before(t, &whole) else {
                return Reached::Undecided("a cube grows too large".into());
            };
            let step = Term::all([problem.fireable(t).clone(), after]);
            let outside = if source == location {
                whole.negated()
            } else {
                true.into()
            };
            let mut wanted = problem.data();
            wanted.extend(problem.params(t).iter().cloned());
            match slice.check(&[from, outside, step.clone()], &wanted) {
                Answer::Unsat => {}
                Answer::Unknown(why) => return Reached::Undecided(why.to_string()),
                Answer::Sat(found) => {
                    return match preimage(&step.simplify(), problem.params(t), &found) {
                        Some(before) => Reached::From(t, before),
                        None => Reached::From(t, point(problem, &found)),
                    };
                }
            }
        }
        Reached::No
    }

    fn is_blocked(
        &self,
        location: LocationId,
        cube: &Cube,
        level: usize,
        problem: &Problem<'_>,
        slice: &mut Slice<'_>,
    ) -> bool {
        if location == problem.model.initial() {
            let start = Term::all(cube.iter().cloned());
            if !matches!(slice.check(&[problem.initial(), start], &[]), Answer::Unsat) {
                return false;
            }
        }
        matches!(
            self.reached(location, cube, level, problem, slice),
            Reached::No
        )
    }

    /// A weaker cube that is blocked as well, and the highest frame that blocks it.
    fn generalise(
        &self,
        location: LocationId,
        cube: Cube,
        level: usize,
        problem: &Problem<'_>,
        slice: &mut Slice<'_>,
    ) -> (Cube, usize) {
        let mut level = level;
        let mut left = WEAKENINGS;
        let mut cube = if cube.is_empty() {
            cube
        } else {
            // Relations between the numbers of the cube come last: what is particular is dropped
            // first, and they stay.
            let mut wide = split(&cube);
            let relations = relations(&wide, slice);
            wide.extend(relations.into_iter().filter(|r| !cube.contains(r)));
            wide
        };
        let mut at = 0;
        while at < cube.len() && left > 0 && !slice.solver.is_out_of_time() {
            let mut fewer = cube.clone();
            fewer.remove(at);
            left -= 1;
            if self.is_blocked(location, &fewer, level, problem, slice) {
                cube = fewer;
            } else {
                at += 1;
            }
        }
        while level < self.frontier && self.is_blocked(location, &cube, level + 1, problem, slice) {
            level += 1;
        }
        (cube, level)
    }

    /// Moves lemmas forward; the invariant, where two frames are the same.
    fn propagate(&mut self, problem: &Problem<'_>, slice: &mut Slice<'_>) -> Option<Invariant> {
        for level in 1..=self.frontier {
            for i in 0..self.lemmas.len() {
                if self.lemmas[i].level != level {
                    continue;
                }
                let Lemma { location, cube, .. } = self.lemmas[i].clone();
                if self.is_blocked(location, &cube, level + 1, problem, slice) {
                    self.lemmas[i].level = level + 1;
                }
            }
            if self.lemmas.iter().all(|m| m.level != level) {
                let locations = problem.model.locations();
                let terms = locations.map(|(l, _)| self.frame(level + 1, l, problem, slice));
                return Some(Invariant::new(problem.model, terms.collect()));
            }
        }
        None
    }

    fn concrete(
        &self,
        id: usize,
        found: &Model,
        problem: &Problem<'_>,
        slice: &mut Slice<'_>,
    ) -> Option<Run> {
        let way = std::iter::successors(self.obligations[id].next, |(_, o)| {
            self.obligations[*o].next
        });
        let way: Vec<(TransitionId, Term)> = way
            .map(|(t, o)| (t, Term::all(self.obligations[o].cube.iter().cloned())))
            .collect();
        follow(found, &way, problem, slice)
    }
}

/// A cube of states all of which take the step, and which holds the model's.
fn preimage(step: &Term, params: &[Var], found: &Model) -> Option<Cube> {
    let literals = implicant(step, found)?;
    let reads = |t: &Term| params.iter().any(|p| t.reads(p.id));
    let (with, mut without): (Cube, Cube) = literals.into_iter().partition(reads);
    if with.is_empty() {
        return Some(without);
    }
    let together = Term::all(with.iter().cloned());
    let rest = qe::eliminate(params, &together)
        .and_then(|rest| implicant(&rest, found))
        .or_else(|| {
            let map = params
                .iter()
                .map(|p| {
                    let value = found.value(p.id).cloned();
                    let value = value.unwrap_or_else(|| p.sort.default_value());
                    (p.id, crate::symbolic::literal(p, value))
                })
                .collect();
            let ground = together.substitute(&map).ok()?.simplify();
            implicant(&ground, found)
        })?;
    without.extend(rest);
    without.dedup();
    Some(without)
}

/// The one state of the model.
fn point(problem: &Problem<'_>, found: &Model) -> Cube {
    let data = problem.data();
    let values = super::member::row(found, &data);
    let pairs = data.iter().zip(&values);
    pairs.map(|(v, x)| equation(v, x)).collect()
}

/// Which of x < y, x > y, x = y the cube implies for the numbers that it bounds.
fn relations(cube: &Cube, slice: &mut Slice<'_>) -> Cube {
    let mut numbers: Vec<Term> = Vec::new();
    for v in cube.iter().flat_map(Term::free_vars) {
        if v.sort.is_int() && !numbers.contains(&v.term()) {
            numbers.push(v.term());
        }
    }
    let mut out = Vec::new();
    if numbers.len() > 4 {
        return out;
    }
    let whole = Term::all(cube.iter().cloned());
    for (i, x) in numbers.iter().enumerate() {
        for y in &numbers[i + 1..] {
            for op in [Op::Lt, Op::Gt, Op::Le, Op::Ge] {
                let Some(relation) = apply(op, vec![x.clone(), y.clone()]) else {
                    continue;
                };
                let without = [whole.clone(), relation.negated()];
                if matches!(slice.check(&without, &[]), Answer::Unsat) {
                    out.push(relation);
                    break;
                }
            }
        }
    }
    out
}
