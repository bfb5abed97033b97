//! Fixed-point decimals: integers that count units of the last place, so that nothing is approximate.
//!
//! Arithmetic on decimals is arithmetic on units: [`Op::Units`] and [`Op::Decimal`] go between the two, and
//! everything else, solvers included, sees integers.

use std::fmt;

use crate::term::Op;
use crate::typing::{Typed, mismatch};
use crate::{Int, Sort, Span, Term, Value};

/// Most places after the point.
pub const MAX_SCALE: u8 = 18;

/// Digits of a number that is read, and how far its exponent goes.
const MAX_DIGITS: usize = 10_000;
const MAX_EXPONENT: i32 = 1_000;

/// A power of ten.
pub(crate) fn ten_to(places: u8) -> Int {
    (0..places).fold(Int::ONE, |n, _| &n * &Int::from(10))
}

impl Value {
    /// The decimal with so many places that a text shows: `12.5`, `-3`, `1.25e1`. `None` where it has
    /// more places than that, or is no number.
    pub fn decimal(text: &str, scale: u8) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((m, e)) => (m, e.strip_prefix('+').unwrap_or(e).parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, digits) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
        let pointed = digits.contains('.');
        if whole.is_empty()
            || pointed && fraction.is_empty()
            || !plain(whole)
            || !plain(fraction)
            || digits.len() > MAX_DIGITS
            || exponent.abs() > MAX_EXPONENT
        {
            return None;
        }
        let mut units = format!("{whole}{fraction}");
        let mut places = i32::try_from(fraction.len()).ok()? - exponent;
        while places > i32::from(scale) && units.ends_with('0') && units.len() > 1 {
            units.pop();
            places -= 1;
        }
        let n: Int = units.parse().ok()?;
        if n.is_zero() {
            return Some(Self::Decimal(n, scale));
        }
        let missing = i32::from(scale) - places;
        let missing = usize::try_from(missing).ok()?;
        let n: Int = format!("{units}{}", "0".repeat(missing)).parse().ok()?;
        Some(Self::Decimal(if negative { -n } else { n }, scale))
    }

    /// An integer, or the units of a decimal.
    pub(crate) fn number(&self) -> Option<&Int> {
        match self {
            Self::Int(n) | Self::Decimal(n, _) => Some(n),
            _ => None,
        }
    }

    /// A number of the same sort as this one.
    pub(crate) fn like(&self, number: Int) -> Self {
        match self {
            Self::Decimal(_, scale) => Self::Decimal(number, *scale),
            _ => Self::Int(number),
        }
    }

    /// How many units of its last place a decimal has.
    pub fn units(&self) -> Option<&Int> {
        match self {
            Self::Decimal(n, _) => Some(n),
            _ => None,
        }
    }
}

pub(crate) fn write_decimal(f: &mut fmt::Formatter<'_>, units: &Int, scale: u8) -> fmt::Result {
    let (whole, part) = units
        .abs()
        .div_mod(&ten_to(scale))
        .unwrap_or((Int::ZERO, Int::ZERO));
    let sign = if units.signum() < 0 { "-" } else { "" };
    let width = usize::from(scale);
    write!(f, "{sign}{whole}.{:0>width$}", part.to_string())
}

/// The places of a number: none for integers.
fn scale(term: &Term) -> Option<u8> {
    match term.sort() {
        Sort::Decimal(scale) => Some(*scale),
        sort if sort.is_int() => Some(0),
        _ => None,
    }
}

impl Term {
    /// Units of the last place of a decimal; an integer is its own.
    pub fn units(self, span: Span) -> Typed {
        if self.sort().is_int() {
            return Ok(self);
        }
        Self::apply(Op::Units, vec![self], span)
    }

    /// The decimal of so many units of its last place.
    pub fn of_units(units: Self, scale: u8, span: Span) -> Typed {
        if !units.sort().is_int() {
            return Err(mismatch("int", &units));
        }
        let units = if units.is_ground() {
            units.simplify()
        } else {
            units
        };
        if let Some(Value::Int(n)) = units.as_value() {
            let value = Value::Decimal(n.clone(), scale);
            return Ok(Self::value_of_sort(value, Sort::Decimal(scale)));
        }
        Self::sized(Op::Decimal, vec![units], Sort::Decimal(scale), span)
    }

    /// Whether an operation on these numbers is one on decimals.
    pub fn is_decimal_pair(a: &Self, b: &Self) -> bool {
        let decimal = |t: &Self| matches!(t.sort(), Sort::Decimal(_));
        (decimal(a) || decimal(b)) && scale(a).is_some() && scale(b).is_some()
    }

    /// The units of a number, counted in units of another place at least as far behind the point.
    fn units_at(self, places: u8, span: Span) -> Typed {
        let own = scale(&self).ok_or_else(|| mismatch("a number", &self))?;
        let units = self.units(span)?;
        if own >= places {
            return Ok(units);
        }
        let factor = ten_to(places - own).into();
        Self::apply(Op::Mul, vec![factor, units], span)
    }

