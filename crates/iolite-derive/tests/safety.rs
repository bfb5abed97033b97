//! The theorems of \[SAFE04\] on random specifications, observers and implementations; and
//! every fast route against a slow one.

mod common;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use common::property::{any_observer, any_purpose, in_language, observer};
use common::{
    any_implementation, any_model, any_mutant, complete, has_trace, not_ioco, small_labels, step,
    words,
};
use iolite_derive::{
    ActionId, Alphabet, Drawing, Forcing, GoalTest, GoalTester, Guide, Hint, IocoOracle, LabelGoal,
    Menu, ModelRef, NodeKind, Objective, Progress, PurposeTester, Relevance, RequirementSuite,
    SafetyTest, SafetyTester, Satisfaction, Step, TestGraph, Tester, Verdict, relevance, test_runs,
    verify,
};
use iolite_lts::relation::{Holds, Relation, relate};
use iolite_lts::{
    Determinised, LabelId, LabelKind, Labels, Lts, QuiescencePolicy, StateId, Suspension,
};
use iolite_property::{Observer, Purpose};
use proptest::prelude::*;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;
const LENGTH: usize = 4;

fn labels() -> Arc<Labels> {
    Arc::new(small_labels())
}

fn system() -> impl Strategy<Value = (Lts, Lts)> {
    any_model(4, 9).prop_flat_map(|s| {
        let i = prop_oneof![
            3 => any_mutant(s.clone()),
            1 => any_implementation(3, 7),
            1 => Just(complete(&s)),
        ];
        (Just(s), i)
    })
}

/// M^δ ⊨ ω for words up to a length, by listing them.
fn slow_violation(m: &Lts, w: &Observer, words: &[Vec<LabelId>]) -> Option<usize> {
    words
        .iter()
        .find(|word| in_language(w, word) && has_trace(m, word))
        .map(Vec::len)
}

fn node_after(graph: &TestGraph, word: &[LabelId]) -> Option<StateId> {
    let lts = graph.lts();
    word.iter().try_fold(lts.initial(), |node, &l| {
        lts.steps_on(node, l).first().map(|&(_, t)| t)
    })
}

fn verdict_after(graph: &TestGraph, word: &[LabelId]) -> Option<Verdict> {
    node_after(graph, word).and_then(|n| graph.verdict(n))
}

