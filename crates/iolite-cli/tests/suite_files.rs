//! Suites in one file: they hold what a folder holds, whatever they are derived for, and mistakes in them are told.

mod common;

use std::collections::BTreeMap;

use common::{Ran, iolite, scratch, write};
use serde_json::Value;

const MODELS: &str = "system Machine {
  input but  output liq, choc
  initial state Idle { ?but -> Busy }
  state Busy { !liq -> Idle  ?but -> Busy }
}
system Choc {
  input but  output liq, choc
  initial state Idle { ?but -> Busy }
  state Busy { !choc -> Idle  ?but -> Busy }
}
observer NoChoc for Machine { initial state A { !choc -> Bad  * -> A } violate state Bad }
purpose Twice for Machine {
  initial state A { !liq -> B  * -> A }
  state B { !liq -> Done  * -> B }
  accept state Done
}
system Turnstile {
  var paid: int = 0
  input coin(n: int), push
  output open, alarm
  initial state Shut {
    ?coin(n) [n > 0 && n <= 5] / paid := paid + n -> Shut
    ?push [paid >= 7 || paid == 3] / paid := 0 -> Open
  }
  state Open { !open -> Shut }
}
system Alarming {
  var paid: int = 0
  input coin(n: int), push
  output open, alarm
  initial state Shut {
    ?coin(n) / paid := paid + n -> Shut
    ?push / paid := 0 -> Open
  }
  state Open { !alarm -> Shut  ?coin(n) -> Open  ?push -> Open }
}
system Chatty {
  input a  output x, y, z
  initial state S { ?a -> S  !x -> S  !y -> S  !z -> S }
}
observer NoAlarm for Turnstile { initial state A { !alarm -> Bad  * -> A } violate state Bad }
purpose Opened for Turnstile { initial state A { !open -> Done  * -> A } accept state Done }
";

/// What a derivation is, which model it starts from, which ones play the system, and how many are compared.
struct Kind {
    model: &'static str,
    systems: &'static [&'static str],
    flags: &'static [&'static str],
    has_data: bool,
}

const KINDS: [Kind; 7] = [
    Kind {
        model: "Machine",
        systems: &["Machine", "Choc"],
        flags: &["--count", "5", "--depth", "6"],
        has_data: false,
    },
    Kind {
        model: "Machine",
        systems: &["Machine", "Choc"],
        flags: &["--observer", "FILE#NoChoc", "--alternatives", "3"],
        has_data: false,
    },
    Kind {
        model: "Machine",
        systems: &["Machine", "Choc"],
        flags: &["--purpose", "FILE#Twice", "--graph"],
        has_data: false,
    },
    Kind {
        model: "Machine",
        systems: &["Machine", "Choc"],
        flags: &["--property", "ltl:G (!liq -> X (delta R !choc))"],
        has_data: false,
    },
    Kind {
        model: "Turnstile",
        systems: &["Alarming"],
        flags: &["--observer", "FILE#NoAlarm"],
        has_data: true,
    },
    Kind {
        model: "Turnstile",
        systems: &["Alarming"],
        flags: &["--purpose", "FILE#Opened", "--explain-pruning"],
        has_data: true,
    },
    Kind {
        model: "Turnstile",
        systems: &["Alarming"],
        flags: &["--cover", "branches"],
        has_data: true,
    },
];

/// The same without what says where something is, test cases by their names.
fn placeless(mut document: Value) -> Value {
    let cases = document["cases"].as_array_mut().expect("test cases");
    for case in &mut *cases {
        let case = case.as_object_mut().expect("a test case");
        case.remove("file");
        case.remove("certificate");
    }
    let name = |case: &Value| {
        case["case"]
            .as_str()
            .or(case["name"].as_str())
            .map(str::to_owned)
    };
    cases.sort_by_key(name);
    let document_fields = document.as_object_mut().expect("a document");
    for place in ["certificate", "shared", "notes"] {
        document_fields.remove(place);
    }
    document
}

/// A suite, run against a model.
fn tested(model: &str, suite: &str, system: &str) -> Ran {
    let sut = format!("model:{system}");
    let args = ["test", model, "--suite", suite, "--sut", &sut];
    let more = ["--json", "--no-journal", "--complete-inputs", "self-loop"];
    iolite(&[&args[..], &more].concat())
}

