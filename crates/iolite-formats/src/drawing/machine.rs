//! Declarations of the language as drawings, as they are written: guards and effects on the edges.

use iolite_lang::fmt::step_text;
use iolite_lang::syntax::ast::{EventKind, Machine, Mark, Transition};
use iolite_lang::{LineIndex, Span};
use iolite_lts::LabelKind;

use super::{Drawing, Edge, Meaning, Node, NodeId};

impl Drawing {
    /// A system, observer, purpose, test case or set of traces. A transition to a state that is not
    /// declared, which checks refuse, is left out.
    pub fn of_machine(machine: &Machine, lines: &LineIndex) -> Self {
        let mut drawing = Self {
            title: format!("{} {}", machine.role.keyword(), machine.name.text),
            ..Self::default()
        };
        let names: Vec<&str> = machine.states().map(|s| s.name.text.as_str()).collect();
        let find = |name: &str| names.iter().position(|n| *n == name).map(NodeId::new);
        for (k, state) in machine.states().enumerate() {
            if state.marks.contains(&Mark::Initial) && drawing.initial.is_none() {
                drawing.initial = Some(NodeId::new(k));
            }
            drawing.nodes.push(Node {
                name: state.name.text.clone(),
                tooltip: Some(place(state.span, lines)),
                accepting: state.marks.contains(&Mark::Accept),
                meaning: state.marks.iter().map(|m| meaning(*m)).fold(
                    Meaning::Plain,
                    |known, next| match next {
                        Meaning::Plain => known,
                        next => next,
                    },
                ),
                ..Node::default()
            });
            for transition in &state.transitions {
                let Some(target) = find(&transition.target.text) else {
                    continue;
                };
                drawing.edges.push(Edge {
                    source: NodeId::new(k),
                    target,
                    label: step_text(transition),
                    kind: kind(transition),
                });
            }
        }
        drawing
    }
}

fn place(span: Span, lines: &LineIndex) -> String {
    format!("line {}", lines.line(span.start))
}

fn meaning(mark: Mark) -> Meaning {
    match mark {
        Mark::Initial => Meaning::Plain,
        Mark::Violate => Meaning::Violation,
        Mark::Accept | Mark::Pass => Meaning::Good,
        Mark::Refuse | Mark::Inconc => Meaning::Open,
        Mark::Fail => Meaning::Bad,
    }
}

/// The kind that all events of a transition have; otherwise that of a plain action.
fn kind(transition: &Transition) -> LabelKind {
    let mut kinds = transition.events.iter().map(|event| match &event.kind {
        EventKind::Label { kind, .. } | EventKind::Offer { kind, .. } => *kind,
        EventKind::Tau => LabelKind::Internal,
        EventKind::Delta => LabelKind::Delta,
        EventKind::Any => LabelKind::Undirected,
    });
    let first = kinds.next().unwrap_or(LabelKind::Undirected);
    if kinds.all(|kind| kind == first) {
        first
    } else {
        LabelKind::Undirected
    }
}
