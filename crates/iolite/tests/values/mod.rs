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

/// A condition over integers as certificates write it, read by a grammar of its own.
struct Condition<'a> {
    rest: &'a str,
    names: &'a dyn Fn(&str) -> Option<i64>,
}

impl Condition<'_> {
    fn take(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.strip_prefix(token);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn either(&mut self) -> Option<i64> {
        let mut value = self.both()?;
        while self.take("||") {
            value |= self.both()?;
        }
        Some(value)
    }

    fn both(&mut self) -> Option<i64> {
        let mut value = self.compared()?;
        while self.take("&&") {
            value &= self.compared()?;
        }
        Some(value)
    }

    fn compared(&mut self) -> Option<i64> {
        let left = self.sum()?;
        for operator in ["==", "!=", "<=", ">=", "<", ">"] {
            if self.take(operator) {
                let right = self.sum()?;
                return Some(i64::from(match operator {
                    "==" => left == right,
                    "!=" => left != right,
                    "<=" => left <= right,
                    ">=" => left >= right,
                    "<" => left < right,
                    _ => left > right,
                }));
            }
        }
        Some(left)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            if self.take("+") {
                value += self.product()?;
            } else if self.take("-") {
                value -= self.product()?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.atom()?;
        loop {
            if self.take("*") {
                value *= self.atom()?;
            } else if self.take("%") {
                value = value.checked_rem_euclid(self.atom()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn atom(&mut self) -> Option<i64> {
        if self.take("(") {
            let value = self.either()?;
            return self.take(")").then_some(value);
        }
        if !self.rest.trim_start().starts_with("!=") && self.take("!") {
            return Some(1 - self.atom()?);
        }
        if self.take("-") {
            return Some(-self.atom()?);
        }
        let text = self.rest.trim_start();
        let own = |c: char| c.is_alphanumeric() || c == '\'';
        let end = text.find(|c| !own(c)).unwrap_or(text.len());
        let word = &text[..end];
        self.rest = &text[end..];
        match word {
            "true" => Some(1),
            "false" => Some(0),
            _ => word.parse().ok().or_else(|| (self.names)(word)),
        }
    }
}

/// The value of a whole text.
pub fn value(text: &str, names: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
    let mut condition = Condition { rest: text, names };
    let value = condition.either()?;
    condition.rest.trim().is_empty().then_some(value)
}

/// What a text of a certificate means for one value of the constant: `!b(v) [v > 1]` is `!b(2)`, and
/// `P (x = v'1) when v'1 > 0` is `P (x = 1)` and `P (x = 2)`. `None` where it means nothing.
pub fn meant(text: &str, k: i64) -> Option<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    // Every value of the parameter, and of up to two unknowns.
    for row in 0..27 {
        let digits = [row % 3, row / 3 % 3, row / 9];
        let names = |name: &str| match name {
            "k" => Some(k),
            "v" => Some(digits[0]),
            _ if name.ends_with("'1") => Some(digits[1]),
            _ if name.ends_with("'2") => Some(digits[2]),
            _ => None,
        };
        let (shown, condition) = match (text.split_once(" ["), text.split_once(" when ")) {
            (Some((shown, rest)), _) => (shown, rest.strip_suffix(']')?),
            (_, Some((shown, rest))) => (shown, rest),
            _ => (text, "true"),
        };
        let holds = value(condition, &names)? != 0;
        let place = shown.strip_suffix(')').and_then(|s| s.split_once(" (x = "));
        let output = shown.strip_suffix(')').and_then(|s| s.split_once("!b("));
        let ground = match (shown, place, output) {
            ("delta" | "!c", ..) => shown.to_owned(),
            (_, Some((name @ ("P" | "Q"), x)), _) => format!("{name} (x = {})", value(x, &names)?),
            (_, _, Some(("", v))) => format!("!b({})", value(v, &names)?),
            _ => return None,
        };
        if holds {
            all.insert(ground);
        }
    }
    Some(all)
}

/// Whether texts tell what is so for each of these values of the constant, or, where they do not speak of it, what is
/// so for some of them. A constant that has its value in the model is no name any more.
pub fn is_told(texts: &[String], truth: &[(i64, BTreeSet<String>)], known: bool) -> bool {
    let all_meant = |k: i64| -> Option<BTreeSet<String>> {
        let all: Option<Vec<_>> = texts.iter().map(|text| meant(text, k)).collect();
        Some(all?.into_iter().flatten().collect())
    };
    let exactly = truth
        .iter()
        .all(|(k, so)| all_meant(*k).as_ref() == Some(so));
    let speaks = |text: &String| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| word == "k")
    };
    if known && texts.iter().any(speaks) {
        return false;
    }
    let some: BTreeSet<String> = truth.iter().flat_map(|(_, so)| so.clone()).collect();
    exactly || !texts.iter().any(speaks) && all_meant(0) == Some(some)
}

impl Values {
    /// What is allowed after a trace, and where the system is: all in words, value by value.
    pub fn told(&self, trace: &[String], queues: bool) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let stages = if queues {
            let mut stages = Vec::new();
            for (mut done, mut left) in orders(trace) {
                stages.push((done.clone(), left.is_empty()));
                while !left.is_empty() {
                    done.push(left.remove(0));
                    stages.push((done.clone(), left.is_empty()));
                }
            }
            stages
        } else {
            vec![(trace.to_vec(), true)]
        };
        for (done, settled) in stages {
            let states = self.states(&done);
            for action in ACTIONS.iter().filter(|a| !a.starts_with('?')) {
                let shown = !self.after(&states, action).is_empty();
                if shown && (settled || *action != "delta") {
                    all.insert((*action).to_owned());
                }
            }
            all.extend(states.iter().map(|s| self.system.describe(s)));
        }
        all
    }
}

/// Another text for what is allowed or where: one more, one less, another number or another comparison.
pub fn edit_texts(random: &mut super::Random, texts: &mut Vec<String>, others: &[&str]) {
    let at = random.below(texts.len().max(1));
    let kind = random.below(4);
    if kind == 0 || texts.is_empty() {
        texts.push(random.pick(others).to_owned());
    } else if kind == 1 {
        texts.remove(at);
    } else if kind == 2 {
        let again = texts[at].clone();
        texts.push(again);
    } else {
        let edits = [
            ("0", "1"),
            ("1", "2"),
            ("2", "0"),
            (" <= ", " < "),
            (" < ", " <= "),
            (" > ", " >= "),
            (" == ", " != "),
            ("(v)", "(0)"),
            ("&&", "||"),
            ("P", "Q"),
        ];
        let (from, to) = edits[random.below(edits.len())];
        texts[at] = texts[at].replacen(from, to, 1);
    }
}
