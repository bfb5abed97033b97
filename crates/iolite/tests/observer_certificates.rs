//! Certificates of refuted observers and of property violations, under random single edits. What is true
//! is asked of the kernel's automata.

mod common;
mod support;

use std::collections::BTreeSet;
use std::path::Path;

use common::{DIRECTED, Random, edit_trace, explain, model_with_all_actions};
use iolite::{
    Certificate, CheckOutcome, Criterion, EnvironmentFlag, FairnessFlag, JudgedBy, ModelRef,
    Observation, PropertyOptions, PropertyReadOptions, VerificationOptions, WholeCertificate,
    Workspace,
};
use iolite_derive::{Ending, Execution, Executions, Fairness, LetterMap, recheck_violation};
use iolite_lts::relation::follow_run;
use iolite_lts::{
    LabelId, LabelKind, Quiescence, QuiescencePolicy, Semantics, StateId, Suspension,
};
use iolite_property::{Determinacy, Reading};
use support::judged;

const OBSERVER: &str = "observer W {
  input a, b  output x, y
  initial state A { !x -> B  ?a -> A  ?b -> A  !y -> A  delta -> A }
  state B { !x -> Bad  delta -> Bad  !y -> A  ?a -> B  ?b -> B }
  violate state Bad
}";

/// Where the observer is after a trace, by its rules written out again; `None` where it is left.
fn place(trace: &[String]) -> (bool, Option<&'static str>) {
    let mut at = Some("A");
    let mut early = false;
    for (k, action) in trace.iter().enumerate() {
        at = match (at, action.as_str()) {
            (Some("B"), "!x" | "delta") => Some("Bad"),
            (Some("B"), "!y") => Some("A"),
            (Some("A"), "!x") | (Some("B"), _) => Some("B"),
            (Some("A"), _) => Some("A"),
            _ => None,
        };
        early |= at == Some("Bad") && k + 1 < trace.len();
    }
    (early, at)
}

fn is_true(workspace: &Workspace, c: &WholeCertificate) -> bool {
    let s = workspace
        .explicit(&ModelRef::from("s.aut"))
        .expect("a model");
    let system = s.system();
    let Some(found) = follow_run(&system, QuiescencePolicy::Livelock, true, &c.trace) else {
        return false;
    };
    let (early, at) = place(&c.trace);
    let mut places: BTreeSet<String> = found
        .states
        .iter()
        .map(|&state| iolite_derive::location(&system, state))
        .collect();
    places.insert(format!("W: {}", at.unwrap_or("left for good")));
    c.verdict == "refuted"
        && !early
        && at == Some("Bad")
        && c.observed.is_none()
        && c.allowed.is_empty()
        && c.locations.iter().cloned().collect::<BTreeSet<_>>() == places
}

fn edit(random: &mut Random, c: &mut WholeCertificate, labels: &[&str]) {
    let label = |random: &mut Random| random.pick(labels).to_owned();
    match random.below(7) {
        kind @ 0..=2 if kind == 0 || !c.trace.is_empty() => edit_trace(random, c, kind, labels),
        3 => c.observed = Some(Observation::Action(label(random))),
        4 => c.allowed.push(Observation::Action(label(random))),
        5 => match random.below(2) {
            0 => c.locations.push(random.below(4).to_string()),
            _ => drop(c.locations.pop()),
        },
        _ => {
            let names = [
                "fail",
                "violate",
                "violate-fail",
                "proved",
                "refuted",
                "weak-fail",
            ];
            random.pick(&names).clone_into(&mut c.verdict);
        }
    }
}

#[test]
fn single_edits_of_refuted_observers_are_judged_rightly() {
    let mut random = Random(43);
    let (mut edits, mut still_true) = (0, 0);
    let labels = [&DIRECTED[..4], &["delta"]].concat();
    while edits < 3_000 {
        let workspace = Workspace::new();
        let Some(text) = model_with_all_actions(&mut random) else {
            continue;
        };
        workspace.insert(Path::new("s.aut"), text);
        workspace.insert(Path::new("w.iol"), OBSERVER);
        let asked = VerificationOptions {
            properties: vec!["w.iol#W".into()],
            ..VerificationOptions::default()
        };
        let found = workspace
            .verify(&"s.aut".into(), &asked)
            .expect("an answer");
        let whole = workspace.certify_refutation(&found, &found.properties[0], &asked);
        let Some(whole) = whole.expect("a certificate") else {
            continue;
        };
        assert_eq!(
            explain(&workspace, &whole),
            CheckOutcome::Confirmed,
            "{whole:#?}"
        );
        assert!(is_true(&workspace, &whole), "{whole:#?}");
        for _ in 0..40 {
            let mut other = whole.clone();
            edit(&mut random, &mut other, &labels);
            let right = is_true(&workspace, &other);
            let checked = explain(&workspace, &other);
            assert_eq!(
                checked == CheckOutcome::Confirmed,
                right,
                "{checked:?} {other:#?}"
            );
            edits += 1;
            still_true += usize::from(right);
        }
        // The observer and its text belong together.
        let mut other = whole.clone();
        let observer = &mut other.observers[0];
        match random.below(3) {
            0 => observer.marked = vec![random.below(2)],
            1 => drop(observer.steps.pop()),
            _ => observer.states[0].push('x'),
        }
        assert_ne!(
            explain(&workspace, &other),
            CheckOutcome::Confirmed,
            "{other:#?}"
        );
    }
    assert!(
        still_true > 20,
        "only {still_true} edits keep the claim true"
    );
}

