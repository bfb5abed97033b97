//! Models with data that play the system, as they are: over standard input and output, over TCP and
//! in the same process; correct, changed, and wrongly used.

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::{Ran, iolite, iolite_with_input, root, scratch, write};

const BRP: &str = "examples/brp/brp.iol#Sender";

/// The sender of the paper that takes every input everywhere, so that it can play itself: where the
/// figure has none, it changes nothing.
const ENABLED: &str = "\
system Sender {
  const max: int
  const f: int[]
  assume max >= 1
  var rn: int = 0, head: int = 0, last: int = 0, bit: bool = true
  input REQ(l: int), ACK
  output MSG(m: int, b: bool), OK, NOT_OK, DONT_KNOW
  internal timeout1, timeout2
  initial state Wait_Req {
    ?REQ(l) [l > head && l <= len(f)] / last := l -> Send_File
    ?REQ(l) [!(l > head && l <= len(f))] -> Wait_Req
    ?ACK -> Wait_Req
  }
  state Send_File {
    ?REQ(_) -> Send_File
    ?ACK -> Send_File
    !MSG(m, b) [m == f[head] && b == bit] / rn := rn + 1 -> Wait_Ack
  }
  state Wait_Ack {
    ?REQ(_) -> Wait_Ack
    ?ACK [head + 1 < last] / head := head + 1, rn := 0, bit := !bit -> Send_File
    ?ACK [head + 1 == last] / head := head + 1, rn := 0, bit := !bit -> Send_Complete
    timeout1 [rn < max] -> Send_File
    timeout1 [rn == max] -> Wait_Timeout2
  }
  state Wait_Timeout2 {
    ?REQ(_) -> Wait_Timeout2
    ?ACK -> Wait_Timeout2
    timeout2 -> Send_Complete
  }
  state Send_Complete {
    ?REQ(_) -> Send_Complete
    ?ACK -> Send_Complete
    !OK [head == last] / head := 0, rn := 0 -> Wait_Req
    !DONT_KNOW [head + 1 == last] / head := 0, rn := 0 -> Wait_Req
    !NOT_OK [head + 1 < last] / head := 0, rn := 0 -> Wait_Req
  }
}
";

const FILE: &str = "(max=2,f=[10,20,30])";

fn tested(spec: &str, sut: &str, more: &[&str]) -> Ran {
    let sut = format!("model:{sut}");
    let args = [
        "test",
        spec,
        "--sut",
        &sut,
        "--no-journal",
        "--stop-on-fail",
    ];
    iolite(&[&args[..], more].concat())
}

#[test]
fn a_sender_conforms_to_itself_with_known_and_unknown_constants() {
    let folder = scratch("played-self");
    let model = write(&folder, "sender.iol", ENABLED);
    let instance = format!("{model}#Sender{FILE}");
    for (spec, sut) in [
        (&model, &model),
        (&instance, &instance),
        (&model, &instance),
    ] {
        for seed in ["0", "1"] {
            tested(spec, sut, &["--runs", "6", "--seed", seed]).expect(0);
        }
    }
}

