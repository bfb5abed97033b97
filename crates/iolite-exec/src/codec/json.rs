//! Wire values as JSON.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::codec::concrete_action::{integer, is_number};
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
        WireValue::Number(text) => bytes.extend_from_slice(text.as_bytes()),
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

/// Reads a value from its text: integers of up to 10,000 digits exactly, fields of a record sorted by name, and
/// each as often as it comes. Fractions stay as they are
/// written; what no sort can hold (null) is nothing, never an approximation.
pub(crate) fn read_json(bytes: &[u8]) -> Option<WireValue> {
    of_raw(serde_json::from_slice(bytes).ok()?, MAX_DEPTH).ok()
}

fn of_raw(raw: &RawValue, depth: usize) -> Result<WireValue, CodecError> {
    let text = raw.get();
    let no_value = |e: serde_json::Error| CodecError(e.to_string());
    let Some(depth) = depth.checked_sub(1) else {
        return Err(CodecError(format!(
            "values nested deeper than {MAX_DEPTH} are not read"
        )));
    };
    Ok(match text.as_bytes() {
        b"true" => WireValue::Bool(true),
        b"false" => WireValue::Bool(false),
        [b'"', ..] => WireValue::Text(serde_json::from_str(text).map_err(no_value)?),
        [b'[', ..] => {
            let items: Vec<&RawValue> = serde_json::from_str(text).map_err(no_value)?;
            let items = items.into_iter().map(|item| of_raw(item, depth));
            WireValue::List(items.collect::<Result<_, _>>()?)
        }
        [b'{', ..] => {
            let Fields(mut fields) = serde_json::from_str(text).map_err(no_value)?;
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            let fields = fields
                .into_iter()
                .map(|(name, field)| Ok((name, of_raw(field, depth)?)));
            WireValue::Record(fields.collect::<Result<_, CodecError>>()?)
        }
        digits if integer(digits).is_none() && is_number(digits) => {
            WireValue::Number(text.to_owned())
        }
        digits => {
            let n = integer(digits).ok_or_else(|| {
                let shown: String = text.chars().take(40).collect();
                CodecError(format!("{shown} is no value of any sort"))
            })?;
            WireValue::Int(n)
        }
    })
}

/// The fields of an object as they came: a map would drop one that comes twice.
pub(super) struct Fields<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AsTheyCame;
        impl<'de> Visitor<'de> for AsTheyCame {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(AsTheyCame)
    }
}

impl ConcreteAction {
    /// The action with this name, as a JSON string, and these values, as a JSON array; without an
    /// array, or with `null`, it has none.
    pub(crate) fn of_json(name: &RawValue, args: Option<&RawValue>) -> Result<Self, CodecError> {
        let name = serde_json::from_str(name.get())
            .map_err(|_| CodecError(format!("{name} is no text")))?;
        let args = match args.map(RawValue::get) {
            None | Some("null") => Vec::new(),
            Some(text) => {
                let items: Vec<&RawValue> = serde_json::from_str(text)
                    .map_err(|_| CodecError("field \"args\" is no array".into()))?;
                let items = items.into_iter().map(|item| of_raw(item, MAX_DEPTH));
                items.collect::<Result<_, _>>()?
            }
        };
        Ok(Self { name, args })
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

    /// Which of the two is meant, nobody can say; a reader that takes one would hide the other.
    #[test]
    fn a_field_that_comes_twice_is_seen_twice() {
        let value = read_json(br#"{"x":1,"a":0,"x":2}"#).expect("a record");
        assert_eq!(value.to_string(), "{a: 0, x: 1, x: 2}");
    }

    #[test]
    fn what_no_sort_holds_is_no_value() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        for text in ["null", "[null]", r#"{"a":"#, "", &deep] {
            assert_eq!(read_json(text.as_bytes()), None, "{text:.20}");
        }
    }
}