const PROPERTIES: &str = "property Alternates over {a, b} = always ((a b)* | (a b)* a)
property NoTwo over {a, b, c} = always (((b | c) | a (b | c))* | ((b | c) | a (b | c))* a)
property Ends over {a, b, c} = eventually ((a | b | c)* b)
";

#[test]
fn single_edits_of_property_violations_are_judged_rightly() {
    let mut random = Random(47);
    let letters = ["a", "b", "c", "?a", "!b", "z"];
    for name in ["Alternates", "NoTwo", "Ends"] {
        let workspace = Workspace::new();
        workspace.insert(Path::new("p.iol"), PROPERTIES);
        let reference = ModelRef::from(format!("p.iol#{name}").as_str());
        let read = PropertyReadOptions::default();
        let automaton = workspace
            .property(&reference, &read)
            .expect("a property")
            .automaton;
        let determined = Determinacy::new(&automaton, Reading::FiniteAndInfinite).unwrap();
        let (structure, sigma) = (automaton.structure(), automaton.alphabet());
        // No continuation is in the property; what it does not know changes nothing.
        let violates = |trace: &[String]| {
            let find = |text: &str| sigma.iter().find(|&l| sigma.text(l) == text);
            let letter = |a: &String| find(a).or_else(|| find(a.trim_start_matches(['?', '!'])));
            let end = trace.iter().filter_map(letter);
            let end = end.fold(structure.initial(), |q, l| structure.step(q, l));
            determined.negative.contains(end)
        };
        let options = PropertyOptions {
            properties: vec![reference.clone()],
            ..PropertyOptions::default()
        };
        let (mut edits, mut still_true) = (0, 0);
        for _ in 0..2_000 {
            let length = 1 + random.below(5);
            let mut trace: Vec<String> = (0..length)
                .map(|_| random.pick(&letters[..4]).to_owned())
                .collect();
            let judged = Certificate {
                model: reference.clone(),
                observed: trace.pop(),
                trace: trace.clone(),
                ..judged(Criterion::Property, "", false)
            };
            let whole = workspace.certify_run(&judged, JudgedBy::Properties(&options));
            let whole = whole.expect("an answer").expect("a certificate");
            let events = |c: &WholeCertificate| {
                let mut all = c.trace.clone();
                if let Some(Observation::Action(last)) = &c.observed {
                    all.push(last.clone());
                }
                all
            };
            let is_true = |c: &WholeCertificate| {
                c.verdict == "fail"
                    && c.allowed.is_empty()
                    && c.locations.is_empty()
                    && violates(&events(c))
            };
            let checked = explain(&workspace, &whole);
            assert_eq!(
                checked == CheckOutcome::Confirmed,
                is_true(&whole),
                "{checked:?} {whole:#?}"
            );
            if checked != CheckOutcome::Confirmed {
                continue;
            }
            for _ in 0..10 {
                let mut other = whole.clone();
                edit(&mut random, &mut other, &letters);
                let checked = explain(&workspace, &other);
                assert_eq!(
                    checked == CheckOutcome::Confirmed,
                    is_true(&other),
                    "{checked:?} {other:#?}"
                );
                edits += 1;
                still_true += usize::from(is_true(&other));
            }
            let mut other = whole.clone();
            let table = other.property.as_mut().expect("a property");
            table.initial = (table.initial + 1) % table.rows.len();
            if other != whole {
                assert_ne!(explain(&workspace, &other), CheckOutcome::Confirmed);
            }
        }
        // A property that no finite run violates has no such certificate.
        assert_eq!(edits > 500, name != "Ends", "{name}: {edits}");
        assert!(name == "Ends" || still_true > 20, "{name}: {still_true}");
    }
}

