//! What a property speaks of.

use super::property::MAX_CHAIN;
use crate::names::Names;
use crate::syntax::ast::{Event, Formula, FormulaKind, Item, Ltl, LtlKind, Regex, RegexKind};

/// The events that occur in a formula and in the properties it names, in order.
pub(crate) fn formula_events<'f>(names: &Names<'f>, formula: &'f Formula) -> Vec<&'f Event> {
    let mut events = Vec::new();
    collect(names, formula, 0, &mut events);
    events
}

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
