//! Which declaration the name of an action stands for.

use std::collections::BTreeSet;

use iolite_lang::syntax::ast::{Behaviour, BehaviourKind, Event, EventKind, Gate, Item, Name};

use super::SymbolId;
use super::builder::Builder;

/// What an action may be written with.
const SIGILS: [&str; 3] = ["?", "!", ""];

/// The actions that are looked for: one name, and one sigil or any.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    sigil: Option<&'static str>,
    name: &'a str,
}

/// An answer that is being collected.
#[derive(Default)]
struct Answer {
    found: Vec<SymbolId>,
    /// Processes call one another.
    seen: BTreeSet<(SymbolId, String)>,
}

impl<'f> Builder<'f> {
    /// The actions that an event of a declaration stands for, of which this is an occurrence.
    pub(super) fn event_name(
        &mut self,
        owner: SymbolId,
        of: Option<&Name>,
        event: &'f Event,
    ) -> Vec<SymbolId> {
        let (EventKind::Label { kind, name, .. } | EventKind::Offer { kind, name, .. }) =
            &event.kind
        else {
            return Vec::new();
        };
        let target = of.and_then(|of| self.items.get(of.text.as_str()).copied());
        let mut actions = Vec::new();
        // Beside the action itself: an instance `on(1)`, and in formulas `!a` for `not a`.
        let bare = name.text.split('(').next().unwrap_or_default();
        for (sigil, text) in [
            (kind.sigil(), name.text.as_str()),
            (kind.sigil(), bare),
            ("", name.text.as_str()),
        ] {
            let wanted = Wanted {
                sigil: Some(sigil),
                name: text,
            };
            actions = match target {
                Some((id, item)) => self.actions_of(id, item, wanted),
                None => self.own(owner, wanted),
            };
            if !actions.is_empty() {
                break;
            }
        }
        if actions.is_empty() && target.is_none() && !self.has_alphabet(owner) {
            // Nothing here says what the alphabet is.
            self.occurring(owner, event);
            let wanted = Wanted {
                sigil: Some(kind.sigil()),
                name: &name.text,
            };
            actions = self.own(owner, wanted);
        }
        for action in &actions {
            self.occurs(name.span, &name.text, *action);
        }
        actions
    }

    /// Whether a declaration has written which actions there are.
    fn has_alphabet(&self, owner: SymbolId) -> bool {
        let from = (owner, "", "");
        let mut own = self
            .actions
            .range(from..)
            .take_while(|((of, ..), _)| *of == owner);
        own.any(|(_, id)| self.get(*id).declared)
    }

    /// The gates and actions of a declaration itself, whatever their sigil.
    pub(super) fn own_actions(&self, owner: SymbolId, name: &str) -> Vec<SymbolId> {
        self.own(owner, Wanted { sigil: None, name })
    }

    fn own(&self, owner: SymbolId, wanted: Wanted<'_>) -> Vec<SymbolId> {
        if let Some(&gate) = self.gates.get(&(owner, wanted.name)) {
            return vec![gate];
        }
        let sigils = SIGILS.into_iter();
        let sigils = sigils.filter(|s| wanted.sigil.is_none_or(|sigil| sigil == *s));
        sigils
            .filter_map(|sigil| self.actions.get(&(owner, sigil, wanted.name)).copied())
            .collect()
    }

    /// The actions of this name that behaviours do.
    pub(super) fn actions_in(
        &mut self,
        id: SymbolId,
        parts: &'f [Behaviour],
        name: &str,
    ) -> Vec<SymbolId> {
        let mut answer = Answer::default();
        for part in parts {
            self.search(id, part, Wanted { sigil: None, name }, &mut answer);
        }
        answer.found
    }

    /// The actions of a system or process.
    fn actions_of(&mut self, id: SymbolId, item: &'f Item, wanted: Wanted<'_>) -> Vec<SymbolId> {
        let mut answer = Answer::default();
        self.search_item(id, item, wanted, &mut answer);
        answer.found
    }

    fn search_item(
        &mut self,
        id: SymbolId,
        item: &'f Item,
        wanted: Wanted<'_>,
        answer: &mut Answer,
    ) {
        match item {
            Item::Definition(d) => {
                // What `over` declares, or what occurs.
                let own = self.own(id, wanted);
                let is_declared = |id: &SymbolId| self.get(*id).declared;
                if !own.is_empty() && own.iter().all(is_declared) {
                    add(answer, own);
                } else if answer.seen.insert((id, wanted.name.to_owned())) {
                    self.search(id, &d.body, wanted, answer);
                }
            }
            _ => add(answer, self.own(id, wanted)),
        }
    }

    fn search(
        &mut self,
        id: SymbolId,
        node: &'f Behaviour,
        wanted: Wanted<'_>,
        answer: &mut Answer,
    ) {
        let Some(left) = self.steps_left.checked_sub(1) else {
            return;
        };
        self.steps_left = left;
        match &node.kind {
            BehaviourKind::Prefix { events, rest } => {
                let is_named = |event: &Event| match &event.kind {
                    EventKind::Label { kind, name, .. } | EventKind::Offer { kind, name, .. } => {
                        name.text == wanted.name
                            && wanted.sigil.is_none_or(|sigil| sigil == kind.sigil())
                    }
                    _ => false,
                };
                if events.iter().any(is_named) {
                    add(answer, self.own(id, wanted));
                }
                self.search(id, rest, wanted, answer);
            }
            BehaviourKind::Hide { labels, body } => {
                let is_hidden =
                    |gate: &Gate| gate.values.is_none() && gate.name.text == wanted.name;
                if !labels.iter().any(is_hidden) {
                    self.search(id, body, wanted, answer);
                }
            }
            BehaviourKind::Rename { pairs, body } => {
                for (old, _) in pairs.iter().filter(|(_, new)| new.name.text == wanted.name) {
                    let name = old.name.text.as_str();
                    self.search(id, body, Wanted { name, ..wanted }, answer);
                }
                let is_renamed = |old: &Gate| old.values.is_none() && old.name.text == wanted.name;
                if !pairs.iter().any(|(old, _)| is_renamed(old)) {
                    self.search(id, body, wanted, answer);
                }
            }
            BehaviourKind::Call { name, gates, .. } => {
                let Some(&(called, item)) = self.items.get(name.text.as_str()) else {
                    return;
                };
                let Item::Definition(d) = item else {
                    self.search_item(called, item, wanted, answer);
                    return;
                };
                let pairs = d.gates.iter().zip(gates);
                for (formal, _) in pairs.filter(|(_, actual)| actual.text == wanted.name) {
                    add(answer, self.own_actions(called, &formal.text));
                }
                // Its formal gates are not called so outside.
                if !d.gates.iter().any(|formal| formal.text == wanted.name) {
                    self.search_item(called, item, wanted, answer);
                }
            }
            _ => {
                for part in node.parts() {
                    self.search(id, part, wanted, answer);
                }
            }
        }
    }
}

fn add(answer: &mut Answer, more: Vec<SymbolId>) {
    for id in more {
        if !answer.found.contains(&id) {
            answer.found.push(id);
        }
    }
}
