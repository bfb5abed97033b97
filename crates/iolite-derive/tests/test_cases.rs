//! The form of test cases: reading hostile ones, writing good ones.

mod common;

use common::model;
use expect_test::expect;
use iolite_derive::{
    ActionId, Enumeration, ExhaustiveDerivation, IocoOracle, IoconfOracle, Menu, ModelRef, Progress,
    RandomDerivation, Step, StoredTester, TestCase, TestStep, Tester, Verdict, model_hash,
    test_runs,
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
fn the_json_form() {
    expect![[r#"
        {
          "format": "iolite-test-case",
          "version": 1,
          "name": "Candy-2",
          "relation": "ioco",
          "model": {
            "name": "Candy",
            "hash": "HASH"
          },
          "inputs": [
            "but"
          ],
          "outputs": [
            "liq",
            "choc"
          ],
          "actions": [],
          "states": [
            {
              "stimulate": "?but",
              "next": 1,
              "preempted": [
                [
                  "!liq",
                  "fail"
                ],
                [
                  "!choc",
                  "fail"
                ]
              ],
              "verdict": "pass",
              "locations": [
                "Idle"
              ]
            },
            {
              "observe": [
                [
                  "!liq",
                  2
                ],
                [
                  "!choc",
                  3
                ],
                [
                  "delta",
                  3
                ]
              ],
              "verdict": "inconc",
              "locations": [
                "Busy"
              ]
            },
            {
              "verdict": "pass"
            },
            {
              "verdict": "fail"
            }
          ]
        }"#]]
    .assert_eq(&case().to_json().replace(&model_hash(&spec()), "HASH"));
}

#[test]
fn the_aldebaran_form() {
    expect![[r#"
        des (0, 4, 4)
        (0, "?but", 1)
        (1, "!liq (pass)", 2)
        (1, "!choc (fail)", 3)
        (1, "delta (fail)", 3)
    "#]]
    .assert_eq(&case().to_aut());
}

#[test]
fn the_dot_form() {
    expect![[r#"
        digraph "Candy-2" {
          node [shape=circle, label=""];
          start [shape=none];
          start -> s0;
          s0 [label="0", tooltip="Idle"];
          s1 [label="1", tooltip="Busy"];
          s2 [shape=box, label="pass", style=filled, fillcolor="palegreen"];
          s3 [shape=box, label="fail", style=filled, fillcolor="salmon"];
          s0 -> s1 [label="?but"];
          s1 -> s2 [label="!liq", style=dashed];
          s1 -> s3 [label="!choc", style=dashed];
          s1 -> s3 [label="θ", style=dashed];
        }
    "#]]
    .assert_eq(&case().to_dot());
}

#[test]
fn the_ttcn3_form() {
    expect![[r#"
        // ioco test case
        // model Candy HASH
        module Test_Candy_2 {

          type enumerated Stimulus { in_but }
          type enumerated Response { out_liq, out_choc }

          type port SystemPort message { out Stimulus; in Response }
          type component TestComponent {
            port SystemPort system_port;
            timer quiescence := 1.0;
          }

          function state_0() runs on TestComponent {
            // Idle
            system_port.send(Stimulus:in_but);
            state_1();
          }

          function state_1() runs on TestComponent {
            // Busy
            quiescence.start;
            alt {
              [] system_port.receive(Response:out_liq) { state_2(); }
              [] system_port.receive(Response:out_choc) { state_3(); }
              [] quiescence.timeout { state_3(); }
              [] system_port.receive { setverdict(fail, "fail"); }
            }
          }

          function state_2() runs on TestComponent {
            setverdict(pass, "pass");
          }

          function state_3() runs on TestComponent {
            setverdict(fail, "fail");
          }

          testcase TC_Test_Candy_2() runs on TestComponent system TestComponent {
            map(mtc:system_port, system:system_port);
            state_0();
            unmap(mtc:system_port, system:system_port);
          }

          control { execute(TC_Test_Candy_2()); }
        }
    "#]]
    .assert_eq(&case().to_ttcn3().replace(&model_hash(&spec()), "HASH"));
}

/// A test case in JSON with these states over ?a and !x.
fn read(states: &str) -> String {
    let text = format!(
        r#"{{"format":"iolite-test-case","version":1,"name":"t","relation":"ioco",
            "model":{{"name":"","hash":""}},"inputs":["a"],"outputs":["x"],"states":[{states}]}}"#
    );
    match TestCase::from_json(&text) {
        Ok(case) => format!("ok: {case}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn hostile_json_is_refused_with_a_reason() {
    let pass = r#"{"verdict":"pass"}"#;
    let check = |states: &str, expected: &str| assert_eq!(read(states), expected);
    check(pass, "ok: pass");
    check("", "the test case has no states");
    check(
        r#"{"stimulate":"?a","next":7,"verdict":"pass"}"#,
        "state 0 leads to state 7, which does not exist",
    );
    check(
        r#"{"stimulate":"?a","next":4294967295,"verdict":"pass"}"#,
        "state 0 leads to state 4294967295, which does not exist",
    );
    check(
        r#"{"stimulate":"?a","next":0,"verdict":"pass"}"#,
        "state 0 lies on a cycle; a test case has finite behaviour",
    );
    check(
        r#"{"stimulate":"!x","next":1,"verdict":"pass"},{"verdict":"pass"}"#,
        "state 0: !x cannot be a stimulus",
    );
    check(
        r#"{"stimulate":"?z","next":1,"verdict":"pass"},{"verdict":"pass"}"#,
        "state 0: label ?z is not in the alphabet",
    );
    check(
        r#"{"observe":[["delta",1]],"verdict":"pass"},{"verdict":"pass"}"#,
        "state 0 observes but does not say what !x means",
    );
    check(
        r#"{"observe":[["!x",1],["!x",1]],"verdict":"pass"},{"verdict":"pass"}"#,
        "state 0: !x occurs twice",
    );
    check(
        r#"{"observe":[["!x",1],["delta",1],["δ",1]],"verdict":"pass"},{"verdict":"pass"}"#,
        "state 0: delta occurs twice",
    );
    check(
        r#"{"observe":[["!x",1]],"offer":[],"verdict":"pass"},{"verdict":"pass"}"#,
        "state 0 must have one of stimulate with next, observe, offer, or none of them",
    );
    check(
        r#"{"stimulate":"?a","verdict":"pass"}"#,
        "state 0 must have one of stimulate with next, observe, offer, or none of them",
    );
    check(
        r#"{"offer":[["i",1]],"verdict":"pass"},{"verdict":"pass"}"#,
        "state 0: i cannot be offered",
    );
    assert!(read(r#"{"verdict":"maybe"}"#).starts_with("not a test case in JSON: "));
    assert!(read(r#"{"verdict":"pass","extra":1}"#).starts_with("not a test case in JSON: "));
    for text in ["", "{}", "[[[[", "null", "{\"format\":\"other\"}"] {
        assert!(TestCase::from_json(text).is_err());
    }
    let deep = "[".repeat(100_000);
    assert!(TestCase::from_json(&deep).is_err());
    let other = case().to_json().replace("\"version\": 1", "\"version\": 2");
    assert_eq!(
        TestCase::from_json(&other).unwrap_err().to_string(),
        "format iolite-test-case version 2 is not iolite-test-case version 1"
    );
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
    let case = TestCase::from_lts("long", "ioco", ModelRef::default(), &lts, &verdicts).unwrap();
    assert_eq!(case.depth(), n);
    assert!(case.to_string().ends_with('…'));
    let read = TestCase::from_json(&case.to_json()).unwrap();
    assert_eq!(read.depth(), n);
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
    let case = TestCase::from_lts("t", "ioco", ModelRef::default(), &lts, &verdicts).unwrap();
    assert_eq!(case.to_string(), "?a; (!x; pass + !y; fail + θ; fail)");
    let back = case.to_lts();
    assert_eq!(back.transition_count(), lts.transition_count());
    assert_eq!(back.name(StateId::new(3)), "fail");

    let mixed = model(&[], &[("t", "?a", "u"), ("t", "!x", "u")]);
    let error = TestCase::from_lts("t", "ioco", ModelRef::default(), &mixed, &[]).unwrap_err();
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
    let case = TestCase::from_lts("t", "ioco", ModelRef::default(), &lts, &verdicts).unwrap();
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

/// Where a text says no more, the places are the locations without their lines.
#[test]
fn places_are_names_alone() {
    let read = |more: &str| {
        let text = case().to_json().replace(
            r#""Busy"
"#,
            r#""Busy (line 4)", "Busy (line 9)""#,
        );
        let from = text.find(r#""Busy (line 4)""#).unwrap();
        let close = from + text[from..].find(']').unwrap() + 1;
        TestCase::from_json(&format!("{}{more}{}", &text[..close], &text[close..])).unwrap()
    };
    let (plain, given) = (read(""), read(r#", "places": ["Busy", "Late"]"#));
    assert_eq!(plain.states()[1].places, ["Busy"]);
    assert_eq!(given.states()[1].places, ["Busy", "Late"]);
    for case in [plain, given] {
        assert_eq!(
            case.states()[1].locations,
            ["Busy (line 4)", "Busy (line 9)"]
        );
        assert_eq!(TestCase::from_json(&case.to_json()).unwrap(), case);
    }
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
    assert_eq!(
        tester.step(Step::Deadlock),
        Progress::Ended(Verdict::Fail)
    );
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
    let case = TestCase::from_lts("t", "ioco", ModelRef::default(), &t, &verdicts).unwrap();
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
    assert_eq!(common::show(case.labels(), run), "!y");
}
