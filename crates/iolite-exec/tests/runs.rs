//! Journal, replay, shrinking, monitoring, calibration, campaigns.

mod support;

use std::fs;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use iolite_derive::{ActionId, Criterion, Menu, Step, Verdict};
use iolite_exec::codec::{ActionMap, ActionRule, Template};
use iolite_exec::{
    Adapter, Calibrator, Choice, ConcreteAction, Event, ExecError, Fanout, InProcess, Instance,
    Journal, JournalHeader, JournalWriter, LogFormat, LogReader, ModelRef, ModelSut,
    MonitorOptions, Options, Plan, Record, RefusedInput, RunId, ShrinkPlan, Sink, Strategy,
    SystemUnderTest, Uniform, campaign, chart, monitor, replay, run, shrink,
};
use iolite_lts::Lts;
use support::{SpecTester, lts, python, quick, script, texts};

/// Coins and buttons; the refund is what the faulty machine gets wrong.
fn machine() -> Lts {
    lts(&[
        (0, "?coin", 1),
        (1, "?coin", 2),
        (1, "?refund", 3),
        (2, "?push", 4),
        (2, "?refund", 3),
        (3, "!coins", 0),
        (4, "!tea", 0),
        (4, "!coffee", 0),
    ])
}

/// After tea the refund is kept; otherwise as specified. Whether tea comes is the scheduler's.
fn faulty() -> Lts {
    lts(&[
        (0, "?coin", 1),
        (1, "?coin", 2),
        (1, "?refund", 3),
        (2, "?push", 4),
        (2, "?refund", 3),
        (3, "!coins", 0),
        (4, "!tea", 5),
        (4, "!coffee", 0),
        (5, "?coin", 6),
        (6, "?refund", 5),
        (6, "?coin", 7),
        (7, "?push", 4),
        (7, "?refund", 3),
    ])
}

fn sut(model: Lts, tester: &SpecTester) -> ModelSut<Lts> {
    ModelSut::new(model, tester.dictionary(), 5).on_refused_input(RefusedInput::SelfLoop)
}

fn header() -> JournalHeader {
    JournalHeader::new(
        Criterion::default(),
        ModelRef::default(),
        1,
        serde_json::json!({"model": "faulty"}),
    )
}

fn temp(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("iolite-{}-{name}", std::process::id()))
}

fn fail_once(journal: &Path) -> (SpecTester, ModelSut<Lts>) {
    let mut tester = SpecTester::new(machine());
    let mut adapter = sut(faulty(), &tester);
    let mut sink = JournalWriter::create(journal, &header()).unwrap();
    let mut options = quick();
    options.limits.steps = Some(3000);
    for number in 0.. {
        let id = RunId::of(1, number);
        let outcome = run(
            &mut tester,
            &mut adapter,
            &mut Uniform,
            &options,
            id,
            &mut sink,
        )
        .unwrap();
        if outcome.verdict == Verdict::Fail && outcome.steps > 20 {
            break;
        }
        assert!(number < 500);
    }
    (tester, adapter)
}

#[test]
fn a_journal_is_read_back_and_replayed() {
    let path = temp("replay.jsonl");
    let (mut tester, mut adapter) = fail_once(&path);
    let journal = Journal::read(&path).unwrap();
    assert!(!journal.torn);
    assert_eq!(journal.header, header());
    let id = journal.runs().last().unwrap();
    let steps = journal.steps(id.number, &tester.parser()).unwrap();
    let preempting = journal.preempting(id.number);
    let record = Record {
        preempting: &preempting,
        ..Record::new(&steps)
    };
    // The same seed schedules the model alike.
    let same = replay(&mut tester, &mut adapter, record, &quick(), id, &mut ()).unwrap();
    assert_eq!(same.divergence, None);
    assert_eq!(same.outcome.verdict, Verdict::Fail);
    // A system that does something else diverges, and it is said where.
    let mut correct = sut(machine(), &tester);
    let other = replay(&mut tester, &mut correct, record, &quick(), id, &mut ()).unwrap();
    let divergence = other.divergence.unwrap();
    assert_eq!(other.outcome.verdict, Verdict::Pass);
    assert!(divergence.step < steps.len() && divergence.seen.is_some());
    fs::remove_file(path).unwrap();
}

