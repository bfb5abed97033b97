//! What transitions and prefixes wait for.

use iolite_lts::LabelKind;

use super::{Expr, Name, Param, Sort};
use crate::Span;

/// What a transition or a prefix waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Which.
    pub kind: EventKind,
    /// Where.
    pub span: Span,
}

/// An action in a property: `!reply(code) [code >= 500]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyEvent {
    /// The action, with names for its parameters.
    pub event: Event,
    /// The sorts of its parameters, where they are written: one for each, or none.
    pub sorts: Vec<Sort>,
    /// The condition on the parameters.
    pub guard: Option<Expr>,
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
    /// `on(k)`, `!mid(x: 0..3)`: an action of a process with values.
    Offer {
        /// Input, output or undirected.
        kind: LabelKind,
        /// The bare name.
        name: Name,
        /// At least one.
        offers: Vec<Offer>,
        /// What the values have to meet: `mid(x: int) [x > 3]`.
        guard: Option<Box<Expr>>,
    },
    /// `i`.
    Tau,
    /// `delta`.
    Delta,
    /// `*`: every action that labels no other transition of the state.
    Any,
}

/// The name of a value that `exit(any T)` leaves open.
pub const ANY: &str = "_";

/// What an action of a process carries at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    /// This value.
    Value(Expr),
    /// Any value of a sort, known by this name from then on.
    Variable(Param),
}
