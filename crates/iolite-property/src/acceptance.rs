//! Acceptance of infinite runs as a formula over the colours that are seen infinitely often.
//!
//! Every condition that is met here (Streett, Rabin, Büchi, co-Büchi, parity, generalised ones and
//! their Boolean combinations) is an Emerson–Lei condition: a positive Boolean formula over `Inf(c)`
//! (colour c infinitely often) and `Fin(c)` (finitely often).

use rustc_hash::FxHashMap;

use crate::structure::AutomatonError;

pub use crate::colours::Colours;

/// Words of the sets that a search for those of the other verdict may look at: some hundred thousand sets of few colours.
const MAX_WORDS: usize = 1 << 18;

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
    pub fn accepts(&self, seen: &Colours) -> bool {
        match self {
            Self::True => true,
            Self::False => false,
            Self::Inf(c) => seen.contains(*c),
            Self::Fin(c) => !seen.contains(*c),
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

    /// How many pairs there are, where it is Streett's condition as [`Self::streett`] has it.
    fn streett_pairs(&self) -> Option<u32> {
        let Self::And(pairs) = self else { return None };
        let is_pair = |(i, f): (usize, &Self)| match f {
            Self::Or(parts) => {
                let i = 2 * i as u32;
                matches!(parts[..], [Self::Inf(a), Self::Fin(b)] if a == i && b == i + 1)
            }
            _ => false,
        };
        let all = pairs.iter().enumerate().all(is_pair);
        all.then_some(pairs.len() as u32)
    }
}

/// A condition, with the fast way to its maximal opposite sets of colours where there is one.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    Streett(u32),
    General {
        formula: AcceptanceFormula,
        dual: AcceptanceFormula,
        memo: FxHashMap<Colours, Vec<Colours>>,
    },
}

impl Condition {
    pub(crate) fn new(formula: &AcceptanceFormula) -> Self {
        if let Some(pairs) = formula.streett_pairs() {
            return Self::Streett(pairs);
        }
        Self::General {
            formula: formula.clone(),
            dual: formula.dual(),
            memo: FxHashMap::default(),
        }
    }

    pub(crate) fn accepts(&self, seen: &Colours) -> bool {
        match self {
            Self::Streett(pairs) => {
                (0..*pairs).all(|i| seen.contains(2 * i) || !seen.contains(2 * i + 1))
            }
            Self::General { formula, .. } => formula.accepts(seen),
        }
    }

    /// Subsets of `seen` of the opposite verdict, all maximal ones among them.
    pub(crate) fn opposite(&mut self, seen: &Colours) -> Result<Vec<Colours>, AutomatonError> {
        let accepted = self.accepts(seen);
        match self {
            Self::Streett(pairs) if accepted => {
                let ask = (0..*pairs).filter(|i| seen.contains(2 * i + 1));
                if ask.clone().count().saturating_mul(seen.len_words()) > MAX_WORDS {
                    return Err(AutomatonError::TooManyCycles);
                }
                Ok(ask.map(|i| seen.without(2 * i)).collect())
            }
            Self::Streett(pairs) => {
                let broken = (0..*pairs).filter(|i| !seen.contains(2 * i));
                let broken: Colours = broken.map(|i| 2 * i + 1).collect();
                Ok(vec![seen.difference(&broken)])
            }
            Self::General {
                formula,
                dual,
                memo,
            } => {
                if let Some(found) = memo.get(seen) {
                    return Ok(found.clone());
                }
                let wanted = if accepted { dual } else { formula };
                let mut found = largest(wanted, seen, &mut MAX_WORDS.clone())?;
                found.sort_by_cached_key(|set| std::cmp::Reverse((set.len(), set.clone())));
                let mut maximal: Vec<Colours> = Vec::new();
                for set in found {
                    if !maximal.iter().any(|big| set.is_subset(big)) {
                        maximal.push(set);
                    }
                }
                memo.insert(seen.clone(), maximal.clone());
                Ok(maximal)
            }
        }
    }
}

/// Subsets of `set` that satisfy the formula, all maximal ones among them.
///
/// Where the formula fails on the set, something must go: for a disjunction whatever one of its parts
/// needs, for a conjunction first what a part that fails needs. So the search follows the formula and
/// not all sets of colours, of which there may be too many.
fn largest(
    formula: &AcceptanceFormula,
    set: &Colours,
    left: &mut usize,
) -> Result<Vec<Colours>, AutomatonError> {
    *left = left
        .checked_sub(set.len_words())
        .ok_or(AutomatonError::TooManyCycles)?;
    if formula.accepts(set) {
        return Ok(vec![set.clone()]);
    }
    let mut found = Vec::new();
    match formula {
        AcceptanceFormula::True | AcceptanceFormula::False | AcceptanceFormula::Inf(_) => {}
        AcceptanceFormula::Fin(c) => found.push(set.without(*c)),
        AcceptanceFormula::Or(parts) => {
            for part in parts {
                found.extend(largest(part, set, left)?);
            }
        }
        AcceptanceFormula::And(parts) => {
            let failing = parts.iter().find(|p| !p.accepts(set));
            for smaller in failing.map_or(Ok(Vec::new()), |p| largest(p, set, left))? {
                found.extend(largest(formula, &smaller, left)?);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All subsets, tried one by one.
    fn maximal_opposite(formula: &AcceptanceFormula, seen: u128) -> Vec<Colours> {
        let accepted = formula.accepts(&Colours::few(seen));
        let mut sets: Vec<Colours> = (0..=seen)
            .filter(|s| s & !seen == 0)
            .map(Colours::few)
            .filter(|s| formula.accepts(s) != accepted)
            .collect();
        let all = sets.clone();
        sets.retain(|s| !all.iter().any(|t| s != t && s.is_subset(t)));
        sets.sort_unstable();
        sets
    }

    fn formula() -> impl Strategy<Value = AcceptanceFormula> {
        let leaf = prop_oneof![
            (0..6_u32).prop_map(AcceptanceFormula::Inf),
            (0..6_u32).prop_map(AcceptanceFormula::Fin),
        ];
        leaf.prop_recursive(4, 16, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(AcceptanceFormula::And),
                prop::collection::vec(inner, 0..4).prop_map(AcceptanceFormula::Or),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_search_finds_all_maximal_sets(f in formula(), seen in 0_u128..64) {
            let mut condition =
                Condition::General { formula: f.clone(), dual: f.dual(), memo: FxHashMap::default() };
            let mut found = condition.opposite(&Colours::few(seen)).unwrap();
            found.sort_unstable();
            prop_assert_eq!(found, maximal_opposite(&f, seen));
        }
    }

    #[test]
    fn streett_shortcut_finds_what_the_search_finds() {
        for pairs in 0..4 {
            let formula = AcceptanceFormula::streett(pairs);
            let mut fast = Condition::new(&formula);
            assert!(matches!(fast, Condition::Streett(n) if n as usize == pairs));
            for bits in 0..1_u128 << (2 * pairs) {
                let seen = &Colours::few(bits);
                assert_eq!(fast.accepts(seen), formula.accepts(seen));
                let fast_sets = fast.opposite(seen).unwrap();
                assert!(
                    fast_sets
                        .iter()
                        .all(|s| formula.accepts(s) != formula.accepts(seen))
                );
                for max in maximal_opposite(&formula, bits) {
                    assert!(fast_sets.contains(&max), "{pairs} {bits:b} {max:?}");
                }
            }
        }
    }
}
