//! Intervals of integers with open ends, and how products and quotients narrow them.

use super::problem::Lin;
use super::simplex::IntVar;
use crate::Int;

/// From `lo` to `hi`, both included; `None` has no end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) lo: Option<Int>,
    pub(super) hi: Option<Int>,
}

/// No value is left.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Empty;

impl Interval {
    pub(super) fn new(lo: Option<Int>, hi: Option<Int>) -> Self {
        Self { lo, hi }
    }

    pub(super) fn point(n: Int) -> Self {
        Self::new(Some(n.clone()), Some(n))
    }

    /// Its only value.
    pub(super) fn fixed(&self) -> Option<Int> {
        self.lo.clone().filter(|_| self.lo == self.hi)
    }

    pub(super) fn contains(&self, n: &Int) -> bool {
        self.lo.as_ref().is_none_or(|lo| lo <= n) && self.hi.as_ref().is_none_or(|hi| n <= hi)
    }

    /// How many values; very many where there is no end.
    pub(super) fn count(&self) -> usize {
        match (&self.lo, &self.hi) {
            (Some(lo), Some(hi)) => (hi - lo)
                .to_usize()
                .map_or(usize::MAX / 2, |n| n.saturating_add(1).min(usize::MAX / 2)),
            (None, None) => usize::MAX,
            _ => usize::MAX - 1,
        }
    }

    /// At most so many values, those near zero first, and whether they are all.
    pub(super) fn values(&self, most: usize) -> (Vec<Int>, bool) {
        let zero = Int::ZERO;
        let start = match (&self.lo, &self.hi) {
            (Some(lo), _) if *lo > zero => lo.clone(),
            (_, Some(hi)) if *hi < zero => hi.clone(),
            _ => zero,
        };
        let mut values = vec![start.clone()];
        let mut step = Int::ONE;
        let (mut up, mut down) = (true, true);
        while values.len() < most && (up || down) {
            let above = &start + &step;
            up &= self.contains(&above);
            if up {
                values.push(above);
            }
            let below = &start - &step;
            down &= self.contains(&below);
            if down && values.len() < most {
                values.push(below);
            }
            step = &step + &Int::ONE;
        }
        let all = self.count() <= values.len();
        if !all && let (Some(lo), Some(hi)) = (&self.lo, &self.hi) {
            // The ends of a long range are worth a look.
            for end in [hi, lo] {
                if !values.contains(end) {
                    values.push(end.clone());
                }
            }
        }
        (values, all)
    }

    /// The smallest interval around both.
    pub(super) fn hull(&self, other: &Self) -> Self {
        let both = |a: &Option<Int>, b: &Option<Int>| Some((a.clone()?, b.clone()?));
        Self::new(
            both(&self.lo, &other.lo).map(|(a, b)| a.min(b)),
            both(&self.hi, &other.hi).map(|(a, b)| a.max(b)),
        )
    }

    fn negated(&self) -> Self {
        Self::new(
            self.hi.as_ref().map(|n| -n.clone()),
            self.lo.as_ref().map(|n| -n.clone()),
        )
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let sum = |a: &Option<Int>, b: &Option<Int>| Some(a.as_ref()? + b.as_ref()?);
        Self::new(sum(&self.lo, &other.lo), sum(&self.hi, &other.hi))
    }

    fn is_positive(&self) -> bool {
        self.lo.as_ref().is_some_and(|n| n.signum() > 0)
    }

    fn is_negative(&self) -> bool {
        self.hi.as_ref().is_some_and(|n| n.signum() < 0)
    }

    /// The interval of all products.
    pub(super) fn times(&self, other: &Self) -> Self {
        let zero = Self::point(Int::ZERO);
        if *self == zero || *other == zero {
            return zero;
        }
        let ends = |i: &Self| [End::low(i.lo.as_ref()), End::high(i.hi.as_ref())];
        let mut corners = Vec::with_capacity(4);
        for a in ends(self) {
            for b in ends(other) {
                corners.push(a.times(&b));
            }
        }
        corners.sort();
        let finite = |e: Option<&End>| match e {
            Some(End::Finite(n)) => Some(n.clone()),
            _ => None,
        };
        Self::new(finite(corners.first()), finite(corners.last()))
    }

