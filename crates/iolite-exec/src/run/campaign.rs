//! Many runs, in one job or in several.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use iolite_derive::{Notice, Tester, ValueCoverage, Verdict};

use crate::run::engine::micros;
use crate::{
    Adapter, Certificate, Coverage, Event, ExecError, Interruption, Options, RunId, RunNumbers,
    RunOutcome, RunSetup, Sink, Strategy, interrupted,
};

/// How many runs, and when to stop before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The seed that every run's seed is made from.
    pub seed: u64,
    /// Number of runs.
    pub runs: u64,
    /// The number of the first run, to repeat one alone.
    pub first: u64,
    /// From the number of a run to the next: a share of a campaign makes every n-th.
    pub stride: u64,
    /// Instances of the system under test at the same time.
    pub jobs: usize,
    /// Time for all runs.
    pub time: Option<Duration>,
    /// No new run after a failing verdict.
    pub stop_on_fail: bool,
    /// No new run after a fault.
    pub stop_on_fault: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            seed: 0,
            runs: 1,
            first: 0,
            stride: 1,
            jobs: 1,
            time: None,
            stop_on_fail: false,
            stop_on_fault: true,
        }
    }
}

impl Plan {
    /// The numbers of its runs.
    pub fn numbers(&self) -> RunNumbers {
        RunNumbers {
            first: self.first,
            count: self.runs,
            stride: self.stride,
        }
    }
}

/// Number of a parallel instance, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(pub usize);

/// What one job works with.
#[derive(Clone, Debug)]
pub struct Instance<T, P, S> {
    /// Judges.
    pub tester: T,
    /// Reaches the system.
    pub adapter: P,
    /// Chooses.
    pub strategy: S,
}

impl<T, P, S> Instance<T, P, S> {
    /// One run of these.
    pub fn setup<'a, K: Sink + ?Sized>(
        &'a mut self,
        options: &'a Options,
        id: RunId,
        sink: &'a mut K,
    ) -> RunSetup<'a, T, P, S, K> {
        RunSetup {
            tester: &mut self.tester,
            adapter: &mut self.adapter,
            strategy: &mut self.strategy,
            options,
            id,
            sink,
        }
    }
}

/// What all runs came to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How often each verdict was seen.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// Runs that came to no verdict, by number.
    pub faults: BTreeMap<u64, ExecError>,
    /// The proofs of failing runs, by number; the first hundred.
    pub failures: BTreeMap<u64, Certificate>,
    /// What flaky runs showed before they were repeated, by number; the first hundred.
    pub flaky: BTreeMap<u64, Certificate>,
    /// Steps of all runs.
    pub steps: u64,
    /// How long all of it took.
    pub elapsed: Duration,
    /// What was covered, by the job that knows of most; jobs that share what they cover know of all.
    pub coverage: Option<Coverage>,
    /// How often each goal or property came to each verdict by itself, where there are several.
    pub goals: BTreeMap<String, BTreeMap<Verdict, u64>>,
    /// What runs had to say beside their verdicts, each once; the first [`KEPT_NOTICES`].
    pub notices: Vec<Notice>,
    /// The signal that ended the campaign before its time.
    pub interrupted: Option<Interruption>,
    /// What went wrong beside the runs: what could not be written of journal and reports, a system that could not be
    /// ended. Verdicts hold without it.
    pub unwritten: Vec<ExecError>,
    /// Inputs, by name, that no values were found for somewhere, and why; the runs say nothing of
    /// them there.
    pub untried: BTreeMap<String, Arc<str>>,
    /// Inputs, by name, that were given in some run. Only testers that may leave inputs untried tell.
    pub tried: BTreeSet<String>,
    /// Which boundaries, transitions and pairs of values were tried, where the model has data.
    pub values: Option<ValueCoverage>,
}

/// Different notices that a summary keeps; runs beyond them add nothing.
pub const KEPT_NOTICES: usize = 1000;

/// Certificates that a summary keeps; the journal has them all.
const KEPT_FAILURES: usize = 100;

impl Summary {
    /// Runs that came to a verdict.
    pub fn runs(&self) -> u64 {
        self.verdicts.values().sum()
    }

