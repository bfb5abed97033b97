//! Test cases for coverage goals, and switch pairs, against the definition: every trace of a concrete state,
//! with what each way to take it reaches.
#![allow(missing_docs)]

mod support;
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use iolite_expr::{Solver, Value};
use iolite_sts::analysis::{self, Answer, VerifyBudget};
use iolite_sts::{
    After, CoverageCriterion, CoverageGoal, CoverageGoals, GateId, Iosts, LabelKind, State,
    SymbolicTest, TransitionId, ValuedAction,
};
use support::{Random, random_model};
use world::World;

/// Concrete states, and whether the goal was reached on the way there.
type Marked = BTreeSet<(State, bool)>;

/// A visible action with values; δ without a gate of the model.
#[derive(Clone, Debug)]
struct Seen {
    gate: Option<GateId>,
    values: Vec<Value>,
}

impl World {
    fn is_reached(
        &self,
        goal: usize,
        from: &State,
        t: TransitionId,
        p: &[Value],
        to: &State,
    ) -> bool {
        self.fired(from, t, p, to).contains(&goal)
    }

    /// The states after internal actions; an internal action that is the goal marks.
    fn unseen(&self, goal: usize, at: &Marked) -> Marked {
        let mut all = at.clone();
        let mut open: Vec<(State, bool)> = at.iter().cloned().collect();
        while let Some((from, mark)) = open.pop() {
            let internal = |_, kind| kind == LabelKind::Internal;
            for (t, params, to) in self.firings(&from, internal, None) {
                let mark = mark || self.is_reached(goal, &from, t, &params, &to);
                if all.insert((to.clone(), mark)) {
                    open.push((to, mark));
                }
            }
        }
        all
    }

    fn is_quiescent(&self, state: &State) -> bool {
        let moves = |_, kind| matches!(kind, LabelKind::Internal | LabelKind::Output);
        self.firings(state, moves, None).is_empty()
    }

    /// What a visible action leads to, before internal ones follow.
    fn seen(&self, goal: usize, at: &Marked, seen: &Seen) -> Marked {
        let mut next = Marked::new();
        for (from, mark) in self.unseen(goal, at) {
            let Some(gate) = seen.gate else {
                if self.is_quiescent(&from) {
                    next.insert((from, mark));
                }
                continue;
            };
            for (t, params, to) in self.firings(&from, |g, _| g == gate, Some(&seen.values)) {
                let mark = mark || self.is_reached(goal, &from, t, &params, &to);
                next.insert((to, mark));
            }
        }
        next
    }
}

/// The state of a deterministic program after an action; `None` where it has no step.
fn stepped(
    model: &Iosts,
    constants: &[Value],
    at: &State,
    own: GateId,
    values: &[Value],
) -> Option<State> {
    let mut found = None;
    for &t in model.outgoing(at.location) {
        if model.transition(t).action == own
            && let Some(next) = model.fire(at, constants, t, values).expect("no faults")
        {
            assert!(found.is_none(), "deterministic:\n{model}");
            found = Some(next);
        }
    }
    found
}

/// The initial state of a program of a system in this state: what is kept has a value of its own.
fn program_start(model: &Iosts, start: &State) -> State {
    let own = model.variables().iter().skip(start.values.len());
    let more = own.map(|v| v.initial.as_ref().unwrap().as_value().unwrap().clone());
    let values: Vec<Value> = start.values.iter().cloned().chain(more).collect();
    State {
        location: model.initial(),
        values: values.into(),
    }
}

fn random_step(random: &mut Random, model: &Iosts) -> Seen {
    let gates: Vec<_> = model
        .gates()
        .filter(|(_, g)| matches!(g.kind, LabelKind::Input | LabelKind::Output))
        .collect();
    let pick = random.below(gates.len() + 1);
    let Some((gate, signature)) = gates.get(pick) else {
        return Seen {
            gate: None,
            values: Vec::new(),
        };
    };
    let values = signature.params.iter().map(|p| {
        let all = p.sort.values(10).unwrap();
        all[random.below(all.len())].clone()
    });
    Seen {
        gate: Some(*gate),
        values: values.collect(),
    }
}

