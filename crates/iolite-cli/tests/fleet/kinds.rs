//! What is shared out beside runs.

use serde_json::Value;

use crate::common::write;
use crate::fixture::{Server, candy, iolite, submit, work};

/// Suites, mutants and logs are shared out in the same way.
#[test]
fn suites_mutants_and_logs() {
    let folder = candy("fleet-kinds");
    let Some(server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    let same = |line: &[&str], name: &str, code: i32| {
        let mut alone = line.to_vec();
        alone.push("--json");
        if line[0] == "test" {
            alone.push("--no-journal");
        }
        let alone = iolite(&folder, &url, &alone).expect(code).json();
        let submitted = submit(&folder, &url, &["--id", name, "--range", "3"], line);
        assert_eq!(submitted["id"], name);
        work(
            &folder,
            &url,
            &["--allow", "models", "--only", name, "--jobs", "2"],
        )
        .expect(0);
        let report = iolite(&folder, &url, &["fleet", "report", name, "--json"])
            .expect(code)
            .json();
        let without = |mut document: Value| {
            for key in ["seconds", "journal"] {
                document.as_object_mut().expect("an object").remove(key);
            }
            document
        };
        assert_eq!(without(report), without(alone), "{name}");
    };
    let derive = [
        "derive",
        "candy.iol",
        "--count",
        "20",
        "--depth",
        "6",
        "-o",
        "suite",
    ];
    iolite(&folder, &url, &derive).expect(0);
    same(
        &[
            "test",
            "candy.iol",
            "--sut",
            "model:miser.iol",
            "--suite",
            "suite",
            "--repeat",
            "3",
        ],
        "suite",
        1,
    );
    same(
        &["mutate", "candy.iol", "--max", "12", "--suite", "suite"],
        "mutants",
        0,
    );
    let log = |k: usize, steps: &[&str]| {
        let lines: Vec<String> = steps
            .iter()
            .map(|s| format!("{{\"action\":\"{s}\"}}\n"))
            .collect();
        write(&folder, &format!("log-{k}.jsonl"), lines.concat());
    };
    log(0, &["?shil", "!liq"]);
    log(1, &["?dub", "!liq"]);
    log(2, &["?dub", "!choc"]);
    log(3, &["?shil", "!choc"]);
    let logs = ["log-0.jsonl", "log-1.jsonl", "log-2.jsonl", "log-3.jsonl"];
    let mut line = vec!["monitor", "candy.iol"];
    line.extend(logs);
    same(&line, "logs", 1);
}
