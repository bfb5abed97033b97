//! Certificates of runs of models with data beside properties with guards on values, under random single edits, in step
//! and through queues. What is true is found value by value: letters are found by evaluating the guards in their
//! texts, and properties are followed in every order of messages.

mod common;
mod support;
mod values;

use std::collections::BTreeSet;
use std::path::Path;

use common::{Random, edit_trace, explain};
use iolite::{
    Certificate, CheckOutcome, Criterion, JudgeOptions, JudgedBy, ModelRef, Observation,
    PropertyOptions, PropertyReadOptions, Verdict, WholeCertificate, Workspace,
};
use iolite_derive::QueueOptions;
use iolite_expr::Value;
use iolite_lang::parse_and_check;
use iolite_lts::StateId;
use iolite_property::{Determinacy, Reading, StreettAutomaton};
use support::{Edits, judged};
use values::{ACTIONS, EFFECTS, GUARDS, Values, edit_texts, is_told, orders, value};

const PROPERTIES: &str = "
property NoTwo over {?a(v: 0..2), !b(v: 0..2), !c} = ltl G not !b(v) [v == 2]
property After over {?a(v: 0..2), !b(v: 0..2), !c} = ltl G (?a(v) [v == 0] -> X not !b(v) [v >= 1])
property Hears over {?a(v: 0..2), !b(v: 0..2), !c} = ltl G (?a(v) [v > 0] -> F !c)
property Parts over {?a(v: 0..2), !b(v: 0..2), !c} = ltl G (!b(v) [v > 0] -> X not !b(v) [v < 2])
";
const NAMES: [&str; 4] = ["NoTwo", "After", "Hears", "Parts"];

fn model(random: &mut Random) -> String {
    let mut g = || random.pick(&GUARDS);
    let (g0, g1) = (g(), g());
    let mut e = || random.pick(&EFFECTS);
    let (e0, e1, e2, e3) = (e(), e(), e(), e());
    format!(
        "system S {{
           const k: 0..2 = 1
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
         }}"
    )
}

/// A property, followed by [PROP12, def. 13 and 15]: no continuation is in Π, or silence where the trace is not.
struct Followed {
    name: String,
    automaton: StreettAutomaton,
    negative: BTreeSet<usize>,
}

/// Where it is: a state, or `None` after silence that breaks it.
type Place = Option<StateId>;

impl Followed {
    fn new(workspace: &Workspace, reference: &ModelRef) -> Self {
        let found = workspace.property(reference, &PropertyReadOptions::default());
        let found = found.expect("a property");
        let automaton = found.automaton.clone();
        let determined = Determinacy::new(&automaton, Reading::FiniteAndInfinite).unwrap();
        let states = automaton.structure().states();
        let negative = states.filter(|&q| determined.negative.contains(q));
        Self {
            name: found.name.clone(),
            negative: negative.map(StateId::index).collect(),
            automaton,
        }
    }

    fn is_broken(&self, at: Place) -> bool {
        at.is_none_or(|q| self.negative.contains(&q.index()))
    }

    /// The letter of an action: the one of its name whose guard its value meets.
    fn after(&self, at: Place, action: &str) -> Place {
        let q = at.filter(|_| !self.is_broken(at))?;
        let automaton = &self.automaton;
        if action == "delta" {
            let fine = automaton.finite().contains(q) || automaton.open().contains(q);
            return fine.then_some(q);
        }
        let (name, given) = match action.split_once('(') {
            Some((name, rest)) => (name, rest[..1].parse::<i64>().ok()),
            None => (action, None),
        };
        let sigma = automaton.alphabet();
        let mut letters = sigma.iter();
        let letter = letters.find(|&l| {
            let text = sigma.text(l);
            let (head, guard) = match text.split_once(" [") {
                Some((head, guard)) => (head, guard.trim_end_matches(']')),
                None => (text.as_str(), "true"),
            };
            let own = head.split('(').next() == Some(name);
            own && value(guard, &|word| given.filter(|_| word == "v")) == Some(1)
        });
        Some(automaton.structure().step(q, letter.expect("a letter")))
    }

    /// Where it is after what the system did; what is broken stays so.
    fn end(&self, trace: &[String]) -> Place {
        let start = Some(self.automaton.structure().initial());
        trace.iter().fold(start, |at, action| {
            if self.is_broken(at) {
                at
            } else {
                self.after(at, action)
            }
        })
    }

    fn name_of(&self, at: Place) -> String {
        at.map_or_else(|| "q_fail".to_owned(), |q| self.automaton.name(q))
    }
}

