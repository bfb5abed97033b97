//! The codec of testers whose actions carry values.

use crate::{ConcreteAction, brief};

use super::{ActionCodec, ActionMap, ChannelId, CodecError, Decoded, OnUndecodable, UNDECODABLE};

/// Messages to [`ConcreteAction`]s by templates.
#[derive(Clone, Debug, Default)]
pub struct ConcreteCodec {
    map: ActionMap,
    outputs: Option<Vec<String>>,
}

impl ConcreteCodec {
    /// Any message that can be read at all is an output.
    pub fn new(map: ActionMap) -> Self {
        Self { map, outputs: None }
    }

    /// Only these names are outputs; any other message is undecodable.
    #[must_use]
    pub fn with_outputs(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.outputs = Some(names.into_iter().collect());
        self
    }
}

impl ActionCodec<ConcreteAction> for ConcreteCodec {
    fn encode(
        &mut self,
        stimulus: &ConcreteAction,
        bytes: &mut Vec<u8>,
    ) -> Result<ChannelId, CodecError> {
        self.map.encode(stimulus, bytes)
    }

    fn decode(
        &mut self,
        channel: ChannelId,
        bytes: &[u8],
    ) -> Result<Decoded<ConcreteAction>, CodecError> {
        let result = self.map.decode(channel, bytes).and_then(|action| {
            if self
                .outputs
                .as_ref()
                .is_none_or(|names| names.contains(&action.name))
            {
                Ok(action)
            } else {
                Err(CodecError(format!(
                    "no output of the model is {}{}",
                    brief(&action.to_string()),
                    self.map.mismatches(channel, bytes)
                )))
            }
        });
        match result {
            Ok(action) => Ok(Decoded::plain(action)),
            Err(reason) if self.map.undecodable_policy() == OnUndecodable::Output => Ok(Decoded {
                action: ConcreteAction::bare(UNDECODABLE),
                note: Some(reason.0),
            }),
            Err(reason) => Err(reason),
        }
    }

    fn show(&self, stimulus: &ConcreteAction) -> String {
        format!("?{stimulus}")
    }
}