/// Whether an execution is one of the specification and not in GF !x. A finite word is in it if it is empty
/// or ends in !x.
fn is_outside(workspace: &Workspace, c: &WholeCertificate) -> bool {
    let s = workspace
        .explicit(&ModelRef::from("s.aut"))
        .expect("a model");
    let system = s.system();
    let follow = |trace: &[String]| follow_run(&system, QuiescencePolicy::Livelock, false, trace);
    let Some(found) = follow(&c.trace) else {
        return false;
    };
    let view = Suspension::new(&system, QuiescencePolicy::Livelock);
    let quiet = |why: Quiescence| {
        found
            .states
            .iter()
            .any(|&q| view.quiescence(q) == Some(why))
    };
    let ends_wrong = c.trace.last().is_some_and(|last| last != "!x");
    let right = match (c.ending.as_deref(), &c.cycle) {
        // What waits for nothing at all waits for no input either.
        (Some("output-lock"), None) => {
            ends_wrong && (quiet(Quiescence::OutputLock) || quiet(Quiescence::Deadlock))
        }
        (Some("deadlock"), None) => ends_wrong && quiet(Quiescence::Deadlock),
        (Some("cycle"), Some(cycle)) if cycle.is_empty() => {
            ends_wrong && quiet(Quiescence::Livelock)
        }
        (Some("cycle"), Some(cycle)) => {
            let rounds = std::iter::repeat_n(cycle, 20).flatten();
            let rounds: Vec<String> = c.trace.iter().chain(rounds).cloned().collect();
            follow(&rounds).is_some() && !cycle.iter().any(|a| a == "!x")
        }
        _ => false,
    };
    right
        && c.verdict == "refuted"
        && c.allowed.is_empty()
        && c.locations.is_empty()
        && c.observed.is_none()
}

/// Whether the steps of an execution are those of the model, fair, and not in GF !x: asked of the checker
/// that searches use.
fn is_fair_and_outside(
    workspace: &Workspace,
    asked: &VerificationOptions,
    c: &WholeCertificate,
) -> bool {
    let (Some(steps), Some(table)) = (
        &c.execution,
        c.specification.as_ref().and_then(|m| m.table.as_ref()),
    ) else {
        return false;
    };
    let s = workspace
        .explicit(&ModelRef::from("s.aut"))
        .expect("a model");
    let labels = s.labels();
    let read = PropertyReadOptions {
        over: DIRECTED[..4].iter().map(|&l| l.to_owned()).collect(),
        ..PropertyReadOptions::default()
    };
    let property = workspace
        .property(&"ltl:GF !x".into(), &read)
        .expect("a property")
        .automaton;
    let step = |(action, to): &(String, usize)| {
        let label = labels.iter().find(|(id, _)| labels.text(*id) == *action)?.0;
        let state: usize = table.states.get(*to)?.state.parse().ok()?;
        Some((label, StateId::new(state)))
    };
    let list = |all: &[(String, usize)]| all.iter().map(step).collect::<Option<Vec<_>>>();
    let (Some(stem), Some(cycle)) = (list(&steps.stem), list(&steps.cycle)) else {
        return false;
    };
    let visible = |all: &[(LabelId, StateId)]| -> Vec<String> {
        let seen = all
            .iter()
            .filter(|(l, _)| labels.kind(*l) != LabelKind::Internal);
        seen.map(|(l, _)| labels.text(*l)).collect()
    };
    if visible(&stem) != c.trace || visible(&cycle) != c.cycle.clone().unwrap_or_default() {
        return false;
    }
    let ending = match (c.ending.as_deref(), &c.cycle) {
        (Some("output-lock"), None) => Ending::OutputLock,
        (Some("deadlock"), None) => Ending::Deadlock,
        (Some("bad-prefix"), None) => Ending::BadPrefix,
        (Some("cycle"), Some(_)) => Ending::Cycle(cycle.clone()),
        _ => return false,
    };
    let system = s.system();
    let execution = Execution {
        initial: system.initial(),
        stem,
        ending,
    };
    let executions = Executions {
        fairness: match c.fairness.as_deref() {
            None => Fairness::None,
            Some("weak") => Fairness::Weak,
            Some("strong") => Fairness::Strong,
            Some(_) => return false,
        },
        environment: asked.environment.into(),
        quiescence: QuiescencePolicy::Livelock,
    };
    let letters = LetterMap::new(property.alphabet(), labels);
    let found = recheck_violation(&system, &property, &letters, executions, &execution);
    found.is_ok()
        && (c.ending.as_deref() == Some("cycle") || cycle.is_empty())
        && c.verdict == "refuted"
        && c.allowed.is_empty()
        && c.locations.is_empty()
        && c.observed.is_none()
}

