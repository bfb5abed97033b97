//! Places in a text as editors count them: a line, and units within it.

use iolite_lang::Span;
use serde::{Deserialize, Serialize};

/// What a character position counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// 16-bit units, what every client understands.
    #[default]
    Utf16,
}

impl Encoding {
    /// The first that the client likes and that is known here.
    pub(crate) fn negotiated(offered: &[String]) -> Self {
        let known = offered.iter().find_map(|name| match name.as_str() {
            "utf-8" => Some(Self::Utf8),
            "utf-16" => Some(Self::Utf16),
            _ => None,
        });
        known.unwrap_or_default()
    }

    /// Its name in the protocol.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
        }
    }
}

/// Line and character, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) character: u32,
}

/// From `start` up to, without, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) start: Position,
    pub(crate) end: Position,
}

/// Bytes between two places whose 16-bit units are remembered, so that a long line is not walked for each of
/// its places.
const STRIDE: usize = 256;

/// Where the lines of a text start, and how many 16-bit units come before its places.
#[derive(Debug)]
pub(crate) struct LineTable {
    /// A line ends with `\n`, `\r\n` or `\r`.
    starts: Vec<usize>,
    /// For each multiple of the stride, the first character that starts there or behind: its offset, and the
    /// units before it. Empty where all is ASCII, and units are bytes.
    units: Vec<(usize, usize)>,
}

impl LineTable {
    /// Scans the text once.
    pub(crate) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at + 1);
            }
        }
        let mut units = Vec::new();
        if !text.is_ascii() {
            let mut before = 0;
            for (at, c) in text.char_indices() {
                if at >= units.len() * STRIDE {
                    units.push((at, before));
                }
                before += c.len_utf16();
            }
        }
        Self { starts, units }
    }

    /// The content of the line from this start on, without its end.
    fn line_end(&self, text: &str, line: usize) -> usize {
        let Some(&next) = self.starts.get(line + 1) else {
            return text.len();
        };
        let content = &text[self.starts[line]..next];
        let content = content.strip_suffix('\n').unwrap_or(content);
        let content = content.strip_suffix('\r').unwrap_or(content);
        self.starts[line] + content.len()
    }

    /// The 16-bit units before an offset, which is that of a character.
    fn units_before(&self, text: &str, offset: usize) -> usize {
        let known = self.units.partition_point(|(at, _)| *at <= offset);
        match known.checked_sub(1).map(|k| self.units[k]) {
            None => offset,
            Some((at, before)) => before + utf16_length(&text[at..offset]),
        }
    }

    /// The offset of the character that so many units come before; within a character, its start.
    fn offset_of_units(&self, text: &str, units: usize) -> usize {
        let known = self.units.partition_point(|(_, before)| *before <= units);
        let Some((from, mut before)) = known.checked_sub(1).map(|k| self.units[k]) else {
            return units.min(text.len());
        };
        for (at, c) in text[from..].char_indices() {
            before += c.len_utf16();
            if before > units {
                return from + at;
            }
        }
        text.len()
    }

    /// The offset of a position. One behind the end of its line is the end of the line, one behind the text
    /// its end, and one within a character the start of the character.
    pub(crate) fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let Some(&start) = self.starts.get(position.line as usize) else {
            return text.len();
        };
        let end = self.line_end(text, position.line as usize);
        let character = position.character as usize;
        let offset = match encoding {
            Encoding::Utf8 => start.saturating_add(character),
            Encoding::Utf16 => {
                let before = self.units_before(text, start);
                self.offset_of_units(text, before.saturating_add(character))
            }
        };
        floor(text, offset.min(end))
    }

    /// The position of an offset; one behind the text is its end.
    pub(crate) fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let offset = floor(text, offset);
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let offset = offset.min(self.line_end(text, line));
        let start = self.starts[line];
        let character = match encoding {
            Encoding::Utf8 => offset - start,
            Encoding::Utf16 => self.units_before(text, offset) - self.units_before(text, start),
        };
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            character: u32::try_from(character).unwrap_or(u32::MAX),
        }
    }

    /// The range of a span.
    pub(crate) fn range(&self, text: &str, span: Span, encoding: Encoding) -> Range {
        let start = self.position(text, span.start, encoding);
        let end = self.position(text, span.end, encoding);
        Range {
            start,
            end: end.max(start),
        }
    }
}

