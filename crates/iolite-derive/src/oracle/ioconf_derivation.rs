//! Derivation for ioconf and `ioconf_F` [LTS96, algorithms 7.3 and A.2].

use iolite_lts::relation::TraceSet;
use iolite_lts::{
    Determinised, LabelId, LabelKind, Labels, QuiescencePolicy, Semantics, SetId, StateId,
    Suspension,
};

use crate::location::{locations, places};
use crate::{Meaning, Oracle, Silence};

/// The δ-trace automaton `Δ_s` [LTS96, def. 6.3] together with F.
///
/// Algorithm A.2 speaks of Δ' with Δ –a→ Δ' also where Δ has no such step (F may leave traces(s), as
/// it does for ≤iot). By definition 6.8 `out(Δ after σ) = ∅` there, so the walk goes on with an empty
/// Δ in which nothing is allowed. The algorithm stops with `pass` at an output outside out(Δ) when
/// ε ∉ F; where F goes on after that output, stopping would lose exhaustiveness (lemma A.7 could not
/// hold), so the walk follows F.
#[derive(Debug)]
pub struct IoconfOracle<M> {
    view: Determinised<Suspension<M>>,
    traces: Option<TraceSet>,
    outputs: Vec<LabelId>,
}

/// A place in `Δ_s` and in F: `None` is `Δ after σ = ∅`, and `F after σ = ∅`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IoconfState {
    delta: Option<SetId>,
    traces: Option<StateId>,
}

impl<M: Semantics<State = StateId>> IoconfOracle<M> {
    /// ioconf, that is F = traces(s).
    pub fn new(specification: M, policy: QuiescencePolicy) -> Self {
        Self::with_traces(specification, policy, None)
    }

    /// `ioconf_F`; F is over the labels of the specification.
    pub fn with_traces(
        specification: M,
        policy: QuiescencePolicy,
        traces: Option<TraceSet>,
    ) -> Self {
        let view = Determinised::new(Suspension::new(specification, policy));
        let outputs = view.labels().outputs().collect();
        Self {
            view,
            traces,
            outputs,
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
    fn after(&mut self, at: IoconfState, label: LabelId) -> Option<IoconfState> {
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

    fn relation(&self) -> &'static str {
        match self.traces {
            None => "ioconf",
            Some(_) => "ioconf-f",
        }
    }

    fn labels(&self) -> &Labels {
        self.view.labels()
    }

    fn initial(&mut self) -> IoconfState {
        IoconfState {
            delta: Some(self.view.initial()),
            traces: self.traces.as_ref().map(TraceSet::initial),
        }
    }

    fn stimuli(&mut self, at: IoconfState, row: &mut Vec<(LabelId, IoconfState)>) {
        for index in 0..self.view.labels().len() {
            let label = LabelId::new(index);
            if self.view.labels().kind(label) == LabelKind::Input
                && let Some(next) = self.after(at, label)
            {
                row.push((label, next));
            }
        }
    }

    fn outputs(&mut self, at: IoconfState, row: &mut Vec<(LabelId, Meaning<IoconfState>)>) {
        let judged = self.judged(at);
        for i in 0..self.outputs.len() {
            let output = self.outputs[i];
            let right = at
                .delta
                .is_some_and(|set| self.view.after(set, output).is_some());
            let meaning = match self.after(at, output) {
                _ if judged && !right => Meaning::Forbidden,
                Some(next) => Meaning::Allowed(next),
                None => Meaning::Unjudged,
            };
            row.push((output, meaning));
        }
    }

    fn quiescence(&mut self, at: IoconfState) -> Silence<IoconfState> {
        let right = at
            .delta
            .is_some_and(|set| self.view.after(set, LabelId::DELTA).is_some());
        Silence::Final {
            allowed: right || !self.judged(at),
        }
    }

    fn locations(&self, at: IoconfState) -> Vec<String> {
        at.delta
            .map(|set| locations(&self.view, set))
            .unwrap_or_default()
    }

    fn places(&self, at: IoconfState) -> Vec<String> {
        at.delta
            .map(|set| places(&self.view, set))
            .unwrap_or_default()
    }

    fn trim(&mut self, at: IoconfState) -> IoconfState {
        match at.delta {
            Some(set) => IoconfState {
                delta: Some(self.view.trim(set)),
                ..at
            },
            None => at,
        }
    }
}
