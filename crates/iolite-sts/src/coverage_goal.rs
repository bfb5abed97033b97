//! What there is to reach in a model with data: its locations, its transitions, the branches of their
//! guards, and the boundary values of the comparisons in them.

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::{Int, Kind, Op, Sort, Span, Term, Value};

use crate::ValuedAction;
use crate::iosts::{Iosts, Location, LocationId, Transition, TransitionId};
use crate::semantics::Frame;
use crate::symbolic::{After, Symbolic, SymbolicStates};
use crate::symbolic_state::{Data, SymbolicState};

/// Something that a run may reach.
#[derive(Clone, Debug)]
pub enum CoverageGoal {
    /// A location.
    Location(LocationId),
    /// A transition.
    Transition(TransitionId),
    /// A transition while this disjunct of its guard is true.
    Branch(TransitionId, Term),
    /// A transition with values at the edge of a comparison in its guard: this equation holds, and for
    /// values one further the comparison would be false.
    Boundary(TransitionId, Term),
}

/// The goals of a model.
#[derive(Clone, Debug)]
pub struct CoverageGoals {
    goals: Vec<CoverageGoal>,
    /// By location, its goal.
    locations: Vec<usize>,
    /// By transition, its goal; those of its guard follow.
    transitions: Vec<std::ops::Range<usize>>,
}

impl CoverageGoals {
    /// The goals of a model, locations first, then the transitions with what belongs to each.
    pub fn new(model: &Iosts) -> Self {
        let mut goals: Vec<CoverageGoal> = model
            .locations()
            .map(|(l, _)| CoverageGoal::Location(l))
            .collect();
        let locations = (0..goals.len()).collect();
        let mut transitions = Vec::new();
        for (id, t) in model.transitions() {
            let start = goals.len();
            goals.push(CoverageGoal::Transition(id));
            let mut branches = Vec::new();
            disjuncts(&t.guard, &mut branches);
            goals.extend(branches.into_iter().map(|b| CoverageGoal::Branch(id, b)));
            let mut edges = Vec::new();
            boundaries(&t.guard, true, &mut edges);
            goals.extend(edges.into_iter().map(|b| CoverageGoal::Boundary(id, b)));
            transitions.push(start..goals.len());
        }
        Self {
            goals,
            locations,
            transitions,
        }
    }

    /// The goal with this number.
    pub fn get(&self, number: usize) -> &CoverageGoal {
        &self.goals[number]
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &CoverageGoal> {
        self.goals.iter()
    }
}

/// The operands of the disjunctions that a guard is a conjunction of.
fn disjuncts(guard: &Term, found: &mut Vec<Term>) {
    match guard.kind() {
        Kind::App(Op::And, parts) => parts.iter().for_each(|part| disjuncts(part, found)),
        Kind::App(Op::Or, parts) => found.extend(parts.iter().cloned()),
        _ => {}
    }
}

/// For each comparison of numbers, the equation that holds where it is only just true; `holds` says
/// whether the comparison or its negation is meant.
fn boundaries(guard: &Term, holds: bool, found: &mut Vec<Term>) {
    let Kind::App(op, parts) = guard.kind() else {
        return;
    };
    let op = match (op, holds) {
        (Op::And | Op::Or, _) => {
            return parts.iter().for_each(|p| boundaries(p, holds, found));
        }
        (Op::Not, _) => return parts.iter().for_each(|p| boundaries(p, !holds, found)),
        (Op::Lt, true) | (Op::Ge, false) => Op::Lt,
        (Op::Le, true) | (Op::Gt, false) => Op::Le,
        (Op::Gt, true) | (Op::Le, false) => Op::Gt,
        (Op::Ge, true) | (Op::Lt, false) => Op::Ge,
        _ => return,
    };
    let [left, right] = &**parts else { return };
    let number = |t: &Term| matches!(t.sort(), Sort::Int | Sort::Range(_));
    if !number(left) || !number(right) || left.is_ground() && right.is_ground() {
        return;
    }
    let one = || Term::from(Int::from(1));
    let edge = match op {
        Op::Lt => left.plus(one()).and_then(|next| next.equals(right)),
        Op::Gt => right.plus(one()).and_then(|next| left.equals(next)),
        _ => left.equals(right),
    };
    found.extend(edge.ok().filter(|edge| !found.contains(edge)));
}

impl Iosts {
    /// The model with a location that is reached exactly when the goal is.
    pub fn with_probe(&self, goal: &CoverageGoal) -> (Self, LocationId) {
        let (model, reached) = self.with_probes([goal]);
        (model, reached[0])
    }

