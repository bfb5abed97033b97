//! Automata with choices: first to Büchi acceptance, then deterministic.

use std::sync::Arc;

use iolite_property::acceptance::{AcceptanceFormula, Colours};
use iolite_property::alphabet::Alphabet;
use iolite_property::diagram::{Diagrams, Function};
use iolite_property::ltl::{NondeterministicBuchi, Step};
use iolite_property::omega::OmegaAutomaton;
use rustc_hash::FxHashMap;

use super::HoaError;

/// Clauses of an acceptance in disjunctive form.
const MAX_CLAUSES: usize = 256;
/// Steps of all choices of the Büchi automaton.
const MAX_STEPS: usize = 1 << 22;
/// States of the deterministic automaton.
const MAX_STATES: usize = 1 << 17;

/// Where an edge leads, and its colours.
pub(super) type Edge = (u32, Colours);

/// An automaton as it was read: what a state can do is a function of the letter.
pub(super) struct Nondeterministic {
    pub(super) alphabet: Arc<Alphabet>,
    pub(super) start: Vec<u32>,
    pub(super) diagrams: Diagrams,
    /// One a state; the values are positions in `choices`.
    pub(super) rows: Vec<Function>,
    pub(super) choices: Vec<Vec<Edge>>,
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
        clauses.retain(|c| c.never.intersection(&c.again).is_empty());
        let n = self.marks.len();
        // Where the copies of each clause begin, one for each colour that is waited for.
        let lists: Vec<Vec<u32>> = clauses.iter().map(|c| c.again.iter().collect()).collect();
        let mut base = Vec::new();
        let mut copies = 1;
        for list in &lists {
            base.push(copies);
            copies += list.len().max(1);
        }
        let state = |copy: usize, q: u32| (copy * n + q as usize) as u32;
        let (mut diagrams, mut choices) = (Diagrams::default(), Vec::new());
        let mut rows = Vec::with_capacity(copies * n);
        let mut left = MAX_STEPS;
        for copy in 0..copies {
            // The clause that was guessed, and the colour of it that is waited for.
            let guessed = base
                .iter()
                .rposition(|&b| b <= copy)
                .map(|i| (i, copy - base[i]));
            for (&row, marks) in self.rows.iter().zip(&self.marks) {
                let mut steps = |_: &mut Diagrams, choice: u32| {
                    let mut steps: Vec<Step> = Vec::new();
                    for (to, edge) in &self.choices[choice as usize] {
                        let Some((i, at)) = guessed else {
                            steps.push((state(0, *to), false));
                            steps.extend(base.iter().map(|&b| (state(b, *to), false)));
                            continue;
                        };
                        let seen = colours(edge.union(marks));
                        if !seen.intersection(&clauses[i].never).is_empty() {
                            continue;
                        }
                        let mut waits = at;
                        while waits < lists[i].len() && seen.contains(lists[i][waits]) {
                            waits += 1;
                        }
                        let done = waits == lists[i].len();
                        let copy = base[i] + if done { 0 } else { waits };
                        steps.push((state(copy, *to), done));
                    }
                    left = left.checked_sub(steps.len() + 1).ok_or_else(|| {
                        let states = self.rows.len();
                        HoaError::TooLarge(format!("{states} states with {copies} ways to accept"))
                    })?;
                    choices.push(steps);
                    Ok::<_, HoaError>(choices.len() as u32 - 1)
                };
                let mut memo = FxHashMap::default();
                rows.push(diagrams.mapped(&self.diagrams, row, &mut memo, &mut steps)?);
            }
        }
        // Before the first step nothing forbidden has been seen, so a run may guess at once.
        let starts = |copy: usize| self.start.iter().map(move |&q| state(copy, q));
        let initial = starts(0).chain(base.iter().flat_map(|&b| starts(b)));
        let buchi = NondeterministicBuchi {
            initial: initial.collect(),
            diagrams,
            rows,
            choices,
        };
        Ok(buchi.determinise(&self.alphabet, MAX_STATES)?)
    }
}

/// The acceptance as a disjunction of clauses.
fn clauses(formula: &AcceptanceFormula) -> Result<Vec<Clause>, HoaError> {
    use AcceptanceFormula as A;
    let found = match formula {
        A::True => vec![Clause::default()],
        A::False => Vec::new(),
        &A::Inf(c) => vec![Clause {
            never: Colours::default(),
            again: Colours::of(c),
        }],
        &A::Fin(c) => vec![Clause {
            never: Colours::of(c),
            again: Colours::default(),
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
                            never: a.never.union(&b.never),
                            again: a.again.union(&b.again),
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
