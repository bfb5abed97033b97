//! Passive testing: the oracle of a tester on a log that was recorded elsewhere.

use std::io::{BufRead, Read};
use std::time::Duration;

use iolite_derive::{Progress, Tester, Verdict};
use serde_json::Value;

use crate::codec::{ActionMap, ChannelId, Template};
use crate::engine::tell_tester;
use crate::{Certificate, ConcreteAction, ExecError, ModelRef, RunId, Step, Trace};

/// How a log is written.
#[derive(Clone, Debug)]
pub enum LogFormat {
    /// A JSON document a line: a journal of ours, or `{"action": "?a"}`, or
    /// `{"input": "a", "args": [1]}` and `{"output": "x", "args": []}`; with `"time"` in seconds,
    /// silence can be seen. Lines with none of these are not steps.
    JsonLines,
    /// Text, a message a line: first templates of inputs, then of outputs are tried.
    Text {
        /// What is before a message, with a hole `{time}` in seconds where it has one.
        prefix: Option<Template>,
        /// The inputs, as the system's description has them for sending.
        inputs: Vec<(String, Template)>,
        /// The outputs.
        outputs: ActionMap,
        /// Lines that fit nothing are left out; otherwise they are an error.
        skip_other: bool,
    },
}

/// One line of a log that is a step.
#[derive(Clone, Debug, PartialEq)]
pub struct LogStep {
    /// Line of the log, from 1.
    pub line: usize,
    /// The step in `?a`, `!x`, `delta`, `deadlock` notation.
    pub text: String,
    /// When, in seconds.
    pub time: Option<f64>,
}

/// Steps that are kept for the certificate; the log has the others.
const KEPT_STEPS: usize = 1 << 20;

/// Bytes of one line; more is no log.
const LINE: u64 = 16 << 20;

/// Reads the steps of a log, one at a time.
pub struct LogReader<R> {
    reader: R,
    name: String,
    format: LogFormat,
    line: usize,
    bytes: Vec<u8>,
    /// Whether the first line was the header of a journal.
    in_journal: bool,
    /// Steps of this run of a journal alone.
    run: Option<u64>,
}

impl<R: BufRead> LogReader<R> {
    /// A reader of the log; `name` is for messages.
    pub fn new(reader: R, name: &str, format: LogFormat) -> Self {
        Self {
            reader,
            name: name.into(),
            format,
            line: 0,
            bytes: Vec::new(),
            in_journal: false,
            run: None,
        }
    }

    /// Reads the steps of one run of a journal and no others.
    #[must_use]
    pub fn of_run(mut self, run: u64) -> Self {
        self.run = Some(run);
        self
    }

    fn fail(&self, reason: impl std::fmt::Display) -> ExecError {
        ExecError::LogRead {
            path: self.name.clone(),
            line: self.line,
            reason: reason.to_string(),
        }
    }

    /// The next step, or `None` at the end of the log. A torn last line of a JSON log is its end.
    pub fn step(&mut self) -> Result<Option<LogStep>, ExecError> {
        loop {
            self.line += 1;
            self.bytes.clear();
            let count = self
                .reader
                .by_ref()
                .take(LINE)
                .read_until(b'\n', &mut self.bytes)
                .map_err(|e| self.fail(e))?;
            if count == 0 {
                return Ok(None);
            }
            let whole = self.bytes.last() == Some(&b'\n');
            if !whole && count as u64 == LINE {
                return Err(self.fail(format!("a line of more than {LINE} bytes")));
            }
            while matches!(self.bytes.last(), Some(b'\n' | b'\r')) {
                self.bytes.pop();
            }
            if self.bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let step = match &self.format {
                LogFormat::JsonLines => match serde_json::from_slice::<Value>(&self.bytes) {
                    Ok(value) => {
                        self.in_journal |= value.get("journal").is_some();
                        let run = value.get("run").and_then(Value::as_u64);
                        if self.run.is_some() && run != self.run {
                            continue;
                        }
                        json_step(&value).map_err(|e| self.fail(e))?
                    }
                    // A last line may be torn where its writer was killed.
                    Err(e) if !whole && (self.in_journal || e.is_eof()) => return Ok(None),
                    Err(e) => return Err(self.fail(e)),
                },
                LogFormat::Text { .. } => self.text_step()?,
            };
            if let Some((text, time)) = step {
                return Ok(Some(LogStep {
                    line: self.line,
                    text,
                    time,
                }));
            }
        }
    }

    fn text_step(&self) -> Result<Option<(String, Option<f64>)>, ExecError> {
        let LogFormat::Text {
            prefix,
            inputs,
            outputs,
            skip_other,
        } = &self.format
        else {
            return Ok(None);
        };
        let mut message = &*self.bytes;
        let mut time = None;
        let mut body = Vec::new();
        if let Some(prefix) = prefix {
            // The prefix's last hole is the message.
            match prefix.read(message) {
                Ok(values) => {
                    for (name, value) in prefix.params().iter().zip(&values) {
                        let text = match value {
                            crate::WireValue::Text(t) => t.clone(),
                            other => other.to_string(),
                        };
                        match name.as_str() {
                            "time" => time = text.parse().ok(),
                            "message" => body = text.into_bytes(),
                            _ => {}
                        }
                    }
                    message = &body;
                }
                Err(_) if *skip_other => return Ok(None),
                Err(e) => return Err(self.fail(e)),
            }
        }
        for (name, template) in inputs {
            if let Ok(args) = template.read(message) {
                let action = ConcreteAction {
                    name: name.clone(),
                    args,
                };
                return Ok(Some((format!("?{action}"), time)));
            }
        }
        if let Ok(text @ ("delta" | "deadlock")) = std::str::from_utf8(message) {
            return Ok(Some((text.into(), time)));
        }
        if let Some(text) = std::str::from_utf8(message)
            .ok()
            .filter(|t| t.len() > 1 && t.starts_with(['?', '!']))
        {
            return Ok(Some((text.into(), time)));
        }
        match outputs.decode(ChannelId::FIRST, message) {
            // Without a rule every line would be an output of its own.
            Ok(action) if outputs.names().any(|name| name == action.name) => {
                Ok(Some((format!("!{action}"), time)))
            }
            _ if *skip_other => Ok(None),
            Ok(action) => Err(self.fail(format!("no template fits {action}"))),
            Err(e) => Err(self.fail(format!("{e}\n{}", crate::hexdump(message)))),
        }
    }
}

