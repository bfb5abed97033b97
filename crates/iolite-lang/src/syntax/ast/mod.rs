//! The tree of an `.iol` file. Every node knows its place.

mod behaviour;
mod event;
mod expr;
mod item;
mod ltl;
mod machine;
mod property;
mod regex;
mod sort;
mod spoilt;
mod state;
mod streett;
mod traces;

pub use behaviour::{Behaviour, BehaviourKind, Definition, Gate, Sync};
pub use event::{ANY, Event, EventKind, Offer, PropertyEvent};
pub use expr::{
    Arm, ArrayQuantifier, BinaryOp, Expr, ExprKind, Function, Pattern, PatternKind, UnaryOp,
};
pub use item::Item;
pub use ltl::{Ltl, LtlBinary, LtlKind, LtlUnary};
pub use machine::{Binding, LabelDecl, Machine, Member, Role};
pub use property::{Formula, FormulaKind, Property, Quantifier};
pub use regex::{Regex, RegexKind};
pub use sort::{Alias, Enum, Param, Record, Sort, SortKind, Sum, Variant};
pub use spoilt::SpoiltDeclarations;
pub use state::{Effect, Mark, State, Transition};
pub use streett::{Streett, StreettPair};
pub use traces::{Trace, TraceList};

use crate::{LineIndex, Span};

/// A file: declarations and, beside the tree, comments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// In the order of the file.
    pub items: Vec<Item>,
    /// In the order of the file.
    pub comments: Vec<Comment>,
    /// Where the lines start.
    pub lines: LineIndex,
    /// What syntax errors leave unknown.
    pub spoilt: SpoiltDeclarations,
}

impl File {
    /// The declarations without syntax errors, in the order of the file.
    pub(crate) fn sound_items(&self) -> impl Iterator<Item = &Item> + Clone {
        self.items.iter().filter(|item| !self.spoilt.contains(item))
    }
}

/// A comment with its marks (`// …` or `/* … */`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The comment as written.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A name at a place. Quotes are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name itself.
    pub text: String,
    /// Where.
    pub span: Span,
}
