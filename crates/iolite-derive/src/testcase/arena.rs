//! States of test cases in the making.

use rustc_hash::FxHashMap;

use crate::{TestState, TestStateId, TestStep, Verdict};

/// States of many test cases, shared where they are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arena {
    pub(crate) states: Vec<TestState>,
    verdicts: FxHashMap<Verdict, TestStateId>,
}

impl Arena {
    /// A state to be filled in.
    pub(crate) fn hole(&mut self) -> TestStateId {
        self.push(TestState::end(Verdict::Pass))
    }

    pub(crate) fn push(&mut self, state: TestState) -> TestStateId {
        self.states.push(state);
        TestStateId::new(self.states.len() - 1)
    }

    /// The final state with this verdict.
    pub(crate) fn verdict(&mut self, verdict: Verdict) -> TestStateId {
        if let Some(&id) = self.verdicts.get(&verdict) {
            return id;
        }
        let id = self.push(TestState::end(verdict));
        self.verdicts.insert(verdict, id);
        id
    }

    /// The states that `root` reaches, renumbered breadth first.
    pub(crate) fn extract(&self, root: TestStateId) -> Vec<TestState> {
        let mut new: FxHashMap<TestStateId, TestStateId> = FxHashMap::default();
        new.insert(root, TestStateId::new(0));
        let mut order = vec![root];
        let mut next = 0;
        while next < order.len() {
            for (_, target) in self.states[order[next].index()].steps() {
                new.entry(target).or_insert_with(|| {
                    order.push(target);
                    TestStateId::new(order.len() - 1)
                });
            }
            next += 1;
        }
        order
            .iter()
            .map(|id| {
                let mut state = self.states[id.index()].clone();
                match &mut state.step {
                    TestStep::End => {}
                    TestStep::Stimulate { next, .. } => *next = new[next],
                    TestStep::Observe {
                        outputs,
                        quiescence,
                    } => {
                        for (_, target) in outputs.iter_mut() {
                            *target = new[target];
                        }
                        if let Some(target) = quiescence {
                            *target = new[target];
                        }
                    }
                    TestStep::Offer { actions } => {
                        for (_, target) in actions.iter_mut() {
                            *target = new[target];
                        }
                    }
                }
                state
            })
            .collect()
    }
}
