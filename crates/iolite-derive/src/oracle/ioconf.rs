//! Derivation for ioconf and `ioconf_F` [LTS96, algorithms 7.3 and A.2].

use std::sync::Arc;

use iolite_lts::relation::{Relation, TraceSet};
use iolite_lts::{
    Determinised, LabelId, LabelKind, Labels, QuiescencePolicy, Semantics, SetId, StateId,
    Suspension,
};

use crate::location::places;
use crate::{
    ActionId, Alphabet, Criterion, FiniteOracle, LabelMap, Meaning, Oracle, Places, StateKey, Step,
    Undecided,
};

/// The δ-trace automaton `Δ_s` [LTS96, def. 6.3] together with F.
///
/// Algorithm A.2 speaks of Δ' with Δ –a→ Δ' also where Δ has no such step (F may leave traces(s), as
/// it does for ≤iot). By definition 6.8 `out(Δ after σ) = ∅` there, so the walk goes on with an empty
/// Δ in which nothing is allowed. The algorithm stops with `pass` at an output outside out(Δ) when
/// ε ∉ F; where F goes on after that output, stopping would lose exhaustiveness (lemma A.7 could not
/// hold), so the walk follows F.
#[derive(Clone, Debug)]
pub struct IoconfOracle<M> {
    view: Determinised<Suspension<M>>,
    traces: Option<TraceSet>,
    actions: LabelMap,
    generation: u64,
}

/// A place in `Δ_s` and in F: `None` is `Δ after σ = ∅`, and `F after σ = ∅`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IoconfState {
    delta: Option<SetId>,
    traces: Option<StateId>,
}

impl IoconfState {
    /// The place of a set, where there is no F.
    pub(super) fn of_set(set: SetId) -> Self {
        Self {
            delta: Some(set),
            traces: None,
        }
    }

    /// The set of such a place.
    pub(super) fn set(self) -> SetId {
        self.delta.expect("a place of a set")
    }
}

impl<M: Semantics<State = StateId>> IoconfOracle<M> {
    /// ioconf, that is F = traces(s), with an alphabet of its own.
    pub fn new(specification: M, policy: QuiescencePolicy) -> Self {
        Self::with_traces(specification, policy, None)
    }

    /// `ioconf_F`; F is over the labels of the specification.
    pub fn with_traces(
        specification: M,
        policy: QuiescencePolicy,
        traces: Option<TraceSet>,
    ) -> Self {
        let alphabet = Alphabet::of_labels(specification.labels());
        Self::with_alphabet(specification, policy, traces, &alphabet)
    }

    /// The same; the alphabet was made of the specification's labels.
    pub fn with_alphabet(
        specification: M,
        policy: QuiescencePolicy,
        traces: Option<TraceSet>,
        alphabet: &Alphabet,
    ) -> Self {
        let view = Determinised::new(Suspension::new(specification, policy));
        let labels = Arc::new(view.labels().clone());
        Self {
            view,
            traces,
            actions: LabelMap::own(alphabet, &labels),
            generation: 0,
        }
    }

    /// ε ∈ F after what happened so far.
    fn judged(&self, at: IoconfState) -> bool {
        match &self.traces {
            None => at.delta.is_some(),
            Some(traces) => at.traces.is_some_and(|f| traces.accepts(f)),
        }
    }

    /// The place after one more action, or `None` when F has no trace that goes on so.
    fn next(&mut self, at: IoconfState, label: LabelId) -> Option<IoconfState> {
        let delta = at.delta.and_then(|set| self.view.after(set, label));
        match &self.traces {
            None => delta.map(|set| IoconfState {
                delta: Some(set),
                traces: None,
            }),
            Some(traces) => {
                let f = traces.follow(at.traces?, label)?;
                Some(IoconfState {
                    delta,
                    traces: Some(f),
                })
            }
        }
    }
}

impl<M: Semantics<State = StateId>> Oracle for IoconfOracle<M> {
    type State = IoconfState;

    fn criterion(&self) -> Criterion {
        Criterion::Relation(match self.traces {
            None => Relation::Ioconf,
            Some(_) => Relation::IoconfF,
        })
    }

    fn alphabet(&self) -> &Alphabet {
        self.actions.alphabet()
    }

    fn initial(&mut self) -> Result<IoconfState, Box<Undecided>> {
        Ok(self.start())
    }

    fn stimuli(&mut self, at: &IoconfState, menu: &mut Vec<ActionId>) {
        let mut row = Vec::new();
        self.inputs_from(*at, &mut row);
        menu.extend(row.into_iter().map(|(l, _)| ActionId::from(l)));
    }

