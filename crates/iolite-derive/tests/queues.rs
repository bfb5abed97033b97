//! The view of a specification through queues, by two routes: against explicit queue processes that
//! are composed with implementations in the kernel, and against the definition.

mod common;

use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;

use common::{after, any_model, any_mutant, complete, initial, model, quiescent, step, takes};
use iolite_derive::{
    ConformanceTester, FiniteOracle, FiniteQueueOracle, IocoOracle, Meaning, Menu, Oracle,
    Progress, QueueAnswer, QueueOptions, QueueOracle, QueueRelation, RandomDerivation, Step,
    TestCase, TestStep, Tester, UiocoOracle, Verdict,
};
use iolite_lts::relation::{Holds, Relation, relate};
use iolite_lts::{
    Completed, Completion, Composition, Determinised, Gates, Interned, LabelId, LabelKind, Labels,
    Lts, LtsBuilder, QuiescencePolicy, Relabelled, Semantics, SetId, StateId, Suspension,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

/// Steps of an observed trace. Queues hold as many messages, so they are never full.
const LENGTH: usize = 5;

/// How many random cases: `IOLITE_CASES` in the environment, else the default.
fn cases(default: u32) -> ProptestConfig {
    let asked = std::env::var("IOLITE_CASES").ok();
    ProptestConfig::with_cases(asked.and_then(|n| n.parse().ok()).unwrap_or(default))
}

/// A FIFO of at most `LENGTH` messages: each of `names` comes in as `?name+left`, and goes out as
/// `!name+right`.
fn fifo(names: [&str; 2], left: &str, right: &str) -> Lts {
    let mut b = LtsBuilder::new();
    let mut contents: Vec<Vec<usize>> = vec![Vec::new()];
    let mut next = 0;
    while next < contents.len() {
        let now = contents[next].clone();
        let from = StateId::new(next);
        if now.len() < LENGTH {
            for (i, name) in names.iter().enumerate() {
                let longer = [&now[..], &[i]].concat();
                let known = contents.iter().position(|c| *c == longer);
                let to = known.unwrap_or(contents.len());
                if known.is_none() {
                    contents.push(longer);
                }
                b.transition_text(from, &format!("?{name}{left}"), StateId::new(to));
            }
        }
        if let Some((first, rest)) = now.split_first() {
            let to = contents
                .iter()
                .position(|c| c == rest)
                .expect("shorter ones come first");
            b.transition_text(
                from,
                &format!("!{}{right}", names[*first]),
                StateId::new(to),
            );
        }
        next += 1;
    }
    b.build().unwrap()
}

/// A system between two queues, as the tester sees it.
type Queued<'a> = Determinised<Suspension<Interned<Box<dyn Semantics<State = StateId> + 'a>>>>;

/// `hide in, out in (inputs |[in]| implementation |[out]| outputs)`.
fn queued<'a, M: Semantics<State = StateId> + 'a>(implementation: M) -> Queued<'a> {
    let inner = Relabelled::rename(implementation, |label| {
        let part = match label.kind {
            LabelKind::Input => "_in",
            LabelKind::Output => "_out",
            _ => return None,
        };
        Some((label.kind, format!("{}{part}", label.name)))
    });
    let gates = |part: &str, names: [&str; 2]| {
        Gates::Names(names.iter().map(|n| format!("{n}{part}")).collect())
    };
    let inputs = fifo(["a", "b"], "", "_in");
    let outputs = fifo(["x", "y"], "_out", "");
    let system = Composition::new(inputs, inner, &gates("_in", ["a", "b"])).unwrap();
    let system =
        Composition::new(Interned::new(system), outputs, &gates("_out", ["x", "y"])).unwrap();
    let hidden = Relabelled::hide(system, |label| label.name.contains('_'));
    let boxed: Box<dyn Semantics<State = StateId> + 'a> = Box::new(Interned::new(hidden));
    Determinised::new(Suspension::new(Interned::new(boxed), POLICY))
}

/// What a comparison of all traces asks of those that the composition has not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Demand {
    /// The composition's traces are explained.
    Sound,
    /// And the others are not.
    Exact,
}

