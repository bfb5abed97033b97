//! Whom observers, purposes, properties, test cases and sets of traces are for.

use std::collections::BTreeSet;

use iolite_lts::LabelKind;

use crate::lower::formula_events;
use crate::names::{Names, bare, events};
use crate::syntax::ast::{BehaviourKind, Event, EventKind, File, Item};

/// The system after `for` in the declaration of this name.
pub fn watched_system<'f>(file: &'f File, name: &str) -> Option<&'f str> {
    let of = match Names::new(file).get(name)? {
        Item::Machine(machine) => &machine.of,
        Item::Traces(list) => &list.of,
        Item::Property(property) => &property.of,
        _ => return None,
    };
    of.as_ref().map(|of| of.text.as_str())
}

/// Whether an automaton declares actions of its own.
pub fn declares_labels(file: &File, name: &str) -> bool {
    match Names::new(file).get(name) {
        Some(Item::Machine(machine)) => machine.labels().next().is_some(),
        _ => false,
    }
}

/// Whether the system `name` is `of`, or one instance of it: `system Fast = Sender(max = 3)`.
pub fn is_instance_of(file: &File, name: &str, of: &str) -> bool {
    let names = Names::new(file);
    let mut seen = BTreeSet::new();
    let mut name = name;
    while name != of {
        let Some(Item::Definition(definition)) = names.get(name) else {
            return false;
        };
        let BehaviourKind::Call { name: called, .. } = &definition.body.kind else {
            return false;
        };
        if !seen.insert(name) {
            return false;
        }
        name = &called.text;
    }
    true
}

/// The actions with certain values that an observer, a purpose or a test case names: `!done(1)`.
pub fn named_instances(file: &File, name: &str) -> Vec<String> {
    let Some(Item::Machine(machine)) = Names::new(file).get(name) else {
        return Vec::new();
    };
    let labels = events(machine).filter_map(|event| match &event.kind {
        EventKind::Label { kind, name, .. } if name.text.contains('(') => {
            Some(format!("{}{}", kind.sigil(), name.text))
        }
        _ => None,
    });
    let distinct: BTreeSet<String> = labels.collect();
    distinct.into_iter().collect()
}

/// The actions that the declaration `name` of `file` speaks of and the system `of` of `other` does not
/// have, whatever their values; none where the system's actions are too many to follow.
pub fn missing_actions(file: &File, name: &str, other: &File, of: &str) -> Vec<String> {
    let names = Names::new(file);
    let spoken: Vec<&Event> = match names.get(name) {
        Some(Item::Machine(machine)) => events(machine).collect(),
        Some(Item::Traces(list)) => list.traces.iter().flat_map(|t| &t.events).collect(),
        Some(Item::Property(property)) => formula_events(&names, &property.body),
        _ => Vec::new(),
    };
    let Some(alphabet) = Names::new(other).alphabet(of) else {
        return Vec::new();
    };
    let has = |kind: LabelKind, action: &str| {
        let known = alphabet.iter().map(|(_, label)| label);
        let mut named = known.filter(|label| bare(&label.name) == bare(action));
        named.any(|label| label.kind == kind || kind == LabelKind::Undirected)
    };
    let mut missing: Vec<String> = Vec::new();
    for event in spoken {
        let EventKind::Label { kind, name, .. } = &event.kind else {
            continue;
        };
        let action = format!("{}{}", kind.sigil(), name.text);
        if !has(*kind, &name.text) && !missing.contains(&action) {
            missing.push(action);
        }
    }
    missing
}
