//! What is not known, not read or not shown well must not look like an answer: torn logs, properties without a value, arguments that are
//! no text, bytes of a system on the terminal, outputs that nobody can ever see.

mod common;

use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use common::{iolite, iolite_with_input, root, scratch, write};

const CANDY: &str = "examples/candy/candy.iol";

#[test]
fn a_log_whose_last_line_is_torn_is_not_a_pass() {
    let folder = scratch("torn-log");
    let whole = "{\"action\":\"?shil\"}\n{\"action\":\"!choc\"}\n";
    let log = write(&folder, "whole.jsonl", whole);
    iolite(&["monitor", CANDY, &log]).expect(1);
    let torn = &whole[..whole.len() - 5];
    let log = write(&folder, "torn.jsonl", torn);
    for ran in [
        iolite(&["monitor", CANDY, &log, "--json"]),
        iolite_with_input(&["monitor", CANDY, "-", "--json"], torn),
    ] {
        let document = ran.expect(3).json();
        assert_eq!(document["verdict"], "unknown");
        let reason = document["reason"].as_str().expect("a reason");
        assert!(reason.contains("torn"), "{reason}");
    }
    // What failed before it has failed.
    let log = write(&folder, "failed.jsonl", format!("{whole}{{\"act"));
    iolite(&["monitor", CANDY, &log]).expect(1);
}

#[test]
fn a_journal_whose_last_line_is_torn_is_not_a_pass() {
    let folder = scratch("torn-journal");
    for (name, has_lines) in [("runs.jsonl", true), ("runs.iolj", false)] {
        let journal = folder.join(name).display().to_string();
        let args = ["test", CANDY, "--sut", "model:examples/candy/candy.iol"];
        let more = ["--runs", "3", "--steps", "10", "--journal", &journal];
        iolite(&[&args[..], &more].concat()).expect(0);
        iolite(&["monitor", CANDY, &journal]).expect(0);
        let bytes = std::fs::read(&journal).expect("a journal");
        let cut = write(&folder, &format!("cut-{name}"), &bytes[..bytes.len() - 7]);
        let ran = iolite(&["monitor", CANDY, &cut]).expect(3);
        assert!(ran.stdout.contains("torn"), "{}", ran.stdout);
        // The first run is there from its beginning to its end.
        if has_lines {
            iolite(&["monitor", CANDY, &cut, "--run", "0"]).expect(0);
        }
    }
}

#[test]
fn a_property_without_a_value_leaves_no_pass() {
    let folder = scratch("no-value");
    let model = write(
        &folder,
        "p.iol",
        "system T {\n  input a\n  output r(v: 0..9)\n  initial state s0 { ?a -> s1 }\n  state s1 { !r(v) -> s0 }\n}\n\
         property P for T = ltl G (?a -> X !r(v) [10 / v < 5])\n",
    );
    let log = write(
        &folder,
        "log.jsonl",
        "{\"action\":\"?a\"}\n{\"action\":\"!r(0)\"}\n",
    );
    let (system, property) = (format!("{model}#T"), format!("{model}#P"));
    iolite(&["monitor", &property, &log]).expect(3);
    iolite(&["monitor", &system, &log]).expect(0);
    let ran = iolite(&["monitor", &system, &log, "--property", &property]).expect(3);
    assert!(ran.stdout.contains("together: unknown"), "{}", ran.stdout);
}

#[test]
fn an_argument_that_is_no_text_is_bad_input() {
    let ran = Command::new(env!("CARGO_BIN_EXE_iolite"))
        .arg("check")
        .arg(std::ffi::OsStr::from_bytes(b"n\xff.iol"))
        .current_dir(root())
        .output()
        .expect("iolite starts");
    assert_eq!(ran.status.code(), Some(2));
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(told.contains("is not UTF-8 text"), "{told}");
}

