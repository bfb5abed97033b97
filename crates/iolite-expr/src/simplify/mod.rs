//! Simplification: constant folding, Boolean and linear normal forms, interval reasoning.
//!
//! `t.simplify()` has the value of `t` wherever `t` has one, and does not fault there. It may
//! have a value where `t` faults (`0 * (1 / x)` is 0): whoever needs the places where the
//! original is defined keeps [`Term::defined`] beside it.

mod collection;
mod conjunction;
mod decimal;
mod equality;
mod linear_form;
mod relation;
mod sequence;
mod sum;

use rustc_hash::FxHashMap;

use self::conjunction::{conjunction, disjunction};
use self::equality::{equality, ite};
pub(crate) use self::linear_form::{from_linear, linear};
use self::relation::{at_most, integer_relation};
use self::sequence::{append, concat, field, len, select, str_len};
use self::sum::Calls;
use crate::eval::fold;
use crate::interval::Interval;
use crate::own_stack::on_own_stack;
use crate::term::{Kind, Op};
use crate::{Int, Sort, Term, Value};

impl Term {
    /// An equivalent term, simpler for solvers and for people.
    #[must_use]
    pub fn simplify(&self) -> Self {
        Simplifier::default().simplify(self)
    }
}

#[derive(Default)]
struct Simplifier {
    /// Keyed by address; the original is kept so that the address stays taken.
    memo: FxHashMap<usize, (Term, Term)>,
    /// The calls that are being unfolded.
    calls: Calls,
}

impl Simplifier {
    fn simplify(&mut self, term: &Term) -> Term {
        let Kind::App(op, args) = term.kind() else {
            return term.clone();
        };
        if let Some((_, done)) = self.memo.get(&term.key()) {
            return done.clone();
        }
        let result = if term.unfolds() {
            self.unfolding(term, op, args)
        } else {
            let args: Vec<Term> = args.iter().map(|a| self.simplify(a)).collect();
            rewrite(term, op, args)
        };
        self.memo.insert(term.key(), (term.clone(), result.clone()));
        result
    }
}

impl Simplifier {
    /// A term with calls or quantifiers over arrays in it: no further than evaluation would go.
    fn unfolding(&mut self, term: &Term, op: &Op, args: &[Term]) -> Term {
        match op {
            Op::Ite => {
                let c = self.simplify(&args[0]);
                if let Some(known) = c.as_value().and_then(Value::as_bool) {
                    return self.simplify(&args[if known { 1 } else { 2 }]);
                }
                let (a, b) = (self.simplify(&args[1]), self.simplify(&args[2]));
                rewrite(term, op, vec![c, a, b])
            }
            Op::And | Op::Or => {
                let ends = *op == Op::Or;
                let mut parts = Vec::with_capacity(args.len());
                for a in args {
                    let part = self.simplify(a);
                    let decided = part.as_value().and_then(Value::as_bool) == Some(ends);
                    parts.push(part);
                    if decided {
                        break;
                    }
                }
                rewrite(term, op, parts)
            }
            Op::Call(callee) => {
                let args: Vec<Term> = args.iter().map(|a| self.simplify(a)).collect();
                let call = rewrite(term, op, args.clone());
                if call.as_value().is_some() || !self.calls.enter(callee, &args) {
                    return call;
                }
                let unfolded = match callee.unfolded(&args) {
                    Some(Ok(t)) if self.calls.is_deep() => on_own_stack(|| self.simplify(&t)),
                    Some(Ok(t)) => Some(self.simplify(&t)),
                    _ => None,
                };
                self.calls.leave();
                // It is better only where nothing is left to be called.
                match unfolded.map(Term::bounded) {
                    Some(Ok(t)) if !t.unfolds() => t,
                    _ => call,
                }
            }
            Op::ForAll(x) | Op::ForSome(x) => {
                let (array, body) = (self.simplify(&args[0]), self.simplify(&args[1]));
                match sum::quantifier(op, x, &array, &body) {
                    Some(t) => self.simplify(&t),
                    None => Term::bool_app(op.clone(), vec![array, body]),
                }
            }
            _ => {
                let args: Vec<Term> = args.iter().map(|a| self.simplify(a)).collect();
                rewrite(term, op, args)
            }
        }
    }
}

fn as_int(term: &Term) -> Option<&Int> {
    term.as_value().and_then(|v| v.as_int())
}

