//! Events per second: in process, against a model, over stdio, TCP, UDP and HTTP beside the raw echo of the
//! transport, in rate, in CPU time of the thread that drives it and in that of both sides; what a journal adds; and memory after
//! many events. The tester is the on-the-fly ioco tester.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin execution`; an argument divides the
//! number of events, `transports` leaves out what needs no transport, `stdio`, `tcp`, `udp` and `http` are that transport alone, and
//! `journal` is journals beside a model alone. `plain` leaves out the tester with journals.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use iolite_benches::Models;
use iolite_derive::{ActionId, Alphabet, ConformanceTester, IocoOracle, Menu, ModelRef, Verdict};
use iolite_exec::codec::{LabelDictionary, WireCodec};
use iolite_exec::{
    Adapter, Choice, ExecError, InProcess, Instance, JobId, JournalHeader, JournalWriter, Limits,
    ModelSut, Options, Plan, Quiescence, RunId, Sink, Strategy, SutConfig, SystemUnderTest,
    Uniform, campaign, run,
};
use iolite_formats::aut;
use iolite_lts::{Lts, LtsBuilder, QuiescencePolicy, StateId};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};

/// Observes whenever there is nothing else, stimulates otherwise: no time is spent on silence.
#[derive(Default)]
struct Eager {
    /// When the system had started and the first choice was made.
    since: Option<Cost>,
}

impl Strategy for Eager {
    fn choose(&mut self, menu: &Menu, _: &mut rand_xoshiro::Xoshiro256PlusPlus) -> Choice {
        self.since.get_or_insert_with(Cost::until_now);
        if menu.stimuli.is_empty() {
            Choice::Observe
        } else {
            Choice::Stimulate(0)
        }
    }
}

struct Echo {
    x: ActionId,
    pending: bool,
}

impl SystemUnderTest<ActionId> for Echo {
    fn reset(&mut self) {
        self.pending = false;
    }

    fn stimulate(&mut self, _: &ActionId) {
        self.pending = true;
    }

    fn output(&mut self, _: Duration) -> Option<ActionId> {
        std::mem::take(&mut self.pending).then_some(self.x)
    }
}

/// A specification with the alphabet that its tester and its system share.
struct Spec {
    model: Lts,
    alphabet: Alphabet,
}

impl Spec {
    fn new(model: Lts) -> Self {
        Self {
            alphabet: Alphabet::of_labels(model.labels()),
            model,
        }
    }

    fn tester(&self) -> ConformanceTester<IocoOracle<&Lts>> {
        let policy = QuiescencePolicy::Livelock;
        ConformanceTester::new(IocoOracle::with_alphabet(
            &self.model,
            policy,
            &self.alphabet,
        ))
    }

    fn dictionary(&self) -> LabelDictionary {
        LabelDictionary::new(&self.alphabet, self.model.labels())
    }

    /// The specification as its own implementation.
    fn sut(&self) -> ModelSut<Lts> {
        ModelSut::new(self.model.clone(), self.dictionary(), 1)
    }
}

fn echo_spec() -> Lts {
    let mut builder = LtsBuilder::new();
    let s: Vec<_> = (0..2).map(|_| builder.state()).collect();
    builder.transition_text(s[0], "?a", s[1]);
    builder.transition_text(s[1], "!x", s[0]);
    builder.build().unwrap()
}

/// A ring of `states` with several inputs and outputs a state.
fn ring(states: usize) -> Lts {
    let mut builder = LtsBuilder::new();
    builder.ensure_states(2 * states);
    for s in 0..states {
        for (i, (input, output)) in [("?a", "!x"), ("?b", "!y"), ("?c", "!z")]
            .iter()
            .enumerate()
        {
            let (here, there) = (StateId::new(2 * s), StateId::new(2 * s + 1));
            builder.transition_text(here, input, there);
            builder.transition_text(there, output, StateId::new(2 * ((s + i * 7 + 1) % states)));
        }
    }
    builder.build().unwrap()
}

