//! The alphabet of a declared property: what it says itself, or what it speaks of.

use iolite_lts::{LabelId, LabelKind, Labels};
use iolite_property::Alphabet;

use super::property::MAX_CHAIN;
use crate::names::Names;
use crate::syntax::ast::{
    Event, EventKind, Formula, FormulaKind, Item, Ltl, LtlKind, Property, Regex, RegexKind,
};
use crate::{Diagnostic, codes};

pub(super) fn alphabet<'f>(
    names: &Names<'f>,
    property: &'f Property,
) -> Result<Alphabet, Vec<Diagnostic>> {
    let mut occurring = Vec::new();
    collect(names, &property.body, 0, &mut occurring);
    let mut labels = Labels::new();
    let mut letters: Vec<LabelId> = Vec::new();
    let add = |letters: &mut Vec<LabelId>, id: LabelId| {
        if !letters.contains(&id) {
            letters.push(id);
        }
    };
    let system = property.of.as_ref().and_then(|of| names.alphabet(&of.text));
    match (&property.over, system) {
        (Some(events), _) => {
            for id in events.iter().filter_map(|e| intern(e, &mut labels)) {
                add(&mut letters, id);
            }
        }
        (None, Some(known)) => {
            for (_, label) in known.iter().skip(2) {
                if label.kind != LabelKind::Internal {
                    add(&mut letters, labels.intern(label.kind, &label.name));
                }
            }
        }
        (None, None) => {
            for id in occurring.iter().filter_map(|e| intern(e, &mut labels)) {
                add(&mut letters, id);
            }
        }
    }
    if occurring.iter().any(|e| e.kind == EventKind::Delta) {
        add(&mut letters, LabelId::DELTA);
    }
    Alphabet::new(labels, letters).map_err(|e| {
        vec![
            Diagnostic::error(
                codes::NO_AUTOMATON,
                property.name.span,
                format!("property `{}`: {e}", property.name.text),
            )
            .hint("name the actions after `over`, as in `over {?a, !x}`"),
        ]
    })
}

fn intern(event: &Event, labels: &mut Labels) -> Option<LabelId> {
    match &event.kind {
        EventKind::Label { kind, name, .. } | EventKind::Offer { kind, name, .. } => {
            Some(labels.intern(*kind, &name.text))
        }
        EventKind::Delta => Some(LabelId::DELTA),
        EventKind::Tau | EventKind::Any => None,
    }
}

/// The events that occur in a formula and in the properties it names, in order.
fn collect<'f>(names: &Names<'f>, formula: &'f Formula, depth: usize, out: &mut Vec<&'f Event>) {
    match &formula.kind {
        FormulaKind::Not(inner) => collect(names, inner, depth, out),
        FormulaKind::And(parts) | FormulaKind::Or(parts) => {
            for part in parts {
                collect(names, part, depth, out);
            }
        }
        FormulaKind::Ltl(ltl) => collect_ltl(ltl, out),
        FormulaKind::Language { regex, .. } => collect_regex(names, regex, out),
        FormulaKind::Streett(automaton) => {
            let transitions = automaton.states.iter().flat_map(|s| &s.transitions);
            out.extend(transitions.flat_map(|t| &t.events));
        }
        FormulaKind::Name(name) => {
            if let Some(Item::Property(other)) = names.get(&name.text)
                && depth < MAX_CHAIN
            {
                collect(names, &other.body, depth + 1, out);
            }
        }
        FormulaKind::Error => {}
    }
}

fn collect_ltl<'f>(ltl: &'f Ltl, out: &mut Vec<&'f Event>) {
    match &ltl.kind {
        LtlKind::Atom(event) => out.push(event),
        LtlKind::Unary(_, a) => collect_ltl(a, out),
        LtlKind::Binary(_, a, b) => {
            collect_ltl(a, out);
            collect_ltl(b, out);
        }
        LtlKind::Constant(_) | LtlKind::Error => {}
    }
}

fn collect_regex<'f>(names: &Names<'f>, regex: &'f Regex, out: &mut Vec<&'f Event>) {
    match &regex.kind {
        RegexKind::Atom(event) => out.push(event),
        RegexKind::Sequence(parts) | RegexKind::Alternatives(parts) => {
            for part in parts {
                collect_regex(names, part, out);
            }
        }
        RegexKind::Star(a) | RegexKind::Plus(a) => collect_regex(names, a, out),
        RegexKind::Traces(name) => {
            if let Some(Item::Traces(list)) = names.get(&name.text) {
                out.extend(list.traces.iter().flat_map(|t| &t.events));
            }
        }
        RegexKind::Empty | RegexKind::Any | RegexKind::Error => {}
    }
}
