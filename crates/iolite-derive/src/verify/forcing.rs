//! Forcing: M ▷ ω, every output done whether the specification allows it or not.

use std::hash::Hash;
use std::sync::Arc;

use iolite_lts::{BudgetExceeded, Determinised, LabelId, LtsBuilder, Semantics, SetId, StateId};
use rustc_hash::FxHashMap;

use crate::location::places;
use crate::{Breach, Move, NodeKind, Objective, TestGraph, Verdict};

/// A state of M ▷ ω that is not a verdict: where the specification can be, and the objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// A state of det(M).
    pub set: SetId,
    /// A state of ω.
    pub at: StateId,
}

/// Where a step of M ▷ ω leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForcedStep {
    /// \[α\]: both go on.
    Pair(Pair),
    /// Violate by \[β\], Fail by \[γ\], or a goal on a trace of the specification.
    Verdict {
        /// The verdict.
        verdict: Verdict,
        /// Whether it is the goal of the test.
        goal: bool,
    },
    /// The specification goes on, the goal is out of reach.
    Lost,
}

/// det(M) ▷ ω [SAFE04, def. 10], walked on demand. M is the view that was determinised, for
/// tests the suspension view; ω is an observer or, with acceptance in the place of violation, a test
/// purpose.
#[derive(Debug)]
pub struct Forcing<M, O> {
    view: Determinised<M>,
    objective: O,
    /// A_! of S^δ: the outputs and δ, in label order.
    observations: Vec<LabelId>,
}

impl<M: Semantics<State = StateId>, O: Objective> Forcing<M, O> {
    /// The forcing of the deterministic view by an objective.
    pub fn new(view: Determinised<M>, objective: O) -> Self {
        let objective = objective.over_labels(view.labels());
        let observations = view
            .labels()
            .iter()
            .filter(|(_, l)| l.kind.is_observation())
            .map(|(id, _)| id)
            .collect();
        Self {
            view,
            objective,
            observations,
        }
    }

    /// The objective.
    pub fn objective(&self) -> &O {
        &self.objective
    }

    /// det(M).
    pub fn view(&self) -> &Determinised<M> {
        &self.view
    }

    /// (q₀^M, q₀^ω).
    pub fn initial(&mut self) -> Pair {
        Pair {
            set: self.view.initial(),
            at: self.objective.initial(),
        }
    }

    /// Appends the steps of a pair, in label order.
    pub fn row(&mut self, pair: Pair, out: &mut Vec<(LabelId, ForcedStep)>) {
        let start = out.len();
        let steps = self.view.row(pair.set);
        for &(label, set) in steps {
            let target = match self.objective.allowed(pair.at, label) {
                Move::To(at) => ForcedStep::Pair(Pair { set, at }),
                Move::Goal(verdict) => ForcedStep::Verdict {
                    verdict,
                    goal: self.objective.wants(verdict),
                },
                // Automata over labels leave nothing open.
                Move::Lost | Move::Open => ForcedStep::Lost,
            };
            out.push((label, target));
        }
        for &label in &self.observations {
            if steps.binary_search_by_key(&label, |&(l, _)| l).is_err() {
                let Breach { verdict, goal } = self.objective.forbidden(pair.at, label);
                out.push((label, ForcedStep::Verdict { verdict, goal }));
            }
        }
        out[start..].sort_unstable_by_key(|&(l, _)| l);
    }

    /// The places of a pair in words: the specification's, then the objective's state.
    pub fn describe(&self, pair: Pair) -> Vec<String> {
        let mut places = places(&self.view, pair.set).locations;
        places.push(format!(
            "{}: {}",
            self.objective.name(),
            self.objective.describe(pair.at)
        ));
        places
    }

    /// The names of the specification's places alone.
    pub fn places(&self, pair: Pair) -> Vec<String> {
        places(&self.view, pair.set).names
    }

    /// All of M ▷ ω, up to `limit` nodes, numbered breadth first.
    pub fn explore(&mut self, limit: usize) -> Result<TestGraph, BudgetExceeded> {
        let mut nodes = Nodes::default();
        let initial = self.initial();
        nodes.intern(Key::Pair(initial));
        let mut builder = LtsBuilder::with_labels(self.view.labels().clone());
        let mut row = Vec::new();
        let mut next = 0;
        while next < nodes.keys.len() {
            if nodes.keys.len() > limit {
                return Err(BudgetExceeded { budget: limit });
            }
            let source = StateId::new(next);
            if let Key::Pair(pair) = nodes.keys[next] {
                row.clear();
                self.row(pair, &mut row);
                for &(label, target) in &row {
                    let target = nodes.intern(match target {
                        ForcedStep::Pair(pair) => Key::Pair(pair),
                        ForcedStep::Verdict { verdict, goal } => Key::Verdict(verdict, goal),
                        ForcedStep::Lost => Key::Lost,
                    });
                    builder.transition(source, label, target);
                }
            }
            next += 1;
        }
        builder.ensure_states(nodes.keys.len());
        let kinds = nodes
            .keys
            .iter()
            .map(|key| match *key {
                Key::Pair(pair) => NodeKind::Inner(Some(pair)),
                Key::Verdict(verdict, goal) => NodeKind::Verdict { verdict, goal },
                Key::Lost => NodeKind::Inner(None),
            })
            .collect();
        let lts = builder.build().expect("the initial pair is there");
        Ok(TestGraph::new(
            self.objective.name().to_owned(),
            Arc::new(lts),
            kinds,
        ))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Pair(Pair),
    Verdict(Verdict, bool),
    Lost,
}

#[derive(Default)]
struct Nodes {
    keys: Vec<Key>,
    index: FxHashMap<Key, StateId>,
}

impl Nodes {
    fn intern(&mut self, key: Key) -> StateId {
        let keys = &mut self.keys;
        *self.index.entry(key).or_insert_with(|| {
            keys.push(key);
            StateId::new(keys.len() - 1)
        })
    }
}
