//! The deterministic and complete transition structure that every automaton of this crate has.

use std::borrow::Cow;
use std::hash::Hash;
use std::sync::Arc;

pub use iolite_lts::StateId;
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::alphabet::{Alphabet, Letter};
use crate::diagram::{Diagrams, Function};
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
    /// The functions that label the transitions need more nodes, or more ways through them, than are kept.
    #[error("labels of the transitions are too large: more than {0} nodes")]
    DiagramTooLarge(usize),
    /// The construction needs a letter for each valuation.
    #[error("{0} propositions are too many for this construction")]
    TooManyPropositions(usize),
    /// The acceptance alternates too often on the automaton's cycles.
    #[error("too many alternating cycles")]
    TooManyCycles,
    /// The finitary part cannot be told by recurrent and persistent states of any automaton.
    #[error(
        "no streett automaton has this finitary part: a run that satisfies it from some point on is rejected"
    )]
    FinitaryPart,
}

impl AutomatonError {
    /// Whether a bound was met, so that nothing is known of the question; else the question was wrong.
    pub fn is_bound(&self) -> bool {
        matches!(
            self,
            Self::TooManyStates(_)
                | Self::TableTooLarge(_)
                | Self::DiagramTooLarge(_)
                | Self::TooManyPropositions(_)
                | Self::TooManyCycles
        )
    }
}

/// States that a construction may build unless its caller says otherwise.
pub const DEFAULT_BUDGET: usize = 1 << 20;
/// Entries that a transition table may have.
const MAX_TABLE: usize = 1 << 28;
/// The same, where a table is made of functions for something that knows tables only.
const MAX_LISTED: usize = 1 << 22;

/// `(Q, q_init, Σ, →)`, deterministic and complete [PROP12, §3.3].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    alphabet: Arc<Alphabet>,
    initial: StateId,
    /// Entries a state in [`Self::next`].
    width: usize,
    /// Over an alphabet that is not wide, the successors in the order of the letters; else each successor once,
    /// and the last one again to fill the row.
    next: Vec<StateId>,
    /// Over a wide alphabet, the successor as a function of the letter.
    rows: Option<Arc<Rows>>,
}

/// One function a state.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rows {
    diagrams: Diagrams,
    of: Vec<Function>,
}

/// The states of a structure in the making; see [`Structure::explore_functions`].
pub struct Frontier<S> {
    index: FxHashMap<S, StateId>,
    meaning: Vec<S>,
    budget: usize,
}

impl<S: Clone + Eq + Hash> Frontier<S> {
    fn new(start: S, budget: usize) -> Self {
        Self {
            index: FxHashMap::from_iter([(start.clone(), StateId::FIRST)]),
            meaning: vec![start],
            budget,
        }
    }

    fn id(&mut self, state: S) -> Result<StateId, AutomatonError> {
        if let Some(&id) = self.index.get(&state) {
            return Ok(id);
        }
        if self.meaning.len() >= self.budget {
            return Err(AutomatonError::TooManyStates(self.budget));
        }
        let id = StateId::new(self.meaning.len());
        self.meaning.push(state.clone());
        self.index.insert(state, id);
        Ok(id)
    }

    /// The number of a state: the value of a function that leads there.
    pub fn number(&mut self, state: S) -> Result<u32, AutomatonError> {
        Ok(self.id(state)?.index() as u32)
    }
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
        if !next.len().is_multiple_of(k) || k > next.len() {
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
        if alphabet.is_wide() {
            let mut diagrams = Diagrams::default();
            let row = |row: &[StateId]| {
                let numbers: Vec<u32> = row.iter().map(|q| q.index() as u32).collect();
                diagrams.of_row(&numbers)
            };
            let of = next.chunks(k).map(row).collect::<Result<_, _>>()?;
            return Self::of_functions(alphabet, initial, diagrams, of);
        }
        Ok(Self {
            alphabet,
            initial,
            width: k,
            next,
            rows: None,
        })
    }

    /// From one function a state, over a wide alphabet.
    pub(crate) fn of_functions(
        alphabet: Arc<Alphabet>,
        initial: StateId,
        diagrams: Diagrams,
        of: Vec<Function>,
    ) -> Result<Self, AutomatonError> {
        let successors: Vec<Vec<u32>> = of
            .iter()
            .map(|&f| diagrams.values(f).into_iter().map(|(q, _)| q).collect())
            .collect();
        Ok(Self {
            alphabet,
            rows: Some(Arc::new(Rows { diagrams, of })),
            ..Self::of_graph(initial, &successors)?
        })
    }

