//! Logs that were recorded elsewhere, and journals: their steps, one at a time.

use std::borrow::Cow;
use std::io::{BufRead, Read as _};

use iolite_derive::{ActionId, Step};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;

use super::compact_lines::is_compact;
use super::compact_records::{CompactRecords, Record, StepKind, StepRecord};
use crate::codec::concrete_action::integer;
use crate::codec::{ActionMap, ChannelId, Message, Template, Typing};
use crate::{ConcreteAction, Event, ExecError, WireValue, brief};

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
        /// The templates of a system's description: inputs as they are sent, outputs as they are read.
        templates: ActionMap,
        /// Lines that fit nothing are left out; otherwise they are an error.
        skip_other: bool,
    },
}

/// One line of a log that is a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogStep<'a> {
    /// Line of the log, from 1.
    pub line: usize,
    /// The step in `?a`, `!x`, `delta`, `deadlock` notation.
    pub text: &'a str,
    /// A number that the text has in this log, small where the text is met early; in some logs only.
    pub number: Option<usize>,
    /// When, in seconds.
    pub time: Option<f64>,
    /// The run it is of, where the log is a journal.
    pub run: Option<u64>,
    /// What the line says of the sorts of its values; nothing beyond the notation where it is empty.
    typing: &'a [Typing],
}

/// What a line of a log says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LogEntry<'a> {
    /// A step.
    Step(LogStep<'a>),
    /// A run of a journal begins.
    RunStarted(u64),
    /// The system has ended in it, which is a failure of its own.
    Crashed(u64),
    /// It is over.
    RunEnded(u64),
}

/// What was found in a log; texts are where the reader has them.
enum Found {
    Step {
        time: Option<f64>,
        run: Option<u64>,
        text: FoundText,
    },
    RunStarted(u64),
    Crashed(u64),
    RunEnded(u64),
}

/// Where the text of a step is.
#[derive(Clone, Copy)]
enum FoundText {
    /// Among the texts of a journal in the compact form.
    Numbered(usize),
    /// In the reader's own buffer, with what is known of its sorts.
    Buffer,
    /// It is always the same.
    Fixed(&'static str),
}

impl StepRecord {
    fn text(&self) -> FoundText {
        match self.kind {
            StepKind::Stimulus(text) | StepKind::Output(text) => FoundText::Numbered(text.index()),
            StepKind::Quiescence { .. } => FoundText::Fixed("delta"),
        }
    }
}

/// Why a line cannot be read. Small, since it is part of what is returned for every step.
type Reason = Box<dyn std::error::Error + Send + Sync>;

/// A step's text, time and what is known of its sorts.
type Read = (String, Option<f64>, Vec<Typing>);

/// Values of one action that are tried as others than they look like.
const LOOSE: usize = 6;

impl LogStep<'_> {
    /// The other ways to read the step, where a line does not say of what sort a value is: text
    /// without quotes that looks like a number, and text in a hole.
    fn other_readings(&self) -> Vec<String> {
        let Some(text) = self.text.strip_prefix(['?', '!']) else {
            return Vec::new();
        };
        let sigil = &self.text[..1];
        let heard = Message {
            typing: self.typing.to_vec(),
            ..Message::notation(text)
        };
        let args = &heard.action.args;
        let other = |(i, value): (usize, &WireValue)| match (heard.typing(i), value) {
            (Typing::Json, _) => None,
            (_, WireValue::Int(_) | WireValue::Number(_) | WireValue::Bool(_)) => {
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

    /// Whether the line says nothing of the step beyond its notation.
    pub fn is_plain(&self) -> bool {
        self.typing.is_empty()
    }

    /// The step, as `parse` reads its action; else why not.
    pub fn parsed(&self, parse: &dyn Fn(&str) -> Option<ActionId>) -> Result<Step, String> {
        let others = || self.other_readings();
        Step::parse(self.text, parse)
            .or_else(|| others().iter().find_map(|text| Step::parse(text, parse)))
            .ok_or_else(|| {
                let json = if self.typing.contains(&Typing::Json) {
                    "; what is read as JSON has its JSON type and no other"
                } else {
                    ""
                };
                let action = brief(self.text);
                format!("the model does not know action {action}{json}")
            })
    }
}

/// Bytes of one line; more is no log.
const LINE: u64 = 16 << 20;

/// The runs of a journal whose steps are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    All,
    /// The run of this number.
    Run(u64),
    /// The first that begins.
    First,
}

impl Wanted {
    /// Whether the steps of a run are left out.
    fn leaves_out(self, run: Option<u64>) -> bool {
        match self {
            Self::All => false,
            Self::Run(wanted) => run != Some(wanted),
            Self::First => true,
        }
    }

    /// The run and the step of a line in one of the forms that most lines have.
    fn plain(self, line: &[u8], in_journal: bool) -> Option<(Option<u64>, &str)> {
        if let Some((run, text)) = plain_event(line) {
            return Some((Some(run), text));
        }
        if self != Self::All || in_journal {
            return None;
        }
        plain_action(line).map(|text| (None, text))
    }
}

/// Reads the steps of a log, one at a time. A journal in the compact form counts lines as the other form has
/// them.
pub struct LogReader<R> {
    reader: R,
    name: String,
    format: LogFormat,
    line: usize,
    bytes: Vec<u8>,
    /// Where the reader is in a journal in the compact form.
    records: Option<CompactRecords>,
    /// The text of a step, and the sorts of its values.
    text: String,
    typing: Vec<Typing>,
    /// Whether the first line was the header of a journal.
    in_journal: bool,
    wanted: Wanted,
    /// Runs that began, and those of them that are wanted.
    begun: (usize, usize),
    /// Whether the last line of a JSON log was torn.
    torn: bool,
    /// Whether the run that was read last is over, as its journal says.
    between_runs: bool,
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
            records: None,
            text: String::new(),
            typing: Vec::new(),
            in_journal: false,
            wanted: Wanted::All,
            begun: (0, 0),
            torn: false,
            between_runs: false,
        }
    }

