//! How long the system took to answer, beside how long silence is waited for.

use std::collections::{BTreeMap, BTreeSet};

use iolite_exec::Event;

/// Buckets double: the k-th has times from 2ᵏ to 2ᵏ⁺¹ microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResponseTimes {
    /// How many answers a bucket has.
    pub(crate) buckets: BTreeMap<u32, u64>,
    /// The longest, in microseconds.
    pub(crate) longest: u64,
    /// How long silence was waited for, in microseconds.
    pub(crate) timeouts: BTreeSet<u64>,
}

impl ResponseTimes {
    /// From a stimulus to the first output after it.
    pub(crate) fn of(events: &[Event]) -> Self {
        let mut times = Self::default();
        let mut asked: BTreeMap<u64, u64> = BTreeMap::new();
        for event in events {
            match event {
                Event::Stimulus { run, at, .. } => {
                    asked.entry(*run).or_insert(*at);
                }
                Event::Output { run, at, .. } => {
                    if let Some(since) = asked.remove(run) {
                        let time = at.saturating_sub(since);
                        *times.buckets.entry(time.max(1).ilog2()).or_default() += 1;
                        times.longest = times.longest.max(time);
                    }
                }
                Event::Quiescence { run, patience, .. } => {
                    asked.remove(run);
                    if *patience > 0 && times.timeouts.len() < 8 {
                        times.timeouts.insert(*patience);
                    }
                }
                Event::RunEnded { run, .. } | Event::Fault { run, .. } => {
                    asked.remove(run);
                }
                _ => {}
            }
        }
        times
    }
}

/// A time for people.
pub(crate) fn shown(us: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let us = us as f64;
    if us < 1000.0 {
        format!("{us:.0} µs")
    } else if us < 1e6 {
        format!("{:.1} ms", us / 1e3)
    } else {
        format!("{:.2} s", us / 1e6)
    }
}
