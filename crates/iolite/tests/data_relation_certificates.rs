//! Certificates of runs of models with data for ioco, uioco and ioconf, under random single edits. What is
//! true is found value by value, from the definitions.

mod common;
mod support;
mod values;

use std::path::Path;

use common::{Random, edit_trace};
use iolite::{
    Certificate, CheckOutcome, Context, Criterion, JudgeOptions, JudgedBy, Observation, Verdict,
    WholeCertificate, Workspace,
};
use iolite_derive::QueueOptions;
use iolite_expr::Value;
use iolite_lang::parse_and_check;
use iolite_lts::relation::Relation;
use support::{Edits, judged};
use values::{ACTIONS, EFFECTS, GUARDS, Values, edit_texts, is_told, orders};

/// A system whose inputs may be refused, and which may choose by itself.
fn model(random: &mut Random) -> String {
    let mut g = || random.pick(&GUARDS);
    let (g0, g1, g2, g3) = (g(), g(), g(), g());
    let mut e = || random.pick(&EFFECTS);
    let (e0, e1, e2, e3) = (e(), e(), e(), e());
    // Half of the systems take all inputs somewhere.
    let total = random.below(2) == 0;
    let g2 = if total { "true" } else { g2 };
    format!(
        "system S {{
           const k: 0..2 = 1
           var x: 0..2 = 0
           input a(v: 0..2)
           output b(v: 0..2), c
           internal t
           initial state P {{
             ?a(v) [{g2}] / {e0} -> Q
             ?a(v) [v > 0] -> P
             !b(v) [{g0}] / {e1} -> P
             t [x == 1] -> Q
           }}
           state Q {{
             ?a(v) [{g3}] / {e2} -> Q
             !b(v) [{g1}] / {e3} -> P
             !c [x < 2] -> P
           }}
         }}"
    )
}

struct World {
    workspace: Workspace,
    values: Values,
    relation: Relation,
    queues: bool,
}

fn world(random: &mut Random, relation: Relation, queues: bool) -> World {
    let text = model(random);
    let (file, found) = parse_and_check(&text);
    assert!(!iolite_lang::diagnostic::has_errors(&found), "{found:?}");
    let system = iolite_lang::lower_data(&file, "S").expect("a system");
    let workspace = Workspace::new();
    workspace.insert(Path::new("m.iol"), text);
    World {
        workspace,
        values: Values {
            constants: vec![Value::int(1); system.constants().len()],
            system,
        },
        relation,
        queues,
    }
}

/// Whether the specification says something of an input after a trace that it has: the relation speaks of
/// it where some state takes it, and for uioco where all do.
fn specifies(world: &World, trace: &[String], input: &str) -> bool {
    let states = world.values.states(trace);
    let takes = |s| {
        let closed = world.values.closed(vec![s]);
        !world.values.after(&closed, input).is_empty()
    };
    let mut states = states.into_iter();
    match world.relation {
        Relation::Uioco => states.all(takes),
        _ => states.any(takes),
    }
}

/// Whether the observation after the trace is wrong; `false` also where the trace is not one that the
/// relation speaks of.
fn is_wrong(world: &World, trace: &[String], observed: &str) -> bool {
    let observation = |action: &str| action == "delta" || action.starts_with('!');
    let silent = trace.iter().any(|action| action == "delta");
    if !observation(observed) || world.relation == Relation::Ioconf && silent {
        return false;
    }
    let mut whole = trace.to_vec();
    whole.push(observed.to_owned());
    let has = |trace: &[String]| world.values.has(trace);
    if !world.queues {
        let mut inputs = (0..trace.len()).filter(|&k| trace[k].starts_with('?'));
        return inputs.all(|k| specifies(world, &trace[..k], &trace[k]))
            && has(trace)
            && !has(&whole);
    }
    // Before each observation, inputs under way may have been taken in every order that explains what
    // was seen. One that is left open explains everything after it.
    for n in (0..whole.len()).filter(|&n| observation(&whole[n])) {
        let explaining = orders(&whole[..n])
            .into_iter()
            .filter(|(done, _)| has(done));
        let mut some = false;
        for (mut done, left) in explaining {
            some = true;
            for input in left {
                if !specifies(world, &done, &input) {
                    return false;
                }
                done.push(input);
            }
        }
        if !some {
            return false;
        }
    }
    !orders(&whole).iter().any(|(done, _)| has(done))
}

