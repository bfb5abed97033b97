//! Passive testing: the oracle of a tester on a log that was recorded elsewhere.

use std::borrow::Cow;
use std::io::{BufRead, Read as _};
use std::time::Duration;

use iolite_derive::{ActionId, Channel, Context, Criterion, Progress, Step, Tester, Verdict};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;

use crate::codec::concrete_action::integer;
use crate::codec::{ActionMap, ChannelId, Message, Template, Typing};
use crate::{Certificate, ConcreteAction, ExecError, ModelRef, RunId, Trace, WireValue, brief};

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
    /// The run it is of, where the log is a journal.
    pub run: Option<u64>,
    /// What the line says of the sorts of its values; nothing beyond the notation where it is empty.
    typing: Vec<Typing>,
}

/// What a line of a log says.
#[derive(Clone, Debug, PartialEq)]
pub enum LogEntry {
    /// A step.
    Step(LogStep),
    /// A run of a journal begins.
    RunStarted(u64),
    /// It is over.
    RunEnded(u64),
}

/// A step's text, time and what is known of its sorts.
type Read = (String, Option<f64>, Vec<Typing>);

/// Values of one action that are tried as others than they look like.
const LOOSE: usize = 6;

impl LogStep {
    /// The other ways to read the step, where a line does not say of what sort a value is: text
    /// without quotes that looks like a number, and text in a hole.
    fn other_readings(&self) -> Vec<String> {
        let Some(text) = self.text.strip_prefix(['?', '!']) else {
            return Vec::new();
        };
        let sigil = &self.text[..1];
        let heard = Message {
            typing: self.typing.clone(),
            ..Message::notation(text)
        };
        let args = &heard.action.args;
        let other = |(i, value): (usize, &WireValue)| match (heard.typing(i), value) {
            (Typing::Json, _) => None,
            (_, WireValue::Int(_) | WireValue::Bool(_)) => {
                Some((i, WireValue::Text(value.to_string())))
            }
            (Typing::Text, WireValue::Text(text)) => match text.parse() {
                Ok(b) => Some((i, WireValue::Bool(b))),
                Err(_) => integer(text.as_bytes()).map(|n| (i, WireValue::Int(n))),
            },
            _ => None,
        };
        let loose: Vec<_> = args
            .iter()
            .enumerate()
            .filter_map(other)
            .take(LOOSE)
            .collect();
        let reading = |chosen: usize| {
            let mut action = heard.action.clone();
            for (k, (i, value)) in loose.iter().enumerate() {
                if chosen & (1 << k) != 0 {
                    action.args[*i] = value.clone();
                }
            }
            format!("{sigil}{action}")
        };
        (1..1 << loose.len()).map(reading).collect()
    }
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

    /// The error that the line read last is not what it should be.
    pub fn fail(&self, reason: impl std::fmt::Display) -> ExecError {
        ExecError::LogRead {
            path: self.name.clone(),
            line: self.line,
            reason: reason.to_string(),
        }
    }

    /// The next step, or `None` at the end of the log. A torn last line of a JSON log is its end.
    pub fn step(&mut self) -> Result<Option<LogStep>, ExecError> {
        loop {
            match self.entry()? {
                None => return Ok(None),
                Some(LogEntry::Step(step)) => return Ok(Some(step)),
                Some(LogEntry::RunStarted(_) | LogEntry::RunEnded(_)) => {}
            }
        }
    }