    /// An operation on two numbers, one of which at least is a decimal. Sums, differences, comparisons
    /// and conditions are exact, with the places of the one that has more; products and quotients are rounded to
    /// that many, to the nearest, halves away from zero.
    pub fn decimal_op(op: Op, a: Self, b: Self, span: Span) -> Typed {
        let (p, q) = match (scale(&a), scale(&b)) {
            (Some(p), Some(q)) => (p, q),
            (None, _) => return Err(mismatch("a number", &a)),
            (_, None) => return Err(mismatch("a number", &b)),
        };
        let places = p.max(q);
        match op {
            Op::Mul => {
                let product = Self::apply(Op::Mul, vec![a.units(span)?, b.units(span)?], span)?;
                let rounded = Self::rounded(product, ten_to(p.min(q)).into(), span)?;
                Self::of_units(rounded, places, span)
            }
            Op::Div => {
                // a / 10^p over b / 10^q, in units of 10^-places.
                let factor = ten_to(places + q - p).into();
                let dividend = Self::apply(Op::Mul, vec![factor, a.units(span)?], span)?;
                let rounded = Self::rounded(dividend, b.units(span)?, span)?;
                Self::of_units(rounded, places, span)
            }
            Op::Add | Op::Sub => {
                let (a, b) = (a.units_at(places, span)?, b.units_at(places, span)?);
                Self::of_units(Self::apply(op, vec![a, b], span)?, places, span)
            }
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                let (a, b) = (a.units_at(places, span)?, b.units_at(places, span)?);
                Self::apply(op, vec![a, b], span)
            }
            _ => Err(mismatch("int", if p > 0 { &a } else { &b })),
        }
    }

    /// The number with so many places: exactly where it has no more, else rounded to the nearest, halves
    /// away from zero.
    pub fn with_places(self, places: u8, span: Span) -> Typed {
        let own = scale(&self).ok_or_else(|| mismatch("a number", &self))?;
        let units = if own > places {
            Self::rounded(self.units(span)?, ten_to(own - places).into(), span)?
        } else {
            self.units_at(places, span)?
        };
        if places == 0 {
            return Ok(units);
        }
        Self::of_units(units, places, span)
    }

    /// The greatest integer that is not above a decimal.
    pub fn floor(self, span: Span) -> Typed {
        let places = scale(&self).ok_or_else(|| mismatch("a number", &self))?;
        let units = self.units(span)?;
        Self::apply(Op::Div, vec![units, ten_to(places).into()], span)
    }

    /// The least integer that is not below a decimal.
    pub fn ceiling(self, span: Span) -> Typed {
        let places = scale(&self).ok_or_else(|| mismatch("a number", &self))?;
        let minus = Self::apply(Op::Neg, vec![self.units(span)?], span)?;
        let floor = Self::apply(Op::Div, vec![minus, ten_to(places).into()], span)?;
        Self::apply(Op::Neg, vec![floor], span)
    }

    /// `a / b` to the nearest integer, halves away from zero; a fault where `b` is zero.
    fn rounded(a: Self, b: Self, span: Span) -> Typed {
        let apply = |op: Op, args: Vec<Self>| Self::apply(op, args, span);
        let known = b.as_value().and_then(Value::as_int);
        if known.is_some_and(Int::is_one) {
            return Ok(a);
        }
        let (a, b) = if known.is_some_and(|n| n.signum() > 0) {
            (a, b)
        } else {
            let negative = apply(Op::Lt, vec![b.clone(), 0.into()])?;
            let minus = apply(Op::Neg, vec![a.clone()])?;
            let a = apply(Op::Ite, vec![negative, minus, a])?;
            (a, apply(Op::Abs, vec![b])?)
        };
        // Half of it more, and down: (2·|a| + b) / 2·b.
        let size = apply(Op::Abs, vec![a.clone()])?;
        let twice = |t: Self| apply(Op::Mul, vec![2.into(), t]);
        let dividend = apply(Op::Add, vec![twice(size)?, b.clone()])?;
        let size = apply(Op::Div, vec![dividend, twice(b)?])?;
        let below = apply(Op::Lt, vec![a, 0.into()])?;
        let minus = apply(Op::Neg, vec![size.clone()])?;
        apply(Op::Ite, vec![below, minus, size])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_exactly_or_not_at_all() {
        for (text, scale, shown) in [
            ("12.5", 2, Some("12.50")),
            ("-0.05", 2, Some("-0.05")),
            ("-0.00", 2, Some("0.00")),
            ("3", 1, Some("3.0")),
            ("1.250", 2, Some("1.25")),
            ("1.255", 2, None),
            ("1.25e1", 1, Some("12.5")),
            ("125E-2", 2, Some("1.25")),
            ("100e-2", 1, Some("1.0")),
            ("1e400000000", 2, None),
            (".5", 2, None),
            ("5.", 2, None),
            ("", 2, None),
            ("-", 2, None),
            ("1.2.3", 2, None),
            ("0x1", 2, None),
            (
                "99999999999999999999.99",
                2,
                Some("99999999999999999999.99"),
            ),
        ] {
            let value = Value::decimal(text, scale).map(|v| v.to_string());
            assert_eq!(value.as_deref(), shown, "{text} with {scale} places");
        }
    }
}
