//! What all workers together have seen of a model: transitions of its suspension automaton, by number.

use crate::FleetError;
use crate::files::hexadecimal;

/// A set of transitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    total: u64,
    bits: Vec<u8>,
}

/// Transitions beyond which nothing is shared.
const MOST: u64 = 2 << 20;

impl Seen {
    /// Those of `total` transitions that `seen` names.
    pub fn new(total: u64, seen: impl IntoIterator<Item = u64>) -> Option<Self> {
        if total > MOST {
            return None;
        }
        let mut it = Self {
            total,
            bits: vec![0; total.div_ceil(8) as usize],
        };
        for number in seen.into_iter().filter(|n| *n < total) {
            it.bits[(number / 8) as usize] |= 1 << (number % 8);
        }
        Some(it)
    }

    /// How many transitions there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many are in it.
    pub fn count(&self) -> u64 {
        self.bits.iter().map(|b| u64::from(b.count_ones())).sum()
    }

    /// Those in it.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let set = |n: &u64| self.bits[(n / 8) as usize] & (1 << (n % 8)) != 0;
        (0..self.total).filter(set)
    }

    /// Adds those of another set over the same transitions; whether any was new.
    pub fn add(&mut self, other: &Self) -> bool {
        if self.total != other.total {
            return false;
        }
        let mut new = false;
        for (mine, more) in self.bits.iter_mut().zip(&other.bits) {
            new |= *more & !*mine != 0;
            *mine |= more;
        }
        new
    }

    /// As text: the number of transitions, then two hexadecimal digits for eight of them.
    pub fn to_text(&self) -> String {
        let digits = hexadecimal(&self.bits);
        format!("{}:{digits}", self.total)
    }

    /// Reads that.
    pub fn read(text: &str) -> Result<Self, FleetError> {
        let wrong = || FleetError::content("what was seen of the model is no set of transitions");
        let (total, digits) = text.split_once(':').ok_or_else(wrong)?;
        let total: u64 = total.parse().map_err(|_| wrong())?;
        if total > MOST || digits.len() as u64 != 2 * total.div_ceil(8) || !digits.is_ascii() {
            return Err(wrong());
        }
        let byte = |k: usize| u8::from_str_radix(&digits[2 * k..2 * k + 2], 16);
        let bits: Result<Vec<u8>, _> = (0..digits.len() / 2).map(byte).collect();
        let mut bits = bits.map_err(|_| wrong())?;
        // Bits beyond the last transition count for nothing.
        if let (Some(last), rest @ 1..) = (bits.last_mut(), total % 8) {
            *last &= (1 << rest) - 1;
        }
        Ok(Self { total, bits })
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
        assert!(Seen::new(u64::MAX, []).is_none());
        for wrong in [
            "",
            "8",
            "8:",
            "8:f",
            "8:fff",
            "8:zz",
            "8:é",
            "99999999999:",
            "-1:",
        ] {
            assert!(Seen::read(wrong).is_err(), "{wrong}");
        }
    }
}
