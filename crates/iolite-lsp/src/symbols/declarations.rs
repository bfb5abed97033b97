//! What a file declares, before anything is looked up.

use iolite_lang::Span;
use iolite_lang::syntax::ast::{
    Behaviour, BehaviourKind, Event, EventKind, Item, Machine, Mark, Member, Name, State,
};

use super::builder::{Builder, FieldOf, New};
use super::{SymbolId, SymbolKind};

/// The word before a state.
fn word_of(state: &State) -> &'static str {
    match state.marks.first() {
        None => "state",
        Some(Mark::Initial) => "initial state",
        Some(Mark::Violate) => "violate state",
        Some(Mark::Accept) => "accept state",
        Some(Mark::Refuse) => "refuse state",
        Some(Mark::Pass) => "pass state",
        Some(Mark::Fail) => "fail state",
        Some(Mark::Inconc) => "inconc state",
    }
}

impl<'f> Builder<'f> {
    /// A declaration and its parts.
    pub(super) fn declare(&mut self, item: &'f Item) -> SymbolId {
        let name = item.name();
        let id = self.symbol(New {
            name,
            kind: SymbolKind::Declaration(item.keyword()),
            word: item.keyword(),
            detail: self.behind_name(item),
            whole: item.span(),
            owner: None,
        });
        self.items.entry(&name.text).or_insert((id, item));
        match item {
            Item::Machine(m) => self.declare_machine(id, m),
            Item::Definition(d) => {
                for gate in &d.gates {
                    let new = New {
                        name: gate,
                        kind: SymbolKind::Gate,
                        word: "gate",
                        detail: String::new(),
                        whole: gate.span,
                        owner: Some(id),
                    };
                    let symbol = self.symbol(new);
                    self.gates.entry((id, &gate.text)).or_insert(symbol);
                }
                for param in &d.params {
                    let symbol = self.param(param, id, SymbolKind::Parameter);
                    self.members.entry((id, &param.name.text)).or_insert(symbol);
                }
                for event in d.over.iter().flatten() {
                    self.declare_event(id, event);
                }
                self.declare_behaviour(id, &d.body);
            }
            Item::Property(p) => {
                for letter in p.over.iter().flatten() {
                    self.declare_event(id, &letter.event);
                }
            }
            Item::Enum(e) => {
                for value in &e.values {
                    self.declare_value(id, value, value.span, String::new());
                }
            }
            Item::Record(r) => {
                for field in &r.fields {
                    let symbol = self.param(field, id, SymbolKind::Field);
                    let key = (
                        FieldOf::Record,
                        r.name.text.as_str(),
                        field.name.text.as_str(),
                    );
                    self.fields.entry(key).or_insert(symbol);
                }
            }
            Item::Sum(s) => {
                for variant in &s.variants {
                    let last = variant
                        .fields
                        .last()
                        .map_or(variant.name.span, |f| f.sort.span);
                    let whole = variant.name.span.to(last);
                    let mut detail = self.shown(Span::new(variant.name.span.end, whole.end));
                    if !variant.fields.is_empty() {
                        detail.push(')');
                    }
                    let of = self.declare_value(id, &variant.name, whole, detail);
                    for field in &variant.fields {
                        let symbol = self.param(field, of, SymbolKind::Field);
                        let name = field.name.text.as_str();
                        let variant = (FieldOf::Variant, variant.name.text.as_str(), name);
                        self.fields.entry(variant).or_insert(symbol);
                        let sum = (FieldOf::Sum, s.name.text.as_str(), name);
                        self.fields.entry(sum).or_insert(symbol);
                    }
                }
            }
            Item::Traces(_) | Item::Alias(_) | Item::Function(_) => {}
        }
        id
    }

    /// What follows the name of a declaration, without its body.
    fn behind_name(&self, item: &Item) -> String {
        let name = item.name().span;
        let of = |of: &Option<Name>| {
            of.as_ref()
                .map_or(String::new(), |of| format!(" for {}", self.shown(of.span)))
        };
        let up_to = |end: usize| self.shown(Span::new(name.end, end));
        match item {
            Item::Machine(m) => of(&m.of),
            Item::Traces(t) => of(&t.of),
            Item::Property(p) => of(&p.of),
            Item::Definition(d) => match d.params.last() {
                Some(last) => format!("{})", up_to(last.sort.span.end)),
                None => String::new(),
            },
            Item::Function(f) => up_to(f.result.span.end),
            Item::Enum(_) | Item::Record(_) | Item::Sum(_) | Item::Alias(_) => {
                format!(" {}", up_to(item.span().end))
            }
        }
    }

