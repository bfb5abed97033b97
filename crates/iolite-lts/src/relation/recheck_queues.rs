//! What a run through queues allows next, by code that shares nothing with the oracle that judged it:
//! sets of states written out, and every order of taking inputs, one after the other.

use std::collections::BTreeSet;

use crate::{LabelKind, QuiescencePolicy, Semantics, StateId};

use super::recheck::{Followed, States, Stepper};

/// A local explanation: where the specification can be, and how many inputs it has taken.
type Local = (States, usize);

/// What the specification explains of an observed trace.
enum Explained {
    /// These local explanations are left.
    By(BTreeSet<Local>),
    /// An input may have been taken where it is not specified.
    Open,
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
                return Explained::Open;
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
            Explained::Open => return Explained::Open,
        };
        let silent = observed == "delta";
        let ways = ways
            .into_iter()
            .filter(|(_, taken)| !silent || *taken == self.sent.len());
        let next = ways.map(|(states, taken)| (self.stepper.walk(&states, observed, true), taken));
        Explained::By(next.filter(|(states, _)| !states.is_empty()).collect())
    }

    /// Follows an observed trace; `None` where it is not explained, or anything may follow.
    fn follow(&mut self, trace: &[String]) -> Option<BTreeSet<Local>> {
        let mut locals = BTreeSet::from([(self.stepper.initial(), 0)]);
        for action in trace {
            if action.starts_with('?') {
                self.sent.push(action.clone());
                continue;
            }
            match self.observe(&locals, action) {
                Explained::By(next) if next.is_empty() => return None,
                Explained::By(next) => locals = next,
                Explained::Open => return None,
            }
        }
        Some(locals)
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
    let locals = queues.follow(trace)?;
    let Explained::By(ways) = queues.taking(&locals) else {
        return None;
    };
    let states: States = ways.iter().flat_map(|(at, _)| at.clone()).collect();
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
