//! `--context`: messages that cross, judged through queues and in step.

mod common;

use common::{iolite, scratch, write};
use serde_json::json;

const MODEL: &str = "examples/race/race.iol";

/// A log of these actions, and how it is judged.
fn monitor(folder: &std::path::Path, actions: &[&str], context: &str) -> common::Ran {
    let lines: Vec<String> = actions
        .iter()
        .map(|action| json!({ "action": action }).to_string())
        .collect();
    let log = write(folder, "log.jsonl", lines.join("\n"));
    iolite(&["monitor", MODEL, &log, "--context", context, "--json"])
}

#[test]
fn a_log_is_judged_in_its_context() {
    let folder = scratch("contexts-log");
    let crossed = ["?ask", "!tick", "!late"];
    monitor(&folder, &crossed, "queues").expect(0);
    monitor(&folder, &crossed, "synchronous").expect(1);
    // No order explains an answer of before the tick.
    let stale = monitor(&folder, &["!tick", "?ask", "!ok"], "queues").expect(1);
    let certificate = stale.json()["certificate"].clone();
    assert_eq!(certificate["context"], "queues");
    assert_eq!(certificate["allowed"], json!(["!late"]));
    let path = write(&folder, "fail.json", certificate.to_string());
    let explained = iolite(&["explain", &path]).expect(0);
    assert!(
        explained.stdout.contains("confirmed"),
        "{}",
        explained.stdout
    );
    // An output that crossed the question is no failure.
    let mut wrong = certificate;
    wrong["trace"] = json!(["?ask"]);
    wrong["observed"] = json!("!tick");
    wrong["allowed"] = json!(["!ok"]);
    let path = write(&folder, "wrong.json", wrong.to_string());
    iolite(&["explain", &path]).expect(1);
}

#[test]
fn data_are_judged_through_queues_too() {
    let folder = scratch("contexts-data");
    let model = "
        system Counter {
          var n: int = 0
          input add(k: int)
          output tick, sum(s: int)
          initial state Run {
            !tick / n := 0 -> Run
            ?add(k) [k > 0] / n := n + k -> Told
          }
          state Told { !sum(s) [s == n] -> Run }
        }";
    let model = write(&folder, "counter.iol", model);
    let judged = |actions: &[&str]| {
        let lines: Vec<String> = actions
            .iter()
            .map(|action| json!({ "action": action }).to_string())
            .collect();
        let log = write(&folder, "log.jsonl", lines.join("\n"));
        iolite(&["monitor", &model, &log, "--context", "queues", "--json"])
    };
    judged(&["?add(2)", "!sum(2)", "?add(3)", "!tick", "!sum(3)"]).expect(0);
    let failed = judged(&["?add(2)", "!sum(2)", "?add(3)", "!tick", "!sum(5)"]).expect(1);
    let certificate = failed.json()["certificate"].clone();
    let path = write(&folder, "fail.json", certificate.to_string());
    iolite(&["explain", &path]).expect(0);
}

#[test]
fn a_controller_whose_tick_crosses_a_question_passes() {
    let folder = scratch("contexts-race");
    let certificate = folder.join("fail.json").display().to_string();
    let run = |sut: &str, runs: &str| {
        iolite(&[
            "test",
            MODEL,
            "--sut",
            sut,
            "--runs",
            runs,
            "--steps",
            "8",
            "--jobs",
            "4",
            "--json",
            "--no-journal",
            "--certificate",
            &certificate,
        ])
    };
    let right = run("examples/race/sut.toml", "12").expect(0).json();
    assert_eq!(right["verdicts"], json!({ "pass": 12 }));
    let wrong = run("examples/race/sut-twice.toml", "4").expect(1).json();
    assert_eq!(wrong["failures"][0]["context"], "queues");
    iolite(&["explain", &certificate]).expect(0);
}

#[test]
fn mistakes_are_explained() {
    let unknown = iolite(&["test", MODEL, "--sut", "cmd:cat", "--context", "async"]).expect(2);
    assert!(
        unknown.stderr.contains("synchronous and queues are"),
        "{}",
        unknown.stderr
    );
    let property = [
        "test",
        "--property",
        "ltl:G !x",
        "--sut",
        "cmd:cat",
        "--context",
        "queues",
    ];
    let property = iolite(&property).expect(2);
    assert!(
        property
            .stderr
            .contains("--context is for judging by a MODEL"),
        "{}",
        property.stderr
    );
    let folder = scratch("contexts-mistakes");
    let description = write(
        &folder,
        "sut.toml",
        "command = \"cat\"\nmax-in-flight = 0\n",
    );
    let none = iolite(&["test", MODEL, "--sut", &description]).expect(2);
    assert!(none.stderr.contains("max-in-flight"), "{}", none.stderr);
}
