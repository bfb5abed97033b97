//! Formal gates of processes, kept apart from actions of the same name.
//!
//! In `process P[a] = a; Q` the `a` is whatever a call of `P` says, and an `a` that `Q` does is another
//! action. So before anything is lowered, each formal gate gets a name that no text can have. A call
//! then relabels what the process does, as LOTOS says; it does not substitute names, which would make
//! two formal gates one before they meet.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::Diagnostic;
use crate::syntax::ast::{
    Behaviour, BehaviourKind, Definition, Event, EventKind, File, Gate, Item, Name, Sync,
};

/// Stands in the name of a formal gate, between the gate and its process.
const MARK: char = '\u{1}';

/// The file with formal gates told apart; `None` where no process has any.
pub(crate) fn distinct(file: &File) -> Option<File> {
    let open = |item: &Item| matches!(item, Item::Definition(d) if !d.gates.is_empty());
    if !file.items.iter().any(open) {
        return None;
    }
    let mut file = file.clone();
    for item in &mut file.items {
        if let Item::Definition(d) = item
            && !d.gates.is_empty()
            && !d.gates[0].text.contains(MARK)
        {
            mark(d);
        }
    }
    Some(file)
}

/// The same; a file without formal gates is taken as it is.
pub(crate) fn distinct_file(file: &File) -> Cow<'_, File> {
    distinct(file).map_or(Cow::Borrowed(file), Cow::Owned)
}

/// A text as its author wrote it.
pub(crate) fn unmarked(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut skipping = false;
    for c in text.chars() {
        skipping = c == MARK || skipping && (c.is_alphanumeric() || matches!(c, '_' | '\''));
        if !skipping {
            plain.push(c);
        }
    }
    plain
}

/// What is said about a file in which formal gates were told apart.
pub(crate) fn unmark(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for d in &mut found {
        d.message = unmarked(&d.message);
        d.hint = d.hint.as_deref().map(unmarked);
    }
    found
}

fn mark(d: &mut Definition) {
    let formal: BTreeSet<String> = d.gates.iter().map(|g| g.text.clone()).collect();
    let marking = Marking {
        suffix: format!("{MARK}{}", d.name.text),
        formal,
    };
    d.gates.iter_mut().for_each(|g| marking.name(g));
    d.over.iter_mut().flatten().for_each(|e| marking.event(e));
    marking.behaviour(&mut d.body);
}

struct Marking {
    formal: BTreeSet<String>,
    suffix: String,
}

impl Marking {
    fn name(&self, name: &mut Name) {
        if self.formal.contains(&name.text) {
            name.text.push_str(&self.suffix);
        }
    }

    fn event(&self, event: &mut Event) {
        if let EventKind::Label { name, .. } | EventKind::Offer { name, .. } = &mut event.kind {
            self.name(name);
        }
    }

    fn gates(&self, gates: &mut [Gate]) {
        for gate in gates {
            self.name(&mut gate.name);
        }
    }

    fn behaviour(&self, node: &mut Behaviour) {
        match &mut node.kind {
            BehaviourKind::Prefix { events, .. } => events.iter_mut().for_each(|e| self.event(e)),
            BehaviourKind::Hide { labels, .. } => self.gates(labels),
            BehaviourKind::Rename { pairs, .. } => {
                for (old, new) in pairs {
                    self.name(&mut old.name);
                    self.name(&mut new.name);
                }
            }
            BehaviourKind::Parallel { sync, .. } | BehaviourKind::Each { sync, .. } => {
                if let Sync::On(gates) = sync {
                    self.gates(gates);
                }
            }
            BehaviourKind::Call { gates, .. } => gates.iter_mut().for_each(|g| self.name(g)),
            _ => {}
        }
        for part in node.parts_mut() {
            self.behaviour(part);
        }
    }
}
