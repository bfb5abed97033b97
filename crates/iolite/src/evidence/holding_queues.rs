//! Positive answers through queues: all places of an implementation between two queues, by the plain rules.

use std::collections::{BTreeMap, BTreeSet};

use iolite_lts::relation::Relation;
use iolite_lts::{
    Determinised, LabelId, LabelKind, QuiescencePolicy, Semantics, SetId, StateId, Suspension,
};
use iolite_recheck::QueuePlaces;

use super::holding::{PAIRS, is_refused, too_many};
use crate::Error;

/// The set after one order of events, and the inputs that are not taken in it.
type Explanation = (SetId, Vec<LabelId>);

/// All places, and the sets of states that explanations speak of.
pub(super) struct FoundPlaces {
    /// Sets of states of the specification.
    pub(super) sets: Vec<Vec<StateId>>,
    /// States of the implementation by number, as they are met.
    pub(super) states: Vec<StateId>,
    /// The places; states are numbers in `states`.
    pub(super) places: QueuePlaces,
}

pub(super) struct QueueRules {
    pub(super) relation: Relation,
    pub(super) policy: QuiescencePolicy,
    pub(super) max_in_flight: usize,
}

/// A specification seen through queues.
struct View<N: Semantics<State = StateId>> {
    sets: Determinised<Suspension<N>>,
    every_state: bool,
}

impl<N: Semantics<State = StateId>> View<N> {
    fn take(&mut self, set: SetId, input: LabelId) -> Option<SetId> {
        if self.every_state && is_refused(&mut self.sets, Some(set), Some(input)) {
            return None;
        }
        self.sets.after(set, input)
    }

    /// Whether an input may have been taken where it is not specified.
    fn is_open(&mut self, explanations: &BTreeSet<Explanation>) -> bool {
        let settles = |view: &mut Self, (set, pending): &Explanation| {
            let mut inputs = pending.iter();
            inputs
                .try_fold(*set, |at, &input| view.take(at, input))
                .is_some()
        };
        !explanations.iter().all(|e| settles(self, e))
    }

    /// The explanations after one more observation.
    fn observe(
        &mut self,
        explanations: &BTreeSet<Explanation>,
        observed: Option<LabelId>,
    ) -> BTreeSet<Explanation> {
        let mut next = BTreeSet::new();
        let Some(observed) = observed else {
            return next;
        };
        for (set, pending) in explanations {
            let mut at = Some(*set);
            for taken in 0..=pending.len() {
                let Some(now) = at else { break };
                // Silence is seen where nothing is under way any more.
                if (observed != LabelId::DELTA || taken == pending.len())
                    && let Some(end) = self.sets.after(now, observed)
                {
                    next.insert((end, pending[taken..].to_vec()));
                }
                at = pending.get(taken).and_then(|&input| self.take(now, input));
            }
        }
        next
    }
}

/// Places by number.
#[derive(Default)]
struct Places {
    explanations: BTreeMap<BTreeSet<Explanation>, usize>,
    listed: Vec<BTreeSet<Explanation>>,
    seen: BTreeSet<(StateId, Vec<LabelId>, usize)>,
    todo: Vec<(StateId, Vec<LabelId>, usize)>,
    size: usize,
}

impl Places {
    fn meet(&mut self, p: StateId, word: Vec<LabelId>, explanations: BTreeSet<Explanation>) {
        let next = self.listed.len();
        let number = *self
            .explanations
            .entry(explanations.clone())
            .or_insert(next);
        if number == next {
            self.size += explanations.len();
            self.listed.push(explanations);
        }
        let place = (p, word, number);
        if self.seen.insert(place.clone()) {
            self.todo.push(place);
        }
    }
}

