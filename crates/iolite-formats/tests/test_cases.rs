//! The forms of test cases: reading hostile ones, writing good ones.

use expect_test::expect;
use iolite_derive::{
    ConfDerivation, Criterion, Enumeration, ExhaustiveDerivation, IocoOracle, IoconfOracle,
    ModelRef, RandomDerivation, TestCase, TestState, TestStateId, TestStep, Verdict, model_hash,
};
use iolite_formats::test_case::{aut, dot, json, ttcn3};
use iolite_lts::{LabelId, Lts, LtsBuilder, QuiescencePolicy, StateId};
use proptest::prelude::*;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

fn spec() -> Lts {
    let mut b = LtsBuilder::new();
    for text in ["?but", "!liq", "!choc"] {
        b.labels_mut().intern_text(text);
    }
    let (idle, busy) = (b.named_state("Idle"), b.named_state("Busy"));
    b.transition_text(idle, "?but", busy);
    b.transition_text(busy, "!liq", idle);
    b.build().unwrap()
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
    .assert_eq(&json::write(&case()).replace(&model_hash(&spec()), "HASH"));
}

#[test]
fn the_aldebaran_form() {
    expect![[r#"
        des (0, 6, 5)
        (0, "?but", 1)
        (0, "!liq pre-empts (fail)", 4)
        (0, "!choc pre-empts (fail)", 4)
        (1, "!liq (pass)", 2)
        (1, "!choc (fail)", 3)
        (1, "delta (fail)", 3)
    "#]]
    .assert_eq(&aut::write(&case()));
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
          s0_0 [shape=box, label="fail", style=filled, fillcolor="salmon"];
          s0 -> s0_0 [label="!liq", style=dotted];
          s0_1 [shape=box, label="fail", style=filled, fillcolor="salmon"];
          s0 -> s0_1 [label="!choc", style=dotted];
          s1 -> s2 [label="!liq", style=dashed];
          s1 -> s3 [label="!choc", style=dashed];
          s1 -> s3 [label="θ", style=dashed];
        }
    "#]]
    .assert_eq(&dot::write(&case()));
}

#[test]
fn the_ttcn3_form() {
    expect![[r#"
        // ioco test case Candy-2
        // model Candy HASH
        module Test_Candy_2 {

          type enumerated Stimulus { in_but }
          type enumerated Response { out_liq, out_choc }
          // in_but is ?but
          // out_liq is !liq
          // out_choc is !choc

          type port SystemPort message { out Stimulus; in Response }
          type component TestComponent {
            port SystemPort system_port;
            timer quiescence := 1.0;
          }

          function state_0() runs on TestComponent {
            // Idle
            // pre-empted by out_liq: fail
            // pre-empted by out_choc: fail
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
    .assert_eq(&ttcn3::write(&case()).replace(&model_hash(&spec()), "HASH"));
}

/// A test case in JSON with these states over ?a and !x.
fn read(states: &str) -> String {
    let text = format!(
        r#"{{"format":"iolite-test-case","version":1,"name":"t","relation":"ioco",
            "model":{{"name":"","hash":""}},"inputs":["a"],"outputs":["x"],"states":[{states}]}}"#
    );
    match json::read(&text) {
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
        assert!(json::read(text).is_err());
    }
    let deep = "[".repeat(100_000);
    assert!(json::read(&deep).is_err());
    let other = json::write(&case()).replace("\"version\": 1", "\"version\": 2");
    assert_eq!(
        json::read(&other).unwrap_err().to_string(),
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
    let case = TestCase::from_lts(
        "long",
        Criterion::default(),
        ModelRef::default(),
        &lts,
        &verdicts,
    )
    .unwrap();
    let read = json::read(&json::write(&case)).unwrap();
    assert_eq!(read.depth(), n);
}

/// Where a text says no more, the places are the locations without their lines.
#[test]
fn places_are_names_alone() {
    let read = |more: &str| {
        let text = json::write(&case()).replace(
            r#""Busy"
"#,
            r#""Busy (line 4)", "Busy (line 9)""#,
        );
        let from = text.find(r#""Busy (line 4)""#).unwrap();
        let close = from + text[from..].find(']').unwrap() + 1;
        json::read(&format!("{}{more}{}", &text[..close], &text[close..])).unwrap()
    };
    let (plain, given) = (read(""), read(r#", "places": ["Busy", "Late"]"#));
    assert_eq!(*plain.states()[1].places, ["Busy"]);
    assert_eq!(*given.states()[1].places, ["Busy", "Late"]);
    for case in [plain, given] {
        assert_eq!(
            *case.states()[1].locations,
            ["Busy (line 4)", "Busy (line 9)"]
        );
        assert_eq!(json::read(&json::write(&case)).unwrap(), case);
    }
}

/// Random models over `?a ?b !x !y i`.
fn any_model(states: usize, transitions: usize) -> impl Strategy<Value = Lts> {
    let step = (0..states, 0..5usize, 0..states);
    prop::collection::vec(step, 0..=transitions).prop_map(move |steps| {
        let mut b = LtsBuilder::new();
        b.ensure_states(states);
        let mut labels = vec![LabelId::TAU];
        for text in ["?a", "?b", "!x", "!y"] {
            labels.push(b.labels_mut().intern_text(text));
        }
        for (s, l, t) in steps {
            b.transition(StateId::new(s), labels[l], StateId::new(t));
        }
        b.build().unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_brings_back_what_it_took(s in any_model(4, 9), seed in any::<u64>()) {
        let how = RandomDerivation { count: 3, depth: 5, seed, ..RandomDerivation::default() };
        let model = ModelRef::of("S", &s);
        let mut cases = how.derive(&mut IocoOracle::new(&s, POLICY), &model);
        cases.extend(how.derive(&mut IoconfOracle::new(&s, POLICY), &model));
        for t in cases {
            prop_assert_eq!(&json::read(&json::write(&t)).unwrap(), &t);
        }
    }

    /// Two test cases that do not behave alike, or judge otherwise, never look the same: one edit of a
    /// test case changes every form of it.
    #[test]
    fn different_test_cases_look_different(
        s in any_model(4, 9),
        seed in any::<u64>(),
        symmetric in any::<bool>(),
        edits in prop::collection::vec((any::<u16>(), 0u8..8, any::<u16>()), 12),
    ) {
        let how = RandomDerivation { count: 2, depth: 4, seed, ..RandomDerivation::default() };
        let model = ModelRef::of("S", &s);
        let mut cases = if symmetric {
            ConfDerivation::new(&s).random(&how, &model)
        } else {
            how.derive(&mut IocoOracle::new(&s, POLICY), &model)
        };
        if !symmetric {
            cases.extend(how.derive(&mut IoconfOracle::new(&s, POLICY), &model));
        }
        let mut all: Vec<TestCase> = cases.clone();
        for case in &cases {
            all.extend(edits.iter().filter_map(|&edit| edited(case, edit)));
        }
        // Names, places and what is only said of the model do not count.
        let plain = |case: &TestCase| {
            let states = case.states().iter().map(|state| TestState {
                locations: std::sync::Arc::default(),
                places: std::sync::Arc::default(),
                ..state.clone()
            });
            let labels = std::sync::Arc::clone(case.labels());
            TestCase::new("t", case.criterion(), model.clone(), labels, states.collect()).unwrap()
        };
        let all: Vec<TestCase> = all.iter().map(plain).collect();
        for form in [aut::write, dot::write, json::write, ttcn3::write] {
            let texts: Vec<String> = all.iter().map(form).collect();
            for (k, a) in all.iter().enumerate() {
                for (b, text) in all.iter().zip(&texts).skip(k + 1) {
                    let same = a.states() == b.states() && a.labels() == b.labels();
                    prop_assert!(same || texts[k] != *text, "{}\n{:?}\n{:?}", text, a, b);
                }
            }
        }
    }
}

/// The test case with one change, where that is a test case.
fn edited(case: &TestCase, (at, what, other): (u16, u8, u16)) -> Option<TestCase> {
    let mut states = case.states().to_vec();
    let count = states.len();
    let at = usize::from(at) % count;
    let verdicts = [
        Verdict::Pass,
        Verdict::Fail,
        Verdict::Inconc,
        Verdict::ViolateFail,
    ];
    let verdict = verdicts[usize::from(other) % 4];
    let to = TestStateId::new(usize::from(other) % count);
    let state = &mut states[at];
    match (what, &mut state.step) {
        (0..=2, _) => state.verdict = verdict,
        (3, TestStep::Stimulate { next, .. }) => *next = to,
        (4, TestStep::Stimulate { preempted, .. }) => {
            preempted.pop()?;
        }
        (5, TestStep::Stimulate { preempted, .. }) => preempted.first_mut()?.1 = verdict,
        (3 | 4, TestStep::Observe { outputs, .. }) => outputs.first_mut()?.1 = to,
        (5 | 6, TestStep::Observe { quiescence, .. }) => {
            *quiescence = quiescence.is_none().then_some(to);
        }
        (3..=5, TestStep::Offer { actions }) => {
            actions.pop()?;
        }
        (_, step @ TestStep::Stimulate { .. }) => {
            let TestStep::Stimulate { stimulus, next, .. } = step else {
                return None;
            };
            *step = TestStep::Offer {
                actions: vec![(*stimulus, *next)],
            };
        }
        (_, step) => *step = TestStep::End,
    }
    let labels = std::sync::Arc::clone(case.labels());
    TestCase::new("t", case.criterion(), case.model().clone(), labels, states).ok()
}

#[test]
fn names_and_marks_are_not_mixed_up() {
    let one = |label: &str, verdict: Verdict, deep: bool| {
        let mut b = LtsBuilder::new();
        b.transition_text(StateId::new(0), label, StateId::new(1));
        if deep {
            b.transition_text(StateId::new(1), "x", StateId::new(2));
        }
        let verdicts = [Verdict::Pass, verdict, Verdict::Pass];
        let (criterion, model) = (Criterion::default(), ModelRef::default());
        TestCase::from_lts("t", criterion, model, &b.build().unwrap(), &verdicts).unwrap()
    };
    let cases = [
        one("a", Verdict::Fail, false),
        one("a (fail)", Verdict::Fail, false),
        one("a (fail)", Verdict::Fail, true),
        one("a", Verdict::Fail, true),
        one("a", Verdict::Pass, true),
        one("a-b", Verdict::Pass, false),
        one("a_b", Verdict::Pass, false),
        one("a\"b", Verdict::Pass, false),
        one("a'b", Verdict::Pass, false),
        one("a\\b", Verdict::Pass, false),
    ];
    for form in [aut::write, dot::write, json::write, ttcn3::write] {
        let texts: std::collections::BTreeSet<String> = cases.iter().map(form).collect();
        assert_eq!(texts.len(), cases.len());
    }
}

/// A test case that ends at once says how.
#[test]
fn the_verdict_of_an_empty_test_case_is_seen() {
    let end = |verdict| {
        let mut b = LtsBuilder::new();
        b.state();
        let (criterion, model) = (Criterion::default(), ModelRef::default());
        TestCase::from_lts("t", criterion, model, &b.build().unwrap(), &[verdict]).unwrap()
    };
    assert_eq!(
        aut::write(&end(Verdict::Fail)),
        "des (0, 1, 1)\n(0, \"end (fail)\", 0)\n"
    );
    assert_ne!(
        aut::write(&end(Verdict::Fail)),
        aut::write(&end(Verdict::Pass))
    );
}

/// Test cases of one reader have lists of places in common, and are those that are read one by one.
#[test]
fn places_are_shared() {
    let state = |next: u32, places: &str| {
        format!(r#"{{"stimulate":"?a","next":{next},"verdict":"pass","locations":{places}}}"#)
    };
    let (busy, late) = (r#"["Busy","Idle (line 3)"]"#, r#"["Late"]"#);
    let text = format!(
        r#"{{"format":"iolite-test-case","version":1,"name":"c","relation":"ioco","model":{{}},
            "inputs":["a"],"outputs":[],"states":[{},{},{},{{"verdict":"pass"}}]}}"#,
        state(1, busy),
        state(2, late),
        state(3, busy),
    );
    let mut reader = json::Reader::default();
    let (one, other) = (reader.read(&text).unwrap(), reader.read(&text).unwrap());
    assert_eq!(one, json::read(&text).unwrap());
    let [first, second, third, _] = one.states() else {
        panic!("{one}")
    };
    let is_one = std::sync::Arc::<[String]>::ptr_eq;
    assert!(is_one(&first.locations, &third.locations));
    assert!(is_one(&first.locations, &other.states()[2].locations));
    assert!(is_one(&first.places, &third.places));
    assert_eq!(*first.places, ["Busy", "Idle"]);
    // Without lines the places are their names.
    assert!(is_one(&second.locations, &second.places));
    assert!(!is_one(&first.locations, &first.places));
}
