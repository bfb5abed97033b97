//! Abstract states: a numeric element for each valuation of the finite variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::vocabulary::of_sort;
use super::{Constraint, Dim, Interval, LinExpr, NumericDomain, Vocabulary};
use iolite_expr::Sort;

/// The index of each finite variable's value, [`UNTRACKED`] for one that may have any.
pub(super) type Valuation = Vec<u16>;

/// Any value of its sort.
pub(super) const UNTRACKED: u16 = u16::MAX;

/// A set of valuations of the variables of a [`Vocabulary`]: the product of a numeric domain with
/// Booleans and enumerations.
#[derive(Clone, Debug)]
pub struct Abstract<N> {
    pub(super) vocabulary: Arc<Vocabulary>,
    /// Which finite variables the valuations tell apart; the same for all parts.
    tracked: Vec<bool>,
    /// No part is ⊥.
    pub(super) parts: BTreeMap<Valuation, N>,
    /// Coordinates after those of the vocabulary, for terms under evaluation.
    pub(super) auxiliaries: usize,
}

impl<N: NumericDomain> Abstract<N> {
    /// No valuation.
    pub fn bottom(vocabulary: &Arc<Vocabulary>) -> Self {
        Self {
            vocabulary: vocabulary.clone(),
            tracked: vec![false; vocabulary.finite.len()],
            parts: BTreeMap::new(),
            auxiliaries: 0,
        }
    }

