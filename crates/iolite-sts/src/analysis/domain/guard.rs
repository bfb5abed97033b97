//! Guards over abstract states.
//!
//! A guard holds where it evaluates to true without a fault, so each subterm keeps what it can
//! tell of the valuations for which it has a value.

use iolite_expr::{Kind, Op, Sort, Term, Value, Var};

use super::evaluation::Evaluation;
use super::vocabulary::Role;
use super::{Abstract, Constraint, NumericDomain};

impl<N: NumericDomain> Abstract<N> {
    /// Keeps the valuations for which a Boolean term is true. What the domain cannot express or
    /// the evaluation does not understand is left out, so that more may remain.
    #[must_use]
    pub fn guard(&self, term: &Term) -> Self {
        let steps = self.vocabulary.limits().steps;
        Evaluation::new(steps).guard(self.clone(), term, true)
    }
}

impl Evaluation {
    /// Keeps the valuations for which the term has the wanted value.
    pub(super) fn guard<N: NumericDomain>(
        &mut self,
        state: Abstract<N>,
        term: &Term,
        wanted: bool,
    ) -> Abstract<N> {
        if state.is_bottom() || !self.step() {
            return state;
        }
        let auxiliaries = state.auxiliaries;
        let mut result = match term.kind() {
            Kind::Lit(_) | Kind::Var(_) => self.is(state, term, &Value::Bool(wanted), true),
            Kind::App(op, args) => self.guard_op(state, op, args, wanted),
        };
        result.keep_auxiliaries(auxiliaries);
        result
    }

    fn guard_op<N: NumericDomain>(
        &mut self,
        state: Abstract<N>,
        op: &Op,
        args: &[Term],
        wanted: bool,
    ) -> Abstract<N> {
        match op {
            Op::Not => self.guard(state, &args[0], !wanted),
            Op::And | Op::Or if (*op == Op::And) == wanted => args
                .iter()
                .fold(state, |state, a| self.guard(state, a, wanted)),
            Op::And | Op::Or => {
                let mut result = nothing(&state);
                for a in args {
                    result = result.join(&self.guard(state.clone(), a, wanted));
                }
                result
            }
            Op::Implies if wanted => {
                let unless = self.guard(state.clone(), &args[0], false);
                unless.join(&self.guard(state, &args[1], true))
            }
            Op::Implies => {
                let state = self.guard(state, &args[0], true);
                self.guard(state, &args[1], false)
            }
            Op::Ite => {
                let then = self.guard(state.clone(), &args[0], true);
                let other = self.guard(state, &args[0], false);
                let then = self.guard(then, &args[1], wanted);
                then.join(&self.guard(other, &args[2], wanted))
            }
            Op::Eq | Op::Ne => self.equal(state, &args[0], &args[1], (*op == Op::Eq) == wanted),
            Op::Lt | Op::Le | Op::Gt | Op::Ge => self.compare(state, op, args, wanted),
            Op::Exists(vars) if wanted => self.exists(state, vars, &args[0]),
            _ => state,
        }
    }

    fn equal<N: NumericDomain>(
        &mut self,
        mut state: Abstract<N>,
        a: &Term,
        b: &Term,
        equal: bool,
    ) -> Abstract<N> {
        match a.sort() {
            Sort::Int | Sort::Range(_) => {
                let op = if equal { Op::Eq } else { Op::Ne };
                self.compare(state, &op, &[a.clone(), b.clone()], true)
            }
            Sort::Bool | Sort::Enum(_) => self.equal_finite(state, a, b, equal),
            Sort::Array(_) if equal => {
                if let Some(a) = self.length(&mut state, a)
                    && let Some(b) = self.length(&mut state, b)
                {
                    state.constrain(&Constraint::equal(a.minus(&b)));
                }
                state
            }
            _ => state,
        }
    }

    fn compare<N: NumericDomain>(
        &mut self,
        mut state: Abstract<N>,
        op: &Op,
        args: &[Term],
        wanted: bool,
    ) -> Abstract<N> {
        let Some(a) = self.value(&mut state, &args[0]) else {
            return state;
        };
        let Some(b) = self.value(&mut state, &args[1]) else {
            return state;
        };
        let constraint = match op {
            Op::Lt => Constraint::lt(&a, &b),
            Op::Le => Constraint::le(&a, &b),
            Op::Gt => Constraint::lt(&b, &a),
            Op::Ge => Constraint::le(&b, &a),
            Op::Eq => Constraint::equal(a.minus(&b)),
            _ => Constraint::differ(a.minus(&b)),
        };
        state.constrain(&if wanted {
            constraint
        } else {
            constraint.negated()
        });
        state
    }

    fn equal_finite<N: NumericDomain>(
        &mut self,
        state: Abstract<N>,
        a: &Term,
        b: &Term,
        equal: bool,
    ) -> Abstract<N> {
        if let Some(v) = a.as_value() {
            return self.is(state, b, v, equal);
        }
        if let Some(v) = b.as_value() {
            return self.is(state, a, v, equal);
        }
        let Some(values) = a.sort().values(state.vocabulary.limits().values as u64) else {
            return state;
        };
        let mut result = nothing(&state);
        for v in &values {
            let one = self.is(state.clone(), a, v, true);
            result = result.join(&self.is(one, b, v, equal));
        }
        result
    }

    /// Keeps the valuations for which a Boolean or enumeration term has the value, or has not.
    pub(super) fn is<N: NumericDomain>(
        &mut self,
        mut state: Abstract<N>,
        term: &Term,
        value: &Value,
        equal: bool,
    ) -> Abstract<N> {
        if !self.step() {
            return state;
        }
        match (term.kind(), value) {
            (Kind::Lit(v), _) if (v == value) == equal => state,
            (Kind::Lit(_), _) => nothing(&state),
            (Kind::Var(v), _) => {
                if let Some(Role::Finite(i)) = state.vocabulary.role(v.id) {
                    let values = &state.vocabulary.finite[i].values;
                    match values.iter().position(|v| v == value) {
                        Some(at) => state.keep_finite(i, at as u16, equal),
                        None if equal => return nothing(&state),
                        None => {}
                    }
                }
                state
            }
            (Kind::App(..), Value::Bool(b)) => self.guard(state, term, *b == equal),
            (Kind::App(Op::Ite, args), _) => {
                let then = self.guard(state.clone(), &args[0], true);
                let other = self.guard(state, &args[0], false);
                let then = self.is(then, &args[1], value, equal);
                then.join(&self.is(other, &args[2], value, equal))
            }
            _ => state,
        }
    }

    fn exists<N: NumericDomain>(
        &mut self,
        state: Abstract<N>,
        vars: &[Var],
        body: &Term,
    ) -> Abstract<N> {
        let inner = state.vocabulary.clone();
        // A bound variable that hides another would be mistaken for it, and auxiliary coordinates
        // stand where the bound ones would come.
        if state.auxiliaries > 0 || vars.iter().any(|v| inner.knows(v)) {
            return state;
        }
        let outer = inner.extended(vars.iter().cloned());
        self.guard(state.extended(&outer), body, true)
            .restricted(&inner)
    }
}

/// ⊥ with the coordinates of the state.
fn nothing<N: NumericDomain>(state: &Abstract<N>) -> Abstract<N> {
    let mut result = Abstract::bottom(&state.vocabulary);
    result.auxiliaries = state.auxiliaries;
    result
}
