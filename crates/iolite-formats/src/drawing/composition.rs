//! Compositions as boxes: the parts that run together, and the actions by which they are connected.

use std::collections::{BTreeMap, BTreeSet};

use iolite_lang::syntax::ast::{
    Behaviour, BehaviourKind, Definition, Event, EventKind, File, Gate, Item, Sync,
};
use iolite_lts::LabelKind;

use super::{Drawing, Edge, Node, NodeId};

/// The name of the box for whoever uses the composition.
const ENVIRONMENT: &str = "environment";

/// Characters of a part's text that stand in its box.
const MOST_TEXT: usize = 60;

/// Definitions within definitions that are looked into for their actions.
const DEEPEST: usize = 40;

/// Actions by bare name, with the directions in which they occur.
type Alphabet = BTreeMap<String, BTreeSet<LabelKind>>;

/// An action that parts take part in and that can be seen from outside.
#[derive(Clone, Debug, Default)]
struct Port {
    /// The parts, and how the action occurs in them.
    ends: BTreeSet<(usize, LabelKind)>,
    /// The connections that it has made.
    links: Vec<usize>,
}

/// Two parts that do an action together.
struct Link {
    from: usize,
    to: usize,
    action: String,
    kind: LabelKind,
    hidden: bool,
}

struct Composition<'f> {
    file: &'f File,
    text: &'f str,
    nodes: Vec<Node>,
    links: Vec<Link>,
}

impl Drawing {
    /// The parts of a composition; `None` where the definition composes nothing. `text` is that of the file.
    pub fn of_composition(file: &File, text: &str, definition: &Definition) -> Option<Self> {
        let mut composition = Composition {
            file,
            text,
            nodes: Vec::new(),
            links: Vec::new(),
        };
        let ports = composition.part(&definition.body);
        if composition.nodes.len() < 2 {
            return None;
        }
        let word = if definition.is_system {
            "system"
        } else {
            "process"
        };
        Some(composition.drawing(&ports, &format!("{word} {}", definition.name.text)))
    }
}

