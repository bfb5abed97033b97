//! A running model shows what its suspension traces are, nothing else, and sooner or later all of
//! it: against the unfolded system, against the sets of symbolic states, and against definition 7.

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_expr::{Op, Solver, Sort, Span, Term, Value};
use iolite_lts::{Completion, Determinised, LabelId, QuiescencePolicy, Suspension};
use iolite_sts::{
    After, Builder, Iosts, LabelKind, Simulation, SimulationError, State, Symbolic, UnfoldBudget,
    ValuedAction,
};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use support::{Random, brp_sender, random_model, values};

const HERE: Span = Span { start: 3, end: 5 };

fn symbolic(model: &Arc<Iosts>, constants: &[(&str, Value)]) -> Symbolic {
    let policy = QuiescencePolicy::Livelock;
    Symbolic::new(model.clone(), constants, policy, Solver::embedded()).expect("constants fit")
}

fn simulation(model: &Arc<Iosts>, constants: &[(&str, Value)]) -> Simulation {
    Simulation::new(symbolic(model, constants))
}

/// Whether no output and no internal action can fire, tried value by value.
fn quiescent_by_enumeration(model: &Iosts, state: &State, constants: &[Value]) -> bool {
    model.outgoing(state.location).iter().all(|&t| {
        if !matches!(model.kind(t), LabelKind::Output | LabelKind::Internal) {
            return true;
        }
        let params = &model.gate(model.transition(t).action).params;
        let mut rows = vec![Vec::new()];
        for p in params {
            let column = p.sort.values(100).expect("a small sort");
            rows = rows
                .iter()
                .flat_map(|row: &Vec<Value>| {
                    column
                        .iter()
                        .map(|x| row.iter().chain([x]).cloned().collect())
                })
                .collect();
        }
        rows.iter()
            .all(|row| model.fire(state, constants, t, row).unwrap().is_none())
    })
}

/// Random models, random inputs: each step is one of the unfolded system and one of the sets of
/// symbolic states.
#[test]
fn runs_are_suspension_traces() {
    let mut counts = [0; 4];
    for seed in 0..400 {
        let model = Arc::new(random_model(seed));
        let Ok(lts) = model.unfold(&mut Solver::embedded(), UnfoldBudget::default()) else {
            continue;
        };
        let mut explicit = Determinised::new(Suspension::new(&lts, QuiescencePolicy::Livelock));
        let mut sets = symbolic(&model, &[]);
        let Ok(After::Possible(initial)) = sets.initial() else {
            panic!("model {seed} has no initial state");
        };
        let mut running = simulation(&model, &[]);
        let mut random = Random {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        };
        for run in 0..4 {
            running.start(run).unwrap();
            let mut at = explicit.initial();
            let mut states = Some(initial.clone());
            for _ in 0..20 {
                let step = if random.below(2) == 0 {
                    let a = model.find_gate(LabelKind::Input, "a").unwrap();
                    let b = model.find_gate(LabelKind::Input, "b").unwrap();
                    let input = match random.below(4) {
                        3 => (b, Vec::new()),
                        n => (a, vec![Value::Int(n.into())]),
                    };
                    let input = ValuedAction {
                        action: input.0,
                        values: input.1,
                    };
                    match running.race().unwrap() {
                        Some(output) => Some(output),
                        None if running.input(&input).unwrap() => Some(input),
                        None => {
                            counts[3] += 1;
                            continue;
                        }
                    }
                } else {
                    let before = running.state().cloned().unwrap();
                    let quiet = running.is_quiescent().unwrap();
                    let constants = running.constants().to_vec();
                    assert_eq!(
                        quiet,
                        quiescent_by_enumeration(&model, &before, &constants),
                        "model {seed} in {}",
                        running.describe()
                    );
                    let seen = running.observe().unwrap();
                    assert!(!quiet || seen.is_none(), "model {seed}");
                    seen
                };
                let (label, after) = if let Some(action) = &step {
                    let kind = model.gate(action.action).kind;
                    counts[usize::from(kind == LabelKind::Output)] += 1;
                    let label = lts.labels().get(kind, &model.label(action));
                    (label, states.as_ref().map(|s| sets.after(s, action)))
                } else {
                    counts[2] += 1;
                    let after = states.as_ref().map(|s| sets.after_delta(s));
                    (Some(LabelId::DELTA), after)
                };
                let shown = step.map_or("delta".to_owned(), |a| model.label(&a));
                let label = label.unwrap_or_else(|| panic!("model {seed} never says {shown}"));
                let row = explicit.row(at).to_vec();
                let next = row.iter().find(|(l, _)| *l == label);
                at = next
                    .unwrap_or_else(|| panic!("model {seed} cannot do {shown}"))
                    .1;
                states = match after.transpose().unwrap() {
                    Some(After::Possible(states)) => Some(states),
                    Some(After::Impossible) => panic!("model {seed} forbids {shown}"),
                    // A livelock over an open constant; the explicit route judges on.
                    Some(After::Unknown { .. }) | None => None,
                };
            }
        }
    }
    assert!(counts.iter().all(|n| *n > 500), "{counts:?}");
}

