//! Somebody who watches time and memory while others work.
//!
//! Memory is what the operating system says this process uses, read now and then: an allocator that
//! counts would be exact, but every allocation of every command would pay for it. What is used up
//! between two looks is small beside what a machine keeps free.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use super::{Budget, Exceeded, MemoryLimit, used_memory};

/// How long work that was not heard of may go on after a bound ran out.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long work may take to end once it was told.
const PATIENCE_WITH_LISTENERS: Duration = Duration::from_secs(60);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// What is done from outside when a bound ran out.
pub trait LastResort: Send + 'static {
    /// Asks the work to end. Says whether somebody is listening.
    fn ask(&mut self, what: Exceeded) -> bool;

    /// Ends the process: nobody listened.
    fn end(&mut self, what: Exceeded, known: Option<String>);
}

/// Watches from now on, in a thread of its own. Without a limit there is nothing to watch.
pub fn watch(budget: &Budget, mut last: impl LastResort) -> io::Result<()> {
    if budget.time().is_none() && budget.memory().is_none() {
        return Ok(());
    }
    let budget = budget.clone();
    let work = move || {
        let what = wait(&budget);
        let told = Instant::now();
        let asked = last.ask(what);
        loop {
            thread::sleep(PAUSE);
            let patience = if asked || budget.is_heard() {
                PATIENCE_WITH_LISTENERS
            } else {
                PATIENCE
            };
            if told.elapsed() >= patience || is_far_over(budget.memory()) {
                last.end(what, budget.known());
                return;
            }
        }
    };
    let thread = thread::Builder::new().name("watchdog".into());
    thread.stack_size(256 << 10).spawn(work)?;
    Ok(())
}

/// Waits until a bound runs out. It begins with a pause: most commands are done before it ends, and looking would cost
/// them memory.
fn wait(budget: &Budget) -> Exceeded {
    loop {
        let left = budget.until().map(|u| u.duration_since(Instant::now()));
        thread::sleep(left.map_or(PAUSE, |left| left.min(PAUSE)));
        if let Some(limit) = budget.memory()
            && used_memory().is_some_and(|used| used > limit.bytes())
        {
            budget.exceed(Exceeded::Memory(limit));
        }
        if let Some(what) = budget.look() {
            return what;
        }
    }
}

/// Whether there is no time to ask: half of what a machine had left is gone as well, or twice what the
/// user allows and a little more.
fn is_far_over(limit: Option<MemoryLimit>) -> bool {
    let far = match limit {
        None => return false,
        Some(MemoryLimit::Machine(bytes)) => bytes + bytes / 8,
        Some(MemoryLimit::Given(bytes)) => bytes.saturating_mul(2).saturating_add(64 << 20),
    };
    used_memory().is_some_and(|used| used > far)
}
