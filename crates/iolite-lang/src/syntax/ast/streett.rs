//! Streett automata.

use super::{Name, State};
use crate::Span;

/// A Streett automaton [PROP12, def. 2].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streett {
    /// Its states.
    pub states: Vec<State>,
    /// Its acceptance pairs.
    pub pairs: Vec<StreettPair>,
}

/// `pair recurrent {…} persistent {…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreettPair {
    /// R.
    pub recurrent: Vec<Name>,
    /// P.
    pub persistent: Vec<Name>,
    /// Where.
    pub span: Span,
}
