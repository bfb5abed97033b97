//! Sets of states as bit vectors.

use std::fmt;

use crate::structure::StateId;

/// A set of states of one automaton, a subset of `0..universe`.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct StateSet {
    words: Vec<u64>,
    universe: usize,
}

impl StateSet {
    /// ∅ over this many states.
    pub fn empty(universe: usize) -> Self {
        Self {
            words: vec![0; universe.div_ceil(64)],
            universe,
        }
    }

    /// All of this many states.
    pub fn full(universe: usize) -> Self {
        Self::of(universe, |_| true)
    }

    /// The states that satisfy a predicate.
    pub fn of(universe: usize, mut holds: impl FnMut(StateId) -> bool) -> Self {
        let mut set = Self::empty(universe);
        for i in 0..universe {
            if holds(StateId::new(i)) {
                set.insert(StateId::new(i));
            }
        }
        set
    }

    /// The number of states of the automaton, in the set or not.
    pub fn universe(&self) -> usize {
        self.universe
    }

    /// Adds a state; whether it was new.
    pub fn insert(&mut self, q: StateId) -> bool {
        assert!(q.index() < self.universe, "state outside its automaton");
        let (w, b) = (q.index() / 64, 1 << (q.index() % 64));
        let new = self.words[w] & b == 0;
        self.words[w] |= b;
        new
    }

    /// Takes a state out.
    pub fn remove(&mut self, q: StateId) {
        if let Some(w) = self.words.get_mut(q.index() / 64) {
            *w &= !(1 << (q.index() % 64));
        }
    }

    /// Whether the state is in.
    pub fn contains(&self, q: StateId) -> bool {
        self.words
            .get(q.index() / 64)
            .is_some_and(|w| w >> (q.index() % 64) & 1 == 1)
    }

    /// The number of states in the set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether no state is in.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// The states outside.
    #[must_use]
    pub fn complement(&self) -> Self {
        Self::of(self.universe, |q| !self.contains(q))
    }

    /// The states in either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut set = self.clone();
        set.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(a, b)| *a |= b);
        set
    }

    /// The states in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut set = self.clone();
        set.words
            .iter_mut()
            .zip(&other.words)
            .for_each(|(a, b)| *a &= b);
        set
    }

    /// Whether every state is in `other` too.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words
            .iter()
            .zip(&other.words)
            .all(|(a, b)| a & !b == 0)
    }

    /// The states, in order.
    pub fn iter(&self) -> impl Iterator<Item = StateId> + '_ {
        (0..self.universe)
            .map(StateId::new)
            .filter(|&q| self.contains(q))
    }
}

impl fmt::Debug for StateSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(StateId::index))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complement_of_a_set_that_ends_inside_a_word() {
        let odd = StateSet::of(70, |q| q.index() % 2 == 1);
        let even = odd.complement();
        assert_eq!((odd.count(), even.count()), (35, 35));
        assert!(odd.intersection(&even).is_empty());
        assert_eq!(odd.union(&even), StateSet::full(70));
        assert!(odd.is_subset(&StateSet::full(70)) && !odd.is_subset(&even));
    }
}
