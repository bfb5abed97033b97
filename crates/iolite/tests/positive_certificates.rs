//! Certificates of positive answers: ours are confirmed, and an edit that breaks them is found. What is
//! right is asked of the relation itself: a set of pairs that is not right is rejected, one that is too
//! large may still be.

mod common;
mod support;

use std::path::Path;

use common::{DIRECTED, PLAIN, Random, explain, model, model_with_all_actions};
use iolite::{
    CheckOutcome, CompletionFlag, ModelRef, Proof, QuiescenceFlag, Relation, RelationOptions,
    SemanticsOptions, VerificationOptions, WholeCertificate, Workspace,
};
use support::refute_of_another;

const RELATIONS: [(Relation, bool); 8] = [
    (Relation::Trace, false),
    (Relation::Testing, false),
    (Relation::Conf, false),
    (Relation::Iot, true),
    (Relation::Ioconf, true),
    (Relation::Ioco, true),
    (Relation::Uioco, true),
    (Relation::IoconfF, true),
];

fn options(relation: Relation, directed: bool, chaos: bool) -> RelationOptions {
    let how = if chaos {
        CompletionFlag::Chaos
    } else {
        CompletionFlag::SelfLoop
    };
    RelationOptions {
        traces: (relation == Relation::IoconfF).then(|| "f.aut".into()),
        semantics: SemanticsOptions {
            complete_inputs: directed.then_some(how),
            ..SemanticsOptions::default()
        },
        ..RelationOptions::new(relation)
    }
}

/// One edit. A pair that is taken away breaks the proof, since only pairs that are reached are there; a
/// pair or a set that is added or changed may do no harm.
fn edit(random: &mut Random, whole: &mut WholeCertificate) -> bool {
    let pairs = whole.pairs.as_mut().expect("pairs");
    let at = random.below(pairs.pairs.len());
    match random.below(6) {
        0 | 1 => {
            pairs.pairs.remove(at);
            if !pairs.traces.is_empty() {
                pairs.traces.remove(at);
            }
            true
        }
        2 if !pairs.traces.is_empty() => {
            pairs.traces[at] = random.below(4);
            false
        }
        2 => {
            let sets = pairs.sets.len() + 1;
            pairs.pairs[at].1 = random.below(sets);
            false
        }
        3 => {
            pairs.pairs[at].0 = random.below(6);
            false
        }
        4 if !pairs.sets.is_empty() => {
            let k = random.below(pairs.sets.len());
            match random.below(2) {
                0 => drop(pairs.sets[k].pop()),
                _ => pairs.sets[k].push(random.below(5)),
            }
            false
        }
        _ => {
            let names = ["fail", "proved", "pass", "holds "];
            random.pick(&names).clone_into(&mut whole.verdict);
            true
        }
    }
}

#[test]
fn pairs_show_that_a_relation_holds() {
    for (relation, directed) in RELATIONS {
        let labels: &[&str] = if directed { &DIRECTED } else { &PLAIN };
        let mut random = Random(23);
        let mut held = 0;
        for round in 0..6_000 {
            if held >= 60 {
                break;
            }
            let workspace = Workspace::new();
            let text = model(&mut random, labels);
            // A model often conforms to itself, and seldom to another.
            let other = match round % 3 {
                0 => model(&mut random, labels),
                _ => text.clone(),
            };
            workspace.insert(Path::new("i.aut"), text);
            workspace.insert(Path::new("s.aut"), other);
            if relation == Relation::IoconfF {
                workspace.insert(Path::new("f.aut"), model(&mut random, labels));
            }
            let (i, s) = ("i.aut".into(), "s.aut".into());
            let asked = options(relation, directed, round % 2 == 0);
            let document = workspace
                .relate(&i, &s, &asked, &mut |_| None)
                .expect("an answer");
            if document.holds != Some(true) {
                continue;
            }
            held += 1;
            let whole = workspace.certify_holding(&document).expect("a certificate");
            assert_eq!(
                explain(&workspace, &whole),
                CheckOutcome::Confirmed,
                "{relation} {whole:#?}"
            );
            for _ in 0..40 {
                let mut other = whole.clone();
                let breaks = edit(&mut random, &mut other);
                let checked = explain(&workspace, &other);
                let confirmed = checked == CheckOutcome::Confirmed;
                assert!(!(breaks && confirmed), "{relation} {other:#?}");
                // Whatever is confirmed has all that was there, in other words perhaps.
                if confirmed {
                    assert!(
                        contains(&other, &whole),
                        "{relation} {other:#?}\n{whole:#?}"
                    );
                }
            }
        }
        assert!(held >= 30, "{relation}: {held}");
    }
}

/// Whether every pair of the second is one of the first.
fn contains(one: &WholeCertificate, other: &WholeCertificate) -> bool {
    let pairs = |c: &WholeCertificate| -> Vec<(usize, Vec<usize>, usize)> {
        let all = c.pairs.as_ref().expect("pairs");
        let set = |k: usize| {
            let mut members = all.sets[k].clone();
            members.sort_unstable();
            members.dedup();
            members
        };
        let places = all.traces.iter().copied().chain(std::iter::repeat(0));
        let pairs = all.pairs.iter().zip(places);
        pairs.map(|(&(p, k), f)| (p, set(k), f)).collect()
    };
    let here = pairs(one);
    pairs(other).iter().all(|pair| here.contains(pair))
}