    /// Reads the steps of one run of a journal and no others.
    #[must_use]
    pub fn of_run(mut self, run: u64) -> Self {
        self.wanted = Wanted::Run(run);
        self
    }

    /// Reads the steps of the run of a journal that begins first, and no others.
    #[must_use]
    pub fn of_first_run(mut self) -> Self {
        self.wanted = Wanted::First;
        self
    }

    /// How many runs began in what was read of the journal, and how many of these have the wanted number:
    /// all where no number was asked for.
    pub fn begun(&self) -> (usize, usize) {
        self.begun
    }

    /// Whether the log ended in the middle of a line: its writer was killed, and what that line said is not known.
    pub fn is_torn(&self) -> bool {
        self.torn || self.records.as_ref().is_some_and(CompactRecords::is_torn)
    }

    /// Whether the run that was read last had ended, as its journal says, so that nothing of it is missing.
    pub fn is_between_runs(&self) -> bool {
        self.between_runs
    }

    /// Whether the steps of one run of a journal are read and no others.
    pub fn is_of_one_run(&self) -> bool {
        !matches!(self.wanted, Wanted::All)
    }

    /// The line that was read last.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The error that the line read last is not what it should be.
    pub fn fail(&self, reason: impl std::fmt::Display) -> ExecError {
        ExecError::LogRead {
            path: self.name.clone(),
            line: self.line,
            reason: reason.to_string(),
        }
    }

