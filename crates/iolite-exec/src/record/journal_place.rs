//! Where a journal is written: a name of its own, and nobody else beside it.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};

use crate::{ExecError, JournalForm};

/// The folder of journals that nobody named.
pub(crate) const JOURNAL_FOLDER: &str = ".iolite";

/// The link in that folder to the journal of the last campaign that started.
pub(crate) const LATEST: &str = "latest";

fn fail(path: &Path, reason: impl std::fmt::Display) -> ExecError {
    ExecError::JournalWrite {
        path: path.display().to_string(),
        reason: reason.to_string(),
    }
}

/// A name that no other campaign has: the time and this process. The second part may be cut short by
/// campaigns that start within a second in one process, which a number tells apart.
pub fn new_journal_path(form: JournalForm) -> PathBuf {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let stamp = stamp(since.unwrap_or_default().as_secs());
    let process = std::process::id();
    let ending = form.ending();
    let name = |suffix: &str| {
        Path::new(JOURNAL_FOLDER).join(format!("{stamp}-{process}{suffix}.{ending}"))
    };
    let mut path = name("");
    let mut number = 1;
    while path.exists() && number < 1000 {
        number += 1;
        path = name(&format!("-{number}"));
    }
    path
}

/// `20261116-221500`, in UTC.
fn stamp(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // The civil calendar from a count of days: years begin in March, so that leap days come last, and 400
    // years are 146 097 days.
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

/// Opens a journal for writing and keeps others out. What it holds stays until a run has started.
pub(crate) fn open_locked(path: &Path) -> Result<File, ExecError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    if folder.ends_with(JOURNAL_FOLDER) {
        fs::create_dir_all(folder).map_err(|e| fail(path, e))?;
        // Journals belong to this machine. The user's own file is left as it is.
        let ignore = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(folder.join(".gitignore"));
        if let Ok(mut ignore) = ignore {
            let _ = std::io::Write::write_all(&mut ignore, b"*\n");
        }
    }
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|e| fail(path, e))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(fail(
            path,
            "another run is writing it; choose another file with --journal",
        )),
        // A file system without locks keeps nobody out.
        Ok(()) | Err(_) => Ok(file),
    }
}

/// Makes `.iolite/latest` the link to this journal.
pub(crate) fn link_latest(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    if !folder.ends_with(JOURNAL_FOLDER) {
        return;
    }
    // A courtesy: the journal has its own name, which is printed.
    let link = folder.join(LATEST);
    let new = folder.join(format!("{LATEST}.{}", std::process::id()));
    match symlink(name, &new) {
        Err(e) if e.kind() != ErrorKind::AlreadyExists => {}
        _ => {
            let _ = fs::rename(&new, &link);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_dates() {
        for (seconds, text) in [
            (0, "19700101-000000"),
            (951_782_400, "20000229-000000"),
            (951_868_799, "20000229-235959"),
            (1_709_251_199, "20240229-235959"),
            (4_107_542_400, "21000301-000000"),
            (1_794_867_300, "20261116-221500"),
        ] {
            assert_eq!(stamp(seconds), text);
        }
    }
}
