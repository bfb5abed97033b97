//! Residual languages: which states of an automaton expect the same of the future.
//!
//! The residual φ/σ = {w | σ·w ∈ φ} is what is still required after σ. It belongs to the language, not
//! to the automaton: two automata for φ may keep different states apart, but they agree on which finite
//! sequences have equal residuals. Whatever is said about finite sequences by way of residuals therefore
//! cannot depend on how a formula was written or translated.

use rustc_hash::FxHashMap;

use crate::alphabet::Letter;
use crate::cycles::cyclic_components;
use crate::omega::OmegaAutomaton;
use crate::state_set::StateSet;
use crate::structure::{AutomatonError, StateId, Structure};

/// Entries of the table of pairs that are compared at most; beyond it residuals are not known.
const MAX_ENTRIES: usize = 1 << 22;
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
        let mut residuals = Self {
            structure,
            priority,
            class: Vec::new(),
            at,
        };
        residuals.class = residuals.classes()?;
        Ok(residuals)
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

    /// Whether cycle^ω is in the language of a state.
    pub(crate) fn accepts(&self, from: StateId, cycle: &[Letter]) -> bool {
        let mut rounds: FxHashMap<StateId, usize> = FxHashMap::default();
        let mut least: Vec<u32> = Vec::new();
        let mut q = from;
        loop {
            if let Some(&first) = rounds.get(&q) {
                let lowest = least[first..].iter().min().copied().unwrap_or(0);
                return lowest % 2 == 0;
            }
            rounds.insert(q, least.len());
            let mut low = u32::MAX;
            for &l in cycle {
                q = self.structure.step(q, l);
                low = low.min(self.priority[q.index()]);
            }
            least.push(low);
        }
    }

    fn classes(&self) -> Result<Vec<u32>, AutomatonError> {
        let mut group = self.sampled();
        loop {
            // Each state against the first of its group; those that differ make groups of their own.
            let mut first: FxHashMap<u32, StateId> = FxHashMap::default();
            let pairs: Vec<(StateId, StateId)> = self
                .structure
                .states()
                .map(|q| (*first.entry(group[q.index()]).or_insert(q), q))
                .filter(|(p, q)| p != q)
                .collect();
            let differ = self.differing(&pairs)?;
            if differ.is_empty() {
                return Ok(numbered(&group));
            }
            let fresh = group.iter().max().map_or(0, |g| g + 1);
            for q in differ {
                group[q.index()] += fresh;
            }
            group = numbered(&group);
        }
    }

    /// Groups by the answers to a few sequences, which split most of what is different.
    fn sampled(&self) -> Vec<u32> {
        let k = self.structure.alphabet().len();
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = |below: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) as usize) % below
        };
        let mut word =
            |length: usize| -> Vec<Letter> { (0..length).map(|_| Letter::new(draw(k))).collect() };
        let samples: Vec<(Vec<Letter>, Vec<Letter>)> = (0..SAMPLES)
            .map(|i| (word(i % 4), word(1 + i / 4 % 5)))
            .collect();
        let answers: Vec<u64> = self
            .structure
            .states()
            .map(|q| {
                samples
                    .iter()
                    .enumerate()
                    .fold(0, |set, (i, (stem, cycle))| {
                        let from = self.structure.after(q, stem);
                        set | u64::from(self.accepts(from, cycle)) << i
                    })
            })
            .collect();
        numbered(&answers)
    }

    /// The second states of those pairs whose languages differ: a pair of runs on one sequence comes to
    /// a cycle that one accepts and the other does not.
    fn differing(&self, pairs: &[(StateId, StateId)]) -> Result<Vec<StateId>, AutomatonError> {
        let alphabet = self.structure.alphabet().clone();
        let k = alphabet.len();
        // Node 0 stands for all pairs of a state with itself.
        let mut nodes: Vec<(StateId, StateId)> = vec![(StateId::new(0), StateId::new(0))];
        let mut index: FxHashMap<(StateId, StateId), u32> = FxHashMap::default();
        let mut number = |pair: (StateId, StateId), nodes: &mut Vec<(StateId, StateId)>| {
            if pair.0 == pair.1 {
                return StateId::new(0);
            }
            let id = *index.entry(pair).or_insert_with(|| {
                nodes.push(pair);
                nodes.len() as u32 - 1
            });
            StateId::new(id as usize)
        };
        let asked: Vec<StateId> = pairs.iter().map(|&p| number(p, &mut nodes)).collect();
        let mut next = vec![StateId::new(0); k];
        let mut done = 1;
        while done < nodes.len() {
            let (p, q) = nodes[done];
            done += 1;
            for l in alphabet.iter() {
                let pair = (self.structure.step(p, l), self.structure.step(q, l));
                next.push(number(pair, &mut nodes));
            }
            if nodes.len() * k > MAX_ENTRIES {
                return Err(AutomatonError::TooManyStates(MAX_ENTRIES / k));
            }
        }
        let product = Structure::new(alphabet, StateId::new(0), next)?;
        let prio = |q: StateId| self.priority[q.index()];
        let mut bad = StateSet::empty(nodes.len());
        for &i in &self.priorities() {
            for &j in self.priorities().iter().filter(|&&j| j % 2 != i % 2) {
                let subset: Vec<StateId> = (1..nodes.len())
                    .filter(|&s| prio(nodes[s].0) >= i && prio(nodes[s].1) >= j)
                    .map(StateId::new)
                    .collect();
                for component in cyclic_components(&product, &subset) {
                    let has = |f: &dyn Fn(&(StateId, StateId)) -> bool| {
                        component.iter().any(|s| f(&nodes[s.index()]))
                    };
                    if has(&|n| prio(n.0) == i) && has(&|n| prio(n.1) == j) {
                        for &s in &component {
                            bad.insert(s);
                        }
                    }
                }
            }
        }
        let differ = product.co_reach(&bad);
        Ok(asked
            .iter()
            .zip(pairs)
            .filter(|(s, _)| differ.contains(**s))
            .map(|(_, &(_, q))| q)
            .collect())
    }
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
