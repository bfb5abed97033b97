//! Systems that crash, hang, close, flood, stammer: each run ends in time with an exact statement,
//! and the next one starts clean.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

use iolite_derive::Verdict;
use iolite_exec::{
    Adapter, End, Event, ExecError, ExitKind, Framing, JobId, OnExit, Received, ResetConfig, RunId,
    SutConfig, Transport, UndecodableKind, Uniform, run,
};
use iolite_lts::Lts;
use support::{SpecTester, lts, options, python, run_once, script, texts};

const READY: &str = "import sys, os, time\nprint('ready')\n";

/// A Python system that says when it is ready.
fn sut(program: &str) -> SutConfig {
    let mut config = python(&format!("{READY}{program}"));
    config.system.process_mut().unwrap().ready = Some("ready".into());
    config.limits.startup_timeout_ms = Some(20_000);
    // Patience for a busy machine, where an answer is due.
    config.quiescence.timeout_ms = Some(10_000);
    config
}

fn echo() -> Lts {
    lts(&[(0, "?a", 1), (1, "!x", 0)])
}

fn answer(spec: &Lts, config: &SutConfig, ops: &[&str]) -> Result<Verdict, ExecError> {
    let begin = Instant::now();
    let result = run_once(spec, config, &mut script(spec, ops));
    assert!(
        begin.elapsed() < Duration::from_secs(60),
        "{:?}",
        begin.elapsed()
    );
    result.map(|outcome| outcome.verdict)
}

#[test]
fn a_crash_is_a_failing_result_with_its_exit_code_and_last_words() {
    let config = sut("sys.stdin.readline(); sys.stderr.write('boom'); os._exit(3)");
    let spec = echo();
    let outcome = run_once(&spec, &config, &mut script(&spec, &["?a", "observe"])).unwrap();
    assert_eq!(
        (outcome.verdict, outcome.end),
        (Verdict::Crash, End::SystemEnded)
    );
    let certificate = outcome.certificate.unwrap();
    assert_eq!(certificate.observed.as_deref(), Some("crash"));
    assert_eq!(
        (certificate.trace, certificate.allowed),
        (vec!["?a".to_owned()], vec!["!x".to_owned()])
    );
    let exit = certificate.exit.unwrap();
    assert_eq!((exit.how, &*exit.stderr), (ExitKind::Code(3), "boom"));
    // Before the first step it has not started.
    let config = sut("os._exit(3)");
    let spec = lts(&[(0, "!x", 0)]);
    let Err(ExecError::Ended(exit)) = answer(&spec, &config, &["observe"]) else {
        panic!("no end");
    };
    assert_eq!(exit.how, ExitKind::Code(3));
}

#[test]
fn a_crash_can_be_an_error() {
    let mut config = sut("sys.stdin.readline(); sys.stderr.write('boom'); os._exit(3)");
    config.on_exit = OnExit::Error;
    let Err(ExecError::Ended(exit)) = answer(&echo(), &config, &["?a", "observe"]) else {
        panic!("no end");
    };
    assert_eq!((exit.how, &*exit.stderr), (ExitKind::Code(3), "boom"));
    let mut config = sut("sys.stdin.readline(); os.kill(os.getpid(), 9)");
    config.on_exit = OnExit::Error;
    let Err(ExecError::Ended(exit)) = answer(&echo(), &config, &["?a", "observe"]) else {
        panic!("no end");
    };
    assert_eq!(exit.how, ExitKind::Signal(9));
}

#[test]
fn a_crash_can_be_a_deadlock() {
    let mut config = sut("sys.stdin.readline(); os._exit(3)");
    config.on_exit = OnExit::Deadlock;
    let spec = echo();
    let outcome = run_once(&spec, &config, &mut script(&spec, &["?a", "observe"])).unwrap();
    assert_eq!(outcome.verdict, Verdict::Fail);
    let certificate = outcome.certificate.unwrap();
    assert_eq!(certificate.observed.as_deref(), Some("deadlock"));
    assert_eq!(certificate.allowed, ["!x"]);
    let silent = lts(&[(0, "?a", 1), (1, "?a", 1)]);
    let ops = ["?a", "observe", "?a", "?a"];
    let outcome = run_once(&silent, &config, &mut script(&silent, &ops)).unwrap();
    assert_eq!(
        (outcome.verdict, outcome.end),
        (Verdict::Pass, End::SystemEnded)
    );
    assert_eq!(texts(&silent, &outcome), ["?a", "deadlock"]);
}

