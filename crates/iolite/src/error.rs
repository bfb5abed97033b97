//! Why there is no answer.

use std::fmt;
use std::path::Path;

use iolite_exec::ExecError;

/// Whose fault it is that there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The input or the usage is wrong.
    Input,
    /// A bound, a time limit or a solver ran out.
    Undecided,
    /// The machine, a file or a system under test failed.
    Fault,
}

/// Why data do not become states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfoldingLimit {
    /// A constant, a variable or a parameter takes infinitely many values: a larger bound changes nothing.
    InfiniteData,
    /// There are more states than were allowed, or a solver gave up.
    Bound,
}

/// Why a question got no answer: what is wrong, and what can be done about it. A verdict is never an
/// error.
///
/// Both `{}` and `{:?}` print the message, so that `.unwrap()` and a test that returns a `Result`
/// show what people can read.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    unfolding: Option<UnfoldingLimit>,
}

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            unfolding: None,
        }
    }

    /// The input or the usage is wrong.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// The machine, a file or a system under test failed.
    pub fn fault(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Fault, message)
    }

    /// A bound, a time limit or a solver ran out before there was an answer.
    pub fn undecided(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Undecided, message)
    }

    /// A file that cannot be read: the user's to mend.
    pub fn reading(path: &Path, error: &std::io::Error) -> Self {
        Self::input(file_message(path, error))
    }

    /// A file that cannot be written.
    pub fn writing(path: &Path, error: &std::io::Error) -> Self {
        Self::fault(file_message(path, error))
    }

    /// The same with what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, with the model and the test case that it is about.
    #[must_use]
    pub(crate) fn about(mut self, implementation: &str, case: &str) -> Self {
        self.message += &format!("\n  implementation {implementation}\n  test case      {case}");
        self
    }

    /// The same, as what unfolding of data came to.
    #[must_use]
    pub(crate) fn unfolding_to(mut self, limit: UnfoldingLimit) -> Self {
        self.unfolding = Some(limit);
        self
    }

    /// Why data did not become states, where that is what went wrong.
    pub fn unfolding(&self) -> Option<UnfoldingLimit> {
        self.unfolding
    }

    /// Whose fault it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What is wrong, without the hint.
    pub fn message(&self) -> &str {
        &self.message
    }
}

fn file_message(path: &Path, error: &std::io::Error) -> String {
    let message = error.to_string();
    let mut chars = message.chars();
    let first = chars.next().map(|c| c.to_lowercase().to_string());
    format!(
        "{}: {}{}",
        path.display(),
        first.unwrap_or_default(),
        chars.as_str()
    )
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Diagnostics that were rendered already carry their own heading.
        if !self.message.starts_with("error") {
            f.write_str("error: ")?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// As the fault of a run that could not be made.
impl From<Error> for ExecError {
    fn from(error: Error) -> Self {
        match error.kind {
            ErrorKind::Input => Self::Config(error.message),
            ErrorKind::Undecided | ErrorKind::Fault => Self::Recorded {
                code: "system".to_owned(),
                message: error.message,
            },
        }
    }
}

impl From<ExecError> for Error {
    fn from(error: ExecError) -> Self {
        match error {
            // A bad description is the user's to mend.
            ExecError::Config(message) => Self::input(message),
            error => Self::fault(error.to_string()),
        }
    }
}
