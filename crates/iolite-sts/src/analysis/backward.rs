//! Backward search from the violating locations, by exact preimages.
//!
//! After k rounds the open obligations are the path formulas of k steps that end in a violation: a
//! round without any is what k-induction asks for. Because an obligation that earlier ones cover is
//! dropped as well, the search also ends where preimages repeat themselves, and the complement of
//! all obligations is then an inductive invariant.

use std::collections::VecDeque;

use iolite_expr::{Answer, Assertion, Model, Substitution, Term, Value, Var, VarId};

use super::invariant::Invariant;
use super::member::{Member, Outcome, Slice, row};
use super::problem::Problem;
use super::run::Run;
use crate::iosts::{LocationId, TransitionId, space};
use crate::semantics::State;
use crate::symbolic::literal;

/// Obligations that are kept, and the greatest size of one.
const OBLIGATIONS: usize = 2_000;
const SIZE: u32 = 4_000;
/// The size of a condition that is asked about for the price of one step, beside the question.
const SIZE_A_STEP: u64 = 8;

struct Obligation {
    location: LocationId,
    /// Over V ∪ C, and parameters that could not be eliminated.
    condition: Term,
    /// That it does not hold, where no parameter is left: asked beside every obligation that comes later.
    excluded: Option<Assertion>,
    /// Those parameters.
    left: Vec<Var>,
    /// The transition to the obligation that it is a preimage of.
    next: Option<(TransitionId, usize)>,
    depth: usize,
}

#[derive(Default)]
pub(super) struct Backward {
    all: Vec<Obligation>,
    open: VecDeque<usize>,
    started: bool,
    fresh: usize,
    depth: usize,
    doubt: Option<String>,
    /// Whether to go on where an initial state is met. A question then also costs its size: such a search may
    /// have no end, and asks each time about all that it found before.
    exhaustive: bool,
}

impl Member for Backward {
    fn name(&self) -> String {
        format!("backward search (k-induction, k = {})", self.depth)
    }

    fn k(&self) -> Option<usize> {
        Some(self.depth + 1)
    }

    fn run(&mut self, problem: &Problem<'_>, slice: &mut Slice<'_>) -> Outcome {
        if !self.started {
            self.started = true;
            for location in problem.violating() {
                self.open.push_back(self.all.len());
                self.all.push(Obligation {
                    location,
                    condition: true.into(),
                    excluded: Some(Assertion::new(&false.into())),
                    left: Vec::new(),
                    next: None,
                    depth: 0,
                });
            }
        }
        while !slice.is_over() {
            let Some(next) = self.open.pop_front() else {
                return self.end(problem, slice);
            };
            self.depth = self.depth.max(self.all[next].depth);
            if self.all.len() > OBLIGATIONS {
                return Outcome::Stuck(format!("open at depth {}", self.depth));
            }
            if !self.exhaustive
                && self.all[next].location == problem.model.initial()
                && let Some(run) = self.meets_start(next, problem, slice)
            {
                return Outcome::Refuted(run);
            }
            for &t in problem.incoming(self.all[next].location) {
                self.preimage(next, t, problem, slice);
            }
        }
        Outcome::More
    }
}

impl Backward {
    /// A search for all states from which a target is reachable, initial ones or not, among those that the
    /// shared lemmas describe.
    pub(super) fn towards_targets() -> Self {
        Self {
            exhaustive: true,
            ..Self::default()
        }
    }

    /// By location, the states from which a target is reachable, as far as they were found.
    pub(super) fn found(&self, problem: &Problem<'_>) -> Vec<Term> {
        let mut terms = vec![Vec::new(); problem.model.locations().len()];
        for o in &self.all {
            let some = Term::exists(o.left.clone(), o.condition.clone());
            terms[o.location.index()].push(some);
        }
        terms.into_iter().map(Term::any).collect()
    }

