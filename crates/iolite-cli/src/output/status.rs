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
});

/// The last line of the terminal.
struct Line {
    /// Whether it is this module's to draw.
    is_ours: bool,
    shown: bool,
}

impl Line {
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
        let known = budget.known().unwrap_or_else(|| "working".to_owned());
        // More than a line could not be taken away again.
        let known: String = known.chars().take_while(|c| *c != '\n').take(100).collect();
        let bound = budget.time().map_or(String::new(), |time| {
            format!(", gives up at {} s", time.as_secs())
        });
        eprint!("\r\x1b[K{seconds} s: {known}{bound}");
        self.shown = true;
    }
}

fn line() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
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
