//! Automata over labels as symbolic systems without variables, where the other side has data.

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::{Span, Substitution, Term, Value, Var};
use iolite_lts::{LabelId, LabelKind, StateId};
use iolite_property::{Alphabet, GuardedAction, Observer};
use iolite_sts::{BuildError, Builder, Gate, GateId, Iosts, LocationId};

use crate::label_gates::LabelGates;
use crate::{Error, ExplicitSpec, Spec};

/// States of an explicit system that is taken as a symbolic one.
const MOST_STATES: usize = 10_000;

/// The model of a specification with its data, or without.
pub(crate) fn of(spec: &Spec) -> Result<Arc<Iosts>, Error> {
    match spec {
        Spec::Symbolic(symbolic) => Ok(Arc::clone(symbolic.model())),
        Spec::Explicit(explicit) => system(explicit).map(Arc::new),
        Spec::Properties(_) => Err(Error::input("a property is not a model")),
    }
}

/// An explicit system, a location a state.
pub(crate) fn system(spec: &ExplicitSpec) -> Result<Iosts, Error> {
    let wrong = |e: BuildError| Error::input(format!("{}: {e}", spec.reference()));
    spec.reject_plain_labels()?;
    let lts = spec.whole_system(MOST_STATES)?;
    if lts.states().len() > MOST_STATES {
        return Err(Error::undecided(format!(
            "{} has more than {MOST_STATES} states, too many beside an observer with data",
            spec.reference()
        )));
    }
    let mut builder = Builder::new(spec.reference().name.as_deref().unwrap_or("system"));
    let names = distinct(lts.states().map(|state| lts.name(state)).collect());
    for (state, name) in lts.states().zip(&names) {
        let initial = state == lts.initial();
        builder.location(name, initial, Span::NONE).map_err(wrong)?;
    }
    let gates = LabelGates::declare(&mut builder, lts.labels()).map_err(wrong)?;
    let mut internal: Option<GateId> = None;
    for (source, label, target) in lts.transitions() {
        let (gate, guard) = match (gates.get(label), lts.labels().kind(label)) {
            (Some(visible), _) => (visible.gate, visible.condition(&builder)),
            (None, LabelKind::Internal) => {
                let gate = match internal {
                    Some(gate) => gate,
                    None => builder
                        .gate(LabelKind::Internal, "i", &[], Span::NONE)
                        .map_err(wrong)?,
                };
                internal = Some(gate);
                (gate, None)
            }
            (None, _) => continue,
        };
        let (source, target) = (location(source), location(target));
        builder
            .transition(source, gate, guard, Vec::new(), target, Span::NONE)
            .map_err(wrong)?;
    }
    builder.build().map_err(wrong)
}

/// Names of locations differ, those of states need not: then all of them get their number.
fn distinct(names: Vec<String>) -> Vec<String> {
    let different: BTreeSet<&String> = names.iter().collect();
    if different.len() == names.len() {
        return names;
    }
    let numbered = names.iter().enumerate();
    numbered.map(|(k, name)| format!("{name}#{k}")).collect()
}

fn location(state: StateId) -> LocationId {
    LocationId::new(state.index())
}

/// An observer over the gates of a system, and its violating locations. A gate with parameters is the
/// observer's label for whatever values, or, where the observer names actions with their values, each of
/// these.
pub(crate) fn observer(
    observer: &Observer,
    model: &Iosts,
) -> Result<(Iosts, Vec<LocationId>), Error> {
    let labels = observer.labels();
    over_gates(observer, model, |gate, params| {
        if gate.params.is_empty() {
            return Ok(vec![(labels.get(gate.kind, &gate.name), None)]);
        }
        if let Some(any) = labels.other_values(gate.kind, &gate.name) {
            return Ok(vec![(Some(any), None)]);
        }
        let mut steps: GateSteps = Vec::new();
        for (id, label) in labels.iter().filter(|(_, l)| l.kind == gate.kind) {
            if let Some(guard) = values_of(&label.name, gate, params) {
                steps.push((Some(id), Some(guard)));
            }
        }
        let named = steps.iter().filter_map(|(_, guard)| guard.clone());
        let other = Term::any(named).negated();
        steps.push((None, Some(other)));
        Ok(steps)
    })
}

