//! What a property speaks of.

use iolite_lts::LabelKind;

use super::property::MAX_CHAIN;
use crate::names::Names;
use crate::syntax::ast::{
    Event, EventKind, Expr, Formula, FormulaKind, Item, Ltl, LtlKind, Name, PropertyEvent, Regex,
    RegexKind, Sort,
};

/// An event of a property, with what is said of its values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PropertyAtom<'f> {
    pub(crate) event: &'f Event,
    /// The sorts of its parameters, where they are written.
    pub(crate) sorts: &'f [Sort],
    pub(crate) guard: Option<&'f Expr>,
}

impl<'f> PropertyAtom<'f> {
    pub(crate) fn plain(event: &'f Event) -> Self {
        Self {
            event,
            sorts: &[],
            guard: None,
        }
    }

    /// Kind, name and names of the parameters of an action.
    pub(crate) fn label(&self) -> Option<(LabelKind, &'f str, Option<&'f [Name]>)> {
        match &self.event.kind {
            EventKind::Label { kind, name, args } => Some((*kind, &name.text, args.as_deref())),
            _ => None,
        }
    }
}

impl<'f> From<&'f PropertyEvent> for PropertyAtom<'f> {
    fn from(event: &'f PropertyEvent) -> Self {
        Self {
            event: &event.event,
            sorts: &event.sorts,
            guard: event.guard.as_ref(),
        }
    }
}

/// The events that occur in a formula and in the properties it names, in order.
pub(crate) fn formula_events<'f>(names: &Names<'f>, formula: &'f Formula) -> Vec<&'f Event> {
    let atoms = formula_atoms(names, formula).into_iter();
    atoms.map(|a| a.event).collect()
}

/// The same with guards.
pub(crate) fn formula_atoms<'f>(names: &Names<'f>, formula: &'f Formula) -> Vec<PropertyAtom<'f>> {
    let mut atoms = Vec::new();
    collect(names, formula, 0, &mut atoms);
    atoms
}

fn collect<'f>(
    names: &Names<'f>,
    formula: &'f Formula,
    depth: usize,
    out: &mut Vec<PropertyAtom<'f>>,
) {
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
            for t in automaton.states.iter().flat_map(|s| &s.transitions) {
                out.extend(t.events.iter().map(|event| PropertyAtom {
                    event,
                    sorts: &[],
                    guard: t.guard.as_ref(),
                }));
            }
        }
        FormulaKind::Name(name) => {
            if let Some(Item::Property(other)) = names.get(&name.text)
                && depth < MAX_CHAIN
            {
                // What another property says of its parameters holds for its atoms here too.
                let over = other.over.iter().flatten();
                out.extend(over.filter(|e| !e.sorts.is_empty()).map(PropertyAtom::from));
                collect(names, &other.body, depth + 1, out);
            }
        }
        FormulaKind::Error => {}
    }
}

fn collect_ltl<'f>(ltl: &'f Ltl, out: &mut Vec<PropertyAtom<'f>>) {
    match &ltl.kind {
        LtlKind::Atom(event) => out.push((&**event).into()),
        LtlKind::Unary(_, a) => collect_ltl(a, out),
        LtlKind::Binary(_, a, b) => {
            collect_ltl(a, out);
            collect_ltl(b, out);
        }
        LtlKind::Constant(_) | LtlKind::Error => {}
    }
}

fn collect_regex<'f>(names: &Names<'f>, regex: &'f Regex, out: &mut Vec<PropertyAtom<'f>>) {
    match &regex.kind {
        RegexKind::Atom(event) => out.push((&**event).into()),
        RegexKind::Sequence(parts) | RegexKind::Alternatives(parts) => {
            for part in parts {
                collect_regex(names, part, out);
            }
        }
        RegexKind::Star(a) | RegexKind::Plus(a) => collect_regex(names, a, out),
        RegexKind::Traces(name) => {
            if let Some(Item::Traces(list)) = names.get(&name.text) {
                let events = list.traces.iter().flat_map(|t| &t.events);
                out.extend(events.map(PropertyAtom::plain));
            }
        }
        RegexKind::Empty | RegexKind::Any | RegexKind::Error => {}
    }
}
