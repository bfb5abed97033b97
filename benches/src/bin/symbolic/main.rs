//! Testing with data. Steps per CPU second of long runs, on models after examples of TorXakis and with
//! many ordered parameters, the embedded solver beside a solver process: around the hundredth step and
//! around the last. And events per second on the sender of the Bounded Retransmission Protocol:
//! with known values (guards are evaluated, no solver is asked), with an unknown constant (what is
//! seen narrows it), and with inputs that are solved for.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin symbolic`; `steps` leaves out the
//! sender, further words are the names of the models wanted, and a number is that of the steps. `queries` prints what single
//! queries cost by their number of variables, and nothing else.

mod models;
mod queries;
mod steps;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use iolite_expr::{Smtlib, Solver, Strategy, Value};
use iolite_lts::QuiescencePolicy;
use iolite_sts::{
    After, Chosen, InputChoice, Iosts, LabelKind, Symbolic, SymbolicStates, ValuedAction,
};

/// Each way is run for so long.
const SPAN: Duration = Duration::from_secs(1);

fn sender() -> Arc<Iosts> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/papers/sym04_fig1.iol");
    let text = std::fs::read_to_string(path).expect("the model is there");
    let (file, _) = iolite_lang::parse(&text);
    Arc::new(iolite_lang::lower_data(&file, "Sender").expect("it lowers"))
}

fn semantics(known: bool, solver: Solver) -> (Symbolic, SymbolicStates) {
    let mut constants = vec![("f", Value::array((0..4).map(Value::from).collect()))];
    if known {
        constants.push(("max", Value::from(3)));
    }
    let mut s = Symbolic::new(sender(), &constants, QuiescencePolicy::Livelock, solver)
        .expect("the constants fit");
    let Ok(After::Possible(states)) = s.initial() else {
        panic!("no initial states")
    };
    (s, states)
}

/// The sender's trace for a file of two packets, each acknowledged at once, twice, so that the bit
/// is back where it was.
fn events(s: &Symbolic) -> Vec<ValuedAction> {
    let act = |kind, name: &str, values: Vec<Value>| ValuedAction {
        action: s.model().find_gate(kind, name).expect("declared"),
        values,
    };
    let mut all = Vec::new();
    let mut bit = true;
    for _ in 0..2 {
        all.push(act(LabelKind::Input, "REQ", vec![Value::from(2)]));
        for m in 0..2 {
            let values = vec![Value::from(m), Value::from(bit)];
            all.push(act(LabelKind::Output, "MSG", values));
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
                panic!("a conforming trace")
            };
            states = next;
            n += 1;
        }
    }
    report(name, n, start.elapsed(), s.solver().stats().queries);
}

/// A system of which every output tells something new about its constants, so that each step asks
/// the solver once whether there are any left.
const NARROWING: &str = "\
system Narrowing {
  const a: int, b: int
  assume a < b
  output seen(n: int)
  initial state S { !seen(n) [n >= a + b && 2 * n < 3 * b - a] -> S }
}
";

fn narrow(name: &str, solver: Solver) {
    let (file, _) = iolite_lang::parse(NARROWING);
    let model = Arc::new(iolite_lang::lower_data(&file, "Narrowing").expect("it lowers"));
    let output = model
        .find_gate(LabelKind::Output, "seen")
        .expect("declared");
    let mut s =
        Symbolic::new(model, &[], QuiescencePolicy::Livelock, solver).expect("the constants fit");
    let Ok(After::Possible(mut states)) = s.initial() else {
        panic!("no initial states")
    };
    let start = Instant::now();
    let mut n = 0;
    while start.elapsed() < SPAN {
        // What is seen falls, so that no condition contains the one before.
        let seen = ValuedAction {
            action: output,
            values: vec![Value::from(1_000_000_000 - i64::from(n))],
        };
        let Ok(After::Possible(next)) = s.after(&states, &seen) else {
            panic!("a conforming trace")
        };
        states = next;
        n += 1;
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
            panic!("no input")
        };
        n += 1;
    }
    report(name, n, start.elapsed(), s.solver().stats().queries);
}

fn report(name: &str, n: u32, time: Duration, queries: u64) {
    let rate = f64::from(n) / time.as_secs_f64();
    let each = queries as f64 / f64::from(n.max(1));
    println!("| {name} | {rate:.0} | {each:.2} |");
}

/// The process solver is given up after so many CPU seconds a model, the embedded one after more.
const PEER: f64 = 10.0;
const OWN: f64 = 120.0;

fn long_runs(words: &[String]) {
    let mut cases = models::all();
    cases.extend([8, 16, 32].map(models::ordered));
    let numbers: Vec<u64> = words.iter().filter_map(|w| w.parse().ok()).collect();
    let names: Vec<&String> = words.iter().filter(|w| w.parse::<u64>().is_err()).collect();
    let steps = numbers.first().copied().unwrap_or(10_000);
    println!(
        "| model | solver | steps/s, first 200 | steps/s, last 200 | last / first | steps | queries a step |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for case in cases {
        if !names.is_empty() && !names.iter().any(|n| case.name.starts_with(n.as_str())) {
            continue;
        }
        let show = |solver: Solver, most: f64| {
            let name = solver.name();
            let r = steps::rates(&case, solver, steps, most);
            println!(
                "| {} | {name} | {:.0} | {:.0} | {:.2} | {} | {:.2} |",
                case.name,
                r.first,
                r.last,
                r.last / r.first.max(1.0),
                r.steps,
                r.queries
            );
        };
        show(Solver::embedded(), OWN);
        if let Ok(process) = Smtlib::detect(None) {
            show(Solver::new(Box::new(process)), PEER);
        }
    }
    println!();
}

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|w| w == "queries") {
        queries::print();
        return;
    }
    let alone = words.first().is_some_and(|w| w == "steps");
    if alone {
        words.remove(0);
    }
    long_runs(&words);
    if alone {
        return;
    }
    queries::print();
    println!("| what | events/s | queries an event |");
    println!("| --- | --- | --- |");
    walk("known values", true, Solver::embedded());
    walk(
        "unknown constant, embedded solver",
        false,
        Solver::embedded(),
    );
    narrow("a query a step, embedded solver", Solver::embedded());
    inputs("solved inputs, embedded solver", Solver::embedded());
    let process = || Smtlib::detect(None).ok().map(|s| Solver::new(Box::new(s)));
    if let (Some(first), Some(second), Some(third)) = (process(), process(), process()) {
        walk("unknown constant, process solver", false, first);
        narrow("a query a step, process solver", second);
        inputs("solved inputs, process solver", third);
    } else {
        println!(
            "\nno process solver found: set {}",
            iolite_expr::SOLVER_VARIABLE
        );
    }
}
