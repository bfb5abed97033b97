//! `--context`: messages that cross, judged through queues and in step.

mod common;

use common::{iolite, scratch, write};
use serde_json::json;

const MODEL: &str = "examples/race/race.iol";

/// A log of these actions, and how it is judged.
fn monitor(folder: &std::path::Path, actions: &[&str], context: &str) -> common::Ran {
    let lines: Vec<String> = actions
        .iter()
        .map(|action| json!({ "action": action }).to_string())
        .collect();
    let log = write(folder, "log.jsonl", lines.join("\n"));
    iolite(&["monitor", MODEL, &log, "--context", context, "--json"])
}

#[test]
fn a_log_is_judged_in_its_context() {
    let folder = scratch("contexts-log");
    let crossed = ["?ask", "!tick", "!late"];
    monitor(&folder, &crossed, "queues").expect(0);
    monitor(&folder, &crossed, "synchronous").expect(1);
    // No order explains an answer of before the tick.
    let stale = monitor(&folder, &["!tick", "?ask", "!ok"], "queues").expect(1);
    let certificate = stale.json()["certificate"].clone();
    assert_eq!(certificate["context"], "queues");
    assert_eq!(certificate["allowed"], json!(["!late"]));
    let path = write(&folder, "fail.json", certificate.to_string());
    let explained = iolite(&["explain", &path]).expect(0);
    assert!(
        explained.stdout.contains("confirmed"),
        "{}",
        explained.stdout
    );
    // An output that crossed the question is no failure.
    let mut wrong = certificate;
    wrong["trace"] = json!(["?ask"]);
    wrong["observed"] = json!("!tick");
    wrong["allowed"] = json!(["!ok"]);
    let path = write(&folder, "wrong.json", wrong.to_string());
    iolite(&["explain", &path]).expect(1);
}

#[test]
fn data_are_judged_through_queues_too() {
    let folder = scratch("contexts-data");
    let model = "
        system Counter {
          var n: int = 0
          input add(k: int)
          output tick, sum(s: int)
          initial state Run {
            !tick / n := 0 -> Run
            ?add(k) [k > 0] / n := n + k -> Told
          }
          state Told { !sum(s) [s == n] -> Run }
        }";
    let model = write(&folder, "counter.iol", model);
    let judged = |actions: &[&str]| {
        let lines: Vec<String> = actions
            .iter()
            .map(|action| json!({ "action": action }).to_string())
            .collect();
        let log = write(&folder, "log.jsonl", lines.join("\n"));
        iolite(&["monitor", &model, &log, "--context", "queues", "--json"])
    };
    judged(&["?add(2)", "!sum(2)", "?add(3)", "!tick", "!sum(3)"]).expect(0);
    let failed = judged(&["?add(2)", "!sum(2)", "?add(3)", "!tick", "!sum(5)"]).expect(1);
    let certificate = failed.json()["certificate"].clone();
    let path = write(&folder, "fail.json", certificate.to_string());
    iolite(&["explain", &path]).expect(0);
}

#[test]
fn a_controller_whose_tick_crosses_a_question_passes() {
    let folder = scratch("contexts-race");
    let certificate = folder.join("fail.json").display().to_string();
    let run = |sut: &str, runs: &str| {
        iolite(&[
            "test",
            MODEL,
            "--sut",
            sut,
            "--runs",
            runs,
            "--steps",
            "8",
            "--jobs",
            "4",
            "--json",
            "--no-journal",
            "--certificate",
            &certificate,
        ])
    };
    let right = run("examples/race/sut.toml", "12").expect(0).json();
    assert_eq!(right["verdicts"], json!({ "pass": 12 }));
    let wrong = run("examples/race/sut-twice.toml", "4").expect(1).json();
    assert_eq!(wrong["failures"][0]["context"], "queues");
    iolite(&["explain", &certificate]).expect(0);
}

