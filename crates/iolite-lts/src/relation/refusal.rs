//! Inclusion of refusals: testing preorder and conf.
//!
//! `p after σ refuses A` when some state after σ can do none of `A`, not even after internal
//! actions [LTS96, def. 4.4]. A state i' of the implementation refuses just the subsets of
//! L \ init(i'), so its refusals are refusals of the specification iff some state s' after the same
//! trace has init(s') ⊆ init(i').
//!
//! A larger specification set has more refusals, so for testing preorder inclusion is a right order,
//! with the empty set for "σ is no trace of the specification" as the smallest. conf asks about the
//! traces of the specification alone, and a larger set has more of them: a label that a set lacks is
//! unspecified there. As long as the implementation takes no such label, conf asks what testing
//! preorder asks; from then on a set stands for a larger one that has no other traces (`cover.rs`).

use rustc_hash::FxHashSet;

use crate::{LabelId, LabelKind, Labels, Semantics, StateId};

use super::Allowed;
use super::cover::{Cover, Lacking};
use super::nodes::Place;
use super::rules::{Goal, Next, PairRules};
use super::set_row::{SetRow, Target, TargetSets};
use super::trace_inclusion::initial_set;
use super::weak_initials::{LabelSetId, WeakInitials};

#[derive(Clone)]
pub(super) struct RefusalInclusion<N> {
    pub(super) model: N,
    /// Whether σ ranges over all traces (testing) or over those of the specification (conf).
    all_traces: bool,
    at: SetRow,
    /// The sets of weak initials of the states that the specification may be in.
    acceptances: Vec<LabelSetId>,
    specification: WeakInitials,
    implementation: WeakInitials,
    /// L, of both sides together.
    visible: Vec<LabelId>,
}

impl<N: Semantics<State = StateId>> RefusalInclusion<N> {
    pub(super) fn new(model: N, all_traces: bool) -> Self {
        let labels = model.labels().len();
        Self {
            model,
            all_traces,
            at: SetRow::default(),
            acceptances: Vec::new(),
            specification: WeakInitials::new(labels),
            implementation: WeakInitials::new(labels),
            visible: Vec::new(),
        }
    }

    /// Turns to another implementation, with which the labels are these.
    pub(super) fn begin(&mut self, labels: &Labels) {
        self.implementation = WeakInitials::new(labels.len());
        let action = |kind| kind != LabelKind::Internal && kind != LabelKind::Delta;
        let actions = labels.iter().filter(|(_, l)| action(l.kind));
        self.visible = actions.map(|(id, _)| id).collect();
    }

    /// A smallest set, by inclusion, of labels outside `initials` that meets every acceptance: the
    /// implementation refuses it and the specification does not.
    fn witness(&self, initials: LabelSetId) -> Vec<LabelId> {
        let outside = |l: &LabelId| !self.implementation.contains(initials, *l);
        let mut witness: Vec<LabelId> = self.visible.iter().copied().filter(outside).collect();
        for label in witness.clone().into_iter().rev() {
            let others = || witness.iter().filter(|&&l| l != label);
            let meets = |&a: &LabelSetId| others().any(|&l| self.specification.contains(a, l));
            if self.acceptances.iter().all(meets) {
                witness.retain(|&l| l != label);
            }
        }
        witness
    }
}

impl<N: Semantics<State = StateId>> PairRules for RefusalInclusion<N> {
    fn initial(&mut self) -> (Vec<StateId>, u32) {
        (initial_set(&self.model), 0)
    }

    fn look_ahead(&self, members: &[StateId]) {
        self.model.look_ahead(members);
    }

    fn enter(&mut self, place: Place<'_>) {
        let Self {
            model,
            at,
            acceptances,
            specification,
            ..
        } = self;
        at.turn(place);
        acceptances.clear();
        let states = place.members.iter();
        acceptances.extend(states.filter_map(|&s| specification.of(model, |l| l, s)));
        acceptances.sort_unstable();
        acceptances.dedup();
    }

    fn refusal<M: Semantics<State = StateId>>(
        &mut self,
        implementation: &M,
        map: &[LabelId],
        state: StateId,
    ) -> Option<Vec<LabelId>> {
        if self.at.members().is_empty() {
            return Some(Vec::new());
        }
        let own = self
            .implementation
            .of(implementation, |l| map[l.index()], state)?;
        let mut acceptances = self.acceptances.iter();
        let refused =
            acceptances.any(|&a| self.specification.is_subset(a, &self.implementation, own));
        (!refused).then(|| self.witness(own))
    }

    fn step(&mut self, label: LabelId, _kind: LabelKind, sets: &mut TargetSets) -> Next {
        let go = |set| Goal { set, part: 0 };
        match self.at.then(&self.model, label, sets) {
            Some(set) => Next::Go(go(set)),
            None if self.all_traces && self.at.members().is_empty() => Next::Outside,
            None if self.all_traces => Next::Lost(go(Target::NONE)),
            // No set takes a label that the specification does not know.
            None if label.index() >= self.model.labels().len() => Next::Outside,
            None => Next::Unspecified,
        }
    }

    fn cover(&self) -> Option<Cover> {
        let is_partial = !self.all_traces;
        is_partial.then(|| Cover::of(&self.model, |_| Lacking::Open))?
    }

    fn allowed(&mut self) -> Allowed {
        // In the order of states: sets are numbered as they are met, and each thread meets others first.
        let Self {
            model,
            at,
            specification,
            ..
        } = self;
        let mut seen = FxHashSet::default();
        let ids = at.members().iter();
        let ids = ids.filter_map(|&s| specification.of(model, |l| l, s));
        let all: Vec<LabelSetId> = ids.filter(|&id| seen.insert(id)).collect();
        let specification = &self.specification;
        // Only the smallest sets of initials: what the others refuse, these refuse too.
        let smaller = |b: LabelSetId, a| a != b && specification.is_subset(b, specification, a);
        let smallest = all.iter().filter(|&&a| !all.iter().any(|&b| smaller(b, a)));
        let refused = |&id: &LabelSetId| {
            let labels = self.visible.iter().copied();
            labels.filter(|&l| !specification.contains(id, l)).collect()
        };
        Allowed::Refusals(smallest.map(refused).collect())
    }

    fn bytes(&self) -> usize {
        self.at.bytes() + self.specification.bytes() + self.implementation.bytes()
    }
}
