//! Observers and purposes with data through the command line [SYM04, §3 and §4].

mod common;

use common::{Ran, iolite, scratch, write};

const PAPER: &str = "examples/papers/sym04_fig1.iol";
const BRP: &str = "examples/brp/brp.iol";

fn verify(model: &str, property: &str) -> Ran {
    iolite(&["verify", model, "--property", property, "--json"])
}

/// Section 3.4 of the paper: the sender as it is printed satisfies "no quiescence between request and
/// confirmation", with an invariant for each location.
#[test]
fn the_sender_as_printed_is_proved() {
    let proved = verify(PAPER, PAPER).expect(0).json();
    let property = &proved["properties"][0];
    assert_eq!(property["result"], "proved");
    let invariant = property["invariant"].to_string();
    assert!(invariant.contains("rn <= max"), "{invariant}");
}

/// Section 3.5: without `max >= 1` it has the trace REQ(1) MSG(f(0), true) δ.
#[test]
fn without_its_assumption_it_is_refuted_by_the_trace_of_the_paper() {
    let folder = scratch("no-assumption");
    let text = std::fs::read_to_string(common::root().join(PAPER)).expect("the example");
    let text = text.replace("assume max >= 1", "");
    let model = write(&folder, "brp.iol", &text);
    let refuted = verify(&model, &model).expect(1).json();
    let property = &refuted["properties"][0];
    assert_eq!(property["result"], "refuted");
    let trace: Vec<&str> = property["trace"]
        .as_array()
        .expect("a trace")
        .iter()
        .filter_map(|step| step.as_str())
        .collect();
    let [request, message, silence] = trace.as_slice() else {
        panic!("{trace:?}");
    };
    assert!(request.starts_with("?REQ("));
    assert!(message.starts_with("!MSG(") && message.ends_with(", true)"));
    assert_eq!(*silence, "delta");
}

fn monitor(observer: &str, constants: &str, log: &str) -> Ran {
    let folder = scratch("monitor-data");
    let log = write(&folder, "log.jsonl", log);
    let observer = format!("{BRP}#{observer}");
    let model = format!("{BRP}#Sender");
    iolite(&[
        "monitor",
        &model,
        &log,
        "--observer",
        &observer,
        "--const",
        constants,
        "--json",
    ])
}

fn lines(actions: &[&str]) -> String {
    let line = |a: &&str| format!("{{\"action\":\"{a}\"}}\n");
    actions.iter().map(line).collect()
}

/// A sender that is silent after its first message, and one that repeats it too often.
#[test]
fn a_log_gets_the_four_verdicts() {
    let known = "max=2,f=[10,20,30]";
    let silent = lines(&["?REQ(1)", "!MSG(10, true)", "delta"]);
    let ran = monitor("NoSilence", known, &silent).expect(1);
    assert_eq!(ran.json()["verdict"], "violate-fail");
    let message = "!MSG(10, true)";
    let thrice = lines(&["?REQ(1)", message, message, message]);
    let ran = monitor("Retries", known, &thrice).expect(1);
    assert_eq!(ran.json()["verdict"], "violate-fail");
    let wrong = lines(&["?REQ(1)", "!MSG(11, true)"]);
    let ran = monitor("Retries", known, &wrong).expect(1);
    assert_eq!(ran.json()["verdict"], "fail");
    let right = lines(&["?REQ(1)", message, message, "?ACK", "!OK"]);
    assert_eq!(
        monitor("Retries", known, &right).expect(0).json()["verdict"],
        "pass"
    );
    // With max unknown, three messages are no violation; whether `max` is 3 is left open.
    let ran = monitor("Retries", "f=[10,20,30]", &thrice).expect(0);
    assert_eq!(ran.json()["verdict"], "pass");
}

/// A model may violate its own property: the verdict is then `violate`. The constant of the observer is
/// given on the command line.
#[test]
fn the_model_and_the_log_violate_the_property() {
    let folder = scratch("violate-data");
    let model = write(
        &folder,
        "counter.iol",
        "system C {
           var x: int = 0
           input up(n: int)
           output now(x: int)
           initial state S {
             ?up(n) [n > 0] / x := x + n -> T
           }
           state T { !now(v) [v == x] -> S }
         }
         observer Small for C {
           const most: int
           initial state Ok { !now(v) [v > most] -> Bad  * -> Ok }
           violate state Bad
         }
         purpose Exactly for C {
           const wanted: int
           initial state Wait { ?up(n) [n == wanted] -> Asked  * -> Wait }
           state Asked { !now(v) [v >= wanted] -> Done }
           accept state Done
         }",
    );
    let log = lines(&["?up(3)", "!now(3)", "?up(4)", "!now(7)"]);
    let log = write(&folder, "log.jsonl", &log);
    let observer = format!("{model}#Small");
    let run = |more: &[&str]| {
        let args = ["monitor", &model, &log, "--observer", &observer, "--json"];
        iolite(&[&args, more].concat())
    };
    let ran = run(&["--const", "most=5"]).expect(1).json();
    assert_eq!(ran["verdict"], "violate");
    assert_eq!(ran["line"], 4);
    run(&["--const", "most=7"]).expect(0);
    // A constant that nobody has is a mistake.
    assert!(
        run(&["--const", "mots=7"])
            .expect(2)
            .stderr
            .contains("mots")
    );
    // Without a value, some value of it is violated.
    assert_eq!(run(&[]).expect(1).json()["verdict"], "violate");
    let refuted = verify(&model, &observer).expect(1).json();
    assert_eq!(refuted["properties"][0]["result"], "refuted");
    // A purpose's guard on an input is solved for: no random value would be 123456789.
    let purpose = format!("{model}#Exactly");
    let system = format!("model:{model}");
    let ran = iolite(&[
        "test",
        &model,
        "--sut",
        &system,
        "--purpose",
        &purpose,
        "--const",
        "wanted=123456789",
        "--runs",
        "1",
        "--steps",
        "10",
        "--no-journal",
        "--json",
    ]);
    assert_eq!(ran.expect(0).json()["verdict"], "pass");
}

