//! Exact integers: machine words as long as they suffice, big integers after that.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, AddAssign, Mul, Neg, Sub};
use std::str::FromStr;
use std::sync::Arc;

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};

/// An unbounded integer. The representation is canonical: `Big` is used only for what does not
/// fit into 64 bits, so that equality and hashing are structural.
#[derive(Clone)]
pub struct Int(Repr);

#[derive(Clone)]
enum Repr {
    Small(i64),
    Big(Arc<BigInt>),
}

impl Int {
    /// Zero.
    pub const ZERO: Self = Self(Repr::Small(0));
    /// One.
    pub const ONE: Self = Self(Repr::Small(1));

    fn big(value: BigInt) -> Self {
        match value.to_i64() {
            Some(small) => Self(Repr::Small(small)),
            None => Self(Repr::Big(Arc::new(value))),
        }
    }

    fn wide(value: i128) -> Self {
        match i64::try_from(value) {
            Ok(small) => Self(Repr::Small(small)),
            Err(_) => Self(Repr::Big(Arc::new(BigInt::from(value)))),
        }
    }

    /// The value as a big integer.
    pub fn to_big(&self) -> BigInt {
        match &self.0 {
            Repr::Small(n) => BigInt::from(*n),
            Repr::Big(n) => (**n).clone(),
        }
    }

    /// The value, if it fits into 64 bits.
    pub fn to_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Small(n) => Some(n),
            Repr::Big(_) => None,
        }
    }

    /// The value as an index, if it is one.
    pub(crate) fn to_usize(&self) -> Option<usize> {
        self.to_i64().and_then(|n| usize::try_from(n).ok())
    }

    /// -1, 0 or 1.
    pub fn signum(&self) -> i32 {
        match &self.0 {
            Repr::Small(n) => n.signum() as i32,
            Repr::Big(n) => match n.sign() {
                Sign::Minus => -1,
                Sign::NoSign => 0,
                Sign::Plus => 1,
            },
        }
    }

    /// Whether this is 0.
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small(0))
    }

    /// Whether this is 1.
    pub fn is_one(&self) -> bool {
        matches!(self.0, Repr::Small(1))
    }

    /// |n|.
    #[must_use]
    pub fn abs(&self) -> Self {
        if self.signum() < 0 {
            -self
        } else {
            self.clone()
        }
    }

    /// The number of bits of |n|.
    pub fn bits(&self) -> u64 {
        match &self.0 {
            Repr::Small(n) => u64::from(64 - n.unsigned_abs().leading_zeros()),
            Repr::Big(n) => n.bits(),
        }
    }

    /// The machine words that hold |n|: what arithmetic with it costs.
    pub(crate) fn words(&self) -> u64 {
        match &self.0 {
            Repr::Small(_) => 1,
            Repr::Big(n) => n.bits() / 64 + 1,
        }
    }

    /// `div` and `mod` of SMT-LIB: `self = q·d + r` with `0 ≤ r < |d|`. `None` for `d = 0`.
    pub(crate) fn div_mod(&self, d: &Self) -> Option<(Self, Self)> {
        if d.is_zero() {
            return None;
        }
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &d.0)
            && let (Some(q), Some(r)) = (a.checked_div_euclid(*b), a.checked_rem_euclid(*b))
        {
            return Some((Self(Repr::Small(q)), Self(Repr::Small(r))));
        }
        let (a, b) = (self.to_big(), d.to_big());
        let (q, r) = a.div_mod_floor(&b.abs());
        Some((
            Self::big(if b.is_negative() { -q } else { q }),
            Self::big(r),
        ))
    }

    /// ⌊self / d⌋ for `d > 0`.
    #[must_use]
    pub fn div_floor(&self, d: &Self) -> Self {
        debug_assert!(d.signum() > 0);
        self.div_mod(d).map_or(Self::ZERO, |(q, _)| q)
    }

    /// ⌈self / d⌉ for `d > 0`.
    #[must_use]
    pub fn div_ceil(&self, d: &Self) -> Self {
        -(-self).div_floor(d)
    }

    /// The remainder of the SMT-LIB division by `d ≠ 0`.
    #[must_use]
    pub fn modulo(&self, d: &Self) -> Self {
        self.div_mod(d).map_or(Self::ZERO, |(_, r)| r)
    }

    /// The greatest common divisor, never negative.
    #[must_use]
    pub fn gcd(&self, other: &Self) -> Self {
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0) {
            return Self::wide(i128::from(*a).gcd(&i128::from(*b)));
        }
        Self::big(self.to_big().gcd(&other.to_big()))
    }

    /// ⌊√self⌋; zero for negative numbers.
    #[must_use]
    pub(crate) fn square_root(&self) -> Self {
        if self.signum() <= 0 {
            return Self::ZERO;
        }
        Self::big(self.to_big().sqrt())
    }

    /// The least common multiple, never negative.
    #[must_use]
    pub(crate) fn lcm(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        let g = self.gcd(other);
        (&self.div_mod(&g).map_or(Self::ZERO, |(q, _)| q) * other).abs()
    }
}

