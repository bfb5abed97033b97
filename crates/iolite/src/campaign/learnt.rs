//! What runs tell of constants that were left unknown.

use std::sync::{Arc, Mutex, PoisonError};

use iolite_expr::{Answer, Solver, Term};
use serde::Serialize;

/// Different conditions that are kept; runs beyond them add nothing.
const MOST: usize = 1_000;
/// Characters of a condition that are shown.
const SHOWN: usize = 500;

/// A condition for each run, gathered over all jobs.
#[derive(Clone, Default)]
pub(super) struct Learnt(Arc<Mutex<Vec<Term>>>);

/// The constants without a value, and what is left of their values.
#[derive(Debug, Serialize)]
pub(super) struct Constants {
    unknown: Vec<String>,
    /// A condition that every valuation meets which explains all runs.
    narrowed: String,
    /// Whether there is such a valuation; none where that was not found out.
    consistent: Option<bool>,
}

impl Learnt {
    /// Adds what one run tells.
    pub(super) fn add(&self, condition: Term) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST && !known.contains(&condition) {
            known.push(condition);
        }
    }

    /// What all runs tell of these constants; nothing without constants, or without a run that some
    /// values explain.
    pub(super) fn of(&self, unknown: Vec<String>) -> Option<Constants> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if unknown.is_empty() || known.is_empty() {
            return None;
        }
        let mut solver = Solver::embedded();
        for condition in known.iter() {
            solver.assert(condition);
        }
        let consistent = match solver.check() {
            Answer::Sat(_) => Some(true),
            Answer::Unsat => Some(false),
            Answer::Unknown(_) => None,
        };
        let narrowed = Term::all(known.iter().cloned()).simplify().to_string();
        Some(Constants {
            unknown,
            narrowed,
            consistent,
        })
    }
}

impl Constants {
    /// A line for people.
    pub(super) fn tell(&self) -> String {
        let names = self.unknown.join(", ");
        if self.consistent == Some(false) {
            return format!(
                "warning: values of {names} explain each run, but none explain all of them; the \
                 verdicts take each run by itself\n"
            );
        }
        match self.narrowed.as_str() {
            "true" => format!("constants: nothing was learnt of {names}\n"),
            narrowed => {
                let shown: String = narrowed.chars().take(SHOWN).collect();
                let more = if shown.len() < narrowed.len() {
                    " …"
                } else {
                    ""
                };
                format!("constants: {shown}{more}\n")
            }
        }
    }
}
