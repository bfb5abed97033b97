//! Test cases as drawings.

use std::fmt::Write;

use iolite_derive::{TestCase, TestStep};
use iolite_lts::{LabelId, LabelKind};

use crate::drawing::{colour, quote};

/// The test case as a DOT graph: stimuli solid, observations dashed, verdicts coloured.
pub fn write(case: &TestCase) -> String {
    let mut out = format!("digraph {} {{\n", quote(case.name()));
    out.push_str("  node [shape=circle, label=\"\"];\n  start [shape=none];\n  start -> s0;\n");
    for (i, state) in case.states().iter().enumerate() {
        let tooltip = if state.locations.is_empty() {
            String::new()
        } else {
            format!(", tooltip={}", quote(&state.locations.join(", ")))
        };
        match state.step {
            TestStep::End => {
                let _ = writeln!(
                    out,
                    "  s{i} [shape=box, label={}, style=filled, fillcolor={}{tooltip}];",
                    quote(state.verdict.name()),
                    quote(colour(state.verdict)),
                );
            }
            _ => {
                let _ = writeln!(out, "  s{i} [label=\"{i}\"{tooltip}];");
            }
        }
    }
    for (i, state) in case.states().iter().enumerate() {
        for (label, target) in state.steps() {
            let style = match case.labels().kind(label) {
                LabelKind::Output | LabelKind::Delta => ", style=dashed",
                _ => "",
            };
            let text = match label {
                LabelId::DELTA => "θ".to_owned(),
                _ => case.labels().text(label),
            };
            let _ = writeln!(
                out,
                "  s{i} -> s{} [label={}{style}];",
                target.index(),
                quote(&text)
            );
        }
    }
    out.push_str("}\n");
    out
}