#[test]
fn mistakes_are_explained() {
    let unknown = iolite(&["test", MODEL, "--sut", "cmd:cat", "--context", "async"]).expect(2);
    assert!(
        unknown.stderr.contains("synchronous and queues are"),
        "{}",
        unknown.stderr
    );
    let property = [
        "test",
        "--property",
        "ltl:G !x",
        "--sut",
        "cmd:cat",
        "--context",
        "queues",
    ];
    let property = iolite(&property).expect(2);
    assert!(
        property
            .stderr
            .contains("--context is for judging by a MODEL"),
        "{}",
        property.stderr
    );
    let folder = scratch("contexts-mistakes");
    let description = write(
        &folder,
        "sut.toml",
        "command = \"cat\"\nmax-in-flight = 0\n",
    );
    let none = iolite(&["test", MODEL, "--sut", &description]).expect(2);
    assert!(none.stderr.contains("max-in-flight"), "{}", none.stderr);
}

/// Two controllers: one answers a question of before its tick late, one the other way round.
const CONTROLLERS: &str = "
    system Spec {
      input ask  output tick, ok, late
      initial state Idle { !tick -> Ticked  ?ask -> Asked }
      state Asked  { !ok -> Idle }
      state Ticked { ?ask -> Late }
      state Late   { !late -> Ticked }
    }
    system Crossed {
      // In step it is wrong to tick after the question; through queues nobody can see it.
      input ask  output tick, ok, late
      initial state Idle { !tick -> Ticked  ?ask -> Asked }
      state Asked  { !ok -> Idle  !tick -> Late }
      state Ticked { ?ask -> Late }
      state Late   { !late -> Ticked }
    }
    system Twice {
      input ask  output tick, ok, late
      initial state Idle { !tick -> Ticked  ?ask -> Asked }
      state Asked  { !ok -> Idle }
      state Ticked { ?ask -> Late }
      state Late   { !late -> Ticked  !tick -> Ticked }
    }";

#[test]
fn a_relation_is_asked_through_queues() {
    let folder = scratch("contexts-relate");
    let file = write(&folder, "controllers.iol", CONTROLLERS);
    let relate = |implementation: &str, relation: &str, more: &[&str]| {
        let (i, s) = (format!("{file}#{implementation}"), format!("{file}#Spec"));
        let mut args = vec!["relate", relation, &i, &s, "--complete-inputs", "self-loop"];
        args.extend(more);
        iolite(&args)
    };
    relate("Crossed", "ioco", &[]).expect(1);
    for relation in ["ioco", "uioco", "ioconf"] {
        let held = relate("Crossed", relation, &["--context", "queues", "--json"]).expect(0);
        assert_eq!(held.json()["context"], "queues");
        assert_eq!(held.json()["max_in_flight"], 4);
        let certificate = folder
            .join(format!("{relation}.json"))
            .display()
            .to_string();
        let more = [
            "--context",
            "queues",
            "--max-in-flight",
            "2",
            "--certificate",
            &certificate,
        ];
        let told = relate("Twice", relation, &more).expect(1);
        assert!(
            told.stdout.contains("through queues with at most 2 inputs"),
            "{}",
            told.stdout
        );
        let explained = iolite(&["explain", &certificate]).expect(0);
        assert!(
            explained.stdout.contains("confirmed"),
            "{}",
            explained.stdout
        );
    }
    // Without queues a certificate of queues says something else.
    let path = folder.join("ioco.json");
    let text = std::fs::read_to_string(&path).expect("a certificate");
    let mut wrong: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    wrong["trace"] = json!(["?ask"]);
    wrong["observed"] = json!("!tick");
    let path = write(&folder, "wrong.json", wrong.to_string());
    iolite(&["explain", &path]).expect(1);
}

#[test]
fn relations_that_make_no_sense_through_queues_say_so() {
    let folder = scratch("contexts-relate-mistakes");
    let file = write(&folder, "controllers.iol", CONTROLLERS);
    let (i, s) = (format!("{file}#Twice"), format!("{file}#Spec"));
    for relation in ["trace", "testing", "conf", "iot"] {
        let told = iolite(&["relate", relation, &i, &s, "--context", "queues"]).expect(2);
        assert!(
            told.stderr.contains("ioco, uioco and ioconf"),
            "{}",
            told.stderr
        );
    }
    let bound = ["relate", "ioco", &i, &s, "--max-in-flight", "3"];
    let bound = iolite(&bound).expect(2);
    assert!(
        bound.stderr.contains("--context queues"),
        "{}",
        bound.stderr
    );
    let none = ["--context", "queues", "--max-in-flight", "0"];
    let none = [&["relate", "ioco", &i, &s][..], &none].concat();
    iolite(&none).expect(2);
    // Models that do not take every input are told apart from those that differ.
    let partial = iolite(&["relate", "ioco", &i, &s, "--context", "queues"]).expect(2);
    assert!(
        partial.stderr.contains("--complete-inputs"),
        "{}",
        partial.stderr
    );
}

