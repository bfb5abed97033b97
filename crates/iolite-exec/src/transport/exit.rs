//! How a system under test ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a system under test ended, as seen from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// What happened.
    pub how: ExitKind,
    /// The last bytes it wrote to its standard error, as text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The message that it was in the middle of, where there was one, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
}

/// What ended a system under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExitKind {
    /// The process exited with this code.
    Code(i32),
    /// The process was ended by this signal.
    Signal(i32),
    /// The named channel was closed by the system, which may still run.
    Closed(String),
    /// The system in process panicked with this message.
    Panicked(String),
}

impl Exit {
    /// Whether the system itself ended, and not only a channel to it.
    pub(crate) fn is_of_the_system(&self) -> bool {
        !matches!(self.how, ExitKind::Closed(_))
    }
}

impl From<ExitKind> for Exit {
    fn from(how: ExitKind) -> Self {
        Self {
            how,
            stderr: String::new(),
            within: None,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.how {
            ExitKind::Code(code) => write!(f, "exit code {code}")?,
            ExitKind::Signal(signal) => write!(f, "signal {signal}")?,
            ExitKind::Closed(reason) => write!(f, "{reason}")?,
            ExitKind::Panicked(message) => write!(f, "panic: {message}")?,
        }
        if let Some(half) = &self.within {
            write!(f, "\nin the middle of a message: {half}")?;
        }
        if !self.stderr.is_empty() {
            write!(f, "\nits standard error ends with:\n{}", self.stderr)?;
        }
        Ok(())
    }
}
