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

/// An input is not specified for values for which its guard has no value, however they are listed.
#[test]
fn values_for_which_the_guard_of_an_input_faults_are_not_specified() {
    let system = |input: &str, guard: &str| {
        format!(
            "system S {{ input a(p: {input}) output x var v: 0..9 = 0, n: 0..3 = 0\n\
             initial state I {{ ?a(p) [{guard}] / v := p -> T }} state T {{ !x -> I }} }}"
        )
    };
    for (input, guard) in [
        ("0..3", "6 / p == 2"),
        ("0..99", "6 / p == 2"),
        ("int", "0 <= p && p <= 3 && 6 / p == 2"),
    ] {
        let lts = unfold(&system(input, guard), "S").expect(input);
        assert_eq!(lts.state_count(), 3, "{input}");
        assert!(lts.labels().get_text("?a(3)").is_some(), "{input}");
    }
    // Here no choice of a value helps.
    for (input, guard) in [("0..3", "p == 6 / n"), ("int", "p == 6 / n")] {
        let errors = unfold(&system(input, guard), "S").expect_err(input);
        assert_eq!(errors[0].code.to_string(), "IOL405", "{errors:?}");
    }
}

#[test]
fn as_many_values_of_finite_sorts_are_tried_as_states_allow() {
    let text = "system N { input a(p: 0..999) output x(q: 0..999) var v: 0..999 = 0
        initial state I { ?a(p) / v := p -> T } state T { !x(q) [q == v] -> I } }
        system C { const c: 0..99, d: 0..2 input a output x initial state I { ?a -> I } }
        system W { const c: 0..999, d: -1..3 input a output x initial state I { ?a -> I } }
        system L { input a(p: 0..99999) output x initial state I { ?a(p) -> I } }
        system I { const c: int input a output x initial state I { ?a -> I } }
        system B { const c: int assume c > 0 input a output x initial state I { ?a -> I } }";
    let (file, found) = parse_and_check(text);
    assert!(!diagnostic::has_errors(&found), "{found:?}");
    let unfold = |name: &str, states: usize| {
        let budget = UnfoldBudget { states, values: 50 };
        unfold_data(&file, name, &mut Solver::embedded(), budget)
            .map(|lts| lts.state_count())
            .map_err(|d| (d[0].message.clone(), d[0].hint.clone().unwrap_or_default()))
    };
    assert_eq!(unfold("N", 100_000), Ok(2_000));
    assert_eq!(unfold("C", 1_000), Ok(301));
    for (name, said, hint) in [
        (
            "W",
            "c: 0..999 has 5000, more than the 1000 that are tried, initial values, together with \
             the others",
            "--max-states 5000;",
        ),
        (
            "L",
            "parameter p of a takes 100000, more than the 50 that are tried, values in I",
            "--max-states 6400000;",
        ),
        (
            "I",
            "c: int has infinitely many initial values",
            "give it a value,",
        ),
        (
            "B",
            "c: int has infinitely many, or more than 50, initial values",
            "give it a value,",
        ),
    ] {
        let (message, helps) = unfold(name, 1_000).expect_err(name);
        assert_eq!(message, said);
        assert!(helps.contains(hint), "{helps}");
    }
}
