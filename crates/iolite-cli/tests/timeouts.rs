//! How long silence must last, and what is said of a verdict that rests on it.

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{iolite, scratch, write};

/// A plain model with a purpose, and one with data; both are silent in `Idle` and in `Slow`.
const PLAIN: &str = "system M { input go, back
       initial state Idle { ?go -> Slow }  state Slow { ?back -> Idle } }
     purpose Both for M {
       initial state n { ?go -> g  * -> n }  state g { delta -> d  * -> g }
       state d { ?back -> b  * -> d }  state b { delta -> Yes  * -> b }  accept state Yes }";
const DATA: &str = "system M { input go(n: 0..2), back  var last: 0..2 = 0
       initial state Idle { ?go(n) / last := n -> Slow }  state Slow { ?back -> Idle } }";
const SILENT: &str = "command = \"sh -c 'cat > /dev/null'\"
     [quiescence]
     timeout-ms = 30
     states = { Slow = 45, Idle = 15 }";

/// How long the silences of the runs were, in microseconds: in `Slow`, and elsewhere.
fn silences(events: &Path) -> [BTreeSet<u64>; 2] {
    let mut slow = false;
    let mut seen = [BTreeSet::new(), BTreeSet::new()];
    for line in std::fs::read_to_string(events).unwrap().lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        if event["event"] == "run-started" {
            slow = false;
        }
        if let Some(action) = event["action"].as_str() {
            slow = action.starts_with("?go");
        }
        if event["event"] == "quiescence" {
            seen[usize::from(!slow)].insert(event["patience"].as_u64().unwrap());
        }
    }
    seen
}

/// A timeout for a state counts there, by its bare name: in a plain model, where data are solved for,
/// where they are unfolded, and beside a purpose.
#[test]
fn a_state_has_its_own_timeout() {
    let folder = scratch("timeouts");
    let plain = write(&folder, "plain.iol", PLAIN);
    let data = write(&folder, "data.iol", DATA);
    let sut = write(&folder, "sut.toml", SILENT);
    let events = folder.join("events.jsonl");
    let to = events.display().to_string();
    let (system, purpose) = (format!("{plain}#M"), format!("{plain}#Both"));
    for (model, more) in [
        (&system, &[][..]),
        (&system, &["--purpose", &purpose]),
        (&system, &["--relation", "ioconf"]),
        (&data, &[]),
        (&data, &["--unfold"]),
    ] {
        let args = ["test", model, "--sut", &sut, "--no-journal"];
        let size = ["--runs", "8", "--steps", "8", "--seed", "1"];
        iolite(&[args.as_slice(), &["--events", &to], &size, more].concat());
        let expected = [[45_000].into(), [15_000].into()];
        assert_eq!(silences(&events), expected, "{model} {more:?}");
    }
}

/// Stored test cases know the places of the model, with values and goals beside them or not.
#[test]
fn a_state_has_its_own_timeout_in_stored_test_cases() {
    let folder = scratch("stored-timeouts");
    let plain = write(&folder, "plain.iol", PLAIN);
    let data = write(&folder, "data.iol", DATA);
    let sut = write(&folder, "sut.toml", SILENT);
    let events = folder.join("events.jsonl");
    let to = events.display().to_string();
    let (system, purpose) = (format!("{plain}#M"), format!("{plain}#Both"));
    for (i, (model, how)) in [
        (&system, &["--weights", "0,1,1", "--depth", "8"][..]),
        (&system, &["--exhaustive", "maximal", "--depth", "3"]),
        (&system, &["--cover", "transitions"]),
        (&system, &["--purpose", &purpose]),
        (&data, &["--weights", "0,1,1", "--depth", "8"]),
    ]
    .into_iter()
    .enumerate()
    {
        let suite = folder.join(format!("suite{i}")).display().to_string();
        iolite(&[&["derive", model, "-o", &suite], how].concat()).expect(0);
        let args = ["test", model, "--sut", &sut, "--no-journal"];
        let stored = ["--suite", &suite, "--events", &to];
        iolite(&[args.as_slice(), &stored].concat()).expect(0);
        let expected = [[45_000].into(), [15_000].into()];
        assert_eq!(silences(&events), expected, "{model} {how:?}");
    }
}

/// A timeout of the command line is the only one, when the run is replayed too.
#[test]
fn the_command_line_has_the_last_word() {
    let folder = scratch("last-word");
    let model = format!("{}#M", write(&folder, "plain.iol", PLAIN));
    let more = "actions = { \"?go\" = 25, delta = 35 }\n[actions.back]\ntimeout-ms = 20";
    let sut = write(&folder, "sut.toml", format!("{SILENT}\n{more}"));
    let path = |name: &str| folder.join(name).display().to_string();
    let (events, journal, again) = (path("events"), path("journal"), path("again"));
    let args = ["test", &model, "--sut", &sut, "--quiescence-ms", "7"];
    let size = ["--steps", "30", "--runs", "1", "--seed", "1"];
    let to = ["--events", &events, "--journal", &journal];
    iolite(&[args.as_slice(), &size, &to].concat()).expect(0);
    assert_eq!(silences(events.as_ref()), [[7000].into(), [7000].into()]);
    iolite(&["replay", "--trust", &journal, "--journal-to", &again]).expect(0);
    assert_eq!(silences(again.as_ref()), [[7000].into(), [7000].into()]);
}

