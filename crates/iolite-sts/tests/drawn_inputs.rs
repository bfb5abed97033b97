//! Inputs that are drawn in concrete states, against the definition; and what is remembered of earlier
//! states, against a chooser that remembers nothing.
#![allow(missing_docs)]

mod support;

use std::sync::Arc;

use iolite_expr::{Answer, Op, Solver, Sort, Span, Strategy, Term, Value};
use iolite_lts::QuiescencePolicy;
use iolite_sts::{
    After, Builder, InputChoice, Iosts, LabelKind, State, Symbolic, TransitionId, ValuedAction,
};
use support::{Random, random_model};

/// All values with which a transition can be taken, one by one.
fn rows(model: &Iosts, state: &State, constants: &[Value], t: TransitionId) -> Vec<Vec<Value>> {
    let params = &model.gate(model.transition(t).action).params;
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for p in params {
        let column = p.sort.values(64).expect("finite data");
        rows = rows
            .iter()
            .flat_map(|row| {
                column
                    .iter()
                    .map(|x| [row.as_slice(), std::slice::from_ref(x)].concat())
            })
            .collect();
    }
    rows.retain(|row| {
        model
            .fire(state, constants, t, row)
            .expect("no faults")
            .is_some()
    });
    rows
}

#[test]
fn drawn_inputs_are_those_of_the_definition() {
    let (mut given, mut refused) = (0, 0);
    for seed in 0..150 {
        let model = Arc::new(random_model(seed));
        let constant = Value::from(1 + i64::try_from(seed % 2).unwrap());
        let constants = [("c", constant.clone())];
        let solver = Solver::embedded();
        let policy = QuiescencePolicy::Livelock;
        let mut symbolic = Symbolic::new(Arc::clone(&model), &constants, policy, solver).unwrap();
        let mut remembers = InputChoice::new(seed, Strategy::Mixed);
        let mut random = Random {
            rng: rand::SeedableRng::seed_from_u64(seed),
        };
        let Ok(After::Possible(mut states)) = symbolic.initial() else {
            continue;
        };
        for step in 0..20 {
            let mut ways = Vec::new();
            for s in states.iter() {
                let values: Vec<Value> = s
                    .values(&model)
                    .iter()
                    .map(|t| t.as_value().expect("finite data").clone())
                    .collect();
                let state = State {
                    location: s.location(),
                    values: values.into(),
                };
                for &t in model.outgoing(s.location()) {
                    let allowed = rows(&model, &state, std::slice::from_ref(&constant), t);
                    let action = model.transition(t).action;
                    if model.kind(t) != LabelKind::Input {
                        ways.extend(allowed.into_iter().map(|row| (action, row)));
                        continue;
                    }
                    let mut fresh = InputChoice::new(seed ^ step, Strategy::Mixed);
                    for choice in [&mut remembers, &mut fresh] {
                        match choice.values_at(&mut symbolic, s, t).unwrap() {
                            Answer::Sat(found) => {
                                let input = ValuedAction::of(&model, action, &found);
                                assert!(allowed.contains(&input.values), "seed {seed}:\n{model}");
                                given += 1;
                            }
                            Answer::Unsat => {
                                assert!(allowed.is_empty(), "seed {seed}:\n{model}");
                                refused += 1;
                            }
                            Answer::Unknown(why) => panic!("seed {seed}: {why}"),
                        }
                    }
                    ways.extend(allowed.into_iter().map(|row| (action, row)));
                }
            }
            ways.retain(|(action, _)| model.gate(*action).kind != LabelKind::Internal);
            if ways.is_empty() {
                break;
            }
            let (action, values) = ways.swap_remove(random.below(ways.len()));
            let taken = ValuedAction { action, values };
            match symbolic.after(&states, &taken) {
                Ok(After::Possible(next)) => states = next,
                other => panic!("seed {seed}: {other:?}"),
            }
        }
    }
    assert!(
        given > 1_000 && refused > 100,
        "{given} given, {refused} refused"
    );
}

/// An empty set does not say what it is a set of, and nothing is in it.
#[test]
fn an_element_of_what_is_empty_is_not_looked_for_in_vain() {
    let here = Span::NONE;
    let words = || Sort::Array(Arc::new(Sort::String));
    let set = (Sort::set(Sort::Int).unwrap(), Value::set(vec![]));
    let map = Sort::map(Sort::Int, words()).unwrap();
    let map = (map, Value::map(vec![]));
    let list = (words(), Value::array(vec![]));
    for (sort, empty) in [set, map, list] {
        let mut b = Builder::new("Empty");
        let of = match &sort {
            Sort::Array(_) => vec![("list", words())],
            _ => vec![("key", Sort::Int)],
        };
        let ask = b.gate(LabelKind::Input, "ask", &of, here).unwrap();
        let initial = literal(&sort, empty);
        let x = b.variable("x", sort, Some(initial), here).unwrap();
        let at = b.location("A", true, here).unwrap();
        let asked = b.params(ask)[0].term();
        let guard = match x.term().sort() {
            Sort::Array(_) => {
                let same = asked.equals(&x).unwrap();
                let first = Term::apply(Op::Select, vec![asked, 0.into()], here).unwrap();
                same.and(first.equals(Term::from("a")).unwrap()).unwrap()
            }
            _ => Term::apply(Op::Has, vec![asked, x.term()], here).unwrap(),
        };
        b.transition(at, ask, Some(guard), vec![], at, here)
            .unwrap();
        let model = Arc::new(b.build().unwrap());
        let policy = QuiescencePolicy::Livelock;
        let solver = Solver::embedded();
        let mut symbolic = Symbolic::new(Arc::clone(&model), &[], policy, solver).unwrap();
        let Ok(After::Possible(states)) = symbolic.initial() else {
            panic!("no initial state");
        };
        let state = states.iter().next().unwrap();
        for (v, x) in model.variables().iter().zip(state.values(&model)) {
            assert_eq!(*x.sort(), v.var.sort);
        }
        let t = model.outgoing(state.location())[0];
        for seed in 0..20 {
            let mut choice = InputChoice::new(seed, Strategy::Mixed);
            let answer = choice.values_at(&mut symbolic, state, t).unwrap();
            assert_eq!(answer, Answer::Unsat, "{model}");
        }
    }
}

fn literal(sort: &Sort, value: Value) -> Term {
    let var = iolite_expr::Var::new(iolite_expr::VarId::new(0, 0), "x", sort.clone());
    let mut map = iolite_expr::Substitution::new();
    map.insert_value(&var, value);
    var.term().substitute(&map).unwrap()
}
