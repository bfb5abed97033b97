//! Sums of decimals as people write them: `price + 0.50` and not `units(price) + 50`.
//!
//! Terms say what decimals are compared with in units of the last place, since that is what solvers and
//! evaluation work with. What is shown says the same in the language of models, so that it can be read
//! back there: a comparison of decimals of any places is exact, and so is the product with an integer.

use std::fmt;

use super::{Level, write};
use crate::decimal::{ten_to, write_decimal};
use crate::term::{Kind, Op};
use crate::{Int, Sort, Term, Value};

/// A sum of multiples of decimals and integers, counted in units.
#[derive(Default)]
pub(super) struct Amount<'a> {
    /// With each part, how many times it is taken.
    parts: Vec<(Int, &'a Term)>,
    constant: Int,
}

/// The places of a part; integers have none.
fn places(part: &Term) -> u8 {
    match part.sort() {
        Sort::Decimal(scale) => *scale,
        _ => 0,
    }
}

impl<'a> Amount<'a> {
    /// Adds a term so many times; the most places of decimals in it are kept in `most`.
    fn add(&mut self, term: &'a Term, times: &Int, most: &mut u8) {
        match term.kind() {
            Kind::Lit(Value::Int(n)) => self.constant = &self.constant + &(times * n),
            Kind::App(Op::Units, args) => {
                *most = (*most).max(places(&args[0]));
                match args[0].kind() {
                    Kind::Lit(Value::Decimal(n, _)) => {
                        self.constant = &self.constant + &(times * n);
                    }
                    Kind::App(Op::Decimal, units) => self.add(&units[0], times, most),
                    _ => self.parts.push((times.clone(), &args[0])),
                }
            }
            Kind::App(Op::Add, args) => args.iter().for_each(|a| self.add(a, times, most)),
            Kind::App(Op::Sub, args) => {
                for (i, a) in args.iter().enumerate() {
                    let times = if i == 0 { times.clone() } else { -times };
                    self.add(a, &times, most);
                }
            }
            Kind::App(Op::Neg, args) => self.add(&args[0], &-times, most),
            Kind::App(Op::Mul, args) => match factor(args) {
                Some((n, Some(rest))) => self.add(rest, &(times * &n), most),
                Some((n, None)) => self.constant = &self.constant + &(times * &n),
                None => self.parts.push((times.clone(), term)),
            },
            _ => self.parts.push((times.clone(), term)),
        }
    }

    /// The same in units of a last place, with whole multiples; `None` where one of them is a fraction.
    fn at(mut self, scale: u8) -> Option<Self> {
        for (times, part) in &mut self.parts {
            let (whole, left) = times.div_mod(&ten_to(scale.checked_sub(places(part))?))?;
            if !left.is_zero() {
                return None;
            }
            *times = whole;
        }
        Some(self)
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, scale: u8) -> fmt::Result {
        let mut first = true;
        for (times, part) in &self.parts {
            let size = times.abs();
            let sign = match (times.signum() < 0, first) {
                (true, true) => "-",
                (true, false) => " - ",
                (false, true) => "",
                (false, false) => " + ",
            };
            write!(f, "{sign}")?;
            if !size.is_one() {
                write!(f, "{size} * ")?;
            }
            let level = if first && sign.is_empty() && size.is_one() {
                Level::Sum
            } else {
                Level::Unary
            };
            write(f, part, level)?;
            first = false;
        }
        if first {
            write_decimal(f, &self.constant, scale)
        } else if self.constant.is_zero() {
            Ok(())
        } else {
            let sign = if self.constant.signum() < 0 { "-" } else { "+" };
            write!(f, " {sign} ")?;
            write_decimal(f, &self.constant.abs(), scale)
        }
    }

    fn level(&self) -> Level {
        match &self.parts[..] {
            [(times, _)] if self.constant.is_zero() && times.is_one() => Level::Postfix,
            _ => Level::Sum,
        }
    }
}

/// The product of the literals and what else is multiplied, if that is one term at most.
fn factor(args: &[Term]) -> Option<(Int, Option<&Term>)> {
    let mut product = Int::ONE;
    let mut rest = None;
    for a in args {
        match a.as_value() {
            Some(Value::Int(n)) => product = &product * n,
            _ if rest.is_none() => rest = Some(a),
            _ => return None,
        }
    }
    Some((product, rest))
}

/// Both sides of a comparison of numbers as amounts with so many places, where decimals are compared.
fn amounts<'a>(left: &'a Term, right: &'a Term) -> Option<([Amount<'a>; 2], u8)> {
    if !left.sort().is_int() || !right.sort().is_int() {
        return None;
    }
    let mut scale = 0;
    let sides = [left, right].map(|side| {
        let mut amount = Amount::default();
        amount.add(side, &Int::ONE, &mut scale);
        amount
    });
    if scale == 0 {
        return None;
    }
    let [left, right] = sides;
    Some(([left.at(scale)?, right.at(scale)?], scale))
}

/// Writes a comparison of decimals; `None` where it is none.
pub(super) fn comparison(
    f: &mut fmt::Formatter<'_>,
    args: &[Term],
    sign: &str,
) -> Option<fmt::Result> {
    let [left, right] = args else {
        return None;
    };
    let ([left, right], scale) = amounts(left, right)?;
    let written = left
        .write(f, scale)
        .and_then(|()| write!(f, " {sign} "))
        .and_then(|()| right.write(f, scale));
    Some(written)
}

/// What [`Op::Decimal`] makes of units, as a sum of decimals, and how tightly that binds; `None` where it is
/// no such sum.
pub(super) fn sum(term: &Term) -> Option<(Amount<'_>, u8, Level)> {
    let (Kind::App(Op::Decimal, args), Sort::Decimal(scale)) = (term.kind(), term.sort()) else {
        return None;
    };
    let (mut amount, mut most) = (Amount::default(), 0);
    amount.add(&args[0], &Int::ONE, &mut most);
    // With fewer places than the node has, a sum of these would be of another sort.
    if most != *scale {
        return None;
    }
    let amount = amount.at(*scale)?;
    let level = amount.level();
    Some((amount, *scale, level))
}

pub(super) fn write_sum(
    f: &mut fmt::Formatter<'_>,
    (amount, scale, level): &(Amount<'_>, u8, Level),
    outer: Level,
) -> fmt::Result {
    let parens = *level < outer;
    write!(f, "{}", if parens { "(" } else { "" })?;
    amount.write(f, *scale)?;
    write!(f, "{}", if parens { ")" } else { "" })
}

struct Side<'a>(Amount<'a>, u8);

impl fmt::Display for Side<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, self.1)
    }
}

impl Term {
    /// The two sides of a comparison of decimals as people write them, and the least amount by which they
    /// can differ; `None` where no decimals are compared.
    pub fn decimal_sides(left: &Self, right: &Self) -> Option<[String; 3]> {
        let ([left, right], scale) = amounts(left, right)?;
        let unit = Value::Decimal(Int::ONE, scale);
        let (left, right) = (Side(left, scale), Side(right, scale));
        Some([left.to_string(), right.to_string(), unit.to_string()])
    }
}