    /// All valuations that the sorts allow.
    pub fn top(vocabulary: &Arc<Vocabulary>) -> Self {
        let mut result = Self::bottom(vocabulary);
        let all = N::top(vocabulary.quantities().len());
        result.insert(
            vec![UNTRACKED; vocabulary.finite.len()],
            all.guard_all(&vocabulary.sorts_from(0)),
        );
        result
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Whether it is known that there is no valuation.
    pub fn is_bottom(&self) -> bool {
        self.parts.is_empty()
    }

    /// How many valuations of the finite variables are told apart.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Whether a part is weaker than its domain promises.
    pub fn is_weakened(&self) -> bool {
        self.parts.values().any(NumericDomain::is_weakened)
    }

    /// An interval that holds every value of an expression over the vocabulary's coordinates.
    pub fn bounds(&self, expr: &LinExpr) -> Interval {
        let all = self.parts.values().map(|n| n.bounds(expr));
        all.reduce(|a, b| a.join(&b)).unwrap_or(Interval::FULL)
    }

    /// ⊑: `true` only if every valuation of `self` is one of `other`.
    pub fn leq(&self, other: &Self) -> bool {
        self.parts.iter().all(|(key, n)| {
            let candidates = other.parts.iter().filter(|(k, _)| {
                k.iter()
                    .zip(key)
                    .all(|(o, s)| *o == UNTRACKED || *s == UNTRACKED || o == s)
            });
            let candidates: Vec<&N> = candidates.map(|(_, n)| n).collect();
            // Every value of a variable that only `other` tells apart must be covered.
            let needed = (0..key.len()).try_fold(1usize, |count, i| {
                if other.tracked[i] && key[i] == UNTRACKED {
                    count.checked_mul(self.vocabulary.finite[i].values.len())
                } else {
                    Some(count)
                }
            });
            needed == Some(candidates.len()) && candidates.iter().all(|m| n.leq(m))
        })
    }

    /// ⊔: contains both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        if self.is_bottom() {
            return other.clone();
        }
        if other.is_bottom() {
            return self.clone();
        }
        let (mut a, mut b) = (self.clone(), other.clone());
        for i in 0..a.tracked.len() {
            if a.tracked[i] == b.tracked[i] {
                continue;
            }
            let coarse = if a.tracked[i] { &b } else { &a };
            let size = coarse.parts.len() * a.vocabulary.finite[i].values.len();
            if size > a.vocabulary.limits().parts {
                a.forget_finite(i);
                b.forget_finite(i);
            } else {
                a.expand(i);
                b.expand(i);
            }
        }
        for (key, n) in b.parts {
            a.insert(key, n);
        }
        a.bounded()
    }

    /// ⊓: contains the intersection.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        let mut result = Self::bottom(&self.vocabulary);
        for i in 0..self.tracked.len() {
            result.tracked[i] = self.tracked[i] || other.tracked[i];
        }
        for (k, n) in &self.parts {
            for (l, m) in &other.parts {
                let merged = k.iter().zip(l).map(|(a, b)| match (*a, *b) {
                    (UNTRACKED, v) | (v, UNTRACKED) => Some(v),
                    (a, b) => (a == b).then_some(a),
                });
                if let Some(key) = merged.collect() {
                    result.insert(key, n.meet(m));
                }
            }
        }
        result.bounded()
    }

    /// ∇, part by part; the bounds of the sorts are thresholds beside the given ones.
    #[must_use]
    pub fn widen(&self, next: &Self, thresholds: &[Constraint]) -> Self {
        if self.is_bottom() || next.is_bottom() {
            return self.join(next);
        }
        let (mut a, mut b) = (self.clone(), next.clone());
        // What one does not tell apart stays so: the tracked variables can only become fewer.
        for i in 0..a.tracked.len() {
            if a.tracked[i] != b.tracked[i] {
                a.forget_finite(i);
                b.forget_finite(i);
            }
        }
        let mut all = self.vocabulary.sorts_from(0);
        all.extend(thresholds.iter().cloned());
        for (key, n) in b.parts {
            let widened = a
                .parts
                .get(&key)
                .map_or(n.clone(), |old| old.widen(&n, &all));
            a.parts.insert(key, widened);
        }
        a.bounded()
    }

    /// △, part by part, for `next ⊑ self`.
    #[must_use]
    pub fn narrow(&self, next: &Self) -> Self {
        if self.tracked != next.tracked && !next.is_bottom() {
            return self.clone();
        }
        let mut result = Self::bottom(&self.vocabulary);
        result.tracked.clone_from(&self.tracked);
        for (key, n) in &self.parts {
            if let Some(m) = next.parts.get(key) {
                result.insert(key.clone(), n.narrow(m));
            }
        }
        result
    }

    /// The state over a larger vocabulary, which says nothing of the added variables but their
    /// sorts.
    #[must_use]
    pub fn extended(&self, vocabulary: &Arc<Vocabulary>) -> Self {
        debug_assert_eq!(self.auxiliaries, 0);
        let old = self.vocabulary.quantities().len();
        let added = vocabulary.quantities().len() - old;
        let sorts = vocabulary.sorts_from(old);
        let mut result = Self::bottom(vocabulary);
        result.tracked[..self.tracked.len()].copy_from_slice(&self.tracked);
        for (key, n) in &self.parts {
            let mut key = key.clone();
            key.resize(vocabulary.finite.len(), UNTRACKED);
            result.insert(key, n.add_dimensions(added).guard_all(&sorts));
        }
        result
    }

    /// The projection on a smaller vocabulary, of which this one's is an extension.
    #[must_use]
    pub fn restricted(&self, vocabulary: &Arc<Vocabulary>) -> Self {
        let mut result = Self::bottom(vocabulary);
        let finite = vocabulary.finite.len();
        result.tracked.copy_from_slice(&self.tracked[..finite]);
        for (key, n) in &self.parts {
            let n = n.keep_dimensions(vocabulary.quantities().len());
            result.insert(key[..finite].to_vec(), n);
        }
        result
    }

    pub(super) fn insert(&mut self, key: Valuation, n: N) {
        if n.is_bottom() {
            return;
        }
        let joined = match self.parts.get(&key) {
            Some(old) => old.join(&n),
            None => n,
        };
        self.parts.insert(key, joined);
    }

    /// Rebuilds the parts with other valuations.
    fn rekey(&mut self, new: impl Fn(&Valuation) -> Vec<Valuation>) {
        for (key, n) in std::mem::take(&mut self.parts) {
            for key in new(&key) {
                self.insert(key, n.clone());
            }
        }
    }

    /// The state that tells no values of finite variables apart: one numeric element.
    #[must_use]
    pub fn merged(&self) -> Self {
        let mut result = self.clone();
        for i in 0..result.tracked.len() {
            result.forget_finite(i);
        }
        result
    }

    /// Lets a finite variable have any value.
    pub(super) fn forget_finite(&mut self, i: usize) {
        self.set_finite(i, UNTRACKED);
    }

    /// Gives a finite variable a value, whatever it was.
    pub(super) fn set_finite(&mut self, i: usize, value: u16) {
        self.tracked[i] = value != UNTRACKED;
        self.rekey(|key| {
            let mut key = key.clone();
            key[i] = value;
            vec![key]
        });
    }

    /// Tells the values of a finite variable apart.
    fn expand(&mut self, i: usize) {
        if self.tracked[i] {
            return;
        }
        self.tracked[i] = true;
        let count = self.vocabulary.finite[i].values.len();
        self.rekey(|key| {
            let with = |v| {
                let mut key = key.clone();
                key[i] = v as u16;
                key
            };
            (0..count).map(with).collect()
        });
    }

    /// Keeps the valuations where a finite variable has the value, or where it has not.
    pub(super) fn keep_finite(&mut self, i: usize, value: u16, equal: bool) {
        if !self.tracked[i] {
            let count = self.vocabulary.finite[i].values.len();
            let most = self.vocabulary.limits().parts;
            if equal {
                return self.set_finite(i, value);
            } else if self.parts.len() * count > most {
                return;
            }
            self.expand(i);
        }
        self.parts.retain(|key, _| (key[i] == value) == equal);
    }

    /// Forgets finite variables until the parts are few enough: each time the one that leaves the
    /// fewest parts.
    pub(super) fn bounded(mut self) -> Self {
        while self.parts.len() > self.vocabulary.limits().parts.max(1) {
            let candidates = (0..self.tracked.len()).filter(|i| self.tracked[*i]);
            let left = |i: &usize| {
                let keys = self.parts.keys().map(|key| {
                    let mut key = key.clone();
                    key[*i] = UNTRACKED;
                    key
                });
                keys.collect::<std::collections::BTreeSet<_>>().len()
            };
            match candidates.min_by_key(left) {
                Some(i) => self.forget_finite(i),
                None => break,
            }
        }
        self
    }

    /// Applies an operation to each part.
    pub(super) fn map(&mut self, f: impl Fn(&N) -> N) {
        for (key, n) in std::mem::take(&mut self.parts) {
            self.insert(key, f(&n));
        }
    }

    /// Keeps the valuations that satisfy a constraint over the coordinates.
    pub(super) fn constrain(&mut self, constraint: &Constraint) {
        self.map(|n| n.guard(constraint));
    }

    /// A new auxiliary coordinate with any value of a sort; `None` when there are too many.
    pub(super) fn fresh(&mut self, sort: &Sort) -> Option<Dim> {
        if self.auxiliaries >= self.vocabulary.limits().auxiliaries {
            return None;
        }
        let x = Dim::new(self.vocabulary.quantities().len() + self.auxiliaries);
        let bounds = of_sort(sort, x);
        self.auxiliaries += 1;
        self.map(|n| n.add_dimensions(1).guard_all(&bounds));
        Some(x)
    }

    /// Projects away the auxiliary coordinates after the first `count`.
    pub(super) fn keep_auxiliaries(&mut self, count: usize) {
        if self.auxiliaries > count {
            self.auxiliaries = count;
            let kept = self.vocabulary.quantities().len() + count;
            self.map(|n| n.keep_dimensions(kept));
        }
    }
}
