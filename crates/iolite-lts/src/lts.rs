//! Explicit labelled transition systems in compressed sparse rows.
//!
//! An [`Lts`] is `⟨S, L, T, s₀⟩` [LTS96, def. 2.1]; with inputs and outputs among its labels
//! it is an IOLTS [SAFE04, def. 1]. States are dense 32-bit ids; the transitions of a
//! state are one slice, sorted by label and target and without repetition.

use std::sync::Arc;

use crate::{LabelId, LabelKind, Labels, Semantics};

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
        let mut result = Self {
            labels,
            ..self.clone()
        };
        for step in &mut result.steps {
            step.0 = map[step.0.index()];
        }
        if !map.is_sorted_by(|a, b| a < b) {
            for s in 0..self.state_count() {
                result.steps[self.offsets[s] as usize..self.offsets[s + 1] as usize]
                    .sort_unstable();
            }
        }
        if map.iter().collect::<std::collections::BTreeSet<_>>().len() < map.len() {
            result.remove_repeated_steps();
        }
        result.find_unstable();
        result
    }

    /// Sets the bits of the states with internal steps.
    fn find_unstable(&mut self) {
        let kinds = self.labels.kinds();
        let is_internal = |(label, _): &Step| kinds[label.index()] == LabelKind::Internal;
        let mut unstable = vec![0u64; self.state_count().div_ceil(64)];
        for state in self.states() {
            let bit = u64::from(self.steps(state).iter().any(is_internal));
            unstable[state.index() / 64] |= bit << (state.index() % 64);
        }
        self.unstable = unstable;
    }

    /// Whether a state has an internal step.
    #[inline]
    pub fn has_internal_step(&self, state: StateId) -> bool {
        self.unstable[state.index() / 64] >> (state.index() % 64) & 1 == 1
    }

    fn remove_repeated_steps(&mut self) {
        let mut kept = 0;
        for s in 0..self.state_count() {
            let (from, to) = (self.offsets[s] as usize, self.offsets[s + 1] as usize);
            let start = kept;
            for k in from..to {
                let step = self.steps[k];
                if kept == start || self.steps[kept - 1] != step {
                    self.steps[kept] = step;
                    kept += 1;
                }
            }
            self.offsets[s] = start as u32;
        }
        let n = self.state_count();
        self.offsets[n] = kept as u32;
        self.steps.truncate(kept);
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

/// Why a builder cannot give an [`Lts`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// There is no state, so no initial one.
    #[error("the system has no states")]
    NoStates,
    /// More than 2³² - 1 transitions.
    #[error("the system has more than 4294967295 transitions")]
    TooManyTransitions,
}

/// Where the steps of a builder start. Apart from the steps, so that these become rows where they are.
#[derive(Clone, Debug)]
enum Sources {
    /// They come in the order of their sources so far: where the steps of each state begin, up to the
    /// last source.
    Rows(Vec<u32>),
    /// The source of each.
    Each(Vec<StateId>),
}

impl Default for Sources {
    fn default() -> Self {
        Self::Rows(Vec::new())
    }
}

impl Sources {
    /// How far a source may be beyond the number of steps for rows to be begun up to it: a state far away
    /// must not cost memory for all before it.
    const FAR: usize = 1024;

    /// Adds the source of the step that comes after `steps` others.
    #[inline]
    fn push(&mut self, source: StateId, steps: usize) {
        match self {
            // A row begun is a row that this step or a later one belongs to.
            Self::Rows(starts) if source.index() + 1 == starts.len() => {}
            Self::Each(sources) => sources.push(source),
            Self::Rows(starts) => match u32::try_from(steps) {
                Ok(start)
                    if source.index() >= starts.len() && source.index() < 2 * steps + Self::FAR =>
                {
                    starts.resize(source.index() + 1, start);
                }
                _ => {
                    let mut sources = Self::of_rows(starts, steps);
                    sources.push(source);
                    *self = Self::Each(sources);
                }
            },
        }
    }

    /// The source of each of the steps in rows that begin here.
    fn of_rows(starts: &[u32], steps: usize) -> Vec<StateId> {
        let mut sources = Vec::with_capacity(steps + 1);
        for state in 0..starts.len() {
            let end = starts.get(state + 1).map_or(steps, |&end| end as usize);
            sources.resize(end, StateId::new(state));
        }
        sources
    }
}

