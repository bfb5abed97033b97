//! Whether an implementation passes a test case with data, against every run of the two with all values.
#![allow(missing_docs)]

mod support;
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::{Model, Solver, Value};
use iolite_lts::QuiescencePolicy;
use iolite_sts::analysis::VerifyBudget;
use iolite_sts::{
    CoverageGoals, GateId, Iosts, LabelKind, LocationId, State, SymbolicTest, TestProgram,
};
use support::{random_model, random_observer};
use world::World;

/// A random system with known data and no cycle of internal actions.
fn system(seed: u64) -> Option<Iosts> {
    let model = random_model(seed);
    let fixed = model.variables().iter().all(|v| v.initial.is_some());
    let usable = fixed && model.internal_cycle().is_none();
    usable.then(|| model.instance("M", &[("c", Value::from(2))]).unwrap())
}

fn initial(model: &Iosts) -> State {
    let values = model.variables().iter().map(|v| {
        let term = v.initial.as_ref().unwrap().simplify();
        term.as_value().unwrap().clone()
    });
    State {
        location: model.initial(),
        values: values.collect::<Vec<_>>().into(),
    }
}

fn fired(model: &Iosts, at: &State, gate: GateId, values: &[Value]) -> Vec<State> {
    let own = model.outgoing(at.location).iter();
    let own = own.filter(|t| model.transition(**t).action == gate);
    own.filter_map(|t| model.fire(at, &[], *t, values).expect("no faults"))
        .collect()
}

/// Whether a run of the two comes to one of these locations of the test.
fn comes_to(implementation: &Iosts, test: &Iosts, wanted: &[LocationId]) -> bool {
    let model = Arc::new(implementation.clone());
    let world = World {
        goals: Arc::new(CoverageGoals::new(&model)),
        model,
        constants: Vec::new(),
    };
    let mut seen = BTreeSet::new();
    let mut open = vec![(initial(implementation), initial(test))];
    while let Some((i, t)) = open.pop() {
        if !seen.insert((i.clone(), t.clone())) {
            continue;
        }
        if wanted.contains(&t.location) {
            return true;
        }
        let moves = |_, kind| matches!(kind, LabelKind::Internal | LabelKind::Output);
        if world.firings(&i, moves, None).is_empty() {
            let delta = test.find_gate(LabelKind::Delta, "delta").unwrap();
            open.extend(
                fired(test, &t, delta, &[])
                    .into_iter()
                    .map(|t| (i.clone(), t)),
            );
        }
        for (id, values, next) in world.firings(&i, |_, _| true, None) {
            let gate = implementation.gate(implementation.transition(id).action);
            if gate.kind == LabelKind::Internal {
                open.push((next, t.clone()));
                continue;
            }
            let own = test.find_gate(gate.kind, &gate.name);
            let after = own.map(|own| fired(test, &t, own, &values));
            let after = after.into_iter().flatten();
            open.extend(after.map(|t| (next.clone(), t)));
        }
    }
    false
}

#[test]
fn a_test_is_passed_where_no_run_fails() {
    let budget = VerifyBudget {
        steps: 60_000,
        ..VerifyBudget::default()
    };
    let (mut yes, mut no, mut unknown) = (0, 0, 0);
    for seed in 0..640 {
        let other = if seed % 4 == 0 { seed } else { seed / 2 + 900 };
        let (Some(s), Some(i)) = (system(seed), system(other)) else {
            continue;
        };
        let mut solver = Solver::embedded();
        let (observer, violating) = random_observer(&s, seed);
        let Ok(i) = i.input_completed(&s, &mut solver) else {
            continue;
        };
        let Ok(test) = SymbolicTest::new(&s, &observer, &violating, &mut solver, 60) else {
            continue;
        };
        let pruned = test.pruned(&mut solver, 2_000).compacted();
        let program = pruned.model.mirrored();
        if !program.constants().is_empty() {
            continue;
        }
        let failing = [pruned.fail.clone(), pruned.violate_fail.clone()].concat();
        let others = [&pruned.violate, &pruned.inconc, &pruned.accept];
        let others = others.into_iter().flatten().copied();
        let verdicts: Vec<_> = failing.iter().copied().chain(others).collect();
        let test = TestProgram {
            model: &program,
            verdicts: &verdicts,
        };
        let policy = QuiescencePolicy::Strict;
        let fails = comes_to(&i, &program, &failing);
        // There is one instance, so both questions are the same.
        let answers = [
            test.avoids(&i, &failing, policy, &mut solver, budget),
            test.avoids_in_each_instance(&i, &failing, policy, &mut solver, budget),
        ];
        for answer in answers {
            match answer.unwrap().1.decided() {
                Some(passes) => {
                    assert_eq!(passes, !fails, "seed {seed}\n{i}\n{program}");
                    *(if passes { &mut yes } else { &mut no }) += 1;
                }
                None => unknown += 1,
            }
        }
    }
    println!("{yes} pass, {no} fail, {unknown} unknown");
    assert!(
        yes > 20 && no > 20 && unknown * 10 < yes + no,
        "{yes} {no} {unknown}"
    );
}

