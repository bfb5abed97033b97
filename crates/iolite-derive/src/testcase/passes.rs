//! "Passes", exactly: all test runs of a test case with a model of an implementation.

use std::collections::{BTreeMap, VecDeque};

use iolite_lts::{
    Determinised, LabelId, LabelKind, QuiescencePolicy, Semantics, StateId, Suspension,
};
use rustc_hash::FxHashMap;

use crate::{TestCase, TestStateId, TestStep, Verdict};

/// The verdicts that the test runs of a test case with an implementation can end in, each with a
/// shortest test run (labels of the test case, θ as δ).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRuns {
    runs: BTreeMap<Verdict, Vec<LabelId>>,
}

impl TestRuns {
    /// The verdicts seen, with a shortest run each.
    pub fn verdicts(&self) -> impl Iterator<Item = (Verdict, &[LabelId])> {
        self.runs.iter().map(|(&v, run)| (v, run.as_slice()))
    }

    /// A shortest run with this verdict.
    pub fn run(&self, verdict: Verdict) -> Option<&[LabelId]> {
        self.runs.get(&verdict).map(Vec::as_slice)
    }

    /// `i passes t`: all test runs lead to `pass` [LTS96, def. 3.2].
    pub fn passes(&self) -> bool {
        self.runs.keys().all(|&v| v == Verdict::Pass)
    }

    /// Whether some run speaks against the implementation.
    pub fn fails(&self) -> bool {
        self.runs.keys().any(|v| v.is_failing())
    }
}

/// All test runs of `case` with `implementation`: the traces of `t ∥ i` that end in deadlock, where θ
/// happens in quiescent states [LTS96, def. 3.2; IOCO99, §4].
///
/// Deadlock while outputs are awaited is quiescence under `policy`, so that a test case and the
/// relation it was derived for mean the same δ; an implementation that refuses a stimulus, or all
/// actions offered, deadlocks as in definition 3.2.
pub fn test_runs<M: Semantics<State = StateId>>(
    case: &TestCase,
    implementation: &M,
    policy: QuiescencePolicy,
) -> TestRuns {
    let labels = implementation.labels();
    let map: Vec<Option<LabelId>> = labels
        .iter()
        .map(|(_, l)| case.labels().get(l.kind, &l.name))
        .collect();
    let view = Suspension::new(implementation, policy);
    let mut weak = Determinised::new(implementation);
    let mut refuses = |state: StateId, offered: &[LabelId]| {
        let set = weak.set_of(&[state]);
        !weak
            .row(set)
            .iter()
            .any(|&(l, _)| map[l.index()].is_some_and(|l| offered.contains(&l)))
    };

    let initial: Pair = (case.initial(), implementation.initial());
    let mut before: FxHashMap<Pair, Option<(Pair, Option<LabelId>)>> = FxHashMap::default();
    before.insert(initial, None);
    // Internal steps cost nothing, so that the first run found with a verdict is a shortest one.
    let mut queue = VecDeque::from([(0usize, initial)]);
    let mut depth_of: FxHashMap<Pair, usize> = FxHashMap::default();
    depth_of.insert(initial, 0);
    let mut runs = BTreeMap::new();
    let mut row = Vec::new();
    while let Some((depth, pair)) = queue.pop_front() {
        if depth_of[&pair] < depth {
            continue;
        }
        let (t, i) = pair;
        let state = case.state(t);
        row.clear();
        view.successors(&i, &mut row);
        let quiet = row.iter().any(|&(l, _)| l == LabelId::DELTA);
        let deadlock = match &state.step {
            TestStep::End => true,
            TestStep::Stimulate { stimulus, .. } => refuses(i, &[*stimulus]),
            TestStep::Observe { quiescence, .. } => quiet && quiescence.is_none(),
            TestStep::Offer { actions } => {
                let offered: Vec<LabelId> = actions.iter().map(|&(l, _)| l).collect();
                refuses(i, &offered)
            }
        };
        if deadlock {
            runs.entry(state.verdict)
                .or_insert_with(|| trace(&before, pair));
            if state.step == TestStep::End {
                continue;
            }
        }
        let steps = state.steps();
        for &(label, target) in &row {
            let (next, action) = if labels.kind(label) == LabelKind::Internal {
                ((t, target), None)
            } else {
                let Some(label) = map[label.index()] else {
                    continue;
                };
                let Some(&(_, t2)) = steps.iter().find(|&&(l, _)| l == label) else {
                    continue;
                };
                ((t2, target), Some(label))
            };
            let cost = depth + usize::from(action.is_some());
            if depth_of.get(&next).is_some_and(|&d| d <= cost) {
                continue;
            }
            depth_of.insert(next, cost);
            before.insert(next, Some((pair, action)));
            if action.is_some() {
                queue.push_back((cost, next));
            } else {
                queue.push_front((cost, next));
            }
        }
    }
    TestRuns { runs }
}

/// A state of the test case and one of the implementation.
type Pair = (TestStateId, StateId);

type Before<P> = FxHashMap<P, Option<(P, Option<LabelId>)>>;

fn trace<P: Copy + Eq + std::hash::Hash>(before: &Before<P>, mut at: P) -> Vec<LabelId> {
    let mut trace = Vec::new();
    while let Some(&Some((from, action))) = before.get(&at) {
        trace.extend(action);
        at = from;
    }
    trace.reverse();
    trace
}

/// `i passes t` [LTS96, def. 3.2].
pub fn passes<M: Semantics<State = StateId>>(
    case: &TestCase,
    implementation: &M,
    policy: QuiescencePolicy,
) -> bool {
    test_runs(case, implementation, policy).passes()
}
