//! Certificates of runs of models with data through several channels, and through channels that lose or reorder
//! messages, under random single edits. What is true is found by playing: the system, value by value, and its channels
//! as queues of messages, in every interleaving.

mod common;
mod support;
mod values;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::{Random, edit_trace, explain};
use iolite::{
    Budget, Certificate, CheckOutcome, Criterion, ExplainOptions, JudgeOptions, JudgedBy,
    Observation, Spec, WholeCertificate, Workspace,
};
use iolite_derive::{
    Alphabet, Channel, ChannelOracle, ConformanceTester, Progress, QueueOptions, Step,
    SymbolicOracle, Tester, action_of,
};
use iolite_expr::{Solver, Strategy, Value};
use iolite_lang::{parse_action, parse_and_check};
use iolite_lts::QuiescencePolicy;
use iolite_lts::relation::Relation;
use iolite_sts::{State, Symbolic};
use support::judged;
use values::{ACTIONS, EFFECTS, GUARDS, Values, edit_texts, is_told};

fn model(random: &mut Random) -> String {
    let mut g = || random.pick(&GUARDS);
    let (g0, g1) = (g(), g());
    let mut e = || random.pick(&EFFECTS);
    let (e0, e1, e2, e3) = (e(), e(), e(), e());
    // Half of the systems answer and are silent then.
    let back = ["P", "Q"][random.below(2)];
    format!(
        "system S {{
           const k: 0..2 = 1
           var x: 0..2 = 0
           input a(v: 0..2)
           output b(v: 0..2), c
           initial state P {{
             ?a(v) / {e0} -> Q
             !b(v) [{g0} && x > 0] / {e1} -> P
           }}
           state Q {{
             ?a(v) / {e2} -> Q
             !b(v) [{g1}] / {e3} -> P
             !c [x < 2] -> {back}
           }}
         }}"
    )
}

/// Which channels lie between.
#[derive(Clone, Copy, PartialEq)]
enum Setting {
    /// `a` and `b` through one, `c` through another.
    Two,
    /// One that lets messages overtake each other.
    Reordering,
    /// Two, and the one of `c` loses messages.
    Losing,
}

fn channels(setting: Setting) -> Arc<[Channel]> {
    let names = |all: &[&str]| all.iter().map(|&n| n.into()).collect();
    let channel = |name: &str, inputs: &[&str], outputs: &[&str], loss, reorder| Channel {
        name: name.into(),
        inputs: names(inputs),
        outputs: names(outputs),
        loss,
        reorder,
    };
    match setting {
        Setting::Reordering => [channel("one", &["a"], &["b", "c"], false, true)].into(),
        Setting::Two | Setting::Losing => [
            channel("one", &["a"], &["b"], false, false),
            channel("other", &[], &["c"], setting == Setting::Losing, false),
        ]
        .into(),
    }
}

struct World {
    setting: Setting,
    workspace: Workspace,
    values: Values,
}

/// The system and what is under way: inputs given and not taken, and outputs sent and not seen, by channel. Of a channel
/// that is `done` nothing more is seen of what is sent.
#[derive(Clone)]
struct Play {
    state: State,
    inputs: Vec<String>,
    outputs: [Vec<String>; 2],
    done: [bool; 2],
}

impl World {
    fn channel(&self, output: &str) -> usize {
        usize::from(output == "!c" && self.setting != Setting::Reordering)
    }

    fn reorders(&self) -> bool {
        self.setting == Setting::Reordering
    }

    /// What can happen by itself: an input is taken, an output is sent, or lost.
    fn steps(&self, play: &Play, most: usize) -> Vec<Play> {
        let mut all = Vec::new();
        let at = std::slice::from_ref(&play.state);
        let takable = if self.reorders() {
            play.inputs.len()
        } else {
            1
        };
        for k in 0..takable.min(play.inputs.len()) {
            for state in self.values.after(at, &play.inputs[k]) {
                let mut next = play.clone();
                next.state = state;
                next.inputs.remove(k);
                all.push(next);
            }
        }
        for output in ACTIONS.iter().filter(|a| a.starts_with('!')) {
            let channel = self.channel(output);
            for state in self.values.after(at, output) {
                let mut next = play.clone();
                next.state = state;
                if self.setting == Setting::Losing && *output == "!c" {
                    all.push(next.clone());
                }
                // It is on its way, and nobody sees it until the end.
                let mut unseen = next.clone();
                unseen.done[channel] = true;
                all.push(unseen);
                let may_be_seen = !play.done[channel] || self.reorders();
                if may_be_seen && next.outputs[channel].len() < most {
                    next.outputs[channel].push((*output).to_owned());
                    all.push(next);
                }
            }
        }
        all
    }

