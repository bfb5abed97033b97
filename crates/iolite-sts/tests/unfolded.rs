//! Symbolic states against the unfolded explicit system, on random finite models.
#![allow(missing_docs)]

mod support;

use std::sync::Arc;

use iolite_expr::{Solver, Value};
use iolite_lts::{Determinised, LabelId, QuiescencePolicy, SetId, Suspension};
use iolite_sts::{
    After, Beside, Fronts, HasTrace, Iosts, LabelKind, OUT_OF_POINTS, Symbolic, SymbolicStates,
    TraceStep, UnfoldBudget, ValuedAction,
};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use support::{Random, random_faulty_model, random_model};

/// All visible valued actions.
fn alphabet(model: &Iosts) -> Vec<ValuedAction> {
    let mut out = Vec::new();
    for (id, a) in model.gates() {
        if !a.kind.is_visible() {
            continue;
        }
        if a.params.is_empty() {
            out.push(ValuedAction {
                action: id,
                values: vec![],
            });
        } else {
            for v in a.params[0].sort.values(10).unwrap() {
                out.push(ValuedAction {
                    action: id,
                    values: vec![v],
                });
            }
        }
    }
    out
}

/// Walks both at random and compares what they say; returns (compared, unknown).
fn compare(seed: u64, known: bool, policy: QuiescencePolicy, cases: usize) -> (usize, usize) {
    let model = random_model(seed);
    let mut g = Random {
        rng: Xoshiro256PlusPlus::seed_from_u64(seed + 1),
    };
    let (constants, explicit_model) = if known {
        let c = Value::from(2);
        let instance = model.instance("Random", &[("c", c.clone())]).unwrap();
        (vec![("c", c)], instance)
    } else {
        (vec![], model.clone())
    };
    let lts = explicit_model
        .unfold(&mut Solver::embedded(), UnfoldBudget::default())
        .unwrap();
    let mut explicit = Determinised::new(Suspension::new(lts, policy));
    let model = Arc::new(model);
    let mut symbolic =
        Symbolic::new(model.clone(), &constants, policy, Solver::embedded()).unwrap();
    symbolic.set_max_cases(cases);
    symbolic.set_max_states(60);
    let alphabet = alphabet(&model);
    let (mut compared, mut unknown) = (0, 0);
    for _ in 0..6 {
        let mut states = match symbolic.initial().unwrap() {
            After::Possible(states) => states,
            After::Unknown { .. } => {
                assert!(cases == 0, "seed {seed}: unknown at the start");
                unknown += 1;
                break;
            }
            After::Impossible => panic!("seed {seed}: no initial state"),
        };
        let mut set: SetId = explicit.initial();
        let mut trace = String::new();
        for _ in 0..8 {
            // Everything that could be seen here, before one thing is.
            let mut possible: Vec<(SymbolicStates, SetId, String)> = Vec::new();
            for seen in alphabet.iter().map(Some).chain([None]) {
                let (after, label, name) = if let Some(a) = seen {
                    let kind = model.gate(a.action).kind;
                    let name = model.label(a);
                    let label = explicit.labels().get(kind, &name);
                    let after = symbolic.after(&states, a).unwrap();
                    (after, label, format!("{}{name}", kind.sigil()))
                } else {
                    let after = symbolic.after_delta(&states).unwrap();
                    (after, Some(LabelId::DELTA), "delta".to_owned())
                };
                let expected = label.and_then(|l| explicit.after(set, l));
                compared += 1;
                match (after, expected) {
                    (After::Possible(s), Some(e)) => possible.push((s, e, name)),
                    (After::Impossible, None) => {}
                    (After::Unknown { .. }, _) => unknown += 1,
                    (after, expected) => panic!(
                        "seed {seed}, after{trace}, {name}: symbolic {after:?}, explicit {expected:?}\n{model}"
                    ),
                }
            }
            if possible.is_empty() {
                break;
            }
            let (s, e, name) = possible.swap_remove(g.below(possible.len()));
            trace.push(' ');
            trace.push_str(&name);
            (states, set) = (s, e);
        }
    }
    (compared, unknown)
}

