//! A specification seen through several channels, or through one that loses or reorders messages.
//!
//! Order is kept within a channel and not between channels. An explanation is the set of states after
//! one order of events at the system, with the messages that were seen and are no part of it yet. All
//! explanations are kept, each written out.

use std::collections::BTreeSet;

use crate::definitions::system::{DELTA, States, System};
use crate::format::document::{Channel, Kind};
use crate::{Fault, Outcome, rejected};

/// Explanations beyond which nothing is said.
const MOST: usize = 50_000;

type Explanation = (States, Vec<String>);

/// An explanation on the way to another, and whether an output that is still to come was needed.
type Stage = (States, Vec<String>, bool);

/// All explanations of what was observed.
pub(crate) struct Channels<'s> {
    s: &'s System,
    carriers: &'s [Channel],
    every_state: bool,
    explanations: BTreeSet<Explanation>,
}

/// The bare name of an action: `?REQ(3)` is `REQ`, unless a channel lists it whole.
fn bare(action: &str) -> &str {
    let name = action.trim_start_matches(['?', '!']);
    name.split('(').next().unwrap_or(name)
}

fn is_output(action: &str) -> bool {
    action.starts_with('!')
}

impl<'s> Channels<'s> {
    pub(crate) fn new(s: &'s System, channels: &'s [Channel], every_state: bool) -> Outcome<Self> {
        let explanations = BTreeSet::from([(s.start()?, Vec::new())]);
        Ok(Self {
            s,
            carriers: channels,
            every_state,
            explanations,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.explanations.is_empty()
    }

    /// The channel of an action; `None` for an output that may come through any of several.
    fn channel(&self, action: &str) -> Option<usize> {
        let name = action.trim_start_matches(['?', '!']);
        let input = action.starts_with('?');
        let lists = |c: &Channel| {
            let names = if input { &c.inputs } else { &c.outputs };
            names.iter().any(|n| n == name || n == bare(action))
        };
        let found = self.carriers.iter().position(lists);
        if input {
            Some(found.unwrap_or(0))
        } else if self.carriers.len() == 1 {
            Some(0)
        } else {
            found
        }
    }

    fn loses(&self, action: &str) -> bool {
        match self.channel(action) {
            Some(channel) => self.carriers[channel].loss,
            None => self.carriers.iter().any(|c| c.loss),
        }
    }

    fn reorders(&self, channel: usize) -> bool {
        self.carriers[channel].reorder
    }

    /// Whether a message can come next at the system while these, seen before it, have not.
    fn comes_next(&self, message: &str, before: &[String]) -> bool {
        let own = self.channel(message);
        let same_kind = |other: &&String| is_output(other) == message.starts_with('!');
        let kept_behind = |other: &String| match own {
            Some(own) => self.channel(other) == Some(own) && !self.reorders(own),
            None => false,
        };
        let overtakes = before.iter().filter(same_kind).any(kept_behind);
        // An output that was seen before an input was given was sent before the input was taken.
        let later = message.starts_with('?') && before.iter().any(|other| is_output(other));
        !overtakes && !later
    }

    /// What a message that comes next leads to; `None` where it cannot be.
    fn happen(&self, states: &States, message: &str) -> Outcome<Option<States>> {
        let next = self.s.after(states, message, true)?;
        if message.starts_with('?') {
            let mut open = next.is_empty();
            for &state in states.iter().filter(|_| self.every_state) {
                open |= self.s.refuses(state, &[message.to_owned()])?;
            }
            if open {
                return rejected(format!(
                    "{message} may have been taken where it is not specified, so anything may follow"
                ));
            }
        }
        Ok((!next.is_empty()).then_some(next))
    }

    /// Adds all that follows from these explanations without anything new being seen.
    fn close(&self, all: BTreeSet<Explanation>) -> Outcome<BTreeSet<Explanation>> {
        let all = all.into_iter().map(|(states, left)| (states, left, false));
        let all = self.close_with(all.collect(), false)?;
        Ok(all
            .into_iter()
            .map(|(states, left, _)| (states, left))
            .collect())
    }

    /// The same. With `ahead`, outputs that will be seen later may have been sent already; the last part
    /// of each says whether one was.
    fn close_with(&self, mut all: BTreeSet<Stage>, ahead: bool) -> Outcome<BTreeSet<Stage>> {
        let outputs: Vec<String> = self.s.texts(Kind::Output).cloned().collect();
        let mut todo: Vec<Stage> = all.iter().cloned().collect();
        while let Some((states, left, used)) = todo.pop() {
            // With every output in its place nothing is left to be helped.
            if ahead && !left.iter().any(|message| is_output(message)) {
                continue;
            }
            let mut found = Vec::new();
            for (k, message) in left.iter().enumerate() {
                let mut rest = left.clone();
                rest.remove(k);
                if message.starts_with('?') && self.loses(message) {
                    found.push((states.clone(), rest.clone(), used));
                }
                if self.comes_next(message, &left[..k])
                    && let Some(next) = self.happen(&states, message)?
                {
                    found.push((next, rest, used));
                }
            }
            for output in &outputs {
                let later = ahead && self.comes_next(output, &left);
                if (later || self.loses(output))
                    && let Some(next) = self.happen(&states, output)?
                {
                    found.push((next, left.clone(), used || later));
                }
            }
            for stage in found {
                if all.insert(stage.clone()) {
                    todo.push(stage);
                }
            }
            if all.len() > MOST {
                return Err(Fault::Undecided(
                    "too many orders explain the trace".to_owned(),
                ));
            }
        }
        Ok(all)
    }

    /// Whether what was seen and has no place can get one with the help of outputs still to come. What
    /// needs no help has its place in another explanation.
    fn can_be_completed(&self, (states, left): &Explanation) -> Outcome<bool> {
        if !left.iter().any(|message| is_output(message)) {
            return Ok(true);
        }
        let from = BTreeSet::from([(states.clone(), left.clone(), false)]);
        let all = match self.close_with(from, true) {
            Ok(all) => all,
            // An input may be taken where it is not specified, and then anything explains it.
            Err(Fault::Rejected(_)) => return Ok(true),
            Err(fault) => return Err(fault),
        };
        let complete = |(_, left, used): &Stage| *used && !left.iter().any(|m| is_output(m));
        Ok(all.iter().any(complete))
    }

    /// The explanations after one more action.
    pub(crate) fn after(&self, action: &str) -> Outcome<Self> {
        let mut next = BTreeSet::new();
        if action.starts_with('?') {
            for (states, left) in &self.explanations {
                let mut left = left.clone();
                left.push(action.to_owned());
                next.insert((states.clone(), left));
            }
            return Ok(self.with(next));
        }
        if action == DELTA {
            for (states, left) in self.close(self.explanations.clone())? {
                let silent = self.s.after(&states, DELTA, true)?;
                if left.is_empty() && !silent.is_empty() {
                    next.insert((silent, left));
                }
            }
            return Ok(self.with(next));
        }
        if !action.starts_with('!') {
            return rejected(format!("{action} is neither an input, an output nor delta"));
        }
        let mut seen = BTreeSet::new();
        for (states, left) in &self.explanations {
            let mut left = left.clone();
            left.push(action.to_owned());
            seen.insert((states.clone(), left));
        }
        let own = self.channel(action);
        let early = self.carriers.len() > 1 || own.is_none_or(|own| self.reorders(own));
        for explanation in self.close(seen)? {
            let waits = explanation.1.iter().any(|m| m == action);
            if (!waits || early) && self.can_be_completed(&explanation)? {
                next.insert(explanation);
            }
        }
        Ok(self.with(next))
    }

    fn with(&self, explanations: BTreeSet<Explanation>) -> Self {
        Self {
            explanations,
            ..*self
        }
    }

    /// What may be observed next.
    pub(crate) fn out(&self) -> Outcome<BTreeSet<String>> {
        let mut out = BTreeSet::new();
        for text in self
            .s
            .texts(Kind::Output)
            .cloned()
            .chain([DELTA.to_owned()])
        {
            if !self.after(&text)?.is_empty() {
                out.insert(text);
            }
        }
        Ok(out)
    }

    /// The states of all explanations, whatever of the messages under way has arrived.
    pub(crate) fn states(&self) -> Outcome<States> {
        let mut states = States::new();
        for explanation in self.close(self.explanations.clone())? {
            if self.can_be_completed(&explanation)? {
                states.extend(explanation.0);
            }
        }
        Ok(states)
    }
}
