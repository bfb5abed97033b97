//! Conditions on one integer as intervals.
#![allow(missing_docs)]

use std::collections::BTreeMap;

use iolite_expr::{Model, Op, Solver, Sort, Span, Term, Var, VarId};
use proptest::prelude::*;

fn constant(i: usize, sort: Sort) -> Var {
    Var::new(VarId::new(0, i), ["c", "d"][i], sort)
}

fn apply(op: Op, a: Term, b: Term) -> Term {
    Term::apply(op, vec![a, b], Span::NONE).expect("integers")
}

/// A comparison in which `c` is divided, multiplied or taken by remainder.
fn atom(c: &Var, shape: usize, n: i64, m: i64, compare: usize) -> Term {
    let (c, n) = (c.term(), Term::from(n));
    let left = match shape {
        0 => apply(Op::Div, n, c),
        1 => apply(Op::Div, c, n),
        2 => apply(Op::Mod, c, n),
        3 => apply(Op::Mul, c.clone(), c),
        4 => apply(Op::Mul, c, n),
        _ => c,
    };
    let compare = [Op::Le, Op::Ge, Op::Eq, Op::Ne][compare].clone();
    apply(compare, left, m.into())
}

#[test]
fn a_quotient_is_an_interval() {
    let c = constant(0, Sort::Int);
    let quotient = atom(&c, 0, 1003, 333, 1);
    let positive = c.term().gt(0).expect("integers");
    let told = Solver::embedded().with_intervals(&Term::all([positive, quotient]));
    let expected = Term::all([c.term().ge(1).unwrap(), c.term().le(3).unwrap()]).simplify();
    assert_eq!(told, expected, "{told}");
    let only = Solver::embedded().with_intervals(&Term::all([
        atom(&c, 3, 0, 49, 2),
        c.term().gt(0).expect("integers"),
    ]));
    assert_eq!(only.to_string(), "c == 7");
}

#[test]
fn what_is_no_interval_or_reads_two_constants_stays() {
    let (c, d) = (constant(0, Sort::Int), constant(1, Sort::Int));
    let even = atom(&c, 2, 2, 0, 2);
    assert_eq!(Solver::embedded().with_intervals(&even), even.simplify());
    let both = apply(Op::Le, apply(Op::Mul, c.term(), d.term()), 5.into());
    assert_eq!(Solver::embedded().with_intervals(&both), both.simplify());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The condition and what it became hold for the same values; a fault is no solution.
    #[test]
    fn nothing_else_is_said(
        atoms in prop::collection::vec((0usize..6, -30i64..30, -30i64..30, 0usize..4), 1..4),
        narrow in any::<bool>(),
    ) {
        let sort = if narrow { Sort::range(-9, 20).expect("a range") } else { Sort::Int };
        let c = constant(0, sort);
        let parts = atoms.into_iter().map(|(shape, n, m, compare)| atom(&c, shape, n, m, compare));
        let parts: Vec<Term> = parts.collect();
        let condition = Term::all(parts.iter().map(Term::defined).chain(parts.clone()));
        let told = Solver::embedded().with_intervals(&condition);
        for value in if narrow { -9i64..21 } else { -1000..1001 } {
            let model = Model::new(BTreeMap::from([(c.id, value.into())]));
            prop_assert_eq!(
                told.eval_bool(&model) == Ok(true),
                condition.eval_bool(&model) == Ok(true),
                "{} became {}, at {}", condition, told, value
            );
        }
    }
}
