//! Passive testing: a log that was recorded elsewhere, judged by a specification or by properties.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::time::Duration;

use iolite_derive::{Alphabet, Notice, PropertyOutcome, PropertyTester, Tester, Verdict};
use iolite_exec::{Certificate, ExecError, LogEntry, LogReader, MonitorOptions, Monitored};

use crate::trace_judge::{LogFollower, TraceJudge};
use crate::{AnyTester, Error, Judge, PropertyJudge};

/// The log that is judged, from wherever its lines come: what a line costs is compiled here, for all of them.
pub type Log = LogReader<Box<dyn BufRead>>;

/// Reads a journal in either form, or any other log, as lines.
pub fn journal_lines(log: Box<dyn BufRead>) -> io::Result<Box<dyn BufRead>> {
    iolite_exec::journal_lines(log)
}

/// Judges logs.
pub struct Monitor {
    judge: Judge,
    /// A gap between the times of two lines that counts as quiescence.
    quiescence: Option<Duration>,
    /// Whether the steps that properties take are recorded.
    recording: bool,
}

/// What a log shows.
#[derive(Debug)]
pub struct LogReport {
    /// The verdict.
    pub verdict: Verdict,
    /// Steps that were judged, silences included.
    pub steps: u64,
    /// The line of the log where the verdict came; `None` for the verdict at its end.
    pub line: Option<usize>,
    /// The proof of a failing verdict.
    pub certificate: Option<Certificate>,
    /// Why the log was not judged to its end, where it was not.
    pub broken_off: Option<String>,
    /// What it says of each property, where properties judge alone.
    pub properties: Vec<PropertyOutcome>,
    /// How many events some property sees, and how many none does.
    pub seen: (u64, u64),
    /// What else there is to say.
    pub notices: Vec<Notice>,
}

/// What a log says that was judged by a specification and by properties beside it. A property that is
/// broken on a log that the specification allows is broken by both: `violate`. Where the specification
/// has no opinion, the verdict is the property's own. A property that is not settled says nothing, but for one that could
/// not say which letter an event was: whether it is broken is not known, so there is no `pass`.
pub fn verdict_beside(specification: Verdict, properties: &LogReport) -> Verdict {
    let is_undecided = || properties.properties.iter().any(|p| p.doubt.is_some());
    match (specification.is_failing(), properties.verdict.is_failing()) {
        (true, true) => Verdict::ViolateFail,
        (false, true) if specification == Verdict::Pass => Verdict::Violate,
        (false, true) => properties.verdict,
        (false, false) if specification == Verdict::Pass && is_undecided() => Verdict::Unknown,
        (_, false) => specification,
    }
}

impl Monitor {
    /// A monitor by a judge.
    pub fn new(judge: Judge, quiescence: Option<Duration>) -> Self {
        Self {
            judge,
            quiescence,
            recording: false,
        }
    }

    /// Records the steps that properties take, for pictures.
    #[must_use]
    pub fn recording(mut self, recording: bool) -> Self {
        self.recording = recording;
        self
    }

    /// Who judges.
    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    /// Judges one trace. `watch` hears before each line how many steps were judged and which line
    /// comes, and may break off with a reason: the verdict is then `unknown`. It is also asked where the log cannot be read on, which is
    /// an error unless that is why.
    pub fn log(
        &self,
        log: &mut Log,
        watch: &mut dyn FnMut(u64, usize) -> Option<String>,
    ) -> Result<LogReport, Error> {
        match &self.judge {
            Judge::Properties(properties) => {
                let mut judge = self.by_properties(properties);
                follow(log, watch, &mut [&mut judge])?;
                Ok(self.report_of_properties(judge))
            }
            Judge::Explicit(_) | Judge::Symbolic(_) => {
                let mut judge = self.by_model()?;
                follow(log, watch, &mut [&mut judge])?;
                report_of_model(judge)
            }
        }
    }

    /// Judges one trace by a specification and by properties beside it, in one pass over the log; the report of
    /// the specification comes first. An action that the specification does not know is an error.
    pub fn log_beside(
        &self,
        properties: &Self,
        log: &mut Log,
        watch: &mut dyn FnMut(u64, usize) -> Option<String>,
    ) -> Result<(LogReport, LogReport), Error> {
        let Judge::Properties(judge) = &properties.judge else {
            return Err(Error::input("a property stands beside a specification"));
        };
        let mut model = self.by_model()?;
        let mut beside = properties.by_properties(judge);
        follow(log, watch, &mut [&mut model, &mut beside])?;
        let model = report_of_model(model)?;
        Ok((model, properties.report_of_properties(beside)))
    }

