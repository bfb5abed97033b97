//! What a run needs to know beside tester, system and strategy.

use std::time::Instant;

use iolite_derive::{Channel, Context, Criterion};
use serde::{Deserialize, Serialize};

use crate::{Confirm, ModelRef, Pace, Quiescence, Steering, interrupted};

/// What the end of the system under test during a run means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnExit {
    /// The result `crash`, once a step was taken: before that, the system has not started. A
    /// connection that is closed while nobody knows whether the system has ended stays a fault.
    #[default]
    Crash,
    /// A fault of the infrastructure.
    Error,
    /// The observation `δ_d`.
    Deadlock,
}

/// When a run ends at the latest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Steps of one run.
    pub steps: Option<u64>,
    /// When all runs must have ended.
    pub until: Option<Instant>,
    /// Coverage at which to end, between 0 and 1.
    pub coverage: Option<f64>,
    /// Stimuli in a row that outputs may pre-empt before the system counts as flooding.
    pub preemptions: u64,
    /// Steps of a run that are kept in memory.
    pub trace: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: Some(1000),
            until: None,
            coverage: None,
            preemptions: 10_000,
            trace: 1 << 20,
        }
    }
}

/// What a run needs to know beside tester, system and strategy.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// When silence is quiescence.
    pub quiescence: Quiescence,
    /// What the end of the system means.
    pub on_exit: OnExit,
    /// When the run ends at the latest.
    pub limits: Limits,
    /// How often a failing run is repeated before it counts.
    pub confirm: Confirm,
    /// Whether silence is waited for again where it was just observed and changed nothing.
    pub repeat_silence: bool,
    /// How long to wait before stimuli.
    pub pace: Pace,
    /// What runs are judged by, for certificates.
    pub criterion: Criterion,
    /// The model, for certificates.
    pub model: ModelRef,
    /// What lies between tester and system, for certificates.
    pub context: Context,
    /// The channels that it judges through, where there are several or one loses or reorders messages.
    pub channels: Vec<Channel>,
    /// Who may end the campaign while it runs.
    pub steering: Option<Steering>,
}

impl Options {
    /// Whether no new run begins: a signal came, somebody ended the campaign, or the time is up.
    pub fn is_over(&self) -> bool {
        interrupted().is_some()
            || self.steering.as_ref().is_some_and(Steering::is_stopped)
            || self
                .limits
                .until
                .is_some_and(|until| Instant::now() >= until)
    }
}
