//! Failing runs that fail in the same way, and what an earlier campaign had of them.

use std::collections::BTreeMap;

use iolite_exec::{Event, Journal};

use crate::runs::brief;

/// Runs of a group that are named.
const MOST_NAMED: usize = 20;

/// Different observations of a group that are shown.
const MOST_OBSERVED: usize = 3;

/// How runs fail: the verdict, where, and what was observed. Of a model with data values are left out, since every run has
/// its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    pub(crate) verdict: String,
    pub(crate) places: Vec<String>,
    pub(crate) observed: String,
}

/// The runs of a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    pub(crate) count: u64,
    /// The first of them.
    pub(crate) runs: Vec<u64>,
    /// What was observed, each once; the first of them.
    pub(crate) observed: Vec<String>,
    /// What was allowed there.
    pub(crate) allowed: Vec<String>,
    /// Whether one of them is flaky: it did not fail again.
    pub(crate) flaky: bool,
}

impl Members {
    /// What was observed, for people.
    pub(crate) fn tell_observed(&self) -> String {
        let more = self.observed.len() > MOST_OBSERVED;
        let shown = self.observed.iter().take(MOST_OBSERVED).cloned();
        let shown: Vec<String> = shown.chain(more.then(|| "…".to_owned())).collect();
        shown.join("   ")
    }
}

/// The location of a symbolic state, `Out (n = 3) when limit > 3`; any other place is what it is.
fn location(place: &str) -> &str {
    let place = place.split(" when ").next().unwrap_or(place);
    match place.split_once(" (") {
        Some((name, values)) if values.contains(" = ") => name,
        _ => place,
    }
}

/// The locations of places, each once.
fn named(places: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for place in places {
        let name = location(place);
        if !names.iter().any(|n| n == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Failing and flaky runs by the way they fail.
pub(crate) fn groups(events: &[Event]) -> BTreeMap<Group, Members> {
    let mut groups: BTreeMap<Group, Members> = BTreeMap::new();
    for event in events {
        let Event::RunEnded {
            run,
            verdict,
            certificate: Some(certificate),
            ..
        } = event
        else {
            continue;
        };
        let observed = certificate.observed.as_deref();
        let observed = observed.unwrap_or("the end of the run");
        let mut group = Group {
            verdict: verdict.name().to_owned(),
            places: certificate.locations.clone(),
            observed: brief(observed),
        };
        if group.places.iter().any(|place| location(place) != place) {
            group.places = named(&group.places);
            let name = observed.split('(').next().unwrap_or(observed);
            group.observed = brief(name);
        }
        let members = groups.entry(group).or_default();
        let shown = brief(observed);
        if !members.observed.contains(&shown) && members.observed.len() <= MOST_OBSERVED {
            members.observed.push(shown);
        }
        members.count += 1;
        members.flaky |= verdict.name() == "flaky";
        if members.allowed.is_empty() {
            members.allowed = certificate.allowed.iter().map(|a| brief(a)).collect();
        }
        if members.runs.len() < MOST_NAMED {
            members.runs.push(*run);
        }
    }
    groups
}

/// What changed since an earlier campaign.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Verdicts with their number then and now.
    pub(crate) verdicts: BTreeMap<String, (u64, u64)>,
    /// Ways to fail that are new.
    pub(crate) new: Vec<Group>,
    /// Ways to fail that are gone.
    pub(crate) gone: Vec<Group>,
    /// Ways to fail that were there before.
    pub(crate) still: usize,
    /// Why the two cannot be compared run by run, where they cannot.
    pub(crate) difference: Option<String>,
    /// Runs with another verdict: number, then, now; the first of them. Only where runs of the same
    /// number are the same run.
    pub(crate) changed: Vec<(u64, String, String)>,
}

fn verdicts(events: &[Event]) -> BTreeMap<u64, String> {
    let verdict = |event: &Event| match event {
        Event::RunEnded { run, verdict, .. } => Some((*run, verdict.name().to_owned())),
        Event::Fault { run, .. } => Some((*run, "fault".to_owned())),
        _ => None,
    };
    events.iter().filter_map(verdict).collect()
}

impl Changes {
    /// From an earlier campaign to this one.
    pub(crate) fn between(before: &Journal, now: &Journal) -> Self {
        let mut changes = Self::default();
        let (old, new) = (verdicts(&before.events), verdicts(&now.events));
        for verdict in old.values() {
            changes.verdicts.entry(verdict.clone()).or_default().0 += 1;
        }
        for verdict in new.values() {
            changes.verdicts.entry(verdict.clone()).or_default().1 += 1;
        }
        let (was, is) = (groups(&before.events), groups(&now.events));
        changes.new = is
            .keys()
            .filter(|g| !was.contains_key(g))
            .cloned()
            .collect();
        changes.gone = was
            .keys()
            .filter(|g| !is.contains_key(g))
            .cloned()
            .collect();
        changes.still = is.keys().filter(|g| was.contains_key(g)).count();
        let difference = before.header.difference(&now.header);
        changes.difference =
            difference.map(|d| format!("{} was {} and is {}", d.what, d.one, d.other));
        if changes.difference.is_none() {
            let both = old.iter().filter_map(|(run, was)| {
                let is = new.get(run).filter(|is| *is != was)?;
                Some((*run, was.clone(), is.clone()))
            });
            changes.changed = both.take(100).collect();
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_without_their_values() {
        assert_eq!(location("Out (user = \"(\", wrong = 0)"), "Out");
        assert_eq!(location("Out (n = 3) when limit > 3"), "Out");
        assert_eq!(location("Out when limit > 3"), "Out");
        // A state of a model without data, with its line.
        assert_eq!(location("Out (line 12)"), "Out (line 12)");
        let places = ["A (n = 1)", "A (n = 2)", "B (n = 1)"].map(str::to_owned);
        assert_eq!(named(&places), ["A", "B"]);
    }
}
