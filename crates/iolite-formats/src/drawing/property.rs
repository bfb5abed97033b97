//! Properties' automata as drawings: a colour for each part of the partition.

use iolite_lts::LabelKind;
use iolite_property::{CanonicalTester, Partition, PropertyVerdict, Quality, StreettAutomaton};

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
                ..Node::default()
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

impl Drawing {
    /// A canonical tester [PROP12, def. 13]: a colour for each verdict. Nothing follows a verdict.
    pub fn of_tester(title: &str, tester: &CanonicalTester) -> Self {
        let (structure, sigma) = (tester.structure(), tester.alphabet());
        let mut drawing = Self {
            title: title.to_owned(),
            initial: Some(NodeId::new(structure.initial().index())),
            ..Self::default()
        };
        for q in structure.states() {
            let verdict = tester.verdict(q);
            let meaning = match verdict {
                PropertyVerdict::Pass => Meaning::Good,
                PropertyVerdict::WeakPass => Meaning::CurrentlyGood,
                PropertyVerdict::Fail => Meaning::Bad,
                PropertyVerdict::WeakFail => Meaning::CurrentlyBad,
                PropertyVerdict::Inconc | PropertyVerdict::Unknown => Meaning::Plain,
            };
            let name = match verdict {
                PropertyVerdict::Unknown => tester.name(q).to_owned(),
                verdict => format!("{} {verdict}", tester.name(q)),
            };
            drawing.nodes.push(Node {
                name,
                tooltip: None,
                accepting: verdict.is_final(),
                meaning,
                ..Node::default()
            });
            if verdict.is_final() {
                continue;
            }
            for l in sigma.iter() {
                drawing.edges.push(Edge {
                    source: NodeId::new(q.index()),
                    target: NodeId::new(structure.step(q, l).index()),
                    kind: sigma.kind(l),
                    label: sigma.text(l),
                });
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
