//! What the derivation algorithms ask of a specification, for every relation alike.

pub(crate) mod ioco_derivation;
pub(crate) mod ioconf_derivation;

use std::fmt::Debug;
use std::hash::Hash;

use iolite_lts::{LabelId, Labels};

/// What an observation means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning<S> {
    /// It is not in out(S): `fail`.
    Forbidden,
    /// The relation says nothing about it here: `pass`, and the test is over.
    Unjudged,
    /// It is right, and the test can go on from there.
    Allowed(S),
}

/// What δ means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence<S> {
    /// θ is an observation among the others [IOCO99, §4].
    Observed(Meaning<S>),
    /// It is the end of the run [LTS96, §7].
    Final {
        /// Whether it is right.
        allowed: bool,
    },
}

/// A deterministic automaton of stimuli and observations, walked on demand: the part of the test
/// derivation algorithms in which ioco, ioconf and `ioconf_F` differ.
pub trait Oracle {
    /// A state of the automaton.
    type State: Copy + Eq + Hash + Debug;

    /// The relation that the test cases are for.
    fn relation(&self) -> &'static str;

    /// The alphabet.
    fn labels(&self) -> &Labels;

    /// Where it starts.
    fn initial(&mut self) -> Self::State;

    /// Appends the stimuli that may be given, in label order.
    fn stimuli(&mut self, at: Self::State, row: &mut Vec<(LabelId, Self::State)>);

    /// Appends every output of the alphabet with its meaning, in label order.
    fn outputs(&mut self, at: Self::State, row: &mut Vec<(LabelId, Meaning<Self::State>)>);

    /// The meaning of δ.
    fn quiescence(&mut self, at: Self::State) -> Silence<Self::State>;

    /// The places of the model, in words.
    fn locations(&self, at: Self::State) -> Vec<String>;

    /// The names of those places alone.
    fn places(&self, at: Self::State) -> Vec<String>;

    /// Starts anew and may forget states, all but the result; for runs without end.
    fn trim(&mut self, at: Self::State) -> Self::State {
        at
    }
}
