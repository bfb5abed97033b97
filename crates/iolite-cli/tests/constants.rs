//! Constants without a value: what runs tell of them, and what verdicts say where only some values
//! specify an input.

mod common;

use common::{iolite, scratch, write};

const LOCK: &str = "\
system Lock {
  const code: int
  assume 1000 <= code && code <= 9999
  input try(p: int), reset  output open, shut
  initial state Shut { ?try(p) [p == code] -> Right  ?reset -> Back }
  state Right { !open -> Shut }
  state Back { !shut -> Shut }
}
";

const COUNTER: &str = "\
system Counter {
  const step: int
  assume step >= 1
  input inc, get  output is(v: int)
  var n: int = 0
  initial state S { ?inc / n := n + step -> S  ?get -> T }
  state T { !is(v) [v == n] -> S }
}
";

/// The code that was tried may be another than the lock's, and then nothing is said of it.
#[test]
fn an_input_that_not_all_constants_specify_makes_no_fail() {
    let folder = scratch("constants-lock");
    let lock = write(&folder, "lock.iol", LOCK);
    let silent = write(&folder, "silent.log", "?try(1234)\ndelta\n");
    let judged = iolite(&["monitor", &lock, &silent, "--json"]).expect(3);
    assert_eq!(judged.json()["verdict"], "inconc");
    let reason = judged.json()["reason"].to_string();
    assert!(reason.contains("specify ?try(1234)"), "{reason}");
    let known = |code: u32| format!("{lock}#Lock(code = {code})");
    iolite(&["monitor", &known(5678), &silent]).expect(3);
    iolite(&["monitor", &known(1234), &silent]).expect(1);
    // What no code explains is wrong all the same.
    let wrong = write(&folder, "wrong.log", "?reset\n!open\n");
    iolite(&["monitor", &lock, &wrong]).expect(1);
    // The tester takes inputs that are specified whatever the code is.
    let sut = format!("model:{}", known(5678));
    let ran = iolite(&[
        "test",
        &lock,
        "--sut",
        &sut,
        "--complete-inputs",
        "self-loop",
        "--no-journal",
        "--json",
        "--steps",
        "30",
        "--runs",
        "20",
    ]);
    // All runs pass, and none of them tried the lock.
    let ran = ran.expect(3);
    assert_eq!(ran.json()["verdicts"]["pass"], 20);
    assert_eq!(ran.json()["verdict"], "unknown");
    assert_eq!(ran.json()["untried"], serde_json::json!(["?try"]));
    assert!(ran.stderr.contains("no values for ?try"), "{}", ran.stderr);
}

/// Unfolded, the code is part of the initial state, and the run is wrong; that is no proof for all
/// codes, and `explain` says so.
#[test]
fn explain_judges_each_value_of_a_constant() {
    let folder = scratch("constants-explain");
    let lock = write(&folder, "lock.iol", LOCK.replace("9999", "1002"));
    let certificate = |log: &str| {
        let log = write(&folder, "run.log", log);
        let judged = iolite(&["monitor", &lock, &log, "--unfold", "--json"]).expect(1);
        let certificate = judged.json()["certificate"].to_string();
        write(&folder, "certificate.json", certificate)
    };
    let explained = iolite(&["explain", &certificate("?try(1001)\n!shut\n")]).expect(3);
    assert!(
        explained.stdout.contains("specify ?try(1001)"),
        "{}",
        explained.stdout
    );
    iolite(&["explain", &certificate("?reset\n!open\n")]).expect(0);
}