#[test]
fn a_system_does_not_talk_to_the_terminal() {
    let folder = scratch("escapes");
    let system = write(
        &folder,
        "esc.py",
        "import sys\nfor line in sys.stdin:\n    print('\\x1b[2J\\x1b]0;pwn\\x07liq', flush=True)\n",
    );
    let sut = format!("cmd:python3 {system}");
    let args = ["test", CANDY, "--sut", &sut, "--no-journal", "--steps", "6"];
    let ran = iolite(&[&args[..], &["--quiescence-ms", "2000"]].concat()).expect(4);
    assert!(
        ran.stdout.contains("undecodable"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    assert!(
        !ran.stderr.contains('\x1b') && !ran.stdout.contains('\x1b'),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_output_without_a_template_beside_one_that_takes_all() {
    let folder = scratch("catch-all");
    let model = write(
        &folder,
        "m.iol",
        "system S {\n  input go\n  output alarm, other\n  initial state A { ?go -> B }\n  state B { !other -> A }\n}\n",
    );
    for (template, warns) in [("{_}", true), ("al{_}", true), ("o{_}", false)] {
        let sut = write(
            &folder,
            "sut.toml",
            format!("command = \"sed -u s/.*/other/\"\n[actions.other]\nrecv = \"{template}\"\n"),
        );
        let args = ["test", &model, "--sut", &sut, "--runs", "1", "--steps", "2"];
        let ran = iolite(&[&args[..], &["--no-journal", "--quiescence-ms", "2000"]].concat());
        let told = ran
            .stderr
            .contains("output `alarm` is never observed: it has no `recv`");
        assert_eq!(told, warns, "{template}: {}{}", ran.stdout, ran.stderr);
    }
}

/// What a run came to that ended with its system is no pass when its journal is judged.
#[test]
fn a_crash_is_one_in_the_journal() {
    let folder = scratch("crash-in-journal");
    let program = "import sys\nsys.stdin.readline()\nprint('liq', flush=True)\nsys.stdin.readline()\nsys.exit(3)\n";
    let system = write(&folder, "dies.py", program);
    let sut = format!("cmd:python3 {system}");
    for name in ["runs.jsonl", "runs.iolj"] {
        let journal = folder.join(name).display().to_string();
        let args = [
            "test",
            CANDY,
            "--sut",
            &sut,
            "--journal",
            &journal,
            "--runs",
            "3",
        ];
        let more = ["--steps", "30", "--quiescence-ms", "2000", "--json"];
        let ran = iolite(&[&args[..], &more].concat()).expect(1);
        let verdicts = &ran.json()["verdicts"];
        assert!(
            verdicts["crash"].as_u64().is_some_and(|n| n > 0),
            "{verdicts}"
        );
        let ran = iolite(&["monitor", CANDY, &journal, "--json"]).expect(1);
        let verdict = &ran.json()["verdict"];
        assert!(verdict == "crash" || verdict == "fail", "{verdict}");
    }
}

/// A system that dies in the middle of a message has crashed; one that ends well has left out the end of a line.
#[test]
fn half_a_message_and_the_end() {
    let folder = scratch("half-a-message");
    for (end, code, told) in [
        (
            "os.kill(os.getpid(), signal.SIGSEGV)",
            1,
            "in the middle of a message",
        ),
        ("sys.exit(3)", 1, "in the middle of a message"),
        ("sys.exit(0)", 4, "half a message"),
    ] {
        let program = format!(
            "import os, signal, sys\nsys.stdin.readline()\nsys.stdout.write('o')\nsys.stdout.flush()\n{end}\n"
        );
        let system = write(&folder, "half.py", program);
        let sut = format!("cmd:python3 {system}");
        let args = ["test", CANDY, "--sut", &sut, "--no-journal", "--steps", "6"];
        let ran = iolite(&[&args[..], &["--runs", "1", "--quiescence-ms", "2000"]].concat());
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let ran = ran.expect(code);
        assert!(said.contains(told), "{end}: {}{}", ran.stdout, ran.stderr);
    }
}
