//! `iolite fleet`, over a server of the test's own: campaigns whose workers are killed, stopped and cut off.

mod common;

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Ran, root, scratch, write};
use serde_json::Value;

/// The server's program, as Debian and others install it.
fn nats_server() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/sbin".into());
    let found = folders
        .into_iter()
        .map(|f| f.join("nats-server"))
        .find(|p| p.is_file());
    if found.is_none() {
        println!("skipped: there is no nats-server; scripts/install-nats installs it");
    }
    found
}

/// A server of one test.
struct Server {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    config: Option<PathBuf>,
    child: Child,
}

impl Server {
    /// A server that keeps its streams in this folder; `None` where there is no program.
    fn start(folder: &Path) -> Option<Self> {
        Self::configured(folder, None)
    }

    fn configured(folder: &Path, config: Option<PathBuf>) -> Option<Self> {
        let program = nats_server()?;
        let port = TcpListener::bind("127.0.0.1:0")
            .ok()?
            .local_addr()
            .ok()?
            .port();
        let child = Self::spawn(&program, folder, port, config.as_deref());
        let server = Self {
            program,
            folder: folder.to_owned(),
            port,
            config,
            child,
        };
        server.wait();
        Some(server)
    }

    fn spawn(program: &Path, folder: &Path, port: u16, config: Option<&Path>) -> Child {
        let mut command = Command::new(program);
        command.args(["-js", "-a", "127.0.0.1", "-p", &port.to_string()]);
        command.arg("-sd").arg(folder.join("streams"));
        if let Some(config) = config {
            command.arg("-c").arg(config);
        }
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("the server starts")
    }

