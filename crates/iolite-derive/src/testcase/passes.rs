//! "Passes", exactly: all test runs of a test case with a model of an implementation.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use iolite_lts::{
    Determinised, LabelId, LabelKind, Labels, QuiescencePolicy, Semantics, StateId, Step,
    Suspension,
};
use rustc_hash::FxHashMap;

use crate::suite::known_labels;
use crate::{TestCase, TestStateId, TestStep, Verdict};

/// A test run: what a test case and an implementation do together until they deadlock
/// [LTS96, def. 3.2].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRun {
    /// Labels of the test case, θ as δ. An output that the test case does not have ends the run and
    /// is not among them.
    pub trace: Vec<LabelId>,
    /// The actions as the implementation names them, in `?a`, `!x`, `delta` notation: all of the run.
    pub actions: Vec<String>,
    /// Where the test case ends; before the output that it does not have, where there is one.
    pub test_state: TestStateId,
    /// Where the implementation ends.
    pub implementation: StateId,
}

impl TestRun {
    /// The number of its actions.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Whether it ended at once.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Whether its last action is an output that the test case does not have.
    pub fn is_foreign(&self) -> bool {
        self.actions.len() > self.trace.len()
    }
}

/// The verdicts that the test runs of a test case with an implementation can end in, each with a
/// shortest test run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestRuns {
    runs: BTreeMap<Verdict, TestRun>,
    livelock: Option<StateId>,
}

impl TestRuns {
    /// The verdicts seen, with a shortest run each.
    pub fn verdicts(&self) -> impl Iterator<Item = (Verdict, &TestRun)> {
        self.runs.iter().map(|(&v, run)| (v, run))
    }

    /// A shortest run with this verdict.
    pub fn run(&self, verdict: Verdict) -> Option<&TestRun> {
        self.runs.get(&verdict)
    }

    /// A shortest run that speaks against the implementation, with its verdict.
    pub fn failing(&self) -> Option<(Verdict, &TestRun)> {
        let failing = self.verdicts().filter(|(v, _)| v.is_failing());
        failing.min_by_key(|(_, run)| run.len())
    }

    /// `i passes t`: all test runs lead to `pass` [LTS96, def. 3.2].
    pub fn passes(&self) -> bool {
        self.runs.keys().all(|&v| v == Verdict::Pass)
    }

    /// Whether some run speaks against the implementation.
    pub fn fails(&self) -> bool {
        self.failing().is_some()
    }

    /// A state on a cycle of internal actions that a run came to, which the strict policy forbids.
    pub fn livelock(&self) -> Option<StateId> {
        self.livelock
    }

    fn end(&mut self, verdict: Verdict, run: TestRun) {
        match self.runs.get(&verdict) {
            Some(known) if known.len() <= run.len() => {}
            _ => {
                self.runs.insert(verdict, run);
            }
        }
    }
}

/// All test runs of `case` with `implementation`: the traces of `t ∥ i` that end in deadlock, where θ
/// happens in quiescent states [LTS96, def. 3.2; IOCO99, §4].
///
/// Deadlock while outputs are awaited is quiescence under `policy`, so that a test case and the
/// relation it was derived for mean the same δ; an implementation that refuses a stimulus, or all
/// actions offered, deadlocks as in definition 3.2. A test case that observes has a step for every
/// output of `L_U` [LTS96, def. 7.1]; for one that its author did not know, that step leads to `fail`.
pub fn test_runs<M: Semantics<State = StateId>>(
    case: &TestCase,
    implementation: &M,
    policy: QuiescencePolicy,
) -> TestRuns {
    let whole = test_runs_while(case, implementation, policy, &mut |_| {
        ControlFlow::Continue(())
    });
    whole.expect("nobody stops it")
}

/// The same; `proceed` hears now and then how many pairs of states were met, and may end the search
/// without an answer.
pub fn test_runs_while<M: Semantics<State = StateId>>(
    case: &TestCase,
    implementation: &M,
    policy: QuiescencePolicy,
    proceed: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Option<TestRuns> {
    let mut product = Product {
        case,
        labels: implementation.labels(),
        known: known_labels(implementation.labels(), case.labels()),
        view: Suspension::new(implementation, policy),
        weak: Determinised::new(implementation),
        before: FxHashMap::default(),
        runs: TestRuns::default(),
    };
    product.search(proceed)?;
    product.runs.livelock = product.view.livelock();
    Some(product.runs)
}

/// `i passes t` [LTS96, def. 3.2].
pub fn passes<M: Semantics<State = StateId>>(
    case: &TestCase,
    implementation: &M,
    policy: QuiescencePolicy,
) -> bool {
    test_runs(case, implementation, policy).passes()
}

/// A state of the test case and one of the implementation.
type Pair = (TestStateId, StateId);

/// How a pair was first reached: how many actions it took, from which pair, by which action, as the
/// test case and as the implementation name it.
type Arrival = (usize, Option<(Pair, Option<(LabelId, LabelId)>)>);

/// `t ∥ i`, searched breadth first in visible actions.
struct Product<'a, M: Semantics<State = StateId>> {
    case: &'a TestCase,
    labels: &'a Labels,
    /// What the implementation's labels are to the test case.
    known: Vec<Option<LabelId>>,
    view: Suspension<&'a M>,
    weak: Determinised<&'a M>,
    before: FxHashMap<Pair, Arrival>,
    runs: TestRuns,
}

