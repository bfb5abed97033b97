//! Polyhedra against the Parma Polyhedra Library, which Iolite does not link: Python's `pplpy` is
//! asked where it can be imported (`pip install --target DIR pplpy` and `PYTHONPATH=DIR`); without it
//! the test says so and passes over.

mod domains_support;

use std::io::Write;
use std::process::{Command, Stdio};

use domains_support::{Rng, cases, expr, point_of};
use iolite_sts::analysis::domain::{
    Constraint, Dim, LinExpr, NumericDomain, Polyhedron, Relation, Rhs,
};
use rand::{RngExt, SeedableRng};

fn row(e: &LinExpr, dims: usize) -> String {
    let coefficients = (0..dims).map(|x| e.coefficient(Dim::new(x)));
    let all: Vec<String> = [e.constant_term().clone()]
        .into_iter()
        .chain(coefficients)
        .map(|n| n.to_string())
        .collect();
    format!("[{}]", all.join(", "))
}

fn rows(p: &Polyhedron) -> String {
    let one = |c: &Constraint| {
        let equal = c.relation == Relation::Equal;
        format!("[{equal}, {}]", row(&c.expr, p.dimensions()))
    };
    let all: Vec<String> = p.rational_constraints().iter().map(one).collect();
    format!("[{}]", all.join(", "))
}

fn polyhedron(rng: &mut Rng, dims: usize) -> Polyhedron {
    let mut p = if rng.random_bool(0.5) {
        Polyhedron::top(dims)
    } else {
        let mut p = Polyhedron::bottom(dims);
        for _ in 0..rng.random_range(1..6) {
            let point: Vec<i64> = (0..dims).map(|_| rng.random_range(-9..=9)).collect();
            p = p.join(&point_of(&point));
        }
        p
    };
    for _ in 0..rng.random_range(0..5) {
        let e = expr(rng, dims, 4, 9);
        p = p.guard(&if rng.random_bool(0.1) {
            Constraint::equal(e)
        } else {
            Constraint::at_least(e)
        });
    }
    if rng.random_bool(0.2) {
        let e = expr(rng, dims, 3, 3);
        p = p.assign(&[(Dim::new(0), Rhs::Linear(e))]);
    }
    p
}

fn line(seed: u64) -> String {
    let mut rng = Rng::seed_from_u64(seed);
    let dims = rng.random_range(1..=4);
    let (a, b) = (polyhedron(&mut rng, dims), polyhedron(&mut rng, dims));
    let x = rng.random_range(0..dims);
    let rhs = expr(&mut rng, dims, 2, 5);
    let named = [
        ("a", a.clone()),
        ("b", b.clone()),
        ("join", a.join(&b)),
        ("meet", a.meet(&b)),
        ("widen", a.widen(&b, &[])),
        ("forget", a.forget(&[Dim::new(x)])),
        ("keep", a.keep_dimensions(dims - 1)),
        (
            "assign",
            a.assign(&[(Dim::new(x), Rhs::Linear(rhs.clone()))]),
        ),
    ];
    let parts: Vec<String> = named
        .iter()
        .map(|(name, p)| format!("\"{name}\": {}", rows(p)))
        .collect();
    format!(
        "{{\"seed\": {seed}, \"dims\": {dims}, \"x\": {x}, \"rhs\": {}, \"leq\": {}, \"empty\": {}, {}}}",
        row(&rhs, dims),
        a.leq(&b),
        a.is_bottom(),
        parts.join(", ")
    )
}

#[test]
fn polyhedra_agree_with_ppl() {
    let has_ppl = Command::new("python3")
        .args(["-c", "import ppl"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success());
    if !has_ppl {
        println!("passed over: python3 cannot import ppl (pip install pplpy)");
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/domains_ppl_oracle.py");
    let mut oracle = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let count = cases(2_000);
    let mut input = oracle.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        for seed in 0..count {
            writeln!(input, "{}", line(seed)).unwrap();
        }
    });
    let output = oracle.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.trim(), format!("checked {count}"));
}
