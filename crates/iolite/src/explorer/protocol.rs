//! The lines that are spoken with an explorer.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The version of the protocol.
pub(super) const VERSION: u32 = 1;

/// The first answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Greeting<'a> {
    /// The version that the explorer speaks.
    pub(super) explorer: u32,
    /// All actions there can be, in `?a`, `!x` notation.
    pub(super) labels: Vec<String>,
    /// s₀.
    #[serde(borrow)]
    pub(super) initial: &'a RawValue,
}

/// The steps of a state.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Successors<'a> {
    /// Label and state of each.
    #[serde(borrow)]
    pub(super) successors: Vec<(String, &'a RawValue)>,
}

/// Why the explorer has no answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Complaint {
    error: String,
}

/// The first question.
pub(super) fn greeting() -> String {
    format!(r#"{{"ask":"initial","version":{VERSION}}}"#)
}

/// The question for the steps of a state, which is JSON already.
pub(super) fn question(state: &str) -> String {
    format!(r#"{{"ask":"successors","state":{state}}}"#)
}

/// Reads an answer, or the explorer's own complaint.
pub(super) fn read<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| {
        if let Ok(Complaint { error }) = serde_json::from_str(line) {
            return format!("it says: {}", brief(&error));
        }
        format!(
            "an answer is not as it should be ({error}): {}",
            brief(line)
        )
    })
}

/// The beginning of a text, fit to be printed.
pub(super) fn brief(text: &str) -> String {
    const MOST: usize = 200;
    let mut shown: String = text.chars().take(MOST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    let escape = |c: char| -> String {
        if c.is_control() {
            c.escape_default().collect()
        } else {
            c.to_string()
        }
    };
    shown.chars().map(escape).collect()
}
