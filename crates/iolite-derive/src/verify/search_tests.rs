//! Verification by several threads, and in chunks of any size, gives what one thread gives in one.

use std::sync::Arc;

use iolite_lts::{Lts, QuiescencePolicy, Suspension};
use iolite_property::Observer;
use proptest::prelude::*;

use super::search::{Places, Search};
use super::{Satisfaction, verify};

use crate::testcase::goal_tree_tests::common::property::any_observer;
use crate::testcase::goal_tree_tests::common::{any_model, small_labels};

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

/// Answers, pairs and length, and whether the search came to an end.
type Found = (Vec<Satisfaction>, usize, usize, bool);

fn found(s: &Arc<Lts>, observers: &[Observer], limit: usize, jobs: usize, chunk: usize) -> Found {
    let view = || Suspension::new(Arc::clone(s), POLICY);
    let mut others: Vec<_> = (1..jobs).map(|_| view()).collect();
    let places = Places::new(observers);
    let mut search = Search::new(&places, limit);
    search.chunk = chunk;
    let complete = search.run(&view(), &mut others, &mut |_, _| true);
    (
        search.answers.clone(),
        search.pairs(),
        search.length,
        complete,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn several_threads_give_what_one_gives(
        s in any_model(12, 40),
        observers in proptest::collection::vec(any_observer(Arc::new(small_labels())), 1..5),
        limit in 1usize..200,
    ) {
        let labels = s.shared_labels();
        let observers: Vec<_> = observers.iter().map(|o| o.over(labels)).collect();
        let s = Arc::new(s);
        for limit in [limit, usize::MAX] {
            let alone = found(&s, &observers, limit, 1, 256);
            for (jobs, chunk) in [(1, 1), (2, 1), (4, 1), (3, 2)] {
                let several = found(&s, &observers, limit, jobs, chunk);
                prop_assert_eq!(&several, &alone);
            }
            if limit == usize::MAX {
                let view = Suspension::new(&*s, POLICY);
                prop_assert_eq!(verify(&view, &observers, limit).answers, alone.0);
            }
        }
    }
}
