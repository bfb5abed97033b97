//! Mutants against the model, on the fly.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use iolite::{
    Campaign, Channel, Context, Error, Judge, JudgeOptions, ModelRef, QueueOptions, Selection,
    SelectionOptions, SystemUnderTest, Verdict, Workspace,
};

use crate::Driver;

/// How mutants are tested.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Seeds 0, 1, …: each a run of its own.
    pub seeds: u64,
    /// The most test events of one run.
    pub events: u64,
    /// Towards what no run has seen yet, instead of uniformly at random.
    pub coverage: bool,
    /// What lies between tester and entity.
    pub context: Context,
}

/// The model of what is tested.
pub(crate) fn node(model: &Path) -> ModelRef {
    ModelRef::file(model).with_name("Node")
}

/// The two access points: order is kept at each, and not between them.
fn access_points() -> Arc<[Channel]> {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let channel = |name: &str, inputs: &[&str], outputs: &[&str]| Channel {
        name: name.to_owned(),
        inputs: names(inputs),
        outputs: names(outputs),
        ..Channel::default()
    };
    Arc::new([
        channel("user", &["join", "say", "leave"], &["heard"]),
        channel(
            "network",
            &["joinFrom", "answerFrom", "dataFrom", "leaveFrom"],
            &["joinTo", "answerTo", "dataTo", "leaveTo"],
        ),
    ])
}

/// What one run came to.
#[derive(Clone, Debug)]
pub struct Detection {
    /// The test events up to the failing one, it included; `None` for a run that passed.
    pub events: Option<u64>,
    /// What was seen, and what was allowed.
    pub failure: Option<String>,
}

/// What all runs against one implementation came to.
#[derive(Clone, Debug)]
pub struct Row {
    /// One for each seed.
    pub runs: Vec<Detection>,
    /// How long they took together.
    pub time: Duration,
}

impl Row {
    /// The events of the runs that failed, in order.
    pub fn detected(&self) -> Vec<u64> {
        let mut events: Vec<u64> = self.runs.iter().filter_map(|r| r.events).collect();
        events.sort_unstable();
        events
    }

    /// Whether some run failed.
    pub fn fails(&self) -> bool {
        self.runs.iter().any(|r| r.events.is_some())
    }

    /// The median of the events up to the failure, runs without one counted as longer than all others.
    pub fn median(&self) -> Option<u64> {
        let events = self.detected();
        let middle = self.runs.len().saturating_sub(1) / 2;
        events.get(middle).copied()
    }
}

impl Experiment {
    /// Tests one implementation over UDP against the model.
    pub fn row(&self, model: &Path, fault: u8) -> Result<Row, Error> {
        let io = |e| Error::fault(format!("loopback: {e}"));
        let workspace = Workspace::new();
        let begin = Instant::now();
        let runs = (0..self.seeds)
            .map(|seed| self.run(&workspace, model, seed, Driver::new(fault).map_err(io)?))
            .collect::<Result<_, Error>>()?;
        Ok(Row {
            runs,
            time: begin.elapsed(),
        })
    }

    fn run(
        &self,
        workspace: &Workspace,
        model: &Path,
        seed: u64,
        system: impl SystemUnderTest<String>,
    ) -> Result<Detection, Error> {
        let options = JudgeOptions {
            // The data are small; unfolded, a step is one look-up.
            unfold: Some("the experiment"),
            seed,
            queues: (self.context == Context::Queues).then(|| QueueOptions {
                channels: access_points(),
                ..QueueOptions::default()
            }),
            ..JudgeOptions::default()
        };
        let judge = Judge::new(workspace, &node(model), &options)?;
        let selection = if self.coverage {
            Selection::Coverage
        } else {
            Selection::Uniform
        };
        let campaign = Campaign::new(judge)
            .runs(1)
            .steps(self.events)
            .seed(seed)
            .selection(SelectionOptions {
                selection,
                ..SelectionOptions::default()
            });
        let summary = campaign.run_in_process(system)?;
        match summary.failures.values().next() {
            Some(certificate) => Ok(Detection {
                events: Some(summary.steps),
                failure: Some(format!(
                    "{} after {}",
                    certificate.observed.as_deref().unwrap_or("?"),
                    certificate.trace.join(" ")
                )),
            }),
            None if summary.verdict() == Some(Verdict::Pass) => Ok(Detection {
                events: None,
                failure: None,
            }),
            None => Err(Error::undecided("a run came to no verdict")),
        }
    }
}
