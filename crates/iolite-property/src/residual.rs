//! Residual languages: which states of an automaton expect the same of the future.
//!
//! The residual φ/σ = {w | σ·w ∈ φ} is what is still required after σ. It belongs to the language, not
//! to the automaton: two automata for φ may keep different states apart, but they agree on which finite
//! sequences have equal residuals. Whatever is said about finite sequences by way of residuals therefore
//! cannot depend on how a formula was written or translated.

use rustc_hash::FxHashMap;

use crate::alphabet::Letter;
use crate::labelling::{Edge, Graph, Reference, even_recurs};
use crate::omega::OmegaAutomaton;
use crate::structure::{AutomatonError, StateId, Structure};

/// Entries of the table of pairs that are compared at most; beyond it residuals are not known.
const MAX_ENTRIES: usize = 1 << 22;
/// States of the parity automaton over many propositions: comparing the pairs of more would not end within the bound
/// above, so they are not made.
const MAX_WIDE_STATES: usize = 1 << 14;
/// Sequences that tell most states apart before pairs of them are compared.
const SAMPLES: usize = 48;

/// A parity automaton for φ with the residual of each of its states.
pub(crate) struct Residuals {
    /// A run is accepted iff the least priority that recurs is even.
    pub(crate) structure: Structure,
    pub(crate) priority: Vec<u32>,
    /// The residual of each state, numbered by first appearance.
    pub(crate) class: Vec<u32>,
    /// A state of [`Self::structure`] for each state of the automaton asked about.
    pub(crate) at: Vec<StateId>,
}

impl Residuals {
    /// All states must be reachable.
    pub(crate) fn new(omega: &OmegaAutomaton, budget: usize) -> Result<Self, AutomatonError> {
        let budget = if omega.alphabet().is_wide() {
            budget.min(MAX_WIDE_STATES)
        } else {
            budget
        };
        let (wide, meaning) = omega.parity(budget)?;
        let fold = wide.bisimulation(|q| meaning[q.index()].2);
        let (structure, represents) = wide.quotient(&fold);
        let priority: Vec<u32> = represents.iter().map(|q| meaning[q.index()].2).collect();
        let mut number = vec![StateId::new(0); fold.len()];
        for q in structure.states() {
            number[fold[represents[q.index()].index()] as usize] = q;
        }
        let mut at = vec![StateId::new(0); omega.structure.len()];
        for (wide_state, (q, _, _)) in meaning.iter().enumerate() {
            at[q.index()] = number[fold[wide_state] as usize];
        }
        let class = classes_of(&Runs {
            structure: &structure,
            priority: &priority,
        })?;
        Ok(Self {
            structure,
            priority,
            class,
            at,
        })
    }

    /// The residual after a sequence that ends in this state of the automaton asked about.
    pub(crate) fn of(&self, q: StateId) -> u32 {
        self.class[self.at[q.index()].index()]
    }

    /// The number of residuals.
    pub(crate) fn len(&self) -> usize {
        self.class.iter().max().map_or(0, |&c| c as usize + 1)
    }

    /// The priorities that occur, in order.
    pub(crate) fn priorities(&self) -> Vec<u32> {
        let mut all = self.priority.clone();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Deterministic runs with priorities, whatever their letters are.
trait Parity {
    fn len(&self) -> usize;
    /// A letter for a number that was drawn.
    fn letter(&self, drawn: u64) -> u64;
    /// Where a letter leads, and the priority on the way.
    fn step(&self, q: u32, letter: u64) -> (u32, u32);
    /// Where letters lead two states together, with the priorities on the way: an entry a letter, or one for all
    /// letters that do the same.
    fn joint(&self, p: u32, q: u32) -> Result<Vec<[(u32, u32); 2]>, AutomatonError>;
    /// The priorities that occur, in order.
    fn priorities(&self) -> Vec<u32>;
}

impl Parity for Reference {
    fn len(&self) -> usize {
        self.table.len()
    }

    fn letter(&self, drawn: u64) -> u64 {
        (drawn >> 33) % self.table.letters as u64
    }

    fn step(&self, q: u32, letter: u64) -> (u32, u32) {
        let l = letter as usize;
        (self.table.step(q, l), self.mark(q, l))
    }

    fn joint(&self, p: u32, q: u32) -> Result<Vec<[(u32, u32); 2]>, AutomatonError> {
        let letters = 0..self.table.letters as u64;
        Ok(letters.map(|l| [p, q].map(|q| self.step(q, l))).collect())
    }

    fn priorities(&self) -> Vec<u32> {
        Self::priorities(self)
    }
}

/// With priorities on the states that are entered.
struct Runs<'a> {
    structure: &'a Structure,
    priority: &'a [u32],
}

impl Runs<'_> {
    fn entered(&self, q: StateId) -> (u32, u32) {
        (q.index() as u32, self.priority[q.index()])
    }
}