/// An observer with L(ω) = {word}.
fn exactly(word: &[LabelId]) -> Observer {
    let labels = labels();
    let names: Vec<String> = (0..=word.len()).map(|k| format!("w{k}")).collect();
    let texts: Vec<String> = word.iter().map(|&l| labels.text(l)).collect();
    let edges: Vec<(&str, &str, &str)> = (0..word.len())
        .map(|k| (&*names[k], &*texts[k], &*names[k + 1]))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    observer("exactly", &labels, &names, &edges)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn verify_is_definition_6(m in any_model(4, 9), ws in prop::collection::vec(any_observer(labels()), 1..4)) {
        let view = Suspension::new(&m, POLICY);
        let all = words(m.labels(), LENGTH);
        let found = verify(&view, &ws, usize::MAX);
        for (w, answer) in ws.iter().zip(&found.answers) {
            match answer {
                Satisfaction::Holds => prop_assert_eq!(slow_violation(&m, w, &all), None),
                Satisfaction::Violated { trace, .. } => {
                    prop_assert!(in_language(w, trace) && has_trace(&m, trace));
                    if trace.len() <= LENGTH {
                        prop_assert_eq!(slow_violation(&m, w, &all), Some(trace.len()));
                    }
                }
                Satisfaction::Unknown => prop_assert!(false, "no limit was set"),
            }
            // One observer alone gets the same answer.
            let alone = verify(&view, std::slice::from_ref(w), usize::MAX);
            prop_assert_eq!(
                std::mem::discriminant(&alone.answers[0]),
                std::mem::discriminant(answer)
            );
        }
    }

    #[test]
    fn relevance_is_definition_9(m in any_model(4, 9), w in any_observer(labels())) {
        let slow = words(m.labels(), LENGTH)
            .into_iter()
            .find(|word| in_language(&w, word) && !has_trace(&m, &word[..word.len() - 1]))
            .map(|word| word.len());
        let mut view = Determinised::new(Suspension::new(&m, POLICY));
        match relevance(&mut view, &w, usize::MAX) {
            Relevance::Relevant => prop_assert_eq!(slow, None),
            Relevance::Irrelevant { trace, shared } => {
                prop_assert!(in_language(&w, &trace));
                prop_assert!(has_trace(&m, &trace[..shared]));
                prop_assert!(!has_trace(&m, &trace[..=shared]));
                prop_assert!(shared + 1 < trace.len());
                if trace.len() <= LENGTH {
                    prop_assert_eq!(slow, Some(trace.len()));
                } else {
                    prop_assert_eq!(slow, None);
                }
            }
            Relevance::Unknown => prop_assert!(false, "no limit was set"),
        }
    }

    /// Lemma 2, with the specification's own violations told apart [SYM04, lemmas 5 and 7];
    /// and pruning keeps exactly the violating traces.
    #[test]
    fn lemma_2_and_pruning(s in any_model(4, 9), w in any_observer(labels())) {
        let test = SafetyTest::build(&s, POLICY, w.clone(), 10_000).unwrap();
        for word in words(s.labels(), LENGTH) {
            let Some((&last, before)) = word.split_last() else { continue };
            // L(ω) ∩ Traces(S^δ)·A_!
            let expected = (in_language(&w, &word)
                && s.labels().kind(last).is_observation()
                && has_trace(&s, before))
            .then(|| if has_trace(&s, &word) { Verdict::Violate } else { Verdict::ViolateFail });
            for graph in [test.forced(), test.graph()] {
                let found = verdict_after(graph, &word)
                    .filter(|v| matches!(v, Verdict::Violate | Verdict::ViolateFail));
                prop_assert_eq!(found, expected);
            }
        }
    }

    /// In the pruned graph every inner node still leads to a goal, observes everything, and says of
    /// each word what the forcing says or `inconc`.
    #[test]
    fn pruned_graphs_are_test_graphs(s in any_model(4, 9), w in any_observer(labels())) {
        let test = SafetyTest::build(&s, POLICY, w, 10_000).unwrap();
        let graph = test.graph();
        let distances = graph.distances();
        for node in graph.lts().states() {
            let observed = graph.lts().steps(node).iter()
                .filter(|(l, _)| s.labels().kind(*l).is_observation()).count();
            match graph.kind(node) {
                NodeKind::Inner(_) => {
                    prop_assert!(distances[node.index()].is_some());
                    prop_assert_eq!(observed, 3);
                }
                NodeKind::Verdict { .. } => prop_assert!(graph.lts().steps(node).is_empty()),
            }
        }
        for word in words(s.labels(), 3) {
            if let Some(v) = verdict_after(graph, &word) {
                let forced = verdict_after(test.forced(), &word);
                prop_assert!(forced == Some(v) || (v == Verdict::Inconc && forced.is_none()));
            }
        }
    }

    /// Theorem 3: Fail on a trace of the implementation refutes conformance.
    #[test]
    fn theorem_3((s, i) in system(), w in any_observer(labels())) {
        let test = SafetyTest::build(&s, POLICY, w, 10_000).unwrap();
        for word in words(s.labels(), 3) {
            if verdict_after(test.graph(), &word).is_some_and(|v| matches!(v, Verdict::Fail | Verdict::ViolateFail))
                && has_trace(&i, &word)
            {
                prop_assert!(not_ioco(&i, &s, word.len() - 1).is_some());
            }
        }
    }

    /// Theorems 1 and 2 from left to right, for random observers that S satisfies and implementations
    /// that conform.
    #[test]
    fn conforming_systems_inherit_properties(
        s in any_model(4, 9),
        w in any_observer(labels()),
        pick in any::<prop::sample::Index>(),
    ) {
        let s_view = Suspension::new(&s, POLICY);
        let satisfies = |m: &Suspension<&Lts>| {
            verify(m, std::slice::from_ref(&w), usize::MAX).answers[0] == Satisfaction::Holds
        };
        // S completed by self-loops, with an output less.
        let outputs: Vec<_> = s
            .transitions()
            .filter(|t| s.labels().kind(t.1) == LabelKind::Output)
            .collect();
        let dropped = (!outputs.is_empty()).then(|| outputs[pick.index(outputs.len())]);
        let mut b = iolite_lts::LtsBuilder::with_labels(s.labels().clone());
        b.ensure_states(s.state_count());
        for t in s.transitions().filter(|t| Some(*t) != dropped) {
            b.transition(t.0, t.1, t.2);
        }
        let i = complete(&b.build().unwrap());
        let conforms = relate(Relation::Ioco, &i, &s, POLICY, None).unwrap().holds == Holds::Yes;
        if !conforms || !satisfies(&s_view) {
            return Ok(());
        }
        if relevance(&mut Determinised::new(&s_view), &w, usize::MAX) == Relevance::Relevant {
            prop_assert!(satisfies(&Suspension::new(&i, POLICY)));
        }
        let test = SafetyTest::build(&s, POLICY, w, 10_000).unwrap();
        for word in words(s.labels(), LENGTH) {
            if verdict_after(test.graph(), &word).is_some_and(Verdict::is_failing) {
                prop_assert!(!has_trace(&i, &word));
            }
        }
    }

    /// Theorems 1 and 2 from right to left: a difference σ·a is found by the observer with L(ω) =
    /// {σ·a}, which S satisfies and which is relevant.
    #[test]
    fn differences_are_properties((s, i) in system()) {
        let Some((mut word, x)) = not_ioco(&i, &s, 3) else { return Ok(()) };
        word.push(x);
        let w = exactly(&word);
        let s_view = Suspension::new(&s, POLICY);
        let i_view = Suspension::new(&i, POLICY);
        prop_assert_eq!(relevance(&mut Determinised::new(&s_view), &w, usize::MAX), Relevance::Relevant);
        prop_assert_eq!(&verify(&s_view, std::slice::from_ref(&w), usize::MAX).answers[0], &Satisfaction::Holds);
        let violated = verify(&i_view, std::slice::from_ref(&w), usize::MAX);
        let is_violated = matches!(violated.answers[0], Satisfaction::Violated { .. });
        prop_assert!(is_violated);
        let test = SafetyTest::build(&s, POLICY, w, 10_000).unwrap();
        prop_assert_eq!(verdict_after(test.graph(), &word), Some(Verdict::ViolateFail));
        // The test case drawn is the one that follows σ·a, so it finds the difference.
        let case = test.draw(Drawing::default(), &ModelRef::default());
        prop_assert!(test_runs(&case, &i, POLICY).run(Verdict::ViolateFail).is_some());
    }

    /// Drawn test cases: controllable by construction (checked when made), bounded, and right.
    #[test]
    fn drawn_cases_are_sound(
        (s, i) in system(),
        w in any_observer(labels()),
        seed in prop::option::of(any::<u64>()),
        slack in 0usize..3,
    ) {
        let test = SafetyTest::build(&s, POLICY, w.clone(), 10_000).unwrap();
        let case = test.draw(Drawing { seed, slack }, &ModelRef::default());
        let length = test.graph().distances()[test.graph().lts().initial().index()];
        prop_assert!(case.depth() <= length.unwrap_or(0) as usize + slack);
        let runs = test_runs(&case, &i, POLICY);
        for (verdict, run) in runs.verdicts() {
            let run = &run.trace[..];
            match verdict {
                Verdict::Fail => {
                    prop_assert!(!has_trace(&s, run) && has_trace(&s, &run[..run.len() - 1]));
                    prop_assert!(!in_language(&w, run));
                }
                Verdict::ViolateFail => prop_assert!(in_language(&w, run) && !has_trace(&s, run)),
                Verdict::Violate => prop_assert!(in_language(&w, run) && has_trace(&s, run)),
                Verdict::Inconc => prop_assert!(has_trace(&s, run)),
                _ => prop_assert!(false, "{verdict}"),
            }
            prop_assert!(has_trace(&i, run) || verdict == Verdict::Inconc);
        }
        if length.is_some() {
            // The test case itself can reach its goal.
            let text = case.to_string();
            prop_assert!(text.contains("violate"), "{}", text);
        }
    }

    /// On the fly, with a look ahead that is never hit, is the pruned graph walked; with a short one,
    /// only `inconc` may be missing.
    #[test]
    fn on_the_fly_is_the_graph(s in any_model(4, 9), w in any_observer(labels())) {
        let test = GoalTest::build(&s, POLICY, w.clone(), 10_000).unwrap();
        same_as_graph(&s, &test, &w, 100_000)?;
        same_as_graph(&s, &test, &w, 1)?;
    }

    #[test]
    fn purposes_on_the_fly_are_the_graph(s in any_model(4, 9), p in any_purpose(labels())) {
        let test = GoalTest::build(&s, POLICY, p.clone(), 10_000).unwrap();
        same_as_graph(&s, &test, &p, 100_000)?;
        same_as_graph(&s, &test, &p, 1)?;
    }

    /// Purposes: pass exactly at acceptance on a trace of the specification, fail exactly outside it.
    #[test]
    fn purpose_verdicts((s, i) in system(), p in any_purpose(labels()), seed in prop::option::of(any::<u64>()), slack in 0usize..3) {
        let test = GoalTest::build(&s, POLICY, p.clone(), 10_000).unwrap();
        for word in words(s.labels(), LENGTH) {
            let Some((_, before)) = word.split_last() else { continue };
            match verdict_after(test.graph(), &word) {
                Some(Verdict::Pass) => {
                    prop_assert!(accepts(&p, &word) && has_trace(&s, &word));
                }
                Some(Verdict::Fail) => {
                    prop_assert!(!has_trace(&s, &word) && has_trace(&s, before));
                }
                Some(Verdict::Inconc) | None => {
                    prop_assert!(!(accepts(&p, &word) && has_trace(&s, &word)));
                }
                Some(v) => prop_assert!(false, "{v}"),
            }
        }
        let case = test.draw(Drawing { seed, slack }, &ModelRef::default());
        let runs = test_runs(&case, &i, POLICY);
        if let Some(run) = runs.run(Verdict::Fail).map(|run| &run.trace) {
            prop_assert!(has_trace(&i, run) && !has_trace(&s, run));
        }
        if let Some(run) = runs.run(Verdict::Pass).map(|run| &run.trace) {
            prop_assert!(accepts(&p, run) && has_trace(&s, run));
        }
    }

    /// Each observer of a suite has its test case, and its row of the matrix is what the case walks.
    #[test]
    fn requirement_suites(s in any_model(4, 9), ws in prop::collection::vec(any_observer(labels()), 1..3)) {
        let model = ModelRef::of("S", &s);
        let derive = |jobs| {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            RequirementSuite::derive(&s, POLICY, &ws, &model, 10_000, jobs).unwrap()
        };
        let suite = derive(1);
        prop_assert_eq!(format!("{:?}", derive(3)), format!("{suite:?}"));
        prop_assert_eq!(suite.requirements.len(), ws.len());
        for (w, requirement) in ws.iter().zip(&suite.requirements) {
            let violated = verify(&Suspension::new(&s, POLICY), std::slice::from_ref(w), usize::MAX);
            prop_assert_eq!(
                requirement.specification_violates.is_some(),
                violated.answers[0] != Satisfaction::Holds
            );
            if requirement.case.is_none() {
                prop_assert!(!requirement.covers.contains(&true));
            }
        }
        let csv = suite.to_csv(&s);
        prop_assert_eq!(csv.lines().count(), ws.len() + 1);
    }
}

