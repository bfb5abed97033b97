//! Tests that run while somebody looks: a process each, its events in the order they came, and orders.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin};
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};

use crate::command::{Ask, Commands};
use crate::refusal::Refusal;

/// Tests that run at the same time, and those that are remembered.
const AT_ONCE: usize = 4;
const REMEMBERED: usize = 20;

/// Events that are kept of a test; whoever comes late, or reads slowly, is told how many are missing.
const KEPT: usize = 20_000;

/// Events of one message, and the time between two messages: a test in process makes more events than a
/// page can draw.
const BATCH: usize = 400;
const BETWEEN: Duration = Duration::from_millis(40);

/// How long a test may take to end well.
const PATIENCE: Duration = Duration::from_secs(8);

/// Bytes of what a test says on standard error that are kept.
const MOST_SAID: u64 = 1 << 20;

/// One test.
#[derive(Debug, Default)]
struct Record {
    /// Number of the first event that is kept.
    first: u64,
    events: VecDeque<String>,
    /// How the process ended.
    ended: Option<String>,
    process: Option<i32>,
}

#[derive(Debug, Default)]
struct LiveTest {
    record: Mutex<Record>,
    /// Something was added.
    news: Notify,
    orders: Mutex<Option<mpsc::Sender<String>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LiveTest {
    fn add(&self, event: String) {
        let mut record = lock(&self.record);
        if record.events.len() == KEPT {
            record.events.pop_front();
            record.first += 1;
        }
        record.events.push_back(event);
        drop(record);
        self.news.notify_waiters();
    }

    fn end(&self, how: String) {
        let mut record = lock(&self.record);
        (record.ended, record.process) = (Some(how), None);
        drop(record);
        *lock(&self.orders) = None;
        self.news.notify_waiters();
    }

    fn is_running(&self) -> bool {
        lock(&self.record).ended.is_none()
    }

    fn terminate(&self) {
        let process = lock(&self.record).process;
        if let Some(process) = process.and_then(Pid::from_raw) {
            let _ = kill_process(process, Signal::TERM);
        }
    }

    /// The next message for a reader that has all events before `from`.
    fn message(&self, from: u64) -> Option<(u64, String)> {
        let record = lock(&self.record);
        let at = from.max(record.first);
        let have = usize::try_from(at - record.first).unwrap_or(usize::MAX);
        let events: Vec<&str> = record
            .events
            .iter()
            .skip(have)
            .take(BATCH)
            .map(String::as_str)
            .collect();
        let next = at + events.len() as u64;
        let all = next == record.first + record.events.len() as u64;
        let ended = record.ended.as_deref().filter(|_| all);
        if events.is_empty() && ended.is_none() {
            return None;
        }
        let text = format!(
            "{{\"next\":{next},\"skipped\":{},\"events\":[{}],\"ended\":{}}}",
            at - from,
            events.join(","),
            ended.unwrap_or("null")
        );
        Some((next, text))
    }
}

/// The tests of a server.
#[derive(Debug, Default)]
pub(crate) struct LiveTests {
    tests: Mutex<(u64, BTreeMap<u64, Arc<LiveTest>>)>,
}

impl LiveTests {
    fn get(&self, id: u64) -> Result<Arc<LiveTest>, Refusal> {
        let tests = lock(&self.tests);
        let test = tests.1.get(&id).cloned();
        test.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, format!("there is no test {id}")))
    }

    /// Starts a test; its number.
    pub(crate) fn start(&self, commands: &Commands, ask: &Ask) -> Result<u64, Refusal> {
        let mut tests = lock(&self.tests);
        let running = tests.1.values().filter(|test| test.is_running()).count();
        if running >= AT_ONCE {
            return Err(Refusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                format!("{running} tests are running; stop one first"),
            ));
        }
        let failed = |what: &str| {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            Refusal::new(status, format!("{}: {what}", ask.line()))
        };
        let mut child = commands.process(ask).spawn();
        let child_of = child.as_mut().map_err(|e| failed(&e.to_string()))?;
        let stdin = child_of.stdin.take().ok_or_else(|| failed("no pipe"))?;
        let test = Arc::new(LiveTest::default());
        lock(&test.record).process = child_of.id().and_then(|id| i32::try_from(id).ok());
        let (orders, received) = mpsc::channel(64);
        *lock(&test.orders) = Some(orders);
        let child = child.map_err(|e| failed(&e.to_string()))?;
        tokio::spawn(follow(Arc::clone(&test), child));
        tokio::spawn(pass_on(received, stdin));
        tests.0 += 1;
        let id = tests.0;
        tests.1.insert(id, test);
        while tests.1.len() > REMEMBERED {
            let old = tests.1.iter().find(|(_, test)| !test.is_running());
            let Some(old) = old.map(|(&id, _)| id) else {
                break;
            };
            tests.1.remove(&old);
        }
        Ok(id)
    }

    /// Passes an order on.
    pub(crate) fn order(&self, id: u64, order: &str) -> Result<(), Refusal> {
        if order.contains(['\n', '\r']) || order.len() > 4096 {
            return Err(Refusal::request("an order is one line"));
        }
        let test = self.get(id)?;
        let orders = lock(&test.orders).clone();
        let gone = || Refusal::new(StatusCode::CONFLICT, format!("test {id} has ended"));
        let orders = orders.ok_or_else(gone)?;
        orders
            .try_send(format!("{order}\n"))
            .map_err(|_| Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many orders at once"))?;
        if order == "stop" {
            // A test that waits for its system ends at a signal at the latest.
            tokio::spawn(async move {
                sleep(PATIENCE).await;
                test.terminate();
            });
        }
        Ok(())
    }

    /// Messages about a test, from an event on, until it has ended or nobody reads them.
    pub(crate) fn messages(&self, id: u64, from: u64) -> Result<mpsc::Receiver<String>, Refusal> {
        let test = self.get(id)?;
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(async move {
            let mut from = from;
            loop {
                let news = test.news.notified();
                let Some((next, message)) = test.message(from) else {
                    // Whoever went away is noticed also where nothing happens, and news between the look and
                    // the wait a little later.
                    tokio::select! {
                        () = sender.closed() => return,
                        () = news => continue,
                        () = sleep(Duration::from_millis(500)) => continue,
                    }
                };
                let last = !message.ends_with("\"ended\":null}");
                if sender.send(message).await.is_err() || last {
                    return;
                }
                from = next;
                sleep(BETWEEN).await;
            }
        });
        Ok(receiver)
    }

    /// Ends what runs, well where that goes.
    pub(crate) async fn end_all(&self) {
        let tests: Vec<_> = lock(&self.tests).1.values().cloned().collect();
        for test in &tests {
            test.terminate();
        }
        let all = async {
            while tests.iter().any(|test| test.is_running()) {
                sleep(Duration::from_millis(20)).await;
            }
        };
        // What is left is killed when its process is dropped.
        let _ = timeout(PATIENCE, all).await;
    }
}

