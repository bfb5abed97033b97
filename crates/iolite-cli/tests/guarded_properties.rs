//! Guards on values in properties, through the command line.

mod common;

use std::path::Path;

use common::{iolite, scratch, write};

const REPLIES: &str = "\
property NoFault over { ?get(id: int), !reply(code: int) } = ltl G not !reply(code) [code >= 500]
property Found over { ?get(id: int), !reply(code: int) } =
  ltl G (?get(id) [id > 0] -> X !reply(code) [code == 200 || code == 404])
property Ratio over { ?get(id: int), !reply(code: int) } = ltl G !reply(code) [1000 / code > 1] or true
property Quick over { ?get(id: int), !reply(code: int) } = ltl G (!reply(code) [1000 / code > 1] -> X ?get)
";

const SERVER: &str = "\
system Server {
  var last: 0..3 = 0
  input get(id: 0..3)
  output reply(code: 0..600)
  initial state Idle { ?get(id) / last := id -> Busy }
  state Busy {
    !reply(code) [last > 0 && code == 200] -> Idle
    !reply(code) [last == 0 && code == 503] -> Idle
  }
}
system Endless {
  var n: int = 0
  input get(id: int)
  output reply(code: int)
  initial state Idle { ?get(id) / n := n + 1 -> Busy }
  state Busy { !reply(code) [code == 200 + n] -> Idle }
}
property NoFault for Server = ltl G not !reply(code) [code >= 500]
property Answered for Server = ltl G (?get(id) [id > 0] -> F !reply(code) [code == 200])
property Low for Server = ltl G not !reply(code) [1000 / (code - 200) > 100]
property Growing for Endless = ltl G not !reply(code) [code <= 200]
property Small for Endless = ltl G not !reply(code) [code > 203]
";

const LOG: &str = r#"{"input":"get","args":[3]}
{"output":"reply","args":[200]}
{"input":"get","args":[0]}
{"output":"reply","args":[503]}
"#;

fn file(folder: &Path, name: &str, text: &str) -> String {
    write(folder, name, text)
}

#[test]
fn logs_are_judged_by_values() {
    let folder = scratch("guards-logs");
    let (properties, log) = (
        file(&folder, "p.iol", REPLIES),
        file(&folder, "l.jsonl", LOG),
    );
    let ran = iolite(&["monitor", "--property", &properties, &log, "--json"])
        .expect(1)
        .json();
    let found = |k: usize| {
        (
            &ran["properties"][k]["verdict"],
            &ran["properties"][k]["step"],
        )
    };
    assert_eq!(ran["properties"].as_array().map(Vec::len), Some(4));
    assert_eq!(*found(0).0, "fail");
    assert_eq!(*found(0).1, 4);
    assert_eq!(*found(1).0, "unknown");
    assert_eq!(ran["unseen"], 0);
    // The same by a formula on the command line, and its certificate.
    let formula = "ltl:G not !reply(code) [code >= 500]";
    let certificate = folder.join("c.json").display().to_string();
    let over = ["--over", "?get,!reply(code: int)"];
    let mut args = vec!["monitor", formula, &log, "--certificate", &certificate];
    args.extend(over);
    let told = iolite(&args).expect(1).stdout;
    assert!(told.contains("fail at event 4"), "{told}");
    let explained = iolite(&["explain", &certificate]).expect(0).stdout;
    assert!(explained.contains("!reply(503)"), "{explained}");
    // Another value, another verdict: a forged one is found.
    let text = std::fs::read_to_string(&certificate).unwrap_or_default();
    let forged = file(
        &folder,
        "f.json",
        &text.replace("!reply(503)", "!reply(404)"),
    );
    iolite(&["explain", &forged]).expect(1);
}

