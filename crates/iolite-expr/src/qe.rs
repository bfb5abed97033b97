//! Elimination of existential quantifiers: by substitution for the equalities that guards of
//! outputs mostly are, by Fourier-Motzkin and Cooper for linear comparisons, by cases for small
//! sorts, and by the embedded solver for what has no free variable.

use rustc_hash::FxHashMap;

use crate::linear::Linear;
use crate::simplify::{from_linear, linear, negate};
use crate::solver::{Answer, Backend, Limits};
use crate::term::{Kind, Op};
use crate::{Embedded, Int, Sort, Span, Substitution, Term, Var, VarId};

/// Disjuncts that elimination may make before it gives up.
const MAX_CASES: usize = 256;
/// Size of a term that is still taken apart.
const MAX_SIZE: u32 = 10_000;
/// Values of a sort that are tried one by one.
const MAX_VALUES: u64 = 32;
/// Greatest common multiple of coefficients for Cooper's method.
const MAX_MULTIPLE: i64 = 64;

/// A quantifier-free term that is equivalent to `∃ vars: body` wherever `body` is defined for all
/// values of `vars`, and does not fault there; `None` when none is found.
pub fn eliminate(vars: &[Var], body: &Term) -> Option<Term> {
    let mut cases = MAX_CASES;
    let (vars, body) = in_units(vars, body);
    let result = exists(&vars, &body.simplify(), &mut cases)?;
    guarded(result)?.bounded().ok()
}

/// Decimals that are quantified over as the integers of their units.
fn in_units(vars: &[Var], body: &Term) -> (Vec<Var>, Term) {
    let mut map = Substitution::new();
    let vars = vars.iter().map(|v| {
        if !matches!(v.sort, Sort::Decimal(_)) {
            return v.clone();
        }
        let units = Var::new(v.id, &v.name, Sort::Int);
        let decimal = Term::app(Op::Decimal, vec![units.term()], v.sort.clone(), Span::NONE);
        map.insert(v.id, decimal);
        units
    });
    let vars: Vec<Var> = vars.collect();
    if map.is_empty() {
        return (vars, body.clone());
    }
    let body = body.substituted(&map, &mut FxHashMap::default());
    (vars, body)
}

/// Taking a body apart may put a term before what protected it, an operand of `||` before those to
/// its left. Where such a term faults, the body does not get so far: what came before is false for
/// every value, or true and a part of its own. So the part that faults may be false there.
fn guarded(part: Term) -> Option<Term> {
    if part.is_total() {
        return Some(part);
    }
    let whole = Term::all([part.defined(), part]);
    (whole.size() <= MAX_SIZE).then(|| whole.simplify())
}

/// The choice between parts, none of which may fault before another is true.
fn choice(parts: Vec<Term>) -> Option<Term> {
    let parts: Option<Vec<Term>> = parts.into_iter().map(guarded).collect();
    let whole = Term::any(parts?);
    (whole.size() <= MAX_SIZE).then(|| whole.simplify())
}

fn exists(vars: &[Var], body: &Term, cases: &mut usize) -> Option<Term> {
    let body = &without_inner(body, cases)?;
    let free = body.free_vars();
    let vars: Vec<Var> = vars.iter().filter(|v| free.contains(v)).cloned().collect();
    if vars.is_empty() {
        return Some(body.clone());
    }
    *cases = cases.checked_sub(1)?;
    if body.size() > MAX_SIZE {
        return None;
    }
    match body.kind() {
        Kind::App(Op::Or, args) => {
            let parts: Option<Vec<Term>> = args.iter().map(|a| exists(&vars, a, cases)).collect();
            choice(parts?)
        }
        Kind::App(Op::And, args) => conjunction(&vars, args.to_vec(), cases),
        _ => conjunction(&vars, vec![body.clone()], cases),
    }
}

/// Removes quantifiers inside the body first.
fn without_inner(body: &Term, cases: &mut usize) -> Option<Term> {
    match body.kind() {
        Kind::App(Op::Exists(vars), args) => exists(vars, &args[0], cases),
        Kind::App(Op::And | Op::Or | Op::Not, args) => {
            let new: Option<Vec<Term>> = args.iter().map(|a| without_inner(a, cases)).collect();
            let new = new?;
            if new.iter().zip(args).all(|(a, b)| a == b) {
                return Some(body.clone());
            }
            Some(body.with_args(new).simplify())
        }
        _ => Some(body.clone()),
    }
}