/// Writes orders to the process until it has ended.
async fn pass_on(mut orders: mpsc::Receiver<String>, mut stdin: ChildStdin) {
    while let Some(order) = orders.recv().await {
        if stdin.write_all(order.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Takes the events of a process until it has ended.
async fn follow(test: Arc<LiveTest>, mut child: Child) {
    let said = child.stderr.take().map(|stderr| {
        tokio::spawn(async move {
            let mut text = Vec::new();
            let mut stderr = stderr.take(MOST_SAID);
            let _ = stderr.read_to_end(&mut text).await;
            // The rest is read and dropped, so that the process is not blocked.
            let mut rest = stderr.into_inner();
            let _ = tokio::io::copy(&mut rest, &mut tokio::io::sink()).await;
            String::from_utf8_lossy(&text).into_owned()
        })
    });
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            // Events are our own command's, and yet only JSON gets into a message.
            if serde_json::from_str::<serde::de::IgnoredAny>(&line).is_ok() {
                test.add(line);
            }
        }
    }
    let status = child.wait().await;
    let said = match said {
        Some(said) => said.await.unwrap_or_default(),
        None => String::new(),
    };
    let exit = status.ok().and_then(|status| status.code());
    test.end(json!({ "exit": exit, "said": said }).to_string());
}
