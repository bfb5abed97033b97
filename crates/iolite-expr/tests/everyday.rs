//! Guards that people write, each solved by the embedded solver alone. `--nocapture` shows the CPU time
//! of each.
#![allow(missing_docs)]

mod support;

use std::time::Duration;

use iolite_expr::{Answer, Limits, Op, Solver, Sort, Span, Term, Var, VarId};
use support::cpu_time;
use support::query_kind::QueryKind;

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
    let begin = cpu_time();
    let mut solver = Solver::embedded();
    for g in guards {
        solver.assert(g);
    }
    let answer = solver.check();
    let took = cpu_time().saturating_sub(begin);
    eprintln!("{name}: {:?} in {took:?}", answer.decided());
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

#[test]
fn percentages_and_rounding() {
    let [x, y, z] = ints();
    let percent = |of: &Term, p: &Term| of.times(p).unwrap().div(100).unwrap();
    // A price with a discount of p percent and then 19 percent tax.
    let net = x.minus(percent(&x, &y)).unwrap();
    let gross = net.plus(percent(&net, &19.into())).unwrap();
    let usual = [y.ge(0).unwrap(), y.le(50).unwrap(), x.gt(0).unwrap()];
    let all = |more: Vec<Term>| [usual.to_vec(), more].concat();
    sat("discount and tax", &all(vec![gross.equals(1071).unwrap()]));
    let half_up = x.times(100).unwrap().plus(y.div(2).unwrap()).unwrap();
    let rounded = half_up.div(&y).unwrap();
    let bounds = [y.ge(1).unwrap(), y.le(500).unwrap(), x.ge(0).unwrap()];
    let third = [rounded.equals(33).unwrap(), x.gt(20).unwrap()];
    sat("rounded share", &[bounds.to_vec(), third.to_vec()].concat());
    let never = [rounded.gt(100).unwrap(), x.le(&y).unwrap()];
    unsat("more than all", &[bounds.to_vec(), never.to_vec()].concat());
    // 3y + 2y/3 is 99 for y = 27 and 102 for y = 28.
    let split = |whole: i64| {
        [
            x.plus(&y).unwrap().plus(&z).unwrap().equals(whole).unwrap(),
            x.equals(y.times(2).unwrap()).unwrap(),
            z.equals(x.div(3).unwrap()).unwrap(),
        ]
    };
    sat("three shares of 102", &split(102));
    unsat("three shares of 100", &split(100));
}

#[test]
fn dates_as_numbers() {
    let [x, y, z] = ints();
    // yyyymmdd
    let (year, month, day) = (
        x.div(10_000).unwrap(),
        x.div(100).unwrap().modulo(100).unwrap(),
        x.modulo(100).unwrap(),
    );
    let date = [
        year.ge(1900).unwrap(),
        year.le(2100).unwrap(),
        month.ge(1).unwrap(),
        month.le(12).unwrap(),
        day.ge(1).unwrap(),
        day.le(31).unwrap(),
    ];
    let all = |more: &[Term]| [date.to_vec(), more.to_vec()].concat();
    sat("a date", &date);
    let leap = Term::all([
        year.modulo(4).unwrap().equals(0).unwrap(),
        Term::any([
            year.modulo(100).unwrap().differs(0).unwrap(),
            year.modulo(400).unwrap().equals(0).unwrap(),
        ]),
    ]);
    let february = [month.equals(2).unwrap(), day.equals(29).unwrap()];
    sat(
        "29 February",
        &all(&[&february[..], std::slice::from_ref(&leap)].concat()),
    );
    let century = [leap, year.modulo(100).unwrap().equals(0).unwrap()];
    let odd = year.differs(2000).unwrap();
    unsat(
        "another leap century",
        &all(&[&century[..], &[odd]].concat()),
    );
    // Seconds of a day as hours and minutes.
    let clock = [
        y.equals(z.div(3600).unwrap()).unwrap(),
        z.modulo(3600).unwrap().div(60).unwrap().equals(59).unwrap(),
        z.ge(0).unwrap(),
        z.lt(86_400).unwrap(),
        y.gt(22).unwrap(),
    ];
    sat("a minute before midnight", &clock);
}