fn utf16_length(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The start of the character at an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn places_are_counted_in_the_units_of_the_client() {
        let text = "a\u{e9}\u{1d11e}b\r\n\rx\n";
        let table = LineTable::new(text);
        for (offset, utf16, utf8) in [
            (0, at(0, 0), at(0, 0)),
            (1, at(0, 1), at(0, 1)),
            (3, at(0, 2), at(0, 3)),
            (7, at(0, 4), at(0, 7)),
            (8, at(0, 5), at(0, 8)),
            (10, at(1, 0), at(1, 0)),
            (11, at(2, 0), at(2, 0)),
            (12, at(2, 1), at(2, 1)),
            (13, at(3, 0), at(3, 0)),
        ] {
            assert_eq!(table.position(text, offset, Encoding::Utf16), utf16);
            assert_eq!(table.position(text, offset, Encoding::Utf8), utf8);
            assert_eq!(table.offset(text, utf16, Encoding::Utf16), offset);
            assert_eq!(table.offset(text, utf8, Encoding::Utf8), offset);
        }
    }

    #[test]
    fn positions_that_are_none_are_moved_into_the_text() {
        let text = "a\u{1d11e}b\r\nx";
        let table = LineTable::new(text);
        for (position, encoding, offset) in [
            // Within a pair of surrogates, and within the bytes of a character.
            (at(0, 2), Encoding::Utf16, 1),
            (at(0, 3), Encoding::Utf8, 1),
            // Behind the line, and behind the text.
            (at(0, 99), Encoding::Utf16, 6),
            (at(0, u32::MAX), Encoding::Utf8, 6),
            (at(1, 9), Encoding::Utf16, 9),
            (at(7, 0), Encoding::Utf8, 9),
            (at(u32::MAX, u32::MAX), Encoding::Utf16, 9),
        ] {
            assert_eq!(
                table.offset(text, position, encoding),
                offset,
                "{position:?}"
            );
        }
        assert_eq!(table.position(text, 99, Encoding::Utf16), at(1, 1));
        // Between `\r` and `\n` is the end of the line.
        assert_eq!(table.position(text, 7, Encoding::Utf8), at(0, 6));
    }

    #[test]
    fn the_client_chooses() {
        let offered = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        for (names, encoding) in [
            (&[][..], Encoding::Utf16),
            (&["utf-32"], Encoding::Utf16),
            (&["utf-8", "utf-16"], Encoding::Utf8),
            (&["utf-16", "utf-8"], Encoding::Utf16),
            (&["utf-32", "utf-8"], Encoding::Utf8),
        ] {
            assert_eq!(Encoding::negotiated(&offered(names)), encoding, "{names:?}");
        }
    }

    /// The definition: lines are split off one by one, and units are counted from the start of the line.
    fn by_definition(text: &str, offset: usize, encoding: Encoding) -> Position {
        let mut position = at(0, 0);
        let mut rest = text[..offset].chars().peekable();
        while let Some(c) = rest.next() {
            // `\r` before the end of what is looked at may be the first half of an end.
            let pair = c == '\r'
                && (rest.peek() == Some(&'\n')
                    || rest.peek().is_none() && text[offset..].starts_with('\n'));
            if c == '\n' || c == '\r' && !pair {
                position = at(position.line + 1, 0);
            } else if !pair {
                position.character += match encoding {
                    Encoding::Utf8 => c.len_utf8() as u32,
                    Encoding::Utf16 => c.len_utf16() as u32,
                };
            }
        }
        position
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        #[test]
        fn tables_say_what_counting_says(pieces in proptest::collection::vec("[a\u{e9}\u{1d11e}]{0,200}(\r\n|\r|\n)?", 0..8)) {
            let text = pieces.concat();
            let table = LineTable::new(&text);
            for encoding in [Encoding::Utf8, Encoding::Utf16] {
                for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
                    let position = table.position(&text, offset, encoding);
                    prop_assert_eq!(position, by_definition(&text, offset, encoding));
                    let within_end = text[..offset].ends_with('\r') && text[offset..].starts_with('\n');
                    if !within_end {
                        prop_assert_eq!(table.offset(&text, position, encoding), offset);
                    }
                }
            }
        }
    }
}
