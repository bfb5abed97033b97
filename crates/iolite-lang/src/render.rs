//! Diagnostics as people read them: line, caret, hint.
//!
//! Written here rather than taken from a crate: it is a page of code, has no dependency on a
//! terminal, and copes with bytes that are no text.

use std::fmt::Write;

use crate::{Diagnostic, LineIndex, Severity, Span};

/// How diagnostics are rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether to use terminal colours.
    pub colour: bool,
}

const RED: &str = "\u{1b}[1;31m";
const YELLOW: &str = "\u{1b}[1;33m";
const BLUE: &str = "\u{1b}[1;34m";
const BOLD: &str = "\u{1b}[1m";
const PLAIN: &str = "\u{1b}[0m";

/// Lines are cut to this many characters around the place.
const WIDEST: usize = 120;

/// Renders all of them, in their order, an empty line between two.
pub fn render(name: &str, text: &[u8], diagnostics: &[Diagnostic], style: Style) -> String {
    let index = LineIndex::new(text);
    let mut out = String::new();
    for (k, diagnostic) in diagnostics.iter().enumerate() {
        if k > 0 {
            out.push('\n');
        }
        one(&mut out, name, text, &index, diagnostic, style);
    }
    out
}

fn one(
    out: &mut String,
    name: &str,
    text: &[u8],
    index: &LineIndex,
    diagnostic: &Diagnostic,
    style: Style,
) {
    let paint = |colour: &'static str| if style.colour { colour } else { "" };
    let (word, colour) = match diagnostic.severity {
        Severity::Error => ("error", RED),
        Severity::Warning => ("warning", YELLOW),
    };
    let main = Excerpt::new(text, index, diagnostic.span);
    let related = diagnostic
        .related
        .as_ref()
        .map(|(span, what)| (Excerpt::new(text, index, *span), what));
    let widest = related
        .as_ref()
        .map_or(main.line, |(r, _)| r.line.max(main.line));
    let width = widest.to_string().len();
    let bar = |n: Option<u32>| {
        let number = n.map_or_else(String::new, |n| n.to_string());
        format!("{}{number:>width$} |{}", paint(BLUE), paint(PLAIN))
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "{}{word}[{}]{}{}: {}{}",
        paint(colour),
        diagnostic.code,
        paint(PLAIN),
        paint(BOLD),
        diagnostic.message,
        paint(PLAIN)
    );
    let _ = writeln!(
        out,
        "{}{:>width$}-->{} {name}:{}:{}",
        paint(BLUE),
        "",
        paint(PLAIN),
        main.line,
        main.column
    );
    let _ = writeln!(out, "{}", bar(None));
    let _ = writeln!(out, "{} {}", bar(Some(main.line)), main.shown);
    let _ = writeln!(
        out,
        "{} {}{}{}",
        bar(None),
        paint(colour),
        main.carets('^'),
        paint(PLAIN)
    );
    if let Some((excerpt, what)) = related {
        let _ = writeln!(out, "{} {}", bar(Some(excerpt.line)), excerpt.shown);
        let _ = writeln!(
            out,
            "{} {}{} {what}{}",
            bar(None),
            paint(BLUE),
            excerpt.carets('-'),
            paint(PLAIN)
        );
    }
    if let Some(hint) = &diagnostic.hint {
        let _ = writeln!(out, "{:>width$} = hint: {hint}", "");
    }
}

/// The line of a place, fit to be shown, and where the place is in it.
struct Excerpt {
    line: u32,
    /// In characters, from 1.
    column: usize,
    shown: String,
    /// Characters before the carets.
    before: usize,
    carets: usize,
}

impl Excerpt {
    fn new(text: &[u8], index: &LineIndex, span: Span) -> Self {
        let start = span.start.min(text.len());
        let line = index.line(start);
        let row = index.line_span(text, line);
        let start = start.min(row.end);
        let end = span.end.clamp(start, row.end.max(start));
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        // No character is longer than four bytes, and what is cut off here is not shown anyway.
        let chars = |from: usize, to: usize| -> Vec<char> {
            let to = to.min(from + 4 * (WIDEST + 1));
            let text = String::from_utf8_lossy(&text[from..to]);
            text.chars().map(plain).collect()
        };
        let before = String::from_utf8_lossy(&text[row.start..start]);
        let length = before.chars().count();
        let marked = chars(start, end);
        let after = chars(end, row.end);
        let column = length + 1;
        let cut = length.saturating_sub(WIDEST / 2);
        let dots = if cut > 0 { "…" } else { "" };
        let mut shown: String = dots.to_owned();
        let mut near: Vec<char> = before.chars().rev().take(length - cut).map(plain).collect();
        near.reverse();
        shown.extend(near);
        let lead = shown.chars().count();
        shown.extend(marked.iter().chain(&after));
        let shown_length = shown.chars().count();
        if shown_length > WIDEST {
            shown = shown.chars().take(WIDEST).collect();
            shown.push('…');
        }
        let shown = shown.trim_end().to_owned();
        Self {
            line,
            column,
            shown,
            before: lead,
            carets: marked.len().clamp(1, WIDEST.saturating_sub(lead).max(1)),
        }
    }

    fn carets(&self, mark: char) -> String {
        let mut result = " ".repeat(self.before);
        result.extend(std::iter::repeat_n(mark, self.carets));
        result
    }
}
