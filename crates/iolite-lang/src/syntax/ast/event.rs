//! What transitions and prefixes wait for.

use iolite_lts::LabelKind;

use super::Name;
use crate::Span;

/// What a transition or a prefix waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Which.
    pub kind: EventKind,
    /// Where.
    pub span: Span,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// `?a`, `!x(p, _)`, `plain`.
    Label {
        /// Input, output, or undirected for a bare name, which may be a declared internal action.
        kind: LabelKind,
        /// The bare name.
        name: Name,
        /// Names for the parameters, `_` for one that does not matter; `None` without parentheses.
        args: Option<Vec<Name>>,
    },
    /// `i`.
    Tau,
    /// `delta`.
    Delta,
    /// `*`: every action that labels no other transition of the state.
    Any,
}
