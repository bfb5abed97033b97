//! Actions that nobody declared, and values that no label has: what they mean to each oracle and to
//! observers.

mod common;

use std::sync::Arc;

use common::model;
use common::property::observer;
use iolite_derive::{
    Action, ActionId, Alphabet, ConformanceTester, GoalTester, IocoOracle, IoconfOracle, LabelGoal,
    Menu, Oracle, Progress, SafetyTester, Step, Tester, UiocoOracle, Verdict,
};
use iolite_expr::Value;
use iolite_lts::relation::TraceSet;
use iolite_lts::{LabelId, LabelKind, Lts, QuiescencePolicy};
use iolite_property::Observer;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

fn spec() -> Lts {
    model(
        &["?a", "!x", "!y"],
        &[("0", "?a", "1"), ("1", "!x", "0"), ("1", "!y", "0")],
    )
}

fn valued(kind: LabelKind, name: &str, values: &[i64]) -> Action {
    Action {
        kind,
        name: name.into(),
        args: values.iter().map(|&v| Value::from(v)).collect(),
    }
}

/// Actions of this kind that the specification does not have: another name, a known name with values,
/// a known name with another kind.
fn foreign(kind: LabelKind) -> [Action; 3] {
    let other_kind = if kind == LabelKind::Output { "a" } else { "x" };
    let same_kind = if kind == LabelKind::Output { "x" } else { "a" };
    [
        Action::plain(kind, "never"),
        valued(kind, same_kind, &[3]),
        Action::plain(kind, other_kind),
    ]
}

/// Each of the steps by itself, after a `?a` or at once.
fn after<O: Oracle>(oracle: O, given: bool, steps: &[Step]) -> Vec<Progress> {
    let a = oracle.alphabet().declared("?a").unwrap();
    let mut tester = ConformanceTester::new(oracle);
    let progress = steps.iter().map(|&step| {
        tester.reset();
        if given {
            assert_eq!(tester.step(Step::Stimulus(a)), Progress::Continue);
        }
        let progress = tester.step(step);
        // Once over, it stays so.
        assert_eq!(tester.step(Step::Output(a)), progress);
        assert_eq!(Progress::Ended(tester.verdict()), progress);
        progress
    });
    progress.collect()
}

fn outputs(alphabet: &Alphabet) -> Vec<Step> {
    let actions = foreign(LabelKind::Output).into_iter();
    actions.map(|a| Step::Output(alphabet.intern(a))).collect()
}

fn stimuli(alphabet: &Alphabet) -> Vec<Step> {
    let actions = foreign(LabelKind::Input).into_iter();
    actions
        .map(|a| Step::Stimulus(alphabet.intern(a)))
        .collect()
}

fn all(verdict: Verdict) -> Vec<Progress> {
    vec![Progress::Ended(verdict); 3]
}

#[test]
fn a_foreign_output_fails_ioco_and_uioco() {
    let s = spec();
    for given in [false, true] {
        let ioco = IocoOracle::new(&s, POLICY);
        let steps = outputs(ioco.alphabet());
        assert_eq!(after(ioco, given, &steps), all(Verdict::Fail));
        let uioco = UiocoOracle::new(&s, POLICY);
        let steps = outputs(uioco.alphabet());
        assert_eq!(after(uioco, given, &steps), all(Verdict::Fail));
    }
}

/// ioconf judges after every trace of the specification, `ioconf_F` after those of F; elsewhere nothing
/// is said of the output, nor of what follows it.
#[test]
fn ioconf_judges_a_foreign_output_where_f_does() {
    let s = spec();
    let a = s.labels().get_text("?a").unwrap();
    let oracle = |traces: Option<&[&[LabelId]]>| {
        let traces = traces.map(|f| TraceSet::listed(f.iter().copied()));
        IoconfOracle::with_traces(&s, POLICY, traces)
    };
    for (traces, given, expected) in [
        (None, false, Verdict::Fail),
        (None, true, Verdict::Fail),
        (Some(&[&[a][..]][..]), false, Verdict::Pass),
        (Some(&[&[a][..]]), true, Verdict::Fail),
        (Some(&[&[], &[a, a]]), false, Verdict::Fail),
        (Some(&[&[], &[a, a]]), true, Verdict::Pass),
    ] {
        let oracle = oracle(traces);
        let steps = outputs(oracle.alphabet());
        assert_eq!(after(oracle, given, &steps), all(expected), "{traces:?}");
    }
}

#[test]
fn an_undeclared_stimulus_is_inconclusive() {
    let s = spec();
    let a = s.labels().get_text("?a").unwrap();
    for given in [false, true] {
        let ioco = IocoOracle::new(&s, POLICY);
        let steps = stimuli(ioco.alphabet());
        assert_eq!(after(ioco, given, &steps), all(Verdict::Inconc));
        let uioco = UiocoOracle::new(&s, POLICY);
        let steps = stimuli(uioco.alphabet());
        assert_eq!(after(uioco, given, &steps), all(Verdict::Inconc));
        for traces in [None, Some(TraceSet::listed([&[a, a][..]]))] {
            let ioconf = IoconfOracle::with_traces(&s, POLICY, traces);
            let steps = stimuli(ioconf.alphabet());
            assert_eq!(after(ioconf, given, &steps), all(Verdict::Inconc));
        }
    }
}

