//! Items that a worker takes at once: a message of the work queue.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::FleetError;

/// Items `from`, …, `to - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Whether some of them may be done already.
    #[serde(default)]
    pub(crate) again: bool,
}

/// Bytes of a message.
const MOST_BYTES: usize = 1024;

impl Claim {
    /// All items of a campaign, in messages.
    pub(crate) fn all(items: u64, range: u64) -> impl Iterator<Item = Self> {
        (0..items.div_ceil(range)).map(move |k| Self {
            from: k * range,
            to: items.min((k + 1) * range),
            again: false,
        })
    }

    /// Items that are left, as ranges of neighbours.
    pub(crate) fn of(items: &[u64]) -> Vec<Self> {
        let mut claims: Vec<Self> = Vec::new();
        for &item in items {
            match claims.last_mut() {
                Some(last) if last.to == item => last.to = item + 1,
                _ => claims.push(Self {
                    from: item,
                    to: item + 1,
                    again: true,
                }),
            }
        }
        claims
    }

    pub(crate) fn items(self) -> Range<u64> {
        self.from..self.to
    }

    pub(crate) fn to_bytes(self) -> Vec<u8> {
        serde_json::to_vec(&self).unwrap_or_default()
    }

    /// Reads a message of a campaign with so many items.
    pub(crate) fn read(bytes: &[u8], items: u64, range: u64) -> Result<Self, FleetError> {
        let wrong = |why: String| FleetError::content(format!("a message that is no range: {why}"));
        if bytes.len() > MOST_BYTES {
            return Err(wrong(format!("{} bytes", bytes.len())));
        }
        let claim: Self = serde_json::from_slice(bytes).map_err(|e| wrong(e.to_string()))?;
        if claim.from < claim.to && claim.to <= items && claim.to - claim.from <= range {
            return Ok(claim);
        }
        Err(wrong(format!("{}..{} of {items}", claim.from, claim.to)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_in_one_message() {
        for items in [1, 2, 7, 49, 50, 51, 1000] {
            for range in [1, 3, 50, 2000] {
                let all: Vec<u64> = Claim::all(items, range).flat_map(Claim::items).collect();
                assert_eq!(all, (0..items).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn what_is_left_is_in_ranges() {
        let claims = Claim::of(&[3, 4, 5, 9, 11, 12]);
        let texts: Vec<_> = claims.iter().map(|c| (c.from, c.to)).collect();
        assert_eq!(texts, [(3, 6), (9, 10), (11, 13)]);
        assert!(Claim::of(&[]).is_empty());
    }

    #[test]
    fn hostile_messages() {
        let read = |text: &str| Claim::read(text.as_bytes(), 100, 50);
        assert!(read(r#"{"from":0,"to":50}"#).is_ok());
        for wrong in [
            "",
            "{",
            "null",
            r#"{"from":5,"to":5}"#,
            r#"{"from":6,"to":5}"#,
            r#"{"from":60,"to":101}"#,
            r#"{"from":0,"to":51}"#,
            r#"{"from":-1,"to":5}"#,
            r#"{"from":0,"to":18446744073709551615}"#,
            r#"{"from":0,"to":1,"run":"rm"}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read(&" ".repeat(5000)).is_err());
    }
}
