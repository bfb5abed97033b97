//! Examples 1 to 10 of \[SAFE04\]. The figures are missing from the text at hand; the models
//! are rebuilt from the words of the examples.

mod common;

use common::property::{in_language, observer};
use common::{has_trace, model, not_ioco, show, trace};
use iolite_derive::{
    Drawing, Menu, ModelRef, NodeKind, Progress, Relevance, SafetyTest, SafetyTester, Satisfaction,
    Step, StoredTester, TestGraph, Tester, Verdict, relevance, test_runs, verify,
};
use iolite_lts::relation::{Holds, Relation, relate};
use iolite_lts::{
    Determinised, LabelId, Lts, Quiescence, QuiescencePolicy, StateId, Suspension, missing_input,
};
use iolite_property::Observer;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;
const ALPHABET: [&str; 3] = ["?a", "!b", "!c"];

/// S of figure 1 (example 1).
fn s() -> Lts {
    model(
        &ALPHABET,
        &[
            ("q0", "!b", "q1"),
            ("q0", "?a", "q2"),
            ("q0", "?a", "q4"),
            ("q1", "?a", "q1"),
            ("q2", "!b", "q3"),
            ("q4", "!b", "q5"),
            ("q5", "!c", "q6"),
            ("q6", "i", "q6"),
        ],
    )
}

/// ω of figure 2 (example 2): between each ?a and !c there is at least one !b.
fn omega() -> Observer {
    observer(
        "NoDirectC",
        s().shared_labels(),
        &["Idle", "Busy", "Violate"],
        &[
            ("Idle", "?a", "Busy"),
            ("Idle", "*", "Idle"),
            ("Busy", "!b", "Idle"),
            ("Busy", "!c", "Violate"),
            ("Busy", "*", "Busy"),
        ],
    )
}

/// I₁ of figure 4 (example 5): takes ?a and is silent.
fn i1() -> Lts {
    model(&ALPHABET, &[("0", "?a", "0")])
}

/// I₂ of figure 4 (examples 5, 8 and 10): like S until a second ?a, after which it gives !c.
fn i2() -> Lts {
    model(
        &ALPHABET,
        &[
            ("0", "!b", "5"),
            ("0", "?a", "1"),
            ("1", "!b", "2"),
            ("1", "?a", "3"),
            ("2", "?a", "2"),
            ("3", "!c", "4"),
            ("3", "?a", "3"),
            ("4", "?a", "4"),
            ("5", "?a", "5"),
        ],
    )
}

fn label(text: &str) -> LabelId {
    s().labels().get_text(text).unwrap()
}

#[test]
fn examples_1_and_4() {
    let s = s();
    let view = Suspension::new(&s, POLICY);
    let id = |name: &str| s.states().find(|&q| s.name(q) == name).unwrap();
    for (name, why) in [
        ("q0", None),
        ("q1", Some(Quiescence::OutputLock)),
        ("q3", Some(Quiescence::Deadlock)),
        ("q6", Some(Quiescence::Livelock)),
    ] {
        assert_eq!(view.quiescence(id(name)), why, "{name}");
    }
}

#[test]
fn examples_2_and_3() {
    let s = s();
    let l = |t| trace(s.labels(), t);
    assert!(in_language(&omega(), &l("?a !c")));
    assert!(in_language(&omega(), &l("?a ?a !c")));
    assert!(!in_language(&omega(), &l("?a !b !c")));
    let answer = verify(&s, &[omega()], 1000);
    assert_eq!(answer.answers, [Satisfaction::Holds]);
    let answer = verify(&Suspension::new(&s, POLICY), &[omega()], 1000);
    assert_eq!(answer.answers, [Satisfaction::Holds]);
}

#[test]
fn example_5() {
    let s = s();
    for i in [i1(), i2()] {
        assert_eq!(missing_input(&i), None);
    }
    // I₁: quiescence is not allowed initially.
    assert_eq!(not_ioco(&i1(), &s, 4), Some((Vec::new(), LabelId::DELTA)));
    assert_eq!(not_ioco(&i2(), &s, 6), None);
    let holds = |i: &Lts| relate(Relation::Ioco, i, &s, POLICY, None).unwrap().holds;
    assert!(matches!(holds(&i1()), Holds::No(_)));
    assert_eq!(holds(&i2()), Holds::Yes);
}

#[test]
fn example_6() {
    // Two ?a at once leave S, and then I₁ can do what it likes: the tester must not ask for it.
    let mut tester = SafetyTester::explicit(s(), POLICY, vec![omega()]);
    assert_eq!(
        tester.step(Step::Stimulus(label("?a").into())),
        Progress::Continue
    );
    let mut menu = Menu::default();
    tester.menu(&mut menu);
    assert!(menu.stimuli.is_empty());
    assert_eq!(
        tester.step(Step::Stimulus(label("?a").into())),
        Progress::Ended(Verdict::Inconc)
    );
}

#[test]
fn example_7() {
    let s = s();
    // Irrelevant for S^δ, as example 8 says too: ω goes on after a second ?a.
    let mut view = Determinised::new(Suspension::new(&s, POLICY));
    let found = relevance(&mut view, &omega(), 1000);
    let Relevance::Irrelevant { trace, shared } = found else {
        panic!("{found:?}");
    };
    assert_eq!(show(s.labels(), &trace), "?a ?a !c");
    assert_eq!(shared, 1);
}

#[test]
fn example_8() {
    let i2 = i2();
    let view = Suspension::new(&i2, POLICY);
    let answer = verify(&view, &[omega()], 1000);
    let Satisfaction::Violated { trace, .. } = &answer.answers[0] else {
        panic!("{answer:?}");
    };
    assert_eq!(show(i2.labels(), trace), "?a ?a !c");
}

