//! Properties' automata as drawings: a colour for each part of the partition.

use iolite_lts::LabelKind;
use iolite_property::{Partition, Quality, StreettAutomaton};

use super::{Drawing, Edge, Meaning, Node, NodeId};
use crate::property::{marks, steps};

impl Drawing {
    /// A Streett automaton [PROP12, def. 2]: double borders where finite sequences are accepted, and
    /// behind the name of a state the sets of the pairs that it is in.
    pub fn of_property(title: &str, automaton: &StreettAutomaton) -> Self {
        let structure = automaton.structure();
        let partition = Partition::new(automaton);
        let mut drawing = Self {
            title: title.to_owned(),
            initial: Some(NodeId::new(structure.initial().index())),
            ..Self::default()
        };
        for q in structure.states() {
            let mut words = vec![automaton.name(q)];
            words.extend(marks(automaton, q));
            let meaning = match partition.quality(q) {
                Quality::Good => Meaning::Good,
                Quality::CurrentlyGood => Meaning::CurrentlyGood,
                Quality::CurrentlyBad => Meaning::CurrentlyBad,
                Quality::Bad => Meaning::Bad,
            };
            drawing.nodes.push(Node {
                name: words.join(" "),
                tooltip: None,
                accepting: automaton.finite().contains(q),
                meaning,
            });
            for (to, actions) in steps(automaton, q) {
                for label in actions {
                    drawing.edges.push(Edge {
                        source: NodeId::new(q.index()),
                        target: NodeId::new(to.index()),
                        kind: kind(&label),
                        label,
                    });
                }
            }
        }
        drawing
    }
}

/// The kind that a letter has by its sigil; letters need not be actions.
fn kind(letter: &str) -> LabelKind {
    match letter.chars().next() {
        Some('?') => LabelKind::Input,
        Some('!') => LabelKind::Output,
        _ => LabelKind::Undirected,
    }
}
