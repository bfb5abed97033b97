//! k-induction as a claim of its own: no run of k steps ends in a violation, whatever state it starts in,
//! and no shorter one does from an initial state.
//!
//! The ways to a violation are walked backwards from it, one question a step. Each step has variables of
//! its own, bound to those after it by equations, so that formulas grow by what a transition says and not
//! by what effects make of one another: an invariant that says the same may be too deep to be written.

use iolite_expr::{Answer, Op, Solver, Span, Substitution, Term, Var, VarId};

use super::invariant::{Broken, Invariant, Undecided, broken};
use super::problem::Problem;
use crate::iosts::{LocationId, TransitionId, space};

/// Questions that one check may ask.
const QUESTIONS: usize = 20_000;
/// Steps of a way: beyond them the walk itself would be too deep.
const LONGEST: usize = 1_000;

/// What k-induction rests on.
#[derive(Clone, Debug)]
pub struct Induction {
    /// The steps of the runs that are looked at.
    pub k: usize,
    /// An inductive invariant that strengthens the property, perhaps a trivial one.
    pub lemmas: Invariant,
    /// Transitions for which it is not excluded that a guard or an effect has no value.
    pub faults: Vec<TransitionId>,
}

/// Why a claim of k-induction does not stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotInductive {
    /// The lemmas are not invariant.
    Lemmas(Broken),
    /// A violation is reached from an initial state, in so many steps.
    Base(usize),
    /// A run of k steps within the lemmas ends in a violation.
    Step(LocationId),
}

/// Why the violating locations are not excluded by k-induction with these lemmas; `None` where they are.
pub(super) fn not_inductive(
    problem: &Problem<'_>,
    lemmas: &Invariant,
    k: usize,
    solver: &mut Solver,
) -> Result<Option<NotInductive>, Undecided> {
    if let Some(broken) = broken(problem, lemmas, solver)? {
        return Ok(Some(NotInductive::Lemmas(broken)));
    }
    let mut walk = Walk {
        problem,
        lemmas,
        k,
        solver,
        asked: 0,
        fresh: 0,
    };
    let violating: Vec<LocationId> = problem.violating().collect();
    for location in violating {
        let frame = walk.frame();
        walk.solver.push();
        let found = walk.enter(location, &frame, 0, location);
        walk.solver.pop();
        if let Some(found) = found? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

struct Walk<'w, 's> {
    problem: &'w Problem<'w>,
    lemmas: &'w Invariant,
    k: usize,
    solver: &'s mut Solver,
    asked: usize,
    fresh: usize,
}

impl Walk<'_, '_> {
    /// Variables of their own for the state between two steps.
    fn frame(&mut self) -> Vec<Var> {
        let variables = self.problem.model.variables().iter().map(|v| v.var.clone());
        let variables: Vec<Var> = variables.collect();
        variables.iter().map(|v| self.fresh(v)).collect()
    }

    fn fresh(&mut self, var: &Var) -> Var {
        self.fresh += 1;
        let id = VarId::new(space::UNKNOWN, self.fresh);
        Var::new(id, &var.name, var.sort.clone())
    }

    fn check(&mut self) -> Result<Answer, Undecided> {
        self.asked += 1;
        if self.asked > QUESTIONS {
            let why = format!("k-induction needs more than {QUESTIONS} questions");
            return Err(Undecided(why.into()));
        }
        Ok(self.solver.check())
    }

    /// With the state of `frame` at a location, so many steps before a violation: what is asserted is the way
    /// from there.
    fn enter(
        &mut self,
        location: LocationId,
        frame: &[Var],
        steps: usize,
        violation: LocationId,
    ) -> Result<Option<NotInductive>, Undecided> {
        let large = |e: &dyn std::fmt::Display| Undecided(e.to_string().into());
        let here = self.state_terms(frame);
        let lemma = self.lemmas.at(location).substitute(&here);
        let lemma = lemma.map_err(|e| large(&e))?;
        self.solver.assert(&lemma);
        let lasting = self.problem.lasting().clone();
        self.solver.assert(&lasting);
        // A way that may be none is gone on with: further back it shows.
        let here_possible = self.check()?;
        if here_possible == Answer::Unsat {
            return Ok(None);
        }
        if location == self.problem.model.initial() {
            let initial = self.problem.initial().substitute(&here);
            let initial = initial.map_err(|e| large(&e))?;
            self.solver.push();
            self.solver.assert(&initial);
            let reached = self.check();
            self.solver.pop();
            match reached? {
                Answer::Sat(_) => return Ok(Some(NotInductive::Base(steps))),
                Answer::Unsat => {}
                Answer::Unknown(why) => return Err(Undecided(why)),
            }
        }
        if steps >= self.k {
            return match here_possible {
                Answer::Unknown(why) => Err(Undecided(why)),
                _ => Ok(Some(NotInductive::Step(violation))),
            };
        }
        if steps >= LONGEST {
            let why = format!("k-induction over more than {LONGEST} steps");
            return Err(Undecided(why.into()));
        }
        for &t in self.problem.incoming(location) {
            // A step that changes nothing, as δ mostly is, can be left out of every run to a violation.
            let transition = self.problem.model.transition(t);
            if transition.source == transition.target && transition.assignments.is_empty() {
                continue;
            }
            let before = self.frame();
            let equations = self.step(t, &before, frame)?;
            self.solver.push();
            for equation in &equations {
                self.solver.assert(equation);
            }
            let source = self.problem.model.transition(t).source;
            let found = self.enter(source, &before, steps + 1, violation);
            self.solver.pop();
            if let Some(found) = found? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The variables of the model as those of a frame.
    fn state_terms(&self, frame: &[Var]) -> Substitution {
        let variables = self.problem.model.variables().iter().zip(frame);
        variables.map(|(v, own)| (v.var.id, own.term())).collect()
    }

    /// That a transition leads from one frame to the next.
    fn step(
        &mut self,
        t: TransitionId,
        before: &[Var],
        after: &[Var],
    ) -> Result<Vec<Term>, Undecided> {
        let undecided = |e: &dyn std::fmt::Display| Undecided(e.to_string().into());
        let mut map = self.state_terms(before);
        for p in self.problem.params(t).to_vec() {
            map.insert(p.id, self.fresh(&p).term());
        }
        let enabled = self.problem.enabled(t).substitute(&map);
        let mut terms = vec![enabled.map_err(|e| undecided(&e))?];
        let effects = self.problem.effects(t);
        for (k, v) in self.problem.model.variables().iter().enumerate() {
            let value = match effects.get(v.var.id) {
                Some(effect) => effect.substitute(&map).map_err(|e| undecided(&e))?,
                None => before[k].term(),
            };
            let sides = vec![after[k].term(), value];
            let equal = Term::apply(Op::Eq, sides, Span::NONE);
            terms.push(equal.map_err(|e| undecided(&e))?);
        }
        Ok(terms)
    }
}