/// Test cases by their names.
fn by_name<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeMap<String, Value> {
    let cases = texts.map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
    cases
        .map(|case| (case["name"].as_str().expect("a name").to_owned(), case))
        .collect()
}

#[test]
fn one_file_holds_what_a_folder_holds() {
    let scratch = scratch("suite-files");
    let file = write(&scratch, "models.iol", MODELS);
    for (k, kind) in KINDS.iter().enumerate() {
        let of = |name: &str| format!("{file}#{name}");
        let model = of(kind.model);
        let folder = scratch.join(format!("suite{k}")).display().to_string();
        let lines = format!("{folder}.jsonl");
        let flags: Vec<String> = kind
            .flags
            .iter()
            .map(|f| f.replace("FILE", &file))
            .collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let derive = |output: &str| {
            let args = ["derive", &model, "--json", "-o", output];
            iolite(&[&args, &flags[..]].concat()).expect(0).json()
        };
        let (whole, other) = (derive(&folder), derive(&lines));
        assert_eq!(placeless(whole), placeless(other.clone()), "{flags:?}");
        let stored: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "json"))
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect();
        let text = std::fs::read_to_string(&lines).unwrap();
        assert!(!stored.is_empty(), "{flags:?}");
        assert_eq!(
            by_name(text.lines()),
            by_name(stored.iter().map(String::as_str))
        );
        assert_eq!(text.contains("symbolic"), kind.has_data, "{flags:?}");
        // Tables and graphs are beside it.
        for (inside, beside) in [
            ("coverage.csv", "coverage.csv"),
            ("Twice.graph.dot", "Twice.graph.dot"),
            ("Twice.graph.aut", "Twice.graph.aut"),
        ] {
            let inside = std::fs::read(format!("{folder}/{inside}")).ok();
            let beside = std::fs::read(format!("{folder}.{beside}")).ok();
            assert_eq!(inside, beside, "{flags:?}");
        }
        for system in kind.systems {
            let system = of(system);
            let passes = |suite: &str| {
                let args = ["passes", &system, suite, "--json"];
                let ran = iolite(&[&args[..], &["--complete-inputs", "self-loop"]].concat());
                (ran.code, placeless(ran.json()))
            };
            assert_eq!(passes(&lines), passes(&folder), "{flags:?} {system}");
            // Runs are numbered through the suite, in the order of names or of the file.
            let ran = tested(&model, &lines, &system);
            assert!([0, 1, 3].contains(&ran.code), "{}", ran.stderr);
            let cases = ran.json()["cases"].as_array().unwrap().len();
            assert_eq!(cases, stored.len(), "{flags:?}");
        }
        let suite = |suite: &str| {
            let ran = iolite(&["suite", &model, suite, "--json"]);
            (ran.code, placeless(ran.json()))
        };
        assert_eq!(suite(&lines), suite(&folder), "{flags:?}");
        let mutate = |suite: &str| {
            let ran = iolite(&["mutate", &model, "--suite", suite, "--json", "--max", "4"]);
            (ran.code, ran.json()["score"].clone())
        };
        let mutated = mutate(&lines);
        assert!(mutated.0 < 2, "{}", mutated.1);
        assert_eq!(mutated, mutate(&folder), "{flags:?}");
        // Each by itself.
        for case in other["cases"].as_array().unwrap() {
            let place = case["file"].as_str().unwrap();
            let name = case["name"].as_str().unwrap();
            assert_eq!(place, format!("{lines}#{name}"));
            let shown = |place: &str| {
                let ran = iolite(&["show", place, "--format", "dot"]);
                ran.expect(0).stdout
            };
            let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
            let name: String = name
                .chars()
                .map(|c| if fits(c) { c } else { '_' })
                .collect();
            let file = format!("{folder}/{name}.json");
            assert_eq!(shown(place), shown(&file));
            for system in kind.systems {
                let alone = |place: &str| {
                    let ran = tested(&model, place, &of(system));
                    (ran.code, ran.json()["verdicts"].clone())
                };
                assert_eq!(alone(place), alone(&file), "{flags:?}");
            }
        }
    }
}

