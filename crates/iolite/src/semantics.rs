//! What models mean where they leave it open.

use iolite_lts::{Completion, QuiescencePolicy};
use serde::{Deserialize, Serialize};

/// What models mean where they leave it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
pub struct SemanticsOptions {
    /// Whether a cycle of internal actions is quiescent: always, never (an error), or if it cannot be left
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "POLICY", default_value = "livelock")
    )]
    pub quiescence: QuiescenceFlag,
    /// Make the implementation input-enabled: ignore unexpected inputs, or allow anything after one
    #[cfg_attr(feature = "clap", arg(long, value_name = "HOW"))]
    pub complete_inputs: Option<CompletionFlag>,
}

/// Whether a cycle of internal actions is quiescent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum QuiescenceFlag {
    /// A state on a cycle of internal actions is quiescent
    #[default]
    Livelock,
    /// A cycle of internal actions is an error
    Strict,
    /// A cycle of internal actions is quiescent where it can be left neither internally nor by an output
    Fair,
}

/// What becomes of an input that is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum CompletionFlag {
    /// An unexpected input changes nothing
    SelfLoop,
    /// After an unexpected input anything may happen
    Chaos,
}

impl CompletionFlag {
    /// The fixed spelling, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::SelfLoop => "self-loop",
            Self::Chaos => "chaos",
        }
    }
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
    /// The policy of the kernel.
    pub fn policy(self) -> QuiescencePolicy {
        match self {
            Self::Livelock => QuiescencePolicy::Livelock,
            Self::Strict => QuiescencePolicy::Strict,
            Self::Fair => QuiescencePolicy::Fair,
        }
    }
}

impl SemanticsOptions {
    /// The policy of the kernel.
    pub fn policy(self) -> QuiescencePolicy {
        self.quiescence.policy()
    }
}