/// Walks all traces up to `LENGTH` of the composition, or of either with `Exact`, and returns how many
/// there were.
fn compare<O: Oracle>(
    labels: &Labels,
    composed: &mut Queued<'_>,
    view: &mut QueueOracle<O>,
    demand: Demand,
) -> Result<usize, TestCaseError> {
    let visible: Vec<LabelId> = labels
        .iter()
        .filter(|(_, l)| l.kind.is_visible())
        .map(|(id, _)| id)
        .collect();
    let start: SetId = composed.initial();
    let first = view.initial().unwrap();
    let mut walk: Vec<(Vec<LabelId>, Option<SetId>, _)> = vec![(Vec::new(), Some(start), first)];
    let mut traces = 0;
    while let Some((trace, set, at)) = walk.pop() {
        for &label in &visible {
            let its = composed
                .labels()
                .get_text(&labels.text(label))
                .expect("the same names");
            let shown = set.and_then(|set| composed.after(set, its));
            if shown.is_none() && demand == Demand::Sound {
                continue;
            }
            let longer = [&trace[..], &[label]].concat();
            traces += 1;
            match view.after(&at, step(labels, label)).unwrap() {
                Meaning::Allowed(next) => {
                    prop_assert!(
                        shown.is_some() || demand == Demand::Sound,
                        "explained, but never shown: {}",
                        common::show(labels, &longer)
                    );
                    if longer.len() < LENGTH {
                        walk.push((longer, shown, next));
                    }
                }
                Meaning::Forbidden => prop_assert!(
                    shown.is_none(),
                    "shown, but not explained: {}",
                    common::show(labels, &longer)
                ),
                // Anything goes from here on.
                Meaning::Ends => prop_assert!(shown.is_some() || demand == Demand::Sound),
                Meaning::Unspecified => prop_assert!(false, "an input is never refused"),
            }
        }
    }
    Ok(traces)
}

/// Internal steps lead upwards only. A livelock with unread inputs is silent for the composition, and
/// not for the view.
fn without_livelock(lts: &Lts) -> Lts {
    let mut b = LtsBuilder::with_labels(lts.labels().clone());
    b.ensure_states(lts.state_count());
    for (s, l, t) in lts.transitions() {
        if l != LabelId::TAU || s < t {
            b.transition(s, l, t);
        }
    }
    b.build().unwrap()
}

fn through_queues<O: Oracle>(oracle: O) -> QueueOracle<O> {
    QueueOracle::new(oracle, QueueOptions::default())
}

fn conforms<M: Semantics<State = StateId>>(relation: Relation, i: &M, s: &Lts) -> bool {
    relate(relation, i, s, POLICY, None).unwrap().holds == Holds::Yes
}

proptest! {
    #![proptest_config(cases(48))]

    /// What a conforming implementation shows through queues is explained.
    #[test]
    fn conforming_implementations_never_fail(
        (s, mutants) in any_model(4, 11).prop_flat_map(|s| {
            let mutants = prop::collection::vec(any_mutant(s.clone()), 6);
            (Just(s), mutants)
        })
    ) {
        let mut done = 0;
        for i in mutants.iter().map(without_livelock).map(|i| complete(&i)) {
            if conforms(Relation::Ioco, &i, &s) {
                done += compare(s.labels(), &mut queued(&i), &mut through_queues(IocoOracle::new(&s, POLICY)), Demand::Sound)?;
            }
            if conforms(Relation::Uioco, &i, &s) {
                done += compare(s.labels(), &mut queued(&i), &mut through_queues(UiocoOracle::new(&s, POLICY)), Demand::Sound)?;
            }
        }
        prop_assume!(done > 0);
    }

    /// A specification that takes every input everywhere conforms to itself, and is the largest that
    /// does: the view is exactly what it shows through queues.
    #[test]
    fn the_view_is_the_composition(s in any_model(4, 11)) {
        let s = complete(&without_livelock(&s));
        compare(s.labels(), &mut queued(&s), &mut through_queues(IocoOracle::new(&s, POLICY)), Demand::Exact)?;
        compare(s.labels(), &mut queued(&s), &mut through_queues(UiocoOracle::new(&s, POLICY)), Demand::Exact)?;
    }

    /// For uioco the specification with chaos behind what it refuses is the largest that conforms.
    #[test]
    fn the_view_of_uioco_is_the_composition_of_chaos(s in any_model(4, 9)) {
        let s = without_livelock(&s);
        let chaos = Completed::new(&s, Completion::Chaos);
        compare(s.labels(), &mut queued(&chaos), &mut through_queues(UiocoOracle::new(&s, POLICY)), Demand::Exact)?;
    }

    /// The view against the definition: some order of taking explains the trace.
    #[test]
    fn the_view_is_the_definition(
        s in any_model(4, 11),
        words in prop::collection::vec(prop::collection::vec(0usize..5, 1..9), 60),
    ) {
        let visible: Vec<LabelId> = s.labels().iter().filter(|(_, l)| l.kind.is_visible()).map(|(id, _)| id).collect();
        let mut ioco = through_queues(IocoOracle::new(&s, POLICY));
        let mut uioco = through_queues(UiocoOracle::new(&s, POLICY));
        for word in words {
            let trace: Vec<LabelId> = word.iter().map(|&i| visible[i]).collect();
            agree(&s, &mut ioco, &trace, false)?;
            agree(&s, &mut uioco, &trace, true)?;
        }
    }
}

