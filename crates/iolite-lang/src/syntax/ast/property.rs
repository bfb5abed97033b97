//! Properties and their Boolean combinations.

use super::{Ltl, Name, PropertyEvent, Regex, Streett};
use crate::Span;

/// `property P for S over {a, b} = …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: Name,
    /// The system after `for`.
    pub of: Option<Name>,
    /// The alphabet after `over`.
    pub over: Option<Vec<PropertyEvent>>,
    /// What it says.
    pub body: Formula,
    /// All of it.
    pub span: Span,
}

/// A property in one of the three views, or a Boolean combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// Which.
    pub kind: FormulaKind,
    /// Where.
    pub span: Span,
}

/// The kinds of formulas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormulaKind {
    /// `not F`.
    Not(Box<Formula>),
    /// `F and F`, at least two.
    And(Vec<Formula>),
    /// `F or F`, at least two.
    Or(Vec<Formula>),
    /// `ltl …`, the logical view.
    Ltl(Ltl),
    /// `always R` and its siblings, the language view.
    Language {
        /// A, E, R or P.
        quantifier: Quantifier,
        /// Whether it is the finitary partner, `A_f` and so on.
        finitary: bool,
        /// The regular language.
        regex: Regex,
    },
    /// `streett { … }`, the automata view.
    Streett(Streett),
    /// Another property.
    Name(Name),
    /// What could not be parsed.
    Error,
}

/// Which prefixes belong to the language [PROP12, §4.2 and def. 16].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// A: all of them.
    Always,
    /// E: some of them.
    Eventually,
    /// R: infinitely many of them.
    Recurrently,
    /// P: all but finitely many of them.
    Persistently,
}

impl Quantifier {
    /// The word of the language.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Eventually => "eventually",
            Self::Recurrently => "recurrently",
            Self::Persistently => "persistently",
        }
    }
}
