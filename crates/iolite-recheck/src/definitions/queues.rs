//! A specification seen through queues: messages are under way in a FIFO each way.
//!
//! What is observed is explained by what may have happened at the system: an output that arrives after
//! an input may have been sent before that input was taken. An explanation is the set of states after
//! one such order of events, with the inputs that were given and not taken yet.

use std::collections::BTreeSet;

use crate::definitions::system::{DELTA, States, System};
use crate::{Fault, Outcome, rejected};

/// Explanations beyond which nothing is said.
const MOST: usize = 100_000;

/// The states after one order of events, and the inputs that were given and not taken in it.
pub(crate) type Explanation = (States, Vec<String>);

/// All explanations of what was observed.
pub(crate) struct Queues<'s> {
    s: &'s System,
    suspension: bool,
    every_state: bool,
    explanations: BTreeSet<Explanation>,
}

impl<'s> Queues<'s> {
    pub(crate) fn new(s: &'s System, suspension: bool, every_state: bool) -> Outcome<Self> {
        let start = BTreeSet::from([(s.start()?, Vec::new())]);
        Ok(Self::from(s, suspension, every_state, start))
    }

    /// These explanations.
    pub(crate) fn from(
        s: &'s System,
        suspension: bool,
        every_state: bool,
        explanations: BTreeSet<Explanation>,
    ) -> Self {
        Self {
            s,
            suspension,
            every_state,
            explanations,
        }
    }

    pub(crate) fn all(&self) -> &BTreeSet<Explanation> {
        &self.explanations
    }

    /// Whether an input may have been taken where it is not specified.
    pub(crate) fn is_open(&self) -> Outcome<bool> {
        for (states, pending) in &self.explanations {
            let mut states = states.clone();
            for input in pending {
                if !self.specifies(&states, input)? {
                    return Ok(true);
                }
                states = self.s.after(&states, input, self.suspension)?;
            }
        }
        Ok(false)
    }

    fn specifies(&self, states: &States, input: &str) -> Outcome<bool> {
        if self.every_state {
            for &state in states {
                if self.s.refuses(state, &[input.to_owned()])? {
                    return Ok(false);
                }
            }
        }
        Ok(!self.s.after(states, input, self.suspension)?.is_empty())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.explanations.is_empty()
    }

    /// Takes an input. Where it is not specified, anything may follow, and nothing can be wrong.
    fn take(&self, states: &States, input: &str) -> Outcome<States> {
        if self.specifies(states, input)? {
            return self.s.after(states, input, self.suspension);
        }
        rejected(format!(
            "{input} may have been taken where it is not specified, so anything may follow"
        ))
    }

    /// The explanations after one more action.
    pub(crate) fn after(&self, action: &str) -> Outcome<Self> {
        let mut next = BTreeSet::new();
        for (states, pending) in &self.explanations {
            if action.starts_with('?') {
                let mut pending = pending.clone();
                pending.push(action.to_owned());
                next.insert((states.clone(), pending));
                continue;
            }
            // Any number of the pending inputs may have been taken before an output; before silence
            // all of them were.
            let mut states = states.clone();
            for taken in 0..=pending.len() {
                if action != DELTA || taken == pending.len() {
                    let end = self.s.after(&states, action, true)?;
                    if !end.is_empty() {
                        next.insert((end, pending[taken..].to_vec()));
                    }
                }
                if let Some(input) = pending.get(taken) {
                    states = self.take(&states, input)?;
                }
            }
            if next.len() > MOST {
                return Err(Fault::Undecided(
                    "too many orders explain the trace".to_owned(),
                ));
            }
        }
        Ok(Self {
            explanations: next,
            ..*self
        })
    }

    /// What may be observed next.
    pub(crate) fn out(&self) -> Outcome<BTreeSet<String>> {
        let mut out = BTreeSet::new();
        self.each_stage(|states, left| {
            let mut here = self.s.out(states)?;
            if !left.is_empty() {
                here.remove(DELTA);
            }
            out.extend(here);
            Ok(())
        })?;
        Ok(out)
    }

    /// The states of all explanations: before, while and after the pending inputs are taken.
    pub(crate) fn states(&self) -> Outcome<States> {
        let mut all = States::new();
        self.each_stage(|states, _| {
            all.extend(states);
            Ok(())
        })?;
        Ok(all)
    }

    /// Each explanation, before, while and after its pending inputs are taken, with the inputs that are
    /// left then.
    pub(crate) fn each_stage(
        &self,
        mut look: impl FnMut(&States, &[String]) -> Outcome<()>,
    ) -> Outcome<()> {
        for (states, pending) in &self.explanations {
            let mut states = states.clone();
            for taken in 0..=pending.len() {
                look(&states, &pending[taken..])?;
                if let Some(input) = pending.get(taken) {
                    states = self.take(&states, input)?;
                }
            }
        }
        Ok(())
    }
}
