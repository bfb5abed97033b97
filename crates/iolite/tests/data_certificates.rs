//! Certificates of runs of models with data, beside observers with and without data, under random single
//! edits. What is true is found value by value: each value of the constant is a system of its own, its
//! states are listed, and transitions are fired with each value of their parameters.

mod common;
mod support;
mod values;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use common::{Random, edit_trace, explain};
use iolite::{
    Certificate, CheckOutcome, Criterion, JudgeOptions, JudgedBy, Observation, Spec, Verdict,
    WholeCertificate, Workspace,
};
use iolite_derive::{
    Alphabet, ConformanceTester, Progress, QueueOptions, QueueOracle, Step, SymbolicOracle, Tester,
    action_of,
};
use iolite_expr::{Solver, Strategy, Value};
use iolite_lang::{lower_data_observer, parse_action, parse_and_check};
use iolite_lts::QuiescencePolicy;
use iolite_lts::relation::follow_run;
use iolite_sts::{Iosts, LabelKind, LocationId, State, Symbolic};
use support::{Edits, judged};
use values::{ACTIONS, EFFECTS, GUARDS, Values, edit_texts, is_told, orders};

const WATCHED: [&str; 7] = [
    "p > n",
    "p == n",
    "n >= 2",
    "p > k",
    "n > k",
    "p + n == 3",
    "p == k && n > 0",
];

/// A system, an observer with data and one without.
fn models(random: &mut Random, constant: &str) -> String {
    let mut g = || random.pick(&GUARDS);
    let (g0, g1) = (g(), g());
    let mut e = || random.pick(&EFFECTS);
    let (e0, e1, e2, e3) = (e(), e(), e(), e());
    let mut w = || random.pick(&WATCHED);
    let (w0, w1) = (w(), w());
    format!(
        "system S {{
           {constant}
           var x: 0..2 = 0
           input a(v: 0..2)
           output b(v: 0..2), c
           internal t
           initial state P {{
             ?a(v) / {e0} -> Q
             !b(v) [{g0}] / {e1} -> P
             t [x == 1] -> Q
           }}
           state Q {{
             ?a(v) / {e2} -> Q
             !b(v) [{g1}] / {e3} -> P
             !c [x < 2] -> P
           }}
         }}
         observer W for S {{
           {constant}
           var n: 0..3 = 0
           initial state One {{
             ?a(p) [n < 3] / n := n + 1 -> Two
             !b(p) [{w0}] -> Bad
             delta [n >= 2] -> Bad
             * -> One
           }}
           state Two {{
             !b(p) [{w1}] -> One
             !c [n == 1] / n := 0 -> Two
             !b(p) [!({w1}) && p == 2] -> Bad
             * -> Two
           }}
           violate state Bad
         }}
         observer L for S {{
           initial state Low {{ !c -> High  * -> Low }}
           state High {{ !b -> Worse  delta -> Worse  ?a -> Low  !c -> High }}
           violate state Worse
         }}"
    )
}

/// Which claims are made.
#[derive(Clone, Copy, PartialEq)]
enum Setting {
    /// In step, all constants known.
    Known,
    /// In step, a constant that both share unknown.
    Shared,
    /// Through queues.
    Queues,
    /// In step, with the system unfolded.
    Unfolded,
}

/// The system and the observer with data for one value of the constant.
struct Instance {
    k: i64,
    values: Values,
    watcher: Iosts,
    bad: Vec<LocationId>,
}

impl Instance {
    fn has(&self, trace: &[String]) -> bool {
        self.values.has(trace)
    }

    /// Where the observer with data is after a trace; `None` where it is left.
    fn watched(&self, trace: &[String]) -> Option<State> {
        let mut at = State {
            location: self.watcher.initial(),
            values: Arc::from([Value::int(0)].as_slice()),
        };
        for action in trace {
            let (name, value) = match action.split_once('(') {
                Some((name, rest)) => (name, rest[..1].parse::<i64>().ok()),
                None => (action.as_str(), None),
            };
            let values: Vec<Value> = value.map(Value::int).into_iter().collect();
            let next = self.watcher.outgoing(at.location).iter().find_map(|&t| {
                let gate = self.watcher.gate(self.watcher.transition(t).action);
                let own = match gate.kind {
                    LabelKind::Delta => "delta".to_owned(),
                    kind => format!("{}{}", kind.sigil(), gate.name),
                };
                let fired = self.watcher.fire(&at, &self.values.constants, t, &values);
                (own == name).then(|| fired.expect("no faults")).flatten()
            });
            at = next?;
        }
        Some(at)
    }

    fn is_bad(&self, trace: &[String]) -> bool {
        self.watched(trace)
            .is_some_and(|s| self.bad.contains(&s.location))
    }
}

