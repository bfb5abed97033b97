//! The one stream that journal, console, reports and web page read.

use std::collections::BTreeMap;

use iolite_derive::{Notice, Verdict};
use serde::{Deserialize, Serialize};

use crate::{ActionText, Certificate, Confirmation, Coverage, ExecError, Exit, Traffic};

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The tester came to its verdict.
    Tester,
    /// The strategy chose to stop where the tester allowed it.
    Stopped,
    /// The strategy has nothing left to try: a script is at its end or cannot be followed.
    Finished,
    /// Neither a stimulus nor an observation was possible.
    NothingToDo,
    /// The limit on steps.
    StepLimit,
    /// The limit on time.
    TimeLimit,
    /// The coverage that was asked for is reached.
    Coverage,
    /// The system under test ended, and the tester had no verdict for that.
    SystemEnded,
}

/// Something that happened. Times are microseconds since the run, or for the last event since the
/// campaign, began; runs and steps count from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "event",
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case"
)]
pub enum Event {
    /// A run starts; the system under test has been started or reset.
    RunStarted {
        /// Number of the run.
        run: u64,
        /// Its seed.
        seed: u64,
    },
    /// A stimulus is about to be given. It is written ahead: if the tester dies while sending, the
    /// journal knows of it.
    Stimulus {
        /// Number of the run.
        run: u64,
        /// Number of the step.
        step: u64,
        /// The action.
        action: ActionText,
        /// When.
        at: u64,
    },
    /// Time passes before the stimulus of this step, because the pace says so.
    Pause {
        /// Number of the run.
        run: u64,
        /// Number of the step.
        step: u64,
        /// How long, in microseconds, unless an output comes first.
        length: u64,
    },
    /// An output was seen.
    Output {
        /// Number of the run.
        run: u64,
        /// Number of the step.
        step: u64,
        /// The action.
        action: ActionText,
        /// When.
        at: u64,
        /// The stimulus that was to be given when the output came first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        preempted: Option<String>,
        /// More about it: the bytes of an undecodable message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// No output came in time.
    Quiescence {
        /// Number of the run.
        run: u64,
        /// Number of the step.
        step: u64,
        /// When.
        at: u64,
        /// How long was waited, in microseconds.
        patience: u64,
    },
    /// Bytes of the step of this number: the message of a stimulus follows its event, that of an output
    /// comes before it. Bytes after the last step have the number of steps.
    Bytes {
        /// Number of the run.
        run: u64,
        /// Number of the step.
        step: u64,
        /// When they were sent or read.
        at: u64,
        /// The bytes.
        #[serde(flatten)]
        traffic: Traffic,
    },
    /// The system under test had ended.
    Deadlock {
        /// Number of the run.
        run: u64,
        /// Number of the step.
        step: u64,
        /// When.
        at: u64,
        /// How.
        exit: Exit,
    },
    /// The system under test ended in the middle of the run, which is the result `crash`.
    Crash {
        /// Number of the run.
        run: u64,
        /// Steps that were taken before.
        step: u64,
        /// When.
        at: u64,
        /// How.
        exit: Exit,
    },
    /// A failing run was repeated before it counts.
    Confirmation {
        /// Number of the run.
        run: u64,
        /// Which repetition, from 1.
        attempt: u32,
        /// How long was waited where the run had failed by silence, in microseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patience: Option<u64>,
        /// What the repetition says of the failure.
        result: Confirmation,
        /// What was seen instead of what was recorded, where that differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
    },
    /// A sign of life, a few a second.
    Progress {
        /// Number of the run.
        run: u64,
        /// Steps of this run.
        steps: u64,
        /// What has been covered so far.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        coverage: Option<Coverage>,
    },
    /// Something that a run found out and that no verdict tells.
    Notice {
        /// Number of the run.
        run: u64,
        /// Which kind: untried, guessed, undecided, learnt, solver-fault or lookahead-bound.
        kind: String,
        /// In words.
        message: String,
    },
    /// A run came to its verdict.
    RunEnded {
        /// Number of the run.
        run: u64,
        /// The verdict.
        verdict: Verdict,
        /// Why it ended.
        end: End,
        /// Its steps.
        steps: u64,
        /// How long it took.
        elapsed: u64,
        /// The proof of a failing verdict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        certificate: Option<Box<Certificate>>,
        /// The verdict of each goal or property by itself, where there are several.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        results: BTreeMap<String, Verdict>,
    },
    /// A run came to no verdict: the infrastructure failed.
    Fault {
        /// Number of the run.
        run: u64,
        /// Its steps so far.
        steps: u64,
        /// [`ExecError::code`].
        code: String,
        /// The exact statement.
        message: String,
    },
    /// All runs are done.
    CampaignEnded {
        /// How often each verdict was seen.
        verdicts: BTreeMap<Verdict, u64>,
        /// Runs without a verdict.
        faults: u64,
        /// Steps of all runs.
        steps: u64,
        /// How long all of it took.
        elapsed: u64,
        /// Inputs that no values were found for somewhere.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        untried: Vec<String>,
    },
}

impl Event {
    /// The run that it is of; the end of a campaign is of none.
    pub fn run(&self) -> Option<u64> {
        match self {
            Self::RunStarted { run, .. }
            | Self::Stimulus { run, .. }
            | Self::Pause { run, .. }
            | Self::Output { run, .. }
            | Self::Quiescence { run, .. }
            | Self::Bytes { run, .. }
            | Self::Deadlock { run, .. }
            | Self::Crash { run, .. }
            | Self::Confirmation { run, .. }
            | Self::Progress { run, .. }
            | Self::Notice { run, .. }
            | Self::RunEnded { run, .. }
            | Self::Fault { run, .. } => Some(*run),
            Self::CampaignEnded { .. } => None,
        }
    }

