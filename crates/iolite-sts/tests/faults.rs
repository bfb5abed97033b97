//! Terms without a value, against the definition: every valuation of the constants one by one.
//! One with which a term faults on the way is no specification; where none is left, nothing is
//! known.
#![allow(missing_docs)]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::{Int, Solver, Sort, Span, Term, Value, VarId};
use iolite_lts::QuiescencePolicy;
use iolite_sts::{
    After, Builder, Iosts, LabelKind, State, Symbolic, SymbolicError, TransitionId, ValuedAction,
};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rustc_hash::FxHashMap;
use support::{Random, random_faulty_model};

/// Values of the constants, and a state that the trace leads to with them.
type World = (Vec<Value>, State);

/// What the definition says of one step.
#[derive(Default)]
struct Step {
    next: BTreeSet<World>,
    /// The constants with which a term had no value.
    faulty: BTreeSet<Vec<Value>>,
}

impl Step {
    /// Without the faulty constants, and whether others explain what was before.
    fn sound(mut self, before: &BTreeSet<World>) -> (Self, bool) {
        let faulty = &self.faulty;
        self.next.retain(|(c, _)| !faulty.contains(c));
        let meaningful = before.iter().any(|(c, _)| !faulty.contains(c));
        (self, meaningful)
    }
}

struct Oracle<'m>(&'m Iosts);

impl Oracle<'_> {
    fn rows(&self, t: TransitionId) -> Vec<Vec<Value>> {
        let params = &self.0.gate(self.0.transition(t).action).params;
        match params.first() {
            None => vec![vec![]],
            Some(p) => p
                .sort
                .values(10)
                .unwrap()
                .into_iter()
                .map(|v| vec![v])
                .collect(),
        }
    }

    fn initial(&self) -> Step {
        let mut step = Step::default();
        for c in 0..=2i64 {
            let constants = vec![Value::from(c)];
            let Ok(instance) = self.0.instance("I", &[("c", Value::from(c))]) else {
                continue;
            };
            let starts: Vec<Value> = match &instance.variables()[0].initial {
                Some(t) => vec![t.eval(&FxHashMap::default()).unwrap()],
                None => (0..=2i64).map(Value::from).collect(),
            };
            for x in starts {
                let values = vec![x, Value::Bool(false)].into();
                let location = self.0.initial();
                step.next
                    .insert((constants.clone(), State { location, values }));
            }
        }
        self.close(step)
    }

    fn fire(&self, (constants, state): &World, t: TransitionId, row: &[Value], step: &mut Step) {
        match self.0.fire(state, constants, t, row) {
            Ok(Some(next)) => {
                step.next.insert((constants.clone(), next));
            }
            Ok(None) => {}
            Err(_) => {
                step.faulty.insert(constants.clone());
            }
        }
    }

    fn after(&self, worlds: &BTreeSet<World>, seen: &ValuedAction) -> Step {
        let mut step = Step::default();
        for world in worlds {
            for &t in self.0.outgoing(world.1.location) {
                if self.0.transition(t).action == seen.action {
                    self.fire(world, t, &seen.values, &mut step);
                }
            }
        }
        self.close(step)
    }

    /// Whether the guard of a transition is true, if it has a value.
    fn guard(&self, (constants, state): &World, t: TransitionId, row: &[Value]) -> Option<bool> {
        let transition = self.0.transition(t);
        let params = self.0.gate(transition.action).params.iter();
        let variables = self.0.variables().iter().map(|v| &v.var);
        let known = self.0.constants().iter().map(|c| &c.var);
        let env: FxHashMap<VarId, Value> = params
            .zip(row)
            .chain(variables.zip(state.values.iter()))
            .chain(known.zip(constants))
            .map(|(var, value)| (var.id, value.clone()))
            .collect();
        transition.guard.eval_bool(&env).ok()
    }

    /// δ asks for guards alone [def. 7]: an output whose effect has no value is one all the same.
    fn after_delta(&self, worlds: &BTreeSet<World>) -> Step {
        let mut step = Step::default();
        for world in worlds {
            let mut guards = Vec::new();
            for &t in self.0.outgoing(world.1.location) {
                if self.0.kind(t) != LabelKind::Input {
                    guards.extend(self.rows(t).iter().map(|row| self.guard(world, t, row)));
                }
            }
            if guards.iter().all(|g| *g == Some(false)) {
                step.next.insert(world.clone());
            } else if !guards.contains(&Some(true)) {
                step.faulty.insert(world.0.clone());
            }
        }
        step
    }

    fn close(&self, mut step: Step) -> Step {
        let mut open: Vec<World> = step.next.iter().cloned().collect();
        while let Some(world) = open.pop() {
            for &t in self.0.outgoing(world.1.location) {
                if self.0.kind(t) != LabelKind::Internal {
                    continue;
                }
                for row in self.rows(t) {
                    let mut here = Step::default();
                    self.fire(&world, t, &row, &mut here);
                    step.faulty.extend(here.faulty);
                    for next in here.next {
                        if step.next.insert(next.clone()) {
                            open.push(next);
                        }
                    }
                }
            }
        }
        step
    }
}