fn after(graph: &TestGraph, text: &str) -> StateId {
    let lts = graph.lts();
    trace(lts.labels(), text)
        .into_iter()
        .fold(lts.initial(), |node, l| lts.steps_on(node, l)[0].1)
}

#[test]
fn example_9() {
    let test = SafetyTest::build(s(), POLICY, omega(), 1000).unwrap();
    assert_eq!(test.specification_violates(), None);
    let forced = test.forced();
    let verdict = |text| forced.verdict(after(forced, text));
    assert_eq!(verdict("?a !c"), Some(Verdict::ViolateFail));
    assert_eq!(verdict("?a delta"), Some(Verdict::Fail));
    assert_eq!(verdict("!c"), Some(Verdict::Fail));
    assert_eq!(verdict("delta"), Some(Verdict::Fail));
    assert_eq!(verdict("?a !b"), None);
    assert_eq!(verdict("?a !b !c"), None);
    assert_eq!(verdict("?a !b !b"), Some(Verdict::Fail));
    // Lemma 2 makes forcing relevant where ω is not: the second ?a is not there.
    assert!(
        forced
            .lts()
            .steps_on(after(forced, "?a"), label("?a"))
            .is_empty()
    );
}

#[test]
fn example_10() {
    let test = SafetyTest::build(s(), POLICY, omega(), 1000).unwrap();
    let graph = test.graph();
    // Four places where the test goes on: ({q0}, Idle), ({q2, q4}, Busy), ({q1}, Idle), ({q1}, Busy).
    let inner = graph
        .lts()
        .states()
        .filter(|&n| matches!(graph.kind(n), NodeKind::Inner(_)))
        .count();
    assert_eq!((inner, graph.lts().state_count()), (4, 7));
    let verdict = |text| graph.verdict(after(graph, text));
    // I₂: ?a then !b.
    assert_eq!(verdict("?a !b"), Some(Verdict::Inconc));
    assert_eq!(verdict("?a !c"), Some(Verdict::ViolateFail));
    assert_eq!(verdict("delta"), Some(Verdict::Fail));
    assert_eq!(verdict("!b ?a delta ?a !c"), Some(Verdict::ViolateFail));
    // The tester's view: what the implementation takes, the tester gives.
    let mirrored = graph.mirrored();
    let give = mirrored.labels().get_text("!a").unwrap();
    assert_eq!(mirrored.steps_on(mirrored.initial(), give).len(), 1);
    assert_eq!(mirrored.labels().get_text("?a"), None);

    // The same three implementations against the drawn test case, in all their test runs.
    let case = test.draw(Drawing::default(), &ModelRef::of("S", &s()));
    assert_eq!(
        case.to_string(),
        "?a; (!b; inconc + !c; violate-fail + θ; fail)"
    );
    let only = |i: &Lts| {
        let runs = test_runs(&case, i, POLICY);
        runs.verdicts().map(|(v, _)| v).collect::<Vec<_>>()
    };
    let direct = model(
        &ALPHABET,
        &[
            ("0", "!b", "2"),
            ("0", "?a", "1"),
            ("1", "!c", "2"),
            ("1", "?a", "1"),
            ("2", "?a", "2"),
        ],
    );
    assert_eq!(only(&i2()), [Verdict::Inconc]);
    assert_eq!(only(&direct), [Verdict::ViolateFail]);
    // Silent from the start: the drawn case gives ?a first and sees the silence after it.
    assert_eq!(only(&i1()), [Verdict::Fail]);
}

#[test]
fn example_10_on_the_fly() {
    let run = |steps: &[&str]| {
        let mut tester = SafetyTester::explicit(s(), POLICY, vec![omega()]);
        let mut last = Progress::Continue;
        for &step in steps {
            assert_eq!(last, Progress::Continue);
            last = match step {
                "delta" => tester.step(Step::Quiescence),
                text if text.starts_with('?') => tester.step(Step::Stimulus(label(text).into())),
                text => tester.step(Step::Output(label(text).into())),
            };
        }
        last
    };
    assert_eq!(run(&["?a", "!b"]), Progress::Ended(Verdict::Inconc));
    assert_eq!(run(&["?a", "!c"]), Progress::Ended(Verdict::ViolateFail));
    assert_eq!(run(&["delta"]), Progress::Ended(Verdict::Fail));
    assert_eq!(run(&["!b", "delta"]), Progress::Continue);
}

#[test]
fn a_specification_that_violates_gets_violate() {
    // S with a direct !c after ?a: property and test of [SYM04, §4].
    let bad = model(
        &ALPHABET,
        &[("0", "?a", "1"), ("1", "!c", "2"), ("1", "!b", "2")],
    );
    let test = SafetyTest::build(&bad, POLICY, omega().over(bad.shared_labels()), 1000).unwrap();
    let violation = test.specification_violates().unwrap();
    assert_eq!(show(bad.labels(), &violation), "?a !c");
    assert!(has_trace(&bad, &violation));
    let graph = test.graph();
    assert_eq!(graph.verdict(after(graph, "?a !c")), Some(Verdict::Violate));
    let mut tester = StoredTester::new(test.draw(Drawing::default(), &ModelRef::default()));
    let l = |t| bad.labels().get_text(t).unwrap();
    assert_eq!(
        tester.step(Step::Stimulus(l("?a").into())),
        Progress::Continue
    );
    assert_eq!(
        tester.step(Step::Output(l("!c").into())),
        Progress::Ended(Verdict::Violate)
    );
}
