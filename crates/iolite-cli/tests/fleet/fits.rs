//! Who runs what.

use std::time::Duration;

use crate::common::{scratch, write};
use crate::fixture::{Server, Worker, candy, iolite, submit, test_line, text, work};

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