/// Collects states and transitions in any order.
#[derive(Clone, Debug, Default)]
pub struct LtsBuilder {
    labels: Labels,
    initial: usize,
    states: usize,
    sources: Sources,
    steps: Vec<Step>,
    names: Vec<Box<str>>,
    places: Vec<Option<Arc<str>>>,
    lines: Vec<u32>,
}

impl LtsBuilder {
    /// An empty builder with a fresh alphabet.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty builder that starts from this alphabet.
    pub fn with_labels(labels: Labels) -> Self {
        Self {
            labels,
            ..Self::default()
        }
    }

    /// The alphabet so far.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The alphabet, to intern into.
    pub fn labels_mut(&mut self) -> &mut Labels {
        &mut self.labels
    }

    /// Interns a label.
    pub fn label(&mut self, kind: LabelKind, name: &str) -> LabelId {
        self.labels.intern(kind, name)
    }

    /// A new state without a name.
    pub fn state(&mut self) -> StateId {
        self.states += 1;
        StateId::new(self.states - 1)
    }

    /// A new state with a name. Names need not differ; the caller who cares checks.
    pub fn named_state(&mut self, name: &str) -> StateId {
        let state = self.state();
        self.set_name(state, name);
        state
    }

    /// Names a state, replacing the name it had.
    pub fn set_name(&mut self, state: StateId, name: &str) {
        while self.names.len() <= state.index() {
            self.names.push(self.names.len().to_string().into());
        }
        self.names[state.index()] = name.into();
    }

    /// Records the place of a state whose name says more.
    pub fn set_place(&mut self, state: StateId, place: Arc<str>) {
        if self.places.len() <= state.index() {
            self.places.resize(state.index() + 1, None);
        }
        self.places[state.index()] = Some(place);
    }

    /// Records the source line (from 1) of a state.
    pub fn set_line(&mut self, state: StateId, line: u32) {
        if self.lines.len() <= state.index() {
            self.lines.resize(state.index() + 1, 0);
        }
        self.lines[state.index()] = line;
    }

    /// Makes sure that states `0..count` exist.
    pub fn ensure_states(&mut self, count: usize) {
        self.states = self.states.max(count);
    }

    /// Number of states so far.
    pub fn state_count(&self) -> usize {
        self.states
    }

    /// Number of transitions so far, repetitions included.
    pub fn transition_count(&self) -> usize {
        self.steps.len()
    }

    /// Makes `state` the initial one; without a call it is the first.
    pub fn set_initial(&mut self, state: StateId) {
        self.ensure_states(state.index() + 1);
        self.initial = state.index();
    }

    /// Adds `source --label--> target`; states that do not exist yet come into being.
    pub fn transition(&mut self, source: StateId, label: LabelId, target: StateId) {
        self.states = self.states.max(source.index() + 1).max(target.index() + 1);
        self.sources.push(source, self.steps.len());
        self.steps.push((label, target));
    }

    /// Adds a transition with its label in `?a`, `!x`, `i`, `delta` notation.
    pub fn transition_text(&mut self, source: StateId, label: &str, target: StateId) {
        let label = self.labels.intern_text(label);
        self.transition(source, label, target);
    }

    /// Packs everything into rows.
    pub fn build(mut self) -> Result<Lts, BuildError> {
        if self.states == 0 {
            return Err(BuildError::NoStates);
        }
        if u32::try_from(self.steps.len()).is_err() {
            return Err(BuildError::TooManyTransitions);
        }
        let mut steps = std::mem::take(&mut self.steps);
        let offsets = match std::mem::take(&mut self.sources) {
            Sources::Rows(mut starts) => {
                starts.resize(self.states + 1, steps.len() as u32);
                starts
            }
            Sources::Each(sources) => {
                let mut offsets = vec![0u32; self.states + 1];
                for s in &sources {
                    offsets[s.index() + 1] += 1;
                }
                for i in 0..self.states {
                    offsets[i + 1] += offsets[i];
                }
                steps = gathered(&sources, &steps, &offsets);
                offsets
            }
        };
        let mut repeated = false;
        for i in 0..self.states {
            let row = &mut steps[offsets[i] as usize..offsets[i + 1] as usize];
            if !row.is_sorted_by(|a, b| a < b) {
                row.sort_unstable();
                repeated |= row.windows(2).any(|w| w[0] == w[1]);
            }
        }
        if !self.names.is_empty() {
            let last = StateId::new(self.states - 1);
            if self.names.len() < self.states {
                let name = last.index().to_string();
                self.set_name(last, &name);
            }
        }
        let mut lts = Lts {
            labels: Arc::new(self.labels),
            initial: StateId::new(self.initial),
            offsets,
            steps,
            unstable: Vec::new(),
            names: self.names,
            places: self.places,
            lines: self.lines,
        };
        if repeated {
            lts.remove_repeated_steps();
        }
        lts.steps.shrink_to_fit();
        lts.find_unstable();
        Ok(lts)
    }
}

