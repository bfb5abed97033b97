//! Whether a model has a suspension trace, asked the slow way: one formula for each way through
//! the locations that could explain the trace.
//!
//! It shares terms and solver with [`Symbolic`](crate::Symbolic), and none of its sets of states,
//! so that a verdict can be looked at again and the fast way be tested against it.

mod fair;
mod fronts;
mod places;
mod solved;
mod watch;

use std::collections::VecDeque;
use std::sync::Arc;

use iolite_expr::{Answer, Op, Solver, Span, Substitution, Term, Value, Var, VarId};
use iolite_lts::QuiescencePolicy;
use rustc_hash::FxHashMap;

use crate::faults::NO_VALUE;
use crate::iosts::{GateId, Iosts, LabelKind, LocationId, Transition, space};
use crate::semantics::ValuedAction;
use crate::symbolic::{OUT_OF_TIME, literal};

pub use fronts::{Fronts, OUT_OF_POINTS, Stop, WORK_OF_A_POINT};
pub use places::PathPlace;
pub use watch::{GivenConstant, Watch, WatchedStates};

/// One step of a suspension trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TraceStep {
    /// An input or output with its values.
    Action(ValuedAction),
    /// δ.
    Delta,
}

/// Whether there is a run that shows a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HasTrace {
    /// There is.
    Yes,
    /// There is none.
    No,
    /// It was not found out, and why.
    Unknown(Arc<str>),
}

/// Where a run is, with all values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPlace {
    /// The location.
    pub location: LocationId,
    /// The values of the variables, in their order.
    pub values: Vec<Value>,
    /// Those of the constants.
    pub constants: Vec<Value>,
}

/// What a trace leaves open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// Outputs that may be sent and that nobody sees, after `k` steps of the trace those of `unseen[k]`.
    pub unseen: &'a [Vec<GateId>],
    /// A step of the trace whose action may have any values; those that it is given do not count.
    pub any_values_at: Option<usize>,
}

/// The number of the first unknown value that stands for a parameter of the step that may have any values.
const FIRST_SHOWN: usize = 1 << 23;

/// What stands for the parameters of the step that may have any values, so that no quantifier over them catches it.
fn shown_values(params: &[Var]) -> impl Iterator<Item = Var> {
    params.iter().enumerate().map(|(k, p)| {
        let id = VarId::new(space::UNKNOWN, FIRST_SHOWN + k);
        Var::new(id, &p.name, p.sort.clone())
    })
}

/// Rows of values that are taken one by one.
const FEW: usize = 16;

/// All values of parameters, where there are few.
fn few_rows(params: &[Var]) -> Option<Vec<Vec<Term>>> {
    let mut rows = vec![Vec::new()];
    for param in params {
        let column = param.sort.values(FEW as u64)?;
        let longer = rows.iter().flat_map(|row: &Vec<Term>| {
            let with = |v: &Value| {
                row.iter()
                    .cloned()
                    .chain([literal(param, v.clone())])
                    .collect()
            };
            column.iter().map(with)
        });
        rows = longer.collect();
        if rows.len() > FEW {
            return None;
        }
    }
    Some(rows)
}

/// What δ is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Silence {
    /// Where nothing else is possible [SYM04, def. 7].
    Computed(QuiescencePolicy),
    /// An action like the others, as automata have it that watch S^δ.
    Declared,
}

/// A point of a run: where it is, what it has shown, the values as terms over what is not known,
/// and the condition under which it comes here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Point {
    location: LocationId,
    shown: usize,
    values: Vec<Term>,
    condition: Term,
}

/// Where a point is, whatever its condition.
type Spot = (LocationId, usize, Vec<Term>);

