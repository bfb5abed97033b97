//! What all workers together have seen of a model: transitions of its suspension automaton, by number.

use crate::FleetError;
use crate::files::hexadecimal;

/// A set of transitions, or of the coverage goals of a model with data, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    total: u64,
    bits: Vec<u8>,
    /// Goals that somebody has proved to be out of reach.
    excluded: Vec<u8>,
}

/// Transitions beyond which nothing is shared.
const MOST: u64 = 2 << 20;

fn bits(total: u64, numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut bits = vec![0; total.div_ceil(8) as usize];
    for number in numbers.into_iter().filter(|n| *n < total) {
        bits[(number / 8) as usize] |= 1 << (number % 8);
    }
    bits
}

fn numbers(bits: &[u8], total: u64) -> impl Iterator<Item = u64> + '_ {
    let set = |n: &u64| bits[(n / 8) as usize] & (1 << (n % 8)) != 0;
    (0..total).filter(set)
}

impl Seen {
    /// Those of `total` that `seen` names.
    pub fn new(total: u64, seen: impl IntoIterator<Item = u64>) -> Option<Self> {
        (total <= MOST).then(|| Self {
            total,
            bits: bits(total, seen),
            excluded: bits(total, []),
        })
    }

    /// The same, without those that cannot be reached.
    #[must_use]
    pub fn excluding(mut self, excluded: impl IntoIterator<Item = u64>) -> Self {
        self.excluded = bits(self.total, excluded);
        self
    }

    /// How many there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many of them may be seen: what was seen can be, whatever anybody has proved.
    pub fn reachable(&self) -> u64 {
        let excluded = self.excluded.iter().zip(&self.bits);
        let excluded = excluded.map(|(excluded, seen)| u64::from((excluded & !seen).count_ones()));
        self.total - excluded.sum::<u64>()
    }

    /// The share of what may be seen that was, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn share(&self) -> f64 {
        match self.reachable() {
            0 => 1.0,
            reachable => self.count() as f64 / reachable as f64,
        }
    }

    /// How many are in it.
    pub fn count(&self) -> u64 {
        self.bits.iter().map(|b| u64::from(b.count_ones())).sum()
    }

    /// Those in it.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        numbers(&self.bits, self.total)
    }

    /// Those that cannot be reached.
    pub fn excluded(&self) -> impl Iterator<Item = u64> + '_ {
        numbers(&self.excluded, self.total)
    }

    /// Adds those of another set over the same transitions; whether any was new.
    pub fn add(&mut self, other: &Self) -> bool {
        if self.total != other.total {
            return false;
        }
        let mut new = false;
        let sets = [
            (&mut self.bits, &other.bits),
            (&mut self.excluded, &other.excluded),
        ];
        for (mine, more) in sets {
            for (mine, more) in mine.iter_mut().zip(more) {
                new |= *more & !*mine != 0;
                *mine |= more;
            }
        }
        new
    }

    /// As text: the number of transitions, then two hexadecimal digits for eight of them; the same for those
    /// that are excluded, where there are any.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}:{}", self.total, hexadecimal(&self.bits));
        if self.excluded.iter().any(|bits| *bits != 0) {
            text += &format!(":{}", hexadecimal(&self.excluded));
        }
        text
    }

    /// Reads that.
    pub fn read(text: &str) -> Result<Self, FleetError> {
        let wrong = || FleetError::content("what was seen of the model is no set of transitions");
        let (total, sets) = text.split_once(':').ok_or_else(wrong)?;
        let total: u64 = total.parse().map_err(|_| wrong())?;
        if total > MOST {
            return Err(wrong());
        }
        let set = |digits: &str| {
            if digits.len() as u64 != 2 * total.div_ceil(8) || !digits.is_ascii() {
                return Err(wrong());
            }
            let byte = |k: usize| u8::from_str_radix(&digits[2 * k..2 * k + 2], 16);
            let bits: Result<Vec<u8>, _> = (0..digits.len() / 2).map(byte).collect();
            let mut bits = bits.map_err(|_| wrong())?;
            // Bits beyond the last transition count for nothing.
            if let (Some(last), rest @ 1..) = (bits.last_mut(), total % 8) {
                *last &= (1 << rest) - 1;
            }
            Ok(bits)
        };
        let (seen, excluded) = match sets.split_once(':') {
            Some((seen, excluded)) => (set(seen)?, set(excluded)?),
            None => (set(sets)?, bits(total, [])),
        };
        Ok(Self {
            total,
            bits: seen,
            excluded,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_transitions() {
        let mut one = Seen::new(11, [0, 3, 10, 99]).unwrap();
        let other = Seen::new(11, [3, 4]).unwrap();
        assert_eq!(one.count(), 3);
        assert!(one.add(&other));
        assert!(!one.add(&other));
        assert_eq!(one.iter().collect::<Vec<_>>(), [0, 3, 4, 10]);
        assert_eq!(Seen::read(&one.to_text()).unwrap(), one);
        assert!(!one.add(&Seen::new(12, [1]).unwrap()));
        assert_eq!(Seen::read("3:ff").unwrap().count(), 3);
        assert_eq!(Seen::new(0, []).unwrap().to_text(), "0:");
        let mut some = Seen::new(11, [1]).unwrap().excluding([1, 2, 10]);
        assert_eq!((some.count(), some.reachable()), (1, 9));
        assert_eq!(Seen::read(&some.to_text()).unwrap(), some);
        assert!(some.add(&Seen::new(11, [2]).unwrap()));
        assert_eq!((some.count(), some.reachable()), (2, 10));
        assert!((some.share() - 0.2).abs() < 1e-9);
        assert!(Seen::new(u64::MAX, []).is_none());
        for wrong in [
            "",
            "8",
            "8:",
            "8:f",
            "8:fff",
            "8:zz",
            "8:00:",
            "8:00:0",
            "8:00:00:00",
            "8:é",
            "99999999999:",
            "-1:",
        ] {
            assert!(Seen::read(wrong).is_err(), "{wrong}");
        }
    }
}
