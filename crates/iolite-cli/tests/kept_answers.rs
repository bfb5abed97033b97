//! What goes wrong beside an answer loses none of it: a file that cannot be written, a test case that cannot be set
//! up, a log that cannot be read.

mod common;

use common::{iolite, scratch, write};

const CANDY: &str = "system Machine {
  input but  output liq, choc
  initial state Idle { ?but -> Busy }
  state Busy { !liq -> Idle  ?but -> Busy }
}
system Twice {
  input but  output liq, choc
  initial state Idle { ?but -> Busy }
  state Busy { !liq -> Again  ?but -> Busy }
  state Again { !choc -> Idle  ?but -> Again }
}
test Hasty {
  input but  output liq
  initial fail state 0 { ?but -> 1 }
  fail state 1 { * -> 3 }
  fail state 3
}
observer NoLiq for Machine {
  initial state Ok { !liq -> Bad  * -> Ok }
  violate state Bad
}
";

/// A file in a folder that is not there.
const NOWHERE: &str = "/nowhere/at-all.json";

#[test]
fn a_file_beside_the_answer_that_cannot_be_written() {
    let folder = scratch("kept-files");
    let model = write(&folder, "candy.iol", CANDY);
    let [machine, twice, hasty, no_liq] =
        ["Machine", "Twice", "Hasty", "NoLiq"].map(|name| format!("{model}#{name}"));
    let log = write(&folder, "twice.txt", "?but\n!liq\n!choc\n");
    let sut = format!("model:{twice}");
    let on_the_fly = [
        "test",
        &*machine,
        "--sut",
        &*sut,
        "--runs",
        "3",
        "--no-journal",
    ];
    let with = |more: &[&'static str]| -> Vec<&str> {
        on_the_fly
            .iter()
            .copied()
            .chain(more.iter().copied())
            .collect()
    };
    let failing: &[(Vec<&str>, &str)] = &[
        (vec!["relate", "ioco", &twice, &machine], "--certificate"),
        (
            vec!["verify", &machine, "--property", &no_liq],
            "--certificate",
        ),
        (vec!["passes", &machine, &hasty], "--certificate"),
        (vec!["suite", &machine, &hasty], "--certificate"),
        (vec!["monitor", &machine, &log], "--certificate"),
        (
            vec![
                "monitor",
                "ltl:G(?but -> X ! !liq)",
                &log,
                "--over",
                "?but,!liq,!choc",
                "--certificate",
                "/nowhere/at-all-either.json",
            ],
            "--picture",
        ),
        (with(&[]), "--certificate"),
        (with(&[]), "--coverage"),
    ];
    for (command, flag) in failing {
        for json in [false, true] {
            let mut args = command.clone();
            args.extend([*flag, NOWHERE]);
            if json {
                args.push("--json");
            }
            let ran = iolite(&args).expect(1);
            assert!(ran.stderr.contains("nowhere"), "{args:?}: {}", ran.stderr);
            if json {
                ran.json();
            } else {
                assert!(!ran.stdout.is_empty(), "{args:?}");
            }
        }
    }
    // Of an answer that holds the fault is what is told.
    let ran = iolite(&[
        "relate",
        "ioco",
        &machine,
        &machine,
        "--certificate",
        NOWHERE,
    ])
    .expect(4);
    assert!(ran.stdout.contains(": holds"), "{}", ran.stdout);
    let sut = format!("model:{machine}");
    let args = [
        "test",
        &machine,
        "--sut",
        &sut,
        "--runs",
        "1",
        "--no-journal",
        "--json",
    ];
    let ran = iolite(&[&args[..], &["--coverage", NOWHERE]].concat()).expect(4);
    assert_eq!(ran.json()["verdict"], "pass");
}

