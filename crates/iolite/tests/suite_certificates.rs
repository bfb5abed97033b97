//! Certificates of suites under random single edits: test cases that are not sound, and errors that no
//! test case detects. What is true is listed from the definitions: every trace without some of its δs,
//! every run of every test case.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{DIRECTED, PLAIN, Random, edit_trace, explain, model};
use iolite::{
    CheckOutcome, ModelRef, Observation, Relation, SemanticsOptions, SuiteOptions, System, Verdict,
    WholeCertificate, Workspace,
};
use iolite_derive::{
    ConfDerivation, Criterion, IocoOracle, IoconfOracle, RandomDerivation, TestCase, TestState,
    TestStateId, TestStep,
};
use iolite_formats::test_case::json;
use iolite_lts::{
    Determinised, LabelId, LabelKind, Lts, QuiescencePolicy, Semantics, StateId, Suspension,
    explore,
};

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;
const RELATIONS: [Relation; 3] = [Relation::Ioco, Relation::Ioconf, Relation::Conf];

/// All traces that are this one without some of its δs.
fn thinned(trace: &[String]) -> BTreeSet<Vec<String>> {
    let mut all = BTreeSet::from([Vec::new()]);
    for action in trace {
        let longer = all.iter().map(|t: &Vec<String>| {
            let mut t = t.clone();
            t.push(action.clone());
            t
        });
        let longer: Vec<Vec<String>> = longer.collect();
        if action != "delta" {
            all.clear();
        }
        all.extend(longer);
    }
    all
}

/// s after σ.
fn set_after(s: &System, trace: &[String]) -> Option<Vec<StateId>> {
    let mut view = Determinised::new(Suspension::new(s, POLICY));
    let mut set = view.initial();
    for action in trace {
        let label = s.labels().get_text(action)?;
        set = view.after(set, label)?;
    }
    Some(view.members(set).to_vec())
}

fn out(s: &System, trace: &[String]) -> Option<BTreeSet<String>> {
    let mut view = Determinised::new(Suspension::new(s, POLICY));
    let mut set = view.initial();
    for action in trace {
        set = view.after(set, s.labels().get_text(action)?)?;
    }
    let mut all: Vec<LabelId> = s.labels().outputs().collect();
    all.push(LabelId::DELTA);
    let shown = all.into_iter().filter(|&l| view.after(set, l).is_some());
    Some(shown.map(|l| s.labels().text(l)).collect())
}

/// Whether what conforms may show an output or δ after a trace that it has.
fn may_show(s: &System, kind: Relation, before: &[String], observed: &str) -> bool {
    let counts =
        |trace: &Vec<String>| kind == Relation::Ioco || !trace.contains(&"delta".to_owned());
    let mut traces = thinned(before).into_iter().filter(counts);
    traces.all(|trace| out(s, &trace).is_none_or(|out| out.contains(observed)))
}

fn may_refuse(s: &System, trace: &[String], refused: &BTreeSet<String>) -> bool {
    let Some(states) = set_after(s, trace) else {
        return true;
    };
    let mut view = Determinised::new(s);
    states.into_iter().any(|q| {
        let closed = view.set_of(&[q]);
        let mut row = view.row(closed).iter();
        !row.any(|&(l, _)| refused.contains(&s.labels().text(l)))
    })
}

/// Where a test case is after a run, or the verdict that ended it.
fn step(case: &TestCase, at: TestStateId, action: &str) -> Option<Result<TestStateId, Verdict>> {
    let state = case.state(at);
    let known = case.labels().get_text(action);
    let step = state.steps().into_iter().find(|(l, _)| Some(*l) == known);
    match (&state.step, step) {
        (_, Some((_, to))) => Some(Ok(to)),
        (TestStep::Observe { .. }, None) if action == "delta" => Some(Err(state.verdict)),
        (TestStep::Observe { .. }, None) if action.starts_with('!') => Some(Err(Verdict::Fail)),
        _ => None,
    }
}

fn claims(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Fail | Verdict::ViolateFail)
}

