//! The deterministic and complete transition structure that every automaton of this crate has.

use std::hash::Hash;
use std::sync::Arc;

pub use iolite_lts::StateId;
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::alphabet::{Alphabet, Letter};
use crate::refinement::Refinement;
use crate::state_set::StateSet;

/// Why a table is no automaton, or an operation on automata could not be carried out.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AutomatonError {
    /// An automaton needs an initial state.
    #[error("automaton has no state")]
    NoState,
    /// The table's size is not states × letters.
    #[error("transition table has {found} entries, {expected} expected")]
    TableSize {
        /// states × letters.
        expected: usize,
        /// Entries given.
        found: usize,
    },
    /// A transition, an initial state or an acceptance set names a state that is not there.
    #[error("state {0} does not exist")]
    UnknownState(usize),
    /// Two automata over different alphabets were combined.
    #[error("the automata have different alphabets")]
    AlphabetMismatch,
    /// A construction grew beyond its budget.
    #[error("construction exceeds {0} states")]
    TooManyStates(usize),
    /// States × letters would not fit.
    #[error("transition table of {0} states is too large")]
    TableTooLarge(usize),
    /// Acceptance with more colours than cycles can be analysed for.
    #[error("{found} acceptance colours, at most {limit} are supported")]
    TooManyColours {
        /// Colours of the condition.
        found: usize,
        /// The most that can be handled.
        limit: usize,
    },
    /// The acceptance alternates too often on the automaton's cycles.
    #[error("too many alternating cycles")]
    TooManyCycles,
    /// The finitary part cannot be told by recurrent and persistent states of any automaton.
    #[error(
        "no streett automaton has this finitary part: a run that satisfies it from some point on is rejected"
    )]
    FinitaryPart,
}

/// States that a construction may build unless its caller says otherwise.
pub const DEFAULT_BUDGET: usize = 1 << 20;
/// Entries that a transition table may have.
const MAX_TABLE: usize = 1 << 28;

/// `(Q, q_init, Σ, →)`, deterministic and complete [PROP12, §3.3].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    alphabet: Arc<Alphabet>,
    initial: StateId,
    next: Vec<StateId>,
}

impl Structure {
    /// From a table with one row a state and one column a letter.
    pub fn new(
        alphabet: Arc<Alphabet>,
        initial: StateId,
        next: Vec<StateId>,
    ) -> Result<Self, AutomatonError> {
        let k = alphabet.len();
        if next.is_empty() {
            return Err(AutomatonError::NoState);
        }
        if !next.len().is_multiple_of(k) {
            let expected = next.len().div_ceil(k) * k;
            return Err(AutomatonError::TableSize {
                expected,
                found: next.len(),
            });
        }
        let n = next.len() / k;
        if let Some(q) = next.iter().chain([&initial]).find(|q| q.index() >= n) {
            return Err(AutomatonError::UnknownState(q.index()));
        }
        Ok(Self {
            alphabet,
            initial,
            next,
        })
    }

    /// Builds the part that is reachable from `start`, states numbered in breadth-first order;
    /// the second result tells what each state stands for.
    pub fn explore<S: Clone + Eq + Hash, E: From<AutomatonError>>(
        alphabet: Arc<Alphabet>,
        start: S,
        budget: usize,
        mut step: impl FnMut(&S, Letter) -> Result<S, E>,
    ) -> Result<(Self, Vec<S>), E> {
        let mut index: FxHashMap<S, StateId> = FxHashMap::default();
        let mut meaning = vec![start.clone()];
        index.insert(start, StateId::FIRST);
        let mut next = Vec::new();
        let mut done = 0;
        while done < meaning.len() {
            if (done + 1).saturating_mul(alphabet.len()) > MAX_TABLE {
                return Err(AutomatonError::TableTooLarge(done + 1).into());
            }
            let from = meaning[done].clone();
            for letter in alphabet.iter() {
                let to = step(&from, letter)?;
                let id = if let Some(&id) = index.get(&to) {
                    id
                } else {
                    if meaning.len() >= budget {
                        return Err(AutomatonError::TooManyStates(budget).into());
                    }
                    let id = StateId::new(meaning.len());
                    meaning.push(to.clone());
                    index.insert(to, id);
                    id
                };
                next.push(id);
            }
            done += 1;
        }
        Ok((
            Self {
                alphabet,
                initial: StateId::FIRST,
                next,
            },
            meaning,
        ))
    }

