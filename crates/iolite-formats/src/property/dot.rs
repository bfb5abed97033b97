//! Properties as drawings.

use std::fmt::Write as _;

use iolite_property::{Partition, Quality, StreettAutomaton};

use super::{marks, steps};
use crate::dot::quoted;

/// A property as DOT: a colour for each part of the partition, double circles where finite sequences are
/// accepted, and the sets of the pairs that a state is in.
pub fn write(automaton: &StreettAutomaton) -> String {
    let s = automaton.structure();
    let partition = Partition::new(automaton);
    let mut text = String::from("digraph property {\n  rankdir=LR;\n  node [style=filled];\n");
    let _ = writeln!(
        text,
        "  start [shape=point];\n  start -> {};",
        quoted(&automaton.name(s.initial()))
    );
    for q in s.states() {
        let colour = match partition.quality(q) {
            Quality::Good => "palegreen",
            Quality::CurrentlyGood => "honeydew",
            Quality::CurrentlyBad => "mistyrose",
            Quality::Bad => "lightcoral",
        };
        let shape = if automaton.finite().contains(q) {
            "doublecircle"
        } else {
            "circle"
        };
        let name = automaton.name(q);
        let label = match marks(automaton, q) {
            marks if marks.is_empty() => name.clone(),
            marks => format!("{name}\n{}", marks.join(" ")),
        };
        let _ = writeln!(
            text,
            "  {} [shape={shape}, fillcolor={colour}, label={}];",
            quoted(&name),
            quoted(&label)
        );
        for (to, actions) in steps(automaton, q) {
            let _ = writeln!(
                text,
                "  {} -> {} [label={}];",
                quoted(&name),
                quoted(&automaton.name(to)),
                quoted(&actions.join(", "))
            );
        }
    }
    text + "}\n"
}
