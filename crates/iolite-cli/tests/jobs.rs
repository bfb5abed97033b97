//! What commands write does not depend on how many threads there are.

mod common;

use std::fmt::Write;

use common::{iolite, scratch, write};

/// A system with so many states that threads share the work, and few sets for each of its states.
fn large(states: usize) -> String {
    let mut text = format!("des (0,{},{states})\n", 3 * states);
    for state in 0..states {
        let (near, far) = ((state + 1) % states, (state * 7 + 3) % states);
        let (input, output) = (state % 5, state % 3);
        let _ = writeln!(text, "({state},\"?a{input}\",{near})");
        let _ = writeln!(text, "({state},\"?a{input}\",{far})");
        let _ = writeln!(text, "({state},\"!x{output}\",{near})");
    }
    text
}

#[test]
fn views_are_the_same_bytes() {
    let folder = scratch("jobs-views");
    let states = 60_000;
    let mut text = format!("des (0,{},{states})\n", 2 * states);
    for state in 0..states {
        // A tree whose leaves lead back, so that levels are wide; some steps are internal, and labels tell states apart.
        let (left, right) = ((2 * state + 1) % states, (2 * state + 2) % states);
        let label = match state % 11 {
            0 => "i".to_owned(),
            _ => format!("\"?a{}\"", state % 47),
        };
        let _ = writeln!(text, "({state},{label},{left})");
        let _ = writeln!(text, "({state},\"!x{}\",{right})", state % 43);
    }
    let model = write(&folder, "wide.aut", text);
    for view in ["model", "determinised", "suspension-automaton"] {
        let shown = |jobs: &str| {
            let file = folder
                .join(format!("{view}-{jobs}.aut"))
                .display()
                .to_string();
            let args = ["show", &model, "--view", view, "--jobs", jobs];
            iolite(&[&args[..], &["-o", &file]].concat()).expect(0);
            let printed = iolite(&[&args[..], &["--format", "aut"]].concat()).expect(0);
            let written = std::fs::read_to_string(file).expect("a file");
            assert!(printed.stdout == written, "{view} with {jobs} jobs");
            written
        };
        let alone = shown("1");
        assert!(alone.lines().count() > states);
        for jobs in ["2", "4"] {
            assert!(shown(jobs) == alone, "{view} with {jobs} jobs");
        }
        // A bound that runs out in the middle, and no file that is not whole.
        let file = folder.join("cut.aut").display().to_string();
        let cut = |jobs: &str| {
            let args = ["show", &model, "--view", view, "--jobs", jobs, "-o", &file];
            iolite(&[&args[..], &["--max-states", "20000"]].concat())
        };
        if view != "model" {
            let alone = cut("1").expect(3);
            assert!(alone.stderr.contains("more than 20000 states"));
            for jobs in ["2", "4"] {
                assert_eq!(cut(jobs).expect(3).stderr, alone.stderr);
            }
            assert!(!std::path::Path::new(&file).exists());
        }
    }
}

#[test]
fn what_cannot_be_written_leaves_no_file() {
    let folder = scratch("jobs-full");
    let model = write(&folder, "large.aut", large(30_000));
    for jobs in ["1", "3"] {
        let args = ["show", &model, "--jobs", jobs, "--format", "aut"];
        let full = iolite(&[&args[..], &["-o", "/dev/full"]].concat()).expect(4);
        assert!(full.stderr.contains("/dev/full"), "{}", full.stderr);
        let none = folder.join("none/x.aut").display().to_string();
        let none = iolite(&[&args[..], &["-o", &none]].concat()).expect(4);
        assert!(none.stderr.contains("none/x.aut"), "{}", none.stderr);
    }
}

/// A file with a mistake far behind its beginning, and what is said about it: the same, with its line, whoever read that far.
#[test]
fn mistakes_of_a_large_file_are_told_alike() {
    let folder = scratch("jobs-mistakes");
    let good = large(40_000);
    let lines: Vec<&str> = good.lines().collect();
    let late = lines.len() - 3;
    let cases = [
        ("(1,\"?a\",2", late, "this is no transition"),
        ("(1,\"\",2)", late, "the label is empty"),
        ("des (0,120000,40000)", late, "this is no transition"),
        ("(1,\"?a\",4294967295)", late, "state numbers end at"),
        ("(1,\"?a\",40000)", late, "state 40000 is named"),
        ("", late, "the file has 119999"),
    ];
    for (k, (line, at, told)) in cases.into_iter().enumerate() {
        let mut lines = lines.clone();
        lines[at] = line;
        // Sources in no order, so that rows are gathered.
        lines[1..at].reverse();
        let model = write(&folder, &format!("{k}.aut"), lines.join("\n"));
        let shown = |jobs| {
            let run = iolite(&["show", &model, "--format", "aut", "--jobs", jobs]);
            run.expect(2).stderr
        };
        let alone = shown("1");
        assert!(alone.contains(told), "{alone}");
        for jobs in ["2", "4"] {
            assert_eq!(shown(jobs), alone);
        }
    }
}

/// A large model beside a small one, beside one of half of its size, and beside one of its size.
#[test]
fn two_models_of_any_size_are_read_as_by_one_thread() {
    let folder = scratch("jobs-sizes");
    let models = [3, 30_000, 80_000].map(|states| {
        let text = large(states);
        let mut lines: Vec<&str> = text.lines().collect();
        lines[1..].reverse();
        write(&folder, &format!("{states}.aut"), lines.join("\n"))
    });
    for one in &models {
        for other in &models {
            let related = |jobs| {
                let args = ["relate", "trace", one, other, "--jobs", jobs, "--json"];
                let run = iolite(&args);
                // Each thread has memory of its own.
                let lines = run
                    .stdout
                    .lines()
                    .filter(|line| !line.contains("\"bytes\":"));
                let told = lines.collect::<Vec<_>>().join("\n");
                (run.code, told, run.stderr)
            };
            let alone = related("1");
            for jobs in ["2", "5"] {
                assert_eq!(related(jobs), alone);
            }
        }
    }
}

/// The system of one job that is just being started is none of the daemons that the ended system of another job left behind.
#[test]
fn a_job_ends_no_system_of_another() {
    let folder = scratch("jobs-systems");
    let text = "system Echo { input ping output pong
  initial state Idle { ?ping -> Busy }
  state Busy { !pong -> Idle } }
";
    let model = write(&folder, "echo.iol", text);
    let sut = "command = \"sed -u s/.*/pong/\"\n[quiescence]\ntimeout-ms = 20\n\
               [actions.ping]\ntimeout-ms = 20000\n[actions.pong]\nrecv = \"pong\"\n";
    let sut = write(&folder, "sut.toml", sut);
    let campaign = ["test", &model, "--sut", &sut, "--no-journal", "--jobs", "2"];
    let runs = ["--runs", "400", "--steps", "2"];
    iolite(&[&campaign[..], &runs].concat()).expect(0);
}
