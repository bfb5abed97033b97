//! What testing a property can say.

use std::fmt;

/// A verdict on a relation between an implementation and an r-property
/// [PROP12, def. 7, §6.1.4 and §7.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PropertyVerdict {
    /// The relation holds.
    Pass,
    /// The relation does not hold.
    Fail,
    /// This execution determines the property positively; no word on other executions.
    WeakPass,
    /// This execution determines the property negatively; no word on other executions.
    WeakFail,
    /// The targeted verdict can no longer be reached.
    Inconc,
    /// Nothing can be said yet.
    Unknown,
}

impl PropertyVerdict {
    /// Whether no continuation changes it.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Unknown | Self::Inconc)
    }
}

impl fmt::Display for PropertyVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::WeakPass => "weak-pass",
            Self::WeakFail => "weak-fail",
            Self::Inconc => "inconc",
            Self::Unknown => "unknown",
        })
    }
}

/// The two kinds of quiescence that the framework tells apart [PROP12, §8.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quiescence {
    /// `δ_o`: the implementation waits for an input.
    OutputLock,
    /// `δ_d`: it has terminated or is deadlocked.
    Deadlock,
}

impl fmt::Display for Quiescence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutputLock => "delta_o",
            Self::Deadlock => "delta_d",
        })
    }
}
