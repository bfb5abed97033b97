//! A model that another program explores: `TorX`'s open door [IOCO99, §5], over a pipe.
//!
//! The program gives labels and the initial state, and the successors of a state on demand, as JSON lines
//! (`docs/explorers.md`). What it answered once is kept, so that everybody who shares the snapshot sees
//! the same model, and nothing is asked that nobody walks.

mod model;
mod protocol;
mod tester;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use iolite_derive::ModelRef;
use iolite_exec::{CommandLine, CommandSpec, Dialogue, DialogueError, DialogueLimits};
use iolite_lts::{Label, LabelId, LabelKind, Labels, Semantics, StateId, Step};

use crate::Error;
use protocol::{Greeting, Successors, VERSION, brief, greeting, question, read};

pub use model::ExploredModel;
pub(crate) use tester::ExploredTester;

/// How a reference to such a model begins; the rest is the command line.
pub const EXPLORE: &str = "explore:";

/// Bytes of one answer.
const LINE_BYTES: usize = 16 << 20;
/// How long one answer may take.
const ANSWER: Duration = Duration::from_secs(10);
/// Actions that there can be.
const MOST_LABELS: usize = 100_000;
/// Bytes of one state.
const STATE_BYTES: usize = 64 << 10;
/// Steps of one state.
const MOST_STEPS: usize = 100_000;
/// Bytes of states and steps that are kept.
const KEPT_BYTES: usize = 1 << 30;
/// Among so many questions, one is a question that was answered before; more among the first ones.
const ASKED_AGAIN: u64 = 64;
/// States that are asked again before a failing verdict is told.
const CONFIRMED: usize = 1000;

/// The first fault of an explorer in this process.
static FIRST_FAULT: OnceLock<ExplorerFault> = OnceLock::new();

/// The first fault of a program that explores a model, in this process. Whatever rests on models is
/// refused after it; a program whose exit code says something asks here too, so that no way to an answer
/// can forget it.
pub fn explorer_fault() -> Option<Error> {
    FIRST_FAULT.get().cloned().map(Error::from)
}

/// The command line of a reference to a model that a program explores.
pub fn explorer_command(reference: &ModelRef) -> Option<&str> {
    reference.file.as_deref()?.strip_prefix(EXPLORE)
}

/// Why nothing that rests on an explorer counts any more.
#[derive(Clone, Debug)]
pub(crate) struct ExplorerFault {
    /// Whether it is a bound that ran out, and not a fault.
    pub(crate) is_bound: bool,
    /// In words.
    pub(crate) text: String,
}

impl From<ExplorerFault> for Error {
    fn from(fault: ExplorerFault) -> Self {
        if fault.is_bound {
            Self::undecided(fault.text).hint("allow more with --max-states N")
        } else {
            Self::fault(fault.text)
        }
    }
}

/// A program that explores a model, and what it has answered so far.
pub(crate) struct Explorer {
    command: String,
    labels: Arc<Labels>,
    text: String,
    initial: StateId,
    answers: Mutex<Answers>,
    /// Whether there is a fault: every step of a run asks.
    failed: AtomicBool,
}

impl std::fmt::Debug for Explorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Explorer").field(&self.command).finish()
    }
}

struct Answers {
    dialogue: Dialogue,
    /// The text of each state, as the explorer wrote it: it is the same state where it is the same text.
    states: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, StateId>,
    /// The steps of each state, where they were asked for.
    rows: Vec<Option<Arc<[Step]>>>,
    /// The states that were asked for, in order.
    asked: Vec<StateId>,
    questions: u64,
    bytes: usize,
    most_states: usize,
    fault: Option<ExplorerFault>,
}

fn silent(text: impl Into<String>) -> ExplorerFault {
    ExplorerFault {
        is_bound: false,
        text: text.into(),
    }
}

fn beyond(text: impl Into<String>) -> ExplorerFault {
    ExplorerFault {
        is_bound: true,
        text: text.into(),
    }
}

