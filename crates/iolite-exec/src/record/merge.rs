//! Journals of the shares of one campaign, joined to the journal that one process would have written.

use std::collections::BTreeMap;
use std::ops::Range;

use iolite_derive::Verdict;

use crate::record::description::Difference;
use crate::{Description, Event, Journal, JournalHeader, RunId, Share, Summary};

/// Why journals are not joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There is none.
    #[error("no journal to merge")]
    Nothing,
    /// They are not of one campaign.
    #[error("{other} is of another campaign than {one}: {what} is {is} there and {was} here")]
    Different {
        /// The first journal.
        one: String,
        /// The one that differs.
        other: String,
        /// In what.
        what: String,
        /// What the first has.
        was: String,
        /// What the other has.
        is: String,
    },
    /// The description of the system differs.
    #[error("{other} describes another system under test than {one}")]
    OtherSystem {
        /// The first journal.
        one: String,
        /// The one that differs.
        other: String,
    },
    /// A run is there twice.
    #[error("run {run} is in {one} and in {other}")]
    Twice {
        /// The run.
        run: u64,
        /// A journal.
        one: String,
        /// Another, or the same.
        other: String,
    },
    /// A run was not made from the campaign's seed.
    #[error("{journal}: run {run} has a seed that is not the campaign's")]
    Seed {
        /// The journal.
        journal: String,
        /// The run.
        run: u64,
    },
    /// A run is not one of those that its journal says it holds.
    #[error("{journal}: run {run} is not one of {share}, which it says it holds")]
    NotOfShare {
        /// The journal.
        journal: String,
        /// The run.
        run: u64,
        /// The share.
        share: String,
    },
    /// Runs are in no journal.
    #[error("{count} runs of the campaign are in no journal: {runs}")]
    Gaps {
        /// How many.
        count: u64,
        /// Which, the first of them.
        runs: String,
    },
}

/// What is accepted.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeOptions {
    /// Runs may be missing.
    pub partial: bool,
    /// The descriptions of the system may differ: each share has a device of its own.
    pub any_system: bool,
}

/// The journal of the whole, and what is doubtful about it.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The runs in the order of their numbers.
    pub journal: Journal,
    /// Warnings.
    pub warnings: Vec<String>,
}

/// Runs that are missing are looked at one by one up to so many.
const MOST_MISSING: u64 = 10_000_000;

/// Gaps that are named.
const MOST_SHOWN: usize = 10;

/// A run with all its events.
#[derive(Default)]
struct RunEvents {
    journal: usize,
    events: Vec<Event>,
    /// Whether it came to a verdict or a fault.
    ended: bool,
}

/// A share, and whether the campaign came to its own end there.
struct Planned {
    share: Option<Share>,
    ended: bool,
}

/// Joins the journals of the shares of one campaign. The result does not depend on their order, but for
/// the header, which is the first one's.
pub fn merge(
    journals: Vec<(String, Journal)>,
    options: MergeOptions,
) -> Result<Merged, MergeError> {
    let names: Vec<String> = journals.iter().map(|(name, _)| name.clone()).collect();
    let header = check_headers(&journals, options)?;
    let mut warnings = Vec::new();
    let versions = journals.iter().map(|(_, j)| j.header.version.as_str());
    if let Some(version) = versions.into_iter().find(|v| *v != header.version) {
        warnings.push(format!(
            "journals of versions {} and {version}, which may draw other runs from one seed",
            header.version
        ));
    }
    let total = journals.iter().filter_map(|(_, j)| planned_end(&j.header));
    let mut total = total.max().unwrap_or_default();
    let mut runs: BTreeMap<u64, RunEvents> = BTreeMap::new();
    let mut planned = Vec::new();
    let mut elapsed: u64 = 0;
    for (index, (name, journal)) in journals.into_iter().enumerate() {
        if journal.torn {
            warnings.push(format!(
                "{name}: its last line is torn; the tester was killed"
            ));
        }
        let share = journal.header.description.as_ref().and_then(|d| d.share);
        let (mut ended, mut cut) = (false, false);
        for event in journal.events {
            let Some(run) = event.run() else {
                if let Event::CampaignEnded { elapsed: more, .. } = &event {
                    elapsed = elapsed.saturating_add(*more);
                    ended = true;
                }
                continue;
            };
            if let Event::RunStarted { seed, .. } = &event {
                let journal = name.clone();
                if RunId::of(header.seed, run).seed != *seed {
                    return Err(MergeError::Seed { journal, run });
                }
            }
            let interrupted = matches!(&event, Event::Fault { code, .. } if code == "interrupted");
            cut |= interrupted;
            if let Some(share) = share.filter(|share| !share.takes(run)) {
                return Err(MergeError::NotOfShare {
                    journal: name,
                    run,
                    share: share.to_string(),
                });
            }
            let known = runs.entry(run).or_insert_with(|| RunEvents {
                journal: index,
                ..RunEvents::default()
            });
            let again = matches!(event, Event::RunStarted { .. }) && !known.events.is_empty();
            if known.journal != index || again {
                return Err(MergeError::Twice {
                    run,
                    one: names[known.journal].clone(),
                    other: name,
                });
            }
            known.ended |= !interrupted && event.ends_run();
            known.events.push(event);
            total = total.max(run.saturating_add(1));
        }
        // A campaign that a signal ended had more to do.
        let ended = ended && !cut;
        planned.push(Planned { share, ended });
    }
    let complete = check_gaps(&runs, total, &planned, options, &mut warnings)?;
    let events: Vec<Event> = runs.into_values().flat_map(|run| run.events).collect();
    let journal = Journal {
        header: whole(header, total, complete),
        events: concluded(events, elapsed),
        torn: false,
    };
    Ok(Merged { journal, warnings })
}

