//! Selections from canonical testers, conformance as a property, properties as purposes, and pictures of a log's way.

mod common;

use common::{iolite, scratch, write};

const OS: &str = "examples/papers/prop12_os.iol#Op1";

const LOGGED: &str = "\
system Os {
  input op_sec, op
  output log, done
  initial state Idle { ?op_sec -> Log  ?op -> Done }
  state Log { !log -> Done }
  state Done { !done -> Idle }
}
system Lazy {
  input op_sec, op
  output log, done
  initial state Idle { ?op_sec -> Done  ?op -> Done }
  state Done { !done -> Idle }
}
property Reach for Os = ltl F !log
property NoSec for Os = ltl G not ?op_sec
";

/// [PROP12, ex. 10]: `(?op_uns !uncrypt)* ?op_uns (!crypt + ?op_sec)`, and remark 5.
#[test]
fn selections_of_the_paper() {
    let choose = ["--choose", "1=?op_uns", "--choose", "4=?op_sec"];
    let mut args = vec!["tester", OS, "--target", "fail", "--json"];
    args.extend(choose);
    let case = iolite(&args).expect(0).json();
    let states = case["states"].as_array().expect("states");
    let step = |from: usize, action: &str| {
        let mut steps = states[from]["steps"].as_array().into_iter().flatten();
        let found = steps.find(|s| s["action"] == action);
        found.and_then(|s| s["target"].as_u64()).map(|t| t as usize)
    };
    let four = step(0, "?op_uns").expect("the chosen input");
    assert_eq!(step(four, "!uncrypt"), Some(0), "the loop");
    for last in ["!crypt", "?op_sec"] {
        let end = step(four, last).expect(last);
        assert_eq!(states[end]["verdict"], "fail");
    }
    assert_eq!(step(0, "?op_sec"), None, "one input at a time");
    // Remark 5: by way of the secure mode, and back.
    let case = iolite(&["tester", OS, "--target", "fail", "--visit", "3", "--json"])
        .expect(0)
        .json();
    let first = &case["states"][0];
    assert_eq!(first["input"], "?auth_req", "{case}");
    let away = iolite(&[
        "tester",
        OS,
        "--target",
        "fail",
        "--avoid",
        "4",
        "--choose",
        "1=?op_uns",
    ])
    .expect(2);
    assert!(
        away.stderr.contains("?op_uns cannot be given in state 1"),
        "{}",
        away.stderr
    );
    for (flags, message) in [
        (&["--choose", "1"][..], "STATE=INPUT"),
        (&["--choose", "9=?op_uns"], "no state `9`"),
        (&["--choose", "1=?nothing"], "no action `?nothing`"),
        (&["--visit", "nowhere"], "no state `nowhere`"),
    ] {
        let mut args = vec!["tester", OS, "--target", "fail"];
        args.extend(flags);
        let ran = iolite(&args).expect(2);
        assert!(ran.stderr.contains(message), "{flags:?}: {}", ran.stderr);
    }
}

/// [PROP12, §9.1]: the tester of the property detects what `relate ioco` refutes.
#[test]
fn conformance_is_a_property() {
    let folder = scratch("selections-conformance");
    let file = write(&folder, "os.iol", LOGGED);
    let (os, lazy) = (format!("{file}#Os"), format!("{file}#Lazy"));
    let property = format!("ioco:{os}");
    let class = iolite(&["classify", &property, "--json"]).expect(0).json();
    assert_eq!(class["class"]["class"], "safety");
    let completed = ["--complete-inputs", "self-loop"];
    iolite(&[&["relate", "ioco", &lazy, &os][..], &completed].concat()).expect(1);
    let refuted = iolite(&["verify", &lazy, "--property", &property]).expect(1);
    assert!(
        refuted.stdout.contains("?op_sec !done"),
        "{}",
        refuted.stdout
    );
    iolite(&["verify", &os, "--property", &property]).expect(0);
    let log = write(
        &folder,
        "l.jsonl",
        "{\"action\":\"?op_sec\"}\n{\"action\":\"!done\"}\n",
    );
    let ran = iolite(&["monitor", "--property", &property, &log]).expect(1);
    assert!(ran.stdout.contains("fail at event 2"), "{}", ran.stdout);
    let log = write(
        &folder,
        "r.jsonl",
        "{\"action\":\"?op_sec\"}\n{\"action\":\"!log\"}\n",
    );
    iolite(&["monitor", "--property", &property, &log]).expect(3);
    iolite(&["classify", "ioco:nosuch.iol#S"]).expect(2);
}

#[test]
fn purposes_are_properties() {
    let folder = scratch("selections-purposes");
    let file = write(&folder, "os.iol", LOGGED);
    let (os, sut) = (format!("{file}#Os"), format!("model:{file}#Os"));
    let (reach, never) = (format!("{file}#Reach"), format!("{file}#NoSec"));
    let ran = iolite(&[
        "test",
        &os,
        "--purpose",
        &reach,
        "--sut",
        &sut,
        "--runs",
        "5",
    ])
    .expect(0);
    assert!(ran.stdout.contains("5 pass"), "{}", ran.stdout);
    let out = folder.join("suite").display().to_string();
    let ran = iolite(&["derive", &os, "--purpose", &reach, "-o", &out]).expect(0);
    assert!(ran.stdout.contains("1 test case"), "{}", ran.stdout);
    let ran = iolite(&[
        "test",
        &os,
        "--purpose",
        &never,
        "--sut",
        &sut,
        "--runs",
        "1",
    ])
    .expect(2);
    assert!(
        ran.stderr.contains("no finite run fulfils it"),
        "{}",
        ran.stderr
    );
    // Two properties, each with a test case of its own.
    let out = folder.join("both").display().to_string();
    let ran = iolite(&[
        "derive",
        &os,
        "--property",
        &reach,
        "--property",
        &never,
        "-o",
        &out,
    ])
    .expect(0);
    assert!(ran.stdout.contains("2 test cases"), "{}", ran.stdout);
}

#[test]
fn the_way_of_a_log_is_drawn() {
    let folder = scratch("selections-picture");
    let file = write(&folder, "os.iol", LOGGED);
    let property = format!("{file}#NoSec");
    let log = write(
        &folder,
        "l.jsonl",
        "{\"action\":\"?op\"}\n{\"action\":\"!done\"}\n{\"action\":\"?op_sec\"}\n",
    );
    let picture = folder.join("p.svg").display().to_string();
    iolite(&[
        "monitor",
        "--property",
        &property,
        &log,
        "--picture",
        &picture,
    ])
    .expect(1);
    let text = std::fs::read_to_string(&picture).expect("a picture");
    assert_eq!(text.matches("data-at=\"yes\"").count(), 1, "{text}");
    // The loop in the first state, and the step to the verdict.
    assert_eq!(text.matches("data-taken=\"yes\"").count(), 2, "{text}");
    let drawn = iolite(&["tester", &property, "--format", "svg"])
        .expect(0)
        .stdout;
    assert!(
        drawn.starts_with("<svg") && !drawn.contains("data-at"),
        "{drawn}"
    );
    let ran = iolite(&["monitor", "--property", &file, &log, "--picture", &picture]).expect(2);
    assert!(ran.stderr.contains("one property"), "{}", ran.stderr);
}
