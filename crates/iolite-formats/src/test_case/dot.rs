//! Test cases as drawings.

use std::fmt::Write;

use iolite_derive::{TestCase, TestStep};
use iolite_lts::{LabelId, LabelKind};

use super::ending::ending;
use crate::drawing::{colour, quote};

/// The test case as a DOT graph: stimuli solid, observations dashed, verdicts coloured. A state where a
/// run may end on the way says with which verdict; diamonds offer actions to be agreed on, and dotted
/// edges are outputs that come before a stimulus.
pub fn write(case: &TestCase) -> String {
    let mut out = format!("digraph {} {{\n", quote(case.name()));
    out.push_str("  node [shape=circle, label=\"\"];\n  start [shape=none];\n  start -> s0;\n");
    for (i, state) in case.states().iter().enumerate() {
        let tooltip = if state.locations.is_empty() {
            String::new()
        } else {
            format!(", tooltip={}", quote(&state.locations.join(", ")))
        };
        if state.step == TestStep::End {
            let _ = writeln!(
                out,
                "  s{i} [shape=box, label={}, style=filled, fillcolor={}{tooltip}];",
                quote(state.verdict.name()),
                quote(colour(state.verdict)),
            );
            continue;
        }
        let shape = match state.step {
            TestStep::Offer { .. } => ", shape=diamond",
            _ => "",
        };
        let label = match ending(state) {
            Some((what, verdict)) => format!("{i}\n{what}: {verdict}"),
            None => i.to_string(),
        };
        let _ = writeln!(out, "  s{i} [label={}{shape}{tooltip}];", quote(&label));
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
        if let TestStep::Stimulate { preempted, .. } = &state.step {
            for (k, &(label, verdict)) in preempted.iter().enumerate() {
                let text = quote(&case.labels().text(label));
                let (name, fill) = (quote(verdict.name()), quote(colour(verdict)));
                let _ = writeln!(
                    out,
                    "  s{i}_{k} [shape=box, label={name}, style=filled, fillcolor={fill}];"
                );
                let _ = writeln!(out, "  s{i} -> s{i}_{k} [label={text}, style=dotted];");
            }
        }
    }
    out.push_str("}\n");
    out
}