struct World {
    workspace: Workspace,
    values: Values,
    property: Followed,
    options: JudgeOptions,
    queues: bool,
}

impl World {
    /// Every order of what was done, with inputs under way taken or not.
    fn orders(&self, trace: &[String], taking: bool) -> Vec<Vec<String>> {
        if !self.queues {
            return vec![trace.to_vec()];
        }
        let mut all = Vec::new();
        for (mut done, left) in orders(trace) {
            all.push(done.clone());
            for input in left.into_iter().filter(|_| taking) {
                done.push(input);
                all.push(done.clone());
            }
        }
        all
    }

    fn is_violated(&self, trace: &[String]) -> bool {
        let orders = self.orders(trace, false);
        let mut ends = orders.iter().map(|order| self.property.end(order));
        ends.all(|at| self.property.is_broken(at))
    }

    fn has(&self, trace: &[String]) -> bool {
        let orders = self.orders(trace, false);
        orders.iter().any(|order| self.values.has(order))
    }

    /// The verdict; `None` where no run ends so.
    fn verdict(&self, trace: &[String], observed: &str) -> Option<&'static str> {
        if !matches!(observed.as_bytes(), [b'!', ..] | b"delta") {
            return None;
        }
        if (0..=trace.len()).any(|n| !self.has(&trace[..n]) || self.is_violated(&trace[..n])) {
            return None;
        }
        let mut whole = trace.to_vec();
        whole.push(observed.to_owned());
        match (self.has(&whole), self.is_violated(&whole)) {
            (false, true) => Some("violate-fail"),
            (false, false) => Some("fail"),
            (true, true) => Some("violate"),
            (true, false) => None,
        }
    }

    fn place(&self, trace: &[String]) -> String {
        let ends = self.orders(trace, true).into_iter();
        let ends = ends.map(|order| self.property.name_of(self.property.end(&order)));
        let ends: BTreeSet<String> = ends.collect();
        let ends: Vec<String> = ends.into_iter().collect();
        format!("{}: {}", self.property.name, ends.join(" or "))
    }

    fn is_true(&self, c: &WholeCertificate) -> bool {
        let Some(Observation::Action(observed)) = &c.observed else {
            return false;
        };
        let known = |a: &String| ACTIONS.contains(&a.as_str());
        if !c.trace.iter().all(known)
            || self.verdict(&c.trace, observed) != Some(c.verdict.as_str())
        {
            return false;
        }
        let mut texts = allowed(c);
        let watching = |place: &&String| place.starts_with(&self.property.name);
        let (own, places): (Vec<&String>, Vec<&String>) = c.locations.iter().partition(watching);
        texts.extend(places.into_iter().cloned());
        let own: BTreeSet<&String> = own.into_iter().collect();
        own == BTreeSet::from([&self.place(&c.trace)])
            && is_told(
                &texts,
                &[(1, self.values.told(&c.trace, self.queues))],
                true,
            )
    }
}

fn allowed(c: &WholeCertificate) -> Vec<String> {
    let text = |o: &Observation| match o {
        Observation::Action(a) => a.clone(),
        Observation::Refusal(_) => String::new(),
    };
    c.allowed.iter().map(text).collect()
}

fn world(random: &mut Random, queues: bool) -> World {
    let text = model(random);
    let (file, found) = parse_and_check(&text);
    assert!(!iolite_lang::diagnostic::has_errors(&found), "{found:?}");
    let system = iolite_lang::lower_data(&file, "S").expect("a system");
    let workspace = Workspace::new();
    workspace.insert(Path::new("m.iol"), text);
    workspace.insert(Path::new("p.iol"), PROPERTIES);
    let reference = ModelRef::from(format!("p.iol#{}", random.pick(&NAMES)).as_str());
    World {
        property: Followed::new(&workspace, &reference),
        workspace,
        values: Values {
            constants: vec![Value::int(1); system.constants().len()],
            system,
        },
        options: JudgeOptions {
            queues: queues.then(QueueOptions::default),
            properties: Some(PropertyOptions {
                properties: vec![reference],
                ..PropertyOptions::default()
            }),
            ..JudgeOptions::default()
        },
        queues,
    }
}

