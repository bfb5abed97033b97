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
    assert_eq!(
        explained(&folder, &path, |c| c["certificate"]["why"] = 1.into()),
        2
    );
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
