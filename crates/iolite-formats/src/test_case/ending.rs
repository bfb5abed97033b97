//! Where a run of a test case may end before a final state, in words.

use iolite_derive::{TestState, TestStep, Verdict};

/// What ends a run in this state, and the verdict then: what forms of test cases show beside its steps.
///
/// A stimulus is never refused by an input-enabled system, and where θ is observed no run ends, so
/// verdicts there are shown only where they are not the usual ones.
pub(super) fn ending(state: &TestState) -> Option<(&'static str, Verdict)> {
    let verdict = state.verdict;
    match &state.step {
        TestStep::End => None,
        TestStep::Offer { .. } => Some(("refusal", verdict)),
        TestStep::Observe {
            quiescence: None, ..
        } => Some(("deadlock", verdict)),
        TestStep::Stimulate { .. } => (verdict != Verdict::Pass).then_some(("refusal", verdict)),
        TestStep::Observe { .. } => (verdict != Verdict::Inconc).then_some(("end", verdict)),
    }
}
