//! Invariants and runs that are looked at again, against all states one by one.
#![allow(missing_docs)]

mod support;

use std::time::Duration;

use iolite_expr::{Solver, Term, Value, Var};
use iolite_lts::QuiescencePolicy;
use iolite_sts::analysis::{
    Answer, Invariant, Method, ObservedProduct, Strength, VerifyBudget, described, satisfies,
    verify_by, watch,
};
use iolite_sts::{Iosts, LocationId, State, TransitionId};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use support::{Random, random_model, random_observer, values_of};

const POLICY: QuiescencePolicy = QuiescencePolicy::Strict;

fn budget() -> VerifyBudget {
    VerifyBudget {
        steps: 100_000,
        time: Duration::from_secs(30),
        question: Duration::from_millis(300),
    }
}

/// All rows of values of some variables.
fn rows(vars: &[Var]) -> Vec<Vec<Value>> {
    let mut all = vec![Vec::new()];
    for var in vars {
        let longer = all.iter().flat_map(|row: &Vec<Value>| {
            values_of(&var.sort).into_iter().map(|value| {
                let mut row = row.clone();
                row.push(value);
                row
            })
        });
        all = longer.collect();
    }
    all
}

fn variables(model: &Iosts) -> Vec<Var> {
    model.variables().iter().map(|v| v.var.clone()).collect()
}

fn constants(model: &Iosts) -> Vec<Var> {
    model.constants().iter().map(|c| c.var.clone()).collect()
}

/// Whether a term is true of a state.
fn holds(model: &Iosts, term: &Term, state: &[Value], fixed: &[Value]) -> bool {
    let ids = variables(model).into_iter().chain(constants(model));
    let pairs = ids.map(|v| v.id).zip(state.iter().chain(fixed).cloned());
    let values: rustc_hash::FxHashMap<_, _> = pairs.collect();
    term.eval_bool(&values) == Ok(true)
}

/// The initial states with their constants.
fn initial_states(model: &Iosts) -> Vec<(State, Vec<Value>)> {
    let mut all = Vec::new();
    for fixed in rows(&constants(model)) {
        for values in rows(&variables(model)) {
            let assumed = model
                .assumptions()
                .iter()
                .all(|a| holds(model, a, &values, &fixed));
            let started = model.variables().iter().all(|v| {
                let equal = |initial| v.var.term().equals(initial).expect("one sort");
                let initial = v.initial.as_ref().map(equal);
                initial.is_none_or(|equal| holds(model, &equal, &values, &fixed))
            });
            if assumed && started {
                let state = State {
                    location: model.initial(),
                    values: values.into(),
                };
                all.push((state, fixed.clone()));
            }
        }
    }
    all
}

/// The states after one step.
fn steps(model: &Iosts, state: &State, fixed: &[Value]) -> Vec<(TransitionId, State)> {
    let mut all = Vec::new();
    for &t in model.outgoing(state.location) {
        let params = &model.gate(model.transition(t).action).params;
        for row in rows(params) {
            if let Ok(Some(next)) = model.fire(state, fixed, t, &row) {
                all.push((t, next));
            }
        }
    }
    all
}

/// Whether an invariant is inductive and excludes the marked locations, by looking at every state.
fn is_inductive(model: &Iosts, marked: &[LocationId], invariant: &Invariant) -> bool {
    let inside =
        |s: &State, fixed: &[Value]| holds(model, invariant.at(s.location), &s.values, fixed);
    if !initial_states(model)
        .iter()
        .all(|(s, fixed)| inside(s, fixed))
    {
        return false;
    }
    for (location, _) in model.locations() {
        for fixed in rows(&constants(model)) {
            for values in rows(&variables(model)) {
                let state = State {
                    location,
                    values: values.into(),
                };
                if !inside(&state, &fixed) {
                    continue;
                }
                if marked.contains(&location) {
                    return false;
                }
                let next = steps(model, &state, &fixed);
                if next.iter().any(|(_, next)| !inside(next, &fixed)) {
                    return false;
                }
            }
        }
    }
    true
}

/// The states that are reached, with their constants.
fn reached(model: &Iosts) -> Vec<(State, Vec<Value>)> {
    let mut all = initial_states(model);
    let mut seen: std::collections::HashSet<_> = all.iter().cloned().collect();
    let mut k = 0;
    while k < all.len() {
        let (state, fixed) = all[k].clone();
        for (_, next) in steps(model, &state, &fixed) {
            let next = (next, fixed.clone());
            if seen.insert(next.clone()) {
                all.push(next);
            }
        }
        k += 1;
    }
    all
}

