//! Pairs that were met, for whoever expands others: steps that lead to one of these need not be passed on.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::StateId;

use super::nodes::{IN_TABLE, Node};

/// For each state of the implementation a set of one state that it was met with last.
///
/// The searching thread notes pairs while it takes steps, and other threads look for them while they expand what comes
/// later. A step to a pair that is noted changes nothing when it is taken: the pair, or one with a smaller set that went
/// for it, is there. So what is taken does not depend on how much a thread sees of this, and no order between threads is
/// needed.
pub(super) struct Known(Vec<AtomicU32>);

/// Of no set of one state.
const NONE: Node = IN_TABLE;

impl Known {
    /// None of so many states was met.
    pub(super) fn none_of(states: usize) -> Self {
        Self((0..states).map(|_| AtomicU32::new(NONE)).collect())
    }

    /// Notes a pair that was met.
    #[inline]
    pub(super) fn note(&self, state: StateId, node: Node) {
        if node < IN_TABLE
            && let Some(known) = self.0.get(state.index())
        {
            known.store(node, Ordering::Relaxed);
        }
    }

    /// Whether the pair of a state and this set was met. Where it was, this may have been forgotten.
    #[inline]
    pub(super) fn has(&self, state: StateId, set: Node) -> bool {
        let known = self.0.get(state.index());
        set < IN_TABLE && known.is_some_and(|known| known.load(Ordering::Relaxed) == set)
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<AtomicU32>()
    }
}
