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
//!   a set leaves open is `Next::Unspecified`, and the search drops pairs until it meets one.

use rustc_hash::FxHashMap;

use crate::{Determinised, LabelId, LabelKind, Semantics, SetId, StateId, Suspension};

use super::pairs::{Goal, Node, NodeSet};
use super::search::{Next, PairRules};
use super::set_row::{SetRow, members_of, node_of, set_of};
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
    fn number(&mut self, place: Place) -> Node {
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
        self.number((Some(set), start))
    }

    fn enter(&mut self, node: Node) {
        let (set, in_f) = match &self.domain {
            Domain::Given(_) => self.places[node as usize],
            _ => (set_of(node), NOWHERE),
        };
        self.at.turn(set);
        self.in_f = in_f;
    }

    fn step(&mut self, label: LabelId, kind: LabelKind) -> Next {
        let next = self.at.then(&mut self.view, label);
        let observation = kind.is_observation();
        let demanded = match &self.domain {
            Domain::Given(traces) => traces.accepts(self.in_f),
            _ => true,
        };
        if observation && demanded && next.is_none() {
            return Next::Forbidden;
        }
        let go = |at: StateId| Next::Go(Goal::Step(next, at.index() as u32));
        match &self.domain {
            // δ is an observation like any other in a suspension trace, and the end of the others.
            Domain::Traces | Domain::AllTraces | Domain::Given(_) if kind == LabelKind::Delta => {
                Next::Outside
            }
            Domain::AllTraces => go(NOWHERE),
            Domain::Given(traces) => traces.follow(self.in_f, label).map_or(Next::Outside, go),
            // No set takes an input that the specification does not know.
            _ if label.index() >= self.view.labels().len() => Next::Outside,
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

    fn set(&self, goal: Goal) -> NodeSet<'_> {
        match (goal, &self.domain) {
            (Goal::Node(node), Domain::Given(_)) => {
                let (set, in_f) = self.places[node as usize];
                NodeSet {
                    members: members_of(&self.view, set),
                    part: in_f.index() as u32,
                }
            }
            (Goal::Node(_), _) => NodeSet {
                members: self.at.goal_members(&self.view, goal),
                part: 0,
            },
            (Goal::Step(_, part), _) => NodeSet {
                members: self.at.goal_members(&self.view, goal),
                part,
            },
        }
    }

    fn node(&mut self, goal: Goal) -> Node {
        match goal {
            Goal::Node(node) => node,
            Goal::Step(set, part) => {
                let set = set.map(|set| self.at.intern(&mut self.view, set));
                self.number((set, StateId::new(part as usize)))
            }
        }
    }

    fn allowed(&mut self) -> Allowed {
        let kinds = self.view.labels().kinds();
        let out = self.at.labels(&self.view);
        Allowed::Actions(out.filter(|l| kinds[l.index()].is_observation()).collect())
    }

    fn members(&self) -> Vec<StateId> {
        members_of(&self.view, self.at.set()).to_vec()
    }

    fn size(&self) -> (usize, usize) {
        let places = self.places.len() * 3 * size_of::<Place>();
        (
            self.view.set_count(),
            self.view.bytes() + places + self.initials.bytes(),
        )
    }
}
