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

/// Constants without a value: the specification is the union of its instances [SYM04, §2], and a run fails a test case if
/// it does for all values.
#[test]
fn specifications_and_test_cases_may_leave_constants_open() {
    let folder = scratch("symbolic-open");
    let file = write(
        &folder,
        "retry.iol",
        "system Retry {
           const max: int
           assume max >= 1
           var n: int = 0, sum: int = 0
           input req(k: int), ack
           output msg, told(v: int), gave_up
           initial state Wait { ?req(k) / n := 0, sum := sum + k -> Send }
           state Send { !msg / n := n + 1 -> Sent }
           state Sent { ?ack -> Done  !msg [n < max] / n := n + 1 -> Sent  !gave_up [n == max] -> Wait }
           state Done { !told(v) [v == sum] -> Wait }
         }
         system Hasty {
           const max: int
           var n: int = 0, sum: int = 0
           input req(k: int), ack
           output msg, told(v: int), gave_up
           initial state Wait { ?req(k) / n := 0, sum := sum + k -> Send }
           state Send { !msg / n := n + 1 -> Sent  !gave_up [n >= max] -> Wait }
           state Sent { ?ack -> Done  !msg [n < max] / n := n + 1 -> Sent  !gave_up [n == max] -> Wait }
           state Done { !told(v) [v == sum] -> Wait }
         }
         observer Fewer for Retry { initial state I { ?req -> B  * -> I }
           state B { !gave_up -> Bad  !msg -> I  * -> B } violate state Bad }",
    );
    let relate = |i: &str| {
        let (i, s) = (format!("{file}#{i}"), format!("{file}#Retry"));
        let complete = ["--complete-inputs", "self-loop", "--json"];
        iolite(&[&["relate", "ioco", &i, &s][..], &complete].concat())
    };
    assert_eq!(relate("Retry").expect(0).json()["holds"], true);
    // One of the instances: which is found out.
    assert_eq!(relate("Retry(max = 3)").expect(0).json()["holds"], true);
    // The certificate says by which instance, and that no other one specifies more inputs.
    for (name, known) in [("Retry", "[]"), ("Retry(max = 3)", "3")] {
        let certificate = folder.join("holds.json").display().to_string();
        let (i, s) = (format!("{file}#{name}"), format!("{file}#Retry"));
        let args = ["relate", "ioco", &i, &s, "--complete-inputs", "self-loop"];
        iolite(&[&args[..], &["--certificate", &certificate]].concat()).expect(0);
        let explained = iolite(&["explain", &certificate]).expect(0).stdout;
        assert!(
            explained.contains("instance: by another invariant"),
            "{explained}"
        );
        assert!(explained.contains("confirmed: every part"), "{explained}");
        let text = std::fs::read_to_string(&certificate).expect("it was written");
        let mut json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert!(
            json["data"]["instance"].to_string().contains(known),
            "{text}"
        );
        if known == "3" {
            json["data"]["instance"][0][1] = "4".into();
            let forged = write(&folder, "forged.json", json.to_string());
            let forged = iolite(&["explain", &forged]);
            assert_ne!(forged.code, 0, "{}", forged.stdout);
        }
        // Without what it shows of the inputs it is none.
        json["data"]
            .as_object_mut()
            .expect("an object")
            .remove("specified");
        let forged = write(&folder, "shorter.json", json.to_string());
        iolite(&["explain", &forged]).expect(1);
    }
    // Without `max >= 1` it gives up before it sends, which no instance does.
    let found = relate("Hasty").expect(1).json();
    assert_eq!(found["counterexample"]["observed"], "!gave_up", "{found}");
    let trace = found["counterexample"]["trace"].as_array();
    assert_eq!(trace.map(Vec::len), Some(1), "{found}");
    let suite = folder.join("suite").display().to_string();
    let retry = format!("{file}#Retry");
    let fewer = format!("{file}#Fewer");
    iolite(&["derive", &retry, "--observer", &fewer, "-o", &suite]).expect(0);
    let passes = |system: &str| {
        let system = format!("{file}#{system}");
        let complete = ["--complete-inputs", "self-loop", "--json"];
        iolite(&[&["passes", &system, &suite][..], &complete].concat())
    };
    assert_eq!(passes("Retry").expect(0).json()["passes"], true);
    // Its `max` may be one that the test case does not know.
    passes("Hasty").expect(3);
    let failed = passes("Hasty(max = 0)").json();
    assert_ne!(failed["passes"], true, "{failed}");
    // A test case of the specification is sound for it, and not for another one.
    let sound = iolite(&["suite", &retry, &suite]).expect(0);
    assert!(
        sound.stdout.starts_with("sound for ioco"),
        "{}",
        sound.stdout
    );
    let other = iolite(&["suite", &format!("{file}#Hasty(max = 0)"), &suite, "--json"]);
    assert_ne!(other.json()["sound"], true, "{}", other.stdout);
}