/// The observer without data, by its rules written out again.
fn simple(trace: &[String]) -> Option<&'static str> {
    trace.iter().try_fold("Low", |at, action| {
        Some(match (at, &action[..2]) {
            ("Low" | "High", "!c") => "High",
            ("Low", _) | ("High", "?a") => "Low",
            ("High", "!b" | "de") => "Worse",
            _ => return None,
        })
    })
}

struct World {
    setting: Setting,
    workspace: Workspace,
    instances: Vec<Instance>,
    options: JudgeOptions,
}

/// What is true of a trace and an observation; `None` where it is left open.
fn verdict(world: &World, trace: &[String], observed: &str) -> Option<Result<&'static str, ()>> {
    let mut whole = trace.to_vec();
    whole.push(observed.to_owned());
    if !matches!(observed.as_bytes(), [b'!', ..] | b"delta") {
        return Some(Err(()));
    }
    // The orders of the system, and whether it must have been violated in each.
    let local = |seen: &[String]| -> Vec<Vec<String>> {
        if world.setting == Setting::Queues {
            orders(seen).into_iter().map(|(done, _)| done).collect()
        } else {
            vec![seen.to_vec()]
        }
    };
    let explains = |i: &Instance, seen: &[String]| local(seen).iter().any(|order| i.has(order));
    let bad_by_then = |order: &[String], is_bad: &dyn Fn(&[String]) -> bool| {
        (1..=order.len()).any(|n| is_bad(&order[..n]))
    };
    let violates = |i: &Instance, seen: &[String]| {
        let every = |is_bad: &dyn Fn(&[String]) -> bool| {
            local(seen).iter().all(|order| bad_by_then(order, is_bad))
        };
        every(&|t| i.is_bad(t)) || every(&|t| simple(t) == Some("Worse"))
    };
    let explaining = |seen: &[String]| -> Vec<&Instance> {
        world
            .instances
            .iter()
            .filter(|i| explains(i, seen))
            .collect()
    };
    for n in 0..=trace.len() {
        let now = explaining(&trace[..n]);
        if now.is_empty() {
            return Some(Err(()));
        }
        let count = now.iter().filter(|i| violates(i, &trace[..n])).count();
        if count == now.len() {
            return Some(Err(()));
        }
        if count > 0 {
            return None;
        }
    }
    let now = explaining(&whole);
    if now.is_empty() {
        let before = explaining(trace);
        let all = before.iter().all(|i| violates(i, &whole));
        return Some(Ok(if all { "violate-fail" } else { "fail" }));
    }
    let count = now.iter().filter(|i| violates(i, &whole)).count();
    match count {
        0 => Some(Err(())),
        n if n == now.len() => Some(Ok("violate")),
        // Whether a part of the constants violates is not a verdict, and no certificate claims it.
        _ => Some(Err(())),
    }
}

/// What the specification allows after a trace, by the oracles, and where everybody is.
fn told(world: &World, trace: &[String]) -> Option<(Vec<String>, Vec<String>)> {
    let reference = "m.iol#S".into();
    let (allowed, mut places) = if world.setting == Setting::Unfolded {
        let spec = world.workspace.explicit(&reference).expect("a model");
        let system = spec.system();
        let found = follow_run(&system, QuiescencePolicy::Livelock, true, trace)?;
        let places = found.states.iter();
        let places = places.map(|&s| iolite_derive::location(&system, s));
        (found.allowed, places.collect())
    } else {
        let spec = world.workspace.spec(&reference).expect("a model");
        let Spec::Symbolic(spec) = &*spec else {
            panic!("it has data");
        };
        let model = spec.model();
        let policy = QuiescencePolicy::Livelock;
        let semantics = Symbolic::new(model.clone(), &[], policy, Solver::embedded());
        let alphabet = Alphabet::default();
        let oracle =
            SymbolicOracle::new(semantics.expect("a model"), &alphabet, 0, Strategy::Small);
        let oracle = oracle.expect("an oracle");
        let mut tester: Box<dyn Tester> = if world.setting == Setting::Queues {
            let queues = QueueOracle::new(oracle, QueueOptions::default());
            Box::new(ConformanceTester::new(queues))
        } else {
            Box::new(ConformanceTester::new(oracle))
        };
        for text in trace {
            let step = match (
                parse_action(spec.source().tree().0, model, text),
                &text[..1],
            ) {
                (Some(action), "?") => Step::Stimulus(action_of(model, &alphabet, &action)),
                (Some(action), _) => Step::Output(action_of(model, &alphabet, &action)),
                (None, _) => Step::Quiescence,
            };
            if tester.step(step) != Progress::Continue {
                return None;
            }
        }
        (tester.allowed(), tester.locations())
    };
    // Each observer in each order, with inputs under way taken or not.
    let mut locals = Vec::new();
    if world.setting == Setting::Queues {
        for (mut done, left) in orders(trace) {
            locals.push(done.clone());
            for input in left {
                done.push(input);
                locals.push(done.clone());
            }
        }
    } else {
        locals.push(trace.to_vec());
    }
    let (mut with, mut without) = (BTreeSet::new(), BTreeSet::new());
    for local in &locals {
        // In an order of messages a violation is final; in step nothing is claimed after one.
        let until = |is_bad: &dyn Fn(&[String]) -> bool| {
            let end = (0..local.len()).find(|&n| is_bad(&local[..n]));
            let end = end.filter(|_| world.setting == Setting::Queues);
            local[..end.unwrap_or(local.len())].to_vec()
        };
        let mut left = true;
        for i in &world.instances {
            if let Some(at) = i.watched(&until(&|t| i.is_bad(t))) {
                left = false;
                with.insert(i.watcher.describe(&at));
            }
        }
        if left {
            with.insert("left for good".to_owned());
        }
        let place = simple(&until(&|t| simple(t) == Some("Worse")));
        without.insert(place.unwrap_or("left for good").to_owned());
    }
    let joined = |all: BTreeSet<String>| all.into_iter().collect::<Vec<_>>().join(" or ");
    places.push(format!("W: {}", joined(with)));
    places.push(format!("L: {}", joined(without)));
    Some((allowed, places))
}

