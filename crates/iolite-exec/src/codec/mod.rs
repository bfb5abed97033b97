//! How actions meet bytes, in both directions.

mod action_map;
pub(crate) mod concrete_action;
mod dictionary;
mod hole;
mod json;
mod json_path;
mod matching;
mod message_part;
mod parameters;
mod shadow;
mod slot_values;
mod sorted_value;
mod template;
mod wire_codec;

pub use action_map::{ActionMap, ActionRule, OnUndecodable};
pub use dictionary::{Dictionary, LabelDictionary, SortDictionary};
pub use hole::HoleKind;
pub use message_part::MessagePart;
pub use parameters::Parameters;
pub use shadow::Shadow;
pub use sorted_value::{concrete, valued};
pub use template::{Template, TemplateError};
pub use wire_codec::WireCodec;

use iolite_derive::ActionId;

use crate::{ConcreteAction, WireValue};

/// Index of a channel of the system under test, in the order of its description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelId(u16);

impl ChannelId {
    /// The first channel, and the only one of most systems.
    pub const FIRST: Self = Self(0);

    /// The channel with this index.
    pub fn new(index: usize) -> Self {
        Self(u16::try_from(index).expect("fewer than 65536 channels"))
    }

    /// The index.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Why an action has no bytes, or a message no action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CodecError(pub String);

/// What a message says of the sort of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typing {
    /// It is of its JSON type and no other.
    Json,
    /// Notation of actions: what has quotes is text, and text without them may look like a number.
    Notation,
    /// Text of a hole: of whatever sort it can be read as.
    Text,
}

/// An action as a message has it: name and values, and what the message says of their sorts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The action.
    pub action: ConcreteAction,
    pub(crate) typing: Vec<Typing>,
    /// What it says in holes `{$name}`.
    pub(crate) kept: Vec<(String, WireValue)>,
}

impl Message {
    /// In the notation of actions.
    pub fn notation(text: &str) -> Self {
        Self {
            action: ConcreteAction::parse(text),
            typing: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// The same, where each value is of the sort that it looks like and no other.
    pub fn exact(text: &str) -> Self {
        Self::typed(ConcreteAction::parse(text))
    }

    /// An action whose values are of their own sorts and no other.
    pub fn typed(action: ConcreteAction) -> Self {
        let typing = vec![Typing::Json; action.args.len()];
        Self {
            action,
            typing,
            kept: Vec::new(),
        }
    }

    /// What is known of the sort of a value.
    pub fn typing(&self, position: usize) -> Typing {
        let known = self.typing.get(position);
        known.copied().unwrap_or(Typing::Notation)
    }
}

/// What a message was decoded to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The action.
    pub action: ActionId,
    /// More about it, for the journal: why it is the output `!undecodable`, when it is, or what it
    /// really was.
    pub note: Option<String>,
}

impl From<ActionId> for Decoded {
    fn from(action: ActionId) -> Self {
        Self { action, note: None }
    }
}
