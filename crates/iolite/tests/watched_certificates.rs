//! Certificates of runs beside observers and properties that are tables, under random single edits, in step
//! and through queues. What is true is asked of the oracles; where an observer or property is, is found by
//! listing every order of messages.

mod common;
mod support;

use std::collections::BTreeSet;
use std::path::Path;

use common::{Random, edit_trace, explain, explained, model_with_all_actions};
use iolite::{
    Certificate, CheckOutcome, Criterion, JudgeOptions, JudgedBy, ModelRef, Observation,
    PropertyOptions, PropertyReadOptions, Verdict, WholeCertificate, Workspace,
};
use iolite_derive::{IocoOracle, QueueOptions, QueueOracle};
use iolite_lts::QuiescencePolicy;
use iolite_property::{Determinacy, Reading};
use support::{Edits, judged};

const ACTIONS: [&str; 5] = ["?a", "?b", "!x", "!y", "delta"];

const OBSERVER: &str = "observer W {
  input a, b  output x, y
  initial state A { !x -> B  ?a -> C  ?b -> A  !y -> A  delta -> A }
  state B { !x -> Bad  delta -> Bad  !y -> A  ?a -> B  ?b -> B }
  state C { ?a -> C  !x -> A  !y -> B  delta -> C }
  violate state Bad
}";

const PROPERTIES: &str = "
property Answers over {?a, ?b, !x, !y} = ltl G(?a -> F !x)
property NotTwice over {?a, ?b, !x, !y} = ltl G(!x -> X not !x)
property Again over {?a, ?b, !x, !y} = ltl G F !x
property Loud over {?a, ?b, !x, !y, delta} = ltl G(?b -> X not delta)
property Once over {?a, ?b, !x} = ltl (F ?a) and (G(?a -> X not ?a))
";

/// An automaton that is followed: a table over [`ACTIONS`], with names and violating states.
struct Watch {
    name: String,
    states: Vec<String>,
    /// Where each action leads; `None` where it is left for good.
    rows: Vec<[Option<usize>; 5]>,
    marked: BTreeSet<usize>,
    initial: usize,
}

impl Watch {
    /// The observer, written out again.
    fn observer() -> Self {
        let (a, b, c, bad) = (Some(0), Some(1), Some(2), Some(3));
        Self {
            name: "W".to_owned(),
            states: ["A", "B", "C", "Bad"].map(str::to_owned).to_vec(),
            rows: vec![
                [c, a, b, a, a],
                [b, b, bad, a, bad],
                [c, None, a, b, c],
                [None; 5],
            ],
            marked: BTreeSet::from([3]),
            initial: 0,
        }
    }

    /// A property by [PROP12, def. 13 and 15]: no continuation is in Π, or silence where the trace is not.
    fn property(workspace: &Workspace, reference: &ModelRef) -> Self {
        let found = workspace.property(reference, &PropertyReadOptions::default());
        let found = found.expect("a property");
        let automaton = &found.automaton;
        let determined = Determinacy::new(automaton, Reading::FiniteAndInfinite).unwrap();
        let (s, sigma) = (automaton.structure(), automaton.alphabet());
        let letter = |text: &str| sigma.iter().find(|&l| sigma.text(l) == text);
        let speaks_of_silence = letter("delta").is_some();
        let fail = s.len();
        let mut states: Vec<String> = s.states().map(|q| automaton.name(q)).collect();
        states.push("q_fail".to_owned());
        let mut marked = BTreeSet::from([fail]);
        let mut rows = Vec::new();
        for q in s.states() {
            if determined.negative.contains(q) {
                marked.insert(q.index());
            }
            let fine = automaton.finite().contains(q)
                || automaton.open().contains(q)
                || determined.negative.contains(q);
            rows.push(ACTIONS.map(|action| {
                if action == "delta" && !speaks_of_silence {
                    return Some(if fine { q.index() } else { fail });
                }
                Some(letter(action).map_or(q, |l| s.step(q, l)).index())
            }));
        }
        rows.push([Some(fail); 5]);
        Self {
            name: found.name.clone(),
            states,
            rows,
            marked,
            initial: s.initial().index(),
        }
    }

    /// Where it is after what the system did; a violation stays one.
    fn end(&self, trace: &[&str]) -> Option<usize> {
        let mut at = Some(self.initial);
        for action in trace {
            let known = ACTIONS.iter().position(|known| known == action);
            let (Some(here), Some(known)) = (at, known) else {
                continue;
            };
            if !self.marked.contains(&here) {
                at = self.rows[here][known];
            }
        }
        at
    }

    fn is_violated(&self, orders: &[Vec<&str>]) -> bool {
        let marked = |order: &Vec<&str>| self.end(order).is_some_and(|q| self.marked.contains(&q));
        orders.iter().all(marked)
    }

    fn place(&self, orders: &[Vec<&str>]) -> String {
        let name = |order: &Vec<&str>| match self.end(order) {
            Some(at) => self.states[at].as_str(),
            None => "left for good",
        };
        let places: BTreeSet<&str> = orders.iter().map(name).collect();
        let places: Vec<&str> = places.into_iter().collect();
        format!("{}: {}", self.name, places.join(" or "))
    }
}

