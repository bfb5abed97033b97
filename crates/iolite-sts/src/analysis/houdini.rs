//! The strongest invariant that is a conjunction of simple conditions at each location.
//!
//! It starts with all candidates everywhere and drops those that an initial state or a step breaks,
//! until none is broken. What is left is inductive; mostly it is too weak to exclude a violation and
//! helps the other members.

use std::collections::VecDeque;

use iolite_expr::{Answer, Model, Term};

use super::candidates::candidates;
use super::invariant::Invariant;
use super::member::{Member, Outcome, Slice, row};
use super::problem::Problem;
use crate::iosts::TransitionId;
use crate::semantics::Frame;

#[derive(Default)]
pub(super) struct Houdini {
    /// By location: the candidates that are left, once it is reached at all.
    left: Vec<Option<Vec<Term>>>,
    all: Vec<Term>,
    /// Transitions whose source changed.
    open: VecDeque<TransitionId>,
    /// By transition: whether it is among them.
    waits: Vec<bool>,
    started: bool,
    done: bool,
}

impl Member for Houdini {
    fn name(&self) -> String {
        "conjunctions of simple conditions".into()
    }

    fn run(&mut self, problem: &Problem<'_>, slice: &mut Slice<'_>) -> Outcome {
        if self.done {
            return Outcome::Stuck("the conditions do not exclude a violation".into());
        }
        if !self.started {
            self.start(problem, slice);
        }
        while !slice.is_over() {
            let Some(t) = self.open.pop_front() else {
                self.done = true;
                let invariant = self.invariant(problem);
                slice.shared.lemmas = slice.shared.lemmas.and(&invariant);
                let excluded = problem.violating().all(|l| invariant.at(l).is_false());
                return if excluded {
                    Outcome::Proved(slice.shared.lemmas.clone())
                } else {
                    Outcome::More
                };
            };
            self.waits[t.index()] = false;
            self.step(t, problem, slice);
        }
        Outcome::More
    }
}

impl Houdini {
    fn start(&mut self, problem: &Problem<'_>, slice: &mut Slice<'_>) {
        self.started = true;
        let model = problem.model;
        self.all = candidates(problem);
        self.left = vec![None; model.locations().len()];
        self.waits = vec![false; model.transitions().len()];
        // What a reachable state breaks needs no solver.
        for (constants, state) in &slice.shared.samples {
            let known = self.left[state.location.index()].get_or_insert_with(|| self.all.clone());
            let frame = Frame {
                variables: &state.values,
                constants,
                params: &[],
            };
            known.retain(|c| c.eval_bool(&frame) == Ok(true));
        }
        // Nothing has to be known of places from which no violation follows.
        for (l, _) in model.locations() {
            if !problem.leads_to_violation(l) {
                self.left[l.index()] = Some(Vec::new());
            }
        }
        let initial = model.initial();
        let mut here = self.left[initial.index()]
            .take()
            .unwrap_or_else(|| self.all.clone());
        drop_broken(&mut here, &[problem.initial()], problem, slice, |c| {
            Some(c.clone())
        });
        self.left[initial.index()] = Some(here);
        for (l, _) in model.locations() {
            if self.left[l.index()].is_some() {
                self.reopen(l.index(), problem);
            }
        }
    }

    fn reopen(&mut self, location: usize, problem: &Problem<'_>) {
        let location = crate::iosts::LocationId::new(location);
        if problem.is_violating(location) || !problem.leads_to_violation(location) {
            return;
        }
        for t in problem.model.outgoing(location) {
            if !std::mem::replace(&mut self.waits[t.index()], true) {
                self.open.push_back(*t);
            }
        }
    }

    fn step(&mut self, t: TransitionId, problem: &Problem<'_>, slice: &mut Slice<'_>) {
        let transition = problem.model.transition(t);
        let (source, target) = (transition.source.index(), transition.target.index());
        if !problem.leads_to_violation(transition.target) {
            return;
        }
        let Some(from) = self.left[source].clone() else {
            return;
        };
        let mut assumed = vec![problem.lasting().clone(), problem.fireable(t).clone()];
        assumed.push(slice.shared.lemmas.at(transition.source).clone());
        assumed.extend(from);
        let (mut here, new) = match self.left[target].take() {
            Some(here) => (here, false),
            // Reached for the first time, if at all.
            None => match slice.check(&assumed, &[]) {
                Answer::Unsat => return,
                _ => (self.all.clone(), true),
            },
        };
        let before = here.len();
        drop_broken(&mut here, &assumed, problem, slice, |c| {
            problem.before(t, c).ok()
        });
        let changed = new || here.len() < before;
        self.left[target] = Some(here);
        if changed {
            self.reopen(target, problem);
        }
    }

    fn invariant(&self, problem: &Problem<'_>) -> Invariant {
        let terms = problem
            .model
            .locations()
            .map(|(l, _)| match &self.left[l.index()] {
                _ if !problem.leads_to_violation(l) => true.into(),
                None => false.into(),
                Some(left) => {
                    Term::all([problem.lasting().clone()].into_iter().chain(left.clone()))
                }
            });
        Invariant::new(problem.model, terms.collect())
    }
}

/// Drops the candidates whose image can be false where what is assumed holds. One model drops all
/// that are false under it; what is not decided is dropped, too.
fn drop_broken(
    left: &mut Vec<Term>,
    assumed: &[Term],
    problem: &Problem<'_>,
    slice: &mut Slice<'_>,
    image: impl Fn(&Term) -> Option<Term>,
) {
    let images: Vec<Option<Term>> = left.iter().map(&image).collect();
    let mut pairs: Vec<(Term, Term)> = left
        .drain(..)
        .zip(images)
        .filter_map(|(c, i)| Some((c, i?)))
        .collect();
    let wanted = problem.data();
    while !pairs.is_empty() && !slice.solver.is_out_of_time() {
        let broken = Term::any(pairs.iter().map(|(_, i)| i.negated()));
        let mut terms = assumed.to_vec();
        terms.push(broken);
        match slice.check(&terms, &wanted) {
            Answer::Unsat => {
                left.extend(pairs.into_iter().map(|(c, _)| c));
                return;
            }
            Answer::Sat(found) => {
                let found = complete(found, &pairs);
                let before = pairs.len();
                pairs.retain(|(_, i)| i.eval_bool(&found) == Ok(true));
                if pairs.len() == before {
                    break;
                }
            }
            Answer::Unknown(_) => break,
        }
    }
    // One by one, where all at once was too much.
    for (c, i) in pairs {
        if slice.solver.is_out_of_time() {
            return;
        }
        let mut terms = assumed.to_vec();
        terms.push(i.negated());
        if matches!(slice.check(&terms, &[]), Answer::Unsat) {
            left.push(c);
        }
    }
}

/// The model with a value for every variable that is read.
fn complete(found: Model, pairs: &[(Term, Term)]) -> Model {
    let mut found = found;
    for v in pairs.iter().flat_map(|(_, i)| i.free_vars()) {
        if found.value(v.id).is_none() {
            let value = row(&found, std::slice::from_ref(&v));
            found.insert(v.id, value[0].clone());
        }
    }
    found
}