#[test]
fn single_edits_of_fair_executions_are_judged_rightly() {
    let mut random = Random(59);
    let (mut edits, mut still_true, mut cycles) = (0, 0, 0);
    let labels = [&DIRECTED[..], &["delta"]].concat();
    while edits < 3_000 {
        let workspace = Workspace::new();
        let Some(text) = model_with_all_actions(&mut random) else {
            continue;
        };
        workspace.insert(Path::new("s.aut"), text);
        let asked = VerificationOptions {
            properties: vec!["ltl:GF !x".into()],
            fairness: [FairnessFlag::Weak, FairnessFlag::Strong][random.below(2)],
            environment: [EnvironmentFlag::MayStop, EnvironmentFlag::GoesOn][random.below(2)],
            ..VerificationOptions::default()
        };
        let found = workspace
            .verify(&"s.aut".into(), &asked)
            .expect("an answer");
        let whole = workspace.certify_refutation(&found, &found.properties[0], &asked);
        let Some(whole) = whole.expect("a certificate") else {
            continue;
        };
        cycles += usize::from(whole.cycle.is_some());
        assert_eq!(
            explain(&workspace, &whole),
            CheckOutcome::Confirmed,
            "{whole:#?}"
        );
        assert!(
            is_fair_and_outside(&workspace, &asked, &whole),
            "{whole:#?}"
        );
        for _ in 0..40 {
            let mut other = whole.clone();
            let action = random.pick(&labels).to_owned();
            let state = random.below(4);
            let steps = other.execution.as_mut().expect("steps");
            match random.below(6) {
                0 => edit(&mut random, &mut other, &labels[..4]),
                1 => {
                    other.fairness =
                        [None, Some("weak".into()), Some("strong".into())][random.below(3)].clone();
                }
                2 => steps.stem.push((action, state)),
                3 => drop(steps.cycle.pop()),
                // Once more round is the same execution, if it is told of so.
                4 => {
                    let again = steps.cycle.clone();
                    steps.cycle.extend(again);
                    if let Some(cycle) = &mut other.cycle {
                        let again = cycle.clone();
                        cycle.extend(again);
                    }
                }
                _ => {
                    let list = if random.below(2) == 0 || steps.stem.is_empty() {
                        &mut steps.cycle
                    } else {
                        &mut steps.stem
                    };
                    if let Some(last) = list.last_mut() {
                        *last = (action, state);
                    }
                }
            }
            let right = is_fair_and_outside(&workspace, &asked, &other);
            let checked = explain(&workspace, &other);
            assert_eq!(
                checked == CheckOutcome::Confirmed,
                right,
                "{checked:?} {other:#?}"
            );
            edits += 1;
            still_true += usize::from(right);
        }
    }
    assert!(still_true > 20 && cycles > 5, "{still_true} {cycles}");
}

#[test]
fn single_edits_of_executions_are_judged_rightly() {
    let mut random = Random(53);
    let (mut edits, mut still_true, mut cycles) = (0, 0, 0);
    let labels = [&DIRECTED[..4], &["delta"]].concat();
    while edits < 3_000 {
        let workspace = Workspace::new();
        let Some(text) = model_with_all_actions(&mut random) else {
            continue;
        };
        workspace.insert(Path::new("s.aut"), text);
        let asked = VerificationOptions {
            properties: vec!["ltl:GF !x".into()],
            ..VerificationOptions::default()
        };
        let found = workspace
            .verify(&"s.aut".into(), &asked)
            .expect("an answer");
        let whole = workspace.certify_refutation(&found, &found.properties[0], &asked);
        let Some(whole) = whole.expect("a certificate") else {
            assert!(!matches!(
                found.properties[0].proof,
                iolite::Proof::Refuted { .. }
            ));
            continue;
        };
        cycles += usize::from(whole.cycle.is_some());
        assert_eq!(
            explain(&workspace, &whole),
            CheckOutcome::Confirmed,
            "{whole:#?}"
        );
        assert!(is_outside(&workspace, &whole), "{whole:#?}");
        for _ in 0..40 {
            let mut other = whole.clone();
            match random.below(3) {
                0 => edit(&mut random, &mut other, &labels),
                1 => {
                    let names = ["cycle", "deadlock", "output-lock", "bad-prefix", "round"];
                    other.ending = Some(random.pick(&names).to_owned());
                }
                _ => {
                    let cycle = other.cycle.get_or_insert_default();
                    match random.below(2) {
                        0 => cycle.push(random.pick(&labels).to_owned()),
                        _ => drop(cycle.pop()),
                    }
                }
            }
            let right = is_outside(&workspace, &other);
            let checked = explain(&workspace, &other);
            assert_eq!(
                checked == CheckOutcome::Confirmed,
                right,
                "{checked:?} {other:#?}"
            );
            edits += 1;
            still_true += usize::from(right);
        }
    }
    assert!(still_true > 20 && cycles > 5, "{still_true} {cycles}");
}