    fn closed(&self, plays: Vec<Play>, most: usize) -> Vec<Play> {
        let key = |p: &Play| {
            let state = self.values.system.describe(&p.state);
            format!("{state} {:?} {:?} {:?}", p.inputs, p.outputs, p.done)
        };
        let mut seen: BTreeSet<String> = plays.iter().map(key).collect();
        let mut all = plays;
        let mut next = 0;
        while next < all.len() {
            for play in self.steps(&all[next].clone(), most) {
                if seen.insert(key(&play)) {
                    all.push(play);
                }
            }
            next += 1;
        }
        all
    }

    /// Whether what was seen can have happened.
    fn explains(&self, trace: &[String]) -> bool {
        let start = State {
            location: self.values.system.initial(),
            values: Arc::from([Value::int(0)].as_slice()),
        };
        let mut plays = vec![Play {
            state: start,
            inputs: Vec::new(),
            outputs: Default::default(),
            done: [false; 2],
        }];
        let seen = |trace: &[String]| trace.iter().filter(|a| a.starts_with('!')).count();
        for (n, action) in trace.iter().enumerate() {
            if action.starts_with('?') {
                for play in &mut plays {
                    play.inputs.push(action.clone());
                }
                continue;
            }
            let mut next = Vec::new();
            for mut play in self.closed(plays, seen(&trace[n..])) {
                if action == "delta" {
                    let nothing = play.inputs.is_empty()
                        && play.outputs.iter().all(Vec::is_empty)
                        && play.done == [false; 2];
                    let at = std::slice::from_ref(&play.state);
                    if nothing && !self.values.after(at, "delta").is_empty() {
                        next.push(play);
                    }
                    continue;
                }
                let queue = &mut play.outputs[self.channel(action)];
                let first = queue.iter().position(|o| o == action);
                let first = first.filter(|&k| k == 0 || self.reorders());
                if let Some(k) = first {
                    queue.remove(k);
                    next.push(play);
                }
            }
            plays = next;
        }
        !plays.is_empty()
    }

    fn is_wrong(&self, trace: &[String], observed: &str) -> bool {
        let known = |a: &String| ACTIONS.contains(&a.as_str());
        if !trace.iter().all(known) || !matches!(observed.as_bytes(), [b'!', ..] | b"delta") {
            return false;
        }
        let mut whole = trace.to_vec();
        whole.push(observed.to_owned());
        let mut before = (0..=trace.len()).map(|n| &trace[..n]);
        before.all(|trace| self.explains(trace)) && !self.explains(&whole)
    }

    /// What the tester tells.
    fn told(&self, trace: &[String]) -> Option<(Vec<String>, Vec<String>)> {
        let spec = self.workspace.spec(&"m.iol#S".into()).expect("a model");
        let Spec::Symbolic(spec) = &*spec else {
            panic!("it has data");
        };
        let model = spec.model();
        let policy = QuiescencePolicy::Livelock;
        let semantics = Symbolic::new(model.clone(), &[], policy, Solver::embedded());
        let alphabet = Alphabet::default();
        let oracle =
            SymbolicOracle::new(semantics.expect("a model"), &alphabet, 0, Strategy::Small);
        let options = QueueOptions {
            channels: channels(self.setting),
            ..QueueOptions::default()
        };
        let oracle = ChannelOracle::new(oracle.expect("an oracle"), options);
        let mut tester = ConformanceTester::new(oracle);
        for text in trace {
            let action = parse_action(spec.source().tree().0, model, text);
            let step = match (action, &text[..1]) {
                (Some(action), "?") => Step::Stimulus(action_of(model, &alphabet, &action)),
                (Some(action), _) => Step::Output(action_of(model, &alphabet, &action)),
                (None, _) => Step::Quiescence,
            };
            if tester.step(step) != Progress::Continue {
                return None;
            }
        }
        Some((tester.allowed(), tester.locations()))
    }

    fn is_true(&self, c: &WholeCertificate) -> bool {
        let Some(Observation::Action(observed)) = &c.observed else {
            return false;
        };
        if c.verdict != "fail" || !self.is_wrong(&c.trace, observed) {
            return false;
        }
        let texts = c.allowed.iter().map(|o| match o {
            Observation::Action(a) => a.clone(),
            Observation::Refusal(_) => String::new(),
        });
        let texts: Vec<String> = texts.collect();
        let set = |texts: Vec<String>| texts.into_iter().collect::<BTreeSet<_>>();
        let told = self.told(&c.trace);
        is_told(&texts, &[(1, self.allowed(&c.trace))], true)
            && told.is_some_and(|(_, at)| set(at) == set(c.locations.clone()))
    }

