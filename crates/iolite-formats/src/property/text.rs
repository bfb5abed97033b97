//! Properties as text for people.

use std::fmt::Write as _;

use iolite_property::{Partition, StreettAutomaton};

use super::{marks, steps};

/// The states with their part of the partition, and the transitions.
pub fn write(automaton: &StreettAutomaton) -> String {
    let s = automaton.structure();
    let partition = Partition::new(automaton);
    let mut text = String::new();
    for q in s.states() {
        let initial = if q == s.initial() { "initial, " } else { "" };
        let marks = marks(automaton, q);
        let marks = if marks.is_empty() {
            String::new()
        } else {
            format!(", in {}", marks.join(" "))
        };
        let _ = writeln!(
            text,
            "state {}: {initial}{}{marks}",
            automaton.name(q),
            partition.quality(q)
        );
        for (to, actions) in steps(automaton, q) {
            let _ = writeln!(text, "  {} -> {}", actions.join(", "), automaton.name(to));
        }
    }
    text
}
