//! Integer terms as linear combinations and back.

use crate::linear::Linear;
use crate::term::{Kind, Op};
use crate::{Int, Term, Value};

/// The linear combination that an integer term is, over its non-linear parts.
pub(crate) fn linear(term: &Term) -> Linear<Term> {
    match term.kind() {
        Kind::Lit(Value::Int(n)) => Linear::constant(n.clone()),
        Kind::App(op, args) => match op {
            Op::Add => {
                let mut sum = Linear::constant(Int::ZERO);
                for a in args {
                    sum.add_scaled(&linear(a), &Int::ONE);
                }
                sum
            }
            Op::Sub => linear(&args[0]).minus(&linear(&args[1])),
            Op::Neg => linear(&args[0]).scaled(&Int::from(-1)),
            Op::Mul => product(args),
            _ => Linear::atom(term.clone()),
        },
        _ => Linear::atom(term.clone()),
    }
}

pub(super) fn product(args: &[Term]) -> Linear<Term> {
    let mut factor = Int::ONE;
    let mut rest: Vec<Linear<Term>> = Vec::new();
    for a in args {
        let l = linear(a);
        match l.as_constant() {
            Some(n) => factor = &factor * n,
            None => rest.push(l),
        }
    }
    if factor.is_zero() || rest.is_empty() {
        return Linear::constant(factor);
    }
    if rest.len() == 1 {
        return rest[0].scaled(&factor);
    }
    let mut factors: Vec<Term> = Vec::new();
    for l in &rest {
        match from_linear(l).kind() {
            Kind::App(Op::Mul, inner) => factors.extend(inner.iter().cloned()),
            _ => factors.push(from_linear(l)),
        }
    }
    factors.sort();
    Linear::atom(Term::int_app(Op::Mul, factors)).scaled(&factor)
}

/// The term of a linear combination.
pub(crate) fn from_linear(l: &Linear<Term>) -> Term {
    if let Some(n) = l.as_constant() {
        return n.clone().into();
    }
    let mut parts: Vec<Term> = Vec::new();
    for (k, a) in &l.terms {
        parts.push(if a.is_one() {
            k.clone()
        } else if *a == -1 {
            Term::int_app(Op::Neg, vec![k.clone()])
        } else {
            Term::int_app(Op::Mul, vec![a.clone().into(), k.clone()])
        });
    }
    // A sum that starts with what is added reads better.
    parts.sort_by_key(|p| matches!(p.kind(), Kind::App(Op::Neg, _)));
    if !l.constant.is_zero() {
        parts.push(l.constant.clone().into());
    }
    if parts.len() == 1 {
        parts.remove(0)
    } else {
        Term::int_app(Op::Add, parts)
    }
}
