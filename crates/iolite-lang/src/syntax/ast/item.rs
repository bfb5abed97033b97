//! Declarations.

use super::{Alias, Definition, Enum, Function, Machine, Name, Property, Record, Sum, TraceList};
use crate::Span;

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// `system S { … }`, `observer`, `purpose`, `test`, `traces F { … }`.
    Machine(Machine),
    /// `process P over {a, b} = …` or `system S = …`.
    Definition(Definition),
    /// `traces F = { ?a.!x, … }`.
    Traces(TraceList),
    /// `property P … = …`.
    Property(Property),
    /// `enum E { A, B }`.
    Enum(Enum),
    /// `record R { x: int }`.
    Record(Record),
    /// `type S = Circle(r: int) | Point`.
    Sum(Sum),
    /// `type T = int[]`.
    Alias(Alias),
    /// `fn f(x: int): int = x + 1`.
    Function(Function),
}

impl Item {
    /// The declared name.
    pub fn name(&self) -> &Name {
        match self {
            Self::Machine(m) => &m.name,
            Self::Definition(d) => &d.name,
            Self::Traces(t) => &t.name,
            Self::Property(p) => &p.name,
            Self::Enum(e) => &e.name,
            Self::Record(r) => &r.name,
            Self::Sum(s) => &s.name,
            Self::Alias(a) => &a.name,
            Self::Function(f) => &f.name,
        }
    }

    /// The whole declaration.
    pub fn span(&self) -> Span {
        match self {
            Self::Machine(m) => m.span,
            Self::Definition(d) => d.span,
            Self::Traces(t) => t.span,
            Self::Property(p) => p.span,
            Self::Enum(e) => e.span,
            Self::Record(r) => r.span,
            Self::Sum(s) => s.span,
            Self::Alias(a) => a.span,
            Self::Function(f) => f.span,
        }
    }

    /// The word that starts the declaration.
    pub fn keyword(&self) -> &'static str {
        match self {
            Self::Machine(m) => m.role.keyword(),
            Self::Definition(d) if d.is_system => "system",
            Self::Definition(_) => "process",
            Self::Traces(_) => "traces",
            Self::Property(_) => "property",
            Self::Enum(_) => "enum",
            Self::Record(_) => "record",
            Self::Sum(_) | Self::Alias(_) => "type",
            Self::Function(_) => "fn",
        }
    }
}
