//! Simplification: constant folding, Boolean and linear normal forms, interval reasoning.
//!
//! `t.simplify()` has the value of `t` wherever `t` has one, and does not fault there. It may
//! have a value where `t` faults (`0 * (1 / x)` is 0): whoever needs the places where the
//! original is defined keeps [`Term::defined`] beside it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::eval::fold;
use crate::interval::Interval;
use crate::linear::Linear;
use crate::term::{Kind, Op};
use crate::{Int, Sort, Substitution, Term, Value};

impl Term {
    /// An equivalent term, simpler for solvers and for people.
    #[must_use]
    pub fn simplify(&self) -> Self {
        Simplifier {
            memo: FxHashMap::default(),
        }
        .simplify(self)
    }
}

struct Simplifier {
    /// Keyed by address; the original is kept so that the address stays taken.
    memo: FxHashMap<usize, (Term, Term)>,
}

impl Simplifier {
    fn simplify(&mut self, term: &Term) -> Term {
        let Kind::App(op, args) = term.kind() else {
            return term.clone();
        };
        if let Some((_, done)) = self.memo.get(&term.key()) {
            return done.clone();
        }
        let args: Vec<Term> = args.iter().map(|a| self.simplify(a)).collect();
        let result = rewrite(term, op, args);
        self.memo.insert(term.key(), (term.clone(), result.clone()));
        result
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
        Op::Len => len(args),
        Op::Append => append(term, args),
        Op::Field(i) => field(term, *i, args),
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
                _ => term.negated(),
            }
        }
        _ => term.negated(),
    }
}

/// `form REL bound` for a primitive form.
#[derive(Clone, Debug)]
struct Relation {
    form: Linear<Term>,
    kind: RelationKind,
    bound: Int,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RelationKind {
    Eq,
    Ne,
    Le,
    Ge,
}

impl Relation {
    fn negated(&self) -> Self {
        let (kind, bound) = match self.kind {
            RelationKind::Eq => (RelationKind::Ne, self.bound.clone()),
            RelationKind::Ne => (RelationKind::Eq, self.bound.clone()),
            RelationKind::Le => (RelationKind::Ge, &self.bound + &Int::ONE),
            RelationKind::Ge => (RelationKind::Le, &self.bound - &Int::ONE),
        };
        Self {
            form: self.form.clone(),
            kind,
            bound,
        }
    }

    /// As people write it: what is subtracted goes to the other side.
    fn emit(&self) -> Term {
        let (mut left, mut right) = (Linear::constant(Int::ZERO), Linear::constant(Int::ZERO));
        for (k, a) in &self.form.terms {
            if a.signum() > 0 {
                left.add_term(k.clone(), a);
            } else {
                right.add_term(k.clone(), &-a);
            }
        }
        let strict = |n: i64| !right.terms.is_empty() && self.bound == n;
        let (op, bound) = match self.kind {
            RelationKind::Eq => (Op::Eq, self.bound.clone()),
            RelationKind::Ne => (Op::Ne, self.bound.clone()),
            RelationKind::Le if strict(-1) => (Op::Lt, Int::ZERO),
            RelationKind::Ge if strict(1) => (Op::Gt, Int::ZERO),
            RelationKind::Le => (Op::Le, self.bound.clone()),
            RelationKind::Ge => (Op::Ge, self.bound.clone()),
        };
        right.constant = bound;
        Term::bool_app(op, vec![from_linear(&left), from_linear(&right)])
    }
}

/// Reads an integer comparison; `None` for anything else and for what is decided.
fn integer_relation(term: &Term) -> Option<Relation> {
    let Kind::App(op, args) = term.kind() else {
        return None;
    };
    if args.len() != 2 || !args[0].sort().is_int() {
        return None;
    }
    let (kind, shift) = match op {
        Op::Eq => (RelationKind::Eq, 0),
        Op::Ne => (RelationKind::Ne, 0),
        Op::Le => (RelationKind::Le, 0),
        Op::Lt => (RelationKind::Le, -1),
        Op::Ge => (RelationKind::Ge, 0),
        Op::Gt => (RelationKind::Ge, 1),
        _ => return None,
    };
    let difference = linear(&args[0]).minus(&linear(&args[1]));
    relation(&difference, kind, &Int::from(shift)).ok()
}

/// `difference REL shift` in normal form, or its truth value.
fn relation(difference: &Linear<Term>, kind: RelationKind, shift: &Int) -> Result<Relation, bool> {
    let Some((form, factor, constant)) = difference.primitive() else {
        let n = difference.constant.cmp(shift);
        return Err(match kind {
            RelationKind::Eq => n.is_eq(),
            RelationKind::Ne => n.is_ne(),
            RelationKind::Le => n.is_le(),
            RelationKind::Ge => n.is_ge(),
        });
    };
    // factor·form REL shift − constant
    let rest = shift - &constant;
    let positive = factor.signum() > 0;
    let (size, rest) = if positive {
        (factor, rest)
    } else {
        (-factor, -rest)
    };
    Ok(match kind {
        RelationKind::Eq | RelationKind::Ne => {
            if !rest.modulo(&size).is_zero() {
                return Err(kind == RelationKind::Ne);
            }
            Relation {
                form,
                kind,
                bound: rest.div_floor(&size),
            }
        }
        _ if (kind == RelationKind::Le) == positive => Relation {
            form,
            kind: RelationKind::Le,
            bound: rest.div_floor(&size),
        },
        _ => Relation {
            form,
            kind: RelationKind::Ge,
            bound: rest.div_ceil(&size),
        },
    })
}

fn form_interval(form: &Linear<Term>) -> Interval {
    form.terms
        .iter()
        .fold(Interval::point(Int::ZERO), |i, (k, a)| {
            i.plus(&Interval::of(k).scaled(a))
        })
}

fn decided(r: Result<Relation, bool>) -> Term {
    match r {
        Err(b) => b.into(),
        Ok(r) => {
            let mut bounds = Bounds::new(&r.form);
            let known = bounds.clone();
            bounds.add(&r);
            if bounds.is_empty() {
                return false.into();
            }
            if bounds == known {
                return true.into();
            }
            r.emit()
        }
    }
}

fn at_most(difference: &Linear<Term>, bound: &Int) -> Term {
    decided(relation(difference, RelationKind::Le, bound))
}

/// What a conjunction says of one linear form.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bounds {
    lo: Option<Int>,
    hi: Option<Int>,
    holes: Vec<Int>,
    /// What the sorts say already, not to be said again.
    sort: Interval,
}

