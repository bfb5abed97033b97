//! A trace that determines a property negatively.

use crate::definitions::streett::{check_table, no_continuation};
use crate::format::document::{Certificate, Observation, Property};
use crate::{LETTERS_OF_VALUES, Outcome, Report, rejected};

/// Whether no continuation of the trace, finite or infinite, is in Π [PROP12, def. 1 and 14]; or the
/// system is silent where the trace is not in Π [PROP12, §8].
pub(crate) fn check(certificate: &Certificate, report: &mut Report) -> Outcome<()> {
    let Some(property) = &certificate.property else {
        return rejected("the property is missing");
    };
    check_table(property)?;
    let others = certificate.specification.is_some() || certificate.implementation.is_some();
    if others || !certificate.observers.is_empty() || certificate.traces.is_some() {
        return rejected("a property judges alone, without models");
    }
    if certificate.complete_inputs.is_some()
        || certificate.context != "synchronous"
        || !certificate.channels.is_empty()
    {
        return rejected("a property judges what was observed, in the order of observation");
    }
    if certificate.implementation_location.is_some()
        || !certificate.locations.is_empty()
        || !certificate.allowed.is_empty()
    {
        return rejected("a property has no places and nothing that is allowed");
    }
    crate::definitions::system::Policy::parse(&certificate.quiescence)?;
    // [PROP12, §6]: one execution outside Π refutes inclusion and equality; of the other relations it
    // says something of itself only, and nothing of what is to be implemented.
    let right = match property.relation.as_str() {
        "inclusion" | "equality" => "fail",
        "non-disjointness" => "weak-fail",
        other => return rejected(format!("`{other}` is no relation to a property")),
    };
    if certificate.verdict != right {
        let verdict = &certificate.verdict;
        return rejected(format!("the verdict is `{right}`, not `{verdict}`"));
    }
    let observed = match &certificate.observed {
        None => None,
        Some(Observation::Action(action)) => Some(action),
        Some(Observation::Refusal(_)) => return rejected("a property sees no refusals"),
    };
    let events: Vec<&String> = certificate.trace.iter().chain(observed).collect();
    let own_delta = letter(property, "delta").is_some();
    let mut at = property.initial;
    let mut unseen = 0;
    for event in &events {
        let text = match event.as_str() {
            "deadlock" if own_delta => "delta",
            text => text,
        };
        match letter(property, text) {
            Some(letter) => at = property.rows[at][letter],
            None => unseen += 1,
        }
    }
    let steps = events.len();
    report
        .confirmed
        .push(format!("trace: {steps} steps of the property's automaton"));
    if !property.values.is_empty() {
        report.told.push(LETTERS_OF_VALUES.to_owned());
    }
    let silences = || {
        events
            .iter()
            .filter(|e| matches!(e.as_str(), "delta" | "deadlock"))
            .count()
    };
    if unseen > silences() {
        report
            .told
            .push("events that the property does not see".to_owned());
    }
    let silent = match events.last().map(|e| e.as_str()) {
        // More inputs may follow an output-lock, so only a relation of all executions minds it.
        Some("delta") => !own_delta && right == "fail",
        Some("deadlock") => !own_delta,
        _ => false,
    };
    if silent && !property.finite.contains(&at) {
        let how = format!("verdict: {right}, the system is silent outside the property");
        report.confirmed.push(how);
        return Ok(());
    }
    no_continuation(property, at)?;
    report.confirmed.push(format!(
        "verdict: {right}, no continuation is in the property"
    ));
    Ok(())
}

/// The letter of an event; a property may leave its direction away.
fn letter(property: &Property, text: &str) -> Option<usize> {
    let find = |text: &str| property.letters.iter().position(|l| l == text);
    let valued = || find(property.values.get(text)?);
    let whole = valued().or_else(|| find(text));
    whole.or_else(|| find(text.trim_start_matches(['?', '!'])))
}
