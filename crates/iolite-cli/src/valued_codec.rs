//! Actions with values on their way over the wire.

use std::sync::Arc;

use iolite_exec::ConcreteAction;
use iolite_exec::codec::{
    ActionCodec, ActionMap, ChannelId, CodecError, Decoded, Heard, OnUndecodable, UNDECODABLE,
};
use iolite_lts::{LabelId, LabelKind};
use iolite_sts::{Iosts, ValuedAction};

use super::action_table::ActionTable;
use super::wire_value::{to_wire, valued};

/// Messages to valued actions and back, by the templates of the system's description.
pub(super) struct ValuedCodec {
    map: ActionMap,
    model: Arc<Iosts>,
    table: ActionTable,
}

impl ValuedCodec {
    pub(super) fn new(map: ActionMap, model: Arc<Iosts>, table: ActionTable) -> Self {
        Self { map, model, table }
    }

    fn output(&self, heard: &Heard) -> Result<ValuedAction, CodecError> {
        valued(&self.model, LabelKind::Output, heard)
    }
}

impl ActionCodec<LabelId> for ValuedCodec {
    fn encode(&mut self, stimulus: &LabelId, bytes: &mut Vec<u8>) -> Result<ChannelId, CodecError> {
        let action = self
            .table
            .action(*stimulus)
            .ok_or_else(|| CodecError("an action without a number".into()))?;
        self.map.encode(&concrete(&self.model, &action), bytes)
    }

    fn decode(&mut self, channel: ChannelId, bytes: &[u8]) -> Result<Decoded<LabelId>, CodecError> {
        let read = self
            .map
            .decode_as(channel, bytes, |heard| self.output(&heard));
        match read {
            Ok(action) => Ok(Decoded::plain(self.table.number(&action))),
            Err(reason) if self.map.undecodable_policy() == OnUndecodable::Output => {
                let action = self.output(&Heard::notation(UNDECODABLE))?;
                Ok(Decoded {
                    action: self.table.number(&action),
                    note: Some(reason.0),
                })
            }
            Err(reason) => Err(reason),
        }
    }

    fn show(&self, stimulus: &LabelId) -> String {
        self.table.action(*stimulus).map_or_else(
            || format!("unknown action {}", stimulus.index()),
            |action| format!("?{}", self.model.label(&action)),
        )
    }
}

/// Valued actions of a model that plays the system: what a tester sends is read, and what it reads
/// is sent.
pub(super) struct PlayedCodec {
    map: ActionMap,
    model: Arc<Iosts>,
}

impl PlayedCodec {
    /// `map` is the tester's.
    pub(super) fn new(map: &ActionMap, model: Arc<Iosts>) -> Self {
        Self {
            map: map.reversed(),
            model,
        }
    }
}

impl ActionCodec<ValuedAction> for PlayedCodec {
    fn encode(
        &mut self,
        output: &ValuedAction,
        bytes: &mut Vec<u8>,
    ) -> Result<ChannelId, CodecError> {
        self.map.encode(&concrete(&self.model, output), bytes)
    }

    fn decode(
        &mut self,
        channel: ChannelId,
        bytes: &[u8],
    ) -> Result<Decoded<ValuedAction>, CodecError> {
        let known = |action| valued(&self.model, LabelKind::Input, &action);
        self.map
            .decode_as(channel, bytes, known)
            .map(Decoded::plain)
    }

    fn show(&self, output: &ValuedAction) -> String {
        format!("!{}", self.model.label(output))
    }
}

/// An action as it crosses the wire.
pub(super) fn concrete(model: &Iosts, action: &ValuedAction) -> ConcreteAction {
    ConcreteAction {
        name: model.gate(action.action).name.to_string(),
        args: action.values.iter().map(to_wire).collect(),
    }
}
