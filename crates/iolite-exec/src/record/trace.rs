//! What really happened in a run, in order.

use iolite_derive::Step;

/// The steps of a run, up to a limit: a run of a billion steps must not need memory for them all.
/// What is beyond the limit is in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    steps: Vec<Step>,
    limit: usize,
    omitted: u64,
    /// The last step that was not kept.
    last_omitted: Option<Step>,
}

impl Trace {
    /// A trace that keeps its first `limit` steps.
    pub fn new(limit: usize) -> Self {
        Self {
            steps: Vec::new(),
            limit,
            omitted: 0,
            last_omitted: None,
        }
    }

    pub(crate) fn push(&mut self, step: Step) {
        if self.steps.len() < self.limit {
            self.steps.push(step);
        } else {
            self.omit(step);
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.steps.len() >= self.limit
    }

    pub(crate) fn omit(&mut self, step: Step) {
        self.omitted += 1;
        self.last_omitted = Some(step);
    }

    /// The last step, kept or not.
    pub(crate) fn last(&self) -> Option<Step> {
        self.last_omitted.or_else(|| self.steps.last().copied())
    }

    /// The steps that were kept, from the first.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How many later steps were not kept.
    pub(crate) fn omitted(&self) -> u64 {
        self.omitted
    }
}
