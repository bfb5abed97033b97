//! Sums, calls of functions and quantifiers over arrays.

use super::conjunction::conjunction;
use super::equality::equality;
use super::negate;
use super::sequence::array_items;
use crate::term::{Kind, Op};
use crate::{Callee, Sort, SumSort, Term, Value, Var};

/// The variant that a sum is known to be of.
fn known_variant(sum: &Term) -> Option<u32> {
    match (sum.kind(), sum.sort()) {
        (Kind::App(Op::Construct(variant), _), _) => Some(*variant),
        (Kind::Lit(Value::Sum(s)), _) => Some(s.variant()),
        (_, Sort::Sum(s)) if s.variants().len() == 1 => Some(0),
        _ => None,
    }
}

pub(super) fn is_variant(term: &Term, variant: u32, args: Vec<Term>) -> Term {
    if let Some(known) = known_variant(&args[0]) {
        return (known == variant).into();
    }
    // Of two variants one is enough to speak of.
    if variant == 1
        && let Sort::Sum(sum) = args[0].sort()
        && sum.variants().len() == 2
    {
        let other = Term::bool_app(Op::Is(0), args.clone());
        return negate(&is_variant(&other, 0, args));
    }
    if let Kind::App(Op::Ite, branches) = args[0].kind()
        && (known_variant(&branches[1]).is_some() || known_variant(&branches[2]).is_some())
    {
        let branch = |b: &Term| is_variant(term, variant, vec![b.clone()]);
        let parts = vec![
            branches[0].clone(),
            branch(&branches[1]),
            branch(&branches[2]),
        ];
        let ite = Term::bool_app(Op::Ite, parts.clone());
        return super::equality::ite(&ite, parts);
    }
    term.with_args(args)
}

/// A field of a sum, where the sum has it.
pub(super) fn get(term: &Term, variant: u32, field: u32, args: Vec<Term>) -> Term {
    match args[0].kind() {
        Kind::App(Op::Construct(v), fields) if *v == variant => fields[field as usize].clone(),
        Kind::Lit(Value::Sum(s)) if s.variant() == variant => {
            Term::value_of_sort(s.fields()[field as usize].clone(), term.sort().clone())
        }
        // The branch that has the field: where the other one is taken, the original faults.
        Kind::App(Op::Ite, branches) => {
            match (known_variant(&branches[1]), known_variant(&branches[2])) {
                (Some(v), Some(w)) if v == variant && w != variant => {
                    get(term, variant, field, vec![branches[1].clone()])
                }
                (Some(v), Some(w)) if v != variant && w == variant => {
                    get(term, variant, field, vec![branches[2].clone()])
                }
                _ => term.with_args(args),
            }
        }
        _ => term.with_args(args),
    }
}

fn fields(sum: &Term, sort: &SumSort) -> Option<(u32, Vec<Term>)> {
    match sum.kind() {
        Kind::App(Op::Construct(variant), fields) => Some((*variant, fields.to_vec())),
        Kind::Lit(Value::Sum(s)) => {
            let sorts = sort.field_sorts(s.variant());
            let fields = s.fields().iter().zip(sorts);
            let fields = fields.map(|(v, sort)| Term::value_of_sort(v.clone(), sort));
            Some((s.variant(), fields.collect()))
        }
        _ => None,
    }
}

/// `a == b` for sums, where something is known of them.
pub(super) fn sum_equality(a: &Term, b: &Term, sort: &SumSort) -> Option<Term> {
    match (fields(a, sort), fields(b, sort)) {
        (Some((v, _)), Some((w, _))) if v != w => Some(false.into()),
        (Some((_, x)), Some((_, y))) => Some(conjunction(
            x.iter().zip(&y).map(|(a, b)| equality(a, b)).collect(),
        )),
        (Some((v, known)), None) if known.is_empty() => Some(b.is_variant(v)),
        (None, Some((v, known))) if known.is_empty() => Some(a.is_variant(v)),
        _ => None,
    }
}

/// How much is known of the arguments that a function may go down along; `None` for nothing.
pub(super) fn known_size(args: &[Term]) -> Option<u64> {
    let sizes = args.iter().filter_map(known_part);
    sizes.fold(None, |sum, n| Some(sum.unwrap_or(0) + n))
}

fn known_part(arg: &Term) -> Option<u64> {
    match arg.kind() {
        Kind::Lit(Value::Sum(s)) => Some(u64::from(s.depth())),
        Kind::App(Op::Construct(_), fields) => {
            Some(1 + fields.iter().filter_map(known_part).max().unwrap_or(0))
        }
        Kind::Lit(Value::Array(items)) => Some(items.len() as u64),
        Kind::App(Op::Array, items) => Some(items.len() as u64),
        _ => None,
    }
}

/// What a call that is being unfolded is within.
#[derive(Default)]
pub(super) struct Calls {
    /// The functions, and how much was known of the arguments.
    within: Vec<(Callee, u64)>,
    /// Unfoldings so far.
    unfolded: u32,
}

/// Unfoldings of one simplification, and how deep they nest.
const MAX_UNFOLDED: u32 = 4_096;
const MAX_WITHIN: usize = 1_024;

impl Calls {
    /// Whether to unfold a call: something is known of its arguments, and less than in the call of
    /// the same function that it is within. Notes that it is unfolded.
    pub(super) fn enter(&mut self, callee: &Callee, args: &[Term]) -> bool {
        let Some(size) = known_size(args) else {
            return false;
        };
        let outer = self.within.iter().rev().find(|(c, _)| c == callee);
        if outer.is_some_and(|(_, before)| size >= *before)
            || self.unfolded >= MAX_UNFOLDED
            || self.within.len() >= MAX_WITHIN
        {
            return false;
        }
        self.unfolded += 1;
        self.within.push((callee.clone(), size));
        true
    }

    pub(super) fn leave(&mut self) {
        self.within.pop();
    }

    /// Whether the stack has been used for so many calls that another one is wanted.
    pub(super) fn is_deep(&self) -> bool {
        self.within.len().is_multiple_of(16)
    }
}

/// A quantifier over an array or a set whose elements are known, as a conjunction or disjunction of what is
/// not simplified yet.
pub(super) fn quantifier(op: &Op, x: &Var, array: &Term, body: &Term) -> Option<Term> {
    let all = matches!(op, Op::ForAll(_));
    if body.as_value().and_then(Value::as_bool) == Some(all) {
        return Some(all.into());
    }
    if let Kind::App(Op::Append, parts) = array.kind() {
        let whole = |a: &Term| Term::bool_app(op.clone(), vec![a.clone(), body.clone()]);
        let parts = parts.iter().map(whole);
        return Some(if all {
            Term::all(parts)
        } else {
            Term::any(parts)
        });
    }
    if let Some(t) = super::collection::quantifier(op, x, array, body) {
        return Some(t);
    }
    let parts = array_items(array)
        .or_else(|| super::collection::set_items(array))?
        .into_iter()
        .map(|item| body.substitute(&[(x.id, item)].into_iter().collect()).ok())
        .collect::<Option<Vec<_>>>()?;
    let result = if all {
        Term::all(parts)
    } else {
        Term::any(parts)
    };
    result.bounded().ok()
}

/// The negation of a quantifier over an array.
pub(super) fn negated_quantifier(op: &Op, args: &[Term]) -> Term {
    let dual = match op {
        Op::ForAll(x) => Op::ForSome(x.clone()),
        Op::ForSome(x) => Op::ForAll(x.clone()),
        _ => return Term::bool_app(op.clone(), args.to_vec()).negated(),
    };
    Term::bool_app(dual, vec![args[0].clone(), negate(&args[1])])
}
