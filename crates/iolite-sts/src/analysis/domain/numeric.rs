//! What a numerical abstract domain can do.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::{Constraint, Dim, Interval, LinExpr, Relation};

/// The right side of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rhs {
    /// A linear expression over the values before the assignment.
    Linear(LinExpr),
    /// Any integer.
    Unknown,
}

/// A lattice of descriptions of sets of integer points; γ(a) is the set that `a` describes.
///
/// Operations over-approximate: each keeps every point that its set-theoretic meaning has. Two
/// elements that are combined have the same number of coordinates.
pub trait NumericDomain: Clone + Debug {
    /// The name that people see.
    const NAME: &'static str;

    /// ⊤: all points with so many coordinates.
    fn top(dimensions: usize) -> Self;

    /// ⊥: no point.
    fn bottom(dimensions: usize) -> Self;

    /// The number of coordinates.
    fn dimensions(&self) -> usize;

    /// Whether it is known that there is no point.
    fn is_bottom(&self) -> bool;

    /// ⊑: `true` only if γ(self) ⊆ γ(other).
    fn leq(&self, other: &Self) -> bool;

    /// ⊔: contains both.
    #[must_use]
    fn join(&self, other: &Self) -> Self;

    /// ⊓: contains the intersection.
    #[must_use]
    fn meet(&self, other: &Self) -> Self;

    /// ∇ up to thresholds: contains both; a sequence of `x = x.widen(y)` with the same thresholds
    /// becomes stationary whatever the `y` are. Thresholds that both satisfy are kept as far as
    /// the domain can express them.
    #[must_use]
    fn widen(&self, next: &Self, thresholds: &[Constraint]) -> Self;

    /// △: for `next ⊑ self`, an element between the two; a sequence of `x = x.narrow(y)` becomes
    /// stationary.
    #[must_use]
    fn narrow(&self, next: &Self) -> Self;

    /// Keeps the points that satisfy `expr ≥ 0`, or `expr = 0` when `equal`.
    #[must_use]
    fn restrict(&self, expr: &LinExpr, equal: bool) -> Self;

    /// Simultaneous assignment: each named coordinate takes its right side over the old values.
    #[must_use]
    fn assign(&self, updates: &[(Dim, Rhs)]) -> Self;

    /// Projection: the named coordinates take any value.
    #[must_use]
    fn forget(&self, dims: &[Dim]) -> Self;

    /// So many further coordinates after the present ones, with any value.
    #[must_use]
    fn add_dimensions(&self, count: usize) -> Self;

    /// Projection on the first `count` coordinates.
    #[must_use]
    fn keep_dimensions(&self, count: usize) -> Self;

    /// Constraints whose integer solutions are γ(self).
    fn constraints(&self) -> Vec<Constraint>;

    /// An interval that holds every value of `expr`.
    fn bounds(&self, expr: &LinExpr) -> Interval;

    /// Whether a budget ran out on the way here, so that the element is weaker than its domain
    /// promises.
    fn is_weakened(&self) -> bool {
        false
    }

    /// Keeps the points that satisfy the constraint; for `≠` the join of both sides.
    #[must_use]
    fn guard(&self, constraint: &Constraint) -> Self {
        let constraint = constraint.tightened();
        match (constraint.truth(), constraint.relation) {
            (Some(true), _) => self.clone(),
            (Some(false), _) => Self::bottom(self.dimensions()),
            (None, Relation::AtLeast) => self.restrict(&constraint.expr, false),
            (None, Relation::Equal) => self.restrict(&constraint.expr, true),
            (None, Relation::Differ) => {
                let above = Constraint::lt(&LinExpr::default(), &constraint.expr);
                let below = Constraint::lt(&constraint.expr, &LinExpr::default());
                self.guard(&above).join(&self.guard(&below))
            }
        }
    }

    /// Keeps the points that satisfy all the constraints.
    #[must_use]
    fn guard_all<'a>(&self, constraints: impl IntoIterator<Item = &'a Constraint>) -> Self {
        constraints
            .into_iter()
            .fold(self.clone(), |a, c| a.guard(c))
    }

    /// Whether every point is known to satisfy the constraint.
    fn entails(&self, constraint: &Constraint) -> bool {
        if self.is_bottom() {
            return true;
        }
        let Interval { lo, hi } = self.bounds(&constraint.expr);
        let sign = |n: &Option<iolite_expr::Int>| n.as_ref().map(iolite_expr::Int::signum);
        match constraint.relation {
            Relation::AtLeast => sign(&lo).is_some_and(|s| s >= 0),
            Relation::Equal => sign(&lo) == Some(0) && sign(&hi) == Some(0),
            Relation::Differ => sign(&lo) == Some(1) || sign(&hi) == Some(-1),
        }
    }

    /// The points from which the assignment leads into `self`: the right sides are put into the
    /// constraints; what an unknown right side makes can be any value.
    #[must_use]
    fn preimage(&self, updates: &[(Dim, Rhs)]) -> Self {
        if self.is_bottom() {
            return self.clone();
        }
        let mut unknown = Vec::new();
        let mut map = BTreeMap::new();
        for (x, rhs) in updates {
            match rhs {
                Rhs::Linear(e) => drop(map.insert(*x, e.clone())),
                Rhs::Unknown => unknown.push(*x),
            }
        }
        let mut result = Self::top(self.dimensions());
        for c in self.forget(&unknown).constraints() {
            result = result.guard(&Constraint {
                expr: c.expr.substitute(&map),
                relation: c.relation,
            });
        }
        result
    }
}