    /// The worst verdict of all runs; `None` when no run came to a verdict.
    ///
    /// Where an input was [never tried](Self::never_tried) it is `unknown` at best: the runs look like
    /// those of a campaign that passed, and say nothing about that input.
    pub fn verdict(&self) -> Option<Verdict> {
        let doubt = self.never_tried().next().map(|_| Verdict::Unknown);
        let worst = Verdict::worst(self.verdicts.keys().copied())?;
        Verdict::worst([worst].into_iter().chain(doubt))
    }

    /// Inputs that the specification has somewhere on the way of these runs and that none of them
    /// gave, because no values were found for them.
    pub fn never_tried(&self) -> impl Iterator<Item = &str> {
        let untried = self.untried.keys().map(String::as_str);
        untried.filter(|input| !self.tried.contains(*input))
    }

    /// Adds what one run came to.
    pub fn add(&mut self, outcome: RunOutcome) {
        *self.verdicts.entry(outcome.verdict).or_default() += 1;
        self.steps += outcome.steps;
        if let Some(certificate) = outcome.certificate {
            self.keep_certificate(outcome.verdict, outcome.id.number, || certificate);
        }
        for (goal, verdict) in outcome.results {
            let counts = self.goals.entry(goal).or_default();
            *counts.entry(verdict).or_default() += 1;
        }
        for notice in outcome.notices {
            match &notice {
                Notice::Tried { input } => {
                    self.tried.insert(input.clone());
                    continue;
                }
                Notice::Values(tried) => {
                    self.add_values(tried);
                    continue;
                }
                Notice::Untried { input, reason } => {
                    let known = self.untried.entry(input.clone());
                    known.or_insert_with(|| Arc::clone(reason));
                }
                _ => {}
            }
            self.keep_notice(notice);
        }
    }

    /// Keeps the certificate of a run, unless a hundred earlier runs have one.
    pub(crate) fn keep_certificate(
        &mut self,
        verdict: Verdict,
        run: u64,
        certificate: impl FnOnce() -> Certificate,
    ) {
        let shown = match verdict {
            Verdict::Flaky => &mut self.flaky,
            _ => &mut self.failures,
        };
        let is_full = shown.len() >= KEPT_FAILURES;
        if is_full && shown.keys().next_back().is_some_and(|last| *last < run) {
            return;
        }
        shown.insert(run, certificate());
        if shown.len() > KEPT_FAILURES {
            shown.pop_last();
        }
    }

    /// Keeps a notice once, unless there are too many.
    pub(crate) fn keep_notice(&mut self, notice: Notice) {
        if self.notices.len() < KEPT_NOTICES && !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }

    /// Keeps the greater coverage: jobs that share what they cover know of all.
    fn keep_coverage(&mut self, covered: Option<Coverage>) {
        if covered.map(|c| c.seen) > self.coverage.map(|c| c.seen) {
            self.coverage = covered;
        }
    }

    fn add_values(&mut self, tried: &ValueCoverage) {
        match &mut self.values {
            Some(known) => known.merge(tried),
            none => *none = Some(tried.clone()),
        }
    }

    /// The end of a campaign with these runs.
    pub fn ended(&self) -> Event {
        Event::CampaignEnded {
            verdicts: self.verdicts.clone(),
            faults: self.faults.len() as u64,
            steps: self.steps,
            elapsed: micros(self.elapsed),
            untried: self.untried.keys().map(|i| format!("?{i}")).collect(),
        }
    }

    /// Adds what other runs came to.
    pub fn merge(&mut self, more: Self) {
        for (verdict, n) in more.verdicts {
            *self.verdicts.entry(verdict).or_default() += n;
        }
        for (goal, counts) in more.goals {
            let goal = self.goals.entry(goal).or_default();
            for (verdict, n) in counts {
                *goal.entry(verdict).or_default() += n;
            }
        }
        self.faults.extend(more.faults);
        for (run, certificate) in more.failures {
            self.keep_certificate(Verdict::Fail, run, || certificate);
        }
        for (run, certificate) in more.flaky {
            self.keep_certificate(Verdict::Flaky, run, || certificate);
        }
        for notice in more.notices {
            self.keep_notice(notice);
        }
        self.keep_coverage(more.coverage);
        self.interrupted = self.interrupted.or(more.interrupted);
        self.unwritten.extend(more.unwritten);
        for (input, reason) in more.untried {
            self.untried.entry(input).or_insert(reason);
        }
        self.tried.extend(more.tried);
        if let Some(tried) = &more.values {
            self.add_values(tried);
        }
        self.steps += more.steps;
        self.elapsed += more.elapsed;
    }
}

