//! The embedded solver against Z3 on random queries of six kinds.
//!
//! Every model is evaluated by the port, whoever gives it; "unsatisfiable" is compared with the
//! other solver's answer. The default is a share that takes some seconds a kind. All of it,
//! 21,000 queries, with a table at the end:
//!
//! ```sh
//! scripts/install-solver
//! cargo test --release -p iolite-expr --test differential -- --ignored --nocapture
//! ```
//!
//! `IOLITE_CASES` is another number of queries of each kind and `IOLITE_FIRST` the first of them, so that
//! it can be done in shares. Times are CPU time of the embedded solver.
#![allow(missing_docs)]

mod support;

use std::path::PathBuf;
use std::time::Duration;

use iolite_expr::{Answer, Limits, Smtlib, Solver};
use support::query_kind::QueryKind;
use support::{cases, cpu_time, first_case};

/// Queries of each kind in continuous integration, and in the whole count.
const SHARE: u64 = 150;
const WHOLE: u64 = 3_500;

/// A query that takes longer is named.
const SLOW: Duration = Duration::from_millis(500);

fn process() -> Option<Solver> {
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/z3/bin/z3");
    let found = Smtlib::find(None).or_else(|| Some(PathBuf::from(bundled)).filter(|p| p.is_file()));
    let Some(path) = found else {
        println!("skipped: no SMT-LIB solver (scripts/install-solver puts one into .tools)");
        return None;
    };
    let mut solver = Solver::new(Box::new(Smtlib::new(&path).expect("the solver runs")));
    solver.set_limits(Limits::new(Duration::from_secs(1), 1_024));
    Some(solver)
}

/// How many queries of one kind came to what.
#[derive(Default)]
struct Tally {
    sat: u64,
    unsat: u64,
    open: u64,
    open_there: u64,
    /// Models that evaluation refused.
    refused: u64,
    own: Duration,
    slowest: Duration,
}

fn compare(kind: QueryKind, seeds: std::ops::Range<u64>) -> Option<Tally> {
    let mut z3 = process()?;
    let mut tally = Tally::default();
    for seed in seeds {
        let terms = kind.query(seed);
        let mut embedded = Solver::embedded();
        z3.push();
        for t in &terms {
            embedded.assert(t);
            z3.assert(t);
        }
        let begin = cpu_time();
        let own = embedded.check();
        let took = cpu_time().saturating_sub(begin);
        if took > SLOW {
            println!("{kind:?} {seed}: {took:?}");
        }
        tally.own += took;
        tally.slowest = tally.slowest.max(took);
        let other = z3.check();
        match &own {
            Answer::Sat(_) => tally.sat += 1,
            Answer::Unsat => tally.unsat += 1,
            Answer::Unknown(why) => {
                tally.open += 1;
                println!(
                    "{kind:?} {seed}: {why} ({other:?}, {took:?})",
                    other = other.decided()
                );
            }
        }
        tally.open_there += u64::from(other.decided().is_none());
        tally.refused += embedded.stats().refused;
        if let (Some(a), Some(b)) = (own.decided(), other.decided()) {
            assert_eq!(
                a,
                b,
                "{kind:?}, seed {seed}: {terms:?}\n{}",
                z3.query_text()
            );
        }
        z3.pop();
    }
    assert_eq!(z3.fault(), None, "{kind:?}");
    Some(tally)
}

fn check(kind: QueryKind, count: u64) {
    let first = first_case();
    let Some(tally) = compare(kind, first..first + count) else {
        return;
    };
    println!(
        "{kind:?}: {} sat, {} unsat, {} unknown ({} of Z3), {} models refused, {:?} a query, at most {:?}",
        tally.sat,
        tally.unsat,
        tally.open,
        tally.open_there,
        tally.refused,
        tally.own / count.max(1) as u32,
        tally.slowest,
    );
    // Equal arrays agree at the indices that occur, up to a bound; what that misses, evaluation finds.
    if kind != QueryKind::Array {
        assert_eq!(tally.refused, 0, "{kind:?}: evaluation refused a model");
    }
    assert!(
        tally.open * 1_000 <= kind.open_per_mille() * count.max(1_000 / kind.open_per_mille()),
        "{kind:?}: {} of {count} unknown",
        tally.open
    );
    assert!(
        tally.sat > count / 10 && tally.unsat > count / 20,
        "both answers occur"
    );
}

#[test]
fn linear_queries_agree() {
    check(QueryKind::Linear, cases(SHARE));
}

#[test]
fn nonlinear_queries_agree() {
    check(QueryKind::Nonlinear, cases(SHARE));
}

#[test]
fn quotients_agree() {
    check(QueryKind::DivMod, cases(SHARE));
}

#[test]
fn texts_agree() {
    check(QueryKind::Text, cases(SHARE));
}

#[test]
fn arrays_agree() {
    check(QueryKind::Array, cases(SHARE));
}

#[test]
fn records_agree() {
    check(QueryKind::Record, cases(SHARE));
}

#[test]
#[ignore = "21,000 queries, some minutes"]
fn twenty_thousand_queries_agree() {
    for kind in QueryKind::ALL {
        check(kind, cases(WHOLE));
    }
}

/// One query and its answer, to look at: `IOLITE_QUERY=Text:26`.
#[test]
#[ignore = "prints the query that IOLITE_QUERY names"]
fn one_query() {
    let Ok(wanted) = std::env::var("IOLITE_QUERY") else {
        return;
    };
    for one in wanted.split(',') {
        let (name, seed) = one.split_once(':').expect("KIND:SEED");
        let kind = QueryKind::ALL
            .into_iter()
            .find(|k| format!("{k:?}") == name);
        let terms = kind.expect("a kind").query(seed.parse().expect("a number"));
        let mut embedded = Solver::embedded();
        println!("{one}:");
        for t in &terms {
            println!("  {t}");
            embedded.assert(t);
        }
        println!("  {:?} {:?}", embedded.check(), embedded.stats());
    }
}