/// A claim of a random run that ends in a failing verdict.
fn claim(random: &mut Random, world: &World) -> Option<WholeCertificate> {
    let length = random.below(6);
    let trace: Vec<String> = (0..length)
        .map(|_| random.pick(&ACTIONS).to_owned())
        .collect();
    let observed = random.pick(&ACTIONS[3..]).to_owned();
    let right = world.verdict(&trace, &observed)?;
    let verdicts = [Verdict::Fail, Verdict::Violate, Verdict::ViolateFail];
    let told = world.values.told(&trace, world.queues).into_iter();
    let (allowed, mut locations): (Vec<String>, Vec<String>) =
        told.partition(|text| text == "delta" || text.starts_with('!'));
    locations.push(world.place(&trace));
    let judged = Certificate {
        verdict: verdicts.into_iter().find(|v| v.name() == right)?,
        trace,
        observed: Some(observed),
        allowed,
        locations,
        ..judged(Criterion::Safety, "m.iol#S", world.queues)
    };
    let by = JudgedBy::Model(&world.options);
    let whole = world.workspace.certify_run(&judged, by).expect("an answer");
    Some(whole.expect("a certificate"))
}

fn edit(random: &mut Random, c: &mut WholeCertificate) {
    match random.below(8) {
        kind @ 0..=2 if kind == 0 || !c.trace.is_empty() => edit_trace(random, c, kind, &ACTIONS),
        3 => c.observed = Some(Observation::Action(random.pick(&ACTIONS).to_owned())),
        4 | 5 => {
            let mut texts = allowed(c);
            edit_texts(random, &mut texts, &["!b(v)", "!b(1)", "!c", "delta"]);
            c.allowed = texts.into_iter().map(Observation::Action).collect();
        }
        6 => edit_texts(random, &mut c.locations, &["P (x = 0)", "NoTwo: q0"]),
        _ => {
            let names = ["fail", "violate", "violate-fail", "pass", "weak-fail"];
            random.pick(&names).clone_into(&mut c.verdict);
        }
    }
}

/// What the claim is made of: nothing of it may be something else.
fn forge(random: &mut Random, world: &World, whole: &WholeCertificate) {
    let mut other = whole.clone();
    let property = &mut other.properties[0];
    let automaton = &mut property.automaton;
    match random.below(6) {
        0 => property.states[0].push('x'),
        1 => automaton.initial = (automaton.initial + 1) % automaton.rows.len(),
        2 => automaton.finite.push(0),
        3 => drop(other.properties.pop()),
        4 => {
            let Some(mut event) = automaton.values.first_entry() else {
                return;
            };
            let name = event.key().split('(').next().unwrap_or_default().to_owned();
            let same = |l: &&String| l.starts_with(&name) && *l != event.get();
            let Some(letter) = automaton.letters.iter().find(same) else {
                return;
            };
            letter.clone_into(event.get_mut());
        }
        _ => {
            // A letter without a guard is that of the name, whether it is said or not.
            let before = automaton.values.len();
            automaton.values.retain(|_, letter| !letter.contains(" ["));
            if automaton.values.len() == before {
                return;
            }
        }
    }
    if other != *whole {
        let checked = explain(&world.workspace, &other);
        assert_ne!(checked, CheckOutcome::Confirmed, "{other:#?}");
    }
}

/// An edit of the trace as somebody would make it who also writes down which letters the actions are then.
fn with_letters(world: &World, c: &mut WholeCertificate) {
    let sigma = world.property.automaton.alphabet();
    let events = c.actions();
    let Some(property) = c.properties.first_mut() else {
        return;
    };
    property.automaton.values.clear();
    for event in events {
        let Some((name, rest)) = event.split_once('(') else {
            continue;
        };
        let given = rest[..1].parse::<i64>().ok();
        for letter in sigma.iter() {
            let text = sigma.text(letter);
            if let Some((head, guard)) = text.split_once(" [")
                && head.split('(').next() == Some(name)
                && value(guard.trim_end_matches(']'), &|_| given) == Some(1)
            {
                property.automaton.values.insert(event.clone(), text);
            }
        }
    }
}

fn edits(queues: bool, wanted: usize) {
    let mut random = Random(97);
    let mut edits = Edits::default();
    while edits.done < wanted {
        let world = world(&mut random, queues);
        for _ in 0..60 {
            edits.try_again();
            let Some(whole) = claim(&mut random, &world) else {
                continue;
            };
            edits.check(
                &world.workspace,
                &whole,
                6,
                |other| {
                    edit(&mut random, other);
                    with_letters(&world, other);
                },
                |other| Some(world.is_true(other)),
            );
            forge(&mut random, &world, &whole);
        }
    }
    edits.finish(3);
}

#[test]
fn single_edits_beside_guarded_properties_are_judged_rightly() {
    edits(false, 2_000);
}

#[test]
fn single_edits_beside_guarded_properties_through_queues_are_judged_rightly() {
    edits(true, 1_000);
}
