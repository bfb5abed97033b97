//! What can go wrong between the tester and the system under test.

use std::time::Duration;

use crate::{Exit, Interruption};

/// A fault of the infrastructure. It is never a verdict: nothing is said about conformance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecError {
    /// The system under test did not start, or does not answer at its address.
    #[error("cannot reach {what}: {reason}")]
    Unreachable {
        /// The command or address.
        what: String,
        /// Why, in the words of the operating system.
        reason: String,
    },
    /// A channel broke while it was in use.
    #[error("channel {channel} dropped: {reason}")]
    Dropped {
        /// Name of the channel.
        channel: String,
        /// Why.
        reason: String,
    },
    /// A complete message came that no action stands for.
    #[error("undecodable message on channel {channel}: {reason}\n{dump}")]
    Undecodable {
        /// Name of the channel.
        channel: String,
        /// What did not fit.
        reason: String,
        /// The bytes, sixteen a line.
        dump: String,
    },
    /// A message that does not end.
    #[error(
        "message on channel {channel} is longer than {limit} bytes (max-message-bytes)\n{dump}"
    )]
    TooLong {
        /// Name of the channel.
        channel: String,
        /// The limit that was passed.
        limit: usize,
        /// The first bytes, sixteen a line.
        dump: String,
    },
    /// The first part of a message came and the rest did not.
    #[error("half a message on channel {channel}: {bytes} bytes, {}{}\n{dump}", rest(*.waited), missing.as_deref().map(|m| format!(": {m}")).unwrap_or_default())]
    HalfMessage {
        /// Name of the channel.
        channel: String,
        /// Bytes of the message that are there.
        bytes: usize,
        /// How long the rest was waited for; zero where the system had ended.
        waited: Duration,
        /// What would have ended it, where that can be told.
        missing: Option<String>,
        /// The bytes, sixteen a line.
        dump: String,
    },
    /// More output than is looked at: the tester never gets to act.
    #[error("the system under test floods: {statement}")]
    Flooding {
        /// What was counted, and the limit.
        statement: String,
    },
    /// The system under test does not take the bytes of a stimulus.
    #[error("channel {channel} takes no input: {written} of {total} bytes written in {waited:?}")]
    SendBlocked {
        /// Name of the channel.
        channel: String,
        /// Bytes that went out.
        written: usize,
        /// Bytes of the stimulus.
        total: usize,
        /// How long it was tried.
        waited: Duration,
    },
    /// The system under test ended in the middle of a run, and `on-exit` is `error`.
    #[error("the system under test ended: {0}")]
    Ended(Exit),
    /// The system under test refuses an input that the tester gives.
    #[error("stimulus {stimulus} is refused: {reason}")]
    Refused {
        /// The stimulus.
        stimulus: String,
        /// Why.
        reason: String,
    },
    /// An action has no bytes.
    #[error("cannot encode {action}: {reason}")]
    Unencodable {
        /// The action.
        action: String,
        /// Why.
        reason: String,
    },
    /// The system under test could not be brought back to its start.
    #[error("reset failed: {0}")]
    Reset(String),
    /// The model under test cannot be executed.
    #[error("model under test: {0}")]
    Model(String),
    /// A journal cannot be written; nothing goes on unrecorded.
    #[error("cannot write journal {path}: {reason}")]
    JournalWrite {
        /// The file.
        path: String,
        /// Why, in the words of the operating system.
        reason: String,
    },
    /// A journal or log cannot be read.
    #[error("cannot read {path}{}: {reason}", at_line(*line))]
    LogRead {
        /// The file.
        path: String,
        /// Line, from 1; 0 for the file as a whole.
        line: usize,
        /// Why.
        reason: String,
    },
    /// A signal asked the tester to end.
    #[error("interrupted by {0}")]
    Interrupted(Interruption),
    /// A report cannot be written.
    #[error("cannot write report: {0}")]
    Report(String),
    /// The description of the system under test is wrong.
    #[error("{0}")]
    Config(String),
    /// A fault that a journal recorded.
    #[error("{message}")]
    Recorded {
        /// Its [code](Self::code).
        code: String,
        /// What was said of it.
        message: String,
    },
    /// Something the operating system refused.
    #[error("{what}: {reason}")]
    System {
        /// What was tried.
        what: String,
        /// Why not.
        reason: String,
    },
}

fn rest(waited: Duration) -> String {
    if waited.is_zero() {
        "and no more can come".to_owned()
    } else {
        format!("not complete after {waited:?}")
    }
}

impl ExecError {
    /// A stable word for machines.
    pub fn code(&self) -> &str {
        match self {
            Self::Recorded { code, .. } => code,
            Self::Unreachable { .. } => "unreachable",
            Self::Dropped { .. } => "dropped",
            Self::Undecodable { .. } => "undecodable",
            Self::TooLong { .. } => "too-long",
            Self::HalfMessage { .. } => "half-message",
            Self::Flooding { .. } => "flooding",
            Self::SendBlocked { .. } => "send-blocked",
            Self::Ended(_) => "ended",
            Self::Refused { .. } => "refused",
            Self::Unencodable { .. } => "unencodable",
            Self::Reset(_) => "reset",
            Self::Model(_) => "model",
            Self::JournalWrite { .. } => "journal-write",
            Self::LogRead { .. } => "log-read",
            Self::Interrupted(_) => "interrupted",
            Self::Report(_) => "report",
            Self::Config(_) => "config",
            Self::System { .. } => "system",
        }
    }

    /// Something between tester and system failed, for this reason.
    pub fn system(what: impl Into<String>, reason: impl std::fmt::Display) -> Self {
        Self::System {
            what: what.into(),
            reason: reason.to_string(),
        }
    }

    pub(crate) fn dropped(channel: &str, reason: impl std::fmt::Display) -> Self {
        Self::Dropped {
            channel: channel.into(),
            reason: reason.to_string(),
        }
    }

    pub(crate) fn unreachable(what: impl Into<String>, reason: impl std::fmt::Display) -> Self {
        Self::Unreachable {
            what: what.into(),
            reason: reason.to_string(),
        }
    }
}

/// Where in a file, for a message; nothing for the file as a whole.
fn at_line(line: usize) -> String {
    match line {
        0 => String::new(),
        line => format!(", line {line}"),
    }
}
