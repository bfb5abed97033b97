//! The one lazy semantics that every view, relation, tester and monitor walks.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use crate::{LabelId, Labels};

/// A transition system given by its initial state and the successors of a state, on demand.
///
/// Nothing is built that is not asked for. The trait is dyn-compatible, so that composed systems of
/// a shape known only at run time are `Box<dyn Semantics<State = StateId>>`.
///
/// Contract: the order of the successors depends on the state alone, so that the same system is
/// numbered alike on every run.
pub trait Semantics {
    /// A state of the system.
    type State: Clone + Eq + Hash + Debug;

    /// The alphabet that the labels of the steps belong to.
    fn labels(&self) -> &Labels;

    /// s₀.
    fn initial(&self) -> Self::State;

    /// Appends the steps of `state` to `row`. Repetitions are allowed.
    fn successors(&self, state: &Self::State, row: &mut Vec<(LabelId, Self::State)>);

    /// Appends the steps of each of these states to `rows`, and where they end to `ends`: what asking for
    /// one after the other gives. A system that has its steps in memory looks for all of them at once,
    /// since to wait for memory is most of the work.
    fn successors_of(
        &self,
        states: &[Self::State],
        rows: &mut Vec<(LabelId, Self::State)>,
        ends: &mut Vec<usize>,
    ) {
        for state in states {
            self.successors(state, rows);
            ends.push(rows.len());
        }
    }

    /// The same for a caller that looks at the internal steps alone: others may be missing.
    fn internal_successors_of(
        &self,
        states: &[Self::State],
        rows: &mut Vec<(LabelId, Self::State)>,
        ends: &mut Vec<usize>,
    ) {
        self.successors_of(states, rows, ends);
    }

    /// Appends the steps of `state` to `row`, but for self-loops under inputs, which may be told apart: the
    /// result has bit k where the label with index k is such an input. Completion adds as many of these as
    /// there are inputs, and a search that knows which inputs matter need not look at the others.
    fn successors_and_loops(
        &self,
        state: &Self::State,
        row: &mut Vec<(LabelId, Self::State)>,
    ) -> u64 {
        self.successors(state, row);
        0
    }

    /// Reads from memory what asking for the steps of these states will need, all at once, and does nothing
    /// else.
    fn look_ahead(&self, _states: &[Self::State]) {}

    /// Whether a state has an internal step, where that is known without making its steps.
    fn internal_step(&self, _state: &Self::State) -> Option<bool> {
        None
    }

    /// Whether every state is known to take every input, if need be after internal actions, by the way the
    /// system is made. `false` says nothing.
    fn is_completed(&self) -> bool {
        false
    }

    /// How many states there are, numbered from zero, where all of them are in memory and may be looked at
    /// whether or not a search comes to them.
    fn explicit_states(&self) -> Option<usize> {
        None
    }

    /// The state in words a user knows from the model.
    fn describe(&self, state: &Self::State) -> String;

    /// The place that the model declares and the state is at: the state without its values, where it
    /// has some.
    fn place(&self, state: &Self::State) -> String {
        self.describe(state)
    }

    /// The line of the model file where the state is declared, where there is one.
    fn line(&self, _state: &Self::State) -> Option<u32> {
        None
    }
}

macro_rules! forward {
    ($pointer:ty) => {
        impl<M: Semantics + ?Sized> Semantics for $pointer {
            type State = M::State;

            #[inline]
            fn labels(&self) -> &Labels {
                (**self).labels()
            }

            #[inline]
            fn initial(&self) -> Self::State {
                (**self).initial()
            }

            #[inline]
            fn successors(&self, state: &Self::State, row: &mut Vec<(LabelId, Self::State)>) {
                (**self).successors(state, row);
            }

            #[inline]
            fn successors_of(
                &self,
                states: &[Self::State],
                rows: &mut Vec<(LabelId, Self::State)>,
                ends: &mut Vec<usize>,
            ) {
                (**self).successors_of(states, rows, ends);
            }

            #[inline]
            fn internal_successors_of(
                &self,
                states: &[Self::State],
                rows: &mut Vec<(LabelId, Self::State)>,
                ends: &mut Vec<usize>,
            ) {
                (**self).internal_successors_of(states, rows, ends);
            }

            #[inline]
            fn successors_and_loops(
                &self,
                state: &Self::State,
                row: &mut Vec<(LabelId, Self::State)>,
            ) -> u64 {
                (**self).successors_and_loops(state, row)
            }

            #[inline]
            fn look_ahead(&self, states: &[Self::State]) {
                (**self).look_ahead(states);
            }

            #[inline]
            fn internal_step(&self, state: &Self::State) -> Option<bool> {
                (**self).internal_step(state)
            }

            fn is_completed(&self) -> bool {
                (**self).is_completed()
            }

            fn explicit_states(&self) -> Option<usize> {
                (**self).explicit_states()
            }

            fn describe(&self, state: &Self::State) -> String {
                (**self).describe(state)
            }

            fn place(&self, state: &Self::State) -> String {
                (**self).place(state)
            }

            fn line(&self, state: &Self::State) -> Option<u32> {
                (**self).line(state)
            }
        }
    };
}

forward!(&M);
forward!(Box<M>);
forward!(Arc<M>);
