//! Drawings as `PlantUML` state diagrams.

use std::fmt::Write as _;

use super::{Drawing, Meaning};

/// The text of a state diagram.
pub fn write(drawing: &Drawing) -> String {
    let mut text = String::from("@startuml\nhide empty description\n");
    let _ = writeln!(text, "title {}", escaped(&drawing.title));
    for (k, node) in drawing.nodes.iter().enumerate() {
        let border = if node.accepting { ";line.bold" } else { "" };
        let fill = match node.meaning {
            Meaning::Plain if border.is_empty() => String::new(),
            meaning => format!(" #{}{border}", meaning.fill()),
        };
        let _ = writeln!(text, "state \"{}\" as n{k}{fill}", escaped(&node.name));
    }
    if let Some(initial) = drawing.initial {
        let _ = writeln!(text, "[*] --> n{}", initial.index());
    }
    for (source, target, edges) in drawing.merged() {
        let labels: Vec<String> = edges.iter().map(|e| escaped(&e.label)).collect();
        let _ = writeln!(
            text,
            "n{} --> n{} : {}",
            source.index(),
            target.index(),
            labels.join("\\n")
        );
    }
    text + "@enduml\n"
}

/// What the language of `PlantUML` could take for a quote, a line break, markup or a command, as a
/// Unicode escape.
fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() => result.push(' '),
            '"' | '\\' | '<' | '>' | '~' | '*' | '_' | '@' | '%' | '$' | '#' | '&' | '`' => {
                let _ = write!(result, "<U+{:04X}>", u32::from(c));
            }
            c => result.push(c),
        }
    }
    result
}
