//! Every example system is really started: the correct one passes, each broken one fails.

mod support;

use std::fs;

use iolite_derive::Verdict;
use iolite_exec::{ExecError, Instance, Plan, SutConfig, Weighted, campaign};
use support::{SpecTester, examples, options, read_iol};

fn check(folder: &str, model: &str, sut: &str, steps: u64, expected: Verdict) {
    check_observing(0.05, folder, model, sut, steps, expected);
}

/// The same with a tester that observes so often, where it has a choice.
fn check_observing(
    observe: f64,
    folder: &str,
    model: &str,
    sut: &str,
    steps: u64,
    expected: Verdict,
) {
    let folder = examples().join(folder);
    let spec = read_iol(&fs::read_to_string(folder.join(model)).unwrap());
    let mut config = SutConfig::load(&folder.join(sut)).unwrap();
    // Patience for a busy machine; most of it is spent only where nothing comes.
    config.quiescence.timeout_ms = Some(800);
    config
        .actions
        .values_mut()
        .for_each(|a| a.timeout_ms = None);
    config.limits.startup_timeout_ms = Some(20_000);
    let mut options = options(&config);
    options.limits.steps = Some(steps);
    let plan = Plan {
        seed: 7,
        runs: 6,
        jobs: 2,
        stop_on_fail: true,
        ..Plan::default()
    };
    let summary = campaign(&plan, &options, &mut (), |job| {
        let tester = SpecTester::new(spec.clone());
        Ok::<_, ExecError>(Instance {
            adapter: tester.adapter(&config, job)?,
            tester,
            strategy: Weighted {
                observe,
                ..Weighted::default()
            },
        })
    })
    .unwrap();
    assert!(summary.faults.is_empty(), "{sut}: {:?}", summary.faults);
    assert_eq!(summary.verdict(), Some(expected), "{sut}: {summary:?}");
    if expected == Verdict::Pass {
        assert_eq!(summary.runs(), 6);
    } else {
        assert!(!summary.failures.is_empty());
    }
}

#[test]
fn candy_over_stdio() {
    check("candy", "candy.iol", "sut.toml", 24, Verdict::Pass);
    for bug in ["generous", "double", "miser"] {
        let sut = format!("sut-{bug}.toml");
        check("candy", "candy.iol", &sut, 60, Verdict::Fail);
    }
}

#[test]
fn queue_over_tcp() {
    check("queue-tcp", "queue.iol", "sut.toml", 24, Verdict::Pass);
    check(
        "queue-tcp",
        "queue.iol",
        "sut-stack.toml",
        100,
        Verdict::Fail,
    );
}

#[test]
fn lease_over_udp() {
    check("udp", "lease.iol", "sut.toml", 20, Verdict::Pass);
    check("udp", "lease.iol", "sut-sticky.toml", 60, Verdict::Fail);
}

#[test]
fn session_over_http() {
    check("http", "session.iol", "sut.toml", 20, Verdict::Pass);
    check("http", "session.iol", "sut-ghost.toml", 60, Verdict::Fail);
}

#[test]
fn news_over_websocket() {
    check("websocket", "news.iol", "sut.toml", 20, Verdict::Pass);
    check("websocket", "news.iol", "sut-late.toml", 60, Verdict::Fail);
}

#[test]
fn mail_over_smtp() {
    check("smtp", "smtp.iol", "sut.toml", 20, Verdict::Pass);
    check("smtp", "smtp.iol", "sut-remembers.toml", 100, Verdict::Fail);
    check("smtp", "smtp.iol", "sut-dots.toml", 100, Verdict::Fail);
}

#[test]
fn file_over_tftp() {
    check("tftp", "tftp.iol", "sut.toml", 10, Verdict::Pass);
    // The second block comes some microseconds after the first. Who acknowledges at once does not see that it came too early.
    check_observing(
        0.5,
        "tftp",
        "tftp.iol",
        "sut-hurries.toml",
        10,
        Verdict::Fail,
    );
}

#[test]
fn vault_over_https() {
    check("https", "vault.iol", "sut.toml", 20, Verdict::Pass);
    check(
        "https",
        "vault.iol",
        "sut-immortal.toml",
        100,
        Verdict::Fail,
    );
}

#[test]
fn a_careless_vault_takes_any_cookie() {
    check(
        "https",
        "vault.iol",
        "sut-careless.toml",
        100,
        Verdict::Fail,
    );
}

#[test]
fn control_connection_of_ftp() {
    check("ftp", "ftp.iol", "sut.toml", 30, Verdict::Pass);
    check("ftp", "ftp.iol", "sut-again.toml", 150, Verdict::Fail);
    check("ftp", "ftp.iol", "sut-patient.toml", 150, Verdict::Fail);
}

/// An answer from another port is said, never taken for silence.
#[test]
fn a_datagram_from_elsewhere_is_a_fault() {
    let folder = examples().join("tftp");
    let text = fs::read_to_string(folder.join("sut.toml")).unwrap();
    let mut config = SutConfig::parse(&text.replace(", from = \"any-port\"", "")).unwrap();
    config.system.process_mut().unwrap().dir = Some(folder.clone());
    config.limits.startup_timeout_ms = Some(20_000);
    config.quiescence.timeout_ms = Some(800);
    let spec = read_iol(&fs::read_to_string(folder.join("tftp.iol")).unwrap());
    let summary = campaign(&Plan::default(), &options(&config), &mut (), |job| {
        let tester = SpecTester::new(spec.clone());
        Ok::<_, ExecError>(Instance {
            adapter: tester.adapter(&config, job)?,
            tester,
            strategy: Weighted::default(),
        })
    })
    .unwrap();
    let fault = summary.faults.values().next().unwrap().to_string();
    assert!(fault.contains("any-port"), "{fault}");
}
