//! Journals: names, locks, trust, and work from any folder.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Ran, scratch, write};

const MODEL: &str = "system Echo {
  input ping
  output pong, pang
  initial state Idle { ?ping -> Busy }
  state Busy { !pong -> Idle  ?ping -> Busy }
}
";

fn iolite_in(folder: &Path, args: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_iolite"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn journals(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder.join(".iolite")) else {
        return Vec::new();
    };
    let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.contains(".jsonl")).collect()
}

#[test]
fn each_campaign_has_a_journal_of_its_own() {
    let folder = scratch("own-journals");
    write(&folder, "echo.iol", MODEL);
    write(&folder, "bad.toml", "command = \"sed -u s/.*/pang/\"\n");
    let args = [
        "test",
        "echo.iol",
        "--sut",
        "bad.toml",
        "--runs",
        "1",
        "--quiescence-ms",
        "2000",
    ];
    let first = iolite_in(&folder, &args).expect(1);
    iolite_in(&folder, &args).expect(1);
    assert_eq!(journals(&folder).len(), 2);
    let latest = fs::canonicalize(folder.join(".iolite/latest")).unwrap();
    assert!(journals(&folder).iter().any(|name| latest.ends_with(name)));
    // The line that is printed works, also from elsewhere; a description on disk needs no word of trust.
    let line = first
        .stdout
        .lines()
        .find(|line| line.contains("replay:"))
        .unwrap();
    assert!(!line.contains("--trust"), "{line}");
    let journal = line.split_whitespace().nth(3).unwrap();
    iolite_in(&folder, &["replay", journal]).expect(1);
    let elsewhere = scratch("own-journals-elsewhere");
    let journal = folder.join(journal).display().to_string();
    iolite_in(&elsewhere, &["replay", &journal]).expect(1);
    iolite_in(
        &elsewhere,
        &[
            "shrink",
            &journal,
            "--confirmations",
            "1",
            "--certificate",
            "c.json",
        ],
    )
    .expect(1);
    assert!(elsewhere.join("c.json").exists());
    iolite_in(&folder, &["replay"]).expect(1);
    // A campaign that does not start leaves no journal, and the link where it was.
    iolite_in(
        &folder,
        &["test", "echo.iol", "--sut", "cmd:no-such-program"],
    )
    .expect(4);
    assert_eq!(journals(&folder).len(), 2);
    assert_eq!(
        fs::canonicalize(folder.join(".iolite/latest")).unwrap(),
        latest
    );
}

#[test]
fn a_run_that_does_not_start_overwrites_nothing() {
    let folder = scratch("kept-journal");
    write(&folder, "echo.iol", MODEL);
    write(&folder, "kept.jsonl", "precious\n");
    let args = ["test", "echo.iol", "--journal", "kept.jsonl", "--sut"];
    iolite_in(&folder, &[&args[..], &["cmd:no-such-program"]].concat()).expect(4);
    assert_eq!(
        fs::read_to_string(folder.join("kept.jsonl")).unwrap(),
        "precious\n"
    );
}

#[test]
fn two_runs_never_share_a_journal() {
    let folder = scratch("locked-journal");
    write(&folder, "echo.iol", MODEL);
    let args = [
        "test",
        "echo.iol",
        "--journal",
        "j.jsonl",
        "--quiescence-ms",
        "60000",
        "--sut",
    ];
    let mut first = Command::new(env!("CARGO_BIN_EXE_iolite"))
        .args(args)
        .args(["cmd:sleep 60"])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !fs::read_to_string(folder.join("j.jsonl")).is_ok_and(|text| text.contains("stimulus")) {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(10));
    }
    // It gives some stimuli, and waits for an answer.
    let mut before = Vec::new();
    loop {
        let now = fs::read(folder.join("j.jsonl")).unwrap();
        if now == before {
            break;
        }
        before = now;
        std::thread::sleep(Duration::from_millis(500));
    }
    let ran = iolite_in(&folder, &[&args[..], &["cmd:sed -u s/.*/pong/"]].concat()).expect(4);
    assert!(
        ran.stderr.contains("another run is writing it"),
        "{}",
        ran.stderr
    );
    assert_eq!(fs::read(folder.join("j.jsonl")).unwrap(), before);
    let pid = first.id().to_string();
    assert!(Command::new("kill").arg(pid).status().unwrap().success());
    assert_eq!(first.wait().unwrap().code(), Some(143));
}

