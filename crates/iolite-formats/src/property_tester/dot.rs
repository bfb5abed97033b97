//! Testers of properties as drawings.

use std::fmt::Write as _;

use super::{TesterDocument, grouped};
use crate::dot::quoted;

/// The tester as DOT, verdicts coloured.
pub fn write(document: &TesterDocument) -> String {
    let mut text = String::from("digraph tester {\n  rankdir=LR;\n  node [style=filled];\n");
    text += "  start [shape=point];\n  start -> 0;\n";
    for (k, state) in document.states.iter().enumerate() {
        let colour = match state.verdict.as_str() {
            "pass" | "weak-pass" => "palegreen",
            "fail" | "weak-fail" => "lightcoral",
            "inconc" => "lightyellow",
            _ => "white",
        };
        let label = format!("{} {}", state.name, state.verdict);
        let _ = writeln!(
            text,
            "  {k} [shape=box, fillcolor={colour}, label={}];",
            quoted(&label)
        );
        for (target, actions) in grouped(state) {
            let _ = writeln!(
                text,
                "  {k} -> {target} [label={}];",
                quoted(&actions.join(", "))
            );
        }
    }
    text + "}\n"
}
