//! The ways to reach a system that the examples do not show.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use iolite_derive::{Action, ActionId, Alphabet, Verdict};
use iolite_exec::codec::{CodecError, Decoded, Dictionary, Message, WireCodec};
use iolite_exec::{
    Adapter, AsyncSystemUnderTest, Blocking, ByteAdapter, ConcreteAction, ExitKind, Framing,
    InProcess, JobId, Received, RunId, Sent, SutConfig, SystemUnderTest, Transport, Uniform, run,
};
use iolite_lts::LabelKind;
use support::{SpecTester, lts, options, python, quick, run_once, script, texts};

/// Whatever crosses the wire is an action: there is no model.
struct Open(Alphabet);

impl Dictionary for Open {
    fn alphabet(&self) -> &Alphabet {
        &self.0
    }

    fn read(&self, kind: LabelKind, message: &Message) -> Result<Decoded, CodecError> {
        self.foreign(kind, &message.action)
    }

    fn write(&self, action: ActionId) -> Message {
        Message::notation(self.0.text(action).trim_start_matches(['?', '!']))
    }
}

/// An adapter without a model, spoken to in the notation of actions.
struct Talk {
    adapter: ByteAdapter,
    alphabet: Alphabet,
}

impl Talk {
    fn start(config: &SutConfig) -> Self {
        let alphabet = Alphabet::default();
        let codec = WireCodec::new(config.action_map().unwrap(), Open(alphabet.clone())).unwrap();
        let mut adapter = config.adapter(JobId(0), codec).unwrap();
        adapter.start(0).unwrap();
        Self { adapter, alphabet }
    }

    fn send(&mut self, name: &str) {
        let action = Action::plain(LabelKind::Input, name);
        let sent = self.adapter.send(self.alphabet.intern(action)).unwrap();
        assert_eq!(sent, Sent::Given);
    }

    /// What a received output is, without `!`.
    fn read(&self, received: &Received) -> ConcreteAction {
        let Received::Output(output) = received else {
            panic!("{received:?}");
        };
        let text = self.alphabet.text(*output);
        ConcreteAction::parse(text.strip_prefix('!').unwrap())
    }

    fn receive(&mut self) -> ConcreteAction {
        let received = self.adapter.receive(Duration::from_secs(15)).unwrap();
        self.read(&received)
    }
}

#[test]
fn length_prefixed_frames_over_stdio() {
    let mut config = python(
        "import sys\nr, w = sys.stdin.buffer, sys.stdout.buffer\nwhile True:\n  n = int.from_bytes(r.read(2), 'big')\n  m = r.read(n)\n  w.write((n + 1).to_bytes(2, 'big') + m + b'\\n'); w.flush()",
    );
    let framing = "u16be".parse().unwrap();
    config.system = config.system.over(Transport::Stdio { framing });
    config.quiescence.timeout_ms = Some(15_000);
    config.actions.entry("a".into()).or_default().send = Some("line\nend".into());
    config.actions.entry("x".into()).or_default().recv = Some("line\nend\n".into());
    let spec = lts(&[(0, "?a", 1), (1, "!x", 0)]);
    let ops = ["?a", "observe", "?a", "observe"];
    let outcome = run_once(&spec, &config, &mut script(&spec, &ops)).unwrap();
    assert_eq!(texts(&spec, &outcome), ["?a", "!x", "?a", "!x"]);
}

