//! Proofs that people can read: the conjuncts of an invariant that its proof needs.

use iolite_expr::{Answer, Kind, Model, Op, Solver, Term};

use super::invariant::Invariant;
use super::problem::Problem;
use crate::iosts::LocationId;

/// Questions that are spent on it.
const QUESTIONS: usize = 300;

/// A weaker invariant that proves as much: it starts with nothing but the exclusion of the violating
/// locations, and takes a conjunct in where a step would lead outside without it. `None` where that
/// is not found.
pub(super) fn minimised(
    problem: &Problem<'_>,
    invariant: &Invariant,
    solver: &mut Solver,
) -> Option<Invariant> {
    let model = problem.model;
    let n = model.locations().len();
    let full: Vec<Vec<Term>> = (0..n)
        .map(|l| conjuncts(invariant.at(LocationId::new(l))))
        .collect();
    let mut needed: Vec<Vec<Term>> = (0..n)
        .map(|l| {
            let violating = problem.is_violating(LocationId::new(l));
            if violating {
                vec![false.into()]
            } else {
                Vec::new()
            }
        })
        .collect();
    let mut left = QUESTIONS;
    let mut changed = true;
    while changed {
        changed = false;
        for (id, t) in model.transitions() {
            let (from, to) = (t.source.index(), t.target.index());
            if problem.is_violating(t.source) || needed[to].is_empty() {
                continue;
            }
            let after = problem.before(id, &Term::all(needed[to].clone())).ok()?;
            loop {
                left = left.checked_sub(1)?;
                let mut terms = needed[from].clone();
                terms.extend([problem.enabled(id).clone(), after.negated()]);
                solver.push();
                for v in problem.data() {
                    solver.declare(&v);
                }
                let answer = solver.check_with(&Term::all(terms));
                solver.pop();
                match answer {
                    Answer::Unsat => break,
                    Answer::Unknown(_) => return None,
                    Answer::Sat(found) => {
                        let more = excluding(&full[from], &needed[from], &found)?;
                        needed[from].push(more);
                        changed = true;
                    }
                }
            }
        }
    }
    let terms = needed.into_iter().map(Term::all).collect();
    Some(Invariant::new(model, terms))
}

/// A conjunct that is false under the model, the smallest one.
fn excluding(full: &[Term], needed: &[Term], found: &Model) -> Option<Term> {
    let broken = full
        .iter()
        .filter(|c| !needed.contains(c) && c.eval_bool(found) == Ok(false));
    broken.min_by_key(|c| c.size()).cloned()
}

fn conjuncts(term: &Term) -> Vec<Term> {
    match term.kind() {
        Kind::App(Op::And, args) if args.iter().all(Term::is_total) => args.to_vec(),
        _ => vec![term.clone()],
    }
}
