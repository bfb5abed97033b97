//! Testers of properties as JSON.

use super::TesterDocument;

/// The tester as one JSON document, with a line break at its end.
pub fn write(document: &TesterDocument) -> String {
    let text = serde_json::to_string_pretty(document);
    text.expect("strings and numbers only") + "\n"
}