    /// What may be observed next, value by value.
    fn allowed(&self, trace: &[String]) -> BTreeSet<String> {
        let shown = ACTIONS.iter().filter(|a| !a.starts_with('?'));
        let longer = |action: &&&str| {
            let mut longer = trace.to_vec();
            longer.push((**action).to_owned());
            self.explains(&longer)
        };
        shown.filter(longer).map(|&a| a.to_owned()).collect()
    }
}

fn world(random: &mut Random, setting: Setting) -> World {
    let text = model(random);
    let (file, found) = parse_and_check(&text);
    assert!(!iolite_lang::diagnostic::has_errors(&found), "{found:?}");
    let system = iolite_lang::lower_data(&file, "S").expect("a system");
    let workspace = Workspace::new();
    workspace.insert(Path::new("m.iol"), text);
    World {
        setting,
        workspace,
        values: Values {
            constants: vec![Value::int(1); system.constants().len()],
            system,
        },
    }
}

/// A claim of a random run that fails.
fn claim(random: &mut Random, world: &World) -> Option<WholeCertificate> {
    certified(random, world).map(|whole| whole.expect("a certificate"))
}

/// The same, or why there is none.
fn certified(random: &mut Random, world: &World) -> Option<Result<WholeCertificate, String>> {
    let length = random.below(5);
    let trace: Vec<String> = (0..length)
        .map(|_| random.pick(&ACTIONS).to_owned())
        .collect();
    let observed = random.pick(&ACTIONS[3..]).to_owned();
    if !world.is_wrong(&trace, &observed) {
        return None;
    }
    let (allowed, locations) = world.told(&trace)?;
    let judged = Certificate {
        channels: channels(world.setting).to_vec(),
        trace,
        observed: Some(observed),
        allowed,
        locations,
        ..judged(Criterion::Relation(Relation::Ioco), "m.iol#S", true)
    };
    let options = JudgeOptions {
        queues: Some(QueueOptions {
            channels: channels(world.setting),
            ..QueueOptions::default()
        }),
        ..JudgeOptions::default()
    };
    let by = JudgedBy::Model(&options);
    Some(world.workspace.certify_run(&judged, by).expect("an answer"))
}

fn edit(random: &mut Random, c: &mut WholeCertificate) {
    match random.below(9) {
        kind @ 0..=2 if kind == 0 || !c.trace.is_empty() => edit_trace(random, c, kind, &ACTIONS),
        3 => c.observed = Some(Observation::Action(random.pick(&ACTIONS).to_owned())),
        4 | 7 | 8 => {
            let texts = c.allowed.drain(..).map(|o| match o {
                Observation::Action(a) => a,
                Observation::Refusal(_) => String::new(),
            });
            let mut texts: Vec<String> = texts.collect();
            let others = ["!z", "!c", "!b(1)", "!b(v)", "!b(v) [v >= 1]", "delta"];
            edit_texts(random, &mut texts, &others);
            c.allowed = texts.into_iter().map(Observation::Action).collect();
        }
        5 => match random.below(2) {
            0 => c.locations.extend(c.locations.first().cloned()),
            _ => drop(c.locations.pop()),
        },
        _ => random
            .pick(&["fail", "violate", "pass"])
            .clone_into(&mut c.verdict),
    }
}

fn edits(setting: Setting, wanted: usize) {
    let mut random = Random(53);
    let (mut edits, mut still_true, mut tries) = (0, 0, 0);
    let (mut genuine, mut confirmed, mut placed) = (0, 0, 0);
    while edits < wanted {
        let world = world(&mut random, setting);
        for _ in 0..40 {
            tries += 1;
            assert!(tries < 200_000, "only {edits} edits");
            let Some(whole) = claim(&mut random, &world) else {
                continue;
            };
            // A bound may run out; what is right is never called wrong.
            let checked = explain(&world.workspace, &whole);
            let refuted = matches!(checked, CheckOutcome::Refuted(_));
            assert!(!refuted, "{checked:?} {whole:#?}");
            genuine += 1;
            confirmed += usize::from(checked == CheckOutcome::Confirmed);
            let options = ExplainOptions::default();
            let again = world.workspace.explain(Path::new("c.json"), &options);
            let told = again.expect("an answer").not_rechecked;
            placed += usize::from(!told.iter().any(|part| part.contains("locations")));
            for _ in 0..6 {
                let mut other = whole.clone();
                edit(&mut random, &mut other);
                let right = world.is_true(&other);
                match explain(&world.workspace, &other) {
                    CheckOutcome::Confirmed => assert!(right, "{other:#?}"),
                    checked @ CheckOutcome::Refuted(_) => {
                        assert!(!right, "{checked:?} {other:#?}");
                    }
                    CheckOutcome::Undecided(_) => {}
                }
                edits += 1;
                still_true += usize::from(right);
            }
        }
    }
    println!(
        "{edits} edits, {still_true} of them true; {confirmed} of {genuine} confirmed, {placed} with their places"
    );
    assert!(still_true > 20, "only {still_true} edits keep it true");
    assert!(
        confirmed * 10 >= genuine * 8,
        "{confirmed} of {genuine} were confirmed"
    );
    assert!(
        placed * 10 >= genuine * 9,
        "places of {placed} of {genuine} were confirmed"
    );
}

