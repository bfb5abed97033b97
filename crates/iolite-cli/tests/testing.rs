//! Testing real systems from the command line: the tour of the README, and what can go wrong.

mod common;

use common::{Ran, iolite, iolite_with_input, root, scratch, write};
use serde_json::json;

const CANDY: &str = "examples/candy/candy.iol";

/// Tests the candy machine; patient, since the machine that runs the tests may be busy.
fn candy(sut: &str, folder: &std::path::Path, more: &[&str]) -> Ran {
    let journal = folder.join("journal.jsonl").display().to_string();
    let sut = format!("examples/candy/{sut}.toml");
    let args = [
        "test",
        CANDY,
        "--sut",
        &sut,
        "--quiescence-ms",
        "400",
        "--journal",
        &journal,
    ];
    iolite(&[args.as_slice(), more].concat())
}

#[test]
fn the_correct_machine_passes() {
    let folder = scratch("candy-correct");
    let ran = candy("sut", &folder, &["--runs", "2", "--steps", "12", "--json"])
        .expect(0)
        .json();
    assert_eq!(ran["verdict"], "pass");
    assert_eq!(ran["verdicts"], json!({"pass": 2}));
    assert_eq!(ran["steps"], 24);
}

/// A failing run tells what was seen and allowed; its certificate is confirmed, the journal replays
/// to the same verdict, and shrinking keeps it.
#[test]
fn a_broken_machine_fails_and_everything_after_it_agrees() {
    let folder = scratch("candy-generous");
    let certificate = folder.join("certificate.json").display().to_string();
    let junit = folder.join("junit.xml").display().to_string();
    let more = [
        "--runs",
        "3",
        "--steps",
        "40",
        "--stop-on-fail",
        "--certificate",
        &certificate,
    ];
    let ran = candy(
        "sut-generous",
        &folder,
        &[more.as_slice(), &["--junit", &junit]].concat(),
    );
    let ran = ran.expect(1);
    for part in [
        "observed: !choc",
        "allowed:  !liq",
        // What the specification may be doing before it takes what is under way.
        "Ready (line 7)",
        "iolite replay",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
    }
    let explained = iolite(&["explain", &certificate]).expect(0);
    assert!(
        explained.stdout.contains("confirmed"),
        "{}",
        explained.stdout
    );
    assert!(std::fs::read_to_string(junit).unwrap().contains("<failure"));

    let journal = folder.join("journal.jsonl").display().to_string();
    let replayed = iolite(&["replay", "--trust", &journal, "--json"])
        .expect(1)
        .json();
    assert_eq!(replayed["verdict"], "fail");
    assert_eq!(replayed["divergence"], serde_json::Value::Null);

    let shrunk = iolite(&[
        "shrink",
        "--trust",
        &journal,
        "--confirmations",
        "2",
        "--executions",
        "40",
        "--json",
    ]);
    let shrunk = shrunk.expect(1).json();
    assert!(
        shrunk["to_steps"].as_u64() <= shrunk["from_steps"].as_u64(),
        "{shrunk}"
    );
    assert_eq!(shrunk["reproduced"], 2);
}