/// Only one value of the constant specifies what the counterexample gives: a tester would have guessed it.
#[test]
fn counterexamples_that_a_tester_would_have_to_guess_are_told() {
    let folder = scratch("symbolic-guessed");
    let file = write(
        &folder,
        "door.iol",
        "system Door { const code: int  var n: int = 0
           input try(p: int), knock  output open, alarm, count(v: int)
           initial state Shut { ?try(p) [p == code] / n := n + 1 -> Tried  ?knock -> Knocked }
           state Tried { !open -> Shut }
           state Knocked { !count(v) [v == n] -> Shut } }
         system Nervous { var n: int = 0
           input try(p: int), knock  output open, alarm, count(v: int)
           initial state Shut { ?try(p) / n := n + 1 -> Tried  ?knock -> Knocked }
           state Tried { !alarm -> Shut }
           state Knocked { !count(v) [v == n] -> Shut } }
         system Forgetful { var n: int = 0
           input try(p: int), knock  output open, alarm, count(v: int)
           initial state Shut { ?try(p) / n := n + 1 -> Tried  ?knock -> Knocked }
           state Tried { !open -> Shut }
           state Knocked { !count(v) [v == -1] -> Shut } }",
    );
    let relate = |i: &str| {
        let (i, s) = (format!("{file}#{i}"), format!("{file}#Door"));
        let complete = ["--complete-inputs", "self-loop", "--json"];
        iolite(&[&["relate", "ioco", &i, &s][..], &complete].concat())
    };
    let found = relate("Nervous").expect(1).json();
    assert_eq!(found["counterexample"]["observed"], "!alarm", "{found}");
    let warnings = found["warnings"].to_string();
    assert!(
        warnings.contains("only some values of the specification's constants specify ?try("),
        "{found}"
    );
    // The relation is about the union of all doors, and so is its certificate.
    let certificate = folder.join("nervous.json").display().to_string();
    let (i, s) = (format!("{file}#Nervous"), format!("{file}#Door"));
    let relate_to_file = ["relate", "ioco", &i, &s, "--complete-inputs", "self-loop"];
    iolite(&[&relate_to_file[..], &["--certificate", &certificate]].concat()).expect(1);
    let explained = iolite(&["explain", &certificate]).expect(0).stdout;
    assert!(explained.contains("confirmed: every part"), "{explained}");
    let text = std::fs::read_to_string(&certificate).expect("it was written");
    let forged = text.replace("\"!alarm\"", "\"!open\"");
    assert_ne!(text, forged);
    let forged = write(&folder, "forged.json", &forged);
    iolite(&["explain", &forged]).expect(1);
    // Every value specifies `?knock`, so nothing is guessed.
    let found = relate("Forgetful").expect(1).json();
    assert_eq!(found["counterexample"]["observed"], "!count(-1)", "{found}");
    assert!(
        !found["warnings"].to_string().contains("only some values"),
        "{found}"
    );
}

