//! Bounded symbolic search: ways through the locations, shortest first, each with one path formula.

use std::collections::VecDeque;

use iolite_expr::{Answer, Substitution, Term, Value, Var, VarId};
use rustc_hash::FxHashSet;

use super::member::{Member, Outcome, Slice, row};
use super::problem::{Problem, faulting};
use super::run::Run;
use crate::iosts::{LabelKind, LocationId, TransitionId, space};

/// Points that are kept, and the size of their terms together.
const POINTS: usize = 50_000;
const TERMS: u64 = 4_000_000;
/// The size of terms that is simplified and compared for the price of one step.
const SIZE_A_STEP: u64 = 16;

struct Point {
    location: LocationId,
    /// By variable, over the constants and what is not known.
    values: Vec<Term>,
    /// The path formula.
    condition: Term,
    from: Option<(usize, TransitionId, Vec<Var>)>,
}

#[derive(Default)]
pub(super) struct Bounded {
    points: Vec<Point>,
    seen: FxHashSet<(LocationId, Vec<Term>, Term)>,
    open: VecDeque<usize>,
    /// Values at the start that nothing fixes.
    free: Vec<Var>,
    fresh: usize,
    size: u64,
    started: bool,
    doubt: bool,
}

impl Member for Bounded {
    fn name(&self) -> String {
        "bounded search".into()
    }

    fn run(&mut self, problem: &Problem<'_>, slice: &mut Slice<'_>) -> Outcome {
        if !self.started {
            self.started = true;
            self.start(problem);
        }
        while !slice.is_over() {
            let Some(next) = self.open.pop_front() else {
                let why = if self.doubt { ", some undecided" } else { "" };
                return Outcome::Stuck(format!("all {} points seen{why}", self.points.len()));
            };
            if self.points.len() > POINTS || self.size > TERMS {
                return Outcome::Stuck(format!("{} points are too many", self.points.len()));
            }
            if problem.is_violating(self.points[next].location) {
                if let Some(run) = self.solve(next, problem, slice) {
                    return Outcome::Refuted(run);
                }
                continue;
            }
            if !self.points[next].condition.is_true() {
                let condition = self.points[next].condition.clone();
                match slice.check(&[condition], &[]) {
                    Answer::Unsat => continue,
                    Answer::Sat(_) => {}
                    Answer::Unknown(_) => self.doubt = true,
                }
            }
            self.extend(next, problem, slice);
        }
        Outcome::More
    }
}

impl Bounded {
    fn unknown(&mut self, like: &Var) -> Var {
        self.fresh += 1;
        let id = VarId::new(space::UNKNOWN, self.fresh);
        let name = format!("{}'{}", like.name, self.fresh);
        Var::new(id, &name, like.sort.clone())
    }

    fn start(&mut self, problem: &Problem<'_>) {
        let mut values = Vec::new();
        let mut parts = Vec::new();
        for v in problem.model.variables() {
            values.push(if let Some(initial) = &v.initial {
                parts.push(initial.defined());
                initial.clone()
            } else {
                let free = self.unknown(&v.var);
                self.free.push(free.clone());
                free.term()
            });
        }
        let map = state_map(problem, &values);
        for a in problem.model.assumptions() {
            parts.push(a.defined());
            parts.push(a.clone());
        }
        let parts: Result<Vec<Term>, _> = parts.iter().map(|t| t.substitute(&map)).collect();
        match parts {
            Ok(parts) => self.add(problem.model.initial(), &values, &Term::all(parts), None),
            Err(_) => self.doubt = true,
        }
    }

