//! Aldebaran's `.aut`: `des (initial, transitions, states)`, then `(source, label, target)` lines.
//!
//! A label may be quoted; it reaches from the first comma of its line to the last, so commas and
//! quotes inside are kept. Its parameters (`G !TRUE`, `r1(in(d1))`) stay part of the name.

mod stream;

use std::fmt::Write;
use std::hash::BuildHasher;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashTable;
use iolite_lang::{Code, Diagnostic, Loaded, Rejected, Span, codes, diagnostic};
use iolite_lts::{LabelId, LabelKind, Lts, LtsBuilder, StateId, in_order};
use memchr::memchr;
use rustc_hash::FxBuildHasher;

use crate::delta::{self, DeltaStep};
use crate::label_text::{label_text, reads_back};
use crate::{DeltaPolicy, Directions, WriteError};

pub use stream::read_stream;

/// How an `.aut` file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AutOptions {
    /// How plain labels are directed.
    pub directions: Directions,
    /// What happens to δ-transitions.
    pub delta: DeltaPolicy,
}

/// A file with more wrong lines than this is not read on.
const MOST_ERRORS: usize = 20;

/// Reads a system.
pub fn read(bytes: &[u8], options: &AutOptions) -> Result<Loaded<Lts>, Rejected> {
    let mut reader = Reader::new(options);
    let Some((header, at)) = reader.header(bytes) else {
        return Err(Rejected(reader.found));
    };
    let transitions = reader.lines(bytes, at);
    if reader.found.is_empty() && transitions != header.transitions {
        let at = if transitions < header.transitions {
            Span::at(bytes.len())
        } else {
            header.transitions_span
        };
        reader.found.push(
            Diagnostic::error(
                codes::AUT_TRANSITION_COUNT,
                at,
                format!(
                    "the header promises {} transitions, the file has {transitions}",
                    header.transitions
                ),
            )
            .hint("the file may be cut off, or its header stale"),
        );
    }
    if !reader.found.is_empty() {
        return Err(Rejected(reader.found));
    }
    reader.finish(&header, bytes.len(), NonZeroUsize::MIN)
}

struct Header {
    initial: u32,
    transitions: u64,
    transitions_span: Span,
    states: u64,
    states_span: Span,
}

/// Reads lines, of a whole file or of a part of it; spans are within what is given.
struct Reader<'a> {
    options: &'a AutOptions,
    builder: LtsBuilder,
    texts: LabelTexts,
    /// The labels that the texts stand for.
    labels: Vec<LabelId>,
    deltas: Vec<DeltaStep>,
    found: Vec<Diagnostic>,
    /// One more than the highest state that a line names.
    states: u64,
}

impl<'a> Reader<'a> {
    fn new(options: &'a AutOptions) -> Self {
        Self {
            options,
            builder: LtsBuilder::new(),
            texts: LabelTexts::default(),
            labels: Vec::new(),
            deltas: Vec::new(),
            found: Vec::new(),
            states: 0,
        }
    }

    /// Reads the lines from here on; how many transitions they hold.
    fn lines(&mut self, bytes: &[u8], mut at: usize) -> u64 {
        let mut transitions = 0;
        while at < bytes.len() && self.found.len() < MOST_ERRORS {
            let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
            if self.line(bytes, at, end) {
                transitions += 1;
            }
            at = end + 1;
        }
        transitions
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.found.push(Diagnostic::error(code, span, message));
    }

    /// The header and where the line after it starts.
    fn header(&mut self, bytes: &[u8]) -> Option<(Header, usize)> {
        let mut at = if bytes.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        if at == bytes.len() {
            self.error(codes::EMPTY_FILE, Span::at(0), "the file is empty");
            return None;
        }
        let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
        let line = Span::new(at, end.min(at + 80));
        let mut cursor = Cursor { bytes, at, end };
        let numbers = (|| {
            cursor.word(b"des")?;
            cursor.byte(b'(')?;
            let initial = cursor.number()?;
            cursor.byte(b',')?;
            let transitions = cursor.number()?;
            cursor.byte(b',')?;
            let states = cursor.number()?;
            cursor.byte(b')')?;
            cursor.nothing_more()?;
            Some((initial, transitions, states))
        })();
        let Some(((initial, initial_span), (transitions, transitions_span), (states, states_span))) =
            numbers
        else {
            self.found.push(
                Diagnostic::error(codes::AUT_HEADER, line, "this is no .aut header")
                    .hint("a file starts with `des (initial, transitions, states)`"),
            );
            return None;
        };
        let Ok(initial) = u32::try_from(initial) else {
            self.error(
                codes::AUT_STATE_RANGE,
                initial_span,
                "state numbers end at 4294967294",
            );
            return None;
        };
        if states == 0 {
            self.error(
                codes::AUT_HEADER,
                states_span,
                "a system has at least its initial state",
            );
            return None;
        }
        self.states = u64::from(initial) + 1;
        Some((
            Header {
                initial,
                transitions,
                transitions_span,
                states,
                states_span,
            },
            end + 1,
        ))
    }

