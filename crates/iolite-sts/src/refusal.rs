//! Inputs that no state of a set refuses: what uioco takes for specified.
//!
//! A state takes an input if it has it after internal steps. Where sequences of internal steps can be
//! composed into guards, that is a condition over the values of the state; otherwise states with known
//! values are followed step by step, and of others it is not found out.

use std::sync::Arc;

use iolite_expr::{Answer, Term};

use crate::iosts::{GateId, Iosts, LocationId};
use crate::semantics::ValuedAction;
use crate::symbolic::{
    After, Doubt, Symbolic, SymbolicError, SymbolicStates, literal, substituted,
};
use crate::symbolic_state::SymbolicState;

/// Transitions of the system without internal actions.
const MOST: usize = 2_000;

impl Symbolic {
    /// Whether every state takes the input, with each valuation that its condition allows; `None` where
    /// that is not found out.
    pub fn takes_everywhere(
        &mut self,
        states: &SymbolicStates,
        input: &ValuedAction,
    ) -> Result<Option<bool>, SymbolicError> {
        let params = self.model.gate(input.action).params.clone();
        let arguments: Vec<Term> = params
            .iter()
            .zip(&input.values)
            .map(|(p, v)| literal(p, v.clone()))
            .collect();
        let fit = params.iter().zip(&input.values);
        if params.len() != input.values.len() || fit.clone().any(|(p, v)| !p.sort.contains(v)) {
            return Ok(Some(states.is_empty()));
        }
        let mut unknown = false;
        for s in &states.states {
            let weak = self.weakly_enabled(s.location, input.action);
            let taken = if let Some(guard) = weak {
                let map = self.state_map(&s.values(&self.model), Some((&params, &arguments)));
                substituted(&guard, &map)?.simplify()
            } else if let Some(guard) = self.taken_by(s, input.action)? {
                let map = params.iter().zip(&arguments);
                let map = map.map(|(p, v)| (p.id, v.clone())).collect();
                substituted(&guard, &map)?.simplify()
            } else {
                unknown = true;
                continue;
            };
            let refused = Term::all([s.condition(), taken.negated()]).simplify();
            if refused.is_false() {
                continue;
            }
            match self.solver.check_with(&refused) {
                Answer::Unsat => {}
                Answer::Sat(_) if s.is_certain() => return Ok(Some(false)),
                _ => unknown = true,
            }
        }
        Ok((!unknown).then_some(true))
    }

    /// The condition over the parameters of an input under which every state takes it, where all values
    /// are known.
    pub fn everywhere(&mut self, states: &SymbolicStates, input: GateId) -> Option<Term> {
        let mut all = Vec::new();
        for s in &states.states {
            s.as_concrete()?;
            all.push(match self.weakly_enabled(s.location, input) {
                Some(guard) => {
                    let map = self.state_map(&s.values(&self.model), None);
                    substituted(&guard, &map).ok()?.simplify()
                }
                None => self.taken_by(s, input).ok()??,
            });
        }
        Some(Term::all(all).simplify())
    }

    /// The condition over V ∪ C ∪ π under which a location takes an input after internal steps; `None`
    /// where their effects cannot be composed.
    fn weakly_enabled(&mut self, location: LocationId, input: GateId) -> Option<Term> {
        let model = Arc::clone(&self.model);
        let solver = &mut self.solver;
        let without = self.without_internal.get_or_insert_with(|| {
            let closed = model.without_internal(solver, MOST);
            closed.map(Arc::new)
        });
        let without: Arc<Iosts> = Arc::clone(without.as_ref().ok()?);
        let gate = model.gate(input);
        // Internal actions are gone, so ids may be others.
        let action = without.find_gate(gate.kind, &gate.name)?;
        let ways = without.outgoing(location).iter();
        let ways = ways.map(|t| without.transition(*t));
        let ways = ways.filter(|t| t.action == action);
        Some(Term::any(
            ways.map(|t| Term::all([t.guard.defined(), t.guard.clone()])),
        ))
    }

    /// The condition over the parameters of an input under which a state with known values takes it after
    /// internal steps, which are followed one by one: they may go in circles.
    fn taken_by(
        &mut self,
        state: &SymbolicState,
        input: GateId,
    ) -> Result<Option<Term>, SymbolicError> {
        if state.as_concrete().is_none() {
            return Ok(None);
        }
        let alone = vec![state.clone()];
        let closed = match self.finish(&alone, alone.clone(), Doubt::default())? {
            After::Possible(states) if states.is_concrete() => states,
            _ => return Ok(None),
        };
        let model = Arc::clone(&self.model);
        let mut ways = Vec::new();
        for s in &closed.states {
            let map = self.state_map(&s.values(&self.model), None);
            for &t in model.outgoing(s.location) {
                let t = model.transition(t);
                if t.action == input {
                    let guard = Term::all([t.guard.defined(), t.guard.clone()]);
                    ways.push(substituted(&guard, &map)?);
                }
            }
        }
        Ok(Some(Term::any(ways).simplify()))
    }
}
