//! An automaton that watches S^δ, step by step, as formulas over what it does not know [SYM04, def. 6
//! and 9].

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::{Solver, Substitution, Term, Value, Var};

use super::{Point, Search, Silence, TraceStep};
use crate::faults::NO_VALUE;
use crate::iosts::{Iosts, LocationId, space};
use crate::symbolic::literal;

/// What is known of a constant of the automaton.
#[derive(Clone, Debug)]
pub enum GivenConstant {
    /// Its value.
    Value(Value),
    /// That it is this constant of the specification.
    Shared(Var),
}

/// An automaton over the actions of S^δ.
#[derive(Debug)]
pub struct Watch<'a> {
    model: &'a Iosts,
    constants: Substitution,
    budget: usize,
    start: WatchedStates,
}

/// Where it may be: a location each, with values as terms, and the condition for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WatchedStates(Vec<Point>);

/// The first number of what the automaton does not know, apart from those of the specification.
const FIRST: usize = 1 << 23;

impl<'a> Watch<'a> {
    /// The automaton at its start. Constants that are not given have any values that its assumptions
    /// allow. Each step gives up after `budget` points.
    ///
    /// # Errors
    ///
    /// What was not found out, and why.
    pub fn new(
        model: &'a Iosts,
        given: &[(String, GivenConstant)],
        solver: &mut Solver,
        budget: usize,
    ) -> Result<Self, Arc<str>> {
        let mut search = Search::new(model, &[], Silence::Declared, solver, budget);
        search.fresh = FIRST;
        for constant in model.constants() {
            let var = &constant.var;
            let known = given.iter().find(|(name, _)| **name == *var.name);
            let term = match known.map(|(_, known)| known) {
                Some(GivenConstant::Value(value)) => literal(var, value.clone()),
                Some(GivenConstant::Shared(shared)) => shared.term(),
                None => search.unknown(var),
            };
            search.constants.insert(var.id, term);
        }
        search.start();
        let start = search.reached(0)?;
        let constants = search.constants;
        Ok(Self {
            model,
            constants,
            budget,
            start,
        })
    }

    /// Where it starts.
    pub fn start(&self) -> WatchedStates {
        self.start.clone()
    }

    /// Where it may be after one more step; nowhere, where it has none.
    ///
    /// # Errors
    ///
    /// What was not found out, and why.
    pub fn after(
        &self,
        at: &WatchedStates,
        step: &TraceStep,
        solver: &mut Solver,
    ) -> Result<WatchedStates, Arc<str>> {
        let trace = std::slice::from_ref(step);
        let mut search = Search::new(self.model, trace, Silence::Declared, solver, self.budget);
        search.constants = self.constants.clone();
        search.open[0].extend(at.0.iter().cloned());
        search.reached(1)
    }

    /// Which values of shared constants take it to one of these locations, one condition for each way;
    /// `None` where what it does not know could not be eliminated.
    pub fn ways_to(
        &self,
        at: &WatchedStates,
        locations: &[LocationId],
        solver: &mut Solver,
    ) -> Vec<Option<Term>> {
        let there = at.0.iter().filter(|p| locations.contains(&p.location));
        let condition = |point: &Point| {
            let all = point.condition.free_vars().into_iter();
            let (unknown, shared): (Vec<Var>, Vec<Var>) =
                all.partition(|v| v.id.space() == space::UNKNOWN);
            match (shared.is_empty(), unknown.is_empty()) {
                // The point was kept because its condition has a solution.
                (true, _) => Some(true.into()),
                (false, true) => Some(point.condition.clone()),
                (false, false) => solver.eliminate(&unknown, &point.condition),
            }
        };
        there.map(condition).collect()
    }

    /// Where it may be in words, with the values of its variables where they are known.
    pub fn places(&self, at: &WatchedStates) -> BTreeSet<String> {
        let place = |point: &Point| {
            let name = &self.model.location(point.location).name;
            let known = |term: &Term| term.free_vars().is_empty();
            if point.values.is_empty() || !point.values.iter().all(known) {
                return name.to_string();
            }
            let values = self.model.variables().iter().zip(&point.values);
            let values = values.map(|(v, value)| format!("{} = {value}", v.var.name));
            format!("{name} ({})", values.collect::<Vec<_>>().join(", "))
        };
        at.0.iter().map(place).collect()
    }
}

impl WatchedStates {
    /// Whether it is nowhere: it was left for good.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it may be at one of these locations.
    pub fn may_be_at(&self, locations: &[LocationId]) -> bool {
        self.0.iter().any(|p| locations.contains(&p.location))
    }
}

impl Search<'_> {
    /// All points that have shown so much, as those of a watcher that has shown nothing yet.
    fn reached(&mut self, shown: usize) -> Result<WatchedStates, Arc<str>> {
        self.keeps = true;
        self.explore(false)?;
        if !self.faults.is_empty() {
            return Err(NO_VALUE.into());
        }
        let kept = std::mem::take(&mut self.kept).into_iter();
        let kept = kept.filter(|point| point.shown == shown);
        let kept = kept.map(|point| Point { shown: 0, ..point });
        Ok(WatchedStates(kept.collect()))
    }
}
