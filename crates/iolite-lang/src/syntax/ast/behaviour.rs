//! Behaviour expressions and compositions.

use super::{Event, Expr, Name};
use crate::Span;

/// `process P over {a, b} = B` or `system S = B`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Whether it is written `system`.
    pub is_system: bool,
    /// Its name.
    pub name: Name,
    /// The alphabet after `over`; without it, what occurs.
    pub over: Option<Vec<Event>>,
    /// What it does.
    pub body: Behaviour,
    /// All of it.
    pub span: Span,
}

/// A behaviour expression [Tretmans 1996, def. 2.4].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// Which.
    pub kind: BehaviourKind,
    /// Where.
    pub span: Span,
}

/// The kinds of behaviour expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BehaviourKind {
    /// `stop`.
    Stop,
    /// `a; b; B`.
    Prefix {
        /// At least one.
        events: Vec<Event>,
        /// What follows; itself no prefix.
        rest: Box<Behaviour>,
    },
    /// `B [] B`, at least two.
    Choice(Vec<Behaviour>),
    /// `B || B`, at least two.
    Parallel {
        /// How they run together.
        sync: Sync,
        /// The parts.
        parts: Vec<Behaviour>,
    },
    /// `hide a, b in B`.
    Hide {
        /// Bare names.
        labels: Vec<Name>,
        /// What is hidden in.
        body: Box<Behaviour>,
    },
    /// `rename a -> b in B`.
    Rename {
        /// Bare names, old and new.
        pairs: Vec<(Name, Name)>,
        /// What is renamed in.
        body: Box<Behaviour>,
    },
    /// `P` or `Sender(max = 3)`.
    Call {
        /// A process or system.
        name: Name,
        /// Values of its constants.
        args: Vec<(Name, Expr)>,
    },
    /// `each k in 0..2 ||| Cell(id = k)`.
    Each {
        /// The index.
        index: Name,
        /// First and last index.
        range: (Box<Expr>, Box<Expr>),
        /// How the instances run together.
        sync: Sync,
        /// One instance.
        body: Box<Behaviour>,
    },
    /// What could not be parsed.
    Error,
}

/// How processes run together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sync {
    /// `||`: on all visible actions.
    All,
    /// `|||`: on none.
    Interleave,
    /// `|[A]|`: on the actions of A, bare names.
    On(Vec<Name>),
}