#[test]
fn outputs_before_the_end_come_first() {
    let config = sut("sys.stdin.readline(); print('x'); os._exit(0)");
    let spec = echo();
    let verdict = answer(&spec, &config, &["?a", "observe", "observe"]);
    assert_eq!(verdict, Ok(Verdict::Crash));
    let mut mapped = config;
    mapped.on_exit = OnExit::Deadlock;
    let outcome = run_once(
        &spec,
        &mapped,
        &mut script(&spec, &["?a", "observe", "observe"]),
    );
    assert_eq!(texts(&spec, &outcome.unwrap()), ["?a", "!x", "deadlock"]);
}

#[test]
fn a_system_that_takes_no_input_blocks_for_a_bounded_time() {
    let mut config = sut("time.sleep(60)");
    config.limits.send_timeout_ms = Some(200);
    config.actions.entry("a".into()).or_default().send = Some("a".repeat(1 << 20));
    let error = answer(&echo(), &config, &["?a", "observe"]).unwrap_err();
    let ExecError::SendBlocked { written, total, .. } = error else {
        panic!("{error}");
    };
    assert!(written < total && total == 1 << 20);
}

#[test]
fn a_hang_is_quiescence() {
    let mut config = sut("time.sleep(60)");
    config.quiescence.timeout_ms = Some(100);
    assert_eq!(
        answer(&echo(), &config, &["?a", "observe"]),
        Ok(Verdict::Fail)
    );
}

#[test]
fn a_closed_channel_is_an_end() {
    let config = sut("sys.stdin.readline(); os.close(1); time.sleep(60)");
    let Err(ExecError::Ended(exit)) = answer(&echo(), &config, &["?a", "observe"]) else {
        panic!("no end");
    };
    assert!(matches!(exit.how, ExitKind::Closed(_)), "{exit}");
}

#[test]
fn a_flood_is_told_and_stays_outside() {
    let spec = lts(&[(0, "?a", 0), (0, "!x", 0)]);
    let flood = "while True: os.write(1, b'x\\n' * 30000)";
    let config = sut(flood);
    let mut options = options(&config);
    options.limits.preemptions = 50;
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = tester.adapter(&config, JobId(0)).unwrap();
    let mut stimuli = script(&spec, &["observe", "?a"]);
    let id = RunId::of(1, 0);
    let error = run(
        &mut tester,
        &mut adapter,
        &mut stimuli,
        &options,
        id,
        &mut (),
    )
    .unwrap_err();
    assert_eq!(error.code(), "flooding", "{error}");
    adapter.stop().unwrap();
    // Pre-empted observations are not lost: what is wrong fails before the flood is an error.
    let once = lts(&[(0, "?a", 0), (0, "!x", 1), (1, "?a", 1)]);
    assert_eq!(
        answer(&once, &sut(flood), &["observe", "?a"]),
        Ok(Verdict::Fail)
    );
    // While a stimulus is written the flood is read, and bounded as well.
    let mut config = sut("time.sleep(0.3)\nwhile True: os.write(1, b'x\\n' * 1000)");
    config.actions.entry("a".into()).or_default().send = Some("a".repeat(1 << 20));
    config.limits.max_pending_bytes = Some(1 << 20);
    config.limits.send_timeout_ms = Some(10_000);
    let error = answer(&spec, &config, &["?a"]).unwrap_err();
    assert_eq!(error.code(), "flooding", "{error}");
}

#[test]
fn a_flood_that_the_model_allows_ends_at_the_limit() {
    let spec = lts(&[(0, "!x", 0)]);
    let config = sut("while True: os.write(1, b'x\\n' * 1000)");
    let outcome = run_once(&spec, &config, &mut Uniform).unwrap();
    assert_eq!(
        (outcome.verdict, outcome.end),
        (Verdict::Pass, End::StepLimit)
    );
}