#[test]
fn a_test_accepts_where_the_goal_may_have_been_reached_and_fails_off_the_traces() {
    let (mut steps, mut accepted, mut failed, mut given_up) = (0, 0, 0, 0);
    for seed in 0..60 {
        let world = World::new(seed);
        let mut random = Random {
            rng: rand::SeedableRng::seed_from_u64(seed),
        };
        let mut solver = Solver::embedded();
        for (k, goal) in world.goals.iter().enumerate() {
            let initial = world.model.initial();
            if matches!(goal, CoverageGoal::Location(l) if *l == initial) {
                continue;
            }
            let Ok(whole) = SymbolicTest::covering(&world.model, goal, &mut solver, 40) else {
                continue;
            };
            let pruned = whole.trimmed(&mut solver, 2_000);
            let (pruned, _) = pruned.pruned_within_reach(&mut solver, 2_000);
            let program = pruned.model.mirrored();
            let starts = world.initial();
            for start in starts.iter().cycle().take(6 * starts.len()) {
                let mut at = Marked::from([(start.clone(), false)]);
                let mut whole_at = program_start(&whole.model, start);
                let mut pruned_at = Some(program_start(&program, start));
                for _ in 0..10 {
                    let mut seen = random_step(&mut random, &world.model);
                    for _ in 0..6 {
                        // Mostly what is possible: what is not ends the run.
                        if !world.seen(k, &at, &seen).is_empty() {
                            break;
                        }
                        seen = random_step(&mut random, &world.model);
                    }
                    let own = |model: &Iosts| match seen.gate {
                        Some(gate) => {
                            let gate = world.model.gate(gate);
                            model.find_gate(gate.kind, &gate.name)
                        }
                        None => model.find_gate(LabelKind::Delta, "delta"),
                    };
                    let is_input = seen
                        .gate
                        .is_some_and(|g| world.model.gate(g).kind == LabelKind::Input);
                    let next = world.seen(k, &at, &seen);
                    if next.is_empty() && is_input {
                        continue;
                    }
                    let constants = &world.constants;
                    let gate = own(&whole.model).unwrap();
                    let to = stepped(&whole.model, constants, &whole_at, gate, &seen.values);
                    let to = to.unwrap_or_else(|| panic!("seed {seed}: {goal:?}\n{}", whole.model));
                    let reached = next.iter().any(|(_, mark)| *mark);
                    assert_eq!(
                        whole.accept.contains(&to.location),
                        reached,
                        "seed {seed}: {goal:?} by {seen:?}\n{}\n{}",
                        world.model,
                        whole.model
                    );
                    assert_eq!(
                        whole.fail.contains(&to.location),
                        next.is_empty(),
                        "seed {seed}: {goal:?}"
                    );
                    // Pruning may give up, and never where the goal is only a step away.
                    let pruned_to = pruned_at.as_ref().and_then(|at| {
                        let gate = own(&program)?;
                        stepped(&program, constants, at, gate, &seen.values)
                    });
                    let verdict = |list: &[iolite_sts::LocationId]| {
                        pruned_to
                            .as_ref()
                            .is_some_and(|s| list.contains(&s.location))
                    };
                    if pruned_at.is_some() {
                        assert_eq!(
                            verdict(&pruned.accept),
                            reached,
                            "seed {seed}: {goal:?} pruned\n{}\n{}",
                            world.model,
                            program
                        );
                        if verdict(&pruned.fail) {
                            assert!(next.is_empty(), "seed {seed}: {goal:?} pruned");
                        }
                        given_up += usize::from(verdict(&pruned.inconc));
                    }
                    steps += 1;
                    accepted += usize::from(reached);
                    failed += usize::from(next.is_empty());
                    if reached || next.is_empty() {
                        break;
                    }
                    let ended = verdict(&pruned.inconc) || verdict(&pruned.fail);
                    pruned_at = pruned_to.filter(|_| !ended);
                    at = next;
                    whole_at = to;
                }
            }
        }
    }
    println!("{steps} steps, {accepted} accepted, {failed} failed, {given_up} given up");
    assert!(steps > 1_000 && accepted > 200 && failed > 200 && given_up > 50);
}

/// The pairs of transitions that concrete runs take one after the other, from all initial states.
fn pairs_by_definition(world: &World) -> BTreeSet<(TransitionId, TransitionId)> {
    let mut pairs = BTreeSet::new();
    let mut seen: BTreeSet<(State, Option<TransitionId>)> = BTreeSet::new();
    let mut open: Vec<(State, Option<TransitionId>)> =
        world.initial().into_iter().map(|s| (s, None)).collect();
    while let Some((from, before)) = open.pop() {
        if !seen.insert((from.clone(), before)) {
            continue;
        }
        for (t, _, to) in world.firings(&from, |_, _| true, None) {
            pairs.extend(before.map(|before| (before, t)));
            open.push((to, Some(t)));
        }
    }
    pairs
}

