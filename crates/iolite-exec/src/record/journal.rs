//! What was observed, on disk before anything else happens.
//!
//! One JSON document a line: a header, then the [`Event`]s; the last line may be torn. Or a few bytes an event, see
//! [`COMPACT_FORMAT`]. In either form events are put together by each job and written with the verdict of the run at the latest.
//! Where a real system is tested a thread of each job writes them a millisecond after they came at the latest (`write_behind.rs`). So a
//! tester that is killed loses no run that had a verdict, and of one without it what came in the last millisecond.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use iolite_derive::{ActionId, Channel, Context, Criterion, Step, Verdict};
use serde::{Deserialize, Serialize};

use crate::record::compact_journal::COMPACT_FORMAT;
use crate::record::compact_lines::journal_lines;
use crate::record::journal_place::{link_latest, open_locked};
use crate::record::waiting_records::WaitingRecords;
use crate::record::write_behind::WriteBehind;
use crate::{Description, Event, ExecError, ModelRef, RunId, Sink};

/// The name and version of the format.
pub(crate) const JOURNAL_FORMAT: &str = "iolite-journal/1";

/// The first line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalHeader {
    /// The name and version of the format.
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
    /// The channels, where there are several or one loses or reorders messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Channel>,
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
    /// The texts of models, properties and test cases, so that the claims of failing runs can be looked
    /// at again when the files are other ones; none where they are too long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelText>,
}

/// A file that runs were judged by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelText {
    /// Its path, as the command named it.
    pub path: String,
    /// Its text.
    pub text: String,
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
            channels: Vec::new(),
            seed,
            sut,
            command: Vec::new(),
            folder: None,
            description: None,
            models: Vec::new(),
        }
    }
}

/// How a journal is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalForm {
    /// A line of JSON an event.
    JsonLines,
    /// A few bytes a step; see [`COMPACT_FORMAT`].
    Compact,
}

/// How names of files in the compact form end.
pub const COMPACT_ENDING: &str = "iolj";

impl JournalForm {
    /// How names of files in this form end.
    pub fn ending(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            Self::Compact => COMPACT_ENDING,
        }
    }

    /// The form that the name of a file asks for.
    pub(crate) fn of_path(path: &Path) -> Self {
        if path.extension().is_some_and(|e| e == COMPACT_ENDING) {
            Self::Compact
        } else {
            Self::JsonLines
        }
    }
}

/// Events before the first run that are kept; more runs than this that cannot be started are not listed.
const WAITING: usize = 1000;

/// The file of a journal, which jobs write in turn.
#[derive(Debug)]
pub(super) struct JournalFile {
    pub(super) path: PathBuf,
    pub(super) form: JournalForm,
    /// Whether a real system is tested, which may hang, or take the tester or the machine down with it.
    is_real: bool,
    state: Mutex<FileState>,
}

#[derive(Debug)]
struct FileState {
    file: File,
    /// The header and what came before the first run started; `None` once it has.
    waiting: Option<(JournalHeader, Vec<Event>)>,
    /// Whether there was no such file before.
    is_new: bool,
    /// Streams that were given to jobs.
    streams: u32,
}

impl JournalFile {
    fn lock(&self) -> MutexGuard<'_, FileState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), ExecError> {
        self.lock().file.write_all(bytes).map_err(|e| self.fail(e))
    }

    pub(super) fn fail(&self, e: impl std::fmt::Display) -> ExecError {
        ExecError::JournalWrite {
            path: self.path.display().to_string(),
            reason: e.to_string(),
        }
    }

    /// Whether the first run has started, with this event at the latest. What came before is written
    /// then, and kept until then.
    fn has_begun(&self, event: &Event) -> Result<Option<Vec<Event>>, ExecError> {
        let mut state = self.lock();
        let Some((header, mut before)) = state.waiting.take() else {
            return Ok(Some(Vec::new()));
        };
        if !matches!(event, Event::RunStarted { .. }) {
            if before.len() < WAITING {
                before.push(event.clone());
            }
            state.waiting = Some((header, before));
            return Ok(None);
        }
        // A pipe or a device has no length.
        let is_file = state.file.metadata().is_ok_and(|m| m.is_file());
        if is_file {
            state.file.set_len(0).map_err(|e| self.fail(e))?;
        }
        let mut start = Vec::new();
        if self.form == JournalForm::Compact {
            start.extend_from_slice(COMPACT_FORMAT.as_bytes());
            start.push(b'\n');
        }
        serde_json::to_writer(&mut start, &header).map_err(|e| self.fail(e))?;
        start.push(b'\n');
        state.file.write_all(&start).map_err(|e| self.fail(e))?;
        link_latest(&self.path);
        Ok(Some(before))
    }
}

