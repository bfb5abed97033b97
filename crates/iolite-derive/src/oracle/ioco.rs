//! ioco [IOCO99, §4]: the suspension automaton of a specification.

use std::sync::Arc;

use iolite_lts::relation::Relation;
use iolite_lts::{
    DEFAULT_MEMO_BYTES, Determinised, LabelId, LabelKind, Labels, QuiescencePolicy, Semantics,
    SetId, StateId, Suspension,
};

use crate::location::places;
use crate::{
    ActionId, Alphabet, Criterion, FiniteOracle, LabelMap, Meaning, Oracle, Places, StateKey, Step,
    Undecided,
};

/// The suspension automaton of a specification as the ioco algorithm sees it: in `S after σ`, choice
/// 2 gives an input with `S after a ≠ ∅`, choice 3 checks outputs and θ against out(S).
///
/// Once the sets of a run are known, a step is one look-up and allocates nothing; the memo is kept
/// under its byte budget.
#[derive(Clone, Debug)]
pub struct IocoOracle<M> {
    view: Determinised<Suspension<M>>,
    actions: LabelMap,
    initial: Option<SetId>,
    sets_at_last_trim: usize,
    generation: u64,
}

impl<M: Semantics<State = StateId>> IocoOracle<M> {
    /// The oracle for `specification`, with an alphabet of its own.
    pub fn new(specification: M, policy: QuiescencePolicy) -> Self {
        let alphabet = Alphabet::of_labels(specification.labels());
        Self::with_alphabet(specification, policy, &alphabet)
    }

    /// The oracle for `specification`; the alphabet was made of its labels.
    pub fn with_alphabet(specification: M, policy: QuiescencePolicy, alphabet: &Alphabet) -> Self {
        Self::with_budget(specification, policy, alphabet, DEFAULT_MEMO_BYTES)
    }

    /// The same; the memo of visited sets stays under `bytes`.
    pub fn with_budget(
        specification: M,
        policy: QuiescencePolicy,
        alphabet: &Alphabet,
        bytes: usize,
    ) -> Self {
        let view = Determinised::with_budget(Suspension::new(specification, policy), bytes);
        let labels = Arc::new(view.labels().clone());
        Self {
            view,
            actions: LabelMap::own(alphabet, &labels),
            initial: None,
            sets_at_last_trim: 0,
            generation: 0,
        }
    }

    /// The view.
    pub fn view(&self) -> &Determinised<Suspension<M>> {
        &self.view
    }

    /// The view, to walk. It must not be trimmed from outside.
    pub fn view_mut(&mut self) -> &mut Determinised<Suspension<M>> {
        &mut self.view
    }

    /// The actions as labels of the specification.
    pub fn actions(&mut self) -> &mut LabelMap {
        &mut self.actions
    }

    /// Bytes of the memo.
    pub fn bytes(&self) -> usize {
        self.view.bytes()
    }

    /// Drops what is remembered, all but these sets, when it has outgrown its budget.
    pub(crate) fn trim_sets(&mut self, sets: &mut [SetId]) {
        let [first, others @ ..] = sets else { return };
        let members: Vec<Vec<StateId>> = others
            .iter()
            .map(|&set| self.view.members(set).to_vec())
            .collect();
        let generation = self.generation;
        *first = Oracle::trim(self, *first);
        if self.generation != generation {
            for (set, members) in others.iter_mut().zip(members) {
                *set = self.view.set_of(&members);
            }
        }
    }

    #[cold]
    fn trim_view(&mut self, at: SetId) -> SetId {
        let before = self.view.set_count();
        let at = self.view.trim(at);
        self.sets_at_last_trim = self.view.set_count();
        if self.sets_at_last_trim != before {
            self.initial = None;
            self.generation += 1;
        }
        at
    }
}

impl<M: Semantics<State = StateId>> Oracle for IocoOracle<M> {
    type State = SetId;

    fn criterion(&self) -> Criterion {
        Criterion::Relation(Relation::Ioco)
    }

    fn alphabet(&self) -> &Alphabet {
        self.actions.alphabet()
    }

    fn initial(&mut self) -> Result<SetId, Box<Undecided>> {
        Ok(self.start())
    }

    #[inline]
    fn stimuli(&mut self, at: &SetId, menu: &mut Vec<ActionId>) {
        self.view.row(*at);
        let kinds = self.view.labels().kinds();
        let row = self.view.known_row(*at).unwrap_or_default();
        let inputs = row
            .iter()
            .filter(|(l, _)| kinds[l.index()] == LabelKind::Input);
        menu.extend(inputs.map(|&(label, _)| ActionId::from(label)));
    }