impl Composition<'_> {
    /// Adds the boxes of a behaviour; what it shows to the outside.
    fn part(&mut self, behaviour: &Behaviour) -> BTreeMap<String, Port> {
        match &behaviour.kind {
            BehaviourKind::Parallel { sync, parts } => {
                let mut parts = parts.iter().map(|part| self.part(part));
                let Some(first) = parts.next() else {
                    return BTreeMap::new();
                };
                let rest: Vec<_> = parts.collect();
                rest.into_iter()
                    .fold(first, |all, one| self.join(sync, all, one))
            }
            BehaviourKind::Hide { labels, body } => {
                let mut ports = self.part(body);
                for gate in whole(labels) {
                    for link in ports.remove(gate).unwrap_or_default().links {
                        self.links[link].hidden = true;
                    }
                }
                ports
            }
            BehaviourKind::Rename { pairs, body } => {
                let mut ports = self.part(body);
                for (old, new) in pairs.iter().filter(|(old, _)| old.values.is_none()) {
                    if let Some(port) = ports.remove(&old.name.text) {
                        let there = ports.entry(new.name.text.clone()).or_default();
                        there.ends.extend(port.ends);
                        there.links.extend(port.links);
                    }
                }
                ports
            }
            _ => self.leaf(behaviour),
        }
    }

    fn leaf(&mut self, behaviour: &Behaviour) -> BTreeMap<String, Port> {
        let number = self.nodes.len();
        let span = behaviour.span;
        let written = self.text.get(span.start..span.end).unwrap_or_default();
        let words: Vec<&str> = written.split_whitespace().collect();
        let written = words.join(" ");
        let mut name: String = written.chars().take(MOST_TEXT).collect();
        if name.len() < written.len() {
            name.push('…');
        }
        self.nodes.push(Node {
            name,
            tooltip: Some(format!(
                "line {}\n{written}",
                self.file.lines.line(span.start)
            )),
            is_box: true,
            ..Node::default()
        });
        let mut alphabet = Alphabet::new();
        self.actions(behaviour, &mut BTreeSet::new(), DEEPEST, &mut alphabet);
        let port = |kinds: BTreeSet<LabelKind>| Port {
            ends: kinds.into_iter().map(|kind| (number, kind)).collect(),
            links: Vec::new(),
        };
        alphabet
            .into_iter()
            .map(|(name, kinds)| (name, port(kinds)))
            .collect()
    }

    /// Two parts side by side.
    fn join(
        &mut self,
        sync: &Sync,
        mut all: BTreeMap<String, Port>,
        one: BTreeMap<String, Port>,
    ) -> BTreeMap<String, Port> {
        for (name, port) in one {
            let together = match sync {
                Sync::All => true,
                Sync::Interleave => false,
                Sync::On(gates) => gates.iter().any(|gate| gate.name.text == name),
            };
            let known = all.entry(name.clone()).or_default();
            known.links.extend(port.links);
            if together {
                for &(left, one) in &known.ends {
                    for &(right, other) in &port.ends {
                        let (from, to, kind) = directed((left, one), (right, other));
                        known.links.push(self.links.len());
                        self.links.push(Link {
                            from,
                            to,
                            action: name.clone(),
                            kind,
                            hidden: false,
                        });
                    }
                }
            }
            known.ends.extend(port.ends);
        }
        all
    }

    /// The actions that a behaviour can do, by name and direction.
    fn actions(
        &self,
        behaviour: &Behaviour,
        seen: &mut BTreeSet<String>,
        depth: usize,
        found: &mut Alphabet,
    ) {
        if depth == 0 {
            return;
        }
        let mut own = Alphabet::new();
        let mut add = |event: &Event| {
            if let EventKind::Label { kind, name, .. } | EventKind::Offer { kind, name, .. } =
                &event.kind
            {
                own.entry(name.text.clone()).or_default().insert(*kind);
            }
        };
        match &behaviour.kind {
            BehaviourKind::Prefix { events, .. } => events.iter().for_each(&mut add),
            BehaviourKind::Call { name, gates, .. } => {
                self.actions_of_call(
                    &name.text,
                    gates.iter().map(|g| g.text.as_str()),
                    seen,
                    depth,
                    &mut own,
                );
            }
            _ => {}
        }
        for part in behaviour.parts() {
            self.actions(part, seen, depth - 1, &mut own);
        }
        match &behaviour.kind {
            BehaviourKind::Hide { labels, .. } => {
                for gate in whole(labels) {
                    own.remove(gate);
                }
            }
            BehaviourKind::Rename { pairs, .. } => {
                for (old, new) in pairs.iter().filter(|(old, _)| old.values.is_none()) {
                    if let Some(kinds) = own.remove(&old.name.text) {
                        own.entry(new.name.text.clone()).or_default().extend(kinds);
                    }
                }
            }
            _ => {}
        }
        for (name, kinds) in own {
            found.entry(name).or_default().extend(kinds);
        }
    }

    fn actions_of_call<'a>(
        &self,
        called: &str,
        gates: impl Iterator<Item = &'a str>,
        seen: &mut BTreeSet<String>,
        depth: usize,
        found: &mut Alphabet,
    ) {
        if !seen.insert(called.to_owned()) {
            return;
        }
        for item in &self.file.items {
            match item {
                Item::Machine(machine) if machine.name.text == called => {
                    for (kind, label) in machine.labels() {
                        if kind != LabelKind::Internal {
                            found
                                .entry(label.name.text.clone())
                                .or_default()
                                .insert(kind);
                        }
                    }
                }
                Item::Definition(definition) if definition.name.text == called => {
                    let mut own = Alphabet::new();
                    self.actions(&definition.body, seen, depth - 1, &mut own);
                    let formal = definition.gates.iter().map(|g| g.text.as_str());
                    let actual: BTreeMap<&str, &str> = formal.zip(gates).collect();
                    for (name, kinds) in own {
                        let name = actual
                            .get(name.as_str())
                            .map_or(name.clone(), |a| (*a).to_owned());
                        found.entry(name).or_default().extend(kinds);
                    }
                    break;
                }
                _ => {}
            }
        }
        seen.remove(called);
    }

    fn drawing(mut self, ports: &BTreeMap<String, Port>, title: &str) -> Drawing {
        let environment = self.nodes.len();
        let mut edges = Vec::new();
        for link in &self.links {
            let sigil = if link.hidden { " (hidden)" } else { "" };
            edges.push(Edge {
                source: NodeId::new(link.from),
                target: NodeId::new(link.to),
                label: format!("{}{sigil}", link.action),
                kind: if link.hidden {
                    LabelKind::Internal
                } else {
                    link.kind
                },
            });
        }
        for (name, port) in ports {
            let is_sent = |kind: &LabelKind| *kind == LabelKind::Output;
            let answered = port.ends.iter().any(|(_, kind)| is_sent(kind));
            for &(part, kind) in &port.ends {
                let (source, target) = match kind {
                    // What another part sends comes from there.
                    LabelKind::Input if answered && !port.links.is_empty() => continue,
                    LabelKind::Output => (part, environment),
                    _ => (environment, part),
                };
                edges.push(Edge {
                    source: NodeId::new(source),
                    target: NodeId::new(target),
                    label: format!("{}{name}", kind.sigil()),
                    kind,
                });
            }
        }
        let touches =
            |edge: &Edge| edge.source.index() == environment || edge.target.index() == environment;
        if edges.iter().any(touches) {
            self.nodes.push(Node {
                name: ENVIRONMENT.to_owned(),
                tooltip: Some("whoever uses or tests the whole".to_owned()),
                ..Node::default()
            });
        }
        Drawing {
            title: title.to_owned(),
            nodes: self.nodes,
            edges,
            initial: None,
            path: None,
        }
    }
}

