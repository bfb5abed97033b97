//! What a tester and a system under test exchange.

use std::fmt;
use std::sync::Arc;

use iolite_expr::Value;
use iolite_lts::{Label, LabelId, LabelKind};

/// An action with its values: `?REQ(3)`, `!MSG(10, true)`; without values, a plain label.
///
/// It says the same to everybody who handles it: the tester, the codec, the strategy, the journal.
/// Text that came without a sort, from a system that no model declares, is a string value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Action {
    /// Input, output, …
    pub kind: LabelKind,
    /// Name without its sigil.
    pub name: Arc<str>,
    /// Values in the order of the parameters.
    pub args: Vec<Value>,
}

impl Action {
    /// An action without values.
    pub fn plain(kind: LabelKind, name: &str) -> Self {
        Self {
            kind,
            name: name.into(),
            args: Vec::new(),
        }
    }
}

impl From<&Label> for Action {
    fn from(label: &Label) -> Self {
        Self::plain(label.kind, &label.name)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind.sigil(), self.name)?;
        for (i, value) in self.args.iter().enumerate() {
            write!(f, "{}{value}", if i == 0 { "(" } else { ", " })?;
        }
        f.write_str(if self.args.is_empty() { "" } else { ")" })
    }
}

/// Index of an action in its [`Alphabet`](crate::Alphabet).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActionId(u32);

impl ActionId {
    /// δ: the same id in every alphabet.
    pub const DELTA: Self = Self(1);

    /// The id with this index. It must come from the alphabet it is used with.
    #[inline]
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 actions"))
    }

    /// The index, for tables beside the alphabet.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The labels of a specification come first in its alphabet, in their order.
impl From<LabelId> for ActionId {
    fn from(label: LabelId) -> Self {
        Self::new(label.index())
    }
}