    /// Reads one line; whether it held a transition.
    fn line(&mut self, bytes: &[u8], start: usize, end: usize) -> bool {
        let (mut from, mut to) = (start, end);
        while from < to && bytes[from].is_ascii_whitespace() {
            from += 1;
        }
        while to > from && bytes[to - 1].is_ascii_whitespace() {
            to -= 1;
        }
        if from == to {
            return false;
        }
        let span = Span::new(from, to);
        let transition = match Transition::of(&bytes[from..to]) {
            Ok(transition) => transition,
            Err(malformed) => {
                self.found.push(malformed.diagnostic(span));
                return false;
            }
        };
        let states = u64::from(transition.source.max(transition.target)) + 1;
        self.states = self.states.max(states);
        let Some(label) = self.label(transition.label, span) else {
            return false;
        };
        let state = |number: u32| StateId::new(number as usize);
        let (source, target) = (state(transition.source), state(transition.target));
        self.transition(source, label, target, span);
        true
    }

    fn transition(&mut self, source: StateId, label: LabelId, target: StateId, span: Span) {
        if label == LabelId::DELTA && self.options.delta == DeltaPolicy::Check {
            self.deltas.push(DeltaStep {
                source,
                target,
                span,
            });
        } else {
            self.builder.transition(source, label, target);
        }
    }

    fn label(&mut self, raw: &[u8], line: Span) -> Option<LabelId> {
        if let Some(number) = self.texts.get(raw) {
            return Some(self.labels[number as usize]);
        }
        let bare = match raw {
            [b'"', inner @ .., b'"'] => inner,
            _ => raw,
        };
        if bare.is_empty() {
            self.error(codes::AUT_LINE, line, "the label is empty");
            return None;
        }
        let Ok(text) = std::str::from_utf8(bare) else {
            self.error(codes::NOT_UTF8, line, "the label is not valid UTF-8");
            return None;
        };
        let label = self.options.directions.label(text);
        let id = self.builder.label(label.kind, &label.name);
        self.texts.add(raw);
        self.labels.push(id);
        Some(id)
    }

    /// The system that a file of so many bytes holds, packed by so many threads.
    fn finish(
        mut self,
        header: &Header,
        length: usize,
        jobs: NonZeroUsize,
    ) -> Result<Loaded<Lts>, Rejected> {
        // Numbers in the file cost a few bytes each, states cost memory: a file may not name a
        // state far beyond what its transitions could reach.
        let most = 16 * (length as u64 + 1024);
        if self.states > most {
            self.error(
                codes::AUT_STATE_RANGE,
                header.states_span,
                format!(
                    "state {} is named, but a file of {length} bytes has nowhere near that many states",
                    self.states - 1
                ),
            );
            return Err(Rejected(self.found));
        }
        if self.states > header.states {
            self.error(
                codes::AUT_STATE_COUNT,
                header.states_span,
                format!(
                    "the header promises {} states, but state {} is named",
                    header.states,
                    self.states - 1
                ),
            );
            return Err(Rejected(self.found));
        }
        let mut lints = Vec::new();
        if header.states > self.states {
            if header.states > most {
                self.error(
                    codes::AUT_STATE_COUNT,
                    header.states_span,
                    format!(
                        "the header promises {} states, the transitions name {}",
                        header.states, self.states
                    ),
                );
                return Err(Rejected(self.found));
            }
            lints.push(Diagnostic::warning(
                codes::AUT_STATE_COUNT_LINT,
                header.states_span,
                format!(
                    "the header promises {} states, the transitions name {}; the others are cut off",
                    header.states, self.states
                ),
            ));
        }
        self.builder
            .ensure_states(header.states.max(self.states) as usize);
        self.builder
            .set_initial(StateId::new(header.initial as usize));
        let lts = self.builder.build_with_jobs(jobs).map_err(|e| {
            Rejected::from(Diagnostic::error(
                codes::AUT_HEADER,
                Span::at(0),
                e.to_string(),
            ))
        })?;
        delta::check(&lts, &self.deltas, &mut lints);
        if diagnostic::has_errors(&lints) {
            return Err(Rejected(lints));
        }
        Ok(Loaded { value: lts, lints })
    }
}

