//! Wire values as JSON.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::concrete_action::integer;
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

/// Lists and records nested deeper than this are no values.
const MAX_DEPTH: usize = 128;

/// Reads a value from its text: integers of any size exactly, fields of a record sorted by name.
/// What no sort can hold (null, fractions) is nothing, never an approximation.
pub(crate) fn read_json(bytes: &[u8]) -> Option<WireValue> {
    of_raw(serde_json::from_slice(bytes).ok()?, MAX_DEPTH)
}

fn of_raw(raw: &RawValue, depth: usize) -> Option<WireValue> {
    let depth = depth.checked_sub(1)?;
    let text = raw.get();
    Some(match text.as_bytes().first()? {
        b't' => WireValue::Bool(true),
        b'f' => WireValue::Bool(false),
        b'"' => WireValue::Text(serde_json::from_str(text).ok()?),
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            let items = items.into_iter().map(|item| of_raw(item, depth));
            WireValue::List(items.collect::<Option<_>>()?)
        }
        b'{' => {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            let fields = fields
                .into_iter()
                .map(|(name, field)| Some((name, of_raw(field, depth)?)));
            WireValue::Record(fields.collect::<Option<_>>()?)
        }
        b'-' | b'0'..=b'9' => WireValue::Int(integer(text.as_bytes())?),
        _ => return None,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_went() {
        for text in [
            "true",
            "-123456789012345678901234567890",
            r#""a\"b""#,
            r#"[1,[],{"x":[false],"y":"z"}]"#,
        ] {
            let value = read_json(text.as_bytes()).expect(text);
            let mut bytes = Vec::new();
            write_json(&value, &mut bytes);
            assert_eq!(String::from_utf8_lossy(&bytes), text);
        }
    }

    #[test]
    fn what_no_sort_holds_is_no_value() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        for text in ["null", "1.5", "1e3", "[null]", r#"{"a":"#, "", &deep] {
            assert_eq!(read_json(text.as_bytes()), None, "{text:.20}");
        }
    }
}
