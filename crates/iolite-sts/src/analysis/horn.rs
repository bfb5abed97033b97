//! A safety problem as Horn clauses, for programs such as Z3's Spacer.

use std::path::PathBuf;
use std::time::Duration;

use iolite_expr::{
    HornAnswer, HornAtom, HornClauses, HornFact, HornRule, Limits, Solver, Substitution, Term,
    Value, Var,
};

use super::invariant::Invariant;
use super::member::{InvariantSource, Suggestion};
use super::problem::Problem;
use crate::iosts::LocationId;

/// One relation a location over V ∪ C: a solution is an inductive invariant that excludes the
/// violating locations, and there is none where one of them is reachable.
pub fn horn_clauses(problem: &Problem<'_>) -> HornClauses {
    let model = problem.model;
    let data = problem.data();
    let at = |location: LocationId, effects: &Substitution| HornAtom {
        relation: location.index(),
        args: data
            .iter()
            .map(|v: &Var| effects.get(v.id).cloned().unwrap_or_else(|| v.term()))
            .collect(),
    };
    let same = Substitution::new();
    let mut rules = vec![HornRule {
        body: None,
        condition: problem.initial(),
        head: Some(at(model.initial(), &same)),
    }];
    for (id, t) in model.transitions() {
        if problem.is_violating(t.source) {
            continue;
        }
        rules.push(HornRule {
            body: Some(at(t.source, &same)),
            condition: problem.enabled(id).clone(),
            head: Some(at(t.target, &problem.effects(id))),
        });
    }
    rules.extend(problem.violating().map(|l| HornRule {
        body: Some(at(l, &same)),
        condition: true.into(),
        head: None,
    }));
    HornClauses {
        relations: vec![data.clone(); model.locations().len()],
        rules,
    }
}

/// A program that solves Horn clauses as a source of invariants and of ways to a violation. What it says is not
/// believed: its solution is checked as an invariant, and its refutation is a run only if it fires step by step.
#[derive(Clone, Debug)]
pub struct HornProgram {
    path: PathBuf,
    name: String,
}

impl HornProgram {
    /// This program, under this name.
    pub fn new(path: PathBuf, name: impl Into<String>) -> Self {
        let name = name.into();
        Self { path, name }
    }
}

impl InvariantSource for HornProgram {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn candidate(
        &mut self,
        problem: &Problem<'_>,
        _: &mut Solver,
        time: Duration,
    ) -> Result<Suggestion, String> {
        let limits = Limits::new(time, Limits::default().memory_mb);
        let clauses = horn_clauses(problem);
        match clauses.solve(&self.path, &limits) {
            HornAnswer::Solution(terms) => {
                // Terms over V ∪ C and of sort Bool, as the clauses ask for.
                let terms: Vec<Term> = terms.iter().map(Term::simplify).collect();
                Ok(Suggestion::Invariant(Invariant::new(problem.model, terms)))
            }
            HornAnswer::Unsolvable => match clauses.refutation(&self.path, &limits) {
                Some(facts) => Ok(Suggestion::Way(facts.into_iter().map(state).collect())),
                None => Err("says that a violation is reachable, and shows no run".to_owned()),
            },
            HornAnswer::Unknown(why) => Err(why.to_string()),
        }
    }
}

/// A fact is a state with its constants: relations are locations, over V ∪ C.
fn state(fact: HornFact) -> (LocationId, Vec<Value>) {
    (LocationId::new(fact.relation), fact.values)
}