impl<M: Semantics<State = StateId>> Product<'_, M> {
    fn search(&mut self, proceed: &mut dyn FnMut(usize) -> ControlFlow<()>) -> Option<()> {
        let initial: Pair = (self.case.initial(), self.view.initial());
        self.before.insert(initial, (0, None));
        // Internal steps cost nothing, so that the first run found with a verdict is a shortest one.
        let mut queue = VecDeque::from([(0usize, initial)]);
        let mut row = Vec::new();
        let mut visited = 0usize;
        while let Some((depth, pair)) = queue.pop_front() {
            if self.before[&pair].0 < depth {
                continue;
            }
            visited += 1;
            if visited.is_multiple_of(4096) && proceed(self.before.len()).is_break() {
                return None;
            }
            row.clear();
            self.view.successors(&pair.1, &mut row);
            self.end_of_run(pair, &row);
            self.steps(pair, depth, &row, &mut queue);
        }
        Some(())
    }

    /// The run ends where `t ∥ i` deadlocks.
    fn end_of_run(&mut self, pair: Pair, row: &[Step]) {
        let (t, i) = pair;
        let state = self.case.state(t);
        let deadlock = match &state.step {
            TestStep::End => true,
            TestStep::Stimulate { stimulus, .. } => self.refuses(i, &[*stimulus]),
            TestStep::Observe { quiescence, .. } => {
                quiescence.is_none() && row.iter().any(|&(l, _)| l == LabelId::DELTA)
            }
            TestStep::Offer { actions } => {
                let offered: Vec<LabelId> = actions.iter().map(|&(l, _)| l).collect();
                self.refuses(i, &offered)
            }
        };
        if deadlock {
            let run = self.run_to(pair, None);
            self.runs.end(state.verdict, run);
        }
    }

    /// Whether none of these actions can be taken, also after internal ones.
    fn refuses(&mut self, state: StateId, offered: &[LabelId]) -> bool {
        let set = self.weak.set_of(&[state]);
        let known = &self.known;
        let taken = |&(l, _): &(LabelId, _)| known[l.index()].is_some_and(|l| offered.contains(&l));
        !self.weak.row(set).iter().any(taken)
    }

    fn steps(
        &mut self,
        pair: Pair,
        depth: usize,
        row: &[Step],
        queue: &mut VecDeque<(usize, Pair)>,
    ) {
        let (t, _) = pair;
        let state = self.case.state(t);
        if state.step == TestStep::End {
            return;
        }
        let observes = matches!(state.step, TestStep::Observe { .. });
        let own = state.steps();
        for &(label, target) in row {
            let kind = self.labels.kind(label);
            let (next, action) = if kind == LabelKind::Internal {
                ((t, target), None)
            } else {
                let known = self.known[label.index()];
                let step = own.iter().find(|&&(l, _)| Some(l) == known);
                match step {
                    Some(&(own, t2)) => ((t2, target), Some((own, label))),
                    None if observes && kind == LabelKind::Output => {
                        let run = self.run_to(pair, Some((label, target)));
                        self.runs.end(Verdict::Fail, run);
                        continue;
                    }
                    None => continue,
                }
            };
            let cost = depth + usize::from(action.is_some());
            if self.before.get(&next).is_some_and(|&(d, _)| d <= cost) {
                continue;
            }
            self.before.insert(next, (cost, Some((pair, action))));
            if action.is_some() {
                queue.push_back((cost, next));
            } else {
                queue.push_front((cost, next));
            }
        }
    }

    /// The run to a pair, and one more output of the implementation.
    fn run_to(&self, pair: Pair, foreign: Option<(LabelId, StateId)>) -> TestRun {
        let (mut trace, mut actions) = (Vec::new(), Vec::new());
        let (last, implementation) = foreign.unzip();
        actions.extend(last.map(|label| self.labels.text(label)));
        let mut at = pair;
        while let Some((_, Some((from, action)))) = self.before.get(&at) {
            if let Some((own, theirs)) = *action {
                trace.push(own);
                actions.push(self.labels.text(theirs));
            }
            at = *from;
        }
        trace.reverse();
        actions.reverse();
        TestRun {
            trace,
            actions,
            test_state: pair.0,
            implementation: implementation.unwrap_or(pair.1),
        }
    }
}
