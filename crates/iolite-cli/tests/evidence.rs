//! Certificates from the command line: of observers with data, of every failing run, of every failing test
//! case, and of fair executions; and what bounds leave behind.

mod common;

use std::path::Path;

use common::{iolite, scratch, write};

const COUNTER: &str = "system C {
  var x: int = 0
  input up(n: int)
  output now(x: int)
  initial state S { ?up(n) [n > 0] / x := x + n -> T }
  state T { !now(v) [v == x] -> S }
}
observer Small for C {
  const most: int
  initial state Ok { !now(v) [v > most] -> Bad  * -> Ok }
  violate state Bad
}
observer Once for C {
  initial state None { !now -> One  * -> None }
  state One { !now -> Twice  * -> One }
  violate state Twice
}
";

/// The exit code of `explain` after an edit of a certificate.
fn explained(folder: &Path, of: &str, edit: impl FnOnce(&mut serde_json::Value)) -> i32 {
    let text = std::fs::read_to_string(of).expect("a certificate");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    edit(&mut value);
    let path = write(folder, "edited.json", value.to_string());
    iolite(&["explain", &path]).code
}

#[test]
fn violations_of_observers_with_data_are_re_checked() {
    let folder = scratch("evidence-data");
    let model = write(&folder, "counter.iol", COUNTER);
    let monitor = |log: &str, observer: &str, more: &[&str]| {
        let log = write(&folder, "log.txt", log);
        let path = folder.join("c.json").display().to_string();
        let observer = format!("{model}#{observer}");
        let args = [
            "monitor",
            &model,
            &log,
            "--observer",
            &observer,
            "--certificate",
            &path,
        ];
        iolite(&[&args, more].concat()).expect(1);
        iolite(&["explain", &path]).expect(0);
        path
    };
    let most = ["--const", "most=5"];
    let path = monitor("?up(3)\n!now(3)\n?up(4)\n!now(7)\n", "Small", &most);
    assert_eq!(explained(&folder, &path, |_| ()), 0);
    // A verdict, a constant, a value of the trace, a place, an observer: each belongs to the claim.
    assert_eq!(
        explained(&folder, &path, |c| c["verdict"] = "violate-fail".into()),
        1
    );
    assert_eq!(
        explained(&folder, &path, |c| c["verdict"] = "fail".into()),
        1
    );
    let constants = |value: &str| {
        let value = value.to_owned();
        move |c: &mut serde_json::Value| c["data_observers"][0]["constants"][0] = value.into()
    };
    assert_eq!(explained(&folder, &path, constants("most=7")), 1);
    assert_eq!(explained(&folder, &path, constants("most=6")), 0);
    assert_eq!(explained(&folder, &path, constants("least=6")), 1);
    assert_eq!(
        explained(&folder, &path, |c| c["trace"][0] = "?up(4)".into()),
        1
    );
    let place = |c: &mut serde_json::Value| {
        let places = c["locations"].as_array_mut().expect("places");
        *places.last_mut().expect("one") = "Small: Bad".into();
    };
    assert_eq!(explained(&folder, &path, place), 1);
    assert_eq!(
        explained(&folder, &path, |c| c["data_observers"] =
            serde_json::json!([])),
        1
    );
    // Two wrongs at once, and a violation alone of an observer without data.
    monitor("?up(3)\n!now(3)\n?up(4)\n!now(8)\n", "Small", &most);
    let path = monitor("?up(3)\n!now(3)\n?up(4)\n!now(7)\n", "Once", &[]);
    assert_eq!(
        explained(&folder, &path, |c| c["observers"][0]["marked"] =
            serde_json::json!([0])),
        1
    );
}

