//! What a user wants values to be like.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Strategy;
use crate::{Int, Value};

/// A way to come to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Draw {
    /// This value.
    Value(Value),
    /// An integer between these, each as likely as the other.
    Between(Int, Int),
    /// As a strategy has it.
    By(Strategy),
}

/// What a user wants a variable's values to be like: ways to come to one, with their weights.
///
/// They win: where one of them is possible, nothing else is drawn. Who wants other values beside a
/// short list names a strategy in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution(pub Vec<(Draw, u32)>);

impl FromIterator<Value> for Distribution {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Self(values.into_iter().map(|v| (Draw::Value(v), 1)).collect())
    }
}

impl Distribution {
    /// Takes one way out, by its weight: where it turns out to be impossible, the others keep theirs.
    pub(super) fn take(&mut self, rng: &mut Xoshiro256PlusPlus) -> Option<Draw> {
        let total: u64 = self.0.iter().map(|(_, weight)| u64::from(*weight)).sum();
        if total == 0 {
            return None;
        }
        let mut left = rng.random_range(0..total);
        let picked = self.0.iter().position(|(_, weight)| {
            let hit = left < u64::from(*weight);
            left = left.saturating_sub(u64::from(*weight));
            hit
        })?;
        Some(self.0.swap_remove(picked).0)
    }
}
