//! Every command ends in exit code 3 when its time or memory runs out, with what is known so far.

mod common;

use std::fmt::Write as _;
use std::process::Command;

use common::{iolite, root, scratch, write};

/// A random system in which most labels lead to several states: its sets are too many to list.
fn random(states: usize, transitions: usize) -> String {
    let mut seed: u64 = 7;
    let mut draw = |n: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    let mut text = format!("des (0,{transitions},{states})\n");
    for k in 0..transitions {
        let from = if k < states { k } else { draw(states) };
        let label = ["?a", "?b", "!x", "!y"][draw(4)];
        let _ = writeln!(text, "({from},\"{label}\",{})", draw(states));
    }
    text
}

#[test]
fn what_does_not_listen_is_ended_from_outside() {
    let folder = scratch("ended");
    let model = write(&folder, "random.aut", random(20_000, 60_000));
    let endless = ["show", &model, "--view", "determinised"];
    let endless = [&endless[..], &["--max-states", "1000000000"]].concat();
    let ran = iolite(&[&endless[..], &["--timeout", "0.2"]].concat()).expect(3);
    assert!(ran.stderr.contains("within 0.2 seconds"), "{}", ran.stderr);
    assert!(ran.stderr.contains("were asked for"), "{}", ran.stderr);
    assert!(ran.stdout.is_empty());
    let ran = iolite(&[&endless[..], &["--max-memory", "60M"]].concat()).expect(3);
    let said = "error: more than 62914560 bytes would be needed\n";
    assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
}

/// `ulimit -v` makes allocations fail; that is no abort.
#[test]
#[cfg(target_os = "linux")]
fn no_memory_is_no_abort() {
    let folder = scratch("no-memory");
    let model = write(&folder, "random.aut", random(20_000, 60_000));
    let limited = |kilobytes: usize, more: &str| {
        let iolite = env!("CARGO_BIN_EXE_iolite");
        let line = format!("ulimit -v {kilobytes}; exec '{iolite}' {more}");
        let output = Command::new("sh")
            .args(["-c", &line])
            .current_dir(root())
            .output();
        let output = output.expect("a shell");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    };
    let show = format!("show '{model}' --view determinised --max-states 1000000000");
    // The bound that the machine has, and one that is beyond it. A table that doubles may jump over the
    // former.
    let (code, stderr) = limited(250_000, &show);
    assert_eq!(code, Some(3), "{stderr}");
    let said = ["80% of the memory", "out of memory"];
    assert!(said.iter().any(|s| stderr.contains(s)), "{stderr}");
    let (code, stderr) = limited(250_000, &format!("{show} --max-memory 1T"));
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stderr.contains("out of memory"), "{stderr}");
}

#[test]
fn what_is_known_so_far_is_said() {
    let folder = scratch("known-so-far");
    let model = write(&folder, "random.aut", random(20_000, 60_000));
    let observer = "observer W { initial state s { !x -> t  * -> s } state t { * -> s } \
                    violate state v }";
    let observer = write(&folder, "w.iol", observer);
    let args = ["verify", &model, "--property", &observer, "--timeout", "0"];
    let ran = iolite(&args);
    // The violating state is out of the observer's reach, so there may be nothing to search.
    assert!(matches!(ran.code, 0 | 3), "{} {}", ran.stdout, ran.stderr);
    let args = [
        "relate",
        "trace",
        &model,
        &model,
        "--timeout",
        "0",
        "--json",
    ];
    let json = iolite(&args).expect(3).json();
    assert_eq!(json["unknown"], "no answer within 0 seconds");
    assert!(json["effort"]["depth"].is_number(), "{json}");
}

/// A campaign tells what it found until then; a failing verdict outweighs the bound.
#[test]
fn a_campaign_ends_well() {
    let test = |sut: &str| {
        let args = ["test", "examples/candy/candy.iol", "--sut", sut];
        let more = [
            "--runs",
            "100000000",
            "--timeout",
            "3",
            "--no-journal",
            "--json",
        ];
        iolite(&[&args[..], &more].concat())
    };
    let json = test("examples/candy/sut.toml").expect(3).json();
    assert_eq!(json["interrupted"], "a bound of time or memory", "{json}");
}

#[test]
fn every_command_has_bounds() {
    let help = iolite(&["--help"]).expect(0).stdout;
    let commands = help.lines().skip_while(|l| !l.starts_with("Commands:"));
    let commands = commands.skip(1).take_while(|l| !l.is_empty());
    let names: Vec<&str> = commands
        .filter(|l| l.starts_with("  ") && !l.starts_with("    "))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let help = iolite(&[name, "--help"]).expect(0).stdout;
        for flag in ["--timeout <SECONDS>", "--max-memory <BYTES>"] {
            assert!(help.contains(flag), "{name}: {help}");
        }
    }
    for wrong in [
        ["--timeout", "x"],
        ["--timeout", "inf"],
        ["--max-memory", "3Q"],
    ] {
        let ran = iolite(&[&["check", "examples/candy/candy.iol"][..], &wrong].concat()).expect(2);
        assert!(ran.stderr.contains(wrong[0]), "{}", ran.stderr);
    }
}

/// Whatever the bound, a command ends with one of its exit codes: an answer that came in time, or 3.
#[test]
#[cfg(target_os = "linux")]
fn no_command_aborts() {
    let folder = scratch("no-aborts");
    let model = write(&folder, "random.aut", random(3_000, 9_000));
    let suite = folder.join("suite").display().to_string();
    let brp = "examples/papers/sym04_fig1.iol";
    let commands: [&[&str]; 12] = [
        &["check", "examples/login/login.iol"],
        &["show", &model, "--view", "suspension-automaton"],
        &["show", "examples/login/login.iol"],
        &["classify", "ltl:GF a -> GF b"],
        &[
            "relate",
            "ioco",
            &model,
            &model,
            "--complete-inputs",
            "self-loop",
        ],
        &["verify", brp, "--property", brp],
        &["verify", &model, "--property", "ltl:GF !x"],
        &["derive", &model, "--cover", "transitions", "-o", &suite],
        &[
            "test",
            brp,
            "--sut",
            "model:examples/papers/sym04_fig1.iol",
            "--runs",
            "3",
            "--no-journal",
        ],
        &["simulate", &model, "--steps", "5"],
        &["doctor"],
        &["explain", "examples/login/login.iol"],
    ];
    for command in commands {
        for bound in [
            ["--timeout", "0.01"],
            ["--max-memory", "1M"],
            ["--timeout", "0"],
        ] {
            let ran = iolite(&[command, &bound].concat());
            let said = format!("{command:?} {bound:?}: {} {}", ran.stdout, ran.stderr);
            assert!((0..=4).contains(&ran.code), "{said}");
            assert!(!ran.stderr.contains("panicked"), "{said}");
        }
        let iolite = env!("CARGO_BIN_EXE_iolite");
        let words: Vec<String> = command.iter().map(|w| format!("'{w}'")).collect();
        let line = format!("ulimit -v 60000; exec '{iolite}' {}", words.join(" "));
        let shell = Command::new("sh")
            .args(["-c", &line])
            .current_dir(root())
            .output();
        let output = shell.expect("a shell");
        let code = output.status.code();
        let stderr = String::from_utf8_lossy(&output.stderr);
        // Where the program itself does not fit, the system says 127 or 126.
        let known = code.is_some_and(|c| (0..=4).contains(&c) || c == 126 || c == 127);
        assert!(known, "{command:?}: {code:?} {stderr}");
    }
}
