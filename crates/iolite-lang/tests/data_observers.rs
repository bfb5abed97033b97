//! Observers and purposes with data over the gates of a system [SYM04, def. 5, 8 and 9].
#![allow(missing_docs)]

use expect_test::{Expect, expect};
use iolite_expr::Value;
use iolite_lang::{
    Diagnostic, File, diagnostic, lower_data, lower_data_observer, lower_data_purpose,
    parse_and_check,
};
use iolite_sts::{Iosts, LabelKind, LocationId, State};

const SYSTEM: &str = "
system S {
  const max: int
  var x: int = 0
  input A(p: int), B
  output X(q: int, f: bool), Y
  internal t
  initial state Q { ?A(p) / x := p -> Q  ?B -> Q  !X(q, f) [q == x] -> Q  !Y -> Q  t -> Q }
}
";

fn file(text: &str) -> (File, Iosts) {
    let (file, found) = parse_and_check(&format!("{SYSTEM}{text}"));
    assert!(!diagnostic::has_errors(&found), "{found:?}");
    let system = lower_data(&file, "S").expect("a system");
    (file, system)
}

fn lowered(text: &str, expected: &Expect) {
    // Not checked: where the system is in another file, one value of an action can be named.
    let (file, _) = iolite_lang::parse(&format!("{SYSTEM}{text}"));
    let system = lower_data(&file, "S").expect("a system");
    let observer = lower_data_observer(&file, "W", &system).expect("an observer");
    assert_eq!(observer.warnings, []);
    // What def. 5 asks for, once δ is an action.
    system
        .quiescent()
        .compatible(&observer.iosts)
        .expect("compatible");
    expected.assert_eq(&observer.iosts.to_string());
}

fn refused(text: &str, expected: &Expect) {
    // Not checked: what cannot be seen without the system has to be refused here, too.
    let (file, _) = iolite_lang::parse(&format!("{SYSTEM}{text}"));
    let system = lower_data(&file, "S").expect("a system");
    let found = lower_data_observer(&file, "W", &system).expect_err("mistakes");
    let lines = found.iter().map(|d: &Diagnostic| {
        let hint = d.hint.as_ref().map(|h| format!(" ({h})"));
        format!("{d}{}\n", hint.unwrap_or_default())
    });
    expected.assert_eq(&lines.collect::<Vec<_>>().concat());
}