/// Every order in which the system may have done what was seen. An output was sent after any number of the
/// inputs given before it, never fewer than before, and δ after all. With `taking`, inputs that are still
/// under way may be taken as well.
fn orders(queues: bool, trace: &[String], taking: bool) -> Vec<Vec<&str>> {
    if !queues {
        return vec![trace.iter().map(String::as_str).collect()];
    }
    // What was done, and how many inputs were taken.
    let mut all: Vec<(Vec<&str>, usize)> = vec![(Vec::new(), 0)];
    let mut given: Vec<&str> = Vec::new();
    for action in trace {
        if action.starts_with('?') {
            given.push(action);
            continue;
        }
        let mut next = Vec::new();
        for (done, taken) in &all {
            for upto in *taken..=given.len() {
                if action == "delta" && upto < given.len() {
                    continue;
                }
                let mut done = done.clone();
                done.extend(&given[*taken..upto]);
                done.push(action);
                next.push((done, upto));
            }
        }
        next.sort();
        next.dedup();
        all = next;
    }
    let mut found = Vec::new();
    for (done, taken) in all {
        let last = if taking { given.len() } else { taken };
        for upto in taken..=last {
            let mut done = done.clone();
            done.extend(&given[taken..upto]);
            found.push(done);
        }
    }
    found
}

struct World {
    workspace: Workspace,
    watch: Watch,
    options: JudgeOptions,
    queues: bool,
}

/// What a certificate must say of a run.
struct Right {
    verdict: &'static str,
    allowed: BTreeSet<String>,
    places: BTreeSet<String>,
}

/// `None` where no run ends so: the specification does not have the trace, something was violated before, or
/// nothing is wrong.
fn right(world: &World, trace: &[String], observed: &str) -> Option<Right> {
    let spec = world.workspace.explicit(&"s.aut".into()).expect("a model");
    let system = spec.system();
    let oracle = IocoOracle::new(&system, QuiescencePolicy::Livelock);
    let found = if world.queues {
        let view = QueueOracle::new(oracle, QueueOptions::default());
        explained(view, trace, observed)?
    } else {
        explained(oracle, trace, observed)?
    };
    let watch = &world.watch;
    let seen = |n: usize| orders(world.queues, &trace[..n], false);
    if (0..=trace.len()).any(|n| watch.is_violated(&seen(n))) {
        return None;
    }
    let mut whole = trace.to_vec();
    whole.push(observed.to_owned());
    let violated = watch.is_violated(&orders(world.queues, &whole, false));
    let verdict = match (found.wrong, violated) {
        (true, true) => "violate-fail",
        (true, false) => "fail",
        (false, true) => "violate",
        (false, false) => return None,
    };
    let allowed = found.allowed.into_iter().filter_map(|o| match o {
        Observation::Action(action) => Some(action),
        Observation::Refusal(_) => None,
    });
    let mut places = found.places;
    places.insert(watch.place(&orders(world.queues, trace, true)));
    Some(Right {
        verdict,
        allowed: allowed.collect(),
        places,
    })
}

fn is_true(world: &World, c: &WholeCertificate) -> bool {
    let Some(Observation::Action(observed)) = &c.observed else {
        return false;
    };
    let Some(right) = right(world, &c.trace, observed) else {
        return false;
    };
    let allowed = c.allowed.iter().map(|o| match o {
        Observation::Action(action) => action.clone(),
        Observation::Refusal(_) => String::new(),
    });
    c.verdict == right.verdict
        && allowed.collect::<BTreeSet<_>>() == right.allowed
        && c.locations.iter().cloned().collect::<BTreeSet<_>>() == right.places
}

fn edit(random: &mut Random, c: &mut WholeCertificate) {
    let others: Vec<&str> = ACTIONS.iter().copied().chain(["!z"]).collect();
    match random.below(7) {
        kind @ 0..=2 if kind == 0 || !c.trace.is_empty() => edit_trace(random, c, kind, &others),
        3 => c.observed = Some(Observation::Action(random.pick(&others).to_owned())),
        4 => {
            let at = random.below(c.allowed.len() + 1);
            if random.below(2) == 0 || at == c.allowed.len() {
                let again = c.allowed.first().cloned();
                let new = Observation::Action(random.pick(&others).to_owned());
                let twice = again.filter(|_| random.below(2) == 0);
                c.allowed.insert(at, twice.unwrap_or(new));
            } else {
                c.allowed.remove(at);
            }
        }
        5 => match random.below(3) {
            0 => c.locations.push(random.below(4).to_string()),
            1 => c.locations.extend(c.locations.first().cloned()),
            _ => drop(c.locations.pop()),
        },
        _ => {
            let names = ["fail", "violate", "violate-fail", "pass", "weak-fail"];
            random.pick(&names).clone_into(&mut c.verdict);
        }
    }
}

