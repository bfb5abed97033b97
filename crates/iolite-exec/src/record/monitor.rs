//! Passive testing: the oracle of a tester on a log that was recorded elsewhere.

use std::io::BufRead;
use std::time::Duration;

use iolite_derive::{ActionId, Channel, Context, Criterion, Progress, Step, Tester, Verdict};

use crate::{Certificate, ExecError, LogReader, LogStep, ModelRef, RunId, Trace};

/// Steps that are kept for the certificate; the log has the others.
const KEPT_STEPS: usize = 1 << 20;

/// What a log shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Monitored {
    /// The verdict.
    pub verdict: Verdict,
    /// Steps that were judged, silences included.
    pub steps: u64,
    /// The line of the log where the verdict came; `None` for the verdict at its end.
    pub line: Option<usize>,
    /// The proof of a failing verdict.
    pub certificate: Option<Certificate>,
    /// Why whoever watched broke it off; the verdict is `unknown` then.
    pub broken_off: Option<String>,
}

/// What monitoring needs to know beside tester and log.
#[derive(Clone, Debug, Default)]
pub struct MonitorOptions {
    /// A gap between the times of two lines that counts as quiescence.
    pub quiescence: Option<Duration>,
    /// What the log is judged by, for certificates.
    pub criterion: Criterion,
    /// The model, for certificates.
    pub model: ModelRef,
    /// What lies between the system and whoever recorded the log.
    pub context: Context,
    /// The channels, where there are several or one loses or reorders messages.
    pub channels: Vec<Channel>,
}

/// Judges a log. An action that the tester's alphabet does not have is an error, with its line:
/// whether it matters is for the user to say, by a template or a map.
pub fn monitor<T: Tester, R: BufRead>(
    tester: &mut T,
    log: &mut LogReader<R>,
    parse: &dyn Fn(&str) -> Option<ActionId>,
    options: &MonitorOptions,
) -> Result<Monitored, ExecError> {
    tester.reset();
    let mut trace = LoggedTrace::default();
    while let Some(read) = log.step()? {
        let step = match read.parsed(parse) {
            Ok(step) => step,
            Err(reason) => return Err(log.fail(reason)),
        };
        if let Some(judged) = trace.step(tester, &read, step, options) {
            return Ok(judged);
        }
    }
    Ok(trace.end(tester, options))
}

/// One trace of a log while it is judged; a journal has one a run.
#[derive(Debug)]
pub struct LoggedTrace {
    trace: Trace,
    last_time: Option<f64>,
    /// Steps that were judged, silences included.
    pub steps: u64,
}

impl Default for LoggedTrace {
    fn default() -> Self {
        Self {
            trace: Trace::new(KEPT_STEPS),
            last_time: None,
            steps: 0,
        }
    }
}

impl LoggedTrace {
    /// Judges the next step; `Some` when the verdict is there.
    pub fn step<T: Tester>(
        &mut self,
        tester: &mut T,
        read: &LogStep<'_>,
        step: Step,
        options: &MonitorOptions,
    ) -> Option<Monitored> {
        let silent = match (options.quiescence, self.last_time, read.time) {
            (Some(patience), Some(before), Some(now)) => now - before >= patience.as_secs_f64(),
            _ => false,
        };
        self.last_time = read.time.or(self.last_time);
        let ended = if silent && step != Step::Quiescence {
            self.take(tester, Step::Quiescence)
        } else {
            None
        };
        let verdict = ended.or_else(|| self.take(tester, step))?;
        Some(self.outcome(tester, verdict, Some(read.line), options))
    }

    fn take<T: Tester>(&mut self, tester: &mut T, step: Step) -> Option<Verdict> {
        let progress = tester.step(step);
        self.steps += 1;
        self.trace.push(step);
        match progress {
            Progress::Ended(verdict) => Some(verdict),
            Progress::Continue => None,
        }
    }

    /// The log ends here.
    pub fn end<T: Tester>(&self, tester: &mut T, options: &MonitorOptions) -> Monitored {
        let verdict = tester.verdict();
        self.outcome(tester, verdict, None, options)
    }

    /// The log goes on, and nobody judges the rest.
    pub fn break_off<T: Tester>(
        &self,
        tester: &mut T,
        line: usize,
        reason: String,
        options: &MonitorOptions,
    ) -> Monitored {
        Monitored {
            broken_off: Some(reason),
            ..self.outcome(tester, Verdict::Unknown, Some(line), options)
        }
    }

    fn outcome<T: Tester>(
        &self,
        tester: &mut T,
        verdict: Verdict,
        line: Option<usize>,
        options: &MonitorOptions,
    ) -> Monitored {
        Monitored {
            verdict,
            steps: self.steps,
            line,
            broken_off: None,
            certificate: verdict.is_failing().then(|| {
                let about = (
                    options.criterion,
                    &options.model,
                    options.context,
                    options.channels.as_slice(),
                );
                Certificate::of(
                    tester,
                    &self.trace,
                    line.is_some(),
                    None,
                    verdict,
                    about,
                    RunId::of(0, 0),
                )
            }),
        }
    }
}