/// The claim cannot be moved to models that are not in the relation.
#[test]
fn pairs_do_not_show_what_is_false() {
    for (relation, directed) in RELATIONS {
        let labels: &[&str] = if directed { &DIRECTED } else { &PLAIN };
        let mut random = Random(29);
        let mut tried = 0;
        for _ in 0..4_000 {
            if tried >= 100 {
                break;
            }
            let workspace = Workspace::new();
            for name in ["i.aut", "s.aut", "j.aut", "f.aut"] {
                workspace.insert(Path::new(name), model(&mut random, labels));
            }
            let asked = options(relation, directed, false);
            let relate = |i: &str, s: &str| {
                let (i, s) = (ModelRef::from(i), ModelRef::from(s));
                workspace
                    .relate(&i, &s, &asked, &mut |_| None)
                    .expect("an answer")
            };
            let (own, other) = (relate("s.aut", "s.aut"), relate("j.aut", "s.aut"));
            if own.holds != Some(true) || other.holds != Some(false) {
                continue;
            }
            tried += 1;
            refute_of_another(&workspace, &own, other);
        }
        assert!(tried >= 20, "{relation}: {tried}");
    }
}

const OBSERVER: &str = "observer W {
  input a, b  output x, y
  initial state A { !x -> B  ?a -> A  ?b -> A  !y -> A  delta -> A }
  state B { !x -> Bad  !y -> A  ?a -> B  ?b -> B }
  violate state Bad
}";

#[test]
fn pairs_show_that_an_observer_is_satisfied() {
    let mut random = Random(31);
    let mut proved = 0;
    for _ in 0..3_000 {
        if proved >= 60 {
            break;
        }
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
        let property = &found.properties[0];
        let certificate = workspace
            .certify_proof(&found, property, &asked)
            .expect("small");
        let Some(whole) = certificate else {
            assert!(!matches!(property.proof, Proof::Proved { .. }));
            continue;
        };
        proved += 1;
        assert_eq!(
            explain(&workspace, &whole),
            CheckOutcome::Confirmed,
            "{whole:#?}"
        );
        for _ in 0..40 {
            let mut other = whole.clone();
            let pairs = &mut other.pairs.as_mut().expect("pairs").pairs;
            let at = random.below(pairs.len());
            let harmless = match random.below(4) {
                0 | 1 => {
                    pairs.remove(at);
                    false
                }
                2 => {
                    pairs[at].1 = random.below(4);
                    pairs[at] == whole.pairs.as_ref().expect("pairs").pairs[at]
                }
                _ => {
                    other.verdict = "refuted".to_owned();
                    false
                }
            };
            let confirmed = explain(&workspace, &other) == CheckOutcome::Confirmed;
            assert!(!confirmed || harmless, "{other:#?}");
        }
    }
    assert!(proved >= 20, "{proved}");
}

/// ≤iot is `ioconf_F` with F = L* [LTS96, (3)], where L has the labels of both models, also those that no transition of the
/// specification has.
#[test]
fn ioconf_f_with_all_traces_is_iot() {
    let mut random = Random(31);
    let (mut held, mut failed) = (0, 0);
    while held < 60 || failed < 60 {
        let workspace = Workspace::new();
        let some: [&[&str]; 4] = [&["?a", "!x", "i"], &["?b", "!y"], &["!x", "!y"], &DIRECTED];
        let (of_i, of_s) = (some[random.below(4)], some[random.below(4)]);
        workspace.insert(Path::new("i.aut"), model(&mut random, of_i));
        workspace.insert(Path::new("s.aut"), model(&mut random, of_s));
        let all = "des (0, 4, 1)\n(0, \"?a\", 0)\n(0, \"?b\", 0)\n(0, \"!x\", 0)\n(0, \"!y\", 0)\n";
        workspace.insert(Path::new("f.aut"), all);
        let chaos = random.below(2) == 0;
        let [iot, by_f] = [Relation::Iot, Relation::IoconfF].map(|relation| {
            let (i, s) = ("i.aut".into(), "s.aut".into());
            let asked = options(relation, true, chaos);
            let answer = workspace.relate(&i, &s, &asked, &mut |_| None);
            answer.expect("an answer")
        });
        let trace = |d: &iolite::RelationDocument| d.counterexample.as_ref().map(|c| c.trace.len());
        assert_eq!(by_f.holds, iot.holds, "{by_f:?}");
        assert_eq!(trace(&by_f), trace(&iot), "{by_f:?}");
        let whole = if let Some(whole) = by_f.certificate.clone() {
            failed += 1;
            *whole
        } else {
            held += 1;
            workspace.certify_holding(&by_f).expect("a certificate")
        };
        assert_eq!(
            explain(&workspace, &whole),
            CheckOutcome::Confirmed,
            "{whole:#?}"
        );
    }
}

/// Under the strict policy there is either no answer, since a model has a livelock, or one whose certificate is confirmed.
#[test]
fn answers_under_the_strict_policy_are_confirmed() {
    for (relation, directed) in RELATIONS {
        let labels: &[&str] = if directed { &DIRECTED } else { &PLAIN };
        let mut random = Random(37);
        let (mut answers, mut livelocks) = (0, 0);
        while answers < 60 || livelocks < 10 {
            let workspace = Workspace::new();
            for name in ["i.aut", "s.aut", "f.aut"] {
                workspace.insert(Path::new(name), model(&mut random, labels));
            }
            let mut asked = options(relation, directed, false);
            asked.semantics.quiescence = QuiescenceFlag::Strict;
            let (i, s) = ("i.aut".into(), "s.aut".into());
            let document = match workspace.relate(&i, &s, &asked, &mut |_| None) {
                Ok(document) => document,
                Err(error) => {
                    assert!(error.message().contains("cycle of internal"), "{error}");
                    livelocks += 1;
                    continue;
                }
            };
            answers += 1;
            let whole = match document.certificate.clone() {
                Some(whole) => *whole,
                None => workspace.certify_holding(&document).expect("a certificate"),
            };
            let checked = explain(&workspace, &whole);
            assert_eq!(checked, CheckOutcome::Confirmed, "{relation} {whole:#?}");
        }
    }
}
