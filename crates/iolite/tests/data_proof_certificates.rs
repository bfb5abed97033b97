//! Certificates of relations between models with data, of both answers, under random single edits. What is true
//! is found by firing transitions by hand.

mod common;

use std::path::Path;

use common::{Random, explain};
use iolite::{
    CheckOutcome, CompletionFlag, Observation, RelationOptions, WholeCertificate, Workspace,
};
use iolite_lts::relation::Relation;

/// Two systems over unbounded data; the same over few values where `n` is bounded by the guards.
fn models(random: &mut Random) -> String {
    let guards = [
        "v == n",
        "v >= n",
        "v == n + 1",
        "v <= n + 1",
        "v > 0 && v <= n + 1",
    ];
    let effects = ["n := v", "n := 1", "n := n", "n := v + 1"];
    let mut system = |name: &str| {
        let (g, h) = (random.pick(&guards), random.pick(&guards));
        let (e, f) = (random.pick(&effects), random.pick(&effects));
        format!(
            "system {name} {{
               var n: int = 0
               input a(v: int)
               output b(v: int), c
               initial state P {{ ?a(v) / {e} -> Q }}
               state Q {{ ?a(v) -> Q  !b(v) [{g}] / {f} -> P  !c [n > 1] -> R }}
               state R {{ ?a(v) -> R  !b(v) [{h}] -> P }}
             }}\n"
        )
    };
    system("S") + &system("I")
}

fn edit(random: &mut Random, c: &mut WholeCertificate) {
    let actions = [
        "?a(1)", "?a(2)", "!b(0)", "!b(1)", "!b(2)", "!b(3)", "!c", "delta",
    ];
    let action = random.pick(&actions).to_owned();
    match random.below(9) {
        0 => c.observed = Some(Observation::Action(action)),
        1 => c.trace.insert(random.below(c.trace.len() + 1), action),
        2 => drop(c.trace.pop()),
        3 => random
            .pick(&["fail", "holds", "violate"])
            .clone_into(&mut c.verdict),
        4 => random
            .pick(&["ioco", "uioco", "ioconf"])
            .clone_into(&mut c.kind),
        5 => {
            let places = [
                "Q (n = 1)",
                "Q (n = 2)",
                "P (n = 0)",
                "R (n = 1)",
                "R (n = 2)",
            ];
            c.implementation_location = Some(random.pick(&places).to_owned());
        }
        6 => c.allowed.push(Observation::Action(action)),
        7 => drop(c.allowed.pop()),
        _ => c.locations.push("P (n = 7)".to_owned()),
    }
}

/// The trace and the observation by firing transitions with values: whether `system` has them, and every place
/// before the last step.
fn shows(text: &str, system: &str, actions: &[String]) -> Option<Vec<String>> {
    let own = text
        .split("system ")
        .find(|part| part.starts_with(system))?;
    let line = |state: &str| own.lines().find(|l| l.contains(&format!("state {state} ")));
    let part = |state: &str, from: &str, to: &str| -> Option<String> {
        let line = line(state)?;
        let rest = &line[line.find(from)? + from.len()..];
        Some(rest[..rest.find(to)?].to_owned())
    };
    let effect = |text: &str, n: i64, v: i64| match text.trim() {
        "n := v" => v,
        "n := 1" => 1,
        "n := v + 1" => v + 1,
        _ => n,
    };
    let guard = |text: &str, n: i64, v: i64| match text {
        "v == n" => v == n,
        "v >= n" => v >= n,
        "v == n + 1" => v == n + 1,
        "v <= n + 1" => v <= n + 1,
        _ => v > 0 && v <= n + 1,
    };
    let (mut state, mut n) = ("P", 0);
    let mut places = Vec::new();
    for action in actions {
        places.push(format!("{state} (n = {n})"));
        let value = action.split_once('(').map(|(_, v)| v.trim_end_matches(')'));
        let value = value.and_then(|v| v.parse::<i64>().ok()).unwrap_or(0);
        (state, n) = match (state, action.split('(').next()?) {
            ("P", "?a") => ("Q", effect(&part("P", "?a(v) /", "->")?, n, value)),
            (state, "?a") => (state, n),
            ("P", "delta") => ("P", n),
            ("Q", "!b") if guard(&part("Q", "[", "]")?, n, value) => {
                ("P", effect(&part("Q", "] /", "->")?, n, value))
            }
            ("Q", "!c") if n > 1 => ("R", n),
            ("R", "!b") if guard(&part("R", "[", "]")?, n, value) => ("P", n),
            // The guards of R and of Q may leave no value at all.
            (state @ ("Q" | "R"), "delta") => {
                let guarded = part(state, "[", "]")?;
                let possible = (-3..30).any(|v| guard(&guarded, n, v)) || state == "Q" && n > 1;
                if possible {
                    return None;
                }
                (state, n)
            }
            _ => return None,
        };
    }
    Some(places)
}