#[test]
fn test_cases_are_derived_through_queues() {
    let folder = scratch("contexts-derive");
    let suite = folder.join("suite").display().to_string();
    let derive = |more: &[&str]| {
        let args = ["derive", MODEL, "-o", &suite, "--context", "queues"];
        iolite(&[&args[..], more].concat())
    };
    derive(&["--exhaustive", "maximal", "--depth", "3"]).expect(0);
    let sut = "examples/race/sut.toml";
    let run = [
        "test",
        MODEL,
        "--suite",
        &suite,
        "--sut",
        sut,
        "--json",
        "--no-journal",
    ];
    let ran = iolite(&run);
    // The other branch of a choice ends a stored test `inconc`; it fails nothing.
    assert!(
        ran.json()["verdicts"].get("fail").is_none(),
        "{}",
        ran.stdout
    );
    let goal = derive(&["--cover", "states"]).expect(2);
    assert!(goal.stderr.contains("--context queues"), "{}", goal.stderr);
}

#[test]
fn races_are_noted_where_they_are_asked_for() {
    let quiet = iolite(&["check", MODEL]).expect(0);
    assert!(!quiet.stdout.contains("IOL506"), "{}", quiet.stdout);
    let told = iolite(&["check", MODEL, "--context", "queues", "--deny-warnings"]).expect(0);
    assert!(
        told.stdout
            .contains("note[IOL506]: ?ask and !tick may cross in Idle"),
        "{}",
        told.stdout
    );
    let json = iolite(&["check", MODEL, "--context", "queues", "--json"]).expect(0);
    let race = json.json()["files"][0]["races"][0]["races"][0].clone();
    assert_eq!(
        race["confused"],
        json!([["?ask", "!tick"], ["!tick", "?ask"]])
    );
    assert_eq!(race["loss"], "excused");
    let folder = scratch("contexts-races");
    let request = "
        system Candy {
          input coin  output choc
          initial state Idle { ?coin -> Paid }
          state Paid { !choc -> Idle }
        }
        system Commutes {
          input a  output x
          initial state S { ?a -> A  !x -> X }
          state A { !x -> Both }
          state X { ?a -> Again }
          state Both { ?a -> Both }
          state Again { ?a -> Again }
        }
        system Futures {
          input a  output x, y
          initial state S { ?a -> A  !x -> X }
          state A { !x -> Both }
          state X { ?a -> Again }
          state Both { !y -> S }
          state Again { ?a -> Again }
        }
        system Ignored {
          input a  output x
          initial state S { ?a -> A  !x -> X }
          state A { !x -> X }
          state X { }
        }";
    let file = write(&folder, "races.iol", request);
    let json = iolite(&["check", &file, "--context", "queues", "--json"]).expect(0);
    let json = json.json();
    let notes = json["files"][0]["races"].as_array().expect("notes").clone();
    let losses: Vec<_> = notes
        .iter()
        .map(|n| n["races"][0]["loss"].clone())
        .collect();
    assert_eq!(
        losses,
        [
            json!(null),
            json!(null),
            json!("futures"),
            json!("unjudged")
        ]
    );
    assert_eq!(notes[2]["races"][0]["difference"], json!(["!y"]));
    iolite(&["explain-code", "IOL506"]).expect(0);
}

