//! Temporal formulas.

use super::PropertyEvent;
use crate::Span;

/// A formula of linear temporal logic over actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ltl {
    /// Which.
    pub kind: LtlKind,
    /// Where.
    pub span: Span,
}

/// The kinds of temporal formulas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LtlKind {
    /// `true`, `false`.
    Constant(bool),
    /// The current action is this one.
    Atom(Box<PropertyEvent>),
    /// A unary operator.
    Unary(LtlUnary, Box<Ltl>),
    /// A binary operator.
    Binary(LtlBinary, Box<Ltl>, Box<Ltl>),
    /// What could not be parsed.
    Error,
}

/// Unary temporal operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LtlUnary {
    /// `not`.
    Not,
    /// `X`: next.
    Next,
    /// `G`: always from now on.
    Globally,
    /// `F`: now or later.
    Finally,
    /// `Y`: yesterday.
    Yesterday,
    /// `Z`: weak yesterday, true in the first step.
    WeakYesterday,
    /// `O`: once, now or before.
    Once,
    /// `H`: historically, always so far.
    Historically,
}

/// Binary temporal operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LtlBinary {
    /// `and`.
    And,
    /// `or`.
    Or,
    /// `->`.
    Implies,
    /// `<->`.
    Equivalent,
    /// `U`: until.
    Until,
    /// `W`: weak until.
    WeakUntil,
    /// `R`: release.
    Release,
    /// `M`: strong release.
    StrongRelease,
    /// `S`: since.
    Since,
    /// `T`: trigger, the dual of since.
    Trigger,
}