/// What stands only in a journal is executed only with the user's word.
#[test]
fn a_forged_journal_executes_nothing() {
    let folder = scratch("forged-journal");
    write(&folder, "echo.iol", MODEL);
    let args = [
        "test",
        "echo.iol",
        "--journal",
        "j.jsonl",
        "--runs",
        "1",
        "--quiescence-ms",
        "2000",
    ];
    let sut = ["--sut", "cmd:sed -u s/.*/pang/"];
    let ran = iolite_in(&folder, &[&args[..], &sut].concat()).expect(1);
    assert!(ran.stdout.contains("--trust"), "{}", ran.stdout);
    let journal = fs::read_to_string(folder.join("j.jsonl")).unwrap();
    let forged = journal.replace("cmd:sed -u s/.*/pang/", "cmd:touch executed\\u001b[2J");
    assert_ne!(forged, journal);
    write(&folder, "forged.jsonl", &forged);
    for command in ["replay", "shrink"] {
        let ran = iolite_in(&folder, &[command, "forged.jsonl"]).expect(2);
        assert!(
            ran.stderr.contains("touch executed\\u{1b}[2J"),
            "{}",
            ran.stderr
        );
        assert!(!folder.join("executed").exists());
    }
    let solver = journal.replace("\"--runs\"", "\"--solver\",\"touch executed\",\"--runs\"");
    write(&folder, "solver.jsonl", &solver);
    iolite_in(
        &folder,
        &["replay", "solver.jsonl", "--sut", "cmd:sed -u s/.*/pang/"],
    )
    .expect(2);
    assert!(!folder.join("executed").exists());
    // The user's own word, and the user's own system.
    let ran = iolite_in(&folder, &["replay", "j.jsonl", "--trust"]).expect(1);
    assert!(ran.stderr.contains("sed -u"), "{}", ran.stderr);
    iolite_in(
        &folder,
        &["replay", "forged.jsonl", "--sut", "cmd:sed -u s/.*/pang/"],
    )
    .expect(1);
}

