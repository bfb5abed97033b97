//! Widening and narrowing of polyhedra.

use std::sync::Arc;

use iolite_expr::Int;

use super::double_description::{Cone, Pair};
use super::polyhedron::Shape;
use super::row::{self, Row};
use super::{Constraint, NumericDomain, Polyhedron, Relation};

/// Narrowing brings back constraints with coefficients up to this: the forms are finitely many,
/// each is brought back once, and so narrowing ends.
const MAX_NARROWING_COEFFICIENT: i64 = 4;

fn is_on(cone: &Cone, c: &Row) -> bool {
    cone.lines
        .iter()
        .chain(&cone.rays)
        .all(|r| row::dot(c, r).is_zero())
}

fn is_above(cone: &Cone, c: &Row) -> bool {
    cone.lines.iter().all(|l| row::dot(c, l).is_zero())
        && cone.rays.iter().all(|r| row::dot(c, r).signum() >= 0)
}

/// Which rays satisfy the constraint with equality.
fn saturated(cone: &Cone, c: &Row) -> Vec<bool> {
    cone.rays.iter().map(|r| row::dot(c, r).is_zero()).collect()
}

/// Whether the form of the constraint (its constant left out) has a lower bound in the cone.
fn is_bounded(cone: &Cone, c: &Row) -> bool {
    let form = |r: &Row| row::dot(&c[1..], &r[1..]);
    cone.lines.iter().all(|l| form(l).is_zero())
        && cone
            .rays
            .iter()
            .all(|r| !r[0].is_zero() || form(r).signum() >= 0)
}

impl Polyhedron {
    /// Halbwachs' widening (1979): of the larger polyhedron `both` keep the equations, and the
    /// inequalities that touch the smaller one where one of its own does; then the thresholds that
    /// `both` satisfies.
    pub(super) fn h79(
        &self,
        a: &Arc<Pair>,
        both: &Self,
        b: &Arc<Pair>,
        thresholds: &[Constraint],
    ) -> Self {
        let is_trivial = |c: &Row| c[1..].iter().all(Int::is_zero);
        // Without ξ ≥ 0: it is touched nowhere, like any constraint that is far away.
        let own: Vec<Vec<bool>> = a
            .constraints
            .rays
            .iter()
            .filter(|c| !is_trivial(c))
            .map(|c| saturated(&a.generators, c))
            .collect();
        let kept = |c: &&Row| {
            is_trivial(c) || is_on(&a.generators, c) || own.contains(&saturated(&a.generators, c))
        };
        let mut selected = Cone {
            lines: b.constraints.lines.clone(),
            rays: b.constraints.rays.iter().filter(kept).cloned().collect(),
        };
        if selected.rays.len() == b.constraints.rays.len() {
            return both.clone();
        }
        for t in thresholds {
            let t = t.tightened();
            let row = row::of_expr(&t.expr, self.dimensions());
            // Over the rationals, unlike `entails`: a threshold that cut off a fractional corner
            // would make the result smaller than `both`, and widening might never end.
            match t.relation {
                Relation::AtLeast if is_above(&b.generators, &row) => selected.rays.push(row),
                Relation::Equal if is_on(&b.generators, &row) => selected.lines.push(row),
                _ => {}
            }
        }
        Self::of_constraints(self.dimensions(), selected)
    }

    /// `self` with those constraints of the smaller polyhedron whose forms have no bound yet.
    pub(super) fn regained(&self, a: &Arc<Pair>, b: &Arc<Pair>) -> Self {
        let small = |c: &&Row| {
            let most = Int::from(MAX_NARROWING_COEFFICIENT);
            c[1..].iter().all(|n| n.abs() <= most)
        };
        let opposite = |c: &Row| -> Row { c.iter().map(|n| -n).collect() };
        let free = |c: &&Row| !is_bounded(&a.generators, c);
        let lines = b.constraints.lines.iter().filter(small);
        let sides = lines.flat_map(|c| [c.clone(), opposite(c)]);
        let mut more = Cone {
            lines: Vec::new(),
            rays: sides.filter(|c| free(&c)).collect(),
        };
        let rays = b.constraints.rays.iter().filter(small).filter(free);
        more.rays.extend(rays.cloned());
        if more.len() == 0 {
            return Self::of_shape(self.dimensions(), Shape::Exact(a.clone()));
        }
        let mut all = a.constraints.clone();
        all.extend(&more);
        Self::of_constraints(self.dimensions(), all)
    }
}