    fn wait(&self) {
        let end = Instant::now() + Duration::from_secs(30);
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(Instant::now() < end, "the server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Killed, and started again with what it has on disk.
    fn restart(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        std::thread::sleep(Duration::from_millis(300));
        self.child = Self::spawn(
            &self.program,
            &self.folder,
            self.port,
            self.config.as_deref(),
        );
        self.wait();
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `iolite` in a folder, which knows the server.
fn command(folder: &Path, url: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iolite"));
    command
        .args(args)
        .current_dir(folder)
        .env("IOLITE_NATS", url);
    command
}

fn iolite(folder: &Path, url: &str, args: &[&str]) -> Ran {
    let output = command(folder, url, args).stdin(Stdio::null()).output();
    let output = output.expect("iolite starts");
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A worker in the background.
struct Worker(Child);

impl Worker {
    fn start(folder: &Path, url: &str, name: &str, args: &[&str]) -> Self {
        let log = std::fs::File::create(folder.join(format!("{name}.log"))).expect("a log");
        let mut all = vec!["fleet", "work", "--name", name];
        all.extend(args);
        let mut command = command(folder, url, &all);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        Self(command.spawn().expect("a worker starts"))
    }

    fn signal(&self, signal: &str) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.is_ok_and(|s| s.success()), "{signal} {id}");
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A candy machine that now and then gives nothing for a dubbeltje.
const MISER: &str = "
system Miser {
  input shil, dub
  output liq, choc
  initial state Ready { ?shil -> Shilling  ?dub -> Dubbeltje  ?dub -> Ready }
  state Shilling { !liq -> Ready  ?shil -> Shilling  ?dub -> Shilling }
  state Dubbeltje { !choc -> Ready  ?shil -> Dubbeltje  ?dub -> Dubbeltje }
}
";

/// A folder with a campaign.
fn candy(name: &str) -> PathBuf {
    let folder = scratch(name);
    write(&folder, "miser.iol", MISER);
    let candy = root().join("examples/candy/candy.iol");
    std::fs::copy(candy, folder.join("candy.iol")).expect("an example");
    folder
}

fn test_line<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut line = vec![
        "test",
        "candy.iol",
        "--sut",
        "model:miser.iol",
        "--steps",
        "8",
    ];
    line.extend(more);
    line
}

/// What does not depend on the clock or on where the journal is.
fn lasting(document: &Value) -> Value {
    let mut document = document.clone();
    for key in ["seconds", "journal"] {
        document.as_object_mut().expect("an object").remove(key);
    }
    document
}

fn submit(folder: &Path, url: &str, more: &[&str], line: &[&str]) -> Value {
    let mut args = vec!["fleet", "submit", "--json"];
    args.extend(more);
    args.push("--");
    args.extend(line);
    iolite(folder, url, &args).expect(0).json()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Waits until a campaign is complete, and says how far it is.
fn completed(folder: &Path, url: &str, id: &str, mut meanwhile: impl FnMut(&Value)) -> Value {
    let end = Instant::now() + Duration::from_secs(240);
    loop {
        let ran = iolite(folder, url, &["fleet", "status", id, "--json"]);
        // The server may be down for a moment.
        if ran.code == 0 {
            let status = ran.json();
            if status["complete"] == true {
                return status;
            }
            assert!(Instant::now() < end, "{status}");
            meanwhile(&status);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A generator of numbers, so that a failing test can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

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

/// Works on everything that is allowed until nothing is left; what the worker said.
fn work(folder: &Path, url: &str, more: &[&str]) -> Ran {
    let mut args = vec!["fleet", "work", "--until-done", "--name", "alone"];
    args.extend(more);
    iolite(folder, url, &args)
}

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

/// `--stop-on-fail`, `--until-coverage` and `--budget` end the campaign, wherever its runs are made.
#[test]
fn the_campaign_is_ended_as_a_whole() {
    let folder = candy("fleet-ends");
    let Some(server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    let ended = |name: &str, flags: &[&str], line: &[&str]| {
        let mut more = vec!["--id", name, "--range", "5"];
        more.extend(flags);
        let submitted = submit(&folder, &url, &more, line);
        let hash = text(&submitted["hash"]);
        work(
            &folder,
            &url,
            &["--allow", hash, "--only", name, "--jobs", "2"],
        )
        .expect(0);
        completed(&folder, &url, name, |_| {})
    };
    let line = test_line(&["--runs", "20000", "--stop-on-fail"]);
    let status = ended("fail", &[], &line);
    assert_eq!(status["stopped"]["because"], "failed", "{status}");
    assert!(status["done"].as_u64() < Some(20000), "{status}");
    let report = iolite(&folder, &url, &["fleet", "report", "fail", "--json"])
        .expect(1)
        .json();
    assert_eq!(report["runs"], status["done"]);

    let right = [
        "test",
        "candy.iol",
        "--sut",
        "model:candy.iol",
        "--runs",
        "20000",
        "--steps",
        "20",
    ];
    let mut covering = right.to_vec();
    covering.extend(["--until-coverage", "100%", "--strategy", "coverage"]);
    let status = ended("cover", &[], &covering);
    assert_eq!(status["stopped"]["because"], "covered", "{status}");
    assert_eq!(status["coverage"][0], status["coverage"][1]);
    assert!(status["done"].as_u64() < Some(1000), "{status}");

    let status = ended("budget", &["--budget", "1.5"], &right);
    assert_eq!(status["stopped"]["because"], "budget", "{status}");
    let left_out = iolite(&folder, &url, &["fleet", "report", "budget"]).expect(0);
    assert!(left_out.stderr.contains("left out"), "{}", left_out.stderr);
}

/// Workers take what they offer, may run, and was made by their version.
#[test]
fn workers_take_what_fits() {
    let folder = candy("fleet-fits");
    let Some(server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    let none = iolite(&folder, &url, &["fleet", "status"]).expect(0);
    assert!(none.stdout.contains("no campaign"), "{}", none.stdout);
    let empty = iolite(&folder, &url, &["fleet", "work"]).expect(2);
    assert!(
        empty.stderr.contains("allow-list is empty"),
        "{}",
        empty.stderr
    );
    let line = test_line(&["--runs", "4"]);
    let submitted = submit(
        &folder,
        &url,
        &["--needs", "device=board7", "--id", "needy"],
        &line,
    );
    let hash = text(&submitted["hash"]);
    let again = submit(
        &folder,
        &url,
        &["--needs", "device=board7", "--id", "needy"],
        &line,
    );
    assert_eq!(again["known"], true);
    let other = iolite(
        &folder,
        &url,
        &[
            "fleet",
            "submit",
            "--id",
            "needy",
            "--",
            "test",
            "candy.iol",
            "--sut",
            "model:miser.iol",
        ],
    );
    assert!(other.expect(2).stderr.contains("another campaign"));
    let strangers = [
        Worker::start(&folder, &url, "offers-nothing", &["--allow", hash]),
        Worker::start(
            &folder,
            &url,
            "another",
            &["--offers", "device=board8", "--allow", hash],
        ),
        Worker::start(
            &folder,
            &url,
            "not-allowed",
            &[
                "--offers",
                "device=board7",
                "--allow",
                &format!("sha256:{}", "0".repeat(64)),
            ],
        ),
    ];
    std::thread::sleep(Duration::from_secs(3));
    drop(strangers);
    let going = iolite(&folder, &url, &["fleet", "report", "needy"]).expect(2);
    assert!(
        going.stderr.contains("0 of 4 runs are done"),
        "{}",
        going.stderr
    );
    let log = |name: &str| std::fs::read_to_string(folder.join(format!("{name}.log"))).unwrap();
    assert!(log("offers-nothing").contains("it needs device=board7"));
    assert!(log("another").contains("it needs device=board7"));
    assert!(log("not-allowed").contains("not on the allow-list"));
    write(&folder, "list", format!("# ours\n{hash} # needy\n"));
    let offers = [
        "--offers",
        "device=board7",
        "--offers",
        "os=linux",
        "--allow-list",
        "list",
    ];
    work(&folder, &url, &offers).expect(0);
    let watched = iolite(&folder, &url, &["fleet", "watch", "needy"]).expect(0);
    assert!(watched.stdout.contains("4 of 4 runs"), "{}", watched.stdout);
    // Where the files are not at hand, they come from the server.
    let elsewhere = scratch("fleet-elsewhere");
    let report = iolite(
        &elsewhere,
        &url,
        &["fleet", "report", "needy", "-o", "j.jsonl", "--json"],
    );
    assert_eq!(report.json()["runs"], 4);
    assert!(elsewhere.join(".iolite/fleet/needy/candy.iol").is_file());
    assert!(elsewhere.join("j.jsonl").is_file());
}

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

/// Somebody else writes to the server: clear messages, no crash, nothing that is not true.
#[test]
fn a_hostile_server() {
    let folder = candy("fleet-hostile");
    let Some(server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    let line = test_line(&["--runs", "6"]);
    let submitted = submit(&folder, &url, &["--id", "real", "--range", "2"], &line);
    let hash = text(&submitted["hash"]);
    let mut wire = Wire::connect(server.port);
    // Descriptions that are none, or ask for too much.
    wire.publish("$KV.iolite-campaigns.nonsense", "{]");
    wire.publish("$KV.iolite-campaigns.deep", &"[".repeat(100_000));
    let evil = r#"{"format":"iolite-fleet/1","version":"0.1.0","name":"x","kind":"test",
        "command":["iolite","test","a.iol","--sut","cmd:touch pwned","--journal","/tmp/pwned"],"files":[],
        "items":1,"tries":1,"range":1,"patience":1.0}"#;
    wire.publish("$KV.iolite-campaigns.evil", evil);
    wire.publish(
        "$KV.iolite-campaigns.paths",
        &evil.replace("a.iol", "/etc/passwd"),
    );
    wire.publish(
        "$KV.iolite-campaigns.many",
        &evil.replace("\"items\":1", "\"items\":99999999999999"),
    );
    // Messages that are no ranges, and results that are none.
    for message in [
        "",
        "{",
        "{\"from\":5,\"to\":1}",
        "{\"from\":0,\"to\":99999999}",
        "\u{0}",
    ] {
        wire.publish("iolite.work.real", message);
    }
    work(
        &folder,
        &url,
        &["--allow", "models", "--allow", hash, "--only", "real"],
    )
    .expect(0);
    let mut everything = Worker::start(&folder, &url, "all", &["--allow", "models"]);
    std::thread::sleep(Duration::from_secs(4));
    assert!(
        everything.0.try_wait().expect("a process").is_none(),
        "the worker has ended"
    );
    drop(everything);
    let log = std::fs::read_to_string(folder.join("all.log")).expect("a log");
    for name in ["nonsense", "deep", "evil", "paths", "many"] {
        assert!(
            log.contains(&format!("{name} is not run here")),
            "{name}: {log}"
        );
    }
    assert!(!folder.join("pwned").exists());
    iolite(&folder, &url, &["fleet", "report", "real", "--json"]).expect(1);
    for (value, said) in [
        ("not packed", "the result of 3"),
        ("{\"object\":\"../../x\"}", ""),
        ("{\"object\":1}", "the result of 3"),
    ] {
        wire.publish("$KV.iolite-real.run.3", value);
        let ran = iolite(&folder, &url, &["fleet", "report", "real"]).expect(4);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let unknown = iolite(&folder, &url, &["fleet", "report", "unreal"]).expect(2);
    assert!(
        unknown.stderr.contains("no campaign unreal"),
        "{}",
        unknown.stderr
    );
    let wrong = iolite(&folder, &url, &["fleet", "report", "a.b"]).expect(2);
    assert!(
        wrong.stderr.contains("no name of a campaign"),
        "{}",
        wrong.stderr
    );
    let nobody = iolite(&folder, "nats://127.0.0.1:1", &["fleet", "status"]).expect(4);
    assert!(
        nobody.stderr.contains("cannot connect"),
        "{}",
        nobody.stderr
    );
}

/// The protocol of NATS, as far as somebody needs it who wants to do harm.
struct Wire(std::io::BufReader<std::net::TcpStream>);

impl Wire {
    fn connect(port: u16) -> Self {
        use std::io::{BufRead, Write};
        let stream = std::net::TcpStream::connect(("127.0.0.1", port)).expect("a server");
        let mut reader = std::io::BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).expect("its greeting");
        let hello = "CONNECT {\"verbose\":false,\"pedantic\":false}\r\n";
        reader
            .get_mut()
            .write_all(hello.as_bytes())
            .expect("a greeting");
        Self(reader)
    }

    /// Publishes, and waits until the server has it.
    fn publish(&mut self, subject: &str, text: &str) {
        use std::io::{BufRead, Write};
        let message = format!("PUB {subject} {}\r\n{text}\r\nPING\r\n", text.len());
        self.0
            .get_mut()
            .write_all(message.as_bytes())
            .expect("the server reads");
        let mut line = String::new();
        while !line.starts_with("PONG") {
            line.clear();
            self.0.read_line(&mut line).expect("an answer");
            assert!(!line.starts_with("-ERR"), "{line}");
        }
        // The stream takes it after that.
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A server that wants a password and speaks TLS.
#[test]
fn tls_and_a_password() {
    let folder = candy("fleet-tls");
    // An authority, and a certificate of it.
    let made = |args: &str| {
        let made = Command::new("openssl")
            .args(args.split(' '))
            .current_dir(&folder)
            .output();
        made.is_ok_and(|made| made.status.success())
    };
    if !made(
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -addext \
         basicConstraints=critical,CA:TRUE -keyout ca-key.pem -out ca.pem",
    ) || !made(
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -CA ca.pem -CAkey ca-key.pem -addext \
         subjectAltName=DNS:localhost,IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE -keyout key.pem \
         -out cert.pem",
    ) {
        println!("skipped: there is no openssl that makes certificates");
        return;
    }
    let config = format!(
        "authorization {{ user: iolite, password: \"s3cret\" }}\n\
         tls {{ cert_file: \"{0}/cert.pem\", key_file: \"{0}/key.pem\" }}\n",
        folder.display()
    );
    let config = PathBuf::from(write(&folder, "nats.conf", config));
    let Some(server) = Server::configured(&folder, Some(config)) else {
        return;
    };
    let address = format!("127.0.0.1:{}", server.port);
    let with = format!("tls://iolite:s3cret@{address}");
    let ca = ["--tls-ca", "ca.pem"];
    let line = test_line(&["--runs", "4"]);
    let mut args = vec!["fleet", "submit", "--id", "safe", "--json"];
    args.extend(ca);
    args.push("--");
    args.extend(&line);
    iolite(&folder, &with, &args).expect(0);
    work(&folder, &with, &["--allow", "models", ca[0], ca[1]]).expect(0);
    iolite(
        &folder,
        &with,
        &["fleet", "report", "safe", ca[0], ca[1], "--json"],
    );
    let status = |url: &str, more: &[&str]| {
        let mut args = vec!["fleet", "status"];
        args.extend(more);
        iolite(&folder, url, &args)
    };
    assert!(status(&with, &ca).expect(0).stdout.contains("4 of 4 runs"));
    // Nobody else, and no server that nobody vouches for; the password is not shown.
    status(&format!("tls://{address}"), &ca).expect(4);
    status(&format!("tls://iolite:wrong@{address}"), &ca).expect(4);
    let foreign = status(&with, &[]).expect(4);
    assert!(!foreign.stderr.contains("s3cret"), "{}", foreign.stderr);
}

/// The page shows how far campaigns are, to whoever has its token.
#[test]
fn the_page_shows_the_fleet() {
    use std::io::{BufRead, BufReader, Read, Write};
    let folder = candy("fleet-page");
    let Some(server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    let line = test_line(&["--runs", "4"]);
    submit(&folder, &url, &["--id", "shown"], &line);
    work(&folder, &url, &["--allow", "models"]).expect(0);
    let mut serve = command(&folder, "", &["serve", ".", "--nats", &url]);
    let serve = serve
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a page");
    let mut serve = Worker(serve);
    let output = serve.0.stdout.take().expect("piped");
    let mut address = String::new();
    let read = BufReader::new(output).read_line(&mut address);
    read.expect("its address");
    let (host, token) = address
        .trim()
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once("/?token="))
        .expect("an address with a token");
    let get = |token: &str| {
        let mut stream = std::net::TcpStream::connect(host).expect("the page listens");
        let request = format!(
            "GET /api/fleet HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    let answer = get(token);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(
        answer.contains("\"id\":\"shown\"") && answer.contains("\"done\":4"),
        "{answer}"
    );
    assert!(!answer.contains(&url), "{answer}");
    assert!(get("guessed").starts_with("HTTP/1.1 4"));
}
