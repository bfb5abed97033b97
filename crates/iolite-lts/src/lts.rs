//! Explicit labelled transition systems in compressed sparse rows.
//!
//! An [`Lts`] is `⟨S, L, T, s₀⟩` [LTS96, def. 2.1]; with inputs and outputs among its labels
//! it is an IOLTS [SAFE04, def. 1]. States are dense 32-bit ids; the transitions of a
//! state are one slice, sorted by label and target and without repetition.

mod builder;
mod collected;
mod rows;

use std::sync::Arc;

use crate::{LabelId, Labels, Semantics};
use rows::Rows;

pub use builder::{BuildError, LtsBuilder};

/// Index of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(u32);

impl StateId {
    /// The first state of any system.
    pub const FIRST: Self = Self(0);

    /// The largest number, for tables that mark places with it.
    pub(crate) const LAST: Self = Self(u32::MAX);

    /// The id with this small index, for constants.
    pub(crate) const fn nth(index: u16) -> Self {
        Self(index as u32)
    }

    /// The id with this index.
    #[inline]
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 states"))
    }

    /// The index, for tables beside the states.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A labelled step out of a state: the label and the state it leads to.
pub type Step = (LabelId, StateId);

/// An explicit labelled transition system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lts {
    labels: Arc<Labels>,
    initial: StateId,
    /// `offsets[s]..offsets[s + 1]` are the steps of state `s`.
    offsets: Vec<u32>,
    steps: Vec<Step>,
    /// One bit for each state: whether it has internal steps. Closures ask this of every state that they
    /// meet, most of which have none.
    unstable: Vec<u64>,
    /// Names of the states, or empty when they are only numbered.
    names: Vec<Box<str>>,
    /// The place of each state whose name is more than its place, or empty.
    places: Vec<Option<Arc<str>>>,
    /// Source line of each state (1-based, 0 for unknown), or empty.
    lines: Vec<u32>,
}

impl Lts {
    /// The alphabet, declared labels that no transition carries included.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The alphabet, shared.
    pub fn shared_labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// s₀.
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// Number of states.
    pub fn state_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of transitions.
    pub fn transition_count(&self) -> usize {
        self.steps.len()
    }

    /// All states in order.
    pub fn states(&self) -> impl ExactSizeIterator<Item = StateId> + use<> {
        (0..self.state_count()).map(StateId::new)
    }

    /// The steps of a state, sorted by label and target.
    #[inline]
    pub fn steps(&self, state: StateId) -> &[Step] {
        let i = state.index();
        &self.steps[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// The steps of a state under one label.
    pub fn steps_on(&self, state: StateId, label: LabelId) -> &[Step] {
        let row = self.steps(state);
        let from = row.partition_point(|&(l, _)| l < label);
        let to = from + row[from..].partition_point(|&(l, _)| l == label);
        &row[from..to]
    }

    /// All transitions in order of source, label, target.
    pub fn transitions(&self) -> impl Iterator<Item = (StateId, LabelId, StateId)> + '_ {
        self.states()
            .flat_map(|s| self.steps(s).iter().map(move |&(l, t)| (s, l, t)))
    }

    /// The name of a state; its number where the model gives none.
    pub fn name(&self, state: StateId) -> String {
        self.names
            .get(state.index())
            .map_or_else(|| state.index().to_string(), ToString::to_string)
    }

    /// Whether the states have names of their own.
    pub fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// The place that a state is at, where its name says more than that: a state of unfolded data is
    /// named by a location and values.
    pub fn place(&self, state: StateId) -> Option<&Arc<str>> {
        self.places.get(state.index())?.as_ref()
    }

    /// The line (from 1) of the model file that declares the state, if known.
    pub fn line(&self, state: StateId) -> Option<u32> {
        self.lines.get(state.index()).copied().filter(|&l| l > 0)
    }

    /// The same system over another label table; `map` gives for each old id the new one. Two old
    /// labels may become one.
    #[must_use]
    pub fn over(&self, labels: Arc<Labels>, map: &[LabelId]) -> Self {
        let step = |&(label, target): &Step| (map[label.index()], target);
        let steps = self.steps.iter().map(step).collect();
        let rows = Rows::in_place(self.offsets.clone(), steps, labels.kinds(), 1);
        Self {
            labels,
            initial: self.initial,
            offsets: rows.offsets,
            steps: rows.steps,
            unstable: rows.unstable,
            names: self.names.clone(),
            places: self.places.clone(),
            lines: self.lines.clone(),
        }
    }

    /// Whether a state has an internal step.
    #[inline]
    pub fn has_internal_step(&self, state: StateId) -> bool {
        self.unstable[state.index() / 64] >> (state.index() % 64) & 1 == 1
    }

    /// Bytes held by rows, names, places and lines.
    pub fn bytes(&self) -> usize {
        self.offsets.capacity() * size_of::<u32>()
            + self.steps.capacity() * size_of::<Step>()
            + self.unstable.capacity() * size_of::<u64>()
            + self.lines.capacity() * size_of::<u32>()
            + self.places.capacity() * size_of::<Option<Arc<str>>>()
            + self
                .names
                .iter()
                .map(|n| n.len() + size_of::<Box<str>>())
                .sum::<usize>()
    }
}

impl Semantics for Lts {
    type State = StateId;

    #[inline]
    fn labels(&self) -> &Labels {
        &self.labels
    }

    #[inline]
    fn initial(&self) -> StateId {
        self.initial
    }

    #[inline]
    fn successors(&self, state: &StateId, row: &mut Vec<Step>) {
        row.extend_from_slice(self.steps(*state));
    }

    fn successors_of(&self, states: &[StateId], rows: &mut Vec<Step>, ends: &mut Vec<usize>) {
        // First where all rows are, then the rows: no look into memory waits for the one before.
        let first = ends.len();
        ends.extend(states.iter().map(|s| self.offsets[s.index()] as usize));
        for (place, state) in ends[first..].iter_mut().zip(states) {
            rows.extend_from_slice(&self.steps[*place..self.offsets[state.index() + 1] as usize]);
            *place = rows.len();
        }
    }

    fn look_ahead(&self, states: &[StateId]) {
        let first = |s: &StateId| self.steps.get(self.offsets[s.index()] as usize);
        let sum = states
            .iter()
            .filter_map(first)
            .fold(0, |sum, t| sum ^ t.1.0);
        std::hint::black_box(sum);
    }

    #[inline]
    fn internal_step(&self, state: &StateId) -> Option<bool> {
        Some(self.has_internal_step(*state))
    }

    fn explicit_states(&self) -> Option<usize> {
        Some(self.state_count())
    }

    fn describe(&self, state: &StateId) -> String {
        self.name(*state)
    }

    fn place(&self, state: &StateId) -> String {
        Self::place(self, *state).map_or_else(|| self.name(*state), ToString::to_string)
    }

    fn line(&self, state: &StateId) -> Option<u32> {
        Self::line(self, *state)
    }
}
