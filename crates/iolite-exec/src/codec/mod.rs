//! How actions meet bytes, in both directions.

mod action_map;
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
