//! Data: what the built-in functions mean once a system is unfolded.

mod common;

use common::shape;
use iolite_expr::Solver;
use iolite_lang::{Diagnostic, codes, diagnostic, lower_system, parse_and_check, unfold_data};
use iolite_lts::Lts;
use iolite_sts::UnfoldBudget;

fn unfold(text: &str, name: &str) -> Result<Lts, Vec<Diagnostic>> {
    let (file, found) = parse_and_check(text);
    assert!(!diagnostic::has_errors(&found), "{found:?}");
    let budget = UnfoldBudget {
        states: 1000,
        values: 100,
    };
    unfold_data(&file, name, &mut Solver::embedded(), budget)
}

#[test]
fn a_queue_is_sliced() {
    let text = r#"
system Queue {
  var q: 0..1[] = []
  input put(x: 0..1)
  output get(x: 0..1)
  initial state Q {
    ?put(x) [len(q) < 2] / q := q ++ [x] -> Q
    !get(x) [len(q) > 0 && x == q[0]] / q := slice(q, 1, len(q)) -> Q
  }
}
system Written {
  input "put(0)", "put(1)"
  output "get(0)", "get(1)"
  initial state E { ?"put(0)" -> A ?"put(1)" -> B }
  state A { ?"put(0)" -> AA ?"put(1)" -> AB !"get(0)" -> E }
  state B { ?"put(0)" -> BA ?"put(1)" -> BB !"get(1)" -> E }
  state AA { !"get(0)" -> A }
  state AB { !"get(0)" -> B }
  state BA { !"get(1)" -> A }
  state BB { !"get(1)" -> B }
}"#;
    let (file, _) = parse_and_check(text);
    let written = lower_system(&file, "Written", 100).expect("explicit");
    assert_eq!(
        shape(&unfold(text, "Queue").expect("finite")),
        shape(&written)
    );
}

#[test]
fn a_slice_has_its_ends() {
    let bits = |from: &str, to: &str| {
        format!(
            "system S {{ var a: int[] = [10, 11, 12], b: int[] = [] output x(n: 0..20)\n\
             initial state s {{ i / b := slice(a, {from}, {to}) -> t }}\n\
             state t {{ !x(n) [n == len(b)] -> u }}\n\
             state u {{ !x(n) [len(b) > 0 && n == b[0]] -> v }} state v }}"
        )
    };
    for (from, to, length, first) in [
        ("0", "3", 3, Some(10)),
        ("1", "2", 1, Some(11)),
        ("3", "len(a)", 0, None),
    ] {
        let lts = unfold(&bits(from, to), "S").expect("finite");
        assert!(lts.labels().get_text(&format!("!x({length})")).is_some());
        let shown = first.and_then(|n| lts.labels().get_text(&format!("!x({n})")));
        assert_eq!(shown.is_some(), first.is_some(), "{from}..{to}");
    }
    for (from, to) in [("len(a)", "2"), ("2", "len(a) + 1"), ("len(b) - 1", "1")] {
        let found = unfold(&bits(from, to), "S").expect_err("a fault");
        assert_eq!(found[0].code, codes::BAD_TERM, "{found:?}");
        assert!(found[0].message.contains("slice"), "{}", found[0].message);
    }
}
