//! A journaled run, set up anew.

use std::collections::BTreeMap;
use std::time::Duration;

use iolite_derive::{Alphabet, Criterion, ModelRef, Step, StoredTester, TestCase, Verdict};
use iolite_exec::{
    Event, JobId, Journal, Record, Replay, RunId, ShrinkPlan, Shrunk, Sink, replay, shrink,
};

use super::{AnyAdapter, AnyTester, Campaign, Target};
use crate::Error;

/// Tester and system of one job.
pub struct Pair {
    /// Judges.
    pub tester: AnyTester,
    /// Reaches the system.
    pub adapter: AnyAdapter,
    /// The alphabet of both.
    pub alphabet: Alphabet,
}

/// A run of a journal.
pub struct RecordedRun {
    /// Which run.
    pub id: RunId,
    /// Its verdict, if it came to one.
    pub verdict: Option<Verdict>,
    /// The model it was judged by.
    pub model: ModelRef,
    texts: Vec<String>,
    /// Which steps are outputs that came before a stimulus.
    preempting: Vec<bool>,
    /// Whether the system ended after the last step.
    crashed: bool,
    /// How long was waited before stimuli.
    pauses: BTreeMap<u64, Duration>,
    /// The hand-written test case that judged the run, where one did. Derived ones judge as the model
    /// does, so that the model judges them again.
    written: Option<TestCase>,
}

impl RecordedRun {
    /// The run with this number, or the first failing one, else the last.
    pub fn of(journal: &Journal, number: Option<u64>) -> Result<Self, Error> {
        let id = match number {
            Some(number) => journal.runs().find(|id| id.number == number),
            None => journal.run_of_interest(),
        };
        let Some(id) = id else {
            let known = journal.runs().count();
            return Err(Error::input(format!("no such run; it has {known} runs")));
        };
        let verdict = journal.events.iter().find_map(|event| match event {
            Event::RunEnded { run, verdict, .. } if *run == id.number => Some(*verdict),
            _ => None,
        });
        let texts = journal.texts(id.number).into_iter().map(str::to_owned);
        Ok(Self {
            id,
            verdict,
            model: journal.header.model.clone(),
            texts: texts.collect(),
            preempting: journal.preempting(id.number),
            crashed: journal.crashed(id.number),
            pauses: journal.pauses(id.number),
            written: None,
        })
    }

    /// The same, judged by a hand-written test case.
    #[must_use]
    pub fn judged_by(mut self, case: TestCase) -> Self {
        self.written = (case.criterion() == Criterion::Written).then_some(case);
        self
    }

    /// The hand-written test case that judged it, where one did.
    pub fn written(&self) -> Option<&TestCase> {
        self.written.as_ref()
    }
}

impl Campaign {
    /// Tester and system for one job.
    pub fn pair(&self, target: &Target, job: JobId) -> Result<Pair, Error> {
        let alphabet = self.judge().alphabet();
        Ok(Pair {
            tester: self.judge().tester(&alphabet)?,
            adapter: target.adapter(job, self.judge().dictionary(&alphabet))?,
            alphabet,
        })
    }

    /// The steps of a record, and whoever judges them again. What a record speaks of keeps its id.
    fn recorded_pair(
        &self,
        record: &RecordedRun,
        target: &Target,
    ) -> Result<(Pair, Vec<Step>), Error> {
        let base = self.judge().alphabet();
        let steps = record.texts.iter().map(|text| {
            Step::parse(text, |text| Some(self.judge().recorded(&base, text)))
                .ok_or_else(|| Error::input(format!("the journal has no step {text}")))
        });
        let steps = steps.collect::<Result<_, _>>()?;
        let alphabet = base.fork();
        let tester: AnyTester = match &record.written {
            Some(case) => Box::new(StoredTester::with_alphabet(case.clone(), &alphabet)),
            None => self.judge().tester(&alphabet)?,
        };
        let adapter = target.adapter(JobId(0), self.judge().dictionary(&alphabet))?;
        let pair = Pair {
            tester,
            adapter,
            alphabet,
        };
        Ok((pair, steps))
    }

    /// Runs a journaled run once more, and says where it differs.
    pub fn replay(
        &self,
        record: &RecordedRun,
        target: &Target,
        sink: &mut dyn Sink,
    ) -> Result<Replay, Error> {
        let (mut pair, steps) = self.recorded_pair(record, target)?;
        let mut options = self.options(Some(target.config()));
        if let Some(case) = &record.written {
            options.criterion = case.criterion();
        }
        let replayed = replay(
            &mut pair.tester,
            &mut pair.adapter,
            Record {
                steps: &steps,
                preempting: &record.preempting,
                pauses: Some(&record.pauses),
                crashed: record.crashed,
            },
            &options,
            record.id,
            sink,
        );
        let stopped = pair.adapter.stop();
        let replayed = replayed?;
        stopped?;
        Ok(replayed)
    }

    /// Finds a shorter run that fails in the same way.
    pub fn shrink(
        &self,
        record: &RecordedRun,
        verdict: Verdict,
        target: &Target,
        plan: &ShrinkPlan,
    ) -> Result<Shrunk, Error> {
        let (mut pair, steps) = self.recorded_pair(record, target)?;
        let options = self.options(Some(target.config()));
        let shrunk = shrink(
            &mut pair.tester,
            &mut pair.adapter,
            &steps,
            verdict,
            &options,
            plan,
        );
        let stopped = pair.adapter.stop();
        let shrunk = shrunk?;
        stopped?;
        Ok(shrunk)
    }
}
