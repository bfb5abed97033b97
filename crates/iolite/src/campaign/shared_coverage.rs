//! What several testers of one model have seen together.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Transitions of a model's suspension automaton that were seen by anybody who shares this, by their
/// numbers; of a model with data, its coverage goals. Guides take them for seen when their next run begins, and go elsewhere.
#[derive(Clone, Debug, Default)]
pub struct SharedCoverage(Arc<Mutex<SeenTransitions>>);

#[derive(Debug, Default)]
struct SeenTransitions {
    known: BTreeSet<usize>,
    /// In the order in which they came.
    order: Vec<usize>,
    total: Option<usize>,
    /// Goals that somebody has proved to be out of reach.
    excluded: BTreeSet<usize>,
}

impl SharedCoverage {
    fn lock(&self) -> MutexGuard<'_, SeenTransitions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many transitions there are, once somebody has explored the model.
    pub fn total(&self) -> Option<usize> {
        self.lock().total
    }

    pub(crate) fn set_total(&self, total: usize) {
        self.lock().total = Some(total);
    }

    /// Those that were seen.
    pub fn seen(&self) -> Vec<usize> {
        self.lock().known.iter().copied().collect()
    }

    /// How many were seen.
    pub(crate) fn count(&self) -> usize {
        self.lock().known.len()
    }

    /// Adds transitions.
    pub fn add(&self, numbers: impl IntoIterator<Item = usize>) {
        let mut all = self.lock();
        for number in numbers {
            if all.known.insert(number) {
                all.order.push(number);
            }
        }
    }

    /// Goals that are proved to be out of reach.
    pub fn excluded(&self) -> Vec<usize> {
        self.lock().excluded.iter().copied().collect()
    }

    /// Adds goals that are proved to be out of reach.
    pub fn exclude(&self, numbers: impl IntoIterator<Item = usize>) {
        self.lock().excluded.extend(numbers);
    }

    /// Those that came after the first `count`.
    pub(crate) fn after(&self, count: usize) -> Vec<usize> {
        let all = self.lock();
        all.order.get(count..).unwrap_or_default().to_vec()
    }
}
