//! Fixpoints of abstract interpretation over the cells of a partition.

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::Term;

use super::domain::{
    Abstract, IntervalBox, Limits, NumericDomain, Octagon, Polyhedron, Vocabulary, Widening,
};
use super::member::Meter;
use super::partition::Partition;
use super::problem::Problem;
use crate::iosts::{Iosts, LocationId, TransitionId};

/// How often a place is joined before it is widened.
const DELAY: u32 = 3;
/// Decreasing rounds after the fixpoint.
const ROUNDS: u32 = 2;

/// The price of one step of a domain, in the steps of the portfolio.
pub(super) trait Priced: NumericDomain {
    const PRICE: u64;
}

impl Priced for IntervalBox {
    const PRICE: u64 = 2;
}

impl Priced for Octagon {
    const PRICE: u64 = 10;
}

impl Priced for Polyhedron {
    const PRICE: u64 = 30;
}

/// The direction of an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

/// A fixpoint in the making: what is reachable from the initial states, or what reaches a violating
/// location, within what is known already.
pub(super) struct Fixpoint<N> {
    direction: Direction,
    partition: Arc<Partition>,
    pub(super) vocabulary: Arc<Vocabulary>,
    widening: Widening,
    /// By cell.
    start: Vec<Abstract<N>>,
    pub(super) at: Vec<Abstract<N>>,
    /// By cell: nothing outside of it is looked at.
    within: Option<Vec<Abstract<N>>>,
    /// By location: whether a cycle closes there.
    closes: Vec<bool>,
    /// By cell: how often it grew.
    grown: Vec<u32>,
    open: BTreeSet<usize>,
    rounds: u32,
}

impl<N: Priced> Fixpoint<N> {
    /// Without restriction, one cell a location.
    pub(super) fn new(problem: &Problem<'_>, direction: Direction) -> Self {
        let partition = Arc::new(Partition::whole(problem.model));
        Self::within(problem, direction, partition, None)
    }

    pub(super) fn within(
        problem: &Problem<'_>,
        direction: Direction,
        partition: Arc<Partition>,
        within: Option<Vec<Abstract<N>>>,
    ) -> Self {
        let model = problem.model;
        let count = partition.cells.len();
        let vocabulary = Vocabulary::of(model, Limits::default());
        let mut fixpoint = Self {
            direction,
            widening: Widening::of(model, &vocabulary, DELAY),
            start: Vec::new(),
            at: Vec::new(),
            within,
            closes: closing(model, direction),
            grown: vec![0; count],
            open: BTreeSet::new(),
            rounds: 0,
            partition,
            vocabulary,
        };
        let bottom = Abstract::bottom(&fixpoint.vocabulary);
        let start = (0..count).map(|k| {
            let location = fixpoint.partition.cells[k].location;
            match direction {
                Direction::Forward if location == model.initial() => {
                    fixpoint.part(k, &Abstract::initial(model, &fixpoint.vocabulary))
                }
                Direction::Backward if problem.is_violating(location) => {
                    fixpoint.part(k, &Abstract::top(&fixpoint.vocabulary))
                }
                _ => bottom.clone(),
            }
        });
        let start: Vec<Abstract<N>> = start.collect();
        fixpoint.open = (0..count).filter(|k| !start[*k].is_bottom()).collect();
        fixpoint.at.clone_from(&start);
        fixpoint.start = start;
        fixpoint
    }

    /// The part of a location's states that is in a cell, and within what is looked at.
    fn part(&self, cell: usize, states: &Abstract<N>) -> Abstract<N> {
        let condition = &self.partition.cells[cell].condition;
        let part = if condition.is_true() {
            states.clone()
        } else {
            states.guard(condition)
        };
        match &self.within {
            Some(within) => part.meet(&within[cell]),
            None => part,
        }
    }

    /// The transitions through which a cell tells others of itself.
    fn transitions(&self, problem: &Problem<'_>, from: usize) -> Vec<TransitionId> {
        let location = self.partition.cells[from].location;
        match self.direction {
            // A run ends with its first violation.
            Direction::Forward if problem.is_violating(location) => Vec::new(),
            Direction::Forward => problem.model.outgoing(location).to_vec(),
            Direction::Backward => problem.incoming(location).to_vec(),
        }
    }

    /// What a transition makes of a cell, in each cell where that is.
    fn images(
        &self,
        problem: &Problem<'_>,
        from: usize,
        t: TransitionId,
    ) -> Vec<(usize, Abstract<N>)> {
        let transition = problem.model.transition(t);
        let (image, location) = match self.direction {
            Direction::Forward => {
                let image = self.at[from].post(problem.model, transition);
                (image, transition.target)
            }
            Direction::Backward => {
                let before = Abstract::top(&self.vocabulary);
                let image = self.at[from].pre(problem.model, transition, &before);
                (image, transition.source)
            }
        };
        let cells = self.partition.of(location).iter();
        let parts = cells.map(|&k| (k, self.part(k, &image)));
        parts.filter(|(_, part)| !part.is_bottom()).collect()
    }

