//! Whether an implementation passes a test case with data, against every run of the two with all values.
#![allow(missing_docs)]

mod support;
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::{Solver, Value};
use iolite_lts::QuiescencePolicy;
use iolite_sts::analysis::VerifyBudget;
use iolite_sts::{CoverageGoals, GateId, Iosts, LabelKind, State, SymbolicTest, TestProgram};
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
fn comes_to(implementation: &Iosts, test: &Iosts, wanted: &[iolite_sts::LocationId]) -> bool {
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
        let (_, answer) = test
            .avoids(&i, &failing, policy, &mut solver, budget)
            .unwrap();
        let fails = comes_to(&i, &program, &failing);
        match answer.decided() {
            Some(passes) => {
                assert_eq!(passes, !fails, "seed {seed}\n{i}\n{program}");
                *(if passes { &mut yes } else { &mut no }) += 1;
            }
            None => unknown += 1,
        }
    }
    println!("{yes} pass, {no} fail, {unknown} unknown");
    assert!(
        yes > 10 && no > 10 && unknown * 10 < yes + no,
        "{yes} {no} {unknown}"
    );
}
