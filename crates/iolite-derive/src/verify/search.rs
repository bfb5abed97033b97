//! The search of `M ∥ ω` for several observers in one pass, breadth first in visible actions.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use iolite_lts::{
    LabelId, LabelKind, LevelOrder, Lts, Semantics, StateId, Step, Suspension, in_order,
};
use iolite_property::Observer;
use rustc_hash::FxHashSet;

use super::Satisfaction;

/// Pairs that are expanded at a time. Their steps should stay in a cache until they are taken.
const CHUNK: usize = 256;

/// A level with fewer chunks is not worth the start of threads.
const FEW_CHUNKS: usize = 8;

/// Chunks that may be expanded ahead of the one that is taken, for each thread.
const AHEAD: usize = 8;

/// Chunks between two questions whether to go on.
const PATIENCE: usize = 16;

/// States of all observers together up to which there is a bit for each, beside each state of the system.
const FEW_PLACES: usize = 256;

/// Asked now and then, with the number of pairs met and the length up to which all traces were looked at.
pub(super) type Proceed<'a> = dyn FnMut(usize, usize) -> bool + 'a;

/// A state of an observer, counted through all observers.
type Place = u32;

/// No pair, and the place of a violation.
const NONE: u32 = u32::MAX;

/// A state of the system and an observer with one of its states, and how it was reached.
struct Met {
    state: StateId,
    place: Place,
    before: u32,
    label: LabelId,
}

/// A bit for each pair, set when it is met.
///
/// The searching thread sets bits, and others look at them while they expand what comes later: a step to a pair that was met
/// changes nothing when it is taken, whether or not the thread that found it knew.
#[derive(Clone)]
struct Bits {
    /// Bits for each state of the system, one a place.
    width: usize,
    words: Arc<[AtomicU64]>,
}

impl Bits {
    /// None is set. There is room for so many states, and for others when they come.
    fn new(width: usize, states: usize) -> Self {
        Self {
            width,
            words: (0..(width * states).div_ceil(64))
                .map(|_| AtomicU64::new(0))
                .collect(),
        }
    }

    fn place(&self, state: StateId, place: Place) -> (usize, u64) {
        let at = state.index() * self.width + place as usize;
        (at / 64, 1 << (at % 64))
    }

    /// Sets the bit of a pair. Says whether it was not set. Only one thread may do so.
    fn insert(&mut self, state: StateId, place: Place) -> bool {
        let (word, bit) = self.place(state, place);
        if self.words.len() <= word {
            let words = self.words.iter().map(|word| word.load(Ordering::Relaxed));
            let room = std::iter::repeat_n(0, word + 1);
            self.words = words.chain(room).map(AtomicU64::new).collect();
        }
        let word = &self.words[word];
        let before = word.load(Ordering::Relaxed);
        word.store(before | bit, Ordering::Relaxed);
        before & bit == 0
    }

    fn has(&self, state: StateId, place: Place) -> bool {
        let (word, bit) = self.place(state, place);
        let word = self.words.get(word);
        word.is_some_and(|word| word.load(Ordering::Relaxed) & bit != 0)
    }

    /// Reads from memory the bits of these states, all at once.
    fn look_ahead(&self, states: impl Iterator<Item = StateId>) {
        let words = states.filter_map(|state| self.words.get(self.place(state, 0).0));
        let found = words.fold(0, |sum, word| sum ^ word.load(Ordering::Relaxed));
        std::hint::black_box(found);
    }
}

/// Which pairs were met.
enum Index {
    Dense(Bits),
    Hashed(FxHashSet<(StateId, Place)>),
}

impl Index {
    /// Notes a pair. Says whether it is new.
    fn insert(&mut self, state: StateId, place: Place) -> bool {
        match self {
            Self::Dense(bits) => bits.insert(state, place),
            Self::Hashed(pairs) => pairs.insert((state, place)),
        }
    }

    /// What other threads may look at while pairs are noted.
    fn shared(&self) -> Option<Bits> {
        match self {
            Self::Dense(bits) => Some(bits.clone()),
            Self::Hashed(_) => None,
        }
    }
}

