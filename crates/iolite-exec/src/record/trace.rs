//! What really happened in a run, in order.

use iolite_derive::Tester;

/// One step of a suspension trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step<A> {
    /// A stimulus was given.
    Stimulus(A),
    /// An output was seen.
    Output(A),
    /// No output came in time: δ.
    Quiescence,
    /// The system had ended: `δ_d` of [PROP12, §8].
    Deadlock,
}

impl<A> Step<A> {
    /// The step in `?a`, `!x`, `delta`, `deadlock` notation.
    pub fn text<T: Tester<Action = A>>(&self, tester: &T) -> String {
        match self {
            Self::Stimulus(a) | Self::Output(a) => tester.show(a),
            Self::Quiescence => "delta".into(),
            Self::Deadlock => "deadlock".into(),
        }
    }

    /// Whether the step is the tester's own.
    pub fn is_stimulus(&self) -> bool {
        matches!(self, Self::Stimulus(_))
    }

    /// Reads the notation of [`Step::text`]; `parse` reads an action.
    pub fn parse(text: &str, parse: &dyn Fn(&str) -> Option<A>) -> Option<Self> {
        match text {
            "delta" | "δ" => Some(Self::Quiescence),
            "deadlock" => Some(Self::Deadlock),
            _ if text.starts_with('?') => parse(text).map(Self::Stimulus),
            _ => parse(text).map(Self::Output),
        }
    }
}

/// The steps of a run, up to a limit: a run of a billion steps must not need memory for them all.
/// What is beyond the limit is in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace<A> {
    steps: Vec<Step<A>>,
    limit: usize,
    omitted: u64,
}

impl<A> Trace<A> {
    /// A trace that keeps its first `limit` steps.
    pub fn new(limit: usize) -> Self {
        Self {
            steps: Vec::new(),
            limit,
            omitted: 0,
        }
    }

    pub(crate) fn push(&mut self, step: Step<A>) {
        if self.steps.len() < self.limit {
            self.steps.push(step);
        } else {
            self.omitted += 1;
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.steps.len() >= self.limit
    }

    pub(crate) fn omit(&mut self) {
        self.omitted += 1;
    }

    /// The steps that were kept, from the first.
    pub fn steps(&self) -> &[Step<A>] {
        &self.steps
    }

    /// How many later steps were not kept.
    pub fn omitted(&self) -> u64 {
        self.omitted
    }
}
