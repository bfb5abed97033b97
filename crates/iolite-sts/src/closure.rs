//! Elimination of internal actions, the first half of determinisation [SYM04, §3.3].

use std::collections::BTreeMap;

use iolite_expr::{Solver, Substitution, Term};

use crate::iosts::{Gate, Iosts, LabelKind, LocationId, Transition, TransitionId};
use crate::quantified;

/// Why a system has no deterministic form here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeterminiseError {
    /// Sequences of internal actions have no end.
    #[error("internal actions go round in a circle: {0}")]
    InternalCycle(Box<str>),
    /// A choice was postponed again and again.
    #[error(
        "the choice of {action} in {place} was not settled within {most} locations and transitions: {ways}"
    )]
    Unsettled {
        /// The action.
        action: Box<str>,
        /// The location of the result, a set of locations of the model.
        place: Box<str>,
        /// Where the transitions lead that cannot be told apart, with their guards.
        ways: Box<str>,
        /// The bound.
        most: usize,
    },
    /// The effect of an internal action depends on a value that nobody sees.
    #[error("internal action {0} chooses a value that is read later")]
    HiddenValue(Box<str>),
    /// More locations or transitions than allowed: postponing choices may go on for ever.
    #[error("more than {0} locations or transitions")]
    TooMany(usize),
    /// A term grows too large.
    #[error("an expression grows too large")]
    TooLarge,
}

/// The effect of a sequence of internal actions.
struct Way {
    at: LocationId,
    /// The guards so far, over the values at the start.
    guard: Vec<Term>,
    /// The variables in terms of the values at the start.
    values: Substitution,
}

impl Iosts {
    /// The system without internal actions, with the same traces: each sequence of internal actions
    /// before a visible one becomes part of its guard and its assignments [§3.3].
    pub(crate) fn without_internal(
        &self,
        solver: &mut Solver,
        most: usize,
    ) -> Result<Self, DeterminiseError> {
        if let Some(cycle) = self.internal_circle() {
            return Err(DeterminiseError::InternalCycle(cycle.into()));
        }
        let mut result = self.clone();
        result.transitions.clear();
        for (source, _) in self.locations() {
            let mut open = vec![Way {
                at: source,
                guard: Vec::new(),
                values: Substitution::new(),
            }];
            while let Some(way) = open.pop() {
                for &t in self.outgoing(way.at) {
                    if result.transitions.len() + open.len() > most {
                        return Err(DeterminiseError::TooMany(most));
                    }
                    if self.kind(t) == LabelKind::Internal {
                        open.push(self.longer(&way, t, solver)?);
                    } else {
                        let visible = self.after_way(source, &way, t)?;
                        if !visible.guard.is_false() {
                            result.transitions.push(visible);
                        }
                    }
                }
            }
        }
        let gone: Vec<bool> = self
            .gates
            .iter()
            .map(|g| g.kind == LabelKind::Internal)
            .collect();
        result.drop_actions(&gone);
        result.index_outgoing();
        Ok(result)
    }

    /// A way with one internal transition more.
    fn longer(
        &self,
        way: &Way,
        t: TransitionId,
        solver: &mut Solver,
    ) -> Result<Way, DeterminiseError> {
        let transition = self.transition(t);
        let gate = self.gate(transition.action);
        let hidden = |e: &Term| gate.params.iter().any(|p| e.reads(p.id));
        if transition.assignments.iter().any(|(_, e)| hidden(e)) {
            return Err(DeterminiseError::HiddenValue(gate.name.clone()));
        }
        let guard = if hidden(&transition.guard) {
            // Where the guard is defined for all values, some value satisfies it.
            let body = Term::all([transition.guard.defined(), transition.guard.clone()]);
            quantified::exists(&gate.params, &body.simplify(), |vars, body| {
                solver.eliminate(vars, body)
            })
            .0
        } else {
            transition.guard.clone()
        };
        let mut guards = way.guard.clone();
        guards.push(composed(&guard, &way.values)?);
        Ok(Way {
            at: transition.target,
            guard: guards,
            values: self.composed_values(transition, &way.values)?,
        })
    }

