//! Properties as declarations of the language.

use std::fmt::Write as _;

use iolite_lang::syntax::{is_plain_name, quote};
use iolite_property::{StateId, StateSet, StreettAutomaton};

use super::steps;
use crate::WriteError;
use crate::iol::plain_or_quoted;

/// An action as events are written; what looks like an internal action or δ and is none gets quotes.
fn action(text: &str) -> String {
    match text.split_at_checked(1) {
        _ if text == "delta" => text.to_owned(),
        Some((sigil @ ("?" | "!"), name)) => format!("{sigil}{}", plain_or_quoted(name)),
        _ if matches!(text, "i" | "tau" | "τ" | "δ") => quote(text),
        _ => plain_or_quoted(text),
    }
}

/// A property as a declaration `property … = streett { … }`.
pub fn write(automaton: &StreettAutomaton, name: &str) -> Result<String, WriteError> {
    if !automaton.follows_definition_3() {
        return Err(WriteError::FiniteAcceptance);
    }
    let (s, sigma) = (automaton.structure(), automaton.alphabet());
    let state = |q: StateId| plain_or_quoted(&automaton.name(q));
    let identifier = if is_plain_name(name) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        name
    } else {
        "P"
    };
    let mut letters: Vec<String> = Vec::new();
    for l in sigma.iter() {
        let letter = match sigma.cell_of(l) {
            // The cells of an action are its guards, which stand at the transitions.
            Some((guarded, _)) => format!("{}{}", guarded.kind().sigil(), guarded.declaration()),
            None => action(&sigma.text(l)),
        };
        if !letters.contains(&letter) {
            letters.push(letter);
        }
    }
    let guarded = |text: &str| {
        let cell = sigma.letter_of_text(text).and_then(|l| sigma.cell_of(l));
        cell.is_some_and(|(a, c)| !a.cells()[c].condition().is_true())
    };
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
                let own = actions.iter().filter(|a| guarded(a));
                for event in own {
                    let _ = writeln!(text, "    {event} -> {}", state(*to));
                }
                let plain = actions.iter().filter(|a| !guarded(a));
                let plain: Vec<String> = plain.map(|a| action(a)).collect();
                if !plain.is_empty() {
                    let _ = writeln!(text, "    {} -> {}", plain.join(", "), state(*to));
                }
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