/// A certificate cites the test case that it is about, and not the others of the file.
#[test]
fn certificates_cite_lines() {
    let scratch = scratch("suite-file-claims");
    let file = write(&scratch, "models.iol", MODELS);
    let kinds: [(&str, &str, &[&str]); 3] = [
        ("Machine", "Choc", &["--count", "9", "--depth", "6"]),
        (
            "Machine",
            "Choc",
            &["--property", "ltl:G (!liq -> X (delta R !choc))"],
        ),
        ("Turnstile", "Alarming", &["--cover", "branches"]),
    ];
    for (model, system, flags) in kinds {
        let lines = scratch.join("suite.jsonl").display().to_string();
        let (model, system) = (format!("{file}#{model}"), format!("{file}#{system}"));
        iolite(&[&["derive", &model, "-o", &lines], flags].concat()).expect(0);
        let text = std::fs::read_to_string(&lines).unwrap();
        let certificate = scratch.join("c.json").display().to_string();
        let args = ["passes", &system, &lines, "--certificate", &certificate];
        iolite(&[&args[..], &["--complete-inputs", "self-loop"]].concat()).expect(1);
        let claim: Value =
            serde_json::from_str(&std::fs::read_to_string(&certificate).unwrap()).unwrap();
        let cited = claim["files"].as_array().unwrap().iter();
        let cited: Vec<&str> = cited
            .filter(|f| f["path"] == lines.as_str())
            .map(|f| f["text"].as_str().unwrap())
            .collect();
        let [cited] = cited[..] else {
            panic!("{cited:?}")
        };
        assert_eq!(cited.lines().count(), 1);
        assert!(text.contains(cited), "{cited}");
        let explain = || iolite(&["explain", &certificate]).expect(0).stdout;
        let told = explain();
        assert!(told.contains("confirmed"), "{told}");
        assert!(!told.contains("is not the file"), "{told}");
        // What others say does not matter.
        write(&scratch, "suite.jsonl", cited);
        assert!(!explain().contains("is not the file"));
        write(
            &scratch,
            "suite.jsonl",
            text.replace("\"hash\":\"fnv", "\"hash\":\"old"),
        );
        assert!(explain().contains("is not the file"));
    }
}

