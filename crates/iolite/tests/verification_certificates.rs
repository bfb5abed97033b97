//! Certificates of observers beside models with data: ours are confirmed, forged ones are not.

mod common;
mod programs;

use std::path::Path;

use common::{Random, explain};
use iolite::{
    CheckOutcome, ModelRef, Proof, Verification, VerificationOptions, WholeCertificate, Workspace,
};
use programs::{PROGRAMS, Program, text};

const FILE: &str = "p.iol";

fn verified(text: &str) -> (Workspace, Verification, VerificationOptions) {
    let workspace = Workspace::new();
    workspace.insert(Path::new(FILE), text);
    let model = ModelRef::from(FILE);
    let options = VerificationOptions {
        properties: vec![model.clone()],
        time: Some(std::time::Duration::from_secs(10)),
        ..VerificationOptions::default()
    };
    let found = workspace.verify(&model, &options).expect("an answer");
    (workspace, found, options)
}

fn certified(text: &str) -> Option<(Workspace, WholeCertificate)> {
    let (workspace, found, options) = verified(text);
    let property = &found.properties[0];
    let whole = match workspace.certify_data(&found, property, &options) {
        // An invariant may be larger than an expression may be, and the property not k-inductive as it is.
        Err(e) if e.message().contains("could not be read again") => return None,
        certificate => certificate.expect("it can be written")?,
    };
    Some((workspace, whole))
}

fn program(name: &str) -> &'static Program {
    PROGRAMS.iter().find(|p| p.name == name).expect("a program")
}

#[test]
fn what_is_decided_is_confirmed() {
    let (mut proofs, mut runs) = (0, 0);
    for program in PROGRAMS {
        let Some((workspace, whole)) = certified(&text(program)) else {
            continue;
        };
        let checked = explain(&workspace, &whole);
        assert_eq!(
            checked,
            CheckOutcome::Confirmed,
            "{} {whole:#?}",
            program.name
        );
        if program.holds {
            proofs += 1;
        } else {
            runs += 1;
        }
    }
    assert!(proofs >= 20 && runs >= 10, "{proofs} proofs, {runs} runs");
}

/// A property that needs its first hundred steps: the lemma says little, and k-induction the rest.
#[test]
fn k_induction_is_looked_at_by_itself() {
    let (workspace, whole) =
        certified(&text(program("phases_in_one_place"))).expect("it is proved");
    let claimed = |k: usize, lemma: &str| {
        let mut claim = whole.clone();
        let data = claim.data.as_mut().expect("data were kept");
        data.induction = Some(k);
        for condition in data.invariant.iter_mut().flatten() {
            condition.any = vec![lemma.to_owned()];
        }
        explain(&workspace, &claim)
    };
    assert_eq!(claimed(110, "x >= 0"), CheckOutcome::Confirmed);
    for (k, lemma) in [
        (50, "x >= 0"),
        (110, "true"),
        (110, "y == 0"),
        (0, "x >= 0"),
    ] {
        let checked = claimed(k, lemma);
        let refuted = matches!(checked, CheckOutcome::Refuted(_));
        assert!(refuted, "{k}, {lemma}: {checked:?}");
    }
}

/// Places of a document, as the way to each text, number and list.
fn places(value: &serde_json::Value, at: String, all: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                places(value, format!("{at}/{key}"), all);
            }
        }
        serde_json::Value::Array(items) => {
            all.push(at.clone());
            for (k, item) in items.iter().enumerate() {
                places(item, format!("{at}/{k}"), all);
            }
        }
        _ => all.push(at),
    }
}

/// Changes one place of a certificate; the place, where something changed.
fn edit(random: &mut Random, value: &mut serde_json::Value) -> Option<String> {
    let mut all = Vec::new();
    places(value, String::new(), &mut all);
    // The texts of models are edited elsewhere.
    all.retain(|place| !place.starts_with("/files") && !place.starts_with("/reading"));
    let place = all[random.below(all.len())].clone();
    let old = value.pointer(&place)?.clone();
    let new = match &old {
        serde_json::Value::Array(items) => {
            let mut items = items.clone();
            match (random.below(3), items.len()) {
                (_, 0) => return None,
                (0, n) => drop(items.remove(random.below(n))),
                (1, n) => items.swap(random.below(n), random.below(n)),
                (_, n) => items.push(items[random.below(n)].clone()),
            }
            items.into()
        }
        serde_json::Value::Number(n) => (n.as_u64()? + 1 + random.below(3) as u64).into(),
        serde_json::Value::String(text) => {
            let words = [
                "true", "false", "x >= 0", "1", "-1", "delta", "!bad", "S.Good", "S.Bad",
            ];
            match random.below(3) {
                0 => random.pick(&words).into(),
                1 => text.replacen(['0', '1'], "7", 1).into(),
                _ => text.replacen("<=", ">=", 1).into(),
            }
        }
        _ => return None,
    };
    (new != old).then(|| {
        if let Some(slot) = value.pointer_mut(&place) {
            *slot = new;
        }
        place
    })
}