    #[inline]
    fn after(&mut self, at: &SetId, step: Step) -> Result<Meaning<SetId>, Box<Undecided>> {
        let label = self.actions.label(step.action());
        if label.is_none() {
            self.alphabet().reject_forgotten(step.action())?;
        }
        // Only the environment gives inputs, and only the system shows the rest.
        let given = |l: &LabelId| self.view.labels().kinds()[l.index()] == LabelKind::Input;
        let label = label.filter(|l| given(l) == step.is_stimulus());
        Ok(match label.and_then(|label| self.view.after(*at, label)) {
            Some(next) => Meaning::Allowed(next),
            None if step.is_stimulus() => Meaning::Unspecified,
            None => Meaning::Forbidden,
        })
    }

    fn out(&mut self, at: &SetId) -> Vec<String> {
        let out = self.view.out(*at);
        out.iter().map(|&l| self.view.labels().text(l)).collect()
    }

    fn places(&mut self, at: &SetId) -> Places {
        places(&self.view, *at)
    }

    #[inline]
    fn trim(&mut self, at: SetId) -> SetId {
        if self.view.set_count() == self.sets_at_last_trim {
            return at;
        }
        self.trim_view(at)
    }

    fn trim_all(&mut self, states: &mut [SetId]) {
        self.trim_sets(states);
    }

    fn row(&mut self, at: &SetId, row: &mut Vec<(ActionId, SetId)>) -> Option<StateKey> {
        row.extend(self.view.row(*at).iter().map(|&(l, set)| (l.into(), set)));
        self.key(at)
    }

    fn key(&self, at: &SetId) -> Option<StateKey> {
        u32::try_from(at.index()).ok().map(StateKey)
    }

    fn generation(&self) -> u64 {
        self.generation
    }
}

impl<M: Semantics<State = StateId>> FiniteOracle for IocoOracle<M> {
    fn labels(&self) -> &Labels {
        self.view.labels()
    }

    fn members(&mut self, at: SetId) -> Vec<StateId> {
        self.view.members(at).to_vec()
    }

    fn livelock(&self) -> Option<String> {
        let state = self.view.inner().livelock()?;
        Some(self.view.inner().describe(&state))
    }

    fn start(&mut self) -> SetId {
        match self.initial {
            Some(initial) => initial,
            None => *self.initial.insert(self.view.initial()),
        }
    }

    fn inputs_from(&mut self, at: SetId, row: &mut Vec<(LabelId, SetId)>) {
        self.view.row(at);
        let kinds = self.view.labels().kinds();
        let steps = self.view.known_row(at).unwrap_or_default().iter().copied();
        row.extend(steps.filter(|(l, _)| kinds[l.index()] == LabelKind::Input));
    }

    fn meaning(&mut self, at: SetId, observation: LabelId) -> Meaning<SetId> {
        match self.view.after(at, observation) {
            Some(next) => Meaning::Allowed(next),
            None => Meaning::Forbidden,
        }
    }
}

#[cfg(test)]
mod tests {
    use iolite_lts::{Lts, LtsBuilder};

    use super::*;
    use crate::Action;

    /// What an id meant that was forgotten is not known: it may have been an action of the specification.
    #[test]
    fn an_action_that_was_forgotten_is_undecided() {
        let mut builder = LtsBuilder::new();
        builder.transition_text(StateId::new(0), "!x", StateId::new(0));
        let lts: Lts = builder.build().unwrap();
        let mut oracle = IocoOracle::new(&lts, QuiescencePolicy::Livelock);
        let start = oracle.initial().unwrap();
        let alphabet = oracle.alphabet().clone();
        let foreign =
            |n: u32| Action::from(&iolite_lts::Label::new(LabelKind::Output, &format!("y{n}")));
        let first = alphabet.intern(foreign(0));
        let mut ids = (1..1_200_000).map(|n| alphabet.intern(foreign(n)));
        let lost = ids
            .find(|id| !alphabet.keeps(*id))
            .expect("some are not kept");
        assert!(alphabet.keeps(first));
        ids.for_each(drop);
        assert!(alphabet.action(first).is_some() && alphabet.action(lost).is_none());
        let after = |oracle: &mut IocoOracle<_>, id| oracle.after(&start, Step::Output(id));
        assert_eq!(after(&mut oracle, first), Ok(Meaning::Forbidden));
        assert!(after(&mut oracle, lost).is_err());
    }
}
