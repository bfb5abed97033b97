//! Regular expressions over actions.

use super::{Name, PropertyEvent};
use crate::Span;

/// A regular expression over actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regex {
    /// Which.
    pub kind: RegexKind,
    /// Where.
    pub span: Span,
}

/// The kinds of regular expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegexKind {
    /// `eps`: the empty word.
    Empty,
    /// One action.
    Atom(Box<PropertyEvent>),
    /// `.`: any action.
    Any,
    /// One after the other, at least two.
    Sequence(Vec<Regex>),
    /// `|`, at least two.
    Alternatives(Vec<Regex>),
    /// `*`.
    Star(Box<Regex>),
    /// `+`.
    Plus(Box<Regex>),
    /// `@F`: a declared set of traces.
    Traces(Name),
    /// What could not be parsed.
    Error,
}
