//! One instance of an action, `on(1)`, in `hide`, `rename` and `|[…]|` over systems with data: what
//! comes of it is what comes of the same systems without data, whose labels carry the values.

mod common;

use std::cell::Cell;

use common::bisimilar;
use iolite_expr::Solver;
use iolite_lang::{Diagnostic, codes, diagnostic, lower_system, parse_and_check, unfold_data};
use iolite_lts::{LabelId, LabelKind, Lts, LtsBuilder};
use iolite_sts::UnfoldBudget;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Each system with data has a process beside it that does the same.
const PARTS: &str = "\
system Left { var v: 0..2 = 0  input put(x: 0..2)  output mid(x: 0..2)
  initial state A { ?put(x) / v := x -> B }  state B { !mid(x) [x == v] -> A } }
process PlainLeft = ?put(x: 0..2); !mid(x); PlainLeft
system Right { var w: 0..2 = 0  input mid(x: 0..2)  output get(x: 0..2)
  initial state A { ?mid(x) / w := x -> B }  state B { !get(x) [x == (w + 1) % 3] -> A } }
process PlainRight = ?mid(x: 0..2); !get((x + 1) % 3); PlainRight
system Pair { var n: 0..1 = 0  input on(k: 0..1, b: bool)  output mid(x: 0..2), done
  initial state S { ?on(k, b) [b] / n := k -> T  ?on(k, b) [!b && k == 0] -> S }
  state T { !mid(x) [x == n + 1] -> S  !done -> S } }
process PlainPair = ?on(k: 0..1, true); (!mid(k + 1); PlainPair [] !done; PlainPair) [] ?on(0, false); PlainPair
";

fn checked(text: &str) -> iolite_lang::File {
    let (file, found) = parse_and_check(text);
    assert!(!diagnostic::has_errors(&found), "{text}\n{found:?}");
    file
}

fn unfold(text: &str, name: &str) -> Result<Lts, Vec<Diagnostic>> {
    let budget = UnfoldBudget {
        states: 5000,
        values: 100,
    };
    let lts = unfold_data(&checked(text), name, &mut Solver::embedded(), budget)?;
    // Hidden actions keep their names where there are data.
    let mut builder = LtsBuilder::new();
    builder.ensure_states(lts.state_count());
    builder.set_initial(lts.initial());
    for (s, l, t) in lts.transitions() {
        let label = lts.labels().label(l);
        let l = match label.kind {
            LabelKind::Internal => LabelId::TAU,
            kind => builder.label(kind, &label.name),
        };
        builder.transition(s, l, t);
    }
    Ok(builder.build().expect("states"))
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["@Left", "@Right", "@Pair"]).prop_map(str::to_owned);
    leaf.prop_recursive(3, 6, 2, |inner| {
        let hidden = prop::sample::select(vec![
            "put(1)",
            "mid(0), mid(2)",
            "mid(1)",
            "mid(2), mid",
            "on(0, true)",
            "on(1, true), on(0, false)",
            "get(0)",
        ]);
        let renamed = prop::sample::select(vec![
            "put(1) -> go",
            "put(1) -> put(2)",
            "mid(1) -> mid(2), mid(2) -> mid(1)",
            "mid -> via(7)",
            "mid(0) -> nil, mid -> via(true)",
            "get -> gave, get(1) -> get(2)",
            "on(0, true) -> on(1, true)",
            "on(1, true) -> put(1)",
            "done -> mid(0)",
            "done -> mark(1, false)",
        ]);
        let gates = prop::sample::select(vec![
            "mid(1)",
            "mid(0), mid(2)",
            "mid(1), mid",
            "put(2), get(0)",
            "on(0, true), mid(2)",
            "done, mid(1)",
        ]);
        prop_oneof![
            2 => (hidden, inner.clone()).prop_map(|(g, e)| format!("(hide {g} in {e})")),
            2 => (renamed, inner.clone()).prop_map(|(g, e)| format!("(rename {g} in {e})")),
            3 => (inner.clone(), gates, inner).prop_map(|(l, g, r)| format!("({l} |[{g}]| {r})")),
        ]
    })
}

#[test]
fn instances_of_actions_with_data() {
    let compared = Cell::new(0);
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(400)
    });
    let result = runner.run(&expression(), |text| {
        let (data, plain) = (text.replace('@', ""), text.replace('@', "Plain"));
        let text = format!("{PARTS}system Data = {data}\nprocess Plain = {plain}");
        let symbolic = match unfold(&text, "Data") {
            Ok(lts) => lts,
            // What is not there is a mistake where there are data, and so are two signatures.
            Err(found) => {
                let known = ["no action", "different parameters", "states"];
                let message = &found[0].message;
                prop_assert!(
                    known.iter().any(|k| message.contains(k)),
                    "{text}\n{message}"
                );
                return Ok(());
            }
        };
        let explicit = lower_system(&checked(&text), "Plain", 5000);
        let explicit = explicit.unwrap_or_else(|d| panic!("{text}\n{d:?}"));
        prop_assert!(bisimilar(&symbolic, &explicit), "{text}");
        compared.set(compared.get() + 1);
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
    assert!(compared.get() > 150, "{} of 400", compared.get());
}

/// The example of the manual, and what is refused.
#[test]
fn one_instance_is_told_from_the_others() {
    let outputs = |operator: &str| {
        let lts = unfold(&format!("{PARTS}system T = {operator}"), "T").expect("a system");
        let mut seen: Vec<String> = lts
            .transitions()
            .map(|(_, l, _)| lts.labels().text(l))
            .filter(|l| l.starts_with('!'))
            .collect();
        seen.sort();
        seen.dedup();
        seen.join(" ")
    };
    assert_eq!(outputs("hide mid(1) in Left"), "!mid(0) !mid(2)");
    assert_eq!(
        outputs("rename mid(1) -> one in Left"),
        "!mid(0) !mid(2) !one"
    );
    assert_eq!(
        outputs("rename mid -> mid(7) in Left"),
        "!mid(7, 0) !mid(7, 1) !mid(7, 2)"
    );
    assert_eq!(
        outputs("Left |[mid(1)]| (?mid(0); stop)"),
        "!mid(0) !mid(2)"
    );
    for (operator, part) in [
        ("hide mid(9) in Left", "Left has no action mid(9)"),
        (
            "rename put(1) -> put in Left",
            "put has different parameters",
        ),
    ] {
        let found = unfold(&format!("{PARTS}system T = {operator}"), "T").unwrap_err();
        assert_eq!(found[0].code, codes::DATA_COMPOSITION);
        assert!(found[0].message.contains(part), "{}", found[0].message);
    }
}
