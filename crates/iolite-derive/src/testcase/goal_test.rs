//! Tests with a goal: the complete test graph, and controllable test cases drawn from it.

use std::collections::VecDeque;
use std::sync::Arc;

use iolite_lts::{
    BudgetExceeded, Determinised, LabelId, LabelKind, QuiescencePolicy, Semantics, StateId,
    Suspension,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;

use crate::testcase::arena::Arena;
use crate::{
    Forcing, ModelRef, NodeKind, Objective, TestCase, TestGraph, TestState, TestStateId, TestStep,
    Verdict, prune,
};

/// How to draw a controllable test case from a test graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// Without a seed the shortest way to the goal is taken; a seed picks among all ways that the
    /// bound allows.
    pub seed: Option<u64>,
    /// How many steps more than the shortest way a run may take. With none, every step comes nearer
    /// to the goal, so loops are avoided; with some they are walked, and bounded by this.
    pub slack: usize,
}

/// prune(mirror(det(S^δ) ▷ ω)) for an objective ω, built completely.
#[derive(Debug)]
pub struct GoalTest<M, O> {
    forcing: Forcing<Suspension<M>, O>,
    forced: TestGraph,
    graph: TestGraph,
    distances: Vec<Option<u32>>,
}

impl<M: Semantics<State = StateId>, O: Objective> GoalTest<M, O> {
    /// Builds the complete test graph, up to `limit` nodes before pruning.
    pub fn build(
        specification: M,
        policy: QuiescencePolicy,
        objective: O,
        limit: usize,
    ) -> Result<Self, BudgetExceeded> {
        let view = Determinised::new(Suspension::new(specification, policy));
        let mut forcing = Forcing::new(view, objective);
        let forced = forcing.explore(limit)?;
        let graph = prune(&forced);
        let distances = graph.distances();
        Ok(Self {
            forcing,
            forced,
            graph,
            distances,
        })
    }

    /// The objective.
    pub fn objective(&self) -> &O {
        self.forcing.objective()
    }

    /// det(S^δ) ▷ ω, before pruning.
    pub fn forced(&self) -> &TestGraph {
        &self.forced
    }

    /// The complete test graph.
    pub fn graph(&self) -> &TestGraph {
        &self.graph
    }

    /// Whether the goal can be reached at all.
    pub fn is_reachable(&self) -> bool {
        self.distances[self.graph.lts().initial().index()].is_some()
    }

    /// A controllable test case: in each state one stimulus, or all outputs and θ. Where a run leaves
    /// the ways that the bound allows, it ends `inconc`.
    pub fn draw(&self, how: Drawing, model: &ModelRef) -> TestCase {
        let mut draw = Draw {
            test: self,
            arena: Arena::default(),
            known: FxHashMap::default(),
            queue: VecDeque::new(),
            rng: how.seed.map(Xoshiro256PlusPlus::seed_from_u64),
        };
        let initial = self.graph.lts().initial();
        let length = self.distances[initial.index()].unwrap_or(0) as usize;
        let root = draw.state(initial, length.saturating_add(how.slack));
        while let Some((id, node, left)) = draw.queue.pop_front() {
            draw.expand(id, node, left);
        }
        let name = match how.seed {
            None => self.graph.name().to_owned(),
            Some(seed) => format!("{}-{seed}", self.graph.name()),
        };
        TestCase::new(
            name,
            self.forcing.objective().criterion(),
            model.clone(),
            Arc::clone(self.graph.lts().shared_labels()),
            draw.arena.into_states(root),
        )
        .expect("one stimulus or all outputs, and the bound falls with each step")
    }
}

struct Draw<'a, M, O> {
    test: &'a GoalTest<M, O>,
    arena: Arena,
    known: FxHashMap<(StateId, usize), TestStateId>,
    queue: VecDeque<(TestStateId, StateId, usize)>,
    rng: Option<Xoshiro256PlusPlus>,
}

enum Choice {
    Stimulate(LabelId, StateId),
    Observe,
}

impl<M: Semantics<State = StateId>, O: Objective> Draw<'_, M, O> {
    fn within(&self, node: StateId, left: usize) -> bool {
        self.test.distances[node.index()].is_some_and(|d| d as usize <= left)
    }

    fn state(&mut self, node: StateId, left: usize) -> TestStateId {
        if let Some(verdict) = self.test.graph.verdict(node) {
            return self.arena.verdict(verdict);
        }
        if !self.within(node, left) {
            return self.arena.verdict(Verdict::Inconc);
        }
        if let Some(&id) = self.known.get(&(node, left)) {
            return id;
        }
        let id = self.arena.hole();
        self.known.insert((node, left), id);
        self.queue.push_back((id, node, left));
        id
    }

    fn choose(&mut self, node: StateId, left: usize) -> Choice {
        let lts = self.test.graph.lts();
        // The nearest observation stands for observing; a stimulus stands for itself.
        let mut choices: Vec<(u32, Choice)> = Vec::new();
        let mut observe: Option<u32> = None;
        for &(label, target) in lts.steps(node) {
            if !self.within(target, left - 1) {
                continue;
            }
            let distance = self.test.distances[target.index()].unwrap_or(u32::MAX);
            if lts.labels().kind(label) == LabelKind::Input {
                choices.push((distance, Choice::Stimulate(label, target)));
            } else {
                observe = Some(observe.map_or(distance, |d| d.min(distance)));
            }
        }
        choices.extend(observe.map(|d| (d, Choice::Observe)));
        let pick = if let Some(rng) = &mut self.rng {
            rng.random_range(0..choices.len())
        } else {
            let nearest = choices.iter().enumerate().min_by_key(|(_, (d, _))| *d);
            nearest.map_or(0, |(i, _)| i)
        };
        choices.swap_remove(pick).1
    }

    fn expand(&mut self, id: TestStateId, node: StateId, left: usize) {
        let test = self.test;
        let lts = test.graph.lts();
        let (locations, places) = match test.graph.kind(node) {
            NodeKind::Inner(Some(pair)) => (test.forcing.describe(pair), test.forcing.places(pair)),
            _ => (Vec::new(), Vec::new()),
        };
        let row = lts.steps(node);
        let step = match self.choose(node, left) {
            Choice::Stimulate(stimulus, target) => TestStep::Stimulate {
                stimulus,
                next: self.state(target, left - 1),
                preempted: row
                    .iter()
                    .filter(|&&(l, _)| lts.labels().kind(l) == LabelKind::Output)
                    .filter_map(|&(l, t)| Some((l, test.graph.verdict(t)?)))
                    .filter(|(_, v)| v.is_failing())
                    .collect(),
            },
            Choice::Observe => {
                let mut outputs = Vec::new();
                let mut quiescence = None;
                for &(label, target) in row {
                    match lts.labels().kind(label) {
                        LabelKind::Output => outputs.push((label, self.state(target, left - 1))),
                        LabelKind::Delta => quiescence = Some(self.state(target, left - 1)),
                        _ => {}
                    }
                }
                TestStep::Observe {
                    outputs,
                    quiescence,
                }
            }
        };
        self.arena.states[id.index()] = TestState {
            step,
            verdict: Verdict::Inconc,
            locations: locations.into(),
            places: places.into(),
        };
    }
}
