//! States of test cases in the making.

use std::collections::hash_map::Entry;

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
        // The arena may hold far more than this one test case.
        let mut new: FxHashMap<TestStateId, TestStateId> = FxHashMap::default();
        let order = self.reached(root, |id, number| match new.entry(id) {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                entry.insert(number);
                true
            }
        });
        let copies = order.iter().map(|id| self.states[id.index()].clone());
        copies
            .map(|state| renumbered(state, |id| new[&id]))
            .collect()
    }

    /// The same, of an arena that was made for this test case alone.
    pub(crate) fn into_states(mut self, root: TestStateId) -> Vec<TestState> {
        const NONE: TestStateId = TestStateId::LAST;
        let mut new = vec![NONE; self.states.len()];
        let order = self.reached(root, |id, number| {
            let known = &mut new[id.index()];
            let is_new = *known == NONE;
            if is_new {
                *known = number;
            }
            is_new
        });
        let mut take = |id: &TestStateId| {
            let gone = TestState::end(Verdict::Pass);
            std::mem::replace(&mut self.states[id.index()], gone)
        };
        let states = order
            .iter()
            .map(|id| renumbered(take(id), |id| new[id.index()]));
        states.collect()
    }

    /// The states that `root` reaches, breadth first. `number` notes the number of a state unless it has
    /// one, and says whether it had none.
    fn reached(
        &self,
        root: TestStateId,
        mut number: impl FnMut(TestStateId, TestStateId) -> bool,
    ) -> Vec<TestStateId> {
        number(root, TestStateId::new(0));
        let mut order = vec![root];
        let mut next = 0;
        while next < order.len() {
            for (_, target) in self.states[order[next].index()].each_step() {
                if number(target, TestStateId::new(order.len())) {
                    order.push(target);
                }
            }
            next += 1;
        }
        order
    }
}

/// A state with the new numbers of those it leads to.
fn renumbered(mut state: TestState, new: impl Fn(TestStateId) -> TestStateId) -> TestState {
    let renumber = |id: &mut TestStateId| *id = new(*id);
    match &mut state.step {
        TestStep::End => {}
        TestStep::Stimulate { next, .. } => renumber(next),
        TestStep::Observe {
            outputs,
            quiescence,
        } => {
            for (_, target) in outputs.iter_mut() {
                renumber(target);
            }
            if let Some(target) = quiescence {
                renumber(target);
            }
        }
        TestStep::Offer { actions } => {
            for (_, target) in actions.iter_mut() {
                renumber(target);
            }
        }
    }
    state
}
