//! The form of test cases, and what they are as testers.

mod common;

use common::model;
use iolite_derive::{
    ActionId, Criterion, Enumeration, ExhaustiveDerivation, IocoOracle, IoconfOracle, Menu,
    ModelRef, Progress, RandomDerivation, Step, StoredTester, TestCase, TestStep, Tester, Verdict,
    model_hash, test_runs,
};
use iolite_lts::{Lts, LtsBuilder, QuiescencePolicy, StateId};

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

fn spec() -> Lts {
    model(
        &["?but", "!liq", "!choc"],
        &[("Idle", "?but", "Busy"), ("Busy", "!liq", "Idle")],
    )
}

fn case() -> TestCase {
    let how = ExhaustiveDerivation {
        depth: 2,
        enumeration: Enumeration::Traces,
        limit: 10,
    };
    let cases = how
        .derive(
            &mut IocoOracle::new(spec(), POLICY),
            &ModelRef::of("Candy", &spec()),
        )
        .cases;
    cases
        .into_iter()
        .find(|c| c.to_string().starts_with("?but"))
        .unwrap()
}

#[test]
fn a_long_chain_is_no_problem() {
    let n = 200_000;
    let mut b = LtsBuilder::new();
    for k in 0..n {
        b.transition_text(StateId::new(k), "?a", StateId::new(k + 1));
    }
    let lts = b.build().unwrap();
    let verdicts = vec![Verdict::Pass; n + 1];
    let case = TestCase::from_lts(
        "long",
        Criterion::default(),
        ModelRef::default(),
        &lts,
        &verdicts,
    )
    .unwrap();
    assert_eq!(case.depth(), n);
    assert!(case.to_string().ends_with('…'));
}

#[test]
fn written_out_systems_become_test_cases() {
    let lts = model(
        &["?a", "!x", "!y"],
        &[
            ("t", "?a", "u"),
            ("u", "!x", "pass"),
            ("u", "!y", "fail"),
            ("u", "delta", "fail"),
        ],
    );
    let verdicts = [Verdict::Pass, Verdict::Inconc, Verdict::Pass, Verdict::Fail];
    let case = TestCase::from_lts(
        "t",
        Criterion::default(),
        ModelRef::default(),
        &lts,
        &verdicts,
    )
    .unwrap();
    assert_eq!(case.to_string(), "?a; (!x; pass + !y; fail + θ; fail)");
    let back = case.to_lts();
    assert_eq!(back.transition_count(), lts.transition_count());
    assert_eq!(back.name(StateId::new(3)), "fail");

    let mixed = model(&[], &[("t", "?a", "u"), ("t", "!x", "u")]);
    let error = TestCase::from_lts("t", Criterion::default(), ModelRef::default(), &mixed, &[])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "state t is not controllable: one stimulus, or outputs only, or plain actions only"
    );
    let mut b = LtsBuilder::new();
    b.transition_text(StateId::new(0), "?a", StateId::new(2));
    b.transition_text(StateId::new(1), "?a", StateId::new(0));
    b.set_initial(StateId::new(1));
    let lts = b.build().unwrap();
    let verdicts = [Verdict::Pass, Verdict::Pass, Verdict::Fail];
    let case = TestCase::from_lts(
        "t",
        Criterion::default(),
        ModelRef::default(),
        &lts,
        &verdicts,
    )
    .unwrap();
    assert_eq!(case.to_string(), "?a; ?a; fail");
}

#[test]
fn the_hash_sees_behaviour_and_not_names() {
    let same = model(
        &["?but", "!liq", "!choc"],
        &[("A", "?but", "B"), ("B", "!liq", "A")],
    );
    let other = model(
        &["?but", "!liq", "!choc"],
        &[("A", "?but", "B"), ("B", "!choc", "A")],
    );
    assert_eq!(model_hash(&spec()), model_hash(&same));
    assert_ne!(model_hash(&spec()), model_hash(&other));
    assert_ne!(
        model_hash(&spec()),
        model_hash(&model(&["?but", "!liq"], &[]))
    );
}