/// The scenario is gone through: the purpose is in an accept state, for the first time.
fn accepts(p: &Purpose, word: &[LabelId]) -> bool {
    let mut q = p.initial();
    for (n, &l) in word.iter().enumerate() {
        q = p.step(q, l);
        if p.is_refuse(q) || (p.is_accept(q) && n + 1 < word.len()) {
            return false;
        }
    }
    p.is_accept(q)
}

fn same_as_graph<O: Objective + Clone>(
    s: &Lts,
    test: &GoalTest<&Lts, O>,
    objective: &O,
    lookahead: usize,
) -> Result<(), TestCaseError> {
    let graph = test.graph();
    let alphabet = Alphabet::of_labels(s.labels());
    let oracle = IocoOracle::with_budget(s, POLICY, &alphabet, 1 << 30);
    let goal = LabelGoal::own(objective.clone(), &alphabet, s.shared_labels());
    let mut tester = GoalTester::with_lookahead(oracle, vec![goal], lookahead);
    let exact = lookahead > 1000;
    'words: for word in words(s.labels(), 3) {
        tester.reset();
        let mut node = graph.lts().initial();
        if let Some(verdict) = graph.verdict(node) {
            if exact {
                prop_assert_eq!(tester.verdict(), verdict);
            }
            continue;
        }
        for &l in &word {
            let mut menu = Menu::default();
            tester.menu(&mut menu);
            let stimuli: BTreeSet<ActionId> = graph
                .lts()
                .steps(node)
                .iter()
                .map(|&(l, _)| l)
                .filter(|&l| s.labels().kind(l) == LabelKind::Input)
                .map(ActionId::from)
                .collect();
            let offered: BTreeSet<ActionId> = menu.stimuli.iter().copied().collect();
            if exact {
                prop_assert_eq!(&offered, &stimuli);
                prop_assert!(!tester.lookahead_hit());
                match tester.hint(&menu) {
                    Some(Hint::Stimulate(l)) => prop_assert!(offered.contains(&l)),
                    Some(Hint::Observe) => prop_assert!(!menu.settled),
                    // An output that did not come is not waited for again.
                    None => prop_assert!(menu.settled, "a live place has a way"),
                }
            } else {
                prop_assert!(offered.is_superset(&stimuli));
            }
            let input = s.labels().kind(l) == LabelKind::Input;
            if input && !stimuli.contains(&l.into()) {
                continue 'words;
            }
            let progress = tester.step(step(s.labels(), l));
            node = graph.lts().steps_on(node, l)[0].1;
            match (graph.verdict(node), progress) {
                (Some(Verdict::Inconc), Progress::Continue) if !exact => continue 'words,
                (Some(verdict), progress) => {
                    prop_assert_eq!(progress, Progress::Ended(verdict));
                    continue 'words;
                }
                (None, progress) => prop_assert_eq!(progress, Progress::Continue),
            }
        }
    }
    Ok(())
}

