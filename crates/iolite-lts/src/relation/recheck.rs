//! A second opinion on a counterexample, by code that shares nothing with the search.
//!
//! Both systems are stepped along the trace with plain sets of states, straight from the papers'
//! definitions: no determinised view, no memo, no suspension view.

use std::collections::BTreeSet;

use crate::{LabelKind, QuiescencePolicy, Semantics, StateId};

use super::Relation;

/// What a certificate claims, in the notation of traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The relation that is said not to hold.
    pub relation: Relation,
    /// The quiescence policy that was used.
    pub policy: QuiescencePolicy,
    /// The trace in `?a`, `!x`, `delta` notation.
    pub trace: Vec<String>,
    /// The action that was observed, or the labels that were refused.
    pub observed: Result<String, Vec<String>>,
}

/// What the second look found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recheck {
    /// The claim is right.
    Confirmed,
    /// It is not, for this reason.
    Refuted(String),
}

pub(super) type States = BTreeSet<StateId>;

pub(super) struct Stepper<'a, M> {
    pub(super) model: &'a M,
    pub(super) policy: QuiescencePolicy,
}

impl<M: Semantics<State = StateId>> Stepper<'_, M> {
    pub(super) fn steps(&self, state: StateId) -> Vec<(LabelKind, String, StateId)> {
        let mut row = Vec::new();
        self.model.successors(&state, &mut row);
        let labels = self.model.labels();
        row.into_iter()
            .map(|(l, t)| (labels.kind(l), labels.text(l), t))
            .collect()
    }

    /// What is reached internally, the states themselves included.
    fn close(&self, mut states: States) -> States {
        let mut todo: Vec<StateId> = states.iter().copied().collect();
        while let Some(state) = todo.pop() {
            for (kind, _, target) in self.steps(state) {
                if kind == LabelKind::Internal && states.insert(target) {
                    todo.push(target);
                }
            }
        }
        states
    }

    pub(super) fn initial(&self) -> States {
        self.close(States::from([self.model.initial()]))
    }

    fn diverges(&self, state: StateId) -> bool {
        let internal = self
            .steps(state)
            .into_iter()
            .filter(|(k, ..)| *k == LabelKind::Internal);
        internal
            .map(|(_, _, t)| t)
            .any(|t| self.close(States::from([t])).contains(&state))
    }

    pub(super) fn is_quiescent(&self, state: StateId) -> bool {
        let steps = self.steps(state);
        let silent = steps
            .iter()
            .all(|(k, ..)| !matches!(k, LabelKind::Internal | LabelKind::Output));
        silent
            || match self.policy {
                QuiescencePolicy::Strict => false,
                QuiescencePolicy::Livelock => self.diverges(state),
                QuiescencePolicy::Fair => {
                    let all = self.close(States::from([state]));
                    let stays = |s: &StateId| {
                        let output =
                            |(k, ..): &(LabelKind, String, StateId)| *k == LabelKind::Output;
                        self.close(States::from([*s])).contains(&state)
                            && !self.steps(*s).iter().any(output)
                    };
                    self.diverges(state) && all.iter().all(stays)
                }
            }
    }

    pub(super) fn walk(&self, states: &States, action: &str, with_delta: bool) -> States {
        let mut next = States::new();
        for &state in states {
            if action == "delta" && with_delta && self.is_quiescent(state) {
                next.insert(state);
            }
            let steps = self
                .steps(state)
                .into_iter()
                .filter(|(k, ..)| k.is_visible());
            next.extend(steps.filter(|(_, l, _)| l == action).map(|(.., t)| t));
        }
        self.close(next)
    }

    pub(super) fn refuses(&self, state: StateId, actions: &[String]) -> bool {
        let closed = self.close(States::from([state]));
        let mut enabled = closed.into_iter().flat_map(|s| self.steps(s));
        !enabled.any(|(k, l, _)| k.is_visible() && actions.contains(&l))
    }
}