/// Raw label texts, numbered in the order in which they came, so that a label is looked at once however often it
/// occurs.
#[derive(Default)]
struct LabelTexts {
    index: HashTable<u32>,
    /// All texts, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl LabelTexts {
    fn get(&self, raw: &[u8]) -> Option<u32> {
        let found = self.index.find(FxBuildHasher.hash_one(raw), |&number| {
            text_of(&self.text, &self.ends, number) == raw
        });
        found.copied()
    }

    /// Adds a text that is not there.
    fn add(&mut self, raw: &[u8]) -> u32 {
        let number = self.ends.len() as u32;
        self.text.extend_from_slice(raw);
        self.ends.push(self.text.len());
        let Self { index, text, ends } = self;
        index.insert_unique(FxBuildHasher.hash_one(raw), number, |&number| {
            FxBuildHasher.hash_one(text_of(text, ends, number))
        });
        number
    }

    fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let numbers = 0..self.ends.len() as u32;
        numbers.map(|number| text_of(&self.text, &self.ends, number))
    }

    fn clear(&mut self) {
        self.index.clear();
        self.text.clear();
        self.ends.clear();
    }
}

#[inline]
fn text_of<'a>(text: &'a [u8], ends: &[usize], number: u32) -> &'a [u8] {
    let number = number as usize;
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &text[start..ends[number]]
}

/// A line, as it is written.
struct Transition<'a> {
    source: u32,
    label: &'a [u8],
    target: u32,
}

/// What is wrong about a line.
#[derive(Clone, Copy)]
enum Malformed {
    Shape,
    Numbers,
    Range,
}

impl Malformed {
    fn diagnostic(self, line: Span) -> Diagnostic {
        match self {
            Self::Shape => Diagnostic::error(codes::AUT_LINE, line, "this is no transition")
                .hint("a transition is written `(source, label, target)`"),
            Self::Numbers => Diagnostic::error(
                codes::AUT_LINE,
                line,
                "the source and the target of a transition are state numbers",
            ),
            Self::Range => Diagnostic::error(
                codes::AUT_STATE_RANGE,
                line,
                "state numbers end at 4294967294",
            ),
        }
    }
}

impl<'a> Transition<'a> {
    /// The transition of a line without blanks around it.
    #[inline]
    fn of(line: &'a [u8]) -> Result<Self, Malformed> {
        let inner = line.strip_prefix(b"(").and_then(|l| l.strip_suffix(b")"));
        let inner = inner.ok_or(Malformed::Shape)?;
        // Numbers are short, so they are looked through byte by byte: to search for commas takes longer.
        let first = inner.iter().position(|&b| b == b',');
        let last = inner.iter().rposition(|&b| b == b',');
        let (Some(first), Some(last)) = (first, last) else {
            return Err(Malformed::Shape);
        };
        if first == last {
            return Err(Malformed::Shape);
        }
        let (source, target) = (decimal(&inner[..first]), decimal(&inner[last + 1..]));
        let (Some(source), Some(target)) = (source, target) else {
            return Err(Malformed::Numbers);
        };
        let number = |n: u64| u32::try_from(n).ok().filter(|&n| n != u32::MAX);
        let (Some(source), Some(target)) = (number(source), number(target)) else {
            return Err(Malformed::Range);
        };
        Ok(Self {
            source,
            label: trim(&inner[first + 1..last]),
            target,
        })
    }
}

fn trim(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && first.is_ascii_whitespace()
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && last.is_ascii_whitespace()
    {
        text = rest;
    }
    text
}

