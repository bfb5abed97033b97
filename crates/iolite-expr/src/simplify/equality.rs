//! Equality and if-then-else.

use super::conjunction::{conjunction, disjunction};
use super::linear_form::linear;
use super::negate;
use super::relation::{RelationKind, decided, relation};
use super::sequence::field;
use super::sum::sum_equality;
use crate::term::{Kind, Op};
use crate::{Int, Sort, Term, Value};

pub(super) fn equality(a: &Term, b: &Term) -> Term {
    if a == b {
        return true.into();
    }
    if a.sort().is_int() {
        if let Some(t) = ite_equality(a, b).or_else(|| ite_equality(b, a)) {
            return t;
        }
        return decided(relation(
            &linear(a).minus(&linear(b)),
            RelationKind::Eq,
            &Int::ZERO,
        ));
    }
    if let Sort::Decimal(_) = a.sort() {
        return equality(&super::decimal::units_of(a), &super::decimal::units_of(b));
    }
    if *a.sort() == Sort::Bool {
        for (x, y) in [(a, b), (b, a)] {
            if x.is_true() {
                return y.clone();
            }
            if x.is_false() {
                return negate(y);
            }
        }
        if negate(a) == *b {
            return false.into();
        }
    }
    if let (Some(x), Some(y)) = (a.as_value(), b.as_value()) {
        return (x == y).into();
    }
    if let Some(t) = ite_equality(a, b).or_else(|| ite_equality(b, a)) {
        return t;
    }
    if let Sort::Sum(sort) = a.sort()
        && let Some(t) = sum_equality(a, b, sort)
    {
        return t;
    }
    if let Some(t) = super::collection::emptiness(a, b) {
        return t;
    }
    if let Sort::Record(r) = a.sort()
        && (is_record_literal(a) || is_record_literal(b))
    {
        let part = |t: &Term, i: usize| {
            let sort = r.fields[i].1.clone();
            let get = Term::app(Op::Field(i as u32), vec![t.clone()], sort, t.span());
            field(&get, i as u32, vec![t.clone()])
        };
        return conjunction(
            (0..r.fields.len())
                .map(|i| equality(&part(a, i), &part(b, i)))
                .collect(),
        );
    }
    // Literals to the right, and otherwise one order, so that equal atoms are the same.
    let (a, b) = if a.as_value().is_some() || (b.as_value().is_none() && b < a) {
        (b, a)
    } else {
        (a, b)
    };
    Term::bool_app(Op::Eq, vec![a.clone(), b.clone()])
}

pub(super) fn is_record_literal(t: &Term) -> bool {
    matches!(t.kind(), Kind::App(Op::Record, _) | Kind::Lit(_))
}

/// `(c ? 1 : 0) == 1` is `c`.
pub(super) fn ite_equality(a: &Term, b: &Term) -> Option<Term> {
    let (Kind::App(Op::Ite, x), Some(value)) = (a.kind(), b.as_value()) else {
        return None;
    };
    let (v, w) = (x[1].as_value()?, x[2].as_value()?);
    Some(match (v == value, w == value) {
        (true, true) => true.into(),
        (true, false) => x[0].clone(),
        (false, true) => negate(&x[0]),
        (false, false) => false.into(),
    })
}

pub(super) fn ite(term: &Term, args: Vec<Term>) -> Term {
    if let Some(c) = args[0].as_value().and_then(Value::as_bool) {
        return args[if c { 1 } else { 2 }].clone();
    }
    if args[1] == args[2] {
        return args[1].clone();
    }
    if *term.sort() == Sort::Bool {
        let (c, a, b) = (&args[0], &args[1], &args[2]);
        if a.is_true() {
            return disjunction(&[c.clone(), b.clone()]);
        }
        if a.is_false() {
            return conjunction(vec![negate(c), b.clone()]);
        }
        if b.is_true() {
            return disjunction(&[negate(c), a.clone()]);
        }
        if b.is_false() {
            return conjunction(vec![c.clone(), a.clone()]);
        }
    }
    term.with_args(args)
}
