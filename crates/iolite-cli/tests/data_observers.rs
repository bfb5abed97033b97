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

const VALUED: &str = "\
des (0,4,3)
(0,\"?get(1)\",1)
(0,\"?get(2)\",2)
(1,\"!reply(200)\",0)
(2,\"!reply(503)\",0)
";

fn watching(guard: &str) -> String {
    format!(
        "observer W {{\n  initial state S {{ !reply(code) [{guard}] -> Bad  * -> S }}\n  violate state Bad\n}}\n"
    )
}

/// The labels of an automaton in a file carry their values in their text, and guards read them.
#[test]
fn guards_read_the_values_of_labels() {
    let folder = scratch("valued-labels");
    let model = write(&folder, "m.aut", VALUED);
    let fault = write(&folder, "fault.iol", watching("code >= 500"));
    let none = write(&folder, "none.iol", watching("code >= 600"));
    let refuted = verify(&model, &fault).expect(1).json();
    assert_eq!(
        refuted["properties"][0]["trace"],
        serde_json::json!(["?get(2)", "!reply(503)"])
    );
    assert_eq!(
        verify(&model, &none).expect(0).json()["properties"][0]["result"],
        "proved"
    );
    let certificate = folder.join("c.json").display().to_string();
    iolite(&[
        "verify",
        &model,
        "--property",
        &fault,
        "--certificate",
        &certificate,
    ])
    .expect(1);
    iolite(&["explain", &certificate]).expect(0);

    let log = write(
        &folder,
        "l.jsonl",
        lines(&["?get(1)", "!reply(200)", "?get(2)", "!reply(503)"]),
    );
    let judged = iolite(&["monitor", &model, &log, "--observer", &fault, "--json"]).expect(1);
    assert_eq!(judged.json()["verdict"], "violate");
    iolite(&["monitor", &model, &log, "--observer", &none]).expect(0);
    // An output that the model allows elsewhere, and that the guard takes.
    let log = write(&folder, "k.jsonl", lines(&["?get(1)", "!reply(503)"]));
    let judged = iolite(&["monitor", &model, &log, "--observer", &fault, "--json"]).expect(1);
    assert_eq!(judged.json()["verdict"], "violate-fail");
    // One that the model does not know is no log of it.
    let log = write(&folder, "o.jsonl", lines(&["?get(1)", "!reply(504)"]));
    iolite(&["monitor", &model, &log, "--observer", &fault]).expect(2);
}

/// Random automata with values in their labels, and an observer with a guard beside one that names the labels
/// that the guard takes.
#[test]
fn a_guard_is_the_labels_that_it_takes() {
    let folder = scratch("guard-and-labels");
    let mut seed = 17_u64;
    let mut draw = |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut refuted = 0;
    for round in 0..12 {
        let mut edges: Vec<String> = Vec::new();
        for state in 0..4 {
            let (to, other) = (draw(4), draw(4));
            edges.push(format!("({state},\"?get({})\",{to})", draw(3)));
            edges.push(format!(
                "({state},\"!reply({}, {})\",{other})",
                draw(5),
                draw(2) == 0
            ));
        }
        let text = format!("des (0,{},4)\n{}\n", edges.len(), edges.join("\n"));
        let model = write(&folder, &format!("m{round}.aut"), &text);
        let (least, flag) = (draw(5).cast_signed(), draw(2) == 0);
        // Twice in a row, so that the observer has something to remember.
        let guard = format!("[n >= {least} && b == {flag}]");
        let guarded = format!(
            "observer W {{\n  initial state S {{ !reply(n, b) {guard} -> T  * -> S }}\n  \
             state T {{ !reply(n, b) {guard} -> Bad  ?get -> S  * -> T }}\n  violate state Bad\n}}\n"
        );
        let mut taken: Vec<String> = Vec::new();
        for edge in &edges {
            let label = edge.split('"').nth(1).expect("a label");
            if let Some(values) = label
                .strip_prefix("!reply(")
                .and_then(|v| v.strip_suffix(')'))
            {
                let (n, b) = values.split_once(", ").expect("two values");
                let takes = n.parse::<i64>().expect("a number") >= least && b == flag.to_string();
                let event = format!("!\"{}\"", &label[1..]);
                if takes && !taken.contains(&event) {
                    taken.push(event);
                }
            }
        }
        let inputs: Vec<String> = (0..3)
            .map(|v| format!("?\"get({v})\""))
            .filter(|e| text.contains(&e[2..e.len() - 1]))
            .collect();
        let to = |target: &str| {
            if taken.is_empty() {
                String::new()
            } else {
                format!("{} -> {target}", taken.join(", "))
            }
        };
        let named = format!(
            "observer W {{\n  initial state S {{ {}  * -> S }}\n  \
             state T {{ {}  {} -> S  * -> T }}\n  violate state Bad\n}}\n",
            to("T"),
            to("Bad"),
            inputs.join(", ")
        );
        let guarded = write(&folder, &format!("g{round}.iol"), &guarded);
        let named = write(&folder, &format!("n{round}.iol"), &named);
        let [one, other] = [&guarded, &named].map(|observer| {
            let ran = iolite(&["verify", &model, "--property", observer, "--json"]);
            ran.json()["properties"][0]["result"].clone()
        });
        assert_eq!(one, other, "{text}\n{guarded} {named}");
        refuted += usize::from(one == "refuted");
    }
    assert!((2..11).contains(&refuted), "{refuted} of 12 are refuted");
}

/// A constant of an observer is the model's only by its name and sort: whoever calls it otherwise learns why anything
/// refutes.
#[test]
fn constants_that_are_not_the_models_are_told() {
    let folder = scratch("foreign-constants");
    let text = std::fs::read_to_string(common::root().join(BRP)).expect("the example");
    let said = |from: &str, to: &str| {
        // Only the observer's: the model comes first.
        let (model, observer) = text.split_at(text.find("observer Retries").expect("it"));
        let file = write(
            &folder,
            "brp.iol",
            format!("{model}{}", observer.replace(from, to)),
        );
        verify(&format!("{file}#Sender"), &format!("{file}#Retries"))
    };
    let other = said("max", "limit").expect(1);
    assert!(
        other
            .stderr
            .contains("constant limit: int of Retries has any value"),
        "{}",
        other.stderr
    );
    let sort = said("const max: int", "const max: 0..9").expect(1);
    assert!(
        sort.stderr.contains("that of the model is of sort int"),
        "{}",
        sort.stderr
    );
    assert_eq!(said("nothing", "else").expect(0).stderr, "");
}