#[test]
fn the_tester_as_tcp_server() {
    let program = "import socket, sys\ns = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\nf = s.makefile('rw')\nfor line in f:\n  f.write('x\\n'); f.flush()";
    let mut config = python(program);
    let command = &mut config.system.process_mut().unwrap().command;
    let iolite_exec::CommandLine::Words(words) = command else {
        unreachable!();
    };
    words.push("{port}".into());
    config.system = config.system.over(Transport::TcpListen {
        address: "127.0.0.1:{port}".into(),
        framing: Framing::Line,
    });
    config.quiescence.timeout_ms = Some(15_000);
    config.limits.startup_timeout_ms = Some(20_000);
    let spec = lts(&[(0, "?a", 1), (1, "!x", 0)]);
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = tester.adapter(&config, JobId(0)).unwrap();
    for number in 0..2 {
        let outcome = run(
            &mut tester,
            &mut adapter,
            &mut script(&spec, &["?a", "observe", "?a", "observe"]),
            &options(&config),
            RunId::of(0, number),
            &mut (),
        )
        .unwrap();
        assert_eq!(texts(&spec, &outcome), ["?a", "!x", "?a", "!x"]);
    }
    adapter.stop().unwrap();
}

/// A server that nobody restarts: what one campaign left there must not be the start of the next one.
#[test]
fn a_reset_by_a_message_comes_before_the_first_run_too() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut count = 0;
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            for line in lines.map_while(Result::ok) {
                count = if line == "reset" { 0 } else { count + 1 };
                if writeln!(stream, "{line}({count})").is_err() {
                    break;
                }
            }
        }
    });
    let config = SutConfig::parse(&format!(
        "tcp = \"{address}\"\nreset = \"action\"\nreset-send = \"reset\"\nreset-expect = \"reset(0)\""
    ))
    .unwrap();
    for _ in 0..2 {
        let mut talk = Talk::start(&config);
        talk.send("count");
        assert_eq!(talk.receive().to_string(), "count(1)");
        // The connection breaks, and the next run begins with another one.
        talk.adapter.stop().unwrap();
        talk.adapter.start(1).unwrap();
        talk.send("count");
        assert_eq!(talk.receive().to_string(), "count(1)");
        talk.adapter.stop().unwrap();
    }
}

#[test]
fn several_channels_at_once_with_values() {
    let program = "import socket, sys\nl = socket.create_server(('127.0.0.1', int(sys.argv[1])))\nprint('ready', flush=True)\nc, _ = l.accept()\nfor line in c.makefile():\n  print('seen ' + line.split()[1], flush=True)\n  c.sendall(b'{\"twice\": %d}\\n' % (2 * int(line.split()[1])))";
    let mut config = SutConfig::parse(
        r#"
        command = "python3"
        ready = "ready"
        [[channel]]
        name = "log"
        stdio = true
        [[channel]]
        name = "data"
        tcp = "127.0.0.1:{port}"
        [limits]
        startup-timeout-ms = 20000
        [actions.number]
        send = "number {n:int}"
        channel = "data"
        [actions.twice]
        recv = '{{"twice": {n:int}}}'
        channel = "data"
        [actions.seen]
        recv = "seen {n:int}"
        channel = "log"
        "#,
    )
    .unwrap();
    config.system.process_mut().unwrap().command = iolite_exec::CommandLine::Words(
        ["python3", "-c", program, "{port}"].map(Into::into).into(),
    );
    let mut talk = Talk::start(&config);
    for n in [21, -4] {
        talk.send(&format!("number({n})"));
        let mut got: Vec<String> = (0..2).map(|_| talk.receive().to_string()).collect();
        got.sort();
        assert_eq!(got, [format!("seen({n})"), format!("twice({})", 2 * n)]);
    }
    talk.adapter.stop().unwrap();
}