/// All traces of a composition up to a length that the definition does not explain; the shortest.
fn shortest_unexplained(i: &Lts, s: &Lts, length: usize, universal: bool) -> Option<Vec<LabelId>> {
    let mut composed = queued(i);
    let visible: Vec<LabelId> = s
        .labels()
        .iter()
        .filter(|(_, l)| l.kind.is_visible())
        .map(|(id, _)| id)
        .collect();
    let mut level = vec![(Vec::new(), composed.initial())];
    for _ in 0..length {
        let mut next = Vec::new();
        for (trace, set) in level {
            for &label in &visible {
                let its = composed.labels().get_text(&s.labels().text(label));
                let Some(to) = composed.after(set, its.expect("the same names")) else {
                    continue;
                };
                let longer = [&trace[..], &[label]].concat();
                match explained(s, &initial(s), &[], &longer, universal) {
                    Explained::No => return Some(longer),
                    Explained::Yes => next.push((longer, to)),
                    Explained::Open => {}
                }
            }
        }
        level = next;
    }
    None
}

fn decide<O: FiniteOracle<State: Ord>>(oracle: O, i: &Lts, max_in_flight: usize) -> QueueAnswer {
    let search = QueueRelation::new(oracle, i, POLICY, max_in_flight);
    search.search(1, &mut |_| ControlFlow::Continue(()))
}

/// A run of an implementation between two real queues, under a tester that keeps to the bound.
fn run_through_queues(
    i: &Lts,
    s: &Lts,
    max_in_flight: usize,
    seed: u64,
    universal: bool,
) -> Verdict {
    let options = QueueOptions {
        max_in_flight,
        ..QueueOptions::default()
    };
    let mut tester: Box<dyn Tester> = if universal {
        let oracle = UiocoOracle::new(s, POLICY);
        Box::new(ConformanceTester::new(QueueOracle::new(oracle, options)))
    } else {
        let oracle = IocoOracle::new(s, POLICY);
        Box::new(ConformanceTester::new(QueueOracle::new(oracle, options)))
    };
    let mut random = seed.wrapping_mul(2).wrapping_add(1);
    let mut below = |n: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % n
    };
    let (mut inputs, mut outputs) = (VecDeque::new(), VecDeque::new());
    let mut at = i.initial();
    let mut steps = 0;
    for _ in 0..200 {
        let mut row: Vec<(LabelId, StateId)> = Vec::new();
        i.successors(&at, &mut row);
        let mut menu = Menu::default();
        tester.menu(&mut menu);
        let silent = inputs.is_empty() && outputs.is_empty() && quiescent(i, at);
        let step = match below(3) {
            // The system does something.
            0 => {
                let (label, target) = match row.len() {
                    0 => continue,
                    n => row[below(n)],
                };
                match i.labels().kind(label) {
                    LabelKind::Input if inputs.front() == Some(&label) => {
                        inputs.pop_front();
                    }
                    LabelKind::Input => continue,
                    LabelKind::Output => outputs.push_back(label),
                    _ => {}
                }
                at = target;
                continue;
            }
            // The tester gives an input.
            1 if !menu.stimuli.is_empty() => {
                let input = menu.stimuli[below(menu.stimuli.len())];
                inputs.push_back(LabelId::new(input.index()));
                Step::Stimulus(input)
            }
            // The tester reads what has come, or notes that nothing does.
            _ => match outputs.pop_front() {
                Some(output) => Step::Output(output.into()),
                None if silent => Step::Quiescence,
                None => continue,
            },
        };
        steps += 1;
        if let Progress::Ended(verdict) = tester.step(step) {
            return verdict;
        }
        if steps > 40 {
            break;
        }
    }
    tester.verdict()
}

