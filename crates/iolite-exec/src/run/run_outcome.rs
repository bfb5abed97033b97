//! Which run it was, and what it came to.

use std::collections::BTreeMap;
use std::time::Duration;

use iolite_derive::{Notice, Verdict, seed_of};

use crate::{Certificate, End, Trace};

/// Which run this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunId {
    /// Number, from 0.
    pub number: u64,
    /// The seed of everything random in it.
    pub seed: u64,
}

impl RunId {
    /// The run with this number of a campaign. Its seed depends on nothing else, so that any run can
    /// be repeated alone, and runs may be spread over jobs.
    pub fn of(campaign_seed: u64, number: u64) -> Self {
        Self {
            number,
            seed: seed_of(campaign_seed, number),
        }
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    /// Which run it was.
    pub id: RunId,
    /// The tester's verdict.
    pub verdict: Verdict,
    /// Why it ended.
    pub end: End,
    /// Number of steps.
    pub steps: u64,
    /// What happened, in order.
    pub trace: Trace,
    /// The proof, where the verdict is a failing one; of a flaky run, what it showed before it was
    /// repeated.
    pub certificate: Option<Certificate>,
    /// The verdict of each goal or property by itself, where there are several.
    pub results: Vec<(String, Verdict)>,
    /// What else the run had to say.
    pub notices: Vec<Notice>,
    /// How long was waited before stimuli, by the number of the step; the first 65,536.
    pub pauses: BTreeMap<u64, Duration>,
    /// How long it took, start and reset of the system included.
    pub elapsed: Duration,
}