fn rss_kib() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    text.lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))
        .and_then(|l| l.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

fn row(name: &str, events: u64, elapsed: Duration) -> f64 {
    let rate = events as f64 / elapsed.as_secs_f64();
    println!("{name:<44} {events:>11} {rate:>14.0} {:>9}", rss_kib());
    rate
}

fn drive<P: Adapter, S: Strategy>(
    name: &str,
    spec: &Spec,
    adapter: &mut P,
    strategy: &mut S,
    events: u64,
) -> f64 {
    let mut tester = spec.tester();
    let options = Options {
        limits: Limits {
            steps: Some(events),
            ..Limits::default()
        },
        quiescence: Quiescence::after(Duration::from_secs(5)),
        ..Options::default()
    };
    let outcome = run(
        &mut tester,
        adapter,
        strategy,
        &options,
        RunId::of(1, 0),
        &mut (),
    )
    .unwrap();
    assert_eq!((outcome.verdict, outcome.steps), (Verdict::Pass, events));
    adapter.stop().unwrap();
    row(name, events, outcome.elapsed)
}

/// What some rounds took.
#[derive(Clone, Copy)]
struct Cost {
    elapsed: Duration,
    /// CPU time of this thread, the kernel's part included. Servers have threads, or processes, of their own.
    cpu: Duration,
    /// CPU time of all threads and of the children that are there: what a user pays for both sides.
    both: Duration,
}

impl Cost {
    const MAX: Self = Self {
        elapsed: Duration::MAX,
        cpu: Duration::MAX,
        both: Duration::MAX,
    };

    /// All until now; what is asked for last is nearest to what follows.
    fn until_now() -> Self {
        let children = children_cpu();
        Self::of_this_process().with(children)
    }

    /// The cost since a point in time.
    fn since(begin: Self) -> Self {
        let now = Self::of_this_process();
        let now = now.with(children_cpu());
        Self {
            elapsed: now.elapsed.saturating_sub(begin.elapsed),
            cpu: now.cpu.saturating_sub(begin.cpu),
            both: now.both.saturating_sub(begin.both),
        }
    }

    fn of_this_process() -> Self {
        // Unlike `getrusage`, which counts what the last change of threads or tick has seen.
        let clock = |id| Duration::from(clock_gettime(id).expect("there is such a clock"));
        Self {
            elapsed: clock(ClockId::CLOCK_MONOTONIC),
            cpu: clock(ClockId::CLOCK_THREAD_CPUTIME_ID),
            both: clock(ClockId::CLOCK_PROCESS_CPUTIME_ID),
        }
    }

    fn with(self, children: Duration) -> Self {
        Self {
            both: self.both + children,
            ..self
        }
    }

    fn min(self, other: Self) -> Self {
        Self {
            elapsed: self.elapsed.min(other.elapsed),
            cpu: self.cpu.min(other.cpu),
            both: self.both.min(other.both),
        }
    }
}

/// CPU time of the children that have not ended, in the kernel's count of nanoseconds.
fn children_cpu() -> Duration {
    let text = |path: String| fs::read_to_string(path).unwrap_or_default();
    let threads = fs::read_dir("/proc/self/task").expect("there are threads");
    let children = threads.flat_map(|thread| {
        let name = thread.expect("threads are listed").file_name();
        let children = text(format!("/proc/self/task/{}/children", name.display()));
        let pids = children.split_whitespace().map(str::to_owned);
        pids.collect::<Vec<_>>()
    });
    let nanos = children.filter_map(|pid| {
        let spent = text(format!("/proc/{pid}/schedstat"));
        spent.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}

const ECHO: &str = "import sys
r, w = sys.stdin.buffer, sys.stdout.buffer
w.write(b'ready\\n'); w.flush()
while True:
    line = r.readline()
    if not line: break
    w.write(b'x\\n'); w.flush()";

fn raw_stdio(rounds: u64) -> Cost {
    let mut child = Command::new("python3")
        .args(["-c", ECHO])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    let begin = Cost::until_now();
    for _ in 0..rounds {
        line.clear();
        to.write_all(b"a\n").unwrap();
        from.read_line(&mut line).unwrap();
    }
    let cost = Cost::since(begin);
    drop(to);
    child.wait().unwrap();
    cost
}

/// Just the calls of the operating system that a tester makes: a read that must not block, since an output that is there
/// goes before a stimulus; the write; a wait with an end; the read. With a `journal` also the write of so many bytes to a file
/// before each stimulus: less than that no journal costs that has a stimulus on disk before it is given.
fn bare(
    rounds: u64,
    journal: Option<usize>,
    source: BorrowedFd<'_>,
    mut read: impl FnMut() -> bool,
    mut write: impl FnMut(),
) -> Cost {
    fcntl(source, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    let place = JournalPlace::new("bare");
    let mut journal = journal.map(|length| (File::create(&place.0).unwrap(), vec![b' '; length]));
    let begin = Cost::until_now();
    for _ in 0..rounds {
        assert!(!read());
        if let Some((file, bytes)) = &mut journal {
            file.write_all(bytes).unwrap();
        }
        write();
        let mut fds = [PollFd::new(source, PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::from(5000u16)).unwrap();
        assert!(read());
    }
    Cost::since(begin)
}

fn bare_stdio(rounds: u64, journal: Option<usize>) -> Cost {
    let mut child = Command::new("python3")
        .args(["-c", ECHO])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = child.stdout.take().unwrap();
    let mut chunk = [0; 256];
    assert!(from.read(&mut chunk).unwrap() > 0);
    let handle = from.as_fd().try_clone_to_owned().unwrap();
    let cost = bare(
        rounds,
        journal,
        handle.as_fd(),
        || from.read(&mut chunk).is_ok_and(|count| count > 0),
        || to.write_all(b"a\n").unwrap(),
    );
    drop(to);
    child.wait().unwrap();
    cost
}

fn bare_tcp(address: &str, message: &[u8], rounds: u64, journal: Option<usize>) -> Cost {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut chunk = [0; 256];
    bare(
        rounds,
        journal,
        stream.as_fd(),
        || (&stream).read(&mut chunk).is_ok_and(|count| count > 0),
        || (&stream).write_all(message).unwrap(),
    )
}

fn bare_udp(own: &str, peer: &str, rounds: u64, journal: Option<usize>) -> Cost {
    let socket = UdpSocket::bind(own).unwrap();
    let mut chunk = [0; 256];
    bare(
        rounds,
        journal,
        socket.as_fd(),
        || socket.recv_from(&mut chunk).is_ok(),
        || assert_eq!(socket.send_to(b"a", peer).unwrap(), 1),
    )
}

/// An echo server that costs little itself: whatever it reads is one message, and this the answer.
fn echo_server(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            thread::spawn(move || {
                let mut chunk = [0; 256];
                while let Ok(1..) = stream.read(&mut chunk) {
                    if stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn raw_tcp(address: &str, message: &[u8], rounds: u64) -> Cost {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut chunk = [0; 256];
    let begin = Cost::until_now();
    for _ in 0..rounds {
        stream.write_all(message).unwrap();
        assert!(stream.read(&mut chunk).unwrap() > 0);
    }
    Cost::since(begin)
}

/// What a client has to send, and a server to answer, at least. Both fit into one packet, so that a read is a
/// message and the raw loop parses nothing.
const REQUEST: &[u8] = b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";

/// An echo server of datagrams, and an address that is free for its client.
fn datagram_server() -> (String, String) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let mut chunk = [0; 256];
        while let Ok((_, peer)) = socket.recv_from(&mut chunk) {
            let _ = socket.send_to(b"x", peer);
        }
    });
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    (client.local_addr().unwrap().to_string(), address)
}

fn raw_udp(own: &str, peer: &str, rounds: u64) -> Cost {
    let socket = UdpSocket::bind(own).unwrap();
    let mut chunk = [0; 256];
    let begin = Cost::until_now();
    for _ in 0..rounds {
        socket.send_to(b"a", peer).unwrap();
        assert!(socket.recv_from(&mut chunk).unwrap().0 > 0);
    }
    Cost::since(begin)
}

fn main() {
    let divisor = std::env::args()
        .skip(1)
        .find_map(|a| a.parse::<u64>().ok())
        .unwrap_or(1)
        .max(1);
    let n = |events: u64| (events / divisor).max(2) & !1;
    println!(
        "{:<44} {:>11} {:>14} {:>9}",
        "execution", "events", "events/s", "RSS KiB"
    );
    let echo = Spec::new(echo_spec());
    let asked = |word: &str| std::env::args().any(|a| a == word);
    if asked("journal") {
        return beside_a_model(n(1_000_000));
    }
    let named = ["stdio", "tcp", "udp", "http"]
        .iter()
        .any(|name| asked(name));
    let wanted = |name: &str| !named || asked(name);
    if !named && !asked("transports") {
        without_transport(&echo, n);
        beside_a_model(n(1_000_000));
    }
    let rounds = n(40_000) / 2;
    let mut config = SutConfig::parse("command = \"python3\"").unwrap();
    let process = config.system.process_mut().unwrap();
    process.command =
        iolite_exec::CommandLine::Words(["python3", "-c", ECHO].map(Into::into).into());
    process.ready = Some("ready".into());
    if wanted("stdio") {
        compare(
            "stdio",
            rounds,
            &|| raw_stdio(rounds),
            &|journal| bare_stdio(rounds, journal),
            &config,
            &echo,
        );
    }
    let address = echo_server(b"x\n");
    let config = SutConfig::from_flag(&format!("tcp:{address}")).unwrap();
    let raw = || raw_tcp(&address, b"a\n", rounds);
    let bare = |journal| bare_tcp(&address, b"a\n", rounds, journal);
    if wanted("tcp") {
        compare("TCP", rounds, &raw, &bare, &config, &echo);
    }
    let (own, peer) = datagram_server();
    let config = SutConfig::from_flag(&format!("udp:{own},{peer}")).unwrap();
    let raw = || raw_udp(&own, &peer, rounds);
    let bare = |journal| bare_udp(&own, &peer, rounds, journal);
    if wanted("udp") {
        compare("UDP", rounds, &raw, &bare, &config, &echo);
    }
    let address = echo_server(RESPONSE);
    let config = SutConfig::parse(&format!(
        "http = \"http://{address}\"\n[actions.a]\nsend = \"GET /a\"\n[actions.x]\nrecv = \"200 x\"\n"
    ))
    .unwrap();
    let raw = || raw_tcp(&address, REQUEST, rounds);
    let bare = |journal| bare_tcp(&address, REQUEST, rounds, journal);
    if wanted("http") {
        compare("HTTP", rounds, &raw, &bare, &config, &echo);
    }
}

fn without_transport(echo: &Spec, n: impl Fn(u64) -> u64) {
    let system = || {
        InProcess::new(Echo {
            x: echo.alphabet.declared("!x").unwrap(),
            pending: false,
        })
    };
    drive(
        "in process, echo",
        echo,
        &mut system(),
        &mut Eager::default(),
        n(1_000_000),
    );
    drive(
        "in process, echo, uniform",
        echo,
        &mut system(),
        &mut Uniform,
        n(50_000_000),
    );
    drive(
        "in process, echo",
        echo,
        &mut system(),
        &mut Eager::default(),
        n(100_000_000),
    );
    let small = Spec::new(ring(10));
    let mut sut = small.sut();
    drive(
        "model, 20 states, uniform",
        &small,
        &mut sut,
        &mut Uniform,
        n(10_000_000),
    );
    let large = Spec::new(ring(50_000));
    let mut sut = large.sut();
    drive(
        "model, 10^5 states, uniform",
        &large,
        &mut sut,
        &mut Uniform,
        n(10_000_000),
    );

    // Every input enabled, several targets a label, internal moves: sets of many states, most of
    // them met for the first time.
    let args = [
        "random", "--states", "100000", "--trans", "300000", "--enable",
    ];
    let shape = ["--inputs", "4", "--outputs", "4", "--tau", "0.05"];
    let path = Models::new().make(
        "nondeterministic-100000",
        &[&args, shape.as_slice()].concat(),
    );
    let bytes = fs::read(path).unwrap();
    let random = aut::read(&bytes, &aut::AutOptions::default())
        .unwrap()
        .value;
    let random = Spec::new(random);
    let mut sut = random.sut();
    drive(
        "model, 10^5 states, nondeterministic",
        &random,
        &mut sut,
        &mut Uniform,
        n(1_000_000),
    );
}

/// A file for a journal in the form that its ending asks for.
struct JournalPlace(PathBuf);

impl JournalPlace {
    fn new(ending: &str) -> Self {
        let name = format!("iolite-benches-{}.{ending}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn writer(&self, sut: serde_json::Value) -> JournalWriter {
        let criterion = Options::default().criterion;
        let header = JournalHeader::new(criterion, ModelRef::from("echo.aut"), 1, sut);
        JournalWriter::create(&self.0, &header).unwrap()
    }
}

impl Drop for JournalPlace {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A campaign against a model without a journal and with one in either form, by turns, with one job and with two: CPU time of all
/// threads, the best of seven.
fn beside_a_model(events: u64) {
    let spec = Spec::new(ring(10));
    let process_cpu = || {
        let usage = getrusage(UsageWho::RUSAGE_SELF).expect("usage is known");
        let micros = |time: nix::sys::time::TimeVal| time.num_microseconds().unsigned_abs();
        Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
    };
    let forms = [None, Some("iolj"), Some("jsonl")];
    let mut best = [[Duration::MAX; 2]; 3];
    let options = Options {
        limits: Limits {
            steps: Some(1000),
            ..Limits::default()
        },
        ..Options::default()
    };
    for _ in 0..7 {
        for (form, best) in forms.iter().zip(&mut best) {
            for (jobs, best) in [1, 2].into_iter().zip(best) {
                let place = form.map(JournalPlace::new);
                let sut = serde_json::json!({"model": "ring"});
                let mut sink: Box<dyn Sink + Send> = match &place {
                    Some(place) => Box::new(place.writer(sut)),
                    None => Box::new(()),
                };
                let plan = Plan {
                    runs: (events / 1000).max(1),
                    jobs,
                    ..Plan::default()
                };
                let begin = process_cpu();
                let summary = campaign(&plan, &options, &mut *sink, |_| {
                    Ok::<_, ExecError>(Instance {
                        tester: spec.tester(),
                        adapter: spec.sut(),
                        strategy: Uniform,
                    })
                })
                .unwrap();
                *best = process_cpu().saturating_sub(begin).min(*best);
                assert_eq!(summary.runs(), plan.runs);
            }
        }
    }
    let without = best[0][0].as_secs_f64();
    for (form, best) in forms.into_iter().zip(best) {
        let name = form.unwrap_or("none");
        let [one, two] = best.map(|cpu| 1e9 * cpu.as_secs_f64() / events as f64);
        let ratio = best[0].as_secs_f64() / without;
        println!(
            "journal beside a model: {name:<5}   {one:>6.1} ns of CPU an event, {two:>6.1} with two jobs, {ratio:>5.2} of none"
        );
    }
}

/// One run of the tester over a transport, what it cost from its first step on.
fn tested(rounds: u64, config: &SutConfig, spec: &Spec, sink: &mut dyn Sink) -> Cost {
    let codec = WireCodec::new(config.action_map().unwrap(), spec.dictionary()).unwrap();
    let mut adapter = config.adapter(JobId(0), codec).unwrap();
    let mut strategy = Eager::default();
    let mut options = Options {
        quiescence: Quiescence::after(Duration::from_secs(5)),
        ..Options::default()
    };
    options.limits.steps = Some(2 * rounds);
    run(
        &mut spec.tester(),
        &mut adapter,
        &mut strategy,
        &options,
        RunId::of(1, 0),
        sink,
    )
    .unwrap();
    let cost = strategy.since.map_or(Cost::MAX, Cost::since);
    adapter.stop().unwrap();
    cost
}

/// The transport alone, just the calls that a tester makes, the tester over it, and the tester with a journal in either form, by
/// turns; the best of each, since a busy machine only ever adds to a time.
fn compare(
    name: &str,
    rounds: u64,
    raw: &dyn Fn() -> Cost,
    bare: &dyn Fn(Option<usize>) -> Cost,
    config: &SutConfig,
    spec: &Spec,
) {
    let plain = std::env::args().any(|a| a == "plain");
    let mut best = [Cost::MAX; 3];
    // With a journal in either form: the tester, and the bare calls with a write as long as a round has bytes there.
    let mut journals = [[Cost::MAX; 2]; 2];
    let mut lengths = [0; 2];
    for _ in 0..10 {
        let costs = [raw(), bare(None), tested(rounds, config, spec, &mut ())];
        for (best, cost) in best.iter_mut().zip(costs) {
            *best = best.min(cost);
        }
        if plain {
            continue;
        }
        for (form, (best, length)) in ["iolj", "jsonl"]
            .into_iter()
            .zip(journals.iter_mut().zip(&mut lengths))
        {
            let place = JournalPlace::new(form);
            let mut journal = place.writer(serde_json::json!({}));
            let cost = tested(rounds, config, spec, &mut journal);
            *length = fs::metadata(&place.0).unwrap().len() as usize / rounds as usize;
            let costs = [cost, bare(Some(*length))];
            for (best, cost) in best.iter_mut().zip(costs) {
                *best = best.min(cost);
            }
        }
    }
    let [raw, bare, tester] = best;
    let raw_rate = row(&format!("raw echo, {name}"), 2 * rounds, raw.elapsed);
    let rate = row(&format!("tester, {name}"), 2 * rounds, tester.elapsed);
    let percent = 100.0 * rate / raw_rate;
    println!("{:<44} {percent:>26.1}%", "  of the raw rate");
    let nanos = |cost: Cost| 1e9 * cost.cpu.as_secs_f64() / rounds as f64;
    println!(
        "  CPU time of a round: raw {:.0} ns, bare calls {:.0} ns, tester {:.0} ns",
        nanos(raw),
        nanos(bare),
        nanos(tester)
    );
    for (what, cost, of) in [
        ("CPU time, of the raw loop's", tester, raw),
        ("CPU time of the bare calls, of the raw loop's", bare, raw),
        ("CPU time, of the bare calls'", tester, bare),
    ] {
        let ratio = cost.cpu.as_secs_f64() / of.cpu.as_secs_f64();
        println!("  {what:<46} {ratio:>23.2}");
    }
    let both = |cost: Cost| 1e9 * cost.both.as_secs_f64() / rounds as f64;
    println!(
        "  CPU time of both sides: raw {:.0} ns, bare calls {:.0} ns, tester {:.0} ns, {:.2} of raw",
        both(raw),
        both(bare),
        both(tester),
        both(tester) / both(raw)
    );
    if plain {
        return;
    }
    for (form, ([with, written], length)) in ["compact", "lines"]
        .into_iter()
        .zip(journals.into_iter().zip(lengths))
    {
        let more = nanos(with) / nanos(tester);
        let write = nanos(written) - nanos(bare);
        let least = 1.0 + write / nanos(tester);
        let of_both = both(with) / both(tester);
        println!(
            "  CPU time with a journal ({form:<7}), of none  {more:>10.2}, of both sides {of_both:.2}; a bare write of its {length} bytes: {write:.0} ns, {least:.2}"
        );
    }
    let [_, [lines, _]] = journals;
    let ratio = lines.elapsed.as_secs_f64() / tester.elapsed.as_secs_f64();
    println!("  {:<46} {ratio:>23.2}", "time with JSON lines, of none");
}
