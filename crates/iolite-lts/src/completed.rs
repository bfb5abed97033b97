//! Input completion: how a partial model becomes an input-enabled one.

use rustc_hash::FxHashSet;

use crate::{LabelId, LabelKind, Labels, Semantics};

/// What happens on an input that a state does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Nothing: the input is swallowed (the self-loop convention of [LTS96, §5]).
    SelfLoop,
    /// Anything: from then on every behaviour is possible.
    Chaos,
}

/// A state of a completed system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CompletedState<S> {
    /// A state of the model.
    Model(S),
    /// Chaos: it decides internally to speak or to be silent.
    Chaos,
    /// Chaos about to give any output.
    ChaosOutput,
    /// Chaos that waits for an input, quiescent.
    ChaosQuiet,
}

/// A view in which every input is enabled in every state, if need be after internal actions.
#[derive(Debug)]
pub struct Completed<M> {
    model: M,
    completion: Completion,
    /// The model's labels, and the inputs it did not know.
    labels: Labels,
}

impl<M: Semantics> Completed<M> {
    /// Completes `model` for its own inputs.
    pub fn new(model: M, completion: Completion) -> Self {
        Self::over(model, completion, &Labels::new())
    }

    /// Completes `model` for its own inputs and for those of `labels`, which it may not know.
    pub fn over(model: M, completion: Completion, labels: &Labels) -> Self {
        let mut joint = model.labels().clone();
        for input in labels.inputs() {
            joint.intern(LabelKind::Input, &labels.label(input).name);
        }
        Self {
            model,
            completion,
            labels: joint,
        }
    }
}

/// The labels that `state` enables, itself or after internal actions.
fn weakly_enabled<M: Semantics>(model: &M, state: &M::State) -> Vec<bool> {
    let kinds = model.labels().kinds();
    let mut enabled = vec![false; kinds.len()];
    let mut seen = FxHashSet::from_iter([state.clone()]);
    let mut stack = vec![state.clone()];
    let mut row = Vec::new();
    while let Some(state) = stack.pop() {
        model.successors(&state, &mut row);
        for (label, target) in row.drain(..) {
            enabled[label.index()] = true;
            if kinds[label.index()] == LabelKind::Internal && seen.insert(target.clone()) {
                stack.push(target);
            }
        }
    }
    enabled
}

impl<M: Semantics> Semantics for Completed<M> {
    type State = CompletedState<M::State>;

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn initial(&self) -> Self::State {
        CompletedState::Model(self.model.initial())
    }

    fn successors(&self, state: &Self::State, row: &mut Vec<(LabelId, Self::State)>) {
        let labels = &self.labels;
        let to_chaos = |label| (label, CompletedState::Chaos);
        match state {
            CompletedState::Model(s) => {
                let mut steps = Vec::new();
                self.model.successors(s, &mut steps);
                let enabled = weakly_enabled(&self.model, s);
                row.extend(
                    steps
                        .into_iter()
                        .map(|(l, t)| (l, CompletedState::Model(t))),
                );
                for input in labels
                    .inputs()
                    .filter(|i| !enabled.get(i.index()).is_some_and(|&e| e))
                {
                    row.push(match self.completion {
                        Completion::SelfLoop => (input, state.clone()),
                        Completion::Chaos => to_chaos(input),
                    });
                }
            }
            CompletedState::Chaos => {
                row.push((LabelId::TAU, CompletedState::ChaosOutput));
                row.push((LabelId::TAU, CompletedState::ChaosQuiet));
            }
            CompletedState::ChaosOutput => {
                row.extend(labels.outputs().map(to_chaos));
                row.extend(labels.inputs().map(to_chaos));
            }
            CompletedState::ChaosQuiet => row.extend(labels.inputs().map(to_chaos)),
        }
    }

    fn describe(&self, state: &Self::State) -> String {
        match state {
            CompletedState::Model(s) => self.model.describe(s),
            CompletedState::Chaos => "chaos".to_owned(),
            CompletedState::ChaosOutput => "chaos-output".to_owned(),
            CompletedState::ChaosQuiet => "chaos-quiet".to_owned(),
        }
    }

    fn place(&self, state: &Self::State) -> String {
        match state {
            CompletedState::Model(s) => self.model.place(s),
            _ => self.describe(state),
        }
    }

    fn line(&self, state: &Self::State) -> Option<u32> {
        match state {
            CompletedState::Model(s) => self.model.line(s),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interned, LtsBuilder, StateId, missing_input};

    #[test]
    fn both_completions_are_input_enabled() {
        let mut b = LtsBuilder::new();
        b.transition_text(StateId::new(0), "i", StateId::new(1));
        b.transition_text(StateId::new(1), "?a", StateId::new(2));
        b.transition_text(StateId::new(2), "!x", StateId::new(0));
        b.transition_text(StateId::new(2), "?b", StateId::new(2));
        let lts = b.build().unwrap();
        assert!(missing_input(&lts).is_some());
        for completion in [Completion::SelfLoop, Completion::Chaos] {
            let view = Interned::new(Completed::new(&lts, completion));
            assert_eq!(missing_input(&view), None, "{completion:?}");
        }
        let mut more = Labels::new();
        more.intern_text("?c");
        let view = Interned::new(Completed::over(&lts, Completion::SelfLoop, &more));
        assert_eq!(view.labels().inputs().count(), 3);
        assert_eq!(missing_input(&view), None);
        // State 0 takes ?a after an internal step, so completion leaves it alone.
        let view = Completed::new(&lts, Completion::SelfLoop);
        let mut row = Vec::new();
        view.successors(&view.initial(), &mut row);
        assert_eq!(row.len(), 2);
    }
}
