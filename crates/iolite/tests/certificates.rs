//! Certificates under random single edits: one that makes the claim false is rejected, one that keeps
//! it true is accepted. What is true is asked of the kernel's own second opinion, which is other code.

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{DIRECTED, Explained, PLAIN, Random, explain, explained, model};

use iolite::{
    CheckOutcome, CompletionFlag, Context, ExplicitSpec, ModelRef, Observation, Relation,
    RelationOptions, SemanticsOptions, WholeCertificate, Workspace,
};
use iolite_derive::{
    Channel, ChannelOracle, IocoOracle, IoconfOracle, Oracle, QueueOptions, QueueOracle,
    UiocoOracle,
};
use iolite_lts::relation::{Claim, Recheck, TraceSet, follow_run, recheck};
use iolite_lts::{Completed, Completion, Interned, Labels, QuiescencePolicy, explore};

fn options(relation: Relation, directed: bool) -> RelationOptions {
    RelationOptions {
        traces: (relation == Relation::IoconfF).then(|| "f.aut".into()),
        semantics: SemanticsOptions {
            complete_inputs: directed.then_some(CompletionFlag::SelfLoop),
            ..SemanticsOptions::default()
        },
        ..RelationOptions::new(relation)
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
        && (relation != Relation::IoconfF || in_traces(workspace, (&i, &s), &c.trace))
        && c.verdict == "fail"
        && c.allowed.iter().cloned().collect::<BTreeSet<_>>() == allowed
        && c.locations.iter().cloned().collect::<BTreeSet<_>>() == places
}

/// Whether the set F has the trace: whether the automaton does, over the labels of both models.
fn in_traces(
    workspace: &Workspace,
    (i, s): (&ExplicitSpec, &ExplicitSpec),
    trace: &[String],
) -> bool {
    let f = workspace
        .explicit(&ModelRef::from("f.aut"))
        .expect("a model");
    let f = explore(&f.system(), 100).expect("small");
    let mut both = Labels::clone(s.labels());
    both.join(i.labels());
    let set = TraceSet::accepted(&f, &both, |_| true);
    let labels: Option<Vec<_>> = trace.iter().map(|a| both.get_text(a)).collect();
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
                CheckOutcome::Confirmed,
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
                    checked == CheckOutcome::Confirmed,
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

/// What the producer's view of a specification says, through a FIFO each way or through channels.
fn explained_by(
    spec: &impl iolite_lts::Semantics<State = iolite_lts::StateId>,
    relation: Relation,
    channels: &[Channel],
    trace: &[String],
    observed: &str,
) -> Option<Explained> {
    fn seen<O: Oracle>(
        oracle: O,
        channels: &[Channel],
        trace: &[String],
        observed: &str,
    ) -> Option<Explained> {
        let options = QueueOptions {
            channels: channels.into(),
            ..QueueOptions::default()
        };
        if channels.is_empty() {
            explained(QueueOracle::new(oracle, options), trace, observed)
        } else {
            explained(ChannelOracle::new(oracle, options), trace, observed)
        }
    }
    let policy = QuiescencePolicy::Livelock;
    match relation {
        Relation::Uioco => seen(UiocoOracle::new(spec, policy), channels, trace, observed),
        Relation::Ioconf => seen(IoconfOracle::new(spec, policy), channels, trace, observed),
        _ => seen(IocoOracle::new(spec, policy), channels, trace, observed),
    }
}

/// Whether the producer's view agrees with a claim through queues, part by part.
fn is_true_in_queues(workspace: &Workspace, relation: Relation, c: &WholeCertificate) -> bool {
    let load = |name: &str| workspace.explicit(&ModelRef::from(name)).expect("a model");
    let (i, s) = (load("i.aut"), load("s.aut"));
    let Some(Observation::Action(observed)) = &c.observed else {
        return false;
    };
    if c.trace.iter().chain([observed]).any(|action| action == "i") {
        return false;
    }
    let (system, spec) = (i.system(), s.system());
    let channels: Vec<Channel> = c.channels.iter().map(own_channel).collect();
    let found = explained_by(&spec, relation, &channels, &c.trace, observed);
    let Some(found) = found.filter(|found| found.wrong) else {
        return false;
    };
    // What a system that takes every input shows is what its own oracle explains.
    let view = Interned::new(Completed::over(&system, Completion::SelfLoop, s.labels()));
    let shown = explained_by(&view, Relation::Ioco, &[], &c.trace, observed);
    let shown = shown.is_some_and(|shown| !shown.wrong);
    (shown || c.implementation.is_none())
        && c.verdict == "fail"
        && c.allowed.iter().cloned().collect::<BTreeSet<_>>() == found.allowed
        && c.locations.iter().cloned().collect::<BTreeSet<_>>() == found.places
}

fn own_channel(told: &iolite_recheck::Channel) -> Channel {
    let iolite_recheck::Channel {
        name,
        inputs,
        outputs,
        loss,
        reorder,
    } = told.clone();
    Channel {
        name,
        inputs,
        outputs,
        loss,
        reorder,
    }
}

/// One or two channels at random.
fn any_channels(random: &mut Random) -> Vec<iolite_recheck::Channel> {
    let mut channels = Vec::new();
    for k in 0..=random.below(2) {
        channels.push(iolite_recheck::Channel {
            name: k.to_string(),
            loss: random.below(3) == 0,
            reorder: random.below(3) == 0,
            ..iolite_recheck::Channel::default()
        });
    }
    for name in ["a", "b"] {
        let k = random.below(channels.len());
        channels[k].inputs.push(name.to_owned());
    }
    for name in ["x", "y"] {
        let k = random.below(channels.len() + 1);
        // Some outputs may come through any channel.
        if let Some(channel) = channels.get_mut(k) {
            channel.outputs.push(name.to_owned());
        }
    }
    channels
}

/// Claims of runs through channels: the checker against the producer's view.
#[test]
fn claims_through_channels_are_judged_rightly() {
    for relation in [Relation::Ioco, Relation::Uioco, Relation::Ioconf] {
        let mut random = Random(43);
        let (mut claims, mut right_ones) = (0, 0);
        while claims < 600 {
            let workspace = Workspace::new();
            workspace.insert(Path::new("i.aut"), model(&mut random, &DIRECTED));
            workspace.insert(Path::new("s.aut"), model(&mut random, &DIRECTED));
            let (i, s) = ("i.aut".into(), "s.aut".into());
            let options = RelationOptions {
                context: Context::Queues,
                max_in_flight: 2,
                ..options(relation, true)
            };
            let found = workspace.relate(&i, &s, &options, &mut |_| None);
            let Some(mut whole) = found.expect("an answer").certificate else {
                continue;
            };
            whole.implementation = None;
            whole.implementation_location = None;
            whole.complete_inputs = None;
            let spec = workspace.explicit(&s).expect("a model").system();
            for _ in 0..20 {
                let mut claim = (*whole).clone();
                claim.channels = any_channels(&mut random);
                for _ in 0..random.below(3) {
                    edit(&mut random, &mut claim, &DIRECTED);
                }
                claim.verdict = "fail".to_owned();
                // Half of the claims say what the view says, and then at most one thing is changed.
                if let Some(Observation::Action(observed)) = &claim.observed
                    && random.below(4) > 0
                {
                    let channels: Vec<Channel> = claim.channels.iter().map(own_channel).collect();
                    let found = explained_by(&spec, relation, &channels, &claim.trace, observed);
                    if let Some(found) = found {
                        claim.allowed = found.allowed.into_iter().collect();
                        claim.locations = found.places.into_iter().collect();
                    }
                    if random.below(3) == 0 {
                        edit(&mut random, &mut claim, &DIRECTED);
                    }
                }
                let right = is_true_in_queues(&workspace, relation, &claim);
                let checked = explain(&workspace, &claim);
                assert_eq!(
                    checked == CheckOutcome::Confirmed,
                    right,
                    "{checked:?} {claim:#?}"
                );
                claims += 1;
                right_ones += usize::from(right);
            }
        }
        assert!(
            right_ones > 50,
            "{relation}: only {right_ones} claims are true"
        );
    }
}

#[test]
fn single_edits_of_claims_through_queues_are_judged_rightly() {
    for relation in [Relation::Ioco, Relation::Uioco, Relation::Ioconf] {
        let mut random = Random(29);
        let (mut edits, mut still_true) = (0, 0);
        while edits < 1_000 {
            let workspace = Workspace::new();
            workspace.insert(Path::new("i.aut"), model(&mut random, &DIRECTED));
            workspace.insert(Path::new("s.aut"), model(&mut random, &DIRECTED));
            let (i, s) = ("i.aut".into(), "s.aut".into());
            let options = RelationOptions {
                context: Context::Queues,
                max_in_flight: 2,
                ..options(relation, true)
            };
            let found = workspace.relate(&i, &s, &options, &mut |_| None);
            let Some(whole) = found.expect("an answer").certificate else {
                continue;
            };
            assert_eq!(
                explain(&workspace, &whole),
                CheckOutcome::Confirmed,
                "{relation} {whole:#?}"
            );
            for _ in 0..25 {
                let mut other = (*whole).clone();
                other.implementation_location = None;
                if random.below(2) == 0 {
                    other.implementation = None;
                    other.complete_inputs = None;
                }
                edit(&mut random, &mut other, &DIRECTED);
                let right = is_true_in_queues(&workspace, relation, &other);
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
                CheckOutcome::Confirmed,
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
                    checked == CheckOutcome::Confirmed,
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
            let needless = matches!(&checked, CheckOutcome::Confirmed)
                && other
                    .specification
                    .iter()
                    .chain(&other.implementation)
                    .any(|m| m.table.iter().any(|t| t.rows.contains(&None)));
            // A row that nobody needs may be left out.
            assert!(
                needless || matches!(checked, CheckOutcome::Refuted(_)),
                "{checked:?} {other:#?}"
            );
        }
    }
}