#[test]
fn a_gigabyte_without_a_line_end_is_an_error_in_time() {
    let config = sut("sys.stdin.readline()\nfor i in range(1 << 14): os.write(1, b'x' * 65536)");
    let error = answer(&echo(), &config, &["?a", "observe"]).unwrap_err();
    assert_eq!(error.code(), "too-long");
    assert!(error.to_string().contains("78 78 78 78"), "{error}");
    let mut config =
        python("import sys, os; sys.stdin.buffer.read(5); os.write(1, b'\\xff\\xff\\xff\\xff')");
    config.quiescence.timeout_ms = Some(10_000);
    let framing = "u32be".parse().unwrap();
    config.system = config.system.over(Transport::Stdio { framing });
    let error = answer(&echo(), &config, &["?a", "observe", "observe"]).unwrap_err();
    assert_eq!(error.code(), "too-long", "{error}");
}

#[test]
fn half_a_message_is_never_quiescence() {
    let slow = "sys.stdin.readline(); os.write(1, b'x'); time.sleep(3); os.write(1, b'\\n')\ntime.sleep(60)";
    let mut config = sut(slow);
    config.quiescence.timeout_ms = Some(1500);
    config.limits.message_timeout_ms = Some(10_000);
    assert_eq!(
        answer(&echo(), &config, &["?a", "observe"]),
        Ok(Verdict::Pass)
    );
    // Nor is it passed by: the output that has begun comes before the next stimulus.
    let tester = SpecTester::new(echo());
    let mut adapter = tester.adapter(&config, JobId(0)).unwrap();
    adapter.start(0).unwrap();
    adapter.send(tester.action("?a")).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(
        adapter.poll().unwrap(),
        Some(Received::Output(tester.action("!x")))
    );
    adapter.stop().unwrap();
    config.limits.message_timeout_ms = Some(200);
    let error = answer(&echo(), &config, &["?a", "observe"]).unwrap_err();
    assert!(error.to_string().contains("no line end came"), "{error}");
    let ExecError::HalfMessage { bytes: 1, dump, .. } = error else {
        panic!("{error}");
    };
    assert!(dump.contains("78") && dump.contains("|x|"));
    let ending = sut("sys.stdin.readline(); os.write(1, b'x')");
    let error = answer(&echo(), &ending, &["?a", "observe"]).unwrap_err();
    assert_eq!(error.code(), "half-message");
    assert!(error.to_string().contains("no more can come"), "{error}");
}

#[test]
fn a_long_message_that_nothing_stands_for_is_told_in_short() {
    let config = sut("sys.stdin.readline(); print('x' * 100000, flush=True)");
    let error = answer(&echo(), &config, &["?a", "observe"]).unwrap_err();
    assert_eq!(error.code(), "undecodable");
    let told = error.to_string();
    assert!(told.len() < 3000, "{} bytes", told.len());
    assert!(told.contains("99800 characters more"), "{told}");
}

fn is_gone(pid: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        // A process whose parent is gone may wait for the system's first process to reap it.
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).ok();
        let alive = state.is_some_and(|s| !s.rsplit(')').next().unwrap().trim().starts_with('Z'));
        if !alive {
            return true;
        }
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn children_and_their_children_are_gone_afterwards() {
    let file = std::env::temp_dir().join(format!("iolite-pids-{}", std::process::id()));
    let program = format!(
        "import subprocess, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
         p = subprocess.Popen(['sleep', '1000'])\n\
         open({:?}, 'w').write(f'{{os.getpid()}} {{p.pid}}')\n\
         sys.stdin.readline(); print('x'); time.sleep(1000)",
        file.display()
    );
    assert_eq!(
        answer(&echo(), &sut(&program), &["?a", "observe"]),
        Ok(Verdict::Pass)
    );
    let pids = fs::read_to_string(&file).unwrap();
    let (child, grandchild) = pids.split_once(' ').unwrap();
    assert!(
        !fs::exists(format!("/proc/{child}")).unwrap(),
        "the child is a zombie"
    );
    assert!(is_gone(grandchild));
    fs::remove_file(&file).unwrap();
}

#[test]
fn an_end_is_seen_though_a_grandchild_holds_the_channel() {
    let mut config = sut(
        "import subprocess\nsys.stdin.readline()\nsubprocess.Popen(['sleep', '1000']); os._exit(5)",
    );
    config.quiescence.timeout_ms = Some(2000);
    config.on_exit = OnExit::Error;
    let Err(ExecError::Ended(exit)) = answer(&echo(), &config, &["?a", "observe"]) else {
        panic!("no end");
    };
    assert_eq!(exit.how, ExitKind::Code(5));
}

