//! The closed set of verdicts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a test run says about the implementation. A fault of the infrastructure is never a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The test case ended and nothing was wrong.
    Pass,
    /// The implementation does not conform, and no property violation was seen.
    Fail,
    /// The implementation violates the property and conformance: "Violate" of
    /// [SAFE04, §4].
    ViolateFail,
    /// Specification and implementation both violate the property [SYM04, §4].
    Violate,
    /// The goal of this test can no longer be reached; nothing was wrong.
    Inconc,
    /// This one execution determines the property positively [PROP12, §6].
    WeakPass,
    /// This one execution determines the property negatively [PROP12, §6].
    WeakFail,
    /// A bound or a solver ran out.
    Unknown,
    /// The system under test ended in the middle of a run. No tester gives it, the engine does.
    Crash,
    /// A run failed by silence and did not fail again when it was repeated with more patience. No
    /// tester gives it, and it proves nothing: what was seen depends on time or on chance.
    Flaky,
}

impl Verdict {
    /// The fixed spelling, as in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::ViolateFail => "violate-fail",
            Self::Violate => "violate",
            Self::Inconc => "inconc",
            Self::WeakPass => "weak-pass",
            Self::WeakFail => "weak-fail",
            Self::Unknown => "unknown",
            Self::Crash => "crash",
            Self::Flaky => "flaky",
        }
    }

    /// All verdicts, the worst first: those against the implementation, strongest proof first, then
    /// those that leave a question open, then those that do not. This is the only order of verdicts.
    pub(crate) const WORST_FIRST: [Self; 10] = [
        Self::ViolateFail,
        Self::Fail,
        Self::Violate,
        Self::WeakFail,
        Self::Crash,
        Self::Flaky,
        Self::Unknown,
        Self::Inconc,
        Self::WeakPass,
        Self::Pass,
    ];

    /// The verdict of several runs, goals or properties together; `None` for none of them.
    pub fn worst(verdicts: impl IntoIterator<Item = Self>) -> Option<Self> {
        let rank = |v: &Self| Self::WORST_FIRST.iter().position(|w| w == v);
        verdicts.into_iter().min_by_key(rank)
    }

    /// Whether the verdict speaks against the implementation. A flaky run does not: it was repeated,
    /// and the repetition contradicted it.
    pub fn is_failing(self) -> bool {
        matches!(
            self,
            Self::Fail | Self::ViolateFail | Self::Violate | Self::WeakFail | Self::Crash
        )
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn verdicts() -> impl Strategy<Value = Vec<Verdict>> {
        prop::collection::vec((0..10usize).prop_map(|k| Verdict::WORST_FIRST[k]), 0..12)
    }

    proptest! {
        /// Whoever adds up verdicts, in whatever order and in whatever parts, comes to the same.
        #[test]
        fn the_worst_is_one(mut verdicts in verdicts(), cut in 0..12usize) {
            let worst = Verdict::worst(verdicts.iter().copied());
            let (one, other) = verdicts.split_at(cut.min(verdicts.len()));
            let parts = [one, other].map(|part| Verdict::worst(part.iter().copied()));
            prop_assert_eq!(Verdict::worst(parts.into_iter().flatten()), worst);
            verdicts.reverse();
            prop_assert_eq!(Verdict::worst(verdicts.iter().copied()), worst);
            let failing = verdicts.iter().any(|v| v.is_failing());
            prop_assert_eq!(worst.is_some_and(Verdict::is_failing), failing);
            let violated = verdicts.contains(&Verdict::ViolateFail);
            prop_assert_eq!(worst == Some(Verdict::ViolateFail), violated);
        }
    }
}
