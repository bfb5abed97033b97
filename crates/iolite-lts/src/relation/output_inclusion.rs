//! Inclusion of outputs: ≤iot, ioconf, `ioconf_F`, ioco and uioco.
//!
//! All five ask `out(i after σ) ⊆ out(s after σ)` and differ in the σ they ask it for.
//!
//! No pruning by inclusion of specification sets takes place. For a partial specification the
//! relations are not monotone in that set: a larger set may take an input that a smaller one leaves
//! unspecified, so it allows more now and demands more later. Equal sets alone are merged.

use rustc_hash::FxHashMap;

use crate::{Determinised, LabelId, LabelKind, Semantics, SetId, StateId, Suspension};

use super::search::{Next, Node, PairRules};
use super::trace_inclusion::{node_of, set_of};
use super::weak_initials::WeakInitials;
use super::{Allowed, TraceSet};

/// The traces σ that a relation looks at.
pub(super) enum Domain {
    /// L*.
    AllTraces,
    /// traces(s).
    Traces,
    /// F.
    Given(Box<TraceSet>),
    /// Straces(s).
    SuspensionTraces,
    /// Utraces(s).
    UniversalSuspensionTraces,
}

pub(super) struct OutputInclusion<N> {
    pub(super) view: Determinised<Suspension<N>>,
    domain: Domain,
    places: Vec<Place>,
    index: FxHashMap<Place, Node>,
    initials: WeakInitials,
}

/// What the specification may be in, `None` when σ is no trace of it, and where σ is in F.
type Place = (Option<SetId>, StateId);

/// The place in F where there is no F.
const NOWHERE: StateId = StateId::FIRST;

/// The node for "σ is no trace of the specification", where no F is tracked beside.
const NO_TRACE: Node = Node::MAX;

impl<N: Semantics<State = StateId>> OutputInclusion<N> {
    pub(super) fn new(view: Determinised<Suspension<N>>, domain: Domain) -> Self {
        Self {
            view,
            domain,
            places: Vec::new(),
            index: FxHashMap::default(),
            initials: WeakInitials::default(),
        }
    }

    /// Without F the number of a set is its node; only with F pairs are numbered anew.
    fn node(&mut self, place: Place) -> Node {
        if !matches!(self.domain, Domain::Given(_)) {
            return place.0.map_or(NO_TRACE, node_of);
        }
        *self.index.entry(place).or_insert_with(|| {
            self.places.push(place);
            Node::try_from(self.places.len() - 1).expect("fewer than 2^32 nodes")
        })
    }

    fn place(&self, node: Node) -> Place {
        match &self.domain {
            Domain::Given(_) => self.places[node as usize],
            _ if node == NO_TRACE => (None, NOWHERE),
            _ => (Some(set_of(node)), NOWHERE),
        }
    }

    /// Whether every state of the set takes `input`, if need be after internal actions: not
    /// (s after σ refuses {input}).
    fn all_take(&mut self, set: SetId, input: LabelId) -> bool {
        let Self { view, initials, .. } = self;
        let model = view.inner();
        view.members(set).iter().all(|&state| {
            initials
                .of(model, |l| l, state)
                .is_none_or(|id| initials.set(id).contains(input))
        })
    }
}

impl<N: Semantics<State = StateId>> PairRules for OutputInclusion<N> {
    fn initial(&mut self) -> Node {
        let start = match &self.domain {
            Domain::Given(traces) => traces.initial(),
            _ => NOWHERE,
        };
        let set = self.view.initial();
        self.node((Some(set), start))
    }

    fn step(&mut self, node: Node, label: LabelId, kind: LabelKind) -> Next {
        let (set, at) = self.place(node);
        let next = set.and_then(|set| self.view.after(set, label));
        let observation = kind.is_observation();
        let demanded = match &self.domain {
            Domain::Given(traces) => traces.accepts(at),
            _ => true,
        };
        if observation && demanded && next.is_none() {
            return Next::Forbidden;
        }
        let place = match &self.domain {
            // δ is an observation like any other in a suspension trace, and the end of the others.
            Domain::SuspensionTraces => next.map(|n| (Some(n), NOWHERE)),
            Domain::UniversalSuspensionTraces => {
                let universal = observation || set.is_some_and(|set| self.all_take(set, label));
                next.filter(|_| universal).map(|n| (Some(n), NOWHERE))
            }
            _ if kind == LabelKind::Delta => None,
            Domain::Traces => next.map(|n| (Some(n), NOWHERE)),
            Domain::AllTraces => Some((next, NOWHERE)),
            Domain::Given(traces) => traces.follow(at, label).map(|at| (next, at)),
        };
        place.map_or(Next::Outside, |place| Next::Go(self.node(place)))
    }

    fn allowed(&mut self, node: Node) -> Allowed {
        let (set, _) = self.place(node);
        Allowed::Actions(set.map(|set| self.view.out(set)).unwrap_or_default())
    }

    fn members(&self, node: Node) -> Vec<StateId> {
        let (set, _) = self.place(node);
        set.map(|set| self.view.members(set).to_vec())
            .unwrap_or_default()
    }

    fn size(&self) -> (usize, usize) {
        let places = self.places.len() * 3 * size_of::<Place>();
        (
            self.view.set_count(),
            self.view.bytes() + places + self.initials.bytes(),
        )
    }
}
