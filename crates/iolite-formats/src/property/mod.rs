//! Properties' automata: a Streett automaton as a drawing, as JSON, as a declaration of the language, and
//! as text for people. HOA and Java-PT's XML, which other tools read too, are formats of their own.

pub mod dot;
pub mod iol;
pub mod json;
pub mod text;

use iolite_property::{StateId, StateSet, StreettAutomaton};

/// The names of a set's states.
pub fn state_names(automaton: &StreettAutomaton, set: &StateSet) -> Vec<String> {
    set.iter().map(|q| automaton.name(q)).collect()
}

/// The steps of a state, with the actions that lead to the same state together.
pub(crate) fn steps(automaton: &StreettAutomaton, q: StateId) -> Vec<(StateId, Vec<String>)> {
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
pub(crate) fn marks(automaton: &StreettAutomaton, q: StateId) -> Vec<String> {
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