#[test]
fn a_guard_without_a_value_is_unknown_from_there_on() {
    let folder = scratch("guards-faults");
    let properties = file(&folder, "p.iol", REPLIES);
    let log = file(
        &folder,
        "l.jsonl",
        "{\"output\":\"reply\",\"args\":[0]}\n{\"output\":\"reply\",\"args\":[5]}\n{\"output\":\"reply\",\"args\":[5]}\n",
    );
    let quick = format!("{properties}#Quick");
    let ran = iolite(&["monitor", &quick, &log, "--json"])
        .expect(3)
        .json();
    let reason = ran["properties"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("has no value for !reply(0)"), "{ran}");
    // Without the zero it is broken.
    let log = file(
        &folder,
        "m.jsonl",
        "{\"output\":\"reply\",\"args\":[5]}\n{\"output\":\"reply\",\"args\":[5]}\n",
    );
    iolite(&["monitor", &quick, &log]).expect(1);
    // Values of another sort are no letter either.
    let log = file(
        &folder,
        "n.jsonl",
        "{\"output\":\"reply\",\"args\":[\"x\"]}\n",
    );
    let ran = iolite(&["monitor", &quick, &log]).expect(3);
    assert!(
        ran.stdout.contains("x is no int for code of !reply"),
        "{}",
        ran.stdout
    );
    let warned = iolite(&["check", &properties]).expect(0);
    assert!(
        warned.stderr.contains("has no value for code = 0")
            || warned.stdout.contains("has no value for code = 0"),
        "{} {}",
        warned.stdout,
        warned.stderr
    );
}

#[test]
fn models_with_data_are_judged_by_values() {
    let folder = scratch("guards-models");
    let server = file(&folder, "s.iol", SERVER);
    let model = format!("{server}#Server");
    let property = |name: &str| format!("{server}#{name}");
    let ran = iolite(&[
        "verify",
        &model,
        "--property",
        &property("NoFault"),
        "--json",
    ])
    .expect(1)
    .json();
    assert_eq!(ran["properties"][0]["trace"][1], "!reply(503)", "{ran}");
    iolite(&["verify", &model, "--property", &property("Answered")]).expect(0);
    let ran = iolite(&["verify", &model, "--property", &property("Low")]).expect(3);
    assert!(
        ran.stdout.contains("has no value for !reply(200)"),
        "{}",
        ran.stdout
    );
    // A formula speaks of the model's parameters.
    let formula = "ltl:G(?get(id) [id == 0] -> X !reply(c) [c == 503])";
    iolite(&["verify", &model, "--property", formula]).expect(0);
    iolite(&[
        "verify",
        &model,
        "--property",
        "ltl:G(?get(id) -> X !reply(c) [c == 503])",
    ])
    .expect(1);
    // Infinite data.
    let endless = format!("{server}#Endless");
    iolite(&["verify", &endless, "--property", &property("Growing")]).expect(0);
    let ran = iolite(&["verify", &endless, "--property", &property("Small")]).expect(1);
    assert!(ran.stdout.contains("!reply(204)"), "{}", ran.stdout);
}

