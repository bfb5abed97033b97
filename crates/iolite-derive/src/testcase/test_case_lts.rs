//! Test cases from explicit systems with verdicts, and back.

use std::sync::Arc;

use iolite_lts::{LabelId, LabelKind, Lts, LtsBuilder, StateId};

use crate::{
    Criterion, ModelRef, TestCase, TestCaseError, TestState, TestStateId, TestStep, Verdict,
};

impl TestCase {
    /// The test case that a written-out system with a verdict for each state is
    /// [LTS96, def. 3.1]; δ stands for θ. A state with one input stimulates, one with outputs
    /// observes, one with plain actions offers.
    ///
    /// Verdicts are given in the order of the states, one for each.
    pub fn from_lts(
        name: impl Into<String>,
        criterion: Criterion,
        model: ModelRef,
        lts: &Lts,
        verdicts: &[Verdict],
    ) -> Result<Self, TestCaseError> {
        // The initial state comes first; the others keep their order.
        let initial = lts.initial();
        let number = |s: StateId| {
            TestStateId::new(match s.index() {
                i if s == initial => i - initial.index(),
                i if i < initial.index() => i + 1,
                i => i,
            })
        };
        let mut states = vec![TestState::end(Verdict::Pass); lts.state_count()];
        for state in lts.states() {
            let at = number(state);
            let mut row: Vec<(LabelId, TestStateId)> = lts
                .steps(state)
                .iter()
                .map(|&(l, t)| (l, number(t)))
                .collect();
            let kind = |l: LabelId| lts.labels().kind(l);
            let step = match row[..] {
                [] => TestStep::End,
                [(stimulus, next)] if kind(stimulus) == LabelKind::Input => TestStep::Stimulate {
                    stimulus,
                    next,
                    preempted: Vec::new(),
                },
                _ if row.iter().all(|&(l, _)| kind(l).is_observation()) => {
                    let thetas = row.iter().filter(|(l, _)| *l == LabelId::DELTA).count();
                    if thetas > 1 {
                        return Err(TestCaseError::Nondeterministic {
                            state: at.index(),
                            label: "delta".to_owned(),
                        });
                    }
                    let theta = row.iter().position(|(l, _)| *l == LabelId::DELTA);
                    let quiescence = theta.map(|i| row.remove(i).1);
                    TestStep::Observe {
                        outputs: row,
                        quiescence,
                    }
                }
                _ if row.iter().all(|&(l, _)| kind(l) == LabelKind::Undirected) => {
                    TestStep::Offer { actions: row }
                }
                _ => {
                    return Err(TestCaseError::NotControllable {
                        state: at.index(),
                        name: lts.name(state),
                    });
                }
            };
            states[at.index()] = TestState {
                step,
                verdict: verdicts
                    .get(state.index())
                    .copied()
                    .unwrap_or(Verdict::Inconc),
                locations: Arc::default(),
                places: Arc::default(),
            };
        }
        Self::new(
            name,
            criterion,
            model,
            Arc::clone(lts.shared_labels()),
            states,
        )
    }

    /// The test case as an explicit system for drawing, final states named by their verdicts, the
    /// others numbered, θ as δ.
    pub fn to_lts(&self) -> Lts {
        let mut builder = LtsBuilder::with_labels(self.labels().as_ref().clone());
        for (i, state) in self.states().iter().enumerate() {
            match state.step {
                TestStep::End => builder.named_state(state.verdict.name()),
                _ => builder.named_state(&i.to_string()),
            };
        }
        for (i, state) in self.states().iter().enumerate() {
            for (label, target) in state.steps() {
                builder.transition(StateId::new(i), label, StateId::new(target.index()));
            }
        }
        builder.build().expect("a test case has states")
    }
}
