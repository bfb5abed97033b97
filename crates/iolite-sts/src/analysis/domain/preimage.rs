//! Backwards through guards and assignments, for coreachability.

use std::collections::BTreeMap;

use iolite_expr::{Term, Var};

use super::abstract_state::UNTRACKED;
use super::assignment::updates;
use super::evaluation::Evaluation;
use super::{Abstract, Constraint, NumericDomain};
use crate::{Iosts, Transition};

impl<N: NumericDomain> Abstract<N> {
    /// The valuations that satisfy the guard and that the assignment leads into `self`: the terms
    /// are put into the constraints where they are linear, and anywhere else any value will do.
    /// The result is over the vocabulary of `source`, which is an extension of this one's, and lies
    /// within `source`.
    #[must_use]
    pub fn preimage(&self, source: &Self, guard: &Term, updates: &[(Var, Term)]) -> Self {
        let source = source.guard(guard);
        let mut evaluation = Evaluation::new(self.vocabulary.limits().steps);
        let mut result = Self::bottom(&source.vocabulary);
        for (key, target) in &self.parts {
            let mut state = source.clone();
            for (i, value) in key.iter().enumerate().filter(|(_, v)| **v != UNTRACKED) {
                let finite = &self.vocabulary.finite[i];
                let update = updates.iter().rfind(|(v, _)| *v == finite.var);
                match update {
                    Some((_, term)) => {
                        let value = &finite.values[usize::from(*value)];
                        state = evaluation.is(state, term, value, true);
                    }
                    None => state.keep_finite(i, *value, true),
                }
            }
            let mut map = BTreeMap::new();
            let mut unknown = Vec::new();
            for (var, term) in updates {
                let Some(x) = self.vocabulary.dim(var.id) else {
                    continue;
                };
                match evaluation.quantity(&mut state, var, term) {
                    Some(e) => drop(map.insert(x, e)),
                    None => unknown.push(x),
                }
            }
            for c in target.forget(&unknown).constraints() {
                state.constrain(&Constraint {
                    expr: c.expr.substitute(&map),
                    relation: c.relation,
                });
            }
            state.keep_auxiliaries(0);
            result = result.join(&state);
        }
        result
    }

    /// The valuations of `before` from which a transition can lead into `self`. Give
    /// [`top`](Self::top) for `before`, or what is known to be reachable.
    #[must_use]
    pub fn pre(&self, model: &Iosts, transition: &Transition, before: &Self) -> Self {
        let parameters = model.gate(transition.action).params.iter().cloned();
        let wide = self.vocabulary.extended(parameters);
        let source = before.extended(&wide);
        self.preimage(&source, &transition.guard, &updates(model, transition))
            .restricted(&self.vocabulary)
    }
}
