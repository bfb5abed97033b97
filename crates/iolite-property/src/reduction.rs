//! Small deterministic parity automata for a language that is given by a larger one.
//!
//! States with the same residual may stand for each other as far as the future goes; what keeps them
//! apart is only which cycles they are on. Two kinds of reduction follow from that:
//!
//! - A run changes its component finitely often. So of the components that have states of one residual
//!   a single one is enough, the last in an order of all, and every way to that residual leads there.
//! - Inside a component states of one residual are made one by trial: the ways to one lead to the other
//!   instead, and the smaller structure is kept if it can bear the language, see [`crate::labelling`].
//!
//! This is done with priorities on transitions first and on states then, since state-based acceptance
//! doubles states that the trial would have to find again. Every result is exact; the search is
//! greedy and bounded, so it need not be the smallest.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::acceptance::{AcceptanceFormula, Colours};
use crate::alphabet::Alphabet;
use crate::labelling::{Bearer, Fuel, Reference, Table, labels};
use crate::omega::OmegaAutomaton;
use crate::residual::classes;
use crate::state_set::StateSet;
use crate::structure::{AutomatonError, StateId, Structure};

/// Steps for the trials of one automaton: some seconds at most, and far less as a rule.
const FUEL: usize = 1 << 26;

/// A parity automaton with priorities on its states.
pub(crate) struct Reduced {
    pub(crate) structure: Structure,
    /// A run is accepted iff the least one that recurs is even.
    pub(crate) priority: Vec<u32>,
}

impl Reduced {
    /// All states must be reachable. The finitary part is not looked at.
    pub(crate) fn new(omega: &OmegaAutomaton, budget: usize) -> Result<Self, AutomatonError> {
        let (structure, meaning) = omega.parity(budget)?;
        let next = structure
            .states()
            .flat_map(|q| structure.row(q).iter().map(|to| to.index() as u32));
        let table = Table {
            letters: structure.alphabet().len(),
            initial: structure.initial().index() as u32,
            next: next.collect(),
        };
        let priority = table.next.iter().map(|&q| meaning[q as usize].2).collect();
        let alphabet = structure.alphabet().clone();
        Self::of_reference(&Reference { table, priority }, alphabet)
    }

    /// For any parity automaton with priorities on its transitions.
    pub(crate) fn of_reference(
        reference: &Reference,
        alphabet: Arc<Alphabet>,
    ) -> Result<Self, AutomatonError> {
        let columns = Columns::new(reference);
        let narrow = columns.narrow(reference);
        // Residuals are not known yet, and folding does not need them.
        let wide = Candidate {
            residual: vec![0; narrow.table.len()],
            table: narrow.table.clone(),
        };
        // Determinisation leaves many priorities; with as few as possible more states fall together,
        // and residuals are compared sooner.
        let (wide, narrow) = wide.folded(&narrow);
        let narrow = wide.labelled(&narrow, Bearer::Transitions);
        let (mut wide, narrow) = wide.folded(&narrow);
        let mut fuel = Fuel(FUEL);
        let (small, reference) = if let Ok(residual) = classes(&narrow) {
            wide.residual = residual;
            let (candidate, reference) = wide.last_components(&narrow);
            let (candidate, reference) = candidate.folded(&reference);
            let small = candidate.merged(&reference, Bearer::Transitions, &mut fuel);
            (small, reference)
        } else {
            // Too many to be compared: every state is taken to be a residual of its own.
            wide.residual = (0..wide.table.len() as u32).collect();
            (wide, narrow)
        };
        let reference = small.labelled(&reference, Bearer::Transitions);
        let small = small
            .with_states(&reference)
            .merged(&reference, Bearer::States, &mut fuel);
        let priority = small.labelled(&reference, Bearer::States).priority;
        Ok(Self {
            structure: columns.widen(&small.table, alphabet)?,
            priority,
        })
    }
}

