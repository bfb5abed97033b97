//! What a solver makes of a system with data: its explicit form where the data are finite, and
//! lints.

use std::collections::BTreeSet;

use iolite_expr::{Solver, Sort as TermSort, Value};
use iolite_lts::{LabelKind, Lts};
use iolite_sts::{Iosts, Lint, Location, UnfoldBudget, UnfoldError, ValuedAction};

use super::lower_data;
use super::term::{Scope, Terms, unplace};
use crate::names::Names;
use crate::syntax::ast::{Expr, ExprKind, File, Item};
use crate::{Diagnostic, Span, codes};

type Result<T, E = Vec<Diagnostic>> = std::result::Result<T, E>;

/// A declared system with finite data as an explicit one of at most `budget.states` states. What is
/// infinite is named, never cut; `budget.values` bounds the values of one parameter in one state, and the
/// initial values.
pub fn unfold_data(
    file: &File,
    name: &str,
    solver: &mut Solver,
    budget: UnfoldBudget,
) -> Result<Lts> {
    let model = lower_data(file, name)?;
    let span = Names::new(file)
        .get(name)
        .map_or(Span::default(), |i| i.name().span);
    model.unfold(solver, budget).map_err(|error| {
        let (code, at) = match &error {
            UnfoldError::Data { name, .. } => (codes::INFINITE_DATA, data_span(&model, name)),
            UnfoldError::Parameter { action, .. } => {
                let declared = model.gates().find(|(_, a)| a.name == *action);
                (codes::INFINITE_DATA, declared.map(|(_, a)| a.span))
            }
            UnfoldError::States { variable, .. } => {
                (codes::UNFOLDING_BOUND, data_span(&model, variable))
            }
            UnfoldError::Unknown { .. } | UnfoldError::TooLarge | UnfoldError::Build(_) => {
                (codes::UNFOLDING_BOUND, None)
            }
            UnfoldError::Fault(fault) => {
                let transition = model.transition(fault.transition).span;
                let code = if fault.error.fault.is_bound() {
                    codes::UNFOLDING_BOUND
                } else {
                    codes::BAD_TERM
                };
                (code, Some(fault.error.span.or(transition)))
            }
            UnfoldError::NoInitialState => (codes::BAD_TERM, None),
        };
        let code = match error.needed_states() {
            Some(_) => codes::UNFOLDING_BOUND,
            None => code,
        };
        let at = at.map_or(span, |s| unplace(s, span));
        let diagnostic = Diagnostic::error(code, at, error.to_string());
        vec![
            if matches!(code, codes::INFINITE_DATA | codes::UNFOLDING_BOUND) {
                diagnostic.hint(unfolding_hint(&error))
            } else {
                diagnostic
            },
        ]
    })
}

/// What helps depends on whether there is an end of the values, or only a bound on them.
fn unfolding_hint(error: &UnfoldError) -> String {
    let remedy = match (error, error.needed_states()) {
        (_, Some(states)) => {
            format!("give it a smaller range, or allow more with --max-states {states}")
        }
        (UnfoldError::Data { .. }, None) => "give it a value, or a range as its sort".to_owned(),
        (UnfoldError::Parameter { .. }, None) => {
            "give it a range as its sort, or a bound in the guard".to_owned()
        }
        (UnfoldError::Fault(_), _) => "bound what the function goes over".to_owned(),
        _ => "give it a value, a range or a bound in the guard, or allow more with --max-states N"
            .to_owned(),
    };
    format!("{remedy}; `iolite test` takes the system as it is")
}

fn data_span(model: &Iosts, name: &str) -> Option<iolite_expr::Span> {
    let constants = model.constants().iter().map(|c| (&c.var, c.span));
    let variables = model.variables().iter().map(|v| (&v.var, v.span));
    constants
        .chain(variables)
        .find(|(var, _)| *var.name == *name)
        .map(|(_, span)| span)
}