#[test]
fn checksums_and_bits() {
    let [x, y, z] = ints();
    // Weighted digits, as in ISBN-10.
    let digit: Vec<Term> = (0..10)
        .map(|i| variable(i, &format!("d{i}"), Sort::range(0, 9).unwrap()))
        .collect();
    let weighted = |from: i64| {
        let terms = digit.iter().zip(from..).map(|(d, w)| d.times(w).unwrap());
        terms.reduce(|a, b| a.plus(b).unwrap()).unwrap()
    };
    let isbn = weighted(1).modulo(11).unwrap().equals(0).unwrap();
    sat("ISBN", &[isbn.clone(), digit[0].equals(3).unwrap()]);
    let zeros: Vec<Term> = digit[1..].iter().map(|d| d.equals(0).unwrap()).collect();
    let one = [isbn, digit[0].gt(0).unwrap()];
    unsat("one digit alone", &[zeros, one.to_vec()].concat());
    // Two bytes in a number; a bit by division.
    let word = x.times(256).unwrap().plus(&y).unwrap();
    let bytes = [&x, &y].map(|b| Term::all([b.ge(0).unwrap(), b.lt(256).unwrap()]));
    let known = [word.equals(0xBEEF).unwrap()];
    sat("two bytes", &[bytes.to_vec(), known.to_vec()].concat());
    let bit = |v: &Term, n: u32| v.div(1_i64 << n).unwrap().modulo(2).unwrap();
    let flags = [
        z.ge(0).unwrap(),
        z.lt(256).unwrap(),
        bit(&z, 0).equals(1).unwrap(),
        bit(&z, 3).equals(0).unwrap(),
        bit(&z, 7).equals(1).unwrap(),
    ];
    sat("flags", &flags);
    let even = z.modulo(2).unwrap().equals(0).unwrap();
    unsat(
        "an even number with its last bit",
        &[&flags[..], &[even]].concat(),
    );
    let luhn = x.times(2).unwrap();
    let carried = luhn
        .modulo(10)
        .unwrap()
        .plus(luhn.div(10).unwrap())
        .unwrap();
    let sum = carried.plus(&y).unwrap().modulo(10).unwrap();
    let decimal = [&x, &y].map(|d| Term::all([d.ge(0).unwrap(), d.le(9).unwrap()]));
    let valid = [sum.equals(0).unwrap(), x.equals(7).unwrap()];
    sat("Luhn", &[decimal.to_vec(), valid.to_vec()].concat());
}

#[test]
fn texts_with_separators_and_lengths() {
    let (s, t, u) = (
        variable(0, "s", Sort::String),
        variable(1, "t", Sort::String),
        variable(2, "u", Sort::String),
    );
    let matches = |t: &Term, re: &str| Term::matches(t.clone(), re, Span::NONE).unwrap();
    let len = |t: &Term| app(Op::StrLen, vec![t.clone()]);
    let pair = app(Op::Concat, vec![s.clone(), ":".into(), t.clone()]);
    let key = [
        u.equals(&pair).unwrap(),
        matches(&s, "[a-z]+"),
        matches(&t, "[0-9]{1,5}"),
    ];
    let all = |more: &[Term]| [key.to_vec(), more.to_vec()].concat();
    sat("key and value", &key);
    sat("of nine characters", &all(&[len(&u).equals(9).unwrap()]));
    sat(
        "a known one",
        &all(&[u.equals(Term::from("port:8080")).unwrap()]),
    );
    unsat("two separators", &all(&[matches(&u, ".*:.*:.*")]));
    unsat("a long value", &all(&[len(&t).gt(5).unwrap()]));
    let mail = matches(&u, "[a-z.]{1,20}@[a-z]+\\.(org|net)");
    sat("an address", &[mail.clone(), len(&u).equals(12).unwrap()]);
    unsat("too short an address", &[mail, len(&u).lt(6).unwrap()]);
    let version = matches(&u, "[0-9]+\\.[0-9]+\\.[0-9]+");
    let starts = app(Op::Prefix, vec!["1.2.".into(), u.clone()]);
    sat("a version", &[version, starts, len(&u).ge(8).unwrap()]);
    let twice = app(Op::Concat, vec![s.clone(), s.clone()]);
    let even = [u.equals(&twice).unwrap(), len(&u).equals(7).unwrap()];
    unsat("twice is even", &even);
}

