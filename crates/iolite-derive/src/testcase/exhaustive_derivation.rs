//! Exhaustive derivation up to a depth, for every relation that has an oracle.

use std::collections::VecDeque;
use std::sync::Arc;

use iolite_lts::LabelId;
use rustc_hash::FxHashMap;

use crate::testcase::arena::Arena;
use crate::testcase::case_work::AT_A_TIME;
use crate::testcase::choice::{along, numbered_case, observe_state, stimulate_state};
use crate::{CaseWork, FiniteOracle, Meaning, ModelRef, TestCase, TestStateId, Verdict};

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

/// What an enumeration came to, beside its test cases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enumerating {
    /// Whether the test cases are all there are up to the depth, and all of them were wanted.
    pub(crate) complete: bool,
    /// Whether something was left undecided for what was published.
    pub(crate) undecided: bool,
}

/// Test cases may not be deeper than this when they are enumerated: their number is exponential.
pub(crate) const MAX_ENUMERATION_DEPTH: usize = 256;

impl ExhaustiveDerivation {
    /// Derives the test cases, named `<model>-<n>`, short ones first where the enumeration is by
    /// traces.
    pub fn derive<O: FiniteOracle>(&self, oracle: &mut O, model: &ModelRef) -> Enumerated {
        let labels = Arc::new(oracle.labels().clone());
        let criterion = oracle.criterion();
        let case = |(n, states)| numbered_case(criterion, model, &labels, n, states);
        if let Some(leaving) = self.enumeration.leaving() {
            // Without threads an oracle need not be fit for them.
            let mut traces = TraceCases::new(oracle, self.bounded_depth(), leaving, self.limit);
            let states = (&mut traces).map(|(arena, root)| arena.into_states(root));
            return Enumerated {
                cases: (1..).zip(states).map(case).collect(),
                complete: traces.complete && self.bounded_depth() == self.depth,
            };
        }
        let (roots, arena, complete) = self.trees(oracle);
        let states = roots.into_iter().map(|root| arena.extract(root));
        Enumerated {
            cases: (1..).zip(states).map(case).collect(),
            complete,
        }
    }

    /// The same by several threads, without keeping the test cases.
    pub(crate) fn derive_each<O>(
        &self,
        oracle: &mut O,
        model: &ModelRef,
        work: CaseWork<'_>,
    ) -> Enumerating
    where
        O: FiniteOracle<State: Send> + Send,
    {
        let labels = Arc::new(oracle.labels().clone());
        let criterion = oracle.criterion();
        let case = |n, states| numbered_case(criterion, model, &labels, n, states);
        if let Some(leaving) = self.enumeration.leaving() {
            // One trace after the other, while others store the test cases of those before.
            let mut traces = TraceCases::new(oracle, self.bounded_depth(), leaving, self.limit);
            let make = |(n, (arena, root)): (usize, (Arena, TestStateId))| {
                case(n, arena.into_states(root))
            };
            let published = work.each((1..).zip(&mut traces), AT_A_TIME, &make);
            let whole = self.bounded_depth() == self.depth;
            return Enumerating {
                complete: published.all && traces.complete && whole,
                // Threads may have made more than were wanted.
                undecided: traces.undecided_at.is_some_and(|n| n <= published.cases),
            };
        }
        let (roots, arena, complete) = self.trees(oracle);
        let make = |(n, root)| case(n, arena.extract(root));
        let published = work.each((1..).zip(roots), AT_A_TIME, &make);
        Enumerating {
            complete: complete && published.all,
            undecided: oracle.undecided().is_some(),
        }
    }

    fn bounded_depth(&self) -> usize {
        self.depth.min(MAX_ENUMERATION_DEPTH)
    }

    /// The roots of the test cases that follow no trace, and whether these are all there are.
    fn trees<O: FiniteOracle>(&self, oracle: &mut O) -> (Vec<TestStateId>, Arena, bool) {
        let initial = oracle.start();
        let depth = self.bounded_depth();
        let mut all = AllTests {
            arena: Arena::default(),
            memo: FxHashMap::default(),
            every: self.enumeration == Enumeration::Every,
            limit: self.limit,
            // Parts of test cases that no listed one may use are bounded with the rest.
            states: self.limit.saturating_mul(64).max(1 << 16),
            complete: true,
        };
        let mut roots = all.tests(oracle, initial, depth);
        let complete = all.complete && depth == self.depth && roots.len() <= self.limit;
        roots.truncate(self.limit);
        (roots, all.arena, complete)
    }
}