/// The steps of each state together. Not in place: that would save memory for a while, but steps would
/// change places all over it, which takes several times as long as reading them from a file.
fn gathered(sources: &[StateId], steps: &[Step], offsets: &[u32]) -> Vec<Step> {
    let mut next = offsets.to_vec();
    let mut rows = vec![(LabelId::TAU, StateId::FIRST); steps.len()];
    for (source, step) in sources.iter().zip(steps) {
        let place = &mut next[source.index()];
        rows[*place as usize] = *step;
        *place += 1;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> LtsBuilder {
        let mut b = LtsBuilder::new();
        let s: Vec<_> = (0..3).map(|_| b.state()).collect();
        b.transition_text(s[0], "?b", s[2]);
        b.transition_text(s[0], "?a", s[1]);
        b.transition_text(s[0], "?b", s[2]);
        b.transition_text(s[2], "i", s[0]);
        b
    }

    #[test]
    fn rows_are_sorted_and_free_of_repetition() {
        let lts = small().build().unwrap();
        assert_eq!((lts.state_count(), lts.transition_count()), (3, 3));
        let b = lts.labels().get_text("?b").unwrap();
        assert_eq!(lts.steps_on(StateId::new(0), b), [(b, StateId::new(2))]);
        assert!(lts.steps(StateId::new(0)).is_sorted());
        assert!(lts.steps(StateId::new(1)).is_empty());
    }

    #[test]
    fn rows_do_not_depend_on_the_order_of_transitions() {
        let mut labels = Labels::new();
        let all: Vec<_> = (0..7)
            .map(|k| labels.intern_text(&format!("a{k}")))
            .collect();
        let mut transitions: Vec<_> = (0..200)
            .map(|k| {
                (
                    StateId::new(k * 31 % 23),
                    all[k % 7],
                    StateId::new(k * 17 % 29),
                )
            })
            .collect();
        let build = |transitions: &[(StateId, LabelId, StateId)]| {
            let mut builder = LtsBuilder::with_labels(labels.clone());
            for &(s, l, t) in transitions {
                builder.transition(s, l, t);
            }
            builder.build().unwrap()
        };
        let given = build(&transitions);
        transitions.sort_unstable();
        transitions.dedup();
        let sorted = build(&transitions);
        assert!(given.transitions().eq(transitions.iter().copied()));
        assert_eq!(given, sorted);
        transitions.reverse();
        assert_eq!(build(&transitions), sorted);
    }

    #[test]
    fn over_merges_labels() {
        let lts = small().build().unwrap();
        let mut labels = Labels::new();
        let x = labels.intern_text("!x");
        let merged = lts.over(Arc::new(labels), &[LabelId::TAU, LabelId::DELTA, x, x]);
        assert_eq!(merged.transition_count(), 3);
        assert_eq!(
            merged.steps(StateId::new(0)),
            [(x, StateId::new(1)), (x, StateId::new(2))]
        );
    }

    #[test]
    fn names_fall_back_to_numbers() {
        let mut b = small();
        b.set_name(StateId::new(1), "one");
        let lts = b.build().unwrap();
        assert_eq!(
            lts.states().map(|s| lts.name(s)).collect::<Vec<_>>(),
            ["0", "one", "2"]
        );
        assert_eq!(LtsBuilder::new().build(), Err(BuildError::NoStates));
    }
}
