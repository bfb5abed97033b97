//! The embedded solver against brute force.
#![allow(missing_docs)]

mod support;

use iolite_expr::{Answer, Op, Solver, Sort, Span, Term, Value, Var, VarId};
use support::{Gen, cases, small_sorts, valuations};

/// Runs random queries and returns (sat, unsat, unknown).
fn compare(seeds: u64, nonlinear: bool) -> [u64; 3] {
    let mut counts = [0; 3];
    for seed in 0..seeds {
        let mut g = Gen::new(seed, &small_sorts());
        g.nonlinear = nonlinear;
        let terms: Vec<Term> = (0..=(seed % 3)).map(|_| g.boolean(4)).collect();
        let expected = valuations(&g.vars)
            .iter()
            .any(|env| terms.iter().all(|t| t.eval_bool(env) == Ok(true)));
        let mut solver = Solver::embedded();
        for t in &terms {
            solver.assert(t);
        }
        match solver.check() {
            Answer::Sat(_) => {
                assert!(expected, "seed {seed}: {terms:?}");
                counts[0] += 1;
            }
            Answer::Unsat => {
                assert!(!expected, "seed {seed} has a model: {terms:?}");
                counts[1] += 1;
            }
            Answer::Unknown(why) => {
                eprintln!("seed {seed}: {why}: {terms:?}");
                counts[2] += 1;
            }
        }
        assert_eq!(solver.stats().refused, 0, "seed {seed}: {terms:?}");
    }
    eprintln!("sat, unsat, unknown: {counts:?}");
    counts
}

#[test]
fn linear_queries_over_finite_data_are_decided() {
    let [sat, unsat, unknown] = compare(cases(500), false);
    assert_eq!(unknown, 0);
    assert!(sat > 10 && unsat > 10, "both answers occur");
}

#[test]
fn nonlinear_queries_over_finite_data_are_decided() {
    // Decided but for what the budget of steps cuts off.
    let seeds = cases(300);
    let [_, _, unknown] = compare(seeds, true);
    assert!(unknown * 500 <= seeds, "{unknown} of {seeds} unknown");
}

fn vars(sorts: &[Sort]) -> Vec<Var> {
    sorts
        .iter()
        .enumerate()
        .map(|(i, s)| Var::new(VarId::new(0, i), &format!("x{i}"), s.clone()))
        .collect()
}

fn check(terms: &[Term]) -> Answer {
    let mut solver = Solver::embedded();
    for t in terms {
        solver.assert(t);
    }
    solver.check()
}

#[test]
fn unbounded_integers() {
    let v = vars(&[Sort::Int, Sort::Int]);
    let (x, y) = (v[0].term(), v[1].term());
    let even = x.times(2).unwrap();
    let odd = y.times(2).unwrap().plus(1).unwrap();
    // 2x = 2y + 1: branch and bound alone would not end.
    assert_eq!(check(&[even.equals(&odd).unwrap()]), Answer::Unsat);
    // 27 ≤ 11x + 13y ≤ 45, −10 ≤ 7x − 9y ≤ 4.
    let a = x.times(11).unwrap().plus(y.times(13).unwrap()).unwrap();
    let b = x.times(7).unwrap().minus(y.times(9).unwrap()).unwrap();
    let rows = [
        a.ge(27).unwrap(),
        a.le(45).unwrap(),
        b.ge(-10).unwrap(),
        b.le(4).unwrap(),
    ];
    assert_eq!(check(&rows), Answer::Unsat);
    // Large numbers stay exact.
    let big = Term::from(
        "100000000000000000000000000000"
            .parse::<iolite_expr::Int>()
            .unwrap(),
    );
    let Answer::Sat(m) = check(&[x.gt(&big).unwrap(), x.modulo(7).unwrap().equals(3).unwrap()])
    else {
        panic!("sat")
    };
    assert!(m.value(v[0].id).is_some());
    let zero = x.div(0).unwrap();
    assert_eq!(
        check(&[zero.equals(&zero).unwrap()]),
        Answer::Unsat,
        "a fault is never true"
    );
    assert_eq!(
        check(&[x.times(&x).unwrap().equals(-1).unwrap()]),
        Answer::Unsat
    );
    let product = x.times(&y).unwrap().equals(91).unwrap();
    let both = [product, x.gt(1).unwrap(), y.gt(&x).unwrap()];
    let Answer::Sat(m) = check(&both) else {
        panic!("7 · 13")
    };
    assert_eq!(m.value(v[0].id), Some(&Value::int(7)));
}