    /// The next step, or `None` at the end of the log. A torn last line of a JSON log is its end, and [`Self::is_torn`] says so.
    pub fn step(&mut self) -> Result<Option<LogStep<'_>>, ExecError> {
        loop {
            if let Some(step) = self.records.as_mut().and_then(CompactRecords::next_step) {
                self.line += 1;
                if self.leaves_out(Some(step.run)) {
                    continue;
                }
                return Ok(Some(self.found(None, Some(step.run), step.text())));
            }
            match self.find().map_err(|reason| self.fail(reason))? {
                None => return Ok(None),
                Some(Found::Step { time, run, text }) => {
                    return Ok(Some(self.found(time, run, text)));
                }
                Some(Found::RunStarted(_)) => self.between_runs = false,
                Some(Found::RunEnded(_)) => self.between_runs = true,
                // Whoever asks for steps alone judges what was done, and not how it ended.
                Some(Found::Crashed(_)) => {}
            }
        }
    }

    /// The same with where the runs of a journal begin and end.
    pub fn entry(&mut self) -> Result<Option<LogEntry<'_>>, ExecError> {
        let found = self.find().map_err(|reason| self.fail(reason))?;
        Ok(found.map(|found| match found {
            Found::Step { time, run, text } => LogEntry::Step(self.found(time, run, text)),
            Found::RunStarted(run) => LogEntry::RunStarted(run),
            Found::Crashed(run) => LogEntry::Crashed(run),
            Found::RunEnded(run) => LogEntry::RunEnded(run),
        }))
    }

    fn found(&self, time: Option<f64>, run: Option<u64>, text: FoundText) -> LogStep<'_> {
        let (text, number, typing) = match text {
            FoundText::Buffer => (&*self.text, None, &*self.typing),
            FoundText::Fixed(text) => (text, None, &[][..]),
            FoundText::Numbered(number) => {
                let texts = self.records.as_ref().map_or(&[][..], CompactRecords::texts);
                (&*texts[number], Some(number), &[][..])
            }
        };
        LogStep {
            line: self.line,
            text,
            number,
            time,
            run,
            typing,
        }
    }

    /// Whether the steps of a run are left out.
    fn leaves_out(&self, run: Option<u64>) -> bool {
        self.wanted.leaves_out(run)
    }

    /// A run begins.
    fn begin(&mut self, run: u64) {
        self.begun.0 += 1;
        match self.wanted {
            Wanted::First => self.wanted = Wanted::Run(run),
            Wanted::Run(wanted) if wanted != run => return,
            Wanted::All | Wanted::Run(_) => {}
        }
        self.begun.1 += 1;
    }

    /// What comes next, or why it cannot be read.
    fn find(&mut self) -> Result<Option<Found>, Reason> {
        if self.line == 0
            && matches!(self.format, LogFormat::JsonLines)
            && is_compact(&mut self.reader)?
        {
            self.read_line()?;
            json_line(&self.bytes)?;
            self.in_journal = true;
            self.records = Some(CompactRecords::default());
        }
        if self.records.is_some() {
            self.find_record()
        } else {
            self.find_line()
        }
    }

    /// Reads a line and takes its end away; how many bytes it had, and whether it was whole.
    fn read_line(&mut self) -> Result<(usize, bool), Reason> {
        self.line += 1;
        self.bytes.clear();
        let count = self
            .reader
            .by_ref()
            .take(LINE)
            .read_until(b'\n', &mut self.bytes)?;
        let whole = self.bytes.last() == Some(&b'\n');
        if !whole && count as u64 == LINE {
            return Err(format!("a line of more than {LINE} bytes").into());
        }
        while matches!(self.bytes.last(), Some(b'\n' | b'\r')) {
            self.bytes.pop();
        }
        Ok((count, whole))
    }

    /// Keeps a step in the reader's own buffer.
    fn keep(&mut self, (text, time, typing): Read, run: Option<u64>) -> Found {
        self.text = text;
        self.typing = typing;
        let text = FoundText::Buffer;
        Found::Step { time, run, text }
    }

    /// What comes next in a journal in the compact form.
    fn find_record(&mut self) -> Result<Option<Found>, Reason> {
        while let Some(records) = &mut self.records {
            self.line += 1;
            let record = records.next(&mut self.reader)?;
            let (run, text) = match record {
                None | Some(Record::Torn) => return Ok(None),
                Some(Record::Step(step)) => (step.run, step.text()),
                Some(Record::Event(event)) => match *event {
                    Event::RunStarted { run, .. } => {
                        self.begin(run);
                        if self.leaves_out(Some(run)) {
                            continue;
                        }
                        return Ok(Some(Found::RunStarted(run)));
                    }
                    Event::RunEnded { run, .. } | Event::Fault { run, .. } => {
                        if self.leaves_out(Some(run)) {
                            continue;
                        }
                        return Ok(Some(Found::RunEnded(run)));
                    }
                    Event::Crash { run, .. } => {
                        if self.leaves_out(Some(run)) {
                            continue;
                        }
                        return Ok(Some(Found::Crashed(run)));
                    }
                    Event::Stimulus { run, action, .. } | Event::Output { run, action, .. } => {
                        self.text.clear();
                        self.text.push_str(&action);
                        self.typing.clear();
                        (run, FoundText::Buffer)
                    }
                    Event::Quiescence { run, .. } => (run, FoundText::Fixed("delta")),
                    Event::Deadlock { run, .. } => (run, FoundText::Fixed("deadlock")),
                    _ => continue,
                },
            };
            if !self.leaves_out(Some(run)) {
                let run = Some(run);
                let time = None;
                return Ok(Some(Found::Step { time, run, text }));
            }
        }
        Ok(None)
    }

    /// The steps of plain lines that are whole in the reader's buffer, read where they stand; nothing at a line
    /// that is to be looked at closely.
    fn plain_line(&mut self) -> Result<Option<Found>, Reason> {
        loop {
            let buffer = self.reader.fill_buf()?;
            let Some(end) = memchr::memchr(b'\n', buffer) else {
                return Ok(None);
            };
            let Some((run, text)) = self.wanted.plain(&buffer[..end], self.in_journal) else {
                return Ok(None);
            };
            let left_out = self.wanted.leaves_out(run);
            if !left_out {
                self.text.clear();
                self.text.push_str(text);
            }
            self.reader.consume(end + 1);
            self.line += 1;
            if !left_out {
                self.typing.clear();
                let (time, text) = (None, FoundText::Buffer);
                return Ok(Some(Found::Step { time, run, text }));
            }
        }
    }

    /// What comes next in a log of lines.
    fn find_line(&mut self) -> Result<Option<Found>, Reason> {
        loop {
            if matches!(self.format, LogFormat::JsonLines)
                && let Some(found) = self.plain_line()?
            {
                return Ok(Some(found));
            }
            let (count, whole) = self.read_line()?;
            if count == 0 {
                return Ok(None);
            }
            if self.bytes.trim_ascii_start().is_empty() {
                continue;
            }
            if !matches!(self.format, LogFormat::JsonLines) {
                if let Some(step) = self.text_step()? {
                    return Ok(Some(self.keep(step, None)));
                }
                continue;
            }
            if let Some((run, text)) = self.wanted.plain(&self.bytes, self.in_journal) {
                if self.leaves_out(run) {
                    continue;
                }
                self.text.clear();
                self.text.push_str(text);
                self.typing.clear();
                let (time, text) = (None, FoundText::Buffer);
                return Ok(Some(Found::Step { time, run, text }));
            }
            let line = match json_line(&self.bytes) {
                Ok(line) => line,
                // A last line may be torn where its writer was killed.
                Err(e) if !whole && (self.in_journal || e.is_eof()) => {
                    self.torn = true;
                    return Ok(None);
                }
                Err(e) => return Err(e.into()),
            };
            self.in_journal |= line.journal.is_some();
            let run = line.run.and_then(of_json);
            if let (true, Some(run)) = (self.in_journal, run)
                && let Some(border) = line.border(run)
            {
                if let Found::RunStarted(run) = border {
                    self.begin(run);
                }
                if self.leaves_out(Some(run)) {
                    continue;
                }
                return Ok(Some(border));
            }
            if self.leaves_out(run) {
                continue;
            }
            if let Some(step) = json_step(&line)? {
                return Ok(Some(self.keep(step, run)));
            }
        }
    }

    fn text_step(&self) -> Result<Option<Read>, Reason> {
        let LogFormat::Text {
            prefix,
            templates,
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
                Err(e) => return Err(e.into()),
            }
        }
        for (name, template) in templates.sent() {
            if let Ok(args) = template.read(message) {
                let action = ConcreteAction {
                    name: name.to_owned(),
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
        // Without a rule every line would be an output of its own.
        let has_rule = |decoded: &Result<Message, _>| {
            let name = decoded.as_ref().map(|message| &message.action.name);
            name.is_ok_and(|name| templates.names().any(|known| known == name))
        };
        let mut decoded = templates.decode_as(ChannelId::FIRST, message, Ok);
        if !has_rule(&decoded) {
            // A log does not say which channel a message came through.
            let others = templates.other_channels().into_iter();
            let mut others = others.map(|channel| templates.decode_as(channel, message, Ok));
            decoded = others.find(has_rule).unwrap_or(decoded);
        }
        match decoded {
            Ok(Message { action, typing, .. })
                if templates.names().any(|name| name == action.name) =>
            {
                Ok(Some((format!("!{action}"), time, typing)))
            }
            _ if *skip_other => Ok(None),
            Ok(heard) => {
                let action = heard.action.to_string();
                Err(format!(
                    "no template fits {0}; a step is written ?{0} or !{0}, or described by a template",
                    brief(&action)
                )
                .into())
            }
            Err(e) => Err(format!("{e}\n{}", crate::hexdump(message)).into()),
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
    /// Whether a run begins or ends here, or its system does.
    fn border(&self, run: u64) -> Option<Found> {
        match &*text_of_json(self.event?)? {
            "run-started" => Some(Found::RunStarted(run)),
            "crash" => Some(Found::Crashed(run)),
            "run-ended" | "fault" => Some(Found::RunEnded(run)),
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

/// The run and the step of a line that is a step of a journal, written as Iolite writes it.
fn plain_event(bytes: &[u8]) -> Option<(u64, &str)> {
    let rest = bytes.strip_prefix(b"{\"event\":\"")?;
    let (rest, acts) = match rest.strip_prefix(b"stimulus\"") {
        Some(rest) => (rest, true),
        None => match rest.strip_prefix(b"output\"") {
            Some(rest) => (rest, true),
            None => (rest.strip_prefix(b"quiescence\"")?, false),
        },
    };
    let (run, rest) = field(rest, b",\"run\":")?;
    let (_, rest) = field(rest, b",\"step\":")?;
    if !acts {
        let (_, rest) = field(rest, b",\"at\":")?;
        let (_, rest) = field(rest, b",\"patience\":")?;
        return (rest == b"}").then_some((run, "delta"));
    }
    let rest = rest.strip_prefix(b",\"action\":\"")?;
    let special = |b: &u8| *b < b' ' || *b == b'"' || *b == b'\\';
    let end = rest.iter().position(special)?;
    let (text, rest) = rest.split_at(end);
    let (_, rest) = field(rest.strip_prefix(b"\"")?, b",\"at\":")?;
    if rest != b"}" {
        return None;
    }
    Some((run, std::str::from_utf8(text).ok()?))
}

/// A number behind a key, as JSON has it.
fn field<'a>(bytes: &'a [u8], key: &[u8]) -> Option<(u64, &'a [u8])> {
    let digits = bytes.strip_prefix(key)?;
    let (mut number, mut count) = (0_u64, 0);
    while let Some(digit) = digits
        .get(count)
        .map(|b| b.wrapping_sub(b'0'))
        .filter(|d| *d < 10)
    {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        count += 1;
    }
    if count == 0 || count > 19 || count > 1 && digits[0] == b'0' {
        return None;
    }
    Some((number, &digits[count..]))
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

    /// The same for the steps of a journal.
    #[test]
    fn plain_events_are_what_json_says() {
        let lines: [&[u8]; 12] = [
            br#"{"event":"stimulus","run":3,"step":2,"action":"?dub","at":116}"#,
            br#"{"event":"output","run":0,"step":12,"action":"!x(1)","at":0}"#,
            br#"{"event":"quiescence","run":7,"step":0,"at":93,"patience":1000000}"#,
            br#"{"event":"output","run":0,"step":1,"action":"!x","at":1,"preempted":"?a"}"#,
            br#"{"event":"output","run":0,"step":1,"action":"!x(\"b\")","at":1}"#,
            br#"{"event":"deadlock","run":0,"step":1,"at":1}"#,
            br#"{"event":"stimulus","run":01,"step":2,"action":"?dub","at":116}"#,
            br#"{"event":"stimulus","run":1,"step":2,"action":"?dub","at":116,"time":4}"#,
            br#"{"event":"stimulus","run":1,"step":2,"action":"?dub","at":116} "#,
            br#"{"event":"stimulus","run":99999999999999999999,"step":2,"action":"?a","at":1}"#,
            "{\"event\":\"output\",\"run\":1,\"step\":2,\"action\":\"!δ\",\"at\":5}".as_bytes(),
            br#"{"event":"stimulus","run":1,"step":2,"action":"?dub","at":}"#,
        ];
        let mut plain = 0;
        for line in lines {
            let Some((run, short)) = plain_event(line) else {
                continue;
            };
            plain += 1;
            let long = json_line(line).unwrap();
            assert_eq!(long.run.and_then(of_json), Some(run));
            assert!(long.border(run).is_none());
            let step = json_step(&long).unwrap();
            assert_eq!(step, Some((short.to_owned(), None, Vec::new())));
        }
        assert_eq!(plain, 4);
    }
}
