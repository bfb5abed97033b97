//! Header fields, paths of JSON and kept values, over real sockets.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use iolite_derive::Verdict;
use iolite_exec::{ExecError, JobId, RunId, SutConfig, run};
use iolite_lts::Lts;
use support::{SpecTester, lts, options, run_once, script};

/// A request: its first line and its cookie.
fn request(stream: &mut impl BufRead) -> Option<(String, String)> {
    let mut first = String::new();
    stream.read_line(&mut first).ok()?;
    let mut cookie = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            None => break,
            Some(("Cookie", value)) => value.clone_into(&mut cookie),
            Some(("Content-Length", value)) => length = value.parse().ok()?,
            Some(_) => {}
        }
    }
    stream.read_exact(&mut vec![0; length]).ok()?;
    Some((first.trim_end().to_owned(), cookie))
}

/// Sessions, each with a cookie that was never used before.
fn serve(mut stream: TcpStream, sessions: &mut u32) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let (first, cookie) = request(&mut reader)?;
        let (status, headers, body) = match &*first {
            "POST /reset HTTP/1.1" => (200, String::new(), r#"{"reset": true}"#.to_owned()),
            "POST /login HTTP/1.1" => {
                *sessions += 1;
                let headers =
                    format!("set-cookie: theme=dark\r\nSET-COOKIE: s={sessions}; Path=/\r\n");
                (200, headers, "{}".to_owned())
            }
            "GET /me HTTP/1.1" if cookie == format!("s={sessions}") => {
                let body = r#"{"user": {"id": 7, "tags": ["a", "b"]}, "at": {"x": 1, "y": 2}}"#;
                (200, "X-Left: 3\r\n".to_owned(), body.to_owned())
            }
            _ => (403, String::new(), format!("cookie {cookie:?}")),
        };
        let length = body.len();
        let answer =
            format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
        stream.write_all(answer.as_bytes()).ok()?;
    }
}

fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut sessions = 0;
        for stream in listener.incoming() {
            serve(stream.unwrap(), &mut sessions);
        }
    });
    port
}

fn config(port: u16, more: &str) -> SutConfig {
    let text = format!(
        r#"
        http = "http://127.0.0.1:{port}"
        reset = "action"
        reset-send = "POST /reset"
        reset-expect = '200 {{"reset": true}}'
        [actions.login]
        send = "POST /login"
        [actions.me]
        send = "GET /me\nCookie: s={{$s}}"
        [actions.welcome]
        recv = "200 {{{{}}}}"
        headers = {{ Set-Cookie = "s={{$s:/[0-9]+/}}; {{_}}" }}
        [actions.refused]
        recv = "403 {{_}}"
        [actions.told]
        {more}
        "#
    );
    let mut config = SutConfig::parse(&text).unwrap();
    config.quiescence.timeout_ms = Some(10_000);
    config
}

fn spec(told: &str) -> Lts {
    lts(&[
        (0, "?login", 1),
        (1, "!welcome", 2),
        (0, "?me", 3),
        (3, "!refused", 0),
        (2, "?me", 4),
        (4, told, 2),
    ])
}

const TOLD: &str = r#"recv = "200 {_}"
headers = { x-left = "{left:int}" }
json = { "$.user.id" = "{id:int}", "$.user.tags[1]" = "{tag}", "at.x" = "{at.x:int}", "at.y" = "{at.y:int}" }
params = ["id", "tag", "left", "at"]"#;

const WAY: [&str; 6] = ["?me", "observe", "?login", "observe", "?me", "observe"];

#[test]
fn a_cookie_is_sent_back_and_parts_are_parameters() {
    let config = config(server(), TOLD);
    let spec = spec("!told(7,b,3,{x: 1, y: 2})");
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = tester.adapter(&config, JobId(0)).unwrap();
    // What a run kept is forgotten in the next one, whose first request is refused again.
    for number in 0..3 {
        let mut way = script(&spec, &WAY);
        let id = RunId::of(1, number);
        let outcome = run(
            &mut tester,
            &mut adapter,
            &mut way,
            &options(&config),
            id,
            &mut (),
        )
        .unwrap();
        assert_eq!((outcome.verdict, outcome.steps), (Verdict::Pass, 6));
    }
}

#[test]
fn a_part_that_does_not_fit_is_said() {
    for (more, want) in [
        (
            "recv = \"200 {_}\"\nheaders = { ETag = \"{_}\" }",
            "told: header ETag: the response has none",
        ),
        (
            "recv = \"200 {_}\"\njson = { \"$.user.name\" = \"{_}\" }",
            "told: $.user.name: there is no key \"name\"",
        ),
        (
            "recv = \"200 {_}\"\njson = { \"$.user.id\" = \"{n:string}\" }",
            "told: $.user.id: 7 is of another type",
        ),
        (
            "recv = \"200 {_}\"\njson = { \"$.user.id\" = \"{n:int}\", \"$.at.x\" = \"{n:int}\" }",
            "in one place and",
        ),
    ] {
        let config = config(server(), more);
        let spec = spec("!told");
        let error = run_once(&spec, &config, &mut script(&spec, &WAY)).unwrap_err();
        let ExecError::Undecodable { reason, .. } = &error else {
            panic!("{error}");
        };
        assert!(reason.contains(want), "{reason}");
    }
}
