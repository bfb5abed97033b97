//! Which runs of a campaign are made here: all, a slice, or every n-th.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a text names no share.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// It is no `A..B`.
    #[error("a range is A..B with A below B, such as 1000..2000; B is not in it")]
    Range,
    /// It is no `K/N`.
    #[error("a part is K/N with K from 1 to N, such as 2/4")]
    Partition,
}

/// The K-th of N parts: items K-1, K-1+N, K-1+2N, … counted from 0, so that parts have equal sizes but
/// for one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Partition {
    part: u64,
    parts: u64,
}

impl Partition {
    /// Part `part`, from 1, of `parts`.
    pub fn new(part: u64, parts: u64) -> Result<Self, ShareError> {
        if 1 <= part && part <= parts {
            Ok(Self { part, parts })
        } else {
            Err(ShareError::Partition)
        }
    }

    /// Whether an item, counted from 0, is in this part.
    pub fn takes(self, item: u64) -> bool {
        item % self.parts == self.part - 1
    }
}

impl FromStr for Partition {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let (part, parts) = text.split_once('/').ok_or(ShareError::Partition)?;
        match (part.parse(), parts.parse()) {
            (Ok(part), Ok(parts)) => Self::new(part, parts),
            _ => Err(ShareError::Partition),
        }
    }
}

impl TryFrom<String> for Partition {
    type Error = ShareError;

    fn try_from(text: String) -> Result<Self, ShareError> {
        text.parse()
    }
}

impl From<Partition> for String {
    fn from(partition: Partition) -> Self {
        partition.to_string()
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.parts)
    }
}

/// Runs `from`, …, `to - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunRange {
    from: u64,
    to: u64,
}

impl RunRange {
    /// The half-open range.
    pub fn new(from: u64, to: u64) -> Result<Self, ShareError> {
        if from < to {
            Ok(Self { from, to })
        } else {
            Err(ShareError::Range)
        }
    }

    /// The number after the last run.
    pub fn end(self) -> u64 {
        self.to
    }
}

impl FromStr for RunRange {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let (from, to) = text.split_once("..").ok_or(ShareError::Range)?;
        match (from.parse(), to.parse()) {
            (Ok(from), Ok(to)) => Self::new(from, to),
            _ => Err(ShareError::Range),
        }
    }
}

impl TryFrom<String> for RunRange {
    type Error = ShareError;

    fn try_from(text: String) -> Result<Self, ShareError> {
        text.parse()
    }
}

impl From<RunRange> for String {
    fn from(range: RunRange) -> Self {
        range.to_string()
    }
}

impl fmt::Display for RunRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.from, self.to)
    }
}

/// Which runs of a campaign are made here. A run keeps its number, and with it its seed, in whichever
/// share it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// All of them.
    #[default]
    Whole,
    /// A slice.
    Range(RunRange),
    /// Every n-th.
    Partition(Partition),
}

/// Numbers `first`, `first + stride`, …: `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunNumbers {
    /// The first.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// From one to the next.
    pub stride: u64,
}

impl RunNumbers {
    /// The number with this index; `None` beyond the last.
    pub fn get(self, index: u64) -> Option<u64> {
        let offset = index.checked_mul(self.stride)?;
        (index < self.count).then(|| self.first.checked_add(offset))?
    }
}

impl Share {
    /// A share without a run that anybody makes: the last number alone.
    pub fn of_none() -> Self {
        Self::Range(RunRange {
            from: u64::MAX - 1,
            to: u64::MAX,
        })
    }

    /// Whether it is all of the campaign.
    pub fn is_whole(&self) -> bool {
        *self == Self::Whole
    }

    /// Whether a run is in this share.
    pub fn takes(self, run: u64) -> bool {
        match self {
            Self::Whole => true,
            Self::Range(range) => range.from <= run && run < range.to,
            Self::Partition(partition) => partition.takes(run),
        }
    }

    /// The runs of this share among `from`, …, `to - 1`.
    pub fn within(self, from: u64, to: u64) -> RunNumbers {
        let slice = |from: u64, to: u64| RunNumbers {
            first: from,
            count: to.saturating_sub(from),
            stride: 1,
        };
        match self {
            Self::Whole => slice(from, to),
            Self::Range(range) => slice(from.max(range.from), to.min(range.to)),
            Self::Partition(Partition { part, parts }) => {
                let ahead = (part - 1 + parts - from % parts) % parts;
                let first = from.saturating_add(ahead);
                RunNumbers {
                    first,
                    count: to.saturating_sub(first).div_ceil(parts),
                    stride: parts,
                }
            }
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole"),
            Self::Range(range) => write!(f, "runs {range}"),
            Self::Partition(partition) => write!(f, "part {partition}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn share() -> impl Strategy<Value = Share> {
        prop_oneof![
            Just(Share::Whole),
            (0..40u64, 1..40u64).prop_map(|(from, n)| Share::Range(
                RunRange::new(from, from + n).expect("not empty")
            )),
            (1..12u64, 0..12u64).prop_map(|(part, more)| Share::Partition(
                Partition::new(part, part + more).expect("a part")
            )),
        ]
    }

    proptest! {
        #[test]
        fn the_runs_of_a_share_are_those_it_takes(share in share(), from in 0..50u64, n in 0..50u64) {
            let numbers = share.within(from, from + n);
            let listed: Vec<u64> = (0..).map_while(|k| numbers.get(k)).collect();
            let taken: Vec<u64> = (from..from + n).filter(|&r| share.takes(r)).collect();
            prop_assert_eq!(listed, taken);
        }

        #[test]
        fn each_item_is_in_one_part(parts in 1..20u64, item in 0..1000u64) {
            let of = |k| Partition::new(k, parts).expect("a part");
            prop_assert_eq!((1..=parts).filter(|&k| of(k).takes(item)).count(), 1);
        }
    }

    #[test]
    fn texts() {
        assert_eq!("2/4".parse(), Partition::new(2, 4));
        assert_eq!("0..5".parse(), RunRange::new(0, 5));
        for wrong in ["", "0/4", "5/4", "1/0", "-1/2", "1", "1/2/3", "a/b"] {
            assert_eq!(
                wrong.parse::<Partition>(),
                Err(ShareError::Partition),
                "{wrong}"
            );
        }
        for wrong in [
            "", "5", "5..5", "6..5", "..5", "5..", "a..b", "0..=5", "-1..5",
        ] {
            assert_eq!(wrong.parse::<RunRange>(), Err(ShareError::Range), "{wrong}");
        }
    }
}
