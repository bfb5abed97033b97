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
        Value::Decimal(..) => WireValue::Number(value.to_string()),
        Value::Array(items) => WireValue::List(items.iter().map(to_wire).collect()),
        Value::Set(items) => WireValue::List(items.iter().map(to_wire).collect()),
        // An object where the keys are texts, numbers or names, else a list of pairs.
        Value::Map(pairs) => {
            let named = pairs.iter().map(|(k, v)| Some((key_text(k)?, to_wire(v))));
            if let Some(fields) = named.collect::<Option<Vec<_>>>() {
                WireValue::Record(fields)
            } else {
                let pairs = pairs.iter();
                let pairs = pairs.map(|(k, v)| WireValue::List(vec![to_wire(k), to_wire(v)]));
                WireValue::List(pairs.collect())
            }
        }
        Value::Record(sort, items) => {
            let names = sort.fields.iter().map(|(name, _)| name.to_string());
            WireValue::Record(names.zip(items.iter().map(to_wire)).collect())
        }
        // A variant without fields is its name, another one an object with that name alone.
        Value::Sum(sum) if sum.fields().is_empty() => {
            WireValue::Text(sum.variant_name().to_owned())
        }
        Value::Sum(sum) => {
            let declared = sum.sort().variant(sum.variant());
            let names = declared.into_iter().flat_map(|v| &v.fields);
            let fields = names.zip(sum.fields());
            let fields = fields.map(|((name, _), value)| (name.to_string(), to_wire(value)));
            let fields = WireValue::Record(fields.collect());
            WireValue::Record(vec![(sum.variant_name().to_owned(), fields)])
        }
    }
}