#[test]
fn a_system_that_drowns_in_its_own_log_is_not_blocked() {
    let config =
        sut("sys.stdin.readline(); os.write(2, b'log\\n' * 1000000); print('x'); time.sleep(60)");
    assert_eq!(
        answer(&echo(), &config, &["?a", "observe"]),
        Ok(Verdict::Pass)
    );
}

#[test]
fn what_cannot_be_reached_is_an_error() {
    let mut config = SutConfig::parse("command = \"no-such-program-anywhere\"").unwrap();
    let error = answer(&echo(), &config, &["?a"]).unwrap_err();
    assert_eq!(error.code(), "unreachable", "{error}");
    config = SutConfig::parse("tcp = \"127.0.0.1:1\"").unwrap();
    assert_eq!(
        answer(&echo(), &config, &["?a"]).unwrap_err().code(),
        "unreachable"
    );
    config = python("print('not yet'); raise SystemExit(4)");
    config.system.process_mut().unwrap().ready = Some("ready".into());
    let error = answer(&echo(), &config, &["?a"]).unwrap_err();
    assert_eq!(error.code(), "unreachable", "{error}");
    assert!(error.to_string().contains("exit code 4"), "{error}");
    config = python("import time; time.sleep(60)");
    config.system = config.system.over(Transport::Tcp {
        tls: None,
        address: "127.0.0.1:{port}".into(),
        framing: Framing::Line,
    });
    config.limits.startup_timeout_ms = Some(200);
    assert_eq!(
        answer(&echo(), &config, &["?a"]).unwrap_err().code(),
        "unreachable"
    );
}

#[test]
fn an_undecodable_message_is_shown_byte_by_byte() {
    let program = "sys.stdin.readline(); os.write(1, b'\\xff\\x00what\\n'); time.sleep(60)";
    let error = answer(&echo(), &sut(program), &["?a", "observe"]).unwrap_err();
    assert_eq!(error.code(), "undecodable");
    assert!(error.to_string().contains("ff 00 77 68 61 74"), "{error}");
    let mut config = sut(program);
    config.undecodable = UndecodableKind::Output;
    let spec = lts(&[(0, "?a", 1), (1, "!x", 0), (9, "!undecodable", 9)]);
    let outcome = run_once(&spec, &config, &mut script(&spec, &["?a", "observe"])).unwrap();
    assert_eq!(outcome.verdict, Verdict::Fail);
    assert_eq!(
        outcome.certificate.unwrap().observed.as_deref(),
        Some("!undecodable")
    );
}

#[test]
fn an_output_that_is_there_goes_before_the_stimulus() {
    let spec = lts(&[(0, "?a", 1), (0, "!x", 2), (2, "?a", 2)]);
    let config = sut("print('x'); time.sleep(60)");
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = tester.adapter(&config, JobId(0)).unwrap();
    let mut events: Vec<Event> = Vec::new();
    // The first run may be quicker than the system; once the output is there it must be seen.
    for _ in 0..50 {
        events.clear();
        let outcome = run(
            &mut tester,
            &mut adapter,
            &mut script(&spec, &["?a"]),
            &options(&config),
            RunId::of(1, 0),
            &mut events,
        )
        .unwrap();
        if texts(&spec, &outcome) == ["!x", "?a"] {
            break;
        }
    }
    adapter.stop().unwrap();
    let output = events.iter().find(|e| matches!(e, Event::Output { .. }));
    let Some(Event::Output {
        action, preempted, ..
    }) = output
    else {
        panic!("{events:?}");
    };
    assert_eq!((action.as_str(), preempted.as_deref()), ("!x", Some("?a")));
}

