//! Assignments over abstract states, and the successors by a transition.

use iolite_expr::{Term, Var};

use super::abstract_state::UNTRACKED;
use super::evaluation::Evaluation;
use super::vocabulary::Role;
use super::{Abstract, LinExpr, NumericDomain, Rhs};
use crate::{Iosts, Transition};

impl<N: NumericDomain> Abstract<N> {
    /// Simultaneous assignment: each variable takes the value of its term over the old values.
    /// Valuations for which a term faults have no successor.
    #[must_use]
    pub fn assign(&self, updates: &[(Var, Term)]) -> Self {
        let mut evaluation = Evaluation::new(self.vocabulary.limits().steps);
        let mut result = Self::bottom(&self.vocabulary);
        for (mut state, chosen) in self.cases(updates, &mut evaluation) {
            let mut numeric = Vec::new();
            for (var, term) in updates {
                if let Some(x) = self.vocabulary.dim(var.id) {
                    let e = evaluation.quantity(&mut state, var, term);
                    numeric.push((x, e.map_or(Rhs::Unknown, Rhs::Linear)));
                }
            }
            state.map(|n| n.assign(&numeric));
            state.keep_auxiliaries(0);
            for (x, _) in &numeric {
                for c in self.vocabulary.sort_constraints(*x) {
                    state.constrain(&c);
                }
            }
            for (i, value) in chosen {
                state.set_finite(i, value);
            }
            result = result.join(&state);
        }
        result
    }

    /// Splits by the new values of the finite variables: pairs of the old valuations and the new
    /// values that they lead to.
    fn cases(
        &self,
        updates: &[(Var, Term)],
        evaluation: &mut Evaluation,
    ) -> Vec<(Self, Vec<(usize, u16)>)> {
        let mut cases = vec![(self.clone(), Vec::new())];
        for (var, term) in updates {
            let Some(Role::Finite(i)) = self.vocabulary.role(var.id) else {
                continue;
            };
            let values = &self.vocabulary.finite[i].values;
            if cases.len() * values.len() > self.vocabulary.limits().parts {
                for (_, chosen) in &mut cases {
                    chosen.push((i, UNTRACKED));
                }
                continue;
            }
            let mut split = Vec::new();
            for (state, chosen) in cases {
                for (at, value) in values.iter().enumerate() {
                    let state = evaluation.is(state.clone(), term, value, true);
                    if !state.is_bottom() {
                        let mut chosen: Vec<(usize, u16)> = chosen.clone();
                        chosen.push((i, at as u16));
                        split.push((state, chosen));
                    }
                }
            }
            cases = split;
        }
        cases
    }

    /// Θ: the valuations in which a model starts.
    pub fn initial(model: &Iosts, vocabulary: &std::sync::Arc<super::Vocabulary>) -> Self {
        Self::top(vocabulary).guard(&model.initial_condition())
    }

    /// The valuations after a transition of the model whose constants and variables this state
    /// describes.
    #[must_use]
    pub fn post(&self, model: &Iosts, transition: &Transition) -> Self {
        let parameters = model.gate(transition.action).params.iter().cloned();
        let wide = self.vocabulary.extended(parameters);
        self.extended(&wide)
            .guard(&transition.guard)
            .assign(&updates(model, transition))
            .restricted(&self.vocabulary)
    }
}

/// The assignments of a transition with their variables.
pub(super) fn updates(model: &Iosts, transition: &Transition) -> Vec<(Var, Term)> {
    let assignments = transition.assignments.iter();
    assignments
        .map(|(x, e)| (model.variables()[*x].var.clone(), e.clone()))
        .collect()
}

impl Evaluation {
    /// What the coordinate of a variable becomes when it takes the term's value.
    pub(super) fn quantity<N: NumericDomain>(
        &mut self,
        state: &mut Abstract<N>,
        var: &Var,
        term: &Term,
    ) -> Option<LinExpr> {
        if var.sort.is_int() {
            self.value(state, term)
        } else {
            self.length(state, term)
        }
    }
}
