//! A model with finite data, value by value: its states are listed, and transitions are fired with each
//! value of their parameters.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::Value;
use iolite_sts::{Iosts, LabelKind, State};

pub const ACTIONS: [&str; 8] = [
    "?a(0)", "?a(1)", "?a(2)", "!b(0)", "!b(1)", "!b(2)", "!c", "delta",
];
pub const GUARDS: [&str; 8] = [
    "v > x",
    "v == x",
    "v <= k",
    "x < 2",
    "v != k",
    "true",
    "x >= k",
    "v + x == 2",
];
pub const EFFECTS: [&str; 4] = ["x := v", "x := 0", "x := (x + v) % 3", "x := x"];

/// The system for one value of the constant.
pub struct Values {
    pub constants: Vec<Value>,
    pub system: Iosts,
}

type States = BTreeSet<(usize, Vec<String>)>;

fn valued(state: &State) -> (usize, Vec<String>) {
    let values = state.values.iter().map(ToString::to_string);
    (state.location.index(), values.collect())
}

impl Values {
    /// All states after each of the transitions of a kind and a text.
    fn fire(&self, at: &[State], wanted: Option<&str>) -> Vec<State> {
        let mut to = Vec::new();
        for state in at {
            for &t in self.system.outgoing(state.location) {
                let gate = self.system.gate(self.system.transition(t).action);
                let choices: Vec<Vec<Value>> = match gate.params.len() {
                    0 => vec![Vec::new()],
                    _ => (0..3).map(|v| vec![Value::int(v)]).collect(),
                };
                for values in choices {
                    let text = match (gate.kind, values.first()) {
                        (LabelKind::Internal, _) => None,
                        (kind, None) => Some(format!("{}{}", kind.sigil(), gate.name)),
                        (kind, Some(v)) => Some(format!("{}{}({v})", kind.sigil(), gate.name)),
                    };
                    if text.as_deref() == wanted {
                        let next = self.system.fire(state, &self.constants, t, &values);
                        to.extend(next.expect("no faults"));
                    }
                }
            }
        }
        to
    }

    pub fn closed(&self, mut at: Vec<State>) -> Vec<State> {
        let mut seen: States = at.iter().map(valued).collect();
        let mut done = 0;
        while done < at.len() {
            for next in self.fire(&at[done..=done], None) {
                if seen.insert(valued(&next)) {
                    at.push(next);
                }
            }
            done += 1;
        }
        at
    }

    pub fn after(&self, at: &[State], action: &str) -> Vec<State> {
        if action == "delta" {
            let silent = |s: &&State| {
                let outputs = ACTIONS.iter().filter(|a| a.starts_with('!'));
                let mut outputs = outputs.map(|a| Some(*a)).chain([None]);
                outputs.all(|a| self.fire(std::slice::from_ref(*s), a).is_empty())
            };
            return at.iter().filter(silent).cloned().collect();
        }
        self.closed(self.fire(at, Some(action)))
    }

    /// The states after a trace.
    pub fn states(&self, trace: &[String]) -> Vec<State> {
        let start = State {
            location: self.system.initial(),
            values: Arc::from([Value::int(0)].as_slice()),
        };
        let start = self.closed(vec![start]);
        let mut steps = trace.iter();
        steps
            .try_fold(start, |at, action| {
                let next = self.after(&at, action);
                (!next.is_empty()).then_some(next)
            })
            .unwrap_or_default()
    }

    /// Whether the system has a trace.
    pub fn has(&self, trace: &[String]) -> bool {
        !self.states(trace).is_empty()
    }
}

/// Every order in which a system behind a FIFO each way may have done what was observed, and the inputs
/// that it has not taken.
pub fn orders(observed: &[String]) -> Vec<(Vec<String>, Vec<String>)> {
    let mut all = vec![(Vec::new(), Vec::new())];
    for action in observed {
        let mut next = Vec::new();
        for (mut done, mut left) in all {
            if action.starts_with('?') {
                left.push(action.clone());
                next.push((done, left));
                continue;
            }
            loop {
                if action != "delta" || left.is_empty() {
                    let mut done = done.clone();
                    done.push(action.clone());
                    next.push((done, left.clone()));
                }
                if left.is_empty() {
                    break;
                }
                done.push(left.remove(0));
            }
        }
        all = next;
    }
    all
}
