//! A system that is put together step by step.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::collected::Collected;
use super::{Lts, StateId, Step};
use crate::{LabelId, LabelKind, Labels};

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

/// Steps that a thread should have to pack for its start to be worth while.
const STEPS: usize = 1 << 15;

/// Threads that pack, at most: each looks through the sources of all steps, so that more of them find less.
const THREADS: usize = 8;

/// Collects states and transitions in any order.
#[derive(Clone, Debug, Default)]
pub struct LtsBuilder {
    labels: Labels,
    initial: usize,
    states: usize,
    steps: Collected,
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
    #[inline]
    pub fn transition(&mut self, source: StateId, label: LabelId, target: StateId) {
        self.states = self.states.max(source.index() + 1).max(target.index() + 1);
        self.steps.push(source, (label, target));
    }

    /// Adds transitions, each a source and a step, out of two lists of as many, which are left with nothing. They may be kept
    /// as they are, which is faster than to add one after the other. All their states are below `states`.
    pub fn append(&mut self, sources: &mut Vec<StateId>, steps: &mut Vec<Step>, states: usize) {
        assert_eq!(sources.len(), steps.len(), "a step for each source");
        debug_assert!(sources.iter().all(|source| source.index() < states));
        debug_assert!(steps.iter().all(|(_, target)| target.index() < states));
        self.ensure_states(states);
        self.steps.append(sources, steps);
    }

    /// Adds a transition with its label in `?a`, `!x`, `i`, `delta` notation.
    pub fn transition_text(&mut self, source: StateId, label: &str, target: StateId) {
        let label = self.labels.intern_text(label);
        self.transition(source, label, target);
    }

    /// Packs everything into rows.
    pub fn build(self) -> Result<Lts, BuildError> {
        self.build_with_jobs(NonZeroUsize::MIN)
    }

    /// The same by so many threads, where it is worth their start.
    pub fn build_with_jobs(self, jobs: NonZeroUsize) -> Result<Lts, BuildError> {
        let most = (self.steps.len() / STEPS).clamp(1, THREADS);
        self.build_by(jobs.get().min(most))
    }

    fn build_by(mut self, threads: usize) -> Result<Lts, BuildError> {
        if self.states == 0 {
            return Err(BuildError::NoStates);
        }
        if u32::try_from(self.steps.len()).is_err() {
            return Err(BuildError::TooManyTransitions);
        }
        let steps = std::mem::take(&mut self.steps);
        let rows = steps.into_rows(self.states, self.labels.kinds(), threads);
        if !self.names.is_empty() {
            let last = StateId::new(self.states - 1);
            if self.names.len() < self.states {
                let name = last.index().to_string();
                self.set_name(last, &name);
            }
        }
        Ok(Lts {
            labels: Arc::new(self.labels),
            initial: StateId::new(self.initial),
            offsets: rows.offsets,
            steps: rows.steps,
            unstable: rows.unstable,
            names: self.names,
            places: self.places,
            lines: self.lines,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

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

    proptest! {
        /// What the rows are by definition, and the same from any number of threads, and where steps come in lists.
        #[test]
        fn several_threads_pack_what_one_packs(
            mut transitions in vec((0..700usize, 0..4usize, 0..700usize), 0..1500),
            near in 1..700usize,
            idle in 0..300usize,
            order in 0..3,
            lists in vec(0..200usize, 0..20),
        ) {
            let mut labels = Labels::new();
            let [a, tau, x] = ["?a", "i", "!x"].map(|text| labels.intern_text(text));
            let work = labels.intern(LabelKind::Internal, "work");
            let all = [a, tau, x, work];
            // Many of them repeat others, and many states have none.
            for (source, _, target) in &mut transitions {
                *source = *source / near * near;
                *target /= near;
            }
            if order < 2 {
                transitions.sort_by_key(|&(source, _, _)| source);
            }
            if order == 1 {
                transitions.rotate_right(1);
            }
            let build = |threads, lists: &[usize]| {
                let mut builder = LtsBuilder::with_labels(labels.clone());
                builder.ensure_states(1);
                let mut rest = transitions.iter().map(|&(source, label, target)| {
                    (StateId::new(source), (all[label], StateId::new(target)))
                });
                for &count in lists {
                    let list = rest.by_ref().take(count);
                    let (mut sources, mut steps): (Vec<_>, Vec<_>) = list.unzip();
                    builder.append(&mut sources, &mut steps, 700);
                    assert!(sources.is_empty() && steps.is_empty());
                    if let Some((source, (label, target))) = rest.next() {
                        builder.transition(source, label, target);
                    }
                }
                for (source, (label, target)) in rest {
                    builder.transition(source, label, target);
                }
                assert_eq!(builder.transition_count(), transitions.len());
                builder.ensure_states(700);
                builder.ensure_states(builder.state_count() + idle);
                builder.build_by(threads).unwrap()
            };
            let alone = build(1, &[]);
            let mut rows = vec![BTreeSet::new(); alone.state_count()];
            for &(source, label, target) in &transitions {
                rows[source].insert((all[label], StateId::new(target)));
            }
            for (state, row) in alone.states().zip(&rows) {
                prop_assert!(alone.steps(state).iter().eq(row));
                let internal = row.iter().any(|&(label, _)| label == tau || label == work);
                prop_assert_eq!(alone.has_internal_step(state), internal);
            }
            prop_assert_eq!(alone.transition_count(), rows.iter().map(BTreeSet::len).sum::<usize>());
            prop_assert_eq!(&build(1, &lists), &alone);
            for threads in [2, 3, 8] {
                prop_assert_eq!(&build(threads, &[]), &alone);
                prop_assert_eq!(&build(threads, &lists), &alone);
            }
        }
    }

    #[test]
    fn a_large_system_is_packed_by_the_threads_that_were_asked_for() {
        let count = 3 * STEPS;
        let label = LabelId::DELTA;
        let transition = |k: usize| {
            let source = StateId::new(k * 7919 % count / 3);
            (source, label, StateId::new(k % 1000))
        };
        let build = |jobs| {
            let mut builder = LtsBuilder::new();
            for (source, label, target) in (0..count).map(transition) {
                builder.transition(source, label, target);
            }
            assert_eq!(builder.transition_count(), count);
            let jobs = NonZeroUsize::new(jobs).unwrap();
            builder.build_with_jobs(jobs).unwrap()
        };
        let alone = build(1);
        let expected: BTreeSet<_> = (0..count).map(transition).collect();
        assert!(alone.transitions().eq(expected));
        assert!([2, 3, 100].iter().all(|&jobs| build(jobs) == alone));
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