fn texts(list: &[Observation]) -> Option<BTreeSet<String>> {
    let text = |o: &Observation| match o {
        Observation::Action(action) => Some(action.clone()),
        Observation::Refusal(_) => None,
    };
    list.iter().map(text).collect()
}

fn set(list: &[String]) -> BTreeSet<String> {
    list.iter().cloned().collect()
}

fn places(s: &System, kind: Relation, trace: &[String]) -> BTreeSet<String> {
    let mut trace = trace.to_vec();
    if kind == Relation::Ioconf {
        trace.retain(|action| action != "delta");
    }
    let states = set_after(s, &trace).unwrap_or_default();
    let place = |&state: &StateId| iolite_derive::location(s, state);
    states.iter().map(place).collect()
}

/// Whether a certificate of a test case that is not sound is true.
fn is_unsound(case: &TestCase, s: &System, kind: Relation, c: &WholeCertificate) -> bool {
    let mut run = c.trace.clone();
    let mut refused = None;
    match &c.observed {
        Some(Observation::Action(action)) if action.starts_with('?') => return false,
        Some(Observation::Action(action)) => run.push(action.clone()),
        Some(Observation::Refusal(set)) => refused = Some(set.refuses.iter().cloned().collect()),
        None => {}
    }
    let conf = kind == Relation::Conf;
    let mut at = case.initial();
    let mut ended = None;
    for (k, action) in run.iter().enumerate() {
        if ended.is_some() {
            return false;
        }
        match step(case, at, action) {
            Some(Ok(to)) => at = to,
            Some(Err(verdict)) => ended = Some(verdict),
            None => return false,
        }
        if !conf && !action.starts_with('?') && !may_show(s, kind, &run[..k], action) {
            return false;
        }
    }
    let state = case.state(at);
    if let Some(refused) = refused {
        let offered = state.steps().into_iter();
        let offered: BTreeSet<String> = offered.map(|(l, _)| case.labels().text(l)).collect();
        let offers = matches!(state.step, TestStep::Offer { .. }) && offered == refused;
        if !offers || !may_refuse(s, &c.trace, &refused) {
            return false;
        }
        ended = Some(state.verdict);
    }
    let verdict = match ended {
        Some(verdict) => verdict,
        None if state.step == TestStep::End => state.verdict,
        None => return false,
    };
    let mut allowed = BTreeSet::new();
    if !conf && c.observed.is_some() {
        let own = s.labels().outputs().map(|l| s.labels().text(l));
        let theirs = case.labels().outputs().map(|l| case.labels().text(l));
        allowed.extend(own.chain(theirs).chain(["delta".to_owned()]));
        allowed.retain(|x: &String| may_show(s, kind, &c.trace, x));
    }
    claims(verdict)
        && c.verdict == "unsound"
        && texts(&c.allowed) == Some(allowed)
        && set(&c.locations) == places(s, kind, &c.trace)
}

/// Whether every run of a test case from there on fails.
fn dooms(case: &TestCase, at: TestStateId) -> bool {
    let state = case.state(at);
    let all = state.steps().into_iter().all(|(_, to)| dooms(case, to));
    match &state.step {
        TestStep::End => claims(state.verdict),
        TestStep::Observe {
            quiescence: None, ..
        }
        | TestStep::Offer { .. } => all && claims(state.verdict),
        _ => all,
    }
}

fn detects(case: &TestCase, c: &WholeCertificate) -> bool {
    thinned(&c.trace).iter().any(|trace| {
        let end = trace.iter().try_fold(case.initial(), |at, action| {
            step(case, at, action).and_then(Result::ok)
        });
        let Some(at) = end else { return false };
        match &c.observed {
            Some(Observation::Action(action)) => match step(case, at, action) {
                Some(Ok(to)) => dooms(case, to),
                Some(Err(verdict)) => claims(verdict),
                None => false,
            },
            Some(Observation::Refusal(refused)) => {
                let state = case.state(at);
                let offered = state.steps().into_iter();
                let offered: Vec<String> = offered.map(|(l, _)| case.labels().text(l)).collect();
                matches!(state.step, TestStep::Offer { .. })
                    && claims(state.verdict)
                    && offered.iter().all(|a| refused.refuses.contains(a))
            }
            None => false,
        }
    })
}

