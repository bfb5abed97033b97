//! How runs end: signals, systems that leave processes behind, ports that are taken, full disks.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Ran, iolite, scratch, write};

const MODEL: &str = "system Echo {
  input ping
  output pong, pang
  initial state Idle { ?ping -> Busy }
  state Busy { !pong -> Idle  ?ping -> Busy }
}
";

/// Answers, and leaves a daemon in a session of its own. It says where it lives, so that the test can look
/// for it.
const SYSTEM: &str = r#"
import os, subprocess, sys
child = subprocess.Popen(["setsid", "sleep", "60"])
loner = subprocess.Popen(["env", "-i", "/bin/sh", "-c", "setsid sleep 61 & wait"])
with open(sys.argv[1] + "/pids", "w") as f:
    f.write(f"{os.getpid()} {child.pid} {loner.pid} {sys.argv[2]}\n")
for line in sys.stdin:
    print("pong", flush=True)
"#;

struct Tested {
    folder: std::path::PathBuf,
    child: Child,
}

/// Starts a campaign without end and waits until its system runs.
fn endless(name: &str) -> Tested {
    let folder = scratch(name);
    write(&folder, "echo.iol", MODEL);
    write(&folder, "system.py", SYSTEM);
    let sut = format!(
        "command = \"python3 system.py {} {{dir}}\"\n",
        folder.display()
    );
    write(&folder, "sut.toml", sut);
    let child = Command::new(env!("CARGO_BIN_EXE_iolite"))
        .args(["test", "echo.iol", "--sut", "sut.toml", "--runs", "1000000"])
        .args([
            "--steps",
            "1000000",
            "--quiescence-ms",
            "60000",
            "--junit",
            "report.xml",
            "--json",
        ])
        .args(["--journal", "j.jsonl"])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !fs::read_to_string(folder.join("pids")).is_ok_and(|t| t.ends_with('\n')) {
        assert!(Instant::now() < until, "the system does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    // The signal comes in the middle of a run.
    std::thread::sleep(Duration::from_millis(300));
    Tested { folder, child }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([format!("-{name}"), child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.as_bytes()[0]);
    !matches!(state, None | Some(b'Z'))
}

fn sleepers(folder: &Path) -> Vec<String> {
    let pids = fs::read_to_string(folder.join("pids")).unwrap();
    pids.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_first_signal_ends_well() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut ignored = status.lines().filter_map(|l| l.strip_prefix("SigIgn:"));
    // Its bit is the lowest one. Tests that are themselves started with `nohup` pass that on.
    let heeds = |mask: &str| !mask.ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']);
    let hang_up = ignored.any(heeds).then_some(("HUP", 129, "SIGHUP"));
    let others = [("INT", 130, "SIGINT"), ("TERM", 143, "SIGTERM")];
    for (name, code, long) in others.into_iter().chain(hang_up) {
        let tested = endless(&format!("signal-{name}"));
        let began = Instant::now();
        signal(&tested.child, name);
        let ran = ended(tested.child).expect(code);
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "{:?}",
            began.elapsed()
        );
        let document = ran.json();
        assert_eq!(document["interrupted"], long, "{document}");
        assert_eq!(
            document["faults"].as_array().unwrap().len(),
            0,
            "{document}"
        );
        let junit = fs::read_to_string(tested.folder.join("report.xml")).unwrap();
        assert!(junit.trim_end().ends_with("</testsuites>"), "{junit}");
        assert!(junit.contains(&format!("interrupted by {long}")), "{junit}");
        let journal = fs::read_to_string(tested.folder.join("j.jsonl")).unwrap();
        let last = journal.lines().last().unwrap();
        assert!(last.contains("campaign-ended"), "{last}");
        // Nothing is left: neither the system, nor its daemons, nor its directory.
        let found = sleepers(&tested.folder);
        for pid in &found[..3] {
            assert!(!is_alive(pid), "process {pid} lives on");
        }
        assert!(!Path::new(&found[3]).exists(), "{} is left", found[3]);
    }
}

/// What `monitor` says of a log that comes through a pipe and has no end, when a signal comes in the middle of it.
fn monitor_interrupted(log: &str, name: &str, flags: &[&str]) -> Ran {
    let folder = scratch(name);
    write(&folder, "echo.iol", MODEL);
    let mut child = Command::new(env!("CARGO_BIN_EXE_iolite"))
        .args(["monitor", "echo.iol", "-"])
        .args(flags)
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(log.as_bytes()).unwrap();
    // It has read all of it, and the model.
    let read = || {
        let io = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap_or_default();
        let read = io.lines().find_map(|line| line.strip_prefix("rchar: "));
        read.and_then(|read| read.parse::<usize>().ok())
            .unwrap_or(0)
    };
    let until = Instant::now() + Duration::from_secs(20);
    while read() < log.len() + MODEL.len() {
        assert!(Instant::now() < until, "the log is not read");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "INT");
    let ran = ended(child);
    drop(pipe);
    ran
}

#[test]
fn a_monitor_that_is_interrupted_says_how_far_it_came() {
    let log = "?ping\n!pong\n?ping\n".repeat(1000);
    // A line that is cut off is not judged.
    let ran = monitor_interrupted(&format!("{log}!pan"), "monitor-int", &[]).expect(3);
    let says = "-:3001: unknown after 3000 steps: interrupted by SIGINT";
    assert!(ran.stdout.contains(says), "{}{}", ran.stdout, ran.stderr);
    let ran = monitor_interrupted("?ping\n!pong\n", "monitor-int-json", &["--json"]).expect(3);
    let document = ran.json();
    assert_eq!(document["verdict"], "unknown", "{document}");
    assert_eq!(document["steps"], 2, "{document}");
    assert_eq!(document["reason"], "interrupted by SIGINT", "{document}");
    let ran = monitor_interrupted("", "monitor-int-none", &[]).expect(3);
    let says = "interrupted by SIGINT before a step was judged";
    assert!(ran.stderr.contains(says), "{}{}", ran.stdout, ran.stderr);
    // What has failed until then has failed.
    let header = "{\"journal\":\"iolite-journal/1\"}\n";
    let run = |n: usize, output: &str| {
        format!(
            "{{\"event\":\"run-started\",\"run\":{n},\"seed\":1}}\n\
             {{\"event\":\"stimulus\",\"run\":{n},\"step\":0,\"action\":\"?ping\",\"at\":1}}\n\
             {{\"event\":\"output\",\"run\":{n},\"step\":1,\"action\":\"!{output}\",\"at\":2}}\n"
        )
    };
    let journal = [header, &run(0, "pang"), &run(1, "pong")].concat();
    let ran = monitor_interrupted(&journal, "monitor-int-fail", &[]).expect(1);
    assert!(
        ran.stdout.contains("fail, first in run 0"),
        "{}",
        ran.stdout
    );
    let journal = [header, &run(0, "pong"), &run(1, "pong")].concat();
    let ran = monitor_interrupted(&journal, "monitor-int-runs", &[]).expect(3);
    assert!(
        ran.stdout.contains("interrupted by SIGINT"),
        "{}",
        ran.stdout
    );
}

#[test]
fn the_second_signal_ends_at_once() {
    let folder = scratch("second-signal");
    write(&folder, "echo.iol", MODEL);
    // A system that ignores the request to end, and is given a minute for it.
    let system = "import signal, sys, time
open('dir', 'w').write(sys.argv[1])
open(sys.argv[1] + '/file', 'w').write('x')
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('ready', flush=True)
try:
    for line in sys.stdin:
        print('pong', flush=True)
except OSError:
    pass
time.sleep(60)
";
    write(&folder, "system.py", system);
    let sut = "command = \"python3 system.py {dir}\"\nready = \"ready\"\n[limits]\nstop-grace-ms = 60000\n";
    write(&folder, "sut.toml", sut);
    let child = Command::new(env!("CARGO_BIN_EXE_iolite"))
        .args([
            "test", "echo.iol", "--sut", "sut.toml", "--steps", "1000000",
        ])
        .args(["--quiescence-ms", "60000", "--events", "/dev/stderr"])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    let mut events = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(events.any(|line| line.unwrap().contains("run-started")));
    let reader = std::thread::spawn(move || events.count());
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(500));
    assert!(
        child.try_wait().unwrap().is_none(),
        "it waits for the system"
    );
    let began = Instant::now();
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(began.elapsed() < Duration::from_secs(5));
    reader.join().unwrap();
    let dir = fs::read_to_string(folder.join("dir")).unwrap();
    assert!(dir.contains("iolite-"), "{dir}");
    assert!(!Path::new(&dir).exists(), "{dir} is left");
}

/// An orphan of an earlier run must not pass for the system.
#[test]
fn a_port_that_is_taken_is_not_the_systems() {
    let folder = scratch("taken-port");
    let model = write(&folder, "echo.iol", MODEL);
    let orphan = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = orphan.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in orphan.incoming() {
            let mut stream = stream.unwrap();
            let reader = BufReader::new(stream.try_clone().unwrap());
            std::thread::spawn(move || {
                for _ in reader.lines().map_while(Result::ok) {
                    if std::io::Write::write_all(&mut stream, b"pong\n").is_err() {
                        break;
                    }
                }
            });
        }
    });
    let sut = format!("command = \"sleep 30\"\ntcp = \"127.0.0.1:{port}\"\n");
    let taken = write(&folder, "taken.toml", &sut);
    let attached = write(&folder, "attached.toml", format!("attach = true\n{sut}"));
    let test = |sut: &str| {
        iolite(&[
            "test",
            &model,
            "--sut",
            sut,
            "--runs",
            "1",
            "--steps",
            "5",
            "--quiescence-ms",
            "50",
            "--no-journal",
        ])
    };
    let ran = test(&taken).expect(4);
    assert!(ran.stdout.contains("in use"), "{}", ran.stdout);
    assert!(ran.stdout.contains("attach = true"), "{}", ran.stdout);
    test(&attached).expect(0);
    // Without a command there is nothing to attach beside.
    let useless = write(
        &folder,
        "useless.toml",
        "attach = true\ntcp = \"127.0.0.1:1\"\n",
    );
    assert!(test(&useless).expect(2).stderr.contains("no effect"));
}

