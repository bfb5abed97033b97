//! Finite sets of traces.

use super::{Event, Name};
use crate::Span;

/// A finite set of traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceList {
    /// Its name.
    pub name: Name,
    /// The system after `for`.
    pub of: Option<Name>,
    /// The traces; an empty one is written `eps`.
    pub traces: Vec<Trace>,
    /// All of it.
    pub span: Span,
}

/// `?a.!x.delta`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The actions.
    pub events: Vec<Event>,
    /// Where.
    pub span: Span,
}