/// The locations that fail, and all that have a verdict; in a third of the tests one fails that should not.
fn verdicts_of(
    pruned: &SymbolicTest,
    program: &Iosts,
    seed: u64,
) -> (Vec<LocationId>, Vec<LocationId>) {
    let mut failing = [pruned.fail.clone(), pruned.violate_fail.clone()].concat();
    let others = [&pruned.violate, &pruned.inconc, &pruned.accept];
    let others = others.into_iter().flatten().copied();
    let mut verdicts: Vec<_> = failing.iter().copied().chain(others).collect();
    let spoilt = (seed % 3 == 1).then(|| spoilt(program, &verdicts, seed));
    if let Some(also) = spoilt.flatten() {
        failing.push(also);
        verdicts.push(also);
    }
    (failing, verdicts)
}

/// A location that observations lead to and that has no verdict: where it fails, a test is seldom sound.
fn spoilt(test: &Iosts, verdicts: &[LocationId], seed: u64) -> Option<LocationId> {
    let seen = test
        .transitions()
        .filter(|(_, t)| test.gate(t.action).kind.is_observation());
    let entered: BTreeSet<LocationId> = seen.map(|(_, t)| t.target).collect();
    let entered: Vec<LocationId> = entered
        .into_iter()
        .filter(|l| !verdicts.contains(l) && *l != test.initial())
        .collect();
    let at = usize::try_from(seed).ok()?.checked_rem(entered.len())?;
    Some(entered[at])
}

/// Where a test case is with one value of its constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Stands {
    At(State),
    Ended,
    /// It does not take the trace.
    Gone,
}

