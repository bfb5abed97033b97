//! Certificates of models that fail test cases, under random single edits. What is true is asked of the
//! kernel: the test case is stepped beside the determinised implementation.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use common::{DIRECTED, PLAIN, Random, edit_trace, explain, model};
use iolite::{
    CheckOutcome, CompletionFlag, ModelRef, Observation, SemanticsOptions, Verdict,
    WholeCertificate, Workspace,
};
use iolite_derive::{
    ConfDerivation, IocoOracle, IoconfOracle, RandomDerivation, TestCase, TestStateId, TestStep,
};
use iolite_formats::test_case::json;
use iolite_lts::{
    Completed, Completion, Determinised, LabelKind, Labels, Lts, QuiescencePolicy, Suspension,
    explore,
};

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;

/// What a step of the run means to the test case.
enum Next {
    State(TestStateId),
    End(Verdict),
}

fn next(case: &TestCase, at: TestStateId, action: &str) -> Option<Next> {
    let state = case.state(at);
    let known = case.labels().get_text(action);
    let step = state.steps().into_iter().find(|(l, _)| Some(*l) == known);
    match (&state.step, step) {
        (_, Some((_, to))) => Some(Next::State(to)),
        (TestStep::Observe { .. }, None) if action == "delta" => Some(Next::End(state.verdict)),
        (TestStep::Observe { .. }, None) if action.starts_with('!') => {
            Some(Next::End(Verdict::Fail))
        }
        _ => None,
    }
}

/// Which states are quiescent, by the name in a certificate.
fn policy(name: &str) -> Option<QuiescencePolicy> {
    match name {
        "livelock" => Some(QuiescencePolicy::Livelock),
        "strict" => Some(QuiescencePolicy::Strict),
        "fair" => Some(QuiescencePolicy::Fair),
        _ => None,
    }
}

/// Whether the claim is true, part by part, but for the place of the implementation, which is `completed` or as it is written.
fn is_true(case: &TestCase, (completed, plain): (&Lts, &Lts), c: &WholeCertificate) -> bool {
    let i = match c.complete_inputs.as_deref() {
        Some("self-loop") => completed,
        // Implementations of directed test cases take every input; nothing is added to one that does.
        None if c.kind == "conf" || plain.transition_count() == completed.transition_count() => {
            plain
        }
        _ => return false,
    };
    let Some(policy) = policy(&c.quiescence) else {
        return false;
    };
    if c.kind != case.criterion().name() || c.context != "synchronous" {
        return false;
    }
    let mut run = c.trace.clone();
    let mut refused: Option<BTreeSet<String>> = None;
    match &c.observed {
        Some(Observation::Action(action)) => run.push(action.clone()),
        Some(Observation::Refusal(set)) => refused = Some(set.refuses.iter().cloned().collect()),
        None => {}
    }
    let mut view = Determinised::new(Suspension::new(i, policy));
    let mut set = view.initial();
    let (mut at, mut before) = (case.initial(), case.initial());
    let mut ended = None;
    for action in &run {
        let Some(label) = i.labels().get_text(action) else {
            return false;
        };
        let (Some(there), None, false) = (
            view.after(set, label),
            ended,
            i.labels().kind(label) == LabelKind::Internal,
        ) else {
            return false;
        };
        set = there;
        before = at;
        match next(case, at, action) {
            Some(Next::State(to)) => at = to,
            Some(Next::End(verdict)) => ended = Some(verdict),
            None => return false,
        }
    }
    let state = case.state(at);
    if let Some(refused) = refused {
        let offered: BTreeSet<String> = state
            .steps()
            .iter()
            .map(|&(l, _)| case.labels().text(l))
            .collect();
        let members = view.members(set).to_vec();
        let mut refuses = |q| {
            let closed = view.set_of(&[q]);
            let mut row = view.row(closed).iter();
            !row.any(|&(l, _)| offered.contains(&i.labels().text(l)))
        };
        let deadlock = members.into_iter().any(&mut refuses);
        if !matches!(state.step, TestStep::Offer { .. }) || offered != refused || !deadlock {
            return false;
        }
        ended = Some(state.verdict);
        before = at;
    }
    let verdict = match ended {
        Some(verdict) => verdict,
        None if state.step == TestStep::End => state.verdict,
        None => return false,
    };
    let told = |list: &[String]| list.iter().cloned().collect::<BTreeSet<String>>();
    let actions: Option<Vec<String>> = c
        .allowed
        .iter()
        .map(|o| match o {
            Observation::Action(action) => Some(action.clone()),
            Observation::Refusal(_) => None,
        })
        .collect();
    verdict.is_failing()
        && c.verdict == verdict.name()
        && actions.is_some_and(|a| told(&a) == allowed(case, before, c.observed.is_some()))
        && told(&c.locations) == told(&case.state(before).locations)
}

