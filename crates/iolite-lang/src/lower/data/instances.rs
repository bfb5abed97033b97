//! `hide`, `rename` and `|[…]|` over systems with data, by action or by one instance of it.

use iolite_expr::{Sort, Value};
use iolite_sts::{ComposeError, Iosts};

use super::explicit::declared_sorts;
use crate::gate::Pattern;
use crate::lower::process::Context;

type Result<T, E = ComposeError> = std::result::Result<T, E>;

/// An instance that is an action of its own for a while.
pub(super) struct Singled {
    label: String,
    name: String,
    values: Vec<(Sort, Value)>,
}

/// Parts in which the instances among the gates are actions of their own, called by their labels, so
/// that parts can meet on them. An instance of an action that is a gate as a whole is none of them.
pub(super) fn single_out(
    mut parts: Vec<Iosts>,
    gates: &[Pattern],
) -> Result<(Vec<Iosts>, Vec<Singled>)> {
    let mut singled = Vec::new();
    for gate in gates.iter().filter(|g| g.is_instance()) {
        let whole = |g: &&Pattern| !g.is_instance() && g.name == gate.name;
        if gates.iter().any(|g| whole(&g)) {
            continue;
        }
        let params = parts
            .iter()
            .find_map(|p| p.instance_params(&gate.name, &gate.values));
        let Some(params) = params else { continue };
        let sorts = params.iter().map(|p| p.sort.clone());
        singled.push(Singled {
            label: gate.label().to_owned(),
            name: gate.name.clone(),
            values: sorts.zip(gate.values.iter().cloned()).collect(),
        });
        for part in &mut parts {
            if part.instance_params(&gate.name, &gate.values).is_some() {
                *part = part.single_out(&gate.name, &gate.values, gate.label())?;
            }
        }
    }
    Ok((parts, singled))
}

/// The instances as instances of their actions again.
pub(super) fn put_back(whole: Iosts, singled: &[Singled]) -> Result<Iosts> {
    let put =
        |whole: Iosts, one: &Singled| whole.rename_with_values(&one.label, &one.name, &one.values);
    singled.iter().try_fold(whole, put)
}

pub(super) fn hide(mut part: Iosts, labels: &[Pattern]) -> Result<Iosts> {
    for instance in labels.iter().filter(|l| l.is_instance()) {
        part = part.single_out(&instance.name, &instance.values, instance.label())?;
    }
    let names: Vec<&str> = labels.iter().map(Pattern::label).collect();
    part.hide(&names)
}

/// Every action, or instance, first gets a name that no other has, so that nothing is renamed twice
/// and of several pairs for one action the first counts.
pub(super) fn rename(
    context: Context<'_>,
    mut part: Iosts,
    pairs: &[(Pattern, Pattern)],
) -> Result<Iosts> {
    let whole = |(old, new): &(Pattern, Pattern)| !old.is_instance() && !new.is_instance();
    if pairs.iter().all(whole) {
        let pairs: Vec<(&str, &str)> = pairs
            .iter()
            .map(|(old, new)| (old.name.as_str(), new.name.as_str()))
            .collect();
        return part.rename(&pairs);
    }
    let mut moved = Vec::new();
    for (k, (old, new)) in pairs.iter().enumerate() {
        let between = format!("{k} {}", old.label());
        let taken = pairs[..k]
            .iter()
            .any(|(earlier, _)| earlier.matches(old.label()));
        part = if taken {
            continue;
        } else if old.is_instance() {
            part.single_out(&old.name, &old.values, &between)?
        } else if part.has_action(&old.name) {
            part.rename_with_values(&old.name, &between, &[])?
        } else {
            return Err(ComposeError::NoAction {
                system: part.name().into(),
                action: old.name.as_str().into(),
            });
        };
        moved.push((between, new));
    }
    for (between, new) in moved {
        let rest: Vec<Sort> = part
            .gates()
            .find(|(_, a)| *a.name == *between)
            .map(|(_, a)| a.params.iter().map(|p| p.sort.clone()).collect())
            .unwrap_or_default();
        let sorts = leading_sorts(context, &part, new, &rest);
        let values: Vec<(Sort, Value)> =
            sorts.into_iter().zip(new.values.iter().cloned()).collect();
        part = part.rename_with_values(&between, &new.name, &values)?;
    }
    Ok(part)
}

/// The sorts of the values that a new name puts before the parameters: those of an action that it
/// joins, or that a system of the file declares, else those of the values.
fn leading_sorts(context: Context<'_>, part: &Iosts, new: &Pattern, rest: &[Sort]) -> Vec<Sort> {
    let count = new.values.len();
    let fits = |sorts: &[Sort]| {
        sorts.len() == count + rest.len()
            && sorts[count..] == *rest
            && sorts.iter().zip(&new.values).all(|(s, v)| s.contains(v))
    };
    let here = part
        .gates()
        .filter(|(_, a)| a.kind.is_visible() && *a.name == *new.name)
        .map(|(_, a)| a.params.iter().map(|p| p.sort.clone()).collect());
    let known = here.chain(declared_sorts(context, &new.name));
    let mut known = known.filter(|sorts: &Vec<Sort>| fits(sorts));
    match known.next() {
        Some(sorts) => sorts[..count].to_vec(),
        None => new
            .values
            .iter()
            .map(|v| v.sort().unwrap_or(Sort::Int))
            .collect(),
    }
}