#[test]
fn tests_are_judged_by_values() {
    let folder = scratch("guards-tests");
    let server = file(&folder, "s.iol", SERVER);
    let properties = file(&folder, "p.iol", REPLIES);
    let (model, sut) = (format!("{server}#Server"), format!("model:{server}#Server"));
    let runs = [
        "--sut", &sut, "--runs", "10", "--steps", "30", "--seed", "1",
    ];
    // The model allows what the property forbids.
    let mut args = vec!["test", &model, "--property"];
    let own = format!("{server}#NoFault");
    args.push(&own);
    args.extend(runs);
    let ran = iolite(&args).expect(1);
    assert!(ran.stdout.contains("violate"), "{}", ran.stdout);
    args.push("--unfold");
    let ran = iolite(&args).expect(1);
    assert!(ran.stdout.contains("violate"), "{}", ran.stdout);
    // A property may have guards on every action of the model.
    let judged = |formula: &str| {
        let mut args = vec!["test", &model, "--property", formula];
        args.extend(runs);
        iolite(&args)
    };
    let right = "ltl:G (?get(id) [id > 0] -> X !reply(c) [c == 200])";
    let ran = judged(right).expect(0);
    assert!(!ran.stdout.contains("violate"), "{}", ran.stdout);
    let wrong = "ltl:G (?get(id) [id >= 0] -> X !reply(c) [c == 200])";
    let ran = judged(wrong).expect(1);
    assert!(ran.stdout.contains("!reply(503)"), "{}", ran.stdout);
    // One that knows no action of it is for another model.
    let foreign = file(
        &folder,
        "q.iol",
        "property Other over { ?put(id: int), !done(n: int) } = ltl G (?put(id) [id > 0] -> X !done(n) [n > 0])\n",
    );
    let ran = judged(&foreign).expect(2);
    assert!(ran.stderr.contains("it knows no action"), "{}", ran.stderr);
    // Without a model, inputs get values for each of their letters.
    let found = format!("{properties}#Found");
    let mut args = vec!["test", "--property", &found];
    args.extend(runs);
    let ran = iolite(&args);
    assert!(
        ran.stdout.contains("3 runs") || ran.code == 0 || ran.code == 3,
        "{} {}",
        ran.stdout,
        ran.stderr
    );
    let faulty = format!("{properties}#NoFault");
    let mut args = vec!["test", "--property", &faulty, "--inputs", "?get(0)"];
    args.extend(runs);
    let ran = iolite(&args).expect(1);
    assert!(ran.stdout.contains("!reply(503)"), "{}", ran.stdout);
}

#[test]
fn mistakes_in_formulas() {
    for (formula, over, message) in [
        ("ltl:G not !r(x) [y > 1]", "!r(x: int)", "y"),
        ("ltl:G not !r(x) [x > ", "!r(x: int)", "missing ]"),
        ("ltl:G not !r(x [x > 1]", "!r(x: int)", "missing )"),
        ("ltl:G not !r(x) [x > 1 &]", "!r(x: int)", ""),
        ("ltl:G not !r(x, y) [x == y]", "!r", "not determined"),
        ("ltl:G not !r(x) [x == \"a\"]", "!r(x: int)", "string"),
        ("ltl:G not !r(x) [x > 1]", "!r(x: nosuch)", "nosuch"),
    ] {
        let ran = iolite(&["classify", formula, "--over", over]).expect(2);
        assert!(ran.stderr.contains(message), "{formula}: {}", ran.stderr);
    }
    let ran = iolite(&["classify", "ltl:G not r(x) [x > 1]"]).expect(2);
    assert!(ran.stderr.contains("--over"), "{}", ran.stderr);
    // Several parameters in one flag.
    let ran = iolite(&[
        "classify",
        "ltl:G not !r(x, y) [x == y]",
        "--over",
        "!r(x: int, y: int),?a",
    ])
    .expect(0);
    assert!(ran.stdout.contains("safety"), "{}", ran.stdout);
}

/// What is written as a file is read back as the same property; other formats say that they cannot hold it.
#[test]
fn automata_with_guards_are_written_and_read() {
    let folder = scratch("guards-formats");
    let properties = file(&folder, "p.iol", REPLIES);
    let found = format!("{properties}#Found");
    let text = iolite(&["show", &found, "--format", "iol"])
        .expect(0)
        .stdout;
    let again = file(&folder, "again.iol", &text);
    let (first, second) = (
        iolite(&["classify", &found, "--json"]).expect(0).json(),
        iolite(&["classify", &again, "--json"]).expect(0).json(),
    );
    assert_eq!(first["class"], second["class"]);
    assert_eq!(first["alphabet"], second["alphabet"], "{text}");
    let hoa = iolite(&["show", &found, "--format", "hoa"])
        .expect(0)
        .stdout;
    let hoa = file(&folder, "p.hoa", &hoa);
    let ran = iolite(&["classify", &hoa]).expect(2);
    assert!(
        ran.stderr.contains("is an action with a guard"),
        "{}",
        ran.stderr
    );
}