/// What is allowed and where, value by value.
fn told(world: &World, trace: &[String]) -> (Vec<String>, Vec<String>) {
    let all = world.values.told(trace, world.queues).into_iter();
    all.partition(|text| text == "delta" || text.starts_with('!'))
}

fn is_true(world: &World, c: &WholeCertificate) -> bool {
    let Some(Observation::Action(observed)) = &c.observed else {
        return false;
    };
    let known = |a: &String| ACTIONS.contains(&a.as_str());
    if !c.trace.iter().all(known) || !is_wrong(world, &c.trace, observed) {
        return false;
    }
    let mut texts = allowed(c);
    texts.extend(c.locations.iter().cloned());
    let truth = world.values.told(&c.trace, world.queues);
    c.verdict == "fail" && is_told(&texts, &[(1, truth)], true)
}

/// What a certificate says is allowed.
fn allowed(c: &WholeCertificate) -> Vec<String> {
    let text = |o: &Observation| match o {
        Observation::Action(a) => a.clone(),
        Observation::Refusal(_) => String::new(),
    };
    c.allowed.iter().map(text).collect()
}

fn edit(random: &mut Random, c: &mut WholeCertificate) {
    let others: Vec<&str> = ACTIONS.iter().copied().chain(["!z"]).collect();
    match random.below(8) {
        kind @ 0..=2 if kind == 0 || !c.trace.is_empty() => edit_trace(random, c, kind, &others),
        3 => c.observed = Some(Observation::Action(random.pick(&others).to_owned())),
        4 | 5 => {
            let mut texts = allowed(c);
            let others = [
                "!b(v)",
                "!b(v) [v > 0]",
                "!b(v) [v + 1 <= 2]",
                "!b(1)",
                "!c",
                "delta",
            ];
            edit_texts(random, &mut texts, &others);
            c.allowed = texts.into_iter().map(Observation::Action).collect();
        }
        6 => {
            let others = ["P (x = 0)", "Q (x = v'1) when v'1 > 0", "Q (x = 2)"];
            edit_texts(random, &mut c.locations, &others);
        }
        _ => "violate".clone_into(&mut c.verdict),
    }
}

/// A claim of a random run that fails, told value by value.
fn claim(random: &mut Random, world: &World) -> Option<WholeCertificate> {
    let length = random.below(5);
    let trace: Vec<String> = (0..length)
        .map(|_| random.pick(&ACTIONS).to_owned())
        .collect();
    let observed = random.pick(&ACTIONS[3..]).to_owned();
    if !is_wrong(world, &trace, &observed) {
        return None;
    }
    let (allowed, locations) = told(world, &trace);
    let judged = Certificate {
        trace,
        observed: Some(observed),
        allowed,
        locations,
        ..judged(Criterion::Relation(world.relation), "m.iol#S", world.queues)
    };
    let options = JudgeOptions {
        relation: world.relation,
        queues: world.queues.then(QueueOptions::default),
        ..JudgeOptions::default()
    };
    let by = JudgedBy::Model(&options);
    let whole = world.workspace.certify_run(&judged, by).expect("an answer");
    let whole = whole.expect("a certificate");
    let table = whole.specification.as_ref().and_then(|s| s.table.as_ref());
    assert!(table.is_none(), "data are kept");
    Some(whole)
}

fn edits(relation: Relation, queues: bool, wanted: usize) {
    let mut random = Random(83);
    let mut edits = Edits::default();
    while edits.done < wanted {
        let world = world(&mut random, relation, queues);
        for _ in 0..40 {
            edits.try_again();
            let Some(whole) = claim(&mut random, &world) else {
                continue;
            };
            edits.check(
                &world.workspace,
                &whole,
                6,
                |other| edit(&mut random, other),
                |other| Some(is_true(&world, other)),
            );
        }
    }
    edits.finish(1);
}

