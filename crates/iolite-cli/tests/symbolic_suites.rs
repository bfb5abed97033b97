//! Symbolic test cases through the command line: derived, exported, shown and executed [SYM04, §4 and §5].

mod common;

use common::{iolite, scratch, write};

const PRINTED: &str = "examples/papers/sym04_fig1.iol";
const BRP: &str = "examples/brp/brp.iol";

/// A sender that takes every request and says nothing.
const SILENT: &str = "system Silent {
  input REQ(l: int), ACK
  output MSG(pMsg: int, pBit: bool), OK, NOT_OK, DONT_KNOW
  var n: int = 0
  initial state Deaf { ?REQ(l) / n := l -> Deaf  ?ACK -> Deaf }
}";

/// A sender that repeats at once what is not acknowledged yet, and conforms.
const PROMPT: &str = "system Prompt {
  const f: int[] = [10, 20, 30]
  var rn: int = 0, head: int = 0, last: int = 0, bit: bool = true
  input REQ(l: int), ACK
  output MSG(pMsg: int, pBit: bool), OK, NOT_OK, DONT_KNOW
  initial state Wait { ?REQ(l) [l > 0 && l <= 3] / last := l -> Send }
  state Send { !MSG(m, b) [m == f[head] && b == bit] / rn := rn + 1 -> Sent }
  state Sent {
    ?ACK [head + 1 < last] / head := head + 1, rn := 0, bit := !bit -> Send
    ?ACK [head + 1 == last] / head := head + 1, rn := 0, bit := !bit -> Done
    !MSG(m, b) [rn < 2 && m == f[head] && b == bit] / rn := rn + 1 -> Sent
    !DONT_KNOW [rn == 2 && head + 1 == last] / head := 0, rn := 0 -> Wait
    !NOT_OK [rn == 2 && head + 1 < last] / head := 0, rn := 0 -> Wait
  }
  state Done { !OK / head := 0, rn := 0 -> Wait }
}";

fn derive(model: &str, more: &[&str]) -> common::Ran {
    let property = format!("{}#NoSilence", model.split('#').next().unwrap_or_default());
    let args = ["derive", model, "--observer", &property];
    iolite(&[&args[..], more].concat())
}

#[test]
fn the_test_case_of_the_printed_sender_has_no_violate() {
    let folder = scratch("symbolic-printed");
    let suite = folder.join("suite").display().to_string();
    let model = format!("{PRINTED}#Sender");
    let more = [
        "-o",
        &suite,
        "--export",
        "iol,dot,ttcn3",
        "--explain-pruning",
    ];
    let ran = derive(&model, &more).expect(0);
    assert!(ran.stdout.contains("1 test case in"), "{}", ran.stdout);
    assert!(ran.stdout.contains("pruned of NoSilence"), "{}", ran.stdout);
    let read = |ending: &str| {
        let file = format!("{suite}/NoSilence.{ending}");
        std::fs::read_to_string(&file).expect("it was written")
    };
    let case: serde_json::Value = serde_json::from_str(&read("json")).expect("JSON");
    let locations = case["locations"].as_array().expect("a list");
    let verdicts: Vec<&str> = locations
        .iter()
        .filter_map(|l| l["verdict"].as_str())
        .collect();
    assert!(verdicts.contains(&"violate-fail"), "{verdicts:?}");
    // The sender satisfies the property [SYM04, §4].
    assert!(!verdicts.contains(&"violate"), "{verdicts:?}");
    assert!(read("ttcn3").contains("module Test_NoSilence"));
    assert!(read("dot").contains("digraph"));
    // The exported form is an observer of the language.
    let exported = format!("{suite}/NoSilence.iol");
    iolite(&["check", &exported]).expect(0);
    let stored = format!("{suite}/NoSilence.json");
    let shown = iolite(&["show", &stored]).expect(0).stdout;
    assert!(shown.contains("verdict violate-fail"), "{shown}");
    let svg = iolite(&["show", &stored, "--format", "svg"])
        .expect(0)
        .stdout;
    assert!(svg.starts_with("<svg") || svg.contains("<svg"), "{svg}");
}