/// Steps both systems along the claimed trace and looks whether the claim is true.
///
/// For `ioconf-f` the caller checks that the trace belongs to F; everything else is looked at here.
pub fn recheck<M, N>(implementation: &M, specification: &N, claim: &Claim) -> Recheck
where
    M: Semantics<State = StateId>,
    N: Semantics<State = StateId>,
{
    let i = Stepper {
        model: implementation,
        policy: claim.policy,
    };
    let s = Stepper {
        model: specification,
        policy: claim.policy,
    };
    let suspension = matches!(claim.relation, Relation::Ioco | Relation::Uioco);
    let within_specification = !matches!(
        claim.relation,
        Relation::Testing | Relation::Iot | Relation::IoconfF
    );
    let (mut at_i, mut at_s) = (i.initial(), s.initial());
    for (k, action) in claim.trace.iter().enumerate() {
        let step = k + 1;
        if claim.relation == Relation::Uioco
            && action.starts_with('?')
            && at_s
                .iter()
                .any(|&q| s.refuses(q, std::slice::from_ref(action)))
        {
            return refuted(format!(
                "step {step}: a state of the specification refuses {action}"
            ));
        }
        at_i = i.walk(&at_i, action, suspension);
        at_s = s.walk(&at_s, action, suspension);
        if at_i.is_empty() {
            return refuted(format!(
                "step {step}: the implementation cannot do {action}"
            ));
        }
        if at_s.is_empty() && within_specification {
            return refuted(format!(
                "step {step}: {action} leaves the specification's traces"
            ));
        }
    }
    match &claim.observed {
        Ok(action) => {
            let directed = claim.relation.is_directed();
            if directed && !(action == "delta" || action.starts_with('!')) {
                return refuted(format!("{action} is neither an output nor delta"));
            }
            if matches!(claim.relation, Relation::Testing | Relation::Conf) {
                return refuted("a refusal is needed, not an action".to_owned());
            }
            if i.walk(&at_i, action, directed).is_empty() {
                return refuted(format!("the implementation cannot show {action} there"));
            }
            if !s.walk(&at_s, action, directed).is_empty() {
                return refuted(format!("the specification allows {action} there"));
            }
        }
        Err(refused) => {
            if !matches!(claim.relation, Relation::Testing | Relation::Conf) {
                return refuted("an action is needed, not a refusal".to_owned());
            }
            if !at_i.iter().any(|&q| i.refuses(q, refused)) {
                return refuted("the implementation cannot refuse that there".to_owned());
            }
            if at_s.iter().any(|&q| s.refuses(q, refused)) {
                return refuted("the specification may refuse that there".to_owned());
            }
        }
    }
    Recheck::Confirmed
}

/// Looks again at a failing test run: the specification alone is stepped along the trace, and then
/// must not allow what was observed. With `suspension` δ may occur in the trace (ioco); without it
/// only at its end (ioconf).
pub fn recheck_run<N: Semantics<State = StateId>>(
    specification: &N,
    policy: QuiescencePolicy,
    suspension: bool,
    trace: &[String],
    observed: &str,
) -> Recheck {
    let s = Stepper {
        model: specification,
        policy,
    };
    let mut at = s.initial();
    for (k, action) in trace.iter().enumerate() {
        at = s.walk(&at, action, suspension);
        if at.is_empty() {
            let step = k + 1;
            return refuted(format!(
                "step {step}: {action} leaves the specification's traces"
            ));
        }
    }
    if observed != "delta" && !observed.starts_with('!') {
        return refuted(format!("{observed} is neither an output nor delta"));
    }
    if s.walk(&at, observed, true).is_empty() {
        Recheck::Confirmed
    } else {
        refuted(format!("the specification allows {observed} there"))
    }
}

/// Where a specification can be after the trace of a run, and what it allows there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// The states, in order.
    pub states: Vec<StateId>,
    /// The outputs, and `delta`, in the notation of traces, each once.
    pub allowed: Vec<String>,
}

/// Steps the specification along the trace of a run, as [`recheck_run`] does; `None` where it leaves
/// the specification's traces.
pub fn follow_run<N: Semantics<State = StateId>>(
    specification: &N,
    policy: QuiescencePolicy,
    suspension: bool,
    trace: &[String],
) -> Option<Followed> {
    let s = Stepper {
        model: specification,
        policy,
    };
    let mut at = s.initial();
    for action in trace {
        at = s.walk(&at, action, suspension);
    }
    let outputs = at.iter().flat_map(|&q| s.steps(q));
    let outputs = outputs.filter(|(kind, ..)| *kind == LabelKind::Output);
    let mut allowed: BTreeSet<String> = outputs.map(|(_, label, _)| label).collect();
    if at.iter().any(|&q| s.is_quiescent(q)) {
        allowed.insert("delta".to_owned());
    }
    (!at.is_empty()).then(|| Followed {
        states: at.into_iter().collect(),
        allowed: allowed.into_iter().collect(),
    })
}

fn refuted(reason: String) -> Recheck {
    Recheck::Refuted(reason)
}