fn reads_any(term: &Term, vars: &[Var]) -> bool {
    !term.is_ground() && term.free_vars().iter().any(|v| vars.contains(v))
}

fn replace(term: &Term, var: &Var, by: Term) -> Term {
    let map: Substitution = [(var.id, by)].into_iter().collect();
    term.substituted(&map, &mut FxHashMap::default())
}

fn conjunction(vars: &[Var], args: Vec<Term>, cases: &mut usize) -> Option<Term> {
    let (inner, outer): (Vec<Term>, Vec<Term>) = args.into_iter().partition(|a| reads_any(a, vars));
    let inside = quantified(vars, &inner, cases)?;
    Some(Term::all(outer.into_iter().chain([inside])).simplify())
}

fn quantified(vars: &[Var], inner: &[Term], cases: &mut usize) -> Option<Term> {
    // Nothing but bound variables: true or false, and the solver knows which.
    if inner
        .iter()
        .all(|a| a.free_vars().iter().all(|v| vars.contains(v)))
    {
        let needed: Vec<Var> = vars.to_vec();
        match Embedded::new().check(inner, &needed, &Limits::default()) {
            Answer::Sat(model) => {
                // The port's rule holds here too: a model counts when evaluation agrees.
                let ok = inner.iter().all(|a| a.eval_bool(&model) == Ok(true));
                if ok {
                    return Some(true.into());
                }
            }
            Answer::Unsat => return Some(false.into()),
            Answer::Unknown(_) => {}
        }
    }
    // p == t
    for (i, a) in inner.iter().enumerate() {
        for v in vars {
            if let Some((value, side)) = solved_for(a, v) {
                let mut rest: Vec<Term> = Vec::new();
                for (j, b) in inner.iter().enumerate() {
                    if j != i {
                        rest.push(replace(b, v, value.clone()));
                    }
                }
                rest.push(side);
                rest.extend(within_sort(&value, &v.sort));
                return exists(vars, &Term::all(rest).simplify(), cases);
            }
        }
    }
    // A record is its fields.
    if let Some((v, fields)) = vars.iter().find_map(|v| Some((v, fields(v, vars, inner)?))) {
        let items = fields.iter().map(Var::term).collect();
        let record = Term::app(Op::Record, items, v.sort.clone(), Span::NONE);
        let body = replace(&Term::all(inner.iter().cloned()), v, record);
        let others = vars.iter().filter(|w| *w != v).cloned();
        let vars: Vec<Var> = others.chain(fields).collect();
        return exists(&vars, &body.simplify(), cases);
    }
    // Disjunctions are distributed.
    if let Some(i) = inner.iter().position(|a| alternatives(a).is_some()) {
        let alternatives = alternatives(&inner[i])?;
        let mut parts = Vec::new();
        for alternative in alternatives {
            let mut case = inner.to_vec();
            case[i] = alternative;
            parts.push(exists(vars, &Term::all(case).simplify(), cases)?);
        }
        return choice(parts);
    }
    for v in vars {
        if let Some(result) = linear_elimination(v, inner) {
            return exists(vars, &result.simplify(), cases);
        }
    }
    for v in vars {
        if let Some(values) = v.sort.values(MAX_VALUES) {
            let body = Term::all(inner.iter().cloned());
            let mut parts = Vec::new();
            for value in values {
                let literal = Term::value_of_sort(value, v.sort.clone());
                parts.push(exists(vars, &replace(&body, v, literal).simplify(), cases)?);
            }
            return choice(parts);
        }
    }
    None
}

/// A fresh variable for each field of a record variable.
fn fields(v: &Var, vars: &[Var], inner: &[Term]) -> Option<Vec<Var>> {
    let Sort::Record(record) = &v.sort else {
        return None;
    };
    let used = inner.iter().flat_map(Term::free_vars).chain(vars.to_vec());
    let own = used.filter(|w| w.id.space() == VarId::OWN_SPACE);
    let first = own.map(|w| w.id.index() + 1).max().unwrap_or(0);
    let field = |(i, (name, sort)): (usize, &(Box<str>, Sort))| {
        let id = VarId::new(VarId::OWN_SPACE, first + i);
        Var::new(id, &format!("{}.{name}", v.name), sort.clone())
    };
    Some(record.fields.iter().enumerate().map(field).collect())
}

