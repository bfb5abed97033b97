//! Places in a source text.

use std::fmt;

/// A half-open range of byte offsets.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}..{}", self.start, self.end)
    }
}

impl Span {
    /// The span from `start` up to, without, `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The empty span at `offset`.
    pub fn at(offset: usize) -> Self {
        Self::new(offset, offset)
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }
}

/// Where each line of a text starts, to turn offsets into lines and columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl Default for LineIndex {
    fn default() -> Self {
        Self::new(b"")
    }
}

impl LineIndex {
    /// Scans the text once.
    pub fn new(text: &[u8]) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text).map(|i| i + 1));
        Self { starts }
    }

    /// The line, from 1, that holds the byte at `offset`.
    pub fn line(&self, offset: usize) -> u32 {
        let lines = self.starts.partition_point(|&s| s <= offset);
        u32::try_from(lines).unwrap_or(u32::MAX)
    }

    /// The bytes of a line (from 1) without its end.
    pub fn line_span(&self, text: &[u8], line: u32) -> Span {
        let i = line as usize - 1;
        let start = self.starts[i];
        let mut end = self.starts.get(i + 1).map_or(text.len(), |&next| next - 1);
        if end > start && text[end - 1] == b'\r' {
            end -= 1;
        }
        Span::new(start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one_and_lose_their_ends() {
        let text = b"ab\r\n\ncd";
        let index = LineIndex::new(text);
        assert_eq!([0, 3, 4, 5, 7].map(|o| index.line(o)), [1, 1, 2, 3, 3]);
        assert_eq!(index.line_span(text, 1), Span::new(0, 2));
        assert_eq!(index.line_span(text, 2), Span::new(4, 4));
        assert_eq!(index.line_span(text, 3), Span::new(5, 7));
    }
}