/// The faults of `examples/brp/`, and an output that the specification does not have.
#[test]
fn changed_senders_are_found() {
    let folder = scratch("played-changed");
    let spec = write(&folder, "sender.iol", ENABLED);
    let spec = format!("{spec}#Sender{FILE}");
    let changes: [(&str, &[(&str, &str)]); 7] = [
        (
            "one-too-many",
            &[("rn < max", "rn <= max"), ("rn == max", "rn == max + 1")],
        ),
        ("bit-not-flipped", &[("bit := !bit", "bit := bit")]),
        ("ok-for-dont-know", &[("!DONT_KNOW [", "!OK [")]),
        ("silent", &[("    timeout2 -> Send_Complete\n", "")]),
        ("wrong-packet", &[("m == f[head]", "m == f[head] + rn")]),
        (
            "max-ignored",
            &[("rn < max", "rn < 100"), ("rn == max", "rn == 100")],
        ),
        (
            "foreign",
            &[
                ("output MSG", "output BEER(x: string), MSG"),
                ("timeout2 -> Send", "!BEER(x) [x == \"full glass\"] -> Send"),
            ],
        ),
    ];
    for (name, change) in changes {
        let mut text = ENABLED.to_owned();
        for (old, new) in change {
            assert!(text.contains(old), "{name}: {old}");
            text = text.replace(old, new);
        }
        let sut = write(&folder, &format!("{name}.iol"), text);
        let sut = format!("{sut}#Sender{FILE}");
        let ran = tested(&spec, &sut, &["--runs", "30", "--json"]);
        assert_eq!(ran.expect(1).json()["verdict"], "fail", "{name}");
    }
    // The proof of the last one stands, and it comes again.
    let sut = format!(
        "model:{}#Sender{FILE}",
        folder.join("foreign.iol").display()
    );
    let path = |name: &str| folder.join(name).display().to_string();
    let (journal, certificate) = (path("journal.jsonl"), path("certificate.json"));
    let args = ["test", &spec, "--sut", &sut, "--stop-on-fail", "--journal"];
    let more = [&journal, "--certificate", &certificate, "--runs", "30"];
    let ran = iolite(&[&args[..], &more].concat()).expect(1);
    let observed = "observed: !BEER(\"full glass\")";
    assert!(ran.stdout.contains(observed), "{}", ran.stdout);
    let ran = iolite(&["explain", &certificate]).expect(0);
    assert!(ran.stdout.contains("confirmed"), "{}", ran.stdout);
    let ran = iolite(&["replay", "--trust", &journal]).expect(1);
    assert!(ran.stdout.contains(observed), "{}", ran.stdout);
}

#[test]
fn a_model_answers_over_standard_input_and_output() {
    let run = |input: &str, more: &[&str]| {
        iolite_with_input(&[&["simulate", BRP, "--stdio"], more].concat(), input)
    };
    let ran = run("REQ(1)\n", &["--const", "max=2,f=[10]"]).expect(0);
    assert_eq!(ran.stdout, "MSG(10, true)\nMSG(10, true)\nDONT_KNOW\n");
    assert_eq!(ran.stderr, "", "nothing was chosen");
    // The templates of its description, from the other side.
    let templates = ["--templates", "examples/brp/sut.toml"];
    let given = ["--const", "max=1,f=[7]"];
    let ran = run("REQ 1\n", &[&given[..], &templates].concat()).expect(0);
    assert_eq!(ran.stdout, "MSG 7 true\nDONT_KNOW\n");
    // What nobody gave is chosen by the seed, and told.
    let chosen = |seed: &str| {
        let ran = run("", &["--seed", seed, "--const", "f=[1]"]).expect(0);
        assert!(
            ran.stderr.starts_with("constants: max = "),
            "{}",
            ran.stderr
        );
        ran.stderr
    };
    let seeds: Vec<String> = (0..12).map(|s| s.to_string()).collect();
    let mut seen: Vec<String> = seeds.iter().map(|s| chosen(s)).collect();
    assert_eq!(seen[3], chosen("3"));
    seen.sort();
    seen.dedup();
    assert!(seen.len() > 1, "{seen:?}");
}

