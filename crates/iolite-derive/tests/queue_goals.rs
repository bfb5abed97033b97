//! Observers behind queues against the definition: every order of the messages, written out.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::property::{any_observer, in_language, observer};
use common::{model, small_labels, step, trace};
use iolite_derive::{
    Alphabet, Goal, GoalTester, IocoOracle, LabelGoal, MessageOrder, Move, Progress, QueueGoal,
    QueueOptions, QueueOracle, Tester, Verdict,
};
use iolite_lts::{LabelId, LabelKind, Labels, QuiescencePolicy};
use iolite_property::Observer;
use proptest::prelude::*;

fn labels() -> Arc<Labels> {
    Arc::new(small_labels())
}

/// Every order in which the system may have done what was seen, with the inputs that it has not taken.
fn orders(labels: &Labels, seen: &[LabelId]) -> BTreeSet<(Vec<LabelId>, Vec<LabelId>)> {
    let mut all = BTreeSet::from([(Vec::new(), Vec::new())]);
    for &label in seen {
        let mut next = BTreeSet::new();
        for (done, left) in all {
            if labels.kind(label) == LabelKind::Input {
                next.insert((done, [&left[..], &[label]].concat()));
                continue;
            }
            for taken in 0..=left.len() {
                if label == LabelId::DELTA && taken < left.len() {
                    continue;
                }
                let longer = [&done[..], &left[..taken], &[label]].concat();
                next.insert((longer, left[taken..].to_vec()));
            }
        }
        all = next;
    }
    all
}

fn violates(w: &Observer, done: &[LabelId]) -> bool {
    (0..=done.len()).any(|n| in_language(w, &done[..n]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_violation_is_one_in_every_order(
        w in any_observer(labels()),
        words in prop::collection::vec(prop::collection::vec(0usize..5, 1..8), 20),
    ) {
        let labels = labels();
        let visible: Vec<LabelId> =
            labels.iter().filter(|(_, l)| l.kind.is_visible()).map(|(id, _)| id).collect();
        let alphabet = Alphabet::of_labels(&labels);
        let mut goal = QueueGoal::new(
            LabelGoal::own(w.clone(), &alphabet, &labels),
            &alphabet,
            MessageOrder::Fifo,
        );
        for word in words {
            let seen: Vec<LabelId> = word.iter().map(|&k| visible[k]).collect();
            let mut at = goal.initial();
            for n in 1..=seen.len() {
                let every = orders(&labels, &seen[..n]);
                let all = every.iter().all(|(done, _)| violates(&w, done));
                let some = every.iter().any(|(done, _)| violates(&w, done));
                let last = seen[n - 1];
                let observed = labels.kind(last) != LabelKind::Input;
                if observed {
                    // An observation that the specification does not allow is judged alike.
                    prop_assert_eq!(goal.forbidden(&at, last.into()).goal, all);
                }
                match goal.allowed(&at, last.into()) {
                    Move::Goal(verdict) => {
                        prop_assert!(all && verdict == Verdict::Violate);
                        break;
                    }
                    Move::To(next) => {
                        prop_assert!(!all);
                        // Ways that are left for good are `inconc` with certainty.
                        let verdict = goal.verdict_at(&next);
                        prop_assert!(!some || verdict == Verdict::Inconc);
                        at = next;
                    }
                    Move::Lost => {
                        prop_assert!(!all);
                        break;
                    }
                    Move::Open => prop_assert!(false, "everything is decided"),
                }
            }
        }
    }
}

/// A tick that crosses a question is no violation of "no tick after a question".
#[test]
fn a_crossing_violates_nothing() {
    let s = model(
        &["?a", "?b", "!x", "!y"],
        &[
            ("Idle", "!x", "Idle"),
            ("Idle", "?a", "Asked"),
            ("Asked", "!x", "Asked"),
        ],
    );
    let labels = Arc::new(s.labels().clone());
    let w = observer(
        "W",
        &labels,
        &["Quiet", "Asked", "Bad"],
        &[
            ("Quiet", "?a", "Asked"),
            ("Quiet", "*", "Quiet"),
            ("Asked", "!x", "Bad"),
            ("Asked", "*", "Asked"),
        ],
    );
    let judge = |text: &str| {
        let oracle = IocoOracle::new(&s, QuiescencePolicy::Livelock);
        let alphabet = iolite_derive::Oracle::alphabet(&oracle).clone();
        let goal = LabelGoal::own(w.clone(), &alphabet, &labels);
        let goal = QueueGoal::new(goal, &alphabet, MessageOrder::Fifo);
        let oracle = QueueOracle::new(oracle, QueueOptions::default());
        let mut tester = GoalTester::new(oracle, vec![goal]);
        for label in trace(s.labels(), text) {
            if let Progress::Ended(verdict) = tester.step(step(s.labels(), label)) {
                return verdict;
            }
        }
        tester.verdict()
    };
    // The tick may have been sent before the question was taken: not proved, and so `inconc`.
    assert_eq!(judge("?a !x"), Verdict::Inconc);
    assert_eq!(judge("!x ?a"), Verdict::Pass);
    // What the model does not allow is a failure all the same.
    assert_eq!(judge("?a !y"), Verdict::Fail);
}