/// Beside a model the observer watches the system, not the tester: a crossing violates nothing.
#[test]
fn a_crossing_is_no_violation() {
    let folder = scratch("contexts-violate");
    let model = "
        system Clock {
          input ask, wake  output tick, ok
          initial state Idle { !tick -> Idle  ?ask -> Asked  ?wake -> Idle }
          state Asked { !ok -> Idle  !tick -> Asked  ?wake -> Asked  i -> Mute }
          state Mute { ?wake -> Asked }
        }
        // No tick between a question and its answer.
        observer Calm for Clock {
          initial state Quiet { ?ask -> Busy  * -> Quiet }
          state Busy { !tick -> Bad  !ok -> Quiet  * -> Busy }
          violate state Bad
        }";
    let file = write(&folder, "clock.iol", model);
    let (model, calm) = (format!("{file}#Clock"), format!("{file}#Calm"));
    let judged = |actions: &[&str], context: &str| {
        let lines: Vec<String> = actions
            .iter()
            .map(|action| json!({ "action": action }).to_string())
            .collect();
        let log = write(&folder, "log.jsonl", lines.join("\n"));
        iolite(&[
            "monitor",
            &model,
            &log,
            "--observer",
            &calm,
            "--context",
            context,
            "--json",
        ])
    };
    let crossed = ["?ask", "!tick", "!ok"];
    judged(&crossed, "synchronous").expect(1);
    let undecided = judged(&crossed, "queues");
    assert_eq!(
        undecided.json()["verdict"],
        "inconc",
        "{}",
        undecided.stdout
    );
    // After the silence the question was taken, so the tick comes between it and its answer whether
    // `?wake` was taken or not.
    let proved = judged(&["?ask", "delta", "?wake", "!tick"], "queues").expect(1);
    let certificate = proved.json()["certificate"].clone();
    assert_eq!(certificate["verdict"], "violate");
    let path = write(&folder, "violate.json", certificate.to_string());
    iolite(&["explain", &path]).expect(0);
    // The claim that the crossing violates is rejected.
    let mut wrong = certificate;
    wrong["trace"] = json!(["?ask"]);
    wrong["locations"] = json!(["Asked (line 5)", "Idle (line 4)", "Calm: Busy or Quiet"]);
    wrong["allowed"] = json!(["!ok", "!tick", "delta"]);
    let path = write(&folder, "wrong.json", wrong.to_string());
    iolite(&["explain", &path]).expect(1);
}

/// Order is kept within a channel and not between them, and a lost datagram is said to be possible.
#[test]
fn channels_are_kept_in_journals_and_certificates() {
    let folder = scratch("contexts-channels");
    let model = "
        system Pair {
          input go  output left, right
          initial state Idle { ?go -> One }
          state One { !left -> Two }
          state Two { !right -> Idle }
        }";
    let model = write(&folder, "pair.iol", model);
    let channels = json!([
        { "name": "l", "inputs": ["go"], "outputs": ["left"] },
        { "name": "r", "outputs": ["right"] },
    ]);
    let judged = |actions: &[&str], channels: &serde_json::Value| {
        let mut lines = vec![json!({
            "journal": "iolite-journal/1", "version": "0", "kind": "ioco", "model": {}, "seed": 0,
            "sut": {}, "context": "queues", "channels": channels,
        })
        .to_string()];
        lines.push(json!({ "event": "run-started", "run": 0, "seed": 0 }).to_string());
        for (step, action) in actions.iter().enumerate() {
            let mut event = json!({ "run": 0, "step": step, "at": step });
            match &action[..1] {
                "?" => event["event"] = json!("stimulus"),
                "!" => event["event"] = json!("output"),
                _ => {
                    event["event"] = json!("quiescence");
                    event["patience"] = json!(1000);
                }
            }
            event["action"] = json!(action);
            lines.push(event.to_string());
        }
        let log = write(&folder, "log.jsonl", lines.join("\n"));
        iolite(&["monitor", &model, &log, "--json"])
    };
    let overtaken = ["?go", "!right", "!left", "delta"];
    judged(&overtaken, &channels).expect(0);
    judged(&overtaken, &json!([])).expect(1);
    let wrong = judged(&["?go", "!right", "delta"], &channels).expect(1);
    let certificate = wrong.json()["certificate"].clone();
    assert_eq!(certificate["channels"], channels);
    let path = write(&folder, "fail.json", certificate.to_string());
    iolite(&["explain", &path]).expect(0);
    // Over one channel the claim is another one, and false: `!right` came too early.
    let mut one = certificate;
    one["channels"] = json!([]);
    let path = write(&folder, "one.json", one.to_string());
    iolite(&["explain", &path]).expect(1);
    let losing = json!([{ "name": "udp", "loss": true }]);
    judged(&["?go", "!right", "delta"], &losing).expect(0);
    judged(&["?go", "!right", "!left"], &losing).expect(1);
}

