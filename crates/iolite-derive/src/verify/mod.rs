//! M ⊨ ω on the fly, for several observers in one pass; and whether an observer is relevant.

pub(crate) mod data_goal;
pub(crate) mod forcing;
pub(crate) mod goal;
pub(crate) mod mirror;
pub(crate) mod mixed_goal;
pub(crate) mod objective;
pub(crate) mod property;
pub(crate) mod property_objective;
pub(crate) mod prune;
pub(crate) mod purpose_test;
pub(crate) mod queue_goal;
pub(crate) mod safety_test;
pub(crate) mod test_graph;

use std::collections::VecDeque;

use iolite_lts::{Determinised, LabelId, LabelKind, Semantics, StateId};
use iolite_property::Observer;
use rustc_hash::FxHashMap;

use crate::{Objective, Pair};

/// Whether a system satisfies an observer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Satisfaction {
    /// M ⊨ ω: no trace of the system is in L(ω).
    Holds,
    /// A shortest trace of the system in L(ω), and the state of the system that gives its last
    /// action.
    Violated {
        /// The trace.
        trace: Vec<LabelId>,
        /// The state before the last action.
        state: StateId,
    },
    /// The limit was hit first.
    Unknown,
}

/// What [`verify`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// One answer for each observer, in their order.
    pub answers: Vec<Satisfaction>,
    /// How many states of `M ∥ ω` were met, over all observers.
    pub pairs: usize,
    /// No trace of at most so many actions violates an observer whose answer is unknown.
    pub length: usize,
}

/// Between two questions whether to go on.
const PATIENCE: usize = 4096;

/// Decides `M ⊨ ω` for each observer [SAFE04, def. 6] by a search of `M ∥ ω`, breadth first in
/// visible actions, in one pass over M. To let observers speak of δ, `model` is a suspension view.
///
/// At most `limit` pairs are met; what is not decided by then is unknown.
pub fn verify<M: Semantics<State = StateId>>(
    model: &M,
    observers: &[Observer],
    limit: usize,
) -> Verification {
    verify_while(model, observers, limit, |_, _| true)
}

/// The same as long as `proceed` agrees. It is asked now and then, with the number of pairs met and the
/// length up to which all traces were looked at.
pub fn verify_while<M: Semantics<State = StateId>>(
    model: &M,
    observers: &[Observer],
    limit: usize,
    mut proceed: impl FnMut(usize, usize) -> bool,
) -> Verification {
    let observers: Vec<Observer> = observers
        .iter()
        .map(|o| o.clone().over_labels(model.labels()))
        .collect();
    let mut search = Search {
        observers: &observers,
        answers: vec![Satisfaction::Holds; observers.len()],
        index: FxHashMap::default(),
        met: Vec::new(),
        layer: VecDeque::new(),
        next: Vec::new(),
        length: 0,
    };
    let initial = model.initial();
    for (k, observer) in observers.iter().enumerate() {
        let at = observer.initial();
        if observer.is_violate(at) {
            search.answers[k] = Satisfaction::Violated {
                trace: Vec::new(),
                state: initial,
            };
        } else {
            search.reach((initial, k as u32, at), None, LabelId::TAU, false);
        }
    }
    let complete = search.run(model, limit, &mut proceed);
    if !complete {
        for answer in &mut search.answers {
            if *answer == Satisfaction::Holds {
                *answer = Satisfaction::Unknown;
            }
        }
    }
    Verification {
        answers: search.answers,
        pairs: search.met.len(),
        length: search.length,
    }
}

/// A state of the system, an observer's number, a state of that observer.
type Key = (StateId, u32, StateId);

struct Met {
    key: Key,
    before: Option<u32>,
    label: LabelId,
    /// How many visible actions it is away.
    length: u32,
    done: bool,
}

struct Search<'a> {
    observers: &'a [Observer],
    answers: Vec<Satisfaction>,
    index: FxHashMap<Key, u32>,
    met: Vec<Met>,
    layer: VecDeque<u32>,
    next: Vec<u32>,
    /// How many visible actions away the layer is.
    length: usize,
}

