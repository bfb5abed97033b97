//! The warning that a test case forbids what the specification allows, and skipped silences, against
//! the definitions.

mod common;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use common::{after, any_model, initial, out, step};
use iolite_derive::{
    Alphabet, ConformanceTester, Criterion, IocoOracle, Menu, ModelRef, Progress, TestCase,
    TestState, TestStateId, TestStep, Tester, Verdict, over_strict,
};
use iolite_lts::{LabelId, LabelKind, Lts, QuiescencePolicy, StateId};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

/// A test case that nobody derived: verdicts at random, over the labels of the model.
fn random_case(model: &Lts, seed: u64) -> TestCase {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let labels = model.labels();
    let inputs: Vec<LabelId> = labels.inputs().collect();
    let outputs: Vec<LabelId> = labels.outputs().collect();
    let inner = 4;
    let ends = [Verdict::Pass, Verdict::Fail, Verdict::Inconc];
    let states = inner + ends.len();
    let mut case = Vec::new();
    for i in 0..inner {
        // States lead to later ones only, so that every run ends.
        let mut to = || TestStateId::new(rng.random_range(i + 1..states));
        let (targets, silence, next) = (
            outputs.iter().map(|&l| (l, to())).collect::<Vec<_>>(),
            to(),
            to(),
        );
        let stimulates = !inputs.is_empty() && rng.random_bool(0.5);
        let step = if stimulates {
            let fails = outputs.iter().filter(|_| rng.random_bool(0.3));
            TestStep::Stimulate {
                preempted: fails.map(|&l| (l, Verdict::Fail)).collect(),
                stimulus: inputs[rng.random_range(0..inputs.len())],
                next,
            }
        } else {
            TestStep::Observe {
                outputs: targets,
                quiescence: rng.random_bool(0.8).then_some(silence),
            }
        };
        case.push(TestState {
            step,
            verdict: ends[rng.random_range(0..ends.len())],
            locations: std::sync::Arc::default(),
            places: std::sync::Arc::default(),
        });
    }
    for verdict in ends {
        case.push(TestState {
            step: TestStep::End,
            verdict,
            locations: std::sync::Arc::default(),
            places: std::sync::Arc::default(),
        });
    }
    let labels = Arc::new(labels.clone());
    TestCase::new(
        "own".to_owned(),
        Criterion::Written,
        ModelRef::from("m.iol"),
        labels,
        case,
    )
    .expect("a tree with verdicts at its ends")
}

/// Every run of the test case along suspension traces of the model, from the definition: the length of
/// the shortest after which an allowed observation fails, and all such observations at that length.
fn strict_by_definition(case: &TestCase, model: &Lts) -> BTreeSet<(Vec<String>, String)> {
    let failing = |id: TestStateId| {
        let state = case.state(id);
        state.step == TestStep::End && state.verdict.is_failing()
    };
    let mut found = BTreeSet::new();
    let mut level = vec![(case.initial(), initial(model), Vec::<String>::new())];
    while !level.is_empty() && found.is_empty() {
        let mut next_level = Vec::new();
        for (at, set, trace) in level {
            let allowed = out(model, &set);
            let text = |l: LabelId| model.labels().text(l);
            let mut go = |to: TestStateId, label: LabelId| {
                let set = after(model, &set, Some(label));
                if !set.is_empty() {
                    next_level.push((to, set, [&trace[..], &[text(label)]].concat()));
                }
            };
            let state = case.state(at);
            match &state.step {
                TestStep::End | TestStep::Offer { .. } => {}
                TestStep::Stimulate {
                    stimulus,
                    next,
                    preempted,
                } => {
                    for (label, verdict) in preempted {
                        if verdict.is_failing() && allowed.contains(label) {
                            found.insert((trace.clone(), text(*label)));
                        }
                    }
                    go(*next, *stimulus);
                }
                TestStep::Observe {
                    outputs,
                    quiescence,
                } => {
                    for &(label, to) in outputs.iter().filter(|(l, _)| allowed.contains(l)) {
                        if failing(to) {
                            found.insert((trace.clone(), text(label)));
                        }
                        go(to, label);
                    }
                    if allowed.contains(&LabelId::DELTA) {
                        match quiescence {
                            Some(to) if failing(*to) => {
                                found.insert((trace.clone(), text(LabelId::DELTA)));
                            }
                            Some(to) => go(*to, LabelId::DELTA),
                            None if state.verdict.is_failing() => {
                                found.insert((trace.clone(), text(LabelId::DELTA)));
                            }
                            None => {}
                        }
                    }
                }
            }
        }
        level = next_level;
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    /// A warning is given exactly where some run of the test case fails what the specification allows,
    /// and shows a shortest one.
    #[test]
    fn strictness_is_the_definition(model in any_model(4, 9), seed in any::<u64>()) {
        let case = random_case(&model, seed);
        let all = strict_by_definition(&case, &model);
        let alphabet = Alphabet::of_labels(model.labels());
        let mut oracle = IocoOracle::with_budget(&model, POLICY, &alphabet, 1 << 30);
        match over_strict(&case, &mut oracle, 100_000) {
            None => prop_assert!(all.is_empty(), "{all:?}"),
            Some(shown) => prop_assert!(all.contains(&shown), "{shown:?} of {all:?}"),
        }
    }

    /// Where the tester says that another silence would change nothing, the states after it are the
    /// same by definition; and whoever leaves such silences out comes to the same sets of states with the
    /// same verdicts.
    #[test]
    fn skipped_silences_change_nothing(model in any_model(4, 9)) {
        let seen = |skips: bool| -> Result<BTreeSet<(Vec<StateId>, Verdict)>, TestCaseError> {
            let labels = model.labels();
            let visible: Vec<LabelId> = labels
                .iter()
                .map(|(l, _)| l)
                .filter(|&l| labels.kind(l) != LabelKind::Internal)
                .collect();
            let mut tester = ConformanceTester::new(IocoOracle::new(&model, POLICY));
            let mut found = BTreeSet::new();
            let mut queue = VecDeque::from([(Vec::<LabelId>::new(), initial(&model))]);
            while let Some((trace, set)) = queue.pop_front() {
                for &label in &visible {
                    tester.reset();
                    for &l in &trace {
                        prop_assert_eq!(tester.step(step(labels, l)), Progress::Continue);
                    }
                    let mut menu = Menu::default();
                    tester.menu(&mut menu);
                    if label == LabelId::DELTA && menu.settled {
                        prop_assert_eq!(&after(&model, &set, Some(label)), &set);
                        if skips {
                            continue;
                        }
                    }
                    let next = after(&model, &set, Some(label));
                    let progress = tester.step(step(labels, label));
                    let states: Vec<StateId> = next.iter().copied().collect();
                    let new = found.insert((states, tester.verdict()));
                    if progress == Progress::Continue && trace.len() < 5 && (new || trace.len() < 2) {
                        queue.push_back(([&trace[..], &[label]].concat(), next));
                    }
                }
            }
            Ok(found)
        };
        prop_assert_eq!(seen(true)?, seen(false)?);
    }
}
