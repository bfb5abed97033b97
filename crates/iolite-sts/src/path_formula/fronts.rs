//! Where ways are after each of many traces. Traces that begin alike are followed once: what a run through queues asks, order
//! by order and step by step, is mostly one step more than what was asked before.
//!
//! All searches together have one bound, in points of runs and in the work that the solver counts, so that what is not found
//! out is the same on any machine.

use std::sync::Arc;

use iolite_expr::{Answer, Solver, Substitution, Term, Var};
use iolite_lts::QuiescencePolicy;
use rustc_hash::FxHashMap;

use super::{
    Beside, FIRST_SHOWN, HasTrace, PathPlace, Point, RunPlace, Search, Silence, TraceStep, is_left,
    shown_values,
};
use crate::faults::NO_VALUE;
use crate::iosts::{GateId, Iosts, space};
use crate::symbolic::OUT_OF_TIME;

/// What is said where the bound of all searches together ran out.
pub const OUT_OF_POINTS: &str = "the bound on points of runs that are looked at ran out";

/// Work of the solver that counts as one more point.
pub const WORK_OF_A_POINT: u64 = 50;

/// Somebody who may end searches before their bounds do: a bound of the whole command ran out, or a signal came.
#[derive(Clone)]
pub struct Stop(Arc<dyn Fn() -> bool>);

impl Stop {
    /// Searches end once this says so. It is asked at every point.
    pub fn new(is_asked: impl Fn() -> bool + 'static) -> Self {
        Self(Arc::new(is_asked))
    }

    pub(super) fn is_asked(&self) -> bool {
        (self.0)()
    }
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stop")
    }
}

/// All points after a trace, internal actions included.
#[derive(Debug)]
struct Front {
    points: Vec<Point>,
    /// Conditions over the constants under which a term has no value on the way.
    faults: Vec<Term>,
    /// The number of the last unknown value.
    fresh: usize,
}

impl Front {
    fn conditions(&self) -> Vec<Term> {
        self.points.iter().map(|p| p.condition.clone()).collect()
    }
}

/// One step more of a trace; the first has none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Edge {
    step: Option<TraceStep>,
    /// Whether the step may have any values.
    any_values: bool,
    /// Outputs that may be sent after it and that nobody sees.
    unseen: Vec<GateId>,
}

#[derive(Debug)]
struct Node {
    front: Result<Arc<Front>, Arc<str>>,
    next: FxHashMap<Edge, usize>,
}

/// Fronts after the traces of one claim.
#[derive(Debug)]
pub struct Fronts<'a> {
    model: &'a Iosts,
    policy: QuiescencePolicy,
    /// Points for one more step.
    points: usize,
    /// Points for everything that is still asked.
    left: u64,
    nodes: Vec<Node>,
    first: FxHashMap<Edge, usize>,
    /// The node of each front: traces that lead to the same points are one from there on.
    same: FxHashMap<(Vec<Point>, Vec<Term>), usize>,
    /// Who may end searches.
    stop: Option<Stop>,
}

impl<'a> Fronts<'a> {
    /// Nothing is looked at yet. Each step gives up after `points` points of runs, and everything after `all`.
    pub fn new(model: &'a Iosts, policy: QuiescencePolicy, points: usize, all: u64) -> Self {
        Self {
            model,
            policy,
            points,
            left: all,
            nodes: Vec::new(),
            first: FxHashMap::default(),
            same: FxHashMap::default(),
            stop: None,
        }
    }

    /// The same, which somebody may end.
    #[must_use]
    pub fn until(self, stop: Stop) -> Self {
        let stop = Some(stop);
        Self { stop, ..self }
    }

    /// Whether some run shows `trace`, as [`Iosts::has_trace`] says.
    pub fn has(
        &mut self,
        trace: &[TraceStep],
        beside: Beside<'_>,
        solver: &mut Solver,
    ) -> HasTrace {
        let front = match self.front(trace, beside, solver) {
            Ok(front) => front,
            Err(why) if &*why == OUT_OF_TIME || &*why == OUT_OF_POINTS => {
                return HasTrace::Unknown(why);
            }
            // One way may be found where all of them are too many.
            Err(_) => return self.has_at(trace, beside, None, solver),
        };
        let before = trace.split_last().map(|(_, before)| before);
        let before = before.and_then(|before| self.front(before, beside, solver).ok());
        let before = before.map_or_else(Vec::new, |front| front.conditions());
        is_left(solver, &front.faults, front.conditions(), before)
    }

    /// The same for runs that are at this place before the last step of the trace.
    pub fn has_from(
        &mut self,
        trace: &[TraceStep],
        place: &RunPlace,
        solver: &mut Solver,
    ) -> HasTrace {
        self.has_at(trace, Beside::default(), Some(place), solver)
    }