/// A key of a map as the name of a field.
fn key_text(key: &Value) -> Option<String> {
    match key {
        Value::Str(text) => Some(text.to_string()),
        Value::Bool(_) | Value::Int(_) | Value::Enum(..) | Value::Decimal(..) => {
            Some(key.to_string())
        }
        _ => None,
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
        (Sort::Set(of), WireValue::List(items)) => {
            let mut set = Vec::with_capacity(items.len());
            for (i, item) in items.iter().enumerate() {
                let at = |e: Misfit| e.within(&format!("element {i}"));
                set.push(of_wire(item, of, typing).map_err(at)?);
            }
            let count = set.len();
            match Value::set(set) {
                Value::Set(set) if set.len() == count => Ok(Value::Set(set)),
                _ => Err(Misfit::new(format!("an element of a {sort} comes twice"))),
            }
        }
        (Sort::Map(m), WireValue::Record(_) | WireValue::List(_)) => {
            let pairs = map_pairs(m, wire, typing)?;
            let count = pairs.len();
            match Value::map(pairs) {
                Value::Map(map) if map.len() == count => Ok(Value::Map(map)),
                _ => Err(Misfit::new(format!("a key of a {sort} comes twice"))),
            }
        }
        (Sort::Record(r), WireValue::Record(fields)) => {
            let items = named_fields(&r.name, &r.fields, fields, typing)?;
            Value::record(sort, items).ok_or_else(|| Misfit::new(format!("{wire} is no {sort}")))
        }
        (Sort::Sum(sum), WireValue::Record(one)) if one.len() == 1 => {
            let (name, fields) = &one[0];
            let Some(variant) = sum.variant_index(name) else {
                return Err(Misfit::new(format!("{} has no variant {name}", sum.name())));
            };
            let names = sum.variant(variant).map_or(&[][..], |v| &v.fields);
            let sorts = names.iter().zip(sum.field_sorts(variant));
            let declared: Vec<_> = sorts.map(|((name, _), s)| (name.clone(), s)).collect();
            let items = match fields {
                WireValue::Record(fields) => named_fields(name, &declared, fields, typing)?,
                WireValue::List(items) if items.len() == declared.len() => {
                    let items = items.iter().zip(&declared).map(|(item, (field, of))| {
                        of_wire(item, of, typing).map_err(|e| e.within(&format!("field {field}")))
                    });
                    items.collect::<Result<_, _>>()?
                }
                _ => {
                    let count = declared.len();
                    return Err(Misfit::new(format!("{name} has {count} fields")));
                }
            };
            Value::sum(sum, variant, items)
                .ok_or_else(|| Misfit::new(format!("{wire} is no {sort}")))
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

/// The pairs of a map: fields of an object, or lists of a key and a value.
fn map_pairs(
    sorts: &(Sort, Sort),
    wire: &WireValue,
    typing: Typing,
) -> Result<Vec<(Value, Value)>, Misfit> {
    let (of_key, of_value) = sorts;
    match wire {
        WireValue::Record(fields) => fields
            .iter()
            .map(|(name, value)| {
                // The name of a field is a text, whatever it stands for.
                let key = of_wire(&WireValue::Text(name.clone()), of_key, Typing::Text)
                    .map_err(|e| e.within(&format!("key {name}")))?;
                let value = of_wire(value, of_value, typing)
                    .map_err(|e| e.within(&format!("value of {name}")))?;
                Ok((key, value))
            })
            .collect(),
        WireValue::List(items) => items
            .iter()
            .enumerate()
            .map(|(i, item)| match item {
                WireValue::List(pair) if pair.len() == 2 => {
                    let at = |e: Misfit| e.within(&format!("pair {i}"));
                    let key = of_wire(&pair[0], of_key, typing).map_err(at)?;
                    Ok((key, of_wire(&pair[1], of_value, typing).map_err(at)?))
                }
                _ => Err(Misfit::new(format!("pair {i} is no key with a value"))),
            })
            .collect(),
        _ => Err(Misfit::new("a map is an object, or a list of pairs".into())),
    }
}

/// The values of fields that come with their names.
fn named_fields(
    whole: &str,
    declared: &[(Box<str>, Sort)],
    fields: &[(String, WireValue)],
    typing: Typing,
) -> Result<Vec<Value>, Misfit> {
    let known = |name: &str| declared.iter().any(|(n, _)| **n == *name);
    let extra = fields.iter().map(|(name, _)| name.as_str());
    let extra: Vec<&str> = extra.filter(|name| !known(name)).collect();
    if !extra.is_empty() {
        let extra = extra.join(", ");
        return Err(Misfit::new(format!("{whole} has no field {extra}")));
    }
    let item = |name: &str, of: &Sort| {
        let mut found = fields.iter().filter(|(n, _)| n == name);
        match (found.next(), found.next()) {
            (Some((_, wire)), None) => {
                of_wire(wire, of, typing).map_err(|e| e.within(&format!("field {name}")))
            }
            (None, _) => Err(Misfit::new(format!("field {name} of {whole} is missing"))),
            (Some(_), Some(_)) => Err(Misfit::new(format!("field {name} comes twice"))),
        }
    };
    declared.iter().map(|(name, of)| item(name, of)).collect()
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
        (Sort::Decimal(scale), WireValue::Int(n)) => Value::decimal(&n.to_string(), *scale)?,
        (Sort::Decimal(scale), WireValue::Number(text)) => Value::decimal(text, *scale)?,
        (Sort::Decimal(scale), WireValue::Text(text)) if typing == Typing::Text => {
            Value::decimal(text, *scale)?
        }
        (Sort::String, WireValue::Text(text)) => Value::str(text),
        // A text without quotes may look like something else.
        (Sort::String, WireValue::Bool(_) | WireValue::Int(_) | WireValue::Number(_))
            if typing != Typing::Json =>
        {
            Value::str(&wire.to_string())
        }
        (Sort::Enum(_), WireValue::Text(name)) => Value::variant(sort, name)?,
        (Sort::Sum(sum), WireValue::Text(name)) => {
            Value::sum(sum, sum.variant_index(name)?, Vec::new())?
        }
        _ => return None,
    })
}

fn json_type(wire: &WireValue) -> &'static str {
    match wire {
        WireValue::Bool(_) => "Boolean",
        WireValue::Int(_) | WireValue::Number(_) => "number",
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
            type L = Nil | Cons(head: int, tail: L)
            system M {
              output i(v: int), s(v: string), b(v: bool), p(v: P), a(v: int[]), c(v: C), r(v: 0..3)
              output l(v: L)
              initial state S { !i(v) -> S }
            }";
        let (file, found) = iolite_lang::parse_and_check_bytes(text.as_bytes());
        assert!(found.iter().all(|d| !d.is_error()), "{found:?}");
        let model = iolite_lang::lower_data(&file, "M").expect("a model");
        let mut map = ActionMap::new();
        if !hole.is_empty() {
            for name in ["i", "s", "b", "p", "a", "c", "r", "l"] {
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
            (r#"l "Nil""#, "l(Nil)"),
            (
                r#"l {"Cons": {"tail": {"Cons": [2, "Nil"]}, "head": 1}}"#,
                "l(Cons(1, Cons(2, Nil)))",
            ),
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
            (r#"l "Cons""#, "v of l: \"Cons\" is a JSON string and no L"),
            (r#"l {"Con": {}}"#, "v of l: L has no variant Con"),
            (r#"l {"Cons": [1]}"#, "v of l: Cons has 2 fields"),
            (
                r#"l {"Cons": {"head": 1}}"#,
                "v of l: field tail of Cons is missing",
            ),
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
            (
                "",
                "l(Cons(1, Cons(2, Nil)))",
                Some("l(Cons(1, Cons(2, Nil)))"),
            ),
            (
                "",
                "l({Cons: {head: 1, tail: Nil}})",
                Some("l(Cons(1, Nil))"),
            ),
            ("", "l(Cons(1))", None),
            ("word", "l Nil", Some("l(Nil)")),
            ("", "p({y: 2, x: 1, z: 0})", None),
            ("", "p({y: 2, x: 1, x: 1})", None),
        ] {
            let read = read(hole, message);
            assert_eq!(read.as_deref().ok(), value, "{hole} {message}: {read:?}");
        }
    }
}
