//! A reset by a message that goes another way than what is still under way: the next run sees nothing of the last one.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use iolite_derive::Verdict;
use iolite_exec::{JobId, RunId, SutConfig, run};
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