/// Somebody else takes the port while the command is still starting: the connection is not to the system.
#[test]
fn a_quicker_listener_is_not_the_system() {
    let folder = scratch("quicker-listener");
    let model = write(&folder, "echo.iol", MODEL);
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    drop(other);
    let sut = format!("command = \"sleep 30\"\ntcp = \"127.0.0.1:{port}\"\n");
    let sut = write(&folder, "sut.toml", sut);
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        let other = TcpListener::bind(("127.0.0.1", port)).unwrap();
        std::thread::sleep(Duration::from_secs(3));
        drop(other);
    });
    let ran = iolite(&["test", &model, "--sut", &sut, "--runs", "1", "--no-journal"]).expect(4);
    assert!(ran.stdout.contains("not of the command"), "{}", ran.stdout);
    thread.join().unwrap();
}

/// The verdict does not depend on reports: failing runs are told, and the exit code is theirs.
#[test]
fn a_full_disk_loses_no_verdict() {
    let folder = scratch("full-disk");
    let model = write(&folder, "echo.iol", MODEL);
    for report in ["--junit", "--events", "--certificate"] {
        let ran = iolite(&[
            "test",
            &model,
            "--sut",
            "cmd:sed -u s/.*/pang/",
            "--runs",
            "2",
            "--quiescence-ms",
            "50",
            report,
            "/dev/full",
            "--no-journal",
        ])
        .expect(1);
        assert!(ran.stdout.contains("2 fail"), "{report}: {}", ran.stdout);
        assert!(
            ran.stderr.contains("No space left") || ran.stderr.contains("no space left"),
            "{}",
            ran.stderr
        );
        // Without a failing run the fault is what is told.
        let ran = iolite(&[
            "test",
            &model,
            "--sut",
            "cmd:sed -u s/.*/pong/",
            "--runs",
            "1",
            "--steps",
            "3",
            "--quiescence-ms",
            "50",
            report,
            "/dev/full",
            "--no-journal",
        ]);
        assert_eq!(
            ran.code,
            if report == "--certificate" { 0 } else { 4 },
            "{report}"
        );
    }
}

/// A suite is one report.
#[test]
fn a_suite_is_one_junit_document() {
    let folder = scratch("suite-junit");
    let suite = folder.join("suite").display().to_string();
    let model = write(&folder, "echo.iol", MODEL);
    iolite(&["derive", &model, "-o", &suite, "--depth", "3"]).expect(0);
    let report = folder.join("r.xml").display().to_string();
    iolite(&[
        "test",
        &model,
        "--sut",
        "cmd:sed -u s/.*/pong/",
        "--suite",
        &suite,
        "--junit",
        &report,
        "--quiescence-ms",
        "30",
        "--no-journal",
    ])
    .expect(0);
    let xml = fs::read_to_string(&report).unwrap();
    assert_eq!(xml.matches("<?xml").count(), 1, "{xml}");
    assert!(xml.matches("<testcase").count() > 1, "{xml}");
}
