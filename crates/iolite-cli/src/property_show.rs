//! A property's automaton, in words and in many formats.

use std::fmt::Write as _;

use iolite_formats::hoa;
use iolite_formats::javapt::{self, JavaPtProperty};
use iolite_property::{Partition, Quality, StateId, StateSet, StreettAutomaton};
use serde::Serialize;

use super::Failure;

/// How an automaton is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum PropertyFormat {
    /// The states with their part of the partition, and the transitions
    Text,
    /// Hanoi Omega-Automata
    Hoa,
    /// Java-PT's XML
    Xml,
    Dot,
    Json,
    /// A `property … = streett { … }` declaration
    Iol,
}

/// The word for a part, in JSON.
pub(super) fn quality_name(quality: Quality) -> &'static str {
    match quality {
        Quality::Good => "good",
        Quality::CurrentlyGood => "currently-good",
        Quality::CurrentlyBad => "currently-bad",
        Quality::Bad => "bad",
    }
}

/// Prints an automaton.
pub(super) fn write(
    automaton: &StreettAutomaton,
    name: &str,
    description: &str,
    format: PropertyFormat,
) -> Result<String, Failure> {
    Ok(match format {
        PropertyFormat::Text => text(automaton),
        PropertyFormat::Hoa => hoa::write(automaton, name),
        PropertyFormat::Xml => {
            let property = JavaPtProperty {
                automaton: automaton.clone(),
                description: description.to_owned(),
            };
            javapt::write(&property).map_err(|e| Failure::input(format!("{name}: {e}")))?
        }
        PropertyFormat::Dot => dot(automaton),
        PropertyFormat::Json => {
            let text = serde_json::to_string_pretty(&document(automaton, name));
            text.map_err(|e| Failure::fault(format!("writing JSON: {e}")))? + "\n"
        }
        PropertyFormat::Iol => iol(automaton, name)?,
    })
}

#[derive(Serialize)]
pub(super) struct AutomatonDocument {
    name: String,
    alphabet: Vec<String>,
    initial: String,
    states: Vec<StateDocument>,
    transitions: Vec<TransitionDocument>,
    pairs: Vec<PairDocument>,
    /// Whether finite sequences are accepted as the pairs say (definition 3).
    finite_by_pairs: bool,
}

#[derive(Serialize)]
struct StateDocument {
    name: String,
    part: &'static str,
    accepts_finite: bool,
}

#[derive(Serialize)]
struct TransitionDocument {
    source: String,
    action: String,
    target: String,
}

#[derive(Serialize)]
struct PairDocument {
    recurrent: Vec<String>,
    persistent: Vec<String>,
}

/// The names of a set's states.
pub(super) fn names(automaton: &StreettAutomaton, set: &StateSet) -> Vec<String> {
    set.iter().map(|q| automaton.name(q)).collect()
}

pub(super) fn document(automaton: &StreettAutomaton, name: &str) -> AutomatonDocument {
    let (s, sigma) = (automaton.structure(), automaton.alphabet());
    let partition = Partition::new(automaton);
    AutomatonDocument {
        name: name.to_owned(),
        alphabet: sigma.iter().map(|l| sigma.text(l)).collect(),
        initial: automaton.name(s.initial()),
        states: s
            .states()
            .map(|q| StateDocument {
                name: automaton.name(q),
                part: quality_name(partition.quality(q)),
                accepts_finite: automaton.finite().contains(q),
            })
            .collect(),
        transitions: s
            .states()
            .flat_map(|q| sigma.iter().map(move |l| (q, l)))
            .map(|(q, l)| TransitionDocument {
                source: automaton.name(q),
                action: sigma.text(l),
                target: automaton.name(s.step(q, l)),
            })
            .collect(),
        pairs: automaton
            .pairs()
            .iter()
            .map(|p| PairDocument {
                recurrent: names(automaton, &p.recurrent),
                persistent: names(automaton, &p.persistent),
            })
            .collect(),
        finite_by_pairs: automaton.follows_definition_3(),
    }
}

