//! What all workers together have learnt of unknown constants: the least and the greatest value that is left.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Constants of which something is kept.
const MOST: usize = 64;

/// Characters of a constant's name.
const MOST_NAME: usize = 200;

/// The least and the greatest value of each constant, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bounds(BTreeMap<String, (Option<i64>, Option<i64>)>);

impl Bounds {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Constants with their bounds, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, (Option<i64>, Option<i64>))> {
        self.0.iter().map(|(name, bounds)| (name.as_str(), *bounds))
    }

    /// Adds what a run left of a constant; whether that was new. Where systems differ nothing may be left between the two.
    pub fn add(&mut self, name: &str, (least, greatest): (Option<i64>, Option<i64>)) -> bool {
        let known = self.0.get(name).copied();
        if known.is_none() && (self.0.len() >= MOST || name.len() > MOST_NAME) {
            return false;
        }
        let (low, high) = known.unwrap_or_default();
        // Nothing is less than any number, so only the other end needs care.
        let high = match (high, greatest) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let both = (low.max(least), high);
        if both == known.unwrap_or_default() {
            return false;
        }
        self.0.insert(name.to_owned(), both);
        true
    }

    /// Adds what others know; whether any of it was new.
    pub fn add_all(&mut self, other: &Self) -> bool {
        let mut new = false;
        for (name, bounds) in other.iter() {
            new |= self.add(name, bounds);
        }
        new
    }

    /// Reads what stands on the server; nothing where that is something else.
    pub(crate) fn read(value: &[u8]) -> Self {
        let read: Self = serde_json::from_slice(value).unwrap_or_default();
        let mut some = Self::default();
        some.add_all(&read);
        some
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_what_all_leave() {
        let mut all = Bounds::default();
        assert!(all.add("n", (Some(3), None)));
        assert!(!all.add("n", (Some(3), None)));
        assert!(!all.add("n", (None, None)));
        assert!(all.add("n", (Some(1), Some(9))));
        assert!(all.add("n", (Some(5), Some(12))));
        assert!(all.add("m", (None, Some(-1))));
        let written = serde_json::to_vec(&all).unwrap();
        assert_eq!(Bounds::read(&written), all);
        let known: Vec<_> = all.iter().collect();
        assert_eq!(known, [("m", (None, Some(-1))), ("n", (Some(5), Some(9)))]);
        // In whatever order they come.
        let mut other = Bounds::default();
        other.add("n", (Some(5), Some(12)));
        other.add("n", (Some(3), Some(9)));
        assert!(other.add_all(&all));
        assert_eq!(other, all);
        for wrong in [
            "",
            "[]",
            "{\"n\":3}",
            "{\"n\":[1,2,3]}",
            "{\"n\":[99999999999999999999,1]}",
        ] {
            assert!(Bounds::read(wrong.as_bytes()).is_empty(), "{wrong}");
        }
        let many: BTreeMap<String, [i64; 2]> = (0..1000).map(|k| (k.to_string(), [0, 1])).collect();
        let many = serde_json::to_vec(&many).unwrap();
        assert_eq!(Bounds::read(&many).iter().count(), MOST);
        let long = format!("{{\"{}\":[0,1]}}", "n".repeat(1000));
        assert!(Bounds::read(long.as_bytes()).is_empty());
    }
}
