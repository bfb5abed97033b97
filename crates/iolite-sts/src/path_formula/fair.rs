//! Cycles of internal actions that are left where they can be: the policy `fair` of quiescence.

use std::sync::Arc;

use iolite_expr::{Answer, Solver, Term, Var};

use super::{Point, Search, Silence};
use crate::faults::NO_VALUE;
use crate::iosts::{Iosts, LabelKind, LocationId, space};

/// What is said where values decide which internal actions there are.
const NOT_ALWAYS: &str =
    "whether a cycle of internal actions can be left depends on what is not known";

impl Iosts {
    /// Whether a point goes round by internal actions and nothing else: they lead back to it from wherever they lead, and
    /// there is no output on the way. Every place is looked at with its literal values.
    ///
    /// # Errors
    ///
    /// What was not found out, and why: values on the way that are not known, or actions that only some of the constants
    /// allow.
    pub(super) fn stays_silent(
        &self,
        point: &Point,
        fresh: usize,
        solver: &mut Solver,
        budget: usize,
    ) -> Result<bool, Arc<str>> {
        let mut places: Vec<(LocationId, Vec<Term>)> = vec![(point.location, point.values.clone())];
        // For each place those from which one internal action leads to it.
        let mut sources: Vec<Vec<usize>> = vec![Vec::new()];
        let mut next = 0;
        while next < places.len() {
            let (location, values) = places[next].clone();
            if values.iter().any(|value| value.as_value().is_none()) {
                return Err("a cycle of internal actions over unknown values".into());
            }
            if places.len() > budget {
                return Err("too many ways of internal actions".into());
            }
            let here = Point {
                location,
                shown: 0,
                values,
                condition: point.condition.clone(),
            };
            let mut search = Search::new(self, &[], Silence::Declared, solver, budget);
            search.own_unknowns_after(fresh);
            if search.has_output(&here)? {
                return Ok(false);
            }
            search.extend(&here);
            if let Some(doubt) = search.doubt.take() {
                return Err(doubt);
            }
            if !search.faults.is_empty() {
                return Err(NO_VALUE.into());
            }
            let reached: Vec<Point> = search.open[0].drain(..).collect();
            let chosen = |v: &Var| v.id.space() == space::UNKNOWN && v.id.index() > fresh;
            for to in reached {
                if !search.is_there(&point.condition, &to.condition, chosen)? {
                    continue;
                }
                let to = (to.location, to.values);
                let known = places.iter().position(|place| *place == to);
                let index = known.unwrap_or_else(|| {
                    places.push(to);
                    sources.push(Vec::new());
                    places.len() - 1
                });
                sources[index].push(next);
            }
            next += 1;
        }
        let mut leads_back = vec![false; places.len()];
        let mut todo = sources[0].clone();
        while let Some(place) = todo.pop() {
            if !std::mem::replace(&mut leads_back[place], true) {
                todo.extend_from_slice(&sources[place]);
            }
        }
        Ok(leads_back.into_iter().all(|back| back))
    }
}

impl Search<'_> {
    fn has_output(&mut self, here: &Point) -> Result<bool, Arc<str>> {
        let model = self.model;
        for &t in model.outgoing(here.location) {
            if model.kind(t) != LabelKind::Output {
                continue;
            }
            let transition = model.transition(t);
            if !transition.never_faults() {
                return Err(NO_VALUE.into());
            }
            let params = &model.gate(transition.action).params;
            let map = self.substitution(&here.values, &[], &[]);
            let guard = transition.guard.substitute(&map);
            let guard = guard.map_err(|_| "an expression grows too large")?;
            if self.is_there(&here.condition, &guard.simplify(), |v| params.contains(v))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a condition holds for some values of what is `chosen`, whatever the rest is that meets `before`.
    fn is_there(
        &mut self,
        before: &Term,
        condition: &Term,
        chosen: impl Fn(&Var) -> bool,
    ) -> Result<bool, Arc<str>> {
        match self.decide(&[before.clone(), condition.clone()]) {
            Answer::Unsat => return Ok(false),
            Answer::Sat(_) => {}
            Answer::Unknown(why) => return Err(why),
        }
        let chosen: Vec<Var> = condition.free_vars().into_iter().filter(chosen).collect();
        let some = if chosen.is_empty() {
            condition.clone()
        } else {
            let eliminated = self.solver.eliminate(&chosen, condition);
            eliminated.unwrap_or_else(|| Term::exists(chosen, condition.clone()))
        };
        match self.decide(&[before.clone(), some.negated()]) {
            Answer::Unsat => Ok(true),
            Answer::Sat(_) => Err(NOT_ALWAYS.into()),
            Answer::Unknown(why) => Err(why),
        }
    }
}
