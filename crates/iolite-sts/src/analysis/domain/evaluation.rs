//! Terms over abstract states: integers and lengths of arrays as linear expressions.
//!
//! What is not linear gets an auxiliary coordinate, about which the state learns what is known: a
//! quotient lies between its bounds, an `if` takes one value where its condition holds and the
//! other where it does not. Evaluating a term keeps the valuations for which it does not fault,
//! or more; where it returns `None`, it gave up, and the value may be any.

use iolite_expr::{Int, Kind, Op, Sort, Term, Value};

use super::vocabulary::Role;
use super::{Abstract, Constraint, Interval, LinExpr, NumericDomain};

/// Coefficients beyond this are not worth their cost.
const MAX_BITS: u64 = 1_024;

/// One evaluation, with what is left of its steps.
pub(super) struct Evaluation {
    steps: u32,
}

impl Evaluation {
    pub(super) fn new(steps: u32) -> Self {
        Self { steps }
    }

    /// Whether another step may be taken.
    pub(super) fn step(&mut self) -> bool {
        let left = self.steps > 0;
        self.steps = self.steps.saturating_sub(1);
        left
    }

    /// The value of an integer term.
    pub(super) fn value<N: NumericDomain>(
        &mut self,
        state: &mut Abstract<N>,
        term: &Term,
    ) -> Option<LinExpr> {
        if !self.step() {
            return None;
        }
        let value = match term.kind() {
            Kind::Lit(v) => LinExpr::constant(v.as_int()?.clone()),
            Kind::Var(v) => match state.vocabulary.role(v.id) {
                Some(Role::Numeric(x)) if v.sort.is_int() => LinExpr::dim(x),
                _ => LinExpr::dim(state.fresh(&v.sort)?),
            },
            Kind::App(op, args) => self.applied(state, term, op, args)?,
        };
        (value.bits() <= MAX_BITS).then_some(value)
    }

    fn applied<N: NumericDomain>(
        &mut self,
        state: &mut Abstract<N>,
        term: &Term,
        op: &Op,
        args: &[Term],
    ) -> Option<LinExpr> {
        let zero = LinExpr::default();
        Some(match op {
            Op::Neg => self.value(state, &args[0])?.scaled(&Int::from(-1)),
            Op::Add => {
                let mut sum = zero;
                for a in args {
                    sum = sum.plus(&self.value(state, a)?);
                }
                sum
            }
            Op::Sub => {
                let a = self.value(state, &args[0])?;
                a.minus(&self.value(state, &args[1])?)
            }
            Op::Mul => {
                let mut product = LinExpr::constant(1);
                for a in args {
                    let a = self.value(state, a)?;
                    product = Self::product(state, &product, &a)?;
                }
                product
            }
            Op::Div | Op::Mod => {
                let a = self.value(state, &args[0])?;
                let d = self.value(state, &args[1])?;
                Self::division(state, *op == Op::Div, &a, &d)?
            }
            Op::Abs => {
                let a = self.value(state, &args[0])?;
                let x = LinExpr::dim(state.fresh(&Sort::Int)?);
                let mut below = state.clone();
                below.constrain(&Constraint::lt(&a, &zero));
                below.constrain(&Constraint::equal(x.plus(&a)));
                state.constrain(&Constraint::at_least(a.clone()));
                state.constrain(&Constraint::equal(x.minus(&a)));
                *state = state.join(&below);
                x
            }
            Op::Len => self.length(state, &args[0])?,
            Op::StrLen => {
                let x = state.fresh(term.sort())?;
                state.constrain(&Constraint::lower(x, &Int::ZERO));
                LinExpr::dim(x)
            }
            Op::Ite => return self.branches(state, args, Self::value),
            Op::Narrow => {
                let a = self.value(state, &args[0])?;
                if let Sort::Range(r) = term.sort() {
                    state.constrain(&Constraint::le(&LinExpr::constant(r.lo.clone()), &a));
                    state.constrain(&Constraint::le(&a, &LinExpr::constant(r.hi.clone())));
                }
                a
            }
            Op::Select => {
                self.index(state, &args[0], &args[1]);
                LinExpr::dim(state.fresh(term.sort())?)
            }
            _ => LinExpr::dim(state.fresh(term.sort())?),
        })
    }

