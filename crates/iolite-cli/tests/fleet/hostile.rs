//! What others write to the server.

use std::time::Duration;

use crate::fixture::{Server, Wire, Worker, candy, iolite, submit, test_line, text, work};

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