/// `None` where the claim is left open.
fn is_true(world: &World, c: &WholeCertificate) -> Option<bool> {
    let Some(Observation::Action(observed)) = &c.observed else {
        return Some(false);
    };
    let known = |a: &String| ACTIONS.contains(&a.as_str());
    if !c.trace.iter().all(known) {
        return Some(false);
    }
    let Ok(right) = verdict(world, &c.trace, observed)? else {
        return Some(false);
    };
    if c.verdict != right {
        return Some(false);
    }
    // Where the observers are is written in one way only.
    let watching = |place: &&String| place.starts_with("W: ") || place.starts_with("L: ");
    let Some((_, places)) = told(world, &c.trace) else {
        return Some(false);
    };
    let beside: BTreeSet<&String> = places.iter().filter(watching).collect();
    if c.locations.iter().filter(watching).collect::<BTreeSet<_>>() != beside {
        return Some(false);
    }
    let mut texts = allowed(c);
    let places = c.locations.iter().filter(|place| !watching(place));
    texts.extend(places.cloned());
    if world.setting == Setting::Unfolded {
        let truth = world.instances[0].values.told(&c.trace, false);
        return Some(texts.into_iter().collect::<BTreeSet<_>>() == truth);
    }
    let queues = world.setting == Setting::Queues;
    let explaining = world.instances.iter().filter(|i| {
        let orders: Vec<Vec<String>> = if queues {
            orders(&c.trace).into_iter().map(|(done, _)| done).collect()
        } else {
            vec![c.trace.clone()]
        };
        orders.iter().any(|order| i.has(order))
    });
    let truth = explaining.map(|i| (i.k, i.values.told(&c.trace, queues)));
    Some(is_told(
        &texts,
        &truth.collect::<Vec<_>>(),
        world.setting != Setting::Shared,
    ))
}

/// What a certificate says is allowed; refusals are nothing that is.
fn allowed(c: &WholeCertificate) -> Vec<String> {
    let text = |o: &Observation| match o {
        Observation::Action(a) => a.clone(),
        Observation::Refusal(_) => String::new(),
    };
    c.allowed.iter().map(text).collect()
}

fn edit(random: &mut Random, c: &mut WholeCertificate) {
    let action = |random: &mut Random| random.pick(&ACTIONS).to_owned();
    let insert = |random: &mut Random, list: &mut Vec<String>, new: String| {
        let at = random.below(list.len() + 1);
        if random.below(2) == 0 || at == list.len() {
            list.insert(at, new);
        } else {
            list.remove(at);
        }
    };
    match random.below(9) {
        kind @ 0..=2 if kind == 0 || !c.trace.is_empty() => edit_trace(random, c, kind, &ACTIONS),
        3 => c.observed = Some(Observation::Action(action(random))),
        4 => {
            // Something twice is no other claim.
            let again = c.locations.first().cloned().unwrap_or_default();
            let places = [again.as_str(), "W: One (n = 0)", "L: Low", "P"];
            let new = random.pick(&places).to_owned();
            insert(random, &mut c.locations, new);
        }
        5 | 6 => {
            let mut list = allowed(c);
            let others = [
                "delta",
                "!c",
                "!b(0)",
                "!b(2)",
                "!b(v)",
                "!b(v) [v > 0]",
                "!b(v) [v <= 1]",
                "!b(v) [v == k]",
                "delta [k == 1]",
                "!c [k > 0]",
            ];
            edit_texts(random, &mut list, &others);
            c.allowed = list.into_iter().map(Observation::Action).collect();
        }
        7 => {
            let others = [
                "P (x = 0)",
                "Q (x = 1)",
                "P (x = k)",
                "Q (x = v'1) when v'1 > 0",
            ];
            edit_texts(random, &mut c.locations, &others);
        }
        _ => {
            let verdicts = [
                "fail",
                "violate",
                "violate-fail",
                "pass",
                "weak-fail",
                "refuted",
            ];
            random.pick(&verdicts).clone_into(&mut c.verdict);
        }
    }
}

