//! A second opinion on a run through queues, by code that shares nothing with the oracle that judged
//! it: sets of states written out, and every order of taking inputs, one after the other.

use std::collections::BTreeSet;

use crate::{LabelKind, QuiescencePolicy, Semantics, StateId};

use super::recheck::{Followed, Recheck, States, Stepper};

/// A local explanation: where the specification can be, and how many inputs it has taken.
type Local = (States, usize);

/// What the specification explains of an observed trace.
enum Explained {
    /// These local explanations are left.
    By(BTreeSet<Local>),
    /// An input may have been taken where it is not specified.
    Open(String),
}

struct Queues<'a, N> {
    stepper: Stepper<'a, N>,
    /// uioco: an input is specified only where every state takes it.
    universal: bool,
    /// The inputs that were given.
    sent: Vec<String>,
}

impl<N: Semantics<State = StateId>> Queues<'_, N> {
    /// All that is reached by taking inputs, or the first input that is not specified.
    fn taking(&self, locals: &BTreeSet<Local>) -> Explained {
        let mut all = locals.clone();
        let mut todo: Vec<Local> = locals.iter().cloned().collect();
        while let Some((states, taken)) = todo.pop() {
            let Some(input) = self.sent.get(taken) else {
                continue;
            };
            let next = self.stepper.walk(&states, input, false);
            let refuses = |&q: &StateId| self.stepper.refuses(q, std::slice::from_ref(input));
            if next.is_empty() || self.universal && states.iter().any(refuses) {
                return Explained::Open(input.clone());
            }
            let local = (next, taken + 1);
            if all.insert(local.clone()) {
                todo.push(local);
            }
        }
        Explained::By(all)
    }

    fn observe(&self, locals: &BTreeSet<Local>, observed: &str) -> Explained {
        let ways = match self.taking(locals) {
            Explained::By(ways) => ways,
            open @ Explained::Open(_) => return open,
        };
        let silent = observed == "delta";
        let ways = ways
            .into_iter()
            .filter(|(_, taken)| !silent || *taken == self.sent.len());
        let next = ways.map(|(states, taken)| (self.stepper.walk(&states, observed, true), taken));
        Explained::By(next.filter(|(states, _)| !states.is_empty()).collect())
    }

    /// Follows an observed trace; the number of the step that is not explained where one is not.
    fn follow(&mut self, trace: &[String]) -> Result<Explained, usize> {
        let mut locals = BTreeSet::from([(self.stepper.initial(), 0)]);
        for (k, action) in trace.iter().enumerate() {
            if action.starts_with('?') {
                self.sent.push(action.clone());
                continue;
            }
            match self.observe(&locals, action) {
                Explained::By(next) if next.is_empty() => return Err(k + 1),
                Explained::By(next) => locals = next,
                open @ Explained::Open(_) => return Ok(open),
            }
        }
        Ok(Explained::By(locals))
    }
}

/// Looks whether no order of taking inputs explains `observed` after the trace that a tester saw
/// through queues. `universal` is uioco's reading of which inputs are specified.
pub fn recheck_run_in_queues<N: Semantics<State = StateId>>(
    specification: &N,
    policy: QuiescencePolicy,
    universal: bool,
    trace: &[String],
    observed: &str,
) -> Recheck {
    let mut queues = Queues {
        stepper: Stepper {
            model: specification,
            policy,
        },
        universal,
        sent: Vec::new(),
    };
    let refuted = |reason: String| Recheck::Refuted(reason);
    if observed != "delta" && !observed.starts_with('!') {
        return refuted(format!("{observed} is neither an output nor delta"));
    }
    let open = |input: String| {
        refuted(format!(
            "{input} may have been taken where the specification leaves it open, and anything may \
             follow"
        ))
    };
    let locals = match queues.follow(trace) {
        Ok(Explained::By(locals)) => locals,
        Ok(Explained::Open(input)) => return open(input),
        Err(step) => {
            let action = &trace[step - 1];
            return refuted(format!(
                "step {step}: {action} is explained by no order of the messages before it"
            ));
        }
    };
    match queues.observe(&locals, observed) {
        Explained::Open(input) => open(input),
        Explained::By(ways) if ways.is_empty() => Recheck::Confirmed,
        Explained::By(_) => refuted(format!("an order of the messages explains {observed}")),
    }
}

/// Where a specification can be after a trace that was seen through queues, and what it explains
/// next; `None` where it explains the trace not, or leaves open what follows.
pub fn follow_run_in_queues<N: Semantics<State = StateId>>(
    specification: &N,
    policy: QuiescencePolicy,
    universal: bool,
    trace: &[String],
) -> Option<Followed> {
    let mut queues = Queues {
        stepper: Stepper {
            model: specification,
            policy,
        },
        universal,
        sent: Vec::new(),
    };
    let Ok(Explained::By(locals)) = queues.follow(trace) else {
        return None;
    };
    let Explained::By(ways) = queues.taking(&locals) else {
        return None;
    };
    let states: States = locals.into_iter().flat_map(|(states, _)| states).collect();
    let mut allowed = BTreeSet::new();
    for (at, taken) in ways {
        for &q in &at {
            let steps = queues.stepper.steps(q).into_iter();
            let outputs = steps.filter(|(kind, ..)| *kind == LabelKind::Output);
            allowed.extend(outputs.map(|(_, label, _)| label));
            if taken == queues.sent.len() && queues.stepper.is_quiescent(q) {
                allowed.insert("delta".to_owned());
            }
        }
    }
    Some(Followed {
        states: states.into_iter().collect(),
        allowed: allowed.into_iter().collect(),
    })
}