/// The disjuncts of a conjunct that is a choice.
fn alternatives(a: &Term) -> Option<Vec<Term>> {
    match a.kind() {
        Kind::App(Op::Or, args) => Some(args.to_vec()),
        Kind::App(Op::Ite, args) => Some(vec![
            Term::all([args[0].clone(), args[1].clone()]),
            Term::all([negate(&args[0]), args[2].clone()]),
        ]),
        Kind::App(op @ (Op::Eq | Op::Ne), args) if *args[0].sort() == Sort::Bool => {
            let (x, y) = (&args[0], &args[1]);
            let y = if *op == Op::Eq { y.clone() } else { negate(y) };
            Some(vec![
                Term::all([x.clone(), y.clone()]),
                Term::all([negate(x), negate(&y)]),
            ])
        }
        _ => None,
    }
}

/// The constraints that a range puts on what replaces a variable of it.
fn within_sort(value: &Term, sort: &Sort) -> Vec<Term> {
    match sort {
        Sort::Range(r) if !value.sort().fits(sort) => vec![
            Term::bool_app(Op::Ge, vec![value.clone(), r.lo.clone().into()]),
            Term::bool_app(Op::Le, vec![value.clone(), r.hi.clone().into()]),
        ],
        _ => Vec::new(),
    }
}

/// The value that the conjunct fixes for `v`, and what is left of the conjunct.
fn solved_for(a: &Term, v: &Var) -> Option<(Term, Term)> {
    let nothing = || Term::from(true);
    match a.kind() {
        Kind::Var(w) if w == v => Some((true.into(), nothing())),
        Kind::App(Op::Not, args) if args[0].as_var() == Some(v) => Some((false.into(), nothing())),
        Kind::App(Op::Eq, args) => {
            for (x, y) in [(&args[0], &args[1]), (&args[1], &args[0])] {
                if x.as_var() == Some(v) && !y.reads(v.id) && fits_array(y, v) {
                    return Some((y.clone(), nothing()));
                }
            }
            if !args[0].sort().is_int() {
                return None;
            }
            let (k, rest) = isolated(&linear(&args[0]).minus(&linear(&args[1])), v)?;
            if k.is_one() {
                Some((from_linear(&rest.scaled(&Int::from(-1))), nothing()))
            } else if k == -1 {
                Some((from_linear(&rest), nothing()))
            } else {
                // k·v = −rest: v is the quotient where it is whole.
                let size = k.abs();
                let minus = rest.scaled(&Int::from(-k.signum()));
                let whole = from_linear(&minus);
                let divisor = Term::from(size);
                let quotient = Term::int_app(Op::Div, vec![whole.clone(), divisor.clone()]);
                let remainder = Term::int_app(Op::Mod, vec![whole, divisor]);
                Some((quotient, Term::bool_app(Op::Eq, vec![remainder, 0.into()])))
            }
        }
        _ => None,
    }
}

/// Elements of arrays and fields with ranges are not constrained by `within_sort`.
fn fits_array(value: &Term, v: &Var) -> bool {
    value.sort().fits(&v.sort) || v.sort.is_int()
}

/// `l = k·v + rest` with `v` in no non-linear part.
fn isolated(l: &Linear<Term>, v: &Var) -> Option<(Int, Linear<Term>)> {
    let mut k = Int::ZERO;
    let mut rest = Linear::constant(l.constant.clone());
    for (t, a) in &l.terms {
        if t.as_var() == Some(v) {
            k = a.clone();
        } else if t.reads(v.id) {
            return None;
        } else {
            rest.add_term(t.clone(), a);
        }
    }
    (!k.is_zero()).then_some((k, rest))
}