#[test]
fn switch_pairs_are_what_concrete_runs_take() {
    let (mut proved, mut refuted) = (0, 0);
    for seed in 0..20 {
        let model = Arc::new(random_model(seed));
        let Some(constant) = model.constants().first() else {
            continue;
        };
        let mut slow = BTreeSet::new();
        for value in constant.var.sort.values(100).unwrap_or_default() {
            slow.extend(pairs_by_definition(&World {
                goals: Arc::new(CoverageGoals::new(&model)),
                model: Arc::clone(&model),
                constants: model.constants().iter().map(|_| value.clone()).collect(),
            }));
        }
        if model.constants().len() != 1 {
            continue;
        }
        let goals = CoverageCriterion::SwitchPairs.goals(&model).unwrap();
        let mut solver = Solver::embedded();
        let mut named = BTreeSet::new();
        for &k in &goals.wanted {
            let goal = goals.goals.iter().nth(k).unwrap();
            let CoverageGoal::Transition(t) = goal else {
                panic!("pairs are transitions of the split model");
            };
            let pair = goals.pair(*t).unwrap();
            assert!(named.insert(pair), "each pair is one goal");
            let (probed, location) = goals.model.with_probe(goal);
            let budget = VerifyBudget {
                steps: 20_000,
                time: Duration::from_secs(2),
                question: Duration::from_millis(200),
            };
            match analysis::verify(&probed, &[location], &mut solver, budget) {
                Answer::Proved(_) => {
                    assert!(!slow.contains(&pair), "seed {seed}: {pair:?}\n{model}");
                    proved += 1;
                }
                Answer::Refuted(_) => {
                    assert!(slow.contains(&pair), "seed {seed}: {pair:?}\n{model}");
                    refuted += 1;
                }
                Answer::Unknown { .. } => {}
            }
        }
        assert!(slow.is_subset(&named), "seed {seed}: every pair is a goal");
    }
    println!("{proved} proved, {refuted} refuted");
    assert!(
        proved > 20 && refuted > 100,
        "{proved} proved, {refuted} refuted"
    );
}

/// The split model walks as the written one does, and its transitions are the pairs of the runs.
#[test]
fn runs_reach_the_pairs_that_they_take() {
    let mut reached_pairs = 0;
    for seed in 0..60 {
        let world = World::new(seed);
        let goals = CoverageCriterion::SwitchPairs.goals(&world.model).unwrap();
        let split = World {
            model: Arc::clone(&goals.model),
            constants: world.constants.clone(),
            goals: Arc::clone(&goals.goals),
        };
        let mut symbolic = split.symbolic();
        let mut random = Random {
            rng: rand::SeedableRng::seed_from_u64(seed),
        };
        for _ in 0..3 {
            let Ok(After::Possible(mut states)) = symbolic.initial() else {
                break;
            };
            let start = world.initial().into_iter().map(|s| (s, None));
            let mut slow = BTreeSet::new();
            let mut at = closed(&world, start.collect(), &mut slow);
            let mut found = symbolic.reached_initially(&split.goals);
            for _ in 0..10 {
                let seen = random_step(&mut random, &world.model);
                let Some(action) = seen.gate else { continue };
                let valued = ValuedAction {
                    action,
                    values: seen.values.clone(),
                };
                found.extend(symbolic.reached_by(&split.goals, &states, &valued));
                let Ok(After::Possible(next)) = symbolic.after(&states, &valued) else {
                    continue;
                };
                let mut to = BTreeSet::new();
                for (from, before) in &at {
                    for (t, _, after) in world.firings(from, |g, _| g == action, Some(&seen.values))
                    {
                        slow.extend(before.map(|before| (before, t)));
                        to.insert((after, Some(t)));
                    }
                }
                at = closed(&world, to, &mut slow);
                states = next;
            }
            let found: BTreeSet<_> = found
                .iter()
                .filter_map(|&k| match goals.goals.iter().nth(k) {
                    Some(CoverageGoal::Transition(t)) => goals.pair(*t),
                    _ => None,
                })
                .collect();
            assert_eq!(found, slow, "seed {seed}:\n{}", world.model);
            reached_pairs += slow.len();
        }
    }
    assert!(reached_pairs > 100, "{reached_pairs}");
}

type Entered = BTreeSet<(State, Option<TransitionId>)>;

fn closed(
    world: &World,
    at: Entered,
    slow: &mut BTreeSet<(TransitionId, TransitionId)>,
) -> Entered {
    let mut all = at.clone();
    let mut open: Vec<_> = at.into_iter().collect();
    while let Some((from, before)) = open.pop() {
        let internal = |_, kind| kind == LabelKind::Internal;
        for (t, _, to) in world.firings(&from, internal, None) {
            slow.extend(before.map(|before| (before, t)));
            if all.insert((to.clone(), Some(t))) {
                open.push((to, Some(t)));
            }
        }
    }
    all
}