/// A pair to be expanded.
type Taken = (u32, StateId, Place);

/// A visible step of a pair.
#[derive(Clone, Copy)]
struct Found {
    pair: u32,
    label: LabelId,
    target: StateId,
    /// Where the observer is then, or [`NONE`] when it is violated.
    place: Place,
}

/// The observers, with all their states in one row.
pub(super) struct Places<'a> {
    observers: &'a [Observer],
    /// The number of the first state of each.
    starts: Vec<Place>,
    /// The observer and the state of each place.
    states: Vec<(u32, StateId)>,
}

impl<'a> Places<'a> {
    pub(super) fn new(observers: &'a [Observer]) -> Self {
        let mut places = Self {
            observers,
            starts: Vec::new(),
            states: Vec::new(),
        };
        for (k, observer) in observers.iter().enumerate() {
            places.starts.push(places.states.len() as Place);
            let states = observer.automaton().states();
            places.states.extend(states.map(|at| (k as u32, at)));
        }
        places
    }

    /// Whether a violation can still be reached from a place, as far as the observer alone knows. Where it
    /// cannot, no system makes it.
    fn is_open(&self, k: u32, at: StateId) -> bool {
        self.observers[k as usize].distance(at).is_some()
    }

    /// Replaces `found` by the visible steps of some pairs, up to the first violation of each, without those to pairs
    /// that were met.
    fn expand<M>(
        &self,
        model: &M,
        pairs: &[Taken],
        met: Option<&Bits>,
        scratch: &mut Scratch,
        found: &mut Vec<Found>,
    ) where
        M: Semantics<State = StateId>,
    {
        let Scratch { states, row } = scratch;
        found.clear();
        states.clear();
        states.extend(pairs.iter().map(|&(_, state, _)| state));
        model.look_ahead(states);
        let kinds = model.labels().kinds();
        let mut row_of = None;
        for &(pair, state, place) in pairs {
            if row_of.replace(state) != Some(state) {
                row.clear();
                model.successors(&state, row);
            }
            let (k, at) = self.states[place as usize];
            let observer = &self.observers[k as usize];
            for &(label, target) in row.iter() {
                if kinds[label.index()] == LabelKind::Internal {
                    continue;
                }
                let Some(next) = observer.step(at, label) else {
                    continue;
                };
                let violates = observer.is_violate(next);
                let place = if violates {
                    NONE
                } else {
                    self.starts[k as usize] + next.index() as Place
                };
                let is_met = |place| met.is_some_and(|met| met.has(target, place));
                if violates || self.is_open(k, next) && !is_met(place) {
                    found.push(Found {
                        pair,
                        label,
                        target,
                        place,
                    });
                }
                if violates {
                    break;
                }
            }
        }
    }
}

/// What an expansion needs of memory.
#[derive(Default)]
struct Scratch {
    states: Vec<StateId>,
    row: Vec<Step>,
}