/// Whether a certificate of an error that a suite misses is true.
fn is_undetected(cases: &[TestCase], s: &System, kind: Relation, c: &WholeCertificate) -> bool {
    let delta = c.trace.contains(&"delta".to_owned()) && kind != Relation::Ioco;
    if delta || set_after(s, &c.trace).is_none() {
        return false;
    }
    let mut allowed = BTreeSet::new();
    match (&c.observed, kind) {
        (Some(Observation::Refusal(refused)), Relation::Conf) => {
            let refused: BTreeSet<String> = refused.refuses.iter().cloned().collect();
            let visible = |l| s.labels().kind(l) == LabelKind::Undirected;
            let known = |a: &String| s.labels().get_text(a).is_some_and(visible);
            if !refused.iter().all(known) || may_refuse(s, &c.trace, &refused) {
                return false;
            }
        }
        (Some(Observation::Action(action)), Relation::Ioco | Relation::Ioconf) => {
            allowed = out(s, &c.trace).unwrap_or_default();
            let shown = action == "delta" || action.starts_with('!');
            if !shown || allowed.contains(action) {
                return false;
            }
        }
        _ => return false,
    }
    c.verdict == "undetected"
        && !cases.iter().any(|case| detects(case, c))
        && texts(&c.allowed) == Some(allowed)
        && set(&c.locations) == places(s, kind, &c.trace)
}

fn edit(random: &mut Random, c: &mut WholeCertificate, labels: &[&str]) {
    let others: Vec<&str> = labels.iter().copied().chain(["delta", "!z"]).collect();
    let label = |random: &mut Random| random.pick(&others).to_owned();
    match random.below(10) {
        8 => random
            .pick(&["ioco", "ioconf", "conf", "uioco", "safety"])
            .clone_into(&mut c.kind),
        9 => random
            .pick(&["synchronous", "queues", "both"])
            .clone_into(&mut c.context),
        kind @ 0..=2 if kind == 0 || !c.trace.is_empty() => edit_trace(random, c, kind, &others),
        3 => match &mut c.observed {
            Some(Observation::Refusal(set)) if random.below(3) > 0 => {
                if random.below(2) == 0 {
                    set.refuses.pop();
                } else {
                    set.refuses.push(label(random));
                }
            }
            other => *other = Some(Observation::Action(label(random))),
        },
        4 => c.observed = None,
        5 => {
            let at = random.below(c.allowed.len() + 1);
            let new = Observation::Action(label(random));
            if random.below(2) == 0 || at == c.allowed.len() {
                c.allowed.insert(at, new);
            } else {
                c.allowed.remove(at);
            }
        }
        6 => match random.below(2) {
            0 => c.locations.push(random.below(4).to_string()),
            _ => drop(c.locations.pop()),
        },
        _ => {
            let names = ["fail", "unsound", "undetected", "pass", "holds"];
            random.pick(&names).clone_into(&mut c.verdict);
        }
    }
}

/// A derived test case, in which an author may have turned some verdicts.
fn turned(random: &mut Random, case: &TestCase) -> TestCase {
    let mut state = |state: &TestState| {
        let verdict = match random.below(6) {
            0 => Verdict::Fail,
            1 => Verdict::Pass,
            _ => state.verdict,
        };
        TestState {
            verdict,
            ..state.clone()
        }
    };
    let states = case.states().iter().map(&mut state).collect();
    let (model, labels) = (iolite_derive::ModelRef::default(), case.labels());
    TestCase::new("t", Criterion::Written, model, Arc::clone(labels), states).expect("a test case")
}

fn derive(kind: Relation, s: &Lts, seed: u64) -> Vec<TestCase> {
    let how = RandomDerivation {
        count: 3,
        depth: 4,
        seed,
        ..RandomDerivation::default()
    };
    let model = iolite_derive::ModelRef::default();
    match kind {
        Relation::Ioco => how.derive(&mut IocoOracle::new(s, POLICY), &model),
        Relation::Ioconf => how.derive(&mut IoconfOracle::new(s, POLICY), &model),
        _ => ConfDerivation::new(s).random(&how, &model),
    }
}

