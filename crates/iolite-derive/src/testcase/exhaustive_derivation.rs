//! Exhaustive derivation up to a depth, for every relation that has an oracle.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use iolite_lts::LabelId;
use rustc_hash::FxHashMap;

use crate::testcase::arena::Arena;
use crate::testcase::choice::{along, numbered_case, observe_state, stimulate_state};
use crate::{CaseWork, FiniteOracle, Meaning, ModelRef, TakeCase, TestCase, TestStateId, Verdict};

/// Which test cases an exhaustive derivation lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enumeration {
    /// Every test case that the algorithm can give up to the depth.
    Every,
    /// Those in which no branch stops before the depth or before nothing more can be done. They find
    /// what `Every` finds, and are far fewer.
    Maximal,
    /// For each trace, the test case that follows it and then checks the outputs, `t_[Δ,σ]` of
    /// [LTS96, def. A.6]. They too find what `Every` finds, and are as many as the traces.
    Traces,
    /// The same, and a run that leaves its trace without being wrong ends `inconc`: it says nothing of
    /// the rest. With `pass`, as the paper has it, a suite whose runs never came to the end of their traces
    /// looks like one that passed. What the system did instead has a trace and a test case of its own.
    GoalTraces,
}

impl Enumeration {
    /// The verdict of a run that leaves the trace of its test case, where test cases follow one.
    fn leaving(self) -> Option<Verdict> {
        match self {
            Self::Every | Self::Maximal => None,
            Self::Traces => Some(Verdict::Pass),
            Self::GoalTraces => Some(Verdict::Inconc),
        }
    }
}

/// Exhaustive derivation up to a depth.
#[derive(Clone, Debug)]
pub struct ExhaustiveDerivation {
    /// Longest run of a test case.
    pub depth: usize,
    /// Which test cases.
    pub enumeration: Enumeration,
    /// At most so many test cases.
    pub limit: usize,
}

/// An enumerated suite.
#[derive(Clone, Debug)]
pub struct Enumerated {
    /// The test cases.
    pub cases: Vec<TestCase>,
    /// Whether all there are up to the depth are among them; if not, the limit was hit and the suite
    /// is not exhaustive up to the depth.
    pub complete: bool,
}

/// Test cases may not be deeper than this when they are enumerated: their number is exponential.
pub(crate) const MAX_ENUMERATION_DEPTH: usize = 256;

/// Test cases that a thread makes at a time: they are small as a rule.
const AT_A_TIME: usize = 32;

impl ExhaustiveDerivation {
    /// Derives the test cases, named `<model>-<n>`, short ones first where the enumeration is by
    /// traces.
    pub fn derive<O: FiniteOracle>(&self, oracle: &mut O, model: &ModelRef) -> Enumerated {
        let mut cases = Vec::new();
        let complete = self.derive_each(oracle, model, CaseWork::alone(), &mut |written| {
            cases.push(written.case);
            ControlFlow::Continue(())
        });
        Enumerated { cases, complete }
    }

    /// The same by several threads, with texts, and without keeping the test cases. Says whether these are
    /// all there are up to the depth.
    pub(crate) fn derive_each<O: FiniteOracle>(
        &self,
        oracle: &mut O,
        model: &ModelRef,
        work: CaseWork<'_>,
        take: &mut TakeCase<'_>,
    ) -> bool {
        let labels = Arc::new(oracle.labels().clone());
        let initial = oracle.start();
        let depth = self.depth.min(MAX_ENUMERATION_DEPTH);
        let (mut roots, arena, mut complete) = if let Some(leaving) = self.enumeration.leaving() {
            self.follow_traces(oracle, initial, depth, leaving)
        } else {
            let mut all = AllTests {
                arena: Arena::default(),
                memo: FxHashMap::default(),
                every: self.enumeration == Enumeration::Every,
                limit: self.limit,
                // Parts of test cases that no listed one may use are bounded with the rest.
                states: self.limit.saturating_mul(64).max(1 << 16),
                complete: true,
            };
            let roots = all.tests(oracle, initial, depth);
            (roots, all.arena, all.complete)
        };
        complete &= depth == self.depth;
        if roots.len() > self.limit {
            roots.truncate(self.limit);
            complete = false;
        }
        let criterion = oracle.criterion();
        let make = |(n, root)| numbered_case(criterion, model, &labels, n, arena.extract(root));
        // Who wants no more need not be told that there are none.
        let _ = work.each((1..).zip(roots), AT_A_TIME, &make, take);
        complete
    }