#[test]
fn an_observer_with_data_beside_a_model_without() {
    let folder = scratch("evidence-beside");
    let text = "system S {
  input a  output x
  initial state P { ?a -> Q }
  state Q { !x -> P  ?a -> Q }
}
observer Few for S {
  var n: 0..2 = 0
  initial state Ok { !x [n < 2] / n := n + 1 -> Ok  !x [n == 2] -> Bad  * -> Ok }
  violate state Bad
}
";
    let model = write(&folder, "s.iol", text);
    let log = write(&folder, "log.txt", "?a\n!x\n?a\n!x\n?a\n!x\n");
    let path = folder.join("c.json").display().to_string();
    let observer = format!("{model}#Few");
    let args = [
        "monitor",
        &model,
        &log,
        "--observer",
        &observer,
        "--certificate",
        &path,
    ];
    iolite(&args).expect(1);
    iolite(&["explain", &path]).expect(0);
    assert_eq!(
        explained(&folder, &path, |c| c["verdict"] = "fail".into()),
        1
    );
    assert_eq!(
        explained(&folder, &path, |c| c["locations"][1] =
            "Few: Ok (n = 1)".into()),
        1
    );
    let shorter = |c: &mut serde_json::Value| {
        let trace = c["trace"].as_array_mut().expect("a trace");
        trace.drain(..2);
    };
    assert_eq!(explained(&folder, &path, shorter), 1);
}

