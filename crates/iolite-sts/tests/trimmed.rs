//! A trimmed symbolic test case is the same test case: compared state by state, from the semantics.
#![allow(missing_docs)]

mod support;

use std::collections::BTreeSet;

use iolite_expr::{Model, Solver, Span, Term, Value};
use iolite_sts::{Iosts, LabelKind, LocationId, State, SymbolicTest};
use support::{over, random_model};

const HERE: Span = Span { start: 0, end: 1 };

/// After ?a the system must not be silent before it shows !u.
fn observer(system: &Iosts) -> (Iosts, Vec<LocationId>) {
    let mut b = over(system, "Answers");
    let idle = b.location("Idle", true, HERE).unwrap();
    let busy = b.location("Busy", false, HERE).unwrap();
    let bad = b.location("Violate", false, HERE).unwrap();
    let gates: Vec<_> = b
        .model()
        .gates()
        .map(|(id, g)| (id, g.kind, g.name.to_string()))
        .collect();
    for (id, kind, name) in gates {
        let (from_idle, from_busy) = match (kind, name.as_str()) {
            (LabelKind::Input, "a") => (busy, busy),
            (LabelKind::Output, "u") => (idle, idle),
            (LabelKind::Delta, _) => (idle, bad),
            _ => (idle, busy),
        };
        b.transition(idle, id, None, vec![], from_idle, HERE)
            .unwrap();
        b.transition(busy, id, None, vec![], from_busy, HERE)
            .unwrap();
    }
    (b.build().unwrap(), vec![bad])
}

/// Every row of values, one for each list.
fn rows(lists: &[Vec<Value>]) -> Vec<Vec<Value>> {
    lists.iter().fold(vec![Vec::new()], |rows, list| {
        let longer = rows.iter().flat_map(|row| {
            list.iter()
                .map(|v| row.iter().chain([v]).cloned().collect::<Vec<Value>>())
        });
        longer.collect()
    })
}

/// Constants, state, action, its values and the state after it.
type Edge = (Vec<Value>, State, String, Vec<Value>, State);

/// All states and steps that can be reached, for all constants; `None` where there are too many.
fn reached(model: &Iosts) -> Option<(BTreeSet<Edge>, BTreeSet<LocationId>)> {
    let sorts = |vars: Vec<&iolite_expr::Var>| -> Option<Vec<Vec<Value>>> {
        vars.iter().map(|v| v.sort.values(50)).collect()
    };
    let constants: Vec<_> = model.constants().iter().map(|c| &c.var).collect();
    let variables: Vec<_> = model.variables().iter().map(|v| &v.var).collect();
    let (mut edges, mut locations) = (BTreeSet::new(), BTreeSet::new());
    let given = model.variables().iter();
    let given = given.filter_map(|v| v.var.term().equals(v.initial.clone()?).ok());
    let theta = Term::all(model.assumptions().iter().cloned().chain(given));
    for known in rows(&sorts(constants.clone())?) {
        let mut seen = BTreeSet::new();
        let mut open = Vec::new();
        for values in rows(&sorts(variables.clone())?) {
            let mut env = Model::default();
            let given = constants.iter().zip(&known);
            for (var, value) in given.chain(variables.iter().zip(&values)) {
                env.insert(var.id, value.clone());
            }
            if theta.eval_bool(&env) == Ok(true) {
                open.push(State {
                    location: model.initial(),
                    values: values.into(),
                });
            }
        }
        while let Some(state) = open.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            if seen.len() > 2_000 {
                return None;
            }
            locations.insert(state.location);
            for &t in model.outgoing(state.location) {
                let gate = model.gate(model.transition(t).action);
                for given in rows(&sorts(gate.params.iter().collect())?) {
                    if let Some(next) = model.fire(&state, &known, t, &given).ok()? {
                        let name = gate.name.to_string();
                        edges.insert((known.clone(), state.clone(), name, given, next.clone()));
                        open.push(next);
                    }
                }
            }
        }
    }
    Some((edges, locations))
}

#[test]
fn trimming_keeps_every_reachable_step_and_verdict() {
    let (mut compared, mut smaller) = (0, 0);
    for seed in 0..80 {
        let system = random_model(seed);
        let (watcher, violating) = observer(&system);
        let mut solver = Solver::embedded();
        let Ok(test) = SymbolicTest::new(&system, &watcher, &violating, &mut solver, 30) else {
            continue;
        };
        for test in [test.clone(), test.pruned(&mut solver, 2_000)] {
            let trimmed = test.trimmed(&mut solver, 2_000);
            let (Some(whole), Some(less)) = (reached(&test.model), reached(&trimmed.model)) else {
                continue;
            };
            assert_eq!(
                whole, less,
                "seed {seed}:\n{}\n{}",
                test.model, trimmed.model
            );
            let (_, locations) = whole;
            for (before, after) in [
                (&test.fail, &trimmed.fail),
                (&test.violate_fail, &trimmed.violate_fail),
                (&test.violate, &trimmed.violate),
            ] {
                assert!(after.iter().all(|l| before.contains(l)), "seed {seed}");
                let lost = before.iter().filter(|l| !after.contains(l));
                for location in lost {
                    assert!(!locations.contains(location), "seed {seed}: {location:?}");
                }
            }
            compared += 1;
            let size = |model: &Iosts| model.transitions().len();
            smaller += usize::from(size(&trimmed.model) < size(&test.model));
        }
    }
    println!("{compared} compared, {smaller} smaller");
    assert!(compared > 20 && smaller > 5, "{compared}, {smaller}");
}