#[test]
fn single_edits_of_ioco_runs_with_data_are_judged_rightly() {
    edits(Relation::Ioco, false, 1_000);
}

#[test]
fn single_edits_of_uioco_runs_with_data_are_judged_rightly() {
    edits(Relation::Uioco, false, 2_000);
}

#[test]
fn single_edits_of_ioconf_runs_with_data_are_judged_rightly() {
    edits(Relation::Ioconf, false, 2_000);
}

#[test]
fn single_edits_of_uioco_runs_with_data_through_queues_are_judged_rightly() {
    edits(Relation::Uioco, true, 1_000);
}

#[test]
fn single_edits_of_ioconf_runs_with_data_through_queues_are_judged_rightly() {
    edits(Relation::Ioconf, true, 1_000);
}

/// Other words for what is allowed are accepted with a note, and those of the tester without one; the formulas confirm
/// both.
#[test]
fn other_words_for_what_is_allowed_are_noted() {
    let workspace = Workspace::new();
    let text = "system S {
      var x: 0..9 = 0
      input a(v: 0..9)
      output b(v: 0..9)
      initial state P { ?a(v) / x := v -> Q }
      state Q { !b(v) [v < x] -> P  ?a(v) -> Q }
    }";
    workspace.insert(Path::new("m.iol"), text);
    let explained = |allowed: &[&str], places: &[&str]| {
        let owned = |texts: &[&str]| texts.iter().map(|&t| t.to_owned()).collect::<Vec<_>>();
        let judged = Certificate {
            format: iolite_exec::CERTIFICATE_FORMAT.to_owned(),
            kind: Criterion::Relation(Relation::Ioco),
            model: "m.iol#S".into(),
            context: Context::Synchronous,
            channels: Vec::new(),
            verdict: Verdict::Fail,
            trace: owned(&["?a(3)"]),
            observed: Some("!b(3)".to_owned()),
            trace_omitted: 0,
            patience: None,
            instead: Vec::new(),
            unexplained: None,
            exit: None,
            allowed: owned(allowed),
            locations: owned(places),
            run: 0,
            seed: 0,
        };
        let options = JudgeOptions::default();
        let whole = workspace.certify_run(&judged, JudgedBy::Model(&options));
        let whole = whole.expect("an answer").expect("a certificate");
        let path = Path::new("c.json");
        workspace.insert(path, serde_json::to_vec(&whole).expect("a certificate"));
        workspace
            .explain(path, &iolite::ExplainOptions::default())
            .expect("an answer")
    };
    let place = ["Q (x = 3)"];
    let written = explained(&["!b(v) [v <= 2]"], &place);
    assert_eq!(written.checked, CheckOutcome::Confirmed);
    assert_eq!(written.notes, Vec::<String>::new());
    for other in [
        &["!b(0)", "!b(1)", "!b(2)"][..],
        &["!b(v) [v <= 1]", "!b(2)"],
        &["!b(v) [v + 2 <= 4 && v >= 0]"],
    ] {
        let found = explained(other, &place);
        assert_eq!(found.checked, CheckOutcome::Confirmed, "{other:?}");
        assert!(found.notes[0].contains("other words"), "{:?}", found.notes);
        let by_formulas =
            |p: &iolite::ConfirmedPart| p.what.starts_with("allowed") && p.by.contains("formula");
        assert!(found.parts.iter().any(by_formulas), "{:?}", found.parts);
    }
    for (wrong, places) in [
        (&["!b(v) [v <= 3]"][..], &place[..]),
        (&["!b(v) [v <= 1]"], &place),
        (&["!b(v) [v <= 2]", "delta"], &place),
        (&["!b(v) [v <= 2]"], &["Q (x = 2)"]),
        (&["!b(v) [v <= 2]"], &["P (x = 3)"]),
        (&["!b(v) [v <= 2]"], &["Q (x = v'1) when v'1 >= 3"]),
    ] {
        let found = explained(wrong, places);
        let refuted = matches!(found.checked, CheckOutcome::Refuted(_));
        assert!(refuted, "{wrong:?} {places:?} {:?}", found.checked);
    }
}