    /// Works until there is a fixpoint, `true`, or the meter is empty.
    pub(super) fn run(
        &mut self,
        problem: &Problem<'_>,
        meter: &mut Meter,
        over: impl Fn() -> bool,
    ) -> bool {
        while let Some(from) = self.open.pop_first() {
            for t in self.transitions(problem, from) {
                if meter.is_empty() || over() {
                    self.open.insert(from);
                    return false;
                }
                let images = self.images(problem, from, t);
                meter.spend(N::PRICE * images.len().max(1) as u64);
                for (to, image) in images {
                    self.grow(to, &image);
                }
            }
        }
        while self.rounds < ROUNDS {
            let price = N::PRICE * problem.model.transitions().len() as u64;
            if meter.is_empty() || over() {
                return false;
            }
            meter.spend(price);
            self.rounds += 1;
            self.shrink(problem);
        }
        true
    }

    fn grow(&mut self, to: usize, image: &Abstract<N>) {
        if image.leq(&self.at[to]) {
            return;
        }
        let joined = self.at[to].join(image);
        let location = self.partition.cells[to].location;
        self.at[to] = if self.closes[location.index()] {
            self.grown[to] += 1;
            if self.grown[to] > self.widening.delay {
                self.at[to].widen(&joined, &self.widening.thresholds)
            } else {
                joined
            }
        } else {
            joined
        };
        self.open.insert(to);
    }

    /// One decreasing round: a step from the fixpoint is still above the least one.
    fn shrink(&mut self, problem: &Problem<'_>) {
        let mut next = self.start.clone();
        for from in 0..self.at.len() {
            for t in self.transitions(problem, from) {
                for (to, image) in self.images(problem, from, t) {
                    next[to] = next[to].join(&image);
                }
            }
        }
        let pairs = self.at.iter().zip(&next);
        self.at = pairs
            .map(|(old, new)| {
                let meet = new.meet(old);
                if meet.leq(old) {
                    old.narrow(&meet)
                } else {
                    old.clone()
                }
            })
            .collect();
    }

    /// Whether nothing is left of a location.
    pub(super) fn is_empty_at(&self, location: LocationId) -> bool {
        let cells = self.partition.of(location).iter();
        cells.copied().all(|k| self.at[k].is_bottom())
    }

    /// A condition for each location; `None` where one is too large for a term.
    pub(super) fn terms(&self) -> Option<Vec<Term>> {
        self.described(|a| a.to_term().ok())
    }

    /// The same without Booleans and enumerations: weaker, and shorter where it is enough.
    pub(super) fn short_terms(&self) -> Option<Vec<Term>> {
        self.described(|a| a.merged().to_term().ok())
    }

    fn described(&self, term: impl Fn(&Abstract<N>) -> Option<Term>) -> Option<Vec<Term>> {
        let locations = (0..self.closes.len()).map(LocationId::new);
        let described = locations.map(|location| {
            let cells = self.partition.of(location).iter();
            let parts = cells.map(|&k| {
                let condition = self.partition.cells[k].condition.clone();
                Some(Term::all([term(&self.at[k])?, condition]).simplify())
            });
            let parts: Option<Vec<Term>> = parts.collect();
            parts.map(|parts| Term::any(parts).simplify())
        });
        described.collect()
    }
}

/// Locations such that each cycle of transitions has one: those where a walk depth first meets its
/// own way again.
fn closing(model: &Iosts, direction: Direction) -> Vec<bool> {
    let count = model.locations().len();
    let mut next = vec![Vec::new(); count];
    for (_, t) in model.transitions() {
        let (from, to) = match direction {
            Direction::Forward => (t.source.index(), t.target.index()),
            Direction::Backward => (t.target.index(), t.source.index()),
        };
        next[from].push(to);
    }
    let mut closes = vec![false; count];
    // 0: not met, 1: on the way, 2: done.
    let mut mark = vec![0u8; count];
    for root in 0..count {
        if mark[root] != 0 {
            continue;
        }
        mark[root] = 1;
        let mut way = vec![(root, 0)];
        while let Some((at, k)) = way.last_mut() {
            let Some(&to) = next[*at].get(*k) else {
                mark[*at] = 2;
                way.pop();
                continue;
            };
            *k += 1;
            match mark[to] {
                0 => {
                    mark[to] = 1;
                    way.push((to, 0));
                }
                1 => closes[to] = true,
                _ => {}
            }
        }
    }
    closes
}
