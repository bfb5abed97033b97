//! The concrete semantics of an IOSTS: states ⟨l, v⟩ and valued actions [SYM04, §2].

use std::fmt;
use std::sync::Arc;

use iolite_expr::{Env, EvalError, Model, Value, VarId};

use crate::iosts::{GateId, Iosts, LocationId, TransitionId, space};

/// A valued action ⟨a, w⟩.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValuedAction {
    /// a.
    pub action: GateId,
    /// w, by position.
    pub values: Vec<Value>,
}

impl ValuedAction {
    /// The action with the values that a solver or a sampler found for its parameters; plain ones where
    /// it has none.
    pub fn of(model: &Iosts, action: GateId, found: &Model) -> Self {
        let params = model.gate(action).params.iter();
        let values = params.map(|p| {
            let value = found.value(p.id).cloned();
            value.unwrap_or_else(|| p.sort.default_value())
        });
        Self {
            action,
            values: values.collect(),
        }
    }
}

/// A state ⟨l, v⟩; the constants are kept beside, they never change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// l.
    pub location: LocationId,
    /// v on the variables.
    pub values: Arc<[Value]>,
}

/// A guard or an assignment that has no value: an error of the model, not a verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct ModelFault {
    /// The transition.
    pub transition: TransitionId,
    /// What happened, and the place of the term.
    pub error: EvalError,
}

/// Values of variables, constants and parameters, read by terms.
pub(crate) struct Frame<'a> {
    pub(crate) variables: &'a [Value],
    pub(crate) constants: &'a [Value],
    pub(crate) params: &'a [Value],
}

impl Env for Frame<'_> {
    fn get(&self, var: VarId) -> Option<&Value> {
        match var.space() {
            space::VARIABLE => self.variables,
            space::CONSTANT => self.constants,
            space::PARAMETER => self.params,
            _ => return None,
        }
        .get(var.index())
    }
}

impl Iosts {
    /// s —⟨a, w⟩→ₜ s': the state after a transition, `None` when its guard is false or a value
    /// does not belong to its parameter's sort.
    pub fn fire(
        &self,
        state: &State,
        constants: &[Value],
        transition: TransitionId,
        params: &[Value],
    ) -> Result<Option<State>, ModelFault> {
        if !self.gate(self.transition(transition).action).takes(params) {
            return Ok(None);
        }
        self.fire_fitting(state, constants, transition, params)
    }

    /// The same for values that belong to their parameters' sorts.
    pub(crate) fn fire_fitting(
        &self,
        state: &State,
        constants: &[Value],
        transition: TransitionId,
        params: &[Value],
    ) -> Result<Option<State>, ModelFault> {
        let t = self.transition(transition);
        let frame = Frame {
            variables: &state.values,
            constants,
            params,
        };
        let fault = |error| ModelFault { transition, error };
        if !t.guard.eval_bool(&frame).map_err(fault)? {
            return Ok(None);
        }
        let values = if t.assignments.is_empty() {
            state.values.clone()
        } else {
            let mut new = Vec::with_capacity(t.assignments.len());
            for (_, e) in &t.assignments {
                new.push(e.eval(&frame).map_err(fault)?);
            }
            let mut values: Arc<[Value]> = state.values.clone();
            let slots = Arc::make_mut(&mut values);
            for ((x, _), v) in t.assignments.iter().zip(new) {
                slots[*x] = v;
            }
            values
        };
        Ok(Some(State {
            location: t.target,
            values,
        }))
    }

    /// The state in words.
    pub fn describe(&self, state: &State) -> String {
        let mut out = self.location(state.location).name.to_string();
        for (i, (v, x)) in self.variables.iter().zip(state.values.iter()).enumerate() {
            out.push_str(if i == 0 { " (" } else { ", " });
            out.push_str(&format!("{} = {x}", v.var.name));
        }
        if !self.variables.is_empty() {
            out.push(')');
        }
        out
    }

    /// The valued action as traces show it, without its sigil: `MSG(3, true)`.
    pub fn label(&self, action: &ValuedAction) -> String {
        Valued {
            name: &self.gate(action.action).name,
            values: &action.values,
        }
        .to_string()
    }
}

struct Valued<'a> {
    name: &'a str,
    values: &'a [Value],
}

impl fmt::Display for Valued<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        for (i, v) in self.values.iter().enumerate() {
            write!(f, "{}{v}", if i == 0 { "(" } else { ", " })?;
        }
        if self.values.is_empty() {
            Ok(())
        } else {
            write!(f, ")")
        }
    }
}
