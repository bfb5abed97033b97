//! The states of a test case as JSON text, laid out as `serde_json` lays it out, for people or on one line.
//!
//! A suite that covers a large model is gigabytes of states, and nearly all of their text is labels that
//! come again and again. So these are quoted once a test case, and a state is appended without a document
//! in between; the tests compare the text with what the document gives.

use iolite_derive::{TestCase, TestState, TestStateId, TestStep, Verdict};
use iolite_lts::LabelId;

use super::json::name_of;

/// About what a state takes in a suite with eight outputs, so that the text need not be moved as it grows.
const STATE_BYTES: usize = 600;

/// How JSON is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// A value a line, indented.
    Pretty,
    /// All on one line, without blanks.
    Line,
}

impl Layout {
    /// What stands before a value at this depth.
    #[inline]
    fn before(self, depth: usize) -> &'static str {
        const INDENTED: &str = "\n          ";
        match self {
            Self::Pretty => &INDENTED[..=2 * depth],
            Self::Line => "",
        }
    }

    /// A name, which needs no escape, before its value at this depth.
    fn append_name(self, depth: usize, name: &str, text: &mut String) {
        text.push_str(self.before(depth));
        text.push('"');
        text.push_str(name);
        text.push_str(match self {
            Self::Pretty => "\": ",
            Self::Line => "\":",
        });
    }
}

/// Appends the array of states, as the value of a field of the outermost object.
pub(super) fn append_states(case: &TestCase, layout: Layout, text: &mut String) {
    let labels = case.labels();
    let writer = StateWriter {
        layout,
        labels: labels
            .iter()
            .map(|(id, _)| quoted(&labels.text(id)))
            .collect(),
    };
    let state_bytes = match layout {
        Layout::Pretty => STATE_BYTES,
        Layout::Line => STATE_BYTES / 4,
    };
    text.reserve(case.states().len() * state_bytes);
    text.push('[');
    for (i, state) in case.states().iter().enumerate() {
        text.push_str(if i == 0 { "" } else { "," });
        text.push_str(layout.before(2));
        text.push('{');
        writer.append(state, text);
        text.push_str(layout.before(2));
        text.push('}');
    }
    text.push_str(layout.before(1));
    text.push(']');
}

struct StateWriter {
    layout: Layout,
    /// The text of each label, in quotes.
    labels: Vec<String>,
}

impl StateWriter {
    fn append(&self, state: &TestState, text: &mut String) {
        match &state.step {
            TestStep::End => {}
            TestStep::Stimulate {
                stimulus,
                next,
                preempted,
            } => {
                self.layout.append_name(3, "stimulate", text);
                text.push_str(&self.labels[stimulus.index()]);
                text.push(',');
                self.layout.append_name(3, "next", text);
                append_number(next.index(), text);
                text.push(',');
                if !preempted.is_empty() {
                    self.layout.append_name(3, "preempted", text);
                    self.append_row(preempted.iter().copied(), append_verdict, text);
                    text.push(',');
                }
            }
            TestStep::Observe { .. } => {
                self.layout.append_name(3, "observe", text);
                self.append_row(state.each_step(), append_target, text);
                text.push(',');
            }
            TestStep::Offer { .. } => {
                self.layout.append_name(3, "offer", text);
                self.append_row(state.each_step(), append_target, text);
                text.push(',');
            }
        }
        self.layout.append_name(3, "verdict", text);
        append_verdict(state.verdict, text);
        if !state.locations.is_empty() {
            text.push(',');
            self.layout.append_name(3, "locations", text);
            append_strings(&state.locations, self.layout, text);
        }
        if !are_names_of(&state.places, &state.locations) {
            text.push(',');
            self.layout.append_name(3, "places", text);
            append_strings(&state.places, self.layout, text);
        }
    }

    /// An array of pairs of a label and something.
    fn append_row<T>(
        &self,
        row: impl Iterator<Item = (LabelId, T)>,
        append: impl Fn(T, &mut String),
        text: &mut String,
    ) {
        text.push('[');
        let mut is_empty = true;
        for (label, with) in row {
            text.push_str(if is_empty { "" } else { "," });
            is_empty = false;
            text.push_str(self.layout.before(4));
            text.push('[');
            text.push_str(self.layout.before(5));
            text.push_str(&self.labels[label.index()]);
            text.push(',');
            text.push_str(self.layout.before(5));
            append(with, text);
            text.push_str(self.layout.before(4));
            text.push(']');
        }
        text.push_str(if is_empty { "" } else { self.layout.before(3) });
        text.push(']');
    }
}

fn append_target(target: TestStateId, text: &mut String) {
    append_number(target.index(), text);
}

/// The names of verdicts need no escape.
fn append_verdict(verdict: Verdict, text: &mut String) {
    text.push('"');
    text.push_str(verdict.name());
    text.push('"');
}

fn append_strings(strings: &[String], layout: Layout, text: &mut String) {
    text.push('[');
    for (i, string) in strings.iter().enumerate() {
        text.push_str(if i == 0 { "" } else { "," });
        text.push_str(layout.before(4));
        append_quoted(string, text);
    }
    if !strings.is_empty() {
        text.push_str(layout.before(3));
    }
    text.push(']');
}

fn append_quoted(string: &str, text: &mut String) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if string.bytes().all(is_plain) {
        text.push('"');
        text.push_str(string);
        text.push('"');
    } else {
        text.push_str(&quoted(string));
    }
}

fn quoted(string: &str) -> String {
    serde_json::to_string(string).expect("a string can be written")
}

fn append_number(number: usize, text: &mut String) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut rest = number;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.push_str(std::str::from_utf8(&digits[start..]).expect("digits are ASCII"));
}

/// Whether these places are what a reader takes from the locations alone, so that they are left out.
pub(super) fn are_names_of(places: &[String], locations: &[String]) -> bool {
    let mut names: Vec<&str> = Vec::with_capacity(places.len());
    for location in locations {
        let name = name_of(location);
        if names.contains(&name) {
            continue;
        }
        if places.get(names.len()).is_none_or(|place| place != name) {
            return false;
        }
        names.push(name);
    }
    names.len() == places.len()
}