/// A certificate that was tampered with is not confirmed.
#[test]
fn a_forged_certificate_is_refuted() {
    let folder = scratch("forged");
    let forged = json!({
        "format": "iolite-certificate/1", "kind": "ioco", "model": {"file": CANDY},
        "verdict": "fail", "trace": ["?shil"], "observed": "!liq", "allowed": [], "locations": [],
        "run": 0, "seed": 0,
    });
    let path = write(&folder, "forged.json", forged.to_string());
    let ran = iolite(&["explain", &path]).expect(1);
    assert!(
        ran.stdout.contains("the specification allows !liq there"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_derived_suite_covers_the_model_and_runs() {
    let folder = scratch("candy-suite");
    let suite = folder.join("suite").display().to_string();
    let derived = iolite(&[
        "derive",
        CANDY,
        "--cover",
        "transitions",
        "-o",
        &suite,
        "--json",
    ]);
    let derived = derived.expect(0).json();
    assert_eq!(derived["covered"], json!({"seen": 6, "total": 6}));
    assert_eq!(derived["uncovered"], serde_json::Value::Null);
    let first = derived["cases"][0]["file"].as_str().unwrap();
    let drawn = iolite(&["show", first, "--format", "dot"]).expect(0).stdout;
    assert!(
        drawn.contains("digraph") && drawn.contains("fail"),
        "{drawn}"
    );
    // Against the model itself no case fails; it is not input-enabled, so its inputs are completed.
    let sut = format!("model:{CANDY}");
    let args = [
        "test",
        CANDY,
        "--suite",
        &suite,
        "--sut",
        &sut,
        "--repeat",
        "20",
        "--no-journal",
    ];
    let own = iolite(
        &[
            args.as_slice(),
            &["--complete-inputs", "self-loop", "--json"],
        ]
        .concat(),
    );
    for case in own.json()["cases"].as_array().unwrap() {
        assert!(case["verdicts"]["fail"].is_null(), "{case}");
    }
    // A machine that gives chocolate for a shilling fails some case.
    let wrong = write(
        &folder,
        "wrong.iol",
        "system W { input shil, dub  output liq, choc
           initial state A { ?shil -> B  ?dub -> B }
           state B { !choc -> A  ?shil -> B  ?dub -> B } }",
    );
    let sut = format!("model:{wrong}");
    let args = [
        "test",
        CANDY,
        "--suite",
        &suite,
        "--sut",
        &sut,
        "--repeat",
        "20",
        "--no-journal",
    ];
    iolite(&args).expect(1);
}

/// [SAFE04, example 10]: I2 gets inconc, `?a !c` violates both, an initially quiescent
/// implementation fails.
#[test]
fn safety_testing_of_example_10() {
    let folder = scratch("safety");
    let direct = write(
        &folder,
        "direct.iol",
        "system D { input a  output b, c
           initial state i0 { !b -> i1  ?a -> i2 }
           state i1 { ?a -> i1 }  state i2 { !c -> i1  ?a -> i2 } }",
    );
    let run = |sut: &str| {
        let observer = "examples/papers/safe04_fig2.iol#ω";
        let model = "examples/papers/safe04_fig1.iol#S";
        let args = [
            "test",
            model,
            "--observer",
            observer,
            "--sut",
            sut,
            "--runs",
            "30",
        ];
        iolite(&[args.as_slice(), &["--no-journal", "--json"]].concat())
    };
    let i2 = run("model:examples/papers/safe04_fig4.iol#I2")
        .expect(3)
        .json();
    assert_eq!(i2["verdict"], "inconc");
    let direct = run(&format!("model:{direct}")).expect(1).json();
    assert_eq!(direct["verdict"], "violate-fail");
    let i1 = run("model:examples/papers/safe04_fig4.iol#I1")
        .expect(1)
        .json();
    assert_eq!(i1["verdict"], "fail");
}

#[test]
fn a_specification_that_violates_its_own_property_is_said_beforehand() {
    let folder = scratch("violating");
    let model = write(
        &folder,
        "both.iol",
        "system S { input a  output c  initial state p { ?a -> q }  state q { !c -> p  ?a -> q } }
         observer W for S { initial state n { !c -> Bad  * -> n }  violate state Bad }",
    );
    let sut = format!("model:{model}#S");
    let observer = format!("{model}#W");
    let args = [
        "test",
        &model,
        "--observer",
        &observer,
        "--sut",
        &sut,
        "--no-journal",
        "--json",
    ];
    let ran = iolite(&args).expect(1);
    assert!(
        ran.stderr.contains("the specification itself violates W"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.json()["verdict"], "violate");
    iolite(&["verify", &model, "--property", &observer]).expect(1);
}

#[test]
fn test_purposes_on_the_fly_and_stored() {
    let folder = scratch("purposes");
    let model = write(
        &folder,
        "purpose.iol",
        "system S { input a  output x, y
           initial state p { ?a -> q }  state q { !x -> p  !y -> r  ?a -> q }  state r { ?a -> r } }
         purpose SeeY for S { initial state n { !y -> Yes  * -> n }  accept state Yes }
         purpose SeeX for S {
           initial state n { !x -> Yes  !y -> No  * -> n }  accept state Yes  refuse state No }",
    );
    let sut = format!("model:{model}#S");
    let args = [
        "test",
        &model,
        "--sut",
        &sut,
        "--runs",
        "40",
        "--no-journal",
        "--json",
    ];
    let purpose = format!("{model}#SeeY");
    let ran = iolite(&[args.as_slice(), &["--purpose", &purpose]].concat());
    let ran = ran.json();
    assert!(ran["verdicts"]["pass"].as_u64() > Some(0), "{ran}");
    assert!(ran["verdicts"]["fail"].is_null(), "{ran}");

    let suite = folder.join("suite").display().to_string();
    let args = [
        "derive",
        &model,
        "--purpose",
        &model,
        "--graph",
        "--export",
        "aut,dot,ttcn3",
    ];
    let derived = iolite(&[args.as_slice(), &["-o", &suite, "--json"]].concat())
        .expect(0)
        .json();
    assert_eq!(derived["cases"].as_array().unwrap().len(), 2);
    for ending in ["json", "aut", "dot", "ttcn3", "graph.dot"] {
        assert!(
            folder.join(format!("suite/SeeX.{ending}")).exists(),
            "{ending}"
        );
    }
}

#[test]
fn observers_make_a_suite_with_a_matrix() {
    let folder = scratch("requirements");
    let suite = folder.join("suite").display().to_string();
    let args = [
        "derive",
        "examples/papers/safe04_fig1.iol#S",
        "-o",
        &suite,
        "--observers",
    ];
    let derived = iolite(
        &[
            args.as_slice(),
            &["examples/papers/safe04_fig2.iol", "--json"],
        ]
        .concat(),
    );
    assert_eq!(
        derived.expect(0).json()["cases"].as_array().unwrap().len(),
        1
    );
    let matrix = std::fs::read_to_string(folder.join("suite/coverage.csv")).unwrap();
    assert_eq!(matrix.lines().count(), 2);
}

/// A recorded log is judged like a run.
#[test]
fn logs_are_judged() {
    let folder = scratch("logs");
    let right = write(
        &folder,
        "right.jsonl",
        "{\"action\":\"?shil\"}\n{\"action\":\"!liq\"}\n",
    );
    iolite(&["monitor", CANDY, &right]).expect(0);
    let wrong = write(&folder, "wrong.log", "?shil\n!choc\n");
    let ran = iolite(&["monitor", CANDY, &wrong]).expect(1);
    assert!(
        ran.stdout.contains("wrong.log:2: fail after 2 steps"),
        "{}",
        ran.stdout
    );
    let timed = write(
        &folder,
        "timed.jsonl",
        "{\"input\":\"shil\",\"time\":1.0}\n{\"output\":\"liq\",\"time\":9.0}\n",
    );
    let ran = iolite(&[
        "monitor",
        CANDY,
        &timed,
        "--quiescence-ms",
        "2000",
        "--json",
    ])
    .expect(1);
    assert_eq!(ran.json()["certificate"]["observed"], "delta");
    for (name, text) in [
        ("empty.jsonl", ""),
        ("other.jsonl", "{\"level\":\"info\"}\n"),
    ] {
        let path = write(&folder, name, text);
        let ran = iolite(&["monitor", CANDY, &path, "--json"])
            .expect(3)
            .json();
        assert_eq!(ran["verdict"], "unknown", "{name}");
    }
    let foreign = write(&folder, "foreign.log", "?shil\n!beer\n");
    let ran = iolite(&["monitor", CANDY, &foreign]).expect(2);
    assert!(ran.stderr.contains("line 2"), "{}", ran.stderr);
}

/// A model runs as a system under test, over stdio and by hand.
#[test]
fn models_run() {
    let folder = scratch("simulate");
    let journal = folder.join("journal.jsonl").display().to_string();
    let command = format!(
        "cmd:{} simulate {} --stdio --complete-inputs self-loop",
        env!("CARGO_BIN_EXE_iolite"),
        root().join(CANDY).display()
    );
    let args = [
        "test",
        CANDY,
        "--sut",
        &command,
        "--quiescence-ms",
        "400",
        "--runs",
        "1",
    ];
    let ran = iolite(&[args.as_slice(), &["--steps", "10", "--journal", &journal]].concat());
    ran.expect(0);
    let ran = iolite_with_input(&["simulate", CANDY, "--stdio"], "shil\n").expect(0);
    assert_eq!(ran.stdout, "liq\n");
    let ran =
        iolite_with_input(&["simulate", CANDY], "shil\nback\nbeer\ndub\ntrace\nquit\n").expect(0);
    assert!(
        ran.stdout.contains("`beer` is not possible here"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.ends_with("?dub\n"), "{}", ran.stdout);
}

#[test]
fn response_times_are_measured() {
    let args = [
        "calibrate",
        CANDY,
        "--sut",
        "examples/candy/sut.toml",
        "--quiescence-ms",
        "300",
    ];
    let ran = iolite(&[args.as_slice(), &["--runs", "1", "--steps", "12"]].concat()).expect(0);
    assert!(ran.stdout.contains("timeout-ms = "), "{}", ran.stdout);
}

/// How often each stimulus was given, and everything that happened in order, from a stream of events.
fn given(events: &std::path::Path) -> (std::collections::BTreeMap<String, usize>, Vec<String>) {
    let mut counts = std::collections::BTreeMap::new();
    let mut actions = Vec::new();
    for line in std::fs::read_to_string(events).unwrap().lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let Some(action) = event["action"].as_str() else {
            continue;
        };
        actions.push(action.to_owned());
        if event["event"] == "stimulus" {
            let name = action.split('(').next().unwrap().to_owned();
            *counts.entry(name).or_default() += 1;
        }
    }
    (counts, actions)
}

/// Inputs are chosen by their weights, with every strategy, and alike with the same seed.
#[test]
fn inputs_have_weights() {
    let folder = scratch("weights");
    let model = write(
        &folder,
        "two.iol",
        "system M { input coin, kick  output x
           initial state A { ?coin -> B  ?kick -> A }  state B { !x -> A  ?coin -> B  ?kick -> B } }
         purpose SeeX for M { initial state n { !x -> Yes  * -> n }  accept state Yes }",
    );
    let (sut, purpose) = (format!("model:{model}#M"), format!("{model}#SeeX"));
    let run = |more: &[&str]| {
        let events = folder.join("events.jsonl");
        let to = events.display().to_string();
        let args = ["test", &format!("{model}#M"), "--sut", &sut, "--no-journal"];
        let size = ["--runs", "3", "--steps", "200", "--events", &to];
        let ran = iolite(&[args.as_slice(), &size, more].concat()).expect(0);
        assert!(!ran.stdout.contains("fail"), "{}", ran.stdout);
        given(&events)
    };
    let kicks = |more: &[&str]| {
        let (counts, _) = run(more);
        let count = |name: &str| counts.get(name).copied().unwrap_or(0);
        (count("?coin"), count("?kick"))
    };
    let (coin, kick) = kicks(&["--weight", "?kick=9"]);
    assert!(kick > 4 * coin && coin > 0, "{coin} {kick}");
    let (coin, kick) = kicks(&["--weight", "kick=2", "--weight", "?coin=20"]);
    assert!(coin > 4 * kick && kick > 0, "{coin} {kick}");
    for more in [
        &["--strategy", "coverage"][..],
        &["--strategy", "weighted", "--weights", "0,1,1"],
        &["--purpose", &purpose],
        &[],
    ] {
        let (coin, kick) = kicks(&[more, &["--weight", "kick=0"]].concat());
        assert!(coin > 0 && kick == 0, "{more:?}: {coin} {kick}");
    }
    // Where there is nothing else, even that is given.
    let all = ["--weight", "kick=0", "--weight", "coin=0"];
    let stimulating = ["--strategy", "weighted", "--weights", "0,1,0"];
    assert_eq!(kicks(&all), (0, 0));
    let (coin, kick) = kicks(&[all.as_slice(), &stimulating].concat());
    assert_eq!((coin, kick), (0, 0), "observing is something else");
    let seeded = |seed: &str| run(&["--weight", "kick=3", "--seed", seed]).1;
    assert_eq!(seeded("5"), seeded("5"));
    assert_ne!(seeded("5"), seeded("6"));

    let wrong = |weight: &str, part: &str| {
        let args = [
            "test",
            &format!("{model}#M"),
            "--sut",
            &sut,
            "--weight",
            weight,
        ];
        let ran = iolite(&args).expect(2);
        assert!(ran.stderr.contains(part), "{weight}: {}", ran.stderr);
    };
    wrong("kikc=2", "did you mean `kick`?");
    wrong("beer=2", "its inputs are: coin, kick");
    wrong("!x=2", "outputs are the system's choice");
    wrong("kick=-1", "no whole number");
    wrong("kick", "ACTION=N");
}

