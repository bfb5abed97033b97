//! Quiescence of symbolic states: δ where its guard holds, and where internal actions go in circles.

use iolite_expr::{Answer, Fault, Term, Value};
use iolite_lts::QuiescencePolicy;
use rustc_hash::FxHashSet;

use crate::iosts::{LabelKind, LocationId, TransitionId};
use crate::quiescence::DeltaGuard;
use crate::semantics::{Frame, ModelFault};
use crate::symbolic::{
    After, Doubt, NO_VALUE, Symbolic, SymbolicError, SymbolicStates, bounded, literal, substituted,
};
use crate::symbolic_state::{Data, SymbolicState};

impl Symbolic {
    /// The states after δ: those where its guard [def. 7] holds, and with the livelock policy
    /// those on a cycle of internal actions.
    pub fn after_delta(&mut self, states: &SymbolicStates) -> Result<After, SymbolicError> {
        bounded(self.try_after_delta(states))
    }

    fn try_after_delta(&mut self, states: &SymbolicStates) -> Result<After, SymbolicError> {
        let mut doubt = Doubt::default();
        let mut next = Vec::new();
        for s in &states.states {
            match &s.data {
                Data::Concrete(values) => {
                    let quiet = self.is_quiescent(s.location, values, &mut doubt)?;
                    let quiet = match quiet {
                        Some(true) => Some(true),
                        quiet => match self.is_livelocked(s, &mut doubt)? {
                            Some(false) => quiet,
                            livelocked => livelocked,
                        },
                    };
                    let quiet = match quiet {
                        Some(false) => self.unless_faulty(s.location, values, &mut doubt)?,
                        quiet => quiet,
                    };
                    // What is undecided stays, or later outputs of it would be called wrong.
                    if quiet != Some(false) {
                        next.push(SymbolicState {
                            tainted: s.tainted || quiet.is_none(),
                            ..s.clone()
                        });
                    }
                }
                Data::Symbolic { values, condition } => {
                    let DeltaGuard { guard, faulty, .. } = self.delta_guard(s.location).clone();
                    let map = self.state_map(values, None);
                    let fine = substituted(&faulty, &map)?.negated();
                    if !faulty.is_false() && self.is_meaningless(&fine, condition) {
                        doubt.note(NO_VALUE, String::new);
                        next.push(SymbolicState {
                            tainted: true,
                            ..s.clone()
                        });
                    }
                    let guard = substituted(&guard, &map)?;
                    let joint = Term::all([condition.clone(), guard]).simplify();
                    let before = s.certain.then_some(condition);
                    let mut quiet =
                        self.settled(s.location, values.to_vec(), joint, before, &mut doubt);
                    if let Some(quiet) = &mut quiet {
                        quiet.tainted |= s.tainted;
                    }
                    next.extend(quiet);
                    if self.policy != QuiescencePolicy::Strict && self.on_cycle(s.location) {
                        // Whether the values allow the cycle is not decided here.
                        doubt.note(
                            "a cycle of internal actions over unknown values",
                            String::new,
                        );
                        next.push(SymbolicState {
                            tainted: true,
                            ..s.clone()
                        });
                    }
                }
            }
        }
        self.finish(next, doubt)
    }

    /// The guard of δ in a location, with its quantifiers eliminated where possible.
    pub fn delta_guard(&mut self, location: LocationId) -> &DeltaGuard {
        let (model, solver) = (&self.model, &mut self.solver);
        self.delta[location.index()].get_or_insert_with(|| model.delta_guard_with(location, solver))
    }

    /// Whether δ's guard holds in a concrete state, if that is found out.
    pub(crate) fn is_quiescent(
        &mut self,
        location: LocationId,
        values: &[Value],
        doubt: &mut Doubt,
    ) -> Result<Option<bool>, SymbolicError> {
        let guard = self.delta_guard(location).guard.clone();
        self.holds_in(location, values, &guard, doubt)
    }

    /// Where nothing but a guard without a value speaks against δ, it is not known.
    fn unless_faulty(
        &mut self,
        location: LocationId,
        values: &[Value],
        doubt: &mut Doubt,
    ) -> Result<Option<bool>, SymbolicError> {
        let faulty = self.delta_guard(location).faulty.clone();
        if faulty.is_false() || self.holds_in(location, values, &faulty, doubt)? == Some(false) {
            return Ok(Some(false));
        }
        doubt.note(NO_VALUE, String::new);
        Ok(None)
    }

    /// Whether a condition over V ∪ C holds in a concrete state, if that is found out.
    fn holds_in(
        &mut self,
        location: LocationId,
        values: &[Value],
        guard: &Term,
        doubt: &mut Doubt,
    ) -> Result<Option<bool>, SymbolicError> {
        let constants = self.known.clone().unwrap_or_default();
        let frame = Frame {
            variables: values,
            constants: &constants,
            params: &[],
        };
        match guard.eval_bool(&frame) {
            Ok(b) => return Ok(Some(b)),
            Err(e) if e.fault == Fault::Quantifier => {}
            Err(error) => {
                let transition = self.model.outgoing(location).first().copied();
                let transition = transition.unwrap_or(TransitionId::new(0));
                return Err(ModelFault { transition, error }.into());
            }
        }
        let terms: Vec<Term> = self
            .model
            .variables()
            .iter()
            .zip(values)
            .map(|(v, x)| literal(&v.var, x.clone()))
            .collect();
        let closed = substituted(guard, &self.state_map(&terms, None))?.simplify();
        self.solver.push();
        self.solver.assert(&closed);
        let answer = self.solver.check();
        if let Answer::Unknown(reason) = &answer {
            doubt.note(reason, || self.solver.query_text());
        }
        self.solver.pop();
        Ok(answer.decided())
    }

    fn on_cycle(&mut self, location: LocationId) -> bool {
        let model = &self.model;
        self.cycles.get_or_insert_with(|| model.internal_cycles())[location.index()]
    }

    /// Whether a concrete state can come back to itself by internal actions alone, if that is
    /// found out.
    pub(crate) fn is_livelocked(
        &mut self,
        s: &SymbolicState,
        doubt: &mut Doubt,
    ) -> Result<Option<bool>, SymbolicError> {
        if self.policy == QuiescencePolicy::Strict || !self.on_cycle(s.location) {
            return Ok(Some(false));
        }
        let mut complete = true;
        let model = self.model.clone();
        let mut seen: FxHashSet<SymbolicState> = FxHashSet::default();
        let mut stack = vec![s.clone()];
        while let Some(here) = stack.pop() {
            for &t in model.outgoing(here.location) {
                if model.kind(t) != LabelKind::Internal {
                    continue;
                }
                for next in self.internal(&here, t, doubt)? {
                    if next == *s {
                        return Ok(Some(true));
                    }
                    if seen.len() > self.max_states {
                        doubt.note("too many internal steps", String::new);
                        return Ok(None);
                    }
                    if matches!(next.data, Data::Symbolic { .. }) {
                        doubt.note(
                            "a cycle of internal actions over unknown values",
                            String::new,
                        );
                        complete = false;
                    }
                    if seen.insert(next.clone()) {
                        stack.push(next);
                    }
                }
            }
        }
        Ok(complete.then_some(false))
    }
}
