//! Random elements and points for the tests of the numerical domains.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::collections::BTreeSet;

use iolite_expr::Int;
use iolite_sts::analysis::domain::{Constraint, Dim, LinExpr, NumericDomain};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

pub type Rng = Xoshiro256PlusPlus;
pub type Point = Vec<i64>;

/// How many random cases: `IOLITE_CASES` in the environment, else the default.
pub fn cases(default: u64) -> u64 {
    std::env::var("IOLITE_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(default)
}

pub fn ints(p: &[i64]) -> Vec<Int> {
    p.iter().map(|n| Int::from(*n)).collect()
}

pub fn contains<N: NumericDomain>(n: &N, p: &[i64]) -> bool {
    let p = ints(p);
    n.constraints().iter().all(|c| c.holds_at(&p))
}

pub fn expr(rng: &mut Rng, dims: usize, coefficient: i64, constant: i64) -> LinExpr {
    let mut e = LinExpr::constant(rng.random_range(-constant..=constant));
    for x in 0..dims {
        if rng.random_bool(0.6) {
            let a = rng.random_range(-coefficient..=coefficient);
            e.add_term(Dim::new(x), &Int::from(a));
        }
    }
    e
}

/// `±x ± y + c` or `±x + c`.
pub fn octagonal(rng: &mut Rng, dims: usize, constant: i64) -> LinExpr {
    let mut e = LinExpr::constant(rng.random_range(-constant..=constant));
    let x = rng.random_range(0..dims);
    let y = rng.random_range(0..dims);
    e.add_term(Dim::new(x), &sign(rng));
    if x != y && rng.random_bool(0.7) {
        e.add_term(Dim::new(y), &sign(rng));
    }
    e
}

fn sign(rng: &mut Rng) -> Int {
    Int::from(if rng.random_bool(0.5) { 1 } else { -1 })
}

pub fn constraint(rng: &mut Rng, dims: usize) -> Constraint {
    let e = expr(rng, dims, 3, 6);
    match rng.random_range(0..10) {
        0 | 1 => Constraint::equal(e),
        2 => Constraint::differ(e),
        _ => Constraint::at_least(e),
    }
}

/// All points of `[-r, r]^dims`.
pub fn grid(dims: usize, r: i64) -> Vec<Point> {
    (0..dims).fold(vec![vec![]], |points, _| {
        points
            .iter()
            .flat_map(|p| {
                (-r..=r).map(move |n| {
                    let mut p = p.clone();
                    p.push(n);
                    p
                })
            })
            .collect()
    })
}

pub fn point_of<N: NumericDomain>(p: &[i64]) -> N {
    let mut n = N::top(p.len());
    for (x, v) in p.iter().enumerate() {
        let e = LinExpr::dim(Dim::new(x)).plus_constant(&Int::from(-v));
        n = n.guard(&Constraint::equal(e));
    }
    n
}

/// An element with some of the points that it has to contain.
#[derive(Clone, Debug)]
pub struct Case<N> {
    pub element: N,
    pub points: BTreeSet<Point>,
}

pub fn case<N: NumericDomain>(rng: &mut Rng, dims: usize) -> Case<N> {
    let mut case = if rng.random_bool(0.5) {
        Case {
            element: N::top(dims),
            points: grid(dims, 3).into_iter().collect(),
        }
    } else {
        let mut case = Case {
            element: N::bottom(dims),
            points: BTreeSet::new(),
        };
        for _ in 0..rng.random_range(0..5) {
            let p: Point = (0..dims).map(|_| rng.random_range(-4..=4)).collect();
            case.element = case.element.join(&point_of(&p));
            case.points.insert(p);
        }
        case
    };
    for _ in 0..rng.random_range(0..4) {
        let c = constraint(rng, dims);
        case.element = case.element.guard(&c);
        case.points.retain(|p| c.holds_at(&ints(p)));
    }
    case
}