impl QueueRules {
    /// All places; an error where they are too many, or where the answer was wrong.
    pub(super) fn places<M, N>(
        &self,
        implementation: &M,
        specification: &N,
    ) -> Result<FoundPlaces, Error>
    where
        M: Semantics<State = StateId>,
        N: Semantics<State = StateId>,
    {
        let own = Suspension::new(implementation, self.policy);
        let labels = specification.labels();
        let known = implementation.labels().iter();
        let known: Vec<Option<LabelId>> = known.map(|(_, l)| labels.get(l.kind, &l.name)).collect();
        let inputs: Vec<LabelId> = labels.inputs().collect();
        let mut view = View {
            sets: Determinised::new(Suspension::new(specification, self.policy)),
            every_state: self.relation == Relation::Uioco,
        };
        let mut places = Places::default();
        let start = BTreeSet::from([(view.sets.initial(), Vec::new())]);
        places.meet(own.initial(), Vec::new(), start);
        let mut row = Vec::new();
        while let Some((p, word, number)) = places.todo.pop() {
            if places.seen.len() > PAIRS || places.size > 10 * PAIRS {
                return Err(too_many("places", PAIRS));
            }
            let explanations = places.listed[number].clone();
            if view.is_open(&explanations) {
                continue;
            }
            row.clear();
            own.successors(&p, &mut row);
            for &(label, next) in &row {
                let meant = known[label.index()];
                let kind = implementation.labels().kind(label);
                match kind {
                    LabelKind::Internal => places.meet(next, word.clone(), explanations.clone()),
                    LabelKind::Input if meant.is_some() && word.first() == meant.as_ref() => {
                        places.meet(next, word[1..].to_vec(), explanations.clone());
                    }
                    LabelKind::Delta if !word.is_empty() => {}
                    LabelKind::Output | LabelKind::Delta => {
                        let after = view.observe(&explanations, meant);
                        if after.is_empty() {
                            return Err(Error::fault(format!(
                                "it holds, and nothing explains {}",
                                implementation.labels().text(label)
                            )));
                        }
                        // For ioconf silence ends a trace.
                        if kind == LabelKind::Output || self.relation != Relation::Ioconf {
                            places.meet(next, word.clone(), after);
                        }
                    }
                    LabelKind::Input | LabelKind::Undirected => {}
                }
            }
            let pending = explanations.iter().map(|(_, pending)| pending.len()).max();
            if word.len().max(pending.unwrap_or(0)) >= self.max_in_flight {
                continue;
            }
            for &input in &inputs {
                let more = explanations.iter().map(|(set, pending)| {
                    let pending = pending.iter().copied().chain([input]);
                    (*set, pending.collect())
                });
                let more: BTreeSet<Explanation> = more.collect();
                if !view.is_open(&more) {
                    let longer = word.iter().copied().chain([input]).collect();
                    places.meet(p, longer, more);
                }
            }
        }
        let text = |l: &LabelId| labels.text(*l);
        Ok(self.numbered(&places, |set| view.sets.members(set).to_vec(), text))
    }

    /// The places as they are written.
    fn numbered(
        &self,
        places: &Places,
        members: impl Fn(SetId) -> Vec<StateId>,
        text: impl Fn(&LabelId) -> String,
    ) -> FoundPlaces {
        let mut sets: BTreeMap<SetId, usize> = BTreeMap::new();
        let mut listed_sets = Vec::new();
        let mut words: BTreeMap<Vec<LabelId>, usize> = BTreeMap::new();
        let mut listed_words = Vec::new();
        let mut word_number = |word: &Vec<LabelId>| {
            *words.entry(word.clone()).or_insert_with(|| {
                listed_words.push(word.iter().map(&text).collect());
                listed_words.len() - 1
            })
        };
        let mut explanations = Vec::new();
        for explained in &places.listed {
            let explained = explained.iter().map(|(set, word)| {
                let set = *sets.entry(*set).or_insert_with(|| {
                    listed_sets.push(members(*set));
                    listed_sets.len() - 1
                });
                (set, word_number(word))
            });
            explanations.push(explained.collect::<Vec<_>>());
        }
        let states: Vec<StateId> = places.seen.iter().map(|(p, ..)| *p).collect();
        let listed = places.seen.iter().enumerate();
        let listed = listed.map(|(k, (_, word, number))| (k, word_number(word), *number));
        let listed: Vec<(usize, usize, usize)> = listed.collect();
        FoundPlaces {
            sets: listed_sets,
            states,
            places: QueuePlaces {
                max_in_flight: self.max_in_flight,
                words: listed_words,
                explanations,
                places: listed,
            },
        }
    }
}
