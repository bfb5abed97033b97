//! Servers that nobody here wrote, as the distribution has them.

mod common;

use std::process::Command;

use common::{iolite, root, scratch, write};

const STEPS: [&str; 5] = ["--runs", "2", "--steps", "30", "--no-journal"];

/// Whether there is a Redis server; without one the test says so and passes over.
fn has_redis() -> bool {
    let found = Command::new("redis-server").arg("--version").output();
    let is_there = found.is_ok_and(|output| output.status.success());
    if !is_there {
        println!("skipped: there is no redis-server; scripts/install-redis installs it");
    }
    is_there
}

fn example(name: &str) -> String {
    root()
        .join("examples/redis")
        .join(name)
        .display()
        .to_string()
}

#[test]
fn redis_does_what_its_documentation_says() {
    if !has_redis() {
        return;
    }
    for (system, sut) in [("Redis", "sut.toml"), ("PubSub", "sut-pubsub.toml")] {
        let model = format!("{}#{system}", example("redis.iol"));
        let ran = iolite(&[&["test", &model, "--sut", &example(sut)][..], &STEPS].concat());
        assert!(ran.code == 0, "{}{}", ran.stdout, ran.stderr);
    }
}

/// A model that is wrong about the server fails, and says what came and what was allowed.
#[test]
fn a_queue_is_no_stack() {
    if !has_redis() {
        return;
    }
    let folder = scratch("foreign-stack");
    let text = std::fs::read_to_string(example("redis.iol")).unwrap();
    let stack = text
        .replace("v == list[len(list) - 1]", "v == list[0]")
        .replace("slice(list, 0, len(list) - 1)", "slice(list, 1, len(list))");
    assert_ne!(stack, text);
    let model = format!("{}#Redis", write(&folder, "stack.iol", stack));
    let sut = example("sut.toml");
    let flags = [
        "--runs",
        "40",
        "--steps",
        "60",
        "--stop-on-fail",
        "--no-journal",
    ];
    let ran = iolite(&[&["test", &model, "--sut", &sut][..], &flags].concat()).expect(1);
    assert!(ran.stdout.contains("observed: !text("), "{}", ran.stdout);
    assert!(ran.stdout.contains("allowed:  !text("), "{}", ran.stdout);
}