/// The compact form says the same as the other, and every command reads it.
#[test]
fn a_compact_journal_is_read_by_every_command() {
    let folder = scratch("compact-journal");
    write(&folder, "echo.iol", MODEL);
    let broken = MODEL.replace("!pong ->", "!pong -> Idle  !pang ->");
    write(&folder, "broken.iol", broken);
    let test = |journal: &str, more: &[&str]| {
        let args = [
            "test",
            "echo.iol",
            "--sut",
            "model:broken.iol",
            "--seed",
            "3",
        ];
        let args = [&args[..], &["--runs", "40", "--journal", journal], more].concat();
        iolite_in(&folder, &args)
    };
    let lines = test("j.jsonl", &[]);
    let compact = test("j.iolj", &[]);
    assert_eq!((lines.code, compact.code), (1, 1), "{}", compact.stderr);
    let length = |name: &str| fs::metadata(folder.join(name)).unwrap().len();
    assert!(length("j.iolj") < length("j.jsonl"));

    // Times differ, and what else is there does not.
    let strip = |text: &str| -> Vec<String> {
        let time = without_times(text);
        time.lines().skip(1).map(str::to_owned).collect()
    };
    let shown = iolite_in(&folder, &["show", "j.iolj"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let written = fs::read_to_string(folder.join("j.jsonl")).unwrap();
    assert_eq!(strip(&shown.stdout), strip(&written));

    for command in [&["replay"][..], &["shrink"], &["monitor", "echo.iol"]] {
        let of = |journal: &str| {
            let ran = iolite_in(&folder, &[command, &[journal]].concat());
            let last = ran.stdout.lines().last().unwrap_or_default().to_owned();
            (ran.code, last.replace("j.iolj", "j.jsonl"))
        };
        assert_eq!(of("j.iolj"), of("j.jsonl"), "{command:?}");
        assert_eq!(of("j.iolj").0, 1, "{command:?}");
    }

    // Several jobs write streams of their own.
    let jobs = test("jobs.iolj", &["--jobs", "3"]);
    assert_eq!(jobs.code, 1, "{}", jobs.stderr);
    let shown = iolite_in(&folder, &["show", "jobs.iolj"]).stdout;
    assert_eq!(shown.matches("\"run-started\"").count(), 40);
    assert_eq!(shown.matches("\"run-ended\"").count(), 40);
    assert_eq!(shown.matches("\"campaign-ended\"").count(), 1);
}

/// A property judges one run of a journal, in one pass over either form, from a file or through a pipe.
#[test]
fn a_property_judges_one_run_of_a_journal() {
    let folder = scratch("one-run");
    write(&folder, "echo.iol", MODEL);
    for form in ["jsonl", "iolj"] {
        let journal = format!("j.{form}");
        let test = [
            "test",
            "echo.iol",
            "--sut",
            "model:echo.iol",
            "--seed",
            "3",
            "--steps",
            "40",
            "--journal",
            &journal,
            "--runs",
        ];
        iolite_in(&folder, &[&test[..], &["3"]].concat()).expect(0);
        let monitor = |more: &[&str]| {
            let over = "?ping,!pong,!pang";
            let args = ["monitor", &journal, "--json", "--over", over, "--property"];
            iolite_in(&folder, &[&args[..], more].concat())
        };
        let (open, settled) = ("ltl:G(?ping -> F !pong)", "ltl:F ?ping");
        for property in [open, settled] {
            let several = monitor(&[property]).expect(2);
            let reason = "a journal of 3 runs, and a property judges one at a time";
            assert!(several.stderr.contains(reason), "{}", several.stderr);
            let missing = monitor(&[property, "--run", "7"]).expect(2);
            let reason = "no such run; it has 3 runs";
            assert!(missing.stderr.contains(reason), "{}", missing.stderr);
        }
        let second = monitor(&[open, "--run", "1"]).expect(3).json();
        assert_eq!(second["steps"], 40);
        let second = monitor(&[settled, "--run", "1"]).expect(0).json();
        assert_eq!(second["verdict"], "weak-pass");
        let beside = ["monitor", "echo.iol", &journal, "--property", open];
        iolite_in(&folder, &beside).expect(2);
        let beside = [&beside[..], &["--run", "1", "--json"]].concat();
        let beside = iolite_in(&folder, &beside).expect(0).json();
        assert_eq!(beside["conformance"]["verdict"], "pass");
        assert_eq!(beside["steps"], 40);

        // One run that is longer than what is kept of standard input.
        let long = [&test[..6], &["--steps", "60000", "--runs", "1"]].concat();
        iolite_in(&folder, &[&long[..], &["--journal", &journal]].concat()).expect(0);
        let file = monitor(&[open]).expect(3).json();
        assert_eq!(file["steps"], 60000);
        let piped = Command::new(env!("CARGO_BIN_EXE_iolite"))
            .args(["monitor", "--json", "--property", open, "-"])
            .args(["--over", "?ping,!pong,!pang"])
            .current_dir(&folder)
            .stdin(fs::File::open(folder.join(&journal)).unwrap())
            .output()
            .unwrap();
        let piped: serde_json::Value = serde_json::from_slice(&piped.stdout).unwrap();
        assert_eq!(piped, file);
    }
}

/// The text with every number behind `"at":`, `"elapsed":` as 0.
fn without_times(text: &str) -> String {
    let mut out = text.to_owned();
    for key in ["\"at\":", "\"elapsed\":"] {
        let mut rest = std::mem::take(&mut out);
        while let Some(found) = rest.find(key) {
            let digits = found + key.len();
            out += &rest[..digits];
            rest = rest[digits..]
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .to_owned();
        }
        out += &rest;
    }
    out
}

/// A tester that is killed loses no run that had a verdict.
#[test]
fn a_compact_journal_survives_a_kill() {
    let folder = scratch("compact-kill");
    write(&folder, "echo.iol", MODEL);
    let mut child = Command::new(env!("CARGO_BIN_EXE_iolite"))
        .args([
            "test",
            "echo.iol",
            "--sut",
            "model:echo.iol",
            "--runs",
            "100000000",
        ])
        .args([
            "--steps",
            "50",
            "--jobs",
            "2",
            "--journal",
            "j.iolj",
            "--events",
            "e.jsonl",
        ])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while fs::metadata(folder.join("j.iolj")).map_or(0, |m| m.len()) < 100_000 {
        assert!(Instant::now() < until, "nothing is written");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let ended = |text: &str| -> BTreeSet<String> {
        let ended = text
            .lines()
            .filter(|line| line.contains("\"run-ended\"") && line.ends_with('}'));
        let run = |line: &str| {
            line.split("\"run\":")
                .nth(1)
                .unwrap()
                .split(',')
                .next()
                .unwrap()
                .to_owned()
        };
        ended.map(run).collect()
    };
    let shown = iolite_in(&folder, &["show", "j.iolj"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let journaled = ended(&shown.stdout);
    // The journal hears of an event first, so it knows of every run that others know the end of.
    let told = ended(&fs::read_to_string(folder.join("e.jsonl")).unwrap());
    assert!(told.len() > 10, "{}", told.len());
    assert!(told.is_subset(&journaled));
    // And it has all of their steps.
    for run in told.iter().take(20) {
        let steps = shown
            .stdout
            .lines()
            .filter(|line| line.contains("\"step\":") && line.contains(&format!("\"run\":{run},")));
        assert_eq!(steps.count(), 50, "run {run}");
    }
    let replayed = iolite_in(&folder, &["replay", "j.iolj", "--run", "3"]);
    assert_eq!(replayed.code, 0, "{}{}", replayed.stdout, replayed.stderr);
}

/// The lines of a journal in either form; none while it has no beginning.
fn lines_of(folder: &Path, journal: &str) -> String {
    if journal == "j.jsonl" {
        return fs::read_to_string(folder.join(journal)).unwrap_or_default();
    }
    iolite_in(folder, &["show", journal]).stdout
}

/// Starts a campaign against a program and kills it, the program included, when the journal in the folder says enough.
fn killed_when(folder: &Path, args: &[&str], enough: impl Fn() -> bool) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_iolite"))
        .args(["test", "echo.iol"])
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    let mut found = enough();
    while !found && Instant::now() < until && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(10));
        found = enough();
    }
    let ended = child.try_wait().unwrap();
    let _ = child.kill();
    child.wait().unwrap();
    assert!(found && ended.is_none(), "{args:?}: {ended:?}");
}

/// What a system was given that then hangs is in the journal while the tester still waits, wherever it waits: for an answer, for the
/// rest of one, until a stimulus is taken, in a pause.
#[test]
fn what_a_system_was_given_that_hangs_is_on_record() {
    let folder = scratch("journals-hang");
    write(&folder, "echo.iol", MODEL);
    // It ends with the tester, whose end of the pipe is closed then.
    let system = "import select, sys
def read(): sys.stdin.readline()
def write(text): print(text, end='', flush=True)
def hang():
    poll = select.poll()
    poll.register(0, 0)
    poll.poll()
";
    let long = format!("send = \"ping{}\"", "g".repeat(200_000));
    let pace = ["--pace", "300s"];
    for (name, does, send, flags, events) in [
        ("silent", "read()", "", &[][..], ("stimulus", 1)),
        (
            "second",
            "read(); write('pong\\n'); read()",
            "",
            &[],
            ("stimulus", 2),
        ),
        ("half", "read(); write('po')", "", &[], ("stimulus", 1)),
        ("full", "pass", &long, &[], ("stimulus", 1)),
        ("pause", "pass", "", &pace, ("pause", 1)),
    ] {
        write(&folder, "hang.py", format!("{system}{does}; hang()\n"));
        // Silence is waited for after `ping` alone.
        let sut = format!(
            "command = \"python3 hang.py\"\n[quiescence]\ntimeout-ms = 50\n\
             [limits]\nsend-timeout-ms = 600000\nmessage-timeout-ms = 600000\n\
             [actions.ping]\ntimeout-ms = 600000\n{send}\n[actions.pong]\nrecv = \"pong\"\n"
        );
        write(&folder, "sut.toml", sut);
        for journal in ["j.jsonl", "j.iolj"] {
            let _ = fs::remove_file(folder.join(journal));
            let (event, count) = events;
            let event = format!("{{\"event\":\"{event}\"");
            let shown = || lines_of(&folder, journal);
            let is_there = || shown().matches(&event).count() >= count;
            let args = ["--sut", "sut.toml", "--runs", "1", "--journal", journal];
            killed_when(&folder, &[&args[..], flags].concat(), is_there);
            assert!(is_there(), "{name}, {journal}: {}", shown());
            assert!(!shown().contains("run-ended"), "{name}: {}", shown());
        }
    }
}

/// A tester of a fast system that is killed loses no run that had a verdict, and no step of one; its journal is read back.
#[test]
fn a_journal_of_a_fast_system_survives_a_kill() {
    let folder = scratch("journals-fast");
    let model = "system Echo { input ping output pong
  initial state Idle { ?ping -> Busy }
  state Busy { !pong -> Idle } }
";
    write(&folder, "echo.iol", model);
    // Silence is short but after `ping`, which is answered.
    let sut = "command = \"sed -u s/.*/pong/\"\n[quiescence]\ntimeout-ms = 20\n\
               [actions.ping]\ntimeout-ms = 20000\n[actions.pong]\nrecv = \"pong\"\n";
    write(&folder, "sut.toml", sut);
    for (journal, jobs) in [
        ("j.jsonl", "1"),
        ("j.iolj", "1"),
        ("j.jsonl", "2"),
        ("j.iolj", "2"),
    ] {
        let _ = fs::remove_file(folder.join("e.jsonl"));
        let args = ["--sut", "sut.toml", "--runs", "1000000", "--steps", "40"];
        let more = ["--jobs", jobs, "--journal", journal, "--events", "e.jsonl"];
        let ended = |text: &str| -> BTreeSet<u64> {
            let events = text
                .lines()
                .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
            let ended = events.filter(|event| event["event"] == "run-ended");
            ended.filter_map(|event| event["run"].as_u64()).collect()
        };
        let told = || ended(&fs::read_to_string(folder.join("e.jsonl")).unwrap_or_default());
        killed_when(&folder, &[&args[..], &more].concat(), || told().len() > 8);
        let shown = lines_of(&folder, journal);
        let journaled = ended(&shown);
        assert!(told().is_subset(&journaled), "{:?} {journaled:?}", told());
        for run in told() {
            let of_run = format!("\"run\":{run},\"step\":");
            let is_step = |line: &&str| {
                let beside = ["\"bytes\"", "\"pause\""];
                line.contains(&of_run) && !beside.iter().any(|kind| line.contains(kind))
            };
            let steps = shown.lines().filter(is_step);
            let numbers: Vec<u64> = steps
                .map(|line| {
                    serde_json::from_str::<serde_json::Value>(line).unwrap()["step"]
                        .as_u64()
                        .unwrap()
                })
                .collect();
            assert!(numbers.into_iter().eq(0..40), "run {run}");
        }
    }
}

/// A log may come through a pipe: as text, as JSON lines, as a journal, and longer than what is kept.
#[test]
fn a_log_is_read_from_standard_input() {
    let folder = scratch("journals-input");
    let model = write(&folder, "echo.iol", MODEL);
    let judge = |log: &str| common::iolite_with_input(&["monitor", &model, "-"], log);
    judge("?ping\n!pong\n").expect(0);
    let failing = judge("?ping\n!pang\n").expect(1);
    assert!(failing.stdout.contains("-:2: fail"), "{}", failing.stdout);
    judge("{\"action\":\"?ping\"}\n{\"action\":\"!pong\"}\n").expect(0);
    let long = "?ping\n!pong\n".repeat(200_000);
    judge(&long).expect(0);
    judge(&format!("{long}!pang\n")).expect(1);
    judge("").expect(3);
    let sut = format!("model:{model}");
    let journal = folder.join("j.jsonl").display().to_string();
    let journal = journal.as_str();
    let made = [
        "test",
        &model,
        "--sut",
        &sut,
        "--runs",
        "2",
        "--journal",
        journal,
    ];
    common::iolite(&made).expect(0);
    let recorded = fs::read_to_string(journal).unwrap();
    let judged = judge(&recorded).expect(0);
    assert!(judged.stdout.contains("2 runs"), "{}", judged.stdout);
    let twice = common::iolite_with_input(&["monitor", "-", "-"], MODEL).expect(2);
    assert!(twice.stderr.contains("standard input"), "{}", twice.stderr);
}