impl Reduced {
    /// With a colour for each priority; the finitary part is empty.
    pub(crate) fn to_omega(&self) -> OmegaAutomaton {
        let highest = self.priority.iter().copied().max().unwrap_or(0);
        let acceptance = (0..=highest)
            .rev()
            .fold(AcceptanceFormula::False, |rest, c| {
                if c % 2 == 0 {
                    AcceptanceFormula::Or(vec![AcceptanceFormula::Inf(c), rest])
                } else {
                    AcceptanceFormula::And(vec![AcceptanceFormula::Fin(c), rest])
                }
            });
        OmegaAutomaton {
            colours: self.priority.iter().map(|&p| Colours::of(p)).collect(),
            acceptance,
            finite: StateSet::empty(self.structure.len()),
            structure: self.structure.clone(),
        }
    }
}

/// Letters that no state tells apart, taken together.
pub(crate) struct Columns {
    /// The column of each letter.
    of: Vec<u32>,
    /// A letter for each column.
    letter: Vec<usize>,
}

impl Columns {
    pub(crate) fn new(reference: &Reference) -> Self {
        let table = &reference.table;
        let k = table.letters;
        let mut of = vec![0_u32; k];
        let mut letter = vec![0];
        // Letters that were together so far are split by one state after another.
        for q in 0..table.len() as u32 {
            let mut seen: FxHashMap<(u32, u32, u32), u32> = FxHashMap::default();
            let mut split = Vec::new();
            for (l, column) in of.iter_mut().enumerate() {
                let fresh = seen.len() as u32;
                let key = (*column, table.step(q, l), reference.mark(q, l));
                *column = *seen.entry(key).or_insert_with(|| {
                    split.push(l);
                    fresh
                });
            }
            letter = split;
        }
        Self { of, letter }
    }

    pub(crate) fn narrow(&self, reference: &Reference) -> Reference {
        let table = &reference.table;
        let places = (0..table.len() as u32).flat_map(|q| self.letter.iter().map(move |&l| (q, l)));
        Reference {
            priority: places.clone().map(|(q, l)| reference.mark(q, l)).collect(),
            table: Table {
                letters: self.letter.len(),
                initial: table.initial,
                next: places.map(|(q, l)| table.step(q, l)).collect(),
            },
        }
    }

    pub(crate) fn widen(
        &self,
        table: &Table,
        alphabet: Arc<Alphabet>,
    ) -> Result<Structure, AutomatonError> {
        let next = (0..table.len() as u32)
            .flat_map(|q| self.of.iter().map(move |&c| (q, c)))
            .map(|(q, c)| StateId::new(table.step(q, c as usize) as usize))
            .collect();
        Structure::new(alphabet, StateId::new(table.initial as usize), next)
    }
}

/// Transitions that may bear the language, with the residual of each state.
#[derive(Clone)]
struct Candidate {
    table: Table,
    residual: Vec<u32>,
}

impl Candidate {
    /// With transitions to some states led to others instead; unreachable states go.
    fn redirected(&self, to: impl Fn(u32) -> u32) -> (Self, Vec<u32>) {
        let table = Table {
            letters: self.table.letters,
            initial: to(self.table.initial),
            next: self.table.next.iter().map(|&q| to(q)).collect(),
        };
        let (table, old) = table.reachable();
        let residual = old.iter().map(|&q| self.residual[q as usize]).collect();
        (Self { table, residual }, old)
    }

    /// Every residual in one component only.
    fn last_components(&self, reference: &Reference) -> (Self, Reference) {
        let component = self.table.components();
        // Components are numbered from the last ones on. Of those with a residual the least number
        // wins, so a way that is led elsewhere always leads to a lesser number, and never back.
        let mut place: FxHashMap<u32, u32> = FxHashMap::default();
        for q in 0..self.table.len() as u32 {
            let best = place.entry(self.residual[q as usize]).or_insert(q);
            if component[q as usize] < component[*best as usize] {
                *best = q;
            }
        }
        let (kept, old) = self.redirected(|q| {
            let best = place[&self.residual[q as usize]];
            if component[best as usize] == component[q as usize] {
                q
            } else {
                best
            }
        });
        let priority = reference.of_states(&old);
        let table = kept.table.clone();
        (kept, Reference { table, priority })
    }

