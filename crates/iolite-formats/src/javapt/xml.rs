//! XML within bounds: `roxmltree` reads it, after a look at how deep and how wide it is.
//!
//! The tree is built without recursion (since 0.21.2), but what it remembers of namespaces grows with
//! depth times length, and the time for an element with the square of its attributes. The format needs
//! four levels and two attributes, so both are bounded before anything is built. Without document type
//! declarations there are no entities beyond the five of XML, and nothing expands.

use memchr::memmem;
use roxmltree::{Document, ParsingOptions, TextPos};

use super::JavaPtError;

/// Elements may be nested this deep; the format needs four levels.
const MAX_DEPTH: usize = 32;

/// So many attributes may an element have; the format needs two.
const MAX_ATTRIBUTES: usize = 32;

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<Document<'_>, JavaPtError> {
    // A declaration must stand at the very start; blanks before it are common and harmless.
    let body = text.trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace());
    let skipped = text.len() - body.len();
    bounded(body).map_err(|(at, message)| JavaPtError::Xml {
        at: skipped + at,
        message: message.to_owned(),
    })?;
    Document::parse_with_options(body, ParsingOptions::default()).map_err(|error| {
        let place = error.pos();
        let full = error.to_string();
        // The messages name line and column where they have them; ours name the byte.
        let message = full.replacen(&format!(" at {place}"), "", 1);
        let at = if message == full {
            body.len()
        } else {
            offset(body, place)
        };
        JavaPtError::Xml {
            at: skipped + at,
            message,
        }
    })
}

/// The byte that a line and a column, in characters, stand for.
fn offset(text: &str, place: TextPos) -> usize {
    let line_start: usize = text
        .split_inclusive('\n')
        .take(place.row as usize - 1)
        .map(str::len)
        .sum();
    let line = &text[line_start..];
    line_start
        + line
            .chars()
            .take(place.col as usize - 1)
            .map(char::len_utf8)
            .sum::<usize>()
}

/// Checks depth and width by the marks alone. Up to the first fault, where the parser stops, this sees
/// the same elements as the parser; whether the text is XML is not decided here.
fn bounded(text: &str) -> Result<(), (usize, &'static str)> {
    let bytes = text.as_bytes();
    let mut depth: usize = 0;
    let mut at = 0;
    while let Some(n) = memchr::memchr(b'<', &bytes[at..]) {
        let start = at + n;
        let rest = &bytes[start..];
        let skip = |end: &[u8]| memmem::find(rest, end).map(|n| start + n + end.len());
        let next = if rest.starts_with(b"<!--") {
            skip(b"-->")
        } else if rest.starts_with(b"<![CDATA[") {
            skip(b"]]>")
        } else if rest.starts_with(b"<?") {
            skip(b"?>")
        } else if rest.starts_with(b"<!") {
            return Err((start, "document type declarations are not read"));
        } else if rest.starts_with(b"</") {
            depth = depth.saturating_sub(1);
            skip(b">")
        } else {
            let Some(tag) = tag(rest) else { return Ok(()) };
            if tag.attributes > MAX_ATTRIBUTES {
                return Err((start, "an element has too many attributes"));
            }
            if !tag.closed {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err((start, "elements are nested too deep"));
                }
            }
            Some(start + tag.length)
        };
        match next {
            Some(next) => at = next,
            // Without its end the parser refuses it.
            None => return Ok(()),
        }
    }
    Ok(())
}

/// A start tag, as far as the bounds are concerned.
struct Tag {
    length: usize,
    attributes: usize,
    /// Whether it is `<a/>`.
    closed: bool,
}

fn tag(bytes: &[u8]) -> Option<Tag> {
    let mut attributes = 0;
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'>' => {
                return Some(Tag {
                    length: at + 1,
                    attributes,
                    closed: bytes[at - 1] == b'/',
                });
            }
            quote @ (b'"' | b'\'') => {
                attributes += 1;
                at += memchr::memchr(quote, &bytes[at + 1..])? + 1;
            }
            _ => {}
        }
        at += 1;
    }
}

/// The text for an attribute's value or an element's content. Line breaks and tabs are written by
/// number, since readers may turn them into blanks.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' => out.push_str("&#9;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            _ => out.push(c),
        }
    }
    out
}

/// Whether XML has all characters of a text: most control characters cannot be written at all.
pub(super) fn can_carry(text: &str) -> bool {
    text.chars()
        .all(|c| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..='\u{10ffff}'))
}