impl Bounds {
    fn new(form: &Linear<Term>) -> Self {
        let sort = form_interval(form);
        Self {
            lo: sort.lo.clone(),
            hi: sort.hi.clone(),
            holes: Vec::new(),
            sort,
        }
    }

    fn add(&mut self, r: &Relation) {
        let up = |lo: &mut Option<Int>| {
            if lo.as_ref().is_none_or(|l| *l < r.bound) {
                *lo = Some(r.bound.clone());
            }
        };
        let down = |hi: &mut Option<Int>| {
            if hi.as_ref().is_none_or(|h| r.bound < *h) {
                *hi = Some(r.bound.clone());
            }
        };
        match r.kind {
            RelationKind::Ge => up(&mut self.lo),
            RelationKind::Le => down(&mut self.hi),
            RelationKind::Eq => {
                up(&mut self.lo);
                down(&mut self.hi);
            }
            RelationKind::Ne => {
                self.holes.push(r.bound.clone());
                self.holes.sort();
                self.holes.dedup();
            }
        }
        // A hole at an end moves the end.
        loop {
            let before = self.holes.len();
            self.holes.retain(|h| {
                if self.lo.as_ref() == Some(h) {
                    self.lo = Some(h + &Int::ONE);
                    false
                } else if self.hi.as_ref() == Some(h) {
                    self.hi = Some(h - &Int::ONE);
                    false
                } else {
                    self.lo.as_ref().is_none_or(|l| l < h) && self.hi.as_ref().is_none_or(|i| h < i)
                }
            });
            if self.holes.len() == before {
                break;
            }
        }
    }

    fn is_empty(&self) -> bool {
        matches!((&self.lo, &self.hi), (Some(l), Some(h)) if l > h)
    }

    fn emit(&self, form: &Linear<Term>) -> Vec<Term> {
        let say = |kind, bound: &Int| {
            Relation {
                form: form.clone(),
                kind,
                bound: bound.clone(),
            }
            .emit()
        };
        let mut out = Vec::new();
        match (&self.lo, &self.hi) {
            (Some(l), Some(h)) if l == h => {
                if self.sort.lo != self.lo || self.sort.hi != self.hi {
                    out.push(say(RelationKind::Eq, l));
                }
            }
            (lo, hi) => {
                if let Some(l) = lo.as_ref().filter(|_| self.lo != self.sort.lo) {
                    out.push(say(RelationKind::Ge, l));
                }
                if let Some(h) = hi.as_ref().filter(|_| self.hi != self.sort.hi) {
                    out.push(say(RelationKind::Le, h));
                }
            }
        }
        out.extend(self.holes.iter().map(|h| say(RelationKind::Ne, h)));
        out
    }
}

fn conjunction(args: Vec<Term>) -> Term {
    match conjuncts(args) {
        None => false.into(),
        Some(parts) => Term::all(parts),
    }
}