#[test]
fn single_edits_of_runs_through_two_channels_are_judged_rightly() {
    edits(Setting::Two, 2_000);
}

#[test]
fn single_edits_of_runs_through_a_reordering_channel_are_judged_rightly() {
    edits(Setting::Reordering, 1_000);
}

#[test]
fn single_edits_of_runs_through_a_losing_channel_are_judged_rightly() {
    edits(Setting::Losing, 300);
}

/// What would have been allowed is costly to find out through channels. Where a bound has run out there is no certificate, and
/// a reason for that; the run is judged all the same.
#[test]
fn a_certificate_that_is_out_of_bounds_is_not_made_and_says_why() {
    let mut random = Random(7);
    let mut missing = 0;
    for _ in 0..200 {
        let mut world = world(&mut random, Setting::Losing);
        let spent = Budget::new(Some(Duration::ZERO), None);
        world.workspace = world.workspace.with_budget(spent);
        match certified(&mut random, &world) {
            None => {}
            Some(Ok(whole)) => panic!("a certificate without bounds: {:?}", whole.allowed),
            Some(Err(why)) => {
                assert!(
                    why.contains("within bounds: no answer within 0 seconds"),
                    "{why}"
                );
                missing += 1;
            }
        }
        if missing == 5 {
            return;
        }
    }
    panic!("{missing} runs fail");
}

/// Through two channels an output may be early, and the tester waits for those that would explain it. Where there are none it
/// says so at the next silence; the certificate is about the output, because what comes after it is no trace at all.
#[test]
fn an_output_that_is_noticed_late_is_what_the_certificate_claims() {
    let (workspace, whole) = unexplained(&["?go(1)", "!left(1)", "!left(9)"]);
    assert_eq!(whole.trace, ["?go(1)", "!left(1)"]);
    assert_eq!(
        whole.observed,
        Some(Observation::Action("!left(9)".to_owned()))
    );
    assert_eq!(explain(&workspace, &whole), CheckOutcome::Confirmed);
}

/// Orders in which messages of two channels may have been sent are many, and lead to few configurations: 924 interleavings of six
/// outputs each, and fewer configurations than are looked at.
#[test]
fn orders_that_come_to_the_same_are_looked_at_once() {
    for k in 1..=6 {
        let mut trace = vec!["?go(1)"];
        for _ in 0..k {
            trace.extend(["!left(1)", "!right(1)"]);
        }
        trace.push("!left(9)");
        let (workspace, whole) = unexplained(&trace);
        assert_eq!(whole.trace.len(), 2 * k + 1);
        let checked = explain(&workspace, &whole);
        assert_eq!(checked, CheckOutcome::Confirmed, "{k} messages on each");
    }
}

/// The certificate of a run that is silent after this trace, which has a wrong output.
fn unexplained(trace: &[&str]) -> (Workspace, WholeCertificate) {
    let workspace = Workspace::new();
    let text = "system S { var n: int = 0 input go(k: int) output left(v: int), right(v: int)
      initial state Idle { ?go(k) / n := n + k -> Idle !left(v) [v == n] -> Idle !right(v) [v <= n] -> Idle } }";
    workspace.insert(Path::new("m.iol"), text);
    let strings = |texts: &[&str]| texts.iter().map(|&t| t.to_owned()).collect::<Vec<_>>();
    let channel = |name: &str, inputs: &[&str], outputs: &[&str]| Channel {
        name: name.to_owned(),
        inputs: strings(inputs),
        outputs: strings(outputs),
        loss: false,
        reorder: false,
    };
    let channels = [
        channel("l", &["go"], &["left"]),
        channel("r", &[], &["right"]),
    ];
    let judged = Certificate {
        channels: channels.to_vec(),
        trace: strings(trace),
        observed: Some("delta".to_owned()),
        ..judged(Criterion::Relation(Relation::Ioco), "m.iol#S", true)
    };
    let options = JudgeOptions {
        queues: Some(QueueOptions {
            channels: Arc::from(channels),
            ..QueueOptions::default()
        }),
        ..JudgeOptions::default()
    };
    let whole = workspace.certify_run(&judged, JudgedBy::Model(&options));
    let whole = whole.expect("an answer").expect("a certificate");
    (workspace, whole)
}
