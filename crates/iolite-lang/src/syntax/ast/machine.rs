//! Systems, observers, purposes, test cases and sets of traces, as states and transitions.

use iolite_lts::LabelKind;

use super::{Expr, Name, Param, Sort, State};
use crate::Span;

/// What a machine is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A model.
    System,
    /// A safety property [SAFE04, def. 5].
    Observer,
    /// A test purpose.
    Purpose,
    /// A test case [LTS96, def. 3.1].
    Test,
    /// A set of traces, for `ioconf_F`.
    Traces,
}

impl Role {
    /// The word that starts the declaration.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Observer => "observer",
            Self::Purpose => "purpose",
            Self::Test => "test",
            Self::Traces => "traces",
        }
    }
}

/// States and transitions, possibly with data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// What it is for.
    pub role: Role,
    /// Its name.
    pub name: Name,
    /// The system after `for`.
    pub of: Option<Name>,
    /// Declarations and states, in the order of the file.
    pub members: Vec<Member>,
    /// The whole declaration.
    pub span: Span,
}

impl Machine {
    /// The states in order.
    pub fn states(&self) -> impl Iterator<Item = &State> + Clone {
        self.members.iter().filter_map(|m| match m {
            Member::State(s) => Some(s),
            _ => None,
        })
    }

    /// The declared labels with their kinds, in order.
    pub fn labels(&self) -> impl Iterator<Item = (LabelKind, &LabelDecl)> {
        self.members
            .iter()
            .filter_map(|m| match m {
                Member::Labels { kind, labels, .. } => Some((*kind, labels)),
                _ => None,
            })
            .flat_map(|(kind, labels)| labels.iter().map(move |l| (kind, l)))
    }

    /// The constants and the variables, in order; `true` for constants.
    pub fn bindings(&self) -> impl Iterator<Item = (bool, &Binding)> {
        self.members
            .iter()
            .filter_map(|m| match m {
                Member::Const(b) => Some((true, b)),
                Member::Var(b) => Some((false, b)),
                _ => None,
            })
            .flat_map(|(constant, b)| b.iter().map(move |b| (constant, b)))
    }

    /// Whether there are constants, variables, parameters, guards or effects.
    pub fn has_data(&self) -> bool {
        self.bindings().next().is_some()
            || self.labels().any(|(_, l)| !l.params.is_empty())
            || self
                .members
                .iter()
                .any(|m| matches!(m, Member::Assume { .. }))
            || self
                .states()
                .flat_map(|s| &s.transitions)
                .any(|t| t.guard.is_some() || !t.effects.is_empty())
    }
}

/// A part of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// `const max: int`.
    Const(Vec<Binding>),
    /// `var rn: int = 0`.
    Var(Vec<Binding>),
    /// `assume max >= 1`.
    Assume {
        /// The condition.
        condition: Expr,
        /// From the keyword on.
        span: Span,
    },
    /// `input REQ(l: int), ACK` and its siblings.
    Labels {
        /// Which of them.
        kind: LabelKind,
        /// The labels.
        labels: Vec<LabelDecl>,
        /// From the keyword on.
        span: Span,
    },
    /// `initial state Idle { … }`.
    State(State),
}

impl Member {
    /// Where the member stands.
    pub fn span(&self) -> Span {
        match self {
            Self::Const(b) | Self::Var(b) => b
                .first()
                .map_or(Span::default(), |first| first.span.to(b[b.len() - 1].span)),
            Self::Assume { span, .. } | Self::Labels { span, .. } => *span,
            Self::State(s) => s.span,
        }
    }
}

/// A constant or variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Its name.
    pub name: Name,
    /// Its sort.
    pub sort: Sort,
    /// Its value, or initial value.
    pub value: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// A declared label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelDecl {
    /// Its bare name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
}