fn allowed(case: &TestCase, at: TestStateId, observed: bool) -> BTreeSet<String> {
    let state = case.state(at);
    let mut all = BTreeSet::new();
    if !observed {
        return all;
    }
    for (l, to) in state.steps() {
        let to = case.state(to);
        if !(to.step == TestStep::End && to.verdict.is_failing()) {
            all.insert(case.labels().text(l));
        }
    }
    let silent = matches!(
        state.step,
        TestStep::Observe {
            quiescence: None,
            ..
        }
    );
    if silent && !state.verdict.is_failing() {
        all.insert("delta".to_owned());
    }
    all
}

fn edit(random: &mut Random, c: &mut WholeCertificate, labels: &[&str]) {
    let others: Vec<&str> = labels.iter().copied().chain(["delta", "!z"]).collect();
    let label = |random: &mut Random| random.pick(&others).to_owned();
    match random.below(12) {
        8 => random
            .pick(&["ioco", "ioconf", "conf", "test", "safety"])
            .clone_into(&mut c.kind),
        9 => random
            .pick(&["livelock", "fair", "never"])
            .clone_into(&mut c.quiescence),
        10 => random
            .pick(&["synchronous", "queues"])
            .clone_into(&mut c.context),
        11 => {
            let how = random.pick(&["self-loop", "none", "chaotic"]).to_owned();
            c.complete_inputs = Some(how).filter(|how| how != "none");
        }
        kind @ 0..=2 if kind == 0 || !c.trace.is_empty() => edit_trace(random, c, kind, &others),
        3 => c.observed = Some(Observation::Action(label(random))),
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
            let names = [
                "fail",
                "violate",
                "violate-fail",
                "pass",
                "inconc",
                "weak-fail",
            ];
            random.pick(&names).clone_into(&mut c.verdict);
        }
    }
}

fn derive(kind: usize, s: &Lts, seed: u64) -> Vec<TestCase> {
    let how = RandomDerivation {
        count: 3,
        depth: 4,
        seed,
        ..RandomDerivation::default()
    };
    let model = iolite_derive::ModelRef::default();
    match kind {
        0 => how.derive(&mut IocoOracle::new(s, POLICY), &model),
        1 => how.derive(&mut IoconfOracle::new(s, POLICY), &model),
        _ => ConfDerivation::new(s).random(&how, &model),
    }
}

#[test]
fn single_edits_of_test_runs_are_judged_rightly() {
    for kind in 0..3 {
        let labels: &[&str] = if kind < 2 { &DIRECTED } else { &PLAIN };
        let mut random = Random(41);
        let (mut edits, mut still_true, mut seed) = (0, 0, 0);
        while edits < 2_000 {
            seed += 1;
            let workspace = Workspace::new();
            for name in ["i.aut", "s.aut"] {
                workspace.insert(Path::new(name), model(&mut random, labels));
            }
            let load = |name: &str| workspace.explicit(&ModelRef::from(name)).expect("a model");
            let (i, s) = (load("i.aut"), load("s.aut"));
            let spec = explore(&s.system(), 100).expect("small");
            for case in derive(kind, &spec, seed) {
                workspace.insert(Path::new("t.json"), json::write(&case));
                let semantics = SemanticsOptions {
                    complete_inputs: (kind < 2).then_some(CompletionFlag::SelfLoop),
                    ..SemanticsOptions::default()
                };
                let suite = [PathBuf::from("t.json")];
                let found = workspace.passes(&"i.aut".into(), &suite, semantics, &mut |_| None);
                let Some(whole) = found.expect("an answer").certificate else {
                    continue;
                };
                assert_eq!(
                    explain(&workspace, &whole),
                    CheckOutcome::Confirmed,
                    "{whole:#?}"
                );
                let inputs: &Labels = case.labels();
                let system = i.system();
                let view = Completed::over(&system, Completion::SelfLoop, inputs);
                let completed = explore(&view, 100).expect("small");
                let plain = explore(&system, 100).expect("small");
                let both = (&completed, &plain);
                assert!(is_true(&case, both, &whole), "{whole:#?}");
                for _ in 0..40 {
                    let mut other = (*whole).clone();
                    // Which state it ends in may change with the run.
                    other.implementation_location = None;
                    edit(&mut random, &mut other, labels);
                    let right = is_true(&case, both, &other);
                    let checked = explain(&workspace, &other);
                    assert_eq!(
                        checked == CheckOutcome::Confirmed,
                        right,
                        "{checked:?} {other:#?}"
                    );
                    edits += 1;
                    still_true += usize::from(right);
                }
                // The table and the text of the test case belong together.
                let mut other = (*whole).clone();
                let test = other.test.as_mut().expect("a test case");
                let at = random.below(test.states.len());
                test.states[at].verdict = match test.states[at].verdict.as_str() {
                    "fail" => "pass".to_owned(),
                    _ => "fail".to_owned(),
                };
                assert_ne!(explain(&workspace, &other), CheckOutcome::Confirmed);
                let mut other = (*whole).clone();
                other.test.as_mut().expect("a test case").name.push('x');
                assert_ne!(explain(&workspace, &other), CheckOutcome::Confirmed);
            }
        }
        assert!(
            still_true > 20,
            "{kind}: only {still_true} edits keep the claim true"
        );
    }
}
