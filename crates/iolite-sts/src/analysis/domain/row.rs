//! Rows of homogeneous coordinates: `[ξ, x₀, x₁, …]`.

use iolite_expr::Int;

use super::{Dim, LinExpr};

/// A constraint `c·ξ + Σ aᵢ·xᵢ` as `[c, a₀, …]`, or a generator: a vertex `x/ξ`, or, with `ξ = 0`, a
/// ray or a line.
pub(super) type Row = Vec<Int>;

pub(super) fn of_expr(expr: &LinExpr, dimensions: usize) -> Row {
    let mut row = vec![Int::ZERO; dimensions + 1];
    row[0] = expr.constant_term().clone();
    for (x, a) in expr.terms() {
        row[x.index() + 1] = a.clone();
    }
    row
}

pub(super) fn to_expr(row: &[Int]) -> LinExpr {
    LinExpr::dense(&row[1..], row[0].clone())
}

pub(super) fn unit(at: usize, length: usize) -> Row {
    let mut row = vec![Int::ZERO; length];
    row[at] = Int::ONE;
    row
}

/// The row that is 1 in the coordinate.
pub(super) fn direction(x: Dim, dimensions: usize) -> Row {
    unit(x.index() + 1, dimensions + 1)
}

pub(super) fn dot(a: &[Int], b: &[Int]) -> Int {
    let mut sum = Int::ZERO;
    for (a, b) in a.iter().zip(b) {
        if !a.is_zero() && !b.is_zero() {
            sum += &(a * b);
        }
    }
    sum
}

/// Divides by the greatest common divisor.
pub(super) fn reduce(row: &mut Row) {
    let mut g = Int::ZERO;
    for n in row.iter() {
        g = g.gcd(n);
        if g.is_one() {
            return;
        }
    }
    if !g.is_zero() {
        for n in row {
            *n = n.div_floor(&g);
        }
    }
}

/// `p·a + q·b`, reduced.
pub(super) fn combine(p: &Int, a: &[Int], q: &Int, b: &[Int]) -> Row {
    let mut row: Row = a.iter().zip(b).map(|(a, b)| &(p * a) + &(q * b)).collect();
    reduce(&mut row);
    row
}

pub(super) fn negate(row: &mut Row) {
    for n in row {
        *n = -&*n;
    }
}

pub(super) fn bits(row: &[Int]) -> u64 {
    row.iter().map(Int::bits).max().unwrap_or(0)
}
