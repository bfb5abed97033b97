//! What the numerical domains cost as coordinates are added: one round of a loop over n counters
//! below a symbolic limit, `xᵢ := xᵢ + 1` while `xᵢ < max`, joined, widened and compared, in each
//! domain; and the size of the polyhedra.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin domains`

use std::time::{Duration, Instant};

use iolite_expr::Int;
use iolite_sts::analysis::domain::{
    Constraint, Dim, IntervalBox, LinExpr, NumericDomain, Octagon, Polyhedron, Rhs,
};

/// Each measurement is repeated for so long.
const SPAN: Duration = Duration::from_millis(300);

fn x(i: usize) -> LinExpr {
    LinExpr::dim(Dim::new(i))
}

/// n counters at 0 below a limit, the last coordinate.
fn start<N: NumericDomain>(n: usize) -> N {
    let mut element = N::top(n + 1);
    for i in 0..n {
        element = element.guard(&Constraint::equal(x(i)));
    }
    element.guard(&Constraint::lower(Dim::new(n), &Int::ONE))
}

/// One round: each counter may be increased while it is below the limit.
fn round<N: NumericDomain>(a: &N, n: usize) -> N {
    let mut next = a.clone();
    for i in 0..n {
        let increased = [(Dim::new(i), Rhs::Linear(x(i).plus_constant(&Int::ONE)))];
        next = next.join(&a.guard(&Constraint::lt(&x(i), &x(n))).assign(&increased));
    }
    next
}

/// To the fixpoint: rounds, and what was found.
fn fixpoint<N: NumericDomain>(n: usize) -> (u32, N) {
    let limits: Vec<Constraint> = (0..n).map(|i| Constraint::le(&x(i), &x(n))).collect();
    let mut a = start::<N>(n);
    for rounds in 1.. {
        let next = round(&a, n);
        if next.leq(&a) {
            return (rounds, a);
        }
        a = a.widen(&next, &limits);
    }
    unreachable!("widening ends")
}

fn measure<N: NumericDomain>(n: usize) -> (Duration, u32, N) {
    let begin = Instant::now();
    let mut times = 0;
    loop {
        let (rounds, result) = fixpoint::<N>(n);
        times += 1;
        if begin.elapsed() > SPAN {
            return (begin.elapsed() / times, rounds, result);
        }
    }
}

fn proves<N: NumericDomain>(a: &N, n: usize) -> &'static str {
    let all = (0..n).all(|i| a.entails(&Constraint::le(&x(i), &x(n))));
    if all { "yes" } else { "no" }
}

fn main() {
    println!(
        "| counters | domain | rounds | time to the fixpoint | proves `x <= max` | constraints | generators | weakened |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for n in [1, 2, 4, 6, 8, 10, 12, 16] {
        let (time, rounds, a) = measure::<IntervalBox>(n);
        println!(
            "| {n} | {} | {rounds} | {time:.1?} | {} | | | |",
            IntervalBox::NAME,
            proves(&a, n)
        );
        let (time, rounds, a) = measure::<Octagon>(n);
        println!(
            "| {n} | {} | {rounds} | {time:.1?} | {} | | | |",
            Octagon::NAME,
            proves(&a, n)
        );
        let (time, rounds, a) = measure::<Polyhedron>(n);
        let (constraints, generators) = a.size();
        println!(
            "| {n} | {} | {rounds} | {time:.1?} | {} | {constraints} | {generators} | {} |",
            Polyhedron::NAME,
            proves(&a, n),
            a.is_weakened()
        );
    }
}
