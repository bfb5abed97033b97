//! What was observed, on disk before anything else happens.
//!
//! One JSON document a line: a header, then the [`Event`]s. Each line is one unbuffered write, so
//! that a tester that is killed loses nothing it observed; the last line may be torn.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolite_derive::{ActionId, Context, Criterion, Step, Verdict};
use serde::{Deserialize, Serialize};

use crate::record::journal_place::{link_latest, open_locked};
use crate::{Description, Event, ExecError, ModelRef, RunId, Sink};

/// The name and version of the format.
pub const JOURNAL_FORMAT: &str = "iolite-journal/1";

/// The first line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalHeader {
    /// [`JOURNAL_FORMAT`].
    pub journal: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// What the runs are judged by.
    pub kind: Criterion,
    /// The model.
    pub model: ModelRef,
    /// What lies between tester and system.
    #[serde(default, skip_serializing_if = "Context::is_synchronous")]
    pub context: Context,
    /// Seed of the campaign.
    pub seed: u64,
    /// The description of the system under test, as it was understood.
    pub sut: serde_json::Value,
    /// The command line, for the `replay:` line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The folder in which the command was given; its paths are relative to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// What else determines the runs, and which of them are here; none in journals of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
}

impl JournalHeader {
    /// A header with format and version filled in.
    pub fn new(kind: Criterion, model: ModelRef, seed: u64, sut: serde_json::Value) -> Self {
        Self {
            journal: JOURNAL_FORMAT.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            kind,
            model,
            context: Context::default(),
            seed,
            sut,
            command: Vec::new(),
            folder: None,
            description: None,
        }
    }
}

/// Writes a journal, alone: the file is locked. What it held before is replaced when the first run has
/// started, so that a campaign whose system cannot be reached destroys nothing.
#[derive(Debug)]
pub struct JournalWriter {
    path: PathBuf,
    file: File,
    line: Vec<u8>,
    /// The header and what came before the first run started; `None` once it has.
    waiting: Option<(JournalHeader, Vec<Event>)>,
    /// Whether there was no such file before.
    is_new: bool,
}

/// Events before the first run that are kept; more runs than this that cannot be started are not listed.
const WAITING: usize = 1000;

impl JournalWriter {
    /// Opens the file. Nothing is written until a run has started.
    pub fn create(path: impl Into<PathBuf>, header: &JournalHeader) -> Result<Self, ExecError> {
        let path = path.into();
        let is_new = !path.exists();
        Ok(Self {
            file: open_locked(&path)?,
            path,
            line: Vec::new(),
            waiting: Some((header.clone(), Vec::new())),
            is_new,
        })
    }

    /// The first run has started: now the file is this journal's.
    fn begin(&mut self, header: &JournalHeader, before: &[Event]) -> Result<(), ExecError> {
        // A pipe or a device has no length.
        let is_file = self.file.metadata().is_ok_and(|m| m.is_file());
        if is_file {
            self.file.set_len(0).map_err(|e| ExecError::JournalWrite {
                path: self.path.display().to_string(),
                reason: e.to_string(),
            })?;
        }
        self.write(header)?;
        link_latest(&self.path);
        before.iter().try_for_each(|event| self.write(event))
    }

    fn write(&mut self, document: &impl Serialize) -> Result<(), ExecError> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, document)
            .map_err(std::io::Error::from)
            .and_then(|()| {
                self.line.push(b'\n');
                self.file.write_all(&self.line)
            })
            .map_err(|e| ExecError::JournalWrite {
                path: self.path.display().to_string(),
                reason: e.to_string(),
            })
    }
}

impl Sink for JournalWriter {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        if matches!(event, Event::Progress { .. }) {
            return Ok(());
        }
        if let Some((header, mut before)) = self.waiting.take() {
            if matches!(event, Event::RunStarted { .. }) {
                self.begin(&header, &before)?;
            } else {
                if before.len() < WAITING {
                    before.push(event.clone());
                }
                self.waiting = Some((header, before));
                return Ok(());
            }
        }
        self.write(event)
    }
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        // An empty file says nothing, and was not there before.
        if self.waiting.is_some() && self.is_new {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A journal that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// Its first line.
    pub header: JournalHeader,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// Whether the last line was torn: the writer was killed.
    pub torn: bool,
}

/// Bytes of one line; more is no journal.
const LINE: u64 = 64 << 20;

impl Journal {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, ExecError> {
        let file = File::open(path).map_err(|e| ExecError::LogRead {
            path: path.display().to_string(),
            line: 0,
            reason: e.to_string(),
        })?;
        Self::read_from(BufReader::new(file), &path.display().to_string())
    }

