//! Quantifiers over all values of a sort, where there are few of them.

use iolite_expr::{Value, Var};
use iolite_lts::LabelKind;
use iolite_sts::{Iosts, Transition};

/// The values of each variable of a quantifier; why there are none to list, where there are too many.
pub(super) fn finite_values(vars: &[Var], most: u64) -> Result<Vec<Vec<Value>>, String> {
    let mut all = Vec::new();
    let mut rows = 1u64;
    for var in vars {
        let Some(count) = var.sort.cardinality() else {
            return Err(format!(
                "{} is any value of {}, of which there is no end",
                var.name, var.sort
            ));
        };
        rows = rows.saturating_mul(count);
        let values = var.sort.values(most).filter(|_| rows <= most);
        all.push(values.ok_or_else(|| {
            format!(
                "{} is one of {count} values of {}, and no more than {most} are listed",
                var.name, var.sort
            )
        })?);
    }
    Ok(all)
}

/// A transition, as messages name it: `Out !root(v) -> Idle`.
pub(super) fn place_of(program: &Iosts, t: &Transition) -> String {
    let gate = program.gate(t.action);
    let params: Vec<&str> = gate.params.iter().map(|p| &*p.name).collect();
    let params = match params.as_slice() {
        [] => String::new(),
        params => format!("({})", params.join(", ")),
    };
    // A test case is the mirror image of what the system does.
    let action = match gate.kind {
        LabelKind::Delta => "delta".to_owned(),
        LabelKind::Output => format!("?{}{params}", gate.name),
        _ => format!("!{}{params}", gate.name),
    };
    let name = |l| program.location(l).name.replace(char::is_control, " ");
    format!("{} {action} -> {}", name(t.source), name(t.target))
}