#[test]
fn several_purposes_have_their_own_results() {
    use common::property::purpose;
    let s = common::model(
        &["?a", "?b", "!x", "!y"],
        &[
            ("0", "?a", "1"),
            ("1", "!x", "0"),
            ("1", "!y", "2"),
            ("2", "?b", "2"),
        ],
    );
    let labels = s.shared_labels();
    let states = ["Start", "Done", "Off"];
    let x = purpose(
        "SeeX",
        labels,
        &states,
        &[("Start", "!x", "Done"), ("Start", "!y", "Off")],
    );
    let y = purpose("SeeY", labels, &states, &[("Start", "!y", "Done")]);
    let mut tester = PurposeTester::explicit(&s, POLICY, vec![x, y]);
    let l = |t: &str| labels.get_text(t).unwrap();
    tester.step(Step::Stimulus(l("?a").into()));
    tester.step(Step::Output(l("!x").into()));
    assert_eq!(
        tester.results(),
        [
            ("SeeX".to_owned(), Verdict::Pass),
            ("SeeY".to_owned(), Verdict::Inconc)
        ]
    );
    tester.step(Step::Stimulus(l("?a").into()));
    assert_eq!(
        tester.step(Step::Output(l("!y").into())),
        Progress::Ended(Verdict::Pass)
    );
    tester.reset();
    tester.step(Step::Stimulus(l("?a").into()));
    assert_eq!(
        tester.step(Step::Output(l("!y").into())),
        Progress::Ended(Verdict::Inconc)
    );
    assert_eq!(
        tester.results(),
        [
            ("SeeX".to_owned(), Verdict::Inconc),
            ("SeeY".to_owned(), Verdict::Pass)
        ]
    );
}