    fn by_properties(&self, properties: &PropertyJudge) -> TraceJudge<'_, PropertyTester> {
        let alphabet = self.judge.alphabet();
        let mut tester = properties.monitor(&alphabet);
        if self.recording {
            tester = tester.recording();
        }
        TraceJudge::new(&self.judge, alphabet, tester, self.options())
    }

    fn by_model(&self) -> Result<TraceJudge<'_, AnyTester>, Error> {
        let alphabet = self.judge.alphabet();
        let tester = self.judge.tester(&alphabet)?;
        Ok(TraceJudge::new(
            &self.judge,
            alphabet,
            tester,
            self.options(),
        ))
    }

    fn report_of_properties(&self, judge: TraceJudge<'_, PropertyTester>) -> LogReport {
        let (tester, mut report) = judge.report();
        report.properties = tester.outcomes();
        if report.broken_off.is_some() {
            for outcome in &mut report.properties {
                // What the rest of the log would have settled is open.
                if outcome.step.is_none() {
                    outcome.verdict = Verdict::Unknown;
                }
            }
            let verdicts = report.properties.iter().map(|p| p.verdict);
            report.verdict = Verdict::worst(verdicts).unwrap_or(report.verdict);
        }
        report.certificate = report.certificate.map(|c| self.judge.blame(&c).0);
        report
    }

    fn options(&self) -> MonitorOptions {
        MonitorOptions {
            quiescence: self.quiescence,
            criterion: self.judge.criterion(),
            model: self.judge.reference(),
            context: self.judge.context(),
            channels: self.judge.channels(),
        }
    }

    /// Judges every run of a journal in one pass over it. Runs may overlap, as those of several jobs do;
    /// `each` is given the report of a run with its place in the order of their beginnings, when the run is
    /// over. Returns how many runs there are, and why not all was judged where that is so: runs that
    /// were under way are reported as `unknown` then. They are reported too where the journal cannot be read on, before the
    /// error is returned.
    pub fn journal(
        &self,
        log: &mut Log,
        watch: &mut dyn FnMut(u64, usize) -> Option<String>,
        each: &mut dyn FnMut(JournalRun, LogReport) -> Result<(), Error>,
    ) -> Result<(usize, Option<String>), Error> {
        let mut open: BTreeMap<u64, OpenRun<'_>> = BTreeMap::new();
        let mut idle: Vec<(Alphabet, AnyTester)> = Vec::new();
        let (mut runs, mut steps, mut broken_off) = (0, 0, None);
        let mut failed: Option<Error> = None;
        let mut close = |run: OpenRun<'_>, idle: &mut Vec<_>, broken: Option<(usize, String)>| {
            let (which, pair, report) = run.close(broken)?;
            idle.push(pair);
            each(which, report)
        };
        loop {
            let entry = match log.entry() {
                Ok(entry) => entry,
                Err(error) => {
                    let line = line_of(&error);
                    let reason = watch(steps, line).unwrap_or_else(|| {
                        let error = failed.insert(unreadable(&error));
                        error.message().to_owned()
                    });
                    broken_off = Some((line, reason));
                    break;
                }
            };
            let (run, step) = match entry {
                None => {
                    // A run that was asked for and has ended is there from its beginning to its end.
                    let is_whole = log.is_of_one_run() && open.is_empty();
                    if log.is_torn() && !is_whole {
                        broken_off = Some((log.line(), TORN.to_owned()));
                    }
                    break;
                }
                Some(LogEntry::Crashed(run)) => {
                    if let Some(run) = open.get_mut(&run) {
                        run.crashed = true;
                    }
                    continue;
                }
                Some(LogEntry::RunEnded(run)) => {
                    if let Some(run) = open.remove(&run) {
                        close(run, &mut idle, None)?;
                    }
                    continue;
                }
                Some(LogEntry::RunStarted(run)) => (run, None),
                Some(LogEntry::Step(step)) => match step.run {
                    Some(run) => (run, Some(step)),
                    None => continue,
                },
            };
            if step.is_none() || !open.contains_key(&run) {
                // A number that comes again is another run.
                if let Some(before) = open.remove(&run) {
                    close(before, &mut idle, None)?;
                }
                if open.len() >= MOST_AT_ONCE {
                    let many = format!("more than {MOST_AT_ONCE} runs at the same time");
                    let many = log.fail(many);
                    broken_off = Some((line_of(&many), many.to_string()));
                    failed = Some(unreadable(&many));
                    break;
                }
                let judge = match idle.pop() {
                    Some((alphabet, tester)) => {
                        TraceJudge::new(&self.judge, alphabet, tester, self.options())
                    }
                    None => self.by_model()?,
                };
                let which = JournalRun {
                    order: runs,
                    number: run,
                };
                runs += 1;
                let crashed = false;
                open.insert(
                    run,
                    OpenRun {
                        which,
                        judge,
                        crashed,
                    },
                );
            }
            let (Some(step), Some(run)) = (step, open.get_mut(&run)) else {
                continue;
            };
            if let Some(reason) = watch(steps, step.line) {
                broken_off = Some((step.line, reason));
                break;
            }
            if !run.judge.is_over() {
                if let Err(reason) = run.judge.step(&step) {
                    let line = step.line;
                    let wrong = log.fail(reason);
                    broken_off = Some((line, wrong.to_string()));
                    failed = Some(unreadable(&wrong));
                    break;
                }
                steps += 1;
            }
        }
        for run in open.into_values() {
            close(run, &mut idle, broken_off.clone())?;
        }
        if let Some(error) = failed {
            return Err(error);
        }
        Ok((runs, broken_off.map(|(_, reason)| reason)))
    }
}