impl From<i64> for Int {
    fn from(n: i64) -> Self {
        Self(Repr::Small(n))
    }
}

impl From<i32> for Int {
    fn from(n: i32) -> Self {
        Self(Repr::Small(n.into()))
    }
}

impl From<u32> for Int {
    fn from(n: u32) -> Self {
        Self(Repr::Small(n.into()))
    }
}

impl From<usize> for Int {
    fn from(n: usize) -> Self {
        Self::wide(n as i128)
    }
}

impl From<u64> for Int {
    fn from(n: u64) -> Self {
        Self::wide(n.into())
    }
}

impl From<BigInt> for Int {
    fn from(n: BigInt) -> Self {
        Self::big(n)
    }
}

/// The text is no decimal integer, or longer than this crate reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a decimal integer of reasonable size")]
pub struct ParseIntError;

impl FromStr for Int {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        if let Ok(n) = text.parse::<i64>() {
            return Ok(n.into());
        }
        // Reading decimals is quadratic, and nobody's protocol has numbers of 10 000 digits.
        if text.len() > 10_000 {
            return Err(ParseIntError);
        }
        text.parse::<BigInt>()
            .map(Self::big)
            .map_err(|_| ParseIntError)
    }
}

impl PartialEq for Int {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a == b,
            (Repr::Big(a), Repr::Big(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Int {}

impl PartialEq<i64> for Int {
    fn eq(&self, other: &i64) -> bool {
        matches!(self.0, Repr::Small(n) if n == *other)
    }
}

impl Hash for Int {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Repr::Small(n) => n.hash(state),
            Repr::Big(n) => n.hash(state),
        }
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            (Repr::Big(a), Repr::Big(b)) => a.cmp(b),
            (Repr::Small(_), Repr::Big(b)) => Ordering::Equal.then(if b.is_negative() {
                Ordering::Greater
            } else {
                Ordering::Less
            }),
            (Repr::Big(_), Repr::Small(_)) => other.cmp(self).reverse(),
        }
    }
}

macro_rules! binary {
    ($trait:ident, $method:ident, $checked:ident, $op:tt) => {
        impl $trait<&Int> for &Int {
            type Output = Int;
            fn $method(self, other: &Int) -> Int {
                if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0)
                    && let Some(n) = a.$checked(*b)
                {
                    return Int(Repr::Small(n));
                }
                Int::big(self.to_big() $op other.to_big())
            }
        }
        impl $trait<Int> for Int {
            type Output = Int;
            fn $method(self, other: Int) -> Int {
                &self $op &other
            }
        }
        impl $trait<&Int> for Int {
            type Output = Int;
            fn $method(self, other: &Int) -> Int {
                &self $op other
            }
        }
    };
}

binary!(Add, add, checked_add, +);
binary!(Sub, sub, checked_sub, -);
binary!(Mul, mul, checked_mul, *);

impl AddAssign<&Int> for Int {
    fn add_assign(&mut self, other: &Int) {
        *self = &*self + other;
    }
}

impl Neg for &Int {
    type Output = Int;
    fn neg(self) -> Int {
        match &self.0 {
            Repr::Small(n) => Int::wide(-i128::from(*n)),
            Repr::Big(n) => Int::big(-(**n).clone()),
        }
    }
}

impl Neg for Int {
    type Output = Int;
    fn neg(self) -> Int {
        -&self
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(n) => fmt::Display::fmt(n, f),
            Repr::Big(n) => fmt::Display::fmt(n, f),
        }
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Default for Int {
    fn default() -> Self {
        Self::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn int() -> impl Strategy<Value = i128> {
        prop_oneof![
            -20i128..20,
            any::<i64>().prop_map(i128::from),
            Just(i128::from(i64::MIN)),
            Just(i128::from(i64::MAX)),
            Just(i128::from(i64::MAX) + 1),
            -(1i128 << 90)..(1i128 << 90),
        ]
    }

    proptest! {
        #[test]
        fn arithmetic_agrees_with_wider_words(a in int(), b in int()) {
            let (x, y) = (Int::wide(a), Int::wide(b));
            prop_assert_eq!((&x + &y).to_big(), BigInt::from(a) + BigInt::from(b));
            prop_assert_eq!((&x - &y).to_big(), BigInt::from(a) - BigInt::from(b));
            prop_assert_eq!((&x * &y).to_big(), BigInt::from(a) * BigInt::from(b));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(x == y, a == b);
            prop_assert_eq!((-&x).to_big(), BigInt::from(-a));
            prop_assert_eq!(x.to_string().parse::<Int>().unwrap(), x.clone());
            if let Some((q, r)) = x.div_mod(&y) {
                prop_assert_eq!(&(&q * &y) + &r, x);
                prop_assert!(r.signum() >= 0 && r < y.abs());
            } else {
                prop_assert_eq!(b, 0);
            }
        }
    }
}