/// out(s0) of the unfolded system is what is seen first, over many seeds.
#[test]
fn every_first_observation_comes() {
    let mut compared = 0;
    for seed in 0..250 {
        let model = Arc::new(random_model(seed));
        // Through a maze of internal steps a way may be missed.
        let internal = |(id, _)| model.kind(id) == LabelKind::Internal;
        if model.transitions().any(internal) {
            continue;
        }
        let lts = model
            .unfold(&mut Solver::embedded(), UnfoldBudget::default())
            .unwrap();
        let mut explicit = Determinised::new(Suspension::new(&lts, QuiescencePolicy::Livelock));
        let start = explicit.initial();
        let labels = lts.labels();
        let allowed: BTreeSet<String> = explicit
            .row(start)
            .iter()
            .filter(|(l, _)| labels.kind(*l) != LabelKind::Input)
            .map(|(l, _)| labels.text(*l))
            .collect();
        let mut running = simulation(&model, &[]);
        let seen: BTreeSet<String> = (0..200)
            .map(|run| {
                running.start(run).unwrap();
                match running.observe().unwrap() {
                    Some(output) => format!("!{}", model.label(&output)),
                    None => "delta".to_owned(),
                }
            })
            .collect();
        assert_eq!(seen, allowed, "model {seed}\n{model}");
        compared += 1;
    }
    assert!(compared > 25, "{compared}");
}

fn action(model: &Iosts, kind: LabelKind, name: &str, list: &[i64]) -> ValuedAction {
    ValuedAction {
        action: model.find_gate(kind, name).unwrap(),
        values: values(list),
    }
}

/// The sender of the paper with nothing known: constants are chosen within the assumption, and
/// differ from run to run; those that are given win.
#[test]
fn constants_are_chosen_and_given_ones_win() {
    let model = Arc::new(brp_sender(true));
    let mut running = simulation(&model, &[]);
    let mut seen = BTreeSet::new();
    for seed in 0..30 {
        running.start(seed).unwrap();
        let max = running.constants()[0].as_int().cloned().unwrap();
        assert!(max >= 1.into(), "{max}");
        let constants = running.constants().to_vec();
        running.start(seed).unwrap();
        assert_eq!(
            constants,
            running.constants(),
            "the same seed, the same run"
        );
        seen.insert(constants);
    }
    assert!(seen.len() > 5, "{seen:?}");
    let file = Value::array(values(&[10, 20]));
    let given = [("f", file.clone()), ("max", Value::from(2))];
    let mut running = simulation(&model, &given);
    running.start(7).unwrap();
    assert_eq!(running.constants(), [Value::from(2), file]);
    assert!(
        running.observe().unwrap().is_none(),
        "it waits for a request"
    );
    assert!(running.is_quiescent().unwrap());
    let request = action(&model, LabelKind::Input, "REQ", &[2]);
    assert!(
        !running
            .input(&action(&model, LabelKind::Input, "REQ", &[0]))
            .unwrap()
    );
    assert!(running.input(&request).unwrap());
    let said = running.observe().unwrap().map(|a| model.label(&a));
    assert_eq!(said.as_deref(), Some("MSG(10, true)"));
    let mut impossible = simulation(&model, &[("max", Value::from(0))]);
    assert_eq!(impossible.start(0), Err(SimulationError::NoInitialState));
}

