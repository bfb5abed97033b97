//! Derivation for ioco [IOCO99, §4, algorithm "ioco test derivation"].

use iolite_lts::{
    Determinised, LabelId, LabelKind, Labels, QuiescencePolicy, Semantics, SetId, StateId,
    Suspension,
};

use crate::location::{locations, places};
use crate::{Meaning, Oracle, Silence};

/// The suspension automaton of a specification as the ioco algorithm sees it: in `S`, choice 2 gives
/// an input with `S after a ≠ ∅`, choice 3 checks outputs and θ against out(S).
#[derive(Debug)]
pub struct IocoOracle<M> {
    view: Determinised<Suspension<M>>,
    outputs: Vec<LabelId>,
}

impl<M: Semantics<State = StateId>> IocoOracle<M> {
    /// The oracle for `specification`.
    pub fn new(specification: M, policy: QuiescencePolicy) -> Self {
        Self::over(Determinised::new(Suspension::new(specification, policy)))
    }

    /// The oracle over a view that is there already.
    pub fn over(view: Determinised<Suspension<M>>) -> Self {
        let outputs = view.labels().outputs().collect();
        Self { view, outputs }
    }

    /// The view.
    pub fn view(&self) -> &Determinised<Suspension<M>> {
        &self.view
    }

    /// The view, to walk.
    pub fn view_mut(&mut self) -> &mut Determinised<Suspension<M>> {
        &mut self.view
    }
}

impl<M: Semantics<State = StateId>> Oracle for IocoOracle<M> {
    type State = SetId;

    fn relation(&self) -> &'static str {
        "ioco"
    }

    fn labels(&self) -> &Labels {
        self.view.labels()
    }

    fn initial(&mut self) -> SetId {
        self.view.initial()
    }

    fn stimuli(&mut self, at: SetId, row: &mut Vec<(LabelId, SetId)>) {
        self.view.row(at);
        let kinds = self.view.labels().kinds();
        let steps = self.view.known_row(at).unwrap_or_default().iter().copied();
        row.extend(steps.filter(|(l, _)| kinds[l.index()] == LabelKind::Input));
    }

    fn outputs(&mut self, at: SetId, row: &mut Vec<(LabelId, Meaning<SetId>)>) {
        for &output in &self.outputs {
            let meaning = match self.view.after(at, output) {
                Some(next) => Meaning::Allowed(next),
                None => Meaning::Forbidden,
            };
            row.push((output, meaning));
        }
    }

    fn quiescence(&mut self, at: SetId) -> Silence<SetId> {
        Silence::Observed(match self.view.after(at, LabelId::DELTA) {
            Some(next) => Meaning::Allowed(next),
            None => Meaning::Forbidden,
        })
    }

    fn locations(&self, at: SetId) -> Vec<String> {
        locations(&self.view, at)
    }

    fn places(&self, at: SetId) -> Vec<String> {
        places(&self.view, at)
    }

    fn trim(&mut self, at: SetId) -> SetId {
        self.view.trim(at)
    }
}