proptest! {
    #![proptest_config(cases(40))]

    /// The search against all traces of the explicit composition, by the definition.
    #[test]
    fn the_relation_is_that_of_the_composition(
        (s, mutants) in any_model(4, 10).prop_flat_map(|s| {
            let mutants = prop::collection::vec(any_mutant(s.clone()), 3);
            (Just(s), mutants)
        })
    ) {
        const SHORT: usize = 4;
        for i in mutants.iter().map(without_livelock).map(|i| complete(&i)) {
            for universal in [false, true] {
                let answer = if universal {
                    decide(UiocoOracle::new(&s, POLICY), &i, SHORT)
                } else {
                    decide(IocoOracle::new(&s, POLICY), &i, SHORT)
                };
                prop_assert!(answer.undecided.is_none());
                let slow = shortest_unexplained(&i, &s, SHORT, universal);
                let fast = answer.counterexamples.first();
                let length = fast.map(|c| c.trace.len() + 1).filter(|&n| n <= SHORT);
                prop_assert_eq!(length, slow.as_ref().map(Vec::len), "{:?} {:?}", fast, slow);
                // And what it shows is a trace of the composition that nothing explains.
                let Some(fast) = fast.filter(|c| c.trace.len() < LENGTH) else { continue };
                let texts = [&fast.trace[..], std::slice::from_ref(&fast.observed)].concat();
                let trace = common::trace(s.labels(), &texts.join(" "));
                prop_assert_eq!(explained(&s, &initial(&s), &[], &trace, universal), Explained::No);
                let mut composed = queued(&i);
                let mut at = composed.initial();
                for text in &texts {
                    let label = composed.labels().get_text(text).unwrap();
                    let next = composed.after(at, label);
                    prop_assert!(next.is_some(), "never shown: {}", texts.join(" "));
                    at = next.unwrap();
                }
            }
        }
    }

    /// Where the relation holds with a bound, no run that keeps to the bound fails; and an
    /// implementation that conforms in step is in the relation.
    #[test]
    fn the_relation_agrees_with_testing(
        (s, mutants) in any_model(4, 10).prop_flat_map(|s| {
            let mutants = prop::collection::vec(any_mutant(s.clone()), 3);
            (Just(s), mutants)
        }),
        seed in any::<u64>(),
    ) {
        for i in mutants.iter().map(without_livelock).map(|i| complete(&i)) {
            for (universal, relation) in [(false, Relation::Ioco), (true, Relation::Uioco)] {
                let answer = if universal {
                    decide(UiocoOracle::new(&s, POLICY), &i, 2)
                } else {
                    decide(IocoOracle::new(&s, POLICY), &i, 2)
                };
                let holds = answer.counterexamples.is_empty();
                prop_assert!(holds || !conforms(relation, &i, &s));
                for k in 0..10 {
                    let verdict = run_through_queues(&i, &s, 2, seed ^ k, universal);
                    prop_assert!(!holds || verdict == Verdict::Pass, "{} {}", relation, verdict);
                }
            }
        }
    }

    /// A test case that was derived through queues fails no conforming implementation, whatever is
    /// under way: each of its failures is one of the definition.
    #[test]
    fn derived_test_cases_fail_only_what_is_not_explained(s in any_model(4, 10), seed in any::<u64>()) {
        let mut oracle = FiniteQueueOracle::new(IocoOracle::new(&s, POLICY), QueueOptions::default());
        let derivation = RandomDerivation { count: 5, depth: 6, seed, ..RandomDerivation::default() };
        for case in derivation.derive(&mut oracle, &iolite_derive::ModelRef::default()) {
            for (trace, fails) in failing_traces(&case) {
                let judged = explained(&s, &initial(&s), &[], &trace, false);
                prop_assert_eq!(judged == Explained::No, fails, "{}", common::show(s.labels(), &trace));
            }
        }
        prop_assert!(oracle.undecided().is_none());
    }
}