/// A real server behind a network that loses datagrams.
#[test]
fn lost_datagrams_are_allowed_where_the_description_says_so() {
    let folder = scratch("contexts-udp");
    let server = common::root().join("examples/udp");
    std::fs::copy(server.join("lease.py"), folder.join("lease.py")).expect("a copy");
    let lossy = std::fs::read_to_string(server.join("sut-lossy.toml")).expect("a description");
    let run = |name: &str, text: &str| {
        let sut = write(&folder, name, text);
        let certificate = folder.join("fail.json").display().to_string();
        let more = ["--steps", "60", "--runs", "4", "--json", "--no-journal"];
        let more = [
            &more[..],
            &["--confirm", "0", "--certificate", &certificate],
        ]
        .concat();
        let ran = iolite(
            &[
                &["test", "examples/udp/lease.iol", "--sut", &sut][..],
                &more,
            ]
            .concat(),
        );
        (ran, certificate)
    };
    let (right, _) = run("lossy.toml", &lossy);
    assert_eq!(right.expect(0).json()["verdicts"], json!({ "pass": 4 }));
    let (unsaid, _) = run("unsaid.toml", &lossy.replace(", loss = true", ""));
    unsaid.expect(1);
    let (sticky, certificate) = run("sticky.toml", &lossy.replace(" none lossy", " sticky"));
    sticky.expect(1);
    let told = std::fs::read_to_string(&certificate).expect("a certificate");
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["channels"][0]["loss"], true, "{told}");
    iolite(&["explain", &certificate]).expect(0);
}

/// A thousand runs of the controller that races, none of which fails; the one that answers late, as if
/// it had not ticked, is found.
#[test]
#[ignore = "takes minutes: 1,000 runs of a Python process"]
fn a_thousand_races() {
    let run = |sut: &str, runs: &str| {
        let args = [
            "--runs",
            runs,
            "--steps",
            "12",
            "--jobs",
            "4",
            "--json",
            "--no-journal",
        ];
        iolite(&[&["test", MODEL, "--sut", sut][..], &args].concat())
    };
    let right = run("examples/race/sut.toml", "1000").expect(0).json();
    assert_eq!(right["verdicts"], json!({ "pass": 1000 }));
    let stale = run("examples/race/sut-stale.toml", "50").expect(1).json();
    assert!(stale["verdicts"]["fail"].as_u64() > Some(0), "{stale}");
}

/// A log that is no journal went through the channels of the description: what is sent first on one of them may arrive after what is
/// sent on another.
#[test]
fn a_log_is_judged_through_the_channels_of_the_description() {
    let folder = scratch("contexts-channels");
    let model = write(
        &folder,
        "m.iol",
        "system M { var n: int = 0  input put(x: int)  output got(y: int), tick(z: int)
           initial state S { ?put(x) / n := x -> T }
           state T { !got(y) [y == n] -> U }
           state U { !tick(z) [z == n + 1] -> S }
         }",
    );
    let description = |second: &str| {
        format!(
            "[[channel]]\nname = \"a\"\ntcp = \"127.0.0.1:1\"\n{second}\
             [actions.put]\nsend = \"put {{x}}\"\nchannel = \"a\"\n\
             [actions.got]\nrecv = \"got {{y:int}}\"\nchannel = \"a\"\n\
             [actions.tick]\nrecv = \"tick {{z:int}}\"\nchannel = \"{}\"\n",
            if second.is_empty() { "a" } else { "b" }
        )
    };
    let one = write(&folder, "one.toml", description(""));
    let two = "[[channel]]\nname = \"b\"\ntcp = \"127.0.0.1:2\"\n";
    let two = write(&folder, "two.toml", description(two));
    let judged = |text: &str, templates: &str, context: &str| {
        let log = write(&folder, "early.log", text);
        let fixed = ["monitor", &model, &log, "--templates", templates];
        iolite(&[&fixed[..], &["--context", context]].concat())
    };
    let early = "put 3\ntick 4\ngot 3\n";
    judged(early, &two, "queues").expect(0);
    judged(early, &one, "queues").expect(1);
    judged(early, &two, "synchronous").expect(1);
    // An output that nothing explains yet is no pass: another might come that does, or silence, which decides.
    let open = judged("put 3\ntick 9\n", &two, "queues").expect(3);
    assert!(open.stdout.contains("inconc"), "{}", open.stdout);
    judged("put 3\ntick 9\ngot 3\n", &two, "queues").expect(3);
    judged("put 3\ntick 9\ndelta\n", &two, "queues").expect(1);
}

