//! Mealy and Moore machines as systems with inputs and outputs.
//!
//! An edge `a/x` from s to t becomes `?a` into a state between, and `!x` from there to t. An output
//! that the user calls silent is no output at all: the step `?a` leads straight to t, and that
//! nothing follows is quiescence.

use iolite_lang::{Diagnostic, codes};
use iolite_lts::{LabelKind, StateId};

use super::graph::{Edge, Graph, Text};
use super::{Acceptor, Frame, has_many_errors, plain_label};

/// How the outputs of a machine are understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MealyOptions {
    /// Outputs that stand for silence, such as `epsilon`.
    pub silent_outputs: Vec<String>,
}

/// Input alternatives and output of a Mealy label.
///
/// A plain label is split at its first slash. The automata wiki's markup is `inputs<br />output`,
/// where the inputs that lead along the same edge are joined by ` | `.
pub(super) fn split(label: &Text) -> Option<(Vec<String>, String)> {
    let (inputs, output) = match label {
        Text::Plain(text) => {
            let (input, output) = text.split_once('/')?;
            (vec![input.trim().to_owned()], output.trim().to_owned())
        }
        Text::Html(markup) => {
            let (inputs, output) = split_at_break(markup)?;
            let inputs = inputs.split(" | ").map(|i| entities(i.trim())).collect();
            (inputs, entities(output.trim()))
        }
    };
    let filled = !output.is_empty() && inputs.iter().all(|i: &String| !i.is_empty());
    filled.then_some((inputs, output))
}

/// Cuts markup at its only tag, which must be a line break.
fn split_at_break(markup: &str) -> Option<(&str, &str)> {
    let (before, rest) = markup.split_once('<')?;
    let (tag, after) = rest.split_once('>')?;
    let is_break = tag.trim_end_matches('/').trim().eq_ignore_ascii_case("br");
    (is_break && !after.contains('<')).then_some((before, after))
}

fn entities(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

fn steps(
    frame: &mut Frame,
    edge: &Edge,
    (source, target): (StateId, StateId),
    input: &str,
    output: &str,
    options: &MealyOptions,
) {
    let a = frame.builder.label(LabelKind::Input, bare(input, '?'));
    if options.silent_outputs.iter().any(|s| s == output) {
        frame.builder.transition(source, a, target);
        return;
    }
    let x = frame.builder.label(LabelKind::Output, bare(output, '!'));
    let between = frame.builder.state();
    let line = frame.lines.line(edge.span.start);
    let name = format!("{line}:{input}");
    frame.builder.set_name(between, &name);
    frame.builder.set_line(between, line);
    frame.builder.transition(source, a, between);
    frame.builder.transition(between, x, target);
}

/// Some machines write `?a/!x`; the marks are not part of the names.
fn bare(text: &str, sigil: char) -> &str {
    text.strip_prefix(sigil)
        .filter(|t| !t.is_empty())
        .unwrap_or(text)
}

pub(super) fn mealy(
    graph: &Graph,
    mut frame: Frame,
    options: &MealyOptions,
    found: &mut Vec<Diagnostic>,
) -> Option<Acceptor> {
    for edge in &graph.edges {
        let Some(ends) = frame.ends(edge) else {
            continue;
        };
        if has_many_errors(found) {
            break;
        }
        let Some(label) = edge.label.as_ref().filter(|l| !l.is_empty()) else {
            plain_label(edge, found);
            continue;
        };
        match (split(label), label) {
            (Some((inputs, output)), _) => {
                for input in inputs {
                    steps(&mut frame, edge, ends, &input, &output, options);
                }
            }
            (None, Text::Html(_)) => found.push(Diagnostic::error(
                codes::DOT_HTML,
                edge.span,
                "the markup is not of the form `<input<br />output>`",
            )),
            (None, Text::Plain(_)) => found.push(
                Diagnostic::error(
                    codes::MEALY_LABEL,
                    edge.span,
                    "the label is not of the form `input/output`",
                )
                .hint("is this file a Moore machine, or an IOLTS?"),
            ),
        }
    }
    frame.build(found)
}

pub(super) fn moore(
    graph: &Graph,
    mut frame: Frame,
    options: &MealyOptions,
    found: &mut Vec<Diagnostic>,
) -> Option<Acceptor> {
    for edge in &graph.edges {
        let Some(ends) = frame.ends(edge) else {
            continue;
        };
        if has_many_errors(found) {
            break;
        }
        let Some(input) = plain_label(edge, found) else {
            continue;
        };
        let node = &graph.nodes[edge.target];
        match &node.attributes.label {
            Some(Text::Plain(output)) if !output.trim().is_empty() => {
                steps(&mut frame, edge, ends, input.trim(), output.trim(), options);
            }
            _ => found.push(Diagnostic::error(
                codes::MEALY_LABEL,
                node.span,
                format!("state `{}` of the Moore machine has no output", node.id),
            )),
        }
    }
    frame.build(found)
}