#[test]
fn stored_test_cases_with_data_are_executed() {
    let folder = scratch("symbolic-run");
    let suite = folder.join("suite").display().to_string();
    let model = format!("{BRP}#Sender");
    derive(&model, &["-o", &suite]).expect(0);
    let silent = write(&folder, "silent.iol", SILENT);
    let constants = "max=2,f=[10,20,30]";
    let test = |sut: &str, more: &[&str]| {
        let args = [
            "test",
            &model,
            "--suite",
            &suite,
            "--sut",
            sut,
            "--no-journal",
            "--json",
            "--repeat",
            "8",
            "--steps",
            "20",
            "--context",
            "synchronous",
        ];
        iolite(&[&args[..], more].concat())
    };
    let known = ["--const", constants];
    let ran = test(&format!("model:{silent}#Silent"), &known).expect(1);
    assert_eq!(ran.json()["verdict"], "violate-fail", "{}", ran.stdout);
    // Whatever `max` is.
    let ran = test(
        &format!("model:{silent}#Silent"),
        &["--const", "f=[10,20,30]"],
    );
    assert_eq!(
        ran.expect(1).json()["verdict"],
        "violate-fail",
        "whatever max is"
    );
    let prompt = write(&folder, "prompt.iol", PROMPT);
    let own = format!("model:{prompt}#Prompt");
    let completed = ["--complete-inputs", "self-loop"];
    let ran = test(&own, &[&known[..], &completed].concat()).expect(0);
    assert_eq!(ran.json()["verdict"], "pass", "{}", ran.stdout);
}

/// Models with infinite data are related by proofs and runs.
#[test]
fn models_with_infinite_data_are_related() {
    let folder = scratch("symbolic-relate");
    let file = write(
        &folder,
        "sums.iol",
        "system Sum { var s: int = 0  input add(n: int), ask  output is(v: int)
           initial state I { ?add(n) / s := s + n -> I  ?ask -> A }
           state A { !is(v) [v == s] -> I  ?add(n) / s := s + n -> A  ?ask -> A } }
         system Twice { var t: int = 0  input add(n: int), ask  output is(v: int)
           initial state I { ?add(n) / t := t + n + n -> I  ?ask -> A }
           state A { !is(v) [v + v == t] -> I  ?add(n) / t := t + n + n -> A  ?ask -> A } }
         system Wrong { var s: int = 0  input add(n: int), ask  output is(v: int)
           initial state I { ?add(n) / s := s + n -> I  ?ask -> A }
           state A { !is(v) [v == s && s != 7] -> I  ?add(n) / s := s + n -> A  ?ask -> A } }
         system Deaf { var s: int = 0  input add(n: int)  output is(v: int)
           initial state I { ?add(n) [n > 0] / s := n -> I } }",
    );
    let relate = |i: &str| {
        let (i, s) = (format!("{file}#{i}"), format!("{file}#Sum"));
        iolite(&["relate", "ioco", &i, &s, "--json"])
    };
    assert_eq!(relate("Sum").expect(0).json()["holds"], true);
    let found = relate("Wrong").expect(1).json();
    assert_eq!(found["holds"], false);
    let trace = found["counterexample"]["trace"]
        .as_array()
        .expect("a trace");
    assert_eq!(trace.len(), 2, "{trace:?}");
    assert_eq!(found["counterexample"]["observed"], "delta");
    let ran = relate("Deaf").expect(2);
    assert!(ran.stderr.contains("not input-enabled"), "{}", ran.stderr);
    // Asked is specified in one of two states: uioco says nothing of what follows it, ioco does.
    let choices = write(
        &folder,
        "choices.iol",
        "system S { var s: int = 0  input go(n: int), ask  output x, y
           initial state I { ?go(n) / s := n -> A  ?go(n) / s := n -> B }
           state A { ?ask -> C  !y -> I }  state B { !y -> I }  state C { !x -> I } }
         system Y { var s: int = 0  input go(n: int), ask  output x, y
           initial state I { ?go(n) / s := n -> A  ?ask -> I }
           state A { ?ask -> C  ?go(n) -> A  !y -> I }  state C { !y -> I  ?ask -> C  ?go(n) -> C } }",
    );
    let (i, s) = (format!("{choices}#Y"), format!("{choices}#S"));
    let found = iolite(&["relate", "ioco", &i, &s, "--json"])
        .expect(1)
        .json();
    assert_eq!(found["counterexample"]["observed"], "!y", "{found}");
    let found = iolite(&["relate", "uioco", &i, &s, "--json"])
        .expect(0)
        .json();
    assert_eq!(found["holds"], true, "{found}");
    // Neither a proof nor a run is an answer too.
    let ran = relate("Twice");
    assert!(ran.json()["holds"] != false, "{}", ran.stdout);
}