/// Implementations that answer wrongly in two ways.
const WRONG: &str = "des (0, 4, 2)
(0, \"?a\", 1)
(1, \"!y\", 0)
(1, \"!z\", 0)
(1, \"?a\", 1)
";
const RIGHT: &str = "des (0, 3, 2)
(0, \"?a\", 1)
(1, \"!x\", 0)
(1, \"?a\", 1)
";

#[test]
fn every_failing_run_has_a_whole_certificate() {
    let folder = scratch("evidence-failures");
    let spec = write(&folder, "s.aut", RIGHT);
    let sut = format!("model:{}", write(&folder, "i.aut", WRONG));
    let journal = folder.join("runs.jsonl").display().to_string();
    let args = [
        "test",
        &spec,
        "--sut",
        &sut,
        "--runs",
        "6",
        "--journal",
        &journal,
        "--json",
    ];
    let ran = iolite(&args).expect(1);
    let failures = ran.json()["failures"].as_array().expect("failures").clone();
    assert!(failures.len() > 1, "{}", ran.stdout);
    let document = write(&folder, "answer.json", &ran.stdout);
    iolite(&["explain", &document]).expect(0);
    for failure in &failures {
        let run = failure["run"].to_string();
        iolite(&["explain", &document, "--run", &run]).expect(0);
        iolite(&["explain", &journal, "--run", &run]).expect(0);
        // The models stand once.
        assert!(failure["certificate"].get("files").is_none(), "{failure}");
    }
    iolite(&["explain", &document, "--run", "77"]).expect(2);
    let mut forged = ran.json();
    forged["failures"][1]["certificate"]["verdict"] = "fail".into();
    let path = write(&folder, "forged.json", forged.to_string());
    let run = failures[1]["run"].to_string();
    // The verdict is shared by all: said twice, it is no certificate.
    iolite(&["explain", &path, "--run", &run]).expect(2);
    let mut forged = ran.json();
    forged["shared"]["verdict"] = "violate".into();
    let path = write(&folder, "forged.json", forged.to_string());
    iolite(&["explain", &path, "--run", &run]).expect(1);
    // The journal carries the models: they are not read from disk, and a change is told.
    write(&folder, "s.aut", WRONG);
    let ran = iolite(&["explain", &journal, "--run", &run]).expect(0);
    assert!(ran.stdout.contains("is not the file"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("read from disk"), "{}", ran.stdout);
    // A text of the journal that is not the one with its hash proves nothing.
    let text = std::fs::read_to_string(&journal).expect("a journal");
    let forged = write(&folder, "forged.jsonl", text.replacen("!x", "!y", 1));
    iolite(&["explain", &forged, "--run", &run]).expect(2);
}

#[test]
fn every_failing_test_case_has_a_certificate() {
    let folder = scratch("evidence-passes");
    let spec = write(&folder, "s.aut", RIGHT);
    let wrong = write(&folder, "i.aut", WRONG);
    let suite = folder.join("suite").display().to_string();
    iolite(&[
        "derive", &spec, "--count", "16", "--depth", "4", "-o", &suite, "--seed", "3",
    ])
    .expect(0);
    let ran = iolite(&["passes", &wrong, &suite, "--json"]).expect(1);
    let document = write(&folder, "answer.json", &ran.stdout);
    let json = ran.json();
    let cases = json["cases"].as_array().expect("cases");
    let mut failing = 0;
    for (k, case) in cases.iter().enumerate() {
        let explained = iolite(&["explain", &document, "--run", &k.to_string()]);
        if case["passes"] == false {
            failing += 1;
            assert_eq!(
                explained.code, 0,
                "{}{}",
                explained.stdout, explained.stderr
            );
        } else {
            assert_eq!(explained.code, 2, "{}", explained.stdout);
        }
    }
    assert!(failing > 1, "{json}");
}

#[test]
fn fair_executions_are_re_checked() {
    let folder = scratch("evidence-fair");
    // Weakly fair: ?a may come for ever, and !x is enabled only in between.
    let text = "des (0, 3, 2)\n(0, \"?a\", 1)\n(1, \"?a\", 0)\n(1, \"!x\", 1)\n";
    let model = write(&folder, "m.aut", text);
    let path = folder.join("c.json").display().to_string();
    let verify = |fairness: &str| {
        let args = [
            "verify",
            &model,
            "--property",
            "ltl:GF !x",
            "--environment",
            "goes-on",
        ];
        let more = ["--fairness", fairness, "--certificate", &path];
        iolite(&[&args[..], &more].concat())
    };
    verify("weak").expect(1);
    iolite(&["explain", &path]).expect(0);
    assert_eq!(
        explained(&folder, &path, |c| c["fairness"] = "strong".into()),
        1
    );
    assert_eq!(
        explained(&folder, &path, |c| c["execution"] = serde_json::Value::Null),
        1
    );
    assert_eq!(
        explained(&folder, &path, |c| c["execution"]["cycle"][0][1] = 1.into()),
        1
    );
    verify("strong").expect(0);
}

#[test]
fn ioconf_f_that_holds_has_a_certificate() {
    let folder = scratch("evidence-ioconf-f");
    let spec = write(&folder, "s.aut", RIGHT);
    let traces = write(
        &folder,
        "f.aut",
        "des (0, 2, 2)\n(0, \"?a\", 1)\n(1, \"!x\", 0)\n",
    );
    let path = folder.join("c.json").display().to_string();
    let args = [
        "relate",
        "ioconf-f",
        &spec,
        &spec,
        "--traces",
        &traces,
        "--certificate",
        &path,
    ];
    iolite(&args).expect(0);
    iolite(&["explain", &path]).expect(0);
    assert_eq!(
        explained(&folder, &path, |c| c["pairs"]["traces"][0] = 1.into()),
        1
    );
}

#[test]
fn cut_and_shuffled_certificates() {
    let folder = scratch("evidence-cut");
    let spec = write(&folder, "s.aut", RIGHT);
    let wrong = write(&folder, "i.aut", WRONG);
    let path = folder.join("c.json").display().to_string();
    iolite(&["relate", "ioco", &wrong, &spec, "--certificate", &path]).expect(1);
    let text = std::fs::read_to_string(&path).expect("a certificate");
    for part in 1..8 {
        let cut = write(&folder, "cut.json", &text[..text.len() * part / 8]);
        iolite(&["explain", &cut]).expect(2);
    }
    // Keys in another order, and lists in another order where order means nothing.
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let map = value.as_object().expect("an object");
    let turned: Vec<String> = map
        .iter()
        .rev()
        .map(|(k, v)| format!("\"{k}\": {v}"))
        .collect();
    let turned = write(&folder, "turned.json", format!("{{{}}}", turned.join(", ")));
    iolite(&["explain", &turned]).expect(0);
    assert_eq!(explained(&folder, &path, |c| c["why"] = 1.into()), 2);
}

/// What an answer says beside its certificate is compared with it, or told to be unchecked.
#[test]
fn answers_around_certificates() {
    let folder = scratch("evidence-around");
    let spec = write(&folder, "s.aut", RIGHT);
    let wrong = write(&folder, "i.aut", WRONG);
    let answer = iolite(&["relate", "ioco", &wrong, &spec, "--json"]).expect(1);
    let path = write(&folder, "answer.json", &answer.stdout);
    let told = iolite(&["explain", &path]).expect(0).stdout;
    assert!(told.contains("not checked: the effort"), "{told}");
    let edits: [(&str, &str, i32); 8] = [
        ("holds", "true", 1),
        ("relation", "\"uioco\"", 1),
        ("implementation_hash", "\"0123456789abcdef\"", 1),
        ("specification_hash", "\"\"", 1),
        ("context", "\"queues\"", 1),
        (
            "semantics",
            "{\"quiescence\": \"strict\", \"complete_inputs\": null}",
            1,
        ),
        ("specification", "\"i.aut\"", 1),
        ("verdict", "\"pass\"", 2),
    ];
    for (key, value, exit) in edits {
        let found = explained(&folder, &path, |c| c[key] = json(value));
        assert_eq!(found, exit, "{key}");
    }
}

/// The constants of an instance, declared or named, are those of the observers beside it: with `max` = 2
/// the second message violates nothing.
#[test]
fn an_observer_has_the_constants_of_an_instance() {
    let folder = scratch("evidence-instance");
    let brp = std::fs::read_to_string(common::root().join("examples/brp/brp.iol"));
    let text = brp.expect("the example") + "\nsystem Two = Sender(max = 2, f = [10, 20, 30])\n";
    let model = write(&folder, "brp.iol", text);
    let observer = format!("{model}#Retries");
    let log = |messages: usize| "?REQ(1)\n".to_owned() + &"!MSG(10, true)\n".repeat(messages);
    for system in ["Two", "Sender(max=2, f=[10, 20, 30])"] {
        let system = format!("{model}#{system}");
        let path = folder.join("c.json").display().to_string();
        let monitor = |messages: usize| {
            let log = write(&folder, "log.txt", log(messages));
            let args = ["monitor", &system, &log, "--observer", &observer];
            iolite(&[&args[..], &["--certificate", &path]].concat())
        };
        monitor(2).expect(0);
        let ran = monitor(3).expect(1);
        assert!(ran.stdout.contains("violate-fail"), "{}", ran.stdout);
        iolite(&["explain", &path]).expect(0);
    }
}

const CANDY: &str = "system Machine {
  input but  output liq
  initial state Idle { ?but -> Busy }
  state Busy { !liq -> Idle  ?but -> Busy }
}
system Twice {
  input but  output liq
  initial state Idle { ?but -> Busy }
  state Busy { !liq -> More  ?but -> Busy }
  state More { !liq -> Idle  ?but -> Busy }
}
test Hasty {
  input but  output liq
  initial fail state 0 { ?but -> 1 }
  fail state 1 { !liq -> 3  delta -> 3 }
  fail state 3
}
property NeverTwo over {?but, !liq} = ltl G(?but -> X not ?but)
property Rests over {?but, !liq} = ltl G(!liq -> X not !liq)
";

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn suites_have_certificates() {
    let folder = scratch("evidence-suites");
    let model = write(&folder, "candy.iol", CANDY);
    let (machine, hasty) = (format!("{model}#Machine"), format!("{model}#Hasty"));
    let path = folder.join("hasty.json").display().to_string();
    iolite(&["suite", &machine, &hasty, "--certificate", &path]).expect(1);
    let told = iolite(&["explain", &path]).expect(0).stdout;
    assert!(told.contains("Hasty is not sound for ioco"), "{told}");
    let verdict = |value: &mut serde_json::Value| value["verdict"] = "fail".into();
    assert_eq!(explained(&folder, &path, verdict), 1);
    let kept = |value: &mut serde_json::Value| value["allowed"] = json(r#"["!liq", "!liq"]"#);
    assert_eq!(explained(&folder, &path, kept), 0);
    let answer = iolite(&["suite", &machine, &hasty, "--json"])
        .expect(1)
        .stdout;
    let document = write(&folder, "suite.json", &answer);
    let told = iolite(&["explain", &document]).expect(0).stdout;
    assert!(told.contains("none of 1 test cases"), "{told}");
    iolite(&["explain", &document, "--run", "0"]).expect(0);
    assert_eq!(json(&answer)["certificate"]["verdict"], "undetected");
    // Whoever leaves out a test case claims something else, which its text does not show.
    let fewer = |value: &mut serde_json::Value| value["certificate"]["suite"] = json("[]");
    assert_eq!(explained(&folder, &document, fewer), 1);
}

#[test]
fn properties_beside_a_model_have_certificates() {
    let folder = scratch("evidence-properties");
    let model = write(&folder, "candy.iol", CANDY);
    let of = |name: &str| format!("{model}#{name}");
    let (machine, rests) = (of("Machine"), of("Rests"));
    let sut = format!("model:{}", of("Twice"));
    let args = ["test", &machine, "--property", &rests, "--sut", &sut];
    let more = ["--runs", "4", "--steps", "9", "--no-journal", "--json"];
    let answer = iolite(&[&args[..], &more].concat()).expect(1).stdout;
    let document = json(&answer);
    assert_eq!(document["verdict"], "violate-fail");
    assert!(document.get("warnings").is_none(), "{document}");
    let answer = write(&folder, "test.json", &answer);
    iolite(&["explain", &answer]).expect(0);
    iolite(&["explain", &answer, "--run", "3"]).expect(0);
    let forged = |value: &mut serde_json::Value| value["certificate"]["verdict"] = "fail".into();
    assert_eq!(explained(&folder, &answer, forged), 1);
    // A log that conforms and violates a property, and one that does neither.
    let log = write(&folder, "one.txt", "?but\n?but\n!liq\n");
    let path = folder.join("c.json").display().to_string();
    let never = of("NeverTwo");
    let args = ["monitor", &machine, &log, "--property", &never];
    iolite(&[&args[..], &["--certificate", &path]].concat()).expect(1);
    let told = iolite(&["explain", &path]).expect(0).stdout;
    assert!(
        told.contains("no continuation is in the property"),
        "{told}"
    );
    let log = write(&folder, "two.txt", "?but\n?but\n!liq\n!liq\n");
    let args = ["monitor", &machine, &log, "--property", &never, "--json"];
    let document = json(&iolite(&args).expect(1).stdout);
    for (key, kind) in [
        ("certificate", "ioco"),
        ("property_certificate", "property"),
    ] {
        assert_eq!(document[key]["kind"], kind);
        let path = write(&folder, "part.json", document[key].to_string());
        iolite(&["explain", &path]).expect(0);
    }
}

#[test]
fn monitored_and_merged_runs_have_certificates() {
    let folder = scratch("evidence-runs");
    let model = write(&folder, "candy.iol", CANDY);
    let machine = format!("{model}#Machine");
    let sut = format!("model:{model}#Twice");
    let mut journals = Vec::new();
    for share in ["1/2", "2/2"] {
        let journal = folder.join(format!("{}.jsonl", &share[..1]));
        journals.push(journal.display().to_string());
        let args = [
            "test", &machine, "--sut", &sut, "--runs", "6", "--steps", "8",
        ];
        let more = [
            "--partition",
            share,
            "--journal",
            journals.last().expect("one"),
        ];
        iolite(&[&args[..], &more].concat()).expect(1);
    }
    let all = folder.join("all.jsonl").display().to_string();
    let args = ["merge", &journals[0], &journals[1], "-o", &all, "--json"];
    let merged = write(&folder, "merged.json", iolite(&args).expect(1).stdout);
    let args = ["monitor", &machine, &all, "--json"];
    let monitored = write(&folder, "monitored.json", iolite(&args).expect(1).stdout);
    for document in [&merged, &monitored] {
        iolite(&["explain", document]).expect(0);
        for run in ["0", "3", "5"] {
            iolite(&["explain", document, "--run", run]).expect(0);
        }
    }
}

#[test]
fn a_certificate_that_cannot_be_made_is_warned_of() {
    let folder = scratch("evidence-missing");
    let model = write(&folder, "candy.iol", CANDY);
    let (machine, hasty) = (format!("{model}#Machine"), format!("{model}#Hasty"));
    let args = [
        "test",
        &machine,
        "--suite",
        &hasty,
        "--no-journal",
        "--json",
    ];
    let sut = format!("model:{machine}");
    let found = iolite(&[&args[..], &["--sut", &sut]].concat()).expect(1);
    let told = "there is no certificate for run 0: the verdicts of a hand-written test case";
    assert!(found.stderr.contains(told), "{}", found.stderr);
    let warnings = &json(&found.stdout)["warnings"][0];
    assert!(warnings.as_str().expect("a text").starts_with(told));
}

#[test]
fn a_relation_that_holds_through_queues_has_a_packed_certificate() {
    let folder = scratch("evidence-queues");
    let model = write(&folder, "candy.iol", CANDY);
    let machine = format!("{model}#Machine");
    let path = folder.join("holds.json.gz").display().to_string();
    let args = ["relate", "ioco", &machine, &machine, "--context", "queues"];
    let more = ["--max-in-flight", "2", "--certificate", &path];
    iolite(&[&args[..], &more].concat()).expect(0);
    let bytes = std::fs::read(&path).expect("a file");
    assert_eq!(bytes[..2], [0x1f, 0x8b]);
    let told = iolite(&["explain", &path]).expect(0).stdout;
    assert!(told.contains("at most 2 inputs under way"), "{told}");
}

/// A sender that takes every request and says nothing.
const SILENT: &str = "system Silent {
  input REQ(l: int), ACK
  output MSG(pMsg: int, pBit: bool), OK, NOT_OK, DONT_KNOW
  var n: int = 0
  initial state Deaf { ?REQ(l) / n := l -> Deaf  ?ACK -> Deaf }
}";

/// A model with data that fails a test case with data: the run is in the certificate, and every leaf of it belongs
/// to the claim.
#[test]
fn failing_test_cases_with_data_have_certificates() {
    let folder = scratch("evidence-data-test");
    let suite = folder.join("suite").display().to_string();
    let model = "examples/papers/sym04_fig1.iol";
    let sender = format!("{model}#Sender(max=2, f=[10, 20, 30])");
    let observer = format!("{model}#NoSilence");
    iolite(&["derive", &sender, "--observer", &observer, "-o", &suite]).expect(0);
    let silent = write(&folder, "silent.iol", SILENT);
    let path = folder.join("c.json").display().to_string();
    iolite(&["passes", &silent, &suite, "--certificate", &path]).expect(1);
    let told = iolite(&["explain", &path]).expect(0).stdout;
    assert!(told.contains("by the simulator"), "{told}");
    let text = std::fs::read_to_string(&path).expect("a certificate");
    let whole = json(&text);
    let mut leaves = Vec::new();
    leaves_of(&whole, String::new(), &mut leaves);
    let claimed = |at: &&String| !at.starts_with("/reading") && !at.ends_with("/how");
    let leaves: Vec<&String> = leaves.iter().filter(claimed).collect();
    assert!(leaves.len() > 20, "{leaves:?}");
    for at in leaves {
        for new in ["violate", "1", "?REQ(2)"] {
            let code = explained(&folder, &path, |c| {
                let leaf = c.pointer_mut(at).expect("a leaf");
                *leaf = match leaf {
                    serde_json::Value::Number(n) => (n.as_u64().unwrap_or(0) + 1).into(),
                    _ => new.into(),
                };
            });
            let same = whole.pointer(at) == Some(&new.into());
            assert!(code != 0 || same, "{at} = {new}");
        }
    }
}

fn leaves_of(value: &serde_json::Value, at: String, all: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, inner) in map {
                leaves_of(inner, format!("{at}/{key}"), all);
            }
        }
        serde_json::Value::Array(list) => {
            for (k, inner) in list.iter().enumerate() {
                leaves_of(inner, format!("{at}/{k}"), all);
            }
        }
        serde_json::Value::Null => {}
        _ => all.push(at),
    }
}