    fn has_at(
        &mut self,
        trace: &[TraceStep],
        beside: Beside<'_>,
        place: Option<&RunPlace>,
        solver: &mut Solver,
    ) -> HasTrace {
        let (model, silence) = (self.model, Silence::Computed(self.policy));
        let stop = self.stop.clone();
        let found = self.counted(solver, |solver, points, most_work| {
            let mut search = Search::new(model, trace, silence, solver, points).beside(beside);
            search.place = place;
            search.most_work = most_work;
            search.stop = stop;
            search.start();
            let found = search.run();
            (found, search.noted)
        });
        found.unwrap_or_else(HasTrace::Unknown)
    }

    /// The conditions for it, one for each way, over constants, unknown values and the parameters of the step that may
    /// have any values.
    ///
    /// # Errors
    ///
    /// What was not found out, and why.
    pub fn conditions(
        &mut self,
        trace: &[TraceStep],
        beside: Beside<'_>,
        solver: &mut Solver,
    ) -> Result<Vec<Term>, Arc<str>> {
        let front = self.front(trace, beside, solver)?;
        let sound = Term::any(front.faults.iter().cloned()).negated();
        let mut map = Substitution::new();
        if let Some(TraceStep::Action(shown)) = beside.any_values_at.and_then(|k| trace.get(k)) {
            let params = &self.model.gate(shown.action).params;
            for (stands, param) in shown_values(params).zip(params) {
                map.insert(stands.id, param.term());
            }
        }
        let ends = front.conditions().into_iter();
        ends.map(|end| {
            let end = Term::all([end, sound.clone()]).substitute(&map);
            end.map_err(|_| "an expression grows too large".into())
        })
        .collect()
    }

    /// All places after a trace, those after internal actions too. Constants with which a term has no value on the
    /// way are left out.
    ///
    /// # Errors
    ///
    /// What was not found out, and why.
    pub fn places(
        &mut self,
        trace: &[TraceStep],
        beside: Beside<'_>,
        solver: &mut Solver,
    ) -> Result<Vec<PathPlace>, Arc<str>> {
        let front = self.front(trace, beside, solver)?;
        let sound = Term::any(front.faults.iter().cloned()).negated();
        let place = |point: &Point| PathPlace {
            location: point.location,
            values: point.values.clone(),
            condition: Term::all([point.condition.clone(), sound.clone()]).simplify(),
            fresh: front.fresh,
        };
        Ok(front.points.iter().map(place).collect())
    }