/// Whether a run of the two ends in one of these locations with every value of the test's constant.
fn ends_for_all(implementation: &Iosts, test: &Iosts, wanted: &[LocationId]) -> bool {
    let model = Arc::new(implementation.clone());
    let values: Vec<Value> = (0..3_i64).map(Value::from).collect();
    let allows = |model: &Iosts, c: &Value| {
        let mut env = Model::default();
        for constant in model.constants() {
            env.insert(constant.var.id, c.clone());
        }
        let mut all = model.assumptions().iter();
        all.all(|a| a.eval_bool(&env) == Ok(true))
    };
    let start = |model: &Iosts, c: &Value| {
        let mut env = Model::default();
        for constant in model.constants() {
            env.insert(constant.var.id, c.clone());
        }
        let values = model.variables().iter();
        let values = values.map(|v| v.initial.as_ref().unwrap().eval(&env).unwrap());
        State {
            location: model.initial(),
            values: values.collect::<Vec<_>>().into(),
        }
    };
    let own: Vec<&Value> = values.iter().filter(|c| allows(test, c)).collect();
    for d in values.iter().filter(|d| allows(implementation, d)) {
        let constants = vec![d.clone(); implementation.constants().len()];
        let world = World {
            goals: Arc::new(CoverageGoals::new(&model)),
            model: Arc::clone(&model),
            constants: constants.clone(),
        };
        let first: Vec<Stands> = own.iter().map(|c| Stands::At(start(test, c))).collect();
        let mut seen = BTreeSet::new();
        let mut open = vec![(start(implementation, d), first)];
        while let Some((i, all)) = open.pop() {
            if !seen.insert((i.clone(), all.clone())) {
                continue;
            }
            if all.iter().all(|s| *s == Stands::Ended) {
                return true;
            }
            let after = |gate: Option<GateId>, values: &[Value]| -> Vec<Stands> {
                let next = all.iter().zip(&own).map(|(s, c)| match (s, gate) {
                    (Stands::At(at), Some(gate)) => {
                        let out = test.outgoing(at.location).iter();
                        let mut out = out.filter(|t| test.transition(**t).action == gate);
                        let c = [(*c).clone()];
                        let next = out.find_map(|t| test.fire(at, &c, *t, values).unwrap());
                        match next {
                            Some(s) if wanted.contains(&s.location) => Stands::Ended,
                            Some(s) => Stands::At(s),
                            None => Stands::Gone,
                        }
                    }
                    (Stands::Ended, _) => Stands::Ended,
                    _ => Stands::Gone,
                });
                next.collect()
            };
            let moves = |_, kind| matches!(kind, LabelKind::Internal | LabelKind::Output);
            if world.firings(&i, moves, None).is_empty() {
                let delta = test.find_gate(LabelKind::Delta, "delta");
                open.push((i.clone(), after(delta, &[])));
            }
            for (id, values, next) in world.firings(&i, |_, _| true, None) {
                let gate = implementation.gate(implementation.transition(id).action);
                if gate.kind == LabelKind::Internal {
                    open.push((next, all.clone()));
                    continue;
                }
                let own = test.find_gate(gate.kind, &gate.name);
                open.push((next, after(own, &values)));
            }
        }
    }
    false
}

#[test]
fn a_constant_of_a_test_stands_for_all_its_values() {
    let budget = VerifyBudget {
        steps: 60_000,
        ..VerifyBudget::default()
    };
    let policy = QuiescencePolicy::Strict;
    let (mut yes, mut no, mut unknown) = (0, 0, 0);
    for seed in 0..900 {
        let s = random_model(seed);
        let other = match seed % 3 {
            0 => random_model(seed),
            _ => random_model(seed / 2 + 900),
        };
        let usable = |m: &Iosts| {
            m.internal_cycle().is_none() && m.variables().iter().all(|v| v.initial.is_some())
        };
        if !usable(&s) || !usable(&other) {
            continue;
        }
        let mut solver = Solver::embedded();
        let (observer, violating) = random_observer(&s, seed);
        let Ok(i) = other.input_completed(&s, &mut solver) else {
            continue;
        };
        let Ok(test) = SymbolicTest::new(&s, &observer, &violating, &mut solver, 60) else {
            continue;
        };
        let pruned = test.pruned(&mut solver, 2_000).compacted();
        let program = pruned.model.mirrored();
        if program.constants().len() != 1 {
            continue;
        }
        let (failing, verdicts) = verdicts_of(&pruned, &program, seed);
        let test = TestProgram {
            model: &program,
            verdicts: &verdicts,
        };
        let Ok((_, answer)) = test.avoids(&i, &failing, policy, &mut solver, budget) else {
            unknown += 1;
            continue;
        };
        match answer.decided() {
            Some(passes) => {
                let fails = ends_for_all(&i, &program, &failing);
                assert_eq!(passes, !fails, "seed {seed}\n{i}\n{program}");
                *(if passes { &mut yes } else { &mut no }) += 1;
            }
            None => unknown += 1,
        }
    }
    println!("{yes} pass, {no} fail, {unknown} unknown");
    assert!(yes > 20 && no > 6, "{yes} {no} {unknown}");
}

