//! Two routes, one answer: the symbolic tester and the ioco tester of the unfolded system judge the
//! same observations alike, on random models with finite data. Where the symbolic one says `unknown`,
//! it must be for the one reason that is known.

use std::sync::Arc;

use iolite_derive::{IocoTester, Observation, Progress, SymbolicTester, Tester, Verdict};
use iolite_expr::{Solver, Strategy as Values, Value};
use iolite_lts::{LabelId, LabelKind, QuiescencePolicy};
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
        let lts = iosts
            .unfold(&mut Solver::embedded(), UnfoldBudget::default())
            .expect("finite data unfold");
        let policy = QuiescencePolicy::Livelock;
        let semantics = Symbolic::new(iosts.clone(), &[], policy, Solver::embedded())
            .expect("no constants are given");
        let mut symbolic =
            SymbolicTester::new(semantics, 1, Values::Mixed).expect("there are initial states");
        let labels = lts.labels().clone();
        let mut explicit = IocoTester::new(lts, policy);
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
            let label = labels
                .get(sort, &iosts.label(&valued))
                .unwrap_or(LabelId::new(labels.len()));
            // A label that the unfolded system does not have is one that it never shows.
            let known = label.index() < labels.len();
            let (left, right) = match kind {
                0 if known => (symbolic.stimulate(&valued), explicit.stimulate(&label)),
                1 if known => (
                    symbolic.observe(&Observation::Output(valued)),
                    explicit.observe(&Observation::Output(label)),
                ),
                2 => (
                    symbolic.observe(&Observation::Quiescence),
                    explicit.observe(&Observation::Quiescence),
                ),
                _ => continue,
            };
            if left == Progress::Ended(Verdict::Unknown) {
                // The one thing that is left undecided: a livelock that depends on an open constant,
                // and what follows from states that only it leads to.
                let doubt = symbolic.doubt().map(|d| d.reason.to_string());
                let reason = doubt.unwrap_or_default();
                let known = ["cycle of internal actions", "only undecided states"];
                let loops = rows.iter().any(|row| row.1 % 5 == 4);
                prop_assert!(loops && known.iter().any(|k| reason.contains(k)), "{reason}\n{text}");
                return Ok(());
            }
            prop_assert_eq!(left, right, "{}", text);
            if left != Progress::Continue {
                break;
            }
        }
        prop_assert_eq!(symbolic.verdict(), explicit.verdict());
    }
}
