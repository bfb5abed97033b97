//! Labels as plain text, and the labels that a format cannot carry.

use iolite_lts::{Label, LabelKind};

use crate::Directions;

/// Formats that know one internal action only get a named one as `i:name`, so that it stays
/// internal, and keeps its name, when it comes in again.
pub(crate) const INTERNAL_PREFIX: &str = "i:";

/// What the formats with plain label texts write for a label.
pub(crate) fn label_text(label: &Label) -> String {
    if label.kind == LabelKind::Internal && &*label.name != "i" {
        format!("{INTERNAL_PREFIX}{}", label.name)
    } else {
        label.to_string()
    }
}

/// A system that a format cannot carry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// A label that would come in again as another one.
    #[error("label `{label}` cannot be written as {format}")]
    Label {
        /// The label's text.
        label: String,
        /// The format.
        format: &'static str,
    },
    /// A term that the format has no word for.
    #[error("{place}: `{term}` cannot be written as {format}: {reason}")]
    Term {
        /// Where it stands: a transition, an initial value or an assumption.
        place: String,
        /// The term.
        term: String,
        /// Why there is no word for it.
        reason: String,
        /// The format.
        format: &'static str,
    },
    /// Two sorts of one name, from models of different files.
    #[error("{name} means two different sorts, which {format} cannot tell apart")]
    Ambiguous {
        /// The name.
        name: String,
        /// The format.
        format: &'static str,
    },
    /// The pairs of a `streett` declaration also say which finite sequences are accepted.
    #[error("the finite acceptance is not that of the pairs, which `streett` cannot say")]
    FiniteAcceptance,
    /// The sink failed.
    #[error("cannot write: the sink failed")]
    Sink(#[from] std::fmt::Error),
}

/// Whether `text`, read without options, is `label` again.
pub(crate) fn reads_back(label: &Label, text: &str) -> bool {
    Directions::default().label(text) == *label
}