#[derive(Default, Debug)]
struct Tally {
    possible: usize,
    impossible: usize,
    unknown: usize,
    faults: usize,
    /// Constants that explain nothing and were narrowed away.
    excluded: usize,
}

fn holds(model: &Iosts, condition: &Term, constants: &[Value]) -> bool {
    let vars = model.constants().iter().map(|c| c.var.id);
    let env: FxHashMap<VarId, Value> = vars.zip(constants.iter().cloned()).collect();
    condition.eval_bool(&env).unwrap_or(false)
}

fn excluded(model: &Iosts, narrowed: &Term, worlds: &BTreeSet<World>) -> usize {
    let gone = |c: &i64| {
        let c = vec![Value::from(*c)];
        !worlds.iter().any(|(known, _)| *known == c) && !holds(model, narrowed, &c)
    };
    (0..=2).filter(gone).count()
}

fn compare(seed: u64, constant: Option<i64>, cases: usize, tally: &mut Tally) {
    let model = Arc::new(random_faulty_model(seed));
    let oracle = Oracle(&model);
    let constants: Vec<(&str, Value)> = constant.iter().map(|c| ("c", Value::from(*c))).collect();
    let policy = QuiescencePolicy::Strict;
    let mut symbolic =
        Symbolic::new(model.clone(), &constants, policy, Solver::embedded()).unwrap();
    symbolic.set_max_cases(cases);
    symbolic.set_max_states(60);
    let mut g = Random {
        rng: Xoshiro256PlusPlus::seed_from_u64(seed),
    };
    let mut alphabet: Vec<Option<ValuedAction>> = vec![None];
    for (action, a) in model.gates().filter(|(_, a)| a.kind.is_visible()) {
        let rows = match a.params.first() {
            None => vec![vec![]],
            Some(p) => p
                .sort
                .values(10)
                .unwrap()
                .into_iter()
                .map(|v| vec![v])
                .collect(),
        };
        alphabet.extend(
            rows.into_iter()
                .map(|values| Some(ValuedAction { action, values })),
        );
    }
    let mut start = oracle.initial();
    let is_wanted = |c: &Vec<Value>| constant.is_none_or(|known| c[0] == Value::from(known));
    start.next.retain(|(c, _)| is_wanted(c));
    start.faulty.retain(is_wanted);
    let first = start.next.clone();
    let (start, meaningful) = start.sound(&first);
    let mut worlds = start.next;
    let mut states = match symbolic.initial() {
        Ok(After::Possible(states)) => states,
        Ok(After::Impossible) => return assert!(first.is_empty(), "seed {seed}"),
        other => return assert!(!meaningful || cases == 0, "seed {seed}: {other:?}"),
    };
    assert!(meaningful, "seed {seed}");
    let mut trace: Vec<String> = Vec::new();
    for _ in 0..6 {
        let mut possible = Vec::new();
        for seen in &alphabet {
            let (said, step) = match seen {
                Some(a) => (symbolic.after(&states, a), oracle.after(&worlds, a)),
                None => (symbolic.after_delta(&states), oracle.after_delta(&worlds)),
            };
            let name = seen.as_ref().map_or("δ".to_owned(), |a| model.label(a));
            let context = || format!("seed {seed}, {constant:?}, after {trace:?}, {name}\n{model}");
            let (step, meaningful) = step.sound(&worlds);
            match said {
                Ok(After::Possible(next)) => {
                    let right = meaningful && !step.next.is_empty();
                    assert!(right, "possible: {}", context());
                    let narrowed = symbolic.narrowed(&next);
                    for (c, _) in &step.next {
                        let explains = holds(&model, &narrowed, c);
                        assert!(explains, "narrowed to {narrowed}: {}", context());
                    }
                    tally.excluded += excluded(&model, &narrowed, &step.next);
                    tally.possible += 1;
                    possible.push((next, step, name));
                }
                Ok(After::Impossible) => {
                    let right = meaningful && step.next.is_empty();
                    assert!(right, "impossible: {}", context());
                    tally.impossible += 1;
                }
                Ok(After::Unknown { reason, .. }) => {
                    assert!(!meaningful || cases == 0, "{reason}: {}", context());
                    tally.unknown += 1;
                }
                Err(SymbolicError::Fault(_)) => {
                    assert!(!meaningful, "fault: {}", context());
                    tally.faults += 1;
                }
                Err(other) => panic!("{other}: {}", context()),
            }
        }
        if possible.is_empty() {
            return;
        }
        let (next, step, name) = possible.swap_remove(g.below(possible.len()));
        (states, worlds) = (next, step.next);
        trace.push(name);
    }
}

