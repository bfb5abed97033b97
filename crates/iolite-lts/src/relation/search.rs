//! The breadth-first search over pairs that all relations share.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::{LabelId, LabelKind, Semantics, StateId, Step};

use super::{Allowed, Counterexample, Effort, Observed, Search};

/// What the specification may be in, as the rules of a relation number it.
pub(super) type Node = u32;

/// What becomes of a visible action of the implementation.
pub(super) enum Next {
    /// Both go on.
    Go(Node),
    /// The relation asks nothing about what comes after it.
    Outside,
    /// The specification does not allow it here.
    Forbidden,
}

/// How one relation treats a pair.
pub(super) trait PairRules {
    /// What the specification may be in before any action.
    fn initial(&mut self) -> Node;

    /// A refusal of `state` that the specification lacks, where the relation asks for refusals.
    fn refusal<M: Semantics<State = StateId>>(
        &mut self,
        _implementation: &M,
        _map: &[LabelId],
        _state: StateId,
        _node: Node,
    ) -> Option<Vec<LabelId>> {
        None
    }

    /// The visible action `label`, an id of the joint table, in `node`. The kind comes along because
    /// the specification may not know the label.
    fn step(&mut self, node: Node, label: LabelId, kind: LabelKind) -> Next;

    /// What is allowed in `node`.
    fn allowed(&mut self, node: Node) -> Allowed;

    /// The states of the specification behind `node`.
    fn members(&self, node: Node) -> Vec<StateId>;

    /// Number of sets of specification states met so far, and the bytes they take.
    fn size(&self) -> (usize, usize);
}

/// A violation with all that its counterexample needs.
pub(super) struct Found {
    trace: Vec<LabelId>,
    observed: Observed,
    allowed: Allowed,
    implementation: StateId,
    specification: Vec<StateId>,
}

impl Found {
    pub(super) fn into_counterexample(self) -> Counterexample {
        let Self {
            trace,
            observed,
            allowed,
            implementation,
            specification,
        } = self;
        Counterexample {
            trace,
            observed,
            allowed,
            implementation,
            specification,
        }
    }
}

pub(super) struct Outcome {
    pub(super) found: Vec<Found>,
    pub(super) effort: Effort,
    /// Whether everything was looked at, or as many counterexamples found as wanted.
    pub(super) complete: bool,
}

/// How many pairs are taken between two questions whether to proceed.
const PATIENCE: usize = 1024;

/// The pairs met so far, each with the pair and the action it was first reached by.
#[derive(Default)]
struct Pairs {
    keys: Vec<(StateId, Node)>,
    reached_by: Vec<(u32, LabelId)>,
    /// Pairs that wait for the next level. A pair reached by a visible action may turn out to be
    /// reached internally at this level as well; then it moves forward.
    waits: Vec<bool>,
    index: HashTable<u32>,
}

impl Pairs {
    /// The index of a pair if it is to be taken at the level where it is reached now: a new one, or
    /// one that so far waits for the next level and is reached internally.
    fn reach(&mut self, key: (StateId, Node), from: u32, label: LabelId) -> Option<u32> {
        let Self {
            keys,
            reached_by,
            waits,
            index,
        } = self;
        let visible = label != LabelId::TAU;
        let h = FxBuildHasher.hash_one(key);
        if let Some(&known) = index.find(h, |&i| keys[i as usize] == key) {
            let k = known as usize;
            if visible || !waits[k] {
                return None;
            }
            waits[k] = false;
            reached_by[k] = (from, label);
            return Some(known);
        }
        let new = u32::try_from(keys.len()).expect("fewer than 2^32 pairs");
        keys.push(key);
        reached_by.push((from, label));
        waits.push(visible);
        index.insert_unique(h, new, |&i| FxBuildHasher.hash_one(keys[i as usize]));
        Some(new)
    }

    /// The visible actions that led to a pair.
    fn trace(&self, mut pair: u32) -> Vec<LabelId> {
        let mut trace = Vec::new();
        while pair != 0 {
            let (from, label) = self.reached_by[pair as usize];
            if label != LabelId::TAU {
                trace.push(label);
            }
            pair = from;
        }
        trace.reverse();
        trace
    }

    fn bytes(&self) -> usize {
        self.keys.len() * size_of::<(StateId, Node)>()
            + self.reached_by.len() * size_of::<(u32, LabelId)>()
            + self.waits.len()
            + self.index.capacity() * (size_of::<u32>() + 1) * 8 / 7
    }
}

/// Walks all pairs, shortest traces first. `map` takes the labels of the implementation to the joint
/// table.
pub(super) fn search<R: PairRules, M: Semantics<State = StateId>>(
    rules: &mut R,
    implementation: &M,
    map: &[LabelId],
    how: &mut Search<'_>,
) -> Outcome {
    let kinds = implementation.labels().kinds();
    let mut pairs = Pairs::default();
    let start = (implementation.initial(), rules.initial());
    let mut level: Vec<u32> = pairs.reach(start, 0, LabelId::TAU).into_iter().collect();
    let mut next_level = Vec::new();
    let mut found = Vec::new();
    let mut kinds_seen = FxHashSet::default();
    let mut row: Vec<Step> = Vec::new();
    let mut depth = 0;
    let mut taken = 0;
    let effort = |pairs: &Pairs, rules: &R, depth| {
        let (sets, bytes) = rules.size();
        Effort {
            pairs: pairs.keys.len(),
            sets,
            depth,
            bytes: bytes + pairs.bytes(),
        }
    };
    while !level.is_empty() {
        let mut at = 0;
        while at < level.len() {
            let pair = level[at];
            at += 1;
            taken += 1;
            if taken % PATIENCE == 0 && (how.proceed)(&effort(&pairs, rules, depth)).is_break() {
                return Outcome {
                    found,
                    effort: effort(&pairs, rules, depth),
                    complete: false,
                };
            }
            let (state, node) = pairs.keys[pair as usize];
            row.clear();
            implementation.successors(&state, &mut row);
            let mut violations = Vec::new();
            if let Some(refused) = rules.refusal(implementation, map, state, node) {
                violations.push(Observed::Refusal(refused));
            }
            for &(own, target) in &row {
                let kind = kinds[own.index()];
                if kind == LabelKind::Internal {
                    level.extend(pairs.reach((target, node), pair, LabelId::TAU));
                    continue;
                }
                let label = map[own.index()];
                match rules.step(node, label, kind) {
                    Next::Go(next) => next_level.extend(pairs.reach((target, next), pair, label)),
                    Next::Outside => {}
                    Next::Forbidden => violations.push(Observed::Action(label)),
                }
            }
            for observed in violations {
                let kind = match &observed {
                    Observed::Action(label) => (node, Some(*label)),
                    Observed::Refusal(_) => (node, None),
                };
                if !kinds_seen.insert(kind) {
                    continue;
                }
                found.push(Found {
                    trace: pairs.trace(pair),
                    observed,
                    allowed: rules.allowed(node),
                    implementation: state,
                    specification: rules.members(node),
                });
                if found.len() >= how.counterexamples {
                    return Outcome {
                        found,
                        effort: effort(&pairs, rules, depth),
                        complete: true,
                    };
                }
            }
        }
        level.clear();
        level.extend(
            next_level
                .drain(..)
                .filter(|&p| std::mem::take(&mut pairs.waits[p as usize])),
        );
        depth += 1;
    }
    Outcome {
        found,
        effort: effort(&pairs, rules, depth),
        complete: true,
    }
}