/// Why a job is without an instance, and the journal that it would have written to.
type Idle<E> = (E, Option<Box<dyn Sink + Send>>);

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The jobs' common sink. What a run came to must not be lost behind a report that cannot be written:
/// such a fault is kept, and only a journal that fails in the middle of a run ends it.
struct Shared<'a, 'b> {
    /// The journal of this job, which needs no lock and wants steps.
    own: Option<Box<dyn Sink + Send>>,
    sink: &'a Mutex<&'b mut (dyn Sink + Send)>,
    /// Whether the common sink wants steps.
    wants_steps: bool,
    unwritten: &'a Mutex<Vec<ExecError>>,
    stop: &'a AtomicBool,
}

impl Sink for Shared<'_, '_> {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        let mut result = match &mut self.own {
            Some(own) => own.event(event),
            None => Ok(()),
        };
        if self.wants_steps || !event.is_step() {
            let mut sink = lock(self.sink);
            let common = sink.event(event);
            // A reader may have had enough, or want the steps of this run.
            self.wants_steps = sink.wants_steps();
            drop(sink);
            // The journal's fault is the one that ends a run.
            result = result.and(common);
        }
        match result {
            Ok(()) => Ok(()),
            Err(error) => self.keep(error, Some(event)),
        }
    }

    fn write_now(&mut self) -> Result<(), ExecError> {
        let mut result = match &mut self.own {
            Some(own) => own.write_now(),
            None => Ok(()),
        };
        if self.wants_steps {
            result = result.and(lock(self.sink).write_now());
        }
        result.or_else(|error| self.keep(error, None))
    }

    fn wants_steps(&self) -> bool {
        self.wants_steps || self.own.is_some()
    }
}

impl Shared<'_, '_> {
    /// Keeps the fault of a sink; an error where it ends the run in which it came with this event.
    #[cold]
    fn keep(&self, error: ExecError, event: Option<&Event>) -> Result<(), ExecError> {
        let journal = matches!(error, ExecError::JournalWrite { .. });
        let mut unwritten = lock(self.unwritten);
        if !unwritten.contains(&error) {
            unwritten.push(error.clone());
        }
        drop(unwritten);
        if !journal {
            return Ok(());
        }
        // Nothing goes on unrecorded.
        self.stop.store(true, Ordering::Relaxed);
        match event {
            Some(Event::RunEnded { .. } | Event::Fault { .. } | Event::Notice { .. }) => Ok(()),
            _ => Err(error),
        }
    }
}

/// The number of no run: a job is between two.
const NO_RUN: u64 = u64::MAX;

