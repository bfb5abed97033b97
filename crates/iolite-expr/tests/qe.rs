//! Quantifier elimination against trying all values.
#![allow(missing_docs)]

mod support;

use iolite_expr::{Answer, Op, Solver, Sort, Span, Term, Value, Var, VarId, qe};
use support::{Gen, cases, small_sorts, valuations};

/// Compares with all values of the bound variables; how many bodies were eliminated.
fn agrees_with_enumeration(seeds: u64, body_of: impl Fn(&mut Gen) -> Term) -> u64 {
    let mut eliminated = 0;
    for seed in 0..seeds {
        let mut g = Gen::new(seed, &small_sorts());
        let body = body_of(&mut g);
        let (bound, free) = (g.vars[..2].to_vec(), g.vars[2..].to_vec());
        let Some(result) = qe::eliminate(&bound, &body) else {
            continue;
        };
        eliminated += 1;
        assert!(
            result.free_vars().iter().all(|v| free.contains(v)),
            "{body}: {result}"
        );
        for env in valuations(&free) {
            let mut expected = Some(false);
            for inner in valuations(&bound) {
                let mut all = env.clone();
                all.extend(inner);
                match body.eval_bool(&all) {
                    Ok(b) => expected = expected.map(|e| e || b),
                    // Elimination promises nothing where the body faults.
                    Err(_) => expected = None,
                }
            }
            if let Some(expected) = expected {
                assert_eq!(
                    result.eval_bool(&env),
                    Ok(expected),
                    "seed {seed}: {body}: {result}"
                );
            }
        }
    }
    eliminated
}

#[test]
fn elimination_agrees_with_enumeration() {
    let seeds = cases(400);
    let eliminated = agrees_with_enumeration(seeds, |g| g.boolean(3));
    assert!(eliminated * 10 >= seeds * 7, "{eliminated} of {seeds}");
}

/// Divisors and indices that some values of the bound variables make faulty, guarded: the result
/// must not fault where the body does not, in whatever order elimination takes it apart.
#[test]
fn guarded_faults_stay_guarded() {
    let seeds = cases(600);
    let eliminated = agrees_with_enumeration(seeds, |g| {
        g.nonlinear = true;
        g.constants = 2;
        let body = g.boolean(4);
        Term::all([body.defined(), body])
    });
    assert!(eliminated * 4 >= seeds, "{eliminated} of {seeds}");
}

fn var(i: usize, name: &str, sort: Sort) -> Var {
    Var::new(VarId::new(0, i), name, sort)
}

#[test]
fn guards_of_outputs() {
    let f = var(0, "f", Sort::array(Sort::Int).unwrap());
    let head = var(1, "head", Sort::Int);
    let bit = var(2, "bit", Sort::Bool);
    let (m, b) = (var(3, "m", Sort::Int), var(4, "b", Sort::Bool));
    let guard = Term::all([
        m.term().equals(f.term().select(&head).unwrap()).unwrap(),
        b.term().equals(&bit).unwrap(),
    ]);
    assert_eq!(qe::eliminate(&[m.clone(), b], &guard), Some(true.into()));
    let x = head.term();
    let between = Term::all([
        m.term().times(3).unwrap().gt(&x).unwrap(),
        m.term().times(2).unwrap().lt(&x).unwrap(),
    ]);
    let result = qe::eliminate(std::slice::from_ref(&m), &between).unwrap();
    for n in -40..40i64 {
        let env = std::collections::BTreeMap::from([(head.id, Value::from(n))]);
        let expected = (-100..100).any(|m| 3 * m > n && 2 * m < n);
        assert_eq!(result.eval_bool(&env), Ok(expected), "{n}: {result}");
    }
    let s = var(5, "s", Sort::String);
    let matches = Term::matches(s.term(), "[a-z]+", Span::NONE).unwrap();
    assert_eq!(
        qe::eliminate(std::slice::from_ref(&s), &matches),
        Some(true.into())
    );
    // Unbounded with holes.
    let holes = Term::all([m.term().differs(&x).unwrap(), m.term().gt(&x).unwrap()]);
    assert_eq!(
        qe::eliminate(std::slice::from_ref(&m), &holes),
        Some(true.into())
    );
}

/// Whether a square equation has a root is beyond elimination; without other variables a search decides it.
#[test]
fn quantifiers_without_free_variables_are_decided() {
    let v = Var::new(VarId::new(1, 0), "v", Sort::Int);
    let of = |op: Op, a: Term, b: Term| Term::apply(op, vec![a, b], Span::NONE).unwrap();
    let (mut decided, mut asked) = (0, 0);
    for a in -2..=2_i64 {
        for b in -3..=12_i64 {
            let square = of(Op::Mul, v.term(), v.term());
            let sum = of(Op::Add, square, of(Op::Mul, v.term(), a.into()));
            let body = of(Op::Eq, sum, b.into());
            let root = (-50..=50).any(|v: i64| v * v + a * v == b);
            let none = Term::exists(vec![v.clone()], body).negated();
            asked += 1;
            match Solver::embedded().check_with(&none) {
                Answer::Sat(_) => assert!(!root, "v * v + {a} * v == {b} has a root"),
                Answer::Unsat => assert!(root, "v * v + {a} * v == {b} has none"),
                Answer::Unknown(_) => continue,
            }
            decided += 1;
        }
    }
    assert!(decided * 10 >= asked * 9, "{decided} of {asked}");
}
