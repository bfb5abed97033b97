//! Journals: names, locks, trust, and work from any folder.

mod common;

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
    let before = fs::read(folder.join("j.jsonl")).unwrap();
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
