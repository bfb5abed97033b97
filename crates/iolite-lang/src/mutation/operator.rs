//! The names of the mutation operators.

use std::fmt;
use std::str::FromStr;

/// A way in which a mutant differs from its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// A transition is missing.
    Drop,
    /// A transition leads to another state.
    Redirect,
    /// A transition has another label of the same kind; an output may also become internal.
    Relabel,
    /// A state has one more transition.
    Add,
    /// A number, truth value, word or value of an enumeration is another one.
    Constant,
    /// A guard holds where it did not, and only there.
    NegateGuard,
    /// A guard has lost a conjunct, or a comparison in it includes more.
    WeakenGuard,
    /// A guard is missing.
    DropGuard,
    /// An assignment is missing.
    DropAssignment,
    /// An assignment gives one more, the opposite, or the value of another variable.
    ChangeAssignment,
    /// Two parameters of an action are taken for each other.
    SwapParameters,
}

impl Operator {
    /// All operators.
    pub const ALL: [Self; 11] = [
        Self::Drop,
        Self::Redirect,
        Self::Relabel,
        Self::Add,
        Self::Constant,
        Self::NegateGuard,
        Self::WeakenGuard,
        Self::DropGuard,
        Self::DropAssignment,
        Self::ChangeAssignment,
        Self::SwapParameters,
    ];

    /// The name on the command line and in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Redirect => "redirect",
            Self::Relabel => "relabel",
            Self::Add => "add",
            Self::Constant => "constant",
            Self::NegateGuard => "negate-guard",
            Self::WeakenGuard => "weaken-guard",
            Self::DropGuard => "drop-guard",
            Self::DropAssignment => "drop-assignment",
            Self::ChangeAssignment => "change-assignment",
            Self::SwapParameters => "swap-parameters",
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no operator's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown operator `{0}`; the operators are {list}", list = Operator::ALL.map(Operator::name).join(", "))]
pub struct UnknownOperator(pub String);

impl FromStr for Operator {
    type Err = UnknownOperator;

    fn from_str(name: &str) -> Result<Self, UnknownOperator> {
        let known = Self::ALL.into_iter().find(|o| o.name() == name);
        known.ok_or_else(|| UnknownOperator(name.to_owned()))
    }
}