#[test]
fn a_deterministic_system_is_replayed_exactly() {
    let config = python(
        "import sys\nn = 0\nfor line in sys.stdin:\n  if line.strip() == 'push':\n    n += 1\n    print('coffee' if n < 3 else 'coins')\n  elif line.strip() == 'refund': print('coins')",
    );
    let spec = machine();
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = tester.adapter(&config, iolite_exec::JobId(0)).unwrap();
    let mut options = support::options(&config);
    options.quiescence.default = Duration::from_secs(3);
    let ops: Vec<&str> = ["?coin", "?coin", "?push", "observe"].repeat(3);
    let id = RunId::of(1, 0);
    let path = temp("exact.jsonl");
    let mut sink = JournalWriter::create(&path, &header()).unwrap();
    let first = run(
        &mut tester,
        &mut adapter,
        &mut script(&spec, &ops),
        &options,
        id,
        &mut sink,
    )
    .unwrap();
    assert_eq!(first.verdict, Verdict::Fail);
    let journal = Journal::read(&path).unwrap();
    assert_eq!(journal.run_of_interest(), Some(id));
    let record = journal.steps(0, &tester.parser()).unwrap();
    let preempting = journal.preempting(0);
    let record = Record {
        preempting: &preempting,
        ..Record::new(&record)
    };
    let again = replay(&mut tester, &mut adapter, record, &options, id, &mut ()).unwrap();
    assert_eq!(again.divergence, None);
    assert_eq!(again.outcome.verdict, Verdict::Fail);
    assert_eq!(again.outcome.certificate, first.certificate);
    adapter.stop().unwrap();
    let drawn = chart(&first.certificate.unwrap());
    assert!(
        drawn.contains("!coins") && drawn.contains("allowed:  !tea, !coffee"),
        "{drawn}"
    );
    fs::remove_file(path).unwrap();
}

#[test]
fn a_failure_is_shrunk_to_its_core() {
    let path = temp("shrink.jsonl");
    let (mut tester, mut adapter) = fail_once(&path);
    let journal = Journal::read(&path).unwrap();
    let id = journal.runs().last().unwrap();
    let record = journal.steps(id.number, &tester.parser()).unwrap();
    let plan = ShrinkPlan {
        attempts: 40,
        executions: 100_000,
        confirmations: 200,
        ..ShrinkPlan::default()
    };
    let options = Options::default();
    let shrunk = shrink(
        &mut tester,
        &mut adapter,
        &record,
        Verdict::Fail,
        &options,
        &plan,
    )
    .unwrap();
    let run = shrunk.run.unwrap();
    assert!(shrunk.minimal && shrunk.from_steps == record.len());
    // Two coins, push, tea, coin, refund, and the silence: nothing less shows the fault.
    assert_eq!(
        texts(&machine(), &run),
        [
            "?coin", "?coin", "?push", "!tea", "?coin", "?refund", "delta"
        ]
    );
    // Tea comes every other time.
    let rate = f64::from(shrunk.reproduced) / f64::from(shrunk.confirmations);
    assert!((0.3..0.7).contains(&rate), "{rate}");
    fs::remove_file(path).unwrap();
}

#[test]
fn what_never_fails_again_is_said_so() {
    let mut tester = SpecTester::new(machine());
    let mut adapter = sut(machine(), &tester);
    let trace = [Step::Stimulus(tester.action("?coin")), Step::Quiescence];
    let shrunk = shrink(
        &mut tester,
        &mut adapter,
        &trace,
        Verdict::Fail,
        &quick(),
        &ShrinkPlan::default(),
    )
    .unwrap();
    assert!(shrunk.run.is_none() && !shrunk.minimal);
}

/// Counts each output it gives on standard output, unbuffered, and never ends.
struct Witness(ActionId);

impl SystemUnderTest<ActionId> for Witness {
    fn reset(&mut self) {
        let mut out = std::io::stdout();
        let _ = out.write_all(b"|").and_then(|()| out.flush());
    }

    fn stimulate(&mut self, _: &ActionId) {}

    fn output(&mut self, _: Duration) -> Option<ActionId> {
        let mut out = std::io::stdout();
        out.write_all(b"#").and_then(|()| out.flush()).ok()?;
        Some(self.0)
    }
}