/// Whether a run of the test that the specification allows, or says nothing of, ends in one of these locations:
/// states of the specification after the trace, or none where anything may happen.
fn fails_what_conforms(specification: &Iosts, test: &Iosts, wanted: &[LocationId]) -> bool {
    let model = Arc::new(specification.clone());
    let world = World {
        goals: Arc::new(CoverageGoals::new(&model)),
        model,
        constants: Vec::new(),
    };
    let closed = |mut states: BTreeSet<State>| {
        let mut open: Vec<State> = states.iter().cloned().collect();
        while let Some(s) = open.pop() {
            for (_, _, next) in world.firings(&s, |_, k| k == LabelKind::Internal, None) {
                if states.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        states
    };
    let first = closed(BTreeSet::from([initial(specification)]));
    let mut seen = BTreeSet::new();
    let mut open = vec![(Some(first), initial(test))];
    while let Some((states, t)) = open.pop() {
        if !seen.insert((states.clone(), t.clone())) {
            continue;
        }
        if wanted.contains(&t.location) {
            return true;
        }
        for &id in test.outgoing(t.location) {
            let gate_id = test.transition(id).action;
            let gate = test.gate(gate_id);
            let rows: Vec<Vec<Value>> = match gate.params.len() {
                0 => vec![Vec::new()],
                _ => (0..3_i64).map(|n| vec![Value::from(n)]).collect(),
            };
            for row in rows {
                let Some(next) = test.fire(&t, &[], id, &row).unwrap() else {
                    continue;
                };
                let Some(states) = &states else {
                    open.push((None, next));
                    continue;
                };
                let after: BTreeSet<State> = if gate.kind == LabelKind::Delta {
                    let moves = |_, k| matches!(k, LabelKind::Internal | LabelKind::Output);
                    let silent = states.iter();
                    let silent = silent.filter(|s| world.firings(s, moves, None).is_empty());
                    silent.cloned().collect()
                } else {
                    let own = specification.find_gate(gate.kind, &gate.name);
                    let steps = states
                        .iter()
                        .flat_map(|s| world.firings(s, |_, _| true, None));
                    let steps = steps.filter(|(id, values, _)| {
                        Some(specification.transition(*id).action) == own && *values == row
                    });
                    closed(steps.map(|(_, _, next)| next).collect())
                };
                match (after.is_empty(), gate.kind) {
                    (false, _) => open.push((Some(after), next)),
                    (true, LabelKind::Input) => open.push((None, next)),
                    (true, _) => {}
                }
            }
        }
    }
    false
}

#[test]
fn a_sound_test_fails_nothing_that_the_specification_allows() {
    let budget = VerifyBudget {
        steps: 60_000,
        ..VerifyBudget::default()
    };
    let (mut yes, mut no, mut unknown) = (0, 0, 0);
    for seed in 0..1_200 {
        // Of the specification itself, or of another one.
        let other = if seed % 2 == 0 { seed } else { seed / 2 + 900 };
        let (Some(s), Some(from)) = (system(seed), system(other)) else {
            continue;
        };
        let mut solver = Solver::embedded();
        let (observer, violating) = random_observer(&from, seed);
        let Ok(test) = SymbolicTest::new(&from, &observer, &violating, &mut solver, 60) else {
            continue;
        };
        let pruned = test.pruned(&mut solver, 2_000).compacted();
        let program = pruned.model.mirrored();
        if !program.constants().is_empty() {
            continue;
        }
        let (failing, verdicts) = verdicts_of(&pruned, &program, seed);
        let test = TestProgram {
            model: &program,
            verdicts: &verdicts,
        };
        let Ok((_, answer, _)) = test.is_sound(&s, &failing, &mut solver, budget) else {
            unknown += 1;
            continue;
        };
        match answer.decided() {
            Some(sound) => {
                let fails = fails_what_conforms(&s, &program, &failing);
                assert_eq!(sound, !fails, "seed {seed}\n{s}\n{program}");
                let spoilt = failing.len() > pruned.fail.len() + pruned.violate_fail.len();
                let derived = seed % 2 == 0 && !spoilt;
                assert!(sound || !derived, "seed {seed}: derived tests are sound");
                *(if sound { &mut yes } else { &mut no }) += 1;
            }
            None => unknown += 1,
        }
    }
    println!("{yes} sound, {no} not, {unknown} unknown");
    assert!(yes > 50 && no > 15, "{yes} {no} {unknown}");
}