    /// States with the same rows, priorities included, are one.
    fn folded(&self, reference: &Reference) -> (Self, Reference) {
        let class = bisimulation(reference);
        let mut first: FxHashMap<u32, u32> = FxHashMap::default();
        for (q, &c) in class.iter().enumerate() {
            first.entry(c).or_insert(q as u32);
        }
        let (kept, old) = self.redirected(|q| first[&class[q as usize]]);
        let priority = reference.of_states(&old);
        let table = kept.table.clone();
        (kept, Reference { table, priority })
    }

    /// The priorities that are there, since every step of the search keeps the language.
    fn labelled(&self, reference: &Reference, bearer: Bearer) -> Reference {
        let found = labels(&self.table, reference, bearer, &mut Fuel(usize::MAX));
        Reference {
            table: self.table.clone(),
            priority: found.expect("every step of the search keeps the language"),
        }
    }

    /// Priorities of transitions put into the states that they lead to.
    fn with_states(&self, reference: &Reference) -> Self {
        let table = &self.table;
        let k = table.letters;
        let mut index: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        // The initial state is entered by no transition; any mark will do, best one that occurs.
        let entered = table.next.iter().position(|&q| q == table.initial);
        let start = (table.initial, entered.map_or(0, |e| reference.priority[e]));
        index.insert(start, 0);
        let mut states = vec![start];
        let mut next = Vec::new();
        let mut done = 0;
        while done < states.len() {
            let q = states[done].0 as usize;
            done += 1;
            for e in q * k..(q + 1) * k {
                let to = (table.next[e], reference.priority[e]);
                next.push(*index.entry(to).or_insert_with(|| {
                    states.push(to);
                    states.len() as u32 - 1
                }));
            }
        }
        let residual = states
            .iter()
            .map(|&(q, _)| self.residual[q as usize])
            .collect();
        Self {
            table: Table {
                letters: k,
                initial: 0,
                next,
            },
            residual,
        }
    }

    /// States of one residual made one, wherever the structure can still bear the language.
    fn merged(mut self, reference: &Reference, bearer: Bearer, fuel: &mut Fuel) -> Self {
        let fits = |c: &Self, fuel: &mut Fuel| labels(&c.table, reference, bearer, fuel).is_some();
        // All at once, then residual by residual, then two by two.
        let (all, _) = self.redirected(|q| self.first_of(self.residual[q as usize]));
        if fits(&all, fuel) {
            return all;
        }
        let mut residuals = self.residual.clone();
        residuals.sort_unstable();
        residuals.dedup();
        for r in residuals {
            let first = self.first_of(r);
            let one = |q: u32| {
                if self.residual[q as usize] == r {
                    first
                } else {
                    q
                }
            };
            let (smaller, _) = self.redirected(one);
            if smaller.table.len() < self.table.len() && fits(&smaller, fuel) {
                self = smaller;
            }
        }
        while let Some(smaller) = self.pair_merged(&fits, fuel) {
            self = smaller;
        }
        self
    }

    fn first_of(&self, residual: u32) -> u32 {
        let at = self.residual.iter().position(|&r| r == residual);
        at.unwrap_or(0) as u32
    }

    fn pair_merged(
        &self,
        fits: &impl Fn(&Self, &mut Fuel) -> bool,
        fuel: &mut Fuel,
    ) -> Option<Self> {
        let n = self.table.len() as u32;
        for gone in (0..n).rev() {
            for kept in 0..n {
                if gone == kept || self.residual[gone as usize] != self.residual[kept as usize] {
                    continue;
                }
                if fuel.0 == 0 {
                    return None;
                }
                let (smaller, _) = self.redirected(|q| if q == gone { kept } else { q });
                if fits(&smaller, fuel) {
                    return Some(smaller);
                }
            }
        }
        None
    }
}

impl Reference {
    /// The priorities of the rows of some states.
    fn of_states(&self, states: &[u32]) -> Vec<u32> {
        let k = self.table.letters;
        states
            .iter()
            .flat_map(|&q| &self.priority[q as usize * k..(q as usize + 1) * k])
            .copied()
            .collect()
    }
}

