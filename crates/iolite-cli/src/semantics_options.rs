//! What models mean where they leave it open.

use iolite_lts::{Completion, QuiescencePolicy, Semantics, StateId, Suspension, explore};
use serde::{Deserialize, Serialize};

use super::Failure;
use super::source::ModelRef;

/// What models mean where they leave it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SemanticsOptions {
    /// Whether a cycle of internal actions is quiescent, or an error
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    pub(super) quiescence: QuiescenceFlag,
    /// Make the implementation input-enabled: ignore unexpected inputs, or allow anything after one
    #[arg(long, value_name = "HOW")]
    pub(super) complete_inputs: Option<CompletionFlag>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum QuiescenceFlag {
    /// A state on a cycle of internal actions is quiescent
    #[default]
    Livelock,
    /// A cycle of internal actions is an error
    Strict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CompletionFlag {
    /// An unexpected input changes nothing
    SelfLoop,
    /// After an unexpected input anything may happen
    Chaos,
}

impl From<CompletionFlag> for Completion {
    fn from(flag: CompletionFlag) -> Self {
        match flag {
            CompletionFlag::SelfLoop => Self::SelfLoop,
            CompletionFlag::Chaos => Self::Chaos,
        }
    }
}

impl QuiescenceFlag {
    pub(super) fn policy(self) -> QuiescencePolicy {
        match self {
            Self::Livelock => QuiescencePolicy::Livelock,
            Self::Strict => QuiescencePolicy::Strict,
        }
    }
}

impl SemanticsOptions {
    pub(super) fn policy(self) -> QuiescencePolicy {
        self.quiescence.policy()
    }
}

/// With the strict policy a cycle of internal actions is an error, before anything is judged by it.
pub(super) fn reject_livelock(
    system: &impl Semantics<State = StateId>,
    name: &ModelRef,
    policy: QuiescencePolicy,
    budget: usize,
) -> Result<(), Failure> {
    if policy != QuiescencePolicy::Strict {
        return Ok(());
    }
    let view = Suspension::new(system, policy);
    explore(&view, budget)
        .map_err(|e| Failure::input(e.to_string()).hint("allow more with --max-states N"))?;
    match view.livelock() {
        None => Ok(()),
        Some(state) => Err(Failure::input(format!(
            "{name} diverges: state {} lies on a cycle of internal actions",
            system.describe(&state)
        ))
        .hint("--quiescence livelock takes such a state for quiescent")),
    }
}