impl Parity for Runs<'_> {
    fn len(&self) -> usize {
        self.structure.len()
    }

    fn letter(&self, drawn: u64) -> u64 {
        if self.structure.alphabet().is_wide() {
            return drawn;
        }
        (drawn >> 33) % self.structure.alphabet().len() as u64
    }

    fn step(&self, q: u32, letter: u64) -> (u32, u32) {
        let to = self
            .structure
            .step(StateId::new(q as usize), Letter::of_bits(letter));
        self.entered(to)
    }

    fn joint(&self, p: u32, q: u32) -> Result<Vec<[(u32, u32); 2]>, AutomatonError> {
        let (p, q) = (StateId::new(p as usize), StateId::new(q as usize));
        let pairs = self.structure.joint_successors(p, q)?.into_iter();
        Ok(pairs
            .map(|(p, q)| [self.entered(p), self.entered(q)])
            .collect())
    }

    fn priorities(&self) -> Vec<u32> {
        let mut all = self.priority.to_vec();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The residual of each state, numbered by first appearance.
pub(crate) fn classes(reference: &Reference) -> Result<Vec<u32>, AutomatonError> {
    classes_of(reference)
}

fn classes_of(runs: &impl Parity) -> Result<Vec<u32>, AutomatonError> {
    let mut group = sampled(runs);
    loop {
        // Each state against the first of its group; those that differ make groups of their own.
        let mut first: FxHashMap<u32, u32> = FxHashMap::default();
        let pairs: Vec<(u32, u32)> = (0..runs.len() as u32)
            .map(|q| (*first.entry(group[q as usize]).or_insert(q), q))
            .filter(|(p, q)| p != q)
            .collect();
        let differ = differing(runs, &pairs)?;
        if differ.is_empty() {
            return Ok(numbered(&group));
        }
        let fresh = group.iter().max().map_or(0, |g| g + 1);
        for q in differ {
            group[q as usize] += fresh;
        }
        group = numbered(&group);
    }
}

/// Groups by the answers to a few sequences, which split most of what is different.
fn sampled(runs: &impl Parity) -> Vec<u32> {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        runs.letter(seed)
    };
    let mut word = |length: usize| -> Vec<u64> { (0..length).map(|_| draw()).collect() };
    let samples: Vec<(Vec<u64>, Vec<u64>)> = (0..SAMPLES)
        .map(|i| (word(i % 4), word(1 + i / 4 % 5)))
        .collect();
    let accepts = |from: u32, cycle: &[u64]| {
        even_recurs(from, |from| {
            cycle.iter().fold((from, u32::MAX), |(q, low), &l| {
                let (to, mark) = runs.step(q, l);
                (to, low.min(mark))
            })
        })
    };
    let answers: Vec<u64> = (0..runs.len() as u32)
        .map(|q| {
            let answer = |(i, (stem, cycle)): (usize, &(Vec<u64>, Vec<u64>))| {
                let from = stem.iter().fold(q, |q, &l| runs.step(q, l).0);
                u64::from(accepts(from, cycle)) << i
            };
            samples.iter().enumerate().map(answer).sum()
        })
        .collect();
    numbered(&answers)
}

/// The second states of those pairs whose languages differ: a pair of runs on one sequence comes to
/// a cycle that one accepts and the other does not.
fn differing(runs: &impl Parity, pairs: &[(u32, u32)]) -> Result<Vec<u32>, AutomatonError> {
    // Node 0 stands for all pairs of a state with itself.
    let mut nodes: Vec<(u32, u32)> = vec![(0, 0)];
    let mut index: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut number = |pair: (u32, u32), nodes: &mut Vec<(u32, u32)>| {
        if pair.0 == pair.1 {
            return 0;
        }
        *index.entry(pair).or_insert_with(|| {
            nodes.push(pair);
            nodes.len() as u32 - 1
        })
    };
    let asked: Vec<u32> = pairs.iter().map(|&p| number(p, &mut nodes)).collect();
    let mut product = Graph::default();
    product.open();
    let (mut done, mut entries) = (1, 0);
    while done < nodes.len() {
        let (p, q) = nodes[done];
        done += 1;
        product.open();
        for [one, other] in runs.joint(p, q)? {
            let to = number((one.0, other.0), &mut nodes);
            product.add(to, one.1, other.1);
            entries += 1;
        }
        if entries > MAX_ENTRIES {
            return Err(AutomatonError::TooManyStates(done));
        }
    }
    let priorities = runs.priorities();
    let mut differ = vec![false; nodes.len()];
    for &i in &priorities {
        for &j in priorities.iter().filter(|&&j| j % 2 != i % 2) {
            let inside = |e: &Edge| e.to != 0 && e.element >= i && e.priority >= j;
            let component = product.components(inside);
            // Which of the two least priorities each component has.
            let mut has = vec![(false, false); nodes.len()];
            for e in product.within(&component, inside) {
                let has = &mut has[component[e.from as usize] as usize];
                has.0 |= e.element == i;
                has.1 |= e.priority == j;
            }
            for (node, differs) in differ.iter_mut().enumerate() {
                *differs |= has[component[node] as usize] == (true, true);
            }
        }
    }
    product.spread_back(&mut differ);
    Ok(asked
        .iter()
        .zip(pairs)
        .filter(|(s, _)| differ[**s as usize])
        .map(|(_, &(_, q))| q)
        .collect())
}

