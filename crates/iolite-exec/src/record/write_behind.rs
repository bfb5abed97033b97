//! A thread that writes what a job has recorded of a real system, a millisecond after it happened at the latest.
//!
//! A system that is tested may hang, or take the tester or the machine down with it, so what it was given must be on record whatever
//! the tester is at: it may wait, choose its next step with a solver, or stand still itself. A write before each stimulus would do as
//! well, and was a fifth of a round over a pipe. So was a wait for the system that ends when a write is due: a timer that is next
//! to expire has to be programmed, which virtual machines do not do themselves. A thread beside the job needs one such timer a
//! millisecond, and none where nothing is recorded.

use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::record::waiting_records::WaitingRecords;
use crate::{Event, ExecError};

/// How long records may wait for a write.
const PERIOD: Duration = Duration::from_millis(1);

/// The records of a job, with the thread that writes them.
#[derive(Debug)]
pub(super) struct WriteBehind {
    shared: Arc<Shared>,
    /// Started with the first record.
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    records: WaitingRecords,
    /// Whether the thread waits until it is told of a record.
    sleeps: bool,
    /// Why the thread could not write; the job hears of it with its next event.
    failed: Option<ExecError>,
    /// Whether nothing follows.
    ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what waits, until nothing follows.
    fn write_all(&self) {
        let mut state = self.lock();
        while !state.ended {
            let waited = self.changed.wait_timeout(state, PERIOD);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.records.is_empty() {
                // The next record begins the next period.
                state.sleeps = true;
                let waited = self.changed.wait_while(state, |s| s.sleeps && !s.ended);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            } else if let Err(error) = state.records.flush() {
                state.failed.get_or_insert(error);
            }
        }
    }
}

impl WriteBehind {
    pub(super) fn new(records: WaitingRecords) -> Self {
        let state = State {
            records,
            sleeps: false,
            failed: None,
            ended: false,
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                changed: Condvar::new(),
            }),
            thread: None,
        }
    }

    fn start(&mut self) -> Result<(), ExecError> {
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name("journal".into());
        let started = thread.spawn(move || shared.write_all());
        let failed = |e| ExecError::JournalWrite {
            path: self.shared.lock().records.path(),
            reason: format!("no thread for it: {e}"),
        };
        self.thread = Some(started.map_err(failed)?);
        Ok(())
    }

    /// Puts an event behind the others; the thread sees to it that it is written.
    pub(super) fn put(&mut self, event: &Event) -> Result<(), ExecError> {
        if self.thread.is_none() {
            self.start()?;
        }
        let mut state = self.shared.lock();
        if let Some(error) = state.failed.take() {
            return Err(error);
        }
        let put = state.records.put(event);
        if mem::take(&mut state.sleeps) {
            drop(state);
            self.shared.changed.notify_one();
        }
        put
    }

    /// Writes what is there, now.
    pub(super) fn flush(&mut self) -> Result<(), ExecError> {
        let mut state = self.shared.lock();
        match state.failed.take() {
            Some(error) => Err(error),
            None => state.records.flush(),
        }
    }
}

impl Drop for WriteBehind {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::thread;
    use std::time::{Duration, Instant};

    use iolite_derive::Criterion;

    use crate::{Event, ExecError, JournalHeader, JournalWriter, ModelRef, Sink};

    /// A journal of a real system.
    fn journal(path: &Path) -> JournalWriter {
        let sut = serde_json::json!({});
        let header = JournalHeader::new(Criterion::default(), ModelRef::default(), 1, sut);
        JournalWriter::create(path, &header).expect("it can be opened")
    }

    const STARTED: Event = Event::RunStarted { run: 0, seed: 1 };

    fn stimulus(step: u64) -> Event {
        Event::Stimulus {
            run: 0,
            step,
            action: "?a".into(),
            at: step,
        }
    }

    /// What was recorded is in the file though nobody asks for it, after pauses too.
    #[test]
    fn records_are_written_though_the_job_stands_still() {
        let folder = std::env::temp_dir().join(format!("iolite-behind-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for form in ["jsonl", "iolj"] {
            let path = folder.join(format!("j.{form}"));
            let mut journal = journal(&path);
            journal.event(&STARTED).expect("it can be written");
            let mut before = 0;
            for step in 0..5 {
                journal.event(&stimulus(step)).expect("it can be written");
                let begin = Instant::now();
                let length = || std::fs::metadata(&path).expect("the file").len();
                while length() == before {
                    assert!(
                        begin.elapsed().as_secs() < 20,
                        "step {step} was not written"
                    );
                    thread::sleep(Duration::from_millis(2));
                }
                before = length();
            }
        }
        std::fs::remove_dir_all(folder).expect("the folder");
    }

    /// A disk that is full is told with the next event, not forgotten.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_cannot_be_written_is_told() {
        let mut journal = journal(Path::new("/dev/full"));
        let started = journal.event(&STARTED);
        // The header is written at once, and fails.
        assert!(matches!(started, Err(ExecError::JournalWrite { .. })));
        let begin = Instant::now();
        let mut step = 0;
        while journal.event(&stimulus(step)).is_ok() {
            assert!(begin.elapsed().as_secs() < 20, "nobody says that it failed");
            thread::sleep(Duration::from_millis(2));
            step += 1;
        }
    }
}
