//! Programs that are named as solvers and lie, flood, die or write noise: bounded in bytes and time, and
//! exit 4, never a verdict.
#![cfg(unix)]

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Ran, iolite, iolite_with_input, scratch, write};

const COUNTER: &str = "\
system C {
  const c: int, d: int
  assume c + d == 7 && c > 2 && d > 2
  var x: int = 0
  input up(n: int)
  output now(x: int)
  initial state S { ?up(n) [n > 0] / x := x + n -> T }
  state T { !now(v) [v >= x && v <= x + c + d - 6] -> S }
}
observer NeverBelow for C {
  initial state Fine { !now(v) [v < 0] -> Bad  * -> Fine }
  violate state Bad
}
";

/// A program that speaks the protocol: it repeats what it is told to echo, says `unsat` when it is
/// asked first, as every solver must of `false`, and then does what the test wants.
fn solver(folder: &Path, name: &str, version: &str, then: &str) -> String {
    let text = format!(
        "#!/bin/sh
if [ \"$1\" = --version ]; then {version}; exit 0; fi
asked=0
while IFS= read -r line; do
  case \"$line\" in
    *'(echo \"'*) rest=${{line##*'(echo \"'}}; echo \"${{rest%%'\"'*}}\" ;;
    '(check-sat)')
      asked=$((asked + 1))
      if [ $asked -eq 1 ]; then echo unsat; else {then}; fi ;;
  esac
done
"
    );
    let path = write(folder, name, text);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a program");
    path
}

/// Runs a command within a bounded time.
fn within(seconds: u64, run: impl FnOnce() -> Ran) -> Ran {
    let begin = Instant::now();
    let ran = run();
    let took = begin.elapsed();
    assert!(took < Duration::from_secs(seconds), "it took {took:?}");
    ran
}

/// The commands that ask a solver about models with data.
fn commands(folder: &Path, solver: &str) -> Vec<(&'static str, Ran)> {
    let model = write(folder, "counter.iol", COUNTER);
    let log = write(folder, "log.txt", "?up(3)\n!now(4)\n?up(4)\n!now(8)\n");
    let system = format!("{model}#C");
    let flags = ["--solver", solver];
    let run = |args: &[&str]| within(60, || iolite(&[args, &flags[..]].concat()));
    let sut = format!("model:{system}(c = 3, d = 4)");
    let test = [
        "test", &system, "--sut", &sut, "--runs", "1", "--steps", "6",
    ];
    vec![
        ("monitor", run(&["monitor", &system, &log])),
        ("test", run(&[&test[..], &["--no-journal"]].concat())),
        (
            "verify",
            run(&[
                "verify",
                &system,
                "--property",
                &format!("{model}#NeverBelow"),
            ]),
        ),
        (
            "simulate",
            within(60, || {
                let args = ["simulate", &system, "--solver", solver];
                iolite_with_input(&args, "?up(3)\n!now(3)\nquit\n")
            }),
        ),
    ]
}

#[track_caller]
fn are_faults(ran: Vec<(&str, Ran)>, why: &str) {
    for (name, ran) in ran {
        assert_eq!(ran.code, 4, "{name}: {}\n{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(why), "{name}: {}", ran.stderr);
    }
}

#[test]
fn a_lying_unsat_is_found_by_the_second_opinion() {
    let folder = scratch("solver-liar");
    let liar = solver(&folder, "liar", "echo liar 1.0", "echo unsat");
    are_faults(commands(&folder, &liar), "liar 1.0 says unsat");
}

#[test]
fn a_lie_about_a_certificate_is_found() {
    let folder = scratch("solver-liar-explain");
    let liar = solver(&folder, "liar", "echo liar 1.0", "echo unsat");
    let model = format!("{}#C", write(&folder, "counter.iol", COUNTER));
    let log = write(&folder, "log.txt", "?up(3)\n!now(5)\n");
    let certificate = folder.join("certificate.json").display().to_string();
    let args = ["monitor", &model, &log, "--certificate", &certificate];
    iolite(&args).expect(1);
    iolite(&["explain", &certificate]).expect(0);
    let ran = iolite(&["explain", &certificate, "--solver", &liar]).expect(4);
    assert!(ran.stderr.contains("liar 1.0 says unsat"), "{}", ran.stderr);
}

#[test]
fn a_solver_that_dies_is_a_fault() {
    let folder = scratch("solver-dying");
    let dying = solver(&folder, "dying", "echo dying 1.0", "exit 1");
    // A new process is asked once more before it is given up, and says what such programs say first.
    are_faults(commands(&folder, &dying), "dying 1.0 says unsat");
}

#[test]
fn noise_is_a_fault() {
    let folder = scratch("solver-noise");
    let noisy = solver(&folder, "noisy", "echo noisy 1.0", "echo bananas");
    are_faults(commands(&folder, &noisy), "writes what is no answer");
}

#[test]
fn a_flood_is_bounded() {
    let folder = scratch("solver-flood");
    let lines = solver(&folder, "lines", "echo lines 1.0", "exec yes bananas");
    // One line without an end, for the version and for an answer.
    let endless = "exec tr '\\0' x < /dev/zero";
    let answer = solver(&folder, "answer", "echo answer 1.0", endless);
    let model = format!("{}#C", write(&folder, "counter.iol", COUNTER));
    let log = write(&folder, "log.txt", "?up(3)\n");
    for flooding in [&lines, &answer] {
        let ran = within(60, || {
            iolite(&["monitor", &model, &log, "--solver", flooding])
        });
        // What ends a flood is a matter of time, so the answer may be unknown as well.
        assert!(matches!(ran.code, 3 | 4), "{} {}", ran.code, ran.stderr);
    }
    let version = solver(&folder, "version", endless, "echo unsat");
    let ran = within(60, || {
        iolite(&["monitor", &model, &log, "--solver", &version])
    });
    assert_ne!(ran.code, 101, "{}", ran.stderr);
    // A program that says nothing at all, not even when it is asked for its version.
    let mute = solver(&folder, "mute", "sleep 30", "sleep 30");
    let ran = within(25, || iolite(&["monitor", &model, &log, "--solver", &mute]));
    assert!(matches!(ran.code, 2 | 4), "{} {}", ran.code, ran.stderr);
}