    fn after(
        &mut self,
        at: &IoconfState,
        step: Step,
    ) -> Result<Meaning<IoconfState>, Box<Undecided>> {
        let label = self.actions.label(step.action());
        if label.is_none() {
            self.alphabet().reject_forgotten(step.action())?;
        }
        // Only the environment gives inputs, and only the system shows the rest.
        let given = |l: &LabelId| self.view.labels().kind(*l) == LabelKind::Input;
        let label = label.filter(|l| given(l) == step.is_stimulus());
        Ok(match (label, step) {
            (Some(label), Step::Stimulus(_)) => match self.next(*at, label) {
                Some(next) => Meaning::Allowed(next),
                None => Meaning::Unspecified,
            },
            (None, Step::Stimulus(_)) => Meaning::Unspecified,
            (Some(label), _) => self.meaning(*at, label),
            // An output that nobody declared is outside out(Δ), wherever F speaks of it.
            (None, _) if self.judged(*at) => Meaning::Forbidden,
            (None, _) => Meaning::Ends,
        })
    }

    fn out(&mut self, at: &IoconfState) -> Vec<String> {
        let mut observations: Vec<LabelId> = self.view.labels().outputs().collect();
        observations.push(LabelId::DELTA);
        observations.retain(|&o| self.meaning(*at, o) != Meaning::Forbidden);
        let labels = self.view.labels();
        observations.iter().map(|&l| labels.text(l)).collect()
    }

    fn places(&mut self, at: &IoconfState) -> Places {
        at.delta
            .map(|set| places(&self.view, set))
            .unwrap_or_default()
    }

    fn trim(&mut self, at: IoconfState) -> IoconfState {
        let Some(set) = at.delta else { return at };
        let before = self.view.set_count();
        let delta = Some(self.view.trim(set));
        self.generation += u64::from(self.view.set_count() != before);
        IoconfState { delta, ..at }
    }

    fn trim_all(&mut self, states: &mut [IoconfState]) {
        let [first, others @ ..] = states else { return };
        let members: Vec<Option<Vec<StateId>>> = others
            .iter()
            .map(|state| Some(self.view.members(state.delta?).to_vec()))
            .collect();
        let generation = self.generation;
        *first = self.trim(*first);
        if self.generation != generation {
            for (state, members) in others.iter_mut().zip(members) {
                state.delta = members.map(|members| self.view.set_of(&members));
            }
        }
    }

    fn generation(&self) -> u64 {
        self.generation
    }

    fn is_same(&self, one: &IoconfState, other: &IoconfState) -> bool {
        one == other
    }

    /// Only where F is traces(s): a state is then a set. δ ends the run, and so is no step.
    fn row(
        &mut self,
        at: &IoconfState,
        row: &mut Vec<(ActionId, IoconfState)>,
    ) -> Option<StateKey> {
        let key = self.key(at)?;
        let steps = self.view.row(at.delta?).iter();
        let steps = steps.filter(|(label, _)| *label != LabelId::DELTA);
        row.extend(steps.map(|&(label, set)| {
            let next = IoconfState {
                delta: Some(set),
                traces: None,
            };
            (ActionId::from(label), next)
        }));
        Some(key)
    }

    fn key(&self, at: &IoconfState) -> Option<StateKey> {
        let set = at.delta.filter(|_| self.traces.is_none())?;
        u32::try_from(set.index()).ok().map(StateKey)
    }
}

impl<M: Semantics<State = StateId>> FiniteOracle for IoconfOracle<M> {
    fn labels(&self) -> &Labels {
        self.view.labels()
    }

    fn members(&mut self, at: IoconfState) -> Vec<StateId> {
        let set = at.delta.map(|set| self.view.members(set).to_vec());
        set.unwrap_or_default()
    }

    fn livelock(&self) -> Option<String> {
        let state = self.view.inner().livelock()?;
        Some(self.view.inner().describe(&state))
    }

    fn start(&mut self) -> IoconfState {
        IoconfState {
            delta: Some(self.view.initial()),
            traces: self.traces.as_ref().map(TraceSet::initial),
        }
    }

    fn inputs_from(&mut self, at: IoconfState, row: &mut Vec<(LabelId, IoconfState)>) {
        for index in 0..self.view.labels().len() {
            let label = LabelId::new(index);
            if self.view.labels().kind(label) == LabelKind::Input
                && let Some(next) = self.next(at, label)
            {
                row.push((label, next));
            }
        }
    }

    fn meaning(&mut self, at: IoconfState, observation: LabelId) -> Meaning<IoconfState> {
        let right = at
            .delta
            .is_some_and(|set| self.view.after(set, observation).is_some());
        if self.judged(at) && !right {
            return Meaning::Forbidden;
        }
        // δ ends the run [LTS96, §7]: traces of the relation have none inside.
        if observation == LabelId::DELTA {
            return Meaning::Ends;
        }
        match self.next(at, observation) {
            Some(next) => Meaning::Allowed(next),
            None => Meaning::Ends,
        }
    }
}
