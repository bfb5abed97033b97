//! Seeded random derivation, for every relation that has an oracle.

use std::collections::VecDeque;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;

use crate::oracle::SharedPlaces;
use crate::testcase::arena::Arena;
use crate::testcase::choice::{numbered_case, observe_state, stimulate_state};
use crate::{CaseWork, FiniteOracle, ModelRef, TestCase, TestState, Verdict, seed_of};

/// How often each of the three choices is taken, in proportion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Choice 1: terminate.
    pub stop: u32,
    /// Choice 2: give a stimulus.
    pub stimulate: u32,
    /// Choice 3: check the next output.
    pub observe: u32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            stop: 1,
            stimulate: 8,
            observe: 8,
        }
    }
}

/// Places whose lists the states of a tree share. A tree comes to the same ones again where there are few, and seldom where
/// there are many.
const MOST_KNOWN: usize = 64;

/// Seeded random derivation.
#[derive(Clone, Debug)]
pub struct RandomDerivation {
    /// How many test cases.
    pub count: usize,
    /// Longest run of a test case.
    pub depth: usize,
    /// The choices' weights.
    pub weights: Weights,
    /// The seed; the same seed gives the same test cases, each of which depends on its number alone.
    pub seed: u64,
    /// A test case is a tree that observing makes wide; from this many states on, branches end with
    /// `pass`, which is always sound.
    pub max_states: usize,
}

impl Default for RandomDerivation {
    fn default() -> Self {
        Self {
            count: 10,
            depth: 20,
            weights: Weights::default(),
            seed: 0,
            max_states: 10_000,
        }
    }
}

impl RandomDerivation {
    /// Derives the test cases, named `<model>-<n>`.
    pub fn derive<O: FiniteOracle>(&self, oracle: &mut O, model: &ModelRef) -> Vec<TestCase> {
        self.cases(oracle, model).collect()
    }

    /// The same one by one, each made when it is asked for.
    pub fn cases<O: FiniteOracle>(
        &self,
        oracle: &mut O,
        model: &ModelRef,
    ) -> impl Iterator<Item = TestCase> {
        let labels = Arc::new(oracle.labels().clone());
        let criterion = oracle.criterion();
        (1..=self.count).map(move |n| {
            let states = self.derive_one(oracle, n);
            numbered_case(criterion, model, &labels, n, states)
        })
    }

    /// The same by several threads, each with a copy of the oracle.
    pub(crate) fn derive_apart<O: FiniteOracle + Clone + Send>(
        &self,
        oracle: &O,
        model: &ModelRef,
        work: CaseWork<'_>,
    ) {
        let labels = &Arc::new(oracle.labels().clone());
        let criterion = oracle.criterion();
        let maker = |mut oracle: O| {
            move |n| {
                let states = self.derive_one(&mut oracle, n);
                numbered_case(criterion, model, labels, n, states)
            }
        };
        let oracles = std::iter::repeat_n(oracle, work.jobs.get()).cloned();
        work.each_by(1..=self.count, 1, oracles.map(maker).collect());
    }

    /// The same by several threads, over an oracle that may leave something undecided: what it is asked for one test case may be why
    /// it says so for the next, so it makes the trees one after the other; what is checked and stored of them is
    /// spread. Says whether something was left undecided in a test case that was published, or before it.
    pub(crate) fn derive_each<O: FiniteOracle + Send>(
        &self,
        oracle: &mut O,
        model: &ModelRef,
        work: CaseWork<'_>,
    ) -> bool {
        let labels = Arc::new(oracle.labels().clone());
        let criterion = oracle.criterion();
        let make = |(n, states)| numbered_case(criterion, model, &labels, n, states);
        let mut undecided_at = None;
        let trees = (1..=self.count).map(|n| {
            let states = self.derive_one(oracle, n);
            if undecided_at.is_none() && oracle.undecided().is_some() {
                undecided_at = Some(n);
            }
            (n, states)
        });
        // Threads may have made more than were wanted.
        let published = work.each(trees, 1, &make);
        undecided_at.is_some_and(|n| n <= published.cases)
    }

    /// The random numbers of a test case, which depend on no other one. They are counted from 1.
    pub(crate) fn rng(&self, n: usize) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(seed_of(self.seed, n as u64 - 1))
    }

    /// The states of a test case. Breadth first, so that a state limit cuts all branches at about the same depth.
    fn derive_one<O: FiniteOracle>(&self, oracle: &mut O, n: usize) -> Vec<TestState> {
        let mut rng = self.rng(n);
        let mut arena = Arena::default();
        let root = arena.hole();
        let mut queue = VecDeque::from([(root, oracle.start(), self.depth)]);
        let mut stimuli = Vec::new();
        let mut known: FxHashMap<O::State, SharedPlaces> = FxHashMap::default();
        while let Some((id, at, depth)) = queue.pop_front() {
            stimuli.clear();
            oracle.inputs_from(at, &mut stimuli);
            let Weights {
                stop,
                stimulate,
                observe,
            } = self.weights;
            let stimulate = if stimuli.is_empty() { 0 } else { stimulate };
            let total = u64::from(stop) + u64::from(stimulate) + u64::from(observe);
            let full = depth == 0 || total == 0 || arena.states.len() >= self.max_states;
            let choice = if full { 0 } else { rng.random_range(0..total) };
            let mut grow = |arena: &mut Arena, next| {
                let id = arena.hole();
                queue.push_back((id, next, depth - 1));
                id
            };
            let places = if let Some(places) = known.get(&at) {
                places.clone()
            } else {
                let places = oracle.places(&at).shared();
                if known.len() < MOST_KNOWN {
                    known.insert(at, places.clone());
                }
                places
            };
            let state = if full || choice < u64::from(stop) {
                TestState {
                    locations: places.locations,
                    places: places.names,
                    ..TestState::end(Verdict::Pass)
                }
            } else if choice < u64::from(stop) + u64::from(stimulate) {
                let (stimulus, next) = stimuli[rng.random_range(0..stimuli.len())];
                stimulate_state(oracle, at, stimulus, grow(&mut arena, next), places)
            } else {
                observe_state(oracle, at, &mut arena, &mut grow, places)
            };
            arena.states[id.index()] = state;
        }
        arena.states
    }
}

#[cfg(test)]
mod tests {
    use iolite_lts::{LtsBuilder, QuiescencePolicy, StateId};

    use super::*;
    use crate::IocoOracle;

    #[test]
    fn states_of_a_tree_share_their_places() {
        let mut builder = LtsBuilder::new();
        for (source, text, target) in [(0, "?a", 1), (1, "!x", 0), (1, "!y", 1)] {
            builder.transition_text(StateId::new(source), text, StateId::new(target));
        }
        let lts = builder.build().unwrap();
        let mut oracle = IocoOracle::new(&lts, QuiescencePolicy::Livelock);
        let how = RandomDerivation {
            count: 20,
            ..RandomDerivation::default()
        };
        let cases = how.derive(&mut oracle, &ModelRef::default());
        let largest = cases.iter().max_by_key(|case| case.states().len()).unwrap();
        let told = largest.states().iter().filter(|s| !s.locations.is_empty());
        let mut lists: Vec<_> = told.clone().map(|s| s.locations.as_ptr()).collect();
        lists.sort_unstable();
        lists.dedup();
        assert!(told.count() > 10 && lists.len() <= 2, "{largest}");
    }
}
