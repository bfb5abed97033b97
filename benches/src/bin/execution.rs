//! Events per second: in process, against a model, over stdio and TCP beside the raw echo rate of the
//! transport; and memory after many events. The tester is the on-the-fly ioco tester.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin execution`; an argument divides the
//! number of events, and `transports` leaves out what needs no transport.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use iolite_benches::Models;
use iolite_derive::{ActionId, Alphabet, ConformanceTester, IocoOracle, Menu, Verdict};
use iolite_exec::codec::{LabelDictionary, WireCodec};
use iolite_exec::{
    Adapter, Choice, InProcess, JobId, Limits, ModelSut, Options, Quiescence, RunId, Strategy,
    SutConfig, SystemUnderTest, Uniform, run,
};
use iolite_formats::aut;
use iolite_lts::{Lts, LtsBuilder, QuiescencePolicy, StateId};

/// Observes whenever there is nothing else, stimulates otherwise: no time is spent on silence.
#[derive(Default)]
struct Eager {
    /// When the system had started and the first choice was made.
    since: Option<Instant>,
}

impl Strategy for Eager {
    fn choose(&mut self, menu: &Menu, _: &mut rand_xoshiro::Xoshiro256PlusPlus) -> Choice {
        self.since.get_or_insert_with(Instant::now);
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

const ECHO: &str = "import sys
r, w = sys.stdin.buffer, sys.stdout.buffer
w.write(b'ready\\n'); w.flush()
while True:
    line = r.readline()
    if not line: break
    w.write(b'x\\n'); w.flush()";

fn raw_stdio(rounds: u64) -> Duration {
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
    let begin = Instant::now();
    for _ in 0..rounds {
        line.clear();
        to.write_all(b"a\n").unwrap();
        from.read_line(&mut line).unwrap();
    }
    let elapsed = begin.elapsed();
    drop(to);
    child.wait().unwrap();
    elapsed
}

/// An echo server that costs little itself.
fn echo_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            thread::spawn(move || {
                let mut chunk = [0; 256];
                while let Ok(1..) = stream.read(&mut chunk) {
                    if stream.write_all(b"x\n").is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn raw_tcp(address: &str, rounds: u64) -> Duration {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut chunk = [0; 256];
    let begin = Instant::now();
    for _ in 0..rounds {
        stream.write_all(b"a\n").unwrap();
        assert!(stream.read(&mut chunk).unwrap() > 0);
    }
    begin.elapsed()
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
    if !std::env::args().any(|a| a == "transports") {
        without_transport(&echo, n);
    }
    let rounds = n(40_000) / 2;
    let mut config = SutConfig::parse("command = \"python3\"").unwrap();
    let process = config.system.process_mut().unwrap();
    process.command =
        iolite_exec::CommandLine::Words(["python3", "-c", ECHO].map(Into::into).into());
    process.ready = Some("ready".into());
    compare("stdio", rounds, || raw_stdio(rounds), &config, &echo);
    let address = echo_server();
    let config = SutConfig::from_flag(&format!("tcp:{address}")).unwrap();
    compare("TCP", rounds, || raw_tcp(&address, rounds), &config, &echo);
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

/// The transport alone and the tester over it, by turns; the best of each, since a busy machine only
/// ever adds to a time.
fn compare(name: &str, rounds: u64, raw: impl Fn() -> Duration, config: &SutConfig, spec: &Spec) {
    let mut best = [Duration::MAX; 2];
    for _ in 0..10 {
        best[0] = best[0].min(raw());
        let codec = WireCodec::new(config.action_map().unwrap(), spec.dictionary());
        let mut adapter = config.adapter(JobId(0), codec).unwrap();
        let mut strategy = Eager::default();
        let mut tester = spec.tester();
        let mut options = Options {
            quiescence: Quiescence::after(Duration::from_secs(5)),
            ..Options::default()
        };
        options.limits.steps = Some(2 * rounds);
        let id = RunId::of(1, 0);
        run(
            &mut tester,
            &mut adapter,
            &mut strategy,
            &options,
            id,
            &mut (),
        )
        .unwrap();
        let elapsed = strategy
            .since
            .map_or(Duration::MAX, |since| since.elapsed());
        best[1] = best[1].min(elapsed);
        adapter.stop().unwrap();
    }
    let raw = row(&format!("raw echo, {name}"), 2 * rounds, best[0]);
    let rate = row(&format!("tester, {name}"), 2 * rounds, best[1]);
    println!("{:<44} {:>26.1}%", "  of the raw rate", 100.0 * rate / raw);
}