    fn follow_traces<O: FiniteOracle>(
        &self,
        oracle: &mut O,
        initial: O::State,
        depth: usize,
        leaving: Verdict,
    ) -> (Vec<TestStateId>, Arena, bool) {
        let mut arena = Arena::default();
        let mut roots = Vec::new();
        if depth == 0 {
            roots.push(arena.verdict(Verdict::Pass));
            return (roots, arena, true);
        }
        let mut queue: VecDeque<(Vec<LabelId>, O::State)> = VecDeque::from([(Vec::new(), initial)]);
        let mut complete = true;
        let mut stimuli = Vec::new();
        let mut outputs = Vec::new();
        while let Some((trace, at)) = queue.pop_front() {
            if roots.len() == self.limit {
                complete = false;
                break;
            }
            roots.push(along(oracle, initial, &trace, leaving, &mut arena));
            if trace.len() + 1 == depth {
                continue;
            }
            let mut go_on = |label, next| {
                // Traces that wait are bounded too.
                if queue.len() + roots.len() > self.limit {
                    complete = false;
                } else {
                    queue.push_back(([&trace[..], &[label]].concat(), next));
                }
            };
            stimuli.clear();
            oracle.inputs_from(at, &mut stimuli);
            for &(label, next) in &stimuli {
                go_on(label, next);
            }
            outputs.clear();
            oracle.outputs_from(at, &mut outputs);
            for &(label, meaning) in &outputs {
                if let Meaning::Allowed(next) = meaning {
                    go_on(label, next);
                }
            }
            if let Meaning::Allowed(next) = oracle.meaning(at, LabelId::DELTA) {
                go_on(LabelId::DELTA, next);
            }
        }
        (roots, arena, complete)
    }
}

/// All test cases of a state and a depth, remembered.
struct AllTests<S> {
    arena: Arena,
    memo: FxHashMap<(S, usize), Vec<TestStateId>>,
    every: bool,
    limit: usize,
    states: usize,
    complete: bool,
}

impl<S: Copy + Eq + std::hash::Hash> AllTests<S> {
    /// At least one test case is always listed, so that every branch has something to go on with.
    fn is_full(&mut self, found: &[TestStateId]) -> bool {
        let full = !found.is_empty()
            && (found.len() >= self.limit || self.arena.states.len() >= self.states);
        self.complete &= !full;
        full
    }

    fn tests<O: FiniteOracle<State = S>>(
        &mut self,
        oracle: &mut O,
        at: S,
        depth: usize,
    ) -> Vec<TestStateId> {
        if depth == 0 {
            return vec![self.arena.verdict(Verdict::Pass)];
        }
        if let Some(found) = self.memo.get(&(at, depth)) {
            return found.clone();
        }
        let mut found = Vec::new();
        if self.every {
            found.push(self.arena.verdict(Verdict::Pass));
        }
        self.observing(oracle, at, depth, &mut found);
        let mut stimuli = Vec::new();
        oracle.inputs_from(at, &mut stimuli);
        'all: for (stimulus, next) in stimuli {
            for next in self.tests(oracle, next, depth - 1) {
                if self.is_full(&found) {
                    break 'all;
                }
                let state = stimulate_state(oracle, at, stimulus, next);
                found.push(self.arena.push(state));
            }
        }
        self.memo.insert((at, depth), found.clone());
        found
    }

    /// Every combination of test cases after the right observations.
    fn observing<O: FiniteOracle<State = S>>(
        &mut self,
        oracle: &mut O,
        at: S,
        depth: usize,
        found: &mut Vec<TestStateId>,
    ) {
        let mut nexts = Vec::new();
        observe_state(oracle, at, &mut self.arena, &mut |_, next| {
            nexts.push(next);
            TestStateId::new(0)
        });
        let choices: Vec<Vec<TestStateId>> = nexts
            .iter()
            .map(|&next| self.tests(oracle, next, depth - 1))
            .collect();
        let mut index = vec![0; choices.len()];
        loop {
            if self.is_full(found) {
                return;
            }
            let mut k = 0;
            let state = observe_state(oracle, at, &mut self.arena, &mut |_, _| {
                k += 1;
                choices[k - 1][index[k - 1]]
            });
            found.push(self.arena.push(state));
            let Some(turn) = (0..index.len()).rfind(|&i| index[i] + 1 < choices[i].len()) else {
                return;
            };
            index[turn] += 1;
            index[turn + 1..].fill(0);
        }
    }
}
