//! Mutants against the model, on the fly.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use iolite::{
    Campaign, Channel, Context, Error, Judge, JudgeOptions, ModelRef, QueueOptions, Selection,
    SelectionOptions, SystemUnderTest, Verdict, Workspace,
};

use crate::{Driver, InStep};

/// How mutants are tested.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Seeds 0, 1, …: each a campaign of its own.
    pub seeds: u64,
    /// Runs with one seed, until one fails. A run ends early where an input may have crossed an output and
    /// have been taken unspecified: nothing can fail any more then.
    pub runs: u64,
    /// The most test events of one run.
    pub steps: u64,
    /// Towards what no run has seen yet, instead of uniformly at random.
    pub coverage: bool,
    /// Through queues, over UDP; or in step with the entity, without sockets.
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

/// What the runs with one seed came to.
#[derive(Clone, Debug)]
pub struct Detection {
    /// The test events of all of them, up to the failing one, it included.
    pub events: u64,
    /// What was seen, and what was allowed.
    pub failure: Option<String>,
}

/// What all seeds came to with one implementation.
#[derive(Clone, Debug)]
pub struct Row {
    /// One for each seed.
    pub seeds: Vec<Detection>,
    /// How long they took together.
    pub time: Duration,
}

impl Row {
    /// The events up to each failure, in order.
    pub fn detected(&self) -> Vec<u64> {
        let failed = self.seeds.iter().filter(|d| d.failure.is_some());
        let mut events: Vec<u64> = failed.map(|d| d.events).collect();
        events.sort_unstable();
        events
    }

    /// Whether some run failed.
    pub fn fails(&self) -> bool {
        self.seeds.iter().any(|d| d.failure.is_some())
    }

    /// The test events of all seeds.
    pub fn events(&self) -> u64 {
        self.seeds.iter().map(|d| d.events).sum()
    }

    /// The median of the events up to the failure, seeds without one counted as longer than all others.
    pub fn median(&self) -> Option<u64> {
        let events = self.detected();
        let middle = self.seeds.len().saturating_sub(1) / 2;
        events.get(middle).copied()
    }
}

impl Experiment {
    /// Tests one implementation against the model.
    pub fn row(&self, model: &Path, fault: u8) -> Result<Row, Error> {
        self.rows(model, fault, |row| row.seeds.len() as u64 >= self.seeds)
    }

    /// The same with as many seeds as it takes to come to so many events, or to a failure.
    pub fn long_row(&self, model: &Path, fault: u8, events: u64) -> Result<Row, Error> {
        self.rows(model, fault, |row| row.events() >= events || row.fails())
    }

    fn rows(
        &self,
        model: &Path,
        fault: u8,
        is_enough: impl Fn(&Row) -> bool,
    ) -> Result<Row, Error> {
        let fail = |e| Error::fault(format!("loopback: {e}"));
        let workspace = Workspace::new();
        let mut driver = Driver::new(fault).map_err(fail)?;
        let begin = Instant::now();
        let mut row = Row {
            seeds: Vec::new(),
            time: Duration::ZERO,
        };
        while !is_enough(&row) {
            let seed = row.seeds.len() as u64;
            let found = match self.context {
                Context::Queues => self.run(&workspace, model, seed, &mut driver)?,
                Context::Synchronous => self.run(&workspace, model, seed, InStep::new(fault))?,
            };
            row.seeds.push(found);
        }
        row.time = begin.elapsed();
        Ok(row)
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
            .runs(self.runs)
            .steps(self.steps)
            .seed(seed)
            .selection(SelectionOptions {
                selection,
                ..SelectionOptions::default()
            });
        let summary = campaign.run_in_process(system)?;
        match summary.failures.values().next() {
            Some(certificate) => Ok(Detection {
                events: summary.steps,
                failure: Some(format!(
                    "{} after {}",
                    certificate.observed.as_deref().unwrap_or("?"),
                    certificate.trace.join(" ")
                )),
            }),
            None if summary.verdict() == Some(Verdict::Pass) => Ok(Detection {
                events: summary.steps,
                failure: None,
            }),
            None => Err(Error::undecided("a run came to no verdict")),
        }
    }
}