pub(super) struct Search<'a> {
    places: &'a Places<'a>,
    pub(super) answers: Vec<Satisfaction>,
    index: Index,
    met: Vec<Met>,
    limit: usize,
    /// How many visible actions away the level is.
    pub(super) length: usize,
    /// Pairs that are expanded at a time: tests on small systems have fewer.
    pub(super) chunk: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(places: &'a Places<'a>, limit: usize) -> Self {
        let width = places.states.len();
        Self {
            places,
            answers: vec![Satisfaction::Holds; places.observers.len()],
            index: if width <= FEW_PLACES {
                Index::Dense(Bits::new(width, 0))
            } else {
                Index::Hashed(FxHashSet::default())
            },
            met: Vec::new(),
            limit,
            length: 0,
            chunk: CHUNK,
        }
    }

    /// How many pairs were met.
    pub(super) fn pairs(&self) -> usize {
        self.met.len()
    }

    /// Notes a pair. Breaks when there are more than the limit.
    fn reach(
        &mut self,
        state: StateId,
        place: Place,
        before: u32,
        label: LabelId,
    ) -> ControlFlow<()> {
        let number = self.met.len() as u32;
        assert!(number < NONE, "fewer than 2^32 - 1 pairs");
        if self.index.insert(state, place) {
            self.met.push(Met {
                state,
                place,
                before,
                label,
            });
            if self.met.len() > self.limit {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn holds(&self, place: Place) -> bool {
        let (k, _) = self.places.states[place as usize];
        self.answers[k as usize] == Satisfaction::Holds
    }

    /// Searches until all pairs are met, beside the model by the threads of these copies of it. Says
    /// whether it came to an end.
    ///
    /// A level is what some number of visible actions reaches. All its internal steps come before the
    /// first visible one, so that each pair is met at the least number of visible actions. Visible steps are
    /// found by whoever is free, and taken in the order of the level, so that answers and counts are
    /// those of one thread.
    pub(super) fn run<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        others: &mut [Suspension<Arc<Lts>>],
        proceed: &mut Proceed<'_>,
    ) -> bool {
        if let (Index::Dense(bits), Some(states)) = (&mut self.index, model.explicit_states()) {
            *bits = Bits::new(bits.width, states);
        }
        let initial = model.initial();
        let mut may_go_on = true;
        for (k, observer) in self.places.observers.iter().enumerate() {
            let at = observer.initial();
            if observer.is_violate(at) {
                self.answers[k] = Satisfaction::Violated {
                    trace: Vec::new(),
                    state: initial,
                };
            } else if self.places.is_open(k as u32, at) {
                let place = self.places.starts[k] + at.index() as Place;
                may_go_on &= self.reach(initial, place, NONE, LabelId::TAU).is_continue();
            }
        }
        if !may_go_on {
            return false;
        }
        let mut first = 0;
        let mut numbers: Vec<u32> = Vec::new();
        let mut level: Vec<Taken> = Vec::new();
        let mut order = LevelOrder::default();
        while first < self.met.len() {
            if !self.internal_steps(model, first, proceed) {
                return false;
            }
            let met = |number: u32| &self.met[number as usize];
            numbers.clear();
            let pairs = first as u32..self.met.len() as u32;
            numbers.extend(pairs.filter(|&pair| self.holds(met(pair).place)));
            // The same state of the system for all observers together: its row is read once.
            order.sort(&mut numbers, |pair| met(pair).state.index() as u32);
            level.clear();
            let taken = |&pair: &u32| (pair, met(pair).state, met(pair).place);
            level.extend(numbers.iter().map(taken));
            first = self.met.len();
            if self
                .visible_steps(model, others, &level, proceed)
                .is_break()
            {
                return false;
            }
            self.length += usize::from(first < self.met.len());
        }
        true
    }

    /// Adds to the level that starts with the pair `first` what its pairs reach internally. Steps of several pairs are read at
    /// once: one after the other, each would wait for memory.
    fn internal_steps<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        first: usize,
        proceed: &mut Proceed<'_>,
    ) -> bool {
        let kinds = model.labels().kinds();
        let mut unstable: Vec<Taken> = Vec::new();
        let mut states = Vec::new();
        let mut rows = Vec::new();
        let mut ends = Vec::new();
        let mut next = first;
        let mut asked = 0;
        while next < self.met.len() {
            let pairs = next..self.met.len().min(next + CHUNK);
            next = pairs.end;
            unstable.clear();
            for pair in pairs {
                let Met { state, place, .. } = self.met[pair];
                if model.internal_step(&state) != Some(false) && self.holds(place) {
                    unstable.push((pair as u32, state, place));
                }
            }
            asked += unstable.len();
            if asked >= PATIENCE * CHUNK {
                asked = 0;
                if !proceed(self.met.len(), self.length) {
                    return false;
                }
            }
            states.clear();
            states.extend(unstable.iter().map(|&(_, state, _)| state));
            rows.clear();
            ends.clear();
            model.internal_successors_of(&states, &mut rows, &mut ends);
            if let Index::Dense(bits) = &self.index {
                bits.look_ahead(rows.iter().map(|&(_, target)| target));
            }
            let mut start = 0;
            for (&(pair, _, place), &end) in unstable.iter().zip(&ends) {
                for &(label, target) in &rows[std::mem::replace(&mut start, end)..end] {
                    let is_internal = kinds[label.index()] == LabelKind::Internal;
                    if is_internal && self.reach(target, place, pair, label).is_break() {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Takes the visible steps of a level.
    fn visible_steps<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        others: &mut [Suspension<Arc<Lts>>],
        level: &[Taken],
        proceed: &mut Proceed<'_>,
    ) -> ControlFlow<()> {
        let places = self.places;
        let chunk = self.chunk;
        let others = if level.len() < FEW_CHUNKS * chunk {
            &mut []
        } else {
            others
        };
        let ahead = AHEAD * (others.len() + 1);
        let met = self.index.shared();
        let met = met.as_ref();
        let mut scratch = Scratch::default();
        let helpers = others.iter_mut().map(|model| {
            let mut scratch = Scratch::default();
            move |chunk: &[Taken]| {
                let mut found = Vec::new();
                // A reference to the model may not go to another thread; the only one may.
                let model: &Suspension<_> = model;
                places.expand(model, chunk, met, &mut scratch, &mut found);
                found
            }
        });
        let mut taken = 0;
        in_order(
            level.chunks(chunk),
            &mut |chunk| {
                let mut found = Vec::new();
                places.expand(model, chunk, met, &mut scratch, &mut found);
                found
            },
            helpers.collect(),
            &|taken| taken + ahead,
            &mut |found: Vec<Found>| {
                if taken % PATIENCE == 0 && !proceed(self.met.len(), self.length) {
                    return ControlFlow::Break(());
                }
                taken += 1;
                self.take(model, &found)
            },
        )
    }

    fn take<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        found: &[Found],
    ) -> ControlFlow<()> {
        if let Index::Dense(bits) = &self.index {
            bits.look_ahead(found.iter().map(|step| step.target));
        }
        for step in found {
            let Met { state, place, .. } = self.met[step.pair as usize];
            let (k, _) = self.places.states[place as usize];
            if self.answers[k as usize] != Satisfaction::Holds {
                continue;
            }
            if step.place == NONE {
                let mut trace = self.trace(step.pair, model.labels().kinds());
                trace.push(step.label);
                self.answers[k as usize] = Satisfaction::Violated { trace, state };
            } else {
                self.reach(step.target, step.place, step.pair, step.label)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// The visible actions that led to a pair.
    fn trace(&self, pair: u32, kinds: &[LabelKind]) -> Vec<LabelId> {
        let mut trace = Vec::new();
        let mut at = &self.met[pair as usize];
        while let Some(before) = self.met.get(at.before as usize) {
            if kinds[at.label.index()] != LabelKind::Internal {
                trace.push(at.label);
            }
            at = before;
        }
        trace.reverse();
        trace
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_pair_is_new_once(
            pairs in proptest::collection::vec((0..200usize, 0..70u32), 0..400),
            width in 1..70usize,
            room in 0..200usize,
        ) {
            let mut bits = Bits::new(width, room);
            let mut hashed = Index::Hashed(FxHashSet::default());
            let mut met = std::collections::BTreeSet::new();
            let shared = bits.clone();
            let mut has_room = true;
            for (state, place) in pairs {
                let (state, place) = (StateId::new(state), place % width as Place);
                let is_new = met.insert((state, place));
                prop_assert_eq!(bits.has(state, place), !is_new);
                prop_assert_eq!(bits.insert(state, place), is_new);
                has_room &= state.index() < room;
                prop_assert!(!has_room || shared.has(state, place));
                prop_assert_eq!(hashed.insert(state, place), is_new);
                bits.look_ahead(met.iter().map(|pair| pair.0));
            }
        }
    }
}
