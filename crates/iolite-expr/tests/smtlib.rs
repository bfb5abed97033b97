//! The process backend. The embedded solver is compared with it in `differential.rs`.
#![allow(missing_docs)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use iolite_expr::{Answer, Backend, Limits, Op, Smtlib, Solver, Sort, Span, Term, Var, VarId};

fn solver_path() -> Option<PathBuf> {
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/z3/bin/z3");
    let found = Smtlib::find(None).or_else(|| Some(PathBuf::from(bundled)).filter(|p| p.is_file()));
    if found.is_none() {
        println!("skipped: no SMT-LIB solver (set IOLITE_SOLVER, or put z3 on the PATH)");
    }
    found
}

fn process() -> Option<Solver> {
    Some(Solver::new(Box::new(
        Smtlib::new(&solver_path()?).expect("the solver runs"),
    )))
}

#[test]
fn records_enums_and_array_operations() {
    let Some(mut z3) = process() else { return };
    let colour = Sort::enumeration("Colour", &["red", "green"]).unwrap();
    let pair = Sort::record("Pair", vec![("c".into(), colour), ("n".into(), Sort::Int)]).unwrap();
    let list = Sort::array(pair).unwrap();
    let a = Var::new(VarId::new(0, 0), "a", list.clone()).term();
    let b = Var::new(VarId::new(0, 1), "b", list).term();
    let both = Term::apply(Op::Append, vec![a.clone(), b.clone()], Span::NONE).unwrap();
    let tail = Term::apply(
        Op::Slice,
        vec![both.clone(), 1.into(), 3.into()],
        Span::NONE,
    )
    .unwrap();
    let last = Term::field(tail.select(1).unwrap(), "n", Span::NONE).unwrap();
    let len = |t: &Term| Term::apply(Op::Len, vec![t.clone()], Span::NONE).unwrap();
    let query = [
        last.equals(42).unwrap(),
        len(&a).equals(2).unwrap(),
        a.differs(&b).unwrap(),
    ];
    let mut embedded = Solver::embedded();
    for solver in [&mut z3, &mut embedded] {
        for t in &query {
            solver.assert(t);
        }
        assert!(
            matches!(solver.check(), Answer::Sat(_)),
            "{}: {:?}",
            solver.name(),
            solver.check()
        );
        solver.push();
        solver.assert(&len(&b).equals(0).unwrap());
        assert_eq!(solver.check(), Answer::Unsat);
        solver.pop();
        assert!(matches!(solver.check(), Answer::Sat(_)));
    }
}

#[test]
fn a_solver_that_hangs_is_killed_and_replayed() {
    let Some(path) = solver_path() else { return };
    let mut backend = Smtlib::new(&path).unwrap();
    assert!(!backend.version().is_empty());
    let v: Vec<Var> = (0..4)
        .map(|i| Var::new(VarId::new(0, i), &format!("x{i}"), Sort::Int))
        .collect();
    let cube = |v: &Var| v.term().times(v).unwrap().times(v).unwrap();
    // x³ + y³ + z³ = 114: nobody knows.
    let sum = cube(&v[0])
        .plus(cube(&v[1]))
        .unwrap()
        .plus(cube(&v[2]))
        .unwrap();
    let hard = sum.equals(114).unwrap();
    let easy = v[3].term().gt(5).unwrap();
    let limits = Limits::new(Duration::from_millis(400), 512);
    let started = Instant::now();
    let answer = backend.check(&[easy.clone(), hard], &v, &limits);
    assert!(matches!(answer, Answer::Unknown(_)), "{answer:?}");
    assert!(started.elapsed() < Duration::from_secs(3));
    let answer = backend.check(std::slice::from_ref(&easy), &v[3..], &limits);
    assert!(matches!(answer, Answer::Sat(_)), "{answer:?}");
    assert_eq!(backend.restarts(), 1);
}

#[test]
fn a_solver_without_memory_gives_unknown_and_the_next_one_works() {
    let Some(path) = solver_path() else { return };
    let mut backend = Smtlib::new(&path).expect("the solver runs");
    let s: Vec<Var> = (0..2)
        .map(|i| Var::new(VarId::new(0, i), &format!("s{i}"), Sort::String))
        .collect();
    let length = |v: &Var| Term::apply(Op::StrLen, vec![v.term()], Span::NONE).unwrap();
    let joined = Term::apply(Op::Concat, vec![s[0].term(), s[1].term()], Span::NONE).unwrap();
    let hard = Term::all([
        Term::matches(joined, "(ab|ba|aab){200,900}", Span::NONE).unwrap(),
        length(&s[0])
            .equals(length(&s[1]).times(7).unwrap())
            .unwrap(),
        length(&s[1]).gt(900).unwrap(),
    ]);
    let tight = Limits::new(Duration::from_secs(20), 1);
    let answer = backend.check(&[hard], &s, &tight);
    assert!(matches!(answer, Answer::Unknown(_)), "{answer:?}");
    let easy = length(&s[0]).equals(3).unwrap();
    let answer = backend.check(&[easy], &s[..1], &Limits::default());
    assert!(matches!(answer, Answer::Sat(_)), "{answer:?}");
}

#[test]
fn a_program_that_is_no_solver_gives_unknown() {
    let x = Var::new(VarId::new(0, 0), "x", Sort::Int);
    let query = [x.term().gt(1).unwrap()];
    for program in ["/bin/true", "/bin/cat", "/bin/false"] {
        let Ok(mut backend) = Smtlib::new(program.as_ref()) else {
            continue;
        };
        let limits = Limits::new(Duration::from_millis(200), 64);
        let answer = backend.check(&query, std::slice::from_ref(&x), &limits);
        assert!(
            matches!(answer, Answer::Unknown(_)),
            "{program}: {answer:?}"
        );
    }
    assert!(Smtlib::new("/does/not/exist".as_ref()).is_err());
}

#[test]
fn quantifiers_are_eliminated_by_tactics() {
    let Some(path) = solver_path() else { return };
    let mut z3 = Smtlib::new(&path).expect("the solver runs");
    let limits = Limits::default();
    let int = |i: usize| Var::new(VarId::new(0, i), &format!("x{i}"), Sort::Int);
    let (x, n, r) = (int(0), int(1), int(2));
    let bound = std::slice::from_ref(&x);
    // ∃ x: x mod 5 == r, 3·x > n, 7·x < 2·n
    let body = Term::all([
        x.term().modulo(5).unwrap().equals(&r).unwrap(),
        x.term().times(3).unwrap().gt(&n).unwrap(),
        x.term()
            .times(7)
            .unwrap()
            .lt(n.term().times(2).unwrap())
            .unwrap(),
    ]);
    let result = z3.eliminate(bound, &body, &limits).expect("eliminated");
    for at in -130..30i64 {
        for rest in -1..6i64 {
            let holds =
                (-200..200i64).any(|x| x.rem_euclid(5) == rest && 3 * x > at && 7 * x < 2 * at);
            let env = std::collections::BTreeMap::from([(n.id, at.into()), (r.id, rest.into())]);
            assert_eq!(result.eval_bool(&env), Ok(holds), "{at} {rest}: {result}");
        }
    }
    // The process goes on as before.
    let mut solver = Solver::new(Box::new(z3));
    solver.assert(&n.term().gt(3).unwrap());
    assert!(matches!(solver.check(), Answer::Sat(_)));
    let square = x.term().times(x.term()).unwrap().equals(&n).unwrap();
    assert_eq!(solver.eliminate(bound, &square), None);
    assert!(matches!(solver.check(), Answer::Sat(_)));
}
