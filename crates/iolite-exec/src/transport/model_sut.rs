//! Another model as the system under test, with a seeded scheduler.

use std::time::Duration;

use iolite_derive::ActionId;
use iolite_lts::{LabelId, LabelKind, QuiescencePolicy, Semantics};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::codec::{Dictionary, Message};
use crate::{Adapter, ConcreteAction, ExecError, Received, RunningModel, Sent};

/// What a model does with an input that it does not take in its present state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefusedInput {
    /// An error that names state and input: ioco asks for input-enabled implementations.
    #[default]
    Error,
    /// The input changes nothing.
    SelfLoop,
}

/// States that a search for a cycle of internal actions looks at before it gives up.
const CYCLE_BOUND: usize = 1 << 20;

/// Internal steps in a row that one observation may take.
const INTERNAL_BOUND: usize = 1 << 20;

/// A model that runs. Where it can do several things, a seeded scheduler chooses, each with the
/// same probability.
///
/// Time does not pass: quiescence is known. A state on a cycle of internal actions may stay silent
/// (livelock, [SAFE04, §2.3]) and may leave the cycle, so both can happen there.
pub struct ModelSut<M: Semantics> {
    model: M,
    dictionary: Box<dyn Dictionary>,
    /// The actions of the model's outputs, as far as they were given and are the tester's own.
    outputs: Vec<Option<ActionId>>,
    /// The inputs of the tester's own actions, by their ids, as far as they were given. A table, since
    /// a step is too short for a hash.
    inputs: Vec<Given>,
    /// The model's inputs as actions with values.
    named: FxHashMap<ConcreteAction, LabelId>,
    /// The input that stands for all that the model does not have.
    unknown: Option<LabelId>,
    kinds: Vec<LabelKind>,
    state: M::State,
    row: Vec<(LabelId, M::State)>,
    choices: Vec<usize>,
    on_cycle: FxHashMap<M::State, bool>,
    quiescence: QuiescencePolicy,
    refused: RefusedInput,
    seed: u64,
    rng: Xoshiro256PlusPlus,
}

/// Sets the scheduler's random numbers apart from the tester's.
const SCHEDULER: u64 = 0x5c4e_d01e_5c4e_d01e;

/// The seed of a model's random choices in a run. The tester draws from the run's seed too; the schedule must
/// not follow its choices.
pub(crate) fn scheduler_seed(own: u64, run: u64) -> u64 {
    own ^ run.rotate_left(17) ^ SCHEDULER
}

/// What is known of an action that the tester gives.
#[derive(Clone, Copy, Default)]
enum Given {
    #[default]
    Unknown,
    /// The model has no such input.
    Foreign,
    Input(LabelId),
}

enum Move {
    Internal,
    Output(ActionId),
    Silence,
    Stimulus,
}