/// Runs of a journal that are under way together, at most; each needs a tester.
const MOST_AT_ONCE: usize = 1024;

/// Which run of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalRun {
    /// Its place in the order in which runs began, from 0.
    pub order: usize,
    /// Its number.
    pub number: u64,
}

/// A run of a journal that is not over.
struct OpenRun<'a> {
    which: JournalRun,
    judge: TraceJudge<'a, AnyTester>,
    /// Whether its system ended in it, as the journal says.
    crashed: bool,
}

impl OpenRun<'_> {
    /// The run is over, or is judged no further from a line on for some reason.
    fn close(
        mut self,
        broken: Option<(usize, String)>,
    ) -> Result<(JournalRun, (Alphabet, AnyTester), LogReport), Error> {
        match broken {
            Some((line, reason)) => self.judge.break_off(line, reason),
            None => self.judge.end(),
        }
        let alphabet = self.judge.alphabet().clone();
        let (mut tester, mut report) = self.judge.report();
        if let Some(judged) = &mut report.certificate {
            judged.run = self.which.number;
        }
        // Every step may be right, and that the system ended is no step.
        if self.crashed && !report.verdict.is_failing() {
            report.verdict = Verdict::Crash;
        }
        report.notices = tester.conclude();
        report.reject_fault()?;
        Ok((self.which, (alphabet, tester), report))
    }
}

/// Reads the steps of one trace, for all that judge it.
fn follow(
    log: &mut Log,
    watch: &mut dyn FnMut(u64, usize) -> Option<String>,
    judges: &mut [&mut dyn LogFollower],
) -> Result<(), Error> {
    let mut steps = 0;
    loop {
        let step = log.step();
        let (line, step) = match step {
            Ok(None) => break,
            Ok(Some(step)) => (step.line, Ok(step)),
            Err(error) => (line_of(&error), Err(error)),
        };
        if let Some(reason) = watch(steps, line) {
            for judge in judges {
                judge.break_off(line, reason.clone());
            }
            return Ok(());
        }
        let step = step.map_err(|error| unreadable(&error))?;
        steps += 1;
        let mut all_over = true;
        for judge in &mut *judges {
            match judge.step(&step) {
                Ok(is_over) => all_over &= is_over,
                Err(reason) => return Err(unreadable(&log.fail(reason))),
            }
        }
        if all_over {
            return Ok(());
        }
    }
    // What the rest of a line would have said is not known; what was judged before it counts.
    let is_torn = log.is_torn() && !log.is_between_runs();
    for judge in judges {
        if is_torn {
            judge.break_off(log.line(), TORN.to_owned());
        } else {
            judge.end();
        }
    }
    Ok(())
}

/// Why a log is not judged to its end whose writer was killed.
const TORN: &str = "its last line is torn: the writer was killed, or is writing still";

fn unreadable(error: &ExecError) -> Error {
    Error::input(error.to_string())
}

/// Where in a log something could not be read.
fn line_of(error: &ExecError) -> usize {
    match error {
        ExecError::LogRead { line, .. } => *line,
        _ => 0,
    }
}

fn report_of_model(judge: TraceJudge<'_, AnyTester>) -> Result<LogReport, Error> {
    let (mut tester, mut report) = judge.report();
    report.notices = tester.conclude();
    report.reject_fault()?;
    Ok(report)
}

impl From<Monitored> for LogReport {
    fn from(monitored: Monitored) -> Self {
        let Monitored {
            verdict,
            steps,
            line,
            certificate,
            broken_off,
        } = monitored;
        Self {
            verdict,
            steps,
            line,
            certificate,
            broken_off,
            properties: Vec::new(),
            seen: (0, 0),
            notices: Vec::new(),
        }
    }
}

impl LogReport {
    /// Nothing was judged, for this reason.
    pub fn unknown(reason: String) -> Self {
        Self::from(Monitored {
            verdict: Verdict::Unknown,
            steps: 0,
            line: None,
            certificate: None,
            broken_off: Some(reason),
        })
    }

    /// A solver or an explorer that was caught lying has judged nothing.
    fn reject_fault(&self) -> Result<(), Error> {
        for notice in &self.notices {
            if let Notice::SolverFault(why) | Notice::ModelFault(why) = notice {
                return Err(Error::fault(why.clone()));
            }
        }
        Ok(())
    }
}
