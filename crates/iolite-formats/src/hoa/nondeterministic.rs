//! Automata with choices: first to Büchi acceptance, then deterministic.

use std::sync::Arc;

use iolite_property::acceptance::{AcceptanceFormula, Colours};
use iolite_property::alphabet::Alphabet;
use iolite_property::ltl::determinise_buchi;
use iolite_property::omega::OmegaAutomaton;

use super::HoaError;

/// Clauses of an acceptance in disjunctive form.
const MAX_CLAUSES: usize = 256;
/// Entries of the table of the Büchi automaton.
const MAX_TABLE: usize = 1 << 22;
/// States of the deterministic automaton.
const MAX_STATES: usize = 1 << 17;

/// An automaton as it was read.
pub(super) struct Nondeterministic {
    pub(super) alphabet: Arc<Alphabet>,
    pub(super) start: Vec<u32>,
    /// At `state * letters + letter`: targets and colours of the edges.
    pub(super) table: Vec<Vec<(u32, Colours)>>,
    /// The colours of each state, which all its edges have.
    pub(super) marks: Vec<Colours>,
    pub(super) acceptance: AcceptanceFormula,
}

/// These colours never again, and each of those again and again.
#[derive(Clone, Default)]
struct Clause {
    never: Colours,
    again: Colours,
}

impl Nondeterministic {
    /// A run waits in the automaton as it is, guesses which clause of the acceptance it will satisfy and
    /// from when on its forbidden colours stay away, and then counts the colours that must recur.
    pub(super) fn determinise(
        &self,
        colours: impl Fn(Colours) -> Colours,
    ) -> Result<OmegaAutomaton, HoaError> {
        let mut clauses = clauses(&self.acceptance)?;
        clauses.retain(|c| c.never & c.again == 0);
        let letters = self.alphabet.len();
        let n = self.marks.len();
        // Where the copies of each clause begin, one for each colour that is waited for.
        let lists: Vec<Vec<u32>> = clauses
            .iter()
            .map(|c| {
                (0..Colours::BITS)
                    .filter(|b| c.again >> b & 1 == 1)
                    .collect()
            })
            .collect();
        let mut base = Vec::new();
        let mut copies = 1;
        for list in &lists {
            base.push(copies);
            copies += list.len().max(1);
        }
        let entries = self.table.iter().map(|row| row.len() + 1).sum::<usize>();
        if entries.saturating_mul(copies + 1) > MAX_TABLE {
            return Err(HoaError::TooLarge(format!(
                "{entries} edges with {copies} ways to accept"
            )));
        }
        let state = |copy: usize, q: u32| (copy * n + q as usize) as u32;
        let mut next: Vec<Vec<(u32, bool)>> = vec![Vec::new(); copies * n * letters];
        for q in 0..n {
            for l in 0..letters {
                for &(to, edge) in &self.table[q * letters + l] {
                    let seen = colours(edge | self.marks[q]);
                    let slot = |copy: usize| (copy * n + q) * letters + l;
                    next[slot(0)].push((state(0, to), false));
                    for ((clause, list), &base) in clauses.iter().zip(&lists).zip(&base) {
                        next[slot(0)].push((state(base, to), false));
                        if seen & clause.never != 0 {
                            continue;
                        }
                        for at in 0..list.len().max(1) {
                            let mut waits = at;
                            while waits < list.len() && seen >> list[waits] & 1 == 1 {
                                waits += 1;
                            }
                            let done = waits == list.len();
                            let copy = base + if done { 0 } else { waits };
                            next[slot(base + at)].push((state(copy, to), done));
                        }
                    }
                }
            }
        }
        for row in &mut next {
            row.sort_unstable();
            row.dedup();
        }
        // Before the first step nothing forbidden has been seen, so a run may guess at once.
        let starts = |copy: usize| self.start.iter().map(move |&q| state(copy, q));
        let initial = starts(0).chain(base.iter().flat_map(|&b| starts(b)));
        let initial = initial.collect();
        Ok(determinise_buchi(
            &self.alphabet,
            initial,
            next,
            MAX_STATES,
        )?)
    }
}

/// The acceptance as a disjunction of clauses.
fn clauses(formula: &AcceptanceFormula) -> Result<Vec<Clause>, HoaError> {
    use AcceptanceFormula as A;
    let found = match formula {
        A::True => vec![Clause::default()],
        A::False => Vec::new(),
        &A::Inf(c) => vec![Clause {
            never: 0,
            again: 1 << c,
        }],
        &A::Fin(c) => vec![Clause {
            never: 1 << c,
            again: 0,
        }],
        A::Or(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(clauses(part)?);
            }
            all
        }
        A::And(parts) => {
            let mut all = vec![Clause::default()];
            for part in parts {
                let more = clauses(part)?;
                if all.len().saturating_mul(more.len()) > MAX_CLAUSES {
                    return Err(HoaError::TooLarge("acceptance with many cases".into()));
                }
                all = all
                    .iter()
                    .flat_map(|a| {
                        more.iter().map(|b| Clause {
                            never: a.never | b.never,
                            again: a.again | b.again,
                        })
                    })
                    .collect();
            }
            all
        }
    };
    if found.len() > MAX_CLAUSES {
        return Err(HoaError::TooLarge("acceptance with many cases".into()));
    }
    Ok(found)
}