fn rewrite(term: &Term, op: &Op, args: Vec<Term>) -> Term {
    if args.iter().all(|a| a.as_value().is_some())
        && !matches!(op, Op::Exists(_))
        && let Some(value) = fold(&term.with_args(args.clone()))
    {
        return Term::value_of_sort(value, term.sort().clone());
    }
    match op {
        Op::Not => negate(&args[0]),
        Op::And => conjunction(args),
        Op::Or => disjunction(&args),
        Op::Implies => disjunction(&[negate(&args[0]), args[1].clone()]),
        Op::Ite => ite(term, args),
        Op::Eq => equality(&args[0], &args[1]),
        Op::Ne => negate(&equality(&args[0], &args[1])),
        Op::Lt => at_most(&linear(&args[0]).minus(&linear(&args[1])), &Int::from(-1)),
        Op::Le => at_most(&linear(&args[0]).minus(&linear(&args[1])), &Int::ZERO),
        Op::Gt => at_most(&linear(&args[1]).minus(&linear(&args[0])), &Int::from(-1)),
        Op::Ge => at_most(&linear(&args[1]).minus(&linear(&args[0])), &Int::ZERO),
        Op::Neg | Op::Add | Op::Sub | Op::Mul => from_linear(&linear(&term.with_args(args))),
        Op::Div if as_int(&args[1]).is_some_and(Int::is_one) => args[0].clone(),
        Op::Mod if modulo_is_identity(&args) => args[0].clone(),
        Op::Abs if Interval::of(&args[0]).lo.is_some_and(|lo| lo.signum() >= 0) => args[0].clone(),
        Op::Narrow => match term.sort() {
            Sort::Range(r) if Interval::of(&args[0]).within(&r.lo, &r.hi) => args[0].clone(),
            _ => term.with_args(args),
        },
        Op::Concat => concat(&args),
        Op::StrLen => str_len(&args[0]),
        Op::Prefix | Op::Suffix if args[0].as_value().and_then(Value::as_str) == Some("") => {
            true.into()
        }
        Op::Prefix | Op::Suffix | Op::Contains if args[0] == args[1] => true.into(),
        Op::Select => select(term, args),
        Op::Len if !matches!(args[0].sort(), Sort::Array(_)) => collection::len(term, args),
        Op::Len => len(args),
        Op::Units => decimal::units(term, args),
        Op::Decimal => decimal::of_units(term, args),
        Op::Has => collection::has(&args[0], &args[1]).unwrap_or_else(|| term.with_args(args)),
        Op::Lookup => collection::lookup(term, args),
        Op::Keys => collection::keys(term, args),
        Op::Union | Op::Intersection | Op::Difference => collection::combined(term, op, args),
        Op::Append => append(term, args),
        Op::Field(i) => field(term, *i, args),
        Op::Is(variant) => sum::is_variant(term, *variant, args),
        Op::Get(variant, i) => sum::get(term, *variant, *i, args),
        Op::Update(i) => match args[0].kind() {
            Kind::App(Op::Record, items) => {
                let mut items = items.to_vec();
                items[*i as usize] = args[1].clone();
                Term::app(Op::Record, items, term.sort().clone(), term.span())
            }
            _ => term.with_args(args),
        },
        Op::Exists(vars) => {
            let free = args[0].free_vars();
            let needed: Vec<_> = vars.iter().filter(|v| free.contains(v)).cloned().collect();
            Term::exists(needed, args[0].clone())
        }
        _ => term.with_args(args),
    }
}

fn modulo_is_identity(args: &[Term]) -> bool {
    as_int(&args[1]).is_some_and(|n| {
        !n.is_zero() && Interval::of(&args[0]).within(&Int::ZERO, &(n.abs() - Int::ONE))
    })
}

/// The negation, pushed inwards to the atoms.
pub(crate) fn negate(term: &Term) -> Term {
    match term.kind() {
        Kind::App(op, args) => {
            let flipped = |op| Term::bool_app(op, args.to_vec());
            match op {
                Op::Not => args[0].clone(),
                // The dual of a normal form is one; normalising again would cost 3^depth.
                Op::And => Term::any(args.iter().map(negate)),
                Op::Or => Term::all(args.iter().map(negate)),
                Op::Implies => Term::all([args[0].clone(), negate(&args[1])]),
                Op::Eq if args[0].sort().is_int() => {
                    match integer_relation(term) {
                        // Keeps `!=` in the same normal form as everything else.
                        Some(r) => r.negated().emit(),
                        None => flipped(Op::Ne),
                    }
                }
                Op::Eq => flipped(Op::Ne),
                Op::Ne => flipped(Op::Eq),
                Op::Lt | Op::Le | Op::Gt | Op::Ge => match integer_relation(term) {
                    Some(r) => r.negated().emit(),
                    None => term.negated(),
                },
                Op::Ite => Term::bool_app(
                    Op::Ite,
                    vec![args[0].clone(), negate(&args[1]), negate(&args[2])],
                ),
                Op::ForAll(_) | Op::ForSome(_) => sum::negated_quantifier(op, args),
                _ => term.negated(),
            }
        }
        _ => term.negated(),
    }
}