fn decimal(text: &[u8]) -> Option<u64> {
    let digits = trim(text);
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    digits.iter().try_fold(0u64, |n, &b| {
        b.is_ascii_digit().then(|| n * 10 + u64::from(b - b'0'))
    })
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl Cursor<'_> {
    fn blank(&mut self) {
        while self.at < self.end && self.bytes[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.blank();
        self.bytes[self.at..self.end].starts_with(word).then(|| {
            self.at += word.len();
        })
    }

    fn byte(&mut self, byte: u8) -> Option<()> {
        self.word(&[byte])
    }

    fn number(&mut self) -> Option<(u64, Span)> {
        self.blank();
        let start = self.at;
        while self.at < self.end && self.bytes[self.at].is_ascii_digit() {
            self.at += 1;
        }
        Some((
            decimal(&self.bytes[start..self.at])?,
            Span::new(start, self.at),
        ))
    }

    fn nothing_more(&mut self) -> Option<()> {
        self.blank();
        (self.at == self.end).then_some(())
    }
}

/// Writes a system. τ is written `i`, a named internal action `"i:name"`; state names are lost.
pub fn write(lts: &Lts, out: &mut dyn Write) -> Result<(), WriteError> {
    write_with_jobs(lts, out, NonZeroUsize::MIN)
}

/// The same, whose lines are made by so many threads. What is written does not depend on their number.
pub fn write_with_jobs(
    lts: &Lts,
    out: &mut dyn Write,
    jobs: NonZeroUsize,
) -> Result<(), WriteError> {
    let texts = LineTexts::of(lts);
    writeln!(
        out,
        "des ({}, {}, {})",
        lts.initial().index(),
        lts.transition_count(),
        lts.state_count()
    )?;
    let sources = (0..lts.state_count())
        .step_by(STATES)
        .map(|first| first..lts.state_count().min(first + STATES));
    // The memory of lines that were written.
    let spare: Mutex<Vec<String>> = Mutex::default();
    let locked = || spare.lock().unwrap_or_else(PoisonError::into_inner);
    let make = |sources: Range<usize>| {
        let mut lines = locked().pop().unwrap_or_default();
        lines.clear();
        let result = texts.write(lts, sources, &mut lines);
        result.map(|()| lines)
    };
    let few = lts.state_count() <= STATES;
    let helpers = if few { 0 } else { jobs.get() - 1 };
    let ahead = AHEAD * (helpers + 1);
    let end = in_order(
        sources,
        &mut { make },
        vec![make; helpers],
        &|taken| taken + ahead,
        &mut |lines: Result<String, WriteError>| {
            let written = lines.and_then(|lines| {
                out.write_str(&lines)?;
                locked().push(lines);
                Ok(())
            });
            match written {
                Ok(()) => ControlFlow::Continue(()),
                Err(e) => ControlFlow::Break(e),
            }
        },
    );
    match end {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(e) => Err(e),
    }
}

/// States whose lines are made at a time.
const STATES: usize = 2048;

/// How often that many may be made ahead of what is written, for each thread.
const AHEAD: usize = 4;

/// What stands between the two states of a line, for each label; or the label that has no such text.
struct LineTexts(Vec<Result<String, String>>);

impl LineTexts {
    fn of(lts: &Lts) -> Self {
        let mut texts = Vec::with_capacity(lts.labels().len());
        for (_, label) in lts.labels().iter() {
            let text = label_text(label);
            let fits = !text.contains(['\n', '\r']) && reads_back(label, &text);
            texts.push(if label.kind == LabelKind::Internal && text == "i" {
                Ok(format!(", {text}, "))
            } else if fits {
                Ok(format!(", \"{text}\", "))
            } else {
                Err(text)
            });
        }
        Self(texts)
    }

    /// Appends the lines of some states. A line is put together from its parts: to format each would take longer than to find
    /// out what there is to write.
    fn write(
        &self,
        lts: &Lts,
        sources: Range<usize>,
        lines: &mut String,
    ) -> Result<(), WriteError> {
        let mut source_text = String::new();
        for source in sources.map(StateId::new) {
            source_text.clear();
            push_number(source, &mut source_text);
            for &(label, target) in lts.steps(source) {
                match &self.0[label.index()] {
                    Ok(text) => {
                        lines.push('(');
                        lines.push_str(&source_text);
                        lines.push_str(text);
                        push_number(target, lines);
                        lines.push_str(")\n");
                    }
                    Err(label) => {
                        return Err(WriteError::Label {
                            label: label.clone(),
                            format: ".aut",
                        });
                    }
                }
            }
        }
        Ok(())
    }
}

/// Appends the number of a state.
fn push_number(state: StateId, text: &mut String) {
    let mut digits = [0; 10];
    let mut first = digits.len();
    let mut rest = state.index() as u32;
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.push_str(std::str::from_utf8(&digits[first..]).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lts(text: &str) -> Lts {
        read(text.as_bytes(), &AutOptions::default())
            .expect("a good file")
            .value
    }

    fn codes_of(text: &[u8]) -> Vec<String> {
        match read(text, &AutOptions::default()) {
            Ok(loaded) => loaded.lints,
            Err(Rejected(found)) => found,
        }
        .iter()
        .map(|d| d.code.to_string())
        .collect()
    }

    #[test]
    fn labels_keep_commas_quotes_and_parameters() {
        let lts = lts(
            "des (0,5,3)\r\n(0, \"send(1, \"x\")\" , 1)\r\n(1,G !TRUE,2)\r\n(2,i,0)\r\n(2,tau,0)\r\n(0,\"?a\",0)",
        );
        let texts: Vec<_> = lts
            .labels()
            .iter()
            .skip(2)
            .map(|(_, l)| l.to_string())
            .collect();
        assert_eq!(texts, ["send(1, \"x\")", "G !TRUE", "?a"]);
        assert_eq!(lts.transition_count(), 4, "i and tau are one action");
        assert_eq!(lts.labels().inputs().count(), 1);
    }

    #[test]
    fn header_numbers_are_checked_and_not_believed() {
        assert_eq!(codes_of(b""), ["IOL800"]);
        assert_eq!(codes_of(b"hello"), ["IOL810"]);
        assert_eq!(codes_of(b"des (0, 0, 0)"), ["IOL810"]);
        assert_eq!(codes_of(b"des (0, 0, 4000000000)"), ["IOL814"]);
        assert_eq!(codes_of(b"des (4000000000, 0, 4000000001)"), ["IOL812"]);
        assert_eq!(codes_of(b"des (0, 4000000000, 1)\n(0,a,0)"), ["IOL813"]);
        assert_eq!(codes_of(b"des (0, 1, 1)\n(0,a,1)"), ["IOL814"]);
        assert_eq!(codes_of(b"des (0, 1, 2)\n(0,a,4294967295)"), ["IOL812"]);
        assert_eq!(codes_of(b"des (0, 1, 5)\n(0,a,1)"), ["IOL815"]);
        assert_eq!(codes_of(b"des (0, 1, 2)\n(0,a,1"), ["IOL811"]);
        assert_eq!(codes_of(b"des (0, 1, 2)\n(0, 1)"), ["IOL811"]);
        assert_eq!(codes_of(b"des (0, 1, 2)\n(0,\"\xff\",1)"), ["IOL801"]);
    }

    #[test]
    fn delta_loops_are_checked_and_dropped() {
        let system = lts("des (0, 4, 2)\n(0,delta,0)\n(0,?a,1)\n(1,!x,0)\n(1,i,1)");
        assert_eq!(system.transition_count(), 3);
        assert_eq!(
            codes_of(b"des (0, 2, 2)\n(0,delta,0)\n(0,!x,1)"),
            ["IOL821", "IOL822"]
        );
        assert_eq!(codes_of(b"des (0, 1, 2)\n(0,delta,1)")[0], "IOL820");
        let kept = read(
            b"des (0, 1, 2)\n(0,delta,1)",
            &AutOptions {
                delta: DeltaPolicy::Keep,
                ..AutOptions::default()
            },
        )
        .expect("δ kept");
        assert_eq!(kept.value.transition_count(), 1);
    }

    #[test]
    fn several_threads_write_what_one_writes() {
        let mut builder = LtsBuilder::new();
        let states = 5 * STATES + 7;
        for k in 0..3 * states {
            let (source, target) = (StateId::new(k * 7 % states), StateId::new(k * 31 % states));
            builder.transition_text(source, ["?a", "!x", "i", "b(1, 2)"][k % 4], target);
        }
        let lts = builder.build().unwrap();
        let text = |jobs| {
            let mut text = String::new();
            let jobs = NonZeroUsize::new(jobs).unwrap();
            write_with_jobs(&lts, &mut text, jobs).unwrap();
            text
        };
        let alone = text(1);
        assert_eq!(alone.lines().count(), 1 + lts.transition_count());
        assert!([2, 3, 5].iter().all(|&jobs| text(jobs) == alone));
    }

    #[test]
    fn a_label_without_a_text_is_an_error_whatever_threads_there_are() {
        let mut builder = LtsBuilder::new();
        let last = StateId::new(3 * STATES);
        for k in 0..last.index() {
            builder.transition_text(StateId::new(k), "?a", StateId::new(k + 1));
        }
        for name in ["two\nlines", "three\n\nlines"] {
            let label = builder.label(LabelKind::Undirected, name);
            builder.transition(last, label, last);
        }
        let lts = builder.build().unwrap();
        let errors = [1, 2, 4].map(|jobs| {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            let written = write_with_jobs(&lts, &mut String::new(), jobs);
            written.unwrap_err().to_string()
        });
        assert!(errors[0].contains("two"), "{}", errors[0]);
        assert!(errors.iter().all(|error| *error == errors[0]));
    }

    #[test]
    fn a_livelock_is_quiescent() {
        let text = "des (0, 5, 3)\n(0,i,1)\n(1,i,0)\n(0,delta,0)\n(1,delta,1)\n(2,delta,2)";
        assert!(read(text.as_bytes(), &AutOptions::default()).is_ok());
    }
}
