//! Inputs that only some values of the unknown constants specify.
//!
//! S(c) for one valuation c of the constants says nothing about what follows an input that it does
//! not specify. So a run that is given such an input is explained by c, whatever comes after it.

use iolite_expr::{Answer, Term};

use crate::semantics::ValuedAction;
use crate::symbolic::{Symbolic, SymbolicError, SymbolicStates, literal, substituted};

impl Symbolic {
    /// Whether every valuation of the constants that explains how the states were reached specifies
    /// this input; `None` where that is not found out.
    pub fn specifies(
        &mut self,
        states: &SymbolicStates,
        input: &ValuedAction,
    ) -> Result<Option<bool>, SymbolicError> {
        let model = self.model.clone();
        let params = &model.gate(input.action).params;
        let arguments: Vec<Term> = params
            .iter()
            .zip(&input.values)
            .map(|(p, v)| literal(p, v.clone()))
            .collect();
        let mut open = Vec::new();
        let mut covered = Vec::new();
        let mut exact = true;
        for s in &states.states {
            let map = self.state_map(&s.values(&self.model), Some((params, &arguments)));
            let mut ways = Vec::new();
            for &t in model.outgoing(s.location) {
                if model.transition(t).action == input.action {
                    // Constants with which it faults are no specification at all.
                    ways.push(substituted(&self.enabling(t), &map)?);
                    ways.push(substituted(&self.faulting(t), &map)?);
                }
            }
            let condition = s.condition();
            let taken = Term::any(ways).simplify();
            if !taken.is_true() {
                open.push(condition.clone());
            }
            let both = Term::all([condition, taken]).simplify();
            match self.project(&both) {
                Some(constants) => covered.push(constants),
                None => exact = false,
            }
        }
        let left_over = Term::any(covered).negated();
        for condition in open {
            let left_over = Term::all([condition, left_over.clone()]).simplify();
            match self.solver.check_with(&left_over) {
                Answer::Unsat => {}
                Answer::Sat(_) if exact => return Ok(Some(false)),
                _ => return Ok(None),
            }
        }
        Ok(Some(true))
    }
}