#[test]
fn relations_between_models_with_data_have_certificates() {
    let mut random = Random(91);
    let (mut held, mut failed, mut edits, mut confirmed) = (0, 0, 0, 0);
    let (mut broken, mut conditions_edited) = (0, 0);
    for _ in 0..400 {
        if edits >= 2_000 && held >= 20 {
            break;
        }
        let workspace = Workspace::new();
        let text = models(&mut random);
        workspace.insert(Path::new("m.iol"), text.as_str());
        let relation = [Relation::Ioco, Relation::Uioco, Relation::Ioconf][random.below(3)];
        let (i, s) = ("m.iol#I".into(), "m.iol#S".into());
        let found = workspace.relate(&i, &s, &RelationOptions::new(relation), &mut |_| None);
        let document = found.expect("an answer");
        match document.holds {
            None => {}
            Some(true) => {
                held += 1;
                let whole = workspace.certify_holding(&document).expect("a certificate");
                let checked = explain(&workspace, &whole);
                assert_eq!(checked, CheckOutcome::Confirmed, "{whole:#?}");
                for _ in 0..10 {
                    let mut other = whole.clone();
                    let data = other.data.as_mut().expect("data");
                    let enabled = random.below(2) == 0;
                    let conditions = match (&mut data.enabled, &mut data.invariant) {
                        (Some(enabled_by), _) if enabled => enabled_by,
                        (_, Some(invariant)) => invariant,
                        _ => continue,
                    };
                    let at = random.below(conditions.len());
                    // A location that is reached is said not to be, or to be reached with other values.
                    let new = [vec![], vec!["n == 77".to_owned()]][random.below(2)].clone();
                    if conditions[at].any == new || conditions[at].any.is_empty() {
                        continue;
                    }
                    conditions[at].any = new;
                    // Where a location is not reached in truth, another condition may do as well.
                    let checked = explain(&workspace, &other);
                    broken += usize::from(checked != CheckOutcome::Confirmed);
                    conditions_edited += 1;
                }
                let mut other = whole.clone();
                other.implementation.as_mut().expect("a model").reference = "m.iol#S".to_owned();
                other.specification.as_mut().expect("a model").reference = "m.iol#I".to_owned();
                other.model.name = Some("I".to_owned());
                let turned =
                    workspace.relate(&s, &i, &RelationOptions::new(relation), &mut |_| None);
                let turned = turned.expect("an answer").holds;
                let checked = explain(&workspace, &other);
                assert!(turned != Some(false) || checked != CheckOutcome::Confirmed);
            }
            Some(false) => {
                failed += 1;
                let whole = document.certificate.expect("a certificate");
                let checked = explain(&workspace, &whole);
                assert_eq!(checked, CheckOutcome::Confirmed, "{whole:#?}\n{text}");
                for _ in 0..12 {
                    let mut other = (*whole).clone();
                    edit(&mut random, &mut other);
                    let checked = explain(&workspace, &other);
                    edits += 1;
                    if checked != CheckOutcome::Confirmed {
                        assert!(other != *whole, "{checked:?} {other:#?}");
                        continue;
                    }
                    confirmed += 1;
                    let actions = other.actions();
                    let places = shows(&text, "I", &actions).expect("a run of I");
                    assert_eq!(places.last(), other.implementation_location.as_ref());
                    assert!(shows(&text, "S", &other.trace).is_some(), "{other:#?}");
                    assert!(shows(&text, "S", &actions).is_none(), "{other:#?}");
                    assert_eq!(other.verdict, "fail");
                }
            }
        }
    }
    let met = (held, failed, edits, confirmed);
    assert!(held >= 20 && failed >= 50 && edits >= 1_000, "{met:?}");
    assert!(
        2 * broken > conditions_edited,
        "{broken} of {conditions_edited}"
    );
    assert!(confirmed > 20 && confirmed < edits / 2, "{met:?}");
}

