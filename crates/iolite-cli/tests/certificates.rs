//! Certificates as commands write them.
//!
//! Of a genuine one of each kind every scalar is changed, one at a time: `explain` rejects it, or leaves it open, or says with a note
//! what it did not look at. What may be changed without effect is listed here, and in docs/certificates.md. And one that takes long to
//! make, while bounds run out and signals come.

mod common;

use std::path::Path;

use common::{iolite, scratch, write};
use iolite::{CheckOutcome, ExplainOptions, Workspace};
use serde_json::Value;

/// What says nothing that could be false: where a run came from, and how long a silence lasted; who found a proof; names of channels,
/// which are for people, and what they carry, which is that of the system: a claim about others may be true as well; the bound on states within which the files are read again.
const WITHOUT_EFFECT: [&str; 8] = [
    "run",
    "seed",
    "patience",
    "data.how",
    "channels[].name",
    "channels[].inputs[]",
    "channels[].outputs[]",
    "reading.models.max_states",
];

const CANDY: &str = "
system Machine {
  input but  output liq, choc
  initial state Idle { ?but -> One }
  state One { ?but -> Two  !liq -> Idle }
  state Two { ?but -> Two  !choc -> Idle }
}
system Choc {
  input but  output liq, choc
  initial state Idle { ?but -> One }
  state One { ?but -> Two  !choc -> Idle }
  state Two { ?but -> Two  !choc -> Idle }
}
observer NoChoc for Machine {
  initial state Watch { !choc -> Bad  * -> Watch }
  violate state Bad
}
observer NoTea for Machine {
  initial state Watch { ?but -> Told  !choc -> Bad  * -> Watch }
  state Told { * -> Told }
  violate state Bad
}
test Hasty {
  input but  output liq, choc
  initial inconc state 0 { ?but -> 1 }
  inconc state 1 { !choc -> 2  * -> 3 }
  pass state 2
  fail state 3
}
traces OneBut for Machine = { eps, ?but, ?but.?but }
property Calm for Machine = ltl G(?but -> X not !liq)
";

const DATA: &str = "
system S { const k: int  var n: int = 0  input put(x: int)  output got(y: int), tick(z: int)
  initial state S { ?put(x) [x > 0] / n := x -> T }
  state T { !got(y) [y == n] -> U }
  state U { !tick(z) [z == n + 1] -> S }
}
system I { const k: int  var n: int = 0  input put(x: int)  output got(y: int), tick(z: int)
  initial state S { ?put(x) [x > 0] / n := x -> T  ?put(x) [x <= 0] -> S }
  state T { !got(y) [y == n] -> U ?put(x) -> T }
  state U { !tick(z) [z == n + 1] -> S ?put(x) -> U }
}
system J { const k: int  var n: int = 0  input put(x: int)  output got(y: int), tick(z: int)
  initial state S { ?put(x) / n := x -> T }
  state T { !got(y) [y == n + 1] -> U ?put(x) -> T }
  state U { !tick(z) [z == n + 1] -> S ?put(x) -> U }
}
observer Small for S { var last: int = 0
  initial state Watch { ?put(x) / last := x -> Watch  !got(y) [y > last + 3] -> Bad  * -> Watch }
  violate state Bad
}
observer Little for S {
  initial state Watch { !got(y) [y > 5] -> Bad  * -> Watch }
  violate state Bad
}
";

/// The paths of all scalars of a document, with numbers for items.
fn leaves(value: &Value, path: &str, all: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                leaves(inner, &format!("{path}/{key}"), all);
            }
        }
        Value::Array(list) => {
            for (k, inner) in list.iter().enumerate() {
                leaves(inner, &format!("{path}/{k}"), all);
            }
        }
        Value::Null => {}
        _ => all.push(path.to_owned()),
    }
}

/// `/channels/0/name` as `channels[].name`.
fn bare(path: &str) -> String {
    let mut text = String::new();
    for part in path.split('/').skip(1) {
        if part.parse::<usize>().is_ok() {
            text += "[]";
        } else {
            let dot = if text.is_empty() { "" } else { "." };
            text += &format!("{dot}{part}");
        }
    }
    text
}

fn changed(value: &Value) -> Value {
    match value {
        Value::String(text) => format!("{text}x").into(),
        Value::Bool(is) => (!is).into(),
        number => (number.as_u64().expect("a number") + 1).into(),
    }
}

/// What `explain` says: whether it confirms, and what it adds to that.
fn said(document: &Value) -> Option<Vec<String>> {
    let workspace = Workspace::new();
    let path = Path::new("c.json");
    workspace.insert(path, document.to_string());
    let found = workspace.explain(path, &ExplainOptions::default()).ok()?;
    let notes = found.notes.iter().chain(&found.not_rechecked);
    (found.checked == CheckOutcome::Confirmed).then(|| notes.cloned().collect())
}

