//! Names in processes and compositions.

use iolite_lang::check::ResolvedSort;
use iolite_lang::syntax::ast::{
    Behaviour, BehaviourKind, Definition, Event, EventKind, Expr, Gate, Name, Offer, Param, Sync,
};

use super::SymbolId;
use super::builder::Builder;

impl<'f> Builder<'f> {
    pub(super) fn definition(&mut self, id: SymbolId, definition: &'f Definition) {
        self.sorts_of(&definition.params);
        for param in &definition.params {
            if let Some(&symbol) = self.members.get(&(id, param.name.text.as_str())) {
                let sort = self.sorts.resolve(&param.sort);
                self.bind(&param.name.text, symbol, sort);
            }
        }
        for event in definition.over.iter().flatten() {
            let mut bound = Vec::new();
            self.offer_event(id, event, &mut bound);
            self.unbind_all(bound);
        }
        self.behaviour(id, &definition.body);
        for param in &definition.params {
            self.unbind(&param.name.text);
        }
    }

    fn unbind_all(&mut self, bound: Vec<&'f str>) {
        for name in bound {
            self.unbind(name);
        }
    }

    fn bind_all(&mut self, id: SymbolId, params: &'f [Param]) -> Vec<&'f str> {
        self.sorts_of(params);
        let bind = |param: &'f Param| {
            self.bind_param(param, id);
            param.name.text.as_str()
        };
        params.iter().map(bind).collect()
    }

    fn offer_event(&mut self, id: SymbolId, event: &'f Event, bound: &mut Vec<&'f str>) {
        self.event_name(id, None, event);
        if let EventKind::Offer { offers, guard, .. } = &event.kind {
            self.offers(id, offers, bound);
            if let Some(guard) = guard {
                self.expr(guard);
            }
        }
    }

    fn offers(&mut self, id: SymbolId, offers: &'f [Offer], bound: &mut Vec<&'f str>) {
        for offer in offers {
            match offer {
                Offer::Value(value) => self.expr(value),
                // `exit(any int)` has a sort without a name.
                Offer::Variable(param) if param.name.text == "_" => self.sort(&param.sort),
                Offer::Variable(param) => {
                    self.sort(&param.sort);
                    self.bind_param(param, id);
                    bound.push(&param.name.text);
                }
            }
        }
    }

    fn behaviour(&mut self, id: SymbolId, node: &'f Behaviour) {
        match &node.kind {
            BehaviourKind::Stop | BehaviourKind::Error => {}
            BehaviourKind::Exit(values) => {
                let mut bound = Vec::new();
                self.offers(id, values, &mut bound);
                self.unbind_all(bound);
            }
            BehaviourKind::Prefix { events, rest } => {
                let mut bound = Vec::new();
                for event in events {
                    self.offer_event(id, event, &mut bound);
                }
                self.behaviour(id, rest);
                self.unbind_all(bound);
            }
            BehaviourKind::Guard { condition, body } => {
                self.expr(condition);
                self.behaviour(id, body);
            }
            BehaviourKind::Choice(parts) => self.behaviours(id, parts),
            BehaviourKind::Disable(parts) => self.behaviours(id, &parts[..]),
            BehaviourKind::ChoiceOver { params, body } => {
                let bound = self.bind_all(id, params);
                self.behaviour(id, body);
                self.unbind_all(bound);
            }
            BehaviourKind::Let {
                name,
                sort,
                value,
                body,
            } => {
                if let Some(sort) = sort {
                    self.sort(sort);
                }
                self.expr(value);
                let sort = sort.as_ref().map(|sort| self.sorts.resolve(sort));
                self.bind_local(name, "let", sort.unwrap_or(ResolvedSort::Unknown));
                self.behaviour(id, body);
                self.unbind(&name.text);
            }
            BehaviourKind::Enable { accept, parts } => {
                let [left, right] = &**parts;
                self.behaviour(id, left);
                let bound = self.bind_all(id, accept);
                self.behaviour(id, right);
                self.unbind_all(bound);
            }
            BehaviourKind::Parallel { sync, parts } => {
                self.behaviours(id, parts);
                self.sync(id, sync, parts);
            }
            BehaviourKind::Hide { labels, body } => {
                self.behaviour(id, body);
                for gate in labels {
                    self.gate(id, gate, std::slice::from_ref(body));
                }
            }
            BehaviourKind::Rename { pairs, body } => {
                self.behaviour(id, body);
                for (old, new) in pairs {
                    self.gate(id, old, std::slice::from_ref(body));
                    // The new name is one that nothing else declares.
                    self.gate(id, new, &[]);
                }
            }
            BehaviourKind::Call { name, gates, args } => self.call(id, name, gates, args),
            BehaviourKind::Each {
                index,
                range,
                sync,
                body,
            } => {
                self.expr(&range.0);
                self.expr(&range.1);
                self.bind_local(index, "each", ResolvedSort::Int);
                self.behaviour(id, body);
                self.unbind(&index.text);
                // All instances share the gates, which have no index.
                self.sync(id, sync, std::slice::from_ref(body));
            }
        }
    }

    fn behaviours(&mut self, id: SymbolId, parts: &'f [Behaviour]) {
        for part in parts {
            self.behaviour(id, part);
        }
    }

    fn sync(&mut self, id: SymbolId, sync: &'f Sync, parts: &'f [Behaviour]) {
        if let Sync::On(gates) = sync {
            for gate in gates {
                self.gate(id, gate, parts);
            }
        }
    }

    fn gate(&mut self, id: SymbolId, gate: &'f Gate, parts: &'f [Behaviour]) {
        for value in gate.values.iter().flatten() {
            self.expr(value);
        }
        for action in self.actions_in(id, parts, &gate.name.text) {
            self.occurs(gate.name.span, &gate.name.text, action);
        }
    }

    fn call(&mut self, id: SymbolId, name: &'f Name, gates: &'f [Name], args: &'f [(Name, Expr)]) {
        self.item_named(Some(name));
        for gate in gates {
            for action in self.own_actions(id, &gate.text) {
                self.occurs(gate.span, &gate.text, action);
            }
        }
        let called = self
            .items
            .get(name.text.as_str())
            .map(|(called, _)| *called);
        for (arg, value) in args {
            let param = called.and_then(|c| self.members.get(&(c, arg.text.as_str())).copied());
            // One that goes by its place has no name here.
            if let Some(param) = param.filter(|_| arg.span.end > arg.span.start) {
                self.occurs(arg.span, &arg.text, param);
            }
            self.expr(value);
        }
    }
}