    /// Builds the part that is reachable from `start` over a wide alphabet; `row` makes the function that leads
    /// on from a state, whose values are numbers that the frontier gives.
    pub fn explore_functions<S: Clone + Eq + Hash, E: From<AutomatonError>>(
        alphabet: Arc<Alphabet>,
        start: S,
        budget: usize,
        mut row: impl FnMut(&S, &mut Diagrams, &mut Frontier<S>) -> Result<Function, E>,
    ) -> Result<(Self, Vec<S>), E> {
        let mut frontier = Frontier::new(start, budget);
        let mut diagrams = Diagrams::default();
        let mut of = Vec::new();
        while of.len() < frontier.meaning.len() {
            let from = frontier.meaning[of.len()].clone();
            of.push(row(&from, &mut diagrams, &mut frontier)?);
        }
        let built = Self::of_functions(alphabet, StateId::FIRST, diagrams, of)?;
        Ok((built, frontier.meaning))
    }

    /// Builds what is reachable from `start` along this structure: `base` says beside which of its states a new
    /// one stands, and `step` where it goes when that one goes to a successor.
    pub(crate) fn explore_along<S: Clone + Eq + Hash, E: From<AutomatonError>>(
        &self,
        start: S,
        budget: usize,
        base: impl Fn(&S) -> StateId,
        mut step: impl FnMut(&S, StateId) -> Result<S, E>,
    ) -> Result<(Self, Vec<S>), E> {
        let Some(rows) = &self.rows else {
            return Self::explore(self.alphabet.clone(), start, budget, |s, l| {
                step(s, self.step(base(s), l))
            });
        };
        Self::explore_functions(
            self.alphabet.clone(),
            start,
            budget,
            |from, diagrams, frontier| {
                let f = rows.of[base(from).index()];
                let mut lead = |_: &mut Diagrams, to: u32| {
                    let to = step(from, StateId::new(to as usize))?;
                    Ok(frontier.number(to)?)
                };
                diagrams.mapped(&rows.diagrams, f, &mut FxHashMap::default(), &mut lead)
            },
        )
    }

    /// One step before the structure starts: a new initial state that every letter leads to the old one.
    pub(crate) fn delayed(
        &self,
        budget: usize,
    ) -> Result<(Self, Vec<Option<StateId>>), AutomatonError> {
        let Some(rows) = &self.rows else {
            return Self::explore(self.alphabet.clone(), None, budget, |&q, l| {
                Ok(Some(q.map_or(self.initial, |q| self.step(q, l))))
            });
        };
        Self::explore_functions(
            self.alphabet.clone(),
            None,
            budget,
            |q: &Option<StateId>, diagrams, frontier| {
                let Some(q) = q else {
                    return Ok(Function::constant(frontier.number(Some(self.initial))?));
                };
                let mut lead =
                    |_: &mut Diagrams, to: u32| frontier.number(Some(StateId::new(to as usize)));
                let f = rows.of[q.index()];
                diagrams.mapped(&rows.diagrams, f, &mut FxHashMap::default(), &mut lead)
            },
        )
    }

    /// The same transitions over a wide alphabet, of which each letter does as one of this structure's does.
    pub(crate) fn over_functions(
        &self,
        alphabet: &Arc<Alphabet>,
        (classes, class): (&Diagrams, Function),
    ) -> Result<Self, AutomatonError> {
        let mut diagrams = Diagrams::default();
        let row = |q: StateId| {
            let mut lead = |_: &mut Diagrams, c: u32| Ok(self.row(q)[c as usize].index() as u32);
            diagrams.mapped::<AutomatonError>(classes, class, &mut FxHashMap::default(), &mut lead)
        };
        let of = self.states().map(row).collect::<Result<_, _>>()?;
        Self::of_functions(alphabet.clone(), self.initial, diagrams, of)
    }

