//! What is drawn by evaluation, against the solver: rows that a guard holds for, and "there is none".
#![allow(missing_docs)]

mod support;

use std::collections::BTreeSet;

use iolite_expr::{
    Answer, Drawn, GuardProfile, Model, Op, Sampler, Solver, Sort, Span, Strategy, Term, Value,
    Var, VarId,
};
use support::cases;
use support::query_kind::QueryKind;

/// On random queries of each kind: a row makes every assertion true, which the solver must not deny;
/// and where there is said to be none, the solver must find none.
#[test]
fn rows_and_refusals_agree_with_the_solver() {
    let (mut rows, mut refusals, mut open) = (0, 0, 0);
    for kind in QueryKind::ALL {
        for seed in 0..cases(60) {
            let terms = kind.query(seed);
            let guard = Term::all(terms.iter().cloned());
            let vars = guard.free_vars();
            let profile = GuardProfile::new(&guard, &vars);
            let mut sampler = Sampler::new(seed, Strategy::Mixed);
            let mut solver = Solver::embedded();
            for t in &terms {
                solver.assert(t);
            }
            let answer = solver.check();
            for _ in 0..3 {
                match sampler.draw(&profile, &Model::default()) {
                    Drawn::Row(row) | Drawn::Standing(row) => {
                        let values = vars.iter().map(|v| v.id).zip(row);
                        let model = Model::new(values.collect());
                        for v in &vars {
                            assert!(v.sort.contains(model.value(v.id).unwrap()));
                        }
                        for t in &terms {
                            assert_eq!(t.eval_bool(&model), Ok(true), "{kind:?} {seed}: {t}");
                        }
                        assert_ne!(answer, Answer::Unsat, "{kind:?} {seed}");
                        rows += 1;
                    }
                    Drawn::Impossible => {
                        assert!(!matches!(answer, Answer::Sat(_)), "{kind:?} {seed}");
                        refusals += 1;
                    }
                    Drawn::NotFound => open += 1,
                }
            }
        }
    }
    println!("{rows} rows, {refusals} refusals, {open} not found");
    assert!(rows > open / 4, "{rows} rows, {open} not found");
}

fn var(i: usize, sort: Sort) -> Var {
    Var::new(VarId::new(0, i), &format!("x{i}"), sort)
}

/// Distinct rows of so many draws, none of which asks a solver.
fn distinct(vars: &[Var], guard: &Term, draws: usize) -> BTreeSet<Vec<Value>> {
    let profile = GuardProfile::new(guard, vars);
    let mut sampler = Sampler::new(3, Strategy::Mixed);
    let mut rows = BTreeSet::new();
    for _ in 0..draws {
        if let Drawn::Row(row) | Drawn::Standing(row) = sampler.draw(&profile, &Model::default()) {
            rows.insert(row);
        }
    }
    rows
}

/// Guards that tie variables together do not freeze them.
#[test]
fn tied_variables_move_together() {
    let (x, y, z) = (var(0, Sort::Int), var(1, Sort::Int), var(2, Sort::Int));
    let sum = x.term().plus(y.term()).unwrap().equals(100).unwrap();
    let rows = distinct(&[x.clone(), y.clone(), z.clone()], &sum, 60);
    let firsts: BTreeSet<&Value> = rows.iter().map(|row| &row[0]).collect();
    assert!(firsts.len() >= 20, "{rows:?}");
    let chain = Term::all([
        x.term().lt(y.term()).unwrap(),
        y.term().lt(z.term()).unwrap(),
    ]);
    assert!(distinct(&[x, y, z], &chain, 60).len() >= 30);
}

#[test]
fn texts_follow_their_forms() {
    let s = var(0, Sort::String);
    let form = Term::matches(s.term(), "[A-Z][0-9]{2}[a-z]+", Span::NONE).unwrap();
    let rows = distinct(std::slice::from_ref(&s), &form, 60);
    assert!(rows.len() >= 30, "{rows:?}");
}

/// Where there are few rows all of them are tried, so that "none" is an answer.
#[test]
fn few_rows_are_decided() {
    let x = var(0, Sort::range(0, 9).unwrap());
    let square = x.term().times(x.term()).unwrap();
    let seven = GuardProfile::new(&square.equals(7).unwrap(), std::slice::from_ref(&x));
    let mut sampler = Sampler::new(1, Strategy::Mixed);
    let none = Model::default();
    assert_eq!(sampler.draw(&seven, &none), Drawn::Impossible);
    let nine = GuardProfile::new(&square.equals(9).unwrap(), &[x]);
    let three = Drawn::Row(vec![Value::from(3)]);
    assert_eq!(sampler.draw(&nine, &none), three);
}

/// Sets whose elements have to be keys of a map are drawn from its keys, and so are keys themselves: nearly no
/// other values satisfy the guard, and the empty set alone tries nothing.
#[test]
fn elements_are_taken_from_what_the_guard_reads() {
    let text = |s: &str| Value::str(s);
    let prices = ["apples", "nuts", "salt"].map(|name| (text(name), Value::from(1)));
    let prices = Value::map(prices.to_vec());
    let map = Sort::map(Sort::String, Sort::Int).expect("a map");
    let known = Var::new(VarId::new(1, 0), "prices", map);
    let below = Model::new([(known.id, prices)].into());
    let names = var(0, Sort::set(Sort::String).expect("a set"));
    let element = Var::new(VarId::new(2, 0), "x", Sort::String);
    let has = |key: &Var| {
        Term::apply(Op::Has, vec![key.term(), known.term()], Span::NONE).expect("a key")
    };
    let inside = has(&element);
    let all = Term::apply(Op::ForAll(element), vec![names.term(), inside], Span::NONE)
        .expect("a quantifier");
    let name = var(1, Sort::String);
    let guard = Term::all([all, has(&name)]);
    let vars = [names, name];
    let profile = GuardProfile::new(&guard, &vars);
    let mut sampler = Sampler::new(5, Strategy::Mixed);
    let (mut sets, mut keys) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..200 {
        if let Drawn::Row(row) | Drawn::Standing(row) = sampler.draw(&profile, &below) {
            sets.insert(row[0].clone());
            keys.insert(row[1].clone());
        }
    }
    assert_eq!(keys.len(), 3, "{keys:?}");
    assert!(
        sets.len() >= 7,
        "all but a few of the eight subsets: {sets:?}"
    );
}