    /// A visible transition behind a way of internal ones.
    fn after_way(
        &self,
        source: LocationId,
        way: &Way,
        t: TransitionId,
    ) -> Result<Transition, DeterminiseError> {
        let transition = self.transition(t);
        let own = composed(&transition.guard, &way.values)?;
        let guard = if way.guard.is_empty() {
            own
        } else {
            let whole = Term::all(way.guard.iter().cloned().chain([own]));
            // Simplified it could hold where it has no value.
            Term::all([whole.defined(), whole]).simplify()
        };
        let values = self.composed_values(transition, &way.values)?;
        let mut assignments = Vec::new();
        for (x, v) in self.variables.iter().enumerate() {
            if let Some(e) = values.get(v.var.id)
                && *e != v.var.term()
            {
                assignments.push((x, e.clone()));
            }
        }
        Ok(Transition {
            source,
            guard,
            assignments,
            ..transition.clone()
        })
    }

    /// A ∘ A': the variables after the transition, where `before` gives them before it.
    pub(crate) fn composed_values(
        &self,
        transition: &Transition,
        before: &Substitution,
    ) -> Result<Substitution, DeterminiseError> {
        let mut after = before.clone();
        for (x, e) in &transition.assignments {
            after.insert(self.variables[*x].var.id, composed(e, before)?);
        }
        Ok(after)
    }
}

/// When a location cannot refuse an input, whatever internal steps are taken before.
pub(crate) struct MustTake(BTreeMap<(LocationId, Box<str>), Term>);

impl MustTake {
    /// The condition over V ∪ C ∪ π; `None` for what is no input.
    pub(crate) fn condition(&self, location: LocationId, gate: &Gate) -> Option<&Term> {
        let input = gate.kind == LabelKind::Input;
        input
            .then(|| self.0.get(&(location, gate.name.clone())))
            .flatten()
    }
}

impl Iosts {
    /// For each location and input: every state that internal steps lead to takes the input, after more
    /// internal steps if need be.
    pub(crate) fn must_take(
        &self,
        solver: &mut Solver,
        most: usize,
    ) -> Result<MustTake, DeterminiseError> {
        let weak = self.without_internal(solver, most)?;
        let taken = |at: LocationId, gate: &Gate| {
            let own = weak.find_gate(gate.kind, &gate.name);
            let ways = weak.outgoing(at).iter().map(|t| weak.transition(*t));
            let ways = ways.filter(|t| Some(t.action) == own);
            Term::any(ways.map(|t| Term::all([t.guard.defined(), t.guard.clone()])))
        };
        let mut all = BTreeMap::new();
        for (source, _) in self.locations() {
            let mut ways = vec![Way {
                at: source,
                guard: Vec::new(),
                values: Substitution::new(),
            }];
            let mut next = 0;
            while next < ways.len() {
                for &t in self.outgoing(ways[next].at) {
                    if self.kind(t) == LabelKind::Internal {
                        if ways.len() > most {
                            return Err(DeterminiseError::TooMany(most));
                        }
                        let longer = self.longer(&ways[next], t, solver)?;
                        ways.push(longer);
                    }
                }
                next += 1;
            }
            for (_, gate) in self.gates().filter(|(_, g)| g.kind == LabelKind::Input) {
                let mut conditions = Vec::new();
                for way in &ways {
                    let here = Term::all(way.guard.iter().cloned());
                    let here = Term::all([here.defined(), here]);
                    let then = composed(&taken(way.at, gate), &way.values)?;
                    conditions.push(Term::any([here.negated(), then]));
                }
                let condition = Term::all(conditions).simplify();
                all.insert((source, gate.name.clone()), condition);
            }
        }
        Ok(MustTake(all))
    }
}

/// The term over the values at the start.
pub(crate) fn composed(term: &Term, values: &Substitution) -> Result<Term, DeterminiseError> {
    let term = term.substitute(values);
    term.map_err(|_| DeterminiseError::TooLarge)
}