/// Lets no other job begin a run when this one panics.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Runs the plan. Each job makes its own instance, in its own thread, and takes the next run that
/// nobody has taken; a run's seed depends on its number alone. With one job everything happens on
/// the calling thread.
///
/// An error is one of the campaign as a whole: no instance could be made. Where another job has one, a job without,
/// or one that panics, is a fault of the run that it would have made. Such faults are in the summary, and so are a signal
/// that ended the campaign and what could not be written.
pub fn campaign<T, P, S, E>(
    plan: &Plan,
    options: &Options,
    sink: &mut (dyn Sink + Send),
    make: impl Fn(JobId) -> Result<Instance<T, P, S>, E> + Sync,
) -> Result<Summary, E>
where
    E: From<ExecError> + Into<ExecError> + Send,
    T: Tester,
    P: Adapter,
    S: Strategy,
{
    let begin = Instant::now();
    let mut options = options.clone();
    if let Some(until) = plan.time.and_then(|time| begin.checked_add(time)) {
        options.limits.until = Some(options.limits.until.map_or(until, |u| u.min(until)));
    }
    // One for each job, before they start: afterwards the common sink wants less.
    let mut own: Vec<_> = (0..plan.jobs.max(1)).map(|_| sink.for_job()).collect();
    let wants_steps = sink.wants_steps();
    let sink = Mutex::new(sink);
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let unwritten = Mutex::new(Vec::new());
    let summary = Mutex::new(Summary::default());
    let numbers = plan.numbers();
    let made = AtomicBool::new(false);
    let idle: Mutex<Vec<Idle<E>>> = Mutex::default();
    let work = |job: JobId, own: Option<Box<dyn Sink + Send>>, at: &AtomicU64| {
        let mut instance = match make(job) {
            Ok(instance) => instance,
            Err(error) => {
                lock(&idle).push((error, own));
                if plan.stop_on_fault {
                    stop.store(true, Ordering::Relaxed);
                }
                return;
            }
        };
        made.store(true, Ordering::Relaxed);
        let mut shared = Shared {
            own,
            sink: &sink,
            wants_steps,
            unwritten: &unwritten,
            stop: &stop,
        };
        while !stop.load(Ordering::Relaxed) && !options.is_over() {
            let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            at.store(number, Ordering::Relaxed);
            let id = RunId::of(plan.seed, number);
            let outcome = instance.setup(&options, id, &mut shared).run_confirmed();
            let mut summary = lock(&summary);
            match outcome {
                Ok(outcome) => {
                    if plan.stop_on_fail && outcome.verdict.is_failing() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    summary.add(outcome);
                }
                // No fault of this run: the summary says why it has no verdict.
                Err(ExecError::JournalWrite { .. } | ExecError::Interrupted(_)) => break,
                Err(error) => {
                    summary.faults.insert(id.number, error);
                    if plan.stop_on_fault {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            }
            at.store(NO_RUN, Ordering::Relaxed);
            let covered = instance.strategy.coverage();
            summary.keep_coverage(covered);
            if let (Some(wanted), Some(covered)) = (options.limits.coverage, covered)
                && covered.ratio() >= wanted
            {
                stop.store(true, Ordering::Relaxed);
            }
        }
        if let Err(error) = instance.adapter.stop() {
            lock(&unwritten).push(error);
        }
    };
    // Runs that a panic left without an end.
    let mut lost = Vec::new();
    if plan.jobs <= 1 {
        work(JobId(0), own.pop().flatten(), &AtomicU64::new(NO_RUN));
    } else {
        let (work, stop) = (&work, &stop);
        thread::scope(|scope| {
            let spawn = |(job, own)| {
                let at = Arc::new(AtomicU64::new(NO_RUN));
                let its = Arc::clone(&at);
                let job = scope.spawn(move || {
                    let _stop = StopOnPanic(stop);
                    work(JobId(job), own, &its);
                });
                (job, at)
            };
            let jobs: Vec<_> = own.into_iter().enumerate().map(spawn).collect();
            for (job, at) in jobs {
                if job.join().is_err() {
                    lost.push(at.load(Ordering::Relaxed));
                }
            }
        });
    }
    let panicked = || ExecError::system("a job", "panicked");
    let mut idle = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !made.load(Ordering::Relaxed) {
        if !idle.is_empty() {
            return Err(idle.swap_remove(0).0);
        }
        if !lost.is_empty() {
            return Err(panicked().into());
        }
    }
    let mut faults: Vec<(Option<u64>, ExecError, _)> = Vec::new();
    for run in lost {
        let run = Some(run).filter(|run| *run != NO_RUN);
        faults.push((run, panicked(), None));
    }
    for (error, own) in idle {
        faults.push((None, error.into(), own));
    }
    for (run, error, own) in faults {
        let run = run.or_else(|| numbers.get(next.fetch_add(1, Ordering::Relaxed)));
        let Some(run) = run else {
            // The other jobs made all runs.
            lock(&unwritten).push(error);
            continue;
        };
        let mut shared = Shared {
            own,
            sink: &sink,
            wants_steps,
            unwritten: &unwritten,
            stop: &stop,
        };
        // A fault is kept in `unwritten`.
        let _ = shared.event(&Event::Fault {
            run,
            steps: 0,
            code: error.code().into(),
            message: error.to_string(),
        });
        lock(&summary).faults.insert(run, error);
    }
    let mut summary = summary.into_inner().unwrap_or_else(PoisonError::into_inner);
    summary.elapsed = begin.elapsed();
    summary.interrupted = interrupted();
    let mut last = Shared {
        own: None,
        sink: &sink,
        wants_steps,
        unwritten: &unwritten,
        stop: &stop,
    };
    // A fault is kept in `unwritten`.
    let _ = last.event(&summary.ended());
    summary.unwritten = unwritten
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use iolite_derive::{Channel, Context, Criterion, ModelRef};
    use proptest::prelude::*;

    use super::*;
    use crate::{CERTIFICATE_FORMAT, End, Trace};

    fn certificate(run: u64) -> Certificate {
        Certificate {
            format: CERTIFICATE_FORMAT.into(),
            kind: Criterion::default(),
            model: ModelRef::default(),
            context: Context::default(),
            channels: Vec::<Channel>::new(),
            verdict: Verdict::Fail,
            trace: Vec::new(),
            trace_omitted: 0,
            observed: None,
            patience: None,
            unexplained: None,
            exit: None,
            instead: Vec::new(),
            allowed: Vec::new(),
            locations: Vec::new(),
            run,
            seed: 0,
        }
    }

    fn outcome(number: u64, verdict: Verdict, notice: u64) -> RunOutcome {
        let shows = verdict.is_failing() || verdict == Verdict::Flaky;
        RunOutcome {
            id: RunId { number, seed: 0 },
            verdict,
            end: End::Tester,
            steps: 1,
            trace: Trace::new(0),
            certificate: shows.then(|| certificate(number)),
            results: Vec::new(),
            notices: vec![Notice::LeftGoal(notice.to_string())],
            pauses: BTreeMap::new(),
            elapsed: Duration::ZERO,
        }
    }

    proptest! {
        /// Summaries of parts, joined, are the summary of the whole, within its bounds; so is what is read from the
        /// events of the runs.
        #[test]
        fn parts_come_to_what_the_whole_does(
            kinds in prop::collection::vec((0..3u64, 0..1500u64), 0..2600),
            part in 1..900usize,
        ) {
            let verdicts = [Verdict::Fail, Verdict::Flaky, Verdict::Pass];
            let (mut whole, mut joined, mut read) =
                (Summary::default(), Summary::default(), Summary::default());
            for (k, kinds) in kinds.chunks(part).enumerate() {
                let mut of_part = Summary { coverage: Some(Coverage { seen: k as u64, total: 9 }), ..Summary::default() };
                for (n, (kind, notice)) in kinds.iter().enumerate() {
                    let outcome = outcome((k * part + n) as u64, verdicts[*kind as usize], *notice);
                    for event in outcome.notices.iter().filter_map(|n| Event::notice(outcome.id.number, n)) {
                        read.read(&event);
                    }
                    read.read(&Event::RunEnded {
                        run: outcome.id.number,
                        verdict: outcome.verdict,
                        end: outcome.end,
                        steps: outcome.steps,
                        elapsed: 0,
                        certificate: outcome.certificate.clone().map(Box::new),
                        results: BTreeMap::new(),
                    });
                    of_part.add(outcome.clone());
                    whole.add(outcome);
                }
                joined.merge(of_part);
                prop_assert_eq!(joined.coverage.map(|c| c.seen), Some(k as u64));
            }
            prop_assert!(whole.failures.len() <= KEPT_FAILURES && whole.notices.len() <= KEPT_NOTICES);
            for other in [joined, read] {
                prop_assert_eq!(&other.verdicts, &whole.verdicts);
                prop_assert_eq!(&other.failures, &whole.failures);
                prop_assert_eq!(&other.flaky, &whole.flaky);
                prop_assert_eq!(&other.notices, &whole.notices);
            }
        }

        /// The first hundred are those with the smallest numbers, whichever job was faster.
        #[test]
        fn the_first_failures_are_kept_in_any_order(
            runs in prop::collection::btree_set(0..1000u64, 0..300),
            seed in any::<u64>(),
        ) {
            let mut shuffled: Vec<u64> = runs.iter().copied().collect();
            shuffled.sort_by_key(|run| run.wrapping_mul(seed | 1));
            let mut summary = Summary::default();
            for run in shuffled {
                summary.add(outcome(run, Verdict::Fail, 0));
            }
            let first = runs.into_iter().take(KEPT_FAILURES);
            prop_assert!(summary.failures.into_keys().eq(first));
        }
    }
}