const ANSWERS: &str = "\
system Divides {
  var n: int = 0
  input a(x: int)
  output z(y: int)
  initial state Wait { ?a(x) / n := x -> Say }
  state Say { !z(y) [y == 100 / n] -> Wait }
}
system Factors {
  var n: int = 0
  input a(x: int)
  output z(p: int, q: int)
  initial state Wait { ?a(x) [x > 1] / n := x -> Say }
  state Say { !z(p, q) [p > 1 && q > 1 && p * q == n] -> Wait }
}
record Item { name: string, count: int }
enum Mood { good, bad }
system Echo {
  var last: Item = Item { name = \"\", count = 0 }, all: string[] = [], mood: Mood = good
  input put(i: Item, m: Mood)
  output got(i: Item, m: Mood, all: string[])
  initial state Wait { ?put(i, m) / last := i, mood := m, all := all ++ [i.name] -> Say }
  state Say { !got(i, m, l) [i == last && m == mood && l == all] -> Wait }
}
system Nothing {
  const c: int, d: int
  assume c > 1 && c < d && d < 3
  input a
  initial state S { ?a -> S }
}
";

#[test]
fn values_of_every_sort_cross_the_wire() {
    let folder = scratch("played-wire");
    let model = write(&folder, "answers.iol", ANSWERS);
    let echo = format!("{model}#Echo");
    let put = "put({name: \"a b\", count: 3}, bad)\n";
    let ran = iolite_with_input(&["simulate", &echo, "--stdio"], put).expect(0);
    assert_eq!(
        ran.stdout,
        "got({name: \"a b\", count: 3}, bad, [\"a b\"])\n"
    );
    let command = format!(
        "cmd:{} simulate {echo} --stdio",
        env!("CARGO_BIN_EXE_iolite")
    );
    let args = ["test", &echo, "--sut", &command, "--no-journal"];
    let more = ["--quiescence-ms", "500", "--runs", "2", "--steps", "12"];
    iolite(&[&args[..], &more].concat()).expect(0);
    tested(&echo, &echo, &["--runs", "4"]).expect(0);
    // A tester of labels knows records in the notation of the language.
    let small = "\
record Item { kind: 0..1, count: 0..2 }
system Echo {
  var last: Item
  input put(i: Item)
  output got(i: Item)
  initial state Wait { ?put(i) / last := i -> Say }
  state Say { ?put(_) -> Say  !got(i) [i == last] -> Wait }
}
";
    let small = write(&folder, "small.iol", small);
    let args = ["--relation", "ioconf", "--runs", "20"];
    let ran = tested(&small, &small, &args).expect(0);
    assert!(!ran.stdout.contains("0 of"), "{}", ran.stdout);
}

/// Inputs are completed also where the file of the model under test never mentions them, and chaos then gives the outputs that
/// only the specification has.
#[test]
fn inputs_that_a_model_under_test_never_mentions() {
    let folder = scratch("played-unmentioned");
    let ask = "des (0,3,2)\n(0,\"?a\",1)\n(1,\"!x\",0)\n(1,\"!y\",0)\n";
    let spec = write(&folder, "s.aut", ask);
    let mute = write(&folder, "i.aut", "des (0,1,2)\n(0,\"?b\",1)\n");
    let data = "system Ask {\n  input a(n: int)\n  output x(n: int)\n  var m: int\n  \
                initial state Idle { ?a(n) / m := n -> Say }\n  state Say { !x(n) [n == m] -> Idle }\n}\n";
    let data = write(&folder, "data.iol", data);
    let sut = format!("model:{mute}");
    for spec in [&spec, &data] {
        let args = ["test", spec, "--sut", &sut, "--no-journal", "--runs", "8"];
        let ran = iolite(&args).expect(4);
        assert!(ran.stdout.contains("is refused"), "{}", ran.stdout);
        for how in ["self-loop", "chaos"] {
            let ran = iolite(&[&args[..], &["--complete-inputs", how]].concat());
            // It stays silent, or may.
            assert_eq!(ran.code, 1, "{how}: {}{}", ran.stdout, ran.stderr);
        }
    }
    let args = [
        "test",
        &spec,
        "--sut",
        &sut,
        "--no-journal",
        "--complete-inputs",
        "chaos",
    ];
    let ran = iolite(&[&args[..], &["--runs", "40"]].concat()).expect(1);
    assert!(ran.stdout.contains("4 of 4 transitions"), "{}", ran.stdout);
}

/// Neither a guard without a value nor a solver that gives up is silence.
#[test]
fn what_the_model_does_not_say_is_an_error() {
    let folder = scratch("played-errors");
    let model = write(&folder, "answers.iol", ANSWERS);
    let query = folder.join("query.smt2").display().to_string();
    let said = |name: &str, input: &str, code: i32| {
        let model = format!("{model}#{name}");
        let args = ["simulate", &model, "--stdio", "--unknown-query", &query];
        iolite_with_input(&args, input).expect(code)
    };
    assert_eq!(said("Divides", "a(3)\n", 0).stdout, "z(33)\n");
    let ran = said("Divides", "a(0)\n", 4);
    let place = "answers.iol:6:27: division by zero, in Say (n = 0)";
    assert!(ran.stderr.contains(place), "{}", ran.stderr);
    assert_eq!(said("Factors", "a(7)\n", 0).stdout, "", "a prime");
    let ran = said("Factors", "a(998244359987710471)\n", 4);
    assert!(ran.stderr.contains("not decided in Say"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the query is in"), "{}", ran.stderr);
    let query = std::fs::read_to_string(&query).expect("a query");
    assert!(query.contains("check-sat"), "{query}");
    let ran = said("Factors", "a(1)\n", 4);
    assert!(ran.stderr.contains("?a(1) is refused"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--complete-inputs"), "{}", ran.stderr);
    let ran = said("Factors", "a(one)\n", 4);
    assert!(ran.stderr.contains("one is no int"), "{}", ran.stderr);
    let ran = said("Factors", "b\n", 4);
    assert!(
        ran.stderr.contains("no input of the model"),
        "{}",
        ran.stderr
    );
    let ran = said("Nothing", "", 2);
    assert!(
        ran.stderr.contains("satisfy the assumptions"),
        "{}",
        ran.stderr
    );
    // The same where a tester drives it: no verdict, and certainly no `pass` by silence.
    let divides = format!("{model}#Divides");
    let ran = tested(&divides, &divides, &["--pool", "a.x=[0]", "--runs", "5"]).expect(4);
    assert!(ran.stdout.contains(place), "{}", ran.stdout);
    let nothing = format!("{model}#Nothing");
    tested(&divides, &nothing, &[]).expect(2);
}

#[test]
fn flags_that_do_not_fit_are_refused() {
    let run = |args: &[&str]| iolite(&[&["simulate"], args].concat()).expect(2).stderr;
    let candy = "examples/candy/candy.iol";
    let cases: [(&[&str], &str); 6] = [
        (&[BRP, "--stdio", "--const", "min=1"], "no constant `min`"),
        (&[BRP, "--stdio", "--const", "max=0"], "assumptions"),
        (&[BRP, "--stdio", "--unfold"], "IOL407"),
        (
            &[BRP, "--stdio", "--unfold", "--const", "max=1"],
            "needs them unfolded",
        ),
        (&[candy, "--stdio", "--const", "max=1"], "has none"),
        (
            &[BRP, "--templates", "examples/brp/sut.toml"],
            "needs --stdio or --tcp",
        ),
    ];
    for (args, part) in cases {
        let stderr = run(args);
        assert!(stderr.contains(part), "{args:?}: {stderr}");
    }
}

/// A model that listens, until it is dropped.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(model: &str, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_iolite"))
            .args(["simulate", model, "--tcp", "127.0.0.1:0"])
            .args(more)
            .current_dir(root())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("iolite starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on ");
        Self {
            address: address.expect("an address").to_owned(),
            child,
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn description(folder: &Path, address: &str) -> String {
    let text = std::fs::read_to_string(root().join("examples/brp/sut.toml")).expect("it is there");
    let text = text
        .replace(
            "command = \"python3 sender.py\"",
            &format!("tcp = \"{address}\""),
        )
        .replace("ready = \"READY\"", "");
    write(folder, "sut.toml", text)
}

/// The model of the example instead of its program, with the program's timeouts and messages.
#[test]
fn a_sender_is_tested_over_tcp() {
    let folder = scratch("played-tcp");
    let constants = ["--const", "max=2,f=[10,20,30]"];
    let like_the_program = ["--delay-ms", "120", "--templates", "examples/brp/sut.toml"];
    let text = std::fs::read_to_string(root().join("examples/brp/brp.iol")).expect("it is there");
    let wrong = text.replace("m == f[head]", "m == f[head] + rn");
    let wrong = format!("{}#Sender", write(&folder, "wrong.iol", wrong));
    for (model, code) in [(BRP, 0), (wrong.as_str(), 1)] {
        let served = Served::start(model, &[&constants[..], &like_the_program].concat());
        let sut = description(&folder, &served.address);
        let args = ["test", BRP, "--sut", &sut, "--no-journal", "--stop-on-fail"];
        let runs = if code == 0 { "2" } else { "12" };
        let more = ["--const", "f=[10,20,30]", "--steps", "14", "--runs", runs];
        iolite(&[&args[..], &more].concat()).expect(code);
    }
}

/// Explicit testers against a model with infinite data: observers, suites, properties.
#[test]
fn testers_without_data_meet_models_with_data() {
    let folder = scratch("played-mixed");
    let spec = "\
system Counter {
  var n: 0..3 = 0
  input up, down  output at(k: 0..3), empty
  initial state Idle {
    ?up [n < 3] / n := n + 1 -> Say
    ?up [n == 3] -> Say
    ?down [n > 0] / n := n - 1 -> Say
    ?down [n == 0] -> None
  }
  state Say { ?up, ?down -> Say  !at(k) [k == n] -> Idle }
  state None { ?up, ?down -> None  !empty -> Idle }
}
observer Known for Counter {
  initial state S { !empty -> Bad  * -> S }
  violate state Bad
}
property Answers for Counter = ltl G(?down -> F !empty)
";
    let unbounded = spec
        .split("observer")
        .next()
        .unwrap_or_default()
        .replace("var n: 0..3", "var n: int")
        .replace("at(k: 0..3)", "at(k: int)");
    let model = write(&folder, "counter.iol", spec);
    let right = write(&folder, "right.iol", &unbounded);
    let wrong = write(
        &folder,
        "wrong.iol",
        unbounded
            .replace("[n < 3]", "")
            .replace("    ?up [n == 3] -> Say\n", ""),
    );
    let spec = format!("{model}#Counter");
    let runs = ["--runs", "300"];
    for more in [
        &[][..],
        &["--relation", "ioconf"],
        &["--strategy", "coverage"],
    ] {
        tested(&spec, &right, &[&runs[..], more].concat()).expect(0);
        let ran = tested(&spec, &wrong, &[&runs[..], more].concat()).expect(1);
        assert!(ran.stdout.contains("observed: !at("), "{}", ran.stdout);
    }
    let embedded = ["--solver", "embedded", "--relation", "ioconf"];
    tested(&spec, &right, &[&runs[..], &embedded].concat()).expect(0);
    // The solver is the specification's; the candy machine does not take its inputs.
    tested(&spec, "examples/candy/candy.iol", &embedded).expect(4);
    let observer = format!("{model}#Known");
    tested(&spec, &right, &["--observer", &observer, "--runs", "3"]).expect(1);
    let sut = format!("model:{right}");
    let property = format!("{model}#Answers");
    let args = [
        "test",
        "--property",
        &property,
        "--sut",
        &sut,
        "--no-journal",
    ];
    // It goes down without being empty, and then is silent.
    let ran = iolite(&[&args[..], &["--runs", "5"]].concat()).expect(1);
    assert!(ran.stdout.contains("violates: Answers"), "{}", ran.stdout);
}
