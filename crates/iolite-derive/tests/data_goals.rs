//! Observers with data on the fly, against the definitions by enumeration of values.

use std::sync::Arc;

use iolite_derive::{
    Alphabet, DataGoal, GoalMarks, GoalTester, Progress, Step, SymbolicOracle, Tester, Verdict,
    action_of,
};
use iolite_expr::{Solver, Strategy as Drawing, Value};
use iolite_lang::{lower_data, lower_data_observer, parse_and_check};
use iolite_lts::QuiescencePolicy;
use iolite_sts::{
    HasTrace, Iosts, LabelKind, LocationId, State, Symbolic, TraceStep, ValuedAction,
};
use proptest::prelude::*;

/// Conditions over `x`, `k` and the parameter `v`.
const GUARDS: [&str; 8] = [
    "v > x",
    "v == x",
    "v <= k",
    "x < 2",
    "v != k",
    "true",
    "x >= k",
    "v + x == 2",
];
const EFFECTS: [&str; 4] = ["x := v", "x := 0", "x := (x + v) % 3", "x := x"];
/// Conditions of the observer over its `n`, its `k` and the parameter `p`.
const WATCHED: [&str; 7] = [
    "p > n",
    "p == n",
    "n >= 2",
    "p > k",
    "n > k",
    "p + n == 3",
    "p == k && n > 0",
];

fn model(picks: &[usize], shared: bool) -> String {
    let g = |i: usize| GUARDS[picks[i] % GUARDS.len()];
    let e = |i: usize| EFFECTS[picks[i] % EFFECTS.len()];
    let w = |i: usize| WATCHED[picks[i] % WATCHED.len()];
    let k = if shared {
        "const k: 0..2"
    } else {
        "const k: 0..2 = 1"
    };
    format!(
        "system S {{
           {k}
           var x: int = 0
           input a(v: 0..2)
           output b(v: 0..2), c
           internal t
           initial state P {{
             ?a(v) / {e0} -> Q
             !b(v) [{g0}] / {e1} -> P
             t [x == 1] -> Q
           }}
           state Q {{
             ?a(v) / {e2} -> Q
             !b(v) [{g1}] / {e3} -> P
             !c [x < 2] -> P
           }}
         }}
         observer W for S {{
           {k}
           var n: 0..3 = 0
           initial state One {{
             ?a(p) [n < 3] / n := n + 1 -> Two
             !b(p) [{w0}] -> Bad
             delta [n >= 2] -> Bad
             * -> One
           }}
           state Two {{
             !b(p) [{w1}] -> One
             !c [n == 1] / n := 0 -> Two
             !b(p) [!({w1}) && p == 2] -> Bad
             * -> Two
           }}
           violate state Bad
         }}",
        e0 = e(0),
        e1 = e(1),
        e2 = e(2),
        e3 = e(3),
        g0 = g(4),
        g1 = g(5),
        w0 = w(6),
        w1 = w(7),
    )
}

/// A step of a trace by number: six inputs and outputs with values, `c`, δ.
fn step(model: &Iosts, number: i64) -> TraceStep {
    let action = |kind, name: &str, values| {
        let action = model.find_gate(kind, name).expect("declared");
        TraceStep::Action(ValuedAction { action, values })
    };
    match number % 8 {
        n @ 0..=2 => action(LabelKind::Input, "a", vec![Value::int(n)]),
        n @ 3..=5 => action(LabelKind::Output, "b", vec![Value::int(n - 3)]),
        6 => action(LabelKind::Output, "c", Vec::new()),
        _ => TraceStep::Delta,
    }
}

/// Where ω is after a trace of S^δ with these constants; `None` where a step has no transition.
fn run(observer: &Iosts, system: &Iosts, k: &[Value], trace: &[TraceStep]) -> Option<LocationId> {
    let n = Value::int(0);
    let mut at = State {
        location: observer.initial(),
        values: Arc::from([n].as_slice()),
    };
    for step in trace {
        let (gate, values) = match step {
            TraceStep::Delta => (observer.find_gate(LabelKind::Delta, "delta")?, Vec::new()),
            TraceStep::Action(a) => {
                let gate = system.gate(a.action);
                (observer.find_gate(gate.kind, &gate.name)?, a.values.clone())
            }
        };
        let next = observer.outgoing(at.location).iter().find_map(|&t| {
            let fits = observer.transition(t).action == gate;
            fits.then(|| observer.fire(&at, k, t, &values).expect("no faults"))?
        });
        at = next?;
    }
    Some(at.location)
}

