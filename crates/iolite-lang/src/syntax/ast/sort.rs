//! Sorts and their declarations.

use super::{Expr, Name};
use crate::Span;

/// An enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Its name.
    pub name: Name,
    /// Its values.
    pub values: Vec<Name>,
    /// All of it.
    pub span: Span,
}

/// A record sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its name.
    pub name: Name,
    /// Its fields.
    pub fields: Vec<Param>,
    /// All of it.
    pub span: Span,
}

/// A sum sort: its values are of one of several variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// Its name.
    pub name: Name,
    /// Its variants.
    pub variants: Vec<Variant>,
    /// All of it.
    pub span: Span,
}

/// A variant of a sum sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: Name,
    /// Its fields.
    pub fields: Vec<Param>,
}

impl Sum {
    /// Whether no variant has fields, so that the sort is an enumeration.
    pub fn is_enumeration(&self) -> bool {
        self.variants.iter().all(|v| v.fields.is_empty())
    }
}

/// Another name for a sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name.
    pub name: Name,
    /// The sort.
    pub sort: Sort,
    /// All of it.
    pub span: Span,
}

/// A parameter or field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// Its sort.
    pub sort: Sort,
}

/// A sort as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    /// Which.
    pub kind: SortKind,
    /// Where.
    pub span: Span,
}

impl Sort {
    /// The sorts that it is made of, and itself, without what their names stand for.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        let mut all = vec![self];
        match &self.kind {
            SortKind::Array(of) | SortKind::Set(of) => all.extend(of.parts()),
            SortKind::Map(key, value) => {
                all.extend(key.parts());
                all.extend(value.parts());
            }
            _ => {}
        }
        all
    }
}

/// The kinds of sorts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortKind {
    /// `bool`.
    Bool,
    /// `int`, unbounded.
    Int,
    /// `string`.
    String,
    /// `0..7`, both ends included.
    Range(Box<Expr>, Box<Expr>),
    /// An enumeration, a record or an alias.
    Name(String),
    /// `T[]`.
    Array(Box<Sort>),
    /// `decimal(2)`, with its digits.
    Decimal(String),
    /// `set<T>`.
    Set(Box<Sort>),
    /// `map<K, V>`.
    Map(Box<Sort>, Box<Sort>),
    /// What could not be parsed.
    Error,
}
