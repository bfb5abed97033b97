//! Properties of models with data: states and formulas take turns, and agree.

mod common;

use std::path::Path;

use common::Random;
use iolite::{ModelRef, Proof, ReadOptions, VerificationOptions, VerifiedProperty, Workspace};

const FILE: &str = "m.iol";

fn verify(text: &str, property: &str, max_states: Option<usize>) -> VerifiedProperty {
    let workspace = Workspace::with_options(ReadOptions {
        max_states,
        ..ReadOptions::default()
    });
    workspace.insert(Path::new(FILE), text);
    let options = VerificationOptions {
        properties: vec![ModelRef::from(property)],
        ..VerificationOptions::default()
    };
    let model = ModelRef::from(format!("{FILE}#S").as_str());
    let found = workspace.verify(&model, &options);
    let mut found = found.unwrap_or_else(|e| panic!("{property}: {}\n{text}", e.message()));
    found.properties.remove(0)
}

fn decided(property: &VerifiedProperty) -> Option<bool> {
    match property.proof {
        Proof::Proved { .. } => Some(true),
        Proof::Refuted { .. } => Some(false),
        Proof::Unknown { .. } => None,
    }
}

const COUNTER: &str = "system S {
  var n: int = 0
  input up, ask
  output value(v: int)
  initial state Idle { ?up / n := n + 1 -> Idle  ?ask -> Busy }
  state Busy { !value(v) [v == n] -> Idle }
}
property Pos for S = ltl G !(!value(v) [v < 0])
property Small for S = ltl G !(!value(v) [v > 2])
";

#[test]
fn formulas_answer_for_infinite_models() {
    let bound = Some(30_000);
    let positive = verify(COUNTER, "m.iol#Pos", bound);
    assert_eq!(decided(&positive), Some(true), "{positive:?}");
    assert!(positive.data.is_some(), "by an invariant");
    let small = verify(COUNTER, "m.iol#Small", bound);
    let Proof::Refuted { trace, .. } = &small.proof else {
        panic!("{small:?}")
    };
    assert_eq!(trace.join(" "), "?up ?up ?up ?ask !value(3)");
    // An input violates it, and the model has no such trace.
    let answered = verify(COUNTER, "ltl:G(?ask -> X !value)", bound);
    assert_eq!(decided(&answered), Some(true), "{answered:?}");
    let never = verify(COUNTER, "ltl:G(! ?ask)", bound);
    assert_eq!(decided(&never), Some(false), "{never:?}");
    // Not safety, and too many states: honestly unknown.
    let response = verify(COUNTER, "ltl:G(?ask -> F !value)", bound);
    let Proof::Unknown { left } = &response.proof else {
        panic!("{response:?}")
    };
    assert!(left.join(" ").contains("response"), "{left:?}");
    assert!(left.join(" ").contains("30000 states"), "{left:?}");
}

/// A small machine with one variable; not all inputs are taken everywhere.
fn model(random: &mut Random) -> String {
    let mut one = |of: &[&'static str]| random.pick(of);
    let guard = one(&["k < 2", "k != n", "k <= n", "true", "k + n < 4"]);
    let effect = one(&["n := k", "n := min(n + k, 3)", "n := 3 - n"]);
    let shown = one(&["v == n", "v == 3 - n", "v >= n", "n > 1 && v == n"]);
    let other = one(&[
        "?b -> Idle",
        "?b [n > 1] -> Busy",
        "?b -> Busy",
        "step -> Done",
    ]);
    let back = one(&["Idle", "Idle", "Done"]);
    let done = one(&["!y -> Idle", "!y [n < 2] -> Idle", "?b -> Idle"]);
    format!(
        "system S {{\n  var n: 0..3 = 0\n  input a(k: 0..2), b\n  output x(v: 0..3), y\n  internal step\n  \
         initial state Idle {{\n    ?a(k) [{guard}] / {effect} -> Busy\n    {other}\n  }}\n  \
         state Busy {{ !x(v) [{shown}] -> {back} }}\n  state Done {{ {done} }}\n}}\n"
    )
}

#[test]
fn states_and_formulas_agree() {
    let mut random = Random(7);
    let properties = [
        "ltl:G(?a -> X !x)",
        "ltl:G(?b -> X !x)",
        "ltl:G(!x -> X(! !x))",
        "ltl:(! !y) W ?a",
        "ltl:G(! !y)",
        "ltl:G(?b -> X(! delta))",
        "ltl:G(! delta)",
    ];
    let (mut proved, mut refuted, mut open) = (0, 0, 0);
    for _ in 0..25 {
        let text = model(&mut random);
        for property in properties {
            let states = verify(&text, property, None);
            let formulas = verify(&text, property, Some(1));
            let (Some(expected), found) = (decided(&states), decided(&formulas)) else {
                continue;
            };
            match found {
                None => open += 1,
                Some(said) => {
                    assert_eq!(
                        said, expected,
                        "{property}\n{text}\n{states:?}\n{formulas:?}"
                    );
                    if said { proved += 1 } else { refuted += 1 }
                }
            }
        }
    }
    println!("{proved} proved, {refuted} refuted, {open} open");
    assert!(proved > 20 && refuted > 20, "{proved}, {refuted}, {open}");
    assert!(open * 4 < proved + refuted, "{open} open");
}