    /// Σ.
    pub fn alphabet(&self) -> &Arc<Alphabet> {
        &self.alphabet
    }

    /// `q_init`.
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// |Q|.
    pub fn len(&self) -> usize {
        self.next.len() / self.alphabet.len()
    }

    /// Never: there is an initial state.
    pub fn is_empty(&self) -> bool {
        self.next.is_empty()
    }

    /// All states, in order.
    pub fn states(&self) -> impl ExactSizeIterator<Item = StateId> + use<> {
        (0..self.len()).map(StateId::new)
    }

    /// The successor of a state on a letter.
    #[inline]
    pub fn step(&self, q: StateId, letter: Letter) -> StateId {
        self.next[q.index() * self.alphabet.len() + letter.index()]
    }

    /// The successors of a state, one a letter.
    #[inline]
    pub fn row(&self, q: StateId) -> &[StateId] {
        let k = self.alphabet.len();
        &self.next[q.index() * k..(q.index() + 1) * k]
    }

    /// The state that a finite sequence leads to from `q`.
    pub fn after(&self, q: StateId, word: &[Letter]) -> StateId {
        word.iter().fold(q, |q, &l| self.step(q, l))
    }

    /// The states that a run visits, the first included [PROP12, §3.3].
    pub fn run(&self, word: &[Letter]) -> Vec<StateId> {
        let mut q = self.initial;
        let mut run = vec![q];
        for &l in word {
            q = self.step(q, l);
            run.push(q);
        }
        run
    }

    /// `Reach(q)`, with q itself.
    pub fn reach(&self, q: StateId) -> StateSet {
        let mut seen = StateSet::empty(self.len());
        let mut todo = vec![q];
        seen.insert(q);
        while let Some(q) = todo.pop() {
            for &to in self.row(q) {
                if seen.insert(to) {
                    todo.push(to);
                }
            }
        }
        seen
    }

    /// `CoReach(X)`: the states from which X can be reached, X itself among them.
    pub fn co_reach(&self, target: &StateSet) -> StateSet {
        let n = self.len();
        // Predecessors in compressed rows.
        let mut start = vec![0_u32; n + 2];
        for &to in &self.next {
            start[to.index() + 2] += 1;
        }
        for i in 2..n + 2 {
            start[i] += start[i - 1];
        }
        let mut before = vec![StateId::FIRST; self.next.len()];
        for q in self.states() {
            for &to in self.row(q) {
                let slot = &mut start[to.index() + 1];
                before[*slot as usize] = q;
                *slot += 1;
            }
        }
        let mut seen = target.clone();
        let mut todo: Vec<StateId> = target.iter().collect();
        while let Some(q) = todo.pop() {
            for &from in &before[start[q.index()] as usize..start[q.index() + 1] as usize] {
                if seen.insert(from) {
                    todo.push(from);
                }
            }
        }
        seen
    }

    /// A shortest sequence, the first in the order of letters, from `from` into `target`.
    pub fn shortest(&self, from: StateId, target: &StateSet) -> Option<Vec<Letter>> {
        self.shortest_within(from, target, |_, _| true)
    }

