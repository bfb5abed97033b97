//! How much time and memory a command may take.
//!
//! A [`Budget`] is shared by whoever works and whoever watches. Long work asks it now and then
//! ([`Budget::exceeded`]) and says how far it is ([`Budget::know`]); a [`watchdog`] compares time and
//! memory with what is allowed and, where the work does not listen, ends it from outside with what is
//! known so far. A bound that ran out is never an answer.

mod machine;
mod watch;
mod watchdog;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use machine::{free_memory, used_memory};
pub use watch::Watch;
pub use watchdog::{LastResort, watch};

/// Which share of the free memory a command may take unless it is told otherwise, in percent.
const DEFAULT_SHARE: u64 = 80;

/// The most memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLimit {
    /// So many bytes, as the user says.
    Given(u64),
    /// So many bytes, because the machine has no more.
    Machine(u64),
}

impl MemoryLimit {
    /// What the machine can give now: four fifths of what is free.
    pub fn of_machine() -> Option<Self> {
        let free = free_memory()?;
        Some(Self::Machine(free / 100 * DEFAULT_SHARE))
    }

    /// The number of bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Given(bytes) | Self::Machine(bytes) => bytes,
        }
    }
}

/// What ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// The time.
    Time(Duration),
    /// The memory.
    Memory(MemoryLimit),
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(limit) => write!(f, "no answer within {} seconds", limit.as_secs_f64()),
            Self::Memory(MemoryLimit::Given(bytes)) => {
                write!(f, "more than {bytes} bytes would be needed")
            }
            Self::Memory(MemoryLimit::Machine(bytes)) => write!(
                f,
                "more than {} MB would be needed, {DEFAULT_SHARE}% of the memory that was free",
                bytes >> 20
            ),
        }
    }
}

/// Time and memory that there are, and what is known so far. Clones share it.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    started: Instant,
    time: Option<Duration>,
    memory: Option<MemoryLimit>,
    /// What ran out first.
    exceeded: OnceLock<Exceeded>,
    /// Whether somebody who works has been told.
    heard: AtomicBool,
    known: Mutex<Option<String>>,
}

impl Default for Budget {
    fn default() -> Self {
        Self::unlimited()
    }
}

impl Budget {
    /// The time begins now.
    pub fn new(time: Option<Duration>, memory: Option<MemoryLimit>) -> Self {
        Self(Arc::new(Inner {
            started: Instant::now(),
            time,
            memory,
            exceeded: OnceLock::new(),
            heard: AtomicBool::new(false),
            known: Mutex::new(None),
        }))
    }

    /// All the time and memory there is.
    pub fn unlimited() -> Self {
        Self::new(None, None)
    }

    /// The time there is.
    pub fn time(&self) -> Option<Duration> {
        self.0.time
    }

    /// The most memory.
    pub fn memory(&self) -> Option<MemoryLimit> {
        self.0.memory
    }

    /// How long ago it began.
    pub fn elapsed(&self) -> Duration {
        self.0.started.elapsed()
    }

    /// When the time is up.
    pub fn until(&self) -> Option<Instant> {
        self.0.started.checked_add(self.0.time?)
    }

    /// What ran out, for those who work: they are expected to end soon.
    pub fn exceeded(&self) -> Option<Exceeded> {
        let exceeded = self.look()?;
        self.0.heard.store(true, Ordering::Relaxed);
        Some(exceeded)
    }

    /// The same for work that counts its own bytes.
    pub fn exceeded_by(&self, bytes: u64) -> Option<Exceeded> {
        if let Some(limit) = self.0.memory.filter(|limit| bytes > limit.bytes()) {
            self.exceed(Exceeded::Memory(limit));
        }
        self.exceeded()
    }

    /// Whether somebody found that a bound ran out. Reads no clock.
    pub fn is_raised(&self) -> bool {
        self.0.exceeded.get().is_some()
    }

    /// What ran out, for those who watch.
    fn look(&self) -> Option<Exceeded> {
        if let Some(time) = self.0.time.filter(|&time| self.elapsed() >= time) {
            self.exceed(Exceeded::Time(time));
        }
        self.0.exceeded.get().copied()
    }

    fn exceed(&self, what: Exceeded) {
        // What ran out first is the reason.
        let _ = self.0.exceeded.set(what);
    }

    fn is_heard(&self) -> bool {
        self.0.heard.load(Ordering::Relaxed)
    }

    /// Says what is known so far, for an end from outside.
    pub fn know(&self, what: impl Into<String>) {
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(what.into());
    }

    /// What is known so far; `None` also while somebody is saying it.
    pub fn known(&self) -> Option<String> {
        self.0.known.try_lock().ok()?.clone()
    }

    /// Writes what is known so far without allocating.
    pub fn with_known(&self, write: impl FnOnce(&str)) {
        if let Ok(known) = self.0.known.try_lock()
            && let Some(known) = known.as_deref()
        {
            write(known);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_out_first_is_the_reason() {
        let budget = Budget::new(Some(Duration::ZERO), Some(MemoryLimit::Given(10)));
        assert_eq!(budget.exceeded_by(10), Some(Exceeded::Time(Duration::ZERO)));
        assert_eq!(budget.exceeded_by(11), Some(Exceeded::Time(Duration::ZERO)));
        let budget = Budget::new(Some(Duration::MAX), Some(MemoryLimit::Given(10)));
        assert_eq!(budget.exceeded_by(10), None);
        assert_eq!(budget.until(), None, "beyond all clocks");
        let memory = Exceeded::Memory(MemoryLimit::Given(10));
        assert_eq!(budget.exceeded_by(11), Some(memory));
        assert_eq!(budget.exceeded(), Some(memory), "it stays so");
        assert_eq!(Budget::unlimited().exceeded_by(u64::MAX), None);
    }

    #[test]
    fn clones_share_what_is_known() {
        let budget = Budget::unlimited();
        budget.clone().know("half of it");
        assert_eq!(budget.known().as_deref(), Some("half of it"));
    }
}