impl Explorer {
    /// Starts the program and asks for labels and initial state.
    pub(crate) fn start(command: &str, most_states: usize) -> Result<Self, Error> {
        let argv = CommandLine::Line(command.to_owned()).words()?;
        if argv.is_empty() {
            return Err(Error::input(format!(
                "`{EXPLORE}` is followed by the command that explores the model"
            ))
            .hint(format!("as in \"{EXPLORE}python3 model.py\"")));
        }
        let spec = CommandSpec {
            argv,
            ..CommandSpec::default()
        };
        let limits = DialogueLimits {
            line_bytes: LINE_BYTES,
            answer: ANSWER,
        };
        let fault = |why: String| Error::fault(format!("{EXPLORE}{command}: {why}"));
        let asked = |error: DialogueError| fault(error.to_string());
        let mut dialogue = Dialogue::start(spec, limits).map_err(asked)?;
        let line = dialogue.ask(&greeting()).map_err(asked)?;
        let Greeting {
            explorer,
            labels,
            initial,
        } = read(&line).map_err(fault)?;
        if explorer != VERSION {
            return Err(fault(format!(
                "it speaks version {explorer} of the protocol, and {VERSION} was asked for"
            )));
        }
        let labels = Arc::new(read_labels(&labels).map_err(fault)?);
        let mut answers = Answers {
            dialogue,
            states: Vec::new(),
            numbers: HashMap::new(),
            rows: Vec::new(),
            asked: Vec::new(),
            questions: 0,
            bytes: 0,
            most_states: most_states.max(1),
            fault: None,
        };
        let initial = answers.intern(initial.get()).map_err(|f| fault(f.text))?;
        Ok(Self {
            command: command.to_owned(),
            labels,
            text: format!("{EXPLORE}{command}\n{line}\n"),
            initial,
            answers: Mutex::new(answers),
            failed: AtomicBool::new(false),
        })
    }

    /// All actions there can be.
    pub(crate) fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// The command and its first answer; nobody knows all answers.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why nothing that was answered counts any more, if so.
    pub(crate) fn fault(&self) -> Option<ExplorerFault> {
        if !self.failed.load(Ordering::Acquire) {
            return None;
        }
        self.answers().fault.clone()
    }

    /// Asks what was asked last once more, before something is claimed that rests on it.
    pub(crate) fn confirm(&self) {
        let mut answers = self.answers();
        let from = answers.asked.len().saturating_sub(CONFIRMED);
        for at in from..answers.asked.len() {
            if answers.fault.is_some() {
                return;
            }
            let state = answers.asked[at];
            self.ask_again(&mut answers, state);
        }
    }

    fn ask_again(&self, answers: &mut Answers, state: StateId) {
        let known = answers.rows[state.index()].clone();
        match answers.ask(state, &self.labels) {
            Ok(again) if known.as_deref() == Some(&*again) => {}
            Ok(_) => {
                let text = format!(
                    "it answered otherwise when it was asked once more for the successors of {}: an \
                     explorer is a function of the state",
                    brief(&answers.states[state.index()])
                );
                self.blame(answers, silent(text));
            }
            Err(fault) => self.blame(answers, fault),
        }
    }

    fn blame(&self, answers: &mut Answers, mut fault: ExplorerFault) {
        fault.text = format!("{EXPLORE}{}: {}", self.command, fault.text);
        answers.fault.get_or_insert(fault);
        if let Some(fault) = &answers.fault {
            let _ = FIRST_FAULT.set(fault.clone());
        }
        self.failed.store(true, Ordering::Release);
    }

    fn row(&self, state: StateId) -> Option<Arc<[Step]>> {
        let mut answers = self.answers();
        if let Some(row) = &answers.rows[state.index()] {
            return Some(Arc::clone(row));
        }
        if answers.fault.is_some() {
            return None;
        }
        match answers.ask(state, &self.labels) {
            Ok(row) => {
                answers.bytes += row.len() * size_of::<Step>() + size_of::<StateId>();
                answers.rows[state.index()] = Some(Arc::clone(&row));
                answers.asked.push(state);
                let questions = answers.questions;
                if questions.is_power_of_two() || questions.is_multiple_of(ASKED_AGAIN) {
                    // Any of them, but on every run the same.
                    let pick = answers.questions.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                    let at = usize::try_from(pick).unwrap_or(0) % answers.asked.len();
                    let earlier = answers.asked[at];
                    self.ask_again(&mut answers, earlier);
                }
                answers.fault.is_none().then_some(row)
            }
            Err(fault) => {
                self.blame(&mut answers, fault);
                None
            }
        }
    }
}

