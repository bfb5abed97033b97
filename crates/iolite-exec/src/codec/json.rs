//! Wire values as JSON.

use serde_json::Value;

use crate::{ConcreteAction, WireValue};

use super::CodecError;

/// Writes a value as JSON; integers of any size exactly, bytes as a string of hexadecimal digits.
pub(crate) fn write_json(value: &WireValue, bytes: &mut Vec<u8>) {
    let string = |text: &str, bytes: &mut Vec<u8>| {
        bytes.extend_from_slice(Value::from(text).to_string().as_bytes());
    };
    match value {
        WireValue::Bool(b) => bytes.extend_from_slice(b.to_string().as_bytes()),
        WireValue::Int(n) => bytes.extend_from_slice(n.to_string().as_bytes()),
        WireValue::Text(t) => string(t, bytes),
        WireValue::Bytes(_) => string(&value.to_string()[2..], bytes),
        WireValue::List(items) => {
            bytes.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    bytes.push(b',');
                }
                write_json(item, bytes);
            }
            bytes.push(b']');
        }
        WireValue::Record(fields) => {
            bytes.push(b'{');
            for (i, (name, field)) in fields.iter().enumerate() {
                if i > 0 {
                    bytes.push(b',');
                }
                string(name, bytes);
                bytes.push(b':');
                write_json(field, bytes);
            }
            bytes.push(b'}');
        }
    }
}

/// Reads a value. What no sort can hold (null, fractions, integers beyond 64 bits, which the parser
/// would round) is an error, never an approximation. Fields of a record come sorted by name.
pub(crate) fn of_json(value: &Value) -> Result<WireValue, CodecError> {
    Ok(match value {
        Value::Null => return Err(CodecError("null is no value of any sort".into())),
        Value::Bool(b) => WireValue::Bool(*b),
        Value::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(n), _) => WireValue::Int(n.into()),
            (None, Some(n)) => WireValue::Int(n.into()),
            (None, None) => {
                return Err(CodecError(format!("number {n} is no 64-bit integer")));
            }
        },
        Value::String(s) => WireValue::Text(s.clone()),
        Value::Array(items) => {
            WireValue::List(items.iter().map(of_json).collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => WireValue::Record(
            fields
                .iter()
                .map(|(name, field)| Ok((name.clone(), of_json(field)?)))
                .collect::<Result<_, CodecError>>()?,
        ),
    })
}

impl ConcreteAction {
    /// Reads `{"name": "MSG", "args": [3, true]}`; `args` may be missing.
    pub fn of_json(value: &Value) -> Result<Self, CodecError> {
        let name = value
            .get("name")
            .and_then(Value::as_str)
            .ok_or_else(|| CodecError("no string field \"name\"".into()))?;
        let args = match value.get("args") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => items.iter().map(of_json).collect::<Result<_, _>>()?,
            Some(_) => return Err(CodecError("field \"args\" is no array".into())),
        };
        Ok(Self {
            name: name.into(),
            args,
        })
    }
}