#[test]
fn single_edits_of_suites_are_judged_rightly() {
    for kind in RELATIONS {
        let labels: &[&str] = if kind == Relation::Conf {
            &PLAIN
        } else {
            &DIRECTED
        };
        let mut random = Random(43);
        let mut counts = [(0, 0); 2];
        let mut seed = 0;
        while counts.iter().any(|&(edits, _)| edits < 2_000) {
            seed += 1;
            assert!(seed < 5_000, "{kind}: {counts:?}");
            let workspace = Workspace::new();
            workspace.insert(Path::new("s.aut"), model(&mut random, labels));
            let spec = workspace
                .explicit(&ModelRef::from("s.aut"))
                .expect("a model");
            let s = spec.system();
            let derived = derive(kind, &explore(&s, 100).expect("small"), seed);
            let cases: Vec<TestCase> = derived.iter().map(|c| turned(&mut random, c)).collect();
            let mut suite = Vec::new();
            for (k, case) in cases.iter().enumerate() {
                let path = PathBuf::from(format!("t{k}.json"));
                workspace.insert(&path, json::write(case));
                suite.push(path);
            }
            if suite.is_empty() {
                continue;
            }
            let options = SuiteOptions {
                relation: kind,
                semantics: SemanticsOptions::default(),
                uncovered: 0,
            };
            let found = workspace.judge_suite(&"s.aut".into(), &suite, options, &mut |_| None);
            let found = found.expect("an answer");
            let unsound = found.cases.iter().position(|case| !case.sound);
            assert_eq!(unsound.is_some(), found.first_unsound.is_some());
            assert_eq!(
                found.exhaustive.witness.is_some(),
                found.certificate.is_some()
            );
            let unsound = unsound.zip(found.first_unsound).map(|(k, c)| (Some(k), c));
            let missed = found.certificate.map(|c| (None, c));
            for (case, whole) in unsound.into_iter().chain(missed) {
                // What is so for one relation may be so for another one.
                let is_true = |c: &WholeCertificate| {
                    let of = RELATIONS.into_iter().find(|r| r.name() == c.kind);
                    let Some(of) = of.filter(|_| c.context == "synchronous") else {
                        return false;
                    };
                    match case {
                        Some(k) => is_unsound(&cases[k], &s, of, c),
                        None => is_undetected(&cases, &s, of, c),
                    }
                };
                assert_eq!(
                    explain(&workspace, &whole),
                    CheckOutcome::Confirmed,
                    "{whole:#?}"
                );
                assert!(is_true(&whole), "{whole:#?}");
                let count = &mut counts[usize::from(case.is_none())];
                for _ in 0..20 {
                    let mut other = (*whole).clone();
                    edit(&mut random, &mut other, labels);
                    // A test case with inputs and outputs is none for conf, unless it does nothing.
                    if (other.kind == "conf") != (kind == Relation::Conf) {
                        continue;
                    }
                    let right = is_true(&other);
                    let checked = explain(&workspace, &other);
                    assert_eq!(
                        checked == CheckOutcome::Confirmed,
                        right,
                        "{checked:?} {other:#?}"
                    );
                    count.0 += 1;
                    count.1 += usize::from(right);
                }
                // A test case and its text belong together, and none may be left out.
                let mut other = (*whole).clone();
                let test = other.test.iter_mut().chain(&mut other.suite).next();
                test.expect("a test case").name.push('x');
                assert_ne!(explain(&workspace, &other), CheckOutcome::Confirmed);
                let mut other = (*whole).clone();
                other.test = None;
                other.suite.clear();
                assert_ne!(explain(&workspace, &other), CheckOutcome::Confirmed);
            }
        }
        for (edits, still_true) in counts {
            assert!(still_true > 20, "{kind}: {still_true} of {edits} stay true");
        }
    }
}
