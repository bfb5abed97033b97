//! A transition table, walked with plain sets of states. Nothing is remembered and nothing is clever:
//! each function is its definition.

use std::collections::{BTreeMap, BTreeSet};

use crate::format::document::{Kind, Model, State, Table};
use crate::{Fault, Outcome, rejected};

/// Silence, in traces.
pub(crate) const DELTA: &str = "delta";

/// States, by their number in the table.
pub(crate) type States = BTreeSet<usize>;

/// Which states on a cycle of internal actions are quiescent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// All [SAFE04, §2.3].
    Livelock,
    /// There are no such cycles [LTS96, §2].
    Strict,
    /// Those whose cycle can be left neither internally nor by an output.
    Fair,
}

impl Policy {
    pub(crate) fn parse(name: &str) -> Outcome<Self> {
        match name {
            "livelock" => Ok(Self::Livelock),
            "strict" => Ok(Self::Strict),
            "fair" => Ok(Self::Fair),
            _ => rejected(format!("`{name}` is no policy of quiescence")),
        }
    }
}

/// A labelled transition system: a table, or a completed one.
#[derive(Debug)]
pub(crate) struct System {
    labels: Vec<(Kind, String)>,
    states: Vec<State>,
    initial: usize,
    rows: BTreeMap<usize, Vec<(usize, usize)>>,
    policy: Policy,
}

impl System {
    /// The system of a model, which must have a table.
    pub(crate) fn of(model: Option<&Model>, policy: Policy) -> Outcome<Self> {
        match model.and_then(|m| m.table.as_ref()) {
            Some(table) => Self::new(table, policy),
            None => rejected("a model is missing"),
        }
    }

    /// The system of a table whose numbers fit together.
    pub(crate) fn new(table: &Table, policy: Policy) -> Outcome<Self> {
        let count = table.states.len();
        let fits = |&(label, target): &(usize, usize)| label < table.labels.len() && target < count;
        let rows = || table.rows.iter().flatten().flatten();
        if table.initial >= count || table.rows.len() != count || !rows().all(fits) {
            return rejected("a table names a state or label that it does not have");
        }
        let mut texts: Vec<&String> = Vec::new();
        for (kind, text) in &table.labels {
            let right = match kind {
                Kind::Input => text.starts_with('?'),
                Kind::Output => text.starts_with('!'),
                Kind::Plain => !text.starts_with(['?', '!']),
                Kind::Internal => continue,
            };
            if !right || text == DELTA {
                return rejected(format!("the label {text} does not look like its kind"));
            }
            texts.push(text);
        }
        let all = texts.len();
        texts.sort();
        texts.dedup();
        if texts.len() < all {
            return rejected("a table has a label twice");
        }
        let rows = table.rows.iter().enumerate();
        let system = Self {
            labels: table.labels.clone(),
            states: table.states.clone(),
            initial: table.initial,
            rows: rows
                .filter_map(|(s, row)| Some((s, row.clone()?)))
                .collect(),
            policy,
        };
        if policy == Policy::Strict {
            for &state in system.rows.keys() {
                // What the table leaves out is not looked at.
                if matches!(system.diverges(state), Ok(true)) {
                    return rejected("a state lies on a cycle of internal actions");
                }
            }
        }
        Ok(system)
    }

    /// The initial state.
    pub(crate) fn initial(&self) -> usize {
        self.initial
    }

