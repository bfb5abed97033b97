//! Which mutants are looked at, where there are more than anybody wants.

use std::collections::{BTreeMap, BTreeSet};

use iolite_lang::mutation::{Mutant, Mutations, Operator};

use crate::workspace::hash;

/// Places that are shuffled as a list; beyond them, places are drawn one by one.
const LISTED: u64 = 1 << 20;

/// Text of all mutants together, in bytes; mutants of a large model are few.
const MOST_TEXT: usize = 256 << 20;

/// The mutants that were picked, in the order of their places.
pub(super) struct Picked {
    pub(super) mutants: Vec<Mutant>,
    /// Mutants that are equal, in every letter, to the model or to another one.
    pub(super) equal: u64,
    /// Whether there are no more.
    pub(super) all: bool,
}

/// The places of one operator in a random order.
struct Order {
    first: u64,
    count: u64,
    listed: Vec<u64>,
    drawn: BTreeSet<u64>,
}

/// `SplitMix64`: small, and the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // The bias of a remainder is below 2⁻²⁴ for all bounds that are listed.
        (z ^ (z >> 31)) % bound.max(1)
    }
}

impl Order {
    fn next(&mut self, random: &mut Random) -> Option<u64> {
        if self.count <= LISTED {
            return self.listed.pop();
        }
        // So many more places than drawn ones: a fresh one is found soon.
        for _ in 0..64 {
            let place = self.first + random.below(self.count);
            if self.drawn.insert(place) {
                return Some(place);
            }
        }
        None
    }
}

/// At most `most` mutants, the operators in turn, so that none crowds out the others.
pub(super) fn pick(mutations: &Mutations<'_>, original: &str, most: usize, seed: u64) -> Picked {
    let mut random = Random(seed);
    let mut orders: Vec<Order> = ranges(mutations)
        .into_values()
        .map(|(first, count)| {
            let mut listed: Vec<u64> = match count {
                0..=LISTED => (first..first + count).collect(),
                _ => Vec::new(),
            };
            for i in (1..listed.len()).rev() {
                listed.swap(i, random.below(i as u64 + 1) as usize);
            }
            Order {
                first,
                count,
                listed,
                drawn: BTreeSet::new(),
            }
        })
        .collect();
    let mut seen = BTreeSet::from([hash(original.as_bytes())]);
    let mut found: BTreeMap<u64, Mutant> = BTreeMap::new();
    let (mut equal, mut bytes) = (0, 0);
    let enough = |count: usize, bytes: usize| count >= most || bytes >= MOST_TEXT;
    while !enough(found.len(), bytes) && !orders.is_empty() {
        orders.retain_mut(|order| {
            if enough(found.len(), bytes) {
                return true;
            }
            // The next place of this operator that has a mutant.
            while let Some(place) = order.next(&mut random) {
                let Some(mutant) = mutations.mutant(place) else {
                    continue;
                };
                if seen.insert(hash(mutant.text.as_bytes())) {
                    bytes += mutant.text.len();
                    found.insert(place, mutant);
                    return true;
                }
                equal += 1;
            }
            false
        });
    }
    Picked {
        mutants: found.into_values().collect(),
        equal,
        all: orders.is_empty(),
    }
}

/// First place and number of places of each operator.
fn ranges(mutations: &Mutations<'_>) -> BTreeMap<Operator, (u64, u64)> {
    let mut ranges: BTreeMap<Operator, (u64, u64)> = BTreeMap::new();
    let mut first = 0;
    for (operator, count) in mutations.counts() {
        ranges.entry(operator).or_insert((first, 0)).1 += count;
        first += count;
    }
    ranges
}
