//! Numbers by strategy, whatever a query says of them.

use rand::RngExt;

use super::{Sampler, Strategy, power_of_two};
use crate::decimal::ten_to;
use crate::{Int, Sort};

/// Powers of two at which machine numbers end; those of wide ones are met more often.
const ENDS: [u32; 14] = [7, 8, 15, 16, 31, 31, 32, 32, 53, 53, 63, 63, 64, 64];
/// Digits of the greatest power of ten: the widest machine numbers have no more.
const DIGITS: u8 = 18;
/// Tries for a number of a range.
const TRIES: u32 = 4;

impl Sampler {
    /// A number of a sort, in units of its last place for a decimal.
    pub(super) fn number(&mut self, sort: &Sort, strategy: Strategy) -> Int {
        match sort {
            Sort::Range(r) if strategy == Strategy::Large => {
                let inside = |n: &Int| r.lo <= *n && *n <= r.hi;
                let edges = (0..TRIES).map(|_| self.edge()).find(inside);
                edges.unwrap_or_else(|| self.uniform(&r.lo, &r.hi))
            }
            Sort::Range(r) if strategy != Strategy::Small => self.uniform(&r.lo, &r.hi),
            // Amounts without a fraction are as common as others.
            Sort::Decimal(scale) if self.rng.random_bool(0.5) => {
                self.any_number(strategy) * ten_to(*scale)
            }
            _ => self.any_number(strategy),
        }
    }

    fn any_number(&mut self, strategy: Strategy) -> Int {
        match strategy {
            Strategy::Small => self.rng.random_range(-3..=3i64).into(),
            Strategy::Large if self.rng.random_bool(0.5) => self.edge(),
            Strategy::Large => {
                let bits = self.rng.random_range(10..70u32);
                let digits = Int::from(self.rng.random_range(0..1i64 << 20));
                let unit = power_of_two(bits.saturating_sub(20));
                let size = power_of_two(bits) + &digits * &unit;
                self.signed(size)
            }
            Strategy::Boundary | Strategy::Random | Strategy::Known | Strategy::Mixed => {
                // All magnitudes are equally likely.
                let bits = self.rng.random_range(1..18u32);
                self.rng.random_range(-(1i64 << bits)..=1 << bits).into()
            }
        }
    }

    /// A number at which programs change: where machine numbers end, where there is one digit more, and
    /// beside these.
    pub(super) fn edge(&mut self) -> Int {
        let end = if self.rng.random_bool(0.6) {
            power_of_two(ENDS[self.rng.random_range(0..ENDS.len())])
        } else {
            ten_to(self.rng.random_range(1..=DIGITS))
        };
        let edge = end + Int::from(self.rng.random_range(-1..=1i64));
        self.signed(edge)
    }

    fn signed(&mut self, size: Int) -> Int {
        if self.rng.random_bool(0.5) {
            size
        } else {
            -size
        }
    }

    fn uniform(&mut self, lo: &Int, hi: &Int) -> Int {
        if let (Some(lo), Some(hi)) = (lo.to_i64(), hi.to_i64()) {
            return self.rng.random_range(lo..=hi).into();
        }
        let count = hi - lo + Int::ONE;
        let mut number = Int::ZERO;
        for _ in 0..=count.bits() / 32 + 1 {
            number = number * power_of_two(32) + Int::from(self.rng.random_range(0..1i64 << 32));
        }
        lo + &number.modulo(&count)
    }
}
