//! Sets and maps: what is asked of one that was built step by step is asked of the steps, so that plain
//! conditions are left wherever nothing but elements and keys is unknown.

use super::conjunction::{conjunction, disjunction};
use super::equality::equality;
use super::linear_form::{from_linear, linear};
use super::{as_int, negate};
use crate::term::{Kind, Op};
use crate::{Int, Sort, Term, Value, Var};

/// Most elements of a known set, and keys of a known map, that a condition is written out for.
const WRITTEN_OUT: usize = 64;

/// The elements of a set that is written down.
pub(super) fn set_items(set: &Term) -> Option<Vec<Term>> {
    match (set.kind(), set.sort()) {
        (Kind::App(Op::Set, items), _) => Some(items.to_vec()),
        (Kind::Lit(Value::Set(items)), Sort::Set(e)) => Some(
            items
                .iter()
                .map(|v| Term::value_of_sort(v.clone(), (**e).clone()))
                .collect(),
        ),
        _ => None,
    }
}

/// The pairs of a map that is written down.
fn map_pairs(map: &Term) -> Option<Vec<(Term, Term)>> {
    match (map.kind(), map.sort()) {
        (Kind::App(Op::Map, args), _) => {
            let pairs = args.chunks(2).map(|p| (p[0].clone(), p[1].clone()));
            Some(pairs.collect())
        }
        (Kind::Lit(Value::Map(pairs)), Sort::Map(m)) => {
            let literal = |v: &Value, s: &Sort| Term::value_of_sort(v.clone(), s.clone());
            let pairs = pairs.iter();
            Some(
                pairs
                    .map(|(k, v)| (literal(k, &m.0), literal(v, &m.1)))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// Whether a key is one of these integers, as few ranges.
fn among(key: &Term, items: &[Term]) -> Option<Term> {
    let mut numbers: Vec<&Int> = items.iter().map(as_int).collect::<Option<_>>()?;
    numbers.sort();
    let mut runs: Vec<(Int, Int)> = Vec::new();
    for n in numbers {
        match runs.last_mut() {
            Some((_, last)) if *n <= &*last + &Int::ONE => *last = n.clone(),
            _ => runs.push((n.clone(), n.clone())),
        }
    }
    if runs.len() > WRITTEN_OUT {
        return None;
    }
    let at_most = |a: Term, b: Term| {
        let difference = linear(&a).minus(&linear(&b));
        super::relation::at_most(&difference, &Int::ZERO)
    };
    let parts: Vec<Term> = runs
        .into_iter()
        .map(|(lo, hi)| {
            if lo == hi {
                return equality(key, &lo.into());
            }
            conjunction(vec![
                at_most(lo.into(), key.clone()),
                at_most(key.clone(), hi.into()),
            ])
        })
        .collect();
    Some(disjunction(&parts))
}

/// `key in collection`, where something is known of it.
pub(super) fn has(key: &Term, collection: &Term) -> Option<Term> {
    let inner = |of: &Term| has(key, of).unwrap_or_else(|| Term::has(key, of));
    let one_of = |items: Vec<Term>| {
        if items.is_empty() {
            return Some(false.into());
        }
        if let Some(t) = among(key, &items) {
            return Some(t);
        }
        if items.len() > WRITTEN_OUT {
            return None;
        }
        let parts: Vec<Term> = items.iter().map(|i| equality(key, i)).collect();
        Some(disjunction(&parts))
    };
    if let Some(items) = set_items(collection) {
        return one_of(items);
    }
    if let Some(pairs) = map_pairs(collection) {
        return one_of(pairs.into_iter().map(|(k, _)| k).collect());
    }
    let Kind::App(op, args) = collection.kind() else {
        return None;
    };
    Some(match op {
        Op::Insert | Op::Put => disjunction(&[equality(key, &args[1]), inner(&args[0])]),
        Op::Remove => conjunction(vec![negate(&equality(key, &args[1])), inner(&args[0])]),
        Op::Keys => inner(&args[0]),
        Op::Union => disjunction(&[inner(&args[0]), inner(&args[1])]),
        Op::Intersection => conjunction(vec![inner(&args[0]), inner(&args[1])]),
        Op::Difference => conjunction(vec![inner(&args[0]), negate(&inner(&args[1]))]),
        Op::Ite => {
            let parts = vec![args[0].clone(), inner(&args[1]), inner(&args[2])];
            let ite = Term::bool_app(Op::Ite, parts.clone());
            super::equality::ite(&ite, parts)
        }
        _ => return None,
    })
}

/// The value of a key. Where the map does not have it anything will do: whoever needs the places where
/// it is defined asks for the key.
pub(super) fn lookup(term: &Term, args: Vec<Term>) -> Term {
    let (map, key) = (&args[0], &args[1]);
    let choice = |same: Term, value: Term, rest: Term| {
        let sort = term.sort().clone();
        let parts = vec![same, value, rest];
        let ite = Term::app(Op::Ite, parts.clone(), sort, term.span());
        super::equality::ite(&ite, parts)
    };
    if let Some(pairs) = map_pairs(map)
        && pairs.len() <= WRITTEN_OUT
    {
        let mut pairs = pairs.into_iter();
        let Some((_, first)) = pairs.next() else {
            return Term::value_of_sort(term.sort().default_value(), term.sort().clone());
        };
        // Later pairs come first: of two values of one key the later one counts.
        return pairs.fold(first, |rest, (k, v)| choice(equality(key, &k), v, rest));
    }
    let Kind::App(op, parts) = map.kind() else {
        return term.with_args(args);
    };
    let inner = |of: &Term| lookup(term, vec![of.clone(), key.clone()]);
    match op {
        Op::Put => {
            let same = equality(key, &parts[1]);
            if same.is_true() {
                return parts[2].clone();
            }
            let rest = inner(&parts[0]);
            choice(same, parts[2].clone(), rest)
        }
        Op::Remove => inner(&parts[0]),
        Op::Ite => choice(parts[0].clone(), inner(&parts[1]), inner(&parts[2])),
        _ => term.with_args(args),
    }
}

pub(super) fn keys(term: &Term, args: Vec<Term>) -> Term {
    let again = |of: &Term| keys(term, vec![of.clone()]);
    let app = |op: Op, parts: Vec<Term>| Term::app(op, parts, term.sort().clone(), term.span());
    match args[0].kind() {
        Kind::App(Op::Map, pairs) => {
            let items = pairs.chunks(2).map(|p| p[0].clone()).collect();
            app(Op::Set, items)
        }
        Kind::App(Op::Put, parts) => app(Op::Insert, vec![again(&parts[0]), parts[1].clone()]),
        Kind::App(Op::Remove, parts) => app(Op::Remove, vec![again(&parts[0]), parts[1].clone()]),
        _ => term.with_args(args),
    }
}

fn is_empty(collection: &Term) -> bool {
    match collection.as_value() {
        Some(Value::Set(items)) => items.is_empty(),
        Some(Value::Map(pairs)) => pairs.is_empty(),
        _ => false,
    }
}

pub(super) fn combined(term: &Term, op: &Op, args: Vec<Term>) -> Term {
    let (left, right) = (is_empty(&args[0]), is_empty(&args[1]));
    match op {
        Op::Union if left => args[1].clone(),
        Op::Union | Op::Difference if right => args[0].clone(),
        Op::Intersection | Op::Difference if left => args[0].clone(),
        Op::Intersection if right => args[1].clone(),
        Op::Union | Op::Intersection if args[0] == args[1] => args[0].clone(),
        _ => term.with_args(args),
    }
}

/// How many elements there are.
pub(super) fn len(term: &Term, args: Vec<Term>) -> Term {
    fn go(collection: &Term) -> Term {
        let known =
            |inner: &Term, key: &Term| has(key, inner).unwrap_or_else(|| Term::has(key, inner));
        // One more or less, or none.
        let changed = |inner: &Term, within: Term, yes: i64, no: i64| {
            let parts = vec![within, yes.into(), no.into()];
            let step = super::equality::ite(&Term::int_app(Op::Ite, parts.clone()), parts);
            from_linear(&linear(&go(inner)).plus(&linear(&step)))
        };
        match collection.kind() {
            Kind::Lit(Value::Set(items)) => Int::from(items.len()).into(),
            Kind::Lit(Value::Map(pairs)) => Int::from(pairs.len()).into(),
            Kind::App(Op::Insert | Op::Put, parts) => {
                changed(&parts[0], known(&parts[0], &parts[1]), 0, 1)
            }
            Kind::App(Op::Remove, parts) => changed(&parts[0], known(&parts[0], &parts[1]), -1, 0),
            Kind::App(Op::Keys, parts) => go(&parts[0]),
            _ => Term::int_app(Op::Len, vec![collection.clone()]),
        }
    }
    let simple = go(&args[0]);
    // Each step may ask for those before it.
    if simple.size() > 16 * term.size().max(64) {
        return term.with_args(args);
    }
    simple
}

/// `s == {}`.
pub(super) fn emptiness(a: &Term, b: &Term) -> Option<Term> {
    let of = match (is_empty(a), is_empty(b)) {
        (true, false) => b,
        (false, true) => a,
        _ => return None,
    };
    let whole = Term::int_app(Op::Len, vec![of.clone()]);
    Some(equality(&len(&whole, vec![of.clone()]), &0.into()))
}

/// A quantifier over a set that was built step by step.
pub(super) fn quantifier(op: &Op, x: &Var, set: &Term, body: &Term) -> Option<Term> {
    let all = matches!(op, Op::ForAll(_));
    let over = |set: &Term| Term::bool_app(op.clone(), vec![set.clone(), body.clone()]);
    let Kind::App(step, args) = set.kind() else {
        return None;
    };
    let joined = |parts: Vec<Term>| {
        if all {
            Term::all(parts)
        } else {
            Term::any(parts)
        }
    };
    match step {
        Op::Insert => {
            let here = body.substitute(&[(x.id, args[1].clone())].into_iter().collect());
            joined(vec![over(&args[0]), here.ok()?]).bounded().ok()
        }
        Op::Union => joined(vec![over(&args[0]), over(&args[1])]).bounded().ok(),
        _ => None,
    }
}
