//! Verification against explicit reachability, and the paper's example [SYM04, §3.4].
#![allow(missing_docs)]

mod support;

use std::time::Duration;

use expect_test::expect;
use iolite_expr::{Op, Solver, Sort, Span, Term, Value};
use iolite_lts::{QuiescencePolicy, Semantics, StateId, Suspension};
use iolite_sts::analysis::{
    Answer, Invariant, InvariantSource, Method, NotInductive, Problem, Suggestion, VerifyBudget,
    is_inductive, satisfies, verify, verify_by, watch,
};
use iolite_sts::{Builder, Iosts, LabelKind, LocationId, UnfoldBudget};
use support::{brp_sender, no_silence, random_faulty_model, random_model, random_observer};

const HERE: Span = Span { start: 0, end: 1 };

fn budget(steps: u64) -> VerifyBudget {
    VerifyBudget {
        steps,
        time: Duration::from_secs(30),
        question: Duration::from_millis(300),
    }
}

#[test]
fn the_sender_is_never_silent_between_request_and_confirmation() {
    let sender = brp_sender(true);
    let (observer, violate) = no_silence(&sender);
    let mut solver = Solver::embedded();
    let policy = QuiescencePolicy::Livelock;
    let (model, answer) = satisfies(
        &sender,
        &observer,
        &violate,
        policy,
        &mut solver,
        budget(400_000),
    )
    .unwrap();
    let Answer::Proved(proof) = answer else {
        panic!("{answer:?}")
    };
    // f may be too short for the file, and then the model says nothing.
    assert!(!proof.is_free_of_faults());
    expect![[r"
        Wait_Req.Idle: max >= 1 && rn == 0
        Send_File.Busy: max >= 1 && rn < max && head < last
        Wait_Ack.Busy: max >= 1 && rn <= max && head < last
        Send_Complete.Busy: max >= 1 && head <= last
        Wait_Timeout2.Busy: max >= 1 && rn == max && head < last
        Wait_Ack.Violate: false
        Send_Complete.Violate: false
        Send_File.Violate: false
        Wait_Timeout2.Violate: false
    "]]
    .assert_eq(&proof.invariant.describe(&model));
}

#[test]
fn without_max_of_at_least_one_the_papers_trace_refutes_it() {
    let sender = brp_sender(false);
    let (observer, violate) = no_silence(&sender);
    let mut solver = Solver::embedded();
    let policy = QuiescencePolicy::Livelock;
    let (model, answer) = satisfies(
        &sender,
        &observer,
        &violate,
        policy,
        &mut solver,
        budget(400_000),
    )
    .unwrap();
    let Answer::Refuted(refutation) = answer else {
        panic!("{answer:?}")
    };
    // REQ?(1) · MSG!(f(0), true) · δ [SYM04, §3.5].
    let texts = refutation.texts(&model);
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert_eq!(texts[0], "?REQ(1)");
    assert!(
        texts[1].starts_with("!MSG(") && texts[1].ends_with(", true)"),
        "{texts:?}"
    );
    assert_eq!(texts[2], "delta");
    let max = refutation
        .constants(&model)
        .find(|(name, _)| *name == "max")
        .unwrap()
        .1;
    assert!(*max.as_int().unwrap() < iolite_expr::Int::from(1));
}

/// By unfolding both: the suspension of the explicit system, the observer run along with all of its
/// values. Written from def. 10: a trace of S^δ that leads ω to a violation.
fn explicit_answer(
    system: &Iosts,
    observer: &Iosts,
    bad: LocationId,
    policy: QuiescencePolicy,
) -> Option<bool> {
    let unfold = UnfoldBudget {
        states: 5_000,
        values: 50,
    };
    let lts = system.unfold(&mut Solver::embedded(), unfold).ok()?;
    let labels = lts.labels().clone();
    let view = Suspension::new(lts, policy);
    let start = (view.initial(), observer.initial(), vec![Value::from(0)]);
    let mut seen = std::collections::BTreeSet::from([start.clone()]);
    let mut open: Vec<(StateId, LocationId, Vec<Value>)> = vec![start];
    while let Some((state, at, values)) = open.pop() {
        if at == bad {
            return Some(false);
        }
        let mut steps = Vec::new();
        view.successors(&state, &mut steps);
        for (label, target) in steps {
            let kind = labels.kind(label);
            let mut nexts = Vec::new();
            if kind == LabelKind::Internal {
                nexts.push((at, values.clone()));
            } else {
                // The valued action behind the label, by trying all of them.
                for &t in observer.outgoing(at) {
                    let gate = observer.gate(observer.transition(t).action);
                    let combos: Vec<Vec<Value>> = match gate.params.first() {
                        None => vec![vec![]],
                        Some(p) => p
                            .sort
                            .values(10)
                            .unwrap()
                            .into_iter()
                            .map(|v| vec![v])
                            .collect(),
                    };
                    for combo in combos {
                        let text = match combo.first() {
                            None => gate.name.to_string(),
                            Some(v) => format!("{}({v})", gate.name),
                        };
                        let same = gate.kind == kind
                            && (kind == LabelKind::Delta || *labels.label(label).name == *text);
                        if !same {
                            continue;
                        }
                        let here = iolite_sts::State {
                            location: at,
                            values: values.clone().into(),
                        };
                        if let Some(next) = observer.fire(&here, &[], t, &combo).unwrap() {
                            nexts.push((next.location, next.values.to_vec()));
                        }
                    }
                }
            }
            for (at, values) in nexts {
                let next = (target, at, values);
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    Some(true)
}

fn compare(policy: QuiescencePolicy, seeds: u64) -> (usize, usize, usize) {
    let (mut proved, mut refuted, mut unknown) = (0, 0, 0);
    for seed in 0..seeds {
        let system = random_model(seed);
        if policy == QuiescencePolicy::Strict && system.internal_cycle().is_some() {
            continue;
        }
        let (observer, violate) = random_observer(&system, seed);
        let Some(expected) = explicit_answer(&system, &observer, violate[0], policy) else {
            continue;
        };
        let mut solver = Solver::embedded();
        let (model, answer) = satisfies(
            &system,
            &observer,
            &violate,
            policy,
            &mut solver,
            budget(200_000),
        )
        .unwrap();
        match answer.decided() {
            None => unknown += 1,
            Some(said) => {
                assert_eq!(said, expected, "seed {seed}: {answer:?}\n{model}");
                if said { proved += 1 } else { refuted += 1 }
            }
        }
    }
    (proved, refuted, unknown)
}

#[test]
fn unfolding_gives_the_same_answers() {
    let (proved, refuted, unknown) = compare(QuiescencePolicy::Strict, 200);
    println!("{proved} proved, {refuted} refuted, {unknown} unknown");
    assert!(
        proved > 10 && refuted > 10 && unknown == 0,
        "{proved}, {refuted}, {unknown}"
    );
}

#[test]
fn livelocks_are_at_worst_unknown() {
    let (proved, refuted, unknown) = compare(QuiescencePolicy::Livelock, 100);
    println!("{proved} proved, {refuted} refuted, {unknown} unknown");
    assert!(
        proved + refuted > 4 * unknown,
        "{proved}, {refuted}, {unknown}"
    );
}

/// Every method by itself: it decides less, and never wrongly.
#[test]
fn each_method_alone_agrees_with_unfolding() {
    for method in Method::ALL {
        let (mut proved, mut refuted, mut unknown) = (0, 0, 0);
        let started = std::time::Instant::now();
        for seed in 0..150 {
            let system = random_model(seed);
            if system.internal_cycle().is_some() {
                continue;
            }
            let (observer, violate) = random_observer(&system, seed);
            let policy = QuiescencePolicy::Strict;
            let Some(expected) = explicit_answer(&system, &observer, violate[0], policy) else {
                continue;
            };
            let watched = watch(&system, &observer, &violate, policy).unwrap();
            let mut solver = Solver::embedded();
            let budget = budget(10_000);
            let (model, marked) = (&watched.model, &watched.marked);
            let answer = verify_by(&[method], model, marked, &mut solver, budget, &mut []);
            match answer.decided() {
                None => unknown += 1,
                Some(said) => {
                    assert_eq!(
                        said, expected,
                        "{method:?}, seed {seed}: {answer:?}\n{model}"
                    );
                    if said { proved += 1 } else { refuted += 1 }
                }
            }
        }
        println!(
            "{method:?}: {proved} proved, {refuted} refuted, {unknown} unknown, {:?}",
            started.elapsed()
        );
        // Bounded search proves nothing, simple conditions and abstract values refute nothing.
        let proves = method != Method::Bounded;
        let refutes = !matches!(method, Method::Simple | Method::Abstract);
        assert!(
            (proved > 0 || !proves) && (refuted > 0 || !refutes),
            "{method:?}: {proved}, {refuted}, {unknown}"
        );
    }
}

/// What k-induction is said to prove holds, and what it says to reach is reached.
#[test]
fn k_induction_agrees_with_unfolding() {
    let (mut inductive, mut reached, mut open) = (0, 0, 0);
    for seed in 0..120 {
        let system = random_model(seed);
        if system.internal_cycle().is_some() {
            continue;
        }
        let (observer, violate) = random_observer(&system, seed);
        let policy = QuiescencePolicy::Strict;
        let Some(expected) = explicit_answer(&system, &observer, violate[0], policy) else {
            continue;
        };
        let watched = watch(&system, &observer, &violate, policy).unwrap();
        let mut solver = Solver::embedded();
        let trivial = Invariant::trivial(watched.for_proofs().0);
        for k in [1, 2, 4] {
            match watched.recheck_induction(&trivial, k, &mut solver) {
                Ok(None) => {
                    inductive += 1;
                    assert!(expected, "seed {seed}, k = {k}\n{}", watched.model);
                }
                Ok(Some(NotInductive::Base(steps))) => {
                    reached += 1;
                    assert!(!expected && steps <= k, "seed {seed}, k = {k}");
                }
                Ok(Some(NotInductive::Step(_))) | Err(_) => open += 1,
                Ok(Some(NotInductive::Lemmas(broken))) => panic!("seed {seed}: {broken}"),
            }
        }
    }
    println!("{inductive} inductive, {reached} reached, {open} open");
    assert!(
        inductive > 10 && reached > 10,
        "{inductive}, {reached}, {open}"
    );
}

/// Rounds of a hash from a known value: each makes the preimages deeper, and k-induction says the same flatly.
#[test]
fn a_deep_proof_is_k_induction() {
    let mut b = Builder::new("Rounds");
    let c = b.variable("c", Sort::Int, Some(0.into()), HERE).unwrap();
    let x = b.variable("x", Sort::Int, Some(0.into()), HERE).unwrap();
    let step = b.gate(LabelKind::Internal, "step", &[], HERE).unwrap();
    let q = b.location("Q", true, HERE).unwrap();
    let bad = b.location("Bad", false, HERE).unwrap();
    let rounds = 16_i64;
    let mut last = 0_i64;
    for round in 0..rounds {
        last = (last * 3 + round) % 7;
    }
    let of = |op: Op, a: Term, b: Term| Term::apply(op, vec![a, b], HERE).unwrap();
    let sum = of(Op::Add, of(Op::Mul, x.term(), 3.into()), c.term());
    let next = of(Op::Mod, sum, 7.into());
    let guard = Term::all([
        of(Op::Le, 0.into(), c.term()),
        of(Op::Lt, c.term(), rounds.into()),
    ]);
    let effects = vec![
        (c.clone(), of(Op::Add, c.term(), 1.into())),
        (x.clone(), next),
    ];
    b.transition(q, step, Some(guard), effects, q, HERE)
        .unwrap();
    let wrong = Term::all([
        of(Op::Eq, c.term(), rounds.into()),
        of(Op::Eq, x.term(), ((last + 1) % 7).into()),
    ]);
    b.transition(q, step, Some(wrong), Vec::new(), bad, HERE)
        .unwrap();
    let model = b.build().unwrap();
    let mut solver = Solver::embedded();
    let methods = [Method::Backward];
    let answer = verify_by(
        &methods,
        &model,
        &[bad],
        &mut solver,
        budget(400_000),
        &mut [],
    );
    let Answer::Proved(proof) = answer else {
        panic!("{answer:?}")
    };
    let induction = proof.induction.expect("it is deep");
    assert!(induction.k > 16, "{}", induction.k);
}

/// Each member alone would be wrong where it is not checked; so is what they say of faults.
#[test]
fn refutations_of_faulty_models_are_traces() {
    let mut refuted = 0;
    for seed in 0..30 {
        let system = random_faulty_model(seed);
        let (observer, violate) = random_observer(&system, seed);
        let mut solver = Solver::embedded();
        let policy = QuiescencePolicy::Strict;
        let (model, answer) = satisfies(
            &system,
            &observer,
            &violate,
            policy,
            &mut solver,
            VerifyBudget {
                time: Duration::from_secs(2),
                ..budget(20_000)
            },
        )
        .unwrap();
        if let Answer::Refuted(r) = answer {
            refuted += 1;
            let states = r.run.replay(&model).expect("a run");
            // With these constants no guard of what the trace asks for faults on its way.
            for (s, (t, params)) in states.iter().zip(&r.run.steps) {
                let action = model.transition(*t).action;
                for &u in model.outgoing(s.location) {
                    if model.transition(u).action == action {
                        assert!(
                            model.fire(s, &r.run.constants, u, params).is_ok(),
                            "seed {seed}"
                        );
                    }
                }
            }
        }
    }
    assert!(refuted >= 4, "{refuted}");
}

struct Claim(Vec<Term>);

impl InvariantSource for Claim {
    fn name(&self) -> String {
        "a claim".into()
    }

    fn candidate(
        &mut self,
        problem: &Problem<'_>,
        _: &mut Solver,
        _: Duration,
    ) -> Result<Suggestion, String> {
        let invariant = Invariant::new(problem.model, self.0.clone());
        Ok(Suggestion::Invariant(invariant))
    }
}

/// x counts up from 0 by one or by three; the end is reached where it is `goal`.
fn counting(goal: i64) -> (Iosts, LocationId, Term) {
    let mut b = Builder::new("Counting");
    let x = b.variable("x", Sort::Int, Some(0.into()), HERE).unwrap();
    let step = b.gate(LabelKind::Internal, "step", &[], HERE).unwrap();
    let q = b.location("Q", true, HERE).unwrap();
    let bad = b.location("Bad", false, HERE).unwrap();
    let more = |n: i64| vec![(x.clone(), x.term().plus(n).unwrap())];
    let at = x.term().equals(goal).unwrap();
    b.transition(q, step, None, more(1), q, HERE).unwrap();
    b.transition(q, step, None, more(3), q, HERE).unwrap();
    b.transition(q, step, Some(at), vec![], bad, HERE).unwrap();
    (b.build().unwrap(), bad, x.term())
}

#[test]
fn invariants_from_outside_are_checked() {
    let (model, bad, x) = counting(-1);
    let mut solver = Solver::embedded();
    let claim = |t: Term| -> Box<dyn InvariantSource> { Box::new(Claim(vec![t, false.into()])) };
    let mut ask = |t: Term| {
        let mut sources = [claim(t)];
        verify_by(
            &Method::ALL,
            &model,
            &[bad],
            &mut solver,
            budget(100_000),
            &mut sources,
        )
    };
    let Answer::Proved(proof) = ask(x.ge(0).unwrap()) else {
        panic!("x >= 0 is inductive")
    };
    assert_eq!(proof.how, "a claim");
    // A wrong claim is not believed, and does not spoil the answer of the others.
    let Answer::Proved(proof) = ask(x.ge(1).unwrap()) else {
        panic!("the others prove it")
    };
    assert_ne!(proof.how, "a claim");
    let mut solver = Solver::embedded();
    for (term, expected) in [
        (x.ge(0).unwrap(), true),
        (x.ge(1).unwrap(), false),
        (x.le(9).unwrap(), false),
        (x.differs(-1).unwrap(), false),
    ] {
        let invariant = Invariant::new(&model, vec![term.clone(), false.into()]);
        let said = is_inductive(&model, &[bad], &invariant, &mut solver);
        assert_eq!(said, Ok(expected), "{term}");
    }
    let trivial = Invariant::trivial(&model);
    assert_eq!(
        is_inductive(&model, &[bad], &trivial, &mut solver),
        Ok(false)
    );
}

#[test]
fn nothing_is_said_without_a_budget() {
    let (model, bad, _) = counting(5);
    let answer = verify(&model, &[bad], &mut Solver::embedded(), budget(0));
    assert!(
        matches!(answer, Answer::Unknown { ref left } if !left.is_empty()),
        "{answer:?}"
    );
    let answer = verify(&model, &[bad], &mut Solver::embedded(), budget(100_000));
    assert_eq!(answer.decided(), Some(false));
}

#[test]
fn the_product_says_where_the_observer_is() {
    let sender = brp_sender(true);
    let (observer, violate) = no_silence(&sender);
    let watched = watch(&sender, &observer, &violate, QuiescencePolicy::Strict).unwrap();
    let names: Vec<&str> = watched
        .marked
        .iter()
        .map(|l| &*watched.model.location(*l).name)
        .collect();
    expect![[r#"
        [
            "Wait_Ack.Violate",
            "Send_Complete.Violate",
            "Send_File.Violate",
            "Wait_Timeout2.Violate",
        ]
    "#]]
    .assert_debug_eq(&names);
}
