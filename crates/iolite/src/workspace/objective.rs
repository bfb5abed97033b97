//! Observers and test purposes, as commands name them.

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_lang::{Automaton, lower_observer, lower_purpose};
use iolite_lts::{LabelKind, Labels, StateId};
use iolite_property::safety_observer::{SafetyObserverError, safety_observer};
use iolite_property::star_automaton::{Edge, On, Place};
use iolite_property::{AutomatonSource, Observer, ObserverRules, Purpose};

use super::property_source::{self, PropertyReadOptions, PropertyRef};
use super::source::{self, Format, ModelRef, ReadOptions};
use super::{Failure, watched};

/// Loads the observers that a reference means, over the labels of a system: one declaration of an
/// `.iol` file (all of them without `#Name`), a safety property, or an acceptor in DOT whose double
/// circles violate. What is for another system than `model` is told of.
pub(super) fn observers(
    reference: &ModelRef,
    read: &ReadOptions,
    model: &ModelRef,
    labels: &Arc<Labels>,
) -> Result<Vec<Observer>, Failure> {
    if is_property(reference)? {
        return safety_properties(reference, model, labels);
    }
    let bytes = source::read(&reference.path)?;
    if Format::of(&reference.path)? == Format::Dot {
        return acceptor(reference, &bytes, read, labels).map(|o| vec![o]);
    }
    let file = parse(reference, &bytes)?;
    let names = wanted(reference, "observer", &source::declared(&file, "observer"))?;
    names
        .into_iter()
        .map(|name| {
            watched::check(&reference.path, &file, name, model)?;
            let lowered = lower_observer(&file, name, labels)
                .map_err(|d| source::rejected(&reference.path, &bytes, &d))?;
            let automaton = automaton(name, &lowered.automaton, labels);
            Observer::new(automaton, &lowered.violate, ObserverRules::Definition5)
                .map_err(|errors| breaches(reference, name, &errors))
        })
        .collect()
}

/// Whether a reference names a property: not where it means the observers of a file.
fn is_property(reference: &ModelRef) -> Result<bool, Failure> {
    if reference.name.is_some() || !property_source::is_iol(reference) {
        return property_source::is_property(reference);
    }
    let bytes = source::read(&reference.path)?;
    let (file, _) = iolite_lang::parse_and_check_bytes(&bytes);
    Ok(source::declared(&file, "observer").is_empty()
        && !source::declared(&file, "property").is_empty())
}

/// Safety properties as observers. Formulas on the command line speak of the system's actions.
fn safety_properties(
    reference: &ModelRef,
    model: &ModelRef,
    labels: &Arc<Labels>,
) -> Result<Vec<Observer>, Failure> {
    let visible = labels.iter().filter(|(_, l)| {
        matches!(
            l.kind,
            LabelKind::Input | LabelKind::Output | LabelKind::Undirected
        )
    });
    // With values, a formula speaks of the action: `!o` for every `!o(…)`.
    let actions = visible.map(|(_, l)| {
        let text = l.to_string();
        let action = text.split_once('(').map(|(action, _)| action.to_owned());
        action.unwrap_or(text)
    });
    let over: BTreeSet<String> = actions.collect();
    let options = PropertyReadOptions {
        over: over.into_iter().collect(),
        hoa: None,
    };
    let properties = property_source::load_all(&PropertyRef::from(reference), &options)?;
    properties
        .iter()
        .map(|property| {
            watched::check_reference(&property.reference, model)?;
            let rules = ObserverRules::Definition5;
            let observer = safety_observer(&property.name, &property.automaton, rules);
            let observer = observer.map_err(|e| {
                let failure = Failure::input(format!("{}: {e}", property.reference));
                match e {
                    SafetyObserverError::NotSafety(_) => failure.hint(
                        "only violations of safety properties show on finite traces; `iolite test \
                         --property` tests others without a model",
                    ),
                    _ => failure,
                }
            })?;
            Ok(observer.over(labels))
        })
        .collect()
}