/// With data, solved for or unfolded, an input's name has the weight, whatever values it carries.
#[test]
fn inputs_with_values_have_the_weight_of_their_name() {
    let folder = scratch("weights-data");
    let model = write(
        &folder,
        "data.iol",
        "system D { input A(n: 0..3), B(n: 0..3)  var last: 0..3 = 0
           initial state S { ?A(n) / last := n -> S  ?B(n) / last := n -> S } }",
    );
    let events = folder.join("events.jsonl");
    let to = events.display().to_string();
    let sut = "cmd:sh -c 'cat > /dev/null'";
    let args = [
        "test",
        &model,
        "--sut",
        sut,
        "--no-journal",
        "--context",
        "synchronous",
        "--events",
        &to,
    ];
    let size = ["--runs", "1", "--steps", "120"];
    let stimulating = ["--strategy", "weighted", "--weights", "0,1,0"];
    for more in [&[][..], &["--unfold"]] {
        let run = |weights: &[&str]| {
            iolite(&[args.as_slice(), &size, &stimulating, more, weights].concat()).expect(0);
            given(&events).0
        };
        let counts = run(&["--weight", "?A=0"]);
        assert_eq!((counts.get("?A"), counts["?B"]), (None, 120), "{more:?}");
        let counts = run(&["--weight", "A=9"]);
        assert!(counts["?A"] > 4 * counts["?B"], "{more:?}: {counts:?}");
    }
    let ran = iolite(&[&args[..], &["--weight", "Bb=2"]].concat()).expect(2);
    assert!(
        ran.stderr.contains("its inputs are: A, B"),
        "{}",
        ran.stderr
    );
}