/// A command that writes a certificate.
struct Source {
    name: &'static str,
    args: Vec<String>,
    code: i32,
}

fn source(name: &'static str, code: i32, args: &[&str]) -> Source {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    Source { name, args, code }
}

/// Changes every scalar of the certificate, and tells which changes nobody noticed.
fn unnoticed(folder: &Path, source: &Source) -> Vec<String> {
    let path = folder.join(format!("{}.json", source.name));
    let path = path.display().to_string();
    let mut args: Vec<&str> = source.args.iter().map(String::as_str).collect();
    args.extend(["--certificate", &path]);
    iolite(&args).expect(source.code);
    let text = std::fs::read_to_string(&path).expect("a certificate");
    let genuine: Value = serde_json::from_str(&text).expect("JSON");
    let before = said(&genuine).unwrap_or_else(|| panic!("{} is not confirmed", source.name));
    let mut all = Vec::new();
    leaves(&genuine, "", &mut all);
    assert!(all.len() > 10, "{}: {all:?}", source.name);
    all.retain(|path| !WITHOUT_EFFECT.contains(&bare(path).as_str()));
    all.retain(|path| {
        let mut forged = genuine.clone();
        let leaf = forged.pointer_mut(path).expect("a leaf");
        // Another output that is not allowed either would be as wrong.
        let allowed = genuine["allowed"][0].as_str();
        let allowed = allowed.filter(|text| path == "/observed" && leaf != text);
        *leaf = allowed.map_or_else(|| changed(leaf), Value::from);
        said(&forged) == Some(before.clone())
    });
    all.iter()
        .map(|leaf| format!("{}: {leaf}", source.name))
        .collect()
}

