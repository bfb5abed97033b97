//! The lists of a certificate, what was allowed and where, compared with what was found.

use std::collections::BTreeSet;

use crate::definitions::system::{States, System};
use crate::format::document::{Certificate, Observation};
use crate::{Outcome, Report, rejected};

/// The actions of a list that must hold nothing else.
pub(crate) fn actions(list: &[Observation]) -> Outcome<Vec<String>> {
    let action = |o: &Observation| match o {
        Observation::Action(action) => Ok(action.clone()),
        Observation::Refusal(_) => rejected("allowed: a refusal among actions"),
    };
    list.iter().map(action).collect()
}

/// Compares a list with what was found: as a set it must be that; order and repetition are noted.
pub(crate) fn check_list<T: Ord + Clone>(
    what: &str,
    told: &[T],
    found: &BTreeSet<T>,
    show: impl Fn(&T) -> String,
    report: &mut Report,
) -> Outcome<()> {
    if let Some(wrong) = told.iter().find(|item| !found.contains(item)) {
        return rejected(format!("{what}: {} is not among them", show(wrong)));
    }
    if let Some(missing) = found.iter().find(|item| !told.contains(item)) {
        return rejected(format!("{what}: {} is missing", show(missing)));
    }
    if told.len() > found.len() {
        report
            .notes
            .push(format!("{what}: something is there twice"));
    }
    report
        .confirmed
        .push(format!("{what}: all of it, and no more"));
    Ok(())
}

/// The places are those of the specification after the trace, all of them, and of the observers.
pub(crate) fn check_locations(
    certificate: &Certificate,
    s: &System,
    at: &States,
    observers: Vec<String>,
    report: &mut Report,
) -> Outcome<()> {
    let found = at.iter().map(|&state| s.state(state).to_string());
    let found: BTreeSet<String> = found.chain(observers).collect();
    check_list(
        "locations",
        &certificate.locations,
        &found,
        Clone::clone,
        report,
    )
}