#[test]
fn strings() {
    let v = vars(&[Sort::String, Sort::String, Sort::Int]);
    let (s, t, n) = (v[0].term(), v[1].term(), v[2].term());
    let len = |t: &Term| Term::apply(Op::StrLen, vec![t.clone()], Span::NONE).unwrap();
    let matches = |t: &Term, re: &str| Term::matches(t.clone(), re, Span::NONE).unwrap();
    let name = matches(&s, "[a-z]{3,8}");
    assert!(matches!(
        check(&[name.clone(), len(&s).equals(&n).unwrap(), n.gt(6).unwrap()]),
        Answer::Sat(_)
    ));
    assert_eq!(
        check(&[name.clone(), len(&s).gt(8).unwrap()]),
        Answer::Unsat
    );
    assert_eq!(check(&[name.clone(), matches(&s, "[0-9]+")]), Answer::Unsat);
    assert!(matches!(
        check(&[matches(&s, "(ab)*"), len(&s).gt(3).unwrap()]),
        Answer::Sat(_)
    ));
    assert_eq!(
        check(&[matches(&s, "(ab)*"), len(&s).equals(7).unwrap()]),
        Answer::Unsat
    );
    let greeting = Term::from("hello ").concat(&s).unwrap();
    let Answer::Sat(m) = check(&[
        t.equals(&greeting).unwrap(),
        name,
        len(&t).equals(10).unwrap(),
    ]) else {
        panic!("sat")
    };
    let word = m.value(v[1].id).and_then(Value::as_str).unwrap();
    assert!(word.starts_with("hello ") && word.len() == 10);
    // Two different words of a language with two words, and no third.
    let ab = |t: &Term| matches(t, "a|b");
    assert!(matches!(
        check(&[ab(&s), ab(&t), s.differs(&t).unwrap()]),
        Answer::Sat(_)
    ));
    let u = Var::new(VarId::new(0, 9), "u", Sort::String).term();
    let all_differ = [
        s.differs(&t).unwrap(),
        s.differs(&u).unwrap(),
        t.differs(&u).unwrap(),
    ];
    let mut query = vec![ab(&s), ab(&t), ab(&u)];
    query.extend(all_differ);
    assert_eq!(check(&query), Answer::Unsat);
    let contains = Term::apply(Op::Contains, vec![s.clone(), "xyz".into()], Span::NONE).unwrap();
    assert!(matches!(check(&[contains]), Answer::Sat(_)));
}

#[test]
fn arrays_and_records() {
    let ints = Sort::array(Sort::Int).unwrap();
    let point = Sort::record(
        "Point",
        vec![("x".into(), Sort::Int), ("y".into(), Sort::Int)],
    )
    .unwrap();
    let v = vars(&[ints.clone(), Sort::Int, Sort::Int, point.clone(), ints]);
    let (f, i, j, p, g) = (
        v[0].term(),
        v[1].term(),
        v[2].term(),
        v[3].term(),
        v[4].term(),
    );
    let (fi, fj) = (f.select(&i).unwrap(), f.select(&j).unwrap());
    assert!(matches!(check(&[fi.gt(&fj).unwrap()]), Answer::Sat(_)));
    assert_eq!(
        check(&[fi.gt(&fj).unwrap(), i.equals(&j).unwrap()]),
        Answer::Unsat
    );
    let store = Term::apply(Op::Store, vec![f.clone(), i.clone(), 7.into()], Span::NONE).unwrap();
    assert_eq!(
        check(&[
            store.select(&j).unwrap().differs(7).unwrap(),
            i.equals(&j).unwrap()
        ]),
        Answer::Unsat
    );
    let len = |t: &Term| Term::apply(Op::Len, vec![t.clone()], Span::NONE).unwrap();
    assert_eq!(
        check(&[fi.equals(1).unwrap(), len(&f).le(&i).unwrap()]),
        Answer::Unsat
    );
    let two = Term::array(f.sort(), vec![i.clone(), j.clone()], Span::NONE).unwrap();
    let both = Term::apply(Op::Append, vec![two.clone(), g.clone()], Span::NONE).unwrap();
    assert!(matches!(
        check(&[
            f.equals(&two).unwrap(),
            f.select(1).unwrap().equals(5).unwrap()
        ]),
        Answer::Sat(_)
    ));
    assert!(matches!(
        check(&[
            len(&both).equals(5).unwrap(),
            both.select(4).unwrap().equals(9).unwrap()
        ]),
        Answer::Sat(_)
    ));
    let x = Term::field(p.clone(), "x", Span::NONE).unwrap();
    let moved = Term::update(p.clone(), "x", x.plus(1).unwrap(), Span::NONE).unwrap();
    assert_eq!(check(&[moved.equals(&p).unwrap()]), Answer::Unsat);
    assert!(matches!(
        check(&[moved.differs(&p).unwrap(), x.gt(3).unwrap()]),
        Answer::Sat(_)
    ));
    // Equality of two unknown arrays may be unknown, never wrong.
    assert!(!matches!(
        check(&[
            f.equals(&g).unwrap(),
            fi.differs(g.select(&i).unwrap()).unwrap()
        ]),
        Answer::Sat(_)
    ));
}
