//! Several threads give what one gives: the answer, the counterexamples, and how much was searched.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use super::crew::{OneJob, SeveralJobs};
use super::order_tests::Numbers;
use super::{Answer, Effort, Relation, Search, SpecificationSide, TraceSet};
use crate::{Completed, Completion, Lts, QuiescencePolicy};

fn answer(relation: Relation, i: &Lts, s: &Lts, wanted: usize, jobs: Option<usize>) -> Answer {
    let [a, b] = ["?a", "?b"].map(|l| s.labels().get_text(l).unwrap());
    let traces = TraceSet::listed([&[a, a][..], &[b, a, a], &[b, b]]);
    let traces = (relation == Relation::IoconfF).then_some(traces);
    let policy = QuiescencePolicy::Livelock;
    let mut side = SpecificationSide::new(relation, s, policy, traces).unwrap();
    let mut proceed = |_: &Effort| ControlFlow::Continue(());
    let mut how = Search {
        counterexamples: wanted,
        proceed: &mut proceed,
    };
    let implementation = Completed::over(i, Completion::SelfLoop, s.labels());
    let answer = match jobs.and_then(NonZeroUsize::new) {
        None => side.decide(implementation, OneJob, &mut how),
        // One pair at a time, so that these small systems have levels for several threads.
        Some(jobs) => side.decide(implementation, SeveralJobs::new(jobs).by(1), &mut how),
    };
    let mut answer = answer.unwrap();
    // Copies take memory.
    answer.effort.bytes = 0;
    answer
}

#[test]
fn several_threads_give_what_one_gives() {
    let mut numbers = Numbers(0x0F1E_2D3C_4B5A_6978);
    let mut shared = 0;
    for k in 0..400 {
        let (i, s) = numbers.pair();
        for &relation in Relation::ALL {
            for wanted in [1, 5] {
                let one = answer(relation, &i, &s, wanted, None);
                let several = answer(relation, &i, &s, wanted, Some(2 + k % 3));
                assert_eq!(one, several, "{relation}, pair {k}, {wanted} wanted");
                shared += usize::from(one.effort.pairs > 16);
            }
        }
    }
    assert!(shared > 100, "levels are too small for several threads");
}

/// A thread that fails ends the search with a panic, not with a wait for ever.
#[test]
#[should_panic(expected = "a thread")]
fn a_thread_that_fails_ends_the_search() {
    use crate::{LabelId, Labels, LtsBuilder, Semantics, StateId};

    /// A system whose copies fail after some steps, while the one that is searched with waits.
    struct Failing<'a>(&'a Lts, bool);

    impl Clone for Failing<'_> {
        fn clone(&self) -> Self {
            Self(self.0, true)
        }
    }

    impl Semantics for Failing<'_> {
        type State = StateId;

        fn labels(&self) -> &Labels {
            self.0.labels()
        }

        fn initial(&self) -> StateId {
            self.0.initial()
        }

        fn successors(&self, state: &StateId, row: &mut Vec<(LabelId, StateId)>) {
            assert!(!self.1, "a thread fails");
            std::thread::sleep(std::time::Duration::from_micros(200));
            self.0.successors(state, row);
        }

        fn describe(&self, state: &StateId) -> String {
            self.0.describe(state)
        }
    }

    let mut builder = LtsBuilder::new();
    let start = builder.state();
    for k in 0..200 {
        let next = builder.state();
        builder.transition_text(start, &format!("a{k}"), next);
    }
    let lts = builder.build().unwrap();
    let policy = QuiescencePolicy::Livelock;
    let mut side = SpecificationSide::new(Relation::Trace, &lts, policy, None).unwrap();
    let mut proceed = |_: &Effort| ControlFlow::Continue(());
    let mut how = Search {
        counterexamples: 1,
        proceed: &mut proceed,
    };
    let jobs = SeveralJobs::new(NonZeroUsize::new(2).unwrap()).by(1);
    let _ = side.decide(Failing(&lts, false), jobs, &mut how);
}
