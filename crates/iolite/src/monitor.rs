//! Passive testing: a log that was recorded elsewhere, judged by a specification or by properties.

use std::cell::Cell;
use std::io::BufRead;
use std::time::Duration;

use iolite_derive::{Alphabet, Notice, PropertyOutcome, Tester, Verdict};
use iolite_exec::{Certificate, LogReader, MonitorOptions, Monitored, monitor_watched};

use crate::{Error, Judge};

/// Judges logs.
pub struct Monitor {
    judge: Judge,
    /// A gap between the times of two lines that counts as quiescence.
    quiescence: Option<Duration>,
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
/// has no opinion, the verdict is the property's own; a property that is not settled says nothing.
pub fn verdict_beside(specification: Verdict, properties: Verdict) -> Verdict {
    match (specification.is_failing(), properties.is_failing()) {
        (true, true) => Verdict::ViolateFail,
        (false, true) if specification == Verdict::Pass => Verdict::Violate,
        (false, true) => properties,
        (_, false) => specification,
    }
}

impl Monitor {
    /// A monitor by a judge.
    pub fn new(judge: Judge, quiescence: Option<Duration>) -> Self {
        Self { judge, quiescence }
    }

    /// Who judges.
    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    /// Judges one trace. `watch` hears before each line how many steps were judged and which line
    /// comes, and may break off with a reason: the verdict is then `unknown`.
    pub fn log<R: BufRead>(
        &self,
        log: &mut LogReader<R>,
        watch: &mut dyn FnMut(u64, usize) -> Option<String>,
    ) -> Result<LogReport, Error> {
        let alphabet = self.judge.alphabet();
        match &self.judge {
            Judge::Properties(properties) => {
                let mut tester = properties.monitor(&alphabet);
                let mut report = self.watched(&mut tester, &alphabet, log, watch)?;
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
                Ok(report)
            }
            Judge::Explicit(_) | Judge::Symbolic(_) => {
                let mut tester = self.judge.tester(&alphabet)?;
                let mut report = self.watched(&mut tester, &alphabet, log, watch)?;
                report.notices = tester.conclude();
                for notice in &report.notices {
                    if let Notice::SolverFault(why) = notice {
                        return Err(Error::fault(why.clone()));
                    }
                }
                Ok(report)
            }
        }
    }

    fn watched<T: Tester, R: BufRead>(
        &self,
        tester: &mut T,
        alphabet: &Alphabet,
        log: &mut LogReader<R>,
        watch: &mut dyn FnMut(u64, usize) -> Option<String>,
    ) -> Result<LogReport, Error> {
        let (seen, unseen) = (Cell::new(0), Cell::new(0));
        let read = |text: &str| {
            let action = self.judge.read_action(alphabet, text)?;
            let properties = self.judge.properties();
            let count = if properties.is_some_and(|p| p.is_unseen(action)) {
                &unseen
            } else {
                &seen
            };
            count.set(count.get() + 1);
            Some(action)
        };
        let options = MonitorOptions {
            quiescence: self.quiescence,
            criterion: self.judge.criterion(),
            model: self.judge.reference(),
            context: self.judge.context(),
            channels: self.judge.channels(),
        };
        let Monitored {
            verdict,
            steps,
            line,
            certificate,
            broken_off,
        } = monitor_watched(tester, log, &read, &options, watch)
            .map_err(|e| Error::input(e.to_string()))?;
        Ok(LogReport {
            verdict,
            steps,
            line,
            certificate,
            broken_off,
            properties: Vec::new(),
            seen: (seen.get(), unseen.get()),
            notices: Vec::new(),
        })
    }
}
