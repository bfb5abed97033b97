//! Runs that fail by silence are repeated before they count: a slow system is flaky, a silent one
//! fails.

mod support;

use iolite_derive::Verdict;
use iolite_exec::{
    Adapter, Confirm, Confirmation, Event, JobId, Options, RunId, RunOutcome, RunSetup, SutConfig,
};
use iolite_lts::Lts;
use support::{SpecTester, lts, options, python, script};

fn echo() -> Lts {
    lts(&[(0, "?a", 1), (1, "!x", 0)])
}

/// A Python system whose silence is called after 20 ms.
fn hasty(program: &str) -> SutConfig {
    let mut config = python(&format!("import sys, time\nprint('ready')\n{program}"));
    config.system.process_mut().unwrap().ready = Some("ready".into());
    config.limits.startup_timeout_ms = Some(20_000);
    config.quiescence.timeout_ms = Some(20);
    config
}

fn drive(config: &SutConfig, confirm: Confirm, ops: &[&str]) -> (RunOutcome, Vec<Event>) {
    let spec = echo();
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = tester.adapter(config, JobId(0)).unwrap();
    let options = Options {
        confirm,
        ..options(config)
    };
    let mut events = Vec::new();
    let setup = RunSetup {
        tester: &mut tester,
        adapter: &mut adapter,
        strategy: &mut script(&spec, ops),
        options: &options,
        id: RunId::of(1, 0),
        sink: &mut events,
    };
    let outcome = setup.run_confirmed();
    adapter.stop().unwrap();
    (outcome.unwrap(), events)
}

fn confirmations(events: &[Event]) -> Vec<Confirmation> {
    let results = events.iter().filter_map(|event| match event {
        Event::Confirmation { result, .. } => Some(*result),
        _ => None,
    });
    results.collect()
}

/// Answers after 120 ms, six times the timeout.
const SLOW: &str = "for line in sys.stdin:\n  time.sleep(0.12)\n  print('x', flush=True)";

#[test]
fn a_slow_system_is_flaky_and_not_wrong() {
    let (outcome, events) = drive(&hasty(SLOW), Confirm::default(), &["?a", "observe"]);
    assert_eq!(outcome.verdict, Verdict::Flaky, "{events:?}");
    assert!(!outcome.verdict.is_failing());
    let results = confirmations(&events);
    assert_eq!(results.last(), Some(&Confirmation::Refuted), "{events:?}");
    // What it showed at first is kept, and the end of the run is told once, with the final verdict.
    let certificate = outcome.certificate.unwrap();
    assert_eq!(certificate.observed.as_deref(), Some("delta"));
    let ends: Vec<_> = events
        .iter()
        .filter_map(|e| match e {
            Event::RunEnded { verdict, .. } => Some(*verdict),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [Verdict::Flaky]);
    // The repetitions leave no steps in the record.
    let starts = events
        .iter()
        .filter(|e| matches!(e, Event::RunStarted { .. }));
    assert_eq!(starts.count(), 1);
}

#[test]
fn without_confirmation_it_fails() {
    let (outcome, events) = drive(&hasty(SLOW), Confirm::NEVER, &["?a", "observe"]);
    assert_eq!(outcome.verdict, Verdict::Fail);
    assert_eq!(confirmations(&events), []);
}

#[test]
fn a_silent_system_fails_each_time() {
    let silent = "for line in sys.stdin: pass";
    let (outcome, events) = drive(&hasty(silent), Confirm::default(), &["?a", "observe"]);
    assert_eq!(outcome.verdict, Verdict::Fail);
    assert_eq!(confirmations(&events), [Confirmation::Reproduced; 3]);
}

#[test]
fn an_output_is_confirmed_only_where_that_is_asked_for() {
    let wrong = "n = 0\nfor line in sys.stdin:\n  print('x'); print('x', flush=True)";
    let mut config = hasty(wrong);
    config.quiescence.timeout_ms = Some(5000);
    let ops = ["?a", "observe", "observe"];
    let (outcome, events) = drive(&config, Confirm::default(), &ops);
    assert_eq!(outcome.verdict, Verdict::Fail);
    assert_eq!(confirmations(&events), []);
    let outputs = Confirm {
        outputs: 1,
        ..Confirm::default()
    };
    let (outcome, events) = drive(&config, outputs, &ops);
    assert_eq!(outcome.verdict, Verdict::Fail);
    assert_eq!(confirmations(&events), [Confirmation::Reproduced]);
}