/// The traces to the observations of a test case, and whether it calls them failures.
fn failing_traces(case: &TestCase) -> Vec<(Vec<LabelId>, bool)> {
    let mut all = Vec::new();
    let mut todo = vec![(case.initial(), Vec::new())];
    while let Some((at, trace)) = todo.pop() {
        let longer = |label: LabelId| [&trace[..], &[label]].concat();
        match &case.state(at).step {
            TestStep::End | TestStep::Offer { .. } => {}
            TestStep::Stimulate {
                stimulus,
                next,
                preempted,
            } => {
                let fails = preempted.iter().map(|&(label, _)| (longer(label), true));
                all.extend(fails);
                todo.push((*next, longer(*stimulus)));
            }
            TestStep::Observe {
                outputs,
                quiescence,
            } => {
                let silence = quiescence.map(|to| (LabelId::DELTA, to));
                for (label, to) in outputs.iter().copied().chain(silence) {
                    let target = case.state(to);
                    let ends = matches!(target.step, TestStep::End);
                    let fails = ends && target.verdict == Verdict::Fail;
                    all.push((longer(label), fails));
                    todo.push((to, longer(label)));
                }
            }
        }
    }
    all
}

/// The view against the composition and against the definition on at least so many traces.
const TRACES: usize = 100_000;

#[test]
fn a_hundred_thousand_traces() {
    let mut runner = TestRunner::deterministic();
    let mut traces = 0;
    let mut models = 0;
    while traces < TRACES {
        let mut model = || any_model(4, 11).new_tree(&mut runner).unwrap().current();
        let (s, i) = (model(), complete(&without_livelock(&model())));
        let mut oracle = through_queues(IocoOracle::new(&i, POLICY));
        traces += compare(i.labels(), &mut queued(&i), &mut oracle, Demand::Exact).unwrap();
        if conforms(Relation::Ioco, &i, &s) {
            let mut oracle = through_queues(IocoOracle::new(&s, POLICY));
            traces += compare(s.labels(), &mut queued(&i), &mut oracle, Demand::Sound).unwrap();
        }
        models += 1;
    }
    println!("{traces} traces of {models} models compared");
}

/// What the definition says of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Explained {
    No,
    Yes,
    /// A way leads to where nothing is specified.
    Open,
}

/// Every order of taking, one after the other, over sets written out.
fn explained(
    s: &Lts,
    at: &BTreeSet<StateId>,
    pending: &[LabelId],
    trace: &[LabelId],
    universal: bool,
) -> Explained {
    let Some((&label, rest)) = trace.split_first() else {
        return Explained::Yes;
    };
    if s.labels().kind(label) == LabelKind::Input {
        let longer = [pending, &[label]].concat();
        return explained(s, at, &longer, rest, universal);
    }
    let mut best = Explained::No;
    // Now, or after one more input was taken.
    if label != LabelId::DELTA || pending.is_empty() {
        let next: BTreeSet<StateId> = if label == LabelId::DELTA {
            at.iter().copied().filter(|&q| quiescent(s, q)).collect()
        } else {
            after(s, at, Some(label))
        };
        if !next.is_empty() {
            best = best.max(explained(
                s,
                &common::closure(s, &next),
                pending,
                rest,
                universal,
            ));
        }
    }
    if let Some((&input, left)) = pending.split_first() {
        let next = after(s, at, Some(input));
        let open = next.is_empty() || (universal && !takes(s, at, input));
        best = best.max(if open {
            Explained::Open
        } else {
            explained(s, &next, left, trace, universal)
        });
    }
    best
}

fn agree<O: Oracle>(
    s: &Lts,
    view: &mut QueueOracle<O>,
    trace: &[LabelId],
    universal: bool,
) -> Result<(), TestCaseError> {
    let slow = explained(s, &initial(s), &[], trace, universal);
    let mut at = view.initial().unwrap();
    let mut fast = Explained::Yes;
    for &label in trace {
        match view.after(&at, step(s.labels(), label)).unwrap() {
            Meaning::Allowed(next) => at = next,
            Meaning::Forbidden => {
                fast = Explained::No;
                break;
            }
            Meaning::Ends => {
                fast = Explained::Open;
                break;
            }
            Meaning::Unspecified => prop_assert!(false, "an input is never refused"),
        }
    }
    prop_assert_eq!(fast, slow, "{}", common::show(s.labels(), trace));
    Ok(())
}

