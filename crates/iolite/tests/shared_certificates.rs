//! Several certificates of one answer (`test`, `merge`, `monitor`, `passes` and `suite` with `--json`), in which what all of them say
//! stands once, under random single edits: of what is shared, of what one says by itself, and of which run it is given to. What is
//! true is asked of the kernel.

mod common;
mod support;

use std::collections::BTreeSet;
use std::path::Path;

use common::{DIRECTED, Random, explained, model};
use iolite::{
    Certificate, CheckOutcome, Criterion, ExplainOptions, JudgeOptions, JudgedBy, ModelRef,
    Observation, SharedCertificates, System, WholeCertificate, Workspace,
};
use iolite_derive::IocoOracle;
use iolite_lts::QuiescencePolicy;
use iolite_lts::relation::Relation;
use serde_json::{Map, Value, json};
use support::judged;

const POLICY: QuiescencePolicy = QuiescencePolicy::Livelock;
const OBSERVED: [&str; 4] = ["!x", "!y", "!z", "delta"];
const ACTIONS: [&str; 6] = ["?a", "?b", "!x", "!y", "!z", "delta"];

fn view(s: &System) -> IocoOracle<&System> {
    IocoOracle::new(s, POLICY)
}

/// A run of the specification that ends with something that it does not allow.
fn failing(random: &mut Random, s: &System, run: u64) -> Option<Certificate> {
    let length = random.below(4);
    let pick = |random: &mut Random, from: &[&str]| random.pick(from).to_owned();
    let trace: Vec<String> = (0..length).map(|_| pick(random, &ACTIONS)).collect();
    let observed = pick(random, &OBSERVED);
    let found = explained(view(s), &trace, &observed).filter(|found| found.wrong)?;
    let texts = found.allowed.into_iter().map(|o| match o {
        Observation::Action(action) => action,
        Observation::Refusal(_) => String::new(),
    });
    Some(Certificate {
        trace,
        observed: Some(observed),
        allowed: texts.collect(),
        locations: found.places.into_iter().collect(),
        run,
        seed: 7 * run,
        ..judged(Criterion::Relation(Relation::Ioco), "s.aut", false)
    })
}

/// Whether the answer claims something true of a run. The parts are put together here again.
fn is_true(answer: &Value, run: u64, s: &System) -> bool {
    let failures = answer["failures"].as_array().expect("a list");
    let Some(own) = failures.iter().find(|f| f["run"] == run) else {
        return false;
    };
    let mut whole = answer["shared"].as_object().expect("an object").clone();
    for (key, value) in own["certificate"].as_object().expect("an object") {
        if whole.insert(key.clone(), value.clone()).is_some() {
            return false;
        }
    }
    let Ok(c) = serde_json::from_value::<WholeCertificate>(Value::Object(whole)) else {
        return false;
    };
    let Some(Observation::Action(observed)) = &c.observed else {
        return false;
    };
    let Some(found) = explained(view(s), &c.trace, observed) else {
        return false;
    };
    let is_run = c.run.is_none_or(|own| own == run);
    let told: BTreeSet<Observation> = c.allowed.iter().cloned().collect();
    let places: BTreeSet<String> = c.locations.iter().cloned().collect();
    let kind = c.kind == "ioco" && c.verdict == "fail" && c.context == "synchronous";
    is_run && kind && found.wrong && told == found.allowed && places == found.places
}