struct Search<'a> {
    model: &'a Iosts,
    solver: &'a mut Solver,
    silence: Silence,
    trace: &'a [TraceStep],
    budget: usize,
    fresh: usize,
    /// Unknown values with greater numbers are of this search alone: nobody outside it reads them.
    own_after: usize,
    /// What stands for constants.
    constants: Substitution,
    /// Outputs that nobody sees, for each number of steps that were shown.
    unseen: &'a [Vec<GateId>],
    /// A step of the trace that may have any values.
    any_values_at: Option<usize>,
    /// Where the run is before the last step of the trace, where that is asked.
    place: Option<&'a RunPlace>,
    /// Points that have shown less are closed under what is not shown.
    closed: usize,
    /// Work of the solver, with what it did before, after which the search gives up.
    most_work: u64,
    /// Who may end it.
    stop: Option<Stop>,
    /// Whether every point is kept.
    keeps: bool,
    kept: Vec<Point>,
    /// A point that ways may come back to, and when they do.
    circle: Option<(Point, Vec<Term>)>,
    doubt: Option<Arc<str>>,
    /// By how much of the trace they have shown; those that have shown most come first.
    open: Vec<VecDeque<Point>>,
    /// Where ways have come to, with the conditions of each.
    seen: FxHashMap<Spot, Vec<Term>>,
    /// Points that were noted.
    noted: usize,
    /// Size of the terms of all points.
    size: u64,
    /// Whether a term of the model may have no value. Constants with which one faults on the way are
    /// no specification, so all ways have to be looked at before anything is said.
    may_fault: bool,
    /// Conditions over the constants under which a term has no value.
    faults: Vec<Term>,
    /// Conditions of points one step before the end of the trace, and at it.
    before: Vec<Term>,
    ends: Vec<Term>,
}

/// Where internal actions go in circles, points grow without end.
const MOST_TERMS: u64 = 1_000_000;

impl Iosts {
    /// Whether some run of the model shows `trace`: δ where no output and no internal action is
    /// possible, internal actions anywhere between. Constants have any values that the
    /// assumptions allow. The search gives up after `budget` points of runs.
    pub fn has_trace(
        &self,
        trace: &[TraceStep],
        policy: QuiescencePolicy,
        solver: &mut Solver,
        budget: usize,
    ) -> HasTrace {
        let mut search = Search::new(self, trace, Silence::Computed(policy), solver, budget);
        search.start();
        search.run()
    }

    /// The conditions over constants and unknown values under which a run shows `trace`, one for each
    /// way.
    ///
    /// # Errors
    ///
    /// What was not found out, and why.
    pub fn trace_conditions(
        &self,
        trace: &[TraceStep],
        policy: QuiescencePolicy,
        solver: &mut Solver,
        budget: usize,
    ) -> Result<Vec<Term>, Arc<str>> {
        let mut search = Search::new(self, trace, Silence::Computed(policy), solver, budget);
        search.start();
        search.explore(false)?;
        let sound = Term::any(search.faults).negated();
        let ends = search.ends.into_iter();
        Ok(ends.map(|end| Term::all([end, sound.clone()])).collect())
    }
}

