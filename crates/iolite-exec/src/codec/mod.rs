//! How actions meet bytes, in both directions.

mod action_map;
pub(crate) mod concrete_action;
mod concrete_codec;
mod hole;
mod json;
mod label_codec;
mod template;

pub use action_map::{ActionMap, ActionRule, OnUndecodable};
pub use concrete_codec::ConcreteCodec;
pub use hole::HoleKind;
pub use label_codec::{LabelCodec, UNDECODABLE};
pub use template::{Template, TemplateError};

use crate::ConcreteAction;

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

/// An action as a message told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The action.
    pub action: ConcreteAction,
    pub(crate) typing: Vec<Typing>,
}

impl Heard {
    /// In the notation of actions.
    pub fn notation(text: &str) -> Self {
        Self {
            action: ConcreteAction::parse(text),
            typing: Vec::new(),
        }
    }

    /// The same, where each value is of the sort that it looks like and no other.
    pub fn exact(text: &str) -> Self {
        Self::typed(ConcreteAction::parse(text))
    }

    /// An action whose values are of their own sorts and no other.
    pub fn typed(action: ConcreteAction) -> Self {
        let typing = vec![Typing::Json; action.args.len()];
        Self { action, typing }
    }

    /// What is known of the sort of a value.
    pub fn typing(&self, position: usize) -> Typing {
        let known = self.typing.get(position);
        known.copied().unwrap_or(Typing::Notation)
    }
}

/// What a message was decoded to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<A> {
    /// The output.
    pub action: A,
    /// Why it is the output `!undecodable`, when it is.
    pub note: Option<String>,
}

impl<A> Decoded<A> {
    /// A message that was understood.
    pub fn plain(action: A) -> Self {
        Self { action, note: None }
    }
}

/// Messages to actions of a tester and back.
pub trait ActionCodec<A> {
    /// Appends the message of a stimulus to `bytes` and names the channel it goes to.
    fn encode(&mut self, stimulus: &A, bytes: &mut Vec<u8>) -> Result<ChannelId, CodecError>;

    /// The output that a message of a channel stands for.
    fn decode(&mut self, channel: ChannelId, bytes: &[u8]) -> Result<Decoded<A>, CodecError>;

    /// The stimulus as people write it, for error messages.
    fn show(&self, stimulus: &A) -> String;
}