/// An independent implementation of the protocol is the server.
#[test]
fn websocket_against_another_implementation() {
    use tungstenite::Message::{Binary, Ping, Pong, Text};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut socket = tungstenite::accept(stream).unwrap();
        loop {
            match socket.read() {
                Ok(Text(text)) => {
                    socket.send(Ping(vec![1, 2, 3].into())).unwrap();
                    let long = text.as_str().repeat(30_000);
                    socket.send(Text(long.into())).unwrap();
                    socket.send(Binary(vec![b'x'].into())).unwrap();
                }
                Ok(Pong(payload)) => assert_eq!(&*payload, [1, 2, 3]),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    });
    let mut config = SutConfig::from_flag(&format!("ws://{address}/path")).unwrap();
    config.actions.entry("long".into()).or_default().recv = Some("{s:/(abc)*/}".into());
    let mut talk = Talk::start(&config);
    talk.send("abc");
    let long = talk.receive();
    assert_eq!(long.name, "long");
    assert_eq!(long.args[0].to_string().len(), 90_000);
    assert_eq!(talk.receive(), ConcreteAction::bare("x"));
    talk.adapter.stop().unwrap();
    server.join().unwrap();
}

/// The first message may come in one piece with the answer to the handshake, and half of the next.
#[test]
fn a_websocket_message_right_behind_the_handshake_is_read() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.push(byte[0]);
        }
        let request = String::from_utf8(request).unwrap();
        let key = request.split("Sec-WebSocket-Key: ").nth(1).unwrap();
        let key = key.split("\r\n").next().unwrap();
        let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
        let mut answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
             Connection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        )
        .into_bytes();
        answer.extend(b"\x81\x01x\x81\x01");
        stream.write_all(&answer).unwrap();
        thread::sleep(Duration::from_millis(50));
        stream.write_all(b"y").unwrap();
        let _ = stream.read(&mut [0]);
    });
    let config = SutConfig::from_flag(&format!("ws://{address}")).unwrap();
    let mut talk = Talk::start(&config);
    for name in ["x", "y"] {
        let received = talk.adapter.poll().unwrap().unwrap();
        assert_eq!(talk.read(&received), ConcreteAction::bare(name));
    }
    talk.adapter.stop().unwrap();
    server.join().unwrap();
}

/// A counter that answers every second input.
#[derive(Clone, Default)]
struct Counter {
    answer: Option<ActionId>,
    count: u32,
    pending: u32,
    panics: bool,
}

impl Counter {
    fn new(tester: &SpecTester) -> Self {
        Self {
            answer: Some(tester.action("!x")),
            ..Self::default()
        }
    }
}

impl SystemUnderTest<ActionId> for Counter {
    fn reset(&mut self) {
        (self.count, self.pending) = (0, 0);
    }

    fn stimulate(&mut self, _: &ActionId) {
        self.count += 1;
        self.pending += u32::from(self.count.is_multiple_of(2));
        assert!(!(self.panics && self.count == 3), "three is too much");
    }

    fn output(&mut self, _: Duration) -> Option<ActionId> {
        self.pending = self.pending.checked_sub(1)?;
        self.answer
    }
}

#[test]
fn a_rust_system_in_process() {
    let spec = lts(&[(0, "?a", 1), (1, "?a", 2), (2, "!x", 0)]);
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = InProcess::new(Counter::new(&tester));
    let mut options = quick();
    options.limits.steps = Some(2000);
    let outcome = run(
        &mut tester,
        &mut adapter,
        &mut Uniform,
        &options,
        RunId::of(3, 0),
        &mut (),
    );
    assert_eq!(outcome.unwrap().verdict, Verdict::Pass);

    let broken = lts(&[(0, "?a", 1), (1, "!x", 0), (1, "?a", 1)]);
    let mut tester = SpecTester::new(broken);
    let mut adapter = InProcess::new(Counter::new(&tester));
    let outcome = run(
        &mut tester,
        &mut adapter,
        &mut Uniform,
        &options,
        RunId::of(3, 0),
        &mut (),
    );
    assert_eq!(outcome.unwrap().verdict, Verdict::Fail);
}

