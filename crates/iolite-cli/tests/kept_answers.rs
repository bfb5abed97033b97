//! What goes wrong beside an answer loses none of it: a file that cannot be written, a test case that cannot be set
//! up, a log that cannot be read.

mod common;

use common::{iolite, scratch, write};

const CANDY: &str = "system Machine {
  input but  output liq, choc
  initial state Idle { ?but -> Busy }
  state Busy { !liq -> Idle  ?but -> Busy }
}
system Twice {
  input but  output liq, choc
  initial state Idle { ?but -> Busy }
  state Busy { !liq -> Again  ?but -> Busy }
  state Again { !choc -> Idle  ?but -> Again }
}
test Hasty for Machine {
  initial state First { ?but -> Then }
  state Then { !liq -> Fail  * -> Pass }
  pass state Pass
  fail state Fail
}
observer NoLiq for Machine {
  initial state Ok { !liq -> Bad  * -> Ok }
  violate state Bad
}
";

/// A file in a folder that is not there.
const NOWHERE: &str = "/nowhere/at-all.json";

#[test]
fn a_file_beside_the_answer_that_cannot_be_written() {
    let folder = scratch("kept-files");
    let model = write(&folder, "candy.iol", CANDY);
    let [machine, twice, hasty, no_liq] =
        ["Machine", "Twice", "Hasty", "NoLiq"].map(|name| format!("{model}#{name}"));
    let log = write(&folder, "twice.txt", "?but\n!liq\n!choc\n");
    let sut = format!("model:{twice}");
    let on_the_fly = [
        "test",
        &*machine,
        "--sut",
        &*sut,
        "--runs",
        "3",
        "--no-journal",
    ];
    let with = |more: &[&'static str]| -> Vec<&str> {
        on_the_fly
            .iter()
            .copied()
            .chain(more.iter().copied())
            .collect()
    };
    let failing: &[(Vec<&str>, &str)] = &[
        (vec!["relate", "ioco", &twice, &machine], "--certificate"),
        (
            vec!["verify", &machine, "--property", &no_liq],
            "--certificate",
        ),
        (vec!["passes", &machine, &hasty], "--certificate"),
        (vec!["suite", &machine, &hasty], "--certificate"),
        (vec!["monitor", &machine, &log], "--certificate"),
        (
            vec!["monitor", "ltl:G !liq", &log, "--certificate", NOWHERE],
            "--picture",
        ),
        (with(&[]), "--certificate"),
        (with(&[]), "--coverage"),
    ];
    for (command, flag) in failing {
        for json in [false, true] {
            let mut args = command.clone();
            args.extend([*flag, NOWHERE]);
            if json {
                args.push("--json");
            }
            let ran = iolite(&args).expect(1);
            assert!(ran.stderr.contains("nowhere"), "{args:?}: {}", ran.stderr);
            if json {
                ran.json();
            } else {
                assert!(!ran.stdout.is_empty(), "{args:?}");
            }
        }
    }
    // Of an answer that holds the fault is what is told.
    let ran = iolite(&[
        "relate",
        "ioco",
        &machine,
        &machine,
        "--certificate",
        NOWHERE,
    ])
    .expect(4);
    assert!(ran.stdout.contains(": holds"), "{}", ran.stdout);
    let sut = format!("model:{machine}");
    let args = [
        "test",
        &machine,
        "--sut",
        &sut,
        "--runs",
        "1",
        "--no-journal",
        "--json",
    ];
    let ran = iolite(&[&args[..], &["--coverage", NOWHERE]].concat()).expect(4);
    assert_eq!(ran.json()["verdict"], "pass");
}

#[test]
fn joined_shares_that_cannot_be_written() {
    let folder = scratch("kept-shares");
    let model = write(&folder, "candy.iol", CANDY);
    let [machine, twice] = ["Machine", "Twice"].map(|name| format!("{model}#{name}"));
    let journal = folder.join("all.jsonl").display().to_string();
    let sut = format!("model:{twice}");
    let args = [
        "test",
        &machine,
        "--sut",
        &sut,
        "--runs",
        "3",
        "--journal",
        &journal,
    ];
    iolite(&[&args[..], &["--partition", "1/1"]].concat()).expect(1);
    let ran = iolite(&["merge", &journal, "-o", NOWHERE, "--json"]).expect(1);
    assert_eq!(ran.json()["verdict"], "fail");
    let log = write(&folder, "twice.txt", "?but\n!liq\n!choc\n");
    let ran = iolite(&["monitor", &machine, &log, "--partition", "1/1", "--json"]).expect(1);
    let share = write(&folder, "share.json", ran.stdout);
    let ran = iolite(&["merge", &share, "-o", NOWHERE, "--json"]).expect(1);
    assert_eq!(ran.json()["verdict"], "fail");
}