#[test]
fn joined_shares_that_cannot_be_written() {
    let folder = scratch("kept-shares");
    let model = write(&folder, "candy.iol", CANDY);
    let [machine, twice] = ["Machine", "Twice"].map(|name| format!("{model}#{name}"));
    let journal = folder.join("all.jsonl").display().to_string();
    let sut = format!("model:{twice}");
    let args = [
        "test",
        &machine,
        "--sut",
        &sut,
        "--runs",
        "3",
        "--journal",
        &journal,
    ];
    iolite(&[&args[..], &["--partition", "1/1"]].concat()).expect(1);
    let ran = iolite(&["merge", &journal, "-o", NOWHERE, "--json"]).expect(1);
    assert_eq!(ran.json()["verdict"], "fail");
    let log = write(&folder, "twice.txt", "?but\n!liq\n!choc\n");
    let ran = iolite(&["monitor", &machine, &log, "--partition", "1/1", "--json"]).expect(1);
    let share = write(&folder, "share.json", ran.stdout);
    let ran = iolite(&["merge", &share, "-o", NOWHERE, "--json"]).expect(1);
    assert_eq!(ran.json()["verdict"], "fail");
}

#[test]
fn a_test_case_that_cannot_be_set_up() {
    let folder = scratch("kept-cases");
    let model = write(
        &folder,
        "data.iol",
        "system D {
  const c: int
  assume c >= 0
  input a(n: int)
  output r(v: int)
  var x: int = 0
  initial state s0 { ?a(n) [n > 3] / x := n -> s1 }
  state s1 { !r(v) [v == x + 1] -> s0 }
}
purpose P for D {
  initial state i { !r -> Yes  * -> i }
  accept state Yes
}
system Wrong {
  input a(n: int)
  output r(v: int)
  initial state s0 { ?a(n) -> s1 }
  state s1 { !r(v) [v == 0] -> s0 ?a(n) -> s1 }
}
",
    );
    let suite = folder.join("suite");
    let derived = [
        "derive",
        &format!("{model}#D"),
        "--purpose",
        &format!("{model}#P"),
    ];
    iolite(&[&derived[..], &["-o", &suite.display().to_string()]].concat()).expect(0);
    let case = std::fs::read_to_string(suite.join("P.json")).expect("it was written");
    let mut case: serde_json::Value = serde_json::from_str(&case).expect("JSON");
    // A sum of three cubes is not decided.
    let cube = |x: &str| serde_json::json!(["*", x, ["*", x, x]]);
    let sum = serde_json::json!(["+", ["+", cube("c"), cube("p")], cube("q")]);
    case["name"] = "Q".into();
    case["constants"] = serde_json::json!([["c", "int"], ["p", "int"], ["q", "int"]]);
    case["assumptions"] = serde_json::json!([["==", sum, 33]]);
    write(&suite, "Q.json", case.to_string());
    let suite = suite.display().to_string();
    let report = folder.join("r.xml").display().to_string();
    let (of_model, wrong) = (format!("{model}#D"), format!("model:{model}#Wrong"));
    let test = |suite: &str, more: &[&str]| {
        let args = [
            "test",
            &of_model,
            "--sut",
            &wrong,
            "--suite",
            suite,
            "--junit",
            &report,
            "--no-journal",
        ];
        iolite(&[&args[..], more].concat())
    };
    let ran = test(&suite, &["--json"]).expect(1);
    let document = ran.json();
    assert_eq!(document["verdict"], "fail");
    let cases = &document["cases"];
    assert_eq!(
        (&cases[0]["case"], &cases[0]["verdict"]),
        (&"P".into(), &"fail".into())
    );
    assert_eq!(
        (&cases[1]["case"], &cases[1]["verdict"]),
        (&"Q".into(), &"unknown".into())
    );
    let why = cases[1]["not_set_up"].as_str().expect("a reason");
    assert!(!why.is_empty(), "{cases}");
    let told = test(&suite, &[]).expect(1).stdout;
    assert!(
        told.contains("P: 1 fail\n") && told.contains("Q: 1 unknown\n  not set up: "),
        "{told}"
    );
    let xml = std::fs::read_to_string(&report).expect("the report");
    assert!(
        xml.contains("failures=\"1\"") && xml.contains("skipped=\"1\""),
        "{xml}"
    );
    // Alone it leaves everything open.
    let ran = test(&format!("{suite}/Q.json"), &["--json", "--repeat", "2"]).expect(3);
    let verdicts = &ran.json()["verdicts"];
    assert_eq!(verdicts, &serde_json::json!({ "unknown": 2 }));
}