#[test]
fn a_stored_test_case_as_a_tester() {
    let l = |text: &str| ActionId::from(spec().labels().get_text(text).unwrap());
    let mut tester = StoredTester::new(case());
    let mut menu = Menu::default();
    tester.menu(&mut menu);
    assert_eq!(
        (menu.stimuli.as_slice(), menu.observe, menu.stop),
        ([l("?but")].as_slice(), false, false)
    );
    assert_eq!(tester.verdict(), Verdict::Inconc);
    // Silence does not pre-empt; a wrong output does, and fails.
    assert_eq!(tester.step(Step::Quiescence), Progress::Continue);
    assert_eq!(
        tester.step(Step::Output(l("!choc"))),
        Progress::Ended(Verdict::Fail)
    );
    tester.reset();
    assert_eq!(tester.step(Step::Stimulus(l("?but"))), Progress::Continue);
    assert_eq!(tester.allowed(), ["!liq"]);
    assert_eq!(tester.locations(), ["Busy"]);
    assert_eq!(tester.places(), ["Busy"]);
    assert_eq!(
        tester.step(Step::Output(l("!liq"))),
        Progress::Ended(Verdict::Pass)
    );
    menu.clear();
    tester.menu(&mut menu);
    assert!(menu.stop && !menu.observe && menu.stimuli.is_empty());
    tester.reset();
    tester.step(Step::Stimulus(l("?but")));
    assert_eq!(tester.step(Step::Deadlock), Progress::Ended(Verdict::Fail));
}

#[test]
fn random_derivation_respects_its_bounds() {
    let how = RandomDerivation {
        count: 20,
        depth: 30,
        max_states: 50,
        seed: 1,
        ..RandomDerivation::default()
    };
    for case in how.derive(&mut IoconfOracle::new(spec(), POLICY), &ModelRef::default()) {
        assert!(case.depth() <= 30);
        // The last expansion may go over by one row.
        assert!(case.states().len() <= 50 + 3 + 2);
    }
    let none = RandomDerivation {
        count: 2,
        weights: iolite_derive::Weights {
            stop: 0,
            stimulate: 0,
            observe: 0,
        },
        ..RandomDerivation::default()
    };
    let cases = none.derive(&mut IocoOracle::new(spec(), POLICY), &ModelRef::default());
    assert!(cases.iter().all(|c| c.states()[0].step == TestStep::End));
}

#[test]
fn a_hit_limit_is_reported() {
    let how = ExhaustiveDerivation {
        depth: 12,
        enumeration: Enumeration::Every,
        limit: 100,
    };
    let found = how.derive(&mut IocoOracle::new(spec(), POLICY), &ModelRef::default());
    assert!(!found.complete);
    assert_eq!(found.cases.len(), 100);
    let deep = ExhaustiveDerivation {
        depth: 1_000_000,
        enumeration: Enumeration::Traces,
        limit: 5,
    };
    let found = deep.derive(&mut IocoOracle::new(spec(), POLICY), &ModelRef::default());
    assert!(!found.complete);
    assert_eq!(found.cases.len(), 5);
}

#[test]
fn the_run_shown_is_a_shortest_one() {
    // Twice !x fails, and so does !y, which takes more internal steps but fewer visible ones.
    let t = model(
        &["!x", "!y"],
        &[
            ("0", "!x", "1"),
            ("0", "!y", "fail"),
            ("0", "delta", "pass"),
            ("1", "!x", "fail"),
            ("1", "!y", "pass"),
            ("1", "delta", "pass"),
        ],
    );
    let verdicts: Vec<Verdict> = t
        .states()
        .map(|s| match t.name(s).as_str() {
            "fail" => Verdict::Fail,
            "pass" => Verdict::Pass,
            _ => Verdict::Inconc,
        })
        .collect();
    let case = TestCase::from_lts(
        "t",
        Criterion::default(),
        ModelRef::default(),
        &t,
        &verdicts,
    )
    .unwrap();
    let i = model(
        &["!x", "!y"],
        &[
            ("0", "!x", "1"),
            ("1", "!x", "2"),
            ("0", "i", "3"),
            ("3", "i", "4"),
            ("4", "i", "5"),
            ("5", "!y", "6"),
        ],
    );
    let runs = test_runs(&case, &i, POLICY);
    let run = runs.run(Verdict::Fail).unwrap();
    assert_eq!(common::show(case.labels(), &run.trace), "!y");
}
