//! Values of the model's sorts from what crosses the wire, and back.

use iolite_expr::{Int, Sort, Value};
use iolite_lts::LabelKind;
use iolite_sts::{Iosts, ValuedAction};

use super::{CodecError, Message, Typing};
use crate::{ConcreteAction, WireValue, brief};

/// An action as it was read, with values of the model's sorts.
pub fn valued(
    model: &Iosts,
    kind: LabelKind,
    message: &Message,
) -> Result<ValuedAction, CodecError> {
    let what = if kind == LabelKind::Input {
        "input"
    } else {
        "output"
    };
    let action = &message.action;
    let Some(id) = model.find_gate(kind, &action.name) else {
        let action = action.to_string();
        return Err(CodecError(format!(
            "no {what} of the model is {}",
            brief(&action)
        )));
    };
    let params = &model.gate(id).params;
    if params.len() != action.args.len() {
        return Err(CodecError(format!(
            "{what} {} has {} parameters, and the message {} values",
            action.name,
            params.len(),
            action.args.len()
        )));
    }
    let values = action.args.iter().zip(params).enumerate();
    let values = values.map(|(i, (wire, p))| {
        of_wire(wire, &p.sort, message.typing(i)).map_err(|misfit| {
            CodecError(format!(
                "{} of {}{}: {}",
                p.name, action.name, misfit.path, misfit.reason
            ))
        })
    });
    Ok(ValuedAction {
        action: id,
        values: values.collect::<Result<_, _>>()?,
    })
}

/// An action of a model as it crosses the wire.
pub fn concrete(model: &Iosts, action: &ValuedAction) -> ConcreteAction {
    ConcreteAction {
        name: model.gate(action.action).name.to_string(),
        args: action.values.iter().map(to_wire).collect(),
    }
}

/// A value as it crosses the wire.
pub(crate) fn to_wire(value: &Value) -> WireValue {
    match value {
        Value::Bool(b) => WireValue::Bool(*b),
        Value::Int(n) => WireValue::Int(n.to_big()),
        Value::Str(text) => WireValue::Text(text.to_string()),
        Value::Enum(..) => WireValue::Text(value.to_string()),
        Value::Array(items) => WireValue::List(items.iter().map(to_wire).collect()),
        Value::Record(sort, items) => {
            let names = sort.fields.iter().map(|(name, _)| name.to_string());
            WireValue::Record(names.zip(items.iter().map(to_wire)).collect())
        }
    }
}

/// Why what crossed the wire is no value of a sort.
#[derive(Debug)]
struct Misfit {
    /// Where in the value: `, field x, element 0`.
    path: String,
    reason: String,
}

impl Misfit {
    fn new(reason: String) -> Self {
        let path = String::new();
        Self { path, reason }
    }

    fn within(self, part: &str) -> Self {
        let path = format!(", {part}{}", self.path);
        Self { path, ..self }
    }
}

/// A value from the wire. An integer outside of its range is still a value: the model forbids it,
/// and that is a verdict. How far a value may look like one of another sort depends on who wrote it:
/// JSON has types of its own, and a system that answers `"5"` for 5 gives another answer.
fn of_wire(wire: &WireValue, sort: &Sort, typing: Typing) -> Result<Value, Misfit> {
    if let Some(value) = scalar(wire, sort, typing) {
        return Ok(value);
    }
    match (sort, wire) {
        (Sort::Array(of), WireValue::List(items)) => {
            let items = items.iter().enumerate().map(|(i, item)| {
                of_wire(item, of, typing).map_err(|e| e.within(&format!("element {i}")))
            });
            Ok(Value::array(items.collect::<Result<_, _>>()?))
        }
        (Sort::Record(r), WireValue::Record(fields)) => {
            let declared = |name: &str| r.fields.iter().any(|(n, _)| **n == *name);
            let extra = fields.iter().map(|(name, _)| name.as_str());
            let extra: Vec<&str> = extra.filter(|name| !declared(name)).collect();
            if !extra.is_empty() {
                let extra = extra.join(", ");
                return Err(Misfit::new(format!("{} has no field {extra}", r.name)));
            }
            let item = |name: &str, of: &Sort| {
                let mut found = fields.iter().filter(|(n, _)| n == name);
                match (found.next(), found.next()) {
                    (Some((_, wire)), None) => {
                        of_wire(wire, of, typing).map_err(|e| e.within(&format!("field {name}")))
                    }
                    (None, _) => Err(Misfit::new(format!(
                        "field {name} of {} is missing",
                        r.name
                    ))),
                    (Some(_), Some(_)) => Err(Misfit::new(format!("field {name} comes twice"))),
                }
            };
            let items = r.fields.iter().map(|(name, of)| item(name, of));
            let items = items.collect::<Result<_, _>>()?;
            Value::record(sort, items).ok_or_else(|| Misfit::new(format!("{wire} is no {sort}")))
        }
        _ => {
            let value = if let (Typing::Json, WireValue::Text(text)) = (typing, wire) {
                format!("{text:?}")
            } else {
                wire.to_string()
            };
            let is = match typing {
                Typing::Json => format!("is a JSON {} and", json_type(wire)),
                Typing::Notation | Typing::Text => "is".to_owned(),
            };
            Err(Misfit::new(format!("{} {is} no {sort}", brief(&value))))
        }
    }
}

