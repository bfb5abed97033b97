//! What a goal-driven test wants of the specification's behaviour: an observer's violation, or a
//! purpose's acceptance.

use std::sync::Arc;

use iolite_lts::{LabelId, Labels, StateId};
use iolite_property::{Observer, Purpose};

use crate::{Criterion, Verdict, Wish};

/// What a step that the specification allows means to the objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move<S = StateId> {
    /// The objective's automaton goes on there.
    To(S),
    /// The goal is reached, with this verdict.
    Goal(Verdict),
    /// The goal is given up: it cannot be reached any more.
    Lost,
    /// Where the step leads was not decided; the goal says why, see [`Goal::doubt`](crate::Goal::doubt).
    Open,
}

/// What an observation that the specification does not allow means to the objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The verdict, a failing one.
    pub verdict: Verdict,
    /// Whether it is what the test was after.
    pub goal: bool,
}

/// The goal of a test: a deterministic automaton run beside the specification.
pub trait Objective: Sized {
    /// Its name.
    fn name(&self) -> &str;

    /// What a test for it is about.
    fn criterion(&self) -> Criterion;

    /// The same objective over the labels of a specification. Label ids mean nothing in another
    /// table, so everything that runs an objective beside a specification begins with this.
    #[must_use]
    fn over_labels(self, labels: &Labels) -> Self;

    /// Where it starts.
    fn initial(&self) -> StateId;

    /// The step under an action that the specification allows.
    fn allowed(&self, at: StateId, label: LabelId) -> Move;

    /// An output, or δ, that the specification does not allow.
    fn forbidden(&self, at: StateId, label: LabelId) -> Breach;

    /// A lower bound on the steps to the goal, from the automaton alone; `None` when there is no way.
    fn distance(&self, at: StateId) -> Option<u32>;

    /// Whether a test is led towards this verdict; others that end the goal only happen to it.
    fn wants(&self, _verdict: Verdict) -> bool {
        true
    }

    /// Whether what an action means depends on its values, so that [`Objective::valued_label`] is asked.
    fn looks_at_values(&self) -> bool {
        false
    }

    /// A label for an action with its values, in the notation of runs; it may lie beyond those of the
    /// table. `None` where the objective does not know the action.
    fn valued_label(&self, _action: &str) -> Option<LabelId> {
        None
    }

    /// Why a step was [`Move::Open`].
    fn doubt(&self, _action: &str) -> Option<String> {
        None
    }

    /// How far the goal is at best after an output or δ, where values decide; 0 where it is reached.
    fn after_observation(&self, _at: StateId) -> Option<u32> {
        None
    }

    /// The inputs that bring the goal nearer, where values decide.
    fn wishes(&self, _at: StateId) -> Vec<Wish> {
        Vec::new()
    }

    /// The verdict of a run that is broken off with the goal still open.
    fn open_verdict(&self) -> Verdict;

    /// A state in words.
    fn describe(&self, at: StateId) -> String;
}

impl Objective for Observer {
    fn name(&self) -> &str {
        self.name()
    }

    fn criterion(&self) -> Criterion {
        Criterion::Safety
    }

    fn over_labels(self, labels: &Labels) -> Self {
        if **self.labels() == *labels {
            self
        } else {
            self.over(&Arc::new(labels.clone()))
        }
    }

    fn initial(&self) -> StateId {
        self.initial()
    }

    /// A violation on a trace of the specification: both violate the property
    /// [SYM04, §4].
    fn allowed(&self, at: StateId, label: LabelId) -> Move {
        match self.step(at, label) {
            Some(next) if self.is_violate(next) => Move::Goal(Verdict::Violate),
            Some(next) => Move::To(next),
            // Definition 10 has no transition where the specification goes on and ω does not; a
            // tester that took this for the paper's "implicit transition to Fail" would fail
            // conforming systems. No trace from here is in L(ω), and that is all it means.
            None => Move::Lost,
        }
    }

    /// Rules \[β\] and \[γ\] of [SAFE04, def. 10].
    fn forbidden(&self, at: StateId, label: LabelId) -> Breach {
        let goal = self.step(at, label).is_some_and(|q| self.is_violate(q));
        let verdict = if goal {
            Verdict::ViolateFail
        } else {
            Verdict::Fail
        };
        Breach { verdict, goal }
    }

    fn distance(&self, at: StateId) -> Option<u32> {
        self.distance(at)
    }

    /// Nothing wrong was seen, and the property was there to be violated all the time.
    fn open_verdict(&self) -> Verdict {
        Verdict::Pass
    }

    fn describe(&self, at: StateId) -> String {
        self.automaton().place(at).name.clone()
    }
}

impl Objective for Purpose {
    fn name(&self) -> &str {
        self.name()
    }

    fn criterion(&self) -> Criterion {
        Criterion::Purpose
    }

    fn over_labels(self, labels: &Labels) -> Self {
        if **self.labels() == *labels {
            self
        } else {
            self.over(&Arc::new(labels.clone()))
        }
    }

    fn initial(&self) -> StateId {
        self.initial()
    }

    fn allowed(&self, at: StateId, label: LabelId) -> Move {
        let next = self.step(at, label);
        if self.is_accept(next) {
            Move::Goal(Verdict::Pass)
        } else if self.is_refuse(next) {
            Move::Lost
        } else {
            Move::To(next)
        }
    }

    fn forbidden(&self, _at: StateId, _label: LabelId) -> Breach {
        Breach {
            verdict: Verdict::Fail,
            goal: false,
        }
    }

    fn distance(&self, at: StateId) -> Option<u32> {
        self.distance(at)
    }

    /// The scenario was not gone through.
    fn open_verdict(&self) -> Verdict {
        Verdict::Inconc
    }

    fn describe(&self, at: StateId) -> String {
        self.automaton().place(at).name.clone()
    }
}
