//! Names in systems, observers, purposes, test cases, properties.

use std::collections::BTreeMap;

use iolite_lang::check::ResolvedSort;
use iolite_lang::syntax::ast::{
    EventKind, Formula, FormulaKind, Ltl, LtlKind, Machine, Member, Name, Property, PropertyEvent,
    Regex, RegexKind, State, Streett, Transition,
};

use super::builder::{Builder, New};
use super::{SymbolId, SymbolKind};

/// Where the events of a transition are looked up.
#[derive(Clone, Copy)]
pub(super) struct Events<'f> {
    /// What the transition is a part of.
    pub(super) owner: SymbolId,
    /// The system after `for`.
    pub(super) of: Option<&'f Name>,
}

type States<'f> = BTreeMap<&'f str, SymbolId>;

impl<'f> Builder<'f> {
    pub(super) fn machine(&mut self, id: SymbolId, machine: &'f Machine) {
        self.item_named(machine.of.as_ref());
        for member in &machine.members {
            match member {
                Member::Const(bindings) | Member::Var(bindings) => {
                    for binding in bindings {
                        self.sort(&binding.sort);
                        if let Some(value) = &binding.value {
                            self.expr(value);
                        }
                        let name = binding.name.text.as_str();
                        if let Some(&symbol) = self.members.get(&(id, name)) {
                            let sort = self.sorts.resolve(&binding.sort);
                            self.bind(name, symbol, sort);
                        }
                    }
                }
                Member::Assume { condition, .. } => self.expr(condition),
                Member::Labels { labels, .. } => {
                    for label in labels {
                        self.sorts_of(&label.params);
                    }
                }
                Member::State(_) => {}
            }
        }
        let events = Events {
            owner: id,
            of: machine.of.as_ref(),
        };
        self.states(machine.states(), events);
        for (_, binding) in machine.bindings() {
            self.unbind(&binding.name.text);
        }
    }

    fn states(
        &mut self,
        states: impl Iterator<Item = &'f State> + Clone,
        events: Events<'f>,
    ) -> States<'f> {
        let mut known = States::new();
        for state in states.clone() {
            let symbol = self.declare_state(events.owner, state);
            known.entry(&state.name.text).or_insert(symbol);
        }
        for transition in states.flat_map(|s| &s.transitions) {
            self.transition(transition, events, &known);
        }
        known
    }

    fn state_named(&mut self, name: &Name, states: &States<'_>) {
        if let Some(&id) = states.get(name.text.as_str()) {
            self.occurs(name.span, &name.text, id);
        }
    }

    fn transition(&mut self, transition: &'f Transition, events: Events<'f>, states: &States<'f>) {
        // Of several events all bind what the guard reads.
        let mut bound: BTreeMap<&'f str, SymbolId> = BTreeMap::new();
        for event in &transition.events {
            let actions = self.event_name(events.owner, events.of, event);
            let EventKind::Label {
                args: Some(args), ..
            } = &event.kind
            else {
                continue;
            };
            for (k, arg) in args.iter().enumerate().filter(|(_, a)| a.text != "_") {
                if let Some(&id) = bound.get(arg.text.as_str()) {
                    self.occurs(arg.span, &arg.text, id);
                } else {
                    let id = self.argument(arg, k, actions.first().copied(), events.owner);
                    bound.insert(&arg.text, id);
                }
            }
        }
        if let Some(guard) = &transition.guard {
            self.expr(guard);
        }
        for effect in &transition.effects {
            self.expr(&effect.place);
            self.expr(&effect.value);
        }
        for name in bound.keys() {
            self.unbind(name);
        }
        self.state_named(&transition.target, states);
    }

    /// The name of a parameter at a transition, in scope from now on.
    fn argument(
        &mut self,
        arg: &'f Name,
        k: usize,
        action: Option<SymbolId>,
        owner: SymbolId,
    ) -> SymbolId {
        let params = action.and_then(|action| self.signatures.get(&action).copied());
        let param = params.and_then(|params| params.get(k));
        let detail = param.map(|p| format!(": {}", self.shown(p.sort.span)));
        let sort = param.map(|p| self.sorts.resolve(&p.sort));
        let id = self.symbol(New {
            name: arg,
            kind: SymbolKind::Parameter,
            word: "",
            detail: detail.unwrap_or_default(),
            whole: arg.span,
            owner: Some(action.unwrap_or(owner)),
        });
        self.bind(&arg.text, id, sort.unwrap_or(ResolvedSort::Unknown));
        id
    }

    pub(super) fn property(&mut self, id: SymbolId, property: &'f Property) {
        self.item_named(property.of.as_ref());
        let events = Events {
            owner: id,
            // A written alphabet counts alone.
            of: property.of.as_ref().filter(|_| property.over.is_none()),
        };
        for letter in property.over.iter().flatten() {
            self.letter(letter, events);
        }
        self.formula(&property.body, events);
    }

    fn formula(&mut self, formula: &'f Formula, events: Events<'f>) {
        match &formula.kind {
            FormulaKind::Not(inner) => self.formula(inner, events),
            FormulaKind::And(parts) | FormulaKind::Or(parts) => {
                for part in parts {
                    self.formula(part, events);
                }
            }
            FormulaKind::Ltl(ltl) => self.ltl(ltl, events),
            FormulaKind::Language { regex, .. } => self.regex(regex, events),
            FormulaKind::Streett(automaton) => self.streett(automaton, events),
            FormulaKind::Name(name) => self.item_named(Some(name)),
            FormulaKind::Error => {}
        }
    }

    fn streett(&mut self, automaton: &'f Streett, events: Events<'f>) {
        let states = self.states(automaton.states.iter(), events);
        for pair in &automaton.pairs {
            for name in pair.recurrent.iter().chain(&pair.persistent) {
                self.state_named(name, &states);
            }
        }
    }

    fn ltl(&mut self, ltl: &'f Ltl, events: Events<'f>) {
        match &ltl.kind {
            LtlKind::Atom(letter) => self.letter(letter, events),
            LtlKind::Unary(_, a) => self.ltl(a, events),
            LtlKind::Binary(_, a, b) => {
                self.ltl(a, events);
                self.ltl(b, events);
            }
            LtlKind::Constant(_) | LtlKind::Error => {}
        }
    }

    fn regex(&mut self, regex: &'f Regex, events: Events<'f>) {
        match &regex.kind {
            RegexKind::Atom(letter) => self.letter(letter, events),
            RegexKind::Sequence(parts) | RegexKind::Alternatives(parts) => {
                for part in parts {
                    self.regex(part, events);
                }
            }
            RegexKind::Star(a) | RegexKind::Plus(a) => self.regex(a, events),
            RegexKind::Traces(name) => self.item_named(Some(name)),
            RegexKind::Empty | RegexKind::Any | RegexKind::Error => {}
        }
    }

    /// An action of a property, whose guard alone reads its parameters.
    fn letter(&mut self, letter: &'f PropertyEvent, events: Events<'f>) {
        let actions = self.event_name(events.owner, events.of, &letter.event);
        for sort in &letter.sorts {
            self.sort(sort);
        }
        let mut bound = Vec::new();
        if let EventKind::Label {
            args: Some(args), ..
        } = &letter.event.kind
        {
            for (k, arg) in args.iter().enumerate().filter(|(_, a)| a.text != "_") {
                self.argument(arg, k, actions.first().copied(), events.owner);
                bound.push(arg.text.as_str());
            }
        }
        if let Some(guard) = &letter.guard {
            self.expr(guard);
        }
        for name in bound {
            self.unbind(name);
        }
    }
}
