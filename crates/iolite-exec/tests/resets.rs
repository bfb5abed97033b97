//! What the last run left under way, on another connection, before the answer to a reset or as a datagram: the next run sees nothing
//! of it.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use iolite_derive::Verdict;
use iolite_exec::{Adapter, Confirm, JobId, Options, Received, RunId, RunSetup, SutConfig, run};
use iolite_lts::Lts;
use support::{SpecTester, lts, options, script};

/// A server with a thread for each connection.
fn server(serve: fn(TcpStream) -> Option<()>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || serve(stream.unwrap()));
        }
    });
    port
}

const SLOW: Duration = Duration::from_millis(80);

/// Answers requests, `/slow` late and `/never` not at all.
fn http(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let body = match head.split(' ').nth(1)? {
            "/reset" => "done",
            "/slow" => {
                thread::sleep(SLOW);
                "x"
            }
            _ => continue,
        };
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .ok()?;
    }
}

/// Answers lines, but for `reset` late.
fn lines(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim_end() == "reset" {
            stream.write_all(b"done\n").ok()?;
        } else {
            thread::sleep(SLOW);
            stream.write_all(b"x\n").ok()?;
        }
    }
}

/// It may answer, and need not.
fn spec() -> Lts {
    let once = |input| [(0, input, 1), (1, "i", 0), (1, "!x", 0)];
    lts(&[once("?slow"), once("?never")].concat())
}

/// Ends a run with this stimulus, and observes in the next one.
fn then_observe(config: &SutConfig, stimulus: &str) {
    let spec = spec();
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = tester.adapter(config, JobId(0)).unwrap();
    for (number, ops) in [[stimulus], ["observe"], [stimulus], ["observe"]]
        .iter()
        .enumerate()
    {
        let mut way = script(&spec, ops);
        let id = RunId::of(1, number as u64);
        let options = options(config);
        let outcome = run(&mut tester, &mut adapter, &mut way, &options, id, &mut ()).unwrap();
        let trace = outcome.certificate.map(|c| c.observed);
        assert_eq!(
            outcome.verdict,
            Verdict::Pass,
            "run {number}: {trace:?} in a run of its own"
        );
    }
}

#[test]
fn an_answer_to_a_request_of_the_last_run_is_not_one_of_the_next() {
    let text = format!(
        r#"
        http = "http://127.0.0.1:{}"
        reset = "action"
        reset-send = "POST /reset"
        reset-expect = "200 done"
        quiescence = {{ timeout-ms = 400 }}
        [actions.slow]
        send = "GET /slow"
        [actions.never]
        send = "GET /never"
        [actions.x]
        recv = "200 x"
        "#,
        server(http)
    );
    let config = SutConfig::parse(&text).unwrap();
    then_observe(&config, "?slow");
    // What is never answered is given up, and does not hold up the reset.
    then_observe(&config, "?never");
}

#[test]
fn a_message_of_another_channel_is_not_one_of_the_next_run() {
    let port = server(lines);
    let text = format!(
        r#"
        reset = "action"
        reset-send = "reset"
        reset-expect = "done"
        reset-channel = "control"
        quiescence = {{ timeout-ms = 400 }}
        [[channel]]
        name = "data"
        tcp = "127.0.0.1:{port}"
        [[channel]]
        name = "control"
        tcp = "127.0.0.1:{port}"
        "#
    );
    then_observe(&SutConfig::parse(&text).unwrap(), "?slow");
}

/// Answers each line late, and `reset` at once and as `slow`.
fn alike(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim_end() != "reset" {
            thread::sleep(SLOW);
        }
        stream.write_all(b"x\n").ok()?;
    }
}

#[test]
fn an_output_that_reads_as_the_answer_to_a_reset_is_none() {
    let text = format!(
        r#"
        tcp = "127.0.0.1:{}"
        reset = "action"
        reset-send = "reset"
        reset-expect = "x"
        quiescence = {{ timeout-ms = 400 }}
        "#,
        server(alike)
    );
    then_observe(&SutConfig::parse(&text).unwrap(), "?slow");
}

/// A server that answers each datagram with itself after this time, and two ports for testers.
fn datagrams(late: Duration) -> (UdpSocket, [u16; 2]) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let serving = socket.try_clone().unwrap();
    thread::spawn(move || {
        let mut buffer = [0; 100];
        while let Ok((length, from)) = serving.recv_from(&mut buffer) {
            let (answer, to) = (buffer[..length].to_vec(), serving.try_clone().unwrap());
            thread::spawn(move || {
                thread::sleep(late);
                let _ = to.send_to(&answer, from);
            });
        }
    });
    let free = || UdpSocket::bind("127.0.0.1:0").unwrap();
    let ports = [free(), free()].map(|socket| socket.local_addr().unwrap().port());
    (socket, ports)
}

fn udp(socket: &UdpSocket, own: u16, reset: &str, timeout: u64) -> SutConfig {
    let peer = socket.local_addr().unwrap();
    SutConfig::parse(&format!(
        r#"
        udp = {{ own = "127.0.0.1:{own}", peer = "{peer}" }}
        reset = "{reset}"
        quiescence = {{ timeout-ms = {timeout} }}
        [actions]
        slow.send = "x"
        never.send = "x"
        x.recv = "x"
        "#
    ))
    .unwrap()
}

#[test]
fn a_datagram_of_the_last_run_is_not_one_of_the_next() {
    for reset in ["restart", "reconnect"] {
        let (socket, [own, _]) = datagrams(SLOW);
        then_observe(&udp(&socket, own, reset, 400), "?slow");
    }
}

#[test]
fn a_run_that_ended_in_silence_is_not_waited_for() {
    let (socket, [own, _]) = datagrams(Duration::ZERO);
    let tester = SpecTester::new(spec());
    let config = udp(&socket, own, "reconnect", 1000);
    let mut adapter = tester.adapter(&config, JobId(0)).unwrap();
    let silence = Duration::from_secs(1);
    adapter.start(0).unwrap();
    assert_eq!(adapter.receive(silence).unwrap(), Received::Nothing);
    let begin = Instant::now();
    adapter.start(1).unwrap();
    assert!(begin.elapsed() < silence);
    // A repetition asks for more.
    assert_eq!(adapter.receive(silence).unwrap(), Received::Nothing);
    adapter.leave_time(silence * 2);
    let begin = Instant::now();
    adapter.start(2).unwrap();
    assert!(begin.elapsed() >= silence * 2);
}

#[test]
fn a_late_datagram_confirms_no_failure() {
    let (socket, [own, _]) = datagrams(Duration::from_millis(150));
    let spec = lts(&[(0, "?a", 1), (1, "!a", 0), (0, "?b", 2), (2, "!b", 0)]);
    let mut config = udp(&socket, own, "reconnect", 100);
    config.actions.clear();
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = tester.adapter(&config, JobId(0)).unwrap();
    let options = Options {
        confirm: Confirm::default(),
        ..options(&config)
    };
    for (number, stimulus) in ["?a", "?b", "?a", "?b"].into_iter().enumerate() {
        let mut events = Vec::new();
        let setup = RunSetup {
            tester: &mut tester,
            adapter: &mut adapter,
            strategy: &mut script(&spec, &[stimulus, "observe"]),
            options: &options,
            id: RunId::of(1, number as u64),
            sink: &mut events,
        };
        let outcome = setup.run_confirmed().unwrap();
        assert_eq!(outcome.verdict, Verdict::Flaky, "run {number}: {events:?}");
    }
}
