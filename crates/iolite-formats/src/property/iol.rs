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