    /// Reads from anywhere; `name` is for messages.
    pub fn read_from(mut reader: impl BufRead, name: &str) -> Result<Self, ExecError> {
        let fail = |line: usize, reason: String| ExecError::LogRead {
            path: name.into(),
            line,
            reason,
        };
        let mut bytes = Vec::new();
        let mut header = None;
        let mut events = Vec::new();
        let mut torn = false;
        for number in 1.. {
            bytes.clear();
            let count = reader
                .by_ref()
                .take(LINE)
                .read_until(b'\n', &mut bytes)
                .map_err(|e| fail(number, e.to_string()))?;
            if count == 0 {
                break;
            }
            if bytes.last() != Some(&b'\n') {
                if count as u64 == LINE {
                    return Err(fail(number, format!("a line of more than {LINE} bytes")));
                }
                torn = true;
                break;
            }
            if header.is_none() {
                let first: JournalHeader = serde_json::from_slice(&bytes)
                    .map_err(|e| fail(number, format!("no journal header: {e}")))?;
                if first.journal != JOURNAL_FORMAT {
                    return Err(fail(
                        number,
                        format!("format {:?} is not {JOURNAL_FORMAT:?}", first.journal),
                    ));
                }
                header = Some(first);
            } else {
                events
                    .push(serde_json::from_slice(&bytes).map_err(|e| fail(number, e.to_string()))?);
            }
        }
        Ok(Self {
            header: header.ok_or_else(|| fail(1, "no journal header".into()))?,
            events,
            torn,
        })
    }

    /// The text of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut line = |document: serde_json::Result<Vec<u8>>| {
            // Headers and events are plain data, which JSON has.
            bytes.extend(document.unwrap_or_default());
            bytes.push(b'\n');
        };
        line(serde_json::to_vec(&self.header));
        for event in &self.events {
            line(serde_json::to_vec(event));
        }
        bytes
    }

    /// The runs, in the order they started.
    pub fn runs(&self) -> impl Iterator<Item = RunId> + '_ {
        self.events.iter().filter_map(|event| match event {
            Event::RunStarted { run, seed } => Some(RunId {
                number: *run,
                seed: *seed,
            }),
            _ => None,
        })
    }

    /// The first run with a failing verdict, else the first flaky one, else the last one that started:
    /// what a replay without a number is about.
    pub fn run_of_interest(&self) -> Option<RunId> {
        let first = |bad: fn(Verdict) -> bool| {
            self.events.iter().find_map(|event| match event {
                Event::RunEnded { run, verdict, .. } if bad(*verdict) => Some(*run),
                _ => None,
            })
        };
        match first(Verdict::is_failing).or_else(|| first(|v| v == Verdict::Flaky)) {
            Some(number) => self.runs().find(|id| id.number == number),
            None => self.runs().last(),
        }
    }

    /// The steps of a run, in `?a`, `!x`, `delta`, `deadlock` notation.
    pub fn texts(&self, number: u64) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::Stimulus { run, action, .. } | Event::Output { run, action, .. }
                    if *run == number =>
                {
                    Some(action.as_str())
                }
                Event::Quiescence { run, .. } if *run == number => Some("delta"),
                Event::Deadlock { run, .. } if *run == number => Some("deadlock"),
                _ => None,
            })
            .collect()
    }

    /// Whether the system ended in the middle of this run.
    pub fn crashed(&self, number: u64) -> bool {
        let crash = |e: &Event| matches!(e, Event::Crash { run, .. } if *run == number);
        self.events.iter().any(crash)
    }

    /// How long was waited before the stimuli of a run, by the number of the step.
    pub fn pauses(&self, number: u64) -> BTreeMap<u64, Duration> {
        let pause = |e: &Event| match e {
            Event::Pause { run, step, length } if *run == number => {
                Some((*step, Duration::from_micros(*length)))
            }
            _ => None,
        };
        self.events.iter().filter_map(pause).collect()
    }

    /// For each step of a run, whether it is an output that came before a stimulus.
    pub fn preempting(&self, number: u64) -> Vec<bool> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::Output { run, preempted, .. } if *run == number => Some(preempted.is_some()),
                Event::Stimulus { run, .. }
                | Event::Quiescence { run, .. }
                | Event::Deadlock { run, .. }
                    if *run == number =>
                {
                    Some(false)
                }
                _ => None,
            })
            .collect()
    }

    /// The steps of a run as actions, which `parse` reads.
    pub fn steps(
        &self,
        number: u64,
        parse: &dyn Fn(&str) -> Option<ActionId>,
    ) -> Result<Vec<Step>, ExecError> {
        self.texts(number)
            .into_iter()
            .map(|text| {
                Step::parse(text, parse).ok_or_else(|| ExecError::LogRead {
                    path: "journal".into(),
                    line: 0,
                    reason: format!("the model does not know action {text}"),
                })
            })
            .collect()
    }
}
