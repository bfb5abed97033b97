//! What kind of values to wish for.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// What values to wish for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The least and greatest possible values, both sides of what the query compares, and their
    /// neighbours.
    Boundary,
    /// Close to zero, short.
    Small,
    /// Far from zero, long.
    Large,
    /// Anywhere.
    Random,
    /// Constants of the model, values of the user's dictionary and values that the run has met, and
    /// their neighbours.
    Known,
    /// Each of the others in turn, chosen at random (seeded).
    Mixed,
}

impl Strategy {
    /// One of the others for [`Strategy::Mixed`]. `known` is how much known values weigh.
    pub(super) fn settled(self, known: u32, rng: &mut Xoshiro256PlusPlus) -> Self {
        if self != Self::Mixed {
            return self;
        }
        // Faults sit at boundaries more often than elsewhere, so they weigh twice.
        let weights = [
            (Self::Boundary, 2),
            (Self::Small, 1),
            (Self::Large, 1),
            (Self::Random, 1),
            (Self::Known, known),
        ];
        let total: u32 = weights.iter().map(|(_, weight)| weight).sum();
        let mut left = rng.random_range(0..total);
        for (strategy, weight) in weights {
            if left < weight {
                return strategy;
            }
            left -= weight;
        }
        Self::Random
    }
}
