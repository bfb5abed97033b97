//! Behaviour expressions and compositions.

use super::{Event, Expr, Name, Param};
use crate::Span;

/// `process P(n: 0..3) over {a, b} = B` or `system S = B`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Whether it is written `system`.
    pub is_system: bool,
    /// Its name.
    pub name: Name,
    /// What a call gives values to. A definition with parameters is no system by itself.
    pub params: Vec<Param>,
    /// The alphabet after `over`; without it, what occurs.
    pub over: Option<Vec<Event>>,
    /// What it does.
    pub body: Behaviour,
    /// All of it.
    pub span: Span,
}

/// A behaviour expression [LTS96, def. 2.4].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// Which.
    pub kind: BehaviourKind,
    /// Where.
    pub span: Span,
}

impl Behaviour {
    /// Visits the names of the processes and systems that it calls, in order.
    pub fn calls<'a>(&'a self, visit: &mut dyn FnMut(&'a Name)) {
        if let BehaviourKind::Call { name, .. } = &self.kind {
            visit(name);
        }
        for part in self.parts() {
            part.calls(visit);
        }
    }

    /// The behaviours it is made of.
    pub fn parts(&self) -> &[Self] {
        match &self.kind {
            BehaviourKind::Stop | BehaviourKind::Call { .. } | BehaviourKind::Error => &[],
            BehaviourKind::Prefix { rest: body, .. }
            | BehaviourKind::Guard { body, .. }
            | BehaviourKind::Hide { body, .. }
            | BehaviourKind::Rename { body, .. }
            | BehaviourKind::Each { body, .. } => std::slice::from_ref(body),
            BehaviourKind::Choice(parts) | BehaviourKind::Parallel { parts, .. } => parts,
        }
    }
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
    /// `[n < 3] -> B`: B where the condition holds, else `stop`.
    Guard {
        /// The condition.
        condition: Expr,
        /// What it guards.
        body: Box<Behaviour>,
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
        /// Bare names, or one instance of an action.
        labels: Vec<Gate>,
        /// What is hidden in.
        body: Box<Behaviour>,
    },
    /// `rename a -> b in B`.
    Rename {
        /// Old and new.
        pairs: Vec<(Gate, Gate)>,
        /// What is renamed in.
        body: Box<Behaviour>,
    },
    /// `P`, `P(n = 1)` or `Sender(max = 3)`.
    Call {
        /// A process or system.
        name: Name,
        /// Values of its parameters or constants.
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
    /// `|[A]|`: on the actions of A.
    On(Vec<Gate>),
}

/// An action of `hide`, `rename` or `|[…]|`, without its direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Its bare name: the action, whatever values it carries.
    pub name: Name,
    /// The values of one instance, `on(k)`.
    pub values: Option<Vec<Expr>>,
    /// Where.
    pub span: Span,
}