/// `?a(n)`, then `!z(y)` with the guard that `guard` makes of n and y.
fn answering(sort: Sort, guard: impl Fn(&Term, &Term) -> Term) -> Arc<Iosts> {
    let mut b = Builder::new("Answers");
    let n = b.variable("n", Sort::Int, Some(0.into()), HERE).unwrap();
    let a = b
        .gate(LabelKind::Input, "a", &[("x", Sort::Int)], HERE)
        .unwrap();
    let z = b
        .gate(LabelKind::Output, "z", &[("y", sort)], HERE)
        .unwrap();
    let wait = b.location("Wait", true, HERE).unwrap();
    let say = b.location("Say", false, HERE).unwrap();
    let x = b.params(a)[0].term();
    let y = b.params(z)[0].term();
    let guard = guard(&n.term(), &y);
    b.transition(wait, a, None, vec![(n, x)], say, HERE)
        .unwrap();
    b.transition(say, z, Some(guard), vec![], wait, HERE)
        .unwrap();
    Arc::new(b.build().unwrap())
}

#[test]
fn output_values_are_drawn_within_their_guard() {
    let model = answering(Sort::Int, |n, y| {
        y.gt(n)
            .unwrap()
            .and(y.lt(n.plus(1000).unwrap()).unwrap())
            .unwrap()
    });
    let mut running = simulation(&model, &[]);
    let mut seen = BTreeSet::new();
    running.start(1).unwrap();
    for n in [0, 5, -100] {
        for _ in 0..20 {
            assert!(
                running
                    .input(&action(&model, LabelKind::Input, "a", &[n]))
                    .unwrap()
            );
            let said = running.observe().unwrap().expect("it answers");
            let y = said.values[0].as_int().cloned().unwrap();
            assert!(y > n.into() && y < (n + 1000).into(), "{y} after {n}");
            seen.insert(y);
        }
    }
    assert!(seen.len() > 20, "{seen:?}");
}

#[test]
fn a_fault_is_an_error_with_its_place() {
    let model = answering(Sort::Int, |n, y| {
        let share = Term::apply(Op::Div, vec![10.into(), n.clone()], HERE).unwrap();
        y.equals(share).unwrap()
    });
    let mut running = simulation(&model, &[]);
    running.start(0).unwrap();
    running
        .input(&action(&model, LabelKind::Input, "a", &[5]))
        .unwrap();
    let said = running.observe().unwrap().map(|a| model.label(&a));
    assert_eq!(said.as_deref(), Some("z(2)"));
    running
        .input(&action(&model, LabelKind::Input, "a", &[0]))
        .unwrap();
    let error = running.observe().unwrap_err();
    assert_eq!(error.to_string(), "division by zero, in Say (n = 0)");
    assert_eq!(error.place(&model), Some(HERE));
    assert!(!running.is_quiescent().unwrap());
}

