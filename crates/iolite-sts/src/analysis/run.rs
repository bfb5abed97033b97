//! Runs of a model with all their values, and their replay.

use iolite_expr::{Answer, Solver, Term, Value};

use super::claim::is_without_fault;
use super::member::{Slice, row};
use super::problem::Problem;
use crate::iosts::{Iosts, LocationId, TransitionId};
use crate::path_formula::HasTrace;
use crate::semantics::{Frame, State, ValuedAction};
use crate::symbolic::literal;

/// A run: values of the constants, an initial state, and transitions with the values of their
/// parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// By constant.
    pub constants: Vec<Value>,
    /// By variable, at the start.
    pub initial: Vec<Value>,
    /// What is fired, one after the other.
    pub steps: Vec<(TransitionId, Vec<Value>)>,
}

impl Run {
    /// The states of the run, from the first to the last; `None` where it is no run of the model.
    pub fn replay(&self, model: &Iosts) -> Option<Vec<State>> {
        let variables = model.variables();
        let constants = model.constants();
        if self.initial.len() != variables.len() || self.constants.len() != constants.len() {
            return None;
        }
        let fits = variables.iter().map(|v| &v.var).zip(&self.initial);
        let mut fits = fits.chain(constants.iter().map(|c| &c.var).zip(&self.constants));
        if !fits.all(|(var, value)| var.sort.contains(value)) {
            return None;
        }
        let frame = Frame {
            variables: &self.initial,
            constants: &self.constants,
            params: &[],
        };
        if model.initial_condition().eval_bool(&frame) != Ok(true) {
            return None;
        }
        let mut states = vec![State {
            location: model.initial(),
            values: self.initial.clone().into(),
        }];
        for (t, params) in &self.steps {
            let here = states.last()?;
            if model.transition(*t).source != here.location {
                return None;
            }
            let next = model.fire(here, &self.constants, *t, params).ok()??;
            states.push(next);
        }
        Some(states)
    }

    /// What the run shows: inputs, outputs and δ.
    pub fn trace(&self, model: &Iosts) -> Vec<ValuedAction> {
        let shown = self
            .steps
            .iter()
            .filter(|(t, _)| model.kind(*t).is_visible());
        shown
            .map(|(t, values)| ValuedAction {
                action: model.transition(*t).action,
                values: values.clone(),
            })
            .collect()
    }

    /// Whether it is a run of the model that ends in a violating location.
    pub(super) fn ends_in_violation(&self, problem: &Problem<'_>) -> bool {
        let states = self.replay(problem.model);
        let end = states.and_then(|states| states.last().cloned());
        end.is_some_and(|s| problem.is_violating(s.location))
    }

    /// The same, and its constants are not among those with which a term of the model faults on the
    /// way of its trace: these are no specification.
    pub(super) fn refutes(&self, problem: &Problem<'_>, solver: &mut Solver) -> bool {
        let model = problem.model;
        self.ends_in_violation(problem)
            && is_without_fault(self, model, model, solver) == HasTrace::Yes
    }
}

/// The run that goes through these states one by one, from an initial one, with values for V and then C; `None`
/// where there is none, or it was not found.
pub(super) fn run_through(
    states: &[(LocationId, Vec<Value>)],
    problem: &Problem<'_>,
    slice: &mut Slice<'_>,
) -> Option<Run> {
    let model = problem.model;
    let data = problem.data();
    let fits = |values: &Vec<Value>| {
        let mut pairs = data.iter().zip(values);
        values.len() == data.len() && pairs.all(|(v, value)| v.sort.contains(value))
    };
    states
        .iter()
        .all(|(_, values)| fits(values))
        .then_some(())?;
    let (_, first) = states.first()?;
    let (initial, constants) = first.split_at(model.variables().len());
    let mut steps = Vec::new();
    for pair in states.windows(2) {
        let [(source, before), (target, after)] = pair else {
            return None;
        };
        let known = data.iter().zip(before);
        let known = known
            .map(|(v, value)| (v.id, literal(v, value.clone())))
            .collect();
        let equal = data.iter().zip(after);
        let equal = equal.map(|(v, value)| v.term().equals_value(value));
        let reached = Term::all(equal.collect::<Result<Vec<_>, _>>().ok()?);
        let from = model.outgoing(*source).iter();
        let step = from
            .filter(|t| model.transition(**t).target == *target)
            .find_map(|&t| {
                let after = problem.before(t, &reached).ok()?;
                let body = Term::all([problem.enabled(t).clone(), after]);
                let body = body.substitute(&known).ok()?.simplify();
                let params = problem.params(t);
                match slice.check(&[body], params) {
                    Answer::Sat(found) => Some((t, row(&found, params))),
                    Answer::Unsat | Answer::Unknown(_) => None,
                }
            });
        steps.push(step?);
    }
    Some(Run {
        constants: constants.to_vec(),
        initial: initial.to_vec(),
        steps,
    })
}