/// The coarsest congruence that keeps the priorities of transitions apart.
fn bisimulation(reference: &Reference) -> Vec<u32> {
    let k = reference.table.letters;
    let n = reference.table.len();
    let mut class = vec![0_u32; n];
    let mut count = 1;
    loop {
        let mut names: FxHashMap<Vec<(u32, u32)>, u32> = FxHashMap::default();
        let refined: Vec<u32> = (0..n)
            .map(|q| {
                let row = (q * k..(q + 1) * k)
                    .map(|e| {
                        let to = reference.table.next[e] as usize;
                        (class[to], reference.priority[e])
                    })
                    .collect();
                let fresh = names.len() as u32;
                *names.entry(row).or_insert(fresh)
            })
            .collect();
        let found = names.len();
        class = refined;
        if found == count {
            return class;
        }
        count = found;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LETTERS: usize = 2;

    fn parity() -> impl Strategy<Value = Reference> {
        (1..8_u32).prop_flat_map(|states| {
            let rows = prop::collection::vec((0..states, 0..5_u32), states as usize * LETTERS);
            rows.prop_map(|rows| Reference {
                priority: rows.iter().map(|&(_, p)| p).collect(),
                table: Table {
                    letters: LETTERS,
                    initial: 0,
                    next: rows.iter().map(|&(q, _)| q).collect(),
                },
            })
        })
    }

    fn sigma() -> Arc<Alphabet> {
        Arc::new(Alphabet::of_names(["a", "b"]).unwrap())
    }

    /// The reduced automaton with the priority of a step on the step.
    fn on_transitions(reduced: &Reduced) -> Reference {
        let s = &reduced.structure;
        let next: Vec<u32> = s
            .states()
            .flat_map(|q| s.row(q).iter().map(|to| to.index() as u32))
            .collect();
        Reference {
            priority: next.iter().map(|&q| reduced.priority[q as usize]).collect(),
            table: Table {
                letters: LETTERS,
                initial: s.initial().index() as u32,
                next,
            },
        }
    }

    /// Both in one table, the second behind the first.
    fn beside(one: &Reference, other: &Reference) -> Reference {
        let shift = one.table.len() as u32;
        let moved = other.table.next.iter().map(|q| q + shift);
        Reference {
            priority: [&one.priority[..], &other.priority].concat(),
            table: Table {
                letters: LETTERS,
                initial: one.table.initial,
                next: one.table.next.iter().copied().chain(moved).collect(),
            },
        }
    }

    fn words(longest: usize) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        let mut last = 0;
        for _ in 0..longest {
            let layer: Vec<Vec<usize>> = all[last..].to_vec();
            last = all.len();
            for word in layer {
                all.extend((0..LETTERS).map(|l| [&word[..], &[l]].concat()));
            }
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

        /// The language stays: on all short lassos, walked step by step, and as a residual of the two
        /// automata together. Each residual keeps a state, and none of the two steps makes more of them
        /// than there are priorities.
        #[test]
        fn the_language_stays(reference in parity()) {
            let reduced = Reduced::of_reference(&reference, sigma()).unwrap();
            let small = on_transitions(&reduced);
            let lead = |a: &Reference, word: &[usize]| {
                word.iter().fold(a.table.initial, |q, &l| a.table.step(q, l))
            };
            for stem in words(3) {
                for cycle in words(6).iter().filter(|c| !c.is_empty()) {
                    let wanted = reference.accepts(lead(&reference, &stem), cycle);
                    let found = small.accepts(lead(&small, &stem), cycle);
                    prop_assert_eq!(wanted, found, "{:?} {:?}", stem, cycle);
                }
            }
            let both = beside(&reference, &small);
            let class = classes(&both).unwrap();
            let start = small.table.initial as usize + reference.table.len();
            prop_assert_eq!(class[reference.table.initial as usize], class[start]);
            let (reached, old) = reference.table.reachable();
            let residuals: std::collections::BTreeSet<u32> =
                old.iter().map(|&q| class[q as usize]).collect();
            prop_assert!(small.table.len() >= residuals.len());
            prop_assert!(small.table.len() <= 5 * reached.len());
        }
    }
}
