//! What commands print, and how they end.

/// Writes a message to standard error, above the line that shows progress.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::status::say(&format_args!($($text)*)) };
}

/// The same for what `--quiet` leaves out.
macro_rules! warning {
    ($($text:tt)*) => { $crate::output::status::remark(&format_args!($($text)*)) };
}

pub(crate) mod annotations;
pub(crate) mod campaign;
pub(crate) mod certificates;
pub(crate) mod description;
pub(crate) mod dialogue;
pub(crate) mod report_files;
pub(crate) mod silence;
pub(crate) mod status;
mod values_tried;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use iolite::{Error, Verdict};

pub(crate) use iolite::{write_packed, write_whole};
pub(crate) use iolite_exec::report::counted;

/// How a command ended, as scripts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Holds, pass, proved.
    Holds = 0,
    /// Does not hold, a failing verdict, refuted.
    Fails = 1,
    /// Bad input or usage.
    BadInput = 2,
    /// Inconclusive or unknown.
    Inconclusive = 3,
    /// The infrastructure let us down.
    Fault = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            verdict if verdict.is_failing() => Self::Fails,
            Verdict::Pass | Verdict::WeakPass => Self::Holds,
            _ => Self::Inconclusive,
        }
    }
}

impl From<&Error> for Exit {
    fn from(error: &Error) -> Self {
        match error.kind() {
            iolite::ErrorKind::Input => Self::BadInput,
            iolite::ErrorKind::Undecided => Self::Inconclusive,
            iolite::ErrorKind::Fault => Self::Fault,
        }
    }
}

/// Whether standard output is for events alone, as of `--events -`.
static EVENTS_ONLY: AtomicBool = AtomicBool::new(false);

/// From now on standard output is for events, and words go to standard error.
pub(crate) fn leave_stdout_to_events() {
    EVENTS_ONLY.store(true, Ordering::Relaxed);
}

/// Prints to standard output; a reader that went away (`| head`) is no fault.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    status::clear();
    if EVENTS_ONLY.load(Ordering::Relaxed) {
        eprint!("{text}");
        return Ok(());
    }
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Error::fault(format!("standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// A document as JSON.
pub(crate) fn to_json(document: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string_pretty(document).map_err(|e| Error::fault(format!("writing JSON: {e}")))
}

/// Prints one JSON document to standard output.
pub(crate) fn print_json(document: &impl serde::Serialize) -> Result<(), Error> {
    print(&format!("{}\n", to_json(document)?))
}

/// How a command ends whose answer was printed, once a file beside the answer was written or could not be: what is
/// missing is said, and a fault unless the answer is a failing one, which holds without the file.
pub(crate) fn beside_answer(answer: Exit, written: Result<(), Error>) -> Exit {
    let Err(error) = written else {
        return answer;
    };
    say!("{error}");
    match answer {
        Exit::Fails => answer,
        _ => Exit::Fault,
    }
}

/// Writes a document as JSON to a file.
pub(crate) fn write_json(
    path: &std::path::Path,
    document: &impl serde::Serialize,
) -> Result<(), Error> {
    write_packed(path, to_json(document)?.as_bytes())
}