impl Answers {
    fn intern(&mut self, text: &str) -> Result<StateId, ExplorerFault> {
        if let Some(&known) = self.numbers.get(text) {
            return Ok(known);
        }
        if text.len() > STATE_BYTES {
            return Err(silent(format!(
                "a state has more than {STATE_BYTES} bytes: {}",
                brief(text)
            )));
        }
        if self.states.len() >= self.most_states {
            return Err(beyond(format!(
                "the model has more than {} states",
                self.most_states
            )));
        }
        // The text once, and what the tables need for it.
        self.bytes += text.len() + 64;
        if self.bytes > KEPT_BYTES {
            return Err(beyond(format!(
                "the states that were asked for take more than {} MiB",
                KEPT_BYTES >> 20
            )));
        }
        let state = StateId::new(self.states.len());
        let text: Arc<str> = text.into();
        self.numbers.insert(Arc::clone(&text), state);
        self.states.push(text);
        self.rows.push(None);
        Ok(state)
    }

    /// The steps of a state, as the program gives them now.
    fn ask(&mut self, state: StateId, labels: &Labels) -> Result<Arc<[Step]>, ExplorerFault> {
        self.questions += 1;
        let text = Arc::clone(&self.states[state.index()]);
        let line = self
            .dialogue
            .ask(&question(&text))
            .map_err(|error| silent(format!("successors of {}: {error}", brief(&text))))?;
        let Successors { successors } = read(&line)
            .map_err(|error| silent(format!("successors of {}: {error}", brief(&text))))?;
        if successors.len() > MOST_STEPS {
            return Err(silent(format!(
                "the state {} has more than {MOST_STEPS} successors",
                brief(&text)
            )));
        }
        let mut row = Vec::with_capacity(successors.len());
        for (label, target) in successors {
            let label = known_label(labels, &label)
                .map_err(|why| silent(format!("successors of {}: {why}", brief(&text))))?;
            row.push((label, self.intern(target.get())?));
        }
        Ok(row.into())
    }
}

fn read_labels(texts: &[String]) -> Result<Labels, String> {
    if texts.len() > MOST_LABELS {
        return Err(format!("it has more than {MOST_LABELS} labels"));
    }
    let mut labels = Labels::new();
    for text in texts {
        let Label { kind, name } = Label::parse(text);
        match kind {
            LabelKind::Delta => {
                return Err("`delta` is no label of a model: quiescence is computed".to_owned());
            }
            _ if text.chars().any(char::is_control) || text.is_empty() => {
                return Err(format!("`{}` is no label", brief(text)));
            }
            LabelKind::Internal => {}
            _ => {
                labels.intern(kind, &name);
            }
        }
    }
    Ok(labels)
}

fn known_label(labels: &Labels, text: &str) -> Result<LabelId, String> {
    let Label { kind, name } = Label::parse(text);
    if kind == LabelKind::Delta {
        return Err("`delta` is no label of a model: quiescence is computed".to_owned());
    }
    labels.get(kind, &name).ok_or_else(|| {
        format!(
            "the label `{}` is not among those that it named at first",
            brief(text)
        )
    })
}

/// A walk of the model; all walks share the answers.
pub struct ExploredSystem(pub(crate) Arc<Explorer>);

impl Semantics for ExploredSystem {
    type State = StateId;

    fn labels(&self) -> &Labels {
        &self.0.labels
    }

    fn initial(&self) -> StateId {
        self.0.initial
    }

    /// Nothing, once the explorer has failed: whoever walks it asks for its fault before believing.
    fn successors(&self, state: &StateId, row: &mut Vec<Step>) {
        if let Some(steps) = self.0.row(*state) {
            row.extend_from_slice(&steps);
        }
    }

    fn describe(&self, state: &StateId) -> String {
        let text = Arc::clone(&self.0.answers().states[state.index()]);
        serde_json::from_str::<String>(&text).unwrap_or_else(|_| text.to_string())
    }
}