/// Writes the events of one job.
#[derive(Debug)]
struct JobJournal {
    file: Arc<JournalFile>,
    has_begun: bool,
    records: Records,
}

/// Who writes the records of a job.
#[derive(Debug)]
enum Records {
    /// The job, with its verdicts and now and then: a model that plays the system takes nothing down.
    Alone(Box<WaitingRecords>),
    /// A thread beside it.
    Behind(WriteBehind),
}

impl JobJournal {
    fn new(file: &Arc<JournalFile>) -> Self {
        let mut state = file.lock();
        let stream = state.streams;
        state.streams += 1;
        drop(state);
        let records = WaitingRecords::new(Arc::clone(file), stream);
        Self {
            file: Arc::clone(file),
            has_begun: false,
            records: if file.is_real {
                Records::Behind(WriteBehind::new(records))
            } else {
                Records::Alone(Box::new(records))
            },
        }
    }

    #[inline]
    fn put(&mut self, event: &Event) -> Result<(), ExecError> {
        match &mut self.records {
            Records::Alone(records) => records.put(event),
            Records::Behind(records) => records.put(event),
        }
    }

    /// Puts what is no step, or comes before the first run.
    #[cold]
    fn put_rarely(&mut self, event: &Event) -> Result<(), ExecError> {
        if matches!(event, Event::Progress { .. }) {
            return Ok(());
        }
        if !self.has_begun {
            let Some(before) = self.file.has_begun(event)? else {
                return Ok(());
            };
            self.has_begun = true;
            before.iter().try_for_each(|event| self.put(event))?;
        }
        self.put(event)
    }
}

impl Sink for JobJournal {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        if self.has_begun && event.is_step() {
            self.put(event)
        } else {
            self.put_rarely(event)
        }
    }

    fn write_now(&mut self) -> Result<(), ExecError> {
        match &mut self.records {
            Records::Alone(_) => Ok(()),
            Records::Behind(records) => records.flush(),
        }
    }
}

impl Drop for JobJournal {
    fn drop(&mut self) {
        // A run that was given up; it has no verdict.
        let _ = match &mut self.records {
            Records::Alone(records) => records.flush(),
            Records::Behind(records) => records.flush(),
        };
    }
}

/// Writes a journal, alone: the file is locked. What it held before is replaced when the first run has
/// started, so that a campaign whose system cannot be reached destroys nothing.
#[derive(Debug)]
pub struct JournalWriter {
    file: Arc<JournalFile>,
    own: JobJournal,
    /// Jobs write for themselves; only what is about all of them comes here.
    is_split: bool,
}

impl JournalWriter {
    /// Opens the file, in the form that its name asks for. Nothing is written until a run has started.
    pub fn create(path: impl Into<PathBuf>, header: &JournalHeader) -> Result<Self, ExecError> {
        let path = path.into();
        let is_new = !path.exists();
        let file = Arc::new(JournalFile {
            form: JournalForm::of_path(&path),
            is_real: header.sut.get("model").is_none(),
            state: Mutex::new(FileState {
                file: open_locked(&path)?,
                waiting: Some((header.clone(), Vec::new())),
                is_new,
                streams: 0,
            }),
            path,
        });
        Ok(Self {
            own: JobJournal::new(&file),
            file,
            is_split: false,
        })
    }
}

impl Sink for JournalWriter {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        if self.is_split && !matches!(event, Event::CampaignEnded { .. }) {
            return Ok(());
        }
        self.own.event(event)
    }

    fn write_now(&mut self) -> Result<(), ExecError> {
        self.own.write_now()
    }

    fn wants_steps(&self) -> bool {
        !self.is_split
    }

    fn for_job(&mut self) -> Option<Box<dyn Sink + Send>> {
        self.is_split = true;
        Some(Box::new(JobJournal::new(&self.file)))
    }
}

impl Drop for JournalWriter {
    fn drop(&mut self) {
        // An empty file says nothing, and was not there before.
        let state = self.file.lock();
        if state.waiting.is_some() && state.is_new {
            let _ = std::fs::remove_file(&self.file.path);
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

    /// Reads either form from anywhere; `name` is for messages.
    pub fn read_from(reader: impl BufRead, name: &str) -> Result<Self, ExecError> {
        let fail = |line: usize, reason: String| ExecError::LogRead {
            path: name.into(),
            line,
            reason,
        };
        let mut reader = journal_lines(reader).map_err(|e| fail(1, e.to_string()))?;
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
