//! What each of several observers or purposes came to, judged one by one on the traces of the runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use iolite_derive::{Observation, Progress, Tester, Verdict};
use iolite_exec::{Event, ExecError, Sink, Step};
use iolite_lts::LabelId;

use super::Failure;
use super::judge::Judge;
use super::test::fault;

/// How often each goal came to each verdict.
pub(super) type Goals = BTreeMap<String, BTreeMap<Verdict, u64>>;

/// Runs whose traces are kept; more say nothing new about goals.
const KEPT: usize = 10_000;

/// Keeps the trace of every run.
#[derive(Clone, Debug, Default)]
pub(super) struct Traces(Arc<Mutex<BTreeMap<u64, Vec<String>>>>);

impl Sink for Traces {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        let (run, text) = match event {
            Event::Stimulus { run, action, .. } | Event::Output { run, action, .. } => {
                (run, action.as_str())
            }
            Event::Quiescence { run, .. } => (run, "delta"),
            Event::Deadlock { run, .. } => (run, "deadlock"),
            _ => return Ok(()),
        };
        let mut traces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if traces.len() < KEPT || traces.contains_key(run) {
            traces.entry(*run).or_default().push(text.to_owned());
        }
        Ok(())
    }
}

impl Traces {
    /// Judges every trace by every goal alone.
    pub(super) fn judge(&self, judge: &Judge) -> Result<Goals, Failure> {
        let traces = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut goals = Goals::new();
        for (name, mut tester) in judge.goals().map_err(|e| fault(&e))? {
            let counts = goals.entry(name).or_default();
            for trace in traces.values() {
                *counts
                    .entry(verdict(&mut *tester, judge, trace))
                    .or_default() += 1;
            }
        }
        Ok(goals)
    }
}

fn verdict(tester: &mut dyn Tester<Action = LabelId>, judge: &Judge, trace: &[String]) -> Verdict {
    tester.reset();
    for text in trace {
        let Some(step) = Step::parse(text, &|text| judge.parse(text)) else {
            return Verdict::Unknown;
        };
        let progress = match step {
            Step::Stimulus(label) => tester.stimulate(&label),
            Step::Output(label) => tester.observe(&Observation::Output(label)),
            Step::Quiescence => tester.observe(&Observation::Quiescence),
            Step::Deadlock => tester.observe(&Observation::Deadlock),
        };
        if let Progress::Ended(verdict) = progress {
            return verdict;
        }
    }
    tester.verdict()
}

/// One line a goal.
pub(super) fn tell(goals: &Goals) -> String {
    let line = |(name, counts): (&String, &BTreeMap<Verdict, u64>)| {
        let counts: Vec<String> = counts.iter().map(|(v, n)| format!("{n} {v}")).collect();
        format!("  {name}: {}\n", counts.join(", "))
    };
    goals.iter().map(line).collect()
}
