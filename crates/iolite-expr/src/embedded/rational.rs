//! Exact rationals for the simplex.

use std::cmp::Ordering;

use crate::Int;

/// A fraction in lowest terms with a positive denominator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rational {
    num: Int,
    den: Int,
}

impl Rational {
    pub(super) fn new(num: Int, den: Int) -> Self {
        debug_assert!(!den.is_zero());
        if den.is_one() {
            return Self { num, den };
        }
        let g = num.gcd(&den);
        let g = if den.signum() < 0 { -g } else { g };
        let by = |n: &Int| n.div_mod(&g).map_or(Int::ZERO, |(q, _)| q);
        Self {
            num: by(&num),
            den: by(&den),
        }
    }

    /// What arithmetic with it costs, in operations on machine words: long numbers are multiplied
    /// and reduced in time that grows with the square of their length.
    pub(super) fn cost(&self) -> u64 {
        match self.num.words().max(self.den.words()) {
            1 => 1,
            words => words.saturating_mul(words),
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.num.is_zero()
    }

    pub(super) fn signum(&self) -> i32 {
        self.num.signum()
    }

    /// The integer, if it is one.
    pub(super) fn as_int(&self) -> Option<&Int> {
        self.den.is_one().then_some(&self.num)
    }

    pub(super) fn floor(&self) -> Int {
        self.num.div_floor(&self.den)
    }

    pub(super) fn plus(&self, o: &Self) -> Self {
        if self.den.is_one() && o.den.is_one() {
            return Self {
                num: &self.num + &o.num,
                den: Int::ONE,
            };
        }
        Self::new(
            &(&self.num * &o.den) + &(&o.num * &self.den),
            &self.den * &o.den,
        )
    }

    pub(super) fn minus(&self, o: &Self) -> Self {
        self.plus(&o.negated())
    }

    pub(super) fn times(&self, o: &Self) -> Self {
        Self::new(&self.num * &o.num, &self.den * &o.den)
    }

    pub(super) fn over(&self, o: &Self) -> Self {
        Self::new(&self.num * &o.den, &self.den * &o.num)
    }

    pub(super) fn negated(&self) -> Self {
        Self {
            num: -&self.num,
            den: self.den.clone(),
        }
    }

    pub(super) fn cmp_int(&self, n: &Int) -> Ordering {
        if self.den.is_one() {
            self.num.cmp(n)
        } else {
            self.num.cmp(&(n * &self.den))
        }
    }
}

impl From<Int> for Rational {
    fn from(num: Int) -> Self {
        Self { num, den: Int::ONE }
    }
}