    /// A graph as a structure whose letters are only numbers of edges; no state has none.
    pub(crate) fn of_graph(
        initial: StateId,
        successors: &[Vec<u32>],
    ) -> Result<Self, AutomatonError> {
        let width = successors.iter().map(Vec::len).max().unwrap_or(1);
        if successors.len().saturating_mul(width) > MAX_TABLE {
            return Err(AutomatonError::TableTooLarge(successors.len()));
        }
        let alphabet = Alphabet::numbers(width).map_err(|_| AutomatonError::NoState)?;
        let entry = |row: &Vec<u32>, i: usize| StateId::new(row[i.min(row.len() - 1)] as usize);
        let next = successors
            .iter()
            .flat_map(|row| (0..width).map(move |i| entry(row, i)))
            .collect();
        Self::new(Arc::new(alphabet), initial, next)
    }

    /// Where two states go on the same letter, for all letters; over a wide alphabet each pair once.
    pub(crate) fn joint_successors(
        &self,
        p: StateId,
        q: StateId,
    ) -> Result<Vec<(StateId, StateId)>, AutomatonError> {
        let Some(rows) = &self.rows else {
            let pairs = self.row(p).iter().copied().zip(self.row(q).iter().copied());
            return Ok(pairs.collect());
        };
        let mut found: Vec<(StateId, StateId)> = Vec::new();
        let mut index: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut pair = |p: u32, q: u32| {
            Ok::<_, AutomatonError>(*index.entry((p, q)).or_insert_with(|| {
                found.push((StateId::new(p as usize), StateId::new(q as usize)));
                found.len() as u32 - 1
            }))
        };
        let (p, q) = (rows.of[p.index()], rows.of[q.index()]);
        let (p, q) = ((&rows.diagrams, p), (&rows.diagrams, q));
        Diagrams::default().joined(p, q, &mut FxHashMap::default(), &mut pair)?;
        Ok(found)
    }

    /// The successors of a state as a function of the letter, made in this arena.
    pub(crate) fn function_in(
        &self,
        q: StateId,
        diagrams: &mut Diagrams,
    ) -> Result<Function, AutomatonError> {
        if let Some((own, f)) = self.function(q) {
            let mut same = |_: &mut Diagrams, to| Ok(to);
            return diagrams.mapped(own, f, &mut FxHashMap::default(), &mut same);
        }
        let row: Vec<u32> = self.row(q).iter().map(|to| to.index() as u32).collect();
        diagrams.of_row(&row)
    }

    /// Over a wide alphabet, the successors of a state as a function of the letter.
    pub fn function(&self, q: StateId) -> Option<(&Diagrams, Function)> {
        let rows = self.rows.as_ref()?;
        Some((&rows.diagrams, rows.of[q.index()]))
    }

    /// Builds the part that is reachable from `start`, states numbered in breadth-first order;
    /// the second result tells what each state stands for.
    pub fn explore<S: Clone + Eq + Hash, E: From<AutomatonError>>(
        alphabet: Arc<Alphabet>,
        start: S,
        budget: usize,
        mut step: impl FnMut(&S, Letter) -> Result<S, E>,
    ) -> Result<(Self, Vec<S>), E> {
        if alphabet.is_wide() {
            let count = alphabet.propositions().len();
            return Err(AutomatonError::TooManyPropositions(count).into());
        }
        let width = alphabet.len();
        let mut frontier = Frontier::new(start, budget);
        let mut next = Vec::new();
        let mut done = 0;
        while done < frontier.meaning.len() {
            if (done + 1).saturating_mul(width) > MAX_TABLE {
                return Err(AutomatonError::TableTooLarge(done + 1).into());
            }
            let from = frontier.meaning[done].clone();
            for letter in alphabet.iter() {
                let to = step(&from, letter)?;
                next.push(frontier.id(to)?);
            }
            done += 1;
        }
        let built = Self {
            alphabet,
            initial: StateId::FIRST,
            width,
            next,
            rows: None,
        };
        Ok((built, frontier.meaning))
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
        self.next.len() / self.width
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
        match &self.rows {
            None => self.next[q.index() * self.width + letter.index()],
            Some(rows) => {
                StateId::new(rows.diagrams.at(rows.of[q.index()], letter.bits()) as usize)
            }
        }
    }

    /// The successors of a state: one a letter, in their order; over a wide alphabet each of them, in no order
    /// of the letters.
    #[inline]
    pub fn row(&self, q: StateId) -> &[StateId] {
        &self.next[q.index() * self.width..(q.index() + 1) * self.width]
    }

