//! Terms over decimals are shown as people write them, and what is shown means what the term means.

use std::collections::BTreeMap;

use iolite_expr::{Int, Term, Value, VarId};
use iolite_lang::{lower_data, parse};
use proptest::prelude::*;

/// The guard of the one input of a system, and its parameters.
fn lowered(guard: &str) -> (Term, Vec<(VarId, u8)>) {
    let text = format!(
        "system S {{
           input a(d: decimal(2), e: decimal(1), f: decimal(3), n: int)
           initial state I {{ ?a(d, e, f, n) [{guard}] -> I }}
         }}"
    );
    let (file, problems) = parse(&text);
    assert!(problems.is_empty(), "{guard}: {problems:?}");
    let model = lower_data(&file, "S").unwrap_or_else(|d| panic!("{guard}: {d:?}"));
    let (_, t) = model.transitions().next().expect("a transition");
    let params = model.gate(t.action).params.iter();
    let params = params.zip([2, 1, 3, 0]).map(|(p, places)| (p.id, places));
    (t.guard.clone(), params.collect())
}

#[test]
fn decimals_are_shown_as_decimals() {
    for (guard, shown) in [
        ("d <= 12.5", "d <= 12.50"),
        ("0.05 < e", "0.05 < e"),
        ("d + e == 0.5", "d + e == 0.50"),
        ("-d >= f - 0.001", "-d >= f - 0.001"),
        ("3 * d != e", "3 * d != e"),
        ("n < d", "n < d"),
        ("(d - (e - 0.1)) * 2 == 0", "2 * d - 2 * e + 0.20 == 0.00"),
        ("round(d, 1) == e", ""),
        ("units(d) % 5 == 1", "units(d) % 5 == 1"),
        ("units(d) == n", "units(d) == n"),
        (
            "if d < 0 then e == 1 else f == 1",
            "if d < 0.00 then e == 1.0 else f == 1.000",
        ),
        ("max(d, e) == -0.07", ""),
    ] {
        let (term, _) = lowered(guard);
        if shown.is_empty() {
            lowered(&term.to_string());
        } else {
            assert_eq!(term.to_string(), shown, "{guard}");
        }
    }
}

/// Sums, differences, products with integers, quotients and choices of decimals.
fn amount() -> impl proptest::strategy::Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("d".to_owned()),
        Just("e".to_owned()),
        Just("f".to_owned()),
        Just("n".to_owned()),
        (-300i32..300).prop_map(|n| format!(
            "({}{}.{:02})",
            if n < 0 { "-" } else { "" },
            n.abs() / 100,
            n.abs() % 100
        )),
        (-9i32..9).prop_map(|n| format!("({n})")),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} + {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} - {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} * {b})")),
            (inner.clone(), -4i32..20).prop_map(|(a, k)| format!("({k} * {a})")),
            inner.clone().prop_map(|a| format!("(-{a})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("(if d < {a} then {b} else {a})")),
        ]
    })
}

proptest! {
    /// What is shown of a guard, as it stands and simplified, is read back as a guard that holds for the same
    /// values.
    #[test]
    fn what_is_shown_means_the_same(
        left in amount(),
        right in amount(),
        sign in prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]),
        values in prop::collection::vec(prop::array::uniform4(-400i64..400), 12),
    ) {
        let (term, params) = lowered(&format!("{left} {sign} {right}"));
        let shown = [term.to_string(), term.simplify().to_string()];
        for shown in shown {
            let (again, _) = lowered(&shown);
            for row in &values {
                let env: BTreeMap<VarId, Value> = params
                    .iter()
                    .zip(row)
                    .map(|(&(id, places), &n)| {
                        let n = Int::from(n);
                        (id, if places == 0 { Value::Int(n) } else { Value::Decimal(n, places) })
                    })
                    .collect();
                prop_assert_eq!(
                    term.eval_bool(&env), again.eval_bool(&env),
                    "{} {} {}, shown as {}", &left, sign, &right, &shown
                );
            }
        }
    }
}