fn world(random: &mut Random, setting: Setting) -> World {
    let constant = match setting {
        Setting::Shared => "const k: 0..2",
        _ => "const k: 0..2 = 1",
    };
    let text = models(random, constant);
    let (file, found) = parse_and_check(&text);
    assert!(!iolite_lang::diagnostic::has_errors(&found), "{found:?}");
    let values: &[i64] = if setting == Setting::Shared {
        &[0, 1, 2]
    } else {
        &[1]
    };
    let system = iolite_lang::lower_data(&file, "S").expect("a system");
    let lowered = lower_data_observer(&file, "W", &system).expect("an observer");
    let instance = |&k: &i64| Instance {
        k,
        values: Values {
            constants: vec![Value::int(k); system.constants().len()],
            system: system.clone(),
        },
        watcher: lowered.iosts.clone(),
        bad: lowered.violate.clone(),
    };
    let instances = values.iter().map(instance).collect();
    let workspace = Workspace::new();
    workspace.insert(Path::new("m.iol"), text);
    let options = JudgeOptions {
        observers: vec!["m.iol#W".into(), "m.iol#L".into()],
        unfold: (setting == Setting::Unfolded).then_some("--unfold"),
        queues: (setting == Setting::Queues).then(QueueOptions::default),
        ..JudgeOptions::default()
    };
    World {
        setting,
        workspace,
        instances,
        options,
    }
}

/// A claim of a random run that ends in a failing verdict.
fn claim(random: &mut Random, world: &World) -> Option<WholeCertificate> {
    let length = random.below(6);
    let trace: Vec<String> = (0..length)
        .map(|_| random.pick(&ACTIONS).to_owned())
        .collect();
    let observed = random.pick(&ACTIONS).to_owned();
    let Ok(right) = verdict(world, &trace, &observed)? else {
        return None;
    };
    let (allowed, locations) = told(world, &trace)?;
    let judged = Certificate {
        verdict: [Verdict::Fail, Verdict::Violate, Verdict::ViolateFail]
            .into_iter()
            .find(|v| v.name() == right)
            .expect("a failing verdict"),
        trace,
        observed: Some(observed),
        allowed,
        locations,
        ..judged(
            Criterion::Safety,
            "m.iol#S",
            matches!(world.setting, Setting::Queues),
        )
    };
    let by = JudgedBy::Model(&world.options);
    let whole = world.workspace.certify_run(&judged, by);
    whole.expect("an answer").ok()
}

fn edits(setting: Setting, wanted: usize) {
    let mut random = Random(61);
    let mut edits = Edits::default();
    while edits.done < wanted {
        let world = world(&mut random, setting);
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
                |other| is_true(&world, other),
            );
            forge(&mut random, &world, &whole);
        }
    }
    edits.finish(3);
}

/// What the claim is made of: nothing of it may be something else.
fn forge(random: &mut Random, world: &World, whole: &WholeCertificate) {
    let mut other = whole.clone();
    match random.below(8) {
        0 => drop(other.data_observers.pop()),
        1 => other.observers.clear(),
        2 => other.observers[0].marked = vec![0],
        3 => drop(other.observers[0].steps.pop()),
        4 => other.data_observers[0].constants.push("k=2".to_owned()),
        5 => "m.iol#L".clone_into(&mut other.data_observers[0].reference),
        6 => other.files[0].text += " ",
        _ => "uioco".clone_into(&mut other.kind),
    }
    let checked = explain(&world.workspace, &other);
    assert_ne!(checked, CheckOutcome::Confirmed, "{other:#?}");
}

#[test]
fn single_edits_beside_observers_with_data_are_judged_rightly() {
    edits(Setting::Known, 2_000);
}

#[test]
fn single_edits_with_a_shared_unknown_constant_are_judged_rightly() {
    edits(Setting::Shared, 1_000);
}

#[test]
fn single_edits_with_data_through_queues_are_judged_rightly() {
    edits(Setting::Queues, 1_000);
}

#[test]
fn single_edits_of_unfolded_models_beside_observers_with_data_are_judged_rightly() {
    edits(Setting::Unfolded, 2_000);
}
