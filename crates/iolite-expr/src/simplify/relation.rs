//! Comparisons of linear forms in their normal form.

use super::conjunction::Bounds;
use super::linear_form::{from_linear, linear};
use crate::interval::Interval;
use crate::linear::Linear;
use crate::term::{Kind, Op};
use crate::{Int, Term};

/// `form REL bound` for a primitive form.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    pub(super) form: Linear<Term>,
    pub(super) kind: RelationKind,
    pub(super) bound: Int,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RelationKind {
    Eq,
    Ne,
    Le,
    Ge,
}

impl Relation {
    pub(super) fn negated(&self) -> Self {
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

    /// Whether both bound one form from the same side.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let side = matches!(self.kind, RelationKind::Le | RelationKind::Ge);
        side && self.kind == other.kind && self.form == other.form
    }

    /// Whether this one of two that are alike says as much as the other.
    pub(super) fn implies(&self, other: &Self) -> bool {
        if self.kind == RelationKind::Le {
            self.bound <= other.bound
        } else {
            self.bound >= other.bound
        }
    }

    /// As people write it: what is subtracted goes to the other side.
    pub(super) fn emit(&self) -> Term {
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
pub(super) fn integer_relation(term: &Term) -> Option<Relation> {
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
pub(super) fn relation(
    difference: &Linear<Term>,
    kind: RelationKind,
    shift: &Int,
) -> Result<Relation, bool> {
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

pub(super) fn form_interval(form: &Linear<Term>) -> Interval {
    form.terms
        .iter()
        .fold(Interval::point(Int::ZERO), |i, (k, a)| {
            i.plus(&Interval::of(k).scaled(a))
        })
}

pub(super) fn decided(r: Result<Relation, bool>) -> Term {
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

pub(super) fn at_most(difference: &Linear<Term>, bound: &Int) -> Term {
    decided(relation(difference, RelationKind::Le, bound))
}
