//! Workers and servers that die.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fixture::{
    Numbers, Server, Wire, Worker, candy, command, completed, iolite, lasting, submit, test_line,
    text, work,
};

/// Workers that are killed at random, one that is cut off for longer than the server's patience, and a
/// server that is killed and started again: the answer is that of one process, each run once.
#[test]
fn killed_workers_and_a_killed_server_lose_nothing() {
    let folder = candy("fleet-killed");
    let Some(mut server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    let runs = 15_000;
    let line = test_line(&["--runs", "15000"]);
    let mut alone = line.clone();
    alone.extend(["--json", "--no-journal"]);
    let alone = iolite(&folder, &url, &alone).expect(1).json();

    let submitted = submit(
        &folder,
        &url,
        &["--patience", "1.5", "--range", "10"],
        &line,
    );
    let (id, hash) = (text(&submitted["id"]), text(&submitted["hash"]));
    let start = |k: usize| Worker::start(&folder, &url, &format!("w{k}"), &["--allow", hash]);
    let mut workers: Vec<Worker> = (0..4).map(start).collect();
    let mut numbers = Numbers(0x5eed);
    let (mut next, mut kills, mut restarted, mut stopped) = (4, 0, false, None);
    completed(&folder, &url, id, |status| {
        let done = status["done"].as_u64().unwrap_or(0);
        if stopped.is_none() && done > 50 {
            // As if its cable were pulled; it comes back when others have its runs.
            workers[0].signal("-STOP");
            stopped = Some(Instant::now());
        }
        if let Some(since) = stopped
            && since.elapsed() > Duration::from_secs(4)
        {
            workers[0].signal("-CONT");
        }
        if !restarted && done > 5000 {
            restarted = true;
            server.restart();
        }
        if kills < 12 {
            let k = 1 + numbers.below(3);
            workers[k].signal("-KILL");
            workers[k] = start(next);
            (next, kills) = (next + 1, kills + 1);
        }
    });
    assert!(
        restarted && stopped.is_some() && kills >= 6,
        "{restarted} {stopped:?} {kills}"
    );
    workers[0].signal("-CONT");
    let junit = folder.join("junit.xml");
    let args = [
        "fleet",
        "report",
        id,
        "--json",
        "-o",
        "all.jsonl",
        "--junit",
        "junit.xml",
    ];
    let together = iolite(&folder, &url, &args).expect(1).json();
    assert_eq!(lasting(&together), lasting(&alone));
    assert_eq!(together["runs"], runs);
    let junit = std::fs::read_to_string(junit).expect("a report");
    assert_eq!(junit.matches("<testcase ").count(), runs);
    // Each run once, in the journal too, which is one that can be replayed.
    let journal = std::fs::read_to_string(folder.join("all.jsonl")).expect("a journal");
    let mut ended = BTreeSet::new();
    for line in journal.lines().skip(1) {
        let event: Value = serde_json::from_str(line).expect("an event");
        if event["event"] == "run-ended" {
            assert!(
                ended.insert(event["run"].as_u64()),
                "{} twice",
                event["run"]
            );
        }
    }
    assert_eq!(ended.len(), runs);
    iolite(&folder, &url, &["replay", "all.jsonl"]).expect(1);
}

/// A queue that lost what was in it is no campaign that is complete: nothing is reported as if it were all, and
/// submitting again gives workers what is missing.
#[test]
fn lost_runs_are_not_left_out_in_silence() {
    let folder = candy("fleet-lost");
    let Some(server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    let line = [
        "test",
        "candy.iol",
        "--sut",
        "model:candy.iol",
        "--runs",
        "40",
    ];
    let give = || submit(&folder, &url, &["--id", "lost", "--range", "3"], &line);
    give();
    Wire::connect(server.port).publish("$JS.API.STREAM.PURGE.iolite-work-lost", "");
    let lost = iolite(&folder, &url, &["fleet", "report", "lost"]).expect(4);
    assert!(
        lost.stderr.contains("40 runs of campaign lost are lost"),
        "{}",
        lost.stderr
    );
    iolite(&folder, &url, &["fleet", "report", "lost", "--partial"]).expect(3);
    assert_eq!(give()["known"], true);
    work(&folder, &url, &["--allow", "models"]).expect(0);
    let report = iolite(&folder, &url, &["fleet", "report", "lost", "--json"]);
    assert_eq!(report.expect(0).json()["runs"], 40);
}

/// A worker that nobody answers gives up where it is told to; what a killed one leaves behind, the next removes.
#[test]
fn workers_that_are_left_alone() {
    let folder = candy("fleet-alone");
    let Some(mut server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    let temporary = folder.join("tmp");
    std::fs::create_dir(&temporary).expect("a folder");
    let start = |more: &[&str]| {
        let mut args = vec!["fleet", "work", "--allow", "models"];
        args.extend(more);
        let mut command = command(&folder, &url, &args);
        command.env("TMPDIR", &temporary).stdin(Stdio::null());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Worker(child.expect("a worker starts"))
    };
    let folders = || {
        let entries = std::fs::read_dir(&temporary).expect("a folder").flatten();
        entries.filter(|e| e.path().is_dir()).count()
    };
    let wait = |wanted: usize| {
        let end = Instant::now() + Duration::from_secs(30);
        while folders() != wanted {
            assert!(Instant::now() < end, "{} folders, not {wanted}", folders());
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let first = start(&[]);
    wait(1);
    drop(first);
    assert_eq!(folders(), 1);
    let line = test_line(&["--runs", "5"]);
    submit(&folder, &url, &["--id", "five"], &line);
    let mut last = start(&["--until-done"]);
    let ended = last.0.wait().expect("it ends");
    assert!(ended.success());
    wait(0);
    let mut left = start(&["--give-up", "1.5"]);
    wait(1);
    server.kill();
    let ended = last_words(&mut left);
    assert_eq!(ended, Some(4));
    wait(0);
}

/// How a worker ends, within a time.
fn last_words(worker: &mut Worker) -> Option<i32> {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(status) = worker.0.try_wait().expect("a process") {
            return status.code();
        }
        assert!(Instant::now() < end, "the worker goes on");
        std::thread::sleep(Duration::from_millis(50));
    }
}