fn disjunction(args: &[Term]) -> Term {
    // By duality, so that the merging of comparisons is written once.
    match conjuncts(args.iter().map(negate).collect()) {
        None => true.into(),
        Some(parts) if parts.len() == 1 => negate(&parts[0]),
        Some(parts) => Term::any(parts.iter().map(negate)),
    }
}

/// The conjuncts of a conjunction of simplified terms, `None` when it is false. Those that cannot
/// fault come first, so that nothing is evaluated with less protection than before.
fn conjuncts(args: Vec<Term>) -> Option<Vec<Term>> {
    let mut flat: Vec<Term> = Vec::new();
    let mut stack: Vec<Term> = args.into_iter().rev().collect();
    while let Some(a) = stack.pop() {
        match a.kind() {
            Kind::App(Op::And, inner) => stack.extend(inner.iter().rev().cloned()),
            _ if a.is_true() => {}
            _ if a.is_false() => return None,
            _ => {
                if !flat.contains(&a) {
                    flat.push(a);
                }
            }
        }
    }
    if flat.len() > 1 {
        flat = propagate_values(flat)?;
    }
    // Total comparisons of one form are merged at the place of the first.
    let mut forms: BTreeMap<Linear<Term>, (usize, Bounds)> = BTreeMap::new();
    let mut slots: Vec<Result<Term, Linear<Term>>> = Vec::new();
    for a in flat {
        match integer_relation(&a).filter(|_| a.is_total()) {
            Some(r) => {
                let next = slots.len();
                let (at, bounds) = forms
                    .entry(r.form.clone())
                    .or_insert_with(|| (next, Bounds::new(&r.form)));
                bounds.add(&r);
                if bounds.is_empty() {
                    return None;
                }
                if *at == next {
                    slots.push(Err(r.form));
                }
            }
            None => slots.push(Ok(a)),
        }
    }
    let mut out: Vec<Term> = Vec::new();
    for slot in slots {
        match slot {
            Ok(t) => out.push(t),
            Err(form) => out.extend(forms[&form].1.emit(&form)),
        }
    }
    if out
        .iter()
        .any(|a| matches!(a.kind(), Kind::App(Op::Not, x) if out.contains(&x[0])))
    {
        return None;
    }
    let complementary = |a: &Term| match a.kind() {
        Kind::App(Op::Ne, args) => out.contains(&Term::bool_app(Op::Eq, args.to_vec())),
        _ => false,
    };
    if out.iter().any(complementary) {
        return None;
    }
    let (mut total, partial): (Vec<_>, Vec<_>) = out.into_iter().partition(Term::is_total);
    total.extend(partial);
    Some(total)
}

/// Where a conjunct says `x == value`, `x` is that value in the others.
fn propagate_values(flat: Vec<Term>) -> Option<Vec<Term>> {
    let mut map = Substitution::new();
    let mut defining = Vec::new();
    for (i, a) in flat.iter().enumerate() {
        let (var, value) = match a.kind() {
            Kind::Var(v) => (v, Term::from(true)),
            Kind::App(Op::Not, x) => match x[0].kind() {
                Kind::Var(v) => (v, Term::from(false)),
                _ => continue,
            },
            Kind::App(Op::Eq, x) => match (x[0].kind(), x[1].kind()) {
                (Kind::Var(v), Kind::Lit(_)) => (v, x[1].clone()),
                (Kind::Lit(_), Kind::Var(v)) => (v, x[0].clone()),
                _ => continue,
            },
            _ => continue,
        };
        match map.get(var.id) {
            None => {
                // A value outside the sort makes the conjunct false; the solver would find out.
                if value.as_value().is_some_and(|v| !var.sort.contains(v)) {
                    return None;
                }
                map.insert(var.id, value);
                defining.push(i);
            }
            Some(other) if *other != value && other.as_value() != value.as_value() => return None,
            Some(_) => {}
        }
    }
    if map.is_empty() {
        return Some(flat);
    }
    let mut out = Vec::new();
    for (i, a) in flat.into_iter().enumerate() {
        if defining.contains(&i) {
            out.push(a);
            continue;
        }
        let b = a.substituted(&map, &mut FxHashMap::default());
        if b.key() == a.key() {
            out.push(a);
            continue;
        }
        let b = b.simplify();
        match b.kind() {
            _ if b.is_true() => {}
            _ if b.is_false() => return None,
            Kind::App(Op::And, inner) => out.extend(inner.iter().cloned()),
            _ => out.push(b),
        }
    }
    let mut unique: Vec<Term> = Vec::new();
    for a in out {
        if !unique.contains(&a) {
            unique.push(a);
        }
    }
    Some(unique)
}