    /// The same with where the runs of a journal begin and end.
    pub fn entry(&mut self) -> Result<Option<LogEntry>, ExecError> {
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
            if self.bytes.trim_ascii_start().is_empty() {
                continue;
            }
            let mut run = None;
            let step = match &self.format {
                LogFormat::JsonLines
                    if self.run.is_none()
                        && !self.in_journal
                        && let Some(action) = plain_action(&self.bytes) =>
                {
                    Some((action.to_owned(), None, Vec::new()))
                }
                LogFormat::JsonLines => match json_line(&self.bytes) {
                    Ok(line) => {
                        self.in_journal |= line.journal.is_some();
                        run = line.run.and_then(of_json);
                        if self.run.is_some() && run != self.run {
                            continue;
                        }
                        if let (true, Some(run)) = (self.in_journal, run)
                            && let Some(entry) = line.border(run)
                        {
                            return Ok(Some(entry));
                        }
                        json_step(&line).map_err(|e| self.fail(e))?
                    }
                    // A last line may be torn where its writer was killed.
                    Err(e) if !whole && (self.in_journal || e.is_eof()) => return Ok(None),
                    Err(e) => return Err(self.fail(e)),
                },
                LogFormat::Text { .. } => self.text_step()?,
            };
            if let Some((text, time, typing)) = step {
                return Ok(Some(LogEntry::Step(LogStep {
                    line: self.line,
                    text,
                    time,
                    run,
                    typing,
                })));
            }
        }
    }

    fn text_step(&self) -> Result<Option<Read>, ExecError> {
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
                            WireValue::Text(t) => t.clone(),
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
                return Ok(Some((format!("?{action}"), time, template.typing())));
            }
        }
        if let Ok(text @ ("delta" | "deadlock")) = std::str::from_utf8(message) {
            return Ok(Some((text.into(), time, Vec::new())));
        }
        if let Some(text) = std::str::from_utf8(message)
            .ok()
            .filter(|t| t.len() > 1 && t.starts_with(['?', '!']))
        {
            return Ok(Some((text.into(), time, Vec::new())));
        }
        match outputs.decode_as(ChannelId::FIRST, message, Ok) {
            // Without a rule every line would be an output of its own.
            Ok(Message { action, typing, .. })
                if outputs.names().any(|name| name == action.name) =>
            {
                Ok(Some((format!("!{action}"), time, typing)))
            }
            _ if *skip_other => Ok(None),
            Ok(heard) => {
                let action = heard.action.to_string();
                Err(self.fail(format!("no template fits {}", brief(&action))))
            }
            Err(e) => Err(self.fail(format!("{e}\n{}", crate::hexdump(message)))),
        }
    }
}

/// The fields of a line that matter; a document that is no object has none.
#[derive(Default, Deserialize)]
#[serde(default)]
struct JsonLine<'a> {
    journal: Option<IgnoredAny>,
    #[serde(borrow)]
    run: Option<&'a RawValue>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    time: Option<&'a RawValue>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

impl JsonLine<'_> {
    /// Whether a run begins or ends here.
    fn border(&self, run: u64) -> Option<LogEntry> {
        match &*text_of_json(self.event?)? {
            "run-started" => Some(LogEntry::RunStarted(run)),
            "run-ended" | "fault" => Some(LogEntry::RunEnded(run)),
            _ => None,
        }
    }
}

/// The action of a line that is `{"action":"…"}` and nothing else, as most lines of most logs are: they are
/// read without a look at what else JSON could be.
fn plain_action(bytes: &[u8]) -> Option<&str> {
    let rest = bytes.strip_prefix(b"{\"action\":")?;
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let text = rest.strip_prefix(b"\"")?.strip_suffix(b"\"}")?;
    let plain = |b: &u8| *b >= b' ' && *b != b'"' && *b != b'\\';
    if !text.iter().all(plain) {
        return None;
    }
    std::str::from_utf8(text).ok()
}

fn json_line(bytes: &[u8]) -> Result<JsonLine<'_>, serde_json::Error> {
    if bytes.trim_ascii_start().first() == Some(&b'{') {
        serde_json::from_slice(bytes)
    } else {
        serde_json::from_slice(bytes).map(|IgnoredAny| JsonLine::default())
    }
}

fn of_json<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// A text, as it stands in the line where nothing in it is escaped.
fn text_of_json(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get().strip_prefix('"')?;
    if text.contains('\\') {
        return serde_json::from_str(raw.get()).ok().map(Cow::Owned);
    }
    text.strip_suffix('"').map(Cow::Borrowed)
}

