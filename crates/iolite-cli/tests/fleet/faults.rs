//! Runs that come to nothing.

use serde_json::Value;

use crate::common::write;
use crate::fixture::{Server, Worker, candy, completed, iolite, submit, text, work};

/// A machine that kills its tester when it gets a shilling after two dubbeltjes.
const KILLER: &str = r#"
coins=
echo ready
while read -r coin; do
  coins="$coins,$coin"
  case "$coins" in *,dub,dub,shil) kill -9 $PPID; exit ;; esac
  if [ "$coin" = dub ]; then echo choc; else echo liq; fi
done
"#;

/// Runs that take their tester down are tried again, then set aside with what was said; the others count.
#[test]
fn poison_is_set_aside() {
    let folder = candy("fleet-poison");
    let Some(server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    write(&folder, "killer.sh", KILLER);
    let description =
        "command = \"sh killer.sh\"\nready = \"ready\"\n[quiescence]\ntimeout-ms = 100\n";
    write(&folder, "killer.toml", description);
    let line = [
        "test",
        "candy.iol",
        "--sut",
        "killer.toml",
        "--runs",
        "12",
        "--steps",
        "9",
        "--confirm",
        "0",
    ];
    let with = ["--with", "killer.sh", "--tries", "2", "--range", "4"];
    let submitted = submit(&folder, &url, &with, &line);
    assert_eq!(submitted["programs"][0], "sh killer.sh");
    let (id, hash) = (text(&submitted["id"]), text(&submitted["hash"]));
    // Not by `models`: it starts a program.
    let refused = Worker::start(&folder, &url, "careful", &["--allow", "models"]);
    work(&folder, &url, &["--allow", hash, "--jobs", "2"]).expect(0);
    drop(refused);
    let log = std::fs::read_to_string(folder.join("careful.log")).expect("a log");
    assert!(log.contains("it starts a program: sh killer.sh"), "{log}");
    let status = completed(&folder, &url, id, |_| {});
    assert_eq!(status["done"], 12, "{status}");
    let aside = status["set_aside"].as_array().expect("a list");
    assert!(!aside.is_empty() && aside.len() < 12, "{status}");
    let report = iolite(&folder, &url, &["fleet", "report", id, "--json"]).json();
    assert_eq!(report["runs"], 12 - aside.len(), "{report}");
    let faults = report["faults"].as_array().expect("faults");
    let numbers: Vec<&Value> = faults.iter().map(|fault| &fault["run"]).collect();
    let mut expected: Vec<&Value> = aside.iter().collect();
    expected.sort_by_key(|n| n.as_u64());
    assert_eq!(numbers, expected);
    for fault in faults {
        assert_eq!(fault["code"], "set-aside");
        let message = text(&fault["message"]);
        assert!(
            message.contains("try 2") && message.contains("signal: 9"),
            "{message}"
        );
    }
}

/// A system that cannot be started is a fault, after all tries; it ends the campaign.
#[test]
fn a_system_that_does_not_start_is_a_fault() {
    let folder = candy("fleet-fault");
    let Some(server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    let line = [
        "test",
        "candy.iol",
        "--sut",
        "cmd:no-such-program",
        "--runs",
        "400",
    ];
    let submitted = submit(&folder, &url, &["--tries", "2"], &line);
    let (id, hash) = (text(&submitted["id"]), text(&submitted["hash"]));
    work(&folder, &url, &["--allow", hash]).expect(0);
    let status = completed(&folder, &url, id, |_| {});
    assert_eq!(status["stopped"]["because"], "fault", "{status}");
    assert!(status["done"].as_u64() < Some(400), "{status}");
    let report = iolite(&folder, &url, &["fleet", "report", id]).expect(4);
    assert!(
        report.stdout.contains("in each of 2 tries"),
        "{}",
        report.stdout
    );
    // A worker that has a system of its own tests that one.
    let again = submit(&folder, &url, &["--id", "again"], &line);
    assert_eq!(again["id"], "again");
    let refused = work(&folder, &url, &["--allow", hash, "--only", "again"]).expect(2);
    assert!(
        refused.stderr.contains("none of the campaigns"),
        "{}",
        refused.stderr
    );
    let hash = text(&again["hash"]);
    work(
        &folder,
        &url,
        &[
            "--allow",
            hash,
            "--only",
            "again",
            "--sut",
            "model:candy.iol",
        ],
    )
    .expect(0);
    let report = iolite(&folder, &url, &["fleet", "report", "again", "--json"])
        .expect(0)
        .json();
    assert_eq!(report["verdicts"]["pass"], 400);
}
