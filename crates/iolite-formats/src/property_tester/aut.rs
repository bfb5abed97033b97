//! Testers of properties as Aldebaran graphs.

use super::TesterDocument;
use crate::dot::quoted;

/// The tester in Aldebaran form. A state with a verdict has a loop that is labelled with it.
pub fn write(document: &TesterDocument) -> String {
    let mut lines = Vec::new();
    for (k, state) in document.states.iter().enumerate() {
        for step in &state.steps {
            lines.push(format!("({k}, {}, {})", quoted(&step.action), step.target));
        }
        if state.verdict != "unknown" {
            lines.push(format!("({k}, {}, {k})", quoted(&state.verdict)));
        }
    }
    let mut text = format!("des (0, {}, {})\n", lines.len(), document.states.len());
    for line in lines {
        text += &line;
        text.push('\n');
    }
    text
}
