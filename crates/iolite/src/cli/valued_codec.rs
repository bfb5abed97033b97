//! Actions with values on their way over the wire.

use std::sync::Arc;

use iolite_exec::codec::{
    ActionCodec, ActionMap, ChannelId, CodecError, Decoded, OnUndecodable, UNDECODABLE,
};
use iolite_exec::{ConcreteAction, WireValue};
use iolite_expr::{Int, Sort, Value};
use iolite_lts::{LabelId, LabelKind};
use iolite_sts::{Iosts, ValuedAction};

use super::action_table::ActionTable;

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

    fn output(&self, action: &ConcreteAction) -> Result<ValuedAction, CodecError> {
        valued(&self.model, LabelKind::Output, action)
    }
}

/// An action as it was read, with values of the model's sorts.
pub(super) fn valued(
    model: &Iosts,
    kind: LabelKind,
    action: &ConcreteAction,
) -> Result<ValuedAction, CodecError> {
    let what = if kind == LabelKind::Input {
        "input"
    } else {
        "output"
    };
    let Some(id) = model.find_action(kind, &action.name) else {
        return Err(CodecError(format!("no {what} of the model is {action}")));
    };
    let params = &model.action(id).params;
    if params.len() != action.args.len() {
        return Err(CodecError(format!(
            "{what} {} has {} parameters, and the message {} values",
            action.name,
            params.len(),
            action.args.len()
        )));
    }
    let values = action.args.iter().zip(params).map(|(wire, p)| {
        value(wire, &p.sort).ok_or_else(|| {
            CodecError(format!(
                "{wire} is no {}, the sort of {} of {}",
                p.sort, p.name, action.name
            ))
        })
    });
    Ok(ValuedAction {
        action: id,
        values: values.collect::<Result<_, _>>()?,
    })
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
            .decode_as(channel, bytes, |action| self.output(&action));
        match read {
            Ok(action) => Ok(Decoded::plain(self.table.number(&action))),
            Err(reason) if self.map.undecodable_policy() == OnUndecodable::Output => {
                let action = self.output(&ConcreteAction::bare(UNDECODABLE))?;
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
        name: model.action(action.action).name.to_string(),
        args: action.values.iter().map(wire).collect(),
    }
}

/// A value as it crosses the wire.
fn wire(value: &Value) -> WireValue {
    match value {
        Value::Bool(b) => WireValue::Bool(*b),
        Value::Int(n) => WireValue::Int(n.to_big()),
        Value::Str(text) => WireValue::Text(text.to_string()),
        Value::Enum(..) => WireValue::Text(value.to_string()),
        Value::Array(items) => WireValue::List(items.iter().map(wire).collect()),
        Value::Record(sort, items) => {
            let names = sort.fields.iter().map(|(name, _)| name.to_string());
            WireValue::Record(names.zip(items.iter().map(wire)).collect())
        }
    }
}

/// A value from the wire. An integer outside of its range is still a value: the model forbids it,
/// and that is a verdict.
fn value(wire: &WireValue, sort: &Sort) -> Option<Value> {
    Some(match (sort, wire) {
        (Sort::Bool, WireValue::Bool(b)) => Value::Bool(*b),
        (Sort::Bool, WireValue::Text(text)) => Value::Bool(text.parse().ok()?),
        (Sort::Int | Sort::Range(_), WireValue::Int(n)) => Value::Int(Int::from(n.clone())),
        (Sort::Int | Sort::Range(_), WireValue::Text(text)) => Value::Int(text.parse().ok()?),
        (Sort::String, WireValue::Text(text)) => Value::str(text),
        // A text without quotes may look like something else.
        (Sort::String, WireValue::Bool(_) | WireValue::Int(_)) => Value::str(&wire.to_string()),
        (Sort::Enum(_), WireValue::Text(name)) => Value::variant(sort, name)?,
        (Sort::Array(of), WireValue::List(items)) => {
            Value::array(items.iter().map(|i| value(i, of)).collect::<Option<_>>()?)
        }
        (Sort::Record(r), WireValue::Record(fields)) => {
            let field = |name: &str, of: &Sort| {
                let (_, wire) = fields.iter().find(|(n, _)| n == name)?;
                value(wire, of)
            };
            let items = r.fields.iter().map(|(name, of)| field(name, of));
            Value::record(sort, items.collect::<Option<_>>()?)?
        }
        _ => return None,
    })
}