/// Models with infinite data pass test cases with data, or a run fails.
#[test]
fn models_pass_test_cases_with_data() {
    let folder = scratch("symbolic-passes");
    let file = write(
        &folder,
        "sums.iol",
        "system Sum { var s: int = 0  input add(n: int), ask  output is(v: int)
           initial state I { ?add(n) [n > 0] / s := s + n -> I  ?ask -> A }
           state A { !is(v) [v == s] -> I } }
         system Right { var s: int = 0  input add(n: int), ask  output is(v: int)
           initial state I { ?add(n) / s := s + n -> I  ?ask -> A }
           state A { !is(v) [v == s] -> I  ?add(n) -> A  ?ask -> A } }
         system Negative { var s: int = 0  input add(n: int), ask  output is(v: int)
           initial state I { ?add(n) / s := s + n -> I  ?ask -> A }
           state A { !is(v) [v == s && s != 9] -> I  !is(v) [v == -1 && s == 9] -> I  ?add(n) -> A  ?ask -> A } }
         observer Less for Sum { initial state O { !is(v) [v < 0] -> Bad  * -> O } violate state Bad }",
    );
    let suite = folder.join("suite").display().to_string();
    let (sum, less) = (format!("{file}#Sum"), format!("{file}#Less"));
    iolite(&["derive", &sum, "--observer", &less, "-o", &suite]).expect(0);
    let passes = |system: &str| {
        let system = format!("{file}#{system}");
        iolite(&["passes", &system, &suite, "--json"])
    };
    assert_eq!(passes("Right").expect(0).json()["passes"], true);
    let failed = passes("Negative").expect(1).json();
    let failing = &failed["cases"][0]["failing"];
    assert_eq!(failing["verdict"], "violate-fail", "{failed}");
    let run = failing["run"].as_array().expect("a run");
    assert_eq!(run.last().expect("a step"), "!is(-1)", "{failed}");
    // Inputs that it refuses are told.
    let refuses = passes("Sum").expect(2).stderr;
    assert!(refuses.contains("not input-enabled"), "{refuses}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = scratch("symbolic-mistakes");
    let suite = folder.join("suite").display().to_string();
    let model = format!("{PRINTED}#Sender");
    let ran = derive(&model, &["-o", &suite, "--unfold", "--explain-pruning"]).expect(2);
    assert!(ran.stderr.contains("--unfold unfolds"), "{}", ran.stderr);
    let ran = derive(&model, &["-o", &suite, "--export", "aut"]).expect(2);
    assert!(ran.stderr.contains("has data"), "{}", ran.stderr);
    derive(&model, &["-o", &suite]).expect(0);
    let stored = format!("{suite}/NoSilence.json");
    // What a run means depends on `max`.
    let ran = iolite(&["passes", &model, &stored, "--complete-inputs", "self-loop"]).expect(3);
    assert!(ran.stderr.contains("has no value"), "{}", ran.stderr);
    // Half a file is no test case.
    let text = std::fs::read_to_string(&stored).expect("it was written");
    let wrong = text.replacen("\"locations\"", "\"places\"", 1);
    let broken = write(&folder, "broken.json", &wrong);
    let ran = iolite(&["test", &model, "--suite", &broken, "--sut", "cmd:cat"]).expect(2);
    assert!(ran.stderr.contains("not a test case"), "{}", ran.stderr);
    // Where there is no deterministic form, the choice is named.
    let forever = write(
        &folder,
        "forever.iol",
        "system F { input a  output b(v: int)  var x: int = 0
           initial state L { ?a / x := x + 1 -> L  ?a / x := x + 2 -> L  !b(v) [v == x] -> L } }
         observer W for F { initial state I { !b(v) [v < 0] -> Bad  * -> I } violate state Bad }",
    );
    let args = ["derive", &forever, "--observer", &forever, "-o", &suite];
    let ran = iolite(&args).expect(3);
    assert!(ran.stderr.contains("the choice of ?a"), "{}", ran.stderr);
    assert!(ran.stderr.contains("on the fly"), "{}", ran.stderr);
}
