//! Complete suites against the definition: whatever has at most so many states and does not conform fails.

mod common;

use std::collections::BTreeSet;

use common::{
    after, any_implementation, any_model, any_mutant, complete, initial, model, out, takes,
};
use iolite_derive::{
    CompleteSuite, Completeness, FiniteOracle, IocoOracle, ModelRef, TestCase, UiocoOracle,
    test_runs,
};
use iolite_lts::{LabelId, LabelKind, Lts, QuiescencePolicy, StateId};
use proptest::prelude::*;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

type Set = BTreeSet<StateId>;

/// The states of the determinised suspension automaton, by listing them.
fn automaton_sets(lts: &Lts) -> Vec<Set> {
    let mut known = BTreeSet::from([initial(lts)]);
    let mut todo: Vec<Set> = known.iter().cloned().collect();
    while let Some(at) = todo.pop() {
        for (label, kind) in lts.labels().iter() {
            if !kind.kind.is_visible() {
                continue;
            }
            let next = after(lts, &at, Some(label));
            if !next.is_empty() && known.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    known.into_iter().collect()
}

fn automaton_states(lts: &Lts) -> usize {
    automaton_sets(lts).len()
}

/// How many of them have different futures: the pairs that some trace tells apart, from the definition.
fn different_futures(lts: &Lts) -> usize {
    let sets = automaton_sets(lts);
    let labels = lts.labels().iter();
    let visible = labels.filter(|(_, label)| label.kind.is_visible());
    let visible: Vec<LabelId> = visible.map(|(id, _)| id).collect();
    let differ = |p: &Set, q: &Set| {
        let mut known = BTreeSet::from([(p.clone(), q.clone())]);
        let mut todo = vec![(p.clone(), q.clone())];
        while let Some((p, q)) = todo.pop() {
            for &label in &visible {
                let next = (after(lts, &p, Some(label)), after(lts, &q, Some(label)));
                if next.0.is_empty() != next.1.is_empty() {
                    return true;
                }
                if !next.0.is_empty() && known.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        false
    };
    let mut firsts: Vec<&Set> = Vec::new();
    for set in &sets {
        if firsts.iter().all(|first| differ(first, set)) {
            firsts.push(set);
        }
    }
    firsts.len()
}

/// i ioco s (or uioco) from the definition, over all pairs of sets that a suspension trace leads to.
fn conforms(i: &Lts, s: &Lts, only_taken: bool) -> bool {
    let mut known: BTreeSet<(Set, Set)> = BTreeSet::from([(initial(i), initial(s))]);
    let mut todo: Vec<(Set, Set)> = known.iter().cloned().collect();
    while let Some((p, q)) = todo.pop() {
        if !out(i, &p).is_subset(&out(s, &q)) {
            return false;
        }
        for (label, kind) in s.labels().iter() {
            let refused = only_taken && kind.kind == LabelKind::Input && !takes(s, &q, label);
            if !kind.kind.is_visible() || refused {
                continue;
            }
            let next = (after(i, &p, Some(label)), after(s, &q, Some(label)));
            if !next.0.is_empty() && !next.1.is_empty() && known.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    true
}

fn derive<O: FiniteOracle<State: Send + Sync> + Send>(
    mut oracle: O,
    extra: usize,
) -> (Vec<TestCase>, Completeness) {
    let suite = CompleteSuite {
        extra,
        limit: 600,
        states: 1000,
    };
    let derived = suite.derive(&mut oracle, &ModelRef::default());
    derived.expect("a small automaton")
}

fn fails(cases: &[TestCase], i: &Lts) -> bool {
    let mut failing = cases.iter().map(|case| test_runs(case, i, POLICY));
    failing.any(|runs| {
        assert!(runs.fails() || runs.passes());
        runs.fails()
    })
}

/// Passing is conforming, for whatever is in the fault domain; outside of it, what conforms still passes.
fn check(cases: &[TestCase], done: &Completeness, i: &Lts, s: &Lts, only_taken: bool) -> bool {
    assert_eq!(done.cases, cases.len());
    let (right, failed) = (conforms(i, s, only_taken), fails(cases, i));
    assert!(!(right && failed), "not sound");
    let within = automaton_states(i) <= done.bound;
    if done.complete && within {
        assert_eq!(failed, !right, "not complete: {done:?}");
    }
    done.complete && within && !right
}

fn specification_and_mutants() -> impl Strategy<Value = (Lts, Vec<Lts>)> {
    any_model(3, 8).prop_flat_map(|s| {
        let mutants = prop::collection::vec(any_mutant(s.clone()), 12);
        let others = prop::collection::vec(any_implementation(3, 6), 6);
        (Just(s), mutants, others).prop_map(|(s, mut all, others)| {
            all.extend(others);
            (s, all)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn complete_for_ioco((s, implementations) in specification_and_mutants(), extra in 0usize..2) {
        let (cases, done) = derive(IocoOracle::new(&s, POLICY), extra);
        prop_assert_eq!(done.states, different_futures(&s));
        for i in &implementations {
            check(&cases, &done, i, &s, false);
        }
    }

    #[test]
    fn complete_for_uioco((s, implementations) in specification_and_mutants()) {
        let (cases, done) = derive(UiocoOracle::new(&s, POLICY), 0);
        for i in &implementations {
            check(&cases, &done, i, &s, true);
        }
    }
}

/// Every implementation with two states over one input and two outputs, one transition for each of them.
#[test]
fn all_implementations_with_two_states() {
    let specification = model(
        &["?a", "!x", "!y"],
        &[
            ("idle", "?a", "busy"),
            ("busy", "!x", "idle"),
            ("busy", "!y", "idle"),
            ("busy", "?a", "busy"),
        ],
    );
    let (cases, done) = derive(IocoOracle::new(&specification, POLICY), 0);
    assert!(done.complete, "{done:?}");
    let mut wrong = 0;
    // For each state: where ?a leads, and for each output whether and where it leads.
    let choices = 2 * 3 * 3;
    for number in 0..choices * choices {
        let mut transitions = Vec::new();
        for (name, number) in [("0", number % choices), ("1", number / choices)] {
            let states = ["0", "1"];
            transitions.push((name, "?a", states[number % 2]));
            for (k, output) in [(number / 2 % 3, "!x"), (number / 6, "!y")] {
                if k > 0 {
                    transitions.push((name, output, states[k - 1]));
                }
            }
        }
        // The first state is the initial one.
        transitions.sort_by_key(|t| t.0);
        let i = complete(&model(&["?a", "!x", "!y"], &transitions));
        wrong += usize::from(check(&cases, &done, &i, &specification, false));
    }
    assert!(wrong > 100, "{wrong}");
}

/// The bound is meant: what has one state more passes, and fails the suite for one more.
#[test]
fn the_fault_domain_is_the_one_that_is_said() {
    let alphabet = ["?a", "!x"];
    let specification = model(&alphabet, &[("0", "?a", "0")]);
    let late = complete(&model(&alphabet, &[("0", "?a", "1"), ("1", "!x", "1")]));
    let (cases, done) = derive(IocoOracle::new(&specification, POLICY), 0);
    assert!(done.complete && !fails(&cases, &late), "{done:?}");
    let (cases, done) = derive(IocoOracle::new(&specification, POLICY), 1);
    assert!(done.complete && fails(&cases, &late), "{done:?}");
}

/// With every state reached and told apart it is the W method: one step, then what tells states apart.
#[test]
fn the_w_method() {
    let machine = model(
        &["?a", "!x", "!y", "!z"],
        &[
            ("0", "?a", "x"),
            ("x", "!x", "1"),
            ("1", "?a", "y"),
            ("y", "!y", "2"),
            ("2", "?a", "z"),
            ("z", "!z", "0"),
        ],
    );
    let (cases, done) = derive(IocoOracle::new(&machine, POLICY), 0);
    assert_eq!((done.states, done.reached, done.told_apart), (6, 6, 6));
    assert!(done.complete);
    // From each state, the only thing to be done, then an experiment of up to two steps.
    let depths: Vec<usize> = cases.iter().map(TestCase::depth).collect();
    assert!(
        cases.len() <= 18 && depths.iter().all(|&d| d <= 10),
        "{depths:?}"
    );
}

/// A limit that is hit is said, and what was made is sound.
#[test]
fn limits() {
    let machine = model(&["?a", "!x"], &[("0", "?a", "1"), ("1", "!x", "0")]);
    let suite = CompleteSuite {
        extra: 3,
        limit: 2,
        states: 1000,
    };
    let mut oracle = IocoOracle::new(&machine, POLICY);
    let (cases, done) = suite.derive(&mut oracle, &ModelRef::default()).unwrap();
    assert!(!done.complete && cases.len() <= 2);
    assert!(!fails(&cases, &complete(&machine)));
    let small = CompleteSuite { states: 1, ..suite };
    let mut oracle = IocoOracle::new(&machine, POLICY);
    assert!(small.derive(&mut oracle, &ModelRef::default()).is_err());
}