/// Beside a model without data, an observer may count.
#[test]
fn an_observer_counts_beside_a_model_without_data() {
    let folder = scratch("counting");
    let model = write(
        &folder,
        "lamp.iol",
        "system Lamp {
           input press
           output on, off
           initial state Off { ?press -> TurnOn }
           state TurnOn { !on -> On }
           state On { ?press -> TurnOff }
           state TurnOff { !off -> Off }
         }
         observer Worn for Lamp {
           var n: int = 0
           initial state Ok {
             !on [n < 2] / n := n + 1 -> Ok
             !on [n >= 2] -> Bad
             * -> Ok
           }
           violate state Bad
         }
         observer Balanced for Lamp {
           var lit: int = 0
           initial state Ok {
             !on / lit := lit + 1 -> Ok
             !off [lit >= 1] / lit := lit - 1 -> Ok
             !off [lit < 1] -> Bad
             * -> Ok
           }
           violate state Bad
         }",
    );
    let property = |name: &str| format!("{model}#{name}");
    let refuted = verify(&model, &property("Worn")).expect(1).json();
    let trace = refuted["properties"][0]["trace"]
        .as_array()
        .expect("a trace");
    assert_eq!(trace.len(), 10);
    let proved = verify(&model, &property("Balanced")).expect(0).json();
    assert_eq!(proved["properties"][0]["result"], "proved");
    let system = format!("model:{model}");
    let test = |observer: &str| {
        iolite(&[
            "test",
            &model,
            "--sut",
            &system,
            "--observer",
            observer,
            "--runs",
            "1",
            "--steps",
            "40",
            "--no-journal",
            "--json",
        ])
    };
    assert_eq!(
        test(&property("Worn")).expect(1).json()["verdict"],
        "violate"
    );
    assert_eq!(
        test(&property("Balanced")).expect(0).json()["verdict"],
        "pass"
    );
}

/// A safety formula about a model with infinite data is proved, refuted or unknown, not refused.
#[test]
fn formulas_about_infinite_data_are_decided() {
    let model = "examples/papers/sym04_fig1.iol";
    let proved = verify(model, "ltl:(! !OK) W ?REQ").expect(0).json();
    assert_eq!(proved["properties"][0]["result"], "proved");
    let refuted = verify(model, "ltl:G ! !OK").expect(1).json();
    assert_eq!(refuted["properties"][0]["result"], "refuted");
}

/// Figure 5 of the paper: the pruned test case of the sender has no `violate` verdict, and silence after
/// a message leads to `violate-fail`.
#[test]
fn the_pruned_test_case_of_the_paper_is_shown() {
    let view = |view: &str, more: &[&str]| {
        let args = ["show", PAPER, "--view", view];
        iolite(&[&args, more].concat())
    };
    let pruned = view("pruned", &["--observer", PAPER, "--explain-pruning"]).expect(0);
    let text = &pruned.stdout;
    assert!(text.contains("verdict violate-fail"), "{text}");
    assert!(!text.contains("verdict violate:"), "{text}");
    let document = view("pruned", &["--observer", PAPER, "--json"])
        .expect(0)
        .json();
    assert!(
        document["transitions"]
            .as_array()
            .is_some_and(|t| !t.is_empty())
    );
    // S^δ has its guards [SYM04, fig. 2].
    let quiescent = view("suspension", &[]).expect(0);
    assert!(quiescent.stdout.contains("delta [rn > max] -> Wait_Ack"));
    for format in ["dot", "svg"] {
        let drawn = view("suspension-automaton", &["--format", format]).expect(0);
        assert!(drawn.stdout.contains("rn"), "{format}");
    }
    // What a view does not have is said.
    assert!(view("pruned", &[]).expect(2).stderr.contains("--observer"));
    view("suspension", &["--format", "aut"]).expect(2);
}
