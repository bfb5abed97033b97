//! Certificates of properties that a specification satisfies, under random single edits. What is true is asked
//! of the search, which lists no groups and is itself tested against all sets of steps.

mod common;

use std::path::Path;

use common::{Random, explain, model_with_all_actions};
use iolite::{
    CheckOutcome, EnvironmentFlag, FairnessFlag, Proof, VerificationOptions, WholeCertificate,
    Workspace,
};
use iolite_lts::QuiescencePolicy;

/// Of each class: safety, guarantee, obligation, response, persistence and reactivity; some speak of silence.
const PROPERTIES: [&str; 10] = [
    "ltl:G (!x -> X !y)",
    "ltl:F (?a or !x or !y)",
    "ltl:(G !x) or (F !y)",
    "ltl:GF (!x or ?a or ?b)",
    "ltl:FG (!x or !y or ?b)",
    "ltl:(GF !x) -> (GF !y)",
    "ltl:G (?a -> F (!x or !y or ?b))",
    "ltl:GF (delta or !x)",
    "ltl:G (delta -> X (delta or ?a or ?b))",
    "ltl:GF ?a -> GF !x",
];

fn asked(random: &mut Random) -> VerificationOptions {
    use {EnvironmentFlag as E, FairnessFlag as F};
    VerificationOptions {
        properties: vec![random.pick(&PROPERTIES).into()],
        fairness: [F::None, F::Weak, F::Strong][random.below(3)],
        environment: [E::MayStop, E::GoesOn][random.below(2)],
        quiescence: [QuiescencePolicy::Livelock, QuiescencePolicy::Fair][random.below(2)],
        ..VerificationOptions::default()
    }
}

fn is_proved(workspace: &Workspace, asked: &VerificationOptions) -> bool {
    let found = workspace.verify(&"s.aut".into(), asked);
    found.is_ok_and(|found| matches!(found.properties[0].proof, Proof::Proved { .. }))
}

/// What the certificate claims, whether or not its pairs show it.
fn claimed(workspace: &Workspace, asked: &VerificationOptions, c: &WholeCertificate) -> bool {
    let asked = VerificationOptions {
        fairness: match c.fairness.as_deref() {
            None => FairnessFlag::None,
            Some("weak") => FairnessFlag::Weak,
            _ => FairnessFlag::Strong,
        },
        environment: match c.environment {
            None => EnvironmentFlag::MayStop,
            Some(_) => EnvironmentFlag::GoesOn,
        },
        quiescence: match c.quiescence.as_str() {
            "fair" => QuiescencePolicy::Fair,
            "strict" => QuiescencePolicy::Strict,
            _ => QuiescencePolicy::Livelock,
        },
        ..asked.clone()
    };
    c.verdict == "proved" && is_proved(workspace, &asked)
}

/// One edit; whether it can change nothing.
fn edit(random: &mut Random, c: &mut WholeCertificate) -> bool {
    let original = c.clone();
    let told = c.pairs.as_mut().expect("pairs");
    let pair = random.below(told.pairs.len());
    let descent = random.below(told.descents.len());
    match random.below(12) {
        0 => drop(told.pairs.remove(pair)),
        1 => told.pairs[pair] = (random.below(4), random.below(3)),
        2 => told.pairs.push((random.below(4), random.below(3))),
        3 => {
            let text = [None, Some("weak"), Some("strong")][random.below(3)];
            c.fairness = text.map(str::to_owned);
        }
        4 => c.environment = (random.below(2) == 1).then(|| "goes-on".to_owned()),
        5 => random
            .pick(&["livelock", "fair", "strict"])
            .clone_into(&mut c.quiescence),
        6 => random
            .pick(&["refuted", "holds"])
            .clone_into(&mut c.verdict),
        7 => told.descents[descent].reverse(),
        8 => drop(told.descents.remove(descent)),
        9 => {
            let groups = &mut told.descents[descent];
            if let Some(first) = groups.pop() {
                let at = random.below(groups.len() + 1);
                groups.insert(at, first);
            }
        }
        10 => {
            let groups = &mut told.descents[descent];
            if !groups.is_empty() {
                let at = random.below(groups.len());
                let group = &mut groups[at];
                match random.below(3) {
                    0 => group.neglects = Some(random.pick(&["!x", "!y", "i", "?a"]).to_owned()),
                    1 => group.neglects = None,
                    _ => drop(group.rest.pop()),
                }
            }
        }
        _ => {
            // Two groups become one, or a pair changes its group.
            let groups = &mut told.descents[descent];
            if groups.len() > 1 {
                let at = random.below(groups.len() - 1);
                let moved = groups[at + 1].pairs.pop();
                groups[at].pairs.extend(moved);
            }
        }
    }
    *c == original
}

