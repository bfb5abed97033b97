//! What is wrong, or doubtful, with a file: code, place, message, hint.

use std::fmt;

use crate::{Code, Span};

/// How much a diagnostic weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The file is used all the same.
    Warning,
    /// The file, or the declaration, cannot be used.
    Error,
}

/// One finding in one source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code, see [`crate::codes`].
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// Where.
    pub span: Span,
    /// What, as a lowercase fragment.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Another place that matters, with what it is: `first declared here`.
    pub related: Option<(Span, String)>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            span,
            message: message.into(),
            hint: None,
            related: None,
        }
    }

    /// A warning (a lint).
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, span, message)
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint if there is one.
    #[must_use]
    pub(crate) fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// Points to another place as well.
    #[must_use]
    pub fn related(mut self, span: Span, what: impl Into<String>) -> Self {
        self.related = Some((span, what.into()));
        self
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// Whether any of them is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

/// In order of place; what stands at one place stays in the order it was found in.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|d| (d.span.start, d.span.end));
}

/// A file that cannot be used: at least one of its diagnostics is an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", summary(.0))]
pub struct Rejected(pub Vec<Diagnostic>);

impl From<Diagnostic> for Rejected {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

fn summary(diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    match diagnostics.iter().find(|d| d.is_error()) {
        None => "the file was rejected".to_owned(),
        Some(first) if errors == 1 => first.to_string(),
        Some(first) => format!("{first} (and {} more)", errors - 1),
    }
}

/// What a reader gives: the value and the lints that came with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded<T> {
    /// What was read.
    pub value: T,
    /// Warnings, none of them an error.
    pub lints: Vec<Diagnostic>,
}

/// The candidate nearest to `word` by edit distance, as “did you mean …?”, if one is near enough
/// to be a slip of the fingers.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates).map(|c| format!("did you mean `{c}`?"))
}

/// Longer names are not compared: the distance is quadratic in the length.
const LONGEST: usize = 64;

fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    // In a very short name every other one is near.
    let limit = word.chars().count() / 3;
    candidates
        .into_iter()
        .filter(|c| *c != word && c.len() <= LONGEST)
        .filter_map(|c| {
            let d = distance(&word.to_lowercase(), &c.to_lowercase());
            (d <= limit).then_some((d, c))
        })
        .min()
        .map(|(_, c)| c)
}

/// Edit distance with transpositions of neighbours (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = [
        vec![0; b.len() + 1],
        (0..=b.len()).collect::<Vec<_>>(),
        vec![0; b.len() + 1],
    ];
    for i in 1..=a.len() {
        rows[2][0] = i;
        for j in 1..=b.len() {
            let substitute = rows[1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substitute.min(rows[1][j] + 1).min(rows[2][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[0][j - 2] + 1);
            }
            rows[2][j] = best;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, d) in [
            ("", "abc", 3),
            ("abc", "abc", 0),
            ("abcd", "abdc", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!((distance(a, b), distance(b, a)), (d, d), "{a} {b}");
        }
    }

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let states = ["Send_File", "Wait_Ack"];
        assert_eq!(
            did_you_mean("Send_Fiel", states).as_deref(),
            Some("did you mean `Send_File`?")
        );
        assert_eq!(did_you_mean("Idle", states), None);
    }
}
