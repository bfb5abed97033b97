//! Quantifiers that elimination left over a sort with few values: `.iol` lists the values and does the same in every
//! state, TTCN-3 has a loop, and what has no end is refused with its place.

use iolite_derive::{Criterion, ModelRef, SymbolicTestCase, Verdict};
use iolite_expr::{Term, Value};
use iolite_formats::symbolic_test_case::{iol, json, ttcn3};
use iolite_lang::{diagnostic, lower_data, lower_data_observer, parse_and_check};
use iolite_sts::{Iosts, LocationId, State};

const MODEL: &str = "system S {
  var n: int = 0
  input a(m: int)
  output c(v: int)
  initial state P { ?a(m) / n := m -> P  !c(v) [n == 4242] -> Bad }
  state Bad
}";

fn system() -> Iosts {
    let (file, found) = parse_and_check(MODEL);
    assert!(!diagnostic::has_errors(&found), "{found:?}");
    lower_data(&file, "S").expect("a system")
}

/// The test case in which the guard of `!c` is this term of the JSON form.
fn case(guard: &str) -> SymbolicTestCase {
    let system = system();
    let verdict = |(_, l): (LocationId, &iolite_sts::Location)| {
        (&*l.name == "Bad").then_some(Verdict::ViolateFail)
    };
    let verdicts = system.locations().map(verdict).collect();
    let conditions = vec![Term::from(true); system.locations().len()];
    let model = ModelRef::from("m.iol#S");
    let plain = SymbolicTestCase::new(
        "W",
        Criterion::Safety,
        model,
        system.mirrored(),
        verdicts,
        conditions,
    );
    let text = json::write(&plain.expect("a test case")).expect("plain terms");
    let mut document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut replaced = 0;
    replace(
        &mut document,
        &serde_json::json!(["==", "n", 4242]),
        &serde_json::from_str(guard).expect("JSON"),
        &mut replaced,
    );
    assert_eq!(replaced, 1, "{text}");
    json::read(&document.to_string()).expect("a test case")
}

fn replace(
    at: &mut serde_json::Value,
    from: &serde_json::Value,
    to: &serde_json::Value,
    replaced: &mut usize,
) {
    if at == from {
        *at = to.clone();
        *replaced += 1;
        return;
    }
    match at {
        serde_json::Value::Array(all) => {
            for part in all {
                replace(part, from, to, replaced);
            }
        }
        serde_json::Value::Object(all) => {
            for part in all.values_mut() {
                replace(part, from, to, replaced);
            }
        }
        _ => {}
    }
}

/// Whether `!c(v)` is taken with these values, or faults.
fn takes(model: &Iosts, n: i64, v: i64) -> String {
    let state = State {
        location: model.find_location("P").expect("of this name"),
        values: vec![Value::int(n)].into(),
    };
    let is_output = |t: &&_| &*model.gate(model.transition(**t).action).name == "c";
    let all = model.outgoing(state.location).iter();
    let fired =
        all.filter(is_output)
            .map(|&t| match model.fire(&state, &[], t, &[Value::int(v)]) {
                Ok(next) => next.is_some().to_string(),
                Err(_) => "fault".to_owned(),
            });
    fired.collect::<Vec<_>>().join(" ")
}

const DIGIT: &str = r#"{"range": [0, 9]}"#;

