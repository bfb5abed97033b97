//! Servers that nobody here wrote, as the distribution has them.

mod common;

use std::process::Command;

use common::{iolite, root, scratch, write};

const STEPS: [&str; 5] = ["--runs", "2", "--steps", "30", "--no-journal"];

/// Whether there is such a server, which tells its version by this flag; without one the test says so and passes over.
fn has(server: &str, flag: &str, script: &str) -> bool {
    let found = Command::new(server).arg(flag).output();
    let is_there = found.is_ok_and(|output| output.status.success());
    if !is_there {
        println!("skipped: there is no {server}; scripts/{script} installs it");
    }
    is_there
}

fn has_redis() -> bool {
    has("redis-server", "--version", "install-redis")
}

fn has_beanstalkd() -> bool {
    has("beanstalkd", "-v", "install-beanstalkd")
}

fn in_examples(name: &str) -> String {
    root().join("examples").join(name).display().to_string()
}

fn example(name: &str) -> String {
    in_examples(&format!("redis/{name}"))
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

#[test]
fn beanstalkd_does_what_its_protocol_says() {
    if !has_beanstalkd() {
        return;
    }
    let models = in_examples("beanstalk/beanstalk.iol");
    let undead = format!("{models}#Undead");
    for (system, sut, more) in [
        ("Queue", "sut.toml", &[][..]),
        ("Workers", "sut-workers.toml", &[]),
        ("Queue", "sut.toml", &["--observer", &undead]),
    ] {
        let model = format!("{models}#{system}");
        let sut = in_examples(&format!("beanstalk/{sut}"));
        let ran = iolite(&[&["test", &model, "--sut", &sut][..], &STEPS, more].concat());
        assert!(ran.code == 0, "{}{}", ran.stdout, ran.stderr);
    }
}

/// What one easily believes: a job that is kicked has the priority again that it was put with.
#[test]
fn a_buried_job_has_another_priority() {
    if !has_beanstalkd() {
        return;
    }
    let folder = scratch("foreign-buried");
    let text = std::fs::read_to_string(in_examples("beanstalk/beanstalk.iol")).unwrap();
    let buried = text.replace(
        "down := down ++ [Job { id = asked, pri = urgency,",
        "down := down ++ [Job { id = asked, pri = priOf(held, asked),",
    );
    assert_ne!(buried, text);
    let model = format!("{}#Queue", write(&folder, "buried.iol", buried));
    let sut = in_examples("beanstalk/sut.toml");
    let certificate = folder.join("fail.json").display().to_string();
    let ran = iolite(&[
        "test",
        &model,
        "--sut",
        &sut,
        "--runs",
        "60",
        "--steps",
        "300",
        "--jobs",
        "4",
        "--stop-on-fail",
        "--no-journal",
        "--certificate",
        &certificate,
    ]);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(ran.code == 1, "{told}");
    assert!(
        told.contains("observed: !reserved(") || told.contains("observed: !found("),
        "{told}"
    );
    let explained = iolite(&["explain", &certificate]).expect(0);
    assert!(
        explained.stdout.contains("confirmed"),
        "{}",
        explained.stdout
    );
}