#[test]
fn guards_variables_and_the_rest() {
    lowered(
        "observer W for S {
           const max: int
           var n: int = 0
           assume max > 0
           initial state Ok {
             ?A(p) [p > n] / n := p -> Ok
             !X(q, _) [q > n] -> Bad
             delta [n > max] -> Bad
             * / n := n + 1 -> Ok
           }
           violate state Bad
         }",
        &expect![[r"
            W
              const max: int
              assume max > 0
              var n: int = 0
              initial Ok
                ?A(p) [p > n] / n := p -> Ok
                !X(q, f) [q > n] -> Bad
                delta [n > max] -> Bad
                ?A(p) [n >= p] / n := n + 1 -> Ok
                ?B / n := n + 1 -> Ok
                !X(q, f) [n >= q] / n := n + 1 -> Ok
                !Y / n := n + 1 -> Ok
                delta [n <= max] / n := n + 1 -> Ok
              Bad
        "]],
    );
}

#[test]
fn an_observer_without_data_is_a_special_case() {
    lowered(
        "observer W for S {
           initial state Ok { ?\"A(3)\" -> Busy  * -> Ok }
           state Busy { !X -> Ok  !Y -> Bad }
           violate state Bad
         }",
        &expect![[r"
            W
              initial Ok
                ?A(p) [p == 3] -> Busy
                ?A(p) [p != 3] -> Ok
                ?B -> Ok
                !X(q, f) -> Ok
                !Y -> Ok
                delta -> Ok
              Busy
                !X(q, f) -> Ok
                !Y -> Bad
              Bad
        "]],
    );
}

#[test]
fn overlapping_guards_are_shown_with_values() {
    refused(
        "observer W for S {
           var n: int = 0
           initial state Ok {
             !X(q, f) [q > 4 && f] -> Bad
             !X(q, f) [q < 6] / n := q -> Ok
             * -> Ok
           }
           violate state Bad
         }",
        &expect![[r"
            IOL304: `!X(q: int, f: bool)` with q = 5, f = true leads from state `Ok` to `Bad` and to `Ok` (observer `W` must be deterministic: let the guards exclude one another)
        "]],
    );
}

#[test]
fn mistakes_have_names() {
    refused(
        "observer W for S {
           var n: int = 0
           initial state Ok {
             ?A(p) [p > 0] -> Bad
             !Z -> Ok
             t -> Ok
             !X(q) -> Ok
             ?X -> Ok
             * -> Ok
             * -> Bad
           }
           violate state Bad { !Y -> Ok }
         }",
        &expect![[r"
            IOL105: system `S` has no label `!Z`
            IOL111: observer `W` cannot see internal actions
            IOL112: the label has 2 parameters
            IOL106: `X` is an output of system `S` (write `!X`)
            IOL305: state `Ok` has a second `*`
            IOL301: violating state `Bad` is left again (a violation is final; remove the transitions)
        "]],
    );
    refused(
        "observer W for S {
           var n: int = 0
           initial state Ok { ?A(p) [p > 0] -> Bad  * -> Ok }
           violate state Bad
         }",
        &expect![[r"
            IOL303: input `?A(p: int)` enters violating state `Bad`, but a violation is an output or δ (the system is blamed for what its environment does; name the inputs apart from `*`)
        "]],
    );
    refused(
        "observer W for S {
           var n: int = 0
           initial state Ok { !Y / n := 1 -> Ok  * -> Bad }
           violate state Bad
         }",
        &expect![[r"
            IOL303: input `?A(p: int)` enters violating state `Bad`, but a violation is an output or δ (the system is blamed for what its environment does; name the inputs apart from `*`)
        "]],
    );
    refused(
        "observer W for S { var n: int = 0  initial state Ok { * -> Ok } }",
        &expect![[r"
            IOL300: observer `W` has no violating state (write `violate state Bad`)
        "]],
    );
}

#[test]
fn an_input_that_cannot_enter_is_no_mistake() {
    let (file, system) = file(
        "observer W for S {
           var n: int = 0
           initial state Ok {
             ?A(p) [p > 0 && p < 1] -> Bad
             ?A(p) [p <= 0 || p >= 1] / n := p -> Ok
             ?B -> Ok
             * -> Ok
           }
           violate state Bad
         }",
    );
    assert!(lower_data_observer(&file, "W", &system).is_ok());
}

#[test]
fn purposes_accept_and_refuse() {
    let (file, system) = file(
        "purpose P for S {
           var n: int = 0
           initial state Go {
             ?A(p) [p == n + 1] / n := p -> Go
             ?A(p) [p != n + 1] -> No
             !X(q, f) [q == 3 && f] -> Yes
             * -> Go
           }
           accept state Yes
           refuse state No
         }
         purpose N for S { var n: int = 0  initial state Go { * -> Go } }",
    );
    let purpose = lower_data_purpose(&file, "P", &system).expect("a purpose");
    let named = |list: &[LocationId]| -> Vec<String> {
        let name = |l: &LocationId| purpose.iosts.location(*l).name.to_string();
        list.iter().map(name).collect()
    };
    assert_eq!(named(&purpose.accept), ["Yes"]);
    assert_eq!(named(&purpose.refuse), ["No"]);
    assert!(lower_data_purpose(&file, "N", &system).is_err());
}

/// `*` and the other transitions of a state: exactly one takes each valued action, whatever the
/// variables are.
#[test]
fn with_the_rest_every_action_has_one_step() {
    let (file, system) = file(
        "observer W for S {
           var n: int = 0
           initial state Ok {
             ?A(p) [p > n && p % 2 == 0] / n := p -> Ok
             ?A(p) [p < n - 1] -> Ok
             !X(q, f) [q == n || (f && q > n)] / n := n - 1 -> Ok
             delta [n > 2] -> Bad
             * / n := n + 1 -> Ok
           }
           violate state Bad
         }",
    );
    let w = lower_data_observer(&file, "W", &system)
        .expect("an observer")
        .iosts;
    let ok = w.find_location("Ok").expect("a location");
    for n in -3..4 {
        let state = State {
            location: ok,
            values: [Value::from(n)].into(),
        };
        for (id, gate) in w.gates() {
            assert!(gate.kind != LabelKind::Internal);
            for a in -4..5 {
                for b in [false, true] {
                    let all = [Value::from(a), Value::from(b)];
                    let values = &all[..gate.params.len()];
                    let taken = w.outgoing(ok).iter().filter(|t| {
                        w.transition(**t).action == id
                            && w.fire(&state, &[], **t, values)
                                .expect("no fault")
                                .is_some()
                    });
                    assert_eq!(taken.count(), 1, "{gate} with {values:?} where n = {n}");
                }
            }
        }
    }
}

/// What `check` says of an observer that names its system: an input with values may enter a violating state.
#[test]
fn inputs_with_values_are_seen_without_a_model() {
    let system = "system S {
        input a(n: int)
        output b
        initial state I { ?a(n) -> J }
        state J { !b -> I }
    }\n";
    let codes = |observer: &str| {
        let (file, found) = parse_and_check(&format!("{system}{observer}"));
        assert!(!diagnostic::has_errors(&found), "{found:?}");
        let found = iolite_lang::data_observer_lints(&file, "W");
        found.iter().map(|d| d.code.to_string()).collect::<Vec<_>>()
    };
    let observer = |events: &str| {
        format!("observer W for S {{ initial state P {{ {events} }} violate state V }}")
    };
    assert_eq!(codes(&observer("?a(n) [n > 3] -> V  * -> P")), ["IOL303"]);
    assert_eq!(
        codes(&observer("?a(n) [n > 3 && n < 4] -> V  * -> P")),
        [""; 0]
    );
    assert_eq!(
        codes(&observer("?a(n) [n > 3] -> P  !b -> V  * -> P")),
        [""; 0]
    );
}
