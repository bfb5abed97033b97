//! τ-closure: what a set of states reaches by internal actions alone.

use std::ops::Range;

use crate::{LabelKind, Semantics, StateId, Step};

/// Scratch space for closures over one model; nothing is allocated once it is warm.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closure {
    /// The last round in which a state was reached.
    reached: Vec<u32>,
    round: u32,
    /// Where the internal steps of a state lead. Most states have none, and those of the others are
    /// apart from their rows, which closures need not read again.
    internal: Vec<Internal>,
    targets: Vec<StateId>,
    row: Vec<Step>,
    unknown: Unknown,
}

/// States of which it is not known whether they have internal steps, and where their rows end.
#[derive(Clone, Debug, Default)]
struct Unknown {
    states: Vec<StateId>,
    ends: Vec<usize>,
}

/// So many states are few.
const FEW: usize = 16;

/// Where the internal steps of a state lead: a range of the targets, of which the first says how many there
/// are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Internal(u32);

impl Internal {
    const UNKNOWN: Self = Self(u32::MAX);
    const NONE: Self = Self(u32::MAX - 1);
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
        if self.close_few(model, states) {
            return;
        }
        if self.round == u32::MAX {
            self.reached.fill(0);
            self.round = 0;
        }
        self.round += 1;
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
            for k in self.internal_targets(model, state) {
                let target = self.targets[k];
                if self.reach(target) {
                    states.push(target);
                }
            }
        }
        states.sort_unstable();
    }

    /// The same for sets that stay small, which most do: a look at the few states that there are costs less than one
    /// into memory for each. `false`, with some states added, where the set is not small.
    fn close_few<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        states: &mut Vec<StateId>,
    ) -> bool {
        let mut next = 0;
        while next < states.len() {
            if states.len() > FEW {
                return false;
            }
            let state = states[next];
            next += 1;
            let targets = self.internal_targets(model, state);
            for target in &self.targets[targets] {
                if !states.contains(target) {
                    states.push(*target);
                }
            }
        }
        states.sort_unstable();
        states.dedup();
        true
    }

    /// Where the targets of the internal steps of a state stand among all.
    #[inline]
    fn internal_targets<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        state: StateId,
    ) -> Range<usize> {
        if self.is_stable(model, state) {
            return 0..0;
        }
        match self.internal(model, state) {
            Internal::NONE => 0..0,
            Internal(start) => {
                let start = start as usize;
                start + 1..start + 1 + self.targets[start].index()
            }
        }
    }

    /// Whether `state` has no internal step.
    #[inline]
    pub(crate) fn is_stable<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        state: StateId,
    ) -> bool {
        match model.internal_step(&state) {
            Some(internal) => !internal,
            None => self.internal(model, state) == Internal::NONE,
        }
    }

    fn internal<M: Semantics<State = StateId>>(&mut self, model: &M, state: StateId) -> Internal {
        let known = self.internal.get(state.index()).copied();
        match known.unwrap_or(Internal::UNKNOWN) {
            Internal::UNKNOWN => {
                self.learn(model, std::iter::once(state));
                self.internal[state.index()]
            }
            internal => internal,
        }
    }

    /// Finds out, all at once, which internal steps these states have.
    pub(crate) fn learn<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        states: impl Iterator<Item = StateId>,
    ) {
        let Unknown {
            states: unknown,
            ends,
        } = &mut self.unknown;
        unknown.clear();
        for state in states {
            if model.internal_step(&state) == Some(false) {
                continue;
            }
            let i = state.index();
            if i >= self.internal.len() {
                self.internal.resize(i + 1, Internal::UNKNOWN);
            }
            if self.internal[i] == Internal::UNKNOWN {
                unknown.push(state);
            }
        }
        self.row.clear();
        ends.clear();
        model.successors_of(unknown, &mut self.row, ends);
        let kinds = model.labels().kinds();
        let mut start = 0;
        for (state, &end) in unknown.iter().zip(&*ends) {
            if self.internal[state.index()] != Internal::UNKNOWN {
                // It was among the states twice.
                start = end;
                continue;
            }
            let place = self.targets.len();
            for &(label, target) in &self.row[start..end] {
                if kinds[label.index()] == LabelKind::Internal {
                    if self.targets.len() == place {
                        self.targets.push(StateId::FIRST);
                    }
                    self.targets.push(target);
                }
            }
            let count = self.targets.len() - place;
            self.internal[state.index()] = if count == 0 {
                Internal::NONE
            } else {
                self.targets[place] = StateId::new(count - 1);
                let place = u32::try_from(place).ok();
                let place = place.filter(|&p| p < Internal::NONE.0);
                Internal(place.expect("fewer than 2^32 - 2 internal steps"))
            };
            start = end;
        }
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
        self.reached.len() * size_of::<u32>()
            + self.internal.len() * size_of::<Internal>()
            + self.targets.len() * size_of::<StateId>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::LtsBuilder;

    proptest! {
        /// Of few states and of many, asked for one after the other.
        #[test]
        fn a_closure_is_the_least_set_that_internal_steps_do_not_leave(
            count in 1..60usize,
            steps in proptest::collection::vec((0..60usize, any::<bool>(), 0..60usize), 0..150),
            sets in proptest::collection::vec(proptest::collection::vec(0..60usize, 1..30), 1..6),
        ) {
            let mut builder = LtsBuilder::new();
            let states: Vec<StateId> = (0..count).map(|_| builder.state()).collect();
            let steps: Vec<_> = steps
                .into_iter()
                .map(|(from, internal, to)| (states[from % count], internal, states[to % count]))
                .collect();
            for &(from, internal, to) in &steps {
                builder.transition_text(from, if internal { "i" } else { "!x" }, to);
            }
            let model = builder.build().unwrap();
            let mut closure = Closure::default();
            for set in sets {
                let mut closed: Vec<StateId> = set.iter().map(|s| states[s % count]).collect();
                let mut least: std::collections::BTreeSet<StateId> = closed.iter().copied().collect();
                loop {
                    let before = least.len();
                    for &(from, internal, to) in &steps {
                        if internal && least.contains(&from) {
                            least.insert(to);
                        }
                    }
                    if least.len() == before {
                        break;
                    }
                }
                closure.close(&model, &mut closed);
                prop_assert_eq!(closed, least.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
