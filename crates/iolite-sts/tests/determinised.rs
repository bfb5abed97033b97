//! Determinisation, output completion, test cases and pruning [SYM04, §3.3, §4 and §5].
#![allow(missing_docs)]

mod support;

use std::collections::BTreeSet;

use expect_test::expect;
use iolite_expr::{Answer, Solver, Sort, Span, Term, Value};
use iolite_lts::{Determinised, LabelId, Lts, QuiescencePolicy, Suspension};
use iolite_sts::analysis::{VerifyBudget, satisfies, verify};
use iolite_sts::{
    Builder, DeterminiseError, Iosts, LabelKind, LocationId, State, SymbolicTest, UnfoldBudget,
};
use support::{brp_sender, no_silence, random_model};

const HERE: Span = Span { start: 0, end: 1 };

/// Def. 8, by the solver: no internal action, and guards that exclude one another.
fn is_deterministic(model: &Iosts) -> bool {
    let mut solver = Solver::embedded();
    model.gates().all(|(_, g)| g.kind != LabelKind::Internal)
        && model.locations().all(|(l, _)| {
            let out = model.outgoing(l);
            out.iter().enumerate().all(|(i, t)| {
                let t = model.transition(*t);
                out[..i].iter().map(|u| model.transition(*u)).all(|u| {
                    let both = Term::all([t.guard.clone(), u.guard.clone()]);
                    u.action != t.action || solver.check_with(&both) == Answer::Unsat
                })
            })
        })
}

/// Whether two explicit systems have the same traces.
fn same_traces(a: &Lts, b: &Lts) -> bool {
    let (mut left, mut right) = (Determinised::new(a), Determinised::new(b));
    let start = (left.initial(), right.initial());
    let mut seen = BTreeSet::from([start]);
    let mut open = vec![start];
    let names: BTreeSet<(LabelKind, String)> = [a, b]
        .iter()
        .flat_map(|lts| lts.labels().iter())
        .filter(|(_, l)| matches!(l.kind, LabelKind::Input | LabelKind::Output))
        .map(|(_, l)| (l.kind, l.name.to_string()))
        .collect();
    while let Some((x, y)) = open.pop() {
        for (kind, name) in &names {
            let l = a.labels().get(*kind, name).and_then(|l| left.after(x, l));
            let r = b.labels().get(*kind, name).and_then(|l| right.after(y, l));
            match (l, r) {
                (None, None) => {}
                (Some(l), Some(r)) => {
                    if seen.insert((l, r)) {
                        open.push((l, r));
                    }
                }
                _ => return false,
            }
        }
    }
    true
}

#[test]
fn random_models_keep_their_traces() {
    let (mut compared, mut refused) = (0, 0);
    let unfold = |m: &Iosts| {
        let budget = UnfoldBudget {
            states: 20_000,
            values: 50,
        };
        m.unfold(&mut Solver::embedded(), budget)
    };
    for seed in 0..150 {
        let model = random_model(seed);
        let Ok(deterministic) = model.determinised(&mut Solver::embedded(), 60) else {
            refused += 1;
            continue;
        };
        assert!(
            is_deterministic(&deterministic),
            "seed {seed}:\n{deterministic}"
        );
        let (a, b) = (unfold(&model).unwrap(), unfold(&deterministic).unwrap());
        assert!(
            same_traces(&a, &b),
            "seed {seed}:\n{model}\n{deterministic}"
        );
        compared += 1;
    }
    println!("{compared} compared, {refused} refused");
    assert!(compared > 30, "{compared} compared, {refused} refused");
}