    /// The model with a location for each goal that is reached exactly when the goal is.
    pub fn with_probes<'g>(
        &self,
        goals: impl IntoIterator<Item = &'g CoverageGoal>,
    ) -> (Self, Vec<LocationId>) {
        let mut model = self.clone();
        let reached = goals.into_iter().map(|goal| model.add_probe(goal));
        let reached = reached.collect();
        (model, reached)
    }

    fn add_probe(&mut self, goal: &CoverageGoal) -> LocationId {
        let (id, condition) = match goal {
            CoverageGoal::Location(location) => return *location,
            CoverageGoal::Transition(id) => (*id, None),
            CoverageGoal::Branch(id, condition) | CoverageGoal::Boundary(id, condition) => {
                (*id, Some(condition.clone()))
            }
        };
        let reached = LocationId::new(self.locations.len());
        self.locations.push(Location {
            name: "reached".into(),
            span: Span::NONE,
        });
        self.outgoing.push(Vec::new());
        let transition = self.transition(id).clone();
        let probe = TransitionId::new(self.transitions.len());
        self.outgoing[transition.source.index()].push(probe);
        self.transitions.push(Transition {
            guard: Term::all([transition.guard.clone()].into_iter().chain(condition)),
            target: reached,
            ..transition
        });
        reached
    }
}

/// Notes which goals the steps reach that a [`Symbolic`] computes meanwhile.
#[derive(Debug)]
pub(crate) struct Recorder {
    goals: Arc<CoverageGoals>,
    reached: BTreeSet<usize>,
}

impl Symbolic {
    /// The goals that a step from these states may reach, with the internal steps after it. Branches and
    /// boundaries are noted where all values are known.
    pub fn reached_by(
        &mut self,
        goals: &Arc<CoverageGoals>,
        states: &SymbolicStates,
        observed: &ValuedAction,
    ) -> BTreeSet<usize> {
        self.recording(goals, |symbolic| symbolic.after(states, observed))
    }

    /// The goals that are reached before anything happens.
    pub fn reached_initially(&mut self, goals: &Arc<CoverageGoals>) -> BTreeSet<usize> {
        self.recording(goals, Self::initial)
    }

    fn recording<E>(
        &mut self,
        goals: &Arc<CoverageGoals>,
        act: impl FnOnce(&mut Self) -> Result<After, E>,
    ) -> BTreeSet<usize> {
        self.recorder = Some(Recorder {
            goals: Arc::clone(goals),
            reached: BTreeSet::new(),
        });
        let after = act(self);
        let Some(Recorder { mut reached, .. }) = self.recorder.take() else {
            return BTreeSet::new();
        };
        match after {
            Ok(After::Possible(states)) => {
                let here = states.iter().map(SymbolicState::location);
                reached.extend(here.map(|l| goals.locations[l.index()]));
                reached
            }
            // What was not allowed, or not decided, reached nothing.
            _ => BTreeSet::new(),
        }
    }

    /// A transition may have been taken, with these values of its parameters where they are known.
    pub(crate) fn record(
        &mut self,
        from: &SymbolicState,
        t: TransitionId,
        params: Option<&[Value]>,
    ) {
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        let target = self.model.transition(t).target;
        let goals = &recorder.goals;
        recorder.reached.insert(goals.locations[target.index()]);
        for goal in goals.transitions[t.index()].clone() {
            let holds = match &goals.goals[goal] {
                CoverageGoal::Branch(_, condition) | CoverageGoal::Boundary(_, condition) => {
                    let (Data::Concrete(values), Some(constants), Some(params)) =
                        (&from.data, &self.known, params)
                    else {
                        continue;
                    };
                    let frame = Frame {
                        variables: values,
                        constants,
                        params,
                    };
                    condition.eval_bool(&frame).unwrap_or(false)
                }
                _ => true,
            };
            if holds {
                recorder.reached.insert(goal);
            }
        }
    }
}