/// Numbers by first appearance.
fn numbered<T: Copy + Eq + std::hash::Hash>(keys: &[T]) -> Vec<u32> {
    let mut seen: FxHashMap<T, u32> = FxHashMap::default();
    keys.iter()
        .map(|&key| {
            let fresh = seen.len() as u32;
            *seen.entry(key).or_insert(fresh)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::labelling::Table;

    const LETTERS: usize = 2;

    fn parity(states: u32) -> impl Strategy<Value = Reference> {
        let transitions = states as usize * LETTERS;
        let rows = prop::collection::vec((0..states, 0..5_u32), transitions);
        rows.prop_map(|rows| Reference {
            priority: rows.iter().map(|&(_, p)| p).collect(),
            table: Table {
                letters: LETTERS,
                initial: 0,
                next: rows.iter().map(|&(q, _)| q).collect(),
            },
        })
    }

    /// By the definition: two states differ iff some sequence leads both to transitions that recur
    /// together, where one run accepts and the other does not. Every set of transitions of the pairs
    /// is tried.
    fn different(reference: &Reference) -> Vec<bool> {
        let n = reference.table.len() as u32;
        let pair = |p: u32, q: u32| (p * n + q) as usize;
        let mut edges = Vec::new();
        for (p, q) in (0..n).flat_map(|p| (0..n).map(move |q| (p, q))) {
            for l in 0..LETTERS {
                let to = (reference.table.step(p, l), reference.table.step(q, l));
                let marks = (reference.mark(p, l), reference.mark(q, l));
                edges.push((pair(p, q), pair(to.0, to.1), marks));
            }
        }
        let mut differ = vec![false; (n * n) as usize];
        for set in 1_u32..1 << edges.len() {
            let taken = || edges.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
            let first = taken().next().expect("not empty").1.0;
            let reached = |forth: bool| {
                let mut seen = 1_u32 << first;
                loop {
                    let more = taken().fold(seen, |seen, (_, e)| {
                        let (from, to) = if forth { (e.0, e.1) } else { (e.1, e.0) };
                        if seen >> from & 1 == 1 {
                            seen | 1 << to
                        } else {
                            seen
                        }
                    });
                    if more == seen {
                        return seen;
                    }
                    seen = more;
                }
            };
            let (after, before) = (reached(true), reached(false));
            let together = taken().all(|(_, e)| {
                let ends = 1 << e.0 | 1 << e.1;
                after & before & ends == ends
            });
            let least = |of: fn(&(u32, u32)) -> u32| taken().map(|(_, e)| of(&e.2)).min();
            if together && least(|m| m.0).map(|p| p % 2) != least(|m| m.1).map(|p| p % 2) {
                taken().for_each(|(_, e)| differ[e.0] = true);
            }
        }
        loop {
            let before = differ.clone();
            for e in &edges {
                differ[e.0] |= differ[e.1];
            }
            if differ == before {
                return differ;
            }
        }
    }

    fn classes_are_right(reference: &Reference) -> Result<(), TestCaseError> {
        let n = reference.table.len();
        let found = classes(reference).unwrap();
        let differ = different(reference);
        for (p, one) in found.iter().enumerate() {
            for (q, other) in found.iter().enumerate() {
                prop_assert_eq!(one != other, differ[p * n + q], "{} {}", p, q);
            }
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

        #[test]
        fn residuals_of_two_states(reference in parity(2)) {
            classes_are_right(&reference)?;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]

        #[test]
        fn residuals_of_three_states(reference in parity(3)) {
            classes_are_right(&reference)?;
        }
    }
}