    fn add(
        &mut self,
        location: LocationId,
        values: &[Term],
        condition: &Term,
        from: Option<(usize, TransitionId, Vec<Var>)>,
    ) {
        let values: Vec<Term> = values.iter().map(Term::simplify).collect();
        let condition = condition.simplify();
        if condition.is_false() || condition.clone().bounded().is_err() {
            return;
        }
        let key = (location, values.clone(), condition.clone());
        if !self.seen.insert(key) {
            return;
        }
        let size = |t: &Term| u64::from(t.size());
        self.size += values.iter().map(size).sum::<u64>() + size(&condition);
        self.open.push_back(self.points.len());
        self.points.push(Point {
            location,
            values,
            condition,
            from,
        });
    }

    fn extend(&mut self, at: usize, problem: &Problem<'_>, slice: &mut Slice<'_>) {
        let model = problem.model;
        let location = self.points[at].location;
        for &t in model.outgoing(location) {
            slice.meter.spend(1);
            if !problem.leads_to_violation(model.transition(t).target) {
                continue;
            }
            if self.fresh + problem.params(t).len() >= 1 << 23 {
                self.doubt = true;
                return;
            }
            let params = problem.params(t).to_vec();
            let arguments: Vec<Var> = params.iter().map(|p| self.unknown(p)).collect();
            let mut map = state_map(problem, &self.points[at].values);
            for (p, a) in params.iter().zip(&arguments) {
                map.insert(p.id, a.term());
            }
            let mut parts = vec![problem.enabled(t).clone()];
            // Constants with which another explanation of the step faults are no specification.
            let action = model.transition(t).action;
            for &u in model.outgoing(location).iter().filter(|u| **u != t) {
                let other = model.transition(u);
                let plain = model.gate(other.action).params.is_empty();
                let internal = model.kind(u) == LabelKind::Internal && plain;
                if other.action == action || internal {
                    parts.push(faulting(other).negated());
                }
            }
            let mut values = self.points[at].values.clone();
            let mut fits = true;
            for (x, e) in &model.transition(t).assignments {
                match e.substitute(&map) {
                    Ok(value) => values[*x] = value,
                    Err(_) => fits = false,
                }
            }
            match Term::all(parts).substitute(&map) {
                Ok(part) if fits => {
                    let condition = Term::all([self.points[at].condition.clone(), part]);
                    let target = model.transition(t).target;
                    let before = self.size;
                    self.add(target, &values, &condition, Some((at, t, arguments)));
                    // Terms that grow with each step cost more with each step.
                    slice.meter.spend((self.size - before) / SIZE_A_STEP);
                }
                _ => self.doubt = true,
            }
        }
    }

    /// The run to a point, if its path formula has a solution.
    fn solve(&mut self, end: usize, problem: &Problem<'_>, slice: &mut Slice<'_>) -> Option<Run> {
        let model = problem.model;
        let mut steps: Vec<(TransitionId, Vec<Var>)> = Vec::new();
        let mut at = end;
        while let Some((before, t, arguments)) = &self.points[at].from {
            steps.push((*t, arguments.clone()));
            at = *before;
        }
        steps.reverse();
        let constants: Vec<Var> = model.constants().iter().map(|c| c.var.clone()).collect();
        let mut wanted = constants.clone();
        wanted.extend(self.free.iter().cloned());
        wanted.extend(steps.iter().flat_map(|(_, a)| a.clone()));
        let condition = self.points[end].condition.clone();
        let Answer::Sat(found) = slice.check(&[condition], &wanted) else {
            self.doubt = true;
            return None;
        };
        let initial: Option<Vec<Value>> = self.points[at]
            .values
            .iter()
            .map(|t| t.eval(&found).ok())
            .collect();
        Some(Run {
            constants: row(&found, &constants),
            initial: initial?,
            steps: steps
                .into_iter()
                .map(|(t, arguments)| (t, row(&found, &arguments)))
                .collect(),
        })
    }
}

pub(super) fn state_map(problem: &Problem<'_>, values: &[Term]) -> Substitution {
    let variables = problem.model.variables().iter();
    variables
        .zip(values)
        .map(|(v, t)| (v.var.id, t.clone()))
        .collect()
}
