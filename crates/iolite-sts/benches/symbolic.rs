//! Events per second of the symbolic semantics: with known values (no solver), with an unknown
//! constant (a query a step), and with solved inputs.
#![allow(missing_docs)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use iolite_expr::{Smtlib, Solver, Strategy, Value};
use iolite_lts::QuiescencePolicy;
use iolite_sts::{After, Chosen, InputChoice, LabelKind, Symbolic, SymbolicStates, ValuedAction};

/// Each way is run for so long.
const SPAN: Duration = Duration::from_secs(1);

fn semantics(known: bool, solver: Solver) -> (Symbolic, SymbolicStates) {
    let f = Value::array((0..4).map(Value::from).collect());
    let mut constants = vec![("f", f)];
    if known {
        constants.push(("max", Value::from(3)));
    }
    let model = Arc::new(support::brp_sender(true));
    let mut s = Symbolic::new(model, &constants, QuiescencePolicy::Livelock, solver)
        .expect("the constants fit");
    let Ok(After::Possible(states)) = s.initial() else {
        panic!("initial states")
    };
    (s, states)
}

/// The sender's trace for a file of two packets, each acknowledged at once, again and again.
fn events(s: &Symbolic) -> Vec<ValuedAction> {
    let act = |kind, name: &str, values: Vec<Value>| ValuedAction {
        action: s.model().find_action(kind, name).expect("declared"),
        values,
    };
    let mut all = Vec::new();
    let mut bit = true;
    for _ in 0..2 {
        all.push(act(LabelKind::Input, "REQ", vec![Value::from(2)]));
        for m in 0..2 {
            all.push(act(
                LabelKind::Output,
                "MSG",
                vec![Value::from(m), Value::from(bit)],
            ));
            all.push(act(LabelKind::Input, "ACK", vec![]));
            bit = !bit;
        }
        all.push(act(LabelKind::Output, "OK", vec![]));
    }
    all
}

fn walk(name: &str, known: bool, solver: Solver) {
    let (mut s, mut states) = semantics(known, solver);
    let trace = events(&s);
    let start = Instant::now();
    let mut n = 0u32;
    while start.elapsed() < SPAN {
        for e in &trace {
            let Ok(After::Possible(next)) = s.after(&states, e) else {
                panic!("conforming trace")
            };
            states = next;
            n += 1;
        }
    }
    report(name, n, start.elapsed(), s.solver().stats().queries);
}

fn inputs(name: &str, solver: Solver) {
    let (mut s, states) = semantics(true, solver);
    let mut choice = InputChoice::new(1, Strategy::Mixed);
    let start = Instant::now();
    let mut n = 0;
    while start.elapsed() < SPAN {
        let Ok(Chosen::Input(_)) = choice.choose(&mut s, &states) else {
            panic!("an input")
        };
        n += 1;
    }
    report(name, n, start.elapsed(), s.solver().stats().queries);
}

fn report(name: &str, n: u32, time: Duration, queries: u64) {
    let rate = f64::from(n) / time.as_secs_f64();
    println!("{name:<44} {rate:>12.0} events/s  {queries:>8} queries");
}

fn main() {
    walk("known values", true, Solver::embedded());
    walk(
        "unknown constant, embedded solver",
        false,
        Solver::embedded(),
    );
    inputs(
        "inputs with solved values, embedded solver",
        Solver::embedded(),
    );
    let process = || Smtlib::detect(None).ok().map(|s| Solver::new(Box::new(s)));
    match process() {
        None => println!(
            "no process solver found: set {}",
            iolite_expr::SOLVER_VARIABLE
        ),
        Some(solver) => {
            walk("unknown constant, process solver", false, solver);
            if let Some(solver) = process() {
                inputs("inputs with solved values, process solver", solver);
            }
        }
    }
}
