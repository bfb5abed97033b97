//! Commands that give up when their time is up, and say so.

mod common;

use std::time::{Duration, Instant};

use common::{iolite, scratch, write};

/// Between `?go` and `!done` an internal action goes any number of ways over constants that nobody
/// knows: minutes of solving.
const SLOW: &str = "system Slow {
  const c: int, d: int
  assume c > 3 && d > c
  var x: int = 0, y: int = 1
  input go
  output done(n: int)
  internal jump(k: 0..40)
  initial state A { ?go -> B }
  state B {
    jump(k) [x * k < c * d && y < d] / x := x + k * c, y := y + x -> B
    !done(n) [n == x + y] -> A
  }
}";

#[test]
fn monitoring_ends_in_unknown_when_the_time_is_up() {
    let folder = scratch("monitor-timeout");
    let model = write(&folder, "slow.iol", SLOW);
    let log = write(&folder, "run.log", "?go\n!done(17)\n");
    let begin = Instant::now();
    let args = ["monitor", &model, &log, "--timeout", "1"];
    let told = iolite(&args).expect(3);
    // A fast machine meets the bound of symbolic states first.
    let text = format!("{log}:1: unknown after 1 step");
    assert!(told.stdout.starts_with(&text), "{}", told.stdout);
    let json = iolite(&[args.as_slice(), &["--json"]].concat())
        .expect(3)
        .json();
    assert_eq!(json["verdict"], "unknown");
    assert!(
        begin.elapsed() < Duration::from_secs(30),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn explaining_ends_undecided_when_the_time_is_up() {
    let folder = scratch("explain-timeout");
    let model = write(&folder, "slow.iol", SLOW);
    let certificate = serde_json::json!({
        "format": "iolite-certificate/1", "kind": "ioco", "model": { "file": model },
        "verdict": "fail", "trace": ["?go"], "observed": "!done(-5)", "allowed": [],
        "locations": [], "run": 0, "seed": 0,
    });
    let certificate = write(&folder, "certificate.json", certificate.to_string());
    let begin = Instant::now();
    let args = ["explain", &certificate, "--timeout", "1", "--json"];
    let json = iolite(&args).expect(3).json();
    assert_eq!(json["undecided"], true);
    assert!(
        begin.elapsed() < Duration::from_secs(30),
        "{:?}",
        begin.elapsed()
    );
}

/// Whatever judges: a plain model, or properties.
#[test]
fn no_time_is_no_verdict() {
    let folder = scratch("no-time");
    let model = write(
        &folder,
        "m.iol",
        "system M { input a  output x  initial state s { ?a -> t }  state t { !x -> s } }",
    );
    let log = write(&folder, "run.log", "?a\n!x\n");
    let property = ["ltl:G(?a -> X !x)", "--over", "?a,!x"];
    for judge in [&[model.as_str()][..], &property] {
        let (first, more) = (judge[0], &judge[1..]);
        let run = |timeout: &str| {
            let args = ["monitor", first, &log, "--timeout", timeout, "--json"];
            iolite(&[args.as_slice(), more].concat())
        };
        let json = run("0").expect(3).json();
        assert_eq!(json["verdict"], "unknown", "{json}");
        assert_eq!(json["reason"], "no answer within 0 seconds", "{json}");
        let json = run("60").json();
        assert_eq!(json["reason"], serde_json::Value::Null, "{json}");
        assert_eq!(json["steps"], 2, "{json}");
    }
    let wrong = iolite(&["monitor", &model, &log, "--timeout=-1"]).expect(2);
    assert!(wrong.stderr.contains("--timeout"), "{}", wrong.stderr);
}
