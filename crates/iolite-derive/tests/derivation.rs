//! Soundness and exhaustiveness of derived test cases on random small models, against the relations
//! written straight from their definitions.

mod common;

use std::collections::BTreeSet;

use common::{
    after, any_implementation, any_model, any_mutant, closure, complete, initial, not_ioco,
    not_ioconf, out,
};
use iolite_derive::{
    ConfDerivation, CoverageGoal, CoverageSuite, Enumeration, ExhaustiveDerivation, FiniteOracle,
    IocoOracle, IoconfOracle, ModelRef, Progress, RandomDerivation, Step, StoredTester, TestCase,
    TestStep, Tester, Verdict, Weights, passes, test_runs,
};
use iolite_lts::relation::TraceSet;
use iolite_lts::{LabelId, LabelKind, Lts, QuiescencePolicy, StateId};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

/// A specification with an implementation that is a mutant of it or has nothing to do with it.
fn pair() -> impl Strategy<Value = (Lts, Lts)> {
    any_model(4, 9).prop_flat_map(|s| {
        let i = prop_oneof![
            3 => any_mutant(s.clone()),
            1 => any_implementation(3, 7),
            1 => Just(complete(&s)),
        ];
        (Just(s), i)
    })
}

fn enumerate<O: FiniteOracle>(
    oracle: &mut O,
    depth: usize,
    enumeration: Enumeration,
) -> Option<Vec<TestCase>> {
    let how = ExhaustiveDerivation {
        depth,
        enumeration,
        limit: 4000,
    };
    let found = how.derive(oracle, &ModelRef::default());
    found.complete.then_some(found.cases)
}

