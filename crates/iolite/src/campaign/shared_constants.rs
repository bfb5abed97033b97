//! What several testers of one model have learnt of its unknown constants together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The least and the greatest value that runs left of an integer constant, where there are any of 64 bits.
/// Bounds of runs against systems with different constants may leave nothing between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConstantBounds {
    /// The least value.
    pub least: Option<i64>,
    /// The greatest value.
    pub greatest: Option<i64>,
}

impl ConstantBounds {
    /// What both leave.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let both =
            |one: Option<i64>, other: Option<i64>, of: fn(i64, i64) -> i64| match (one, other) {
                (Some(one), Some(other)) => Some(of(one, other)),
                (one, other) => one.or(other),
            };
        Self {
            least: both(self.least, other.least, i64::max),
            greatest: both(self.greatest, other.greatest, i64::min),
        }
    }

    /// Whether no value is left: the systems differ, and nothing follows for the next one.
    pub fn is_empty(&self) -> bool {
        matches!((self.least, self.greatest), (Some(least), Some(greatest)) if least > greatest)
    }
}

/// Bounds of a model's unknown constants, by name, that were learnt by anybody who shares this.
///
/// They are never assumed in a verdict, since the next system may have other constants: they say only which values
/// are worth trying.
#[derive(Clone, Debug, Default)]
pub struct SharedConstants(Arc<Mutex<BTreeMap<String, ConstantBounds>>>);

impl SharedConstants {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, ConstantBounds>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that was learnt.
    pub fn learnt(&self) -> BTreeMap<String, ConstantBounds> {
        self.lock().clone()
    }

    /// What was learnt of a constant.
    pub fn of(&self, name: &str) -> ConstantBounds {
        self.lock().get(name).copied().unwrap_or_default()
    }

    /// Adds what a run left of a constant.
    pub fn add(&self, name: &str, bounds: ConstantBounds) {
        if bounds == ConstantBounds::default() {
            return;
        }
        let mut all = self.lock();
        let known = all.entry(name.to_owned()).or_default();
        *known = known.and(bounds);
    }
}
