//! The process that makes the items of one campaign for one lane of a worker.
//!
//! It is the `iolite` command itself. It reads the description and then orders from standard input, a line
//! each, and writes what it makes to standard output, a line each. It ends when its input does, so that it
//! does not outlive a worker that was killed. A run that takes its tester down takes this process down, and
//! not the worker.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;

use crate::{Bounds, Description, FleetError};

/// The command that makes items.
#[derive(Clone, Debug)]
pub struct MakerSpec {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Items that are to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MakerOrder {
    /// The first.
    pub from: u64,
    /// The one after the last.
    pub to: u64,
    /// What all workers together have seen of the model, as [`Seen`](crate::Seen) writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// What all workers together have learnt of constants.
    #[serde(default, skip_serializing_if = "Bounds::is_empty")]
    pub bounds: Bounds,
}

/// Why an item came to no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MakerFault {
    /// A word for it.
    pub code: String,
    /// The exact statement.
    pub message: String,
}

/// An item that was made.
#[derive(Debug, Serialize, Deserialize)]
pub struct MadeItem {
    /// The item.
    pub item: u64,
    /// Its verdict.
    pub verdict: String,
    /// Whether that is a failing one.
    #[serde(default)]
    pub failing: bool,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<MakerFault>,
    /// Everything about it.
    pub record: Box<RawValue>,
}

/// All items of an order were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeEnd {
    /// What was seen of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// What was learnt of constants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learnt: Vec<String>,
    /// What is left of constants.
    #[serde(default, skip_serializing_if = "Bounds::is_empty")]
    pub bounds: Bounds,
}

/// What a maker says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MakerLine {
    /// An item is begun.
    Started(u64),
    /// An item was made.
    Made(MadeItem),
    /// All items of an order were made.
    End(RangeEnd),
    /// The campaign cannot be run here.
    Refused(String),
}

/// Bytes of a line.
const MOST_LINE: u64 = 160 << 20;

/// Bytes of standard error that are kept.
const MOST_LOG: usize = 4 << 10;

/// Time that a maker has to end well.
const LAST_WORDS: Duration = Duration::from_secs(3);

type Log = Arc<Mutex<VecDeque<u8>>>;

/// A maker that runs.
pub(crate) struct Maker {
    child: Child,
    input: ChildStdin,
    lines: mpsc::Receiver<Result<MakerLine, String>>,
    log: Log,
}

impl Maker {
    /// Starts it in the campaign's folder.
    pub(crate) async fn start(
        spec: &MakerSpec,
        description: &Description,
        folder: &Path,
    ) -> Result<Self, FleetError> {
        let failed = |e: &dyn std::fmt::Display| {
            FleetError::Input(format!("cannot start {}: {e}", spec.program.display()))
        };
        let mut child = Command::new(&spec.program)
            .args(&spec.arguments)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|e| failed(&e))?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed(&"no pipes"));
        };
        let (sender, lines) = mpsc::channel(64);
        tokio::spawn(read_lines(BufReader::new(output), sender));
        let log = Log::default();
        tokio::spawn(read_log(errors, Arc::clone(&log)));
        let mut maker = Self {
            child,
            input,
            lines,
            log,
        };
        let mut line = description.to_bytes()?;
        line.push(b'\n');
        maker.write(&line).await;
        Ok(maker)
    }

    /// A maker that has ended does not read; its end is seen where its lines are read.
    async fn write(&mut self, line: &[u8]) {
        if self.input.write_all(line).await.is_ok() {
            let _ = self.input.flush().await;
        }
    }

    pub(crate) async fn order(&mut self, order: &MakerOrder) {
        let mut line = serde_json::to_vec(order).unwrap_or_default();
        line.push(b'\n');
        self.write(&line).await;
    }

    /// The next line; `None` when it has ended. Nothing is lost where this is not waited for.
    pub(crate) async fn next(&mut self) -> Option<Result<MakerLine, String>> {
        self.lines.recv().await
    }

    /// Ends it, and says how it ended and what it said last.
    pub(crate) async fn end(mut self) -> String {
        if let Some(id) = self.child.id()
            && let Some(id) = rustix::process::Pid::from_raw(id.cast_signed())
        {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
        drop(self.input);
        let ended = tokio::time::timeout(LAST_WORDS, self.child.wait()).await;
        let how = match ended {
            Ok(Ok(status)) => status.to_string(),
            Ok(Err(e)) => e.to_string(),
            Err(_) => {
                let _ = self.child.kill().await;
                "it did not end by itself".to_owned()
            }
        };
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = log.iter().copied().collect();
        let said = String::from_utf8_lossy(&bytes);
        format!("{how}\n{}", said.trim()).trim_end().to_owned()
    }
}

async fn read_lines(
    mut output: BufReader<tokio::process::ChildStdout>,
    sender: mpsc::Sender<Result<MakerLine, String>>,
) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut output)
            .take(MOST_LINE)
            .read_until(b'\n', &mut line)
            .await;
        if !matches!(read, Ok(1..)) {
            return;
        }
        if line.last() != Some(&b'\n') {
            // It was killed while it wrote, or writes without end.
            return;
        }
        let parsed = serde_json::from_slice(&line).map_err(|e| e.to_string());
        let wrong = parsed.is_err();
        if sender.send(parsed).await.is_err() || wrong {
            return;
        }
    }
}

async fn read_log(mut errors: tokio::process::ChildStderr, log: Log) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.extend(&buffer[..count]);
        let more = log.len().saturating_sub(MOST_LOG);
        log.drain(..more);
    }
}