/// The writer that the tests below kill; by itself it does nothing. With short runs, a model is said to play the system.
#[test]
fn journal_writer_to_be_killed() {
    let Ok(path) = std::env::var("IOLITE_TEST_JOURNAL") else {
        return;
    };
    let mut tester = SpecTester::new(lts(&[(0, "!x", 0)]));
    let mut adapter = InProcess::new(Witness(tester.action("!x")));
    let mut options = quick();
    options.limits.steps = std::env::var("IOLITE_TEST_STEPS")
        .ok()
        .map(|steps| steps.parse().unwrap());
    let mut header = header();
    if options.limits.steps.is_none() {
        header.sut = serde_json::json!({"command": "witness"});
    }
    let mut sink = JournalWriter::create(path, &header).unwrap();
    for number in 0.. {
        run(
            &mut tester,
            &mut adapter,
            &mut Uniform,
            &options,
            RunId::of(1, number),
            &mut sink,
        )
        .unwrap();
    }
}

/// Starts the writer, kills it when it has said at least so much, and gives all that it said.
fn said_by_killed_writer(path: &Path, steps: Option<&str>, least: usize) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "journal_writer_to_be_killed", "--nocapture"])
        .env("IOLITE_TEST_JOURNAL", path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some(steps) = steps {
        command.env("IOLITE_TEST_STEPS", steps);
    }
    let mut child = command.spawn().unwrap();
    let mut seen = vec![0; least];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut seen).unwrap();
    child.kill().unwrap();
    stdout.read_to_end(&mut seen).unwrap();
    child.wait().unwrap();
    String::from_utf8_lossy(&seen).into_owned()
}

