//! Quiescence of symbolic states: δ where its guard holds, and where internal actions go in circles.

use iolite_expr::{Answer, Fault, Term, Value};
use iolite_lts::QuiescencePolicy;
use rustc_hash::FxHashSet;

use crate::iosts::{LabelKind, LocationId, TransitionId};
use crate::quiescence::DeltaGuard;
use crate::semantics::{Frame, ModelFault};
use crate::symbolic::{
    After, Doubt, Symbolic, SymbolicError, SymbolicStates, bounded, literal, substituted,
};
use crate::symbolic_state::{Data, SymbolicState};

impl Symbolic {
    /// The states after δ: those where its guard [def. 7] holds, and with the livelock policy
    /// those on a cycle of internal actions.
    pub fn after_delta(&mut self, states: &SymbolicStates) -> Result<After, SymbolicError> {
        bounded(self.try_after_delta(states))
    }

    fn try_after_delta(&mut self, states: &SymbolicStates) -> Result<After, SymbolicError> {
        self.fault = None;
        let mut doubt = Doubt::default();
        let mut next = Vec::new();
        for s in &states.states {
            let quiet = match &s.data {
                Data::Concrete(values) => self.is_quiescent(s, values, &mut doubt)?,
                Data::Symbolic { values, condition } => {
                    let DeltaGuard { guard, faulty, .. } = self.delta_guard(s.location).clone();
                    let map = self.state_map(values, None);
                    let place = self.model.location(s.location).span;
                    let faulty = substituted(&faulty, &map)?;
                    self.exclude(condition, &faulty, place, &mut doubt);
                    let guard = substituted(&guard, &map)?;
                    let joint = Term::all([condition.clone(), guard]).simplify();
                    let before = s.certain.then_some(condition);
                    next.extend(self.settled_beside(s, joint, before, &mut doubt));
                    Some(false)
                }
            };
            if quiet == Some(true) {
                next.push(s.clone());
                continue;
            }
            let Livelock {
                conditions,
                decided,
            } = self.livelock(s, &mut doubt)?;
            for condition in conditions {
                next.extend(self.settled_beside(s, condition, None, &mut doubt));
            }
            // What is undecided stays, or later outputs of it would be called wrong.
            if quiet.is_none() || !decided {
                next.push(SymbolicState {
                    tainted: true,
                    ..s.clone()
                });
            }
        }
        self.finish(&states.states, next, doubt)
    }

    /// The same place with the same values, under another condition.
    fn settled_beside(
        &mut self,
        s: &SymbolicState,
        condition: Term,
        before: Option<&Term>,
        doubt: &mut Doubt,
    ) -> Option<SymbolicState> {
        let next = self.settled(s.location, s.values(&self.model), condition, before, doubt)?;
        Some(SymbolicState {
            tainted: s.tainted,
            ..next
        })
    }

    /// The guard of δ in a location, with its quantifiers eliminated where possible.
    pub(crate) fn delta_guard(&mut self, location: LocationId) -> &DeltaGuard {
        let (model, solver) = (&self.model, &mut self.solver);
        self.delta[location.index()].get_or_insert_with(|| model.delta_guard_with(location, solver))
    }

    /// Whether δ's guard holds in a concrete state, if that is found out. Where nothing but a guard
    /// without a value speaks against δ, the model has no meaning.
    pub(crate) fn is_quiescent(
        &mut self,
        s: &SymbolicState,
        values: &[Value],
        doubt: &mut Doubt,
    ) -> Result<Option<bool>, SymbolicError> {
        let DeltaGuard { guard, faulty, .. } = self.delta_guard(s.location).clone();
        let quiet = self.holds_in(s.location, values, &guard, doubt)?;
        if quiet == Some(false)
            && !faulty.is_false()
            && self.holds_in(s.location, values, &faulty, doubt)? != Some(false)
        {
            self.fault = Some(self.model.location(s.location).span);
            doubt.fault(true.into());
        }
        Ok(quiet)
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
        let Livelock {
            conditions,
            decided,
        } = self.livelock(s, doubt)?;
        Ok(match (conditions.is_empty(), decided) {
            (false, _) => Some(true),
            (true, true) => Some(false),
            (true, false) => None,
        })
    }

