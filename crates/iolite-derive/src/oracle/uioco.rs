//! uioco: ioco over the universal suspension traces.

use iolite_lts::relation::Relation;
use iolite_lts::{LabelId, LabelKind, Labels, QuiescencePolicy, Semantics, SetId, StateId};

use crate::{
    ActionId, Alphabet, Criterion, FiniteOracle, IocoOracle, Meaning, Oracle, Places, StateKey,
    Step, Undecided,
};

/// The suspension automaton, in which an input counts as specified only where every state that the
/// specification may be in takes it, after internal steps if need be. What an output or δ means is as
/// for ioco.
#[derive(Clone, Debug)]
pub struct UiocoOracle<M>(IocoOracle<M>);

impl<M: Semantics<State = StateId>> UiocoOracle<M> {
    /// The oracle for `specification`, with an alphabet of its own.
    pub fn new(specification: M, policy: QuiescencePolicy) -> Self {
        Self(IocoOracle::new(specification, policy))
    }

    /// The oracle for `specification`; the alphabet was made of its labels.
    pub fn with_alphabet(specification: M, policy: QuiescencePolicy, alphabet: &Alphabet) -> Self {
        Self(IocoOracle::with_alphabet(specification, policy, alphabet))
    }

    /// Whether no state of the set refuses the input.
    fn takes(&mut self, at: SetId, input: LabelId) -> bool {
        let view = self.0.view_mut();
        let members = view.members(at).to_vec();
        members.into_iter().all(|s| {
            let closed = view.set_of(&[s]);
            view.after(closed, input).is_some()
        })
    }
}

impl<M: Semantics<State = StateId>> Oracle for UiocoOracle<M> {
    type State = SetId;

    fn criterion(&self) -> Criterion {
        Criterion::Relation(Relation::Uioco)
    }

    fn alphabet(&self) -> &Alphabet {
        self.0.alphabet()
    }

    fn initial(&mut self) -> Result<SetId, Box<Undecided>> {
        self.0.initial()
    }

    fn stimuli(&mut self, at: &SetId, menu: &mut Vec<ActionId>) {
        let mut row = Vec::new();
        self.inputs_from(*at, &mut row);
        menu.extend(row.into_iter().map(|(l, _)| ActionId::from(l)));
    }

    fn after(&mut self, at: &SetId, step: Step) -> Result<Meaning<SetId>, Box<Undecided>> {
        if let Step::Stimulus(action) = step {
            let input = self.0.actions().label(action);
            let taken = input.is_some_and(|input| self.takes(*at, input));
            if !taken {
                return Ok(Meaning::Unspecified);
            }
        }
        self.0.after(at, step)
    }

    fn out(&mut self, at: &SetId) -> Vec<String> {
        self.0.out(at)
    }

    fn places(&mut self, at: &SetId) -> Places {
        self.0.places(at)
    }

    fn waiting(&mut self, at: &SetId) -> Vec<String> {
        self.0.waiting(at)
    }

    fn trim(&mut self, at: SetId) -> SetId {
        self.0.trim(at)
    }

    fn trim_all(&mut self, states: &mut [SetId]) {
        self.0.trim_sets(states);
    }

    fn row(&mut self, at: &SetId, row: &mut Vec<(ActionId, SetId)>) -> Option<StateKey> {
        let steps = self.0.view_mut().row(*at).to_vec();
        for (label, next) in steps {
            let input = self.0.labels().kind(label) == LabelKind::Input;
            if !input || self.takes(*at, label) {
                row.push((label.into(), next));
            }
        }
        self.0.key(at)
    }

    fn key(&self, at: &SetId) -> Option<StateKey> {
        self.0.key(at)
    }

    fn generation(&self) -> u64 {
        self.0.generation()
    }
}

impl<M: Semantics<State = StateId>> FiniteOracle for UiocoOracle<M> {
    fn labels(&self) -> &Labels {
        self.0.labels()
    }

    fn members(&mut self, at: SetId) -> Vec<StateId> {
        self.0.members(at)
    }

    fn livelock(&self) -> Option<String> {
        self.0.livelock()
    }

    fn start(&mut self) -> SetId {
        self.0.start()
    }

    fn inputs_from(&mut self, at: SetId, row: &mut Vec<(LabelId, SetId)>) {
        let begin = row.len();
        self.0.inputs_from(at, row);
        let mut i = begin;
        while i < row.len() {
            if self.takes(at, row[i].0) {
                i += 1;
            } else {
                row.remove(i);
            }
        }
    }

    fn meaning(&mut self, at: SetId, observation: LabelId) -> Meaning<SetId> {
        self.0.meaning(at, observation)
    }
}
