//! Test cases as drawings: verdicts coloured, δ as the θ that the tester sees.

use iolite_derive::{TestCase, TestStep};
use iolite_lts::LabelId;

use super::lts::shown;
use super::{Drawing, Edge, Node, NodeId};

impl Drawing {
    /// A test case.
    pub fn of_test_case(case: &TestCase) -> Self {
        let mut drawing = Self {
            title: case.name().to_owned(),
            initial: Some(NodeId::new(0)),
            ..Self::default()
        };
        for (k, state) in case.states().iter().enumerate() {
            let ends = matches!(state.step, TestStep::End);
            drawing.nodes.push(Node {
                name: if ends {
                    state.verdict.name().to_owned()
                } else {
                    k.to_string()
                },
                tooltip: (!state.locations.is_empty()).then(|| state.locations.join(", ")),
                meaning: if ends {
                    state.verdict.into()
                } else {
                    super::Meaning::Plain
                },
                ..Node::default()
            });
            for (label, target) in state.steps() {
                drawing.edges.push(Edge {
                    source: NodeId::new(k),
                    target: NodeId::new(target.index()),
                    label: match label {
                        LabelId::DELTA => "θ".to_owned(),
                        _ => shown(case.labels().label(label)),
                    },
                    kind: case.labels().kind(label),
                });
            }
        }
        drawing
    }
}