    /// The interval of all `a` with `a · b` in `self` for some `b`; `b` excludes zero.
    fn over(&self, b: &Self) -> Self {
        if b.is_negative() {
            return self.negated().over(&b.negated());
        }
        let (Some(least), most) = (&b.lo, &b.hi) else {
            return Self::default();
        };
        if least.signum() <= 0 {
            return Self::default();
        }
        let lo = self.lo.as_ref().map(|lo| match most {
            _ if lo.signum() <= 0 => lo.div_ceil(least),
            Some(most) => lo.div_ceil(most),
            None => Int::ONE,
        });
        let hi = self.hi.as_ref().map(|hi| match most {
            _ if hi.signum() >= 0 => hi.div_floor(least),
            Some(most) => hi.div_floor(most),
            None => Int::from(-1),
        });
        Self::new(lo, hi)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Below,
    Finite(Int),
    Above,
}

impl End {
    fn low(n: Option<&Int>) -> Self {
        n.cloned().map_or(Self::Below, Self::Finite)
    }

    fn high(n: Option<&Int>) -> Self {
        n.cloned().map_or(Self::Above, Self::Finite)
    }

    fn signum(&self) -> i32 {
        match self {
            Self::Below => -1,
            Self::Finite(n) => n.signum(),
            Self::Above => 1,
        }
    }

    fn times(&self, other: &Self) -> Self {
        if let (Self::Finite(a), Self::Finite(b)) = (self, other) {
            return Self::Finite(a * b);
        }
        match self.signum() * other.signum() {
            0 => Self::Finite(Int::ZERO),
            1 => Self::Above,
            _ => Self::Below,
        }
    }
}

/// The interval of each variable.
#[derive(Clone, Debug)]
pub(super) struct Domains(Vec<Interval>);

/// Numbers longer than this are not narrowed any more: the next ones would be longer still.
const MOST_BITS: u64 = 128;

impl Domains {
    pub(super) fn new(variables: usize) -> Self {
        Self(vec![Interval::default(); variables])
    }

    /// The values that a form may have.
    pub(super) fn of(&self, l: &Lin) -> Interval {
        let mut sum = Interval::point(l.constant.clone());
        for (x, a) in &l.terms {
            sum = sum.plus(&self.0[x.0].times(&Interval::point(a.clone())));
            if sum.lo.is_none() && sum.hi.is_none() {
                break;
            }
        }
        sum
    }

    fn meet(&mut self, x: IntVar, lo: Option<Int>, hi: Option<Int>) -> Result<bool, Empty> {
        let old = &mut self.0[x.0];
        let mut changed = false;
        if let Some(lo) = lo.filter(|n| n.bits() <= MOST_BITS)
            && old.lo.as_ref().is_none_or(|l| *l < lo)
        {
            old.lo = Some(lo);
            changed = true;
        }
        if let Some(hi) = hi.filter(|n| n.bits() <= MOST_BITS)
            && old.hi.as_ref().is_none_or(|h| hi < *h)
        {
            old.hi = Some(hi);
            changed = true;
        }
        match (&old.lo, &old.hi) {
            (Some(lo), Some(hi)) if hi < lo => Err(Empty),
            _ => Ok(changed),
        }
    }

    /// `l ≥ 0`: each variable is bounded by what the others leave.
    pub(super) fn at_least_zero(&mut self, l: &Lin) -> Result<bool, Empty> {
        let most: Vec<Option<Int>> = l
            .terms
            .iter()
            .map(|(x, a)| {
                let end = if a.signum() > 0 {
                    &self.0[x.0].hi
                } else {
                    &self.0[x.0].lo
                };
                end.as_ref().map(|n| a * n)
            })
            .collect();
        let open = most.iter().filter(|m| m.is_none()).count();
        if open > 1 {
            return Ok(false);
        }
        let total = most
            .iter()
            .flatten()
            .fold(l.constant.clone(), |sum, n| &sum + n);
        if open == 0 && total.signum() < 0 {
            return Err(Empty);
        }
        let mut changed = false;
        for ((x, a), own) in l.terms.iter().zip(&most) {
            // a·x ≥ −rest, where rest is all that the others can add.
            let rest = match own {
                Some(own) if open == 0 => &total - own,
                None => total.clone(),
                Some(_) => continue,
            };
            changed |= if a.signum() > 0 {
                self.meet(*x, Some((-rest).div_ceil(a)), None)?
            } else {
                self.meet(*x, None, Some(rest.div_floor(&-a.clone())))?
            };
        }
        Ok(changed)
    }

    /// `l` lies in the interval.
    pub(super) fn narrow(&mut self, l: &Lin, to: &Interval) -> Result<bool, Empty> {
        let mut changed = false;
        if let Some(lo) = &to.lo {
            changed |= self.at_least_zero(&l.minus(&Lin::constant(lo.clone())))?;
        }
        if let Some(hi) = &to.hi {
            changed |= self.at_least_zero(&Lin::constant(hi.clone()).minus(l))?;
        }
        Ok(changed)
    }

