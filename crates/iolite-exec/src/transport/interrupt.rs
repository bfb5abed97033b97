//! Signals that ask the tester to end: the first ends well, the second at once.
//!
//! A signal is one of the whole process, so what was asked is process-wide too. Whoever waits polls a
//! descriptor that becomes readable with the first signal, so that no wait has to be cut into slices.

use std::fmt;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::ExecError;
use crate::transport::readiness::{reading, wait};
use crate::transport::{place, process_tree};

/// A signal that asked the tester to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interruption {
    /// SIGINT, as of Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal or the connection to it was closed.
    HangUp,
    /// Time or memory ran out.
    Bound,
}

impl Interruption {
    fn of(signal: i32) -> Option<Self> {
        match signal {
            SIGINT => Some(Self::Interrupt),
            SIGTERM => Some(Self::Terminate),
            SIGHUP => Some(Self::HangUp),
            BOUND => Some(Self::Bound),
            _ => None,
        }
    }

    /// The exit code by which shells know it: 128 and the number of the signal; 3, inconclusive, for
    /// a bound.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
            Self::HangUp => 129,
            Self::Bound => 3,
        }
    }

    /// The name of the signal.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
            Self::HangUp => "SIGHUP",
            Self::Bound => "a bound of time or memory",
        }
    }
}

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Stands for a bound that ran out among the numbers of signals.
const BOUND: i32 = -1;

/// The first signal that came; 0 for none.
static FIRST: AtomicI32 = AtomicI32::new(0);

/// Readable once a signal came; nobody reads from it.
static WAKE: OnceLock<UnixStream> = OnceLock::new();

/// The other end of [`WAKE`].
static WAKER: OnceLock<UnixStream> = OnceLock::new();

/// From now on SIGINT and SIGTERM, and SIGHUP unless it is ignored, end runs well: [`crate::run()`] returns
/// [`ExecError::Interrupted`] and a campaign its summary so far. A second signal kills what was started
/// and ends the process.
///
/// This is for programs that are testers, such as the command line: it changes what signals do in the
/// whole process, and on Linux makes it the parent of orphans of the systems it starts, so that
/// daemons which left their process group are found and ended too.
pub fn end_well_on_signals() -> Result<(), ExecError> {
    if WAKE.get().is_some() {
        return Ok(());
    }
    let fail = |e: std::io::Error| ExecError::system("cannot handle signals", e);
    let (wake, waker) = UnixStream::pair().map_err(fail)?;
    let hang_up = hang_up_is_heeded().then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hang_up)).map_err(fail)?;
    if WAKER.set(waker).is_err() || WAKE.set(wake).is_err() {
        return Ok(());
    }
    process_tree::adopt_orphans();
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                if !ask(signal) {
                    kill_systems();
                    std::process::exit(128 + signal);
                }
            }
        })
        .map_err(fail)?;
    Ok(())
}

/// Whether SIGHUP would end this process. Whoever started it with `nohup` wants it to go on; where the system does not say, nothing is
/// changed.
fn hang_up_is_heeded() -> bool {
    let status = std::fs::read_to_string("/proc/self/status");
    status.is_ok_and(|status| ends_at(SIGHUP, &status))
}

/// Whether a process with this status does not ignore the signal.
fn ends_at(signal: i32, status: &str) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (signal - 1)) == 0)
}

/// Asks this process to end, if nothing else did before.
fn ask(signal: i32) -> bool {
    let first = FIRST
        .compare_exchange(0, signal, Ordering::AcqRel, Ordering::Acquire)
        .is_ok();
    if first && let Some(mut waker) = WAKER.get() {
        // The stream is empty, so this cannot block; if it fails, waits end by themselves.
        let _ = waker.write_all(b"!");
    }
    first
}

/// Ends runs well because time or memory ran out. Says whether this process listens, that is, whether
/// [`end_well_on_signals`] was called.
pub fn interrupt_at_bound() -> bool {
    WAKE.get().is_some() && {
        ask(BOUND);
        true
    }
}

/// Kills every system under test that this process started, and removes their directories as far as that
/// goes, for an end at once.
pub fn kill_systems() {
    process_tree::kill_everything();
    place::remove_directories();
}

/// The signal that asked this process to end, if one did.
pub fn interrupted() -> Option<Interruption> {
    Interruption::of(FIRST.load(Ordering::Acquire))
}

/// What becomes readable with the first signal.
pub(crate) fn wake() -> Option<BorrowedFd<'static>> {
    WAKE.get().map(AsFd::as_fd)
}

/// Waits until a descriptor can be read; an error once a signal came. Where nobody listens to signals it does not wait: the read does.
pub fn await_readable(fd: BorrowedFd<'_>) -> Result<(), ExecError> {
    let Some(wake) = wake() else {
        return Ok(());
    };
    loop {
        check()?;
        let mut both = [reading(&fd), reading(&wake)];
        // What cannot be waited for is told by the read.
        if wait(&mut both, None)?.is_some() && !both[0].revents().is_empty() {
            return check();
        }
    }
}

/// An error once a signal came, for loops that wait.
#[inline]
pub(crate) fn check() -> Result<(), ExecError> {
    match interrupted() {
        Some(by) => Err(ExecError::Interrupted(by)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_is_ignored_is_left_alone() {
        let status = |mask: &str| format!("Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t{mask}\n");
        assert!(ends_at(SIGHUP, &status("0000000000001000")));
        // As with `nohup`, beside SIGPIPE.
        assert!(!ends_at(SIGHUP, &status("0000000000001001")));
        assert!(!ends_at(SIGHUP, "no status of Linux"));
    }
}
