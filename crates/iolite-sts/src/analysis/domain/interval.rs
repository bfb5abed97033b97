//! Intervals of integers.

use iolite_expr::Int;

use super::Dim;
use super::LinExpr;

/// `[lo, hi]` of integers, `None` for an open end. Empty when `lo > hi`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// The least value.
    pub lo: Option<Int>,
    /// The greatest value.
    pub hi: Option<Int>,
}

fn both(a: Option<&Int>, b: Option<&Int>, f: impl Fn(&Int, &Int) -> Int) -> Option<Int> {
    Some(f(a?, b?))
}

fn either(a: Option<&Int>, b: Option<&Int>, f: impl Fn(&Int, &Int) -> Int) -> Option<Int> {
    match (a, b) {
        (Some(a), Some(b)) => Some(f(a, b)),
        (a, b) => a.or(b).cloned(),
    }
}

impl Interval {
    /// All integers.
    pub const FULL: Self = Self { lo: None, hi: None };

    /// One integer.
    pub fn point(n: Int) -> Self {
        Self {
            lo: Some(n.clone()),
            hi: Some(n),
        }
    }

    /// Whether there is no integer in it.
    pub fn is_empty(&self) -> bool {
        matches!((&self.lo, &self.hi), (Some(lo), Some(hi)) if lo > hi)
    }

    /// Whether `n` is in it.
    pub fn contains(&self, n: &Int) -> bool {
        self.lo.as_ref().is_none_or(|lo| lo <= n) && self.hi.as_ref().is_none_or(|hi| n <= hi)
    }

    /// Inclusion; both are not empty.
    pub fn leq(&self, other: &Self) -> bool {
        let below = |outer: &Int| self.lo.as_ref().is_some_and(|lo| outer <= lo);
        let above = |outer: &Int| self.hi.as_ref().is_some_and(|hi| hi <= outer);
        other.lo.as_ref().is_none_or(below) && other.hi.as_ref().is_none_or(above)
    }

    /// The least interval that contains both; both are not empty.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        Self {
            lo: both(self.lo.as_ref(), other.lo.as_ref(), |a, b| a.min(b).clone()),
            hi: both(self.hi.as_ref(), other.hi.as_ref(), |a, b| a.max(b).clone()),
        }
    }

    /// The intersection.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        Self {
            lo: either(self.lo.as_ref(), other.lo.as_ref(), |a, b| a.max(b).clone()),
            hi: either(self.hi.as_ref(), other.hi.as_ref(), |a, b| a.min(b).clone()),
        }
    }

    /// The sums.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            lo: both(self.lo.as_ref(), other.lo.as_ref(), |a, b| a + b),
            hi: both(self.hi.as_ref(), other.hi.as_ref(), |a, b| a + b),
        }
    }

    /// The multiples by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: &Int) -> Self {
        if factor.is_zero() {
            return Self::point(Int::ZERO);
        }
        let (lo, hi) = (
            self.lo.as_ref().map(|n| n * factor),
            self.hi.as_ref().map(|n| n * factor),
        );
        if factor.signum() > 0 {
            Self { lo, hi }
        } else {
            Self { lo: hi, hi: lo }
        }
    }

    /// An interval that contains the products.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let nonnegative = |i: &Self| i.lo.as_ref().is_some_and(|n| n.signum() >= 0);
        match (&self.lo, &self.hi, &other.lo, &other.hi) {
            (Some(a), Some(b), Some(c), Some(d)) => {
                let corners = [a * c, a * d, b * c, b * d];
                Self {
                    lo: corners.iter().min().cloned(),
                    hi: corners.iter().max().cloned(),
                }
            }
            (Some(a), _, Some(c), _) if nonnegative(self) && nonnegative(other) => Self {
                lo: Some(a * c),
                hi: None,
            },
            _ => Self::FULL,
        }
    }

    /// The values of an expression over a box.
    pub(super) fn of_expr(expr: &LinExpr, of: impl Fn(Dim) -> Self) -> Self {
        expr.terms()
            .fold(Self::point(expr.constant_term().clone()), |sum, (x, a)| {
                if sum == Self::FULL {
                    sum
                } else {
                    sum.plus(&of(x).scaled(a))
                }
            })
    }
}