fn some_fails(cases: &[TestCase], i: &Lts) -> bool {
    cases.iter().any(|t| !passes(t, i, POLICY))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A suite enumerated up to a depth fails exactly the implementations that differ within it:
    /// soundness one way, exhaustiveness the other.
    #[test]
    fn ioco_suites_are_complete_up_to_their_depth((s, i) in pair(), depth in 1usize..5) {
        let differs = not_ioco(&i, &s, depth - 1).is_some();
        let mut oracle = IocoOracle::new(&s, POLICY);
        if let Some(cases) = enumerate(&mut oracle, depth, Enumeration::Traces) {
            prop_assert_eq!(some_fails(&cases, &i), differs);
        }
        for enumeration in [Enumeration::Maximal, Enumeration::Every] {
            if let Some(cases) = enumerate(&mut oracle, depth.min(3), enumeration) {
                let differs = not_ioco(&i, &s, depth.min(3) - 1).is_some();
                prop_assert_eq!(some_fails(&cases, &i), differs, "{:?}", enumeration);
            }
        }
    }

    /// A test case that ends `inconc` where a run leaves its trace fails what the paper's does, and a run
    /// that it passes came to the end of the trace.
    #[test]
    fn a_run_that_left_its_trace_is_inconclusive((s, i) in pair(), depth in 1usize..5) {
        let mut oracle = IocoOracle::new(&s, POLICY);
        let (Some(papers), Some(goals)) = (
            enumerate(&mut oracle, depth, Enumeration::Traces),
            enumerate(&mut oracle, depth, Enumeration::GoalTraces),
        ) else {
            return Ok(());
        };
        prop_assert_eq!(papers.len(), goals.len());
        for (paper, goal) in papers.iter().zip(&goals) {
            let (before, after) = (test_runs(paper, &i, POLICY), test_runs(goal, &i, POLICY));
            prop_assert_eq!(before.fails(), after.fails());
            // The same run; the states of the two test cases have numbers of their own.
            let (one, other) = (before.run(Verdict::Fail), after.run(Verdict::Fail));
            prop_assert_eq!(one.map(|run| &run.actions), other.map(|run| &run.actions));
            // The trace and one observation more.
            if let Some(run) = after.run(Verdict::Pass) {
                prop_assert_eq!(run.len(), goal.depth());
            }
            if let Some(run) = after.run(Verdict::Inconc) {
                prop_assert!(run.len() < goal.depth());
            }
        }
    }

    #[test]
    fn ioconf_suites_are_complete_up_to_their_depth((s, i) in pair(), depth in 1usize..5) {
        let differs = not_ioconf(&i, &s, depth - 1).is_some();
        let mut oracle = IoconfOracle::new(&s, POLICY);
        if let Some(cases) = enumerate(&mut oracle, depth, Enumeration::Traces) {
            prop_assert_eq!(some_fails(&cases, &i), differs);
        }
        if let Some(cases) = enumerate(&mut oracle, depth.min(3), Enumeration::Maximal) {
            let differs = not_ioconf(&i, &s, depth.min(3) - 1).is_some();
            prop_assert_eq!(some_fails(&cases, &i), differs);
        }
    }

    /// ioconf_F for listed traces, some of them outside traces(s) [LTS96, (3)].
    #[test]
    fn ioconf_f_suites_are_complete(
        (s, i) in pair(),
        traces in prop::collection::vec(prop::collection::vec(2usize..6, 0..4), 1..4),
    ) {
        let traces: Vec<Vec<LabelId>> = traces
            .into_iter()
            .map(|t| t.into_iter().map(LabelId::new).collect())
            .collect();
        let differs = traces.iter().any(|trace| {
            let walk = |m: &Lts| trace.iter().fold(initial(m), |p, &l| after(m, &p, Some(l)));
            !out(&i, &walk(&i)).is_subset(&out(&s, &walk(&s)))
        });
        let f = TraceSet::listed(traces.iter().map(Vec::as_slice));
        let mut oracle = IoconfOracle::with_traces(&s, POLICY, Some(f));
        for enumeration in [Enumeration::Traces, Enumeration::Maximal] {
            if let Some(cases) = enumerate(&mut oracle, 4, enumeration) {
                prop_assert_eq!(some_fails(&cases, &i), differs, "{:?}", enumeration);
            }
        }
    }

    #[test]
    fn random_cases_are_sound((s, i) in pair(), seed in any::<u64>(), stop in 0u32..3) {
        let how = RandomDerivation {
            count: 12,
            depth: 6,
            seed,
            weights: Weights { stop, ..Weights::default() },
            max_states: 60,
        };
        let cases = how.derive(&mut IocoOracle::new(&s, POLICY), &ModelRef::default());
        let differs = not_ioco(&i, &s, 5).is_some();
        prop_assert!(differs || !some_fails(&cases, &i));
        for t in &cases {
            prop_assert!(t.depth() <= 6);
            prop_assert!(passes(t, &complete(&s), POLICY) || not_ioco(&complete(&s), &s, 5).is_some());
        }
        // The same seed gives the same suite.
        prop_assert_eq!(&how.derive(&mut IocoOracle::new(&s, POLICY), &ModelRef::default()), &cases);
    }

    /// Whatever a real run of a stored test case can give, the exact product knows, and the other
    /// way round for enough runs.
    #[test]
    fn stored_runs_are_test_runs((s, i) in pair(), seed in any::<u64>()) {
        let how = RandomDerivation { count: 4, depth: 4, seed, ..RandomDerivation::default() };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        for t in how.derive(&mut IocoOracle::new(&s, POLICY), &ModelRef::default()) {
            let exact: BTreeSet<Verdict> =
                test_runs(&t, &i, POLICY).verdicts().map(|(v, _)| v).collect();
            let mut tester = StoredTester::new(t);
            let seen: BTreeSet<Verdict> =
                (0..200).filter_map(|_| simulate(&mut tester, &i, &mut rng)).collect();
            prop_assert!(seen.is_subset(&exact), "{:?} {:?}", seen, exact);
            if i.state_count() < 3 {
                prop_assert_eq!(seen, exact);
            }
        }
    }

    /// conf, with refusals written from [LTS96, prop. 4.8].
    #[test]
    fn conf_suites_are_complete_up_to_their_depth(
        s in any_model(4, 8),
        i in any_model(4, 8),
        depth in 1usize..4,
    ) {
        let (s, i) = (plain(&s), plain(&i));
        let differs = not_conf(&i, &s, depth - 1);
        let mut derivation = ConfDerivation::new(&s);
        for enumeration in [Enumeration::Traces, Enumeration::Every] {
            let depth = if enumeration == Enumeration::Every { depth.min(2) } else { depth };
            let differs = if depth == 2 { not_conf(&i, &s, 1) } else { differs };
            let how = ExhaustiveDerivation { depth, enumeration, limit: 4000 };
            let found = derivation.exhaustive(&how, &ModelRef::default());
            if found.complete {
                prop_assert_eq!(some_fails(&found.cases, &i), differs, "{:?}", enumeration);
            }
        }
        let how = RandomDerivation { count: 10, depth: 4, ..RandomDerivation::default() };
        let cases = derivation.random(&how, &ModelRef::default());
        prop_assert!(!some_fails(&cases, &i) || not_conf(&i, &s, 4));
    }

    /// Everything within the depth is covered, nothing beyond it is claimed.
    #[test]
    fn coverage_suites_cover(s in any_model(5, 12), depth in 1usize..8) {
        for goal in [CoverageGoal::States, CoverageGoal::Transitions] {
            let suite = CoverageSuite { goal, depth, limit: 1000 };
            let covering = suite.derive(&s, POLICY, &ModelRef::default()).unwrap();
            let mut seen = BTreeSet::new();
            for t in &covering.cases {
                // A run that the system takes off the trace has ten steps more to find back to it.
                prop_assert!(t.depth() <= depth + 10);
                collect(&s, t, goal, &mut seen);
            }
            if goal == CoverageGoal::States {
                seen.insert((initial(&s), None));
            }
            prop_assert!(seen.len() >= covering.covered.seen);
            prop_assert_eq!(
                covering.covered.total - covering.covered.seen,
                covering.uncovered.len()
            );
            if depth == 7 {
                prop_assert!(covering.uncovered.is_empty() || far(&s) >= depth - 1);
            }
        }
    }
}