impl<'a> Search<'a> {
    fn new(
        model: &'a Iosts,
        trace: &'a [TraceStep],
        silence: Silence,
        solver: &'a mut Solver,
        budget: usize,
    ) -> Self {
        Self {
            model,
            solver,
            silence,
            trace,
            budget,
            fresh: 0,
            own_after: 0,
            constants: Substitution::new(),
            unseen: &[],
            any_values_at: None,
            place: None,
            closed: 0,
            most_work: u64::MAX,
            stop: None,
            keeps: false,
            kept: Vec::new(),
            circle: None,
            doubt: None,
            open: vec![VecDeque::new(); trace.len() + 1],
            seen: FxHashMap::default(),
            noted: 0,
            size: 0,
            may_fault: model.transitions().any(|(_, t)| !t.never_faults()),
            faults: Vec::new(),
            before: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The same with what the trace leaves open.
    fn beside(self, beside: Beside<'a>) -> Self {
        Self {
            unseen: beside.unseen,
            any_values_at: beside.any_values_at,
            ..self
        }
    }
}

fn decide(solver: &mut Solver, conditions: &[Term]) -> Answer {
    solver.push();
    for condition in conditions {
        solver.assert(condition);
    }
    let answer = solver.check();
    solver.pop();
    answer
}

/// Whether some of the constants with which no term faults show a trace: `ends` are the conditions of ways that show it,
/// `before` of those that show all but its last step.
fn is_left(solver: &mut Solver, faults: &[Term], ends: Vec<Term>, before: Vec<Term>) -> HasTrace {
    if faults.is_empty() {
        return if ends.is_empty() {
            HasTrace::No
        } else {
            HasTrace::Yes
        };
    }
    let sound = Term::any(faults.iter().cloned()).negated();
    let mut left = |conditions: Vec<Term>| {
        let mut undecided = None;
        for condition in conditions {
            match decide(solver, &[condition, sound.clone()]) {
                Answer::Sat(_) => return Ok(true),
                Answer::Unsat => {}
                Answer::Unknown(why) => undecided = Some(why),
            }
        }
        undecided.map_or(Ok(false), Err)
    };
    match left(ends).and_then(|ends| Ok((ends, left(before)?))) {
        Ok((true, _)) => HasTrace::Yes,
        Ok((false, true)) => HasTrace::No,
        Ok((false, false)) => HasTrace::Unknown(NO_VALUE.into()),
        Err(why) => HasTrace::Unknown(why),
    }
}

impl Search<'_> {
    /// Follows all ways; `true` as soon as one shows the whole trace, where one is enough.
    fn explore(&mut self, one_is_enough: bool) -> Result<bool, Arc<str>> {
        while let Some(point) = self.open.iter_mut().rev().find_map(VecDeque::pop_front) {
            let condition = std::slice::from_ref(&point.condition);
            let possible = match self.decide(condition) {
                Answer::Unsat => continue,
                Answer::Sat(_) => true,
                Answer::Unknown(why) => {
                    self.doubt.get_or_insert(why);
                    false
                }
            };
            if self.keeps && possible {
                self.kept.push(point.clone());
            } else if possible && point.shown + 1 >= self.trace.len() {
                let end = point.shown == self.trace.len();
                if end && one_is_enough {
                    return Ok(true);
                }
                let conditions = if end {
                    &mut self.ends
                } else {
                    &mut self.before
                };
                conditions.push(point.condition.clone());
            }
            if self.solver.is_out_of_time() || self.stop.as_ref().is_some_and(Stop::is_asked) {
                return Err(OUT_OF_TIME.into());
            }
            if self.noted > self.budget || self.size > MOST_TERMS {
                return Err("too many ways to explain the trace".into());
            }
            if self.solver.stats().work > self.most_work {
                return Err(OUT_OF_POINTS.into());
            }
            self.extend(&point);
        }
        self.doubt.take().map_or(Ok(false), Err)
    }

    fn run(&mut self) -> HasTrace {
        match self.explore(!self.may_fault) {
            Ok(true) => return HasTrace::Yes,
            Ok(false) => {}
            Err(why) => return HasTrace::Unknown(why),
        }
        let (ends, before) = (
            std::mem::take(&mut self.ends),
            std::mem::take(&mut self.before),
        );
        is_left(self.solver, &self.faults, ends, before)
    }

    fn decide(&mut self, conditions: &[Term]) -> Answer {
        decide(self.solver, conditions)
    }

    fn unknown(&mut self, like: &Var) -> Term {
        self.fresh += 1;
        let id = VarId::new(space::UNKNOWN, self.fresh);
        Var::new(
            id,
            &format!("{}'{}", like.name, self.fresh),
            like.sort.clone(),
        )
        .term()
    }

    fn start(&mut self) {
        let model = self.model;
        let mut parts = Vec::new();
        let mut values = Vec::new();
        for v in model.variables() {
            values.push(match &v.initial {
                Some(initial) => {
                    parts.push(initial.defined());
                    let Ok(initial) = initial.substitute(&self.constants) else {
                        self.doubt = Some("an expression grows too large".into());
                        return;
                    };
                    initial
                }
                None => self.unknown(&v.var),
            });
        }
        let map = self.substitution(&values, &[], &[]);
        for assumption in model.assumptions() {
            parts.push(assumption.defined());
            parts.push(assumption.clone());
        }
        self.push(model.initial(), 0, &values, Term::from(true), &parts, &map);
    }

    /// Notes a point whose condition is `before` and the parts, with the map applied to them.
    fn push(
        &mut self,
        location: LocationId,
        shown: usize,
        values: &[Term],
        before: Term,
        parts: &[Term],
        map: &Substitution,
    ) {
        let parts: Result<Vec<Term>, _> = parts.iter().map(|t| t.substitute(map)).collect();
        let Ok(parts) = parts else {
            self.doubt
                .get_or_insert("an expression grows too large".into());
            return;
        };
        let Ok((values, condition)) = self.solved(values, before, parts) else {
            self.doubt
                .get_or_insert("an expression grows too large".into());
            return;
        };
        let point = Point {
            location,
            shown,
            values,
            condition,
        };
        if point.condition.is_false() {
            return;
        }
        self.note_circle(&point);
        if self.is_new(&point) {
            let terms = point.values.iter().chain([&point.condition]);
            self.size += terms.map(|t| u64::from(t.size())).sum::<u64>();
            self.open[shown].push_back(point);
        }
    }

    fn extend(&mut self, point: &Point) {
        let model = self.model;
        let trace = self.trace;
        for &t in model.outgoing(point.location) {
            let transition = model.transition(t);
            let params = &model.gate(transition.action).params;
            let closed = point.shown < self.closed;
            let unseen = self.unseen.get(point.shown).filter(|_| !closed);
            if unseen.is_some_and(|gates| gates.contains(&transition.action)) {
                self.fire_unseen(point, transition);
            }
            match (trace.get(point.shown), model.kind(t)) {
                (_, LabelKind::Internal) if closed => {}
                (_, LabelKind::Internal) => {
                    let arguments = params.iter().map(|p| self.unknown(p)).collect::<Vec<_>>();
                    self.fire(point, transition, &arguments, 0);
                }
                (Some(TraceStep::Action(seen)), _)
                    if seen.action == transition.action
                        && self.any_values_at == Some(point.shown) =>
                {
                    let arguments: Vec<Term> = shown_values(params).map(|v| v.term()).collect();
                    self.fire(point, transition, &arguments, 1);
                }
                (Some(TraceStep::Action(seen)), _) if seen.action == transition.action => {
                    let fits = |(p, v): (&Var, &Value)| p.sort.contains(v);
                    if params.len() == seen.values.len()
                        && params.iter().zip(&seen.values).all(fits)
                    {
                        let arguments = params.iter().zip(&seen.values);
                        let arguments: Vec<Term> =
                            arguments.map(|(p, v)| literal(p, v.clone())).collect();
                        self.fire(point, transition, &arguments, 1);
                    }
                }
                (Some(TraceStep::Delta), LabelKind::Delta) => {
                    self.fire(point, transition, &[], 1);
                }
                _ => {}
            }
        }
        if let (Silence::Computed(policy), Some(TraceStep::Delta)) =
            (self.silence, trace.get(point.shown))
        {
            self.stay_silent(point, policy);
        }
    }

    fn fire(&mut self, point: &Point, transition: &Transition, arguments: &[Term], shows: usize) {
        let model = self.model;
        let params = &model.gate(transition.action).params;
        let map = self.substitution(&point.values, params, arguments);
        let mut parts = vec![transition.guard.defined(), transition.guard.clone()];
        parts.extend(transition.assignments.iter().map(|(_, e)| e.defined()));
        let mut values = point.values.clone();
        for (x, e) in &transition.assignments {
            let Ok(value) = e.substitute(&map) else {
                self.doubt
                    .get_or_insert("an expression grows too large".into());
                return;
            };
            values[*x] = value;
        }
        self.note_fault(point, transition, &map);
        let shown = point.shown + shows;
        if shows > 0 && shown == self.trace.len() && !self.is_at_place(point, &mut parts) {
            return;
        }
        self.push(
            transition.target,
            shown,
            &values,
            point.condition.clone(),
            &parts,
            &map,
        );
    }

    /// An output that nobody sees. Values that nothing remembers are eliminated, so that sending it again and again
    /// comes to an end.
    fn fire_unseen(&mut self, point: &Point, transition: &Transition) {
        let params = &self.model.gate(transition.action).params;
        let mut effects = transition.assignments.iter().map(|(_, e)| e);
        let remembered = effects.any(|e| params.iter().any(|p| e.reads(p.id)));
        if !params.is_empty()
            && !remembered
            && transition.never_faults()
            && let Some(guard) = self.solver.eliminate(params, &transition.guard)
        {
            let some = Transition {
                guard,
                ..transition.clone()
            };
            return self.fire(point, &some, &[], 0);
        }
        // What few values lead to is a value again, and is met again.
        if let Some(rows) = few_rows(params) {
            for row in rows {
                self.fire(point, transition, &row, 0);
            }
            return;
        }
        let arguments: Vec<Term> = params.iter().map(|p| self.unknown(p)).collect();
        self.fire(point, transition, &arguments, 0);
    }

    /// Whether a point may be where the run is asked to be, with what its values must be then.
    fn is_at_place(&self, point: &Point, parts: &mut Vec<Term>) -> bool {
        let Some(place) = self.place else {
            return true;
        };
        let model = self.model;
        let variables = model.variables().iter().map(|v| &v.var);
        let variables = variables.zip(&place.values);
        let constants = model.constants().iter().map(|c| &c.var);
        for (var, value) in variables.chain(constants.zip(&place.constants)) {
            let sides = vec![var.term(), literal(var, value.clone())];
            let Ok(same) = Term::apply(Op::Eq, sides, Span::NONE) else {
                return false;
            };
            parts.push(same);
        }
        point.location == place.location
    }

    /// A guard or an effect without a value neither allows nor forbids.
    fn note_fault(&mut self, point: &Point, transition: &Transition, map: &Substitution) {
        if transition.never_faults() {
            return;
        }
        let guard = &transition.guard;
        let effects = Term::all(transition.assignments.iter().map(|(_, e)| e.defined()));
        let lost = Term::all([guard.clone(), effects.negated()]);
        let faulting = Term::any([guard.defined().negated(), lost]);
        self.exclude(point, &faulting, map);
    }

    /// Leaves out the constants with which a point meets the condition of a fault.
    fn exclude(&mut self, point: &Point, faulting: &Term, map: &Substitution) {
        let Ok(faulting) = faulting.substitute(map) else {
            self.doubt
                .get_or_insert("an expression grows too large".into());
            return;
        };
        let fault = Term::all([point.condition.clone(), faulting]).simplify();
        if fault.is_false() || self.decide(std::slice::from_ref(&fault)) == Answer::Unsat {
            return;
        }
        let unknown = |v: &Var| v.id.space() == space::UNKNOWN;
        let unknowns: Vec<Var> = fault.free_vars().into_iter().filter(unknown).collect();
        match self.solver.eliminate(&unknowns, &fault) {
            Some(constants) => self.faults.push(constants),
            None => {
                self.doubt.get_or_insert(NO_VALUE.into());
            }
        }
    }

    /// δ where nothing fires, or where internal actions come back to where they began.
    fn stay_silent(&mut self, point: &Point, policy: QuiescencePolicy) {
        let model = self.model;
        let mut parts = model.nothing_fires(point.location);
        let nothing_fires = parts.len();
        let map = self.substitution(&point.values, &[], &[]);
        if self.may_fault {
            // A guard without a value is no silence, and no proof that there is none.
            let faulty = model.delta_guard_with(point.location, self.solver).faulty;
            self.exclude(point, &faulty, &map);
        }
        let shown = point.shown + 1;
        if shown == self.trace.len() && !self.is_at_place(point, &mut parts) {
            return;
        }
        let before = point.condition.clone();
        self.push(point.location, shown, &point.values, before, &parts, &map);
        match model.circles(point, self.fresh, policy, self.solver, self.budget) {
            Ok((circles, fresh)) => {
                self.fresh = fresh;
                let at_place = parts.split_off(nothing_fires);
                for circle in circles {
                    let mut parts = at_place.clone();
                    parts.push(circle);
                    self.push(
                        point.location,
                        shown,
                        &point.values,
                        true.into(),
                        &parts,
                        &map,
                    );
                }
            }
            Err(why) => {
                self.doubt.get_or_insert(why);
            }
        }
    }

    fn substitution(&self, values: &[Term], params: &[Var], arguments: &[Term]) -> Substitution {
        let mut map = self.constants.clone();
        for (v, t) in self.model.variables().iter().zip(values) {
            map.insert(v.var.id, t.clone());
        }
        for (p, t) in params.iter().zip(arguments) {
            map.insert(p.id, t.clone());
        }
        map
    }
}
