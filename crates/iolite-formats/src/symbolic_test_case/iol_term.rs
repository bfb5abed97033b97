//! Parts of terms in the language: operators, records, variants, values.

use iolite_expr::{Op, Sort, Term, Value};
use iolite_lang::syntax::quote;

pub(super) fn infix(op: &Op) -> Option<&'static str> {
    Some(match op {
        Op::And => "&&",
        Op::Or => "||",
        Op::Implies => "=>",
        Op::Eq => "==",
        Op::Ne => "!=",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Div => "/",
        Op::Mod => "%",
        Op::Concat | Op::Append => "++",
        Op::Has => "in",
        _ => return None,
    })
}

/// The empty sum, product, conjunction, disjunction and string.
pub(super) fn empty(op: &Op) -> &'static str {
    match op {
        Op::And => "true",
        Op::Or => "false",
        Op::Add => "0",
        Op::Mul => "1",
        _ => "\"\"",
    }
}

pub(super) fn record(op: &Op, term: &Term, args: &[Term], texts: &[String]) -> String {
    let of = match op {
        Op::Record => term.sort(),
        _ => args[0].sort(),
    };
    let Sort::Record(r) = of else {
        return texts.concat();
    };
    let field = |(i, (name, _)): (usize, &(Box<str>, Sort))| match op {
        Op::Update(at) if *at as usize == i => format!("{name} = {}", texts[1]),
        Op::Update(_) => format!("{name} = {}.{name}", texts[0]),
        _ => format!("{name} = {}", texts[i]),
    };
    if let Op::Field(i) = op {
        return format!("{}.{}", texts[0], r.fields[*i as usize].0);
    }
    let fields: Vec<String> = r.fields.iter().enumerate().map(field).collect();
    format!("{} {{ {} }}", r.name, fields.join(", "))
}

/// A variant, whether a value is of it, or a field of it.
pub(super) fn variant(op: &Op, term: &Term, args: &[Term], texts: &[String]) -> String {
    let of = match op {
        Op::Construct(_) => term.sort(),
        _ => args[0].sort(),
    };
    let (Sort::Sum(sum), Op::Construct(v) | Op::Is(v) | Op::Get(v, _)) = (of, op) else {
        return texts.concat();
    };
    let Some(variant) = sum.variant(*v) else {
        return texts.concat();
    };
    match op {
        Op::Construct(_) if texts.is_empty() => variant.name.to_string(),
        Op::Construct(_) => format!("{}({})", variant.name, texts.join(", ")),
        Op::Get(_, i) => {
            let name = &variant.fields[*i as usize].0;
            let has = |v: &&iolite_expr::Variant| v.fields.iter().any(|(n, _)| n == name);
            let value = &texts[0];
            if sum.variants().iter().filter(has).count() == 1 {
                return format!("{value}.{name}");
            }
            // The field of another variant will not do: an index out of range has no value.
            format!(
                "[{value}.{name}][if {value} is {} then 0 else 1]",
                variant.name
            )
        }
        _ => format!("({} is {})", texts[0], variant.name),
    }
}

pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(n) if n.signum() < 0 => format!("({n})"),
        Value::Int(n) => n.to_string(),
        Value::Str(s) => quote(s),
        Value::Enum(e, i) => e.variants[*i as usize].to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Record(r, fields) => {
            let named = r.fields.iter().zip(fields.iter());
            let fields: Vec<String> = named
                .map(|((n, _), v)| format!("{n} = {}", literal(v)))
                .collect();
            format!("{} {{ {} }}", r.name, fields.join(", "))
        }
        Value::Decimal(n, _) if n.signum() < 0 => format!("({value})"),
        Value::Decimal(..) => value.to_string(),
        Value::Set(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("{{{}}}", items.join(", "))
        }
        Value::Map(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(k, v)| format!("{}: {}", literal(k), literal(v)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Sum(sum) => {
            let fields: Vec<String> = sum.fields().iter().map(literal).collect();
            match fields.as_slice() {
                [] => sum.variant_name().to_owned(),
                fields => format!("{}({})", sum.variant_name(), fields.join(", ")),
            }
        }
    }
}
