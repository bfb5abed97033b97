//! Sets of colours, of which there may be any number.

/// Colours that a set has room for in place.
const FEW: u32 = u128::BITS;
const WORD: u32 = u64::BITS;

/// A set of colours. Nearly all conditions have few, and a set of these is a number; one with a higher colour is a
/// list of words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Colours(Bits);

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Bits {
    Few(u128),
    /// Longer than a number, and the last is not zero: so equal sets are equal lists.
    Many(Box<[u64]>),
}

impl Default for Colours {
    fn default() -> Self {
        Self::few(0)
    }
}

impl FromIterator<u32> for Colours {
    fn from_iter<T: IntoIterator<Item = u32>>(colours: T) -> Self {
        let mut words: Vec<u64> = Vec::new();
        let mut bits = 0_u128;
        for c in colours {
            if c < FEW {
                bits |= 1 << c;
                continue;
            }
            let at = (c / WORD) as usize;
            if words.len() <= at {
                words.resize(at + 1, 0);
            }
            words[at] |= 1 << (c % WORD);
        }
        let few = Self::few(bits);
        if words.is_empty() {
            return few;
        }
        few.by_words(&Self::of_words(words), |x, y| x | y)
    }
}

impl Colours {
    /// The colours whose bits are set.
    pub const fn few(bits: u128) -> Self {
        Self(Bits::Few(bits))
    }

    /// One colour.
    pub fn of(colour: u32) -> Self {
        Self::from_iter([colour])
    }

    fn of_words(mut words: Vec<u64>) -> Self {
        while words.last() == Some(&0) {
            words.pop();
        }
        if words.len() > (FEW / WORD) as usize {
            return Self(Bits::Many(words.into()));
        }
        let bits = words.iter().rev();
        Self::few(bits.fold(0, |bits, &w| bits << WORD | u128::from(w)))
    }

    /// Numbers of 64 bits that it takes.
    pub fn len_words(&self) -> usize {
        match &self.0 {
            Bits::Few(_) => (FEW / WORD) as usize,
            Bits::Many(words) => words.len(),
        }
    }

    fn word(&self, i: usize) -> u64 {
        match &self.0 {
            Bits::Few(bits) => bits
                .checked_shr(WORD * i as u32)
                .map_or(0, |bits| bits as u64),
            Bits::Many(words) => words.get(i).copied().unwrap_or(0),
        }
    }

    /// Word by word, as far as the longer of both goes.
    fn by_words(&self, other: &Self, word: impl Fn(u64, u64) -> u64) -> Self {
        let words = 0..self.len_words().max(other.len_words());
        Self::of_words(words.map(|i| word(self.word(i), other.word(i))).collect())
    }

    /// Whether a colour is in it.
    #[inline]
    pub fn contains(&self, colour: u32) -> bool {
        match &self.0 {
            Bits::Few(bits) => colour < FEW && bits >> colour & 1 == 1,
            Bits::Many(_) => self.word((colour / WORD) as usize) >> (colour % WORD) & 1 == 1,
        }
    }

    /// Adds a colour.
    pub fn insert(&mut self, colour: u32) {
        match &mut self.0 {
            Bits::Few(bits) if colour < FEW => *bits |= 1 << colour,
            Bits::Many(words) if ((colour / WORD) as usize) < words.len() => {
                words[(colour / WORD) as usize] |= 1 << (colour % WORD);
            }
            _ => {
                let at = (colour / WORD) as usize;
                let words = 0..self.len_words().max(at + 1);
                let mut words: Vec<u64> = words.map(|i| self.word(i)).collect();
                words[at] |= 1 << (colour % WORD);
                *self = Self::of_words(words);
            }
        }
    }

    /// Without a colour.
    #[must_use]
    pub fn without(&self, colour: u32) -> Self {
        self.difference(&Self::of(colour))
    }

    /// Adds all of another set.
    #[inline]
    pub fn unite(&mut self, other: &Self) {
        match (&mut self.0, &other.0) {
            (Bits::Few(own), Bits::Few(bits)) => *own |= bits,
            _ => *self = self.by_words(other, |x, y| x | y),
        }
    }

    /// The union of several.
    pub fn union_of<'a>(sets: impl Iterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        for set in sets {
            all.unite(set);
        }
        all
    }

    /// The union.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        all.unite(other);
        all
    }

    /// Those that are in the other too.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Bits::Few(x), Bits::Few(y)) => Self::few(x & y),
            _ => self.by_words(other, |x, y| x & y),
        }
    }

    /// Those that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Bits::Few(x), Bits::Few(y)) => Self::few(x & !y),
            _ => self.by_words(other, |x, y| x & !y),
        }
    }

    /// Whether all of it are in the other.
    #[inline]
    pub fn is_subset(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Bits::Few(x), Bits::Few(y)) => x & !y == 0,
            _ => (0..self.len_words()).all(|i| self.word(i) & !other.word(i) == 0),
        }
    }

    /// Whether none is in it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// How many are in it.
    pub fn len(&self) -> usize {
        let ones = |i| self.word(i).count_ones() as usize;
        (0..self.len_words()).map(ones).sum()
    }

    /// Those in it, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len_words()).flat_map(move |i| {
            let mut left = self.word(i);
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(i as u32 * WORD + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set() -> impl Strategy<Value = BTreeSet<u32>> {
        let few = prop::collection::btree_set(0..9_u32, 0..5);
        let many = prop::collection::btree_set(120..300_u32, 0..3);
        (few, many).prop_map(|(a, b)| a.union(&b).copied().collect())
    }

    fn made(set: &BTreeSet<u32>) -> Colours {
        set.iter().copied().collect()
    }

    proptest! {
        /// Beside sets of the library.
        #[test]
        fn as_sets(a in set(), b in set(), c in 0..300_u32) {
            let (x, y) = (made(&a), made(&b));
            prop_assert_eq!(x.iter().collect::<BTreeSet<u32>>(), a.clone());
            prop_assert_eq!(x == y, a == b);
            prop_assert_eq!(x.contains(c), a.contains(&c));
            prop_assert_eq!(x.len(), a.len());
            prop_assert_eq!(x.is_empty(), a.is_empty());
            prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
            prop_assert_eq!(x.union(&y), made(&a.union(&b).copied().collect()));
            prop_assert_eq!(x.intersection(&y), made(&a.intersection(&b).copied().collect()));
            prop_assert_eq!(x.difference(&y), made(&a.difference(&b).copied().collect()));
            let rest: BTreeSet<u32> = a.iter().copied().filter(|&d| d != c).collect();
            prop_assert_eq!(x.without(c), made(&rest));
        }
    }
}
