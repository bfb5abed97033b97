//! What syntax errors leave unknown.

use std::collections::BTreeSet;

use super::Item;
use crate::Span;

/// The declarations that a syntax error has spoilt, and what they may have declared: nothing can
/// be said about them, nor about names that may be theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoiltDeclarations {
    /// Declarations with a syntax error, and text that is none, in the order of the file.
    pub(crate) spans: Vec<Span>,
    /// The words of all these.
    pub(crate) words: BTreeSet<String>,
    /// Whether the name of one of them is missing, so that any name may be its.
    pub(crate) nameless: bool,
    /// Whether one of them is an enumeration, which may lack any value.
    pub(crate) enumeration: bool,
    /// The words of text that may belong to an enumeration.
    pub(crate) values: BTreeSet<String>,
}

impl SpoiltDeclarations {
    /// Whether a declaration of the tree has a syntax error.
    pub fn contains(&self, item: &Item) -> bool {
        let start = item.span().start;
        let at = self.spans.partition_point(|s| s.end <= start);
        self.spans.get(at).is_some_and(|s| s.start <= start)
    }

    /// Whether a declaration with a syntax error may have declared this name.
    pub(crate) fn may_declare(&self, name: &str) -> bool {
        self.nameless || self.words.contains(name)
    }

    /// Whether an enumeration with a syntax error may have this value.
    pub(crate) fn may_have_value(&self, name: &str) -> bool {
        self.enumeration || self.values.contains(name)
    }
}