/// The steps of a state, with the actions that lead to the same state together.
fn steps(automaton: &StreettAutomaton, q: StateId) -> Vec<(StateId, Vec<String>)> {
    let (s, sigma) = (automaton.structure(), automaton.alphabet());
    let mut steps: Vec<(StateId, Vec<String>)> = Vec::new();
    for l in sigma.iter() {
        let to = s.step(q, l);
        match steps.iter_mut().find(|(t, _)| *t == to) {
            Some((_, actions)) => actions.push(sigma.text(l)),
            None => steps.push((to, vec![sigma.text(l)])),
        }
    }
    steps
}

/// `R1 P2`: the sets that a state is in.
fn marks(automaton: &StreettAutomaton, q: StateId) -> Vec<String> {
    let mut marks = Vec::new();
    for (i, p) in automaton.pairs().iter().enumerate() {
        if p.recurrent.contains(q) {
            marks.push(format!("R{}", i + 1));
        }
        if p.persistent.contains(q) {
            marks.push(format!("P{}", i + 1));
        }
    }
    marks
}

fn text(automaton: &StreettAutomaton) -> String {
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

/// A string in DOT's quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn dot(automaton: &StreettAutomaton) -> String {
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
            quoted(&label).replace('\n', "\\n")
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

/// Whether a text is a name that needs no quotes.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn action(text: &str) -> String {
    match text.split_at_checked(1) {
        _ if text == "delta" => text.to_owned(),
        Some((sigil @ ("?" | "!"), name)) if is_plain(name) => format!("{sigil}{name}"),
        Some((sigil @ ("?" | "!"), name)) => format!("{sigil}{}", quoted(name)),
        _ if is_plain(text) => text.to_owned(),
        _ => quoted(text),
    }
}

fn iol(automaton: &StreettAutomaton, name: &str) -> Result<String, Failure> {
    if !automaton.follows_definition_3() {
        return Err(Failure::input(format!(
            "{name}: the finite acceptance is not that of the pairs, which `streett` cannot say"
        ))
        .hint("--format hoa or json keeps it"));
    }
    let (s, sigma) = (automaton.structure(), automaton.alphabet());
    let state = |q: StateId| {
        let name = automaton.name(q);
        if is_plain(&name) { name } else { quoted(&name) }
    };
    let identifier = if is_plain(name) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        name
    } else {
        "P"
    };
    let letters: Vec<String> = sigma.iter().map(|l| action(&sigma.text(l))).collect();
    let mut text = format!(
        "property {identifier} over {{ {} }} = streett {{\n",
        letters.join(", ")
    );
    for q in s.states() {
        let initial = if q == s.initial() { "initial " } else { "" };
        let _ = writeln!(text, "  {initial}state {} {{", state(q));
        let steps = steps(automaton, q);
        // The largest group is what is left.
        let rest = steps.iter().max_by_key(|(_, a)| a.len()).map(|(to, _)| *to);
        for (to, actions) in &steps {
            if Some(*to) != rest || actions.len() == 1 {
                let actions: Vec<String> = actions.iter().map(|a| action(a)).collect();
                let _ = writeln!(text, "    {} -> {}", actions.join(", "), state(*to));
            }
        }
        if let Some((to, _)) = steps
            .iter()
            .find(|(to, actions)| Some(*to) == rest && actions.len() > 1)
        {
            let _ = writeln!(text, "    * -> {}", state(*to));
        }
        text.push_str("  }\n");
    }
    let list = |set: &StateSet| set.iter().map(state).collect::<Vec<_>>().join(", ");
    for p in automaton.pairs() {
        let _ = writeln!(
            text,
            "  pair recurrent {{{}}} persistent {{{}}}",
            list(&p.recurrent),
            list(&p.persistent)
        );
    }
    Ok(text + "}\n")
}