#[test]
fn what_runs_tell_of_constants_is_told() {
    let folder = scratch("constants-learnt");
    let counter = write(&folder, "counter.iol", COUNTER);
    let log = write(&folder, "run.log", "?inc\n?inc\n?get\n!is(6)\n");
    let judged = iolite(&["monitor", &counter, &log]).expect(0);
    assert!(
        judged.stdout.contains("constants: step == 3"),
        "{}",
        judged.stdout
    );
    let share = "system Share {\n  const c: int\n  assume c > 0\n  output share(n: int)\n  \
                 initial state S { !share(n) [n <= 1003 / c] -> S }\n}\n";
    let share = write(&folder, "share.iol", share);
    let shares = write(&folder, "share.log", "!share(333)\n");
    let judged = iolite(&["monitor", &share, &shares]).expect(0);
    assert!(
        judged.stdout.contains("constants: c >= 1 && c <= 3"),
        "{}",
        judged.stdout
    );
    let odd = write(&folder, "odd.log", "?inc\n?inc\n?get\n!is(7)\n");
    iolite(&["monitor", &counter, &odd]).expect(1);
    let sut = format!("model:{counter}#Counter(step = 4)");
    let args = [
        "test",
        &counter,
        "--sut",
        &sut,
        "--no-journal",
        "--json",
        "--steps",
        "40",
    ];
    let told = iolite(&[&args[..], &["--runs", "3"]].concat())
        .expect(0)
        .json();
    assert_eq!(told["constants"]["narrowed"], "step == 4");
    assert_eq!(told["constants"]["consistent"], true);
}

/// Whatever is random depends on the run's seed, not on the runs before it or beside it.
#[test]
fn runs_are_the_same_whoever_does_them() {
    let folder = scratch("constants-jobs");
    let stack = "examples/stack-tcp/stack.iol";
    let stimuli = |jobs: &str| -> Vec<String> {
        let journal = folder
            .join(format!("jobs{jobs}.jsonl"))
            .display()
            .to_string();
        let sut = format!("model:{stack}");
        iolite(&[
            "test",
            stack,
            "--sut",
            &sut,
            "--complete-inputs",
            "self-loop",
            "--runs",
            "6",
            "--steps",
            "20",
            "--jobs",
            jobs,
            "--journal",
            &journal,
        ])
        .expect(0);
        let text = std::fs::read_to_string(&journal).expect("a journal");
        let mut steps: Vec<String> = Vec::new();
        for line in text.lines().skip(1) {
            let event: serde_json::Value = serde_json::from_str(line).expect("JSON");
            if event["action"].is_string() {
                steps.push(format!("{:>3} {}", event["run"], event["action"]));
            }
        }
        // Jobs take turns, runs do not change.
        steps.sort_by_key(|step| step[..3].to_owned());
        steps
    };
    let alone = stimuli("1");
    assert!(alone.len() > 60, "{alone:?}");
    assert_eq!(alone, stimuli("2"));
}

/// A fault that has nothing to do with a constant is `unknown` with it as without it.
#[test]
fn an_unread_constant_changes_no_verdict() {
    let folder = scratch("constants-unread");
    let model = |constant: &str| {
        format!(
            "system M {{ {constant} input a output x, y  var v: int = 0\n\
             initial state S {{ ?a / v := 6 / v -> T  ?a -> U }}\n\
             state T {{ !x -> S }} state U {{ !y -> S }} }}\n"
        )
    };
    for (name, constant) in [("without", ""), ("with", "const k: int")] {
        let model = write(&folder, &format!("{name}.iol"), model(constant));
        for output in ["!x", "!y"] {
            let log = write(&folder, "run.log", format!("?a\n{output}\n"));
            let judged = iolite(&["monitor", &model, &log]).expect(3);
            assert!(judged.stdout.contains("unknown"), "{}", judged.stdout);
            let place = format!("{name}.iol:2)");
            assert!(judged.stderr.contains(&place), "{}", judged.stderr);
        }
    }
}

/// Where the solver leaves it open whether an input is specified, nothing fails and nothing passes.
#[test]
fn what_is_not_found_out_of_an_input_is_unknown() {
    let folder = scratch("constants-unsure");
    let text = "system S { const c: int  var v: int\n\
                assume c >= 0 && c <= 2\n\
                assume v >= 0 && v <= 2 && 0 <= v * v\n\
                input b  output z(y: int)\n\
                initial state A { ?b [v - c != 1 || 0 < c] -> B }\n\
                state B { !z(y) [v < y] -> B } }\n";
    let model = write(&folder, "open.iol", text);
    let log = write(&folder, "run.log", "?b\n!z(-5)\n");
    let judged = iolite(&["monitor", &model, &log]).expect(3);
    assert!(judged.stdout.contains("unknown"), "{}", judged.stdout);
    assert!(
        judged.stderr.contains("was not found out"),
        "{}",
        judged.stderr
    );
    for c in 0..=2 {
        iolite(&["monitor", &format!("{model}#S(c = {c})"), &log]).expect(1);
    }
}
