//! Quiescence made visible: the suspension view S^δ.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashSet;

use crate::scc::Tarjan;
use crate::{LabelId, LabelKind, Labels, Semantics, StateId, Step};

/// What counts as quiescent beside a state that enables neither output nor internal action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuiescencePolicy {
    /// A state on a cycle of internal actions is quiescent too [SAFE04, §2.3].
    #[default]
    Livelock,
    /// Such a cycle is outside the theory, which takes systems to be strongly converging
    /// [LTS96, §2]: it is not quiescent, and the view remembers the first one it met, for
    /// the caller to report as an error.
    Strict,
    /// A livelock that can be left is left: a state on a cycle of internal actions is quiescent only
    /// where no internal action leads off the cycle and no state of it has an output. Seen from outside
    /// this is [LTS96, def. 6.3]: δ is observed where all outputs are refused, also after
    /// internal actions.
    Fair,
}

/// Why a state is quiescent [SAFE04, §2.3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quiescence {
    /// Nothing is enabled at all.
    Deadlock,
    /// Only inputs are enabled.
    OutputLock,
    /// The state lies on a cycle of internal actions.
    Livelock,
}

/// The suspension IOLTS S^δ: every quiescent state gets a δ-loop [SAFE04, def. 7;
/// IOCO99, §4].
///
/// A δ-step that the model wrote out itself is left as it is.
#[derive(Clone, Debug)]
pub struct Suspension<M> {
    model: M,
    policy: QuiescencePolicy,
    cycles: RefCell<InternalCycles>,
    livelock: Cell<Option<StateId>>,
}

impl<M: Semantics<State = StateId>> Suspension<M> {
    /// The suspension view of `model`.
    pub fn new(model: M, policy: QuiescencePolicy) -> Self {
        let cycles = RefCell::default();
        Self {
            model,
            policy,
            cycles,
            livelock: Cell::new(None),
        }
    }

    /// The model underneath.
    pub fn inner(&self) -> &M {
        &self.model
    }

    /// The first state on a cycle of internal actions that the strict policy met, if any.
    pub fn livelock(&self) -> Option<StateId> {
        self.livelock.get()
    }

    /// Why `state` is quiescent, or `None` when it is not.
    pub fn quiescence(&self, state: StateId) -> Option<Quiescence> {
        let mut row = Vec::new();
        self.model.successors(&state, &mut row);
        self.quiescence_of(state, &row)
    }

    fn quiescence_of(&self, state: StateId, row: &[Step]) -> Option<Quiescence> {
        let kinds = self.model.labels().kinds();
        // One bit a kind, without a branch a step.
        let bit = |kind: LabelKind| 1u8 << kind as u8;
        let seen = row
            .iter()
            .fold(0, |seen, (label, _)| seen | bit(kinds[label.index()]));
        let has = |kind| seen & bit(kind) != 0;
        // In a model over undirected labels all actions are the environment's to offer.
        let input = has(LabelKind::Input) || has(LabelKind::Undirected);
        let (output, internal) = (has(LabelKind::Output), has(LabelKind::Internal));
        if internal {
            let mut cycles = self.cycles.borrow_mut();
            if !cycles.contains(&self.model, state) {
                return None;
            }
            return match self.policy {
                QuiescencePolicy::Livelock => Some(Quiescence::Livelock),
                QuiescencePolicy::Fair => cycles.is_silent(state).then_some(Quiescence::Livelock),
                QuiescencePolicy::Strict => {
                    self.livelock.set(self.livelock.get().or(Some(state)));
                    None
                }
            };
        }
        match (output, input) {
            (true, _) => None,
            (false, true) => Some(Quiescence::OutputLock),
            (false, false) => Some(Quiescence::Deadlock),
        }
    }
}

impl<M: Semantics<State = StateId>> Semantics for Suspension<M> {
    type State = StateId;

    fn labels(&self) -> &Labels {
        self.model.labels()
    }

    fn initial(&self) -> StateId {
        self.model.initial()
    }

    fn successors(&self, state: &StateId, row: &mut Vec<Step>) {
        let start = row.len();
        self.model.successors(state, row);
        if self.quiescence_of(*state, &row[start..]).is_some() {
            row.push((LabelId::DELTA, *state));
        }
    }

    /// Inputs do not make a state less quiescent, so the loops of the model are those of the view.
    fn successors_and_loops(&self, state: &StateId, row: &mut Vec<Step>) -> u64 {
        let start = row.len();
        let loops = self.model.successors_and_loops(state, row);
        if self.quiescence_of(*state, &row[start..]).is_some() {
            row.push((LabelId::DELTA, *state));
        }
        loops
    }

    fn successors_of(&self, states: &[StateId], rows: &mut Vec<Step>, ends: &mut Vec<usize>) {
        let (first, mut start) = (ends.len(), rows.len());
        self.model.successors_of(states, rows, ends);
        let mut quiescent = Vec::new();
        for (k, &state) in states.iter().enumerate() {
            let end = ends[first + k];
            if self.quiescence_of(state, &rows[start..end]).is_some() {
                quiescent.push(k);
            }
            start = end;
        }
        // Make room for the δ-loops, from the last one on.
        let mut end = rows.len();
        rows.resize(end + quiescent.len(), (LabelId::DELTA, StateId::FIRST));
        let mut next = states.len();
        for (before, &k) in quiescent.iter().enumerate().rev() {
            for end in &mut ends[first + k..first + next] {
                *end += before + 1;
            }
            next = k;
            let own = ends[first + k] - before - 1;
            rows.copy_within(own..end, own + before + 1);
            rows[own + before] = (LabelId::DELTA, states[k]);
            end = own;
        }
    }