/// The condition that a gate's parameters have the values in the text of a label of its name.
fn values_of(label: &str, gate: &Gate, params: &[Var]) -> Option<Term> {
    let (name, texts) = Value::split_action(label);
    if *name != *gate.name || texts.len() != params.len() {
        return None;
    }
    let equal = params.iter().zip(texts).map(|(p, text)| {
        let value = Value::read(text, &p.sort)?;
        p.term().equals_value(&value).ok()
    });
    equal.collect::<Option<Vec<Term>>>().map(Term::all)
}

/// The same for an observer over the letters of a property with guards: a step for each cell of a gate.
pub(crate) fn guarded_observer(
    observer: &Observer,
    sigma: &Alphabet,
    model: &Iosts,
) -> Result<(Iosts, Vec<LocationId>), Error> {
    over_gates(observer, model, |gate, params| {
        let named = |(a, _): &&(GuardedAction, _)| a.kind() == gate.kind && a.name() == &*gate.name;
        let Some((action, letters)) = sigma.guarded().iter().find(named) else {
            return Ok(vec![(observer.labels().get(gate.kind, &gate.name), None)]);
        };
        let wrong = |e: String| Error::input(format!("{}: {e}", observer.name()));
        if let Some(fault) = action.faults().first() {
            return Err(wrong(fault.clone()).hint(
                "an invariant cannot be judged where a guard has no value; write one that always has: \
                 `x != 0 && …`",
            ));
        }
        if action.params().len() != params.len() {
            return Err(wrong(format!(
                "{gate} has {} parameters, and the property knows {}",
                params.len(),
                action.params().len()
            )));
        }
        let mut values = Substitution::new();
        for (own, param) in action.params().iter().zip(params) {
            if !own.sort.comparable(&param.sort) {
                return Err(wrong(format!(
                    "{} of {gate} is of sort {}, not {}",
                    own.name, param.sort, own.sort
                )));
            }
            values.insert(own.id, param.term());
        }
        let cells = action.cells().iter().zip(letters);
        let cells = cells.map(|(cell, &letter)| {
            let guard = cell.condition().substitute(&values);
            let guard = guard.map_err(|e| wrong(e.to_string()))?;
            Ok((Some(sigma.label(letter)), Some(guard)))
        });
        cells.collect()
    })
}

/// The labels of an observer that a gate is, each under a condition on its parameters.
type GateSteps = Vec<(Option<LabelId>, Option<Term>)>;

fn over_gates(
    observer: &Observer,
    model: &Iosts,
    steps: impl Fn(&Gate, &[Var]) -> Result<GateSteps, Error>,
) -> Result<(Iosts, Vec<LocationId>), Error> {
    let wrong = |e: BuildError| Error::input(format!("{}: {e}", observer.name()));
    let mut builder = Builder::new(observer.name());
    let states = observer.automaton().state_count();
    let states = || (0..states).map(StateId::new);
    let place = |state: StateId| observer.automaton().place(state).name.clone();
    let names = distinct(states().map(place).collect());
    for (state, name) in states().zip(&names) {
        let initial = state == observer.initial();
        builder.location(name, initial, Span::NONE).map_err(wrong)?;
    }
    let mut gates = Vec::new();
    for (_, gate) in model.gates() {
        if !matches!(gate.kind, LabelKind::Input | LabelKind::Output) {
            continue;
        }
        let params = gate.params.iter().map(|p| (&*p.name, p.sort.clone()));
        let params: Vec<_> = params.collect();
        let id = builder
            .gate(gate.kind, &gate.name, &params, Span::NONE)
            .map_err(wrong)?;
        for (label, guard) in steps(gate, builder.params(id))? {
            gates.push((id, label, guard));
        }
    }
    gates.push((builder.delta(Span::NONE), Some(LabelId::DELTA), None));
    for state in states() {
        if observer.is_violate(state) {
            continue;
        }
        for (gate, label, guard) in &gates {
            // A label that the observer does not have changes nothing.
            let target = label.map_or(Some(state), |label| observer.step(state, label));
            if let Some(target) = target {
                let (source, target) = (location(state), location(target));
                builder
                    .transition(source, *gate, guard.clone(), Vec::new(), target, Span::NONE)
                    .map_err(wrong)?;
            }
        }
    }
    let violate = states();
    let violate = violate.filter(|&s| observer.is_violate(s)).map(location);
    Ok((builder.build().map_err(wrong)?, violate.collect()))
}