impl Search<'_> {
    fn reach(&mut self, key: Key, before: Option<u32>, label: LabelId, visible: bool) {
        let (_, k, at) = key;
        // Where the observer alone cannot come to a violation, no system makes it.
        if self.observers[k as usize].distance(at).is_none() {
            return;
        }
        let so_far = before.map_or(0, |b| self.met[b as usize].length);
        let length = so_far + u32::from(visible);
        let new = self.met.len() as u32;
        let id = *self.index.entry(key).or_insert(new);
        let met = Met {
            key,
            before,
            label,
            length,
            done: false,
        };
        if id == new {
            self.met.push(met);
        } else if length < self.met[id as usize].length {
            // Met one visible action later first, and now by internal actions alone.
            self.met[id as usize] = met;
        } else {
            return;
        }
        if visible {
            self.next.push(id);
        } else {
            self.layer.push_back(id);
        }
    }

    fn run<M: Semantics<State = StateId>>(
        &mut self,
        model: &M,
        limit: usize,
        proceed: &mut impl FnMut(usize, usize) -> bool,
    ) -> bool {
        let mut taken = 0usize;
        let kinds = model.labels().kinds();
        let mut row: Vec<(LabelId, StateId)> = Vec::new();
        let mut row_of: Option<StateId> = None;
        loop {
            let Some(id) = self.layer.pop_front() else {
                if self.next.is_empty() {
                    return true;
                }
                // The same state of the system for all observers together: its row is read once.
                let mut next = std::mem::take(&mut self.next);
                next.sort_by_key(|&id| self.met[id as usize].key.0);
                self.layer.extend(next);
                self.length += 1;
                continue;
            };
            let ask = taken.is_multiple_of(PATIENCE);
            if self.met.len() > limit || ask && !proceed(self.met.len(), self.length) {
                return false;
            }
            taken += 1;
            let (state, k, at) = self.met[id as usize].key;
            let done = std::mem::replace(&mut self.met[id as usize].done, true);
            if done || self.answers[k as usize] != Satisfaction::Holds {
                continue;
            }
            if row_of != Some(state) {
                row.clear();
                model.successors(&state, &mut row);
                row_of = Some(state);
            }
            let observer = &self.observers[k as usize];
            for &(label, target) in &row {
                if kinds[label.index()] == LabelKind::Internal {
                    self.reach((target, k, at), Some(id), label, false);
                    continue;
                }
                let Some(next) = observer.step(at, label) else {
                    continue;
                };
                if observer.is_violate(next) {
                    let mut trace = self.trace(id, kinds);
                    trace.push(label);
                    self.answers[k as usize] = Satisfaction::Violated { trace, state };
                    break;
                }
                self.reach((target, k, next), Some(id), label, true);
            }
        }
    }

    fn trace(&self, id: u32, kinds: &[LabelKind]) -> Vec<LabelId> {
        let mut trace = Vec::new();
        let mut at = &self.met[id as usize];
        while let Some(before) = at.before {
            if kinds[at.label.index()] != LabelKind::Internal {
                trace.push(at.label);
            }
            at = &self.met[before as usize];
        }
        trace.reverse();
        trace
    }
}

/// Whether an observer is relevant for a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relevance {
    /// L(ω) ⊆ Traces(M)·A_!.
    Relevant,
    /// A shortest trace of L(ω) that leaves the traces of M before its last action, or ends in an
    /// action that is no output.
    Irrelevant {
        /// The trace.
        trace: Vec<LabelId>,
        /// How many of its actions M can do.
        shared: usize,
    },
    /// The limit was hit first.
    Unknown,
}

/// Decides whether `observer` is relevant [SAFE04, def. 9]: it may only part from the system
/// by an output. The view is a suspension view, since observers have δ among their actions. At most
/// `limit` pairs of a set of states and an observer state are looked at.
///
/// Among the shortest witnesses, one that leaves the system by an input is preferred: it shows what
/// the specification is silent about.
pub fn relevance<M: Semantics<State = StateId>>(
    view: &mut Determinised<M>,
    observer: &Observer,
    limit: usize,
) -> Relevance {
    let observer = &observer.clone().over_labels(view.labels());
    let steps: Vec<Vec<(LabelId, StateId)>> = observer
        .automaton()
        .states()
        .map(|q| observer.automaton().steps(q).collect())
        .collect();
    let initial = Pair {
        set: view.initial(),
        at: observer.initial(),
    };
    let mut before: FxHashMap<Pair, Option<(Pair, LabelId)>> = FxHashMap::default();
    before.insert(initial, None);
    let mut queue = VecDeque::from([(initial, 0u32)]);
    let mut best: Option<Leaving> = None;
    let mut complete = true;
    while let Some((pair, length)) = queue.pop_front() {
        if best.as_ref().is_some_and(|b| b.rank.0 <= length + 1) {
            break;
        }
        if before.len() > limit {
            complete = false;
            break;
        }
        for &(label, next) in &steps[pair.at.index()] {
            let Some(distance) = observer.distance(next) else {
                continue;
            };
            let kind = view.labels().kind(label);
            let inside = view.after(pair.set, label);
            let leaves = if observer.is_violate(next) {
                !kind.is_observation()
            } else {
                inside.is_none()
            };
            if leaves {
                let rank = (length + 1 + distance, kind != LabelKind::Input);
                if best.as_ref().is_none_or(|b| rank < b.rank) {
                    best = Some(Leaving {
                        rank,
                        pair,
                        label,
                        next,
                    });
                }
                continue;
            }
            if let (Some(set), false) = (inside, observer.is_violate(next)) {
                before.entry(Pair { set, at: next }).or_insert_with(|| {
                    queue.push_back((Pair { set, at: next }, length + 1));
                    Some((pair, label))
                });
            }
        }
    }
    let Some(leaving) = best else {
        return if complete {
            Relevance::Relevant
        } else {
            Relevance::Unknown
        };
    };
    let mut trace = vec![leaving.label];
    let mut at = leaving.pair;
    while let Some(&Some((from, label))) = before.get(&at) {
        trace.push(label);
        at = from;
    }
    trace.reverse();
    let mut shared = trace.len() - 1;
    if view.after(leaving.pair.set, leaving.label).is_some() {
        shared += 1;
    }
    let mut q = leaving.next;
    while let Some(distance) = observer.distance(q).filter(|&d| d > 0) {
        let nearer = steps[q.index()]
            .iter()
            .find(|(_, t)| observer.distance(*t) == Some(distance - 1));
        let &(label, target) = nearer.expect("a distance has a way");
        trace.push(label);
        q = target;
    }
    Relevance::Irrelevant { trace, shared }
}

/// A step of ω that leaves the system.
struct Leaving {
    /// The length of the whole witness, and whether it leaves by something else than an input.
    rank: (u32, bool),
    pair: Pair,
    label: LabelId,
    /// Where ω is then.
    next: StateId,
}