fn json_step(line: &JsonLine<'_>) -> Result<Option<Read>, String> {
    let time = line.time.and_then(of_json);
    let plain = |text: Cow<'_, str>| (text.into_owned(), time, Vec::new());
    if let Some(event) = line.event.and_then(text_of_json) {
        let text = match &*event {
            "quiescence" => Some("delta".into()),
            "deadlock" => Some("deadlock".into()),
            "stimulus" | "output" => line.action.and_then(text_of_json),
            _ => None,
        };
        return Ok(text.map(plain));
    }
    let said = [line.input, line.output, line.action];
    if said.iter().flatten().count() > 1 {
        return Err("more than one of \"input\", \"output\" and \"action\"".to_owned());
    }
    for (key, name, sigil) in [("input", line.input, "?"), ("output", line.output, "!")] {
        if let Some(name) = name {
            let action =
                ConcreteAction::of_json(name, line.args).map_err(|e| format!("{key}: {e}"))?;
            let typing = vec![Typing::Json; action.args.len()];
            return Ok(Some((format!("{sigil}{action}"), time, typing)));
        }
    }
    match line.action {
        Some(raw) => match text_of_json(raw) {
            Some(text) => Ok(Some(plain(text))),
            None => Err(format!("\"action\": {raw} is no text")),
        },
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
    monitor_watched(tester, log, parse, options, &mut |_, _| None)
}

/// The same, with somebody who hears before each line how many steps were judged and which line comes,
/// and may break off with a reason: the rest of the log is not judged, so the verdict is `unknown`.
pub fn monitor_watched<T: Tester, R: BufRead>(
    tester: &mut T,
    log: &mut LogReader<R>,
    parse: &dyn Fn(&str) -> Option<ActionId>,
    options: &MonitorOptions,
    watch: &mut dyn FnMut(u64, usize) -> Option<String>,
) -> Result<Monitored, ExecError> {
    tester.reset();
    let mut trace = LoggedTrace::default();
    while let Some(read) = log.step()? {
        if let Some(reason) = watch(trace.steps, read.line) {
            return Ok(trace.break_off(tester, read.line, reason, options));
        }
        let step = read.parsed(parse).map_err(|reason| log.fail(reason))?;
        if let Some(judged) = trace.step(tester, &read, step, options) {
            return Ok(judged);
        }
    }
    Ok(trace.end(tester, options))
}

impl LogStep {
    /// The step, as `parse` reads its action; else why not.
    pub fn parsed(&self, parse: &dyn Fn(&str) -> Option<ActionId>) -> Result<Step, String> {
        let others = || self.other_readings();
        Step::parse(&self.text, parse)
            .or_else(|| others().iter().find_map(|text| Step::parse(text, parse)))
            .ok_or_else(|| {
                let json = if self.typing.contains(&Typing::Json) {
                    "; what is read as JSON has its JSON type and no other"
                } else {
                    ""
                };
                let action = brief(&self.text);
                format!("the model does not know action {action}{json}")
            })
    }
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
        read: &LogStep,
        step: Step,
        options: &MonitorOptions,
    ) -> Option<Monitored> {
        let silent = match (options.quiescence, self.last_time, read.time) {
            (Some(patience), Some(before), Some(now)) => now - before >= patience.as_secs_f64(),
            _ => false,
        };
        self.last_time = read.time.or(self.last_time);
        let delta = (silent && step != Step::Quiescence).then_some(Step::Quiescence);
        for step in delta.into_iter().chain([step]) {
            let progress = tester.step(step);
            self.steps += 1;
            self.trace.push(step);
            if let Progress::Ended(verdict) = progress {
                return Some(self.outcome(tester, verdict, Some(read.line), options));
            }
        }
        None
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The short way says what the long one says, or nothing.
    #[test]
    fn plain_actions_are_what_json_says() {
        let lines: [&[u8]; 12] = [
            br#"{"action":"?a"}"#,
            br#"{"action": "!x(1, \"b\")"}"#,
            br#"{"action":"!x(1)"}"#,
            br#"{"action":""}"#,
            br#"{"action":"a","time":1}"#,
            br#"{"action":"a","input":"b"}"#,
            br#"{"action":"a"} "#,
            br#"{"action":"\u0041"}"#,
            b"{\"action\":\"a\tb\"}",
            b"{\"action\":\"\xff\"}",
            "{\"action\":\"δ\"}".as_bytes(),
            br#"{"action":"}"#,
        ];
        let mut plain = 0;
        for line in lines {
            let Some(short) = plain_action(line) else {
                continue;
            };
            plain += 1;
            let long = json_step(&json_line(line).unwrap()).unwrap();
            assert_eq!(long, Some((short.to_owned(), None, Vec::new())));
        }
        assert_eq!(plain, 4);
    }
}