fn scalar(wire: &WireValue, sort: &Sort, typing: Typing) -> Option<Value> {
    Some(match (sort, wire) {
        (Sort::Bool, WireValue::Bool(b)) => Value::Bool(*b),
        (Sort::Bool, WireValue::Text(text)) if typing == Typing::Text => {
            Value::Bool(text.parse().ok()?)
        }
        (Sort::Int | Sort::Range(_), WireValue::Int(n)) => Value::Int(Int::from(n.clone())),
        (Sort::Int | Sort::Range(_), WireValue::Text(text)) if typing == Typing::Text => {
            Value::Int(text.parse().ok()?)
        }
        (Sort::String, WireValue::Text(text)) => Value::str(text),
        // A text without quotes may look like something else.
        (Sort::String, WireValue::Bool(_) | WireValue::Int(_)) if typing != Typing::Json => {
            Value::str(&wire.to_string())
        }
        (Sort::Enum(_), WireValue::Text(name)) => Value::variant(sort, name)?,
        _ => return None,
    })
}

fn json_type(wire: &WireValue) -> &'static str {
    match wire {
        WireValue::Bool(_) => "Boolean",
        WireValue::Int(_) => "number",
        WireValue::Text(_) | WireValue::Bytes(_) => "string",
        WireValue::List(_) => "array",
        WireValue::Record(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{ActionMap, ActionRule, ChannelId, Template};

    /// What a message in a hole of this kind is for the model below.
    fn read(hole: &str, message: &str) -> Result<String, String> {
        let text = "record P { x: int, y: string }  enum C { red, green }
            system M {
              output i(v: int), s(v: string), b(v: bool), p(v: P), a(v: int[]), c(v: C), r(v: 0..3)
              initial state S { !i(v) -> S }
            }";
        let (file, found) = iolite_lang::parse_and_check_bytes(text.as_bytes());
        assert!(found.iter().all(|d| !d.is_error()), "{found:?}");
        let model = iolite_lang::lower_data(&file, "M").expect("a model");
        let mut map = ActionMap::new();
        if !hole.is_empty() {
            for name in ["i", "s", "b", "p", "a", "c", "r"] {
                let recv = Template::parse(&format!("{name} {{v:{hole}}}")).expect("a template");
                let recv = Some(recv);
                map.insert(
                    name,
                    ActionRule {
                        recv,
                        ..ActionRule::default()
                    },
                );
            }
        }
        let read = map.decode_as(ChannelId::FIRST, message.as_bytes(), |message| {
            valued(&model, LabelKind::Output, &message)
        });
        read.map(|action| model.label(&action)).map_err(|e| e.0)
    }

    #[test]
    fn json_is_of_its_type_and_no_other() {
        for (message, value) in [
            ("i 5", "i(5)"),
            ("i -123456789012345678901", "i(-123456789012345678901)"),
            ("r 7", "r(7)"),
            ("s \"5\"", "s(\"5\")"),
            ("b true", "b(true)"),
            ("c \"red\"", "c(red)"),
            ("a [1,2]", "a([1, 2])"),
            (r#"p {"y":"2","x":1}"#, r#"p(P { x = 1, y = "2" })"#),
        ] {
            assert_eq!(read("json", message).as_deref(), Ok(value), "{message}");
        }
        for (message, why) in [
            ("i \"5\"", "v of i: \"5\" is a JSON string and no int"),
            ("r \"1\"", "v of r: \"1\" is a JSON string and no 0..3"),
            ("s 5", "v of s: 5 is a JSON number and no string"),
            ("s true", "v of s: true is a JSON Boolean and no string"),
            (
                "b \"true\"",
                "v of b: \"true\" is a JSON string and no bool",
            ),
            ("b 1", "v of b: 1 is a JSON number and no bool"),
            ("c 0", "v of c: 0 is a JSON number and no C"),
            ("c \"blue\"", "v of c: \"blue\" is a JSON string and no C"),
            ("i [5]", "v of i: [5] is a JSON array and no int"),
            (
                "a [1,\"2\"]",
                "v of a, element 1: \"2\" is a JSON string and no int",
            ),
            (
                r#"p {"x":"1","y":"2"}"#,
                "v of p, field x: \"1\" is a JSON string and no int",
            ),
            (r#"p {"x":1}"#, "v of p: field y of P is missing"),
            (
                r#"p {"x":1,"y":"2","z":0,"w":0}"#,
                "v of p: P has no field w, z",
            ),
            (r#"p {"x":1,"y":"2","x":1}"#, "v of p: field x comes twice"),
        ] {
            let read = read("json", message).expect_err(message);
            assert!(read.contains(why), "{message}: {read}");
        }
    }

    #[test]
    fn text_is_of_the_sort_that_is_wanted() {
        for (hole, message, value) in [
            ("any", "i 5", Some("i(5)")),
            ("any", "s 5", Some("s(\"5\")")),
            ("any", "s true", Some("s(\"true\")")),
            ("word", "i 5", Some("i(5)")),
            ("string", "b true", Some("b(true)")),
            ("word", "c red", Some("c(red)")),
            ("word", "i x", None),
            ("", "i(5)", Some("i(5)")),
            ("", "i(\"5\")", None),
            ("", "b(\"true\")", None),
            ("", "s(5)", Some("s(\"5\")")),
            ("", "s(hi)", Some("s(\"hi\")")),
            ("", "p({y: 2, x: 1})", Some(r#"p(P { x = 1, y = "2" })"#)),
            ("", "p({y: 2, x: 1, z: 0})", None),
            ("", "p({y: 2, x: 1, x: 1})", None),
        ] {
            let read = read(hole, message);
            assert_eq!(read.as_deref().ok(), value, "{hole} {message}: {read:?}");
        }
    }
}
