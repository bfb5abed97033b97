//! A property's certificate looked at again: by the automaton's steps and the definitions alone.

use std::sync::Arc;

use iolite_derive::Verdict;
use iolite_exec::Certificate;
use iolite_lts::LabelId;
use iolite_lts::relation::Recheck;
use iolite_property::{StateId, StreettAutomaton, Structure};

use crate::Error;

/// Whether the trace determines the property negatively [PROP12, def. 1 and 14]: no
/// continuation, finite or infinite, is in Π; or the system is silent where the trace is not in Π.
///
/// A continuation is looked for in the automaton that starts where the trace ends, by a search of its
/// own; neither the partition nor the determinacy that testers rest on is asked.
pub(super) fn recheck(
    automaton: &StreettAutomaton,
    certificate: &Certificate,
) -> Result<Recheck, Error> {
    let refuted = |reason: &str| Ok(Recheck::Refuted(reason.to_owned()));
    if certificate.trace_omitted > 0 {
        return refuted("the run was too long for its certificate; see the journal");
    }
    let (s, sigma) = (automaton.structure(), automaton.alphabet());
    let own_delta = sigma.letter(LabelId::DELTA).is_some();
    let mut at = s.initial();
    let events = || certificate.trace.iter().chain(&certificate.observed);
    for event in events() {
        let text = match event.as_str() {
            "deadlock" if own_delta => "delta",
            text => text,
        };
        let letter = sigma.letter_of_text(text).or_else(|| {
            // A property may leave the direction away.
            sigma.letter_of_text(text.trim_start_matches(['?', '!']))
        });
        if let Some(letter) = letter {
            at = s.step(at, letter);
        }
    }
    let silent = match events().last().map(String::as_str) {
        Some("delta") => !own_delta && certificate.verdict == Verdict::Fail,
        Some("deadlock") => !own_delta,
        _ => false,
    };
    if silent && !automaton.finite().contains(at) {
        return Ok(Recheck::Confirmed);
    }
    if let Some(word) = finite_continuation(automaton, at) {
        return refuted(&format!(
            "after the trace, {word} would still be in the property"
        ));
    }
    let table = s.states().flat_map(|q| s.row(q).to_vec()).collect();
    let wrong = |e| Error::input(format!("{e}"));
    let structure = Structure::new(Arc::clone(sigma), at, table).map_err(wrong)?;
    let rest = StreettAutomaton::new(structure, automaton.pairs().to_vec()).map_err(wrong)?;
    match rest.to_omega().accepted_lasso().map_err(wrong)? {
        Some(word) => refuted(&format!(
            "after the trace, {} would still be in the property",
            word.show(sigma)
        )),
        None => Ok(Recheck::Confirmed),
    }
}

/// A shortest finite continuation that is in Π.
fn finite_continuation(automaton: &StreettAutomaton, from: StateId) -> Option<String> {
    let (s, sigma) = (automaton.structure(), automaton.alphabet());
    let mut seen = vec![false; s.len()];
    seen[from.index()] = true;
    let mut open = std::collections::VecDeque::from([(from, Vec::new())]);
    while let Some((q, word)) = open.pop_front() {
        if automaton.finite().contains(q) {
            return Some(sigma.show(&word));
        }
        for l in sigma.iter() {
            let to = s.step(q, l);
            if !std::mem::replace(&mut seen[to.index()], true) {
                let mut longer = word.clone();
                longer.push(l);
                open.push_back((to, longer));
            }
        }
    }
    None
}
