//! Why a command could not do its work.

use std::fmt;
use std::path::Path;

use super::Exit;

/// A command that ends without an answer: what went wrong, and what the user can do.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) exit: Exit,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// The input or the usage is at fault.
    pub(super) fn input(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::BadInput,
            message: message.into(),
            hint: None,
        }
    }

    /// The machine, a file or a system under test is at fault.
    pub(super) fn fault(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Fault,
            message: message.into(),
            hint: None,
        }
    }

    /// A bound or a solver ran out before there was an answer.
    pub(super) fn undecided(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Inconclusive,
            message: message.into(),
            hint: None,
        }
    }

    /// A file that cannot be read: the user's to mend.
    pub(super) fn reading(path: &Path, error: &std::io::Error) -> Self {
        Self::input(format!(
            "{}: {}",
            path.display(),
            lowercase(&error.to_string())
        ))
    }

    /// A file that cannot be written.
    pub(super) fn writing(path: &Path, error: &std::io::Error) -> Self {
        Self::fault(format!(
            "{}: {}",
            path.display(),
            lowercase(&error.to_string())
        ))
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

fn lowercase(message: &str) -> String {
    let mut chars = message.chars();
    chars
        .next()
        .map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Diagnostics that were rendered already carry their own heading.
        if self.message.starts_with("error") {
            write!(f, "{}", self.message)?;
        } else {
            write!(f, "error: {}", self.message)?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

/// Writes a file whole or not at all: to a neighbour first, which then takes its name. A link is
/// followed, and what is no file (a pipe, a device) is written to as it is.
pub(super) fn write_whole(path: &Path, text: &[u8]) -> Result<(), Failure> {
    let followed = std::fs::canonicalize(path);
    let shown = path;
    let path = followed.as_deref().unwrap_or(path);
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        return std::fs::write(path, text).map_err(|e| Failure::writing(shown, &e));
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path));
    written.map_err(|e| {
        let _ = std::fs::remove_file(&part);
        Failure::writing(shown, &e)
    })
}