    /// The number of states.
    pub(crate) fn count(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn state(&self, state: usize) -> &State {
        &self.states[state]
    }

    /// The labels of a kind.
    pub(crate) fn texts(&self, kind: Kind) -> impl Iterator<Item = &String> {
        let own = self.labels.iter().filter(move |(k, _)| *k == kind);
        own.map(|(_, text)| text)
    }

    /// Whether every state has its row.
    pub(crate) fn is_whole(&self) -> bool {
        self.rows.len() == self.states.len()
    }

    /// The steps of a state: kind, text, target.
    pub(crate) fn steps(&self, state: usize) -> Outcome<Vec<(Kind, &str, usize)>> {
        let row = self.rows.get(&state).ok_or_else(|| {
            let name = &self.states[state].state;
            Fault::Rejected(format!(
                "the table leaves out {name}, which the trace comes to"
            ))
        })?;
        let step = |&(label, target): &(usize, usize)| {
            let (kind, text) = &self.labels[label];
            (*kind, text.as_str(), target)
        };
        Ok(row.iter().map(step).collect())
    }

    /// What is reached internally, the states themselves included.
    pub(crate) fn close(&self, mut states: States) -> Outcome<States> {
        let mut todo: Vec<usize> = states.iter().copied().collect();
        while let Some(state) = todo.pop() {
            for (kind, _, target) in self.steps(state)? {
                if kind == Kind::Internal && states.insert(target) {
                    todo.push(target);
                }
            }
        }
        Ok(states)
    }

    /// The states before anything visible happened.
    pub(crate) fn start(&self) -> Outcome<States> {
        self.close(States::from([self.initial]))
    }

    /// Whether a state can come back to itself internally.
    fn diverges(&self, state: usize) -> Outcome<bool> {
        for (kind, _, target) in self.steps(state)? {
            if kind == Kind::Internal && self.close(States::from([target]))?.contains(&state) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether δ may be observed in a state.
    pub(crate) fn is_quiescent(&self, state: usize) -> Outcome<bool> {
        let speaks = |kind: Kind| matches!(kind, Kind::Output | Kind::Internal);
        if !self.steps(state)?.iter().any(|(kind, ..)| speaks(*kind)) {
            return Ok(true);
        }
        match self.policy {
            Policy::Strict => Ok(false),
            Policy::Livelock => self.diverges(state),
            Policy::Fair => {
                if !self.diverges(state)? {
                    return Ok(false);
                }
                for member in self.close(States::from([state]))? {
                    let leaves = !self.close(States::from([member]))?.contains(&state);
                    let outputs = self.steps(member)?.iter().any(|(k, ..)| *k == Kind::Output);
                    if leaves || outputs {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// The states after one more action; δ is one where `with_delta` says so.
    pub(crate) fn after(&self, states: &States, action: &str, with_delta: bool) -> Outcome<States> {
        let mut next = States::new();
        for &state in states {
            if with_delta && action == DELTA && self.is_quiescent(state)? {
                next.insert(state);
            }
            let steps = self.steps(state)?.into_iter();
            let steps = steps.filter(|(kind, text, _)| *kind != Kind::Internal && *text == action);
            next.extend(steps.map(|(.., target)| target));
        }
        self.close(next)
    }

    /// out(states): the outputs, and δ [LTS96, def. 6.8; IOCO99, §4].
    pub(crate) fn out(&self, states: &States) -> Outcome<BTreeSet<String>> {
        let mut out = BTreeSet::new();
        for &state in states {
            if self.is_quiescent(state)? {
                out.insert(DELTA.to_owned());
            }
            let steps = self.steps(state)?.into_iter();
            let outputs = steps.filter(|(kind, ..)| *kind == Kind::Output);
            out.extend(outputs.map(|(_, text, _)| text.to_owned()));
        }
        Ok(out)
    }

    /// The visible actions of these states, of whatever kind.
    pub(crate) fn enabled(&self, states: &States) -> Outcome<BTreeSet<String>> {
        let mut enabled = BTreeSet::new();
        for &state in states {
            let steps = self.steps(state)?.into_iter();
            let visible = steps.filter(|(kind, ..)| *kind != Kind::Internal);
            enabled.extend(visible.map(|(_, text, _)| text.to_owned()));
        }
        Ok(enabled)
    }

    /// Whether a state can do none of these actions, not even after internal ones [LTS96, def. 4.4].
    pub(crate) fn refuses(&self, state: usize, actions: &[String]) -> Outcome<bool> {
        let enabled = self.enabled(&self.close(States::from([state]))?)?;
        Ok(!actions.iter().any(|action| enabled.contains(action)))
    }

    /// The first state and input such that the input is not taken there, also not after internal
    /// actions; of a part of a system nothing is found.
    pub(crate) fn lacks_input(&self) -> Outcome<Option<(usize, String)>> {
        if !self.is_whole() {
            return Ok(None);
        }
        for &state in self.rows.keys() {
            for input in self.texts(Kind::Input) {
                if self.refuses(state, std::slice::from_ref(input))? {
                    return Ok(Some((state, input.clone())));
                }
            }
        }
        Ok(None)
    }

    /// The labels.
    pub(crate) fn labels(&self) -> &[(Kind, String)] {
        &self.labels
    }

    /// Makes the system input-enabled for its own inputs and those among these labels. A state that takes an input
    /// neither at once nor after internal actions swallows it, or falls into chaos, which may give any output: its own,
    /// and those among these.
    pub(crate) fn complete(&mut self, how: &str, others: &[(Kind, String)]) -> Outcome<()> {
        for (kind, text) in others {
            let joins = matches!(kind, Kind::Input | Kind::Output);
            if joins && !self.texts(*kind).any(|own| own == text) {
                self.labels.push((*kind, text.clone()));
            }
        }
        let numbers = |kind: Kind, labels: &[(Kind, String)]| -> Vec<usize> {
            let own = labels.iter().enumerate().filter(|(_, (k, _))| *k == kind);
            own.map(|(number, _)| number).collect()
        };
        let inputs = numbers(Kind::Input, &self.labels);
        let chaos = match how {
            "self-loop" => None,
            "chaos" => Some(self.states.len()),
            _ => return rejected(format!("`{how}` is no way to complete inputs")),
        };
        let mut added = Vec::new();
        for &state in self.rows.keys() {
            // A part of a system may not know what this state does after internal actions; then it
            // is left as it is, and nothing can be said where it matters.
            let Ok(closed) = self.close(States::from([state])) else {
                continue;
            };
            let enabled = self.enabled(&closed)?;
            let missing = inputs
                .iter()
                .filter(|&&i| !enabled.contains(&self.labels[i].1));
            added.extend(missing.map(|&i| (state, (i, chaos.unwrap_or(state)))));
        }
        for (state, step) in added {
            self.rows.entry(state).or_default().push(step);
        }
        if let Some(chaos) = chaos {
            // Chaos decides internally to speak or to be silent, and takes every input.
            let (speaks, silent) = (chaos + 1, chaos + 2);
            for name in ["chaos", "chaos-output", "chaos-quiet"] {
                self.states.push(State {
                    state: name.to_owned(),
                    line: None,
                });
            }
            let tau = self.labels.len();
            self.labels.push((Kind::Internal, "i".to_owned()));
            let to_chaos = |labels: &[usize]| labels.iter().map(|&l| (l, chaos)).collect();
            let mut any: Vec<(usize, usize)> = to_chaos(&numbers(Kind::Output, &self.labels));
            let waits: Vec<(usize, usize)> = to_chaos(&inputs);
            any.extend(&waits);
            self.rows.insert(chaos, vec![(tau, speaks), (tau, silent)]);
            self.rows.insert(speaks, any);
            self.rows.insert(silent, waits);
        }
        Ok(())
    }
}