    /// The same, over those transitions that `allowed` lets pass.
    pub fn shortest_within(
        &self,
        from: StateId,
        target: &StateSet,
        mut allowed: impl FnMut(StateId, Letter) -> bool,
    ) -> Option<Vec<Letter>> {
        let mut came: Vec<Option<(StateId, Letter)>> = vec![None; self.len()];
        let mut seen = StateSet::empty(self.len());
        seen.insert(from);
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(q) = queue.pop_front() {
            if target.contains(q) {
                let mut word = Vec::new();
                let mut at = q;
                while let Some((before, l)) = came[at.index()] {
                    word.push(l);
                    at = before;
                }
                word.reverse();
                return Some(word);
            }
            for l in self.alphabet.iter() {
                let to = self.step(q, l);
                if allowed(q, l) && seen.insert(to) {
                    came[to.index()] = Some((q, l));
                    queue.push_back(to);
                }
            }
        }
        None
    }

    /// The synchronous product, reachable part, with the pair that each state stands for.
    pub fn product(
        &self,
        other: &Self,
        budget: usize,
    ) -> Result<(Self, Vec<(StateId, StateId)>), AutomatonError> {
        if self.alphabet != other.alphabet {
            return Err(AutomatonError::AlphabetMismatch);
        }
        Self::explore(
            self.alphabet.clone(),
            (self.initial, other.initial),
            budget,
            |&(p, q), l| Ok((self.step(p, l), other.step(q, l))),
        )
    }

    /// The reachable part in breadth-first order, and the old state behind each new one.
    #[must_use]
    pub fn reachable_part(&self) -> (Self, Vec<StateId>) {
        Self::explore(self.alphabet.clone(), self.initial, usize::MAX, |&q, l| {
            Ok::<_, AutomatonError>(self.step(q, l))
        })
        .expect("no larger than the automaton itself")
    }

    /// The coarsest congruence that keeps `colour` apart: for each state its class, classes
    /// numbered by their first state.
    pub fn bisimulation<C: Hash + Eq>(&self, colour: impl Fn(StateId) -> C) -> Vec<u32> {
        let mut names: FxHashMap<C, u32> = FxHashMap::default();
        let class = self
            .states()
            .map(|q| {
                let fresh = names.len() as u32;
                *names.entry(colour(q)).or_insert(fresh)
            })
            .collect();
        Refinement::new(self, class, names.len()).run()
    }

    /// The quotient by a congruence, reachable part in breadth-first order, with one old state
    /// behind each new one.
    pub fn quotient(&self, class: &[u32]) -> (Self, Vec<StateId>) {
        let mut representative: FxHashMap<u32, StateId> = FxHashMap::default();
        for q in self.states() {
            representative.entry(class[q.index()]).or_insert(q);
        }
        Self::explore(
            self.alphabet.clone(),
            representative[&class[self.initial.index()]],
            usize::MAX,
            |&q, l| Ok::<_, AutomatonError>(representative[&class[self.step(q, l).index()]]),
        )
        .expect("no larger than the automaton itself")
    }
}

/// The infinite sequence stem · cycle^ω.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// What comes once.
    pub stem: Vec<Letter>,
    /// What comes for ever; not empty.
    pub cycle: Vec<Letter>,
}

impl Lasso {
    /// The set of states visited infinitely often: vinf(σ, A) [PROP12, §4.3].
    pub fn vinf(&self, structure: &Structure, from: StateId) -> StateSet {
        assert!(!self.cycle.is_empty(), "the cycle of a lasso is not empty");
        let mut q = structure.after(from, &self.stem);
        let mut seen = StateSet::empty(structure.len());
        while seen.insert(q) {
            q = structure.after(q, &self.cycle);
        }
        // q starts a round of the cycle that comes back to q.
        let start = q;
        let mut visited = StateSet::empty(structure.len());
        loop {
            for &l in &self.cycle {
                q = structure.step(q, l);
                visited.insert(q);
            }
            if q == start {
                return visited;
            }
        }
    }

    /// In `stem·(cycle)^ω` notation.
    pub fn show(&self, alphabet: &Alphabet) -> String {
        let cycle = alphabet.show(&self.cycle);
        if self.stem.is_empty() {
            format!("({cycle})^ω")
        } else {
            format!("{}·({cycle})^ω", alphabet.show(&self.stem))
        }
    }
}