    /// Whether every state that shows `trace` takes `input` then, at once or after internal actions, with whatever values
    /// the trace leaves unknown.
    ///
    /// # Errors
    ///
    /// What was not found out, and why.
    pub fn takes(
        &mut self,
        (trace, beside): (&[TraceStep], Beside<'_>),
        input: &TraceStep,
        solver: &mut Solver,
    ) -> Result<bool, Arc<str>> {
        let front = self.front(trace, beside, solver)?;
        if !front.faults.is_empty() {
            return Err(NO_VALUE.into());
        }
        let model = self.model;
        for point in &front.points {
            let taken = self.counted(solver, |solver, points, most_work| {
                let taken = model.takes_at(point, front.fresh, input, solver, (points, most_work));
                (taken, 1)
            })?;
            if !taken? {
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
        &mut self,
        trace: &[TraceStep],
        input: &TraceStep,
        solver: &mut Solver,
    ) -> Result<bool, Arc<str>> {
        if self.model.constants().is_empty() {
            return Ok(true);
        }
        let before = self.front(trace, Beside::default(), solver)?.conditions();
        let longer: Vec<TraceStep> = trace.iter().chain([input]).cloned().collect();
        let after = self.front(&longer, Beside::default(), solver)?;
        let mut taken = Vec::new();
        for end in after.conditions() {
            let unknown = |v: &Var| v.id.space() == space::UNKNOWN;
            let unknowns: Vec<Var> = end.free_vars().into_iter().filter(unknown).collect();
            let known = if unknowns.is_empty() {
                Some(end.clone())
            } else {
                solver.eliminate(&unknowns, &end)
            };
            taken.push(known.unwrap_or_else(|| Term::exists(unknowns, end)));
        }
        let sound = Term::any(after.faults.iter().cloned()).negated();
        let refused = [Term::any(before), sound, Term::any(taken).negated()];
        match solver.check_with(&Term::all(refused).simplify()) {
            Answer::Unsat => Ok(true),
            Answer::Sat(_) => Ok(false),
            Answer::Unknown(why) => Err(why),
        }
    }

    /// A number that two traces share which lead to the same points, so that whatever follows one follows the other; `None`
    /// where the points are not known.
    pub fn class(
        &mut self,
        trace: &[TraceStep],
        beside: Beside<'_>,
        solver: &mut Solver,
    ) -> Option<usize> {
        let node = self.node(trace, beside, solver).ok()?;
        self.nodes[node].front.is_ok().then_some(node)
    }

    /// All points after a trace.
    fn front(
        &mut self,
        trace: &[TraceStep],
        beside: Beside<'_>,
        solver: &mut Solver,
    ) -> Result<Arc<Front>, Arc<str>> {
        let node = self.node(trace, beside, solver)?;
        self.nodes[node].front.clone()
    }

    fn node(
        &mut self,
        trace: &[TraceStep],
        beside: Beside<'_>,
        solver: &mut Solver,
    ) -> Result<usize, Arc<str>> {
        let unseen = |k: usize| beside.unseen.get(k).cloned().unwrap_or_default();
        let mut at: Option<usize> = None;
        for k in 0..=trace.len() {
            let step = k.checked_sub(1);
            let edge = Edge {
                step: step.map(|k| trace[k].clone()),
                any_values: step.is_some() && step == beside.any_values_at,
                unseen: unseen(k),
            };
            let next = at.map_or(&self.first, |at| &self.nodes[at].next);
            if let Some(&known) = next.get(&edge) {
                at = Some(known);
                continue;
            }
            let before = match at {
                Some(at) => Some(self.nodes[at].front.clone()?),
                None => None,
            };
            let front = self.one_more(before.as_deref(), &edge, solver);
            if let Err(why) = &front
                && (&**why == OUT_OF_TIME || &**why == OUT_OF_POINTS)
            {
                return Err(why.clone());
            }
            let node = self.note(front);
            let next = match at {
                Some(at) => &mut self.nodes[at].next,
                None => &mut self.first,
            };
            next.insert(edge, node);
            at = Some(node);
        }
        at.ok_or_else(|| OUT_OF_POINTS.into())
    }

    /// The node of a front.
    fn note(&mut self, front: Result<Front, Arc<str>>) -> usize {
        let node = self.nodes.len();
        if let Ok(front) = &front {
            let mut points = front.points.clone();
            points.sort_unstable();
            let known = self.same.entry((points, front.faults.clone()));
            let known = *known.or_insert(node);
            if known < node {
                return known;
            }
        }
        self.nodes.push(Node {
            front: front.map(Arc::new),
            next: FxHashMap::default(),
        });
        node
    }

    /// The front after one more step, or at the start.
    fn one_more(
        &mut self,
        before: Option<&Front>,
        edge: &Edge,
        solver: &mut Solver,
    ) -> Result<Front, Arc<str>> {
        let (model, silence) = (self.model, Silence::Computed(self.policy));
        let trace = edge.step.as_slice();
        let mut unseen = vec![edge.unseen.clone()];
        if before.is_some() {
            unseen.insert(0, Vec::new());
        }
        let beside = Beside {
            unseen: &unseen,
            any_values_at: edge.any_values.then_some(0),
        };
        let stop = self.stop.clone();
        self.counted(solver, |solver, points, most_work| {
            let mut search = Search::new(model, trace, silence, solver, points).beside(beside);
            search.keeps = true;
            search.most_work = most_work;
            search.stop = stop;
            if let Some(before) = before {
                // Internal actions before the step are in the front already.
                search.closed = 1;
                search.fresh = before.fresh;
                for point in &before.points {
                    search.extend(point);
                }
            } else {
                search.start();
            }
            let explored = search.explore(false);
            let shown = trace.len();
            let kept = std::mem::take(&mut search.kept).into_iter();
            let kept = kept.filter(|point| point.shown == shown);
            let earlier = before.map_or(&[][..], |before| &before.faults);
            let mut faults = earlier.to_vec();
            faults.append(&mut search.faults);
            let front = Front {
                points: kept.map(|point| Point { shown: 0, ..point }).collect(),
                faults,
                fresh: search.fresh,
            };
            (explored.map(|_| front), search.noted)
        })?
    }

    /// Searches with what is left of the bound, and takes what it used from it: the points, what was asked of the solver,
    /// and its work.
    fn counted<T>(
        &mut self,
        solver: &mut Solver,
        search: impl FnOnce(&mut Solver, usize, u64) -> (T, usize),
    ) -> Result<T, Arc<str>> {
        if self.left == 0 {
            return Err(OUT_OF_POINTS.into());
        }
        let before = solver.stats();
        let points = usize::try_from(self.left).map_or(self.points, |left| left.min(self.points));
        let most_work = before.work + self.left.saturating_mul(WORK_OF_A_POINT);
        let (found, noted) = search(solver, points, most_work);
        let after = solver.stats();
        let work = (after.work - before.work) / WORK_OF_A_POINT;
        let used = noted as u64 + (after.checks - before.checks) + work;
        self.left = self.left.saturating_sub(used);
        Ok(found)
    }
}

impl Iosts {
    /// Whether a point takes an input, at once or after internal actions, with whatever values it has that are not known.
    fn takes_at(
        &self,
        at: &Point,
        fresh: usize,
        input: &TraceStep,
        solver: &mut Solver,
        (points, most_work): (usize, u64),
    ) -> Result<bool, Arc<str>> {
        let trace = std::slice::from_ref(input);
        let mut ways = Search::new(self, trace, Silence::Declared, solver, points);
        ways.most_work = most_work;
        ways.own_unknowns_after(fresh);
        ways.begin_at(at.clone());
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
