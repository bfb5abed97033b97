//! Places in a source text.

use std::fmt;

/// A half-open byte range of some source text. This crate never looks inside: a span is only
/// carried from the text that a term was built from to the error that the term causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// No place: a term that no text was written for.
    pub const NONE: Self = Self {
        start: u32::MAX,
        end: u32::MAX,
    };

    /// The bytes `start..end`.
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Whether this is a real place.
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }

    /// This place, or `other` where there is none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self.is_some() { self } else { other }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_some() {
            write!(f, "{}..{}", self.start, self.end)
        } else {
            write!(f, "?")
        }
    }
}
