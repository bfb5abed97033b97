//! Two routes, one answer: the symbolic tester and the ioco testers of the systems unfolded with each
//! value of the constant judge the same observations alike, on random models with finite data.

use std::sync::Arc;

use iolite_derive::{IocoTester, Observation, Progress, SymbolicTester, Tester, Verdict};
use iolite_expr::{Solver, Strategy as Values, Value};
use iolite_lts::{LabelId, LabelKind, Lts, QuiescencePolicy};
use iolite_sts::{Symbolic, UnfoldBudget, ValuedAction};
use proptest::prelude::*;

/// A random model: three states, a constant that is left open, a variable, nondeterminism and
/// internal steps. Guards and effects are drawn from small pools.
fn model(rows: &[(u8, u8, u8, u8, u8)]) -> String {
    let guards = ["true", "v < 2", "v == c", "v != 0 || c == 1", "v + c == 2"];
    let input_guards = ["true", "x < 2", "x == v", "x + c < 3", "x != c"];
    let output_guards = ["y == v", "y == c", "y < v", "y >= v", "y == (v + c) % 3"];
    let effects = ["", " / v := c", " / v := (v + 1) % 3", " / v := 0"];
    let mut text = "system M { const c: 0..2  var v: 0..2 = 0\n  input a(x: 0..2)  \
                    output z(y: 0..2)  internal t\n"
        .to_owned();
    for state in 0..3 {
        let mark = if state == 0 { "initial " } else { "" };
        text += &format!("  {mark}state S{state} {{\n");
        for (from, kind, guard, effect, to) in rows {
            if from % 3 != state {
                continue;
            }
            let pick = |pool: &[&'static str]| pool[usize::from(*guard) % pool.len()];
            let event = match kind % 5 {
                0 | 1 => format!("?a(x) [{}]", pick(&input_guards)),
                2 | 3 => format!("!z(y) [{}]", pick(&output_guards)),
                _ => format!("t [{}]", pick(&guards)),
            };
            let effect = effects[usize::from(*effect) % effects.len()];
            text += &format!("    {event}{effect} -> S{}\n", to % 3);
        }
        text += "  }\n";
    }
    text + "}\n"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn symbolic_and_unfolded_testers_give_the_same_verdict(
        rows in prop::collection::vec(any::<(u8, u8, u8, u8, u8)>(), 1..8),
        steps in prop::collection::vec((0u8..3, 0i64..3), 1..12),
    ) {
        let text = model(&rows);
        let (file, found) = iolite_lang::parse_and_check(&text);
        prop_assert!(found.iter().all(|d| !d.is_error()), "{text}\n{found:?}");
        let iosts = Arc::new(iolite_lang::lower_data(&file, "M").expect("it lowers"));
        let policy = QuiescencePolicy::Livelock;
        let semantics = Symbolic::new(iosts.clone(), &[], policy, Solver::embedded())
            .expect("no constants are given");
        let mut symbolic =
            SymbolicTester::new(semantics, 1, Values::Mixed).expect("there are initial states");
        let mut explicit: Vec<IocoTester<Lts>> = (0..=2i64)
            .map(|c| {
                let instance = iosts.instance("I", &[("c", Value::from(c))]);
                let instance = instance.expect("no assumption speaks against it");
                let lts = instance.unfold(&mut Solver::embedded(), UnfoldBudget::default());
                IocoTester::new(lts.expect("finite data unfold"), policy)
            })
            .collect();
        for (kind, value) in steps {
            let (sort, name) = if kind == 0 {
                (LabelKind::Input, "a")
            } else {
                (LabelKind::Output, "z")
            };
            let valued = ValuedAction {
                action: iosts.find_action(sort, name).expect("declared"),
                values: vec![Value::from(value)],
            };
            let (left, right) = match kind {
                0 => {
                    let right = together(&mut explicit, |tester| {
                        let label = label(tester, sort, &iosts.label(&valued));
                        tester.stimulate(&label)
                    });
                    (symbolic.stimulate(&valued), right)
                }
                1 => {
                    let right = together(&mut explicit, |tester| {
                        let label = label(tester, sort, &iosts.label(&valued));
                        tester.observe(&Observation::Output(label))
                    });
                    (symbolic.observe(&Observation::Output(valued)), right)
                }
                _ => (
                    symbolic.observe(&Observation::Quiescence),
                    together(&mut explicit, |tester| {
                        tester.observe(&Observation::Quiescence)
                    }),
                ),
            };
            prop_assert_eq!(left, right, "{}", text);
            if left != Progress::Continue {
                return Ok(());
            }
        }
        prop_assert_eq!(symbolic.verdict(), Verdict::Pass);
    }
}

/// The best that some value of the constant makes of a run: one that goes on, one that leaves an
/// input unspecified, else a fail.
fn together(
    testers: &mut [IocoTester<Lts>],
    mut step: impl FnMut(&mut IocoTester<Lts>) -> Progress,
) -> Progress {
    let all: Vec<Progress> = testers.iter_mut().map(&mut step).collect();
    let best = [
        Progress::Continue,
        Progress::Ended(Verdict::Inconc),
        Progress::Ended(Verdict::Fail),
    ];
    let found = best.into_iter().find(|p| all.contains(p));
    found.expect("nothing else is said")
}

/// A label that an unfolded system does not have is one that it never shows.
fn label(tester: &IocoTester<Lts>, kind: LabelKind, text: &str) -> LabelId {
    let labels = tester.labels();
    labels.get(kind, text).unwrap_or(LabelId::new(labels.len()))
}
