//! The one question that testing asks of a specification: what may be observed now, what does this
//! step mean, which stimuli are there.

pub(crate) mod any;
pub(crate) mod channel_queues;
mod explanations;
pub(crate) mod finite_queues;
pub(crate) mod ioco;
pub(crate) mod ioconf;
pub(crate) mod queues;
pub(crate) mod relation;
pub(crate) mod symbolic;
pub(crate) mod uioco;

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use iolite_expr::Term;
use iolite_lts::{LabelId, Labels, StateId};

use crate::{ActionId, Alphabet, Criterion, Notice, Step, Undecided, Wish};

/// What a step means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning<S> {
    /// It is right, and the run goes on from there.
    Allowed(S),
    /// An observation that is not in out(S): `fail`.
    Forbidden,
    /// It is right, or not judged, and the relation says nothing about what follows: `pass`, and the
    /// run is over.
    Ends,
    /// A stimulus that the specification does not have here: nothing is known of what follows.
    Unspecified,
}

/// Where a specification may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// In words, with values and lines: `Wait_Ack (line 12)`.
    pub locations: Vec<String>,
    /// The names alone, as the model declares them.
    pub names: Vec<String>,
}

impl Places {
    /// The same as states of test cases have it. Names and words are one list where they do not differ.
    pub(crate) fn shared(self) -> SharedPlaces {
        let locations: Arc<[String]> = self.locations.into();
        let names = if *locations == *self.names {
            Arc::clone(&locations)
        } else {
            self.names.into()
        };
        SharedPlaces { locations, names }
    }

    /// These too, each once.
    pub(crate) fn extend(&mut self, more: Self) {
        for (to, from) in [
            (&mut self.locations, more.locations),
            (&mut self.names, more.names),
        ] {
            for text in from {
                if !to.contains(&text) {
                    to.push(text);
                }
            }
        }
    }
}

/// Places that several states of a test case are at.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedPlaces {
    /// In words.
    pub(crate) locations: Arc<[String]>,
    /// The names alone.
    pub(crate) names: Arc<[String]>,
}

/// A specification under a relation, walked on demand: the suspension automaton for ioco, `Δ_s` with
/// F for ioconf, sets of symbolic states for models with data.
///
/// Conformance testers, testers towards goals, monitors and coverage are written once, over any
/// oracle. "Not decided" is one of its answers, never dressed up as another.
pub trait Oracle {
    /// A state of the automaton.
    type State: Clone + Debug;

    /// The relation.
    fn criterion(&self) -> Criterion;

    /// The alphabet of the actions.
    fn alphabet(&self) -> &Alphabet;

    /// A run with this seed begins: stimuli whose values are drawn depend on it alone.
    fn begin(&mut self, _seed: u64) {
        self.alphabet().begin_run();
    }

    /// Where it starts.
    fn initial(&mut self) -> Result<Self::State, Box<Undecided>>;

    /// Appends the stimuli that may be given.
    fn stimuli(&mut self, at: &Self::State, menu: &mut Vec<ActionId>);

    /// What a step means.
    fn after(
        &mut self,
        at: &Self::State,
        step: Step,
    ) -> Result<Meaning<Self::State>, Box<Undecided>>;

    /// Whether [`happened`](Self::happened) does anything.
    const LISTENS: bool = false;

    /// A step really happened, in one of these states. `after` is asked of steps that might happen as
    /// well, so that nothing is learnt from it.
    fn happened(&mut self, _at: &[Self::State], _step: Step) {}

    /// out(S) in words: the outputs, and δ, that would be right now.
    fn out(&mut self, at: &Self::State) -> Vec<String>;

    /// The places of the specification.
    fn places(&mut self, at: &Self::State) -> Places;

    /// The names of the places where silence would be observed now, for timeouts that depend on them.
    fn waiting(&mut self, at: &Self::State) -> Vec<String> {
        self.places(at).names
    }