/// Eliminates an integer variable that occurs in linear comparisons only.
fn linear_elimination(v: &Var, inner: &[Term]) -> Option<Term> {
    if !v.sort.is_int() {
        return None;
    }
    // k·v ≥ low, k·v ≤ high, k·v ≠ hole, with k > 0
    let (mut low, mut high, mut holes, mut rest) = (vec![], vec![], vec![], vec![]);
    for a in inner {
        if !a.reads(v.id) {
            rest.push(a.clone());
            continue;
        }
        let Kind::App(op, args) = a.kind() else {
            return None;
        };
        if args.len() != 2 || !args[0].sort().is_int() {
            return None;
        }
        let (k, other) = isolated(&linear(&args[0]).minus(&linear(&args[1])), v)?;
        let positive = k.signum() > 0;
        let k = k.abs();
        let bound = if positive {
            other.scaled(&Int::from(-1))
        } else {
            other
        };
        let shifted = |n: i64| {
            let mut b = bound.clone();
            b.constant += &Int::from(n);
            b
        };
        match (op, positive) {
            (Op::Ge, true) | (Op::Le, false) => low.push((k, bound)),
            (Op::Gt, true) | (Op::Lt, false) => low.push((k, shifted(1))),
            (Op::Le, true) | (Op::Ge, false) => high.push((k, bound)),
            (Op::Lt, true) | (Op::Gt, false) => high.push((k, shifted(-1))),
            (Op::Ne, _) => holes.push((k, bound)),
            _ => return None,
        }
    }
    if let Sort::Range(r) = &v.sort {
        low.push((Int::ONE, Linear::constant(r.lo.clone())));
        high.push((Int::ONE, Linear::constant(r.hi.clone())));
    }
    if low.is_empty() || high.is_empty() {
        // Unbounded on one side: infinitely many values, finitely many holes.
        return Some(Term::all(rest));
    }
    if !holes.is_empty() {
        // n holes cannot fill an interval of n + 1 values: one of the first values above some
        // lower bound is free. Written out by Cooper's method below.
        return cooper(&low, &high, &holes, rest);
    }
    let unit = |side: &[(Int, Linear<Term>)]| side.iter().all(|(k, _)| k.is_one());
    if unit(&low) || unit(&high) {
        // Fourier-Motzkin is exact for integers when one side has coefficients 1.
        for (k, l) in &low {
            for (m, h) in &high {
                // k·v ≥ l, m·v ≤ h: with k = 1 it is m·l ≤ h, with m = 1 it is l ≤ k·h.
                rest.push(at_most(&l.scaled(m), &h.scaled(k)));
            }
        }
        return Some(Term::all(rest));
    }
    cooper(&low, &high, &holes, rest)
}

fn at_most(a: &Linear<Term>, b: &Linear<Term>) -> Term {
    Term::bool_app(Op::Le, vec![from_linear(a), from_linear(b)])
}

/// Cooper's method: a least solution lies close above some lower bound.
fn cooper(
    low: &[(Int, Linear<Term>)],
    high: &[(Int, Linear<Term>)],
    holes: &[(Int, Linear<Term>)],
    rest: Vec<Term>,
) -> Option<Term> {
    let multiple = low
        .iter()
        .chain(high)
        .chain(holes)
        .fold(Int::ONE, |m, (k, _)| m.lcm(k));
    let d = multiple.to_i64().filter(|m| *m <= MAX_MULTIPLE)?;
    let scale = |side: &[(Int, Linear<Term>)]| -> Vec<Linear<Term>> {
        side.iter()
            .map(|(k, l)| l.scaled(&multiple.div_floor(k)))
            .collect()
    };
    let (low, high, holes) = (scale(low), scale(high), scale(holes));
    // Each hole may take one candidate of the right residue away.
    let tries = usize::try_from(d).ok()? * (holes.len() + 1);
    if low.len() * tries > MAX_CASES {
        return None;
    }
    let mut cases = Vec::new();
    for l in &low {
        for j in 0..tries {
            let mut x = l.clone();
            x.constant += &Int::from(j);
            let mut parts = Vec::new();
            if d > 1 {
                let remainder = Term::int_app(Op::Mod, vec![from_linear(&x), d.into()]);
                parts.push(Term::bool_app(Op::Eq, vec![remainder, Term::from(0)]));
            }
            parts.extend(low.iter().filter(|m| *m != l).map(|m| at_most(m, &x)));
            parts.extend(high.iter().map(|h| at_most(&x, h)));
            parts.extend(
                holes
                    .iter()
                    .map(|h| Term::bool_app(Op::Ne, vec![from_linear(&x), from_linear(h)])),
            );
            cases.push(Term::all(parts));
        }
    }
    Some(Term::all(rest.into_iter().chain([choice(cases)?])))
}
