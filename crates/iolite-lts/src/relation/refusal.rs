//! Inclusion of refusals: testing preorder and conf.
//!
//! `p after σ refuses A` when some state after σ can do none of `A`, not even after internal
//! actions [Tretmans 1996, def. 4.4]. A state i' of the implementation refuses just the subsets of
//! L \ init(i'), so its refusals are refusals of the specification iff some state s' after the same
//! trace has init(s') ⊆ init(i').

use crate::{Determinised, LabelId, LabelKind, Labels, Semantics, SetId, StateId};

use super::Allowed;
use super::search::{Next, Node, PairRules};
use super::trace_inclusion::{node_of, set_of};
use super::weak_initials::{LabelSet, LabelSetId, WeakInitials};

/// The node for "σ is no trace of the specification".
const NO_TRACE: Node = Node::MAX;

pub(super) struct RefusalInclusion<N> {
    pub(super) view: Determinised<N>,
    /// Whether σ ranges over all traces (testing) or over those of the specification (conf).
    all_traces: bool,
    specification: WeakInitials,
    /// For each specification set its smallest sets of weak initials, once they are known.
    acceptances: Vec<Option<Box<[LabelSetId]>>>,
    implementation: WeakInitials,
    /// L, of both sides together.
    visible: Vec<LabelId>,
}

impl<N: Semantics<State = StateId>> RefusalInclusion<N> {
    pub(super) fn new(view: Determinised<N>, all_traces: bool) -> Self {
        Self {
            view,
            all_traces,
            specification: WeakInitials::default(),
            acceptances: Vec::new(),
            implementation: WeakInitials::default(),
            visible: Vec::new(),
        }
    }

    /// Turns to another implementation, with which the labels are these.
    pub(super) fn begin(&mut self, labels: &Labels) {
        self.implementation = WeakInitials::default();
        let actions = labels.iter().filter(|(_, l)| l.kind.is_visible());
        self.visible = actions
            .filter(|(_, l)| l.kind != LabelKind::Delta)
            .map(|(id, _)| id)
            .collect();
    }

    fn acceptances(&mut self, set: SetId) -> &[LabelSetId] {
        let i = set.index();
        if self.acceptances.len() <= i {
            self.acceptances.resize(i + 1, None);
        }
        if self.acceptances[i].is_none() {
            let Self {
                view,
                specification,
                ..
            } = self;
            let initials = view.members(set).iter();
            let mut all: Vec<LabelSetId> = initials
                .filter_map(|&s| specification.of(view.inner(), |l| l, s))
                .collect();
            all.sort_unstable();
            all.dedup();
            let known = |id: LabelSetId| specification.set(id);
            let smallest =
                |&a: &LabelSetId| !all.iter().any(|&b| a != b && known(b).is_subset(known(a)));
            self.acceptances[i] = Some(all.iter().copied().filter(smallest).collect());
        }
        self.acceptances[i].as_deref().unwrap_or_default()
    }

    /// A smallest set, by inclusion, of labels outside `initials` that meets every acceptance: the
    /// implementation refuses it and the specification does not.
    fn witness(&mut self, initials: &LabelSet, set: SetId) -> Vec<LabelId> {
        let acceptances = self.acceptances(set).to_vec();
        let sets: Vec<&LabelSet> = acceptances
            .iter()
            .map(|&a| self.specification.set(a))
            .collect();
        let mut witness: Vec<LabelId> = self
            .visible
            .iter()
            .copied()
            .filter(|&l| !initials.contains(l))
            .collect();
        for label in witness.clone().into_iter().rev() {
            let meets = |a: &&LabelSet| witness.iter().any(|&l| l != label && a.contains(l));
            if sets.iter().all(meets) {
                witness.retain(|&l| l != label);
            }
        }
        witness
    }
}

impl<N: Semantics<State = StateId>> PairRules for RefusalInclusion<N> {
    fn initial(&mut self) -> Node {
        node_of(self.view.initial())
    }

    fn refusal<M: Semantics<State = StateId>>(
        &mut self,
        implementation: &M,
        map: &[LabelId],
        state: StateId,
        node: Node,
    ) -> Option<Vec<LabelId>> {
        if node == NO_TRACE {
            return Some(Vec::new());
        }
        let own = self
            .implementation
            .of(implementation, |l| map[l.index()], state)?;
        self.acceptances(set_of(node));
        let acceptances = self.acceptances[node as usize]
            .as_deref()
            .unwrap_or_default();
        let initials = self.implementation.set(own);
        if acceptances
            .iter()
            .any(|&a| self.specification.set(a).is_subset(initials))
        {
            return None;
        }
        let initials = initials.clone();
        Some(self.witness(&initials, set_of(node)))
    }

    fn step(&mut self, node: Node, label: LabelId, _kind: LabelKind) -> Next {
        if node == NO_TRACE {
            return Next::Outside;
        }
        match self.view.after(set_of(node), label) {
            Some(set) => Next::Go(node_of(set)),
            None if self.all_traces => Next::Go(NO_TRACE),
            None => Next::Outside,
        }
    }

    fn allowed(&mut self, node: Node) -> Allowed {
        if node == NO_TRACE {
            return Allowed::Refusals(Vec::new());
        }
        let acceptances = self.acceptances(set_of(node)).to_vec();
        let refused = |id: LabelSetId| {
            let accepted = self.specification.set(id);
            self.visible
                .iter()
                .copied()
                .filter(|&l| !accepted.contains(l))
                .collect()
        };
        Allowed::Refusals(acceptances.into_iter().map(refused).collect())
    }

    fn members(&self, node: Node) -> Vec<StateId> {
        if node == NO_TRACE {
            Vec::new()
        } else {
            self.view.members(set_of(node)).to_vec()
        }
    }

    fn size(&self) -> (usize, usize) {
        let memo = self
            .acceptances
            .iter()
            .flatten()
            .map(|a| a.len() * 4)
            .sum::<usize>()
            + self.acceptances.len() * size_of::<Option<Box<[LabelSetId]>>>();
        let bytes =
            self.view.bytes() + self.specification.bytes() + self.implementation.bytes() + memo;
        (self.view.set_count(), bytes)
    }
}
