//! The order in which a search takes what it met on one level.

/// Sorts numbers by keys, and those of one key by themselves: the pairs of a level by what they have in common, so that it is
/// looked at once.
#[derive(Default)]
pub struct LevelOrder {
    /// Key and number as one number.
    keys: Vec<u64>,
    sorted: Vec<u64>,
}

/// Bits that are looked at in one pass.
const DIGIT: u32 = 11;

/// Fewer numbers than this are compared with one another.
const FEW: usize = 1 << 10;

impl LevelOrder {
    /// Sorts numbers, which come in their own order: by the digits in which their keys differ, the last one first. These are few for the
    /// most part, and large levels are sorted in less time than by comparing.
    pub fn sort(&mut self, numbers: &mut Vec<u32>, key: impl Fn(u32) -> u32) {
        let Self { keys, sorted } = self;
        keys.clear();
        let both = |&number: &u32| u64::from(key(number)) << 32 | u64::from(number);
        keys.extend(numbers.iter().map(both));
        if keys.len() < FEW {
            keys.sort_unstable();
        } else {
            let differing = keys.iter().fold(0, |bits, key| bits | (key ^ keys[0]));
            let digits = (u32::BITS..u64::BITS).step_by(DIGIT as usize);
            sorted.resize(keys.len(), 0);
            for shift in digits.filter(|shift| differing >> shift & MASK != 0) {
                deal(keys, sorted, shift);
                std::mem::swap(keys, sorted);
            }
        }
        numbers.clear();
        numbers.extend(keys.iter().map(|&key| key as u32));
    }
}

const MASK: u64 = (1 << DIGIT) - 1;

/// Puts keys into the order of one digit; those with the same stay as they were.
fn deal(keys: &[u64], sorted: &mut [u64], shift: u32) {
    let digit = |key: u64| (key >> shift & MASK) as usize;
    let mut places = [0; 1 << DIGIT];
    for &key in keys {
        places[digit(key)] += 1;
    }
    let mut start = 0;
    for place in &mut places {
        start += std::mem::replace(place, start);
    }
    for &key in keys {
        let place = &mut places[digit(key)];
        sorted[*place] = key;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_in_the_order_of_their_keys(
            seed in any::<u32>(),
            count in 0..4 * FEW,
            bits in 0..=u32::BITS,
            first in 0..1000u32,
        ) {
            let key = |number: u32| {
                let mixed = number.wrapping_mul(0x9E37_79B9).rotate_left(seed % 32) ^ seed;
                mixed.checked_shr(u32::BITS - bits).unwrap_or(0)
            };
            let mut order = LevelOrder::default();
            let numbers: Vec<u32> = (first..).take(count).collect();
            let mut expected = numbers.clone();
            expected.sort_by_key(|&number| (key(number), number));
            // Memory of a level before must not show.
            for mut numbers in [numbers.clone(), numbers] {
                order.sort(&mut numbers, key);
                prop_assert_eq!(&numbers, &expected);
            }
        }
    }
}