    /// The table of all states, one column a letter, in order. Over a wide alphabet it is made, unless it would
    /// have too many entries.
    pub fn table(&self) -> Result<Cow<'_, [StateId]>, AutomatonError> {
        if self.rows.is_none() {
            return Ok(Cow::Borrowed(&self.next));
        }
        let propositions = self.alphabet.propositions().len();
        if self.len().saturating_mul(self.alphabet.len()) > MAX_LISTED {
            return Err(AutomatonError::TooManyPropositions(propositions));
        }
        let places = self
            .states()
            .flat_map(|q| self.alphabet.iter().map(move |l| (q, l)));
        Ok(Cow::Owned(places.map(|(q, l)| self.step(q, l)).collect()))
    }

    /// The transitions of a state: every letter; over a wide alphabet one letter to each successor.
    pub fn edges(&self, q: StateId) -> Vec<(Letter, StateId)> {
        match self.function(q) {
            None => self
                .alphabet
                .iter()
                .zip(self.row(q).iter().copied())
                .collect(),
            Some((diagrams, f)) => {
                let values = diagrams.values(f).into_iter();
                let edge = |(to, bits)| (Letter::of_bits(bits), StateId::new(to as usize));
                values.map(edge).collect()
            }
        }
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
            for (l, to) in self.edges(q) {
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
        let start = (self.initial, other.initial);
        let alphabet = self.alphabet.clone();
        let (Some(one), Some(two)) = (&self.rows, &other.rows) else {
            return Self::explore(alphabet, start, budget, |&(p, q), l| {
                Ok((self.step(p, l), other.step(q, l)))
            });
        };
        Self::explore_functions(alphabet, start, budget, |&(p, q), diagrams, frontier| {
            let mut lead =
                |p, q| frontier.number((StateId::new(p as usize), StateId::new(q as usize)));
            let (p, q) = (one.of[p.index()], two.of[q.index()]);
            let (p, q) = ((&one.diagrams, p), (&two.diagrams, q));
            diagrams.joined(p, q, &mut FxHashMap::default(), &mut |p, q| lead(p, q))
        })
    }

    /// The reachable part in breadth-first order, and the old state behind each new one.
    #[must_use]
    pub fn reachable_part(&self) -> (Self, Vec<StateId>) {
        self.explore_along(
            self.initial,
            usize::MAX,
            |&q| q,
            |_, to| Ok::<_, AutomatonError>(to),
        )
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
        match &self.rows {
            None => Refinement::new(self, class, names.len()).run(),
            Some(rows) => rows.refined(class),
        }
    }

    /// The quotient by a congruence, reachable part in breadth-first order, with one old state
    /// behind each new one.
    pub fn quotient(&self, class: &[u32]) -> (Self, Vec<StateId>) {
        let mut representative: FxHashMap<u32, StateId> = FxHashMap::default();
        for q in self.states() {
            representative.entry(class[q.index()]).or_insert(q);
        }
        self.explore_along(
            representative[&class[self.initial.index()]],
            usize::MAX,
            |&q| q,
            |_, to| Ok::<_, AutomatonError>(representative[&class[to.index()]]),
        )
        .expect("no larger than the automaton itself")
    }
}

impl Rows {
    /// Classes split, again and again, by the functions that lead to classes.
    fn refined(&self, mut class: Vec<u32>) -> Vec<u32> {
        let mut count = class.iter().max().map_or(0, |&c| c as usize + 1);
        loop {
            let mut images = Diagrams::default();
            let mut memo = FxHashMap::default();
            let mut names: FxHashMap<(u32, Function), u32> = FxHashMap::default();
            let refined: Vec<u32> = class
                .iter()
                .zip(&self.of)
                .map(|(&c, &f)| {
                    let mut image = |_: &mut Diagrams, to: u32| Ok(class[to as usize]);
                    let f = images
                        .mapped::<AutomatonError>(&self.diagrams, f, &mut memo, &mut image)
                        .expect("no larger than the diagrams themselves");
                    let fresh = names.len() as u32;
                    *names.entry((c, f)).or_insert(fresh)
                })
                .collect();
            class = refined;
            if names.len() == count {
                return class;
            }
            count = names.len();
        }
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