/// Loads the test purposes that a reference means, for `model`.
pub(super) fn purposes(
    reference: &ModelRef,
    model: &ModelRef,
    labels: &Arc<Labels>,
) -> Result<Vec<Purpose>, Failure> {
    let bytes = source::read(&reference.path)?;
    let file = parse(reference, &bytes)?;
    let names = wanted(reference, "purpose", &source::declared(&file, "purpose"))?;
    names
        .into_iter()
        .map(|name| {
            watched::check(&reference.path, &file, name, model)?;
            let lowered = lower_purpose(&file, name, labels)
                .map_err(|d| source::rejected(&reference.path, &bytes, &d))?;
            let automaton = automaton(name, &lowered.automaton, labels);
            Purpose::new(automaton, &lowered.accept, &lowered.refuse)
                .map_err(|errors| breaches(reference, name, &errors))
        })
        .collect()
}

fn parse(reference: &ModelRef, bytes: &[u8]) -> Result<iolite_lang::File, Failure> {
    if Format::of(&reference.path)? != Format::Iol {
        return Err(Failure::input(format!(
            "{}: expected an .iol file",
            reference.path.display()
        )));
    }
    source::parse(&reference.path, bytes)
}

/// The named declaration, or all of them.
fn wanted<'n>(
    reference: &ModelRef,
    kind: &str,
    names: &[&'n str],
) -> Result<Vec<&'n str>, Failure> {
    match (&reference.name, names) {
        (None, [_, ..]) => Ok(names.to_vec()),
        _ => source::pick(reference, kind, names).map(|name| vec![name]),
    }
}

fn breaches<E: ToString>(reference: &ModelRef, name: &str, errors: &[E]) -> Failure {
    let lines: Vec<String> = errors
        .iter()
        .map(|e| format!("\n  {}", e.to_string()))
        .collect();
    Failure::input(format!(
        "{}#{name}:{}",
        reference.path.display(),
        lines.concat()
    ))
}

fn automaton(name: &str, lowered: &Automaton, labels: &Arc<Labels>) -> AutomatonSource {
    let edge = |(source, label, target): (StateId, _, _)| Edge {
        source,
        on: On::Label(label),
        target,
        line: lowered.states[source.index()].line,
    };
    AutomatonSource {
        name: name.to_owned(),
        labels: Arc::clone(labels),
        states: lowered
            .states
            .iter()
            .map(|s| Place::new(s.name.clone(), s.line))
            .collect(),
        initial: lowered.initial,
        edges: lowered.transitions().map(edge).collect(),
    }
}

/// A foreign acceptor. Labels that the system does not know can never happen, so their edges go.
fn acceptor(
    reference: &ModelRef,
    bytes: &[u8],
    read: &ReadOptions,
    labels: &Arc<Labels>,
) -> Result<Observer, Failure> {
    let loaded = iolite_formats::dot::read_acceptor(bytes, &read.dot_options(bytes));
    let acceptor = source::accept(&reference.path, bytes, loaded)?;
    let lts = &acceptor.lts;
    let stem = reference
        .path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let edges = lts.transitions().filter_map(|(source, label, target)| {
        let label = lts.labels().label(label);
        let label = labels.get(label.kind, &label.name)?;
        Some(Edge {
            source,
            on: On::Label(label),
            target,
            line: lts.line(source).unwrap_or(0),
        })
    });
    let place = |s: StateId| Place::new(lts.name(s), lts.line(s).unwrap_or(0));
    let source = AutomatonSource {
        name: stem.into_owned(),
        labels: Arc::clone(labels),
        states: lts.states().map(place).collect(),
        initial: lts.initial(),
        edges: edges.collect(),
    };
    Observer::new(source, &acceptor.accepting, ObserverRules::Acceptor)
        .map_err(|errors| breaches(reference, "acceptor", &errors))
}
