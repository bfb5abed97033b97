//! Input completion: how a partial model becomes an input-enabled one.

use std::cell::RefCell;

use crate::{Closure, LabelId, LabelKind, Labels, Semantics, StateId, Step};

/// What happens on an input that a state does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Nothing: the input is swallowed (the self-loop convention of [LTS96, §5]).
    SelfLoop,
    /// Anything: from then on every behaviour is possible.
    Chaos,
}

/// A state of a completed system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CompletedState {
    /// A state of the model.
    Model(StateId),
    /// Chaos: it decides internally to speak or to be silent.
    Chaos,
    /// Chaos about to give any output.
    ChaosOutput,
    /// Chaos that waits for an input, quiescent.
    ChaosQuiet,
}

/// A view in which every input is enabled in every state, if need be after internal actions.
///
/// Its states are numbers as they are: the model's own with the self-loop completion; with chaos
/// first the three states of chaos, then the model's. So nothing has to be interned, and the steps
/// of a state are made when they are asked for.
#[derive(Clone, Debug)]
pub struct Completed<M> {
    model: M,
    completion: Completion,
    /// The model's labels, the inputs it did not know, and with chaos the outputs.
    labels: Labels,
    inputs: Vec<LabelId>,
    /// The inputs as bits, where what is missing becomes a self-loop and all labels have a bit.
    loop_inputs: Option<u64>,
    scratch: RefCell<Scratch>,
}

/// Space to find out what a state enables.
#[derive(Clone, Debug, Default)]
struct Scratch {
    closure: Closure,
    members: Vec<StateId>,
    row: Vec<Step>,
    /// For each label the last round in which it was enabled.
    enabled: Vec<u32>,
    round: u32,
}

impl<M: Semantics<State = StateId>> Completed<M> {
    /// Completes `model` for its own inputs.
    pub fn new(model: M, completion: Completion) -> Self {
        Self::over(model, completion, &Labels::new())
    }

    /// Completes `model` for its own inputs and for those of `labels`, which it may not know. Chaos gives the outputs of
    /// `labels` too: anything may happen, whether or not a transition of the model has it.
    pub fn over(model: M, completion: Completion, labels: &Labels) -> Self {
        let mut joint = model.labels().clone();
        for (_, label) in labels.iter() {
            let joins = match label.kind {
                LabelKind::Input => true,
                LabelKind::Output => completion == Completion::Chaos,
                LabelKind::Undirected | LabelKind::Internal | LabelKind::Delta => false,
            };
            if joins {
                joint.intern(label.kind, &label.name);
            }
        }
        let scratch = Scratch {
            enabled: vec![0; joint.len()],
            ..Scratch::default()
        };
        Self {
            model,
            completion,
            loop_inputs: (completion == Completion::SelfLoop && joint.len() <= 64).then(|| {
                joint
                    .inputs()
                    .fold(0, |bits, input| bits | 1 << input.index())
            }),
            inputs: joint.inputs().collect(),
            labels: joint,
            scratch: RefCell::new(scratch),
        }
    }

    /// How far the model's numbers are moved up.
    fn shift(&self) -> usize {
        match self.completion {
            Completion::SelfLoop => 0,
            Completion::Chaos => 3,
        }
    }

    fn state(&self, id: StateId) -> CompletedState {
        match id.index().checked_sub(self.shift()) {
            Some(own) => CompletedState::Model(StateId::new(own)),
            None if id == CHAOS => CompletedState::Chaos,
            None if id == CHAOS_OUTPUT => CompletedState::ChaosOutput,
            None => CompletedState::ChaosQuiet,
        }
    }

    /// The steps of a state of the model, and one for each input that it does not take, itself or
    /// after internal actions.
    fn model_steps(&self, id: StateId, own: StateId, row: &mut Vec<Step>) {
        let Scratch {
            closure,
            members,
            row: steps,
            enabled,
            round,
        } = &mut *self.scratch.borrow_mut();
        if *round == u32::MAX {
            enabled.fill(0);
            *round = 0;
        }
        *round += 1;
        let start = row.len();
        self.model.successors(&own, row);
        for (label, target) in &mut row[start..] {
            enabled[label.index()] = *round;
            *target = StateId::new(target.index() + self.shift());
        }
        if !closure.is_stable(&self.model, own) {
            members.clear();
            members.push(own);
            closure.close(&self.model, members);
            for member in members.iter() {
                steps.clear();
                self.model.successors(member, steps);
                for (label, _) in steps.iter() {
                    enabled[label.index()] = *round;
                }
            }
        }
        for &input in &self.inputs {
            if enabled[input.index()] != *round {
                row.push(match self.completion {
                    Completion::SelfLoop => (input, id),
                    Completion::Chaos => (input, CHAOS),
                });
            }
        }
    }
}

const CHAOS: StateId = StateId::FIRST;
const CHAOS_OUTPUT: StateId = StateId::nth(1);
const CHAOS_QUIET: StateId = StateId::nth(2);

impl<M: Semantics<State = StateId>> Semantics for Completed<M> {
    type State = StateId;

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn initial(&self) -> StateId {
        StateId::new(self.model.initial().index() + self.shift())
    }

