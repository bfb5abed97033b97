//! Certificates under random single edits: one that makes the claim false is rejected, one that keeps
//! it true is accepted. What is true is asked of the kernel's own second opinion, which is other code.

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{DIRECTED, PLAIN, Random, explain, model};

use iolite::{
    Checked, CompletionFlag, ExplicitSpec, ModelRef, Observation, Relation, RelationOptions,
    SemanticsOptions, WholeCertificate, Workspace,
};
use iolite_lts::relation::{Claim, Recheck, TraceSet, follow_run, recheck};
use iolite_lts::{Completed, Completion, Interned, QuiescencePolicy, explore};

fn options(relation: Relation, directed: bool) -> RelationOptions {
    RelationOptions {
        relation,
        traces: (relation == Relation::IoconfF).then(|| "f.aut".into()),
        semantics: SemanticsOptions {
            complete_inputs: directed.then_some(CompletionFlag::SelfLoop),
            ..SemanticsOptions::default()
        },
        counterexamples: 1,
    }
}

/// One edit of a claim; tables and texts are edited elsewhere.
fn edit(random: &mut Random, certificate: &mut WholeCertificate, labels: &[&str]) {
    let label = |random: &mut Random| {
        let others: Vec<&str> = labels.iter().copied().chain(["delta", "!z"]).collect();
        random.pick(&others).to_owned()
    };
    match random.below(7) {
        0 => {
            let at = random.below(certificate.trace.len() + 1);
            let new = label(random);
            certificate.trace.insert(at, new);
        }
        1 if !certificate.trace.is_empty() => {
            let at = random.below(certificate.trace.len());
            certificate.trace.remove(at);
        }
        2 if !certificate.trace.is_empty() => {
            let at = random.below(certificate.trace.len());
            certificate.trace[at] = label(random);
        }
        3 => certificate.observed = Some(Observation::Action(label(random))),
        4 => {
            let new = Observation::Action(label(random));
            let at = random.below(certificate.allowed.len() + 1);
            if random.below(2) == 0 || at == certificate.allowed.len() {
                certificate.allowed.insert(at, new);
            } else {
                certificate.allowed.remove(at);
            }
        }
        5 => {
            let at = random.below(certificate.locations.len() + 1);
            if random.below(2) == 0 || at == certificate.locations.len() {
                certificate
                    .locations
                    .insert(at, random.below(4).to_string());
            } else {
                certificate.locations.remove(at);
            }
        }
        _ => {
            let names = [
                "fail",
                "violate",
                "violate-fail",
                "pass",
                "refuted",
                "weak-fail",
                "FAIL",
            ];
            random.pick(&names).clone_into(&mut certificate.verdict);
        }
    }
}

/// Whether the kernel agrees with a directed claim, part by part.
fn is_true(workspace: &Workspace, relation: Relation, c: &WholeCertificate) -> bool {
    let load = |name: &str| workspace.explicit(&ModelRef::from(name)).expect("a model");
    let (i, s) = (load("i.aut"), load("s.aut"));
    let Some(Observation::Action(observed)) = &c.observed else {
        return false;
    };
    let claim = Claim {
        relation,
        policy: QuiescencePolicy::Livelock,
        trace: c.trace.clone(),
        observed: Ok(observed.clone()),
    };
    let (system, spec) = (i.system(), s.system());
    let view = Interned::new(Completed::over(&system, Completion::SelfLoop, s.labels()));
    let claimed = match c.implementation {
        Some(_) => recheck(&view, &spec, &claim),
        None => iolite_lts::relation::recheck_run(
            &spec,
            QuiescencePolicy::Livelock,
            matches!(relation, Relation::Ioco | Relation::Uioco),
            &c.trace,
            observed,
        ),
    };
    let suspension = matches!(relation, Relation::Ioco | Relation::Uioco);
    let found = follow_run(&spec, QuiescencePolicy::Livelock, suspension, &c.trace);
    let found = found.unwrap_or_default();
    let allowed: BTreeSet<Observation> =
        found.allowed.into_iter().map(Observation::Action).collect();
    let places: BTreeSet<String> = found
        .states
        .iter()
        .map(|&state| iolite_derive::location(&spec, state))
        .collect();
    claimed == Recheck::Confirmed
        && (relation != Relation::IoconfF || in_traces(workspace, &s, &c.trace))
        && c.verdict == "fail"
        && c.allowed.iter().cloned().collect::<BTreeSet<_>>() == allowed
        && c.locations.iter().cloned().collect::<BTreeSet<_>>() == places
}

/// Whether the set F has the trace: whether the automaton does, over the labels of the specification.
fn in_traces(workspace: &Workspace, s: &ExplicitSpec, trace: &[String]) -> bool {
    let f = workspace
        .explicit(&ModelRef::from("f.aut"))
        .expect("a model");
    let f = explore(&f.system(), 100).expect("small");
    let set = TraceSet::accepted(&f, s.labels(), |_| true);
    let labels: Option<Vec<_>> = trace.iter().map(|a| s.labels().get_text(a)).collect();
    let mut labels = labels.into_iter().flatten().peekable();
    let known = trace.is_empty() || labels.peek().is_some();
    let end = labels.try_fold(set.initial(), |at, l| set.follow(at, l));
    known && end.is_some_and(|end| set.accepts(end))
}

