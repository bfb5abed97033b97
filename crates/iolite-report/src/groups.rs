//! Failing runs that fail in the same way, and what an earlier campaign had of them.

use std::collections::BTreeMap;

use iolite_exec::{Event, Journal};

use crate::runs::brief;

/// Runs of a group that are named.
const MOST_NAMED: usize = 20;

/// How runs fail: the verdict, where, and what was observed.
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
    /// What was allowed there.
    pub(crate) allowed: Vec<String>,
    /// Whether one of them is flaky: it did not fail again.
    pub(crate) flaky: bool,
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
        let group = Group {
            verdict: verdict.name().to_owned(),
            places: certificate.locations.clone(),
            observed: brief(observed.unwrap_or("the end of the run")),
        };
        let members = groups.entry(group).or_default();
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