    /// When a state can come back to itself by internal actions alone.
    pub(crate) fn livelock(
        &mut self,
        s: &SymbolicState,
        doubt: &mut Doubt,
    ) -> Result<Livelock, SymbolicError> {
        let mut found = Livelock {
            conditions: Vec::new(),
            decided: true,
        };
        if self.policy == QuiescencePolicy::Strict || !self.on_cycle(s.location) {
            return Ok(found);
        }
        if self.policy == QuiescencePolicy::Fair {
            match self.is_never_left(s)? {
                Some(true) => found.conditions.push(s.condition()),
                Some(false) => {}
                None => {
                    doubt.note(
                        "whether a cycle of internal actions can be left",
                        String::new,
                    );
                    found.decided = false;
                }
            }
            return Ok(found);
        }
        let model = self.model.clone();
        let mut seen: FxHashSet<SymbolicState> = FxHashSet::default();
        let mut stack = vec![s.clone()];
        while let Some(here) = stack.pop() {
            // Two states with the same literal values are the same place; with terms one cannot
            // tell.
            if !here.has_literal_values() || seen.len() > self.max_states {
                doubt.note(
                    "a cycle of internal actions over unknown values",
                    String::new,
                );
                found.decided = false;
                return Ok(found);
            }
            for &t in model.outgoing(here.location) {
                if model.kind(t) != LabelKind::Internal {
                    continue;
                }
                for next in self.internal(&here, t, doubt)? {
                    if next.location == s.location && next.values(&model) == s.values(&model) {
                        let condition = next.condition();
                        if next.certain && !found.conditions.contains(&condition) {
                            found.conditions.push(condition);
                        }
                        found.decided &= next.certain;
                    } else if seen.insert(next.clone()) {
                        stack.push(next);
                    }
                }
            }
        }
        Ok(found)
    }
}

impl Symbolic {
    /// Whether internal actions lead a state back to itself, from wherever else they lead it, and no output comes on the
    /// way: the strongly connected part that it is in is left by nothing. `None` where values or constants decide it that
    /// are not known.
    fn is_never_left(&mut self, s: &SymbolicState) -> Result<Option<bool>, SymbolicError> {
        let model = self.model.clone();
        let whole = s.condition();
        let mut doubt = Doubt::default();
        let mut part = vec![s.clone()];
        let mut steps: Vec<Vec<usize>> = Vec::new();
        while let Some(here) = part.get(steps.len()).cloned() {
            if !here.has_literal_values() || part.len() > self.max_states {
                return Ok(None);
            }
            let mut row = Vec::new();
            for &t in model.outgoing(here.location) {
                match model.kind(t) {
                    LabelKind::Output => {
                        let next = self.stepped(&here, t, None, &mut doubt)?;
                        if let Some(next) = next {
                            let sure = next.certain && self.known.is_some() && doubt.is_none();
                            return Ok(sure.then_some(false));
                        }
                    }
                    LabelKind::Internal => {
                        for next in self.internal(&here, t, &mut doubt)? {
                            if !next.certain || next.condition() != whole {
                                return Ok(None);
                            }
                            let same = |p: &SymbolicState| {
                                p.location == next.location
                                    && p.values(&model) == next.values(&model)
                            };
                            let known = part.iter().position(same);
                            row.push(known.unwrap_or(part.len()));
                            if known.is_none() {
                                part.push(next);
                            }
                        }
                    }
                    _ => {}
                }
            }
            if !doubt.is_none() {
                return Ok(None);
            }
            steps.push(row);
        }
        // Those that come back, found in rounds: each round adds what steps to one of them.
        let mut back = FxHashSet::from_iter([0]);
        loop {
            let before = back.len();
            let comes = |k: &usize| steps[*k].iter().any(|to| back.contains(to));
            let more: Vec<usize> = (0..part.len()).filter(comes).collect();
            back.extend(more);
            if back.len() == before {
                break;
            }
        }
        Ok(Some(!steps[0].is_empty() && back.len() == part.len()))
    }
}

/// When a state is on a cycle of internal actions.
pub(crate) struct Livelock {
    /// Under each of these it is.
    pub(crate) conditions: Vec<Term>,
    /// Whether there are no others.
    decided: bool,
}