/// As the unfolding of a system with `!o(v)` has it: `!o(…)` stands for the values that no transition
/// gives.
fn unfolded() -> Lts {
    model(
        &["?a", "!o(1)", "!o(2)", "!o(…)"],
        &[("0", "?a", "1"), ("1", "!o(1)", "0"), ("1", "!o(2)", "0")],
    )
}

/// Violated by what `bad` says.
fn never(s: &Lts, bad: &[&str]) -> Observer {
    let mut edges = vec![("Idle", "*", "Idle")];
    edges.extend(bad.iter().map(|&text| ("Idle", text, "Bad")));
    observer("Never", s.shared_labels(), &["Idle", "Bad"], &edges)
}

#[test]
fn other_values_are_the_label_for_other_values() {
    let s = unfolded();
    let run = |bad: &[&str], values: &[i64]| {
        let mut tester = SafetyTester::explicit(&s, POLICY, vec![never(&s, bad)]);
        let alphabet = tester.alphabet().clone();
        let a = alphabet.declared("?a").unwrap();
        assert_eq!(tester.step(Step::Stimulus(a)), Progress::Continue);
        let seen = alphabet.intern(valued(LabelKind::Output, "o", values));
        tester.step(Step::Output(seen))
    };
    let ended = Progress::Ended;
    // Values that labels have.
    assert_eq!(run(&["!o(…)"], &[1]), Progress::Continue);
    assert_eq!(run(&["!o(2)"], &[2]), ended(Verdict::Violate));
    assert_eq!(run(&["!o(2)", "!o(…)"], &[1]), Progress::Continue);
    // Others: the specification does not allow them, and the observer may or may not speak of them.
    assert_eq!(run(&["!o(…)"], &[7]), ended(Verdict::ViolateFail));
    assert_eq!(run(&["!o(…)"], &[1, 2]), ended(Verdict::ViolateFail));
    assert_eq!(run(&["!o(2)"], &[7]), ended(Verdict::Fail));
}

/// An observer that says `!o` means every `!o`, declared or not, and no other output.
#[test]
fn an_observer_of_the_action_catches_all_its_values() {
    let s = unfolded();
    let abstracted = model(&["?a", "!o"], &[]);
    let w = never(&abstracted, &["!o"]);
    let mut tester = SafetyTester::explicit(&s, POLICY, vec![w.clone()]);
    let alphabet = tester.alphabet().clone();
    let step = |action| Step::Output(alphabet.intern(action));
    let a = Step::Stimulus(alphabet.declared("?a").unwrap());
    let o = |n| valued(LabelKind::Output, "o", &[n]);
    for (action, verdict) in [
        (o(1), Verdict::Violate),
        (o(2), Verdict::Violate),
        (o(3), Verdict::ViolateFail),
        (Action::plain(LabelKind::Output, "never"), Verdict::Fail),
        (Action::plain(LabelKind::Output, "a"), Verdict::Fail),
    ] {
        tester.reset();
        assert_eq!(tester.step(a), Progress::Continue);
        let shown = action.to_string();
        let progress = tester.step(step(action));
        assert_eq!(progress, Progress::Ended(verdict), "{shown}");
    }
    // The same with labels of the observer's own, which meet the actions by their text.
    let mut own = (**abstracted.shared_labels()).clone();
    own.intern_text("!o(…)");
    let oracle = IocoOracle::with_alphabet(&s, POLICY, &alphabet);
    let goal = LabelGoal::by_text(w, &alphabet, &Arc::new(own));
    let mut tester = GoalTester::new(oracle, vec![goal]);
    for (n, verdict) in [(1, Verdict::Violate), (3, Verdict::ViolateFail)] {
        tester.reset();
        assert_eq!(tester.step(a), Progress::Continue);
        assert_eq!(tester.step(step(o(n))), Progress::Ended(verdict));
    }
}

/// A model may have transitions for the other values too; then any of them is right.
#[test]
fn other_values_may_be_allowed() {
    let s = model(
        &["?a", "!o(1)", "!o(…)"],
        &[("0", "!o(…)", "1"), ("1", "!o(1)", "0")],
    );
    let mut tester = ConformanceTester::new(IocoOracle::new(&s, POLICY));
    let alphabet = tester.alphabet().clone();
    let o = |n| Step::Output(alphabet.intern(valued(LabelKind::Output, "o", &[n])));
    assert_eq!(tester.step(o(5)), Progress::Continue);
    assert_eq!(tester.step(o(1)), Progress::Continue);
    assert_eq!(tester.step(o(6)), Progress::Continue);
    assert_eq!(tester.step(o(6)), Progress::Ended(Verdict::Fail));
    tester.reset();
    assert_eq!(tester.step(o(1)), Progress::Ended(Verdict::Fail));
}

/// Stimuli of the menu are declared, whatever else the table has met.
#[test]
fn the_menu_offers_no_foreign_action() {
    let s = spec();
    let mut tester = ConformanceTester::new(IocoOracle::new(&s, POLICY));
    stimuli(tester.alphabet());
    let mut menu = Menu::default();
    tester.menu(&mut menu);
    let a: ActionId = s.labels().get_text("?a").unwrap().into();
    assert_eq!(menu.stimuli, [a]);
}
