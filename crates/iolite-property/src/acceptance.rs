//! Acceptance of infinite runs as a formula over the colours that are seen infinitely often.
//!
//! Every condition that is met here (Streett, Rabin, Büchi, co-Büchi, parity, generalised ones and
//! their Boolean combinations) is an Emerson–Lei condition: a positive Boolean formula over `Inf(c)`
//! (colour c infinitely often) and `Fin(c)` (finitely often).

use rustc_hash::FxHashMap;

use crate::structure::AutomatonError;

/// A set of colours as bits.
pub type Colours = u64;

/// Conditions that are not Streett's are analysed by their sets of colours, so there must be few.
pub const MAX_GENERAL_COLOURS: usize = 16;
/// Two colours a pair, in 64 bits.
pub const MAX_STREETT_PAIRS: usize = 32;

/// An Emerson–Lei formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AcceptanceFormula {
    /// Every run.
    True,
    /// No run.
    False,
    /// The colour occurs infinitely often.
    Inf(u32),
    /// The colour occurs finitely often.
    Fin(u32),
    /// All of these.
    And(Vec<Self>),
    /// One of these.
    Or(Vec<Self>),
}

impl AcceptanceFormula {
    /// Whether a run with exactly these colours infinitely often is accepted.
    pub fn accepts(&self, seen: Colours) -> bool {
        match self {
            Self::True => true,
            Self::False => false,
            Self::Inf(c) => seen >> c & 1 == 1,
            Self::Fin(c) => seen >> c & 1 == 0,
            Self::And(fs) => fs.iter().all(|f| f.accepts(seen)),
            Self::Or(fs) => fs.iter().any(|f| f.accepts(seen)),
        }
    }

    /// The formula of the complement.
    #[must_use]
    pub fn dual(&self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            &Self::Inf(c) => Self::Fin(c),
            &Self::Fin(c) => Self::Inf(c),
            Self::And(fs) => Self::Or(fs.iter().map(Self::dual).collect()),
            Self::Or(fs) => Self::And(fs.iter().map(Self::dual).collect()),
        }
    }

    /// The same formula over colours that are `by` higher.
    #[must_use]
    pub fn shifted(&self, by: u32) -> Self {
        match self {
            Self::True => Self::True,
            Self::False => Self::False,
            &Self::Inf(c) => Self::Inf(c + by),
            &Self::Fin(c) => Self::Fin(c + by),
            Self::And(fs) => Self::And(fs.iter().map(|f| f.shifted(by)).collect()),
            Self::Or(fs) => Self::Or(fs.iter().map(|f| f.shifted(by)).collect()),
        }
    }

    /// One more than the highest colour it reads.
    pub fn colour_count(&self) -> u32 {
        match self {
            Self::True | Self::False => 0,
            Self::Inf(c) | Self::Fin(c) => c + 1,
            Self::And(fs) | Self::Or(fs) => fs.iter().map(Self::colour_count).max().unwrap_or(0),
        }
    }

    /// Streett's condition: for each i, `Inf(2i)` (a recurrent state) or `Fin(2i+1)` (finitely many
    /// states outside the persistent ones) [PROP12, def. 3].
    pub fn streett(pairs: usize) -> Self {
        let pair = |i: u32| Self::Or(vec![Self::Inf(2 * i), Self::Fin(2 * i + 1)]);
        Self::And((0..pairs as u32).map(pair).collect())
    }
}

/// A condition, with the fast way to its maximal opposite sets of colours where there is one.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Streett(usize),
    General {
        formula: AcceptanceFormula,
        memo: FxHashMap<Colours, Vec<Colours>>,
    },
}

impl Condition {
    pub(crate) fn new(formula: &AcceptanceFormula) -> Result<Self, AutomatonError> {
        let colours = formula.colour_count() as usize;
        let pairs = colours / 2;
        if pairs <= MAX_STREETT_PAIRS && *formula == AcceptanceFormula::streett(pairs) {
            return Ok(Self::Streett(pairs));
        }
        if colours > MAX_GENERAL_COLOURS {
            return Err(AutomatonError::TooManyColours {
                found: colours,
                limit: MAX_GENERAL_COLOURS,
            });
        }
        Ok(Self::General {
            formula: formula.clone(),
            memo: FxHashMap::default(),
        })
    }

    pub(crate) fn accepts(&self, seen: Colours) -> bool {
        match self {
            Self::Streett(pairs) => {
                (0..*pairs).all(|i| seen >> (2 * i) & 1 == 1 || seen >> (2 * i + 1) & 1 == 0)
            }
            Self::General { formula, .. } => formula.accepts(seen),
        }
    }

    /// Subsets of `seen` of the opposite verdict, all maximal ones among them.
    pub(crate) fn opposite(&mut self, seen: Colours) -> Vec<Colours> {
        let accepted = self.accepts(seen);
        match self {
            Self::Streett(pairs) if accepted => (0..*pairs)
                .filter(|i| seen >> (2 * i + 1) & 1 == 1)
                .map(|i| seen & !(1 << (2 * i)))
                .collect(),
            Self::Streett(pairs) => {
                let broken = (0..*pairs)
                    .filter(|i| seen >> (2 * i) & 1 == 0)
                    .fold(0, |set: Colours, i| set | 1 << (2 * i + 1));
                vec![seen & !broken]
            }
            Self::General { formula, memo } => memo
                .entry(seen)
                .or_insert_with(|| maximal_opposite(formula, seen, accepted))
                .clone(),
        }
    }
}

fn maximal_opposite(formula: &AcceptanceFormula, seen: Colours, accepted: bool) -> Vec<Colours> {
    let mut found: Vec<Colours> = Vec::new();
    let mut layer = vec![seen];
    while !layer.is_empty() {
        let mut below = Vec::new();
        for set in layer {
            let mut bits = set;
            while bits != 0 {
                let smaller = set & !(bits & bits.wrapping_neg());
                bits &= bits - 1;
                if found.iter().any(|f| smaller & !f == 0) {
                    continue;
                }
                if formula.accepts(smaller) == accepted {
                    below.push(smaller);
                } else {
                    found.push(smaller);
                }
            }
        }
        below.sort_unstable();
        below.dedup();
        layer = below;
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streett_shortcut_finds_what_the_search_finds() {
        for pairs in 0..4 {
            let formula = AcceptanceFormula::streett(pairs);
            let mut fast = Condition::Streett(pairs);
            for seen in 0..1_u64 << (2 * pairs) {
                assert_eq!(fast.accepts(seen), formula.accepts(seen));
                let fast_sets = fast.opposite(seen);
                assert!(
                    fast_sets
                        .iter()
                        .all(|&s| formula.accepts(s) != formula.accepts(seen))
                );
                for max in maximal_opposite(&formula, seen, formula.accepts(seen)) {
                    assert!(fast_sets.contains(&max), "{pairs} {seen:b} {max:b}");
                }
            }
        }
    }
}