#[test]
fn few_values_are_listed_and_mean_the_same() {
    let guards = [
        r#"["exists", [["w", DIGIT]], ["==", ["*", "w", "w"], "n"]]"#,
        r#"["not", ["exists", [["w", DIGIT]], ["==", ["*", "w", "w"], "n"]]]"#,
        // The bound variable has the name of the parameter, and of the datum.
        r#"["and", ["<", "v", 5], ["exists", [["v", DIGIT]], ["==", ["+", "v", "v"], "n"]]]"#,
        r#"["exists", [["w", DIGIT], ["b", "bool"]], ["and", "b", ["==", ["+", "w", "v"], "n"]]]"#,
        r#"["exists", [["w", DIGIT]], ["exists", [["u", DIGIT]], ["==", ["*", "w", ["+", "u", 7]], "n"]]]"#,
        // Zero has no quotient, whichever value is tried first.
        r#"["exists", [["w", DIGIT]], ["==", ["/", 6, "w"], "n"]]"#,
    ];
    let (mut yes, mut no, mut faults) = (0, 0, 0);
    for guard in guards {
        let case = case(&guard.replace("DIGIT", DIGIT));
        let export = iol::write(&case).expect("few values");
        let (file, found) = parse_and_check(&export);
        assert!(!diagnostic::has_errors(&found), "{found:?}\n{export}");
        let observer = lower_data_observer(&file, "W", &system());
        let observer = observer.unwrap_or_else(|e| panic!("{e:?}\n{export}")).iosts;
        for n in -3..30 {
            for v in [-1, 0, 4, 5, 9] {
                let own = takes(case.program(), n, v);
                assert_eq!(own, takes(&observer, n, v), "n = {n}, v = {v}\n{export}");
                match own.as_str() {
                    "true" => yes += 1,
                    "false" => no += 1,
                    _ => faults += 1,
                }
            }
        }
        let module = ttcn3::write(&case).expect("few values");
        assert!(
            module.contains("for (var integer x0 := 0; x0 <= 9; x0 := x0 + 1) {"),
            "{module}"
        );
        assert!(module.contains("f_quantifier_0("), "{module}");
        let blocks = |c: char| module.matches(c).count();
        assert_eq!(blocks('{'), blocks('}'), "{module}");
    }
    assert!(yes > 100 && no > 100 && faults > 100, "{yes} {no} {faults}");
}

#[test]
fn loops_of_ttcn3_read_what_the_quantifier_reads() {
    let guard = r#"["exists", [["w", DIGIT]], ["==", ["*", "w", "v"], "n"]]"#;
    let module = ttcn3::write(&case(&guard.replace("DIGIT", DIGIT))).expect("few values");
    let function = "  function f_quantifier_0(integer p0, integer p1) return boolean {
    var boolean answer := false;
    for (var integer x0 := 0; x0 <= 9; x0 := x0 + 1) {
    if (((x0 * p1) == p0)) { answer := true; }
    }
    return answer;
  }
";
    assert!(module.contains(function), "{module}");
    assert!(module.contains("if (f_quantifier_0(n, m1.v))"), "{module}");
    // Elements of an array, under two quantifiers.
    let text = "system S { var a: int[] = [1], n: int = 0
        input go(m: int)  output c(v: int)
        initial state P {
          ?go(m) / n := m -> P
          !c(v) [forall x in a: exists y in a: x + y < v + n] -> Bad }
        state Bad }";
    let (file, found) = parse_and_check(text);
    assert!(!diagnostic::has_errors(&found), "{found:?}");
    let system = lower_data(&file, "S").expect("a system");
    let verdicts = vec![None, Some(Verdict::ViolateFail)];
    let conditions = vec![Term::from(true); 2];
    let model = ModelRef::from("m.iol#S");
    let program = system.mirrored();
    let case = SymbolicTestCase::new("W", Criterion::Safety, model, program, verdicts, conditions);
    let module = ttcn3::write(&case.expect("a test case")).expect("loops");
    for line in [
        "function f_quantifier_0(record of integer over, integer p0, integer p1, integer p2) return boolean {",
        "if (((p2 + x0) < (p1 + p0))) { answer := true; }",
        "if (not (f_quantifier_0(",
        "f_quantifier_1(a, a, n, m1.v)",
    ] {
        assert!(module.contains(line), "{line}\n{module}");
    }
}

#[test]
fn what_has_no_end_is_refused_with_its_place() {
    let endless = case(r#"["exists", [["w", "int"]], ["==", ["*", "w", "w"], "n"]]"#);
    let many = case(r#"["exists", [["w", {"range": [0, 5000]}]], ["==", ["*", "w", "w"], "n"]]"#);
    let iol = |case| iol::write(case).expect_err("too many values").to_string();
    let module = |case| ttcn3::write(case).expect_err("too many values").to_string();
    for (said, format) in [(iol(&endless), ".iol"), (module(&endless), "TTCN-3")] {
        let expected = format!(
            "P !c(v) -> Bad: `exists w: int . w * w == n` cannot be written as {format}: w is any value of int, of \
             which there is no end"
        );
        assert_eq!(said, expected);
    }
    for said in [iol(&many), module(&many)] {
        assert!(said.contains("one of 5001 values"), "{said}");
    }
}