#[test]
fn faults_with_known_constants() {
    let mut tally = Tally::default();
    for (seed, c) in (0..200).zip([0, 1, 2].into_iter().cycle()) {
        compare(seed, Some(c), 64, &mut tally);
    }
    println!("{tally:?}");
    assert!(
        tally.possible > 100 && tally.impossible > 100 && tally.faults > 20,
        "{tally:?}"
    );
}

#[test]
fn faults_with_unknown_constants() {
    let mut tally = Tally::default();
    for seed in 0..120 {
        compare(seed, None, 64, &mut tally);
    }
    println!("{tally:?}");
    assert!(
        tally.possible > 100
            && tally.impossible > 100
            && tally.unknown > 20
            && tally.excluded > 100,
        "{tally:?}"
    );
}

#[test]
fn faults_of_values_that_stay_symbolic() {
    let mut tally = Tally::default();
    for seed in 0..60 {
        compare(seed, None, 0, &mut tally);
    }
    println!("{tally:?}");
    assert!(
        tally.possible > 50 && tally.impossible > 50 && tally.unknown > 10,
        "{tally:?}"
    );
}

/// Internal actions over unbounded values, in a circle: the conditions never stop growing.
#[test]
fn growing_conditions_are_given_up_early() {
    const HERE: Span = Span::NONE;
    let mut b = Builder::new("Mixer");
    let n = b.constant("n", Sort::Int, HERE).unwrap();
    let sum = b
        .variable("sum", Sort::Int, Some(Int::ZERO.into()), HERE)
        .unwrap();
    let mix = b
        .gate(LabelKind::Internal, "mix", &[("k", Sort::Int)], HERE)
        .unwrap();
    let k = b.params(mix)[0].term();
    let only = b.location("only", true, HERE).unwrap();
    let guard = k.gt(&sum).unwrap().and(k.lt(&n).unwrap()).unwrap();
    let effect = vec![(sum.clone(), sum.term().plus(&k).unwrap())];
    b.transition(only, mix, Some(guard), effect, only, HERE)
        .unwrap();
    let model = Arc::new(b.build().unwrap());
    let policy = QuiescencePolicy::Strict;
    let mut symbolic = Symbolic::new(model, &[], policy, Solver::embedded()).unwrap();
    let After::Unknown { reason, .. } = symbolic.initial().unwrap() else {
        panic!("the closure is infinite")
    };
    assert!(reason.contains("ever longer conditions"), "{reason}");
    let checks = symbolic.solver().stats().checks;
    assert!(checks < 500, "{checks} checks");
}
