//! Testers of properties as text for people.

use std::fmt::Write as _;

use super::{TesterDocument, grouped};

/// The tester in words: each state with its verdict and its steps.
pub fn write(document: &TesterDocument) -> String {
    let what = match &document.target {
        None => "canonical tester".to_owned(),
        Some(target) => format!("test case for {target}"),
    };
    let quiet = if document.quiescence {
        ", with quiescence"
    } else {
        ""
    };
    let mut text = format!(
        "{}: {what}, {}{quiet}\n",
        document.property, document.relation
    );
    for (k, state) in document.states.iter().enumerate() {
        let initial = if k == 0 { " initial," } else { "" };
        let _ = writeln!(text, "state {}:{initial} {}", state.name, state.verdict);
        for (target, actions) in grouped(state) {
            let _ = writeln!(
                text,
                "  {} -> {}",
                actions.join(", "),
                document.states[target].name
            );
        }
    }
    text
}
