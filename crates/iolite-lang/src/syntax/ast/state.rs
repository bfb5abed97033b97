//! States and their transitions.

use super::{Event, Expr, Name};
use crate::Span;

/// What a state is marked as, beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// s₀.
    Initial,
    /// A violating state of an observer.
    Violate,
    /// An accepting state of a purpose, or of a set of traces.
    Accept,
    /// A refusing state of a purpose.
    Refuse,
    /// A pass state of a test case.
    Pass,
    /// A fail state of a test case.
    Fail,
    /// An inconclusive state of a test case.
    Inconc,
}

impl Mark {
    /// The word in front of `state`.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Violate => "violate",
            Self::Accept => "accept",
            Self::Refuse => "refuse",
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconc => "inconc",
        }
    }
}

/// A state with its transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its name.
    pub name: Name,
    /// Its marks, in order, without repetition.
    pub marks: Vec<Mark>,
    /// Its transitions, in order.
    pub transitions: Vec<Transition>,
    /// All of it.
    pub span: Span,
}

/// `events [guard] / effects -> target`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// At least one.
    pub events: Vec<Event>,
    /// The guard.
    pub guard: Option<Expr>,
    /// Parallel assignments.
    pub effects: Vec<Effect>,
    /// The state it leads to.
    pub target: Name,
    /// All of it.
    pub span: Span,
}

/// `place := value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// A variable, or an element or a field of one.
    pub place: Expr,
    /// The new value.
    pub value: Expr,
}