/// The number after the last run that a header speaks of.
fn planned_end(header: &JournalHeader) -> Option<u64> {
    let description = header.description.as_ref()?;
    let of_range = match description.share {
        Some(Share::Range(range)) => Some(range.end()),
        _ => None,
    };
    description.runs.max(of_range)
}

fn check_headers(
    journals: &[(String, Journal)],
    options: MergeOptions,
) -> Result<JournalHeader, MergeError> {
    let (one, first) = journals.first().ok_or(MergeError::Nothing)?;
    let first = &first.header;
    for (other, journal) in &journals[1..] {
        let (one, other) = (one.clone(), other.clone());
        if let Some(Difference {
            what,
            one: was,
            other: is,
        }) = first.difference(&journal.header)
        {
            return Err(MergeError::Different {
                one,
                other,
                what,
                was,
                is,
            });
        }
        if !options.any_system && first.sut != journal.header.sut {
            return Err(MergeError::OtherSystem { one, other });
        }
    }
    Ok(first.clone())
}

/// Whether all runs are there. Those that a share left out by its own decision only give a warning.
fn check_gaps(
    runs: &BTreeMap<u64, RunEvents>,
    total: u64,
    planned: &[Planned],
    options: MergeOptions,
    warnings: &mut Vec<String>,
) -> Result<bool, MergeError> {
    let mut gaps: Vec<Range<u64>> = Vec::new();
    let mut next = 0;
    for (&run, _) in runs.iter().filter(|(_, run)| run.ended) {
        if next < run {
            gaps.push(next..run);
        }
        next = run.saturating_add(1);
    }
    if next < total {
        gaps.push(next..total);
    }
    let missing: u64 = gaps.iter().map(|gap| gap.end - gap.start).sum();
    if missing == 0 {
        return Ok(true);
    }
    // Of more than that nobody wants to know who left them out.
    let left_out = |run: u64| {
        let mine = |p: &&Planned| p.ended && p.share.is_some_and(|share| share.takes(run));
        missing <= MOST_MISSING && planned.iter().any(|p| mine(&p))
    };
    let mut lost: Vec<Range<u64>> = Vec::new();
    for gap in gaps {
        if missing > MOST_MISSING {
            lost.push(gap);
            continue;
        }
        for run in gap.filter(|&run| !left_out(run)) {
            match lost.last_mut() {
                Some(last) if last.end == run => last.end = run + 1,
                _ => lost.push(run..run + 1),
            }
        }
    }
    let count: u64 = lost.iter().map(|gap| gap.end - gap.start).sum();
    if count < missing {
        warnings.push(format!(
            "{} runs were left out by the shares that were to make them: they ended before",
            missing - count
        ));
    }
    if count == 0 {
        return Ok(true);
    }
    let shown = lost
        .iter()
        .take(MOST_SHOWN)
        .map(|gap| match gap.end - gap.start {
            1 => gap.start.to_string(),
            _ => format!("{}..{}", gap.start, gap.end),
        });
    let mut shown = shown.collect::<Vec<_>>().join(", ");
    if lost.len() > MOST_SHOWN {
        shown += ", …";
    }
    let error = MergeError::Gaps { count, runs: shown };
    if !options.partial {
        return Err(error);
    }
    warnings.push(error.to_string());
    Ok(false)
}

/// Flags of a share, and of where its own journal and reports went.
const OF_SHARE: [&str; 7] = [
    "--range",
    "--partition",
    "--journal",
    "--junit",
    "--events",
    "--report",
    "--certificate",
];

/// The header of the whole campaign.
fn whole(mut header: JournalHeader, total: u64, complete: bool) -> JournalHeader {
    let mut words = std::mem::take(&mut header.command).into_iter();
    while let Some(word) = words.next() {
        if OF_SHARE.contains(&word.as_str()) {
            words.next();
        } else if !OF_SHARE.iter().any(|flag| {
            let value = word.strip_prefix(flag);
            value.is_some_and(|value| value.starts_with('='))
        }) {
            header.command.push(word);
        }
    }
    let description = header.description.get_or_insert_with(Description::default);
    description.runs = Some(total);
    description.share = complete.then_some(Share::Whole);
    header
}

/// The events with the one that ends the campaign.
fn concluded(mut events: Vec<Event>, elapsed: u64) -> Vec<Event> {
    let summary = Summary::of_events(&events);
    let verdicts: BTreeMap<Verdict, u64> = summary.verdicts;
    events.push(Event::CampaignEnded {
        verdicts,
        faults: summary.faults.len() as u64,
        steps: summary.steps,
        elapsed,
        untried: summary.untried.keys().map(|i| format!("?{i}")).collect(),
    });
    events
}
