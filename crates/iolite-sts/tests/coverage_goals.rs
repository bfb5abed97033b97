//! What runs reach of a model with data, against the definition: one concrete state after the other, with
//! each value of each parameter; and what no run can reach, against all concrete states.
#![allow(missing_docs)]

mod support;
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use iolite_expr::Solver;
use iolite_sts::analysis::{self, Answer, VerifyBudget};
use iolite_sts::{After, CoverageGoal, LabelKind, ValuedAction};
use support::Random;
use world::World;

#[test]
fn what_runs_reach_is_what_the_definition_says() {
    let (mut steps, mut branches, mut boundaries) = (0, 0, 0);
    for seed in 0..150 {
        let world = World::new(seed);
        let mut symbolic = world.symbolic();
        let mut random = Random {
            rng: rand::SeedableRng::seed_from_u64(seed),
        };
        let gates: Vec<_> = world
            .model
            .gates()
            .filter(|(_, g)| matches!(g.kind, LabelKind::Input | LabelKind::Output))
            .collect();
        for _ in 0..4 {
            let Ok(After::Possible(mut states)) = symbolic.initial() else {
                break;
            };
            let mut slow = BTreeSet::new();
            let mut at = world.closed(world.initial(), &mut slow);
            world.locations(&at, &mut slow);
            let found = symbolic.reached_initially(&world.goals);
            compare(&world, &found, &slow, seed);
            for _ in 0..12 {
                let (action, signature) = gates[random.below(gates.len())];
                let values = signature.params.iter().map(|p| {
                    let all = p.sort.values(10).unwrap();
                    all[random.below(all.len())].clone()
                });
                let valued = ValuedAction {
                    action,
                    values: values.collect(),
                };
                let found = symbolic.reached_by(&world.goals, &states, &valued);
                let Ok(After::Possible(next)) = symbolic.after(&states, &valued) else {
                    assert!(found.is_empty(), "what is not allowed reaches nothing");
                    continue;
                };
                let mut slow = BTreeSet::new();
                let mut to = Vec::new();
                for from in &at {
                    let own = |gate, _| gate == action;
                    for (t, params, after) in world.firings(from, own, Some(&valued.values)) {
                        slow.extend(world.fired(from, t, &params, &after));
                        if !to.contains(&after) {
                            to.push(after);
                        }
                    }
                }
                at = world.closed(to, &mut slow);
                world.locations(&at, &mut slow);
                compare(&world, &found, &slow, seed);
                for (k, goal) in world.goals.iter().enumerate() {
                    let seen = usize::from(slow.contains(&k));
                    match goal {
                        CoverageGoal::Branch(..) => branches += seen,
                        CoverageGoal::Boundary(..) => boundaries += seen,
                        _ => {}
                    }
                }
                states = next;
                steps += 1;
            }
        }
    }
    assert!(steps > 300, "{steps}");
    assert!(boundaries > 50, "{boundaries} (branches {branches})");
}

/// Branches and boundaries of internal actions with unknown parameters may be left out, and nothing else.
fn compare(world: &World, found: &BTreeSet<usize>, slow: &BTreeSet<usize>, seed: u64) {
    assert!(
        found.is_subset(slow),
        "seed {seed}: {:?}\n{}",
        found.difference(slow),
        world.model
    );
    for &k in slow.difference(found) {
        let goal = world.goals.iter().nth(k);
        let open = match goal {
            Some(CoverageGoal::Branch(t, _) | CoverageGoal::Boundary(t, _)) => {
                let gate = world.model.gate(world.model.transition(*t).action);
                gate.kind == LabelKind::Internal && !gate.params.is_empty()
            }
            _ => false,
        };
        assert!(open, "seed {seed}: {goal:?} is missing\n{}", world.model);
    }
}

/// What is proved to be out of reach is, and what is refuted is not.
#[test]
fn proofs_that_a_goal_is_out_of_reach_are_right() {
    let (mut proved, mut refuted) = (0, 0);
    for seed in 0..25 {
        let world = World::new(seed);
        // Everything that any run reaches, from all concrete states, for every value of the constants.
        let mut reached = BTreeSet::new();
        let choices = world
            .model
            .constants()
            .first()
            .map(|c| c.var.sort.values(100));
        let choices = choices.flatten().unwrap_or_default();
        if world.model.constants().len() != 1 || choices.is_empty() {
            continue;
        }
        for constant in choices {
            let one = World {
                constants: vec![constant],
                model: Arc::clone(&world.model),
                goals: Arc::clone(&world.goals),
            };
            let mut all = one.initial();
            one.locations(&all, &mut reached);
            let mut done = 0;
            while done < all.len() {
                let from = all[done].clone();
                for (t, params, to) in one.firings(&from, |_, _| true, None) {
                    reached.extend(one.fired(&from, t, &params, &to));
                    if !all.contains(&to) {
                        all.push(to);
                    }
                }
                done += 1;
            }
        }
        let mut solver = Solver::embedded();
        for (k, goal) in world.goals.iter().enumerate() {
            let (probed, location) = world.model.with_probe(goal);
            let budget = VerifyBudget {
                steps: 20_000,
                time: Duration::from_secs(2),
                question: Duration::from_millis(200),
            };
            match analysis::verify(&probed, &[location], &mut solver, budget) {
                Answer::Proved(_) => {
                    assert!(
                        !reached.contains(&k),
                        "seed {seed}: {goal:?}\n{}",
                        world.model
                    );
                    proved += 1;
                }
                Answer::Refuted(_) => {
                    assert!(
                        reached.contains(&k),
                        "seed {seed}: {goal:?}\n{}",
                        world.model
                    );
                    refuted += 1;
                }
                Answer::Unknown { .. } => {}
            }
        }
    }
    assert!(
        refuted > 50 && proved > 5,
        "{proved} proved, {refuted} refuted"
    );
}