/// One edit, of the part that has this key: what all share, or one by itself.
fn edit(random: &mut Random, answer: &mut Value) {
    let count = answer["failures"].as_array().map_or(0, Vec::len);
    let at = random.below(count);
    let keys = [
        "trace",
        "observed",
        "allowed",
        "locations",
        "verdict",
        "kind",
        "run",
    ];
    let key = random.pick(&keys);
    let action = json!(random.pick(&ACTIONS));
    if random.below(12) == 0 {
        // The certificate of one run is given to another.
        let other = answer["failures"][random.below(count)]["certificate"].clone();
        answer["failures"][at]["certificate"] = other;
        return;
    }
    let is_shared = answer["shared"].get(key).is_some();
    let part: &mut Map<String, Value> = if is_shared && random.below(8) > 0 {
        answer["shared"].as_object_mut().expect("an object")
    } else {
        let own = &mut answer["failures"][at]["certificate"];
        own.as_object_mut().expect("an object")
    };
    let value = part.entry(key).or_insert(Value::Null);
    match value {
        Value::Array(list) if list.is_empty() || random.below(3) == 0 => {
            list.insert(random.below(list.len() + 1), action);
        }
        Value::Array(list) if random.below(2) == 0 => {
            list.remove(random.below(list.len()));
        }
        Value::Array(list) => {
            let item = random.below(list.len());
            list[item] = action;
        }
        Value::Number(number) => *value = json!(number.as_u64().expect("a number") + 1),
        other => {
            *other = match key {
                "verdict" => json!(random.pick(&["fail", "violate", "pass"])),
                "kind" => json!(random.pick(&["ioco", "uioco", "ioconf", "safety"])),
                "trace" | "allowed" | "locations" => json!([action]),
                "run" => json!(random.below(3)),
                _ => action,
            }
        }
    }
}

#[test]
fn single_edits_of_answers_with_several_certificates_are_judged_rightly() {
    let mut random = Random(61);
    let (mut edits, mut still_true, mut rounds) = (0, 0, 0);
    while edits < 6_000 {
        rounds += 1;
        assert!(rounds < 100_000, "only {edits} edits");
        let workspace = Workspace::new();
        workspace.insert(Path::new("s.aut"), model(&mut random, &DIRECTED));
        let spec = workspace
            .explicit(&ModelRef::from("s.aut"))
            .expect("a model");
        let s = spec.system();
        let found: Vec<Certificate> = (0..30)
            .filter_map(|run| failing(&mut random, &s, run))
            .take(3)
            .collect();
        if found.len() < 3 {
            continue;
        }
        let options = JudgeOptions::default();
        let certify = |judged: &Certificate| {
            let whole = workspace.certify_run(judged, JudgedBy::Model(&options));
            whole.expect("an answer").expect("a certificate")
        };
        let whole: Vec<Option<WholeCertificate>> =
            found.iter().map(|judged| Some(certify(judged))).collect();
        let shared = SharedCertificates::new(&whole);
        let failures = found
            .iter()
            .zip(&shared.claims)
            .map(|(judged, claim)| json!({ "run": judged.run, "certificate": claim }));
        let answer = json!({
            "failures": failures.collect::<Vec<Value>>(),
            "shared": shared.shared,
        });
        let checked = |answer: &Value, run: u64| {
            let path = Path::new("answer.json");
            workspace.insert(path, answer.to_string());
            let options = ExplainOptions {
                run: Some(run),
                ..ExplainOptions::default()
            };
            let explained = workspace.explain(path, &options);
            explained.map_or_else(|e| CheckOutcome::Refuted(e.to_string()), |e| e.checked)
        };
        for judged in &found {
            assert!(is_true(&answer, judged.run, &s), "{answer:#}");
            assert_eq!(checked(&answer, judged.run), CheckOutcome::Confirmed);
        }
        for _ in 0..20 {
            let mut other = answer.clone();
            edit(&mut random, &mut other);
            for judged in &found {
                // Another relation may be wrong there as well, and is not asked about here.
                let relation = ["uioco", "ioconf"].map(|kind| json!(kind));
                let of_another =
                    |part: &Value| part.get("kind").is_some_and(|k| relation.contains(k));
                let failures = other["failures"].as_array().expect("a list");
                let own = failures.iter().any(|f| of_another(&f["certificate"]));
                if own || of_another(&other["shared"]) {
                    continue;
                }
                let right = is_true(&other, judged.run, &s);
                let checked = checked(&other, judged.run);
                let is_confirmed = checked == CheckOutcome::Confirmed;
                assert_eq!(
                    is_confirmed, right,
                    "{checked:?} run {}: {other:#}",
                    judged.run
                );
                edits += 1;
                still_true += usize::from(right);
            }
        }
    }
    println!("{edits} edits, {still_true} of them true");
    assert!(still_true > 500, "only {still_true} of {edits} stay true");
}
