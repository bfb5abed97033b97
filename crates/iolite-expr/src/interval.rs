//! Intervals that integer terms are known to lie in, from sorts alone.

use crate::term::{Kind, Op};
use crate::{Int, Sort, Term};

/// `[lo, hi]`, `None` for an open end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) lo: Option<Int>,
    pub(crate) hi: Option<Int>,
}

fn lift(a: Option<&Int>, b: Option<&Int>, f: impl Fn(&Int, &Int) -> Int) -> Option<Int> {
    Some(f(a?, b?))
}

impl Interval {
    pub(crate) const FULL: Self = Self { lo: None, hi: None };

    pub(crate) fn point(n: Int) -> Self {
        Self {
            lo: Some(n.clone()),
            hi: Some(n),
        }
    }

    pub(crate) fn at_least(n: Int) -> Self {
        Self {
            lo: Some(n),
            hi: None,
        }
    }

    pub(crate) fn within(&self, lo: &Int, hi: &Int) -> bool {
        self.lo.as_ref().is_some_and(|l| lo <= l) && self.hi.as_ref().is_some_and(|h| h <= hi)
    }

    pub(crate) fn of_sort(sort: &Sort) -> Self {
        match sort {
            Sort::Range(r) => Self {
                lo: Some(r.lo.clone()),
                hi: Some(r.hi.clone()),
            },
            _ => Self::FULL,
        }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            lo: lift(self.lo.as_ref(), other.lo.as_ref(), |a, b| a + b),
            hi: lift(self.hi.as_ref(), other.hi.as_ref(), |a, b| a + b),
        }
    }

    pub(crate) fn scaled(&self, factor: &Int) -> Self {
        let (lo, hi) = (
            self.lo.as_ref().map(|n| n * factor),
            self.hi.as_ref().map(|n| n * factor),
        );
        match factor.signum() {
            0 => Self::point(Int::ZERO),
            1 => Self { lo, hi },
            _ => Self { lo: hi, hi: lo },
        }
    }

    fn union(&self, other: &Self) -> Self {
        Self {
            lo: lift(self.lo.as_ref(), other.lo.as_ref(), |a, b| a.min(b).clone()),
            hi: lift(self.hi.as_ref(), other.hi.as_ref(), |a, b| a.max(b).clone()),
        }
    }

    /// The interval of an integer term.
    pub(crate) fn of(term: &Term) -> Self {
        Self::of_depth(term, 8)
    }

    // Terms are trees with sharing; a depth bound keeps the cost in proportion to the gain.
    fn of_depth(term: &Term, depth: u32) -> Self {
        let Some(depth) = depth.checked_sub(1) else {
            return Self::of_sort(term.sort());
        };
        match term.kind() {
            Kind::Lit(v) => v.as_int().map_or(Self::FULL, |n| Self::point(n.clone())),
            Kind::Var(v) => Self::of_sort(&v.sort),
            Kind::App(op, args) => match op {
                Op::Add => args.iter().fold(Self::point(Int::ZERO), |i, a| {
                    i.plus(&Self::of_depth(a, depth))
                }),
                Op::Sub => Self::of_depth(&args[0], depth)
                    .plus(&Self::of_depth(&args[1], depth).scaled(&Int::from(-1))),
                Op::Neg => Self::of_depth(&args[0], depth).scaled(&Int::from(-1)),
                Op::Mul => {
                    let (mut factor, mut rest) = (Int::ONE, None);
                    for a in args {
                        match a.as_value().and_then(|v| v.as_int()) {
                            Some(n) => factor = &factor * n,
                            None if rest.is_none() => rest = Some(a),
                            None => return Self::FULL,
                        }
                    }
                    match rest {
                        None => Self::point(factor),
                        Some(a) => Self::of_depth(a, depth).scaled(&factor),
                    }
                }
                Op::Mod => match args[1].as_value().and_then(|v| v.as_int()) {
                    Some(n) if !n.is_zero() => Self {
                        lo: Some(Int::ZERO),
                        hi: Some(n.abs() - Int::ONE),
                    },
                    _ => Self::at_least(Int::ZERO),
                },
                Op::Len | Op::StrLen | Op::Abs => Self::at_least(Int::ZERO),
                Op::Ite => Self::of_depth(&args[1], depth).union(&Self::of_depth(&args[2], depth)),
                _ => Self::of_sort(term.sort()),
            },
        }
    }
}
