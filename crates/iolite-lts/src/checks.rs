//! Questions about a whole system, answered with a witness.

use rustc_hash::FxHashSet;

use crate::{LabelId, LabelKind, Lts, Semantics, StateId, Tarjan};

/// Why a system is not deterministic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nondeterminism {
    /// The state has an internal step.
    Internal {
        /// The state.
        state: StateId,
    },
    /// The state has two steps under one label.
    Choice {
        /// The state.
        state: StateId,
        /// The label.
        label: LabelId,
    },
}

impl Nondeterminism {
    /// The witness in the model's words.
    pub fn describe(&self, lts: &Lts) -> String {
        match *self {
            Self::Internal { state } => format!("state {} has an internal step", lts.name(state)),
            Self::Choice { state, label } => {
                let label = lts.labels().text(label);
                format!("state {} has two steps under {label}", lts.name(state))
            }
        }
    }
}

/// A witness that `lts` is not deterministic [SAFE04, def. 2], the first in state order.
pub fn nondeterminism(lts: &Lts) -> Option<Nondeterminism> {
    lts.states().find_map(|state| {
        let row = lts.steps(state);
        if row
            .iter()
            .any(|&(l, _)| lts.labels().kind(l) == LabelKind::Internal)
        {
            return Some(Nondeterminism::Internal { state });
        }
        let twice = row.windows(2).find(|w| w[0].0 == w[1].0)?;
        Some(Nondeterminism::Choice {
            state,
            label: twice[0].0,
        })
    })
}

/// A reachable state and an input that it does not take, not even after internal actions; `None`
/// when the system is input-enabled [LTS96, def. 5.1]. The state is one nearest to the
/// initial one among those that cannot move on internally, the input its first.
///
/// What a state enables after an internal step it enables weakly itself, so only the states that
/// have no internal step to offer need a look, and the cycles of internal steps without a way out.
pub fn missing_input<M: Semantics<State = StateId>>(model: &M) -> Option<(StateId, LabelId)> {
    if model.is_completed() {
        return None;
    }
    let kinds = model.labels().kinds();
    let inputs: Vec<LabelId> = model.labels().inputs().collect();
    let lacks = |enabled: &[bool]| inputs.iter().copied().find(|i| !enabled[i.index()]);
    let mut queue = vec![model.initial()];
    let mut seen = StateSet::default();
    seen.insert(model.initial());
    let mut unstable = Vec::new();
    let mut row = Vec::new();
    let mut enabled = vec![false; kinds.len()];
    let mut next = 0;
    while next < queue.len() {
        let state = queue[next];
        next += 1;
        row.clear();
        enabled.fill(false);
        model.successors(&state, &mut row);
        let mut internal = false;
        for &(label, target) in &row {
            enabled[label.index()] = true;
            internal |= kinds[label.index()] == LabelKind::Internal;
            if seen.insert(target) {
                queue.push(target);
            }
        }
        if internal {
            unstable.push(state);
        } else if let Some(input) = lacks(&enabled) {
            return Some((state, input));
        }
    }
    closed_internal_cycles(model, &unstable)
        .into_iter()
        .find_map(|cycle| {
            enabled.fill(false);
            for state in &cycle {
                row.clear();
                model.successors(state, &mut row);
                for &(label, _) in &row {
                    enabled[label.index()] = true;
                }
            }
            Some((*cycle.iter().min()?, lacks(&enabled)?))
        })
}

/// The components of internal steps, among these states, that no internal step leaves.
fn closed_internal_cycles<M: Semantics<State = StateId>>(
    model: &M,
    states: &[StateId],
) -> Vec<Vec<StateId>> {
    let kinds = model.labels().kinds();
    let mut row = Vec::new();
    let mut internal = |state: StateId, out: &mut Vec<StateId>| {
        row.clear();
        model.successors(&state, &mut row);
        let steps = row
            .iter()
            .filter(|(l, _)| kinds[l.index()] == LabelKind::Internal);
        out.extend(steps.map(|&(_, t)| t));
    };
    let mut search = Tarjan::new();
    let mut components = Vec::new();
    for &state in states {
        search.visit(state, &mut internal, |c| components.push(c.to_vec()));
    }
    let mut targets = Vec::new();
    components.retain(|component| {
        targets.clear();
        for &state in component {
            internal(state, &mut targets);
        }
        let inside: FxHashSet<_> = component.iter().collect();
        !targets.is_empty() && targets.iter().all(|t| inside.contains(t))
    });
    components
}

#[derive(Default)]
struct StateSet(Vec<bool>);

impl StateSet {
    fn insert(&mut self, state: StateId) -> bool {
        if self.0.len() <= state.index() {
            self.0.resize(state.index() + 1, false);
        }
        !std::mem::replace(&mut self.0[state.index()], true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LtsBuilder;

    #[test]
    fn witnesses_are_named() {
        let mut b = LtsBuilder::new();
        let s: Vec<_> = (0..3).map(StateId::new).collect();
        b.transition_text(s[0], "?a", s[1]);
        b.transition_text(s[1], "i", s[0]);
        b.transition_text(s[0], "!x", s[2]);
        let lts = b.build().unwrap();
        let a = lts.labels().get_text("?a").unwrap();
        assert_eq!(
            nondeterminism(&lts),
            Some(Nondeterminism::Internal { state: s[1] })
        );
        assert_eq!(missing_input(&lts), Some((s[2], a)));

        let mut b = LtsBuilder::new();
        b.transition_text(s[0], "?a", s[0]);
        b.transition_text(s[0], "?a", s[1]);
        let lts = b.build().unwrap();
        assert_eq!(
            nondeterminism(&lts),
            Some(Nondeterminism::Choice {
                state: s[0],
                label: a
            })
        );
    }

    #[test]
    fn a_livelock_must_take_its_inputs_somewhere_on_the_cycle() {
        let s: Vec<_> = (0..3).map(StateId::new).collect();
        let mut b = LtsBuilder::new();
        b.transition_text(s[0], "i", s[1]);
        b.transition_text(s[1], "i", s[0]);
        b.transition_text(s[1], "?a", s[1]);
        assert_eq!(missing_input(&b.clone().build().unwrap()), None);
        let c = b.labels_mut().intern_text("?c");
        assert_eq!(missing_input(&b.build().unwrap()), Some((s[0], c)));
    }
}
