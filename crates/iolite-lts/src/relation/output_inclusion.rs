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
use super::trace_inclusion::{SetRow, members_of, node_of, set_of};
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
    at: SetRow,
    /// Where σ is in F.
    in_f: StateId,
    places: Vec<Place>,
    index: FxHashMap<Place, Node>,
    initials: WeakInitials,
}

/// What the specification may be in, `None` when σ is no trace of it, and where σ is in F.
type Place = (Option<SetId>, StateId);

/// The place in F where there is no F.
const NOWHERE: StateId = StateId::FIRST;

impl<N: Semantics<State = StateId>> OutputInclusion<N> {
    pub(super) fn new(view: Determinised<Suspension<N>>, domain: Domain) -> Self {
        let labels = view.labels().len();
        Self {
            view,
            domain,
            at: SetRow::default(),
            in_f: NOWHERE,
            places: Vec::new(),
            index: FxHashMap::default(),
            initials: WeakInitials::new(labels),
        }
    }

    /// Without F the number of a set is its node; only with F pairs are numbered anew.
    fn node(&mut self, place: Place) -> Node {
        if !matches!(self.domain, Domain::Given(_)) {
            return node_of(place.0);
        }
        *self.index.entry(place).or_insert_with(|| {
            self.places.push(place);
            Node::try_from(self.places.len() - 1).expect("fewer than 2^32 nodes")
        })
    }

    /// Whether every state that the specification may be in takes `input`, if need be after
    /// internal actions: not (s after σ refuses {input}).
    fn all_take(&mut self, input: LabelId) -> bool {
        let Self {
            view, initials, at, ..
        } = self;
        let model = view.inner();
        let Some(set) = at.set() else { return false };
        view.members(set).iter().all(|&state| {
            initials
                .of(model, |l| l, state)
                .is_none_or(|id| initials.contains(id, input))
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

    fn enter(&mut self, node: Node) {
        let (set, in_f) = match &self.domain {
            Domain::Given(_) => self.places[node as usize],
            _ => (set_of(node), NOWHERE),
        };
        self.at.turn(&mut self.view, set);
        self.in_f = in_f;
    }

    fn step(&mut self, label: LabelId, kind: LabelKind) -> Next {
        let next = self.at.then(label);
        let observation = kind.is_observation();
        let demanded = match &self.domain {
            Domain::Given(traces) => traces.accepts(self.in_f),
            _ => true,
        };
        if observation && demanded && next.is_none() {
            return Next::Forbidden;
        }
        let within = |next: Option<SetId>| next.map(|n| (Some(n), NOWHERE));
        let place = match &self.domain {
            // δ is an observation like any other in a suspension trace, and the end of the others.
            Domain::SuspensionTraces => within(next),
            Domain::UniversalSuspensionTraces => {
                within(next.filter(|_| observation || self.all_take(label)))
            }
            _ if kind == LabelKind::Delta => None,
            Domain::Traces => within(next),
            Domain::AllTraces => Some((next, NOWHERE)),
            Domain::Given(traces) => traces.follow(self.in_f, label).map(|at| (next, at)),
        };
        place.map_or(Next::Outside, |place| Next::Go(self.node(place)))
    }

    fn allowed(&self) -> Allowed {
        let kinds = self.view.labels().kinds();
        let out = self
            .at
            .labels()
            .filter(|l| kinds[l.index()].is_observation());
        Allowed::Actions(out.collect())
    }

    fn members(&self) -> Vec<StateId> {
        members_of(&self.view, self.at.set())
    }

    fn size(&self) -> (usize, usize) {
        let places = self.places.len() * 3 * size_of::<Place>();
        (
            self.view.set_count(),
            self.view.bytes() + places + self.initials.bytes(),
        )
    }
}