#[test]
fn known_constants_give_the_same_verdicts() {
    for seed in 0..120 {
        let (compared, unknown) = compare(seed, true, QuiescencePolicy::Livelock, 64);
        assert!(
            compared > 0 && unknown == 0,
            "seed {seed}: {unknown} of {compared} unknown"
        );
    }
}

#[test]
fn livelocks_that_can_be_left_are_left() {
    let (mut all, mut unknown) = (0, 0);
    for seed in 0..200 {
        let (a, b) = compare(seed, true, QuiescencePolicy::Fair, 64);
        all += a;
        unknown += b;
    }
    assert!(
        all > 20_000 && unknown == 0,
        "{unknown} of {all} unknown with known constants"
    );
}

#[test]
fn livelocks_that_constants_decide_are_left_open() {
    let (mut all, mut unknown) = (0, 0);
    for seed in 0..60 {
        let (a, b) = compare(seed, false, QuiescencePolicy::Fair, 64);
        all += a;
        unknown += b;
    }
    assert!(unknown * 10 < all, "{unknown} of {all} unknown");
}

#[test]
fn unknown_constants_give_the_same_verdicts() {
    for seed in 0..60 {
        // Strict, so that cycles of internal actions leave no doubt about quiescence.
        let (compared, unknown) = compare(seed, false, QuiescencePolicy::Strict, 64);
        assert!(
            compared > 0 && unknown == 0,
            "seed {seed}: {unknown} of {compared} unknown"
        );
    }
}

#[test]
fn with_livelocks_unknown_is_the_worst() {
    for seed in 0..40 {
        compare(seed, false, QuiescencePolicy::Livelock, 64);
    }
}

#[test]
fn values_that_stay_symbolic_give_the_same_verdicts() {
    let (mut all, mut unknown) = (0, 0);
    for seed in 0..30 {
        let (a, b) = compare(seed, false, QuiescencePolicy::Strict, 0);
        all += a;
        unknown += b;
    }
    println!("{unknown} of {all} unknown");
    assert!(
        all > 1_000 && unknown * 4 < all,
        "{unknown} of {all} unknown"
    );
}

#[test]
fn what_does_not_fit_is_named() {
    let sender = support::brp_sender(true);
    let unfold = |m: &Iosts, states| {
        m.unfold(&mut Solver::embedded(), UnfoldBudget { states, values: 50 })
            .map_err(|e| e.to_string())
    };
    let e = unfold(&sender, 100).unwrap_err();
    assert!(
        e.starts_with("f: int[] has infinitely") || e.starts_with("max: int has infinitely"),
        "{e}"
    );
    let f = Value::array(vec![Value::from(7), Value::from(8)]);
    let small = sender
        .instance("S", &[("max", Value::from(2)), ("f", f)])
        .unwrap();
    let e = unfold(&small, 100).unwrap_err();
    assert!(e.starts_with("parameter l of REQ takes infinitely"), "{e}");
    let e = sender
        .instance("S", &[("max", Value::from(0))])
        .unwrap_err();
    assert!(e.to_string().contains("max >= 1 is false"), "{e}");
    assert_eq!(
        small
            .find_gate(LabelKind::Output, "OK")
            .map(|a| small.gate(a).params.len()),
        Some(0)
    );
}

/// One formula for each way through the locations, against sets of symbolic states.
#[test]
fn path_formulas_agree_with_sets_of_symbolic_states() {
    path_formulas_agree(random_model, QuiescencePolicy::Strict);
}

#[test]
fn path_formulas_agree_where_circles_are_silent() {
    path_formulas_agree(random_model, QuiescencePolicy::Livelock);
}

#[test]
fn path_formulas_agree_where_circles_can_be_left() {
    path_formulas_agree(random_model, QuiescencePolicy::Fair);
}

