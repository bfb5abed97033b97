//! Certificates of relations that hold through queues: ours are confirmed, an edit that breaks them is found,
//! and they show nothing of models that are not in the relation.

mod common;
mod support;

use std::collections::BTreeSet;
use std::path::Path;

use common::{DIRECTED, Random, explain, model};
use iolite::{
    CheckOutcome, CompletionFlag, Context, Relation, RelationDocument, RelationOptions,
    SemanticsOptions, WholeCertificate, Workspace,
};
use support::refute_of_another;

const RELATIONS: [Relation; 3] = [Relation::Ioco, Relation::Uioco, Relation::Ioconf];

fn relate(workspace: &Workspace, i: &str, relation: Relation, most: usize) -> RelationDocument {
    let chaos = most == 1 && relation == Relation::Ioconf;
    let how = if chaos {
        CompletionFlag::Chaos
    } else {
        CompletionFlag::SelfLoop
    };
    let options = RelationOptions {
        context: Context::Queues,
        max_in_flight: most,
        semantics: SemanticsOptions {
            complete_inputs: Some(how),
            ..SemanticsOptions::default()
        },
        ..RelationOptions::new(relation)
    };
    let found = workspace.relate(&i.into(), &"s.aut".into(), &options, &mut |_| None);
    found.expect("an answer")
}

/// One edit, and whether it must break the proof: only places that are reached are there, so none can be
/// left out; with more inputs under way more places are reached.
fn edit(random: &mut Random, whole: &mut WholeCertificate) -> bool {
    let pairs = whole.pairs.as_mut().expect("pairs");
    let told = pairs.queues.as_mut().expect("places");
    let at = random.below(told.places.len());
    match random.below(8) {
        0 | 1 => {
            told.places.remove(at);
            true
        }
        2 => {
            told.places[at].0 = random.below(6);
            false
        }
        3 => {
            told.places[at].1 = random.below(told.words.len() + 1);
            false
        }
        4 => {
            told.places[at].2 = random.below(told.explanations.len() + 1);
            false
        }
        5 => {
            let k = random.below(told.explanations.len());
            if random.below(2) == 0 {
                told.explanations[k].pop();
            } else {
                let new = (
                    random.below(pairs.sets.len()),
                    random.below(told.words.len()),
                );
                told.explanations[k].push(new);
            }
            false
        }
        6 => {
            let k = random.below(pairs.sets.len());
            match random.below(2) {
                0 => drop(pairs.sets[k].pop()),
                _ => pairs.sets[k].push(random.below(5)),
            }
            false
        }
        _ => {
            let names = ["fail", "proved", "pass"];
            random.pick(&names).clone_into(&mut whole.verdict);
            true
        }
    }
}

type Written = (usize, Vec<String>, BTreeSet<(Vec<usize>, Vec<String>)>);

/// The places, without numbers.
fn places(c: &WholeCertificate) -> Vec<Written> {
    let pairs = c.pairs.as_ref().expect("pairs");
    let told = pairs.queues.as_ref().expect("places");
    let set = |k: usize| {
        let mut members = pairs.sets[k].clone();
        members.sort_unstable();
        members.dedup();
        members
    };
    let place = |&(p, word, e): &(usize, usize, usize)| {
        let explained = told.explanations[e].iter();
        let explained = explained.map(|&(s, w)| (set(s), told.words[w].clone()));
        (p, told.words[word].clone(), explained.collect())
    };
    told.places.iter().map(place).collect()
}

#[test]
fn places_show_that_a_relation_holds() {
    for relation in RELATIONS {
        let mut random = Random(37);
        let (mut held, mut edits) = (0, 0);
        for round in 0..6_000 {
            if held >= 50 {
                break;
            }
            let workspace = Workspace::new();
            let text = model(&mut random, &DIRECTED);
            let other = match round % 3 {
                0 => model(&mut random, &DIRECTED),
                _ => text.clone(),
            };
            workspace.insert(Path::new("i.aut"), text);
            workspace.insert(Path::new("s.aut"), other);
            let document = relate(&workspace, "i.aut", relation, 1 + round % 2);
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
            let all = places(&whole);
            for _ in 0..40 {
                let mut other = whole.clone();
                let breaks = edit(&mut random, &mut other);
                let confirmed = explain(&workspace, &other) == CheckOutcome::Confirmed;
                assert!(!(breaks && confirmed), "{relation} {other:#?}");
                // Whatever is confirmed has all that was there, in other words perhaps.
                if confirmed {
                    let here = places(&other);
                    assert!(
                        all.iter().all(|p| here.contains(p)),
                        "{relation} {other:#?}"
                    );
                }
                edits += 1;
            }
        }
        assert!(edits >= 1_000, "{relation}: {edits}");
    }
}

#[test]
fn places_do_not_show_what_is_false() {
    for relation in RELATIONS {
        let mut random = Random(39);
        let mut tried = 0;
        for _ in 0..6_000 {
            if tried >= 100 {
                break;
            }
            let workspace = Workspace::new();
            for name in ["s.aut", "j.aut"] {
                workspace.insert(Path::new(name), model(&mut random, &DIRECTED));
            }
            let own = relate(&workspace, "s.aut", relation, 2);
            let other = relate(&workspace, "j.aut", relation, 2);
            if own.holds != Some(true) || other.holds != Some(false) {
                continue;
            }
            tried += 1;
            refute_of_another(&workspace, &own, other);
        }
        assert!(tried >= 20, "{relation}: {tried}");
    }
}
