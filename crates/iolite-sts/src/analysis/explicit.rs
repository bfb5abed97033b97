//! Explicit search: states with all their values, breadth first.
//!
//! It refutes whatever it meets. It proves where every value that matters was tried: where it did
//! not see them all, it only leaves its states to the others as samples.

use std::collections::VecDeque;
use std::sync::Arc;

use iolite_expr::{Term, Value, Var};
use rustc_hash::FxHashMap;

use super::invariant::Invariant;
use super::listing::listing;
use super::member::{Member, Outcome, Slice};
use super::problem::{Problem, equation};
use super::run::Run;
use crate::iosts::{LocationId, TransitionId};
use crate::semantics::State;
use crate::symbolic::literal;

/// Initial valuations that are tried.
const STARTS: usize = 48;
/// Values of a transition's parameters that are tried where there are many.
const VALUES: usize = 6;
/// States that are kept.
const STATES: usize = 20_000;
/// States that an invariant lists.
const LISTED: usize = 600;
/// States of a list that is offered at once, and slices that a longer one waits.
const SHORT: usize = 24;
const PATIENCE: usize = 4;
/// States that are reported to the others.
const SAMPLES: usize = 400;

struct Node {
    state: State,
    constants: Arc<Vec<Value>>,
    /// Where it came from: the state before, the transition and its values.
    from: Option<(usize, TransitionId, Vec<Value>)>,
}

#[derive(Default)]
pub(super) struct Explicit {
    nodes: Vec<Node>,
    index: FxHashMap<(Arc<Vec<Value>>, State), usize>,
    open: VecDeque<usize>,
    started: bool,
    /// Slices that passed since all states were seen.
    waited: usize,
    /// What was not tried, if anything.
    cut: Option<&'static str>,
}

impl Member for Explicit {
    fn name(&self) -> String {
        "explicit search".into()
    }

    fn run(&mut self, problem: &Problem<'_>, slice: &mut Slice<'_>) -> Outcome {
        if !self.started {
            self.started = true;
            self.start(problem, slice);
        }
        while !slice.is_over() {
            let Some(next) = self.open.pop_front() else {
                // A list of many states is a proof that takes long to check and says little.
                self.waited += 1;
                if self.nodes.len() > SHORT && self.waited < PATIENCE && self.cut.is_none() {
                    return Outcome::More;
                }
                return self.end(problem);
            };
            if problem.is_violating(self.nodes[next].state.location) {
                return Outcome::Refuted(self.way(next));
            }
            self.extend(next, problem, slice);
            if self.nodes.len() > STATES {
                return Outcome::Stuck(format!("more than {STATES} states"));
            }
        }
        Outcome::More
    }
}

impl Explicit {
    fn start(&mut self, problem: &Problem<'_>, slice: &mut Slice<'_>) {
        let data = problem.data();
        let initial = problem.initial();
        let used = used(problem);
        let matters = |v: &Var| used.contains(v);
        let found = listing(slice, &data, matters, &initial, STARTS);
        if !found.complete {
            self.cut = Some("not all initial values were tried");
        }
        let n = problem.model.variables().len();
        for row in found.rows {
            let (values, constants) = row.split_at(n);
            let state = State {
                location: problem.model.initial(),
                values: values.into(),
            };
            self.add(state, Arc::new(constants.to_vec()), None, slice);
        }
    }

    fn add(
        &mut self,
        state: State,
        constants: Arc<Vec<Value>>,
        from: Option<(usize, TransitionId, Vec<Value>)>,
        slice: &mut Slice<'_>,
    ) {
        let key = (constants.clone(), state.clone());
        if self.index.contains_key(&key) {
            return;
        }
        let id = self.nodes.len();
        if slice.shared.samples.len() < SAMPLES {
            let sample = (constants.to_vec(), state.clone());
            slice.shared.samples.push(sample);
        }
        self.index.insert(key, id);
        self.nodes.push(Node {
            state,
            constants,
            from,
        });
        self.open.push_back(id);
    }

    /// Adds the successors of a state.
    fn extend(&mut self, at: usize, problem: &Problem<'_>, slice: &mut Slice<'_>) {
        let model = problem.model;
        let (state, constants) = {
            let node = &self.nodes[at];
            (node.state.clone(), node.constants.clone())
        };
        let data = problem.data();
        let values = state.values.iter().chain(constants.iter());
        let map = data
            .iter()
            .zip(values)
            .map(|(v, x)| (v.id, literal(v, x.clone())))
            .collect();
        for &t in model.outgoing(state.location) {
            let transition = model.transition(t);
            if !problem.leads_to_violation(transition.target) {
                continue;
            }
            let params = problem.params(t);
            let Ok(guard) = problem.enabled(t).substitute(&map) else {
                self.cut = Some("a guard grows too large");
                continue;
            };
            let reads = |v: &Var| transition.assignments.iter().any(|(_, e)| e.reads(v.id));
            let found = listing(slice, params, reads, &guard.simplify(), VALUES);
            if !found.complete {
                self.cut = Some("not all values of parameters were tried");
            }
            for row in found.rows {
                slice.meter.spend(1);
                let Ok(Some(next)) = model.fire(&state, &constants, t, &row) else {
                    // The solver said that it fires.
                    self.cut = Some("a transition did not fire");
                    continue;
                };
                self.add(next, constants.clone(), Some((at, t, row)), slice);
            }
        }
    }

    fn way(&self, end: usize) -> Run {
        let mut steps = Vec::new();
        let mut at = end;
        while let Some((before, t, values)) = &self.nodes[at].from {
            steps.push((*t, values.clone()));
            at = *before;
        }
        steps.reverse();
        Run {
            constants: self.nodes[at].constants.to_vec(),
            initial: self.nodes[at].state.values.to_vec(),
            steps,
        }
    }

    fn end(&self, problem: &Problem<'_>) -> Outcome {
        if let Some(cut) = self.cut {
            return Outcome::Stuck(cut.into());
        }
        if self.nodes.len() > LISTED {
            return Outcome::Stuck(format!("{} states are too many to list", self.nodes.len()));
        }
        let used = used(problem);
        let data = problem.data();
        let mut terms: Vec<Vec<Term>> = vec![Vec::new(); problem.model.locations().len()];
        for node in &self.nodes {
            let values = node.state.values.iter().chain(node.constants.iter());
            let equations = data.iter().zip(values).filter(|(v, _)| used.contains(v));
            terms[node.state.location.index()]
                .push(Term::all(equations.map(|(v, x)| equation(v, x))));
        }
        let of = |(i, states): (usize, Vec<Term>)| {
            let leads = problem.leads_to_violation(LocationId::new(i));
            if leads {
                Term::any(states)
            } else {
                true.into()
            }
        };
        let terms = terms.into_iter().enumerate().map(of).collect();
        Outcome::Proved(Invariant::new(problem.model, terms))
    }
}

/// Variables, and the constants that some term reads.
fn used(problem: &Problem<'_>) -> Vec<Var> {
    let model = problem.model;
    let mut read: Vec<Var> = model.variables().iter().map(|v| v.var.clone()).collect();
    let effects = model
        .transitions()
        .flat_map(|(_, t)| t.assignments.iter().map(|(_, e)| e));
    let guards = model.transitions().map(|(_, t)| &t.guard);
    let initial = [problem.initial()];
    for term in effects.chain(guards).chain(&initial) {
        for v in term.free_vars() {
            if model.constants().iter().any(|c| c.var == v) && !read.contains(&v) {
                read.push(v);
            }
        }
    }
    read
}
