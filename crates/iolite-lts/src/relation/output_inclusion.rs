//! Inclusion of outputs: ≤iot, ioconf, `ioconf_F`, ioco and uioco.
//!
//! All five ask `out(i after σ) ⊆ out(s after σ)` and differ in the σ they ask it for.
//!
//! Which order of specification sets is right, by what the five ask of a set P and of P' ⊇ P; what P'
//! forbids P forbids, in all of them, and `P after a` ⊆ `P' after a`:
//!
//! - *≤iot* follows every trace, into the empty set if need be. Inclusion is right.
//! - *`ioconf_F`* follows the traces of F, whatever the specification does. Inclusion is right among
//!   pairs that are at the same place of F; the place is their part.
//! - *uioco* follows an input where all states of the set take it. What all states of P' take, those
//!   of P take. Inclusion is right, for partial specifications too.
//! - *ioco* and *ioconf* follow an input where some state of the set takes it, so P' may follow one
//!   that P leaves open: it allows more now and demands more later. Inclusion is right as long as P
//!   and its successors take the inputs that P' and its successors take, above all in
//!   input-enabled specifications. It is not enough that P and P' take the same inputs now, since the
//!   sets after those need not (`the_same_inputs_now_are_not_enough` in the tests). Hence an input that
//!   a set leaves open is `Next::Unspecified`, and the search drops pairs until it meets one. From then on
//!   P stands for P' where it covers it, too (`cover.rs`).

use std::sync::Arc;

use crate::{LabelId, LabelKind, Semantics, StateId, Suspension};

use super::cover::{Cover, Lacking};
use super::nodes::Place;
use super::rules::{Goal, Inputs, Next, PairRules};
use super::set_row::{SetRow, Target, TargetSets};
use super::trace_inclusion::initial_set;
use super::weak_initials::WeakInitials;
use super::{Allowed, TraceSet};

/// The traces σ that a relation looks at.
#[derive(Clone)]
pub(super) enum Domain {
    /// L*.
    AllTraces,
    /// traces(s).
    Traces,
    /// F.
    Given(Arc<TraceSet>),
    /// Straces(s).
    SuspensionTraces,
    /// Utraces(s).
    UniversalSuspensionTraces,
}

#[derive(Clone)]
pub(super) struct OutputInclusion<N> {
    pub(super) model: Suspension<N>,
    domain: Domain,
    at: SetRow,
    /// Where σ is in F.
    in_f: StateId,
    initials: WeakInitials,
    /// The specification's inputs as bits, as far as they have one.
    known_inputs: u64,
}

/// The place in F where there is no F.
const NOWHERE: StateId = StateId::FIRST;

impl<N: Semantics<State = StateId>> OutputInclusion<N> {
    pub(super) fn new(model: Suspension<N>, domain: Domain) -> Self {
        let labels = model.labels().len();
        let inputs = model.labels().inputs().filter(|i| i.index() < 64);
        Self {
            known_inputs: inputs.fold(0, |bits, input| bits | 1 << input.index()),
            model,
            domain,
            at: SetRow::default(),
            in_f: NOWHERE,
            initials: WeakInitials::new(labels),
        }
    }

    /// Whether every state that the specification may be in takes `input`, if need be after
    /// internal actions: not (s after σ refuses {input}).
    fn all_take(&mut self, input: LabelId) -> bool {
        let Self {
            model,
            initials,
            at,
            ..
        } = self;
        at.members().iter().all(|&state| {
            initials
                .of(model, |l| l, state)
                .is_none_or(|id| initials.contains(id, input))
        })
    }
}

impl<N: Semantics<State = StateId>> PairRules for OutputInclusion<N> {
    fn has_parts(&self) -> bool {
        matches!(self.domain, Domain::Given(_))
    }

    fn initial(&mut self) -> (Vec<StateId>, u32) {
        let start = match &self.domain {
            Domain::Given(traces) => traces.initial(),
            _ => NOWHERE,
        };
        (initial_set(&self.model), start.index() as u32)
    }

    fn look_ahead(&self, members: &[StateId]) {
        self.model.look_ahead(members);
    }

    fn enter(&mut self, place: Place<'_>) {
        self.at.turn(place);
        self.in_f = StateId::new(place.part as usize);
    }

    fn step(&mut self, label: LabelId, kind: LabelKind, sets: &mut TargetSets) -> Next {
        let next = self.at.then(&self.model, label, sets);
        let observation = kind.is_observation();
        let demanded = match &self.domain {
            Domain::Given(traces) => traces.accepts(self.in_f),
            _ => true,
        };
        if observation && demanded && next.is_none() {
            return Next::Forbidden;
        }
        let go = |at: StateId| {
            Next::Go(Goal {
                set: next.unwrap_or(Target::NONE),
                part: at.index() as u32,
            })
        };
        match &self.domain {
            // δ is an observation like any other in a suspension trace, and the end of the others.
            Domain::Traces | Domain::AllTraces | Domain::Given(_) if kind == LabelKind::Delta => {
                Next::Outside
            }
            Domain::AllTraces => go(NOWHERE),
            Domain::Given(traces) => traces.follow(self.in_f, label).map_or(Next::Outside, go),
            // No set takes an input that the specification does not know.
            _ if label.index() >= self.model.labels().len() => Next::Outside,
            Domain::UniversalSuspensionTraces => {
                if next.is_some() && (observation || self.all_take(label)) {
                    go(NOWHERE)
                } else {
                    Next::Outside
                }
            }
            Domain::Traces | Domain::SuspensionTraces => {
                if next.is_some() {
                    go(NOWHERE)
                } else {
                    Next::Unspecified
                }
            }
        }
    }

    fn inputs(&mut self) -> Option<Inputs> {
        if self.model.labels().len() > 64 {
            return None;
        }
        // As `step` says it: an input that no state of the set takes is left open where σ ranges over traces
        // of the specification that some state has, and ends σ where all states must take it. What the
        // specification does not know has no bit.
        let leaves_open = match self.domain {
            Domain::AllTraces | Domain::Given(_) => return None,
            Domain::UniversalSuspensionTraces => false,
            Domain::Traces | Domain::SuspensionTraces => true,
        };
        let taken = self.at.label_bits(&self.model);
        Some(Inputs {
            taken,
            open: if leaves_open {
                self.known_inputs & !taken
            } else {
                0
            },
        })
    }

    fn cover(&self) -> Option<Cover> {
        // As `step` says it.
        let at_delta = match self.domain {
            Domain::AllTraces | Domain::Given(_) | Domain::UniversalSuspensionTraces => {
                return None;
            }
            Domain::Traces => Lacking::End,
            Domain::SuspensionTraces => Lacking::Forbidden,
        };
        Cover::of(&self.model, |kind| match kind {
            LabelKind::Delta => at_delta,
            LabelKind::Output => Lacking::Forbidden,
            LabelKind::Input | LabelKind::Undirected | LabelKind::Internal => Lacking::Open,
        })
    }

    fn allowed(&mut self) -> Allowed {
        let kinds = self.model.labels().kinds();
        let out = self.at.labels(&self.model);
        Allowed::Actions(out.filter(|l| kinds[l.index()].is_observation()).collect())
    }

    fn bytes(&self) -> usize {
        self.at.bytes() + self.initials.bytes()
    }
}
