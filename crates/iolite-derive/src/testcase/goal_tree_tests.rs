//! Covering test cases against the definitions: every run of them, on random small models.

use std::collections::BTreeSet;

use iolite_lts::{LabelId, Lts, QuiescencePolicy, StateId};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::goal_tree::{ExploredAutomaton, GoalTrees, KnownWays, Spent};
use crate::{Coverage, IocoOracle, TestState, TestStateId, TestStep, Verdict};

#[path = "../../tests/common/mod.rs"]
pub(crate) mod common;

use common::{after, any_model, initial, out};

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;
/// Steps of runs that are looked at in one test case.
const MOST_STEPS: usize = 20_000;

/// A set of states, by definition, and a step from it.
type Taken = (BTreeSet<StateId>, LabelId);

/// Walks the runs of a test case that conforming systems may cause.
struct Runs<'a> {
    model: &'a Lts,
    states: &'a [TestState],
    /// The goal: these steps, in this order, perhaps with others between them.
    goal: Vec<Taken>,
    steps: usize,
    passed: usize,
}

impl Runs<'_> {
    fn walk(
        &mut self,
        at: TestStateId,
        set: &BTreeSet<StateId>,
        done: usize,
    ) -> Result<(), TestCaseError> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Ok(());
        }
        let state = &self.states[at.index()];
        let allowed = out(self.model, set);
        let fails = |id: TestStateId| {
            let to = &self.states[id.index()];
            to.step == TestStep::End && to.verdict == Verdict::Fail
        };
        match &state.step {
            TestStep::End => {
                let covered = done == self.goal.len();
                let expected = if covered {
                    Verdict::Pass
                } else {
                    Verdict::Inconc
                };
                prop_assert_eq!(state.verdict, expected);
                self.passed += usize::from(covered);
            }
            TestStep::Stimulate {
                stimulus,
                next,
                preempted,
            } => {
                for label in self.model.labels().outputs() {
                    let verdict = preempted.iter().find(|(l, _)| *l == label);
                    let wrong = verdict.is_some_and(|(_, v)| *v == Verdict::Fail);
                    prop_assert_eq!(wrong, !allowed.contains(&label));
                }
                self.step(set, *stimulus, *next, done)?;
            }
            TestStep::Observe {
                outputs,
                quiescence,
            } => {
                let silence = quiescence.expect("ioco goes on after δ");
                let all = outputs.iter().copied().chain([(LabelId::DELTA, silence)]);
                for (label, to) in all {
                    // As strict as ioco, and no stricter.
                    prop_assert_eq!(fails(to), !allowed.contains(&label));
                    if allowed.contains(&label) {
                        self.step(set, label, to, done)?;
                    }
                }
            }
            TestStep::Offer { .. } => prop_assert!(false, "nothing is offered"),
        }
        Ok(())
    }

    fn step(
        &mut self,
        set: &BTreeSet<StateId>,
        label: LabelId,
        to: TestStateId,
        done: usize,
    ) -> Result<(), TestCaseError> {
        let next = after(self.model, set, Some(label));
        prop_assert!(!next.is_empty(), "the specification has this step");
        let hit = self
            .goal
            .get(done)
            .is_some_and(|(s, l)| s == set && *l == label);
        self.walk(to, &next, done + usize::from(hit))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 256, ..ProptestConfig::default() })]

    /// Along every run: what is wrong fails, what is right goes on; a run that ends `pass` took the
    /// steps of its goal in order, and one that ends `inconc` did not.
    #[test]
    fn runs_pass_exactly_where_the_goal_was_covered(model in any_model(4, 9), seed in any::<u64>()) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut oracle = IocoOracle::new(&model, POLICY);
        let coverage = Coverage::explore(oracle.view_mut(), 10_000).unwrap();
        let mut at = coverage.initial();
        let mut set = initial(&model);
        let (mut trace, mut goal) = (Vec::new(), Vec::new());
        for _ in 0..rng.random_range(1..=5) {
            let row = coverage.row(at);
            if row.is_empty() {
                break;
            }
            let (label, next) = row[rng.random_range(0..row.len())];
            trace.push(label);
            goal.push((set.clone(), label));
            set = after(&model, &set, Some(label));
            at = next;
        }
        let outputs: Vec<LabelId> = model.labels().outputs().collect();
        let automaton = ExploredAutomaton {
            specification: &model,
            coverage: &coverage,
            members: oracle.view().set_members(),
            outputs: &outputs,
        };
        let ways = KnownWays::default();
        let (states, _) = GoalTrees::new(automaton, &ways, 1).states(&trace, Spent::default());
        let mut runs = Runs { model: &model, states: &states, goal, steps: 0, passed: 0 };
        runs.walk(TestStateId::new(0), &initial(&model), 0)?;
        // The system that chooses as the test hopes is among them.
        prop_assert!(runs.passed > 0 || runs.steps > MOST_STEPS);
    }
}
