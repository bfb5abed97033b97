//! What one query costs a solver that is really asked, by the number of variables: CPU time, and the
//! exponent of its growth.

use iolite_expr::{Backend, Embedded, Limits, Smtlib, Sort, Term, Var, VarId};

use crate::steps::cpu;

const SIZES: [usize; 7] = [8, 16, 32, 64, 128, 256, 512];

/// Queries of one size go on for so many CPU seconds.
const SPAN: f64 = 0.3;

/// A family of queries: assertions over so many variables. The number makes a query differ from the one before, from
/// its first assertion on, so that nothing of that one is of use.
struct Family {
    name: &'static str,
    sort: Sort,
    assertions: fn(&[Var], i64) -> Vec<Term>,
    /// What the answer has to be, where all of them have one.
    satisfiable: Option<bool>,
}

fn within(vars: &[Var], low: i64, high: i64) -> Vec<Term> {
    let both = |v: &Var| {
        let v = v.term();
        [v.ge(low), v.le(high)].map(|t| t.expect("integers"))
    };
    vars.iter().flat_map(both).collect()
}

fn ordered(vars: &[Var]) -> impl Iterator<Item = Term> {
    vars.windows(2)
        .map(|w| w[0].term().lt(w[1].term()).expect("integers"))
}

/// Each is less than the next; there is room for all.
fn ordered_with_room(vars: &[Var], turn: i64) -> Vec<Term> {
    let mut all = within(vars, turn, turn + 10 * vars.len() as i64);
    all.extend(ordered(vars));
    all
}

/// One value too few.
fn ordered_without_room(vars: &[Var], turn: i64) -> Vec<Term> {
    let mut all = within(vars, turn, turn + vars.len() as i64 - 2);
    all.extend(ordered(vars));
    all
}

/// Neighbours are three apart, either way.
fn apart(vars: &[Var], turn: i64) -> Vec<Term> {
    let mut all = within(vars, turn, turn + 4);
    all.extend(vars.windows(2).map(|w| {
        let (a, b) = (w[0].term(), w[1].term());
        let three = |x: &Term| x.plus(3).expect("integers");
        let up = three(&a).le(b.clone()).expect("integers");
        let down = three(&b).le(a).expect("integers");
        Term::any([up, down])
    }));
    all
}

/// Clauses of three at random, so many a variable: three mostly leave many models, seven none.
fn clauses(vars: &[Var], turn: i64, each: usize) -> Vec<Term> {
    let mut state = turn as u64 * 2 + 1;
    let mut draw = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let clause = |_| {
        Term::any([0; 3].map(|_| {
            let v = vars[draw(vars.len())].term();
            if draw(2) == 0 { v } else { v.negated() }
        }))
    };
    (0..each * vars.len()).map(clause).collect()
}

fn families() -> [Family; 5] {
    let family = |name, sort, satisfiable, assertions| Family {
        name,
        sort,
        assertions,
        satisfiable,
    };
    [
        family(
            "ordered, with room",
            Sort::Int,
            Some(true),
            ordered_with_room,
        ),
        family(
            "ordered, one value too few",
            Sort::Int,
            Some(false),
            ordered_without_room,
        ),
        family("neighbours apart, either way", Sort::Int, Some(true), apart),
        family("3 clauses a Boolean", Sort::Bool, None, |v, n| {
            clauses(v, n, 3)
        }),
        family("7 clauses a Boolean", Sort::Bool, None, |v, n| {
            clauses(v, n, 7)
        }),
    ]
}

/// CPU milliseconds a query, and how many were not decided.
fn cost(family: &Family, n: usize, backend: &mut dyn Backend) -> (f64, u32) {
    let var = |i| Var::new(VarId::new(0, i), &format!("x{i}"), family.sort.clone());
    let vars: Vec<Var> = (0..n).map(var).collect();
    let (mut asked, mut undecided, mut spent) = (0u32, 0, 0.0);
    // Making terms is not counted, nor is looking at the clock, which goes through all processes.
    let mut batch = 1;
    while spent < SPAN {
        let turns = asked..asked + batch;
        let queries: Vec<Vec<Term>> = turns
            .map(|t| (family.assertions)(&vars, t.into()))
            .collect();
        let start = cpu();
        for assertions in &queries {
            let found = backend
                .check(assertions, &vars, &Limits::default())
                .decided();
            undecided += u32::from(found.is_none());
            if let (Some(found), Some(right)) = (found, family.satisfiable) {
                assert_eq!(found, right, "{} of {n}", family.name);
            }
        }
        let took = cpu() - start;
        spent += took;
        asked += batch;
        if took < SPAN / 8.0 {
            batch *= 2;
        }
    }
    (spent / f64::from(asked) * 1e3, undecided)
}

/// The exponent between the two largest sizes, and of the best fit over all.
fn exponents(costs: &[f64]) -> (f64, f64) {
    let points: Vec<(f64, f64)> = SIZES
        .iter()
        .zip(costs)
        .map(|(n, c)| ((*n as f64).ln(), c.max(1e-6).ln()))
        .collect();
    let slope = |points: &[(f64, f64)]| {
        let n = points.len() as f64;
        let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let up: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        let down: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
        up / down
    };
    (slope(&points[points.len() - 2..]), slope(&points))
}

/// The table.
pub fn print() {
    let sizes = SIZES.map(|n| n.to_string()).join(" | ");
    println!("| query | solver | {sizes} | exponent, last two | all |");
    println!("| --- | --- |{}", " --- |".repeat(SIZES.len() + 2));
    for family in families() {
        let mut solvers: Vec<Box<dyn Backend>> = vec![Box::new(Embedded::new())];
        if let Ok(process) = Smtlib::detect(None) {
            solvers.push(Box::new(process));
        }
        for mut solver in solvers {
            let costs = SIZES.map(|n| cost(&family, n, &mut *solver));
            let cells = costs.map(|(ms, undecided)| match undecided {
                0 => format!("{ms:.3}"),
                _ => format!("{ms:.3} ({undecided} undecided)"),
            });
            let (last, all) = exponents(&costs.map(|c| c.0));
            println!(
                "| {} | {} | {} | {last:.2} | {all:.2} |",
                family.name,
                solver.name(),
                cells.join(" | ")
            );
        }
    }
    println!();
}