    /// The length of an array term.
    pub(super) fn length<N: NumericDomain>(
        &mut self,
        state: &mut Abstract<N>,
        term: &Term,
    ) -> Option<LinExpr> {
        if !self.step() {
            return None;
        }
        match term.kind() {
            Kind::Lit(Value::Array(items)) => Some(LinExpr::constant(items.len())),
            Kind::Var(v) if matches!(v.sort, Sort::Array(_)) => match state.vocabulary.role(v.id) {
                Some(Role::Numeric(x)) => Some(LinExpr::dim(x)),
                _ => Self::unknown_length(state),
            },
            Kind::App(Op::Array, args) => Some(LinExpr::constant(args.len())),
            Kind::App(Op::Store, args) => {
                self.index(state, &args[0], &args[1]);
                self.length(state, &args[0])
            }
            Kind::App(Op::Append, args) => {
                let a = self.length(state, &args[0])?;
                Some(a.plus(&self.length(state, &args[1])?))
            }
            Kind::App(Op::Slice, args) => {
                let length = self.length(state, &args[0])?;
                let lo = self.value(state, &args[1])?;
                let hi = self.value(state, &args[2])?;
                state.constrain(&Constraint::at_least(lo.clone()));
                state.constrain(&Constraint::le(&lo, &hi));
                state.constrain(&Constraint::le(&hi, &length));
                Some(hi.minus(&lo))
            }
            Kind::App(Op::Ite, args) => self.branches(state, args, Self::length),
            _ => Self::unknown_length(state),
        }
    }

    fn unknown_length<N: NumericDomain>(state: &mut Abstract<N>) -> Option<LinExpr> {
        let x = state.fresh(&Sort::Int)?;
        state.constrain(&Constraint::lower(x, &Int::ZERO));
        Some(LinExpr::dim(x))
    }

    /// Keeps the valuations where the index lies in the array.
    fn index<N: NumericDomain>(&mut self, state: &mut Abstract<N>, array: &Term, index: &Term) {
        let Some(i) = self.value(state, index) else {
            return;
        };
        state.constrain(&Constraint::at_least(i.clone()));
        if let Some(length) = self.length(state, array) {
            state.constrain(&Constraint::lt(&i, &length));
        }
    }

    fn product<N: NumericDomain>(
        state: &mut Abstract<N>,
        a: &LinExpr,
        b: &LinExpr,
    ) -> Option<LinExpr> {
        if let Some(n) = a.as_constant() {
            return Some(b.scaled(n));
        }
        if let Some(n) = b.as_constant() {
            return Some(a.scaled(n));
        }
        let bounds = state.bounds(a).times(&state.bounds(b));
        let x = state.fresh(&Sort::Int)?;
        if let Some(lo) = &bounds.lo {
            state.constrain(&Constraint::lower(x, lo));
        }
        if let Some(hi) = &bounds.hi {
            state.constrain(&Constraint::upper(x, hi));
        }
        Some(LinExpr::dim(x))
    }

    /// `a = d·q + r` with `0 ≤ r < |d|`: the quotient q or the remainder r.
    fn division<N: NumericDomain>(
        state: &mut Abstract<N>,
        quotient: bool,
        a: &LinExpr,
        d: &LinExpr,
    ) -> Option<LinExpr> {
        state.constrain(&Constraint::differ(d.clone()));
        let x = LinExpr::dim(state.fresh(&Sort::Int)?);
        if let Some(n) = d.as_constant() {
            let rest = a.minus(&x.scaled(n));
            let most = LinExpr::constant(n.abs() - Int::ONE);
            state.constrain(&Constraint::at_least(rest.clone()));
            state.constrain(&Constraint::le(&rest, &most));
            return Some(if quotient { x } else { rest });
        }
        if !quotient {
            state.constrain(&Constraint::at_least(x.clone()));
            // The remainder is less than |d|; how much that is at most, the state may know.
            if let Interval {
                lo: Some(lo),
                hi: Some(hi),
            } = state.bounds(d)
            {
                let most = lo.abs().max(hi.abs());
                state.constrain(&Constraint::lt(&x, &LinExpr::constant(most)));
            }
        }
        Some(x)
    }

    /// `if c then a else b`, for integers and for lengths.
    fn branches<N: NumericDomain>(
        &mut self,
        state: &mut Abstract<N>,
        args: &[Term],
        evaluate: impl Fn(&mut Self, &mut Abstract<N>, &Term) -> Option<LinExpr>,
    ) -> Option<LinExpr> {
        // The coordinate for the result comes before those that a branch needs for itself; and
        // before the split, because who gives up must leave the whole state behind.
        let x = state.fresh(&Sort::Int)?;
        let kept = state.auxiliaries;
        let mut other = self.guard(state.clone(), &args[0], false);
        *state = self.guard(state.clone(), &args[0], true);
        for (branch, term) in [(&mut *state, &args[1]), (&mut other, &args[2])] {
            if let Some(e) = evaluate(self, branch, term) {
                branch.constrain(&Constraint::equal(LinExpr::dim(x).minus(&e)));
            }
            branch.keep_auxiliaries(kept);
        }
        *state = state.join(&other);
        Some(LinExpr::dim(x))
    }
}