#[test]
fn forcing_is_lazy() {
    // A ring of a million states: one row touches one state.
    let mut b = iolite_lts::LtsBuilder::with_labels(small_labels());
    let n = 1_000_000;
    for k in 0..n {
        let label = if k % 2 == 0 { "?a" } else { "!x" };
        b.transition_text(StateId::new(k), label, StateId::new((k + 1) % n));
    }
    let s = b.build().unwrap();
    let w = observer(
        "NoY",
        s.shared_labels(),
        &["Idle", "Bad"],
        &[("Idle", "!y", "Bad"), ("Idle", "*", "Idle")],
    );
    let mut forcing = Forcing::new(Determinised::new(Suspension::new(&s, POLICY)), w.clone());
    let initial = forcing.initial();
    let mut row = Vec::new();
    forcing.row(initial, &mut row);
    assert_eq!(row.len(), 4);
    assert_eq!(forcing.view().set_count(), 2);
    let mut tester = SafetyTester::explicit(&s, POLICY, vec![w]);
    let mut menu = Menu::default();
    tester.menu(&mut menu);
    assert_eq!(menu.stimuli.len(), 1);
}

/// Label ids of another table must not be taken for ids of this one.
#[test]
fn objectives_are_taken_over_to_the_labels_of_the_specification() {
    let s = common::model(&["?a", "!x", "!y"], &[("0", "?a", "1"), ("1", "!x", "0")]);
    let mut other = Labels::new();
    for text in ["!y", "!x", "?a"] {
        other.intern_text(text);
    }
    let w = observer(
        "NoY",
        &Arc::new(other),
        &["Idle", "Bad"],
        &[("Idle", "!y", "Bad"), ("Idle", "*", "Idle")],
    );
    let view = Suspension::new(&s, POLICY);
    assert_eq!(
        verify(&view, std::slice::from_ref(&w), 100).answers,
        [Satisfaction::Holds]
    );
    let relevant = relevance(&mut Determinised::new(&view), &w, 100);
    assert!(matches!(relevant, Relevance::Irrelevant { .. }));
    let test = SafetyTest::build(&s, POLICY, w.clone(), 100).unwrap();
    let word = common::trace(s.labels(), "?a !y");
    assert_eq!(
        verdict_after(test.graph(), &word),
        Some(Verdict::ViolateFail)
    );
    let mut tester = SafetyTester::explicit(&s, POLICY, vec![w]);
    tester.step(Step::Stimulus(word[0].into()));
    assert_eq!(
        tester.step(Step::Output(word[1].into())),
        Progress::Ended(Verdict::ViolateFail)
    );
}

