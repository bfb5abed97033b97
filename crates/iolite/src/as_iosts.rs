//! Automata over labels as symbolic systems without variables, where the other side has data.

use std::sync::Arc;

use iolite_expr::Span;
use iolite_lts::{LabelKind, Labels, StateId};
use iolite_property::Observer;
use iolite_sts::{BuildError, Builder, GateId, Iosts, LocationId};

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
    let lts = spec.system().explicit(MOST_STATES)?;
    if lts.states().len() > MOST_STATES {
        return Err(Error::undecided(format!(
            "{} has more than {MOST_STATES} states, too many beside an observer with data",
            spec.reference()
        )));
    }
    let mut builder = Builder::new(spec.reference().name.as_deref().unwrap_or("system"));
    for state in lts.states() {
        let name = format!("{}#{}", lts.name(state), state.index());
        let initial = state == lts.initial();
        builder
            .location(&name, initial, Span::NONE)
            .map_err(wrong)?;
    }
    let labels = lts.labels();
    let mut gates: Vec<Option<GateId>> = Vec::new();
    let mut internal = None;
    for (_, label) in labels.iter() {
        gates.push(match label.kind {
            LabelKind::Input | LabelKind::Output => Some(
                builder
                    .gate(label.kind, &label.name, &[], Span::NONE)
                    .map_err(wrong)?,
            ),
            LabelKind::Internal => {
                if internal.is_none() {
                    let gate = builder.gate(LabelKind::Internal, "i", &[], Span::NONE);
                    internal = Some(gate.map_err(wrong)?);
                }
                internal
            }
            LabelKind::Delta | LabelKind::Undirected => None,
        });
    }
    for (source, label, target) in lts.transitions() {
        let Some(gate) = gates[label.index()] else {
            continue;
        };
        let (source, target) = (location(source), location(target));
        builder
            .transition(source, gate, None, Vec::new(), target, Span::NONE)
            .map_err(wrong)?;
    }
    builder.build().map_err(wrong)
}

fn location(state: StateId) -> LocationId {
    LocationId::new(state.index())
}

/// An observer over the gates of a system, whatever values they carry, and its violating locations.
pub(crate) fn observer(
    observer: &Observer,
    model: &Iosts,
) -> Result<(Iosts, Vec<LocationId>), Error> {
    let wrong = |e: BuildError| Error::input(format!("{}: {e}", observer.name()));
    let mut builder = Builder::new(observer.name());
    let states = observer.automaton().state_count();
    for state in (0..states).map(StateId::new) {
        let name = format!(
            "{}#{}",
            observer.automaton().place(state).name,
            state.index()
        );
        let initial = state == observer.initial();
        builder
            .location(&name, initial, Span::NONE)
            .map_err(wrong)?;
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
        let name = if params.is_empty() {
            gate.name.to_string()
        } else {
            Labels::with_other_values(&gate.name)
        };
        gates.push((id, observer.labels().get(gate.kind, &name)));
    }
    gates.push((builder.delta(Span::NONE), Some(iolite_lts::LabelId::DELTA)));
    for state in (0..states).map(StateId::new) {
        if observer.is_violate(state) {
            continue;
        }
        for &(gate, label) in &gates {
            // A label that the observer does not have changes nothing.
            let target = label.map_or(Some(state), |label| observer.step(state, label));
            if let Some(target) = target {
                let (source, target) = (location(state), location(target));
                builder
                    .transition(source, gate, None, Vec::new(), target, Span::NONE)
                    .map_err(wrong)?;
            }
        }
    }
    let violate = (0..states).map(StateId::new);
    let violate = violate.filter(|&s| observer.is_violate(s)).map(location);
    Ok((builder.build().map_err(wrong)?, violate.collect()))
}
