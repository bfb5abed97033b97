//! Linear combinations with exact integer coefficients.

use std::collections::BTreeMap;

use crate::Int;

/// `Σ aᵢ·kᵢ + c`; no coefficient is zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Linear<K: Ord> {
    pub(crate) terms: BTreeMap<K, Int>,
    pub(crate) constant: Int,
}

impl<K: Ord + Clone> Linear<K> {
    pub(crate) fn constant(c: Int) -> Self {
        Self {
            terms: BTreeMap::new(),
            constant: c,
        }
    }

    pub(crate) fn atom(k: K) -> Self {
        Self {
            terms: BTreeMap::from([(k, Int::ONE)]),
            constant: Int::ZERO,
        }
    }

    pub(crate) fn as_constant(&self) -> Option<&Int> {
        self.terms.is_empty().then_some(&self.constant)
    }

    /// What it costs to go through the form once, in coefficients of machine words.
    pub(crate) fn cost(&self) -> u64 {
        let terms = self.terms.values().map(Int::words).sum::<u64>();
        terms + self.constant.words()
    }

    pub(crate) fn coefficient(&self, k: &K) -> Int {
        self.terms.get(k).cloned().unwrap_or_default()
    }

    pub(crate) fn add_term(&mut self, k: K, a: &Int) {
        if a.is_zero() {
            return;
        }
        let entry = self.terms.entry(k);
        match entry {
            std::collections::btree_map::Entry::Vacant(e) => {
                e.insert(a.clone());
            }
            std::collections::btree_map::Entry::Occupied(mut e) => {
                let sum = e.get() + a;
                if sum.is_zero() {
                    e.remove();
                } else {
                    *e.get_mut() = sum;
                }
            }
        }
    }

    /// Adds `factor · other`.
    pub(crate) fn add_scaled(&mut self, other: &Self, factor: &Int) {
        if factor.is_zero() {
            return;
        }
        for (k, a) in &other.terms {
            self.add_term(k.clone(), &(a * factor));
        }
        self.constant += &(&other.constant * factor);
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.add_scaled(other, &Int::ONE);
        sum
    }

    pub(crate) fn minus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.add_scaled(other, &Int::from(-1));
        sum
    }

    pub(crate) fn scaled(&self, factor: &Int) -> Self {
        let mut result = Self::constant(Int::ZERO);
        result.add_scaled(self, factor);
        result
    }

    /// The greatest common divisor of the coefficients, the constant left out; 0 of none.
    pub(crate) fn content(&self) -> Int {
        self.terms.values().fold(Int::ZERO, |g, a| g.gcd(a))
    }

    /// Splits into `(form, factor, constant)` with `self = factor·form + constant`, where `form`
    /// has no constant, coprime coefficients and a positive first one.
    pub(crate) fn primitive(&self) -> Option<(Self, Int, Int)> {
        let first = self.terms.values().next()?;
        let content = self.content();
        let factor = if first.signum() < 0 {
            -content
        } else {
            content
        };
        let terms = self
            .terms
            .iter()
            .map(|(k, a)| (k.clone(), a.div_mod(&factor).map_or(Int::ZERO, |(q, _)| q)))
            .collect();
        Some((
            Self {
                terms,
                constant: Int::ZERO,
            },
            factor,
            self.constant.clone(),
        ))
    }

    /// Replaces `k` by a linear combination.
    pub(crate) fn replaced(&self, k: &K, by: &Self) -> Self {
        let mut result = self.clone();
        if let Some(a) = result.terms.remove(k) {
            result.add_scaled(by, &a);
        }
        result
    }
}