/// One run of a tester with a model that chooses at random; `None` when the model diverges too long.
fn simulate(tester: &mut StoredTester, i: &Lts, rng: &mut Xoshiro256PlusPlus) -> Option<Verdict> {
    use iolite_derive::Menu;
    tester.reset();
    let mut at = i.initial();
    let mut menu = Menu::default();
    for _ in 0..200 {
        menu.clear();
        tester.menu(&mut menu);
        if menu.stop {
            return Some(tester.verdict());
        }
        let kind = |l: LabelId| i.labels().kind(l);
        let internal: Vec<StateId> = i
            .steps(at)
            .iter()
            .filter(|s| kind(s.0) == LabelKind::Internal)
            .map(|s| s.1)
            .collect();
        if !internal.is_empty() && rng.random_bool(0.5) {
            at = internal[rng.random_range(0..internal.len())];
            continue;
        }
        let progress = if let [stimulus] = menu.stimuli[..] {
            let next = i.steps_on(at, LabelId::new(stimulus.index()));
            if next.is_empty() {
                if internal.is_empty() {
                    return None;
                }
                continue;
            }
            at = next[rng.random_range(0..next.len())].1;
            tester.step(Step::Stimulus(stimulus))
        } else {
            let outputs: Vec<_> = i
                .steps(at)
                .iter()
                .filter(|s| kind(s.0) == LabelKind::Output)
                .collect();
            let quiet = common::quiescent(i, at);
            if outputs.is_empty() || (quiet && rng.random_bool(0.3)) {
                if !quiet {
                    continue;
                }
                tester.step(Step::Quiescence)
            } else {
                let &&(label, next) = &outputs[rng.random_range(0..outputs.len())];
                at = next;
                tester.step(Step::Output(label.into()))
            }
        };
        if let Progress::Ended(verdict) = progress {
            return Some(verdict);
        }
    }
    None
}

/// The same model over undirected labels, without internal cycles (conf is for converging systems).
fn plain(lts: &Lts) -> Lts {
    let mut b = iolite_lts::LtsBuilder::new();
    for name in ["a", "b", "x", "y"] {
        b.labels_mut().intern_text(name);
    }
    b.ensure_states(lts.state_count());
    b.set_initial(lts.initial());
    for (s, l, t) in lts.transitions() {
        if l != LabelId::TAU || s < t {
            b.transition(s, l, t);
        }
    }
    b.build().unwrap()
}

fn not_conf(i: &Lts, s: &Lts, length: usize) -> bool {
    let labels: Vec<LabelId> = i.labels().of_kind(LabelKind::Undirected).collect();
    let refuses = |m: &Lts, p: &BTreeSet<StateId>, a: &[LabelId]| {
        p.iter().any(|&q| {
            let closed = closure(m, &BTreeSet::from([q]));
            a.iter().all(|&l| after(m, &closed, Some(l)).is_empty())
        })
    };
    let mut level = vec![(initial(i), initial(s))];
    for _ in 0..=length {
        let mut next = Vec::new();
        for (p, q) in level {
            for mask in 0u32..1 << labels.len() {
                let a: Vec<LabelId> = (0..labels.len())
                    .filter(|k| mask >> k & 1 == 1)
                    .map(|k| labels[k])
                    .collect();
                if refuses(i, &p, &a) && !refuses(s, &q, &a) {
                    return true;
                }
            }
            for &l in &labels {
                let (p2, q2) = (after(i, &p, Some(l)), after(s, &q, Some(l)));
                if !p2.is_empty() && !q2.is_empty() {
                    next.push((p2, q2));
                }
            }
        }
        level = next;
    }
    false
}

type Covered = BTreeSet<(BTreeSet<StateId>, Option<LabelId>)>;

/// What the states of a test case walk through, by the slow `after`.
fn collect(s: &Lts, t: &TestCase, goal: CoverageGoal, seen: &mut Covered) {
    let mut stack = vec![(t.initial(), initial(s))];
    while let Some((id, p)) = stack.pop() {
        for (label, next) in t.state(id).steps() {
            let to = t.state(next);
            if to.step == TestStep::End && to.verdict == Verdict::Fail {
                continue;
            }
            let q = after(s, &p, Some(label));
            assert!(!q.is_empty());
            seen.insert(match goal {
                CoverageGoal::States => (q.clone(), None),
                CoverageGoal::Transitions => (p.clone(), Some(label)),
            });
            stack.push((next, q));
        }
    }
}

/// How far the farthest set of the suspension automaton is.
fn far(s: &Lts) -> usize {
    let mut all = BTreeSet::from([initial(s)]);
    let mut level = all.clone();
    let mut depth = 0;
    loop {
        let mut next = BTreeSet::new();
        for p in &level {
            for (l, label) in s.labels().iter() {
                let q = after(s, p, Some(l));
                if label.kind.is_visible() && !q.is_empty() && all.insert(q.clone()) {
                    next.insert(q);
                }
            }
        }
        if next.is_empty() {
            return depth;
        }
        level = next;
        depth += 1;
    }
}
