//! Conjunctions and disjunctions: bounds of linear forms are merged, values propagated.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::negate;
use super::relation::{Relation, RelationKind, form_interval, integer_relation};
use crate::interval::Interval;
use crate::linear::Linear;
use crate::term::{Kind, Op};
use crate::{Int, Substitution, Term};

/// What a conjunction says of one linear form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) lo: Option<Int>,
    pub(super) hi: Option<Int>,
    pub(super) holes: Vec<Int>,
    /// What the sorts say already, not to be said again.
    pub(super) sort: Interval,
}

impl Bounds {
    pub(super) fn new(form: &Linear<Term>) -> Self {
        let sort = form_interval(form);
        Self {
            lo: sort.lo.clone(),
            hi: sort.hi.clone(),
            holes: Vec::new(),
            sort,
        }
    }

    pub(super) fn add(&mut self, r: &Relation) {
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

    pub(super) fn is_empty(&self) -> bool {
        matches!((&self.lo, &self.hi), (Some(l), Some(h)) if l > h)
    }

    pub(super) fn emit(&self, form: &Linear<Term>) -> Vec<Term> {
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

pub(super) fn conjunction(args: Vec<Term>) -> Term {
    match conjuncts(args) {
        None => false.into(),
        Some(parts) => Term::all(parts),
    }
}

pub(super) fn disjunction(args: &[Term]) -> Term {
    // By duality, so that the merging of comparisons is written once.
    match conjuncts(args.iter().map(negate).collect()) {
        None => true.into(),
        Some(parts) if parts.len() == 1 => negate(&parts[0]),
        Some(parts) => Term::any(parts.iter().map(negate)),
    }
}

/// The conjuncts of a conjunction of simplified terms, `None` when it is false. Those that cannot
/// fault come first, so that nothing is evaluated with less protection than before.
pub(super) fn conjuncts(args: Vec<Term>) -> Option<Vec<Term>> {
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
    // Total comparisons of one form are merged at the place of the first. Of those that may fault the
    // strongest bound stays, which faults where the others do.
    let mut forms: BTreeMap<Linear<Term>, (usize, Bounds)> = BTreeMap::new();
    let mut faulting: Vec<(Relation, usize)> = Vec::new();
    let mut slots: Vec<Result<Term, Linear<Term>>> = Vec::new();
    for a in flat {
        match integer_relation(&a) {
            Some(r) if !a.is_total() => {
                let known = faulting.iter_mut().find(|(s, _)| s.is_alike(&r));
                match known {
                    // What the form has lost of the term would not fault any more.
                    _ if r.emit() != a => slots.push(Ok(a)),
                    Some((s, _)) if s.implies(&r) => {}
                    Some((s, at)) => {
                        slots[*at] = Ok(a);
                        *s = r;
                    }
                    None => {
                        faulting.push((r, slots.len()));
                        slots.push(Ok(a));
                    }
                }
            }
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
pub(super) fn propagate_values(flat: Vec<Term>) -> Option<Vec<Term>> {
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
