//! What people are shown of a set of symbolic states.

use iolite_expr::{Kind, Op, Term};
use iolite_sts::{Enabled, Iosts};

/// Locations and guards that people are shown at once.
const MOST_SHOWN: usize = 20;

pub(crate) fn shortened(mut texts: Vec<String>) -> Vec<String> {
    if texts.len() > MOST_SHOWN {
        let more = texts.len() - MOST_SHOWN;
        texts.truncate(MOST_SHOWN);
        texts.push(format!("… and {more} more"));
    }
    texts
}

/// `!MSG(3, true)` where the guard leaves one value each, else `!MSG(m, b) [m > 3]`.
pub(crate) fn guarded(model: &Iosts, way: &Enabled) -> String {
    let action = model.gate(way.action);
    let guard = Term::all([way.condition.clone(), way.guard.clone()]).simplify();
    let conjuncts = match guard.kind() {
        Kind::App(Op::And, parts) => parts.to_vec(),
        _ if guard.is_true() => Vec::new(),
        _ => vec![guard.clone()],
    };
    let mut values: Vec<Option<String>> = vec![None; action.params.len()];
    let mut rest = Vec::new();
    for part in conjuncts {
        let fixed = match part.kind() {
            Kind::Var(v) => Some((v.id, "true".to_owned())),
            Kind::App(Op::Not, x) => x[0].as_var().map(|v| (v.id, "false".to_owned())),
            Kind::App(Op::Eq, x) => match (x[0].as_var(), x[1].as_value()) {
                (Some(v), Some(value)) => Some((v.id, value.to_string())),
                _ => None,
            },
            _ => None,
        };
        let position = fixed
            .and_then(|(id, text)| Some((action.params.iter().position(|p| p.id == id)?, text)));
        match position {
            Some((i, text)) if values[i].is_none() => values[i] = Some(text),
            _ => rest.push(part),
        }
    }
    let mut text = format!("{}{}", action.kind.sigil(), action.name);
    if !action.params.is_empty() {
        let shown: Vec<String> = action
            .params
            .iter()
            .zip(values)
            .map(|(p, value)| value.unwrap_or_else(|| p.name.to_string()))
            .collect();
        text += &format!("({})", shown.join(", "));
    }
    if rest.is_empty() {
        text
    } else {
        format!("{text} [{}]", Term::all(rest))
    }
}
