//! out(P) of a set of symbolic states, and the inputs that they specify, as guards.

use iolite_expr::{Term, qe};

use crate::iosts::{GateId, LabelKind, TransitionId};
use crate::symbolic::{Doubt, Symbolic, SymbolicError, SymbolicStates, substituted};
use crate::symbolic_state::SymbolicState;

/// An action that a state may do, with the guard for people and for the solver.
#[derive(Clone, Debug)]
pub struct Enabled {
    /// The action.
    pub action: GateId,
    /// The transition.
    pub transition: TransitionId,
    /// The guard over the action's parameters, constants and unknowns, simplified.
    pub guard: Term,
    /// The path condition of the state.
    pub condition: Term,
}

/// out(P) with guards: outputs, and the condition of quiescence.
#[derive(Clone, Debug)]
pub struct Out {
    /// The outputs.
    pub outputs: Vec<Enabled>,
    /// For each state that may be quiescent: δ's guard and the path condition, both simplified. Where internal
    /// actions go in circles the guard is `true`, and the condition that of the circle.
    pub delta: Vec<(Term, Term)>,
}

impl Symbolic {
    /// The outputs of the states with their guards, and the guards of δ.
    pub fn out(&mut self, states: &SymbolicStates) -> Result<Out, SymbolicError> {
        let outputs = self.enabled(states, LabelKind::Output)?;
        let mut delta: Vec<(Term, Term)> = Vec::new();
        for s in &states.states {
            let guard = self.delta_guard(s.location).guard.clone();
            let map = self.state_map(&s.values(&self.model), None);
            let guard = substituted(&guard, &map)?.simplify();
            // What could not be eliminated for all values of the variables often can for those of the state.
            let guard = qe::eliminate(&[], &guard).unwrap_or(guard);
            let circles = self.livelock(s, &mut Doubt::default())?.conditions;
            let circles = circles
                .into_iter()
                .map(|condition| (true.into(), condition));
            for row in [(guard, s.condition())].into_iter().chain(circles) {
                let joint = Term::all([row.0.clone(), row.1.clone()]).simplify();
                if !joint.is_false() && !delta.contains(&row) {
                    delta.push(row);
                }
            }
        }
        Ok(Out { outputs, delta })
    }

    /// The inputs that the states specify, with their guards.
    pub fn inputs(&mut self, states: &SymbolicStates) -> Result<Vec<Enabled>, SymbolicError> {
        self.enabled(states, LabelKind::Input)
    }

    /// The guard of a transition in a state, over the parameters and what has no value; `None` where
    /// it grows too large.
    pub fn guard_at(&self, state: &SymbolicState, t: TransitionId) -> Option<Term> {
        let map = self.state_map(&state.values(&self.model), None);
        let guard = substituted(&self.model.transition(t).guard, &map).ok()?;
        Some(Term::all([guard.defined(), guard]).simplify())
    }

    fn enabled(
        &mut self,
        states: &SymbolicStates,
        kind: LabelKind,
    ) -> Result<Vec<Enabled>, SymbolicError> {
        let model = self.model.clone();
        let mut out: Vec<Enabled> = Vec::new();
        for s in &states.states {
            for &t in model.outgoing(s.location) {
                if model.kind(t) != kind {
                    continue;
                }
                let Some(way) = self.enabled_at(s, t)? else {
                    continue;
                };
                let seen = out.iter().any(|e| {
                    e.action == way.action && e.guard == way.guard && e.condition == way.condition
                });
                if !seen {
                    out.push(way);
                }
            }
        }
        Ok(out)
    }

    /// A transition in a state; `None` where its guard is plainly false there.
    pub(crate) fn enabled_at(
        &mut self,
        s: &SymbolicState,
        t: TransitionId,
    ) -> Result<Option<Enabled>, SymbolicError> {
        let map = self.state_map(&s.values(&self.model), None);
        let guard = substituted(&self.enabling(t), &map)?.simplify();
        let condition = s.condition();
        let both = Term::all([condition.clone(), guard.clone()]).simplify();
        Ok((!both.is_false()).then(|| Enabled {
            action: self.model.transition(t).action,
            transition: t,
            guard,
            condition,
        }))
    }
}