/// A specification with an unknown constant, and an implementation with a value for it or another one of its own.
fn open_models(random: &mut Random) -> String {
    let guards = ["v == n + k", "v >= n + k", "v <= k", "v == k || v == n"];
    let inputs = ["true", "v >= 0", "v > k"];
    let (g, h) = (random.pick(&guards), random.pick(&guards));
    let input = random.pick(&inputs);
    let known = random.below(4).to_string();
    let own = |guard: &str| guard.replace('k', &known);
    let shown = if random.below(3) == 0 { "v == 9" } else { g };
    let system = |name: &str, k: &str, input: &str, g: &str, h: &str| {
        format!(
            "system {name} {{ {k} var n: int = 0
               input a(v: int)  output b(v: int)
               initial state P {{ ?a(v) [{input}] / n := v -> Q }}
               state Q {{ !b(v) [{g}] -> R }}
               state R {{ !b(v) [{h}] -> P }} }}\n"
        )
    };
    let k = "const k: int  assume k >= 0 && k <= 3";
    system("S", k, input, g, h) + &system("I", "", "true", &own(shown), &own(h))
}

#[test]
fn proofs_for_open_constants_name_an_instance_that_proves_them() {
    let mut random = Random(17);
    let (mut held, mut confirmed, mut rejected, mut failed) = (0, 0, 0, 0);
    for _ in 0..40 {
        if held >= 4 && failed >= 4 {
            break;
        }
        let workspace = Workspace::new();
        let text = open_models(&mut random);
        workspace.insert(Path::new("m.iol"), text.as_str());
        let relation = [Relation::Ioco, Relation::Uioco, Relation::Ioconf][random.below(3)];
        let mut options = RelationOptions::new(relation);
        options.semantics.complete_inputs = Some(CompletionFlag::SelfLoop);
        let (i, s) = ("m.iol#I".into(), "m.iol#S".into());
        let found = workspace.relate(&i, &s, &options, &mut |_| None);
        let document = found.expect("an answer");
        if document.holds == Some(false) {
            failed += 1;
            let whole = document.certificate.expect("a certificate");
            let checked = explain(&workspace, &whole);
            assert_eq!(checked, CheckOutcome::Confirmed, "{whole:#?}\n{text}");
            continue;
        }
        if document.holds != Some(true) {
            continue;
        }
        held += 1;
        let whole = workspace.certify_holding(&document).expect("a certificate");
        let checked = explain(&workspace, &whole);
        assert_eq!(checked, CheckOutcome::Confirmed, "{whole:#?}\n{text}");
        for value in 0..5 {
            let mut other = whole.clone();
            let data = other.data.as_mut().expect("data");
            let instance = data.instance.as_mut().expect("an instance");
            instance[0].1 = value.to_string();
            if other == whole {
                continue;
            }
            if explain(&workspace, &other) != CheckOutcome::Confirmed {
                rejected += 1;
                continue;
            }
            // Another instance may prove it as well, but only one that the implementation conforms to.
            confirmed += 1;
            let instance = format!("m.iol#S(k = {value})").as_str().into();
            let found = workspace.relate(&i, &instance, &options, &mut |_| None);
            assert_eq!(
                found.expect("an answer").holds,
                Some(true),
                "{other:#?}\n{text}"
            );
        }
    }
    let met = (held, confirmed, rejected, failed);
    assert!(held >= 4 && rejected >= 8 && failed >= 4, "{met:?}");
}