fn json_step(value: &Value) -> Result<Option<(String, Option<f64>)>, String> {
    let time = value.get("time").and_then(Value::as_f64);
    if let Some(event) = value.get("event").and_then(Value::as_str) {
        let text = match event {
            "quiescence" => Some("delta".to_owned()),
            "deadlock" => Some("deadlock".to_owned()),
            "stimulus" | "output" => value
                .get("action")
                .and_then(Value::as_str)
                .map(ToOwned::to_owned),
            _ => None,
        };
        return Ok(text.map(|text| (text, time)));
    }
    let said = ["input", "output", "action"].map(|key| value.get(key).is_some());
    if said.iter().filter(|said| **said).count() > 1 {
        return Err("more than one of \"input\", \"output\" and \"action\"".to_owned());
    }
    for (key, sigil) in [("input", "?"), ("output", "!")] {
        if let Some(name) = value.get(key) {
            let mut named = serde_json::Map::new();
            named.insert("name".into(), name.clone());
            if let Some(args) = value.get("args") {
                named.insert("args".into(), args.clone());
            }
            let action = ConcreteAction::of_json(&Value::Object(named))
                .map_err(|e| format!("{key}: {e}"))?;
            return Ok(Some((format!("{sigil}{action}"), time)));
        }
    }
    match value.get("action") {
        Some(Value::String(text)) => Ok(Some((text.clone(), time))),
        Some(other) => Err(format!("\"action\": {other} is no text")),
        None => Ok(None),
    }
}

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
    /// The relation or tester, for certificates.
    pub kind: String,
    /// The model, for certificates.
    pub model: ModelRef,
}

/// Judges a log. An action that the tester's alphabet does not have is an error, with its line:
/// whether it matters is for the user to say, by a template or a map.
pub fn monitor<T: Tester, R: BufRead>(
    tester: &mut T,
    log: &mut LogReader<R>,
    parse: &dyn Fn(&str) -> Option<T::Action>,
    options: &MonitorOptions,
) -> Result<Monitored, ExecError> {
    monitor_watched(tester, log, parse, options, &mut |_, _| None)
}

/// The same, with somebody who hears before each line how many steps were judged and which line comes,
/// and may break off with a reason: the rest of the log is not judged, so the verdict is `unknown`.
pub fn monitor_watched<T: Tester, R: BufRead>(
    tester: &mut T,
    log: &mut LogReader<R>,
    parse: &dyn Fn(&str) -> Option<T::Action>,
    options: &MonitorOptions,
    watch: &mut dyn FnMut(u64, usize) -> Option<String>,
) -> Result<Monitored, ExecError> {
    tester.reset();
    let mut trace = Trace::new(KEPT_STEPS);
    let mut last_time: Option<f64> = None;
    let mut steps = 0;
    while let Some(read) = log.step()? {
        if let Some(reason) = watch(steps, read.line) {
            let (verdict, line) = (Verdict::Unknown, Some(read.line));
            return Ok(Monitored {
                broken_off: Some(reason),
                ..outcome(tester, &trace, verdict, steps, line, options)
            });
        }
        let step = Step::parse(&read.text, parse)
            .ok_or_else(|| log.fail(format!("the model does not know action {}", read.text)))?;
        let silent = match (options.quiescence, last_time, read.time) {
            (Some(patience), Some(before), Some(now)) => now - before >= patience.as_secs_f64(),
            _ => false,
        };
        last_time = read.time.or(last_time);
        let delta = (silent && step != Step::Quiescence).then_some(Step::Quiescence);
        for step in delta.into_iter().chain([step]) {
            let progress = tell_tester(tester, &step);
            steps += 1;
            trace.push(step);
            if let Progress::Ended(verdict) = progress {
                return Ok(outcome(
                    tester,
                    &trace,
                    verdict,
                    steps,
                    Some(read.line),
                    options,
                ));
            }
        }
    }
    let verdict = tester.verdict();
    Ok(outcome(tester, &trace, verdict, steps, None, options))
}

fn outcome<T: Tester>(
    tester: &mut T,
    trace: &Trace<T::Action>,
    verdict: Verdict,
    steps: u64,
    line: Option<usize>,
    options: &MonitorOptions,
) -> Monitored {
    Monitored {
        verdict,
        steps,
        line,
        broken_off: None,
        certificate: verdict.is_failing().then(|| {
            let about = (options.kind.as_str(), &options.model);
            Certificate::of(
                tester,
                trace,
                line.is_some(),
                None,
                verdict,
                about,
                RunId::of(0, 0),
            )
        }),
    }
}
