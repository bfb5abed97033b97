//! Boxes: an interval for each coordinate.

use super::{Constraint, Dim, Interval, LinExpr, NumericDomain, Relation, Rhs};
use iolite_expr::Int;

/// An interval for each coordinate; knows no relation between coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalBox {
    dimensions: usize,
    /// `None` for ⊥; else no interval is empty.
    sides: Option<Vec<Interval>>,
}

impl IntervalBox {
    fn of(sides: Vec<Interval>) -> Self {
        Self {
            dimensions: sides.len(),
            sides: (!sides.iter().any(Interval::is_empty)).then_some(sides),
        }
    }

    /// The interval of a coordinate; `None` in ⊥.
    pub fn side(&self, x: Dim) -> Option<&Interval> {
        self.sides.as_ref()?.get(x.index())
    }

    fn zip(&self, other: &Self, f: impl Fn(usize, &Interval, &Interval) -> Interval) -> Self {
        match (&self.sides, &other.sides) {
            (Some(a), Some(b)) => Self::of(
                a.iter()
                    .zip(b)
                    .enumerate()
                    .map(|(i, (a, b))| f(i, a, b))
                    .collect(),
            ),
            _ => Self::bottom(self.dimensions),
        }
    }
}

/// What `expr ≥ 0` says of `a·x`, a part of `expr`, when the rest is at most `rest`:
/// `a·x ≥ -rest`.
fn bound_of(a: &Int, rest: &Int) -> Interval {
    if a.signum() > 0 {
        Interval {
            lo: Some((-rest).div_ceil(a)),
            hi: None,
        }
    } else {
        Interval {
            lo: None,
            hi: Some(rest.div_floor(&a.abs())),
        }
    }
}

fn tighten(sides: &mut [Interval], expr: &LinExpr) {
    for (x, a) in expr.terms() {
        let mut rest = expr.clone();
        rest.add_term(x, &-a);
        let rest = Interval::of_expr(&rest, |y| sides[y.index()].clone());
        if let Some(most) = rest.hi {
            sides[x.index()] = sides[x.index()].meet(&bound_of(a, &most));
            // An empty side must not take part in further sums.
            if sides[x.index()].is_empty() {
                return;
            }
        }
    }
}

/// The thresholds that bound one coordinate, as intervals.
fn unary(thresholds: &[Constraint], x: usize) -> impl Iterator<Item = Interval> {
    thresholds.iter().filter_map(move |t| {
        let (y, a) = t.expr.terms().next()?;
        let c = t.expr.constant_term();
        (t.expr.terms().len() == 1 && y.index() == x && t.relation == Relation::AtLeast)
            .then(|| bound_of(a, c))
    })
}

impl NumericDomain for IntervalBox {
    const NAME: &'static str = "intervals";

    fn top(dimensions: usize) -> Self {
        Self::of(vec![Interval::FULL; dimensions])
    }

    fn bottom(dimensions: usize) -> Self {
        Self {
            dimensions,
            sides: None,
        }
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn is_bottom(&self) -> bool {
        self.sides.is_none()
    }

    fn leq(&self, other: &Self) -> bool {
        match (&self.sides, &other.sides) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => a.iter().zip(b).all(|(a, b)| a.leq(b)),
        }
    }

    fn join(&self, other: &Self) -> Self {
        match (&self.sides, &other.sides) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            _ => self.zip(other, |_, a, b| a.join(b)),
        }
    }

    fn meet(&self, other: &Self) -> Self {
        self.zip(other, |_, a, b| a.meet(b))
    }

    fn widen(&self, next: &Self, thresholds: &[Constraint]) -> Self {
        if self.is_bottom() || next.is_bottom() {
            return self.join(next);
        }
        self.zip(next, |x, a, b| {
            let both = a.join(b);
            // Among the thresholds that both satisfy the nearest ones are kept.
            let mut widened = unary(thresholds, x)
                .filter(|t| both.leq(t))
                .fold(Interval::FULL, |all, t| all.meet(&t));
            if a.lo == both.lo {
                widened.lo.clone_from(&a.lo);
            }
            if a.hi == both.hi {
                widened.hi.clone_from(&a.hi);
            }
            widened
        })
    }

    fn narrow(&self, next: &Self) -> Self {
        self.zip(next, |_, a, b| Interval {
            lo: a.lo.clone().or_else(|| b.lo.clone()),
            hi: a.hi.clone().or_else(|| b.hi.clone()),
        })
    }

    fn restrict(&self, expr: &LinExpr, equal: bool) -> Self {
        let Some(mut sides) = self.sides.clone() else {
            return self.clone();
        };
        tighten(&mut sides, expr);
        if equal && !sides.iter().any(Interval::is_empty) {
            tighten(&mut sides, &expr.scaled(&Int::from(-1)));
        }
        Self::of(sides)
    }

    fn assign(&self, updates: &[(Dim, Rhs)]) -> Self {
        let Some(old) = &self.sides else {
            return self.clone();
        };
        let mut sides = old.clone();
        for (x, rhs) in updates {
            sides[x.index()] = match rhs {
                Rhs::Linear(e) => Interval::of_expr(e, |y| old[y.index()].clone()),
                Rhs::Unknown => Interval::FULL,
            };
        }
        Self::of(sides)
    }

    fn forget(&self, dims: &[Dim]) -> Self {
        let mut result = self.clone();
        if let Some(sides) = &mut result.sides {
            for x in dims {
                sides[x.index()] = Interval::FULL;
            }
        }
        result
    }

    fn add_dimensions(&self, count: usize) -> Self {
        let dimensions = self.dimensions + count;
        let sides = self.sides.as_ref().map(|sides| {
            let mut sides = sides.clone();
            sides.resize(dimensions, Interval::FULL);
            sides
        });
        Self { dimensions, sides }
    }

    fn keep_dimensions(&self, count: usize) -> Self {
        Self {
            dimensions: count,
            sides: self.sides.as_ref().map(|s| s[..count].to_vec()),
        }
    }

    fn constraints(&self) -> Vec<Constraint> {
        let Some(sides) = &self.sides else {
            return vec![Constraint::contradiction()];
        };
        let mut all = Vec::new();
        for (i, side) in sides.iter().enumerate() {
            let x = Dim::new(i);
            match (&side.lo, &side.hi) {
                (Some(lo), Some(hi)) if lo == hi => {
                    all.push(Constraint::equal(LinExpr::dim(x).plus_constant(&-lo)));
                }
                (lo, hi) => {
                    all.extend(lo.iter().map(|n| Constraint::lower(x, n)));
                    all.extend(hi.iter().map(|n| Constraint::upper(x, n)));
                }
            }
        }
        all
    }

    fn bounds(&self, expr: &LinExpr) -> Interval {
        match &self.sides {
            Some(sides) => Interval::of_expr(expr, |x| sides[x.index()].clone()),
            None => Interval::FULL,
        }
    }
}
