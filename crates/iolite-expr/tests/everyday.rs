//! Guards that people write, each solved by the embedded solver alone.
#![allow(missing_docs)]

use std::time::Instant;

use iolite_expr::{Answer, Op, Solver, Sort, Span, Term, Var, VarId};

fn variable(i: usize, name: &str, sort: Sort) -> Term {
    Var::new(VarId::new(0, i), name, sort).term()
}

fn ints() -> [Term; 3] {
    ["x", "y", "z"].map(|n| variable(n.as_bytes()[0] as usize, n, Sort::Int))
}

fn app(op: Op, args: Vec<Term>) -> Term {
    Term::apply(op, args, Span::new(1, 2)).unwrap()
}

fn decide(name: &str, guards: &[Term]) -> Answer {
    let begin = Instant::now();
    let mut solver = Solver::embedded();
    for g in guards {
        solver.assert(g);
    }
    let answer = solver.check();
    eprintln!("{name}: {:?} in {:?}", answer.decided(), begin.elapsed());
    answer
}

#[track_caller]
fn sat(name: &str, guards: &[Term]) {
    let answer = decide(name, guards);
    assert_eq!(answer.decided(), Some(true), "{name}: {answer:?}");
}

#[track_caller]
fn unsat(name: &str, guards: &[Term]) {
    assert_eq!(decide(name, guards), Answer::Unsat, "{name}");
}

#[test]
fn products() {
    let [x, y, z] = ints();
    let xy = x.times(&y).unwrap();
    sat("x*y == 391", &[xy.equals(391).unwrap()]);
    let proper = [xy.equals(391).unwrap(), x.gt(1).unwrap(), y.gt(&x).unwrap()];
    sat("x*y == 391, 1 < x < y", &proper);
    let prime = [xy.equals(397).unwrap(), x.gt(1).unwrap(), y.gt(1).unwrap()];
    unsat("x*y == 397, 1 < x, 1 < y", &prime);
    let square = x.times(&x).unwrap();
    sat("x*x == 1000000", &[square.equals(1_000_000).unwrap()]);
    unsat("x*x == 1000001", &[square.equals(1_000_001).unwrap()]);
    let cube = square.times(&x).unwrap();
    sat("x*x*x == 1030301", &[cube.equals(1_030_301).unwrap()]);
    unsat("x*x*x == 1030302", &[cube.equals(1_030_302).unwrap()]);
    let sum = square.plus(y.times(&y).unwrap()).unwrap();
    let triple = sum.equals(z.times(&z).unwrap()).unwrap();
    sat("x*x + y*y == z*z", std::slice::from_ref(&triple));
    let positive = [&x, &y, &z].map(|v| v.gt(0).unwrap());
    let all: Vec<Term> = [triple].into_iter().chain(positive).collect();
    sat("x*x + y*y == z*z, all positive", &all);
    let large = [xy.equals(1_000_000_007_i64).unwrap(), x.gt(1).unwrap()];
    sat("x*y == 1000000007, x > 1", &large);
}

#[test]
fn quotients() {
    let [x, y, _] = ints();
    sat("x % y == 3", &[x.modulo(&y).unwrap().equals(3).unwrap()]);
    let negative = [x.modulo(&y).unwrap().equals(3).unwrap(), y.lt(0).unwrap()];
    sat("x % y == 3, y < 0", &negative);
    let third = [x.div(&y).unwrap().equals(3).unwrap(), y.ge(0).unwrap()];
    sat("x / y == 3, y >= 0", &third);
    let share = x.times(100).unwrap().div(&y).unwrap();
    sat("part*100/total == 37", &[share.equals(37).unwrap()]);
    let share = [
        share.equals(37).unwrap(),
        x.ge(10).unwrap(),
        y.le(1000).unwrap(),
    ];
    sat("part*100/total == 37, bounded", &share);
    let interest = x.times(&y).unwrap().div(100).unwrap();
    let total = x.plus(&interest).unwrap().equals(1050).unwrap();
    sat("a + a*p/100 == 1050", std::slice::from_ref(&total));
    let usual = [total, y.ge(1).unwrap(), y.le(20).unwrap()];
    sat("a + a*p/100 == 1050, 1 <= p <= 20", &usual);
    let never = [
        x.modulo(&y).unwrap().equals(5).unwrap(),
        y.le(5).unwrap(),
        y.ge(-5).unwrap(),
    ];
    unsat("x % y == 5, -5 <= y <= 5", &never);
}

#[test]
fn texts() {
    let (s, t) = (
        variable(0, "s", Sort::String),
        variable(1, "t", Sort::String),
    );
    let joined = app(Op::Concat, vec![s.clone(), t.clone()]);
    let greeting = joined.equals(Term::from("hello world")).unwrap();
    let (ls, lt) = (
        app(Op::StrLen, vec![s.clone()]),
        app(Op::StrLen, vec![t.clone()]),
    );
    sat(
        "s ++ t == hello world",
        &[greeting.clone(), ls.gt(&lt).unwrap()],
    );
    let halves = [greeting.clone(), ls.equals(&lt).unwrap()];
    unsat("s ++ t == hello world, equal lengths", &halves);
    let sandwich = app(Op::Concat, vec![s.clone(), " ".into(), t.clone()]);
    let words = [sandwich.equals(Term::from("hello world")).unwrap()];
    sat("s ++ \" \" ++ t == hello world", &words);
    sat("s ++ t != hello world", &[greeting.negated()]);
}

#[test]
fn arrays_that_are_equal_agree_where_they_are_read() {
    let sort = Sort::Array(Sort::Int.into());
    let (a, b) = (variable(0, "a", sort.clone()), variable(1, "b", sort));
    let stored = app(Op::Store, vec![a.clone(), 1.into(), (-1).into()]);
    sat("a == store(a, 1, -1)", &[a.equals(&stored).unwrap()]);
    let zero = app(Op::Select, vec![a.clone(), 1.into()])
        .equals(0)
        .unwrap();
    unsat(
        "a == store(a, 1, -1), a[1] == 0",
        &[a.equals(&stored).unwrap(), zero],
    );
    let read = |a: &Term, i: i64| app(Op::Select, vec![a.clone(), i.into()]);
    let differ = read(&a, 2).equals(7).unwrap();
    let same = [
        a.equals(&b).unwrap(),
        differ.clone(),
        read(&b, 2).equals(8).unwrap(),
    ];
    unsat("a == b, a[2] == 7, b[2] == 8", &same);
    sat(
        "a != b, a[2] == 7",
        &[a.equals(&b).unwrap().negated(), differ],
    );
    let five = Term::array(a.sort(), vec![5.into()], Span::new(1, 2)).unwrap();
    let long = app(Op::Len, vec![a.clone()]).equals(3).unwrap();
    let more = app(Op::Append, vec![b.clone(), five]);
    sat("a == b ++ [5], #a == 3", &[a.equals(&more).unwrap(), long]);
}