#[test]
fn every_part_of_a_certificate_says_something() {
    let folder = scratch("changed-certificates");
    let candy = write(&folder, "candy.iol", CANDY);
    let of = |name: &str| format!("{candy}#{name}");
    let (machine, choc) = (of("Machine"), of("Choc"));
    let data = write(&folder, "data.iol", DATA);
    let with = |name: &str| format!("{data}#{name}");
    let (s, i, j) = (with("S"), with("I"), with("J"));
    let log = |name: &str, text: &str| write(&folder, name, text);
    let twice = log("twice.txt", "?but\n?but\n!liq\n");
    let liquorice = log("liq.txt", "?but\n!liq\n");
    let second = log("second.txt", "?but\n?but\n!choc\n");
    let wrong = log("wrong.txt", "?put(3)\n!got(4)\n");
    let large = log("large.txt", "?put(9)\n!got(9)\n");
    let early = log("early.txt", "put 3\ntick 9\ndelta\n");
    let two = write(
        &folder,
        "two.toml",
        "[[channel]]\nname = \"a\"\ntcp = \"127.0.0.1:1\"\n\
         [[channel]]\nname = \"b\"\ntcp = \"127.0.0.1:2\"\n\
         [actions.put]\nsend = \"put {x}\"\nchannel = \"a\"\n\
         [actions.got]\nrecv = \"got {y:int}\"\nchannel = \"a\"\n\
         [actions.tick]\nrecv = \"tick {z:int}\"\nchannel = \"b\"\n",
    );
    let suite = folder.join("suite").display().to_string();
    let depth = ["--exhaustive", "traces", "--depth", "2", "-o", &suite];
    iolite(&[&["derive", &machine][..], &depth].concat()).expect(0);
    let covering = folder.join("covering").display().to_string();
    let depth = ["--observer", &with("Small"), "-o", &covering];
    iolite(&[&["derive", &s][..], &depth].concat()).expect(0);
    let completed = ["--complete-inputs", "self-loop"];
    let all = vec![
        source(
            "relate",
            1,
            &[&["relate", "ioco", &choc, &machine][..], &completed].concat(),
        ),
        source(
            "chaos",
            1,
            &[
                "relate",
                "ioco",
                &choc,
                &machine,
                "--complete-inputs",
                "chaos",
            ],
        ),
        source("holds", 0, &["relate", "ioco", &machine, &machine]),
        source("refuses", 1, &["relate", "conf", &choc, &machine]),
        source(
            "some",
            1,
            &[
                "relate",
                "ioconf-f",
                &choc,
                &machine,
                "--traces",
                &of("OneBut"),
            ],
        ),
        source(
            "queues",
            0,
            &["relate", "ioco", &machine, &machine, "--context", "queues"],
        ),
        source(
            "apart",
            1,
            &["relate", "ioco", &choc, &machine, "--context", "queues"],
        ),
        source("data-relate", 1, &["relate", "ioco", &j, &s]),
        source("data-holds", 0, &["relate", "ioco", &i, &s]),
        source(
            "test",
            1,
            &[
                "test",
                &machine,
                "--sut",
                &format!("model:{choc}"),
                "--no-journal",
            ],
        ),
        source(
            "data-test",
            1,
            &["test", &s, "--sut", &format!("model:{j}"), "--no-journal"],
        ),
        source(
            "channels",
            1,
            &[
                "monitor",
                &s,
                &early,
                "--context",
                "queues",
                "--templates",
                &two,
            ],
        ),
        source("monitor", 1, &["monitor", &machine, &twice]),
        source(
            "crossed",
            1,
            &[
                "monitor",
                &machine,
                &log("none.txt", "!choc\n"),
                "--context",
                "queues",
            ],
        ),
        source(
            "watched",
            1,
            &["monitor", &machine, &second, "--observer", &of("NoChoc")],
        ),
        source(
            "property-beside",
            1,
            &["monitor", &machine, &liquorice, "--property", &of("Calm")],
        ),
        source(
            "formula-beside",
            1,
            &[
                "monitor",
                &machine,
                &liquorice,
                "--property",
                "ltl:G (?but -> X not !liq)",
            ],
        ),
        source("data-monitor", 1, &["monitor", &s, &wrong]),
        source(
            "data-crossed",
            1,
            &["monitor", &s, &wrong, "--context", "queues"],
        ),
        source(
            "data-watched",
            1,
            &["monitor", &s, &large, "--observer", &with("Little")],
        ),
        source(
            "guarded-beside",
            1,
            &[
                "monitor",
                &s,
                &large,
                "--property",
                "ltl:G (?put -> X not !got(y) [y > 5])",
            ],
        ),
        source("passes", 1, &["passes", &choc, &suite]),
        source("data-passes", 1, &["passes", &j, &covering]),
        source("unsound", 1, &["suite", &machine, &of("Hasty")]),
        source("undetected", 0, &["suite", &machine, &suite]),
        source(
            "refuted",
            1,
            &["verify", &machine, "--property", &of("NoChoc")],
        ),
        source(
            "proved",
            0,
            &["verify", &machine, "--property", &of("NoTea")],
        ),
        source(
            "data-refuted",
            1,
            &["verify", &s, "--property", &with("Little")],
        ),
        source(
            "data-proved",
            0,
            &["verify", &s, "--property", &with("Small")],
        ),
        source(
            "lasso",
            1,
            &["verify", &machine, "--property", "ltl:GF !liq"],
        ),
        source(
            "satisfied",
            0,
            &[
                "verify",
                &machine,
                "--property",
                "ltl:G (?but or !liq or !choc)",
            ],
        ),
        source("alone", 1, &["monitor", &of("Calm"), &liquorice]),
    ];
    let missed: Vec<String> = all
        .iter()
        .flat_map(|source| unnoticed(&folder, source))
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Each order comes to another value of n, and outputs on their way to any: what would have been allowed takes minutes to find out.
const COSTLY: &str = "
system S { var n: int = 0
  input go(k: int)  output left(v: int), right(v: int)
  initial state Idle {
    ?go(k) / n := k -> Idle
    !left(v) [v < 100] / n := 2 * n + v -> Idle
    !right(v) [v < 100] / n := 3 * n + v -> Idle
  }
}
";

/// Sends its outputs through two channels, the last of which is wrong, and ends with the connection.
const SENDER: &str = "
import socket, sys, time
server = socket.create_server(('127.0.0.1', int(sys.argv[1])))
print('ready', flush=True)
right, _ = server.accept()
for line in sys.stdin:
    for n in range(2):
        print('left', n, flush=True)
        right.sendall(b'right %d\\n' % n)
        time.sleep(0.05)
    print('left 999', flush=True)
";

fn costly(folder: &Path) -> [String; 3] {
    let channels = "[[channel]]\nname = \"a\"\nstdio = true\n\
                    [[channel]]\nname = \"b\"\ntcp = \"127.0.0.1:{port}\"\n";
    let actions = "[actions.go]\nsend = \"go {k}\"\nchannel = \"a\"\n\
                   [actions.left]\nrecv = \"left {v:int}\"\nchannel = \"a\"\n\
                   [actions.right]\nrecv = \"right {v:int}\"\nchannel = \"b\"\n";
    write(folder, "sender.py", SENDER);
    let command = "command = \"python3 sender.py {port}\"\nready = \"ready\"\nmax-in-flight = 1\n";
    let log = "go 1\nleft 0\nright 0\nleft 1\nright 1\nleft 999\ndelta\n";
    [
        write(folder, "costly.iol", COSTLY),
        write(
            folder,
            "sut.toml",
            format!("{command}{channels}[quiescence]\ntimeout-ms = 200\n{actions}"),
        ),
        write(folder, "log.txt", log),
    ]
}

/// What is in a folder, by name.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The verdict stays, a warning says why there is no certificate, and no file is left half written.
#[test]
fn a_bound_that_runs_out_while_a_certificate_is_made_leaves_the_verdict() {
    let folder = scratch("certificate-bounds");
    let [model, sut, log] = costly(&folder);
    let before = files(&folder);
    let certificate = folder.join("c.json").display().to_string();
    let fixed = [
        "monitor",
        &model,
        &log,
        "--context",
        "queues",
        "--templates",
        &sut,
    ];
    for bound in [["--timeout", "2"], ["--max-memory", "60M"]] {
        let more = ["--certificate", &certificate, "--json"];
        let ran = iolite(&[&fixed[..], &bound, &more].concat()).expect(1);
        assert_eq!(ran.json()["verdict"], "fail");
        let warning = ran.json()["warnings"].to_string();
        assert!(warning.contains("within bounds"), "{bound:?}: {warning}");
        assert_eq!(files(&folder), before, "{bound:?}");
    }
}

/// The first signal ends the making of a certificate; the run that failed is reported.
#[cfg(unix)]
#[test]
fn a_signal_while_a_certificate_is_made_leaves_the_verdict() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let folder = scratch("certificate-signal");
    let [model, sut, _] = costly(&folder);
    let journal = folder.join("run.jsonl");
    let certificate = folder.join("c.json").display().to_string();
    let journal_text = journal.display().to_string();
    let args = ["test", &model, "--sut", &sut, "--runs", "1", "--steps", "8"];
    let weights = [
        "--strategy",
        "weighted",
        "--weights",
        "0,1,50",
        "--confirm",
        "0",
    ];
    let more = ["--journal", &journal_text, "--certificate", &certificate];
    let child = Command::new(env!("CARGO_BIN_EXE_iolite"))
        .args(args)
        .args(weights)
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("iolite starts");
    // The journal says when the run has ended, and the certificate is made then.
    let begin = Instant::now();
    let ended = || std::fs::read_to_string(&journal).is_ok_and(|text| text.contains("run-ended"));
    while !ended() {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "no run has ended"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_millis(300));
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.expect("kill starts").success());
    let asked = Instant::now();
    let output = child.wait_with_output().expect("it ends");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(asked.elapsed() < Duration::from_secs(20), "{err}");
    // As any campaign that a signal ends.
    assert_eq!(output.status.code(), Some(130), "{out}\n{err}");
    assert!(out.contains("1 fail"), "{out}\n{err}");
    assert!(err.contains("a signal ended it"), "{out}\n{err}");
    // The claim of the run alone, and all of it.
    let text = std::fs::read_to_string(&certificate).expect("the claim");
    let claim: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(claim["format"], "iolite-certificate/1");
}