/// Faults of the infrastructure are exit code 4, mistakes of the user 2, and neither is a verdict.
#[test]
fn faults_are_no_verdicts() {
    let run = |sut: &str| {
        iolite(&[
            "test",
            CANDY,
            "--sut",
            sut,
            "--runs",
            "1",
            "--no-journal",
            "--json",
        ])
    };
    for sut in ["cmd:no-such-program-here", "tcp:127.0.0.1:1", "cmd:false"] {
        let ran = run(sut).expect(4).json();
        assert_eq!(ran["verdict"], serde_json::Value::Null, "{sut}");
        assert_eq!(ran["faults"].as_array().unwrap().len(), 1, "{sut}");
    }
    let ran = run("no-such-description.toml").expect(2);
    assert!(ran.stderr.contains("--sut takes"), "{}", ran.stderr);
    // A model that refuses an input is a fault of the set-up, with a way out.
    let ran = iolite(&[
        "test",
        CANDY,
        "--sut",
        &format!("model:{CANDY}"),
        "--no-journal",
        "--seed",
        "3",
    ]);
    assert!(matches!(ran.code, 0 | 4), "{}", ran.stdout);
}

/// Each way to fail is annotated once, at its line of the model.
#[test]
fn failures_are_annotated_for_forges() {
    let folder = scratch("annotations");
    let quality = folder.join("quality.json").display().to_string();
    let journal = folder.join("journal.jsonl").display().to_string();
    let candy = "examples/candy/candy.iol";
    let mut args = vec!["test", candy, "--sut", "examples/candy/sut-generous.toml"];
    args.extend([
        "--runs",
        "6",
        "--steps",
        "12",
        "--seed",
        "1",
        "--journal",
        &journal,
    ]);
    let form = format!("gitlab:{quality}");
    iolite(&[&args[..], &["--annotations", &form]].concat()).expect(1);
    let text = std::fs::read_to_string(&quality).expect("a report");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let first = &found[0];
    assert_eq!(first["location"]["path"], candy, "{text}");
    let line = first["location"]["lines"]["begin"]
        .as_u64()
        .expect("a line");
    assert!((7..=13).contains(&line), "{text}");
    let prints: std::collections::BTreeSet<String> = found
        .as_array()
        .expect("a list")
        .iter()
        .map(|entry| entry["fingerprint"].to_string())
        .collect();
    assert_eq!(prints.len(), found.as_array().map_or(0, Vec::len));
    let ran = iolite(&[&args[..], &["--annotations", "github"]].concat()).expect(1);
    let commands: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|l| l.starts_with("::error "))
        .collect();
    assert_eq!(commands.len(), prints.len(), "{}", ran.stderr);
    assert!(
        commands[0].contains("file=examples/candy/candy.iol,line="),
        "{commands:?}"
    );
    assert!(commands[0].contains("iolite replay"), "{commands:?}");
    // A run without a failure has an empty report, not none.
    let sut = format!("model:{candy}");
    let form = format!("gitlab:{quality}");
    iolite(&["test", candy, "--sut", &sut, "--annotations", &form]).expect(0);
    assert_eq!(
        std::fs::read_to_string(&quality).expect("a report").trim(),
        "[]"
    );
}