/// What a solver finds doubtful about a system with data: guards that are never true, guards that
/// overlap, locations that only such guards lead to.
pub fn data_lints(file: &File, name: &str, solver: &mut Solver) -> Result<Vec<Diagnostic>> {
    let model = lower_data(file, name)?;
    let otherwise = Names::new(file)
        .get(name)
        .map_or(Span::default(), |i| i.name().span);
    let at = |span| unplace(span, otherwise);
    let found = model.lint(solver);
    let has_dead = found.iter().any(|l| matches!(l, Lint::NeverTrue { .. }));
    let warnings = found.into_iter().filter_map(|lint| match lint {
        Lint::NeverTrue { transition } => {
            let t = model.transition(transition);
            let says = if t.guard.defined().simplify().is_false() {
                "this guard never has a value: it faults whatever the values are"
            } else {
                "this guard is never true"
            };
            let place = at(t.guard.span().or(t.span));
            Some(Diagnostic::warning(codes::NEVER_TRUE, place, says))
        }
        Lint::Overlap {
            first,
            second,
            witness,
        } => {
            let (t, u) = (model.transition(first), model.transition(second));
            let action = model.gate(t.action);
            let data = model
                .variables()
                .iter()
                .map(|v| &v.var)
                .chain(model.constants().iter().map(|c| &c.var))
                .chain(&action.params);
            let values: Vec<String> = data
                .filter_map(|v| Some(format!("{} = {}", v.name, witness.value(v.id)?)))
                .collect();
            let when = if values.is_empty() {
                String::new()
            } else {
                format!(", for example with {}", values.join(", "))
            };
            Some(
                Diagnostic::warning(
                    codes::OVERLAPPING_GUARDS,
                    at(u.span),
                    format!(
                        "two transitions of `{}{}` can both be taken{when}",
                        action.kind.sigil(),
                        action.name
                    ),
                )
                .related(at(t.span), "the other one"),
            )
        }
        // Without a dead guard the graph alone says so, and the check without data has said it.
        Lint::Unreachable { location } if has_dead => Some(Diagnostic::warning(
            codes::UNREACHABLE_STATE,
            at(model.location(location).span),
            format!(
                "state `{}` cannot be reached: the guards on the way are never true",
                model.location(location).name
            ),
        )),
        Lint::Unreachable { .. } => None,
    });
    let mut warnings: Vec<Diagnostic> = warnings.collect();
    warnings.dedup();
    Ok(warnings)
}

/// The states of a declared system that transitions lead to, and no values: `unfolded` is the whole of
/// what can be reached.
pub fn data_unreached(file: &File, name: &str, unfolded: &Lts) -> Result<Vec<Diagnostic>> {
    let Some(Item::Machine(_)) = Names::new(file).get(name) else {
        // The states of a composition are nobody's own.
        return Ok(Vec::new());
    };
    let model = lower_data(file, name)?;
    let reached: BTreeSet<&str> = unfolded
        .states()
        .filter_map(|s| unfolded.place(s).map(|place| &**place))
        .collect();
    let mut led_to = BTreeSet::from([model.initial()]);
    let mut open = vec![model.initial()];
    while let Some(location) = open.pop() {
        for &t in model.outgoing(location) {
            let target = model.transition(t).target;
            if led_to.insert(target) {
                open.push(target);
            }
        }
    }
    let warning = |(id, location): (_, &Location)| {
        let name = &*location.name;
        (led_to.contains(&id) && !reached.contains(name)).then(|| {
            Diagnostic::warning(
                codes::UNREACHABLE_STATE,
                unplace(location.span, Span::default()),
                format!("state `{name}` cannot be reached: no values lead there"),
            )
        })
    };
    Ok(model.locations().filter_map(warning).collect())
}

/// A value written in the language, of this sort: `3`, `[1, 2]`, `Point { x = 1, y = 2 }`.
pub fn parse_value(file: &File, text: &str, sort: &TermSort) -> Result<Value, String> {
    Terms::new(file)
        .value(&expression(text)?, &Scope::new(), Some(sort))
        .map_err(|d| d.message)
}

/// An action of a system with data as traces show it: `?REQ(3)`, `!MSG(3, true)`.
pub fn parse_action(file: &File, model: &Iosts, text: &str) -> Option<ValuedAction> {
    let (kind, text) = match (text.strip_prefix('?'), text.strip_prefix('!')) {
        (Some(rest), _) => (LabelKind::Input, rest),
        (_, Some(rest)) => (LabelKind::Output, rest),
        _ => return None,
    };
    if let Some(action) = model.find_gate(kind, text) {
        return model.gate(action).params.is_empty().then(|| ValuedAction {
            action,
            values: Vec::new(),
        });
    }
    let call = expression(text).ok()?;
    let ExprKind::Call(name, args) = call.kind else {
        return None;
    };
    let action = model.find_gate(kind, &name.text)?;
    let params = &model.gate(action).params;
    if params.len() != args.len() {
        return None;
    }
    let terms = Terms::new(file);
    // A value outside its range is still the value that was seen.
    let values = args
        .iter()
        .zip(params)
        .map(|(a, p)| terms.value(a, &Scope::new(), Some(&p.sort.widened())).ok());
    Some(ValuedAction {
        action,
        values: values.collect::<Option<_>>()?,
    })
}

/// The language has no expression on its own: a function without parameters is the nearest.
pub(super) fn expression(text: &str) -> Result<Expr, String> {
    let (parsed, found) = crate::parse(&format!("fn value(): int = {text}\n"));
    if let Some(error) = found.first() {
        return Err(error.message.clone());
    }
    let mut items = parsed.items.into_iter();
    match (items.next(), items.next()) {
        (Some(Item::Function(function)), None) => Ok(function.body),
        _ => Err(format!("`{text}` is no value")),
    }
}
