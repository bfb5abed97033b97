//! Iolite in a crate's own tests: no command line, no process, no files but the model.

use std::fmt;
use std::time::Instant;

use iolite_derive::{TestCase, Verdict};
use iolite_exec::{
    Adapter, Certificate, ExecError, InProcess, Instance, NamedSystem, Notation, Options,
    Quiescence, RunId, RunOutcome, ShrinkPlan, Sink, Steered, Strategy, Summary, SystemUnderTest,
    Uniform, chart, interrupted, shrink,
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
    /// A bound or a solver ran out, an input was never given, or no run settled a property: nothing is known, for this
    /// reason.
    Unknown(String),
    /// No run failed, and none that counts passed either: those towards a purpose did not reach it.
    Inconclusive(String),
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
            Self::Inconclusive(reason) => write!(f, "inconclusive: {reason}"),
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

/// Runs in this process that are over.
struct Tested {
    summary: Summary,
    /// What the first failing run shows, where that is asked for.
    proof: Option<Certificate>,
    /// Whether all of them could be made, and readers and system be ended.
    ended: Result<(), ExecError>,
}

impl Tested {
    fn summary(self) -> Result<Summary, Error> {
        self.ended.map_err(Error::from)?;
        Ok(self.summary)
    }
}

impl Campaign {
    /// Tests a system in this process, until the first failure or the last run, or until the
    /// [time](Campaign::time) is up. A failure is shrunk before it is reported. Where `Exec ∩ Π ≠ ∅` is asked of a
    /// property, one execution inside is enough, and a run outside of it is no end.
    ///
    /// There is one system, so [`Campaign::jobs`] above one is an error.
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
        if self.plan.jobs > 1 {
            return Err(Error::input(format!(
                "{} jobs need as many systems, and one in this process was given",
                self.plan.jobs
            )));
        }
        let alphabet = self.judge.alphabet();
        let (tester, mut strategy) = self.chooser()?.pair(&self.judge, &alphabet)?;
        if let Some(steering) = &self.steering {
            strategy = Box::new(Steered::new(strategy, steering.clone(), &alphabet));
        }
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
        let time = self.plan.time;
        options.limits.until = time.and_then(|time| Instant::now().checked_add(time));
        options
    }

    /// Tests a system in this process as [`Campaign::check`] does, and sums up. A failure is
    /// not shrunk, so that `steps` of the summary are the test events up to it.
    pub fn run_in_process<A, S>(&self, system: S) -> Result<Summary, Error>
    where
        A: Notation,
        S: SystemUnderTest<A>,
    {
        self.tested(system, &mut (), false)?.summary()
    }

    /// Runs one stored test case once, whatever number of runs or jobs the campaign has, against a system in this process.
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
        let outcome = instance.setup(&options, id, &mut ()).run_confirmed();
        let stopped = instance.adapter.stop();
        summary.add(outcome?);
        stopped?;
        Ok(summary)
    }

    /// As [`Campaign::check`]; `sink` reads the events, such as a journal.
    pub fn check_with<A, S>(&self, system: S, sink: &mut dyn Sink) -> Result<Passed, CheckError>
    where
        A: Notation,
        S: SystemUnderTest<A>,
    {
        let tested = self.tested(system, sink, true)?;
        let verdict = self.judge.overall(&tested.summary);
        let proof = tested.proof.clone();
        match (verdict, proof) {
            (Some(verdict), Some(proof)) if verdict.is_failing() => {
                return Err(CheckError::Fails(Box::new(proof)));
            }
            (Some(verdict), None) if verdict.is_failing() => {
                return Err(Error::fault(format!("a run is {verdict} and shows nothing")).into());
            }
            _ => {}
        }
        // What went wrong beside the runs matters where none of them failed.
        let mut summary = tested.summary()?;
        if let Some((_, fault)) = summary.faults.pop_first() {
            return Err(Error::from(fault).into());
        }
        if let Some(by) = summary.interrupted {
            return Err(CheckError::Unknown(format!("interrupted by {by}")));
        }
        match verdict {
            Some(Verdict::Flaky) => match summary.flaky.pop_first() {
                Some((_, shown)) => Err(CheckError::Flaky(Box::new(shown))),
                None => Err(Error::fault("a run is flaky and shows nothing").into()),
            },
            Some(Verdict::Unknown) => Err(CheckError::Unknown(self.doubt(&summary))),
            Some(Verdict::Inconc) => Err(CheckError::Inconclusive(self.doubt(&summary))),
            None => Err(CheckError::Unknown("no run was made".to_owned())),
            Some(_) => Ok(Passed { summary }),
        }
    }

    /// Why runs say nothing for or against the system, in words.
    fn doubt(&self, summary: &Summary) -> String {
        let told = summary.notices.iter().filter_map(|n| self.judge.warning(n));
        let mut told: Vec<String> = told.collect();
        for input in summary.never_tried() {
            told.push(format!("?{input} was given in no run"));
        }
        if !told.is_empty() {
            return told.join("; ");
        }
        let only = |verdict| summary.verdicts.get(&verdict) == Some(&summary.runs());
        if self.judge.properties().is_some() {
            "no run settled the property, and nothing wrong was seen".to_owned()
        } else if only(Verdict::Inconc) {
            "no run reached what it was to reach, and nothing wrong was seen".to_owned()
        } else {
            let verdicts = summary.verdicts.iter();
            let counts: Vec<String> = verdicts.map(|(v, n)| format!("{n} {v}")).collect();
            format!("not every run has a verdict: {}", counts.join(", "))
        }
    }

    /// Runs of a system in this process. However they end, readers are told of it and the system is stopped.
    /// `is_check` says that the first run is enough which shows something, flaky ones too, and is shrunk.
    fn tested<A, S>(&self, system: S, sink: &mut dyn Sink, is_check: bool) -> Result<Tested, Error>
    where
        A: Notation,
        S: SystemUnderTest<A>,
    {
        let begin = Instant::now();
        let mut instance = self.in_process(system)?;
        let options = self.in_process_options();
        let mut summary = Summary::default();
        let made = self.make_runs(&mut instance, &options, sink, (&mut summary, is_check));
        let proof = match &made {
            Ok(Some(outcome)) if is_check => {
                let shorter = self.shorter(&mut instance, outcome, &options);
                shorter.or_else(|| outcome.certificate.clone())
            }
            _ => None,
        };
        summary.elapsed = begin.elapsed();
        summary.interrupted = interrupted();
        let told = sink.event(&summary.ended());
        let finished = sink.finish();
        let stopped = instance.adapter.stop();
        Ok(Tested {
            summary,
            proof,
            ended: made.map(drop).and(told).and(finished).and(stopped),
        })
    }

    /// Makes the runs of this share until they say enough; the first that fails.
    fn make_runs<P: Adapter>(
        &self,
        instance: &mut Instance<AnyTester, P, AnyStrategy>,
        options: &Options,
        sink: &mut dyn Sink,
        (summary, is_check): (&mut Summary, bool),
    ) -> Result<Option<RunOutcome>, ExecError> {
        let numbers = self
            .plan_within(0, self.whole.unwrap_or(u64::MAX))
            .numbers();
        let mut failing = None;
        for number in (0..).map_while(|k| numbers.get(k)) {
            if options.is_over() {
                break;
            }
            let id = RunId::of(self.plan.seed, number);
            match instance.setup(options, id, &mut *sink).run_confirmed() {
                Ok(outcome) => {
                    if outcome.verdict.is_failing() && failing.is_none() {
                        failing = Some(outcome.clone());
                    }
                    summary.add(outcome);
                }
                Err(error @ (ExecError::JournalWrite { .. } | ExecError::Interrupted(_))) => {
                    return Err(error);
                }
                Err(error) if self.plan.stop_on_fault => return Err(error),
                Err(error) => {
                    summary.faults.insert(number, error);
                }
            }
            summary.coverage = instance.strategy.coverage();
            let covered = summary.coverage.map(iolite_exec::Coverage::ratio);
            let is_covered = self.until_coverage.is_some_and(|c| covered >= Some(c));
            let is_flaky = is_check && summary.verdicts.contains_key(&Verdict::Flaky);
            if is_covered || is_flaky || self.judge.is_settled(summary) {
                break;
            }
        }
        Ok(failing)
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
