//! Small systems with an unknown constant, an observer and a purpose, and their actions.
#![allow(dead_code, unreachable_pub)]

use iolite_derive::{Alphabet, Step, action_of};
use iolite_expr::Value;
use iolite_sts::{Iosts, LabelKind, ValuedAction};

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
const INPUTS: [&str; 4] = ["v >= x", "v < 2", "true", "v != k || x == 0"];
const EFFECTS: [&str; 4] = ["x := v", "x := 0", "x := (x + v) % 3", "x := x"];
const WATCHED: [&str; 7] = [
    "p > n",
    "p == n",
    "n >= 2",
    "p > k",
    "n > k",
    "p + n == 3",
    "p == k && n > 0",
];

/// A system, an observer that stops under some observations, and a purpose.
pub fn text(picks: &[usize]) -> String {
    let g = |i: usize| GUARDS[picks[i] % GUARDS.len()];
    let u = |i: usize| INPUTS[picks[i] % INPUTS.len()];
    let e = |i: usize| EFFECTS[picks[i] % EFFECTS.len()];
    let w = |i: usize| WATCHED[picks[i] % WATCHED.len()];
    let (one, two) = match picks[8] % 3 {
        0 => ("* -> One", "* -> Two"),
        1 => ("* -> One", ""),
        _ => ("?a(p) [n == 3] -> One", "* -> Two"),
    };
    format!(
        "system S {{
           const k: 0..2
           var x: 0..2 = 0
           input a(v: 0..2)
           output b(v: 0..2), c
           internal t
           initial state P {{
             ?a(v) [{u0}] / {e0} -> Q
             !b(v) [{g0}] / {e1} -> P
             t [x == 1] -> Q
           }}
           state Q {{
             ?a(v) [{u1}] / {e2} -> Q
             !b(v) [{g1}] / {e3} -> P
             !c [x < 2] -> P
           }}
         }}
         observer W for S {{
           const k: 0..2
           var n: 0..3 = 0
           initial state One {{
             ?a(p) [n < 3] / n := n + 1 -> Two
             !b(p) [{w0}] -> Bad
             delta [n >= 2] -> Bad
             {one}
           }}
           state Two {{
             !b(p) [{w1}] -> One
             !c [n == 1] / n := 0 -> Two
             !b(p) [!({w1}) && p == 2] -> Bad
             {two}
           }}
           violate state Bad
         }}
         purpose G for S {{
           const k: 0..2
           var n: 0..3 = 0
           initial state One {{
             ?a(p) [n < 3] / n := n + 1 -> Two
             !c [n > 1] -> Lost
           }}
           state Two {{
             !b(p) [{w1}] -> Got
             !c [n == 2] -> Got
             delta -> One
           }}
           accept state Got
           refuse state Lost
         }}",
        u0 = u(0),
        u1 = u(2),
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

/// The actions of S, and δ, by name and values.
pub fn actions() -> Vec<(LabelKind, &'static str, Vec<Value>)> {
    let of = |kind, name| (0..3).map(move |v| (kind, name, vec![Value::int(v)]));
    of(LabelKind::Input, "a")
        .chain(of(LabelKind::Output, "b"))
        .chain([
            (LabelKind::Output, "c", Vec::new()),
            (LabelKind::Delta, "delta", Vec::new()),
        ])
        .collect()
}

/// What the system of this number is made of.
pub fn picks(number: usize) -> Vec<usize> {
    (0..9)
        .map(|j| number * (j + 3) / 2 + 5 * j + number / (j + 1))
        .collect()
}

/// An action of S by its number.
pub fn step(system: &Iosts, alphabet: &Alphabet, action: usize) -> Step {
    let (kind, name, values) = actions().swap_remove(action);
    let Some(gate) = system.find_gate(kind, name) else {
        return Step::Quiescence;
    };
    let action = ValuedAction {
        action: gate,
        values,
    };
    let id = action_of(system, alphabet, &action);
    match kind {
        LabelKind::Input => Step::Stimulus(id),
        _ => Step::Output(id),
    }
}
