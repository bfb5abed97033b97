//! Iolite in a crate's own tests: no command line, no process, no files but the model.

use std::fmt;

use iolite_derive::{TestCase, Verdict};
use iolite_exec::{
    Adapter, Certificate, InProcess, Instance, NamedSystem, Notation, Options, Quiescence, RunId,
    RunOutcome, ShrinkPlan, Sink, Strategy, Summary, SystemUnderTest, Uniform, chart, shrink,
};

use super::{AnyStrategy, AnyTester, Campaign};
use crate::Error;

/// Tester and strategy of runs with a system in this process.
type EmbeddedInstance<A, S> = Instance<AnyTester, InProcess<NamedSystem<A, S>>, AnyStrategy>;

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
    /// A failure by silence that did not come back when the run was repeated: it proves nothing. What
    /// the run showed before that.
    Flaky(Box<Certificate>),
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
            Self::Flaky(certificate) => {
                let chart = chart(certificate);
                write!(f, "flaky: the failure did not come back\n{chart}")
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
    /// before it is reported.
    ///
    /// A failure by silence is repeated before it counts where silence takes time
    /// ([`Campaign::silence_after`]), as the command line does.
    ///
    /// The system speaks of actions by their bare names and values: `push`, `REQ(3)`.
    pub fn check<A, S>(&self, system: S) -> Result<Passed, CheckError>
    where
        A: Notation,
        S: SystemUnderTest<A>,
    {
        self.check_with(system, &mut ())
    }

    /// Tester, system and strategy of runs in this process.
    fn in_process<A, S>(&self, system: S) -> Result<EmbeddedInstance<A, S>, Error>
    where
        A: Notation,
        S: SystemUnderTest<A>,
    {
        let alphabet = self.judge.alphabet();
        let (tester, strategy) = self.chooser()?.pair(&self.judge, &alphabet)?;
        let system = NamedSystem::new(system, self.judge.dictionary(&alphabet));
        let adapter = match self.silence {
            Some(_) => InProcess::timed(system),
            None => InProcess::new(system),
        };
        Ok(Instance {
            tester,
            adapter,
            strategy,
        })
    }

    /// What runs in this process need to know.
    fn in_process_options(&self) -> Options {
        let mut options = self.options(None);
        if let Some(silence) = self.silence {
            options.quiescence = Quiescence::after(silence);
        }
        options
    }

    /// Tests a system in this process, until the first failure or the last run, and sums up. A failure is
    /// not shrunk, so that `steps` of the summary are the test events up to it.
    pub fn run_in_process<A, S>(&self, system: S) -> Result<Summary, Error>
    where
        A: Notation,
        S: SystemUnderTest<A>,
    {
        let mut instance = self.in_process(system)?;
        let options = self.in_process_options();
        let mut summary = Summary::default();
        for number in 0..self.plan.runs {
            let id = RunId::of(self.plan.seed, number);
            let outcome = instance.setup(&options, id, &mut ()).run_confirmed()?;
            let failed = outcome.verdict.is_failing();
            summary.add(outcome);
            if failed {
                break;
            }
        }
        summary.coverage = instance.strategy.coverage();
        instance.adapter.stop()?;
        Ok(summary)
    }

    /// Runs one stored test case once against a system in this process.
    pub fn run_case_in_process<A, S>(&self, case: &TestCase, system: S) -> Result<Summary, Error>
    where
        A: Notation,
        S: SystemUnderTest<A>,
    {
        let alphabet = self.judge.alphabet();
        let system = NamedSystem::new(system, self.judge.dictionary(&alphabet));
        let mut instance = Instance::<AnyTester, _, AnyStrategy> {
            tester: self.stored(case, &alphabet)?,
            adapter: InProcess::new(system),
            strategy: Box::new(Uniform),
        };
        let mut options = self.in_process_options();
        options.limits.steps = None;
        options.criterion = case.criterion();
        let id = RunId::of(self.plan.seed, 0);
        let mut summary = Summary::default();
        summary.add(instance.setup(&options, id, &mut ()).run_confirmed()?);
        instance.adapter.stop()?;
        Ok(summary)
    }

    /// As [`Campaign::check`]; `sink` reads the events, such as a journal.
    pub fn check_with<A, S>(&self, system: S, sink: &mut dyn Sink) -> Result<Passed, CheckError>
    where
        A: Notation,
        S: SystemUnderTest<A>,
    {
        let mut instance = self.in_process(system)?;
        let options = self.in_process_options();
        let mut summary = Summary::default();
        for number in 0..self.plan.runs {
            let id = RunId::of(self.plan.seed, number);
            let run = instance.setup(&options, id, sink).run_confirmed();
            let outcome = run.map_err(Error::from)?;
            if let Some(certificate) = &outcome.certificate {
                if outcome.verdict == Verdict::Flaky {
                    return Err(CheckError::Flaky(Box::new(certificate.clone())));
                }
                let shown = self.shorter(&mut instance, &outcome, &options);
                return Err(CheckError::Fails(Box::new(
                    shown.unwrap_or_else(|| certificate.clone()),
                )));
            }
            summary.add(outcome);
            summary.coverage = instance.strategy.coverage();
            let covered = summary.coverage.map(iolite_exec::Coverage::ratio);
            if self.until_coverage.is_some_and(|c| covered >= Some(c)) {
                break;
            }
        }
        instance.adapter.stop().map_err(Error::from)?;
        if summary.verdict() == Some(Verdict::Unknown) {
            let told = summary.notices.iter().filter_map(|n| self.judge.warning(n));
            return Err(CheckError::Unknown(told.collect::<Vec<_>>().join("; ")));
        }
        Ok(Passed { summary })
    }

    /// The proof of a shorter run that fails alike, where one is found.
    fn shorter<P: Adapter>(
        &self,
        instance: &mut Instance<AnyTester, P, AnyStrategy>,
        outcome: &RunOutcome,
        options: &Options,
    ) -> Option<Certificate> {
        // Where silence takes time, a shorter run is not repeated as the first was, so that it would
        // claim more than is known.
        if self.silence.is_some() {
            return None;
        }
        let shrunk = shrink(
            &mut instance.tester,
            &mut instance.adapter,
            outcome.trace.steps(),
            outcome.verdict,
            options,
            &ShrinkPlan {
                seed: outcome.id.seed,
                confirmations: 0,
                ..ShrinkPlan::default()
            },
        );
        shrunk.ok()?.run?.certificate
    }
}