#[test]
fn the_sender_is_deterministic_without_its_internal_actions() {
    // det(Sender^δ) [fig. 3].
    let sender = brp_sender(true).quiescent();
    let deterministic = sender.determinised(&mut Solver::embedded(), 100).unwrap();
    assert!(is_deterministic(&deterministic));
    expect![[r"
        Sender
          const max: int
          const f: int[]
          assume max >= 1
          var rn: int = 0
          var head: int = 0
          var last: int = 0
          var bit: bool = true
          initial Wait_Req
            ?REQ(l) [l > head] / last := l -> Send_File
            delta -> Wait_Req
          Send_File
            !MSG(pMsg, pBit) [pMsg == f[head] && pBit == bit] / rn := rn + 1 -> Wait_Ack
          Wait_Ack
            ?ACK [head <= last - 2] / rn := 0, head := head + 1, bit := !bit -> Send_File
            ?ACK [head == last - 1] / rn := 0, head := head + 1, bit := !bit -> Send_Complete
            !MSG(pMsg, pBit) [(rn >= max || head >= 0 && head < len(f)) && rn < max && bit == pBit && pMsg == f[head]] / rn := rn + 1 -> Wait_Ack
            !OK [rn == max && head == last] / rn := 0, head := 0 -> Wait_Req
            !NOT_OK [rn == max && head <= last - 2] / rn := 0, head := 0 -> Wait_Req
            !DONT_KNOW [rn == max && head == last - 1] / rn := 0, head := 0 -> Wait_Req
            delta [rn > max] -> Wait_Ack
            delta [rn == max && head > last] -> Send_Complete
          Send_Complete
            !OK [head == last] / rn := 0, head := 0 -> Wait_Req
            !NOT_OK [head + 1 < last] / rn := 0, head := 0 -> Wait_Req
            !DONT_KNOW [head + 1 == last] / rn := 0, head := 0 -> Wait_Req
            delta [head > last] -> Send_Complete
    "]]
    .assert_eq(&deterministic.to_string());
}

/// `?a(p)` goes two ways, and only what follows tells which: the choice and the parameter are kept.
fn forked() -> Iosts {
    let mut b = Builder::new("Forked");
    let x = b.variable("x", Sort::Int, Some(0.into()), HERE).unwrap();
    let a = b
        .gate(LabelKind::Input, "a", &[("p", Sort::Int)], HERE)
        .unwrap();
    let u = b
        .gate(LabelKind::Output, "u", &[("q", Sort::Int)], HERE)
        .unwrap();
    let v = b
        .gate(LabelKind::Output, "v", &[("q", Sort::Int)], HERE)
        .unwrap();
    let [l0, l1, l2] = ["L0", "L1", "L2"].map(|n| b.location(n, n == "L0", HERE).unwrap());
    let p = b.params(a)[0].term();
    let q = b.params(u)[0].term();
    let more = p.plus(&x).unwrap();
    let less = x.term().minus(&p).unwrap();
    let mut t = |from, gate, guard: Option<Term>, assign, to| {
        b.transition(from, gate, guard, assign, to, HERE).unwrap();
    };
    t(l0, a, Some(p.gt(0).unwrap()), vec![(x.clone(), more)], l1);
    t(l0, a, Some(p.lt(9).unwrap()), vec![(x.clone(), less)], l2);
    t(l1, u, Some(q.equals(&x).unwrap()), vec![], l0);
    t(l2, v, Some(q.equals(&x).unwrap()), vec![], l0);
    b.build().unwrap()
}

#[test]
fn choices_are_postponed() {
    let deterministic = forked().determinised(&mut Solver::embedded(), 50).unwrap();
    assert!(is_deterministic(&deterministic));
    expect![[r"
        Forked
          var x: int = 0
          var kept0: int = 0
          initial L0
            ?a(p) [p >= 9] / x := p + x -> L1
            ?a(p) [p <= 0] / x := x - p -> L2
            ?a(p) [p >= 1 && p <= 8] / kept0 := p -> L1|L2
          L1
            !u(q) [q == x] -> L0
          L2
            !v(q) [q == x] -> L0
          L1|L2
            !u(q) [q == x + kept0] / x := x + kept0 -> L0
            !v(q) [q == x - kept0] / x := x - kept0 -> L0
    "]]
    .assert_eq(&deterministic.to_string());
}

#[test]
fn postponing_for_ever_is_given_up() {
    let mut b = Builder::new("Forever");
    let x = b.variable("x", Sort::Int, Some(0.into()), HERE).unwrap();
    let a = b.gate(LabelKind::Input, "a", &[], HERE).unwrap();
    let l = b.location("L", true, HERE).unwrap();
    for n in [1, 2] {
        let more = vec![(x.clone(), x.term().plus(n).unwrap())];
        b.transition(l, a, None, more, l, HERE).unwrap();
    }
    let found = b.build().unwrap().determinised(&mut Solver::embedded(), 40);
    assert!(
        matches!(
            found,
            Err(DeterminiseError::TooMany(_) | DeterminiseError::Unsettled { .. })
        ),
        "{found:?}"
    );
}

#[test]
fn completion_allows_every_output() {
    let (complete, fail) = forked().output_completed();
    assert!(complete.outgoing(fail).is_empty());
    for (l, _) in complete.locations().filter(|(l, _)| *l != fail) {
        for (id, gate) in complete
            .gates()
            .filter(|(_, g)| g.kind == LabelKind::Output)
        {
            for (x, q) in [(0, 0), (0, 1), (5, 5)] {
                let state = State {
                    location: l,
                    values: [Value::from(x)].into(),
                };
                let fires = |t: &&iolite_sts::TransitionId| {
                    complete.transition(**t).action == id
                        && complete
                            .fire(&state, &[], **t, &[Value::from(q)])
                            .unwrap()
                            .is_some()
                };
                assert_eq!(
                    complete.outgoing(l).iter().filter(fires).count(),
                    1,
                    "{gate}"
                );
            }
        }
    }
}

/// Where the test case is after these valued actions; it is deterministic.
fn after(model: &Iosts, constants: &[Value], trace: &[(&str, Vec<Value>)]) -> LocationId {
    let data = model.variables().iter().map(|v| {
        let initial = v.initial.as_ref().unwrap();
        initial.as_value().unwrap().clone()
    });
    let mut state = State {
        location: model.initial(),
        values: data.collect::<Vec<_>>().into(),
    };
    for (name, values) in trace {
        let next = model.outgoing(state.location).iter().find_map(|t| {
            let gate = model.gate(model.transition(*t).action);
            let next = (&*gate.name == *name).then(|| model.fire(&state, constants, *t, values));
            next?.unwrap()
        });
        state = next.unwrap_or_else(|| panic!("{name} is not possible"));
    }
    state.location
}

#[test]
fn the_test_case_of_the_sender() {
    let sender = brp_sender(true);
    let (observer, violate) = no_silence(&sender);
    let mut solver = Solver::embedded();
    let test = SymbolicTest::new(&sender, &observer, &violate, &mut solver, 200).unwrap();
    let max = Value::from(2);
    let f = Value::array(vec![Value::from(7)]);
    let constants = [max, f];
    let msg = |m: i64, b: bool| ("MSG", vec![Value::from(m), Value::from(b)]);
    let req = ("REQ", vec![Value::from(1)]);
    // REQ · MSG · δ violates the property and conformance [SYM04, §4].
    let pruned = test.pruned(&mut solver, 20_000);
    for t in [&test, &pruned] {
        let end = after(
            &t.model,
            &constants,
            &[req.clone(), msg(7, true), ("delta", vec![])],
        );
        assert!(t.violate_fail.contains(&end));
        let end = after(&t.model, &constants, &[req.clone(), msg(8, true)]);
        assert!(t.fail.contains(&end) || t.inconc.contains(&end));
        let end = after(
            &t.model,
            &constants,
            &[req.clone(), msg(7, true), msg(7, true)],
        );
        assert!(!t.fail.contains(&end) && !t.violate_fail.contains(&end));
    }
    // A failure that is no violation cannot lead to ViolateFail any more.
    let end = after(&pruned.model, &constants, &[req, msg(8, true)]);
    assert!(pruned.fail.contains(&end));
    let names = |list: &[LocationId]| {
        let name = |l: &LocationId| test.model.location(*l).name.to_string();
        list.iter().map(name).collect::<Vec<_>>()
    };
    expect![[r#"
        (
            [
                "Fail.Idle",
                "Fail.Busy",
            ],
            [
                "Fail.Violate",
            ],
            [
                "Wait_Ack.Violate",
                "Send_Complete.Violate",
            ],
        )
    "#]]
    .assert_debug_eq(&(
        names(&test.fail),
        names(&test.violate_fail),
        names(&test.violate),
    ));
    // The sender satisfies the property, so there is no such verdict in effect [§4].
    let budget = VerifyBudget::default();
    let answer = verify(&test.model, &test.violate, &mut solver, budget);
    assert_eq!(answer.decided(), Some(true), "{answer:?}");
    let answer = verify(&test.model, &test.violate_fail, &mut solver, budget);
    assert_eq!(answer.decided(), Some(false), "{answer:?}");
    // Mirrored: the tester gives REQ and sees MSG.
    assert!(pruned.model.find_gate(LabelKind::Output, "REQ").is_some());
    assert!(pruned.model.find_gate(LabelKind::Input, "MSG").is_some());
}

/// I ioco S as def. 11 writes it, on the unfolded systems: no common suspension trace is followed by
/// an output, or δ, of I that S does not have there.
fn conforms(implementation: &Lts, specification: &Lts) -> bool {
    let policy = QuiescencePolicy::Strict;
    let mut left = Determinised::new(Suspension::new(implementation, policy));
    let mut right = Determinised::new(Suspension::new(specification, policy));
    let (a, b) = (implementation.labels(), specification.labels());
    let start = (left.initial(), right.initial());
    let mut seen = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some((x, y)) = open.pop() {
        for (id, l) in a.iter().filter(|(_, l)| l.kind != LabelKind::Internal) {
            let Some(next) = left.after(x, id) else {
                continue;
            };
            let twin = if id == LabelId::DELTA {
                Some(LabelId::DELTA)
            } else {
                b.get(l.kind, &l.name)
            };
            match twin.and_then(|twin| right.after(y, twin)) {
                Some(other) => {
                    if seen.insert((next, other)) {
                        open.push((next, other));
                    }
                }
                None if l.kind == LabelKind::Input => {}
                None => return false,
            }
        }
    }
    true
}

/// Lemma 4: I ioco S iff I^δ satisfies the observer (Σ!(det(S^δ)), Fail).
#[test]
fn the_canonical_tester_decides_conformance() {
    let (mut yes, mut no, mut unknown) = (0, 0, 0);
    let known = |seed: u64| {
        let model = random_model(seed);
        let fixed = model.variables().iter().all(|v| v.initial.is_some());
        let usable = fixed && model.internal_cycle().is_none();
        usable.then(|| model.instance("M", &[("c", Value::from(2))]).unwrap())
    };
    let unfold = |m: &Iosts| {
        let budget = UnfoldBudget {
            states: 20_000,
            values: 50,
        };
        m.unfold(&mut Solver::embedded(), budget).unwrap()
    };
    for seed in 0..400 {
        let (Some(i), Some(s)) = (known(seed / 2), known(seed)) else {
            continue;
        };
        let mut solver = Solver::embedded();
        let Ok(tester) = s.quiescent().determinised(&mut solver, 40) else {
            continue;
        };
        let (tester, fail) = tester.output_completed();
        let expected = conforms(&unfold(&i), &unfold(&s));
        let budget = VerifyBudget {
            steps: 60_000,
            ..VerifyBudget::default()
        };
        let policy = QuiescencePolicy::Strict;
        let (_, answer) = satisfies(&i, &tester, &[fail], policy, &mut solver, budget).unwrap();
        match answer.decided() {
            None => unknown += 1,
            Some(said) => {
                assert_eq!(
                    said, expected,
                    "seed {seed}:\n{i}\n{s}\n{tester}\n{answer:?}"
                );
                if said { yes += 1 } else { no += 1 }
            }
        }
    }
    println!("{yes} conform, {no} do not, {unknown} unknown");
    assert!(yes > 3 && no > 3 && unknown == 0, "{yes}, {no}, {unknown}");
}
