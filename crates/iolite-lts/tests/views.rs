//! The views against plain definitions, on random systems.

mod common;

use std::collections::BTreeSet;

use common::*;
use iolite_lts::{
    Determinised, Interned, Labels, Lts, Product, QuiescencePolicy, Semantics, Suspension, explore,
    straces,
};
use proptest::prelude::*;

const ACTIONS: [&str; 5] = ["?a", "?b", "!x", "!y", "delta"];

/// All traces up to a length, from the definition.
fn slow_straces(slow: &Slow, length: usize) -> BTreeSet<Vec<String>> {
    let mut all = BTreeSet::new();
    let mut last = vec![(Vec::new(), slow.start())];
    for _ in 0..=length {
        let mut longer = Vec::new();
        for (trace, set) in last {
            for a in ACTIONS {
                let next = slow.then(&set, a);
                if !next.is_empty() {
                    let mut t: Vec<String> = trace.clone();
                    t.push(a.to_owned());
                    longer.push((t, next));
                }
            }
            all.insert(trace);
        }
        last = longer;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn straces_after_and_out_are_those_of_the_definition(lts in directed(), which in 0usize..3) {
        let policies = [QuiescencePolicy::Strict, QuiescencePolicy::Livelock, QuiescencePolicy::Fair];
        let policy = policies[which];
        let slow = Slow::new(&lts, policy);
        let mut view = Determinised::new(Suspension::new(&lts, policy));
        let (traces, complete) = straces(&mut view, 4, 100_000);
        prop_assert!(complete);
        let mut listed = BTreeSet::new();
        for trace in traces {
            let text: Vec<String> = trace.iter().map(|&l| lts.labels().text(l)).collect();
            let set = view.after_trace(&trace).unwrap();
            let expected = text.iter().fold(slow.start(), |set, a| slow.then(&set, a));
            let members: Set = view.members(set).iter().map(|s| s.index()).collect();
            prop_assert_eq!(&members, &expected);
            let out: BTreeSet<String> = view.out(set).iter().map(|&l| lts.labels().text(l)).collect();
            prop_assert_eq!(out, slow.observations(&expected));
            listed.insert(text);
        }
        prop_assert_eq!(listed, slow_straces(&slow, 4));
    }

    /// The memo is dropped when it is full, and nothing else changes.
    #[test]
    fn a_small_memo_gives_the_same_walk(
        lts in directed(),
        walk in prop::collection::vec(prop::sample::select(ACTIONS.to_vec()), 0..40),
    ) {
        let policy = QuiescencePolicy::Livelock;
        let mut large = Determinised::new(Suspension::new(&lts, policy));
        let mut small = Determinised::with_budget(Suspension::new(&lts, policy), 0);
        let (mut at_large, mut at_small) = (large.initial(), small.initial());
        for action in walk {
            let label = lts.labels().get_text(action).unwrap();
            if let Some(next) = large.after(at_large, label) {
                at_large = next;
                let next = small.after(at_small, label).unwrap();
                at_small = small.trim(next);
                prop_assert_eq!(small.set_count(), 1);
                prop_assert_eq!(large.members(at_large), small.members(at_small));
            } else {
                prop_assert_eq!(small.after(at_small, label), None);
            }
        }
    }

    /// Traces(M1 ∥ M2) = Traces(M1) ∩ Traces(M2) [SAFE04, def. 4].
    #[test]
    fn the_traces_of_a_product_are_the_common_ones(m1 in directed(), m2 in directed()) {
        let traces = |m: &Lts| {
            let mut view = Determinised::new(m);
            let (traces, complete) = straces(&mut view, 4, 100_000);
            assert!(complete);
            texts(m.labels(), traces)
        };
        let product = explore(&Product::new(&m1, &m2), 1000).unwrap();
        let common: BTreeSet<_> = traces(&m1).intersection(&traces(&m2)).cloned().collect();
        prop_assert_eq!(traces(&product), common);
    }

    /// The same system is numbered alike however often it is explored, and interning changes nothing
    /// but numbers.
    #[test]
    fn exploring_is_repeatable(m1 in directed(), m2 in directed()) {
        let view = Product::new(&m1, &m2);
        let first = explore(&view, 1000).unwrap();
        prop_assert_eq!(&first, &explore(&Product::new(&m1, &m2), 1000).unwrap());
        let interned = Interned::new(&view);
        prop_assert_eq!(interned.describe(&interned.initial()), first.name(first.initial()));
        prop_assert_eq!(&first, &explore(&interned, 1000).unwrap());
    }
}

fn texts(labels: &Labels, traces: Vec<Vec<iolite_lts::LabelId>>) -> BTreeSet<Vec<String>> {
    traces
        .into_iter()
        .map(|t| t.into_iter().map(|l| labels.text(l)).collect())
        .collect()
}