/// Timeouts for what the model does not have are told of, whichever way it is tested.
#[test]
fn misspelt_names_of_a_description_are_told_of() {
    let folder = scratch("misspelt");
    let plain = format!("{}#M", write(&folder, "plain.iol", PLAIN));
    let data = write(&folder, "data.iol", DATA);
    let sut = write(
        &folder,
        "sut.toml",
        "command = \"sh -c 'cat > /dev/null'\"
         [quiescence]
         timeout-ms = 5
         states = { Slwo = 45, Idle = 15, Nowhere = 5 }
         actions = { \"?bakc\" = 5, \"!back\" = 5, \"?back\" = 5, \"?go(1)\" = 5, delta = 5 }
         [actions.goo]
         send = \"go\"
         [actions.go]
         send = \"go\"",
    );
    let plain_suite = folder.join("suite").display().to_string();
    iolite(&["derive", &plain, "-o", &plain_suite, "--count", "1"]).expect(0);
    for (model, more) in [
        (&plain, &[][..]),
        (&plain, &["--suite", &plain_suite]),
        (&data, &[]),
        (&data, &["--unfold"]),
    ] {
        let args = ["test", model, "--sut", &sut, "--no-journal", "--runs", "1"];
        let ran = iolite(&[args.as_slice(), &["--steps", "1"], more].concat());
        let told: Vec<&str> = ran
            .stderr
            .lines()
            .filter(|line| line.starts_with("warning: the description"))
            .collect();
        let expected = [
            format!("action `goo`, and {model} has none of that name; did you mean `go`?"),
            format!(
                "a timeout after `!back`, and {model} has none of that name; did you mean `?back`?"
            ),
            format!(
                "a timeout after `?bakc`, and {model} has none of that name; did you mean `?back`?"
            ),
            format!("a timeout in `Nowhere`, and {model} gets to no state of that name"),
            format!(
                "a timeout in `Slwo`, and {model} gets to no state of that name; did you mean `Slow`?"
            ),
        ];
        let expected = expected.map(|t| format!("warning: the description names {t}"));
        let reference = |line: &str| line.replace("#M", "");
        assert_eq!(
            told.iter().map(|l| reference(l)).collect::<Vec<_>>(),
            expected.iter().map(|l| reference(l)).collect::<Vec<_>>(),
            "{more:?}"
        );
    }
}

/// A failure by a silence whose length nobody chose says how long it was, and how to choose.
#[test]
fn a_default_silence_that_fails_is_explained() {
    let folder = scratch("silence");
    let model = write(
        &folder,
        "answers.iol",
        "system M { input a  output x  initial state S { ?a -> T }  state T { !x -> S  ?a -> T } }",
    );
    let sut = "cmd:sh -c 'cat > /dev/null'";
    let journal = folder.join("journal.jsonl").display().to_string();
    let args = ["test", &model, "--sut", sut, "--journal", &journal];
    let size = [
        "--runs",
        "1",
        "--strategy",
        "weighted",
        "--weights",
        "0,1,1",
        "--seed",
        "4",
    ];
    let ran = iolite(&[args.as_slice(), &size].concat()).expect(1);
    for part in [
        "observed: delta, after 1000 ms of silence",
        "it lasted 1000 ms, the default",
        "`iolite calibrate`",
        "[quiescence] timeout-ms",
    ] {
        assert!(ran.stdout.contains(part), "{part}\n{}", ran.stdout);
    }
    let replayed = iolite(&["replay", "--trust", &journal]).expect(1);
    assert!(
        replayed.stdout.contains("the default"),
        "{}",
        replayed.stdout
    );
    let chosen = iolite(&[args.as_slice(), &size, &["--quiescence-ms", "60"]].concat()).expect(1);
    assert!(
        chosen.stdout.contains("after 60 ms of silence") && !chosen.stdout.contains("calibrate"),
        "{}",
        chosen.stdout
    );
    let json = iolite(&[args.as_slice(), &size, &["--quiescence-ms", "60", "--json"]].concat());
    assert_eq!(json.expect(1).json()["failures"][0]["patience"], 60_000);
    // Against a model no time passes, and there is nothing to choose.
    let mute = write(
        &folder,
        "mute.iol",
        "system Mute { input a  output x  initial state S { ?a -> S } }",
    );
    let ran = iolite(&[
        "test",
        &model,
        "--sut",
        &format!("model:{mute}"),
        "--no-journal",
    ]);
    let ran = ran.expect(1);
    assert!(ran.stdout.contains("observed: delta\n"), "{}", ran.stdout);
}

/// The first thing that is observed may only be a slow start.
#[test]
fn a_silence_at_the_start_speaks_of_ready() {
    let folder = scratch("slow-start");
    let model = write(
        &folder,
        "greets.iol",
        "system M { input a  output x  initial state S { !x -> T }  state T { ?a -> T } }",
    );
    let run = |sut: &str| {
        let args = ["test", &model, "--sut", sut, "--runs", "1", "--no-journal"];
        iolite(&args).expect(1).stdout
    };
    let slow = run("cmd:sh -c 'cat > /dev/null'");
    assert!(slow.contains("slow to start, set `ready`"), "{slow}");
    let ready = write(
        &folder,
        "ready.toml",
        "command = \"sh -c 'echo up; cat > /dev/null'\"\nready = \"up\"",
    );
    let slow = run(&ready);
    assert!(
        slow.contains("the default") && !slow.contains("slow to start"),
        "{slow}"
    );
}