/// A state that is met first after a visible action and then by internal actions alone is nearer than
/// it seemed.
#[test]
fn internal_actions_cost_nothing() {
    let m = common::model(
        &["?a", "!x", "!y"],
        &[
            ("0", "!x", "far"),
            ("0", "i", "1"),
            ("1", "i", "far"),
            ("far", "!y", "end"),
        ],
    );
    let w = observer(
        "NoY",
        m.shared_labels(),
        &["Idle", "Bad"],
        &[("Idle", "!y", "Bad"), ("Idle", "*", "Idle")],
    );
    let found = verify(&m, &[w], 100);
    let Satisfaction::Violated { trace, .. } = &found.answers[0] else {
        panic!("{found:?}");
    };
    assert_eq!(common::show(m.labels(), trace), "!y");
}

/// A tester that always does what it advises comes to the violation that a system is ready to show.
#[test]
fn hints_lead_to_the_goal() {
    let s = common::model(
        &["?a", "?b", "!x", "!y"],
        &[
            ("0", "?a", "1"),
            ("0", "?b", "0"),
            ("1", "!x", "2"),
            ("2", "?b", "3"),
            ("2", "?a", "0"),
            ("3", "!x", "0"),
        ],
    );
    let w = observer(
        "NoYAfterB",
        s.shared_labels(),
        &["Idle", "Spoken", "Armed", "Bad"],
        &[
            ("Idle", "!x", "Spoken"),
            ("Idle", "*", "Idle"),
            ("Spoken", "?b", "Armed"),
            ("Spoken", "*", "Idle"),
            ("Armed", "!y", "Bad"),
            ("Armed", "*", "Idle"),
        ],
    );
    let l = |t: &str| s.labels().get_text(t).unwrap();
    let mut tester = SafetyTester::explicit(&s, POLICY, vec![w]);
    let mut done = Vec::new();
    let verdict = loop {
        let mut menu = Menu::default();
        tester.menu(&mut menu);
        let progress = match tester.hint(&menu).unwrap() {
            Hint::Stimulate(action) => {
                assert!(menu.stimuli.contains(&action));
                done.push(LabelId::new(action.index()));
                tester.step(Step::Stimulus(action))
            }
            // The system gives !x once, then the !y that it must not give.
            Hint::Observe => {
                let label = if done.contains(&l("!x")) {
                    l("!y")
                } else {
                    l("!x")
                };
                done.push(label);
                tester.step(Step::Output(label.into()))
            }
        };
        if let Progress::Ended(verdict) = progress {
            break verdict;
        }
    };
    assert_eq!(verdict, Verdict::ViolateFail);
    assert_eq!(common::show(s.labels(), &done), "?a !x ?b !y");
}