fn equality(a: &Term, b: &Term) -> Term {
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

fn is_record_literal(t: &Term) -> bool {
    matches!(t.kind(), Kind::App(Op::Record, _) | Kind::Lit(_))
}

/// `(c ? 1 : 0) == 1` is `c`.
fn ite_equality(a: &Term, b: &Term) -> Option<Term> {
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

fn ite(term: &Term, args: Vec<Term>) -> Term {
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

fn product(args: &[Term]) -> Linear<Term> {
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

fn concat(args: &[Term]) -> Term {
    let mut parts: Vec<Term> = Vec::new();
    let mut stack: Vec<Term> = args.iter().rev().cloned().collect();
    while let Some(a) = stack.pop() {
        if let Kind::App(Op::Concat, inner) = a.kind() {
            stack.extend(inner.iter().rev().cloned());
            continue;
        }
        let Some(text) = a.as_value().and_then(Value::as_str) else {
            parts.push(a);
            continue;
        };
        if text.is_empty() {
            continue;
        }
        match parts
            .last()
            .and_then(Term::as_value)
            .and_then(Value::as_str)
        {
            Some(before) => {
                let joined = Term::from(format!("{before}{text}").as_str());
                parts.pop();
                parts.push(joined);
            }
            None => parts.push(a),
        }
    }
    match parts.len() {
        0 => "".into(),
        1 => parts.remove(0),
        _ => Term::app(Op::Concat, parts, Sort::String, crate::Span::NONE),
    }
}

fn str_len(text: &Term) -> Term {
    match text.kind() {
        Kind::Lit(Value::Str(s)) => Int::from(s.chars().count()).into(),
        Kind::App(Op::Concat, parts) => {
            let lengths = parts.iter().map(str_len).collect();
            from_linear(&linear(&Term::int_app(Op::Add, lengths)))
        }
        _ => Term::int_app(Op::StrLen, vec![text.clone()]),
    }
}

fn select(term: &Term, args: Vec<Term>) -> Term {
    match args[0].kind() {
        Kind::App(Op::Store, inner) => {
            if inner[1] == args[1] {
                return inner[2].clone();
            }
            if let (Some(i), Some(j)) = (as_int(&inner[1]), as_int(&args[1]))
                && i != j
            {
                return select(term, vec![inner[0].clone(), args[1].clone()]);
            }
        }
        Kind::App(Op::Array, items) => {
            if let Some(item) = as_int(&args[1])
                .and_then(Int::to_usize)
                .and_then(|i| items.get(i))
            {
                return item.clone();
            }
        }
        _ => {}
    }
    term.with_args(args)
}

fn len(args: Vec<Term>) -> Term {
    match args[0].kind() {
        Kind::Lit(Value::Array(items)) => Int::from(items.len()).into(),
        Kind::App(Op::Array, items) => Int::from(items.len()).into(),
        Kind::App(Op::Store, inner) => len(vec![inner[0].clone()]),
        Kind::App(Op::Append, inner) => {
            let sum = inner.iter().map(|a| len(vec![a.clone()])).collect();
            from_linear(&linear(&Term::int_app(Op::Add, sum)))
        }
        Kind::App(Op::Slice, inner) => from_linear(&linear(&inner[2]).minus(&linear(&inner[1]))),
        _ => Term::int_app(Op::Len, args),
    }
}

/// The elements of an array whose length is plain.
pub(crate) fn array_items(t: &Term) -> Option<Vec<Term>> {
    match (t.kind(), t.sort()) {
        (Kind::App(Op::Array, items), _) => Some(items.to_vec()),
        (Kind::Lit(Value::Array(items)), Sort::Array(e)) => Some(
            items
                .iter()
                .map(|v| Term::value_of_sort(v.clone(), (**e).clone()))
                .collect(),
        ),
        _ => None,
    }
}

fn append(term: &Term, args: Vec<Term>) -> Term {
    match (array_items(&args[0]), array_items(&args[1])) {
        (Some(mut a), Some(b)) => {
            a.extend(b);
            Term::app(Op::Array, a, term.sort().clone(), term.span())
        }
        (Some(a), None) if a.is_empty() => args[1].clone(),
        (None, Some(b)) if b.is_empty() => args[0].clone(),
        _ => term.with_args(args),
    }
}

fn field(term: &Term, i: u32, args: Vec<Term>) -> Term {
    match args[0].kind() {
        Kind::App(Op::Record, items) => items[i as usize].clone(),
        Kind::Lit(Value::Record(_, items)) => {
            Term::value_of_sort(items[i as usize].clone(), term.sort().clone())
        }
        Kind::App(Op::Update(j), inner) if *j == i => inner[1].clone(),
        Kind::App(Op::Update(_), inner) => field(term, i, vec![inner[0].clone()]),
        _ => term.with_args(args),
    }
}