#[test]
fn the_next_run_starts_clean() {
    // Each run leaves outputs behind, unread and still to come.
    let spec = lts(&[(0, "?a", 1), (1, "!x", 2), (2, "!x", 2)]);
    let mut config = sut(
        "for line in sys.stdin:\n  print('x'); print('x'); sys.stdout.flush(); time.sleep(0.05); print('x')",
    );
    config.quiescence.timeout_ms = Some(150);
    config.quiescence.actions.insert("?a".into(), 10_000);
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = tester.adapter(&config, JobId(0)).unwrap();
    for number in 0..4 {
        let outcome = run(
            &mut tester,
            &mut adapter,
            &mut script(&spec, &["observe", "?a", "observe"]),
            &options(&config),
            RunId::of(1, number),
            &mut (),
        )
        .unwrap();
        assert_eq!(texts(&spec, &outcome), ["delta", "?a", "!x"]);
    }
    adapter.stop().unwrap();
}

#[test]
fn after_a_crash_the_next_run_starts_clean_whatever_the_reset() {
    let spec = echo();
    let mut config = sut(
        "for line in sys.stdin:\n  if line.strip() == 'reset': print('done')\n  elif line.strip() == 'die': os._exit(9)\n  else: print('x')",
    );
    // Each reset here waits for silence.
    config.quiescence.timeout_ms = Some(2000);
    config.reset = ResetConfig::Action {
        send: "reset".into(),
        expect: Some("done".into()),
        channel: None,
    };
    let mut dying = config.clone();
    dying.actions.entry("a".into()).or_default().send = Some("die".into());
    let mut tester = SpecTester::new(spec.clone());
    for (config, crash) in [(&config, false), (&dying, true)] {
        let mut adapter = tester.adapter(config, JobId(0)).unwrap();
        for number in 0..3 {
            let result = run(
                &mut tester,
                &mut adapter,
                &mut script(&spec, &["?a", "observe"]),
                &options(config),
                RunId::of(1, number),
                &mut (),
            );
            let outcome = result.unwrap();
            if crash {
                assert_eq!(outcome.verdict, Verdict::Crash);
            } else {
                assert_eq!(texts(&spec, &outcome), ["?a", "!x"]);
            }
        }
        adapter.stop().unwrap();
    }
}

/// Answers one HTTP request with these bytes, then waits for the tester to go.
fn http_server(answer: Vec<u8>) -> (SutConfig, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let timeout = Some(Duration::from_secs(20));
        stream.set_read_timeout(timeout).unwrap();
        stream.set_write_timeout(timeout).unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.push(byte[0]);
        }
        // The tester may have gone before the last byte.
        let _ = stream.write_all(&answer);
        let _ = stream.read(&mut [0]);
    });
    let mut config = SutConfig::from_flag(&format!("http://{address}")).unwrap();
    config.quiescence.timeout_ms = Some(10_000);
    config.actions.entry("a".into()).or_default().send = Some("GET /a".into());
    config.actions.entry("x".into()).or_default().recv = Some("200 x".into());
    (config, server)
}

/// Answers one request on each connection, without `Connection: close`, and closes it a little later.
fn closing_http_server(method: &str) -> SutConfig {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                request.push(byte[0]);
            }
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
            thread::sleep(Duration::from_millis(50));
        }
    });
    let mut config = SutConfig::from_flag(&format!("http://{address}")).unwrap();
    config.quiescence.timeout_ms = Some(10_000);
    config.actions.entry("a".into()).or_default().send = Some(format!("{method} /a"));
    config.actions.entry("x".into()).or_default().recv = Some("200 x".into());
    config
}

#[test]
fn a_server_may_close_a_connection_when_the_next_request_is_on_its_way() {
    let ops = ["?a", "observe", "?a", "observe", "?a", "observe"];
    for method in ["GET", "PUT", "POST"] {
        let result = answer(&echo(), &closing_http_server(method), &ops);
        if method == "POST" {
            // It may have done what was asked.
            let error = result.unwrap_err().to_string();
            assert!(error.contains("Connection: close"), "{error}");
        } else {
            assert_eq!(result, Ok(Verdict::Pass), "{method}");
        }
    }
    let mut each = closing_http_server("POST");
    each.actions.get_mut("a").unwrap().send = Some("POST /a\nConnection: close".into());
    assert_eq!(answer(&echo(), &each, &ops), Ok(Verdict::Pass));
}

#[test]
fn a_response_without_a_request_is_an_error() {
    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    let (config, server) = http_server(response.repeat(2));
    let error = answer(&echo(), &config, &["?a", "observe", "observe"]).unwrap_err();
    assert!(error.to_string().contains("answer no request"), "{error}");
    server.join().unwrap();
}