impl<M: Semantics> ModelSut<M> {
    /// Runs `model` for a tester whose actions the dictionary knows.
    pub fn new(model: M, dictionary: impl Dictionary + 'static, seed: u64) -> Self {
        let own = model.labels();
        let mut named = FxHashMap::default();
        for input in own.inputs() {
            let action = ConcreteAction::parse(&own.label(input).name);
            named.entry(action).or_insert(input);
        }
        let kinds: Vec<_> = own.iter().map(|(_, l)| l.kind).collect();
        Self {
            dictionary: Box::new(dictionary),
            outputs: vec![None; kinds.len()],
            inputs: Vec::new(),
            named,
            unknown: None,
            kinds,
            state: model.initial(),
            model,
            row: Vec::new(),
            choices: Vec::new(),
            on_cycle: FxHashMap::default(),
            quiescence: QuiescencePolicy::default(),
            refused: RefusedInput::default(),
            seed,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// What an output of the model is to the tester.
    #[inline]
    fn output(&mut self, label: LabelId) -> Result<ActionId, ExecError> {
        match self.outputs[label.index()] {
            Some(action) => Ok(action),
            None => self.find_output(label),
        }
    }

    #[cold]
    fn find_output(&mut self, label: LabelId) -> Result<ActionId, ExecError> {
        let known = self.model.labels().label(label);
        let message = Message::notation(&known.name);
        let read = self.dictionary.read(LabelKind::Output, &message);
        let foreign = || self.dictionary.foreign(LabelKind::Output, &message.action);
        let action = read
            .or_else(|_| foreign())
            .map_err(|e| ExecError::Config(e.0))?
            .action;
        if self.dictionary.alphabet().is_declared(action) {
            self.outputs[label.index()] = Some(action);
        }
        Ok(action)
    }

    /// The input of the model that the tester's action is.
    #[inline]
    fn input(&mut self, stimulus: ActionId) -> Option<LabelId> {
        match self.inputs.get(stimulus.index()) {
            Some(&Given::Input(input)) => Some(input),
            Some(Given::Foreign) => None,
            Some(Given::Unknown) | None => self.find_input(stimulus),
        }
    }

    #[cold]
    fn find_input(&mut self, stimulus: ActionId) -> Option<LabelId> {
        let alphabet = self.dictionary.alphabet();
        let text = alphabet.text(stimulus);
        let own = self.model.labels();
        let named = || self.named.get(&self.dictionary.write(stimulus).action);
        let input = own.get_text(&text).or_else(|| named().copied());
        let input = input.or(self.unknown);
        // Declared actions come first and keep their ids; others may be forgotten.
        if alphabet.is_declared(stimulus) {
            let i = stimulus.index();
            if self.inputs.len() <= i {
                self.inputs.resize(i + 1, Given::Unknown);
            }
            self.inputs[i] = input.map_or(Given::Foreign, Given::Input);
        }
        input
    }

    /// With the fair policy it stays silent only on cycles that it can leave neither internally nor by
    /// an output.
    #[must_use]
    pub fn with_quiescence(mut self, quiescence: QuiescencePolicy) -> Self {
        self.quiescence = quiescence;
        self
    }

    /// What becomes of an input that the present state does not take.
    #[must_use]
    pub fn on_refused_input(mut self, policy: RefusedInput) -> Self {
        self.refused = policy;
        self
    }

    /// An input of the model that stands for every one that it does not have: values that it never saw, and actions that
    /// only the tester knows.
    #[must_use]
    pub fn with_unknown_input(mut self, input: Option<LabelId>) -> Self {
        self.unknown = input;
        self
    }

    /// The present state, for people.
    pub fn describe_state(&self) -> String {
        self.model.describe(&self.state)
    }

    fn load(&mut self) {
        self.row.clear();
        self.model.successors(&self.state, &mut self.row);
    }

    /// Whether the present state may stay silent although it can move: on a cycle of internal actions.
    /// The row must be loaded.
    fn on_internal_cycle(&mut self) -> Result<bool, ExecError> {
        if !self
            .row
            .iter()
            .any(|(l, _)| self.kinds[l.index()] == LabelKind::Internal)
        {
            return Ok(false);
        }
        if let Some(&known) = self.on_cycle.get(&self.state) {
            return Ok(known);
        }
        let mut found = self.comes_back(&self.state)?;
        if found && self.quiescence == QuiescencePolicy::Fair {
            let cycle = self.silent_cycle()?;
            found = cycle.is_some();
            // All its states are silent alike.
            let members = cycle.into_iter().flatten();
            self.on_cycle.extend(members.map(|state| (state, true)));
        }
        self.on_cycle.insert(self.state.clone(), found);
        Ok(found)
    }

    /// The cycle of the present state, where no internal step leads off it and no state of it speaks.
    fn silent_cycle(&self) -> Result<Option<FxHashSet<M::State>>, ExecError> {
        let mut seen = FxHashSet::from_iter([self.state.clone()]);
        let mut stack = vec![self.state.clone()];
        let mut row = Vec::new();
        while let Some(state) = stack.pop() {
            if !self.comes_back(&state)? {
                return Ok(None);
            }
            row.clear();
            self.model.successors(&state, &mut row);
            for (label, next) in row.drain(..) {
                match self.kinds[label.index()] {
                    LabelKind::Output | LabelKind::Undirected => return Ok(None),
                    LabelKind::Internal if seen.insert(next.clone()) => stack.push(next),
                    _ => {}
                }
            }
        }
        Ok(Some(seen))
    }

    /// Whether internal actions lead from a state to the present one.
    fn comes_back(&self, from: &M::State) -> Result<bool, ExecError> {
        let mut seen = FxHashSet::default();
        let mut stack = vec![from.clone()];
        let mut row = Vec::new();
        while let Some(state) = stack.pop() {
            row.clear();
            self.model.successors(&state, &mut row);
            for (label, next) in row.drain(..) {
                if self.kinds[label.index()] != LabelKind::Internal {
                    continue;
                }
                if next == self.state {
                    return Ok(true);
                }
                if seen.insert(next.clone()) {
                    stack.push(next);
                }
            }
            if seen.len() > CYCLE_BOUND {
                return Err(ExecError::Model(format!(
                    "more than {CYCLE_BOUND} states by internal actions from {}",
                    self.describe_state()
                )));
            }
        }
        Ok(false)
    }

    /// The scheduler's next move; `stimulus` when an input waits to be taken.
    fn schedule(&mut self, stimulus: bool) -> Result<Move, ExecError> {
        self.load();
        self.choices.clear();
        for (i, (label, _)) in self.row.iter().enumerate() {
            let kind = self.kinds[label.index()];
            if matches!(
                kind,
                LabelKind::Output | LabelKind::Internal | LabelKind::Undirected
            ) {
                self.choices.push(i);
            }
        }
        let moves = self.choices.len();
        if moves == 0 {
            return Ok(if stimulus {
                Move::Stimulus
            } else {
                Move::Silence
            });
        }
        let other = usize::from(stimulus || self.on_internal_cycle()?);
        let pick = self.pick(moves + other);
        if pick == moves {
            return Ok(if stimulus {
                Move::Stimulus
            } else {
                Move::Silence
            });
        }
        let (label, next) = self.row.swap_remove(self.choices[pick]);
        self.state = next;
        if self.kinds[label.index()] == LabelKind::Internal {
            return Ok(Move::Internal);
        }
        self.output(label).map(Move::Output)
    }

    fn pick(&mut self, count: usize) -> usize {
        if count == 1 {
            0
        } else {
            self.rng.random_range(0..count)
        }
    }

    fn settle(&mut self, stimulus: bool) -> Result<Move, ExecError> {
        for _ in 0..INTERNAL_BOUND {
            match self.schedule(stimulus)? {
                Move::Internal => {}
                done => return Ok(done),
            }
        }
        Err(ExecError::Model(format!(
            "more than {INTERNAL_BOUND} internal steps in a row"
        )))
    }

    /// The states that take the input, after internal steps where the present one does not.
    fn takers(&self, input: LabelId) -> Result<Vec<M::State>, ExecError> {
        let mut seen = FxHashSet::default();
        let mut queue = vec![self.state.clone()];
        let mut takers = Vec::new();
        let mut row = Vec::new();
        let mut next = 0;
        seen.insert(self.state.clone());
        while next < queue.len() {
            row.clear();
            self.model.successors(&queue[next], &mut row);
            next += 1;
            for (label, target) in row.drain(..) {
                if label == input {
                    takers.push(target);
                } else if self.kinds[label.index()] == LabelKind::Internal
                    && seen.insert(target.clone())
                {
                    queue.push(target);
                }
            }
            if seen.len() > CYCLE_BOUND {
                return Err(ExecError::Model(format!(
                    "more than {CYCLE_BOUND} states by internal actions from {}",
                    self.describe_state()
                )));
            }
        }
        Ok(takers)
    }

    fn refuse(&self) -> Sent {
        match self.refused {
            RefusedInput::SelfLoop => Sent::Given,
            RefusedInput::Error => Sent::Refused {
                reason: format!(
                    "the model under test does not take it in state {}; complete its inputs",
                    self.describe_state()
                ),
            },
        }
    }
}

impl<M: Semantics> RunningModel for ModelSut<M> {
    fn can_move(&mut self) -> Result<bool, ExecError> {
        self.load();
        Ok(self.row.iter().any(|(l, _)| {
            matches!(
                self.kinds[l.index()],
                LabelKind::Output | LabelKind::Internal | LabelKind::Undirected
            )
        }))
    }
}

impl<M: Semantics> Adapter for ModelSut<M> {
    fn start(&mut self, seed: u64) -> Result<(), ExecError> {
        self.state = self.model.initial();
        self.rng = Xoshiro256PlusPlus::seed_from_u64(scheduler_seed(self.seed, seed));
        Ok(())
    }

    /// A race between the waiting stimulus and what the model may do by itself.
    fn poll(&mut self) -> Result<Option<Received>, ExecError> {
        Ok(match self.settle(true)? {
            Move::Output(action) => Some(Received::Output(action)),
            _ => None,
        })
    }

    fn send(&mut self, stimulus: ActionId) -> Result<Sent, ExecError> {
        let Some(input) = self.input(stimulus) else {
            return Ok(self.refuse());
        };
        self.load();
        self.choices.clear();
        for (i, (label, _)) in self.row.iter().enumerate() {
            if *label == input {
                self.choices.push(i);
            }
        }
        if !self.choices.is_empty() {
            let pick = self.pick(self.choices.len());
            self.state = self.row.swap_remove(self.choices[pick]).1;
            return Ok(Sent::Given);
        }
        let mut takers = self.takers(input)?;
        if takers.is_empty() {
            return Ok(self.refuse());
        }
        let pick = self.pick(takers.len());
        self.state = takers.swap_remove(pick);
        Ok(Sent::Given)
    }

    fn receive(&mut self, _: Duration) -> Result<Received, ExecError> {
        Ok(match self.settle(false)? {
            Move::Output(action) => Received::Output(action),
            _ => Received::Nothing,
        })
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        Ok(())
    }

    /// A model takes nothing down.
    fn shares_process(&self) -> bool {
        false
    }

    fn is_timed(&self) -> bool {
        false
    }
}
