//! Drawings as Mermaid flowcharts, for wikis and Markdown pages.

use std::fmt::Write as _;

use super::{Drawing, Meaning};

/// The text of a flowchart. Names and labels stand in quotes with HTML entities, which is the one
/// escape that Mermaid knows.
pub fn write(drawing: &Drawing) -> String {
    let mut text = String::from("flowchart TD\n");
    let _ = writeln!(text, "  %% {}", comment(&drawing.title));
    if let Some(initial) = drawing.initial {
        let _ = writeln!(text, "  start(( )) --> n{}", initial.index());
    }
    for (k, node) in drawing.nodes.iter().enumerate() {
        let name = quoted(&node.name);
        let _ = if node.is_box {
            writeln!(text, "  n{k}[{name}]")
        } else if node.accepting {
            writeln!(text, "  n{k}((({name})))")
        } else {
            writeln!(text, "  n{k}([{name}])")
        };
    }
    for (source, target, edges) in drawing.merged() {
        let labels: Vec<String> = edges.iter().map(|e| entities(&e.label)).collect();
        let _ = writeln!(
            text,
            "  n{} -->|\"{}\"| n{}",
            source.index(),
            labels.join("<br>"),
            target.index()
        );
    }
    for meaning in Meaning::ALL {
        let of: Vec<String> = drawing
            .ids()
            .filter(|&id| meaning != Meaning::Plain && drawing.node(id).meaning == meaning)
            .map(|id| format!("n{}", id.index()))
            .collect();
        if !of.is_empty() {
            let (class, fill) = (meaning.class(), meaning.fill());
            let _ = writeln!(text, "  classDef {class} fill:#{fill},stroke:#333");
            let _ = writeln!(text, "  class {} {class}", of.join(","));
        }
    }
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", entities(text))
}

/// Everything that Mermaid could take for syntax as an entity.
fn entities(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() => result.push(' '),
            '"' | '&' | '<' | '>' | '#' | ';' | '`' | '\\' | '|' | '{' | '}' | '[' | ']' | '*'
            | '_' | '~' => {
                let _ = write!(result, "#{};", u32::from(c));
            }
            c => result.push(c),
        }
    }
    result
}

fn comment(text: &str) -> String {
    let plain = |c: char| {
        if c.is_control() || "{}%".contains(c) {
            ' '
        } else {
            c
        }
    };
    text.chars().map(plain).collect()
}