/// A list that is too long to be shown says how many are left out, and that is counted.
#[test]
fn how_many_were_left_out_is_counted() {
    let folder = scratch("certificate-left-out");
    let choices: Vec<String> = (0..25)
        .map(|k| format!("    t / n := {k} -> Chosen\n"))
        .collect();
    let choices = choices.concat();
    let model = format!(
        "system M {{ var n: int = 0\n  input a, set(x: int)  output b(y: int), c  internal t\n\
         \x20 initial state Begin {{ ?a -> Choice  ?set(x) / n := x -> Begin }}\n\
         \x20 state Choice {{\n{choices}  }}\n\
         \x20 state Chosen {{ !b(y) [y == n] -> Begin }}\n}}\n"
    );
    let model = write(&folder, "many.iol", model);
    let log = write(&folder, "log.txt", "?a\n!c\n");
    let path = folder.join("c.json").display().to_string();
    iolite(&["monitor", &model, &log, "--certificate", &path]).expect(1);
    let told = iolite(&["explain", &path]).expect(0);
    assert!(!told.stdout.contains("not re-checked"), "{}", told.stdout);
    let text = std::fs::read_to_string(&path).expect("a certificate");
    let genuine: Value = serde_json::from_str(&text).expect("JSON");
    // 25 outputs, and as many places after the internal action as well as the one before it.
    for (list, number) in [("allowed", 5), ("locations", 6)] {
        let all = genuine[list].as_array().expect("a list");
        assert_eq!(all.len(), 21, "{genuine:#}");
        assert_eq!(all[20], format!("… and {number} more"));
        for other in [number - 1, number + 1, 0] {
            let mut forged = genuine.clone();
            forged[list][20] = format!("… and {other} more").into();
            assert_eq!(said(&forged), None, "{list}: {other}");
        }
        // One less is listed, and one more left out.
        let mut shorter = genuine.clone();
        shorter[list].as_array_mut().expect("a list").remove(3);
        assert_eq!(said(&shorter), None, "{list}");
        shorter[list][19] = format!("… and {} more", number + 1).into();
        assert!(said(&shorter).is_some(), "{list}");
    }
}
