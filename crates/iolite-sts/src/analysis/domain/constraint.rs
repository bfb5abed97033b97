//! Linear constraints over integers.

use std::fmt;

use iolite_expr::Int;

use super::{Dim, LinExpr};

/// How an expression compares with 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// `≥ 0`.
    AtLeast,
    /// `= 0`.
    Equal,
    /// `≠ 0`.
    Differ,
}

/// A linear expression compared with 0. Coordinates are integers, so `e < 0` is `-e - 1 ≥ 0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Constraint {
    /// The expression.
    pub expr: LinExpr,
    /// How it compares with 0.
    pub relation: Relation,
}

impl Constraint {
    /// `expr ≥ 0`.
    pub fn at_least(expr: LinExpr) -> Self {
        Self {
            expr,
            relation: Relation::AtLeast,
        }
    }

    /// `expr = 0`.
    pub fn equal(expr: LinExpr) -> Self {
        Self {
            expr,
            relation: Relation::Equal,
        }
    }

    /// `expr ≠ 0`.
    pub fn differ(expr: LinExpr) -> Self {
        Self {
            expr,
            relation: Relation::Differ,
        }
    }

    /// `a ≤ b`.
    pub fn le(a: &LinExpr, b: &LinExpr) -> Self {
        Self::at_least(b.minus(a))
    }

    /// `a < b`, which over integers is `a ≤ b - 1`.
    pub fn lt(a: &LinExpr, b: &LinExpr) -> Self {
        Self::at_least(b.minus(a).plus_constant(&Int::from(-1)))
    }

    /// `x ≥ n`.
    pub fn lower(x: Dim, n: &Int) -> Self {
        Self::at_least(LinExpr::dim(x).plus_constant(&-n))
    }

    /// `x ≤ n`.
    pub fn upper(x: Dim, n: &Int) -> Self {
        Self::at_least(LinExpr::scaled_dim(x, &Int::from(-1)).plus_constant(n))
    }

    /// The constraint that no integer point satisfies.
    pub(crate) fn contradiction() -> Self {
        Self::at_least(LinExpr::constant(-1))
    }

    /// What holds where this does not.
    #[must_use]
    pub fn negated(&self) -> Self {
        match self.relation {
            Relation::AtLeast => {
                let minus = self.expr.scaled(&Int::from(-1));
                Self::at_least(minus.plus_constant(&Int::from(-1)))
            }
            Relation::Equal => Self::differ(self.expr.clone()),
            Relation::Differ => Self::equal(self.expr.clone()),
        }
    }

    /// Whether it always or never holds; `None` when that depends on the point.
    pub fn truth(&self) -> Option<bool> {
        let sign = self.expr.as_constant()?.signum();
        Some(match self.relation {
            Relation::AtLeast => sign >= 0,
            Relation::Equal => sign == 0,
            Relation::Differ => sign != 0,
        })
    }

    /// The same integer points with coprime coefficients: `2x ≤ 3` becomes `x ≤ 1`, and `2x = 3`
    /// a contradiction.
    #[must_use]
    pub(crate) fn tightened(&self) -> Self {
        let g = self.expr.content();
        if g.is_zero() || g.is_one() {
            return self.clone();
        }
        let c = self.expr.constant_term();
        if self.relation != Relation::AtLeast && !c.modulo(&g).is_zero() {
            return match self.relation {
                Relation::Differ => Self::at_least(LinExpr::default()),
                _ => Self::contradiction(),
            };
        }
        let mut expr = LinExpr::constant(c.div_floor(&g));
        for (x, a) in self.expr.terms() {
            expr.add_term(x, &a.div_floor(&g));
        }
        Self {
            expr,
            relation: self.relation,
        }
    }

    /// Whether an integer point satisfies it.
    pub fn holds_at(&self, point: &[Int]) -> bool {
        let sign = self.expr.value_at(point).signum();
        match self.relation {
            Relation::AtLeast => sign >= 0,
            Relation::Equal => sign == 0,
            Relation::Differ => sign != 0,
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = match self.relation {
            Relation::AtLeast => ">=",
            Relation::Equal => "==",
            Relation::Differ => "!=",
        };
        write!(f, "{} {relation} 0", self.expr)
    }
}
