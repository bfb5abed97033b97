//! Linear expressions over the coordinates of an abstract element.

use std::collections::BTreeMap;
use std::fmt;

use iolite_expr::Int;

/// A coordinate of the integer points that an abstract element describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dim(u32);

impl Dim {
    /// The coordinate with this index.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 coordinates"))
    }

    /// The index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// `Σ aᵢ·xᵢ + c` with exact coefficients, none of which is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinExpr {
    terms: BTreeMap<Dim, Int>,
    constant: Int,
}

impl LinExpr {
    /// The number `c`.
    pub fn constant(c: impl Into<Int>) -> Self {
        Self {
            terms: BTreeMap::new(),
            constant: c.into(),
        }
    }

    /// The coordinate `x`.
    pub fn dim(x: Dim) -> Self {
        Self::scaled_dim(x, &Int::ONE)
    }

    /// `a·x`.
    pub(crate) fn scaled_dim(x: Dim, a: &Int) -> Self {
        let mut expr = Self::default();
        expr.add_term(x, a);
        expr
    }

    /// The expression `Σ coefficients[i]·xᵢ + c`.
    pub fn dense(coefficients: &[Int], c: Int) -> Self {
        let mut expr = Self::constant(c);
        for (i, a) in coefficients.iter().enumerate() {
            expr.add_term(Dim::new(i), a);
        }
        expr
    }

    /// The coordinates with their coefficients, in order.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = (Dim, &Int)> {
        self.terms.iter().map(|(x, a)| (*x, a))
    }

    /// c.
    pub fn constant_term(&self) -> &Int {
        &self.constant
    }

    /// The coefficient of `x`, 0 where it does not occur.
    pub fn coefficient(&self, x: Dim) -> Int {
        self.terms.get(&x).cloned().unwrap_or_default()
    }

    /// The number, if no coordinate occurs.
    pub fn as_constant(&self) -> Option<&Int> {
        self.terms.is_empty().then_some(&self.constant)
    }

    /// Adds `a·x`.
    pub fn add_term(&mut self, x: Dim, a: &Int) {
        if a.is_zero() {
            return;
        }
        let sum = self.terms.get(&x).map_or_else(|| a.clone(), |b| b + a);
        if sum.is_zero() {
            self.terms.remove(&x);
        } else {
            self.terms.insert(x, sum);
        }
    }

    /// Adds `factor·other`.
    pub fn add_scaled(&mut self, other: &Self, factor: &Int) {
        for (x, a) in &other.terms {
            self.add_term(*x, &(a * factor));
        }
        self.constant += &(&other.constant * factor);
    }

    /// `self + other`.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.add_scaled(other, &Int::ONE);
        sum
    }

    /// `self - other`.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.add_scaled(other, &Int::from(-1));
        sum
    }

    /// `self + c`.
    #[must_use]
    pub fn plus_constant(&self, c: &Int) -> Self {
        let mut sum = self.clone();
        sum.constant += c;
        sum
    }

    /// `factor·self`.
    #[must_use]
    pub fn scaled(&self, factor: &Int) -> Self {
        let mut result = Self::default();
        result.add_scaled(self, factor);
        result
    }

    /// The greatest common divisor of the coefficients, c left out; 0 of none.
    pub fn content(&self) -> Int {
        self.terms.values().fold(Int::ZERO, |g, a| g.gcd(a))
    }

    /// The largest number of bits of a coefficient or of c.
    pub fn bits(&self) -> u64 {
        let terms = self.terms.values().map(Int::bits);
        terms.chain([self.constant.bits()]).max().unwrap_or(0)
    }

    /// The expression with coordinates replaced, all at once.
    #[must_use]
    pub fn substitute(&self, map: &BTreeMap<Dim, Self>) -> Self {
        let mut result = Self::constant(self.constant.clone());
        for (x, a) in &self.terms {
            match map.get(x) {
                Some(e) => result.add_scaled(e, a),
                None => result.add_term(*x, a),
            }
        }
        result
    }

    /// The value at an integer point; a coordinate that the point lacks counts as 0.
    pub fn value_at(&self, point: &[Int]) -> Int {
        self.terms
            .iter()
            .fold(self.constant.clone(), |sum, (x, a)| {
                point
                    .get(x.index())
                    .map_or(sum.clone(), |n| &sum + &(a * n))
            })
    }
}

impl fmt::Display for LinExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (x, a) in &self.terms {
            write!(f, "{a}·x{} + ", x.index())?;
        }
        write!(f, "{}", self.constant)
    }
}
