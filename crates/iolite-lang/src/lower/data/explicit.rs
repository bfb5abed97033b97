//! Parts without data.

use std::collections::BTreeMap;

use iolite_expr::{Sort as TermSort, Term, Value};
use iolite_lts::{LabelId, LabelKind};
use iolite_sts::{BuildError, Builder, GateId, Iosts};

use super::{Result, build_error};
use crate::lower::process::{Context, Explicit};
use crate::lower::term::place;
use crate::syntax::ast::Item;
use crate::{Diagnostic, Span, codes};

/// An explicit system as a symbolic one without variables. Actions with values have parameters, so
/// that they meet those of systems with data.
pub(super) fn lower(
    context: Context<'_>,
    name: &str,
    part: &Explicit,
    span: Span,
) -> Result<Iosts> {
    let at = place(span);
    let wrong = |e: BuildError| vec![build_error(&e, span)];
    let lts = &part.lts;
    let mut builder = Builder::new(name);
    let mut actions: BTreeMap<LabelId, (GateId, Option<Term>)> = BTreeMap::new();
    for (id, label) in lts.labels().iter() {
        if id == LabelId::DELTA {
            continue;
        }
        let (kind, text) = if id == LabelId::TAU {
            (LabelKind::Internal, "i")
        } else {
            (label.kind, &*label.name)
        };
        let action = match part.values.get(text) {
            None => (builder.gate(kind, text, &[], at).map_err(wrong)?, None),
            Some((action, values)) => {
                valued(context, &mut builder, kind, action, values, part, span)?
            }
        };
        actions.insert(id, action);
    }
    let mut locations = Vec::new();
    for state in lts.states() {
        let text = format!("{}.{}", name, state.index());
        let initial = state == lts.initial();
        locations.push(builder.location(&text, initial, at).map_err(wrong)?);
    }
    for state in lts.states() {
        for (label, target) in lts.steps(state) {
            let Some((action, guard)) = actions.get(label) else {
                continue;
            };
            let (source, target) = (locations[state.index()], locations[target.index()]);
            builder
                .transition(source, *action, guard.clone(), Vec::new(), target, at)
                .map_err(wrong)?;
        }
    }
    builder.build().map_err(wrong)
}

/// The action of a label with values, and the guard that gives it these values.
fn valued(
    context: Context<'_>,
    builder: &mut Builder,
    kind: LabelKind,
    name: &str,
    values: &[Value],
    part: &Explicit,
    span: Span,
) -> Result<(GateId, Option<Term>)> {
    let action = if let Some(known) = builder.model().find_gate(kind, name) {
        known
    } else {
        let sorts = sorts(context, name, values, part);
        let names: Vec<String> = (0..sorts.len()).map(|k| format!("p{k}")).collect();
        let params: Vec<(&str, TermSort)> = names.iter().map(String::as_str).zip(sorts).collect();
        builder
            .gate(kind, name, &params, place(span))
            .map_err(|e| vec![build_error(&e, span)])?
    };
    let params = builder.params(action);
    let equal = params
        .iter()
        .zip(values)
        .map(|(param, value)| param.term().equals_value(value))
        .collect::<std::result::Result<Vec<_>, _>>();
    match equal {
        Ok(equal) if params.len() == values.len() => Ok((action, Some(Term::all(equal)))),
        _ => Err(vec![Diagnostic::error(
            codes::DATA_COMPOSITION,
            span,
            format!("`{name}` carries values of different sorts here"),
        )]),
    }
}

/// The sorts of the parameters of actions of this name, as the systems of the file declare them.
pub(in crate::lower) fn declared_sorts(
    context: Context<'_>,
    name: &str,
) -> impl Iterator<Item = Vec<TermSort>> {
    let declared = context.file.sound_items().filter_map(|item| match item {
        Item::Machine(m) => Some(m.labels()),
        _ => None,
    });
    let named = declared.flatten().filter(move |(_, l)| l.name.text == name);
    named.filter_map(move |(_, label)| {
        let sorts = label.params.iter().map(|p| context.terms.sort(&p.sort));
        sorts.collect::<std::result::Result<Vec<_>, _>>().ok()
    })
}

/// The sorts of an action's parameters: those that a system declares for an action of this name,
/// where they hold all values that it carries here, else the sorts of the values.
fn sorts(context: Context<'_>, name: &str, values: &[Value], part: &Explicit) -> Vec<TermSort> {
    let carried = || part.values.values().filter(|(n, _)| n == name);
    for sorts in declared_sorts(context, name) {
        let fits = |values: &[Value]| {
            values.len() == sorts.len() && sorts.iter().zip(values).all(|(s, v)| s.contains(v))
        };
        if carried().all(|(_, values)| fits(values)) {
            return sorts;
        }
    }
    let int = || TermSort::Int;
    values
        .iter()
        .map(|v| v.sort().unwrap_or_else(int))
        .collect()
}