/// A claim of a random run that ends in a failing verdict.
fn claim(random: &mut Random, world: &World) -> Option<WholeCertificate> {
    let length = random.below(7);
    let trace: Vec<String> = (0..length)
        .map(|_| random.pick(&ACTIONS).to_owned())
        .collect();
    let observed = random.pick(&ACTIONS[2..]).to_owned();
    let right = right(world, &trace, &observed)?;
    let verdicts = [Verdict::Fail, Verdict::Violate, Verdict::ViolateFail];
    // The tester tells of the observer last.
    let own = |place: &String| place.starts_with(&world.watch.name);
    let (watched, mut locations): (Vec<String>, Vec<String>) =
        right.places.into_iter().partition(own);
    locations.extend(watched);
    let judged = Certificate {
        verdict: verdicts.into_iter().find(|v| v.name() == right.verdict)?,
        trace,
        observed: Some(observed),
        allowed: right.allowed.into_iter().collect(),
        locations,
        ..judged(Criterion::Safety, "s.aut", world.queues)
    };
    let by = JudgedBy::Model(&world.options);
    let whole = world.workspace.certify_run(&judged, by).expect("an answer");
    Some(whole.expect("a certificate"))
}

/// What the claim is made of: nothing of it may be something else.
fn forge(random: &mut Random, world: &World, whole: &WholeCertificate) {
    let mut other = whole.clone();
    if let Some(property) = other.properties.first_mut() {
        let automaton = &mut property.automaton;
        match random.below(8) {
            0 => property.name.push('x'),
            1 => property.states[0].push('x'),
            2 => property.ignores_silence = true,
            3 => automaton.initial = (automaton.initial + 1) % automaton.rows.len(),
            4 => drop(automaton.pairs.pop()),
            5 => automaton.finite.push(0),
            6 => "non-disjointness".clone_into(&mut automaton.relation),
            _ => drop(other.properties.pop()),
        }
    } else {
        let observer = &mut other.observers[0];
        match random.below(5) {
            0 => observer.marked = vec![0],
            1 => drop(observer.steps.pop()),
            2 => observer.states[0].push('x'),
            3 => observer.name.push('x'),
            _ => drop(other.observers.pop()),
        }
    }
    if other == *whole {
        return;
    }
    let checked = explain(&world.workspace, &other);
    // What says the same of this run and belongs to no text may stay true: a flag, a relation.
    let harmless = other.observers == whole.observers
        && other.properties.len() == whole.properties.len()
        && other
            .properties
            .iter()
            .zip(&whole.properties)
            .all(|(a, b)| {
                a.name == b.name
                    && a.states == b.states
                    && a.automaton.rows == b.automaton.rows
                    && a.automaton.initial == b.automaton.initial
                    && a.automaton.pairs == b.automaton.pairs
                    && a.automaton.finite == b.automaton.finite
            });
    if !harmless {
        assert_ne!(checked, CheckOutcome::Confirmed, "{other:#?}");
    }
}

fn edits(properties: &[&str], queues: bool, wanted: usize) {
    let mut random = Random(71);
    let mut edits = Edits::default();
    while edits.done < wanted {
        let Some(text) = model_with_all_actions(&mut random) else {
            continue;
        };
        let workspace = Workspace::new();
        workspace.insert(Path::new("s.aut"), text);
        workspace.insert(Path::new("w.iol"), OBSERVER);
        workspace.insert(Path::new("p.iol"), PROPERTIES);
        let mut options = JudgeOptions {
            queues: queues.then(QueueOptions::default),
            ..JudgeOptions::default()
        };
        let watch = if properties.is_empty() {
            options.observers = vec!["w.iol".into()];
            Watch::observer()
        } else {
            let name = random.pick(properties);
            let reference = ModelRef::from(format!("p.iol#{name}").as_str());
            let watch = Watch::property(&workspace, &reference);
            options.properties = Some(PropertyOptions {
                properties: vec![reference],
                ..PropertyOptions::default()
            });
            watch
        };
        let world = World {
            workspace,
            watch,
            options,
            queues,
        };
        for _ in 0..60 {
            edits.try_again();
            let Some(whole) = claim(&mut random, &world) else {
                continue;
            };
            edits.check(
                &world.workspace,
                &whole,
                10,
                |other| edit(&mut random, other),
                |other| Some(is_true(&world, other)),
            );
            forge(&mut random, &world, &whole);
        }
    }
    edits.finish(3);
}

const SAFETY: [&str; 2] = ["Loud", "NotTwice"];
const OTHERS: [&str; 3] = ["Answers", "Again", "Once"];

#[test]
fn single_edits_beside_observers_are_judged_rightly() {
    edits(&[], false, 4_000);
}

#[test]
fn single_edits_beside_observers_through_queues_are_judged_rightly() {
    edits(&[], true, 2_000);
}

#[test]
fn single_edits_beside_safety_properties_are_judged_rightly() {
    edits(&SAFETY, false, 4_000);
}

#[test]
fn single_edits_beside_other_properties_are_judged_rightly() {
    edits(&OTHERS, false, 4_000);
}

#[test]
fn single_edits_beside_properties_through_queues_are_judged_rightly() {
    let all: Vec<&str> = SAFETY.into_iter().chain(OTHERS).collect();
    edits(&all, true, 2_000);
}