    /// Whether nothing follows of its run.
    pub(crate) fn ends_run(&self) -> bool {
        matches!(self, Self::RunEnded { .. } | Self::Fault { .. })
    }

    /// Whether it is a stimulus, an observation, the bytes of one, or a pause before one.
    pub(crate) fn is_step(&self) -> bool {
        matches!(
            self,
            Self::Stimulus { .. }
                | Self::Pause { .. }
                | Self::Output { .. }
                | Self::Quiescence { .. }
                | Self::Bytes { .. }
                | Self::Deadlock { .. }
        )
    }

    /// The event of a notice; `None` where the steps of the run say it already.
    pub(crate) fn notice(run: u64, notice: &Notice) -> Option<Self> {
        let (kind, message) = match notice {
            Notice::Tried { .. } | Notice::Values(_) => return None,
            Notice::Untried { input, reason } => ("untried", format!("?{input}: {reason}")),
            Notice::Guessed { input } => ("guessed", format!("?{input}")),
            Notice::Undecided(why) => ("undecided", why.reason.to_string()),
            Notice::Learnt(condition) => ("learnt", condition.to_string()),
            Notice::Crossed { input } => ("crossed", input.clone()),
            Notice::LeftGoal(reason) => ("left-goal", reason.clone()),
            Notice::SolverFault(why) => ("solver-fault", why.clone()),
            Notice::ModelFault(why) => ("model-fault", why.clone()),
            Notice::NotRepeated => ("not-repeated", String::new()),
            Notice::LookaheadBound => ("lookahead-bound", String::new()),
        };
        Some(Self::Notice {
            run,
            kind: kind.to_owned(),
            message,
        })
    }
}

/// A reader of events.
pub trait Sink {
    /// Takes an event. An error ends the run: nothing goes on unrecorded.
    fn event(&mut self, event: &Event) -> Result<(), ExecError>;

    /// What must survive the end of this process is written now: a system within it is about to be asked, which may end it.
    fn write_now(&mut self) -> Result<(), ExecError> {
        Ok(())
    }

    /// Nothing follows: what can only be written as a whole is written now.
    fn finish(&mut self) -> Result<(), ExecError> {
        Ok(())
    }

    /// Whether stimuli and observations are wanted too. Where nobody wants them they are not made,
    /// and a run in process costs no allocation a step.
    fn wants_steps(&self) -> bool {
        true
    }

    /// A reader of the events of one job alone, steps included, which the job gives them to without a lock. From then on
    /// this one passes over events of jobs.
    fn for_job(&mut self) -> Option<Box<dyn Sink + Send>> {
        None
    }
}

/// Nobody reads.
impl Sink for () {
    fn event(&mut self, _: &Event) -> Result<(), ExecError> {
        Ok(())
    }

    fn wants_steps(&self) -> bool {
        false
    }
}

impl Sink for Vec<Event> {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        self.push(event.clone());
        Ok(())
    }
}

impl<K: Sink + ?Sized> Sink for Box<K> {
    #[inline]
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        (**self).event(event)
    }

    fn write_now(&mut self) -> Result<(), ExecError> {
        (**self).write_now()
    }

    fn finish(&mut self) -> Result<(), ExecError> {
        (**self).finish()
    }

    #[inline]
    fn wants_steps(&self) -> bool {
        (**self).wants_steps()
    }

    fn for_job(&mut self) -> Option<Box<dyn Sink + Send>> {
        (**self).for_job()
    }
}

impl<K: Sink + ?Sized> Sink for &mut K {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        (**self).event(event)
    }

    fn write_now(&mut self) -> Result<(), ExecError> {
        (**self).write_now()
    }

    fn finish(&mut self) -> Result<(), ExecError> {
        (**self).finish()
    }

    fn wants_steps(&self) -> bool {
        (**self).wants_steps()
    }

    fn for_job(&mut self) -> Option<Box<dyn Sink + Send>> {
        (**self).for_job()
    }
}

/// Several readers; the first, which should be the journal, gets each event first.
#[derive(Default)]
pub struct Fanout<'a>(pub Vec<Box<dyn Sink + Send + 'a>>);

impl Sink for Fanout<'_> {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        let is_step = event.is_step();
        // Each reader gets the event, whatever became of another one.
        let mut result = Ok(());
        self.0.retain_mut(|sink| {
            if is_step && !sink.wants_steps() {
                return true;
            }
            let read = sink.event(event);
            // A report with a hole in it is none: its sink is dropped.
            let stays = !matches!(read, Err(ExecError::Report(_)));
            // The journal's fault is the one that ends a run.
            if !matches!(result, Err(ExecError::JournalWrite { .. })) && read.is_err() {
                result = read;
            }
            stays
        });
        result
    }

    fn write_now(&mut self) -> Result<(), ExecError> {
        let mut result = Ok(());
        for sink in &mut self.0 {
            result = result.and(sink.write_now());
        }
        result
    }

    fn finish(&mut self) -> Result<(), ExecError> {
        let mut result = Ok(());
        for sink in &mut self.0 {
            result = result.and(sink.finish());
        }
        result
    }

    fn wants_steps(&self) -> bool {
        self.0.iter().any(Sink::wants_steps)
    }

    /// The journal's, which is the first.
    fn for_job(&mut self) -> Option<Box<dyn Sink + Send>> {
        self.0.first_mut()?.for_job()
    }
}