    fn successors(&self, id: &StateId, row: &mut Vec<Step>) {
        let to_chaos = |label| (label, CHAOS);
        match self.state(*id) {
            CompletedState::Model(own) => self.model_steps(*id, own, row),
            CompletedState::Chaos => {
                row.push((LabelId::TAU, CHAOS_OUTPUT));
                row.push((LabelId::TAU, CHAOS_QUIET));
            }
            CompletedState::ChaosOutput => {
                row.extend(self.labels.outputs().map(to_chaos));
                row.extend(self.labels.inputs().map(to_chaos));
            }
            CompletedState::ChaosQuiet => row.extend(self.labels.inputs().map(to_chaos)),
        }
    }

    /// Completion adds inputs, and beside its own states no internal steps.
    fn internal_successors_of(
        &self,
        states: &[StateId],
        rows: &mut Vec<Step>,
        ends: &mut Vec<usize>,
    ) {
        match self.completion {
            Completion::SelfLoop => self.model.internal_successors_of(states, rows, ends),
            Completion::Chaos => self.successors_of(states, rows, ends),
        }
    }

    fn explicit_states(&self) -> Option<usize> {
        Some(self.model.explicit_states()? + self.shift())
    }

    fn successors_and_loops(&self, id: &StateId, row: &mut Vec<Step>) -> u64 {
        let Some(inputs) = self.loop_inputs else {
            self.successors(id, row);
            return 0;
        };
        let start = row.len();
        self.model.successors(id, row);
        let bits = |row: &[Step]| {
            let bits = row.iter().map(|(label, _)| 1 << label.index());
            bits.fold(0, |all, bit: u64| all | bit)
        };
        let mut enabled = bits(&row[start..]);
        if inputs & !enabled == 0 {
            return 0;
        }
        let Scratch {
            closure,
            members,
            row: steps,
            ..
        } = &mut *self.scratch.borrow_mut();
        if !closure.is_stable(&self.model, *id) {
            members.clear();
            members.push(*id);
            closure.close(&self.model, members);
            for member in members.iter() {
                steps.clear();
                self.model.successors(member, steps);
                enabled |= bits(steps);
            }
        }
        inputs & !enabled
    }

    fn look_ahead(&self, states: &[StateId]) {
        // With chaos the model has other numbers.
        if self.shift() == 0 {
            self.model.look_ahead(states);
        }
    }

    #[inline]
    fn internal_step(&self, id: &StateId) -> Option<bool> {
        match self.state(*id) {
            CompletedState::Model(own) => self.model.internal_step(&own),
            state => Some(state == CompletedState::Chaos),
        }
    }

    /// An input that a state of the model does not take weakly is added to its steps, and chaos takes all.
    fn is_completed(&self) -> bool {
        true
    }

    fn describe(&self, id: &StateId) -> String {
        match self.state(*id) {
            CompletedState::Model(own) => self.model.describe(&own),
            CompletedState::Chaos => "chaos".to_owned(),
            CompletedState::ChaosOutput => "chaos-output".to_owned(),
            CompletedState::ChaosQuiet => "chaos-quiet".to_owned(),
        }
    }

    fn place(&self, id: &StateId) -> String {
        match self.state(*id) {
            CompletedState::Model(own) => self.model.place(&own),
            _ => self.describe(id),
        }
    }

    fn line(&self, id: &StateId) -> Option<u32> {
        match self.state(*id) {
            CompletedState::Model(own) => self.model.line(&own),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LtsBuilder, missing_input};

    #[test]
    fn loops_apart_are_those_of_the_steps() {
        let mut b = LtsBuilder::new();
        for (source, label, target) in [
            (0, "i", 1),
            (0, "?a", 2),
            (1, "?b", 2),
            (1, "i", 0),
            (2, "!x", 0),
            (3, "?a", 3),
        ] {
            b.transition_text(StateId::new(source), label, StateId::new(target));
        }
        let lts = b.build().unwrap();
        let mut more = Labels::new();
        more.intern_text("?c");
        for completion in [Completion::SelfLoop, Completion::Chaos] {
            let view = crate::Suspension::new(
                Completed::over(&lts, completion, &more),
                crate::QuiescencePolicy::Livelock,
            );
            for state in (0..4).map(StateId::new) {
                let (mut all, mut apart) = (Vec::new(), Vec::new());
                view.successors(&state, &mut all);
                let loops = view.successors_and_loops(&state, &mut apart);
                let inputs = view.labels().inputs();
                let loops = inputs.filter(|input| loops >> input.index() & 1 == 1);
                apart.extend(loops.map(|input| (input, state)));
                all.sort_unstable();
                apart.sort_unstable();
                assert_eq!(apart, all, "{completion:?} {state:?}");
            }
        }
    }

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
            let view = Completed::new(&lts, completion);
            let explored = crate::explore(&view, 100).unwrap();
            assert_eq!(missing_input(&explored), None, "{completion:?}");
            assert_eq!(missing_input(&view), None, "{completion:?}");
        }
        let mut more = Labels::new();
        more.intern_text("?c");
        more.intern_text("!y");
        let outputs = |completion| {
            Completed::over(&lts, completion, &more)
                .labels()
                .outputs()
                .count()
        };
        assert_eq!(
            [outputs(Completion::SelfLoop), outputs(Completion::Chaos)],
            [1, 2]
        );
        let view = Completed::over(&lts, Completion::SelfLoop, &more);
        assert_eq!(view.labels().inputs().count(), 3);
        assert_eq!(missing_input(&view), None);
        // State 0 takes ?a after an internal step, so completion leaves it alone.
        let view = Completed::new(&lts, Completion::SelfLoop);
        let mut row = Vec::new();
        view.successors(&view.initial(), &mut row);
        assert_eq!(row.len(), 2);
    }
}
