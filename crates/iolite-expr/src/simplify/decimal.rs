//! Decimals: whatever can be is said in units.

use crate::term::{Kind, Op};
use crate::{Sort, Term, Value};

pub(super) fn units(term: &Term, args: Vec<Term>) -> Term {
    match args[0].kind() {
        Kind::App(Op::Decimal, inner) => inner[0].clone(),
        Kind::App(Op::Ite, parts) => {
            let (a, b) = (units_of(&parts[1]), units_of(&parts[2]));
            let ite = Term::int_app(Op::Ite, vec![parts[0].clone(), a.clone(), b.clone()]);
            super::equality::ite(&ite, vec![parts[0].clone(), a, b])
        }
        _ => term.with_args(args),
    }
}

/// The units of a simplified decimal.
pub(super) fn units_of(decimal: &Term) -> Term {
    if let Some(n) = decimal.as_value().and_then(Value::units) {
        return n.clone().into();
    }
    let whole = Term::int_app(Op::Units, vec![decimal.clone()]);
    units(&whole, vec![decimal.clone()])
}

pub(super) fn of_units(term: &Term, args: Vec<Term>) -> Term {
    match args[0].kind() {
        Kind::App(Op::Units, inner) if inner[0].sort() == term.sort() => inner[0].clone(),
        Kind::Lit(Value::Int(n)) => match term.sort() {
            Sort::Decimal(scale) => {
                let value = Value::Decimal(n.clone(), *scale);
                Term::value_of_sort(value, term.sort().clone())
            }
            _ => term.with_args(args),
        },
        _ => term.with_args(args),
    }
}