fn products(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Iosts, ObservedProduct)> {
    seeds.filter_map(|seed| {
        let system = random_model(seed);
        if system.internal_cycle().is_some() {
            return None;
        }
        let (observer, violate) = random_observer(&system, seed);
        let watched = watch(&system, &observer, &violate, POLICY).unwrap();
        Some((seed, system, watched))
    })
}

/// A random condition over some data.
fn condition(random: &mut Random, model: &Iosts) -> Term {
    let data: Vec<Var> = variables(model)
        .into_iter()
        .chain(constants(model))
        .filter(|v| !matches!(v.sort, iolite_expr::Sort::Bool))
        .collect();
    let (a, b) = (
        &data[random.below(data.len())],
        &data[random.below(data.len())],
    );
    match random.below(4) {
        0 => a.term().le(b.term()).unwrap(),
        1 => a
            .term()
            .equals(i64::try_from(random.below(3)).unwrap())
            .unwrap(),
        2 => a
            .term()
            .lt(i64::try_from(random.below(3)).unwrap())
            .unwrap(),
        _ => Term::from(random.below(2) == 0),
    }
}

#[test]
fn edited_invariants_are_confirmed_where_every_state_agrees() {
    let mut random = Random {
        rng: Xoshiro256PlusPlus::seed_from_u64(5),
    };
    let (mut confirmed, mut rejected) = (0, 0);
    for (seed, _, watched) in products(0..120) {
        let (model, marked) = watched.for_proofs();
        let mut solver = Solver::embedded();
        let answer = verify_by(&Method::ALL, model, marked, &mut solver, budget(), &mut []);
        let Answer::Proved(proof) = answer else {
            continue;
        };
        let own: Vec<Term> = model
            .locations()
            .map(|(l, _)| proof.invariant.at(l).clone())
            .collect();
        for round in 0..12 {
            let mut terms = own.clone();
            let at = random.below(terms.len());
            let other = condition(&mut random, model);
            terms[at] = match random.below(4) {
                _ if round == 0 => terms[at].clone(),
                0 => other,
                1 => Term::all([terms[at].clone(), other]),
                2 => Term::any([terms[at].clone(), other]),
                _ => terms[random.below(own.len())].clone(),
            };
            let edited = Invariant::new(model, terms);
            let expected = is_inductive(model, marked, &edited);
            let checked = watched.recheck_proof(&edited, &mut solver).unwrap();
            assert_eq!(
                checked.is_none(),
                expected,
                "seed {seed}: {checked:?}\n{}\n{model}",
                edited.describe(model)
            );
            if expected {
                confirmed += 1;
            } else {
                rejected += 1;
            }
        }
    }
    println!("{confirmed} confirmed, {rejected} rejected");
    assert!(confirmed > 40 && rejected > 100, "{confirmed}, {rejected}");
}

#[test]
fn edited_runs_are_confirmed_where_they_are_runs() {
    let mut random = Random {
        rng: Xoshiro256PlusPlus::seed_from_u64(7),
    };
    let (mut confirmed, mut rejected) = (0, 0);
    for (seed, system, watched) in products(0..120) {
        let mut solver = Solver::embedded();
        let (model, marked) = (&watched.model, &watched.marked);
        let answer = verify_by(&Method::ALL, model, marked, &mut solver, budget(), &mut []);
        let Answer::Refuted(refutation) = answer else {
            continue;
        };
        for round in 0..20 {
            let mut run = refutation.run.clone();
            let at = random.below(run.steps.len());
            let value = Value::from(i64::try_from(random.below(4)).unwrap());
            match random.below(5) {
                _ if round == 0 => {}
                0 => drop(run.steps.remove(at)),
                1 => run.steps[at].0 = TransitionId::new(random.below(model.transitions().len())),
                2 => run.steps[at].1.iter_mut().for_each(|v| *v = value.clone()),
                3 => run.constants.iter_mut().for_each(|v| *v = value.clone()),
                _ => run.initial[0] = value,
            }
            // By firing among all steps of a state.
            let starts = initial_states(model);
            let start = starts
                .iter()
                .find(|(s, fixed)| *s.values == *run.initial && *fixed == run.constants);
            let mut here = start.map(|(s, _)| s.clone());
            for (t, params) in &run.steps {
                here = here.and_then(|s| {
                    let from = model.transition(*t).source == s.location;
                    let known =
                        model.gate(model.transition(*t).action).params.len() == params.len();
                    let fired = (from && known).then(|| model.fire(&s, &run.constants, *t, params));
                    fired.and_then(Result::ok).flatten()
                });
            }
            let expected = here.is_some_and(|s| marked.contains(&s.location));
            let checked = watched.recheck_run(&system, &run, &mut solver).unwrap();
            assert_eq!(checked, expected, "seed {seed}: {run:?}\n{model}");
            if expected {
                confirmed += 1;
            } else {
                rejected += 1;
            }
        }
    }
    println!("{confirmed} confirmed, {rejected} rejected");
    assert!(confirmed > 40 && rejected > 100, "{confirmed}, {rejected}");
}

