//! τ-closure: what a set of states reaches by internal actions alone.

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
            if self.is_stable(model, state) {
                continue;
            }
            let internal = self.internal(model, state);
            if internal == Internal::NONE {
                continue;
            }
            let start = internal.0 as usize;
            for k in start + 1..=start + self.targets[start].index() {
                let target = self.targets[k];
                if self.reach(target) {
                    states.push(target);
                }
            }
        }
        states.sort_unstable();
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
