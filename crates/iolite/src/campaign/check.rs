//! Iolite in a crate's own tests: no command line, no process, no files but the model.

use std::fmt;

use iolite_derive::Verdict;
use iolite_exec::{
    Adapter, Certificate, InProcess, NamedSystem, Notation, RunId, ShrinkPlan, Sink, Summary,
    SystemUnderTest, chart, run, shrink,
};

use super::Campaign;
use crate::Error;

/// What was tested without finding anything wrong.
#[derive(Debug)]
pub struct Passed {
    /// What the runs came to.
    pub summary: Summary,
}

/// Why a system did not pass its tests. `.unwrap()` and a test that returns a `Result` print the
/// chart of the failing run.
pub enum CheckError {
    /// The system does not conform, or violates a property: a proof, drawn.
    Fails(Box<Certificate>),
    /// A bound or a solver ran out: nothing is known.
    Unknown(String),
    /// There was no run to judge.
    Error(Error),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fails(certificate) => {
                write!(f, "{}\n{}", certificate.verdict, chart(certificate))
            }
            Self::Unknown(reason) => write!(f, "unknown: {reason}"),
            Self::Error(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl fmt::Debug for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for CheckError {}

impl From<Error> for CheckError {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Campaign {
    /// Tests a system in this process, until the first failure or the last run. A failure is shrunk
    /// before it is told.
    ///
    /// The system speaks of actions by their bare names and values: `push`, `REQ(3)`.
    pub fn check<A, S>(&self, system: S) -> Result<Passed, CheckError>
    where
        A: Notation,
        S: SystemUnderTest<A>,
    {
        self.check_with(system, &mut ())
    }

    /// Tests a system in this process, until the first failure or the last run, and sums up. A failure is
    /// not shrunk, so that `steps` of the summary are the test events up to it.
    pub fn run_in_process<A, S>(&self, system: S) -> Result<Summary, Error>
    where
        A: Notation,
        S: SystemUnderTest<A>,
    {
        let chooser = self.chooser()?;
        let alphabet = self.judge.alphabet();
        let (mut tester, mut strategy) = chooser.pair(&self.judge, &alphabet)?;
        let dictionary = self.judge.dictionary(&alphabet);
        let mut adapter = InProcess::new(NamedSystem::new(system, dictionary));
        let options = self.options(None);
        let mut summary = Summary::default();
        for number in 0..self.plan.runs {
            let id = RunId::of(self.plan.seed, number);
            let outcome = run(
                &mut tester,
                &mut adapter,
                &mut strategy,
                &options,
                id,
                &mut (),
            )?;
            let failed = outcome.certificate.is_some();
            summary.add(outcome);
            if failed {
                break;
            }
        }
        summary.coverage = strategy.coverage();
        adapter.stop()?;
        Ok(summary)
    }

    /// As [`Campaign::check`]; `sink` reads the events, such as a journal.
    pub fn check_with<A, S>(&self, system: S, sink: &mut dyn Sink) -> Result<Passed, CheckError>
    where
        A: Notation,
        S: SystemUnderTest<A>,
    {
        let chooser = self.chooser()?;
        let alphabet = self.judge.alphabet();
        let (mut tester, mut strategy) = chooser.pair(&self.judge, &alphabet)?;
        let dictionary = self.judge.dictionary(&alphabet);
        let mut adapter = InProcess::new(NamedSystem::new(system, dictionary));
        let options = self.options(None);
        let mut summary = Summary::default();
        for number in 0..self.plan.runs {
            let id = RunId::of(self.plan.seed, number);
            let outcome = run(&mut tester, &mut adapter, &mut strategy, &options, id, sink)
                .map_err(Error::from)?;
            if let Some(certificate) = &outcome.certificate {
                let shrunk = shrink(
                    &mut tester,
                    &mut adapter,
                    outcome.trace.steps(),
                    outcome.verdict,
                    &options,
                    &ShrinkPlan {
                        seed: id.seed,
                        confirmations: 0,
                        ..ShrinkPlan::default()
                    },
                );
                let shorter = shrunk.ok().and_then(|s| s.run).and_then(|r| r.certificate);
                let shown = shorter.unwrap_or_else(|| certificate.clone());
                return Err(CheckError::Fails(Box::new(shown)));
            }
            summary.add(outcome);
            summary.coverage = strategy.coverage();
            let covered = summary.coverage.map(iolite_exec::Coverage::ratio);
            if self.until_coverage.is_some_and(|c| covered >= Some(c)) {
                break;
            }
        }
        adapter.stop().map_err(Error::from)?;
        if summary.verdict() == Some(Verdict::Unknown) {
            let told = summary.notices.iter().filter_map(|n| self.judge.warning(n));
            return Err(CheckError::Unknown(told.collect::<Vec<_>>().join("; ")));
        }
        Ok(Passed { summary })
    }
}