/// The verdict by the definitions: each value of `k` is asked for itself.
fn expected(system: &Iosts, observer: &Iosts, bad: &[LocationId], trace: &[TraceStep]) -> Verdict {
    let instances: Vec<(Vec<Value>, Iosts)> = if system.constants().is_empty() {
        vec![(Vec::new(), system.clone())]
    } else {
        (0..=2)
            .map(|k| {
                let k = Value::int(k);
                let instance = system.instance("S", &[("k", k.clone())]).expect("a value");
                (vec![k], instance)
            })
            .collect()
    };
    let mut solver = Solver::embedded();
    let mut explains = |system: &Iosts, trace: &[TraceStep]| {
        let policy = QuiescencePolicy::Livelock;
        system.has_trace(trace, policy, &mut solver, 10_000) == HasTrace::Yes
    };
    for end in 1..=trace.len() {
        let after = &trace[..end];
        let violates =
            |k: &[Value]| run(observer, system, k, after).is_some_and(|l| bad.contains(&l));
        let now: Vec<&(Vec<Value>, Iosts)> = instances
            .iter()
            .filter(|(_, s)| explains(s, after))
            .collect();
        if now.is_empty() {
            let before: Vec<&(Vec<Value>, Iosts)> = instances
                .iter()
                .filter(|(_, s)| explains(s, &trace[..end - 1]))
                .collect();
            return if before.iter().all(|(k, _)| violates(k)) {
                Verdict::ViolateFail
            } else {
                Verdict::Fail
            };
        }
        let count = now.iter().filter(|(k, _)| violates(k)).count();
        if count == now.len() {
            return Verdict::Violate;
        }
        if count > 0 {
            return Verdict::Unknown;
        }
    }
    Verdict::Pass
}

fn judged(
    system: &Arc<Iosts>,
    observer: &Arc<Iosts>,
    bad: &[LocationId],
    trace: &[TraceStep],
) -> Verdict {
    let policy = QuiescencePolicy::Livelock;
    let semantics =
        Symbolic::new(system.clone(), &[], policy, Solver::embedded()).expect("a model");
    let alphabet = Alphabet::default();
    let oracle = SymbolicOracle::new(semantics, &alphabet, 0, Drawing::Small).expect("an oracle");
    let marks = GoalMarks::Violate(bad.to_vec());
    let goal = DataGoal::new(observer, marks, system, &[], &alphabet, Solver::embedded());
    let mut tester = GoalTester::new(oracle, vec![goal.expect("a goal")]);
    for step in trace {
        let step = match step {
            TraceStep::Delta => Step::Quiescence,
            TraceStep::Action(a) => {
                let id = action_of(system, &alphabet, a);
                match system.gate(a.action).kind {
                    LabelKind::Input => Step::Stimulus(id),
                    _ => Step::Output(id),
                }
            }
        };
        if let Progress::Ended(verdict) = tester.step(step) {
            return verdict;
        }
    }
    tester.verdict()
}

fn check(picks: &[usize], shared: bool, steps: &[i64]) -> Result<Verdict, TestCaseError> {
    let (file, found) = parse_and_check(&model(picks, shared));
    prop_assert!(!iolite_lang::diagnostic::has_errors(&found), "{found:?}");
    let system = Arc::new(lower_data(&file, "S").expect("a system"));
    let lowered = lower_data_observer(&file, "W", &system).expect("an observer");
    let trace: Vec<TraceStep> = steps.iter().map(|n| step(&system, *n)).collect();
    let right = expected(&system, &lowered.iosts, &lowered.violate, &trace);
    let observer = Arc::new(lowered.iosts);
    let got = judged(&system, &observer, &lowered.violate, &trace);
    prop_assert_eq!(got, right, "{}\n{:?}", model(picks, shared), trace);
    Ok(got)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    /// Verdicts over sets of symbolic states are those of the definitions, value by value.
    #[test]
    fn verdicts_are_those_of_each_value(
        picks in prop::collection::vec(0usize..56, 8),
        shared in any::<bool>(),
        steps in prop::collection::vec(0i64..8, 1..6),
    ) {
        check(&picks, shared, &steps)?;
    }
}

/// The random test meets every verdict that there is.
#[test]
fn every_verdict_is_met() {
    let mut met = std::collections::BTreeMap::new();
    for i in 0..400u32 {
        let pick = |j: u32| (i / (j + 1) + 3 * j + i % 5) as usize;
        let picks: Vec<usize> = (0..8).map(pick).collect();
        let step = |j: u32| i64::from((i * 7 + j * j * 3 + i / (j + 2)) % 8);
        let steps: Vec<i64> = (0..5).map(step).collect();
        let verdict = check(&picks, i % 2 == 0, &steps).expect("the same verdict");
        *met.entry(verdict).or_insert(0) += 1;
    }
    for verdict in [
        Verdict::Pass,
        Verdict::Fail,
        Verdict::Violate,
        Verdict::ViolateFail,
        Verdict::Unknown,
    ] {
        assert!(met.contains_key(&verdict), "{verdict} is not among {met:?}");
    }
}