    fn declare_value(
        &mut self,
        owner: SymbolId,
        name: &'f Name,
        whole: Span,
        detail: String,
    ) -> SymbolId {
        let id = self.symbol(New {
            name,
            kind: SymbolKind::Value,
            word: "value",
            detail,
            whole,
            owner: Some(owner),
        });
        self.values.entry(&name.text).or_insert(id);
        id
    }

    fn declare_machine(&mut self, id: SymbolId, machine: &'f Machine) {
        for member in &machine.members {
            match member {
                Member::Const(bindings) | Member::Var(bindings) => {
                    let (kind, word) = match member {
                        Member::Const(_) => (SymbolKind::Constant, "const"),
                        _ => (SymbolKind::Variable, "var"),
                    };
                    for binding in bindings {
                        let behind = Span::new(binding.name.span.end, binding.span.end);
                        let symbol = self.symbol(New {
                            name: &binding.name,
                            kind,
                            word,
                            detail: self.shown(behind),
                            whole: binding.span,
                            owner: Some(id),
                        });
                        self.members
                            .entry((id, &binding.name.text))
                            .or_insert(symbol);
                    }
                }
                Member::Labels { kind, labels, span } => {
                    // The keyword stands first.
                    let word = match self.shown(*span).split(' ').next() {
                        Some("input") => "input",
                        Some("output") => "output",
                        Some("internal") => "internal",
                        _ => "action",
                    };
                    for label in labels {
                        let name = &label.name;
                        let last = label.params.last().map_or(name.span, |p| p.sort.span);
                        let mut detail = self.shown(Span::new(name.span.end, last.end));
                        if !label.params.is_empty() {
                            detail.push(')');
                        }
                        let symbol = self.symbol(New {
                            name,
                            kind: SymbolKind::Action(kind.sigil()),
                            word,
                            detail,
                            whole: name.span.to(last),
                            owner: Some(id),
                        });
                        let key = (id, kind.sigil(), name.text.as_str());
                        self.actions.entry(key).or_insert(symbol);
                        self.signatures.insert(symbol, &label.params);
                    }
                }
                Member::Assume { .. } | Member::State(_) => {}
            }
        }
        if machine.labels().next().is_none() && machine.of.is_none() {
            let transitions = machine.states().flat_map(|s| &s.transitions);
            for event in transitions.flat_map(|t| &t.events) {
                self.occurring(id, event);
            }
        }
    }

    pub(super) fn declare_state(&mut self, owner: SymbolId, state: &'f State) -> SymbolId {
        self.symbol(New {
            name: &state.name,
            kind: SymbolKind::State,
            word: word_of(state),
            detail: String::new(),
            whole: state.span,
            owner: Some(owner),
        })
    }

    /// An action of an alphabet.
    fn declare_event(&mut self, owner: SymbolId, event: &'f Event) -> Option<SymbolId> {
        let (EventKind::Label { kind, name, .. } | EventKind::Offer { kind, name, .. }) =
            &event.kind
        else {
            return None;
        };
        let key = (owner, kind.sigil(), name.text.as_str());
        if self.actions.contains_key(&key) || self.gates.contains_key(&(owner, &name.text)) {
            return None;
        }
        let symbol = self.symbol(New {
            name,
            kind: SymbolKind::Action(kind.sigil()),
            word: match kind.sigil() {
                "?" => "input",
                "!" => "output",
                _ => "action",
            },
            detail: self.shown(Span::new(name.span.end, event.span.end)),
            whole: event.span,
            owner: Some(owner),
        });
        self.actions.insert(key, symbol);
        Some(symbol)
    }

    /// An action that is known by its first occurrence, where nothing declares it.
    pub(super) fn occurring(&mut self, owner: SymbolId, event: &'f Event) {
        if let Some(symbol) = self.declare_event(owner, event) {
            self.undeclared(symbol);
        }
    }

    fn declare_behaviour(&mut self, owner: SymbolId, node: &'f Behaviour) {
        if let BehaviourKind::Prefix { events, .. } = &node.kind {
            for event in events {
                self.occurring(owner, event);
            }
        }
        for part in node.parts() {
            self.declare_behaviour(owner, part);
        }
    }
}
