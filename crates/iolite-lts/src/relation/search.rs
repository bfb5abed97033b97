//! The breadth-first search over pairs that all relations share.

use std::hash::BuildHasher;
use std::ops::ControlFlow;

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

    /// From now on, until the next call, the questions are about `node`.
    fn enter(&mut self, node: Node);

    /// A refusal of `state` that the specification lacks, where the relation asks for refusals.
    fn refusal<M: Semantics<State = StateId>>(
        &mut self,
        _implementation: &M,
        _map: &[LabelId],
        _state: StateId,
    ) -> Option<Vec<LabelId>> {
        None
    }

    /// The visible action `label`, an id of the joint table. The kind comes along because the
    /// specification may not know the label.
    fn step(&mut self, label: LabelId, kind: LabelKind) -> Next;

    /// What is allowed.
    fn allowed(&self) -> Allowed;

    /// The states that the specification may be in.
    fn members(&self) -> Vec<StateId>;

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

    fn node(&self, pair: u32) -> Node {
        self.keys[pair as usize].1
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
    let mut pairs = Pairs::default();
    let start = (implementation.initial(), rules.initial());
    let level = pairs.reach(start, 0, LabelId::TAU).into_iter().collect();
    let walk = Walk {
        rules,
        implementation,
        map,
        how,
        pairs,
        level,
        next_level: Vec::new(),
        depth: 0,
        taken: 0,
        found: Vec::new(),
        seen: FxHashSet::default(),
        row: Vec::new(),
    };
    walk.run()
}

struct Walk<'a, 'b, R, M> {
    rules: &'a mut R,
    implementation: &'a M,
    map: &'a [LabelId],
    how: &'a mut Search<'b>,
    pairs: Pairs,
    level: Vec<u32>,
    next_level: Vec<u32>,
    depth: usize,
    taken: usize,
    found: Vec<Found>,
    /// The kinds of violation met: the node, and the action or `None` for a refusal.
    seen: FxHashSet<(Node, Option<LabelId>)>,
    row: Vec<Step>,
}

impl<R: PairRules, M: Semantics<State = StateId>> Walk<'_, '_, R, M> {
    fn effort(&self) -> Effort {
        let (sets, bytes) = self.rules.size();
        let pairs = self.pairs.keys.len();
        Effort {
            pairs,
            sets,
            depth: self.depth,
            bytes: bytes + self.pairs.bytes(),
        }
    }

    fn run(mut self) -> Outcome {
        let complete = self.levels().is_continue() || self.found.len() >= self.how.counterexamples;
        let effort = self.effort();
        Outcome {
            found: self.found,
            effort,
            complete,
        }
    }

    /// `Break` when enough was found, or the caller has had enough.
    fn levels(&mut self) -> ControlFlow<()> {
        let mut group = Vec::new();
        while !self.level.is_empty() {
            // All pairs of one node together, so that its row is computed once a level. Internal
            // steps stay in the node, and so in the group.
            let mut level = std::mem::take(&mut self.level);
            level.sort_unstable_by_key(|&pair| (self.pairs.node(pair), pair));
            let mut rest = level.as_slice();
            while let Some(&first) = rest.first() {
                let node = self.pairs.node(first);
                let same = rest.partition_point(|&pair| self.pairs.node(pair) == node);
                group.extend_from_slice(&rest[..same]);
                rest = &rest[same..];
                self.rules.enter(node);
                while let Some(pair) = group.pop() {
                    self.take(pair, node, &mut group)?;
                }
            }
            level.clear();
            let waits = &mut self.pairs.waits;
            let waiting = self.next_level.drain(..);
            level.extend(waiting.filter(|&pair| std::mem::take(&mut waits[pair as usize])));
            self.level = level;
            self.depth += 1;
        }
        ControlFlow::Continue(())
    }

    fn take(&mut self, pair: u32, node: Node, group: &mut Vec<u32>) -> ControlFlow<()> {
        self.taken += 1;
        if self.taken.is_multiple_of(PATIENCE) {
            let effort = self.effort();
            (self.how.proceed)(&effort)?;
        }
        let state = self.pairs.keys[pair as usize].0;
        if let Some(refused) = self.rules.refusal(self.implementation, self.map, state) {
            self.violated(pair, node, Observed::Refusal(refused))?;
        }
        let kinds = self.implementation.labels().kinds();
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        self.implementation.successors(&state, &mut row);
        for &(own, target) in &row {
            let kind = kinds[own.index()];
            if kind == LabelKind::Internal {
                group.extend(self.pairs.reach((target, node), pair, LabelId::TAU));
                continue;
            }
            let label = self.map[own.index()];
            match self.rules.step(label, kind) {
                Next::Go(next) => {
                    self.next_level
                        .extend(self.pairs.reach((target, next), pair, label));
                }
                Next::Outside => {}
                Next::Forbidden => self.violated(pair, node, Observed::Action(label))?,
            }
        }
        self.row = row;
        ControlFlow::Continue(())
    }

    fn violated(&mut self, pair: u32, node: Node, observed: Observed) -> ControlFlow<()> {
        let kind = match observed {
            Observed::Action(label) => Some(label),
            Observed::Refusal(_) => None,
        };
        if self.seen.insert((node, kind)) {
            self.found.push(Found {
                trace: self.pairs.trace(pair),
                observed,
                allowed: self.rules.allowed(),
                implementation: self.pairs.keys[pair as usize].0,
                specification: self.rules.members(),
            });
        }
        if self.found.len() >= self.how.counterexamples {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