#[test]
fn mistakes_in_suite_files() {
    let scratch = scratch("suite-file-mistakes");
    let file = write(&scratch, "models.iol", MODELS);
    let (machine, turnstile) = (format!("{file}#Machine"), format!("{file}#Turnstile"));
    let derived = |model: &str, flags: &[&str]| {
        let lines = scratch.join("derived.jsonl").display().to_string();
        iolite(&[&["derive", model, "-o", &lines], flags].concat()).expect(0);
        std::fs::read_to_string(&lines).unwrap()
    };
    let states = derived(&machine, &["--count", "2", "--depth", "6"]);
    let data = derived(&turnstile, &["--observer", &format!("{file}#NoAlarm")]);
    let first = states.lines().next().unwrap();
    let with_states = |part: &str| {
        let head = first.split("\"states\"").next().unwrap();
        format!("{head}\"states\":{part}}}\n")
    };
    let nested = "[".repeat(200_000);
    let torn = &data[..data.len() / 2];
    let far = data.replacen("\"to\":0", "\"to\":99999999999", 1);
    let term = data.replacen("[\"n\",\"int\"]", &format!("[\"n\",{nested}"), 1);
    let observes =
        r#"{"observe":[["!liq",7],["!choc",7],["delta",7]],"verdict":"inconc"}"#.to_owned();
    let circle = r#"{"stimulate":"?but","next":0,"verdict":"pass"}"#.to_owned();
    let huge = r#"{"stimulate":"?but","next":4294967295,"verdict":"pass"}"#.to_owned();
    let two_kinds = data.replacen("\"name\":\"NoAlarm\"", "\"name\":\"Machine-1\"", 1);
    let texts: [(&str, String, &str); 12] = [
        ("torn", states.clone() + torn, ":3: not a test case"),
        (
            "nowhere",
            with_states(&format!("[{observes}]")),
            "leads to state 7",
        ),
        ("circle", with_states(&format!("[{circle}]")), "cycle"),
        (
            "huge",
            with_states(&format!("[{huge}]")),
            "leads to state 4294967295",
        ),
        ("none", with_states("[]"), "no states"),
        ("nested", with_states(&nested), ":1: not a test case"),
        ("twice", data.repeat(2), ":2: a second test case NoAlarm"),
        (
            "both",
            states.clone() + &two_kinds,
            ":3: a second test case Machine-1",
        ),
        ("far", far, ":1: "),
        ("term", term, ":1: not a test case"),
        (
            "mixed",
            states.clone() + &data,
            "mixes test cases with data",
        ),
        (
            "other",
            "{\"name\":\"x\"}\n".to_owned(),
            ":1: not a test case",
        ),
    ];
    for (name, text, told) in texts {
        let path = write(&scratch, &format!("{name}.jsonl"), &text);
        let sut = format!("model:{machine}");
        for args in [
            &["passes", &machine, &path][..],
            &["suite", &machine, &path],
            &["mutate", &machine, "--suite", &path],
            &["test", &machine, "--suite", &path, "--sut", &sut],
        ] {
            let ran = iolite(args).expect(2);
            assert!(ran.stderr.contains(told), "{name}: {}", ran.stderr);
        }
    }
    // One of a mixed file can be taken, and each command says what it is not for.
    let mixed = scratch.join("mixed.jsonl").display().to_string();
    iolite(&["suite", &turnstile, &format!("{mixed}#NoAlarm")]).expect(0);
    iolite(&["suite", &machine, &format!("{mixed}#Machine-2")]).expect(0);
    let conf = [
        "suite",
        &turnstile,
        &format!("{mixed}#NoAlarm"),
        "--relation",
        "conf",
    ];
    assert!(iolite(&conf).expect(2).stderr.contains("are for ioco"));
    let ran = iolite(&["show", &mixed]).expect(2);
    assert!(ran.stderr.contains("mixed.jsonl#T"), "{}", ran.stderr);
    // Two goals of one name would be one test case.
    for output in ["again.jsonl", "again"] {
        let output = scratch.join(output).display().to_string();
        let goal = format!("{file}#NoChoc");
        let args = [
            "derive",
            &machine,
            "--observer",
            &goal,
            &goal,
            "-o",
            &output,
        ];
        let ran = iolite(&args).expect(2);
        assert!(ran.stderr.contains("a second test case"), "{}", ran.stderr);
        iolite(&["suite", &machine, &output]).expect(0);
    }
}

/// A file that is large is read line by line, and says the same.
#[test]
fn large_suite_files() {
    let scratch = scratch("suite-file-large");
    let file = write(&scratch, "models.iol", MODELS);
    let model = format!("{file}#Chatty");
    let lines = scratch.join("suite.jsonl").display().to_string();
    iolite(&["derive", &model, "-o", &lines, "--count", "9"]).expect(0);
    let text = std::fs::read(&lines).unwrap();
    assert!(text.len() > 1 << 20, "{}", text.len());
    let suite = |path: &str| iolite(&["suite", &model, path, "--json"]).expect(0).json();
    let cases = suite(&lines)["cases"].as_array().unwrap().len();
    assert_eq!(cases, 9);
    let one = suite(&format!("{lines}#Chatty-7"));
    assert_eq!(one["cases"][0]["case"], "Chatty-7");
    for (name, from, told) in [
        (
            "torn",
            text[..text.len() - 9].to_vec(),
            ":9: not a test case",
        ),
        ("twice", text.repeat(2), ":10: a second test case Chatty-1"),
        (
            "binary",
            [&text[..], b"\xff\n"].concat(),
            ":10: no UTF-8 text",
        ),
        (
            "no_end",
            [&text[..], &b"[".repeat(3 << 20)].concat(),
            ":10: not a test case",
        ),
    ] {
        let path = write(&scratch, &format!("{name}.jsonl"), from);
        let ran = iolite(&["passes", &model, &path]).expect(2);
        assert!(ran.stderr.contains(told), "{name}: {}", ran.stderr);
    }
}
