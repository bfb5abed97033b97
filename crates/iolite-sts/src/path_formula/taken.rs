//! Whether every state after a trace takes an input, as uioco asks: at once, or after internal actions; and whether
//! every instance of a model does in some state.

use std::sync::Arc;

use iolite_expr::{Answer, Solver, Term, Var};
use iolite_lts::QuiescencePolicy;

use super::{Beside, FIRST_SHOWN, Point, Search, Silence, TraceStep};
use crate::faults::NO_VALUE;
use crate::iosts::{Iosts, space};

impl Iosts {
    /// Whether every state that shows `trace` takes `input` then, with whatever values the trace leaves
    /// unknown, and what it leaves open as in [`Self::has_trace_beside`]. Each search gives up after `budget`
    /// points of runs.
    ///
    /// # Errors
    ///
    /// What was not found out, and why.
    pub fn takes_after(
        &self,
        (trace, beside): (&[TraceStep], Beside<'_>),
        input: &TraceStep,
        policy: QuiescencePolicy,
        solver: &mut Solver,
        budget: usize,
    ) -> Result<bool, Arc<str>> {
        let search = Search::new(self, trace, Silence::Computed(policy), solver, budget);
        let mut search = search.beside(beside);
        search.keeps = true;
        search.start();
        search.explore(false)?;
        if !search.faults.is_empty() {
            return Err(NO_VALUE.into());
        }
        let fresh = search.fresh;
        let kept = std::mem::take(&mut search.kept);
        for point in kept.into_iter().filter(|p| p.shown == trace.len()) {
            if !self.takes_at(&point, fresh, input, solver, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether all values of the constants with which a run shows `trace` let some run take `input` then. Those
    /// with which a term has no value are no specification.
    ///
    /// # Errors
    ///
    /// What was not found out, and why.
    pub fn every_instance_takes(
        &self,
        trace: &[TraceStep],
        input: &TraceStep,
        policy: QuiescencePolicy,
        solver: &mut Solver,
        budget: usize,
    ) -> Result<bool, Arc<str>> {
        if self.constants().is_empty() {
            return Ok(true);
        }
        let (before, mut faults) = self.ends_and_faults(trace, policy, solver, budget)?;
        let longer: Vec<TraceStep> = trace.iter().chain([input]).cloned().collect();
        let (after, more) = self.ends_and_faults(&longer, policy, solver, budget)?;
        faults.extend(more);
        let mut taken = Vec::new();
        for end in after {
            let unknown = |v: &Var| v.id.space() == space::UNKNOWN;
            let unknowns: Vec<Var> = end.free_vars().into_iter().filter(unknown).collect();
            let known = if unknowns.is_empty() {
                Some(end.clone())
            } else {
                solver.eliminate(&unknowns, &end)
            };
            taken.push(known.unwrap_or_else(|| Term::exists(unknowns, end)));
        }
        let refused = [Term::any(before), Term::any(faults).negated()];
        let refused = refused.into_iter().chain([Term::any(taken).negated()]);
        match solver.check_with(&Term::all(refused).simplify()) {
            Answer::Unsat => Ok(true),
            Answer::Sat(_) => Ok(false),
            Answer::Unknown(why) => Err(why),
        }
    }

    fn takes_at(
        &self,
        at: &Point,
        fresh: usize,
        input: &TraceStep,
        solver: &mut Solver,
        budget: usize,
    ) -> Result<bool, Arc<str>> {
        let trace = std::slice::from_ref(input);
        let mut ways = Search::new(self, trace, Silence::Declared, solver, budget);
        ways.fresh = fresh;
        let start = Point {
            shown: 0,
            ..at.clone()
        };
        ways.seen.insert(start.clone());
        ways.open[0].push_back(start);
        ways.explore(false)?;
        if !ways.faults.is_empty() {
            return Err(NO_VALUE.into());
        }
        // What internal actions choose is the state's own to choose.
        let own = |v: &Var| {
            v.id.space() == space::UNKNOWN && (fresh + 1..FIRST_SHOWN).contains(&v.id.index())
        };
        let taken = ways.ends.iter().map(|end| {
            let chosen: Vec<Var> = end.free_vars().into_iter().filter(own).collect();
            if chosen.is_empty() {
                end.clone()
            } else {
                Term::exists(chosen, end.clone())
            }
        });
        let refused = Term::all([at.condition.clone(), Term::any(taken).negated()]).simplify();
        if refused.is_false() {
            return Ok(true);
        }
        match ways.decide(&[refused]) {
            Answer::Unsat => Ok(true),
            Answer::Sat(_) => Ok(false),
            Answer::Unknown(why) => Err(why),
        }
    }
}
