//! The simplifier and the definedness condition against evaluation.
#![allow(missing_docs)]

mod support;

use iolite_expr::Fault;
use support::{Gen, cases, small_sorts, valuations};

#[test]
fn simplified_terms_have_the_same_value() {
    for seed in 0..cases(600) {
        let mut g = Gen::new(seed, &small_sorts());
        g.nonlinear = seed % 3 == 0;
        let term = g.boolean(4);
        let simple = term.simplify();
        for env in valuations(&g.vars).iter().step_by(3) {
            if let Ok(value) = term.eval_bool(env) {
                assert_eq!(
                    simple.eval_bool(env),
                    Ok(value),
                    "seed {seed}: {term}  vs  {simple}  under {env:?}"
                );
            }
        }
    }
}

#[test]
fn simplified_integers_have_the_same_value() {
    for seed in 0..cases(400) {
        let mut g = Gen::new(seed, &small_sorts());
        g.nonlinear = seed % 2 == 0;
        let term = g.int(4);
        let simple = term.simplify();
        for env in valuations(&g.vars).iter().step_by(3) {
            if let Ok(value) = term.eval(env) {
                assert_eq!(
                    simple.eval(env),
                    Ok(value),
                    "seed {seed}: {term}  vs  {simple}"
                );
            }
        }
    }
}

#[test]
fn defined_means_no_fault() {
    let mut faults = 0;
    for seed in 0..cases(400) {
        let mut g = Gen::new(seed, &small_sorts());
        g.nonlinear = true;
        let term = g.boolean(4);
        let defined = term.defined();
        for env in valuations(&g.vars).iter().step_by(5) {
            let expected = match term.eval_bool(env) {
                Ok(_) => true,
                Err(e) => {
                    assert_eq!(e.fault, Fault::DivisionByZero);
                    assert!(e.span.is_some());
                    faults += 1;
                    false
                }
            };
            assert_eq!(defined.eval_bool(env), Ok(expected), "{term}: {defined}");
            assert_eq!(
                defined.simplify().eval_bool(env),
                Ok(expected),
                "{term}: {defined}"
            );
        }
    }
    assert!(faults > 100, "the generator reaches faults");
}