/// `got` goes to standard output, `tick` through a socket and before it. What it ticks, and whether it answers at all, is an argument.
const EARLY: &str = "
import socket, sys, time
server = socket.create_server(('127.0.0.1', int(sys.argv[1])))
print('ready', flush=True)
ticks, _ = server.accept()
for line in sys.stdin:
    n = int(line.split()[1])
    ticks.sendall(b'tick %d\\n' % (n + int(sys.argv[2])))
    time.sleep(0.05)
    if sys.argv[3] == 'answers':
        print('got', n, flush=True)
";

/// A run that ends by its number of steps, with an output that nothing explains yet, is observed until something does, or silence
/// says that nothing does.
#[test]
fn a_run_does_not_end_with_an_output_that_nothing_explains() {
    let folder = scratch("contexts-early");
    let data = write(
        &folder,
        "data.iol",
        "system M { var n: int = 0  input put(x: int)  output got(y: int), tick(z: int)
           initial state S { ?put(x) [x >= 0 && x < 3] / n := x -> T }
           state T { !got(y) [y == n] -> U }
           state U { !tick(z) [z == n + 1] -> S }
         }",
    );
    // The same without data that are kept as formulas.
    let small = std::fs::read_to_string(&data).expect("the model");
    let small = write(&folder, "small.iol", small.replace(": int", ": 0..9"));
    write(&folder, "early.py", EARLY);
    let run = |model: &str, more: &str, flags: &[&str]| {
        let description = format!(
            "command = \"python3 early.py {{port}} {more}\"\nready = \"ready\"\n\
             [[channel]]\nname = \"a\"\nstdio = true\n\
             [[channel]]\nname = \"b\"\ntcp = \"127.0.0.1:{{port}}\"\n\
             [quiescence]\ntimeout-ms = 150\n\
             [actions.put]\nsend = \"put {{x}}\"\nchannel = \"a\"\n\
             [actions.got]\nrecv = \"got {{y:int}}\"\nchannel = \"a\"\n\
             [actions.tick]\nrecv = \"tick {{z:int}}\"\nchannel = \"b\"\n"
        );
        let sut = write(&folder, "sut.toml", description);
        let fixed = ["test", model, "--sut", &sut, "--runs", "2", "--steps", "2"];
        let weights = [
            "--strategy",
            "weighted",
            "--weights",
            "0,50,1",
            "--confirm",
            "0",
        ];
        let fixed = [&fixed[..], &weights].concat();
        iolite(&[&fixed[..], flags].concat())
    };
    let bare = ["--no-journal", "--json"];
    for model in [&data, &small] {
        let right = run(model, "1 answers", &bare).expect(0);
        assert_eq!(right.json()["verdicts"], json!({ "pass": 2 }));
        run(model, "1 silent", &bare).expect(1);
        run(model, "7 answers", &bare).expect(1);
    }
    let journal = folder.join("early.iolj").display().to_string();
    let certificate = folder.join("early.json").display().to_string();
    let flags = ["--journal", &journal, "--certificate", &certificate];
    let failed = run(&data, "7 answers", &flags).expect(1);
    // People are told which output it is, since the silence after it is right.
    let blame = "no order of the messages explains !tick(";
    assert!(failed.stdout.contains(blame), "{}", failed.stdout);
    // The claim is about the output, which is before the end of the run.
    let told = std::fs::read_to_string(&certificate).expect("a certificate");
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    let observed = told["observed"].as_str().expect("an action");
    assert!(observed.starts_with("!tick("), "{told}");
    assert_eq!(told["trace"].as_array().map(Vec::len), Some(1), "{told}");
    iolite(&["explain", &certificate]).expect(0);
    iolite(&["explain", &journal, "--run", "0"]).expect(0);
    iolite(&["replay", &journal, "--run", "0", "--trust"]).expect(1);
    let shrunk = iolite(&[
        "shrink",
        &journal,
        "--run",
        "0",
        "--trust",
        "--confirmations",
        "1",
    ]);
    let shrunk = shrunk.expect(1);
    assert!(shrunk.stdout.contains("!tick("), "{}", shrunk.stdout);
}
