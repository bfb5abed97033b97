//! Several threads derive what one derives: the same test cases with the same texts, in the same order.

mod common;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::any_model;
use iolite_derive::{
    CaseSelection, CaseWork, CompleteSuite, CoverageGoal, CoverageSuite, Enumeration,
    ExhaustiveDerivation, ModelRef, Publish, QueueOptions, RandomDerivation, RelationOracle,
    TestCase, derive_cases,
};
use iolite_lts::{Lts, QuiescencePolicy};
use proptest::prelude::*;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

/// Counts those that are there.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The test cases that a derivation publishes for whoever wants so many. What was stored and not published is dropped.
fn taken(jobs: usize, wanted: usize, derive: impl FnOnce(CaseWork<'_>)) -> Vec<(TestCase, String)> {
    let taken = Mutex::new(Vec::new());
    let there = AtomicUsize::new(0);
    let store = |case: TestCase| -> Publish<'_> {
        let (taken, stored) = (&taken, Counted::new(&there));
        let text = format!("{case:?}");
        Box::new(move || {
            drop(stored);
            let mut taken = taken.lock().unwrap();
            taken.push((case, text));
            if taken.len() < wanted {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })
    };
    let jobs = NonZeroUsize::new(jobs).expect("at least one");
    derive(CaseWork {
        jobs,
        store: &store,
    });
    assert_eq!(there.load(Ordering::Relaxed), 0, "nothing is left");
    taken.into_inner().unwrap()
}

fn covering(
    s: &Lts,
    suite: &CoverageSuite,
    jobs: usize,
    wanted: usize,
) -> (Vec<(TestCase, String)>, String) {
    let mut told = String::new();
    let cases = taken(jobs, wanted, |work| {
        let done = suite.derive_each(s, POLICY, &ModelRef::default(), work);
        told = format!("{done:?}");
    });
    (cases, told)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn coverage(s in any_model(6, 16), depth in 1usize..8, wanted in 1usize..40) {
        for goal in [CoverageGoal::States, CoverageGoal::Transitions] {
            let suite = CoverageSuite { goal, depth, limit: 1000 };
            let alone = covering(&s, &suite, 1, wanted);
            for jobs in [2, 3, 8] {
                let several = covering(&s, &suite, jobs, wanted);
                prop_assert_eq!(&several.1, &alone.1);
                prop_assert!(several.0 == alone.0, "{jobs} jobs");
            }
        }
    }

    #[test]
    fn at_random_and_exhaustively(s in any_model(5, 12), seed in any::<u64>(), wanted in 1usize..60) {
        let random = RandomDerivation { count: 40, depth: 6, seed, ..RandomDerivation::default() };
        let enumerations = [Enumeration::Every, Enumeration::Maximal, Enumeration::GoalTraces];
        let exhaustive = enumerations
            .map(|enumeration| ExhaustiveDerivation { depth: 3, enumeration, limit: 50 });
        let mut selections: Vec<_> = exhaustive.iter().map(CaseSelection::Exhaustive).collect();
        selections.push(CaseSelection::Random(&random));
        let complete = CompleteSuite { extra: 0, limit: 40, states: 50 };
        selections.push(CaseSelection::Complete(&complete));
        let through = QueueOptions { max_in_flight: 2, ..QueueOptions::default() };
        for selection in selections {
            for queues in [None, Some(&through)] {
                if queues.is_some() && matches!(selection, CaseSelection::Complete(_)) {
                    continue;
                }
                let derive = |jobs| {
                    let mut told = String::new();
                    let cases = taken(jobs, wanted, |work| {
                        let oracle = RelationOracle::ioco(&s, POLICY);
                        let model = ModelRef::default();
                        let done = derive_cases(oracle, queues.cloned(), selection, &model, work);
                        told = format!("{done:?}");
                    });
                    (cases, told)
                };
                let alone = derive(1);
                for jobs in [2, 5] {
                    prop_assert!(derive(jobs) == alone, "{jobs} jobs");
                }
            }
        }
    }
}
