//! The class of an r-property, finite and infinite sequences together [PROP12, def. 5].
//!
//! Definition 5 asks for one ψ behind both parts: Π = (`A_f(ψ)`, A(ψ)) is safety, and so on. So a
//! property may lie higher than its infinite sequences alone. Π₂ = (`E_f(ψ₂)`, E(ψ₂)) of example 3 is
//! guarantee, although a·b·Σ^ω is closed as well: its finite sequences are those with a prefix in ψ₂,
//! which no safety r-property has. Π₃ = (`R_f(ψ₂)`, R(ψ₂)) is response, although {(a·b)^ω} is closed.
//!
//! ψ need not be searched for. If φ is the finitary part of such a pair, X(φ) is its infinitary part: `A_f(ψ)` is the
//! largest prefix-closed part of ψ and A cannot tell them apart; `E_f` dually; `R_f(ψ)` leaves out sequences with finitely
//! many continuations in ψ, of which an infinite sequence with infinitely many prefixes in ψ has none; `P_f` leaves out those
//! from which no run stays in ψ. Of A and E, φ must be closed as well. Of R and P nothing is asked of φ, since
//! neither `R_f` nor `P_f` is idempotent: `R_f`(ε + a*·b) is {ε}, and `R_f`({ε}) is empty. In the automata view of definition 5
//! it is plain to see: with P = ∅ the finite sequences are those that end in R, whatever R is.

use crate::class::{Chains, Class};
use crate::cycles::components;
use crate::finitary_part::induced;
use crate::state_set::StateSet;
use crate::streett::{Pair, StreettAutomaton};
use crate::structure::AutomatonError;

/// The lowest class that has the r-property of an automaton.
///
/// Finite sequences that are left open may count either way. Where neither gives the form of one
/// class, a property that says of finite sequences only what its infinite ones induce has the class of
/// these (`infinitary`); any other is a Boolean combination, told as reactivity with the m of the
/// infinitary part, since the paper gives finite sequences none.
pub(crate) fn of_both_parts(
    automaton: &StreettAutomaton,
    infinitary: Class,
) -> Result<Class, AutomatonError> {
    let automaton = automaton.reachable_part();
    let candidates = [automaton.finite().clone(), automaton.accepted()];
    let mut found: Vec<Class> = Vec::new();
    for finite in &candidates[..if automaton.open().is_empty() { 1 } else { 2 }] {
        found.extend(of_one_form(&automaton, finite)?);
    }
    if let Some(class) = found.into_iter().min() {
        return Ok(class);
    }
    if matches!(infinitary, Class::Response | Class::Persistence) {
        let same = induced(&automaton)
            .and_then(|i| automaton.finitary_difference(&i))
            .is_ok_and(|difference| difference.is_none());
        if same {
            return Ok(infinitary);
        }
    }
    Ok(match infinitary {
        Class::Reactivity(m) => Class::Reactivity(m),
        _ => Class::Reactivity(1),
    })
}

/// The lowest class below reactivity whose form the pair has, with these states for the finitary part.
fn of_one_form(
    automaton: &StreettAutomaton,
    finite: &StateSet,
) -> Result<Option<Class>, AutomatonError> {
    let s = automaton.structure();
    let none = || StateSet::empty(s.len());
    let means = |recurrent: StateSet, persistent: StateSet| {
        let pair = Pair {
            recurrent,
            persistent,
        };
        let form = StreettAutomaton::new(s.clone(), vec![pair])?;
        Ok::<_, AutomatonError>(form.infinitary_difference(automaton)?.is_none())
    };
    // With finite sequences judged alike on each component, R, P and (in a prefix-closed or
    // extension-closed set) A and E are the same.
    let parts = components(s);
    let uniform = parts.iter().all(|c| {
        c.iter()
            .all(|&q| finite.contains(q) == finite.contains(c[0]))
    });
    if uniform {
        if !means(none(), finite.clone())? {
            return Ok(None);
        }
        let parts: Vec<_> = parts.iter().collect();
        let verdict = |i: usize| Some(finite.contains(parts[i][0]));
        return Ok(Some(Chains::new(s, &parts, verdict).class().class));
    }
    if means(finite.clone(), none())? {
        return Ok(Some(Class::Response));
    }
    if means(none(), finite.clone())? {
        return Ok(Some(Class::Persistence));
    }
    Ok(None)
}