/// Queries that are given up, or take long: cubes, quotients within quotients, arrays put together.
fn hard() -> Vec<Vec<Term>> {
    let [x, y, z] = ints();
    let cube = |v: &Term| v.times(v).unwrap().times(v).unwrap();
    let cubes = cube(&x).plus(cube(&y)).unwrap().plus(cube(&z)).unwrap();
    let large = |v: &Term| v.gt(1_000).unwrap();
    let mut left = x.clone();
    let mut steps = Vec::new();
    for n in 1..8 {
        left = left.div(&y).unwrap().times(n + 1).unwrap();
        steps.push(left.ge(3 * n).unwrap());
        steps.push(left.le(&z).unwrap());
    }
    vec![
        vec![cubes.equals(33).unwrap(), large(&x)],
        vec![cubes.equals(42).unwrap(), large(&x), large(&y)],
        steps,
        QueryKind::Array.query(43),
        QueryKind::Array.query(273),
        QueryKind::Text.query(26),
    ]
}

/// What a query costs is counted in steps, so that its answer does not depend on the clock: asked twice
/// it ends with the same answer after the same steps, and never because time had passed.
#[test]
fn what_is_too_hard_is_given_up_after_counted_steps() {
    for (n, query) in hard().iter().enumerate() {
        let ask = |time: Duration| {
            let mut solver = Solver::embedded();
            solver.set_limits(Limits::new(time, 1_024));
            for t in query {
                solver.assert(t);
            }
            let begin = cpu_time();
            let answer = solver.check();
            let took = cpu_time().saturating_sub(begin);
            let work = solver.stats().work;
            eprintln!("{n}: {answer:?}, {work} steps in {took:?}");
            assert!(work < 2_000_000, "query {n}: {work} steps");
            (answer, work)
        };
        let first = ask(Duration::from_secs(60));
        assert_ne!(first.0, Answer::unknown("deadline passed"), "query {n}");
        // A second stands for all steps; more time is not more of them.
        assert_eq!(ask(Duration::from_secs(3_600)), first, "query {n}");
        // A part of the time is a part of the steps.
        let (answer, work) = ask(Duration::from_millis(50));
        assert_ne!(answer, Answer::unknown("deadline passed"), "query {n}");
        assert!(work <= first.1.max(200_000), "query {n}: {work}");
        assert_eq!(ask(Duration::from_millis(50)), (answer, work), "query {n}");
    }
}

/// Shared arrays are read once at an index, not once on each way to them.
#[test]
fn arrays_that_double_are_no_matter_of_powers() {
    let sort = Sort::Array(Sort::Int.into());
    let [x, ..] = ints();
    let a = variable(0, "a", sort);
    let doubled = (0..10).fold(a.clone(), |whole, _| {
        app(Op::Append, vec![whole.clone(), whole])
    });
    let item = app(Op::Select, vec![doubled, x.clone()]);
    let answer = decide(
        "doubled ten times",
        &[item.equals(5).unwrap(), x.gt(2).unwrap()],
    );
    assert_ne!(answer, Answer::Unsat);
}

/// The documented limit of operators in one expression is one that holds.
#[test]
fn a_thousand_operators_are_one_expression() {
    let [x, y, _] = ints();
    let chain = |op: &dyn Fn(usize) -> Op, operand: &Term, first: Term| {
        (0..1_000).fold(first, |sum, i| app(op(i), vec![sum, operand.clone()]))
    };
    let sum = chain(&|_| Op::Add, &x, y.clone());
    sat(
        "a long sum",
        &[sum.equals(1_000_007).unwrap(), y.equals(7).unwrap()],
    );
    let difference = chain(&|_| Op::Sub, &x, y.clone());
    let env = std::collections::BTreeMap::from([
        (x.as_var().unwrap().id, 2.into()),
        (y.as_var().unwrap().id, 5.into()),
    ]);
    assert_eq!(difference.eval(&env).unwrap(), (5 - 2_000).into());
    let mixed = chain(
        &|i| if i % 3 == 0 { Op::Sub } else { Op::Add },
        &x,
        y.clone(),
    );
    assert_eq!(mixed.eval(&env).unwrap(), (5 - 2 * 334 + 2 * 666).into());
    unsat(
        "a long difference",
        &[
            difference.equals(1).unwrap(),
            x.equals(1).unwrap(),
            y.equals(1000).unwrap(),
        ],
    );
    let either = (0..1_000).fold(x.equals(-1).unwrap(), |any, i| {
        app(Op::Or, vec![any, x.equals(2 * i).unwrap()])
    });
    sat("a long choice", &[either.clone(), x.gt(1_500).unwrap()]);
    unsat(
        "none of them",
        &[
            either,
            x.modulo(2).unwrap().equals(1).unwrap(),
            x.gt(0).unwrap(),
        ],
    );
}
