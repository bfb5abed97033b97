//! Where δ ends a trace: the system behind the δ-trace automaton.

use crate::{LabelId, Labels, QuiescencePolicy, Semantics, StateId, Step, Suspension};

/// A system in which each quiescent state has a δ-step to **stop**; determinised, it is the δ-trace
/// automaton Δ of the system [LTS96, def. 6.3].
///
/// The definition attaches δ to a set when a state in it has no output; for a strongly converging
/// system, which the paper assumes, these are the sets with a quiescent state. With internal cycles
/// the policy decides, as everywhere.
#[derive(Debug)]
pub struct DeltaTrace<M> {
    view: Suspension<M>,
}

impl<M: Semantics<State = StateId>> DeltaTrace<M> {
    /// The view of `model`.
    pub fn new(model: M, policy: QuiescencePolicy) -> Self {
        Self {
            view: Suspension::new(model, policy),
        }
    }
}

impl<M: Semantics<State = StateId>> Semantics for DeltaTrace<M> {
    /// `None` is **stop**.
    type State = Option<StateId>;

    fn labels(&self) -> &Labels {
        self.view.labels()
    }

    fn initial(&self) -> Option<StateId> {
        Some(self.view.initial())
    }

    fn successors(&self, state: &Option<StateId>, row: &mut Vec<(LabelId, Option<StateId>)>) {
        let Some(state) = state else { return };
        let mut steps: Vec<Step> = Vec::new();
        self.view.successors(state, &mut steps);
        row.extend(steps.into_iter().map(|(label, target)| match label {
            LabelId::DELTA => (label, None),
            _ => (label, Some(target)),
        }));
    }

    fn describe(&self, state: &Option<StateId>) -> String {
        state.map_or_else(|| "stop".to_owned(), |s| self.view.describe(&s))
    }

    fn place(&self, state: &Option<StateId>) -> String {
        state.map_or_else(|| self.describe(state), |s| self.view.place(&s))
    }

    fn line(&self, state: &Option<StateId>) -> Option<u32> {
        state.and_then(|s| self.view.line(&s))
    }
}
