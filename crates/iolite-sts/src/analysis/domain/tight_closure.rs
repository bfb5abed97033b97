//! Tight closure of integer octagons.
//!
//! The algorithm is that of Bagnara, Hill and Zaffanella ("An improved tight closure algorithm for
//! integer octagonal constraints", 2008): shortest paths, then even bounds for `2x`, then one step
//! of strong coherence. It is cubic and finds every emptiness over the integers.

use iolite_expr::Int;

/// The weight of an edge, with ∞ for "no edge".
trait Weight: Clone + Ord {
    fn infinite(&self) -> bool;
    fn plus(&self, other: &Self) -> Self;
    fn is_negative(&self) -> bool;
    fn zero() -> Self;
    /// 2·⌊w/2⌋.
    fn even(&self) -> Self;
    /// w/2 of an even w.
    fn half(&self) -> Self;
}

/// Entries below this are closed in machine words: no sum along a simple path of fewer than 2^16
/// edges leaves 64 bits.
const SMALL: u64 = 1 << 44;
const MOST_SMALL_SIZE: usize = 1 << 16;

impl Weight for i64 {
    fn infinite(&self) -> bool {
        *self == Self::MAX
    }
    fn plus(&self, other: &Self) -> Self {
        self + other
    }
    fn is_negative(&self) -> bool {
        *self < 0
    }
    fn zero() -> Self {
        0
    }
    fn even(&self) -> Self {
        self & !1
    }
    fn half(&self) -> Self {
        self >> 1
    }
}

/// An exact weight; the order puts ∞ last.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Exact {
    Finite(Int),
    Infinite,
}

impl Weight for Exact {
    fn infinite(&self) -> bool {
        matches!(self, Self::Infinite)
    }
    fn plus(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Finite(a), Self::Finite(b)) => Self::Finite(a + b),
            _ => Self::Infinite,
        }
    }
    fn is_negative(&self) -> bool {
        matches!(self, Self::Finite(n) if n.signum() < 0)
    }
    fn zero() -> Self {
        Self::Finite(Int::ZERO)
    }
    fn even(&self) -> Self {
        self.map(|n| n - &n.modulo(&Int::from(2)))
    }
    fn half(&self) -> Self {
        self.map(|n| n.div_floor(&Int::from(2)))
    }
}

impl Exact {
    fn map(&self, f: impl Fn(&Int) -> Int) -> Self {
        match self {
            Self::Finite(n) => Self::Finite(f(n)),
            Self::Infinite => Self::Infinite,
        }
    }
}

/// Closes the matrix in place; `false` when there is no integer point. The cell in row i and
/// column j bounds `Vⱼ - Vᵢ`, where `V₂ₖ = xₖ` and `V₂ₖ₊₁ = -xₖ`.
///
/// Only paths through the `pivots` are tried: all vertices in general, and, for cells that were
/// closed before some edges were added, the ends of those edges, which every new shortest path
/// goes through.
pub(super) fn close(cells: &mut [Option<Int>], size: usize, pivots: &[usize]) -> bool {
    let small = |c: &Option<Int>| match c {
        None => Some(i64::MAX),
        Some(n) => n.to_i64().filter(|n| n.unsigned_abs() < SMALL),
    };
    let words: Option<Vec<i64>> = if size < MOST_SMALL_SIZE {
        cells.iter().map(small).collect()
    } else {
        None
    };
    if let Some(mut words) = words {
        let consistent = close_weights(&mut words, size, pivots);
        for (cell, w) in cells.iter_mut().zip(words) {
            *cell = (!w.infinite()).then(|| w.into());
        }
        return consistent;
    }
    let weight = |c: &Option<Int>| c.clone().map_or(Exact::Infinite, Exact::Finite);
    let mut weights: Vec<Exact> = cells.iter().map(weight).collect();
    let consistent = close_weights(&mut weights, size, pivots);
    for (cell, w) in cells.iter_mut().zip(weights) {
        *cell = match w {
            Exact::Finite(n) => Some(n),
            Exact::Infinite => None,
        };
    }
    consistent
}

fn close_weights<W: Weight>(m: &mut [W], size: usize, pivots: &[usize]) -> bool {
    for i in 0..size {
        if m[i * size + i] > W::zero() {
            m[i * size + i] = W::zero();
        }
    }
    for &k in pivots {
        let via: Vec<W> = m[k * size..(k + 1) * size].to_vec();
        for row in m.chunks_exact_mut(size) {
            let to = row[k].clone();
            if to.infinite() {
                continue;
            }
            for (cell, onward) in row.iter_mut().zip(&via) {
                if !onward.infinite() {
                    let sum = to.plus(onward);
                    if sum < *cell {
                        *cell = sum;
                    }
                }
            }
        }
        // Checked after each k: without a negative cycle every entry is the weight of a simple
        // path, which keeps machine words from overflowing.
        if (0..size).any(|i| m[i * size + i].is_negative()) {
            return false;
        }
    }
    for i in 0..size {
        let at = i * size + (i ^ 1);
        if !m[at].infinite() {
            m[at] = m[at].even();
        }
    }
    for i in 0..size {
        let (there, back) = (&m[i * size + (i ^ 1)], &m[(i ^ 1) * size + i]);
        if !there.infinite() && !back.infinite() && there.plus(back).is_negative() {
            return false;
        }
    }
    for i in 0..size {
        let from = m[i * size + (i ^ 1)].clone();
        if from.infinite() {
            continue;
        }
        for j in 0..size {
            let to = &m[(j ^ 1) * size + j];
            if !to.infinite() {
                let sum = from.half().plus(&to.half());
                if sum < m[i * size + j] {
                    m[i * size + j] = sum;
                }
            }
        }
    }
    true
}