/// δ is right where no v is a root of n, which elimination cannot say: the quantifier is stored, and decided once n
/// has a value.
#[test]
fn quantifiers_that_elimination_leaves_are_stored() {
    let folder = scratch("symbolic-roots");
    let root = |name: &str, guard: &str| {
        format!(
            "system {name} {{ var n: int = 0
               input go(m: int)
               output root(v: int)
               initial state Idle {{ ?go(m) [m > 0] / n := m -> Out }}
               state Out {{ !root(v) [{guard}] -> Idle }} }}\n"
        )
    };
    let right = root("Root", "v * v == n");
    let wrong = root("Wrong", "v * v == n && n != 9");
    let text = right
        + &wrong
        + "purpose Got for Root { initial state S { ?go -> B } state B { !root -> A } accept state A }";
    let file = write(&folder, "root.iol", &text);
    let suite = folder.join("suite").display().to_string();
    let goal = ["--purpose", &format!("{file}#Got")];
    let derive = ["derive", &format!("{file}#Root"), "-o", &suite];
    iolite(&[&derive[..], &goal].concat()).expect(0);
    let stored = std::fs::read_to_string(format!("{suite}/Got.json")).expect("it was written");
    assert!(stored.contains("\"exists\""), "{stored}");
    let judged = |name: &str| {
        let of = format!("{file}#{name}");
        let how = ["--complete-inputs", "self-loop", "--json"];
        iolite(&[&["passes", &of, &suite][..], &how].concat()).json()
    };
    assert_ne!(
        judged("Root")["passes"],
        false,
        "nothing that conforms fails"
    );
    let found = judged("Wrong");
    assert_ne!(found["passes"], true, "{found}");
    let run = |name: &str| {
        let sut = format!("model:{file}#{name}");
        let of = format!("{file}#Root");
        let test = [
            "test", &of, "--suite", &suite, "--sut", &sut, "--repeat", "20",
        ];
        iolite(&[&test[..], &["--complete-inputs", "self-loop", "--json"]].concat())
    };
    assert_ne!(run("Root").code, 1, "{}", run("Root").stdout);
}

