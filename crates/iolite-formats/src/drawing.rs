//! What drawings of tests have in common: colours of verdicts, and texts of any kind in quotes.

use iolite_derive::Verdict;

/// The colour a verdict has in drawings.
pub(crate) fn colour(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass | Verdict::WeakPass => "palegreen",
        Verdict::Fail | Verdict::WeakFail | Verdict::Crash => "salmon",
        Verdict::ViolateFail | Verdict::Violate => "orangered",
        Verdict::Inconc | Verdict::Unknown | Verdict::Flaky => "khaki",
    }
}

/// A string in DOT's quotes, for people: control characters become blanks.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