    fn preimage(
        &mut self,
        of: usize,
        t: TransitionId,
        problem: &Problem<'_>,
        slice: &mut Slice<'_>,
    ) {
        let Ok(after) = problem.before(t, &self.all[of].condition) else {
            self.doubt = Some("an obligation grows too large".into());
            return;
        };
        let body = Term::all([problem.fireable(t).clone(), after]).simplify();
        if body.is_false() {
            return;
        }
        let source = problem.model.transition(t).source;
        let params = problem.params(t);
        let mut left = self.all[of].left.clone();
        let reads = params.iter().any(|p| body.reads(p.id));
        let condition = match slice.solver.eliminate(params, &body) {
            _ if !reads => body,
            Some(condition) => condition,
            None => {
                let mut map = Substitution::new();
                for p in params.iter().filter(|p| body.reads(p.id)) {
                    self.fresh += 1;
                    let id = VarId::new(space::UNKNOWN, self.fresh);
                    let var = Var::new(id, &p.name, p.sort.clone());
                    map.insert(p.id, var.term());
                    left.push(var);
                }
                match body.substitute(&map) {
                    Ok(condition) => condition,
                    Err(_) => body,
                }
            }
        };
        if condition.size() > SIZE {
            self.doubt = Some("an obligation grows too large".into());
            return;
        }
        let lemma = slice.shared.lemmas.at(source).clone();
        let known = Term::all([problem.lasting().clone(), lemma]);
        // Covered by what is there already?
        let others = self.all.iter().filter(|o| o.location == source);
        let covering = others.filter(|o| o.left.is_empty());
        if self.exhaustive {
            let covered = covering.clone().map(|o| u64::from(o.condition.size()));
            slice.meter.spend(covered.sum::<u64>() / SIZE_A_STEP);
        }
        let excluded = covering.filter_map(|o| o.excluded.as_ref());
        let new = [condition.clone(), known];
        if matches!(slice.check_beside(&new, excluded, &[]), Answer::Unsat) {
            return;
        }
        let excluded = left.is_empty();
        let excluded = excluded.then(|| Assertion::new(&condition.negated()));
        self.open.push_back(self.all.len());
        let depth = self.all[of].depth + 1;
        self.all.push(Obligation {
            location: source,
            condition,
            excluded,
            left,
            next: Some((t, of)),
            depth,
        });
    }

    /// A run from an initial state that meets the obligation.
    fn meets_start(
        &mut self,
        at: usize,
        problem: &Problem<'_>,
        slice: &mut Slice<'_>,
    ) -> Option<Run> {
        let data = problem.data();
        let condition = self.all[at].condition.clone();
        match slice.check(&[problem.initial(), condition], &data) {
            Answer::Unsat => None,
            Answer::Unknown(why) => {
                self.doubt = Some(why.to_string());
                None
            }
            Answer::Sat(found) => {
                let way = std::iter::successors(self.all[at].next, |(_, o)| self.all[*o].next);
                let way: Vec<(TransitionId, Term)> = way
                    .map(|(t, o)| (t, self.all[o].condition.clone()))
                    .collect();
                let run = follow(&found, &way, problem, slice);
                // Should the run not be accepted, there is no proof either.
                let doubt = if run.is_none() {
                    "a violation could not be made concrete"
                } else {
                    "a violation was found"
                };
                self.doubt = Some(doubt.into());
                run
            }
        }
    }

    fn end(&self, problem: &Problem<'_>, slice: &Slice<'_>) -> Outcome {
        if let Some(doubt) = &self.doubt {
            return Outcome::Stuck(doubt.clone());
        }
        let mut terms: Vec<Vec<Term>> = problem
            .model
            .locations()
            .map(|(l, _)| {
                let lasting = problem.lasting().clone();
                let lasting = if self.exhaustive {
                    true.into()
                } else {
                    lasting
                };
                vec![lasting, slice.shared.lemmas.at(l).clone()]
            })
            .collect();
        for o in &self.all {
            let some = Term::exists(o.left.clone(), o.condition.clone());
            terms[o.location.index()].push(some.negated());
        }
        let terms = terms.into_iter().map(Term::all).collect();
        Outcome::Proved(Invariant::new(problem.model, terms))
    }
}

/// The run that starts with the values of `found` and takes the transitions, meeting the condition
/// after each.
pub(super) fn follow(
    found: &Model,
    way: &[(TransitionId, Term)],
    problem: &Problem<'_>,
    slice: &mut Slice<'_>,
) -> Option<Run> {
    let model = problem.model;
    let data = problem.data();
    let values = row(found, &data);
    let (initial, constants) = values.split_at(model.variables().len());
    let mut state = State {
        location: model.initial(),
        values: initial.into(),
    };
    let mut steps: Vec<(TransitionId, Vec<Value>)> = Vec::new();
    for (t, after) in way {
        let before = state.values.iter().chain(constants);
        let pairs = data.iter().zip(before);
        let map = pairs.map(|(v, x)| (v.id, literal(v, x.clone()))).collect();
        let body = Term::all([problem.enabled(*t).clone(), problem.before(*t, after).ok()?]);
        let body = body.substitute(&map).ok()?.simplify();
        let params = problem.params(*t);
        let Answer::Sat(chosen) = slice.check(&[body], params) else {
            return None;
        };
        let arguments = row(&chosen, params);
        state = model.fire(&state, constants, *t, &arguments).ok()??;
        steps.push((*t, arguments));
    }
    Some(Run {
        constants: constants.to_vec(),
        initial: initial.to_vec(),
        steps,
    })
}