#[test]
fn a_panic_is_the_end_of_the_system_only() {
    let spec = lts(&[(0, "?a", 1), (1, "?a", 2), (2, "!x", 0)]);
    let mut tester = SpecTester::new(spec.clone());
    let mut adapter = InProcess::new(Counter {
        panics: true,
        ..Counter::new(&tester)
    });
    for _ in 0..2 {
        let outcome = run(
            &mut tester,
            &mut adapter,
            &mut Uniform,
            &quick(),
            RunId::of(3, 0),
            &mut (),
        )
        .unwrap();
        assert_eq!(outcome.verdict, Verdict::Crash);
        let exit = outcome.certificate.unwrap().exit.unwrap();
        assert_eq!(exit.how, ExitKind::Panicked("three is too much".into()));
    }
}

/// Answers from a thread of its own, after a while.
struct Slow {
    answers: std::sync::mpsc::Receiver<ActionId>,
    sender: std::sync::mpsc::Sender<ActionId>,
    x: ActionId,
}

struct NextAnswer<'a>(&'a Slow);

impl Future for NextAnswer<'_> {
    type Output = ActionId;

    fn poll(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<ActionId> {
        if let Ok(x) = self.0.answers.try_recv() {
            return std::task::Poll::Ready(x);
        }
        // A reactor would wake; a thread does here.
        let waker = context.waker().clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(5));
            waker.wake();
        });
        std::task::Poll::Pending
    }
}

impl AsyncSystemUnderTest<ActionId> for Slow {
    async fn reset(&mut self) {
        while self.answers.try_recv().is_ok() {}
    }

    async fn stimulate(&mut self, _: &ActionId) {
        let (sender, x) = (self.sender.clone(), self.x);
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            sender.send(x).unwrap();
        });
    }

    async fn output(&mut self) -> ActionId {
        NextAnswer(self).await
    }
}

#[test]
fn an_async_system_in_process() {
    let spec = lts(&[(0, "?a", 1), (1, "!x", 0)]);
    let mut tester = SpecTester::new(spec.clone());
    let (sender, answers) = std::sync::mpsc::channel();
    let system = Slow {
        answers,
        sender,
        x: tester.action("!x"),
    };
    let mut adapter = InProcess::timed(Blocking(system));
    let mut options = quick();
    options.quiescence.default = Duration::from_millis(1500);
    let outcome = run(
        &mut tester,
        &mut adapter,
        &mut script(&spec, &["?a", "observe", "?a", "observe", "observe"]),
        &options,
        RunId::of(3, 0),
        &mut (),
    )
    .unwrap();
    assert_eq!(texts(&spec, &outcome), ["?a", "!x", "?a", "!x", "delta"]);
}

#[test]
fn a_server_that_binds_its_udp_port_late_is_waited_for() {
    let text = r#"
        udp = { own = "127.0.0.1:{port2}", peer = "127.0.0.1:{port}" }
        command = ["python3", "-c", "import socket, time\ntime.sleep(0.5)\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.bind(('127.0.0.1', {port}))\nwhile True:\n  _, who = s.recvfrom(99)\n  s.sendto(b'x', who)"]
        limits = { startup-timeout-ms = 20000 }
        quiescence = { timeout-ms = 2000 }
    "#;
    let config = SutConfig::parse(text).unwrap();
    let spec = lts(&[(0, "?a", 1), (1, "!x", 0)]);
    let outcome = run_once(&spec, &config, &mut script(&spec, &["?a", "observe"]));
    assert_eq!(outcome.unwrap().verdict, Verdict::Pass);
}

#[test]
fn nobody_at_a_udp_port_is_no_verdict() {
    // Bound and given back: nobody has it a moment later.
    let free = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let peer = free.local_addr().unwrap();
    drop(free);
    let text = format!("udp = {{ own = \"127.0.0.1:0\", peer = \"{peer}\" }}");
    let config = SutConfig::parse(&text).unwrap();
    let spec = lts(&[(0, "?a", 1), (1, "!x", 0)]);
    let outcome = run_once(&spec, &config, &mut script(&spec, &["?a", "observe"]));
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), "unreachable");
    assert!(error.to_string().contains("nobody receives"), "{error}");
}