    /// `p = a · b`.
    pub(super) fn product(&mut self, p: IntVar, a: &Lin, b: &Lin) -> Result<bool, Empty> {
        let (x, y) = (self.of(a), self.of(b));
        let Interval { lo, hi } = x.times(&y);
        let mut changed = self.meet(p, lo, hi)?;
        if a == b {
            changed |= self.meet(p, Some(Int::ZERO), None)?;
            return Ok(self.square(p, a)? || changed);
        }
        let whole = self.0[p.0].clone();
        changed |= self.factor(&whole, a, b)?;
        changed |= self.factor(&whole, b, a)?;
        Ok(changed)
    }

    /// `a · b` lies in `whole`: narrows `a`, and takes zero from the ends of `b` where it cannot be.
    fn factor(&mut self, whole: &Interval, a: &Lin, b: &Lin) -> Result<bool, Empty> {
        let y = self.of(b);
        if y.is_positive() || y.is_negative() {
            return self.narrow(a, &whole.over(&y));
        }
        if whole.contains(&Int::ZERO) {
            return Ok(false);
        }
        // Neither factor is zero, so none is larger than the product.
        let zero = Int::ZERO;
        let mut changed = false;
        if y.lo.as_ref() == Some(&zero) {
            changed |= self.narrow(b, &Interval::new(Some(Int::ONE), None))?;
        }
        if y.hi.as_ref() == Some(&zero) {
            changed |= self.narrow(b, &Interval::new(None, Some(Int::from(-1))))?;
        }
        if let (Some(lo), Some(hi)) = (&whole.lo, &whole.hi) {
            let most = lo.abs().max(hi.abs());
            changed |= self.narrow(a, &Interval::new(Some(-most.clone()), Some(most)))?;
        }
        Ok(changed)
    }

    fn square(&mut self, p: IntVar, a: &Lin) -> Result<bool, Empty> {
        let whole = self.0[p.0].clone();
        let mut changed = false;
        if let Some(hi) = &whole.hi {
            let root = hi.square_root();
            changed |= self.narrow(a, &Interval::new(Some(-root.clone()), Some(root)))?;
        }
        if let Some(lo) = whole.lo.as_ref().filter(|n| n.signum() > 0) {
            let floor = lo.square_root();
            let root = if &floor * &floor == *lo {
                floor
            } else {
                floor + Int::ONE
            };
            let x = self.of(a);
            if x.lo.as_ref().is_some_and(|lo| *lo > -root.clone()) {
                changed |= self.narrow(a, &Interval::new(Some(root.clone()), None))?;
            }
            if x.hi.as_ref().is_some_and(|hi| *hi < root) {
                changed |= self.narrow(a, &Interval::new(None, Some(-root)))?;
            }
        }
        Ok(changed)
    }

    /// `a = b · q + r` and `0 ≤ r < |b|`, where `b` is not zero.
    pub(super) fn quotient(
        &mut self,
        q: IntVar,
        r: IntVar,
        a: &Lin,
        b: &Lin,
    ) -> Result<bool, Empty> {
        let y = self.of(b);
        // Where the divisor may be zero, nothing is said of quotient and remainder.
        if !y.is_positive() && !y.is_negative() {
            return Ok(false);
        }
        let size = if y.is_negative() {
            y.negated()
        } else {
            y.clone()
        };
        let last = size.hi.as_ref().map(|n| n - &Int::ONE);
        let mut changed = self.meet(r, Some(Int::ZERO), last)?;
        let rest = self.0[r.0].clone();
        if let Some(least) = &rest.lo {
            let least = least + &Int::ONE;
            let beyond = if y.is_positive() {
                Interval::new(Some(least), None)
            } else {
                Interval::new(None, Some(-least))
            };
            changed |= self.narrow(b, &beyond)?;
        }
        let y = self.of(b);
        let times = self.0[q.0].clone();
        changed |= self.narrow(a, &y.times(&times).plus(&rest))?;
        let multiple = self.of(a).plus(&rest.negated());
        let Interval { lo, hi } = multiple.over(&y);
        changed |= self.meet(q, lo, hi)?;
        let times = self.0[q.0].clone();
        if times.is_positive() || times.is_negative() {
            changed |= self.narrow(b, &multiple.over(&times))?;
        }
        let multiple = y.times(&times);
        let Interval { lo, hi } = self.of(a).plus(&multiple.negated());
        changed |= self.meet(r, lo, hi)?;
        Ok(changed)
    }
}
