//! Runs that fail by silence are repeated before they count: a slow system is flaky, a silent one
//! fails.

mod support;

use std::time::Duration;

use iolite_derive::{ActionId, Notice, Verdict};
use iolite_exec::{
    Adapter, Confirm, Confirmation, Event, ExecError, JobId, Options, Pace, Quiescence, Received,
    RunId, RunOutcome, RunSetup, Sent, SutConfig,
};
use iolite_lts::Lts;
use proptest::prelude::*;
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
    drive_by(&echo(), config, confirm, Pace::Off, ops)
}

fn drive_by(
    spec: &Lts,
    config: &SutConfig,
    confirm: Confirm,
    pace: Pace,
    ops: &[&str],
) -> (RunOutcome, Vec<Event>) {
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = tester.adapter(config, JobId(0)).unwrap();
    let options = Options {
        confirm,
        pace,
        ..options(config)
    };
    let mut events = Vec::new();
    let setup = RunSetup {
        tester: &mut tester,
        adapter: &mut adapter,
        strategy: &mut script(spec, ops),
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
fn what_came_instead_of_a_silence_is_told() {
    let wrong = "for line in sys.stdin:\n  time.sleep(0.12)\n  print('y', flush=True)";
    let spec = lts(&[(0, "?a", 1), (1, "!x", 0), (2, "!y", 0)]);
    let ops = ["?a", "observe"];
    let pace = Pace::Off;
    let (outcome, events) = drive_by(&spec, &hasty(wrong), Confirm::default(), pace, &ops);
    assert_eq!(outcome.verdict, Verdict::Fail);
    // An output that was seen was seen.
    assert_eq!(confirmations(&events), [Confirmation::Reproduced]);
    let certificate = outcome.certificate.unwrap();
    assert_eq!(certificate.observed.as_deref(), Some("delta"));
    assert_eq!(certificate.instead, ["!y"]);
}

#[test]
fn a_failure_by_silence_of_a_run_that_is_too_long_says_that_it_was_not_repeated() {
    let silent = "for line in sys.stdin: pass";
    let mut tester = SpecTester::new(echo());
    let config = hasty(silent);
    let mut adapter = tester.adapter(&config, JobId(0)).unwrap();
    let mut options = options(&config);
    options.confirm = Confirm::default();
    options.limits.trace = 1;
    let mut events = Vec::new();
    let setup = RunSetup {
        tester: &mut tester,
        adapter: &mut adapter,
        strategy: &mut script(&echo(), &["?a", "observe"]),
        options: &options,
        id: RunId::of(1, 0),
        sink: &mut events,
    };
    let outcome = setup.run_confirmed().unwrap();
    assert_eq!(outcome.verdict, Verdict::Fail);
    assert_eq!(confirmations(&events), []);
    assert_eq!(outcome.notices, [Notice::NotRepeated]);
    let told =
        |event: &Event| matches!(event, Event::Notice { kind, .. } if kind == "not-repeated");
    assert!(events.iter().any(told), "{events:?}");
}

#[test]
fn a_run_without_a_step_has_no_verdict() {
    let spec = echo();
    let mut tester = SpecTester::new(spec.clone());
    let config = hasty("for line in sys.stdin: pass");
    let mut adapter = tester.adapter(&config, JobId(0)).unwrap();
    let mut options = options(&config);
    options.limits.steps = Some(0);
    let setup = RunSetup {
        tester: &mut tester,
        adapter: &mut adapter,
        strategy: &mut script(&spec, &["?a"]),
        options: &options,
        id: RunId::of(1, 0),
        sink: &mut (),
    };
    assert!(matches!(setup.run(), Err(ExecError::Config(_))));
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

/// A system that does something else, a statement of Python, instead of its 2nd answer in the first start, and instead of its 1st in
/// all others.
fn other_each_time(instead: &str) -> SutConfig {
    hasty(&format!(
        "import os\npath = '{{dir}}/starts'\nopen(path, 'a').write('x')\nodd = 2 if os.path.getsize(path) == 1 else 1\n\
         for n, line in enumerate(sys.stdin):\n  if n + 1 == odd: {instead}\n  print('x', flush=True)"
    ))
}

#[test]
fn answers_before_the_silence_get_more_time_too() {
    let config = other_each_time("time.sleep(0.12)");
    let ops = ["?a", "observe", "?a", "observe"];
    let (outcome, events) = drive(&config, Confirm::default(), &ops);
    // The first answer, which is the slow one now, is waited for; the second one comes at once.
    assert_eq!(
        confirmations(&events),
        [Confirmation::Refuted],
        "{events:?}"
    );
    assert_eq!(outcome.verdict, Verdict::Flaky);
}

#[test]
fn another_silence_does_not_confirm_a_silence() {
    let config = other_each_time("continue");
    let ops = ["?a", "observe", "?a", "observe"];
    let (outcome, events) = drive(&config, Confirm::default(), &ops);
    // The longest wait is tried again some times.
    assert_eq!(
        confirmations(&events),
        [Confirmation::Diverged; 6],
        "{events:?}"
    );
    assert_eq!(outcome.verdict, Verdict::Flaky);
}

#[test]
fn messages_that_cross_otherwise_are_the_same_run() {
    // Two stimuli, two answers: in the first start the answers come after both, later each after its own. The third is lost.
    let program = "import os\npath = '{dir}/starts'\nopen(path, 'a').write('x')\nlate = os.path.getsize(path) == 1\n\
         for n, line in enumerate(sys.stdin):\n  \
           if n == 0 and not late: print('x', flush=True)\n  \
           if n == 1: print('x\\nx' if late else 'x', flush=True)";
    let mut config = hasty(program);
    config.quiescence.timeout_ms = Some(150);
    let spec = lts(&[(0, "?a", 1), (1, "!x", 0), (1, "?a", 2), (2, "!x", 1)]);
    let ops = ["?a", "?a", "observe", "observe", "?a", "observe"];
    let slowly = Pace::Between(Duration::from_millis(40), Duration::from_millis(40));
    let (outcome, events) = drive_by(&spec, &config, Confirm::default(), slowly, &ops);
    assert_eq!(
        confirmations(&events),
        [Confirmation::Reproduced; 3],
        "{events:?}"
    );
    assert_eq!(outcome.verdict, Verdict::Fail);
}

/// Requests of two kinds, each with its answer; as many of each may be open at a time.
const MOST_OPEN: usize = 4;

fn requests() -> Lts {
    let state = |a: usize, b: usize| a * (MOST_OPEN + 1) + b;
    let mut steps = Vec::new();
    for a in 0..=MOST_OPEN {
        for b in 0..=MOST_OPEN {
            if a < MOST_OPEN {
                steps.push((state(a, b), "?a", state(a + 1, b)));
                steps.push((state(a + 1, b), "!x", state(a, b)));
            }
            if b < MOST_OPEN {
                steps.push((state(a, b), "?b", state(a, b + 1)));
                steps.push((state(a, b + 1), "!y", state(a, b)));
            }
        }
    }
    lts(&steps)
}

/// A system that answers each request after a while, in a time that passes when somebody waits. In each run the times are others.
struct Server {
    /// What answers what.
    answers: [(ActionId, ActionId); 2],
    /// How long answers take, one after the other over all runs.
    latencies: Box<dyn Iterator<Item = Duration>>,
    /// The request of a run that is never answered.
    lost: Option<usize>,
    requests: usize,
    now: Duration,
    due: Vec<(Duration, ActionId)>,
}

impl Server {
    fn next_until(&mut self, until: Duration) -> Option<Received> {
        let next = (0..self.due.len()).min_by_key(|&n| self.due[n].0)?;
        let (at, answer) = self.due[next];
        (at <= until).then(|| {
            self.due.remove(next);
            self.now = self.now.max(at);
            Received::Output(answer)
        })
    }
}

impl Adapter for Server {
    fn start(&mut self, _: u64) -> Result<(), ExecError> {
        self.requests = 0;
        self.due.clear();
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<Received>, ExecError> {
        Ok(self.next_until(self.now))
    }

    fn send(&mut self, stimulus: ActionId) -> Result<Sent, ExecError> {
        let mut answers = self.answers.iter();
        let (_, answer) = answers.find(|(request, _)| *request == stimulus).unwrap();
        let latency = self.latencies.next().unwrap();
        if self.lost != Some(self.requests) {
            self.due.push((self.now + latency, *answer));
        }
        self.requests += 1;
        Ok(Sent::Given)
    }

    fn receive(&mut self, patience: Duration) -> Result<Received, ExecError> {
        let until = self.now + patience;
        Ok(self.next_until(until).unwrap_or_else(|| {
            self.now = until;
            Received::Nothing
        }))
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        Ok(())
    }
}

/// The verdicts of a run, as it comes and confirmed; silence is called after 20 ms, and the longest wait of a repetition is 910 ms.
fn verdicts(ops: &[&str], latencies: &[u64], lost: Option<usize>) -> [Verdict; 2] {
    let spec = requests();
    [Confirm::NEVER, Confirm::default()].map(|confirm| {
        let mut tester = SpecTester::new(spec.clone());
        let [a, x, b, y] = ["?a", "!x", "?b", "!y"].map(|text| tester.action(text));
        let millis = |ms: u64| Duration::from_millis(ms);
        let latencies = latencies.to_vec();
        let mut server = Server {
            answers: [(a, x), (b, y)],
            latencies: Box::new(latencies.into_iter().cycle().map(millis)),
            lost,
            requests: 0,
            now: Duration::ZERO,
            due: Vec::new(),
        };
        let options = Options {
            confirm,
            quiescence: Quiescence::after(millis(20)),
            ..Options::default()
        };
        let setup = RunSetup {
            tester: &mut tester,
            adapter: &mut server,
            strategy: &mut script(&spec, ops),
            options: &options,
            id: RunId::of(1, 0),
            sink: &mut (),
        };
        setup.run_confirmed().unwrap().verdict
    })
}

/// Requests and waits, with waits for whatever is left.
fn ops() -> impl Strategy<Value = Vec<&'static str>> {
    let op = prop_oneof![Just("?a"), Just("?b"), Just("observe"), Just("observe")];
    proptest::collection::vec(op, 1..8).prop_map(|mut ops| {
        let mut left = [MOST_OPEN; 2];
        ops.retain(
            |op| match ["?a", "?b"].iter().position(|request| request == op) {
                Some(kind) => left[kind].checked_sub(1).map(|n| left[kind] = n).is_some(),
                None => true,
            },
        );
        ops.extend(["observe"; 2 * MOST_OPEN + 1]);
        ops
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whoever answers everything within the longest wait never fails, however answers cross.
    #[test]
    fn a_system_that_is_late_never_fails(
        ops in ops(),
        latencies in proptest::collection::vec(prop_oneof![0..30u64, 0..900u64], 1..40),
    ) {
        let [_, confirmed] = verdicts(&ops, &latencies, None);
        prop_assert!(matches!(confirmed, Verdict::Pass | Verdict::Flaky), "{confirmed:?}");
    }

    /// Whoever answers in time but for one request fails, however answers cross.
    #[test]
    fn a_system_that_loses_a_request_fails(
        ops in ops(),
        latencies in proptest::collection::vec(0..19u64, 1..40),
        lost in 0..8usize,
    ) {
        let [at_once, confirmed] = verdicts(&ops, &latencies, Some(lost));
        prop_assert_eq!(at_once, confirmed);
        let requests = ops.iter().filter(|op| **op != "observe").count();
        let expected = if lost < requests { Verdict::Fail } else { Verdict::Pass };
        prop_assert_eq!(confirmed, expected);
    }
}