#[test]
fn path_formulas_agree_where_terms_have_no_value() {
    path_formulas_agree(random_faulty_model, QuiescencePolicy::Strict);
}

fn path_formulas_agree(random: fn(u64) -> Iosts, policy: QuiescencePolicy) {
    let (mut decided, mut undecided) = (0, 0);
    for seed in 0..30 {
        let model = Arc::new(random(seed));
        let mut symbolic =
            Symbolic::new(model.clone(), &[], policy, Solver::embedded()).expect("semantics");
        symbolic.set_max_cases(if seed % 2 == 0 { 0 } else { 64 });
        symbolic.set_max_states(60);
        let mut g = Random {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        };
        let alphabet = alphabet(&model);
        let Ok(After::Possible(mut states)) = symbolic.initial() else {
            continue;
        };
        let mut fronts = Fronts::new(&model, policy, 200, 1_000_000);
        let mut shared_solver = Solver::embedded();
        let mut trace: Vec<TraceStep> = Vec::new();
        for _ in 0..4 {
            let mut possible = Vec::new();
            for seen in alphabet.iter().map(Some).chain([None]) {
                let (after, step) = match seen {
                    Some(a) => (symbolic.after(&states, a), TraceStep::Action(a.clone())),
                    None => (symbolic.after_delta(&states), TraceStep::Delta),
                };
                trace.push(step.clone());
                let slow = model.has_trace(&trace, policy, &mut Solver::embedded(), 200);
                let shared = fronts.has(&trace, Beside::default(), &mut shared_solver);
                trace.pop();
                let open = |found: &HasTrace| matches!(found, HasTrace::Unknown(_));
                assert!(
                    shared == slow || open(&shared) || open(&slow),
                    "seed {seed}, after {trace:?}, {step:?}: {shared:?} from what is shared, but {slow:?}\n{model}"
                );
                undecided += usize::from(open(&shared) && !open(&slow));
                match (after.expect("no fault"), slow) {
                    (After::Possible(next), HasTrace::Yes) => {
                        decided += 1;
                        possible.push((next, step));
                    }
                    (After::Impossible, HasTrace::No) => decided += 1,
                    (After::Unknown { .. }, _) | (_, HasTrace::Unknown(_)) => undecided += 1,
                    (fast, slow) => panic!(
                        "seed {seed}, after {trace:?}, {step:?}: {fast:?}, but {slow:?}\n{model}"
                    ),
                }
            }
            if possible.is_empty() {
                break;
            }
            let (next, step) = possible.swap_remove(g.below(possible.len()));
            states = next;
            trace.push(step);
        }
    }
    assert!(
        decided > 5 * undecided,
        "{decided} decided, {undecided} not"
    );
}

/// A bound on all searches together is counted: it ends them at the same question each time, and what was found out before
/// stays.
#[test]
fn a_bound_on_all_points_together_ends_with_its_name() {
    let mut ended = 0;
    for seed in 0..10 {
        let model = random_model(seed);
        let alphabet = alphabet(&model);
        let asked = |all: u64| -> Vec<HasTrace> {
            let mut fronts = Fronts::new(&model, QuiescencePolicy::Strict, 200, all);
            let mut solver = Solver::embedded();
            let steps = alphabet.iter().cloned().map(TraceStep::Action);
            let mut has = |step| fronts.has(&[step], Beside::default(), &mut solver);
            steps.map(&mut has).collect()
        };
        let (few, again, many) = (asked(12), asked(12), asked(1_000_000));
        assert_eq!(few, again);
        for (few, many) in few.iter().zip(&many) {
            let out = HasTrace::Unknown(OUT_OF_POINTS.into());
            assert!(
                few == many || *few == out,
                "seed {seed}: {few:?}, but {many:?}"
            );
            ended += usize::from(*few == out && *many != out);
        }
    }
    assert!(ended > 0);
}