#[test]
fn a_log_that_cannot_be_read() {
    let folder = scratch("kept-logs");
    let model = write(&folder, "candy.iol", CANDY);
    let machine = format!("{model}#Machine");
    let right = write(&folder, "right.txt", "?but\n!liq\n");
    let wrong = write(&folder, "wrong.txt", "?but\n!choc\n");
    let mut others = vec![write(
        &folder,
        "garbled.jsonl",
        "{\"action\":\"?but\"}\n{\"act\n",
    )];
    others.push(folder.join("missing.txt").display().to_string());
    for other in &others {
        let ran = iolite(&["monitor", &machine, &right, other, &wrong, "--json"]).expect(1);
        let document = ran.json();
        assert_eq!(document["verdict"], "fail");
        let verdicts = document["logs"].as_array().expect("a list").iter();
        let verdicts: Vec<_> = verdicts.map(|log| log["verdict"].as_str()).collect();
        assert_eq!(verdicts, [Some("pass"), None, Some("fail")]);
        assert_eq!(document["logs"][1]["error"]["kind"], "input");
        assert!(!ran.stderr.is_empty());
        let ran = iolite(&["monitor", &machine, &right, other]).expect(2);
        assert!(
            ran.stdout.contains("1 pass, 1 not judged"),
            "{}",
            ran.stdout
        );
        let ran = iolite(&["monitor", &machine, &right, other, "--json"]).expect(2);
        assert_eq!(ran.json()["verdict"], "unknown");
        // Shares are joined as they are.
        let share = write(&folder, "share.json", ran.stdout);
        let all = folder.join("all.json").display().to_string();
        let ran = iolite(&["merge", &share, "-o", &all]).expect(2);
        assert!(ran.stdout.contains("not judged: "), "{}", ran.stdout);
    }
    // A mistake in the model is said once.
    let ran = iolite(&["monitor", &format!("{model}#Nobody"), &right, &wrong]).expect(2);
    assert_eq!(ran.stderr.matches("error").count(), 1, "{}", ran.stderr);
}

#[test]
fn a_journal_that_cannot_be_read_on() {
    let folder = scratch("kept-runs");
    let model = write(&folder, "candy.iol", CANDY);
    let [machine, twice] = ["Machine", "Twice"].map(|name| format!("{model}#{name}"));
    let journal_of = |system: &str, name: &str| {
        let journal = folder.join(name).display().to_string();
        let sut = format!("model:{system}");
        let args = [
            "test", &machine, "--sut", &sut, "--runs", "3", "--steps", "9",
        ];
        iolite(&[&args[..], &["--journal", &journal]].concat());
        let text = std::fs::read_to_string(&journal).expect("a journal");
        write(&folder, name, text + "{ nothing\n")
    };
    let wrong = journal_of(&twice, "wrong.jsonl");
    let right = journal_of(&machine, "right.jsonl");
    let ran = iolite(&["monitor", &machine, &wrong, "--json"]).expect(1);
    let document = ran.json();
    assert_eq!(
        (&document["verdict"], &document["runs"]),
        (&"fail".into(), &3.into())
    );
    let failures = document["failures"].as_array().map_or(0, Vec::len);
    assert!(failures > 1, "{document}");
    let why = document["error"].as_str().expect("why it was not read on");
    assert!(ran.stderr.contains(why), "{why}\n{}", ran.stderr);
    let ran = iolite(&["monitor", &machine, &right, "--json"]).expect(2);
    let document = ran.json();
    assert_eq!(
        (&document["verdict"], &document["runs"]),
        (&"unknown".into(), &3.into())
    );
    // Among several logs too.
    iolite(&["monitor", &machine, &right, &wrong]).expect(1);
    let ran = iolite(&["monitor", &machine, &right, &right, "--json"]).expect(2);
    assert_eq!(ran.json()["logs"][1]["error"]["kind"], "input");
}