/// The trace of an observed run, as a verdict.
fn judge(s: &Lts, trace: &str) -> Verdict {
    let mut tester = ConformanceTester::new(through_queues(IocoOracle::new(s, POLICY)));
    for label in common::trace(s.labels(), trace) {
        if let Progress::Ended(verdict) = tester.step(step(s.labels(), label)) {
            return verdict;
        }
    }
    tester.verdict()
}

/// A clock that ticks by itself, and answers when it is asked.
fn clock() -> Lts {
    model(
        &["?a", "?b", "!x", "!y"],
        &[
            ("Idle", "!x", "Ticked"),
            ("Idle", "?a", "Asked"),
            ("Ticked", "?a", "Late"),
            ("Asked", "!y", "Idle"),
            ("Late", "!y", "Idle"),
        ],
    )
}

#[test]
fn an_input_may_cross_an_output() {
    let clock = clock();
    assert_eq!(judge(&clock, "?a !x !y"), Verdict::Pass);
    assert_eq!(judge(&clock, "?a !y"), Verdict::Pass);
    // No order explains two ticks, or silence where an answer is owed.
    assert_eq!(judge(&clock, "?a !x !x"), Verdict::Fail);
    assert_eq!(judge(&clock, "?a !x delta"), Verdict::Fail);
    assert_eq!(judge(&clock, "?a delta"), Verdict::Fail);
    assert_eq!(judge(&clock, "!y"), Verdict::Fail);
}

/// With configurations of single states the internal step would excuse the output.
#[test]
fn a_configuration_of_ioco_is_a_set() {
    let s = model(&["?a", "!x"], &[("0", "?a", "1"), ("0", "i", "1")]);
    assert_eq!(judge(&s, "?a !x"), Verdict::Fail);
    let mut uioco = ConformanceTester::new(through_queues(UiocoOracle::new(&s, POLICY)));
    for label in common::trace(s.labels(), "?a !x") {
        uioco.step(step(s.labels(), label));
    }
    assert_eq!(uioco.verdict(), Verdict::Pass);
}

#[test]
fn stimuli_are_bounded_until_something_is_observed() {
    let s = model(&["?a", "!x"], &[("0", "?a", "0")]);
    let options = QueueOptions {
        max_in_flight: 2,
        ..QueueOptions::default()
    };
    let mut tester = ConformanceTester::new(QueueOracle::new(IocoOracle::new(&s, POLICY), options));
    let a = Step::Stimulus(s.labels().get_text("?a").unwrap().into());
    let offered = |tester: &mut ConformanceTester<_>| {
        let mut menu = Menu::default();
        Tester::menu(tester, &mut menu);
        menu.stimuli.len()
    };
    for expected in [1, 1, 0] {
        assert_eq!(offered(&mut tester), expected);
        assert_eq!(tester.step(a), Progress::Continue);
    }
    // A log may do more than a tester would: it is judged all the same.
    assert_eq!(tester.step(Step::Quiescence), Progress::Continue);
    assert_eq!(offered(&mut tester), 1);
    for _ in 0..2000 {
        tester.step(a);
    }
    assert_eq!(tester.verdict(), Verdict::Unknown);
}

#[test]
fn a_log_that_leaves_the_specification_is_not_judged() {
    let s = model(&["?a", "!x", "!y"], &[("0", "!x", "1"), ("0", "?a", "0")]);
    // In state 1 the input is not specified.
    assert_eq!(judge(&s, "?a !x !y"), Verdict::Pass);
    let options = QueueOptions {
        passive: true,
        ..QueueOptions::default()
    };
    let mut log = ConformanceTester::new(QueueOracle::new(IocoOracle::new(&s, POLICY), options));
    for label in common::trace(s.labels(), "?a !x !y") {
        log.step(step(s.labels(), label));
    }
    assert_eq!(log.verdict(), Verdict::Inconc);
}