#[test]
fn interim_responses_without_end_are_an_error() {
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
    let last = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    let (config, server) = http_server([&interim.repeat(3)[..], last].concat());
    let ops = ["?a", "observe"];
    assert_eq!(answer(&echo(), &config, &ops), Ok(Verdict::Pass));
    server.join().unwrap();
    let (config, server) = http_server([&interim.repeat(20_000)[..], last].concat());
    let error = answer(&echo(), &config, &ops).unwrap_err();
    assert_eq!(error.code(), "undecodable");
    assert!(error.to_string().contains("interim"), "{error}");
    server.join().unwrap();
}

/// An interim response, and half a response, are no silence.
#[test]
fn half_a_response_is_never_quiescence() {
    for half in [
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 2",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
    ] {
        let (mut config, server) = http_server(half.into());
        config.quiescence.timeout_ms = Some(300);
        config.limits.message_timeout_ms = Some(200);
        let error = answer(&echo(), &config, &["?a", "observe"]).unwrap_err();
        let ExecError::HalfMessage { bytes, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(bytes, half.len());
        server.join().unwrap();
    }
}

/// Accepts a handshake, and does `then` with the stream.
fn websocket_server(
    then: impl FnOnce(&mut TcpStream) + Send + 'static,
) -> (SutConfig, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let timeout = Some(Duration::from_secs(20));
        stream.set_read_timeout(timeout).unwrap();
        stream.set_write_timeout(timeout).unwrap();
        let mut socket = tungstenite::accept(stream).unwrap();
        then(socket.get_mut());
    });
    let mut config = SutConfig::from_flag(&format!("ws://{address}")).unwrap();
    config.quiescence.timeout_ms = Some(10_000);
    (config, server)
}

#[test]
fn half_a_websocket_message_is_never_quiescence() {
    // A header without its payload, and a fragment without the rest.
    for half in [&b"\x81\x05xx"[..], b"\x01\x01x\x89\x00"] {
        let (mut config, server) = websocket_server(move |stream| {
            stream.write_all(half).unwrap();
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
        });
        config.quiescence.timeout_ms = Some(300);
        config.limits.message_timeout_ms = Some(200);
        let error = answer(&echo(), &config, &["?a", "observe"]).unwrap_err();
        let ExecError::HalfMessage { bytes, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(bytes, half.len());
        server.join().unwrap();
    }
}

#[test]
fn a_flood_of_pings_ends_in_an_error() {
    let (config, server) = websocket_server(|stream| {
        let begin = Instant::now();
        let pings = b"\x89\x00".repeat(1 << 15);
        stream.set_nonblocking(true).unwrap();
        // It reads the answers, so that nothing else stops the flood.
        let mut answers = vec![0; 1 << 16];
        let mut at = 0;
        while begin.elapsed() < Duration::from_secs(30) {
            match stream.write(&pings[at..]) {
                Ok(count) => at = (at + count) % pings.len(),
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
            if matches!(stream.read(&mut answers), Ok(0)) {
                return;
            }
        }
    });
    let error = answer(&echo(), &config, &["observe"]).unwrap_err();
    assert_eq!(error.code(), "flooding", "{error}");
    server.join().unwrap();
}

/// `localhost` may have two addresses, and a server listens at one of them.
#[test]
fn every_address_of_a_name_is_tried() {
    for bind in ["127.0.0.1:0", "[::1]:0"] {
        // A machine without IPv6, or without that meaning of the name, has nothing to try.
        let Ok(listener) = TcpListener::bind(bind) else {
            continue;
        };
        let address = listener.local_addr().unwrap();
        let named = format!("localhost:{}", address.port());
        if !named
            .to_socket_addrs()
            .is_ok_and(|mut all| all.any(|a| a == address))
        {
            continue;
        }
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; 2]).unwrap();
            stream.write_all(b"x\n").unwrap();
            let _ = stream.read(&mut [0]);
        });
        let mut config = SutConfig::from_flag(&format!("tcp:{named}")).unwrap();
        config.quiescence.timeout_ms = Some(10_000);
        let ops = ["?a", "observe"];
        assert_eq!(answer(&echo(), &config, &ops), Ok(Verdict::Pass), "{bind}");
        server.join().unwrap();
    }
}