/// Lists, functions that call themselves, sets, maps, decimals and quantifiers in test cases that are stored, shown,
/// exported, executed and judged.
#[test]
fn test_cases_may_have_any_data() {
    let folder = scratch("symbolic-sorts");
    let file = write(
        &folder,
        "till.iol",
        "type Order = Nothing | Item(price: decimal(2), rest: Order)
         fn total(o: Order): decimal(2) = match o { Nothing => 0.00, Item(p, r) => p + total(r) }
         fn size(o: Order): int = match o { Nothing => 0, Item(_, r) => 1 + size(r) }
         system Till { var o: Order = Nothing, seen: set<int> = {}, paid: map<int, decimal(2)> = {}, who: int = 0
           input add(p: decimal(2)), pay(by: int), ask(by: int)
           output receipt(sum: decimal(2)), was(sum: decimal(2)), customers(n: int)
           initial state I {
             ?add(p) [p > 0.00 && size(o) < 2] / o := Item(p, o) -> I
             ?pay(by) [o is Item && !(by in seen)] / who := by, seen := insert(seen, by), paid[by] := total(o) -> P
             ?ask(by) [by in paid && forall k in paid: k in seen] / who := by -> A }
           state P { !receipt(s) [s == total(o)] / o := Nothing -> I }
           state A { !was(s) [who in paid && s == paid[who]] -> I } }
         system Right = Till
         system Dear { var o: Order = Nothing, seen: set<int> = {}, paid: map<int, decimal(2)> = {}, who: int = 0
           input add(p: decimal(2)), pay(by: int), ask(by: int)
           output receipt(sum: decimal(2)), was(sum: decimal(2)), customers(n: int)
           initial state I {
             ?add(p) [p > 0.00 && size(o) < 2] / o := Item(p, o) -> I
             ?pay(by) [o is Item && !(by in seen)] / who := by, seen := insert(seen, by), paid[by] := total(o) -> P
             ?ask(by) [by in paid] / who := by -> A }
           state P { !receipt(s) [s == total(o) + 0.01] / o := Nothing -> I }
           state A { !was(s) [who in paid && s == paid[who]] -> I } }
         observer Cheap for Till { var t: decimal(2) = 0.00
           initial state O { ?add(p) / t := t + p -> O  !receipt(s) [s > t] -> Bad  !receipt(s) [s <= t] / t := 0.00 -> O
                             * -> O } violate state Bad }
         purpose Twice for Till {
           initial state O { !receipt -> R }  state R { !was -> Got }  accept state Got }",
    );
    let suite = folder.join("suite").display().to_string();
    let till = format!("{file}#Till");
    let cheap = ["--observer", &format!("{file}#Cheap")];
    let derive = ["derive", &till, "-o", &suite, "--export", "iol,dot"];
    iolite(&[&derive[..], &cheap].concat()).expect(0);
    let stored = format!("{suite}/Cheap.json");
    let text = std::fs::read_to_string(&stored).expect("it was written");
    for part in [
        "\"sums\"",
        "\"functions\"",
        "\"for-all\"",
        "\"decimal\"",
        "\"map\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let shown = iolite(&["show", &stored, "--format", "iol"])
        .expect(0)
        .stdout;
    assert!(shown.contains("type Order = Nothing | Item("), "{shown}");
    assert!(shown.contains("fn total("), "{shown}");
    // The exported observer is one again, for the same system.
    let export = format!("{suite}/Cheap.iol");
    iolite(&["check", &export]).expect(0);
    // What TTCN-3 has no counterpart for is told, and the test case is there all the same.
    let other = folder.join("other").display().to_string();
    let derive = ["derive", &till, "-o", &other, "--export", "ttcn3"];
    let ran = iolite(&[&derive[..], &cheap].concat()).expect(3);
    assert!(
        ran.stderr.contains("cannot be written as TTCN-3"),
        "{}",
        ran.stderr
    );
    assert!(std::fs::metadata(format!("{other}/Cheap.json")).is_ok());
    let test = |sut: &str| {
        let sut = format!("model:{file}#{sut}");
        let args = [
            "test",
            &till,
            "--suite",
            &suite,
            "--sut",
            &sut,
            "--no-journal",
            "--json",
        ];
        let more = ["--repeat", "6", "--steps", "20", "--context", "synchronous"];
        let complete = ["--complete-inputs", "self-loop"];
        iolite(&[&args[..], &more, &complete].concat())
    };
    let dear = test("Dear").expect(1).json();
    assert_eq!(dear["verdict"], "violate-fail", "{dear}");
    let right = test("Right").json();
    assert!(
        ["pass", "inconc"].contains(&right["verdict"].as_str().unwrap_or_default()),
        "{right}"
    );
    let failed = iolite(&[
        "passes",
        &format!("{file}#Dear"),
        &stored,
        "--json",
        "--complete-inputs",
        "self-loop",
    ]);
    let failed = failed.expect(1).json();
    assert_eq!(
        failed["cases"][0]["failing"]["verdict"], "violate-fail",
        "{failed}"
    );
    // A till that charges more is not what the test case was made for.
    let other = iolite(&["suite", &format!("{file}#Dear"), &stored, "--json"]);
    let other = other.expect(1).json();
    assert_eq!(other["sound"], false, "{other}");
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
    // An acknowledgement that is ignored makes the sender repeat what it need not: it does not pass.
    let args = ["passes", &model, &stored, "--complete-inputs", "self-loop"];
    let ran = iolite(&[&args[..], &["--json"]].concat());
    assert_ne!(ran.json()["passes"], true, "{}", ran.stdout);
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