/// Which way an action goes between two parts: from the one that sends it.
fn directed(
    (one, sends): (usize, LabelKind),
    (other, takes): (usize, LabelKind),
) -> (usize, usize, LabelKind) {
    match (sends, takes) {
        (LabelKind::Input, LabelKind::Output) => (other, one, LabelKind::Output),
        (LabelKind::Output, LabelKind::Input) => (one, other, LabelKind::Output),
        _ => (one, other, LabelKind::Undirected),
    }
}

/// The gates that stand for all instances of their action.
fn whole(gates: &[Gate]) -> impl Iterator<Item = &str> {
    let whole = gates.iter().filter(|gate| gate.values.is_none());
    whole.map(|gate| gate.name.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, name: &str) -> Drawing {
        let (file, found) = iolite_lang::parse_and_check(text);
        assert!(found.iter().all(|d| !d.is_error()), "{found:?}");
        let definition = file.items.iter().find_map(|item| match item {
            Item::Definition(d) if d.name.text == name => Some(d),
            _ => None,
        });
        Drawing::of_composition(&file, text, definition.expect("it is there"))
            .expect("a composition")
    }

    fn edges(drawing: &Drawing) -> Vec<String> {
        let name = |id| drawing.node(id).name.as_str();
        let edge = |e: &Edge| format!("{} -{}-> {}", name(e.source), e.label, name(e.target));
        let mut all: Vec<String> = drawing.edges.iter().map(edge).collect();
        all.sort();
        all
    }

    const PARTS: &str =
        "system Left { input a  output mid  initial state s { ?a -> t }  state t { !mid -> s } }
        system Right { input mid  output x  initial state s { ?mid -> t }  state t { !x -> s } }
        system Net = hide mid in (Left |[mid]| Right)
        system Open = Left |[mid]| Right
        system Two = Left ||| Left
        ";

    #[test]
    fn boxes_are_connected_by_what_they_do_together() {
        let net = drawn(PARTS, "Net");
        assert_eq!(
            edges(&net),
            [
                "Left -mid (hidden)-> Right",
                "Right -!x-> environment",
                "environment -?a-> Left"
            ]
        );
        assert!(net.nodes[0].is_box && !net.nodes[2].is_box);
        // What is not hidden is seen outside too.
        assert!(edges(&drawn(PARTS, "Open")).contains(&"Left -!mid-> environment".to_owned()));
    }

    #[test]
    fn parts_that_interleave_are_not_connected() {
        let two = drawn(PARTS, "Two");
        assert!(edges(&two).iter().all(|edge| edge.contains("environment")));
    }

    #[test]
    fn gates_of_calls_have_their_names_here() {
        let text = "process Cell[take, give] = ?take; !give; Cell[take, give]
            system Chain = Cell[a, b] |[b]| Cell[b, c]";
        let chain = drawn(text, "Chain");
        assert!(
            edges(&chain).contains(&"Cell[a, b] -b-> Cell[b, c]".to_owned()),
            "{:?}",
            edges(&chain)
        );
    }

    #[test]
    fn one_part_is_no_composition() {
        let text = "process P = a; stop";
        let (file, _) = iolite_lang::parse_and_check(text);
        let Some(Item::Definition(definition)) = file.items.first() else {
            panic!("a definition");
        };
        assert_eq!(Drawing::of_composition(&file, text, definition), None);
    }
}