/// The test cases along the traces up to a depth, short ones first.
struct TraceCases<'a, O: FiniteOracle> {
    oracle: &'a mut O,
    initial: O::State,
    depth: usize,
    leaving: Verdict,
    limit: usize,
    /// The traces whose test cases were not given yet, with where they lead.
    queue: VecDeque<(Vec<LabelId>, O::State)>,
    given: usize,
    /// Whether no trace was left out so far.
    complete: bool,
    /// The number of the first test case, from 1 on, after which the oracle had left something undecided.
    undecided_at: Option<usize>,
    stimuli: Vec<(LabelId, O::State)>,
    outputs: Vec<(LabelId, Meaning<O::State>)>,
}

impl<'a, O: FiniteOracle> TraceCases<'a, O> {
    fn new(oracle: &'a mut O, depth: usize, leaving: Verdict, limit: usize) -> Self {
        let initial = oracle.start();
        Self {
            oracle,
            initial,
            depth,
            leaving,
            limit,
            queue: VecDeque::from([(Vec::new(), initial)]),
            given: 0,
            complete: true,
            undecided_at: None,
            stimuli: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Has the traces that are longer by one action wait.
    fn go_on(&mut self, trace: &[LabelId], at: O::State) {
        self.stimuli.clear();
        self.oracle.inputs_from(at, &mut self.stimuli);
        self.outputs.clear();
        self.oracle.outputs_from(at, &mut self.outputs);
        let silence = (LabelId::DELTA, self.oracle.meaning(at, LabelId::DELTA));
        let observed = self.outputs.iter().copied().chain([silence]);
        let allowed = observed.filter_map(|(label, meaning)| match meaning {
            Meaning::Allowed(next) => Some((label, next)),
            _ => None,
        });
        for (label, next) in self.stimuli.iter().copied().chain(allowed) {
            // Traces that wait are bounded too.
            if self.queue.len() + self.given > self.limit {
                self.complete = false;
            } else {
                self.queue.push_back(([trace, &[label]].concat(), next));
            }
        }
    }
}

impl<O: FiniteOracle> Iterator for TraceCases<'_, O> {
    type Item = (Arena, TestStateId);

    fn next(&mut self) -> Option<(Arena, TestStateId)> {
        let (trace, at) = self.queue.pop_front()?;
        if self.given == self.limit {
            self.complete = false;
            self.queue.clear();
            return None;
        }
        self.given += 1;
        let mut arena = Arena::default();
        if self.depth == 0 {
            let root = arena.verdict(Verdict::Pass);
            return Some((arena, root));
        }
        let root = along(self.oracle, self.initial, &trace, self.leaving, &mut arena);
        if trace.len() + 1 < self.depth {
            self.go_on(&trace, at);
        }
        if self.undecided_at.is_none() && self.oracle.undecided().is_some() {
            self.undecided_at = Some(self.given);
        }
        Some((arena, root))
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
        let places = oracle.places(&at).shared();
        'all: for (stimulus, next) in stimuli {
            for next in self.tests(oracle, next, depth - 1) {
                if self.is_full(&found) {
                    break 'all;
                }
                let state = stimulate_state(oracle, at, stimulus, next, places.clone());
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
        let places = oracle.places(&at).shared();
        let mut note = |_: &mut Arena, next| {
            nexts.push(next);
            TestStateId::new(0)
        };
        observe_state(oracle, at, &mut self.arena, &mut note, places.clone());
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
            let mut chosen = |_: &mut Arena, _| {
                k += 1;
                choices[k - 1][index[k - 1]]
            };
            let arena = &mut self.arena;
            let state = observe_state(oracle, at, arena, &mut chosen, places.clone());
            found.push(self.arena.push(state));
            let Some(turn) = (0..index.len()).rfind(|&i| index[i] + 1 < choices[i].len()) else {
                return;
            };
            index[turn] += 1;
            index[turn + 1..].fill(0);
        }
    }
}
