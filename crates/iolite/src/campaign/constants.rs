//! What runs show about constants that were left unknown.

use iolite_derive::Notice;
use iolite_expr::{Answer, Solver, Term};
use serde::Serialize;

/// Characters of a condition that are shown.
const SHOWN: usize = 500;

/// The constants without a value, and what is left of their values.
#[derive(Clone, Debug, Serialize)]
pub struct Constants {
    unknown: Vec<String>,
    /// A condition that every valuation meets which explains all runs.
    narrowed: String,
    /// Whether there is such a valuation; none where that was not found out.
    consistent: Option<bool>,
}

impl Constants {
    /// What the notices of all runs show about these constants; nothing without constants, or without a
    /// run that some values explain.
    pub(crate) fn of(unknown: Vec<String>, notices: &[Notice]) -> Option<Self> {
        let learnt = notices.iter().filter_map(|notice| match notice {
            Notice::Learnt(condition) => Some(condition.clone()),
            _ => None,
        });
        let known: Vec<Term> = learnt.collect();
        if unknown.is_empty() || known.is_empty() {
            return None;
        }
        let mut solver = Solver::embedded();
        for condition in &known {
            solver.assert(condition);
        }
        let consistent = match solver.check() {
            Answer::Sat(_) => Some(true),
            Answer::Unsat => Some(false),
            Answer::Unknown(_) => None,
        };
        let narrowed = Solver::embedded().with_intervals(&Term::all(known));
        let narrowed = narrowed.to_string();
        Some(Self {
            unknown,
            narrowed,
            consistent,
        })
    }

    /// A line for people.
    pub fn tell(&self) -> String {
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
