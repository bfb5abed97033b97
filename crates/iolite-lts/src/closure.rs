//! τ-closure: what a set of states reaches by internal actions alone.

use crate::{LabelKind, Semantics, StateId, Step};

/// Scratch space for closures over one model; nothing is allocated once it is warm.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closure {
    /// The last round in which a state was reached.
    reached: Vec<u32>,
    round: u32,
    /// Whether a state has internal steps at all: most have none, and then its row need not be
    /// read for a closure.
    internal: Vec<Internal>,
    row: Vec<Step>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Internal {
    #[default]
    Unknown,
    None,
    Some,
}

impl Closure {
    /// Adds to `states` all that they reach internally, sorts, and removes repetitions.
    pub(crate) fn close<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        states: &mut Vec<StateId>,
    ) {
        if states.iter().all(|&s| self.is_stable(model, s)) {
            states.sort_unstable();
            states.dedup();
            return;
        }
        if self.round == u32::MAX {
            self.reached.fill(0);
            self.round = 0;
        }
        self.round += 1;
        let kinds = model.labels().kinds();
        let mut kept = 0;
        for k in 0..states.len() {
            if self.reach(states[k]) {
                states[kept] = states[k];
                kept += 1;
            }
        }
        states.truncate(kept);
        let mut next = 0;
        while next < states.len() {
            let state = states[next];
            next += 1;
            if self.is_stable(model, state) {
                continue;
            }
            let mut row = std::mem::take(&mut self.row);
            row.clear();
            model.successors(&state, &mut row);
            for &(label, target) in &row {
                if kinds[label.index()] == LabelKind::Internal && self.reach(target) {
                    states.push(target);
                }
            }
            self.row = row;
        }
        states.sort_unstable();
    }

    /// Whether `state` has no internal step.
    pub(crate) fn is_stable<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        state: StateId,
    ) -> bool {
        let i = state.index();
        if i >= self.internal.len() {
            self.internal.resize(i + 1, Internal::Unknown);
        }
        if self.internal[i] == Internal::Unknown {
            let kinds = model.labels().kinds();
            self.row.clear();
            model.successors(&state, &mut self.row);
            let any = self
                .row
                .iter()
                .any(|(l, _)| kinds[l.index()] == LabelKind::Internal);
            self.internal[i] = if any { Internal::Some } else { Internal::None };
        }
        self.internal[i] == Internal::None
    }

    /// Whether `state` is new in this round.
    fn reach(&mut self, state: StateId) -> bool {
        let i = state.index();
        if i >= self.reached.len() {
            self.reached.resize(i + 1, 0);
        }
        let new = self.reached[i] != self.round;
        self.reached[i] = self.round;
        new
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.reached.len() * size_of::<u32>() + self.internal.len() * size_of::<Internal>()
    }
}