#[test]
fn single_edits_of_directed_claims_are_judged_rightly() {
    for relation in [
        Relation::Ioco,
        Relation::Ioconf,
        Relation::Iot,
        Relation::Uioco,
        Relation::IoconfF,
    ] {
        let mut random = Random(17);
        let (mut edits, mut still_true) = (0, 0);
        while edits < 2_000 {
            let workspace = Workspace::new();
            workspace.insert(Path::new("i.aut"), model(&mut random, &DIRECTED));
            workspace.insert(Path::new("s.aut"), model(&mut random, &DIRECTED));
            if relation == Relation::IoconfF {
                workspace.insert(Path::new("f.aut"), model(&mut random, &DIRECTED));
            }
            let (i, s) = ("i.aut".into(), "s.aut".into());
            let found = workspace.relate(&i, &s, &options(relation, true), &mut |_| None);
            let Some(whole) = found.expect("an answer").certificate else {
                continue;
            };
            assert_eq!(
                explain(&workspace, &whole),
                Checked::Confirmed,
                "{relation} {whole:#?}"
            );
            for _ in 0..40 {
                let mut other = (*whole).clone();
                // The same claim of a run, without the implementation.
                let alone = matches!(relation, Relation::Ioco | Relation::Ioconf);
                if random.below(2) == 0 && alone {
                    other.implementation = None;
                    other.implementation_location = None;
                    other.complete_inputs = None;
                } else {
                    // Which state shows it may change with the trace.
                    other.implementation_location = None;
                }
                edit(&mut random, &mut other, &DIRECTED);
                let right = is_true(&workspace, relation, &other);
                let checked = explain(&workspace, &other);
                assert_eq!(
                    checked == Checked::Confirmed,
                    right,
                    "{checked:?} {other:#?}"
                );
                edits += 1;
                still_true += usize::from(right);
            }
        }
        assert!(
            still_true > 20,
            "{relation}: only {still_true} edits keep the claim true"
        );
    }
}

#[test]
fn edits_of_plain_claims_are_rejected_unless_nothing_changes() {
    for relation in [Relation::Trace, Relation::Testing, Relation::Conf] {
        let mut random = Random(5);
        let mut edits = 0;
        while edits < 2_000 {
            let workspace = Workspace::new();
            workspace.insert(Path::new("i.aut"), model(&mut random, &PLAIN));
            workspace.insert(Path::new("s.aut"), model(&mut random, &PLAIN));
            let (i, s) = ("i.aut".into(), "s.aut".into());
            let found = workspace.relate(&i, &s, &options(relation, false), &mut |_| None);
            let Some(whole) = found.expect("an answer").certificate else {
                continue;
            };
            assert_eq!(
                explain(&workspace, &whole),
                Checked::Confirmed,
                "{relation} {whole:#?}"
            );
            let set = |c: &WholeCertificate| c.allowed.iter().cloned().collect::<BTreeSet<_>>();
            let places =
                |c: &WholeCertificate| c.locations.iter().cloned().collect::<BTreeSet<_>>();
            for _ in 0..40 {
                let mut other = (*whole).clone();
                edit(&mut random, &mut other, &PLAIN);
                edits += 1;
                if other.trace != whole.trace || other.observed != whole.observed {
                    continue;
                }
                let same = set(&other) == set(&whole)
                    && places(&other) == places(&whole)
                    && other.verdict == whole.verdict;
                let checked = explain(&workspace, &other);
                assert_eq!(
                    checked == Checked::Confirmed,
                    same,
                    "{checked:?} {other:#?}"
                );
            }
        }
    }
}

/// Tables and texts belong together: whatever is changed in one of them alone is found.
#[test]
fn tables_and_texts_cannot_be_edited_alone() {
    let mut random = Random(3);
    let mut edits = 0;
    while edits < 2_000 {
        let workspace = Workspace::new();
        workspace.insert(Path::new("i.aut"), model(&mut random, &DIRECTED));
        workspace.insert(Path::new("s.aut"), model(&mut random, &DIRECTED));
        let (i, s) = ("i.aut".into(), "s.aut".into());
        let asked = options(Relation::Ioco, true);
        let found = workspace.relate(&i, &s, &asked, &mut |_| None);
        let Some(whole) = found.expect("an answer").certificate else {
            continue;
        };
        for _ in 0..40 {
            let mut other = (*whole).clone();
            let model = match random.below(2) {
                0 => other.implementation.as_mut(),
                _ => other.specification.as_mut(),
            };
            let table = model.and_then(|m| m.table.as_mut()).expect("a table");
            let states = table.states.len();
            let row = random.below(states);
            match random.below(7) {
                0 => table.initial = random.below(states + 1),
                1 => table.rows[row] = None,
                2 => {
                    if let Some(Some(row)) = table.rows.get_mut(row) {
                        row.push((random.below(table.labels.len()), random.below(states)));
                    }
                }
                3 => {
                    let _ = table.rows[row].as_mut().and_then(Vec::pop);
                }
                4 => {
                    if let Some(step) = table.rows[row].as_mut().and_then(|r| r.first_mut()) {
                        step.1 = random.below(states + 1);
                    }
                }
                5 => table.states[row].state.push('\''),
                _ => match random.below(3) {
                    0 => other.files[0].text.push(' '),
                    1 => other.files[0].hash = "0123456789abcdef".to_owned(),
                    _ => other.files[0].path.push('x'),
                },
            }
            edits += 1;
            if other == *whole {
                continue;
            }
            let checked = explain(&workspace, &other);
            let needless = matches!(&checked, Checked::Confirmed)
                && other
                    .specification
                    .iter()
                    .chain(&other.implementation)
                    .any(|m| m.table.iter().any(|t| t.rows.contains(&None)));
            // A row that nobody needs may be left out.
            assert!(
                needless || matches!(checked, Checked::Refuted(_)),
                "{checked:?} {other:#?}"
            );
        }
    }
}