#[test]
fn killing_the_writer_loses_no_run_with_a_verdict() {
    for (round, ending) in ["jsonl", "iolj"].into_iter().cycle().take(6).enumerate() {
        let path = temp(&format!("kill-model{round}.{ending}"));
        let said = said_by_killed_writer(&path, Some("50"), 300 + 137 * round);
        let started = said.matches('|').count();
        let journal = Journal::read(&path).unwrap();
        let ended = journal
            .events
            .iter()
            .filter(|e| matches!(e, Event::RunEnded { steps: 50, .. }))
            .count();
        assert!(ended + 1 >= started, "{ended} of {started}");
        for number in 0..ended as u64 {
            assert_eq!(journal.texts(number).len(), 50);
        }
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn killing_the_writer_loses_nothing_that_was_observed() {
    for round in 0..8u64 {
        let path = temp(&format!("kill{round}.jsonl"));
        let said = said_by_killed_writer(&path, None, 200 + 137 * round as usize);
        let given = said.matches('#').count();
        let journal = Journal::read(&path).unwrap();
        let written = journal.texts(0).len();
        // The last output may have been given and not yet received when the end came.
        assert!(
            written == given || written + 1 == given,
            "{written} of {given}"
        );
        let numbers = journal.events.iter().filter_map(|e| match e {
            Event::Output { step, .. } => Some(*step),
            _ => None,
        });
        assert!(numbers.eq(0..written as u64));
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_torn_last_line_is_the_end_and_other_damage_an_error() {
    let path = temp("torn.jsonl");
    let (tester, _) = fail_once(&path);
    let text = fs::read(&path).unwrap();
    let whole = Journal::read(&path).unwrap();
    let name = "j";
    for cut in (0..text.len()).rev().step_by(7).take(300) {
        match Journal::read_from(Cursor::new(&text[..cut]), name) {
            Ok(journal) => {
                assert_eq!(journal.torn, text[cut - 1] != b'\n');
                assert_eq!(journal.events[..], whole.events[..journal.events.len()]);
            }
            Err(error) => assert!(cut < 400, "{error}"),
        }
    }
    let mut damaged = text.clone();
    let line = text.iter().position(|&b| b == b'\n').unwrap() + 5;
    damaged[line] = b'\x01';
    let error = Journal::read_from(Cursor::new(damaged), name).unwrap_err();
    assert!(
        matches!(error, ExecError::LogRead { line: 2, .. }),
        "{error}"
    );
    assert!(Journal::read_from(Cursor::new(b""), name).is_err());
    assert!(Journal::read_from(Cursor::new(b"{}\n"), name).is_err());
    drop(tester);
    fs::remove_file(path).unwrap();
}

/// A disk that is full after a while.
struct Failing(u32);
impl Sink for Failing {
    fn event(&mut self, _: &Event) -> Result<(), ExecError> {
        self.0 += 1;
        if self.0 < 10 {
            return Ok(());
        }
        Err(ExecError::JournalWrite {
            path: "j".into(),
            reason: "full".into(),
        })
    }
}

#[test]
fn a_journal_that_cannot_be_written_ends_the_campaign() {
    let error = JournalWriter::create("/no/such/folder/j", &header()).unwrap_err();
    assert_eq!(error.code(), "journal-write");
    // A full disk.
    let mut sink = JournalWriter::create("/dev/full", &header()).unwrap();
    let started = Event::RunStarted { run: 0, seed: 0 };
    assert_eq!(sink.event(&started).unwrap_err().code(), "journal-write");
    let summary = campaign(&Plan::default(), &quick(), &mut Failing(0), |_| {
        let tester = SpecTester::new(machine());
        Ok::<_, ExecError>(Instance {
            adapter: sut(machine(), &tester),
            tester,
            strategy: Uniform,
        })
    })
    .unwrap();
    assert_eq!(summary.unwritten[0].code(), "journal-write");
    assert_eq!(summary.runs(), 0);
}

fn summary_of(jobs: usize, seed: u64) -> (iolite_exec::Summary, Vec<Event>) {
    let mut options = quick();
    options.limits.steps = Some(50);
    let plan = Plan {
        seed,
        runs: 40,
        jobs,
        ..Plan::default()
    };
    let mut events = Vec::new();
    let summary = campaign(&plan, &options, &mut events, |_| {
        let tester = SpecTester::new(machine());
        Ok::<_, ExecError>(Instance {
            adapter: sut(faulty(), &tester),
            tester,
            strategy: Uniform,
        })
    })
    .unwrap();
    (summary, events)
}

/// What a run did, without its times.
fn story(events: &[Event], number: u64) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Stimulus { run, action, .. } | Event::Output { run, action, .. }
                if *run == number =>
            {
                Some(action.to_string())
            }
            Event::Quiescence { run, .. } if *run == number => Some("delta".into()),
            Event::RunEnded { run, verdict, .. } if *run == number => Some(verdict.to_string()),
            _ => None,
        })
        .collect()
}

#[test]
fn runs_are_the_same_whatever_the_number_of_jobs() {
    let (one, events) = summary_of(1, 3);
    let (four, more) = summary_of(4, 3);
    let (other, _) = summary_of(1, 4);
    assert_eq!(one.verdicts, four.verdicts);
    assert_eq!(one.failures, four.failures);
    assert_eq!(one.runs(), 40);
    assert!(one.verdicts.len() == 2 && one.failures != other.failures);
    for number in 0..40 {
        assert_eq!(story(&events, number), story(&more, number));
    }
}

/// A system that panics when it is started for the last time.
struct Panicking(ModelSut<Lts>, u64);

impl Adapter for Panicking {
    fn start(&mut self, seed: u64) -> Result<(), ExecError> {
        self.1 -= 1;
        assert!(self.1 > 0, "the last time");
        self.0.start(seed)
    }

    fn poll(&mut self) -> Result<Option<iolite_exec::Received>, ExecError> {
        self.0.poll()
    }

    fn send(&mut self, stimulus: ActionId) -> Result<iolite_exec::Sent, ExecError> {
        self.0.send(stimulus)
    }

    fn receive(&mut self, patience: Duration) -> Result<iolite_exec::Received, ExecError> {
        self.0.receive(patience)
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        self.0.stop()
    }
}

#[test]
fn a_job_that_cannot_be_made_or_panics_loses_no_verdict() {
    let plan = Plan {
        runs: 10_000_000,
        jobs: 3,
        ..Plan::default()
    };
    let run_with = |last: &(dyn Fn() -> Result<(), ExecError> + Sync), panics: bool| {
        let ready = std::sync::Barrier::new(2);
        let mut events: Vec<Event> = Vec::new();
        let summary = campaign(&plan, &quick(), &mut events, |job| {
            if job.0 == 2 {
                // Another job has an instance.
                ready.wait();
                std::thread::sleep(Duration::from_millis(50));
                last()?;
            }
            let tester = SpecTester::new(machine());
            let adapter = sut(faulty(), &tester);
            if job.0 == 0 {
                ready.wait();
            }
            Ok::<_, ExecError>(Instance {
                adapter: Panicking(adapter, if panics && job.0 == 2 { 9 } else { u64::MAX }),
                tester,
                strategy: Uniform,
            })
        });
        (summary, events)
    };
    for panics in [false, true] {
        let last = move || {
            if panics {
                Ok(())
            } else {
                Err(ExecError::system("ports", "none is free"))
            }
        };
        let (summary, events) = run_with(&last, panics);
        let summary = summary.expect("two jobs have an instance");
        assert!(
            summary.runs() > 0 && summary.runs() < plan.runs,
            "{summary:?}"
        );
        let (run, fault) = summary.faults.iter().next().expect("one");
        let why = if panics {
            "a job: panicked"
        } else {
            "ports: none is free"
        };
        assert_eq!(fault.to_string(), why);
        let told = |event: &&Event| matches!(event, Event::Fault { run: of, .. } if of == run);
        assert_eq!(events.iter().filter(told).count(), 1);
        let Some(Event::CampaignEnded {
            faults: 1,
            verdicts,
            ..
        }) = events.last()
        else {
            panic!("{:?}", events.last());
        };
        assert_eq!(verdicts, &summary.verdicts);
    }
    // Without any instance there is nothing to sum up.
    let none = campaign(&plan, &quick(), &mut (), |_| {
        Err::<Instance<SpecTester, ModelSut<Lts>, Uniform>, _>(ExecError::system("ports", "none"))
    });
    assert_eq!(none.unwrap_err().to_string(), "ports: none");
}

#[test]
fn faults_of_runs_are_counted_and_the_rest_goes_on() {
    struct Stubborn;
    impl Strategy for Stubborn {
        fn choose(&mut self, menu: &Menu, _: &mut rand_xoshiro::Xoshiro256PlusPlus) -> Choice {
            if menu.stimuli.is_empty() {
                Choice::Observe
            } else {
                Choice::Stimulate(0)
            }
        }
    }
    let run_with = |stop_on_fault| {
        let plan = Plan {
            runs: 5,
            stop_on_fault,
            ..Plan::default()
        };
        campaign(&plan, &quick(), &mut (), |_| {
            let tester = SpecTester::new(lts(&[(0, "?a", 0)]));
            Ok::<_, ExecError>(Instance {
                adapter: ModelSut::new(lts(&[(0, "?b", 0)]), tester.dictionary(), 0),
                tester,
                strategy: Stubborn,
            })
        })
        .unwrap()
    };
    let summary = run_with(false);
    assert_eq!((summary.faults.len(), summary.verdict()), (5, None));
    assert_eq!(summary.faults[&0].code(), "refused");
    assert_eq!(run_with(true).faults.len(), 1);
}

#[test]
fn a_log_from_elsewhere_is_judged() {
    let mut tester = SpecTester::new(machine());
    let parse = tester.parser();
    let mut judge = |log: &str, format: LogFormat, quiescence| {
        let mut reader = LogReader::new(Cursor::new(log.to_owned()), "log", format);
        let options = MonitorOptions {
            quiescence,
            ..MonitorOptions::default()
        };
        monitor(&mut tester, &mut reader, &parse, &options)
    };
    let json = r#"{"input": "coin", "time": 1.0}
{"comment": "not a step"}

{"action": "?coin", "time": 2.0}
{"input": "push", "time": 3.0}
{"output": "stone", "time": 3.1}
"#;
    let good = json.replace("stone", "tea");
    let ok = judge(&good, LogFormat::JsonLines, None).unwrap();
    assert_eq!((ok.verdict, ok.steps, ok.line), (Verdict::Pass, 4, None));
    let error = judge(json, LogFormat::JsonLines, None).unwrap_err();
    assert!(error.to_string().contains("line 6") && error.to_string().contains("!stone"));
    let wrong = json.replace("stone", "coins");
    let bad = judge(&wrong, LogFormat::JsonLines, None).unwrap();
    assert_eq!((bad.verdict, bad.line), (Verdict::Fail, Some(6)));
    let certificate = bad.certificate.unwrap();
    assert_eq!(certificate.trace, ["?coin", "?coin", "?push"]);
    assert_eq!(certificate.allowed, ["!tea", "!coffee"]);
    // A gap in time is quiescence: fine between coins, wrong before tea.
    let late = good.replace("3.1", "5.0");
    let patience = Some(Duration::from_millis(900));
    let silent = judge(&late, LogFormat::JsonLines, patience).unwrap();
    assert_eq!((silent.verdict, silent.line), (Verdict::Fail, Some(6)));
    assert_eq!(silent.certificate.unwrap().trace.len(), 5);
    // A torn last line.
    let torn = judge(&good[..good.len() - 9], LogFormat::JsonLines, None).unwrap();
    assert_eq!(torn.steps, 3);

    let mut templates = ActionMap::new();
    for (name, template) in [("tea", "gave tea no {n:int}"), ("coins", "gave coins")] {
        templates.insert(
            name,
            ActionRule {
                recv: Some(Template::parse(template).unwrap()),
                ..ActionRule::default()
            },
        );
    }
    for (name, template) in [("coin", "got coin"), ("push", "button pushed")] {
        templates.insert(
            name,
            ActionRule {
                send: Some(Template::parse(template).unwrap()),
                ..ActionRule::default()
            },
        );
    }
    let format = LogFormat::Text {
        prefix: Some(Template::parse("[{time}] {message:string}").unwrap()),
        templates,
        skip_other: true,
    };
    let text = "[1.0] got coin\n[1.1] heating\n[1.2] got coin\nstray\n[1.3] button pushed\n[1.4] gave coins\n";
    let bad = judge(text, format, None).unwrap();
    assert_eq!(
        (bad.verdict, bad.steps, bad.line),
        (Verdict::Fail, 4, Some(6))
    );
    let _ = ConcreteAction::bare("x");
}

#[test]
fn response_times_are_measured() {
    let config = python(
        "import sys, time\nprint('ready', flush=True)\nfor line in sys.stdin:\n  time.sleep(0.03 if line.strip() == 'slow' else 0)\n  print('x', flush=True)",
    );
    let mut config = config;
    config.system.process_mut().unwrap().ready = Some("ready".into());
    config.limits.startup_timeout_ms = Some(20_000);
    let spec = lts(&[(0, "?slow", 1), (0, "?fast", 1), (1, "!x", 0)]);
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = tester.adapter(&config, iolite_exec::JobId(0)).unwrap();
    let mut options = support::options(&config);
    options.quiescence.default = Duration::from_secs(3);
    let ops: Vec<&str> = ["?slow", "observe", "?fast", "observe"].repeat(10);
    let mut calibrator = Calibrator::new();
    let mut steps: Vec<Event> = Vec::new();
    let mut sinks = Fanout(vec![Box::new(&mut calibrator), Box::new(&mut steps)]);
    let id = RunId::of(1, 0);
    run(
        &mut tester,
        &mut adapter,
        &mut script(&spec, &ops),
        &options,
        id,
        &mut sinks,
    )
    .unwrap();
    drop(sinks);
    adapter.stop().unwrap();
    let proposal = calibrator.proposal(3.0);
    let slow = &proposal.actions["?slow"];
    assert_eq!(slow.samples, 10);
    assert!(slow.median >= 30_000 && slow.timeout >= 90_000);
    assert!(proposal.actions["?fast"].median < slow.median);
    assert!(slow.risk > 0.2 && proposal.overall.as_ref().unwrap().risk < slow.risk);
    assert!(proposal.quiescence().unwrap().default >= Duration::from_millis(90));
    // A message each way for every pair of steps.
    let is_bytes = |e: &&Event| matches!(e, Event::Bytes { .. });
    assert_eq!(steps.iter().filter(is_bytes).count(), 40);
    steps.retain(|e| !matches!(e, Event::Progress { .. } | Event::Bytes { .. }));
    assert_eq!(steps.len(), 42);
}
