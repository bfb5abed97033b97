//! Systems as drawings.

use iolite_lts::{Label, LabelKind, Lts, StateId};

use super::{Drawing, Edge, Node, NodeId};

impl Drawing {
    /// A system; the states in `accepting` have a double border.
    pub fn of_lts(title: &str, lts: &Lts, accepting: &[StateId]) -> Self {
        let nodes = lts.states().map(|s| Node {
            name: lts.name(s).clone(),
            tooltip: lts.line(s).map(|line| format!("line {line}")),
            accepting: accepting.contains(&s),
            ..Node::default()
        });
        let edges = lts.transitions().map(|(s, l, t)| {
            let label = lts.labels().label(l);
            Edge {
                source: NodeId::new(s.index()),
                target: NodeId::new(t.index()),
                label: shown(label),
                kind: label.kind,
            }
        });
        Self {
            path: None,
            title: title.to_owned(),
            nodes: nodes.collect(),
            edges: edges.collect(),
            initial: Some(NodeId::new(lts.initial().index())),
        }
    }
}

/// A label as the papers' figures have it.
pub(super) fn shown(label: &Label) -> String {
    match label.kind {
        LabelKind::Internal if &*label.name == "i" => "τ".to_owned(),
        LabelKind::Delta => "δ".to_owned(),
        _ => label.to_string(),
    }
}
