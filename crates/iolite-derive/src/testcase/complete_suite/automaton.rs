//! The automaton of an oracle as a table.

use iolite_lts::{BudgetExceeded, LabelId};
use rustc_hash::FxHashMap;

use crate::{FiniteOracle, Meaning};

/// A row: labels in order, each with where it leads.
pub(super) type Row = Vec<(LabelId, usize)>;

/// The reachable states of an oracle, with their inputs and with what may be observed.
pub(super) struct Automaton<S> {
    pub(super) states: Vec<S>,
    pub(super) inputs: Vec<Row>,
    /// Outputs, and δ.
    pub(super) observations: Vec<Row>,
    /// What is right and ends a run, in order.
    ends: Vec<Vec<LabelId>>,
}

/// States that nobody tells apart, as one.
pub(super) struct Quotient<S> {
    pub(super) automaton: Automaton<S>,
    /// For each state of the whole, the one that it is in.
    pub(super) class_of: Vec<usize>,
}

impl<S: Copy + Eq + std::hash::Hash> Automaton<S> {
    pub(super) fn explore<O: FiniteOracle<State = S>>(
        oracle: &mut O,
        budget: usize,
    ) -> Result<Self, BudgetExceeded> {
        let initial = oracle.start();
        let mut numbers = FxHashMap::from_iter([(initial, 0)]);
        let mut all = Self {
            states: vec![initial],
            inputs: Vec::new(),
            observations: Vec::new(),
            ends: Vec::new(),
        };
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        let mut next = 0;
        while let Some(&state) = all.states.get(next) {
            next += 1;
            inputs.clear();
            outputs.clear();
            oracle.inputs_from(state, &mut inputs);
            oracle.outputs_from(state, &mut outputs);
            outputs.push((LabelId::DELTA, oracle.meaning(state, LabelId::DELTA)));
            let mut number = |target: S| {
                let known = numbers.len();
                *numbers.entry(target).or_insert_with(|| {
                    all.states.push(target);
                    known
                })
            };
            let mut row: Row = inputs.iter().map(|&(l, t)| (l, number(t))).collect();
            row.sort_unstable();
            let allowed = outputs
                .iter()
                .filter_map(|&(label, meaning)| match meaning {
                    Meaning::Allowed(target) => Some((label, number(target))),
                    _ => None,
                });
            let mut observed: Row = allowed.collect();
            observed.sort_unstable();
            let ends = outputs.iter().filter(|o| o.1 == Meaning::Ends);
            let mut ends: Vec<LabelId> = ends.map(|o| o.0).collect();
            ends.sort_unstable();
            all.ends.push(ends);
            all.inputs.push(row);
            all.observations.push(observed);
            if all.states.len() > budget {
                return Err(BudgetExceeded { budget });
            }
        }
        Ok(all)
    }

    /// The smallest automaton with the same traces: states with the same futures are one, the first of them.
    pub(super) fn quotient(&self) -> Quotient<S> {
        let rows = |state: usize, class_of: &[usize]| {
            let mapped =
                |row: &Row| -> Row { row.iter().map(|&(l, t)| (l, class_of[t])).collect() };
            (
                mapped(&self.inputs[state]),
                mapped(&self.observations[state]),
                self.ends[state].clone(),
            )
        };
        let mut class_of = vec![0; self.len()];
        let mut firsts = vec![0];
        loop {
            // Classes only ever split, so one that has as many as before has not changed.
            let before = firsts.len();
            let mut numbers = FxHashMap::default();
            firsts.clear();
            let next = (0..self.len()).map(|state| {
                let known = numbers.len();
                let key = (class_of[state], rows(state, &class_of));
                *numbers.entry(key).or_insert_with(|| {
                    firsts.push(state);
                    known
                })
            });
            class_of = next.collect();
            if firsts.len() == before {
                break;
            }
        }
        let mut automaton = Self {
            states: firsts.iter().map(|&first| self.states[first]).collect(),
            inputs: Vec::new(),
            observations: Vec::new(),
            ends: Vec::new(),
        };
        for &first in &firsts {
            let (inputs, observations, ends) = rows(first, &class_of);
            automaton.inputs.push(inputs);
            automaton.observations.push(observations);
            automaton.ends.push(ends);
        }
        Quotient {
            automaton,
            class_of,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Where a label leads.
    pub(super) fn after(&self, state: usize, label: LabelId) -> Option<usize> {
        let find = |row: &Row| {
            let found = row.binary_search_by_key(&label, |step| step.0);
            found.ok().map(|at| row[at].1)
        };
        find(&self.inputs[state]).or_else(|| find(&self.observations[state]))
    }
}

/// What two rows have in common: a label, and where it leads in each.
pub(super) fn common<'a>(
    one: &'a Row,
    other: &'a Row,
) -> impl Iterator<Item = (LabelId, usize, usize)> + 'a {
    let find = |&(label, target): &(LabelId, usize)| {
        let found = other.binary_search_by_key(&label, |step| step.0).ok()?;
        Some((label, target, other[found].1))
    };
    one.iter().filter_map(find)
}

/// For each state, what leads to it: labels in order, each with where it comes from.
pub(super) struct Before {
    pub(super) inputs: Vec<Row>,
    pub(super) observations: Vec<Row>,
}

impl Before {
    pub(super) fn new<S>(automaton: &Automaton<S>) -> Self {
        let before = |rows: &[Row]| {
            let mut before = vec![Row::new(); rows.len()];
            for (source, row) in rows.iter().enumerate() {
                for &(label, target) in row {
                    before[target].push((label, source));
                }
            }
            for row in &mut before {
                row.sort_unstable();
            }
            before
        };
        Self {
            inputs: before(&automaton.inputs),
            observations: before(&automaton.observations),
        }
    }
}