    /// Keeps memory under its budget: may forget all states but the result, which is `at` again.
    fn trim(&mut self, at: Self::State) -> Self::State {
        at
    }

    /// The same where a caller stands in several states at once: each becomes what it is from now on.
    fn trim_all(&mut self, states: &mut [Self::State]) {
        if let [at] = states {
            *at = self.trim(at.clone());
        }
    }

    /// Whether two states are known to be the same. `false` where that is not known.
    fn is_same(&self, one: &Self::State, other: &Self::State) -> bool {
        let key = self.key(one);
        key.is_some() && key == self.key(other)
    }

    /// What a run that ends here has to say beside its verdict.
    fn conclude(&mut self, _at: &Self::State) -> Vec<Notice> {
        Vec::new()
    }

    /// Why a run or a log that ends here says nothing: an observation has no explanation yet, and it is not known whether there is one.
    fn unexplained(&self, _at: &Self::State) -> Option<Undecided> {
        None
    }

    /// Whether an observation needs others that are still to come to be explained. What is [`unexplained`](Self::unexplained) does.
    fn awaits_explanation(&self, _at: &Self::State) -> bool {
        false
    }

    /// A stimulus with values that meet a condition, where values are solved for.
    fn solve(&mut self, _at: &Self::State, _wish: &Wish) -> Option<ActionId> {
        None
    }

    /// What the way to a place says of constants without a value, as a condition over them that every
    /// valuation meets which explains it.
    fn constants(&mut self, _at: &Self::State) -> Term {
        true.into()
    }

    /// Appends all visible steps of a state, where they can be enumerated, and a number for the
    /// state that is its own as long as nothing is trimmed; for look-aheads.
    fn row(
        &mut self,
        _at: &Self::State,
        _row: &mut Vec<(ActionId, Self::State)>,
    ) -> Option<StateKey> {
        None
    }

    /// That number alone.
    fn key(&self, _at: &Self::State) -> Option<StateKey> {
        None
    }

    /// Whether a place to which δ led is known to be where it would lead again, so that waiting once more says nothing.
    ///
    /// For sets of states it is: δ leaves those that are quiescent and what internal actions lead them to, of which
    /// the quiescent ones are all still there. A specification that has δ written out may say otherwise.
    fn stays_silent(&mut self, at: &Self::State) -> bool {
        let again = self.after(at, Step::Quiescence);
        matches!(again, Ok(Meaning::Allowed(next)) if self.is_same(at, &next))
    }

    /// Grows whenever states may have been forgotten.
    fn generation(&self) -> u64 {
        0
    }
}

/// Tells the states of an enumerable oracle apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateKey(pub u32);

/// An oracle whose steps can be listed by label: what the derivation algorithms need.
pub trait FiniteOracle: Oracle<State: Copy + Eq + Hash> {
    /// The labels of the specification; for them ids of actions and labels have the same index.
    fn labels(&self) -> &Labels;

    /// The states of the specification that it may be in.
    fn members(&mut self, at: Self::State) -> Vec<StateId>;

    /// The first livelock that the strict policy met, in words.
    fn livelock(&self) -> Option<String>;

    /// Why something was not decided, where it was not: what was found is then not the whole answer.
    fn undecided(&self) -> Option<&Undecided> {
        None
    }

    /// Where it starts.
    fn start(&mut self) -> Self::State;

    /// Appends the inputs that may be given, in label order.
    fn inputs_from(&mut self, at: Self::State, row: &mut Vec<(LabelId, Self::State)>);

    /// What an output, or δ, means.
    fn meaning(&mut self, at: Self::State, observation: LabelId) -> Meaning<Self::State>;

    /// Appends every output of the alphabet with its meaning, in label order.
    fn outputs_from(&mut self, at: Self::State, row: &mut Vec<(LabelId, Meaning<Self::State>)>) {
        let outputs: Vec<LabelId> = self.labels().outputs().collect();
        for output in outputs {
            row.push((output, self.meaning(at, output)));
        }
    }
}