    fn internal_successors_of(
        &self,
        states: &[StateId],
        rows: &mut Vec<Step>,
        ends: &mut Vec<usize>,
    ) {
        match self.policy {
            QuiescencePolicy::Livelock | QuiescencePolicy::Fair => {
                self.model.internal_successors_of(states, rows, ends);
            }
            // The livelocks of these states are to be met.
            QuiescencePolicy::Strict => self.successors_of(states, rows, ends),
        }
    }

    fn look_ahead(&self, states: &[StateId]) {
        self.model.look_ahead(states);
    }

    #[inline]
    fn internal_step(&self, state: &StateId) -> Option<bool> {
        self.model.internal_step(state)
    }

    fn is_completed(&self) -> bool {
        self.model.is_completed()
    }

    fn explicit_states(&self) -> Option<usize> {
        self.model.explicit_states()
    }

    fn describe(&self, state: &StateId) -> String {
        self.model.describe(state)
    }

    fn place(&self, state: &StateId) -> String {
        self.model.place(state)
    }

    fn line(&self, state: &StateId) -> Option<u32> {
        self.model.line(state)
    }
}

/// Which states lie on a cycle of internal actions; found on demand, each state visited once.
#[derive(Clone, Debug, Default)]
struct InternalCycles {
    search: Tarjan,
    on_cycle: Vec<bool>,
    /// Those whose cycle is left neither internally nor by an output.
    silent: Vec<bool>,
}

impl InternalCycles {
    fn contains<M: Semantics<State = StateId>>(&mut self, model: &M, state: StateId) -> bool {
        if !self.search.seen(state) {
            let kinds = model.labels().kinds();
            let mut row = Vec::new();
            let mut loops = Vec::new();
            let mut components: Vec<Vec<StateId>> = Vec::new();
            self.search.visit(
                state,
                |s, out| {
                    row.clear();
                    model.successors(&s, &mut row);
                    for &(l, t) in &row {
                        if kinds[l.index()] == LabelKind::Internal {
                            if s == t {
                                loops.push(s);
                            }
                            out.push(t);
                        }
                    }
                },
                |component| {
                    if component.len() > 1 {
                        components.push(component.to_vec());
                    }
                },
            );
            // A state of a larger cycle may have a loop as well.
            let within: FxHashSet<StateId> = components.iter().flatten().copied().collect();
            loops.retain(|s| !within.contains(s));
            components.extend(loops.into_iter().map(|s| vec![s]));
            for mut cycle in components {
                cycle.sort_unstable();
                mark(&mut self.on_cycle, &cycle);
                if stays_silent(model, &cycle) {
                    mark(&mut self.silent, &cycle);
                }
            }
        }
        self.on_cycle.get(state.index()).copied().unwrap_or(false)
    }

    /// Whether the cycle of a state that was found to be on one stays silent for ever.
    fn is_silent(&self, state: StateId) -> bool {
        self.silent.get(state.index()).copied().unwrap_or(false)
    }
}

/// Whether a cycle of internal actions, in order, is left neither internally nor by an output.
fn stays_silent<M: Semantics<State = StateId>>(model: &M, cycle: &[StateId]) -> bool {
    let kinds = model.labels().kinds();
    let mut row = Vec::new();
    cycle.iter().all(|s| {
        row.clear();
        model.successors(s, &mut row);
        row.iter()
            .all(|(label, target)| match kinds[label.index()] {
                LabelKind::Output => false,
                LabelKind::Internal => cycle.binary_search(target).is_ok(),
                _ => true,
            })
    })
}

fn mark(set: &mut Vec<bool>, states: &[StateId]) {
    for s in states {
        if set.len() <= s.index() {
            set.resize(s.index() + 1, false);
        }
        set[s.index()] = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LtsBuilder;

    /// S of [SAFE04, fig. 1], rebuilt from example 1.
    fn safe04_s() -> crate::Lts {
        let mut b = LtsBuilder::new();
        let q: Vec<_> = (0..7).map(|k| b.named_state(&format!("q{k}"))).collect();
        for (s, l, t) in [
            (0, "!b", 1),
            (1, "?a", 1),
            (0, "?a", 2),
            (0, "?a", 4),
            (2, "!b", 3),
            (4, "!b", 5),
            (5, "!c", 6),
            (6, "i", 6),
        ] {
            b.transition_text(q[s], l, q[t]);
        }
        b.build().unwrap()
    }

    #[test]
    fn example_4_of_safe04() {
        let s = safe04_s();
        let view = Suspension::new(&s, QuiescencePolicy::Livelock);
        let why: Vec<_> = s.states().map(|q| view.quiescence(q)).collect();
        let expected = [
            None,
            Some(Quiescence::OutputLock),
            None,
            Some(Quiescence::Deadlock),
            None,
            None,
            Some(Quiescence::Livelock),
        ];
        assert_eq!(why, expected);
    }

    #[test]
    fn the_strict_policy_remembers_the_livelock() {
        let s = safe04_s();
        let view = Suspension::new(&s, QuiescencePolicy::Strict);
        assert_eq!(view.livelock(), None);
        assert_eq!(view.quiescence(StateId::new(6)), None);
        assert_eq!(view.livelock(), Some(StateId::new(6)));
    }
}