/// Whatever is edited and still confirmed is what nobody checks, or another invariant that proves the
/// same: whether that is one is decided by states, in the tests of `iolite-sts`.
#[test]
fn edited_certificates_are_not_confirmed() {
    let mut random = Random(41);
    let mut edited = 0;
    for program in PROGRAMS {
        let Some((workspace, whole)) = certified(&text(program)) else {
            continue;
        };
        let document = serde_json::to_value(&whole).expect("a document");
        for _ in 0..60 {
            let mut other = document.clone();
            let Some(place) = edit(&mut random, &mut other) else {
                continue;
            };
            edited += 1;
            let Ok(other) = serde_json::from_value::<WholeCertificate>(other) else {
                continue;
            };
            let harmless = place == "/data/how"
                || place.starts_with("/data/invariant") && place.contains("/any")
                // Other constants, with which the same run is one too.
                || place.starts_with("/data/run/constants")
                // More faults than there are: less is claimed.
                || place.starts_with("/data/faults")
                // What is inductive over k steps is so over more.
                || place == "/data/induction"
                // Where nothing is silent for ever and no trace is there, both policies say the same.
                || place == "/quiescence";
            let checked = explain(&workspace, &other);
            assert!(
                harmless || checked != CheckOutcome::Confirmed,
                "{}: {place}\n{other:#?}",
                program.name
            );
        }
    }
    assert!(edited > 400, "{edited}");
}

/// Conditions that cannot be right: no state is possible where the system starts, every state is where
/// it must not come.
#[test]
fn broken_invariants_are_rejected() {
    for program in PROGRAMS.iter().filter(|p| p.holds) {
        let Some((workspace, whole)) = certified(&text(program)) else {
            continue;
        };
        let changed = |location: &str, any: &[&str]| {
            let mut other = whole.clone();
            let data = other.data.as_mut().expect("data");
            let conditions = data.invariant.as_mut().expect("an invariant");
            let condition = conditions
                .iter_mut()
                .find(|c| c.location.ends_with(location));
            condition.expect("the location").any = any.iter().map(ToString::to_string).collect();
            explain(&workspace, &other)
        };
        let mut broken = vec![
            changed("S.Good", &[]),
            changed("S.Good", &["false"]),
            changed("S.Good", &["nobody > 0"]),
            changed("S.Good", &["0"]),
        ];
        // A lemma of k-induction may say nothing of where the observer must not come: that is the property itself.
        if whole
            .data
            .as_ref()
            .is_some_and(|data| data.induction.is_none())
        {
            broken.push(changed(".Bad", &["true"]));
        }
        for broken in broken {
            assert!(
                matches!(broken, CheckOutcome::Refuted(_)),
                "{}: {broken:?}",
                program.name
            );
        }
    }
}

/// A proof does not prove another model, nor a run refute one.
#[test]
fn certificates_of_other_models_are_rejected() {
    let pairs = [
        ("bank_account", "overdraft"),
        ("bounded_by_constant", "bound_may_be_negative"),
        ("mutual_exclusion", "no_exclusion"),
        ("difference_bounded", "difference_unbounded"),
        ("saturating", "saturating_wrongly"),
        ("parity_by_remainder", "wrong_parity"),
    ];
    for (good, bad) in pairs {
        let (good, bad) = (text(program(good)), text(program(bad)));
        for (own, foreign) in [(&good, &bad), (&bad, &good)] {
            let (workspace, mut whole) = certified(own).expect("decided");
            let (_, found, _) = verified(foreign);
            assert!(!matches!(found.properties[0].proof, Proof::Unknown { .. }));
            whole.files[0].text.clone_from(foreign);
            let stale = explain(&workspace, &whole);
            assert!(matches!(stale, CheckOutcome::Refuted(_)), "{stale:?}");
            let hash = iolite_recheck::hash(foreign.as_bytes());
            whole.files[0].hash.clone_from(&hash);
            whole.model.hash = Some(hash);
            let forged = explain(&workspace, &whole);
            assert!(
                matches!(forged, CheckOutcome::Refuted(_)),
                "{forged:?}\n{foreign}"
            );
        }
    }
}
