//! Behaviour expressions and compositions.

use super::{Event, Expr, Name, Offer, Param, Sort};
use crate::Span;

/// `process P[a, b](n: 0..3) over {a, b} = B` or `system S = B`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Whether it is written `system`.
    pub is_system: bool,
    /// Its name.
    pub name: Name,
    /// Formal gates: actions that a call gives names to.
    pub gates: Vec<Name>,
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

impl Definition {
    /// Whether a call has to say something, so that it is no system by itself.
    pub fn is_open(&self) -> bool {
        !self.params.is_empty() || !self.gates.is_empty()
    }
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
            BehaviourKind::Stop
            | BehaviourKind::Exit(_)
            | BehaviourKind::Call { .. }
            | BehaviourKind::Error => &[],
            BehaviourKind::Prefix { rest: body, .. }
            | BehaviourKind::Guard { body, .. }
            | BehaviourKind::Hide { body, .. }
            | BehaviourKind::Rename { body, .. }
            | BehaviourKind::Let { body, .. }
            | BehaviourKind::ChoiceOver { body, .. }
            | BehaviourKind::Each { body, .. } => std::slice::from_ref(body),
            BehaviourKind::Choice(parts) | BehaviourKind::Parallel { parts, .. } => parts,
            BehaviourKind::Enable { parts, .. } | BehaviourKind::Disable(parts) => &parts[..],
        }
    }

    /// The same, to be changed.
    pub fn parts_mut(&mut self) -> &mut [Self] {
        match &mut self.kind {
            BehaviourKind::Stop
            | BehaviourKind::Exit(_)
            | BehaviourKind::Call { .. }
            | BehaviourKind::Error => &mut [],
            BehaviourKind::Prefix { rest: body, .. }
            | BehaviourKind::Guard { body, .. }
            | BehaviourKind::Hide { body, .. }
            | BehaviourKind::Rename { body, .. }
            | BehaviourKind::Let { body, .. }
            | BehaviourKind::ChoiceOver { body, .. }
            | BehaviourKind::Each { body, .. } => std::slice::from_mut(body),
            BehaviourKind::Choice(parts) | BehaviourKind::Parallel { parts, .. } => parts,
            BehaviourKind::Enable { parts, .. } | BehaviourKind::Disable(parts) => &mut parts[..],
        }
    }
}

/// The kinds of behaviour expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BehaviourKind {
    /// `stop`.
    Stop,
    /// `exit`, `exit(n, any bool)`: ends, and hands values on to what `>>` enables.
    Exit(Vec<Offer>),
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
    /// `choice x: 0..3 [] B`: B with any of the values.
    ChoiceOver {
        /// At least one.
        params: Vec<Param>,
        /// What may read them.
        body: Box<Behaviour>,
    },
    /// `let x: int = n + 1 in B`.
    Let {
        /// The name.
        name: Name,
        /// Its sort, where it is written.
        sort: Option<Sort>,
        /// What it stands for.
        value: Box<Expr>,
        /// What may read it.
        body: Box<Behaviour>,
    },
    /// `B >> accept x: int in C`: when B exits, C begins.
    Enable {
        /// What is known of the values that B exits with.
        accept: Vec<Param>,
        /// B and C.
        parts: Box<[Behaviour; 2]>,
    },
    /// `B [> C`: until B exits, C may begin and end B.
    Disable(Box<[Behaviour; 2]>),
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
    /// `P`, `P[a, b](n = 1)` or `Sender(max = 3)`.
    Call {
        /// A process or system.
        name: Name,
        /// What its formal gates are here, in their order.
        gates: Vec<Name>,
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
