//! test(S, ω): tests that try to push the implementation into violating a safety property.

use iolite_lts::{LabelId, Semantics, StateId};
use iolite_property::Observer;

use crate::{GoalTest, Verdict};

/// test(S, ω) = prune(mirror(det(S^δ) ▷ ω)) [SAFE04, §4]. Its verdicts are `violate-fail`
/// (the paper's Violate), `fail` and `inconc`, and `violate` where S itself violates ω
/// [SYM04, §4].
pub type SafetyTest<M> = GoalTest<M, Observer>;

impl<M: Semantics<State = StateId>> SafetyTest<M> {
    /// A shortest trace on which the specification itself violates the property, if there is one:
    /// the user should know before testing anybody else.
    pub fn specification_violates(&self) -> Option<Vec<LabelId>> {
        self.forced().shortest(Verdict::Violate)
    }
}