/// A product of two unknowns that no small numbers make: the embedded solver may give up.
#[test]
fn what_is_not_decided_is_no_silence() {
    let pair = Sort::record(
        "Pair",
        vec![("p".into(), Sort::Int), ("q".into(), Sort::Int)],
    );
    let model = answering(pair.unwrap(), |n, y| {
        let field = |i| Term::apply(Op::Field(i), vec![y.clone()], HERE).unwrap();
        let (p, q) = (field(0), field(1));
        let one = |t: &Term| t.gt(1).unwrap();
        let product = Term::apply(Op::Mul, vec![p.clone(), q.clone()], HERE).unwrap();
        let is_n = product.equals(n).unwrap();
        one(&p).and(one(&q)).unwrap().and(is_n).unwrap()
    });
    let mut running = simulation(&model, &[]);
    running.start(0).unwrap();
    // The product of two large primes: one pair, and hard to find.
    let product = [1_000_000_007 * 998_244_353];
    running
        .input(&action(&model, LabelKind::Input, "a", &product))
        .unwrap();
    match running.observe() {
        Err(SimulationError::Undecided { state, query, .. }) => {
            assert!(state.starts_with("Say"), "{state}");
            assert!(query.contains("check-sat"), "{query}");
        }
        Ok(Some(said)) => {
            let text = model.label(&said);
            assert!(text.contains("1000000007"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn refused_inputs_are_completed_as_they_are_asked_to_be() {
    let model = answering(Sort::Int, |n, y| y.equals(n).unwrap());
    let again = action(&model, LabelKind::Input, "a", &[4]);
    let start = |completion| {
        let mut running = simulation(&model, &[]).completed(completion);
        running.start(3).unwrap();
        assert!(running.input(&again).unwrap());
        running
    };
    assert!(!start(None).input(&again).unwrap());
    let mut patient = start(Some(Completion::SelfLoop));
    assert!(patient.input(&again).unwrap() && patient.refuse());
    assert_eq!(patient.describe(), "Say (n = 4)");
    let mut seen = BTreeSet::new();
    let mut chaos = start(Some(Completion::Chaos));
    assert!(chaos.input(&again).unwrap());
    for _ in 0..40 {
        seen.insert(chaos.observe().unwrap().map(|a| model.label(&a)));
        assert!(chaos.state().is_none() && chaos.input(&again).unwrap());
    }
    assert!(seen.contains(&None) && seen.len() > 5, "{seen:?}");
}

/// Only a step that nobody sees leads to where the input is taken; it also chooses a value.
#[test]
fn inputs_are_taken_after_internal_steps() {
    let mut b = Builder::new("Hidden");
    let n = b.variable("n", Sort::Int, Some(0.into()), HERE).unwrap();
    let t = b
        .gate(LabelKind::Internal, "t", &[("k", Sort::Int)], HERE)
        .unwrap();
    let a = b
        .gate(LabelKind::Input, "a", &[("x", Sort::Int)], HERE)
        .unwrap();
    let first = b.location("First", true, HERE).unwrap();
    let then = b.location("Then", false, HERE).unwrap();
    let (k, x) = (b.params(t)[0].term(), b.params(a)[0].term());
    let positive = k.gt(10).unwrap();
    b.transition(first, t, Some(positive), vec![(n.clone(), k)], then, HERE)
        .unwrap();
    let same = x.equals(n.term()).unwrap();
    b.transition(then, a, Some(same), vec![], first, HERE)
        .unwrap();
    let model = Arc::new(b.build().unwrap());
    let mut running = simulation(&model, &[]);
    running.start(0).unwrap();
    assert!(
        running
            .input(&action(&model, LabelKind::Input, "a", &[12]))
            .unwrap()
    );
    assert_eq!(running.describe(), "First (n = 12)");
    assert!(
        !running
            .input(&action(&model, LabelKind::Input, "a", &[9]))
            .unwrap()
    );
}

/// It counts for ever, unseen: neither an output nor silence.
#[test]
fn divergence_is_an_error() {
    let mut b = Builder::new("Counts");
    let n = b.variable("n", Sort::Int, Some(0.into()), HERE).unwrap();
    let t = b.gate(LabelKind::Internal, "t", &[], HERE).unwrap();
    let on = b.location("On", true, HERE).unwrap();
    let more = n.term().plus(1).unwrap();
    b.transition(on, t, None, vec![(n, more)], on, HERE)
        .unwrap();
    let mut running = simulation(&Arc::new(b.build().unwrap()), &[]);
    running.start(0).unwrap();
    let error = running.observe().unwrap_err();
    assert!(matches!(error, SimulationError::Diverges { .. }), "{error}");
}
