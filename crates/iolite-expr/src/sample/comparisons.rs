//! What a query compares: where its answer changes, programs go wrong.

use rustc_hash::FxHashSet;

use crate::solver::Solver;
use crate::term::{Kind, Op};
use crate::{Int, Term, Value};

/// Literals and comparisons of a query that are looked at.
const MOST: usize = 64;

/// The literals and the comparisons of integers and texts in a query, in the order they stand there,
/// each once.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparisons {
    literals: Vec<Value>,
    /// Terms `a op b`.
    atoms: Vec<Term>,
}

impl Comparisons {
    pub(super) fn of(solver: &Solver) -> Self {
        Self::of_terms(solver.query().cloned().collect())
    }

    fn of_terms(mut stack: Vec<Term>) -> Self {
        let mut found = Self::default();
        let mut seen = FxHashSet::default();
        stack.reverse();
        while let Some(term) = stack.pop() {
            let enough = found.literals.len() == MOST || found.atoms.len() == MOST;
            if enough || !seen.insert(term.clone()) {
                continue;
            }
            if let Some(value) = term.as_value() {
                found.literals.push(value.clone());
            } else if let Kind::App(op, args) = term.kind() {
                if is_comparison(op, args) {
                    found.atoms.push(term.clone());
                }
                // What is bound there is no variable of the query.
                if !matches!(op, Op::Exists(_)) {
                    stack.extend(args.iter().rev().cloned());
                }
            }
        }
        found
    }

    /// The numbers.
    pub(super) fn numbers(&self) -> Vec<&Int> {
        self.literals.iter().filter_map(Value::as_int).collect()
    }

    /// The texts.
    pub(super) fn texts(&self) -> Vec<&str> {
        self.literals.iter().filter_map(Value::as_str).collect()
    }

    /// The two sides of each comparison of integers that a term stands in.
    pub(super) fn sides_with(&self, term: &Term) -> Vec<(Term, Term)> {
        let sides = self.atoms.iter().filter_map(|atom| match atom.kind() {
            Kind::App(_, args) if args[0].sort().is_int() && contains(atom, term) => {
                Some((args[0].clone(), args[1].clone()))
            }
            _ => None,
        });
        sides.collect()
    }

    /// The texts that a term itself is compared with.
    pub(super) fn texts_beside(&self, term: &Term) -> Vec<&str> {
        let texts = self.atoms.iter().filter_map(|atom| match atom.kind() {
            Kind::App(_, args) if args[0] == *term => args[1].as_value()?.as_str(),
            Kind::App(_, args) if args[1] == *term => args[0].as_value()?.as_str(),
            _ => None,
        });
        texts.collect()
    }
}

impl Term {
    /// The two sides of each comparison of integers in this term that `part` stands in; some of them where there
    /// are many.
    pub fn comparisons_with(&self, part: &Self) -> Vec<(Self, Self)> {
        Comparisons::of_terms(vec![self.clone()]).sides_with(part)
    }
}

fn is_comparison(op: &Op, args: &[Term]) -> bool {
    let ordered = matches!(op, Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne);
    ordered
        && args.len() == 2
        && (args[0].sort().is_int() || *args[0].sort() == crate::Sort::String)
}

fn contains(whole: &Term, part: &Term) -> bool {
    let mut seen = FxHashSet::default();
    let mut stack = vec![whole.clone()];
    while let Some(term) = stack.pop() {
        if term == *part {
            return true;
        }
        if let Kind::App(_, args) = term.kind()
            && seen.insert(term.clone())
        {
            stack.extend(args.iter().cloned());
        }
    }
    false
}