#[test]
fn every_reachable_state_is_in_what_each_domain_describes() {
    let mut narrow = [0; 3];
    for seed in 0..150 {
        let model = random_model(seed);
        let states = reached(&model);
        let domains = [Strength::Boxes, Strength::Octagons, Strength::Polyhedra];
        for (k, strength) in domains.into_iter().enumerate() {
            let terms = described(&model, strength, 1_000_000).expect("steps enough");
            for (state, fixed) in &states {
                let term = &terms[state.location.index()];
                assert!(
                    holds(&model, term, &state.values, fixed),
                    "seed {seed}, {strength:?}: {term} in {state:?} with {fixed:?}\n{model}"
                );
            }
            // It is of some use: not everything is described.
            narrow[k] += usize::from(terms.iter().any(|t| !t.is_true() && !t.is_false()));
        }
    }
    println!("{narrow:?}");
    assert!(narrow.iter().all(|n| *n > 100), "{narrow:?}");
}

/// Both directions and split locations: what is proved is true of every state.
#[test]
fn every_reachable_state_is_in_the_invariants_of_abstract_interpretation() {
    let mut proved = std::collections::BTreeMap::new();
    for (seed, _, watched) in products(0..150) {
        let (model, marked) = watched.for_proofs();
        let mut solver = Solver::embedded();
        let methods = [Method::Abstract];
        let answer = verify_by(&methods, model, marked, &mut solver, budget(), &mut []);
        let states = reached(model);
        let violated = states.iter().any(|(s, _)| marked.contains(&s.location));
        let Answer::Proved(proof) = answer else {
            continue;
        };
        assert!(!violated, "seed {seed}");
        *proved.entry(proof.how.clone()).or_insert(0) += 1;
        for (state, fixed) in &states {
            let term = proof.invariant.at(state.location);
            assert!(
                holds(model, term, &state.values, fixed),
                "seed {seed}: {term}"
            );
        }
    }
    println!("{proved:?}");
    assert!(proved.values().sum::<i32>() > 40, "{proved:?}");
}

/// The answers of the whole, with proofs and runs that are looked at again.
#[test]
fn answers_pass_their_own_recheck() {
    for seed in 0..60 {
        let system = random_model(seed);
        let (observer, violate) = random_observer(&system, seed);
        for policy in [QuiescencePolicy::Strict, QuiescencePolicy::Livelock] {
            if policy == QuiescencePolicy::Strict && system.internal_cycle().is_some() {
                continue;
            }
            let mut solver = Solver::embedded();
            let watched = watch(&system, &observer, &violate, policy).unwrap();
            let (_, answer) =
                satisfies(&system, &observer, &violate, policy, &mut solver, budget()).unwrap();
            match answer {
                Answer::Proved(p) => {
                    let checked = watched.recheck_proof(&p.invariant, &mut solver);
                    assert_eq!(checked, Ok(None), "seed {seed}");
                    let faults = watched.faults(&p.invariant, &mut solver);
                    assert_eq!(faults, p.faults, "seed {seed}");
                }
                Answer::Refuted(r) => {
                    let checked = watched.recheck_run(&system, &r.run, &mut solver);
                    assert_eq!(checked, Ok(true), "seed {seed}");
                }
                Answer::Unknown { .. } => {}
            }
        }
    }
}
