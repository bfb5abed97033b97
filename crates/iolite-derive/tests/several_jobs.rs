//! Several threads derive what one derives: the same test cases with the same texts, in the same order.

mod common;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use common::any_model;
use iolite_derive::{
    CaseSelection, CaseWork, CoverageGoal, CoverageSuite, Enumeration, ExhaustiveDerivation,
    ModelRef, QueueOptions, RandomDerivation, RelationOracle, TestCase, WrittenCase, derive_cases,
};
use iolite_lts::{Lts, QuiescencePolicy};
use proptest::prelude::*;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

/// The test cases that a derivation gives to whoever wants so many.
fn taken(
    jobs: usize,
    wanted: usize,
    derive: impl FnOnce(CaseWork<'_>, &mut dyn FnMut(WrittenCase) -> ControlFlow<()>),
) -> Vec<(TestCase, String)> {
    let text = |case: &TestCase| format!("{case:?}");
    let jobs = NonZeroUsize::new(jobs).expect("at least one");
    let mut taken = Vec::new();
    derive(CaseWork { jobs, text: &text }, &mut |written| {
        taken.push((written.case, written.text));
        if taken.len() < wanted {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    taken
}

fn covering(
    s: &Lts,
    suite: &CoverageSuite,
    jobs: usize,
    wanted: usize,
) -> (Vec<(TestCase, String)>, String) {
    let mut told = String::new();
    let cases = taken(jobs, wanted, |work, give| {
        let done = suite.derive_each(s, POLICY, &ModelRef::default(), work, give);
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
        let through = QueueOptions { max_in_flight: 2, ..QueueOptions::default() };
        for selection in selections {
            for queues in [None, Some(&through)] {
                let derive = |jobs| {
                    let mut told = String::new();
                    let cases = taken(jobs, wanted, |work, take| {
                        let oracle = RelationOracle::ioco(&s, POLICY);
                        let model = ModelRef::default();
                        let done =
                            derive_cases(oracle, queues.cloned(), selection, &model, work, take);
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
