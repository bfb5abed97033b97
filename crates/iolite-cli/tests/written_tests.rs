//! Test cases that people write in the language, run against systems.

mod common;

use common::{iolite, scratch, write};

const DOOR: &str = "system Door {
  input open, close  output opened, closed, beep
  initial state Shut { ?open -> Opening }
  state Opening { !opened -> Open }
  state Open { ?close -> Closing  !beep -> Open }
  state Closing { !closed -> Shut }
}
test Opens for Door {
  initial inconc state 0 { ?open -> 1 }
  inconc state 1 { !opened -> 2  * -> 3 }
  pass state 2  fail state 3
}
test Waits { initial fail state 0 { delta -> 1  !opened, !closed, !beep -> 2 }  pass state 1  fail state 2 }
";

const SYSTEMS: &str = "system Right {
  input open, close  output opened, closed, beep
  initial state s { ?open -> o  ?close -> s }
  state o { !opened -> s  ?open -> o  ?close -> o }
}
system Beeps {
  input open, close  output opened, closed, beep
  initial state s { ?open -> o  ?close -> s }
  state o { !beep -> s  ?open -> o  ?close -> o }
}";

#[test]
fn written_test_cases_judge_systems() {
    let folder = scratch("written");
    let door = write(&folder, "door.iol", DOOR);
    let systems = write(&folder, "systems.iol", SYSTEMS);
    let model = format!("{door}#Door");
    let journal = folder.join("journal.jsonl").display().to_string();
    let run = |suite: &str, system: &str| {
        let sut = format!("model:{systems}#{system}");
        let to = ["--json", "--journal", &journal];
        iolite(
            &[
                &["test", &model, "--suite", suite, "--sut", &sut],
                to.as_slice(),
            ]
            .concat(),
        )
    };
    let verdicts = |ran: &common::Ran| -> Vec<(String, String)> {
        let text = |v: &serde_json::Value| v.as_str().unwrap().to_owned();
        let cases = ran.json();
        let cases = cases["cases"].as_array().unwrap().iter();
        cases
            .map(|c| (text(&c["case"]), text(&c["verdict"])))
            .collect()
    };
    let pair = |name: &str, verdict: &str| (name.to_owned(), verdict.to_owned());
    let right = run(&door, "Right").expect(0);
    assert_eq!(
        verdicts(&right),
        [pair("Opens", "pass"), pair("Waits", "pass")]
    );
    let one = run(&format!("{door}#Waits"), "Beeps").expect(0);
    assert_eq!(verdicts(&one), [pair("Waits", "pass")]);
    let wrong = run(&door, "Beeps").expect(1);
    assert_eq!(
        verdicts(&wrong),
        [pair("Opens", "fail"), pair("Waits", "pass")]
    );
    let again = iolite(&["replay", "--trust", &journal, "--run", "0"]).expect(1);
    assert!(
        again.stdout.contains("allowed:  !opened\n"),
        "{}",
        again.stdout
    );
    iolite(&["replay", "--trust", &journal, "--run", "1"]).expect(0);
    let shrunk = iolite(&["shrink", "--trust", &journal, "--run", "0"]).expect(2);
    assert!(
        shrunk.stderr.contains("fixes its steps"),
        "{}",
        shrunk.stderr
    );
}

/// Where the model's actions carry values, an output without them is each of its instances.
#[test]
fn outputs_without_values_are_all_of_them() {
    let folder = scratch("written-values");
    let model = write(
        &folder,
        "echo.iol",
        "system Echo { input say(n: 0..2)  output got(n: 0..2), no  var last: 0..2 = 0
           initial state I { ?say(n) / last := n -> O  !no -> I }
           state O { !got(n) [n == last] -> I } }
         test Any for Echo { initial inconc state 0 { ?\"say(1)\" -> 1 }
           fail state 1 { !got -> 2  * -> 3 }  pass state 2  fail state 3 }
         test Exact for Echo { initial inconc state 0 { ?\"say(1)\" -> 1 }
           fail state 1 { !\"got(2)\" -> 2  * -> 3 }  pass state 2  fail state 3 }
         test Unclear for Echo { initial inconc state 0 { ?say -> 1 }  pass state 1 }",
    );
    let echo = write(
        &folder,
        "impl.iol",
        "system E { input say(n: 0..2)  output got(n: 0..2), no  var last: 0..2 = 0
           initial state I { ?say(n) / last := n -> O }
           state O { !got(n) [n == last] -> I  ?say(n) -> O } }",
    );
    let sut = format!("model:{echo}");
    for (test, code) in [("Any", 0), ("Exact", 1), ("Unclear", 2)] {
        let suite = format!("{model}#{test}");
        let ran = iolite(&[
            "test",
            &model,
            "--suite",
            &suite,
            "--sut",
            &sut,
            "--no-journal",
        ]);
        let ran = ran.expect(code);
        assert!(
            test != "Unclear" || ran.stderr.contains("not controllable"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn written_test_cases_with_mistakes() {
    let folder = scratch("written-mistakes");
    let system = "system S { input a  output x, y  initial state s { ?a -> s  !x -> s } }";
    let model = write(&folder, "s.iol", system);
    for (test, part) in [
        (
            "test T { input a  output x  initial inconc state 0 { !x -> 1 }  pass state 1 }",
            "state `0` observes but does not say what !y means",
        ),
        (
            "test T { initial inconc state 0 { ?b -> 1 }  pass state 1 }",
            "the system has no label `?b`",
        ),
        (
            "test T for R { initial inconc state 0 { ?b -> 1 }  pass state 1 }",
            "is for system `R`, not for",
        ),
        (
            "system R { input a  initial state s { ?a -> s } }",
            "declares no test case",
        ),
    ] {
        let suite = write(&folder, "t.iol", test);
        let sut = format!("model:{model}");
        let ran = iolite(&[
            "test",
            &model,
            "--suite",
            &suite,
            "--sut",
            &sut,
            "--no-journal",
        ]);
        let ran = ran.expect(2);
        assert!(ran.stderr.contains(part), "{part}\n{}", ran.stderr);
    }
}

/// An output that the model does not have is wrong, in a written test case as in a derived one.
#[test]
fn foreign_outputs_fail() {
    let folder = scratch("written-foreign");
    let door = write(&folder, "door.iol", DOOR);
    let weird = SYSTEMS.replace("beep", "weird");
    let systems = write(&folder, "systems.iol", weird);
    let model = format!("{door}#Door");
    let sut = format!("model:{systems}#Beeps");
    let derived = folder.join("derived").display().to_string();
    iolite(&["derive", &model, "-o", &derived, "--cover", "transitions"]).expect(0);
    let written = format!("{door}#Opens");
    for suite in [&written, &derived] {
        let args = [
            "test",
            &model,
            "--suite",
            suite,
            "--sut",
            &sut,
            "--no-journal",
        ];
        let ran = iolite(&args).expect(1);
        assert!(ran.stdout.contains("!weird"), "{}", ran.stdout);
    }
}
