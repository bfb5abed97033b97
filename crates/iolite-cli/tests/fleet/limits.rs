//! How far a campaign goes.

use crate::common::write;
use crate::fixture::{Server, Worker, candy, completed, iolite, submit, test_line, text, work};

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

/// A model with data: an account that fills up.
const ACCOUNT: &str = "
system Account {
  var n: int = 0
  input add(k: int)
  output sum(s: int), full
  initial state Idle {
    ?add(k) [k > 0 && n + k <= 40] / n := n + k -> Told
    ?add(k) [k > 0 && n + k > 40] -> Full
    ?add(k) [k <= 0] -> Idle
    // Never: n is not above 40.
    ?add(k) [k > 0 && n > 50] -> Full
  }
  state Told { !sum(s) [s == n] -> Idle }
  state Full { !full -> Idle }
}
";

/// What workers reach of a model with data is put together too, without what is proved to be out of reach.
#[test]
fn coverage_of_data() {
    let folder = candy("fleet-data");
    let Some(server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    write(&folder, "account.iol", ACCOUNT);
    let line = [
        "test",
        "account.iol",
        "--sut",
        "model:account.iol",
        "--runs",
        "2000",
        "--steps",
        "4",
        "--until-coverage",
        "100%",
    ];
    let submitted = submit(&folder, &url, &["--id", "data", "--range", "2"], &line);
    let hash = text(&submitted["hash"]);
    work(&folder, &url, &["--allow", hash, "--jobs", "2"]).expect(0);
    let status = completed(&folder, &url, "data", |_| {});
    assert_eq!(status["stopped"]["because"], "covered", "{status}");
    assert!(status["done"].as_u64() < Some(2000), "{status}");
    // Five of six transitions can be taken.
    assert_eq!(status["coverage"], serde_json::json!([5, 5]), "{status}");
    let report = iolite(&folder, &url, &["fleet", "report", "data", "--json"])
        .expect(0)
        .json();
    assert_eq!(report["coverage"]["seen"], 5, "{report}");
    assert_eq!(report["coverage"]["total"], 5, "{report}");
}

/// A model whose constant is found by halving what is left of it.
const LIMIT: &str = "
system Limit {
  const limit: int
  assume 0 <= limit && limit <= 1000000
  input put(k: int)
  output ok, full
  initial state Idle {
    ?put(k) [k < limit] -> Under
    ?put(k) [k >= limit] -> Over
  }
  state Under { !ok -> Idle }
  state Over { !full -> Idle }
}
";

/// What two workers learn of a constant is put together and tells both which values to try, where that is asked for;
/// verdicts do not rest on it.
#[test]
fn learnt_constants_steer() {
    let folder = candy("fleet-constants");
    let Some(server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    write(&folder, "limit.iol", LIMIT);
    let campaign = |name: &str, strategy: &str| {
        let line = [
            "test",
            "limit.iol",
            "--sut",
            "model:limit.iol#Limit(limit = 737123)",
            "--runs",
            "120",
            "--steps",
            "4",
            "--strategy",
            strategy,
        ];
        submit(&folder, &url, &["--id", name, "--range", "2"], &line);
        let flags = ["--allow", "models", "--only", name, "--until-done"];
        let workers = ["one", "two"].map(|w| Worker::start(&folder, &url, w, &flags));
        let status = completed(&folder, &url, name, |_| {});
        drop(workers);
        let report = iolite(&folder, &url, &["fleet", "report", name, "--json"]).expect(0);
        assert_eq!(report.json()["verdicts"]["pass"], 120, "{status}");
        status
    };
    let status = campaign("steered", "coverage");
    let bounds = status["bounds"]["limit"].as_array().expect("bounds");
    let bounds: Vec<i64> = bounds
        .iter()
        .filter_map(serde_json::Value::as_i64)
        .collect();
    let [least, greatest] = bounds[..] else {
        panic!("{status}");
    };
    assert!((least..=greatest).contains(&737_123), "{status}");
    assert!(greatest - least < 100, "{status}");
    let status = campaign("uniform", "uniform");
    assert!(status["bounds"].is_null(), "{status}");
}

/// `status` counts on from what was noted on the server; the sum is that of the report, which counts anew.
#[test]
fn status_counts_on() {
    let folder = candy("fleet-tally");
    let Some(server) = Server::start(&folder) else {
        return;
    };
    let url = server.url();
    let line = test_line(&["--runs", "2500"]);
    submit(&folder, &url, &["--id", "tally", "--range", "50"], &line);
    let flags = ["--allow", "models", "--only", "tally", "--until-done"];
    let worker = Worker::start(&folder, &url, "one", &flags);
    let mut looks = Vec::new();
    let status = completed(&folder, &url, "tally", |status| {
        looks.push(status["done"].as_u64().expect("a number"));
    });
    drop(worker);
    assert!(looks.is_sorted(), "{looks:?}");
    assert_eq!(status["done"], 2500, "{status}");
    let again = iolite(&folder, &url, &["fleet", "status", "tally", "--json"]).expect(0);
    let again = again.json();
    assert_eq!(again["verdicts"], status["verdicts"]);
    assert_eq!(again["seconds"], status["seconds"]);
    let report = iolite(&folder, &url, &["fleet", "report", "tally", "--json"]).expect(1);
    assert_eq!(report.json()["verdicts"], status["verdicts"]);
}