#[test]
fn pairs_and_descents_show_that_a_property_is_satisfied() {
    let mut random = Random(71);
    let (mut proved, mut edits, mut confirmed, mut neglecting, mut nested) = (0, 0, 0, 0, 0);
    let mut kinds = std::collections::BTreeSet::new();
    for _ in 0..20_000 {
        if edits >= 6_000 {
            break;
        }
        let workspace = Workspace::new();
        let Some(text) = model_with_all_actions(&mut random) else {
            continue;
        };
        workspace.insert(Path::new("s.aut"), text);
        let asked = asked(&mut random);
        let found = workspace
            .verify(&"s.aut".into(), &asked)
            .expect("an answer");
        let property = &found.properties[0];
        let whole = workspace.certify_proof(&found, property, &asked);
        let Some(whole) = whole.expect("a certificate") else {
            assert!(!matches!(property.proof, Proof::Proved { .. }));
            continue;
        };
        proved += 1;
        kinds.insert(asked.properties[0].to_string());
        let descents = &whole.pairs.as_ref().expect("pairs").descents;
        let groups = || descents.iter().flatten();
        neglecting += usize::from(groups().any(|g| g.neglects.is_some()));
        nested += usize::from(groups().any(|g| !g.rest.is_empty()));
        let checked = explain(&workspace, &whole);
        assert_eq!(checked, CheckOutcome::Confirmed, "{whole:#?}");
        for _ in 0..20 {
            let mut other = whole.clone();
            let same = edit(&mut random, &mut other);
            let is_confirmed = explain(&workspace, &other) == CheckOutcome::Confirmed;
            assert!(is_confirmed || !same, "{other:#?}");
            if is_confirmed {
                confirmed += 1;
                assert!(claimed(&workspace, &asked, &other), "{other:#?}");
            }
            edits += 1;
        }
    }
    let met = (proved, edits, confirmed, neglecting, nested);
    assert!(edits >= 6_000 && neglecting > 10 && nested > 0, "{met:?}");
    assert!(confirmed > 100 && confirmed < edits * 3 / 4, "{met:?}");
    assert!(kinds.len() >= 8, "{kinds:?}");
}

/// The evidence of one model beside the table and the text of another one.
#[test]
fn pairs_and_descents_do_not_show_what_is_false() {
    let mut random = Random(73);
    let (mut forged, mut confirmed) = (0, 0);
    let mut last: Option<WholeCertificate> = None;
    for _ in 0..20_000 {
        if forged >= 2_000 {
            break;
        }
        let workspace = Workspace::new();
        let Some(text) = model_with_all_actions(&mut random) else {
            continue;
        };
        workspace.insert(Path::new("s.aut"), text);
        let own = VerificationOptions {
            properties: vec!["ltl:GF (!x or ?a or ?b)".into()],
            fairness: FairnessFlag::Strong,
            ..VerificationOptions::default()
        };
        let found = workspace.verify(&"s.aut".into(), &own).expect("an answer");
        let whole = workspace.certify_proof(&found, &found.properties[0], &own);
        let whole = whole.expect("a certificate");
        if let (None, Some(other)) = (&whole, &last) {
            // A refuted one has a certificate with all that is needed but evidence.
            let refuted = workspace.certify_refutation(&found, &found.properties[0], &own);
            if let Ok(Some(refuted)) = refuted {
                let mut claim = WholeCertificate {
                    specification: refuted.specification,
                    files: refuted.files,
                    model: refuted.model,
                    ..other.clone()
                };
                // And with whatever groups: all pairs in one, in the order of the others, or nothing neglected.
                let told = claim.pairs.as_mut().expect("pairs");
                if random.below(2) == 0 {
                    let every = (0..4).flat_map(|s| (0..3).map(move |q| (s, q)));
                    told.pairs = every.collect();
                }
                for groups in &mut told.descents {
                    if random.below(2) == 0 {
                        let all = groups.iter().flat_map(|g| g.pairs.clone()).collect();
                        *groups = vec![iolite_recheck::Group {
                            pairs: all,
                            neglects: Some(random.pick(&["!x", "!y", "i"]).to_owned()),
                            rest: Vec::new(),
                        }];
                    }
                }
                forged += 1;
                confirmed += usize::from(explain(&workspace, &claim) == CheckOutcome::Confirmed);
            }
        }
        last = whole.or(last);
    }
    assert!(forged >= 500, "{forged}");
    assert_eq!(confirmed, 0);
}
