//! Which boundaries and transitions runs tried, against the definition: where moving a value by one
//! changes a comparison.
#![allow(missing_docs)]

mod support;

use std::collections::HashSet;
use std::sync::Arc;

use iolite_expr::{Int, Kind, Model, Op, Solver, Term, Value};
use iolite_lts::QuiescencePolicy;
use iolite_sts::{
    After, CandidateValues, Iosts, LabelKind, Symbolic, TransitionId, ValueCoverage, ValuedAction,
    space,
};
use support::{Random, random_model};

fn atoms(guard: &Term, found: &mut Vec<Term>) {
    if let Kind::App(op, args) = guard.kind() {
        let compares = matches!(op, Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne);
        if compares && args[0].sort().is_int() && !found.contains(guard) {
            found.push(guard.clone());
        }
        for arg in args {
            atoms(arg, found);
        }
    }
}

fn holds(op: &Op, left: &Int, right: &Int) -> bool {
    match op {
        Op::Lt => left < right,
        Op::Le => left <= right,
        Op::Gt => left > right,
        Op::Ge => left >= right,
        Op::Eq => left == right,
        _ => left != right,
    }
}

/// Whether the comparison changes when one side moves by one.
fn is_boundary(op: &Op, left: &Int, right: &Int) -> bool {
    let now = holds(op, left, right);
    [Int::ONE, -Int::ONE]
        .iter()
        .any(|by| holds(op, &(left + by), right) != now)
}

fn reads_parameters(term: &Term) -> bool {
    let vars = term.free_vars();
    vars.iter().any(|v| v.id.space() == space::PARAMETER)
}

/// What a run can try of a guard: not what the system chooses.
fn counted(model: &Iosts, id: TransitionId) -> Vec<Term> {
    let mut found = Vec::new();
    atoms(&model.transition(id).guard, &mut found);
    found.retain(|atom| model.kind(id) == LabelKind::Input || !reads_parameters(atom));
    found
}

#[test]
#[expect(
    clippy::mutable_key_type,
    reason = "a term's cells are caches that its hash does not read"
)]
fn what_was_tried_is_what_the_definition_says() {
    let (mut tried_in_all, mut runs) = (0, 0);
    for seed in 0..120 {
        let model = Arc::new(random_model(seed));
        let constant = Value::from(1 + i64::try_from(seed % 2).unwrap());
        let constants = [("c", constant.clone())];
        let policy = QuiescencePolicy::Livelock;
        let solver = Solver::embedded();
        let mut symbolic = Symbolic::new(Arc::clone(&model), &constants, policy, solver).unwrap();
        let mut coverage = ValueCoverage::new(&model, &CandidateValues::default());
        let total: usize = model
            .transitions()
            .flat_map(|(id, _)| counted(&model, id))
            .map(|atom| {
                let Kind::App(op, _) = atom.kind() else {
                    unreachable!()
                };
                let apart = |n: i64| is_boundary(op, &Int::from(n), &Int::ZERO);
                (-2..=2).filter(|&n| apart(n)).count()
            })
            .sum();
        assert_eq!(coverage.boundaries(), (0, total), "seed {seed}:\n{model}");
        let mut sides: HashSet<(TransitionId, Term, Int)> = HashSet::new();
        let mut taken: HashSet<TransitionId> = HashSet::new();
        let mut random = Random {
            rng: rand::SeedableRng::seed_from_u64(seed),
        };
        let gates: Vec<_> = model
            .gates()
            .filter(|(_, g)| matches!(g.kind, LabelKind::Input | LabelKind::Output))
            .collect();
        for _ in 0..6 {
            let Ok(After::Possible(mut states)) = symbolic.initial() else {
                break;
            };
            for _ in 0..12 {
                let (gate, signature) = gates[random.below(gates.len())];
                let values = signature.params.iter();
                let values = values.map(|p| {
                    let all = p.sort.values(10).unwrap();
                    all[random.below(all.len())].clone()
                });
                let action = ValuedAction {
                    action: gate,
                    values: values.collect(),
                };
                let Ok(After::Possible(next)) = symbolic.after(&states, &action) else {
                    continue;
                };
                symbolic.note_tried(&mut coverage, &states, &action);
                // The same, one concrete state after the other.
                for state in states.iter() {
                    let known: Vec<Value> = state
                        .values(&model)
                        .iter()
                        .map(|t| t.as_value().expect("finite data").clone())
                        .collect();
                    for &t in model.outgoing(state.location()) {
                        let own = model.transition(t).action == gate;
                        let mut env = Model::default();
                        for (v, x) in model.variables().iter().zip(&known) {
                            env.insert(v.var.id, x.clone());
                        }
                        env.insert(model.constants()[0].var.id, constant.clone());
                        if own {
                            for (p, x) in signature.params.iter().zip(&action.values) {
                                env.insert(p.id, x.clone());
                            }
                            let visible = model.transition(t);
                            if visible.guard.eval_bool(&env) == Ok(true) {
                                taken.insert(t);
                            }
                        }
                        for atom in counted(&model, t) {
                            let Kind::App(op, args) = atom.kind() else {
                                continue;
                            };
                            let value = |term: &Term| match term.eval(&env) {
                                Ok(Value::Int(n)) => Some(n),
                                _ => None,
                            };
                            if let (Some(l), Some(r)) = (value(&args[0]), value(&args[1]))
                                && is_boundary(op, &l, &r)
                            {
                                sides.insert((t, atom.clone(), l - r));
                            }
                        }
                    }
                }
                states = next;
            }
        }
        let shown = coverage.untried_boundaries().count();
        assert_eq!(
            coverage.boundaries().0,
            sides.len(),
            "seed {seed}:\n{model}"
        );
        assert_eq!(shown, total - sides.len(), "seed {seed}");
        assert_eq!(
            coverage.transitions().0,
            taken.len(),
            "seed {seed}:\n{model}"
        );
        tried_in_all += sides.len();
        runs += 1;
    }
    assert!(runs == 120 && tried_in_all > 300, "{tried_in_all}");
}
