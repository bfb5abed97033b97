//! Suites that cover the determinised suspension automaton.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use iolite_lts::{BudgetExceeded, LabelId, Labels, Lts, QuiescencePolicy, SetId, reachable};

use crate::location::places;
use crate::testcase::choice::finish;
use crate::testcase::goal_tree::GoalTrees;
use crate::{Count, Coverage, FiniteOracle, IocoOracle, ModelRef, TestCase};

/// What is to be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverageGoal {
    /// Every state of the determinised suspension automaton.
    States,
    /// Every transition of it.
    Transitions,
}

/// How to make a covering suite.
#[derive(Clone, Debug)]
pub struct CoverageSuite {
    /// What is to be covered.
    pub goal: CoverageGoal,
    /// Longest way of a test case; a run that the system takes off it may be a few steps longer.
    pub depth: usize,
    /// At most so many states of the automaton are looked at.
    pub limit: usize,
}

/// A covering suite.
#[derive(Clone, Debug)]
pub struct Covering {
    /// The test cases, in the order in which they were chosen: each takes the shortest way to what is
    /// nearest and not yet covered, and goes on like that while its depth lasts.
    pub cases: Vec<TestCase>,
    /// What is covered when the system under test chooses as the test cases hope.
    pub covered: Count,
    /// What no test case of that depth covers, in words.
    pub uncovered: Vec<String>,
    /// States of the model that nothing reaches, in words.
    pub unreachable: Vec<String>,
}

impl CoverageSuite {
    /// Makes the suite for an explicit model.
    pub fn derive(
        &self,
        specification: &Lts,
        policy: QuiescencePolicy,
        model: &ModelRef,
    ) -> Result<Covering, BudgetExceeded> {
        let mut oracle = IocoOracle::new(specification, policy);
        let coverage = Coverage::explore(oracle.view_mut(), self.limit)?;
        let labels = Arc::new(oracle.labels().clone());
        let initial = coverage.initial();
        let mut wanted = Wanted::new(self.goal, &coverage, &labels);
        let mut cases = Vec::new();
        let mut trees = GoalTrees::new(&mut oracle, &coverage);
        while let Some(trace) = wanted.next_trace(&coverage, initial, self.depth) {
            let states = trees.states(initial, &trace);
            let number = cases.len() + 1;
            cases.push(finish(trees.oracle(), model, &labels, number, states));
        }
        let uncovered = wanted
            .left
            .iter()
            .map(|item| item.describe(&oracle))
            .collect::<Vec<_>>();
        let seen = reachable(specification);
        let unreachable = specification
            .states()
            .filter(|s| !seen[s.index()])
            .map(|s| crate::location(specification, s))
            .collect();
        Ok(Covering {
            covered: Count {
                seen: wanted.total - uncovered.len(),
                total: wanted.total,
            },
            cases,
            uncovered,
            unreachable,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    State(SetId),
    Transition(SetId, LabelId),
}

impl Item {
    fn describe<M>(self, oracle: &IocoOracle<M>) -> String
    where
        M: iolite_lts::Semantics<State = iolite_lts::StateId>,
    {
        match self {
            Self::State(set) => format!("{{{}}}", places(oracle.view(), set).locations.join(", ")),
            Self::Transition(set, label) => format!(
                "{{{}}} {}",
                places(oracle.view(), set).locations.join(", "),
                oracle.labels().text(label)
            ),
        }
    }
}

struct Wanted<'a> {
    left: BTreeSet<Item>,
    total: usize,
    labels: &'a Labels,
    /// For each set the last search that met it, and from where.
    seen: Vec<(u32, Option<(SetId, LabelId)>)>,
    round: u32,
    queue: VecDeque<(SetId, usize)>,
}

impl<'a> Wanted<'a> {
    fn new(goal: CoverageGoal, coverage: &Coverage, labels: &'a Labels) -> Self {
        let left: BTreeSet<Item> = match goal {
            CoverageGoal::States => coverage.sets().map(Item::State).collect(),
            CoverageGoal::Transitions => coverage
                .sets()
                .flat_map(|s| {
                    coverage
                        .row(s)
                        .iter()
                        .map(move |&(l, _)| Item::Transition(s, l))
                })
                .collect(),
        };
        let total = left.len();
        let sets = coverage.sets().last().map_or(0, |s| s.index() + 1);
        let mut wanted = Self {
            left,
            total,
            labels,
            seen: vec![(0, None); sets],
            round: 0,
            queue: VecDeque::new(),
        };
        wanted.left.remove(&Item::State(coverage.initial()));
        wanted
    }

    fn wants(&self, set: SetId, label: LabelId, target: SetId) -> bool {
        self.left.contains(&Item::Transition(set, label))
            || self.left.contains(&Item::State(target))
    }

    /// The shortest way from `from`, within `depth` steps, over something wanted.
    fn way(
        &mut self,
        coverage: &Coverage,
        from: SetId,
        depth: usize,
    ) -> Option<Vec<(LabelId, SetId)>> {
        if self.left.is_empty() {
            return None;
        }
        self.round += 1;
        let round = self.round;
        self.seen[from.index()] = (round, None);
        self.queue.clear();
        self.queue.push_back((from, 0));
        while let Some((set, length)) = self.queue.pop_front() {
            if length == depth {
                return None;
            }
            for &(label, target) in coverage.row(set) {
                // A stimulus is followed by an observation of what it does.
                let steps = if self.labels.kind(label).is_observation() {
                    length + 1
                } else {
                    length + 2
                };
                if steps <= depth && self.wants(set, label, target) {
                    let mut way = vec![(label, target)];
                    let mut at = set;
                    while let (_, Some((before, label))) = self.seen[at.index()] {
                        way.push((label, at));
                        at = before;
                    }
                    way.reverse();
                    return Some(way);
                }
                let seen = &mut self.seen[target.index()];
                if seen.0 != round {
                    *seen = (round, Some((set, label)));
                    self.queue.push_back((target, length + 1));
                }
            }
        }
        None
    }

    /// The greedy trace: nearest first, then nearest from there; what it covers is wanted no more.
    fn next_trace(
        &mut self,
        coverage: &Coverage,
        initial: SetId,
        depth: usize,
    ) -> Option<Vec<LabelId>> {
        let mut trace = Vec::new();
        let mut at = initial;
        while let Some(way) = self.way(coverage, at, depth.saturating_sub(trace.len())) {
            for (label, target) in way {
                self.left.remove(&Item::Transition(at, label));
                self.left.remove(&Item::State(target));
                trace.push(label);
                at = target;
            }
        }
        (!trace.is_empty()).then_some(trace)
    }
}
