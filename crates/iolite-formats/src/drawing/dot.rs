//! Drawings as DOT, for Graphviz. Systems that are to be read again have a writer of their own,
//! [`crate::dot::write`].

use std::fmt::Write as _;

use iolite_lts::LabelKind;

use super::{Drawing, quote};

/// The text of a directed graph: observations dashed, meanings coloured.
pub fn write(drawing: &Drawing) -> String {
    let mut text = format!("digraph {} {{\n", quote(&drawing.title));
    text.push_str("  node [style=\"rounded,filled\", shape=box];\n");
    for (k, node) in drawing.nodes.iter().enumerate() {
        let _ = write!(
            text,
            "  n{k} [label={}, fillcolor=\"#{}\"",
            quote(&node.name),
            node.meaning.fill()
        );
        if node.is_box {
            text.push_str(", style=filled");
        }
        if node.accepting {
            text.push_str(", peripheries=2");
        }
        if let Some(tooltip) = &node.tooltip {
            let _ = write!(text, ", tooltip={}", quote(tooltip));
        }
        text.push_str("];\n");
    }
    if let Some(initial) = drawing.initial {
        text.push_str("  start [shape=point, style=solid];\n");
        let _ = writeln!(text, "  start -> n{};", initial.index());
    }
    for (source, target, edges) in drawing.merged() {
        let labels: Vec<&str> = edges.iter().map(|e| e.label.as_str()).collect();
        let observed = |kind| matches!(kind, LabelKind::Output | LabelKind::Delta);
        let style = if edges.iter().all(|e| observed(e.kind)) {
            ", style=dashed"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "  n{} -> n{} [label={}{style}];",
            source.index(),
            target.index(),
            quote(&labels.join("\n"))
        );
    }
    text + "}\n"
}
