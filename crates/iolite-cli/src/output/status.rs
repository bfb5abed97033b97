//! Standard error: messages, and below them a line that shows people how far a long command is.

use std::fmt::Display;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use iolite::Budget;

use crate::args::bounds;

/// Commands that answer within this time show nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(250);

/// Whether only answers and errors are wanted.
static QUIET: AtomicBool = AtomicBool::new(false);

static LINE: Mutex<Line> = Mutex::new(Line {
    is_ours: false,
    shown: false,
    part: None,
    read: None,
});

/// The last line of the terminal.
struct Line {
    /// Whether it is this module's to draw.
    is_ours: bool,
    shown: bool,
    /// So many things of so many are done.
    part: Option<(usize, usize, &'static str)>,
    /// So many bytes of so many are read.
    read: Option<(u64, u64)>,
}

impl Line {
    /// What is known, behind how much of it is done where that is known too.
    fn known(&self, known: &str) -> String {
        match (self.part, self.read) {
            (Some((done, all, noun)), _) => format!("{done} of {all} {noun}, {known}"),
            (None, Some((read, all))) => format!("{} of {} KB, {known}", read >> 10, all >> 10),
            (None, None) => known.to_owned(),
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            eprint!("\r\x1b[K");
        }
    }

    fn draw(&mut self, budget: &Budget) {
        if !self.is_ours {
            return;
        }
        let seconds = budget.elapsed().as_secs();
        let known = self.known(&budget.known().unwrap_or_else(|| "working".to_owned()));
        // More than a line could not be taken away again.
        let known: String = known.chars().take_while(|c| *c != '\n').take(100).collect();
        let bound = budget.time().map_or(String::new(), |time| {
            let left = time.saturating_sub(budget.elapsed());
            format!(", gives up in {} s", left.as_secs())
        });
        let left = left(&known, budget.elapsed());
        let left = left.map_or(String::new(), |left| {
            format!(", about {} s left", left.as_secs())
        });
        eprint!("\r\x1b[K{seconds} s: {known}{left}{bound}");
        self.shown = true;
    }
}

/// The time that is left, where so many of so many are done, as in `3 of 12 mutants`, if all take as long.
fn left(known: &str, elapsed: Duration) -> Option<Duration> {
    let mut words = known.split(' ');
    let done: u32 = words.next()?.parse().ok()?;
    let of = words.next()?;
    let all: u32 = words.next()?.parse().ok()?;
    (of == "of" && done > 0 && done <= all).then(|| elapsed / done * (all - done))
}

fn line() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// So many of so many are done.
pub(crate) fn part(done: usize, all: usize, noun: &'static str) {
    line().part = Some((done, all, noun));
}

/// So many bytes are read from now on.
pub(crate) fn read_from_start(all: u64) {
    line().read = Some((0, all));
}

/// More of them were read.
pub(crate) fn read_more(bytes: usize) {
    if let Some((read, all)) = &mut line().read {
        // It may grow while it is read.
        *read = (*read + bytes as u64).min(*all);
    }
}

/// From now on only answers and errors are written.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Shows how far the command is, once it takes longer than people wait without wondering.
pub(crate) fn start() {
    if is_quiet() || !std::io::stderr().is_terminal() {
        return;
    }
    line().is_ours = true;
    let budget = bounds::budget();
    // Without the thread there is no line, which is no reason to give no answer.
    let _ = thread::Builder::new()
        .name("status".to_owned())
        .spawn(move || {
            thread::sleep(PATIENCE);
            loop {
                line().draw(&budget);
                thread::sleep(TICK);
            }
        });
}

/// The command draws its own progress, asks questions, or serves: nothing is shown any more.
pub(crate) fn leave() {
    let mut line = line();
    line.clear();
    line.is_ours = false;
}

/// Takes the line away before something else is written.
pub(crate) fn clear() {
    line().clear();
}

/// Writes a message to standard error.
pub(crate) fn say(message: &dyn Display) {
    let mut line = line();
    line.clear();
    eprintln!("{message}");
}

/// The same, unless only answers and errors are wanted.
pub(crate) fn remark(message: &dyn Display) {
    if !is_quiet() {
        say(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_much_is_done() {
        let mut line = Line {
            is_ours: false,
            shown: false,
            part: None,
            read: Some((3 << 10, 12 << 10)),
        };
        let minute = Duration::from_secs(60);
        assert_eq!(line.known("line 9"), "3 of 12 KB, line 9");
        let three = Some(Duration::from_secs(180));
        assert_eq!(left(&line.known("line 9"), minute), three);
        // Logs differ in size, and the time is that of all of them.
        line.part = Some((1, 4, "logs"));
        assert_eq!(line.known("line 9"), "1 of 4 logs, line 9");
        assert_eq!(left(&line.known("line 9"), minute), three);
        (line.part, line.read) = (None, None);
        assert_eq!(line.known("line 9"), "line 9");
    }

    #[test]
    fn what_is_left_of_so_many() {
        let minute = Duration::from_secs(60);
        assert_eq!(
            left("3 of 12 mutants", minute),
            Some(Duration::from_secs(180))
        );
        assert_eq!(left("12 of 12 mutants", minute), Some(Duration::ZERO));
        for unknown in ["0 of 12 files", "3 pairs", "line 3 of 4", "", "13 of 12 x"] {
            assert_eq!(left(unknown, minute), None, "{unknown}");
        }
    }
}
