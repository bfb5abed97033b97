//! Queues over an oracle that can be listed, as one that can be listed itself.

use std::sync::Arc;

use iolite_lts::{LabelId, LabelKind, Labels, StateId};
use rustc_hash::FxHashMap;

use crate::{
    ActionId, Alphabet, Criterion, FiniteOracle, Meaning, Oracle, Places, QueueOptions,
    QueueOracle, QueueState, StateKey, Step, Undecided,
};

/// A [`QueueOracle`] whose states are numbered, so that relations and derivations can walk it. With a
/// bound on the inputs in flight there are finitely many.
///
/// It never forgets a state: the caller watches [`FiniteQueueOracle::bytes`].
#[derive(Debug)]
pub struct FiniteQueueOracle<O: FiniteOracle> {
    oracle: QueueOracle<O>,
    states: Vec<QueueState<O::State>>,
    numbers: FxHashMap<Explanations<O::State>, QueueStateId>,
    after: FxHashMap<(QueueStateId, Step), Meaning<QueueStateId>>,
    undecided: Option<Box<Undecided>>,
    bytes: usize,
}

/// A state of a [`FiniteQueueOracle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueStateId(u32);

/// What tells two states apart: the explanations, in an order of their own, and what is pending.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Explanations<S> {
    pending: Arc<[ActionId]>,
    configurations: Vec<(S, usize)>,
}

impl<O: FiniteOracle<State: Ord>> FiniteQueueOracle<O> {
    /// The oracle seen through queues.
    pub fn new(inner: O, options: QueueOptions) -> Self {
        Self {
            oracle: QueueOracle::new(inner, options),
            states: Vec::new(),
            numbers: FxHashMap::default(),
            after: FxHashMap::default(),
            undecided: None,
            bytes: 0,
        }
    }

    /// How many states were met.
    pub fn state_count(&self) -> usize {
        self.states.len()
    }

    /// Bytes that the states take, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn number(&mut self, state: QueueState<O::State>) -> QueueStateId {
        let mut configurations: Vec<(O::State, usize)> = state
            .configurations()
            .iter()
            .map(|c| (c.at, c.untaken))
            .collect();
        configurations.sort_unstable();
        let key = Explanations {
            pending: state.pending().into(),
            configurations,
        };
        if let Some(&known) = self.numbers.get(&key) {
            return known;
        }
        let number = u32::try_from(self.states.len()).expect("fewer states than bytes of memory");
        let configuration = 2 * size_of::<(O::State, usize)>();
        self.bytes += 128 + key.configurations.len() * configuration;
        self.bytes += key.pending.len() * 2 * size_of::<ActionId>();
        self.numbers.insert(key, QueueStateId(number));
        self.states.push(state);
        QueueStateId(number)
    }

    fn state(&self, at: QueueStateId) -> &QueueState<O::State> {
        &self.states[at.0 as usize]
    }

    /// What a step means.
    pub fn step(&mut self, at: QueueStateId, step: Step) -> Meaning<QueueStateId> {
        if let Some(&known) = self.after.get(&(at, step)) {
            return known;
        }
        let state = self.state(at).clone();
        let meaning = match self.oracle.after(&state, step) {
            Ok(Meaning::Allowed(next)) => Meaning::Allowed(self.number(next)),
            Ok(Meaning::Forbidden) => Meaning::Forbidden,
            Ok(Meaning::Ends) => Meaning::Ends,
            Ok(Meaning::Unspecified) => Meaning::Unspecified,
            Err(why) => {
                self.undecided.get_or_insert(why);
                Meaning::Ends
            }
        };
        self.bytes += 32;
        self.after.insert((at, step), meaning);
        meaning
    }
}

impl<O: FiniteOracle<State: Ord>> Oracle for FiniteQueueOracle<O> {
    type State = QueueStateId;

    fn criterion(&self) -> Criterion {
        self.oracle.criterion()
    }

    fn alphabet(&self) -> &Alphabet {
        self.oracle.alphabet()
    }

    fn initial(&mut self) -> Result<QueueStateId, Box<Undecided>> {
        let initial = self.oracle.initial()?;
        Ok(self.number(initial))
    }

    fn stimuli(&mut self, at: &QueueStateId, menu: &mut Vec<ActionId>) {
        let state = self.state(*at).clone();
        self.oracle.stimuli(&state, menu);
    }

    fn after(
        &mut self,
        at: &QueueStateId,
        step: Step,
    ) -> Result<Meaning<QueueStateId>, Box<Undecided>> {
        Ok(self.step(*at, step))
    }

    fn out(&mut self, at: &QueueStateId) -> Vec<String> {
        let state = self.state(*at).clone();
        self.oracle.out(&state)
    }

    fn places(&mut self, at: &QueueStateId) -> Places {
        let state = self.state(*at).clone();
        self.oracle.places(&state)
    }

    fn waiting(&mut self, at: &QueueStateId) -> Vec<String> {
        let state = self.state(*at).clone();
        self.oracle.waiting(&state)
    }

    fn key(&self, at: &QueueStateId) -> Option<StateKey> {
        Some(StateKey(at.0))
    }
}

impl<O: FiniteOracle<State: Ord>> FiniteOracle for FiniteQueueOracle<O> {
    fn labels(&self) -> &Labels {
        self.oracle.inner().labels()
    }

    /// Before or after inputs under way are taken.
    fn members(&mut self, at: QueueStateId) -> Vec<StateId> {
        let state = self.state(at).clone();
        let mut members = Vec::new();
        for stage in self.oracle.stages(&state) {
            members.extend(self.oracle.inner_mut().members(stage));
        }
        members.sort_unstable();
        members.dedup();
        members
    }

    fn livelock(&self) -> Option<String> {
        self.oracle.inner().livelock()
    }

    /// Steps of which something was not decided were called [`Meaning::Ends`].
    fn undecided(&self) -> Option<&Undecided> {
        self.undecided.as_deref()
    }

    fn start(&mut self) -> QueueStateId {
        match self.initial() {
            Ok(initial) => initial,
            Err(_) => unreachable!("an oracle that can be listed decides everything"),
        }
    }

    fn inputs_from(&mut self, at: QueueStateId, row: &mut Vec<(LabelId, QueueStateId)>) {
        let mut menu = Vec::new();
        self.stimuli(&at, &mut menu);
        let mut labels: Vec<LabelId> = menu.iter().map(|a| LabelId::new(a.index())).collect();
        labels.sort_unstable();
        for label in labels {
            if let Meaning::Allowed(next) = self.step(at, Step::Stimulus(label.into())) {
                row.push((label, next));
            }
        }
    }

    fn meaning(&mut self, at: QueueStateId, observation: LabelId) -> Meaning<QueueStateId> {
        let step = match self.labels().kind(observation) {
            LabelKind::Delta => Step::Quiescence,
            _ => Step::Output(observation.into()),
        };
        self.step(at, step)
    }
}
