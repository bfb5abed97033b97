//! Properties through the command line: the papers' answers, other tools' formats, runs and logs.

mod common;

use common::{cases, iolite, scratch, write};
use serde_json::{Value, json};

const EXAMPLES: &str = "examples/papers/prop12_examples.iol";
const OS: &str = "examples/papers/prop12_os.iol";
const SMALL: &str = "examples/properties/os.iol";

/// [PROP12, ex. 4 to 7, 11, 12]: class by shape, class of the infinite sequences, and
/// whether it is testable: for inclusion, with quiescence, for non-disjointness.
///
/// Pi2 and Pi3 lie lower than their figures show: a·b·Σ^ω is decided after two letters, {(a·b)^ω} is
/// closed. Example 7 calls the third property of the system not testable for non-disjointness, but its
/// guarantee part is fulfilled for good by a sequence, as table 2 has it.
#[test]
fn classes_and_testability_of_the_paper() {
    let rows = [
        (EXAMPLES, "Pi1", "safety", "S", [true, true, false]),
        (EXAMPLES, "Pi2", "guarantee", "B", [true, true, true]),
        (EXAMPLES, "Pi3", "response", "S", [true, true, false]),
        (EXAMPLES, "Pi4", "response", "R", [false, true, false]),
        (EXAMPLES, "Psi1_A", "safety", "S", [true, true, false]),
        (EXAMPLES, "Psi2_E", "guarantee", "B", [true, true, true]),
        (EXAMPLES, "Psi2_R", "response", "S", [true, true, false]),
        (OS, "Op", "reactivity", "T", [true, true, true]),
        (OS, "Op1", "safety", "S", [true, true, false]),
        (OS, "Op2", "guarantee", "G", [true, true, true]),
        (OS, "Op3", "obligation", "O", [true, true, true]),
        (OS, "Op4", "response", "R", [true, true, false]),
        (OS, "Op5", "persistence", "P", [false, true, false]),
    ];
    for (file, name, syntactic, semantic, testable) in rows {
        let property = format!("{file}#{name}");
        let class = iolite(&["classify", &property, "--json"]).expect(0).json();
        // The class of the r-property is the one that the paper gives it, and that its figure shows.
        assert_eq!(class["class"]["class"], syntactic, "{name}");
        assert_eq!(class["syntactic"]["class"], syntactic, "{name}");
        assert_eq!(class["semantic"]["code"], semantic, "{name}");
        assert_eq!(
            class["pure"],
            class["syntactic"]["code"] == semantic,
            "{name}"
        );
        let asks: [&[&str]; 3] = [
            &["--relation", "inclusion"],
            &["--relation", "inclusion", "--quiescence"],
            &["--relation", "non-disjointness"],
        ];
        for (ask, yes) in asks.into_iter().zip(testable) {
            let mut args = vec!["testable", property.as_str(), "--json"];
            args.extend(ask);
            let ran = iolite(&args).expect(i32::from(!yes));
            let row = &ran.json()["relations"][0];
            assert_eq!(row["testable"], yes, "{name} {ask:?}");
            for verdict in row["verdicts"].as_array().unwrap() {
                let found = verdict["obtainable"].as_bool().unwrap();
                assert_eq!(verdict["witness"].is_string(), found, "{name} {ask:?}");
                assert_eq!(verdict["why_not"].is_string(), !found, "{name} {ask:?}");
            }
        }
        let all = iolite(&["testable", &property, "--json"]).json();
        assert_eq!(all["relations"].as_array().unwrap().len(), 4);
        assert_eq!(all["readings_agree"], true, "{name}");
    }
    // Example 6: the shortest sequences that earn the verdicts.
    let op2 = iolite(&[
        "testable",
        &format!("{OS}#Op2"),
        "--relation",
        "inclusion",
        "--json",
    ]);
    let verdicts = &op2.expect(0).json()["relations"][0]["verdicts"];
    assert_eq!(verdicts[1]["witness"], "?maintain");
    assert_eq!(verdicts[2]["witness"], "?auth_req·!grant·?maintain·!grant");
}

/// Lemma 1 does not hold for every automaton: the readings of determinacy part.
#[test]
fn readings_of_determinacy() {
    let folder = scratch("properties-readings");
    let file = write(
        &folder,
        "p.iol",
        "property P over {a} = streett { initial state 1 { a -> 2 } state 2 { a -> 2 } \
         pair recurrent {2} persistent {} }\n",
    );
    let ask = |basis: &str| {
        let args = [
            "testable",
            &file,
            "--relation",
            "inclusion",
            "--basis",
            basis,
            "--json",
        ];
        iolite(&args).json()
    };
    let (both, infinite) = (ask("finite-and-infinite"), ask("infinite"));
    assert_eq!(both["readings_agree"], false);
    assert_eq!(both["readings_part_after"], json!(["ε"]));
    let weak_pass = |document: &Value| document["relations"][0]["verdicts"][2]["witness"].clone();
    assert_eq!(weak_pass(&both), "a");
    assert_eq!(weak_pass(&infinite), "ε");
}

#[test]
fn classes_of_the_patterns() {
    let Some(cases) = cases() else { return };
    let text = std::fs::read_to_string(cases.join("ltl/dac-patterns.tsv")).expect("the patterns");
    let mut count = 0;
    for line in text.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, class, formula] = columns[..] else {
            continue;
        };
        let ran = iolite(&["classify", &format!("ltl:{formula}"), "--json"]).expect(0);
        assert_eq!(ran.json()["semantic"]["code"], class, "{name}: {formula}");
        count += 1;
    }
    assert_eq!(count, 55);
}

/// What is written in one format and read again is the same property.
#[test]
fn formats_go_round() {
    let folder = scratch("properties-formats");
    for (file, name) in [
        (EXAMPLES, "Pi1"),
        (EXAMPLES, "Psi2_R"),
        (OS, "Op"),
        (OS, "Op5"),
    ] {
        let property = format!("{file}#{name}");
        let automaton = |reference: &str| {
            let mut json = iolite(&["show", reference, "--json"]).expect(0).json();
            json["name"] = json!("");
            json
        };
        let original = automaton(&property);
        for ending in ["hoa", "xml", "iol"] {
            let path = folder
                .join(format!("{name}.{ending}"))
                .display()
                .to_string();
            iolite(&["show", &property, "-o", &path]).expect(0);
            let mut again = automaton(&path);
            let mut expected = original.clone();
            if ending == "hoa" {
                // States of HOA are numbers, which its reader gives anew.
                number_states(&mut again);
                number_states(&mut expected);
            }
            assert_eq!(again, expected, "{property} {ending}");
        }
    }
    // A foreign automaton over propositions: GF a, Büchi.
    let hoa = write(
        &folder,
        "foreign.hoa",
        "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"a\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n\
         --BODY--\nState: 0\n[0] 1\n[!0] 0\nState: 1 {0}\n[0] 1\n[!0] 0\n--END--\n",
    );
    let class = iolite(&["classify", &hoa, "--json"]).expect(0).json();
    assert_eq!(class["semantic"]["class"], "response");
    assert_eq!(class["alphabet"], json!(["!a", "a"]));
    // Normalised, the shape of the class.
    let normal = folder.join("normal.hoa").display().to_string();
    let pi3 = format!("{EXAMPLES}#Pi3");
    iolite(&[
        "classify",
        &pi3,
        "--normalise",
        "--format",
        "hoa",
        "-o",
        &normal,
    ])
    .expect(0);
    let class = iolite(&["classify", &normal, "--json"]).expect(0).json();
    assert_eq!(class["syntactic"]["class"], "safety");
    assert_eq!(class["pure"], true);
}

/// Puts numbers in place of the names of states, in the order in which a search meets them.
fn number_states(json: &mut Value) {
    let mut order = vec![json["initial"].clone()];
    let mut done = 0;
    while done < order.len() {
        for step in json["transitions"].as_array().unwrap() {
            if step["source"] == order[done] && !order.contains(&step["target"]) {
                order.push(step["target"].clone());
            }
        }
        done += 1;
    }
    let number = |value: &mut Value| {
        *value = json!(order.iter().position(|n| n == value).expect("reachable"));
    };
    let list = |value: &mut Value| {
        let list = value.as_array_mut().unwrap();
        list.iter_mut().for_each(number);
        list.sort_by_key(Value::as_u64);
    };
    number(&mut json["initial"]);
    for state in json["states"].as_array_mut().unwrap() {
        number(&mut state["name"]);
    }
    for step in json["transitions"].as_array_mut().unwrap() {
        number(&mut step["source"]);
        number(&mut step["target"]);
    }
    for pair in json["pairs"].as_array_mut().unwrap() {
        list(&mut pair["recurrent"]);
        list(&mut pair["persistent"]);
    }
    let sort = |value: &mut Value, key: &str| {
        let list = value.as_array_mut().unwrap();
        list.sort_by_key(|item| item[key].as_u64());
    };
    sort(&mut json["states"], "name");
    sort(&mut json["transitions"], "source");
}

/// [PROP12, fig. 19], on our own XML of the two properties.
#[test]
fn java_pt_transcripts() {
    let folder = scratch("properties-java-pt");
    for (name, class) in [("Pi1", "safety"), ("Pi2", "guarantee")] {
        let file = folder.join(format!("{name}.xml")).display().to_string();
        iolite(&["show", &format!("{EXAMPLES}#{name}"), "-o", &file]).expect(0);
        let ran = iolite(&["testable", &file, "--transcript", "--relation", "inclusion"]).expect(0);
        let expected = format!(
            "Try to load file {file}...ok\nProperty of file {file} is a {class} property.\n\
             Property of file {file} is Testable: true\n"
        );
        assert!(ran.stdout.ends_with(&expected), "{}", ran.stdout);
    }
}

fn states_with(tester: &Value, verdict: &str) -> Vec<String> {
    let states = tester["states"].as_array().unwrap();
    let mut names: Vec<String> = states
        .iter()
        .filter(|s| s["verdict"] == verdict)
        .map(|s| s["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// [PROP12, ex. 8 to 12].
#[test]
fn canonical_testers() {
    let tester = |name: &str, more: &[&str]| {
        let property = format!("{OS}#{name}");
        let mut args = vec!["tester", property.as_str(), "--json"];
        args.extend(more);
        iolite(&args).expect(0).json()
    };
    let op = tester("Op", &[]);
    assert_eq!(states_with(&op, "fail"), ["7"]);
    assert_eq!(states_with(&op, "weak-pass"), ["9"]);
    let dual = tester("Op", &["--relation", "non-disjointness"]);
    assert_eq!(states_with(&dual, "pass"), ["9"]);
    assert_eq!(states_with(&dual, "weak-fail"), ["7"]);
    assert!(states_with(&tester("Op5", &[]), "fail").is_empty());
    let quiet = tester("Op5", &["--quiescence"]);
    assert_eq!(states_with(&quiet, "fail"), ["q_fail"]);
    assert_eq!(states_with(&quiet, "weak-pass"), ["q_wpass"]);
    // Selection: at most one input in a state, every output, and `inconc` never hides a verdict.
    let case = tester("Op2", &["--target", "weak-pass"]);
    assert_eq!(case["target"], "weak-pass");
    for state in case["states"].as_array().unwrap() {
        let steps = state["steps"].as_array().unwrap();
        let inputs = steps
            .iter()
            .filter(|s| s["action"].as_str().unwrap().starts_with('?'));
        assert!(inputs.count() <= 1);
        let outputs = steps
            .iter()
            .filter(|s| s["action"].as_str().unwrap().starts_with('!'));
        let ended = state["verdict"] != "unknown";
        assert_eq!(outputs.count(), if ended { 0 } else { 5 });
    }
    let path: Vec<&str> = case["states"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|s| s["input"].as_str())
        .collect();
    assert!(
        path.contains(&"?auth_req") && path.contains(&"?maintain"),
        "{path:?}"
    );
    // Plain actions need a direction before one can be chosen.
    let pi2 = format!("{EXAMPLES}#Pi2");
    let directed = [
        "tester",
        &pi2,
        "--inputs",
        "a",
        "--target",
        "weak-pass",
        "--json",
    ];
    let case = iolite(&directed).expect(0).json();
    assert_eq!(case["states"][0]["input"], "?a");
    // What is written as .aut is read as one.
    let folder = scratch("properties-tester");
    let aut = folder.join("op.aut").display().to_string();
    iolite(&["tester", &format!("{OS}#Op"), "-o", &aut]).expect(0);
    let shown = iolite(&["show", &aut, "--json"]).expect(0).json();
    assert_eq!(
        shown["states"].as_array().unwrap().len(),
        op["states"].as_array().unwrap().len()
    );
    let dot = iolite(&["tester", &pi2, "--format", "dot"]).expect(0);
    assert!(dot.stdout.starts_with("digraph"));
    let ran = iolite(&["tester", &format!("{OS}#Op4"), "--target", "weak-pass"]).expect(2);
    assert!(
        ran.stderr.contains("never says weak-pass"),
        "{}",
        ran.stderr
    );
}

/// The system of figure 1 refuses what its mode forbids, so nothing is settled against it; a system
/// without its log is found out.
#[test]
fn models_under_test() {
    let folder = scratch("properties-models");
    let text = std::fs::read_to_string(common::root().join(OS)).expect("the example");
    assert!(text.contains("!log -> 6"));
    // The first occurrence is the system's.
    let broken = write(
        &folder,
        "broken.iol",
        text.replacen("!log -> 6", "!crypt -> 6", 1),
    );
    let test = |property: &str, system: &str, more: &[&str]| {
        let sut = format!("model:{system}#Os");
        let mut args = vec![
            "test",
            "--no-journal",
            "--runs",
            "3000",
            "--json",
            "--sut",
            &sut,
        ];
        args.extend(["--property", property]);
        args.extend(more);
        iolite(&args)
    };
    let property = |name: &str| format!("{OS}#{name}");
    let ran = test(&property("Op"), OS, &[]).expect(3);
    let verdicts = ran.json()["verdicts"].clone();
    let names: Vec<&String> = verdicts.as_object().unwrap().keys().collect();
    assert_eq!(names, ["unknown", "weak-pass"]);
    let document = test(&property("Op"), &broken, &[]).expect(1).json();
    assert_eq!(document["violated"], json!(["Op"]));
    let failure = &document["failures"][0];
    assert_eq!(failure["kind"], "property");
    assert_eq!(failure["observed"], "!crypt");
    assert_eq!(failure["allowed"], json!(["!log"]));
    // One execution that reaches maintenance is enough for non-disjointness.
    let relation = [
        "--property-relation",
        "non-disjointness",
        "--ignore-quiescence",
    ];
    let aimed = [&relation[..], &["--target", "pass", "--steps", "300"]].concat();
    let ran = test(&property("Op2"), OS, &aimed).expect(0);
    assert_eq!(ran.json()["verdict"], "pass");
}

/// The example's folder: Python over stdio, correct and broken, replayed and re-checked.
#[test]
fn systems_under_test() {
    let folder = scratch("properties-systems");
    let (answered, log_first) = (format!("{SMALL}#Answered"), format!("{SMALL}#LogFirst"));
    let journal = folder.join("j.jsonl").display().to_string();
    let certificate = folder.join("c.json").display().to_string();
    let test = |sut: &str, runs: &str| {
        let sut = format!("examples/properties/{sut}.toml");
        iolite(&[
            "test",
            "--property",
            &answered,
            "--property",
            &log_first,
            "--sut",
            &sut,
            "--inputs",
            "auth_req,op_sec,logout",
            "--runs",
            runs,
            "--steps",
            "60",
            "--stop-on-fail",
            "--journal",
            &journal,
            "--certificate",
            &certificate,
            "--json",
        ])
    };
    let ran = test("sut", "1").expect(3);
    assert_eq!(ran.json()["verdicts"], json!({"unknown": 1}));
    for (sut, violated, observed) in [
        ("sut-forgets", "LogFirst", "!crypt"),
        ("sut-hangs", "Answered", "delta"),
    ] {
        let document = test(sut, "20").expect(1).json();
        assert_eq!(document["violated"], json!([violated]), "{sut}");
        assert_eq!(document["failures"][0]["observed"], observed, "{sut}");
        let explained = iolite(&["explain", &certificate, "--json"])
            .expect(0)
            .json();
        assert_eq!(explained["confirmed"], true, "{sut}");
        // A trace that was cut proves nothing.
        let bytes = std::fs::read(&certificate).expect("the certificate");
        let mut cut: Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(cut["model"]["name"], violated);
        cut["observed"] = json!("!log");
        let cut = write(&folder, "cut.json", cut.to_string());
        let explained = iolite(&["explain", &cut, "--json"]).expect(1).json();
        assert_eq!(explained["confirmed"], false, "{sut}");
    }
    let ran = iolite(&["replay", "--trust", &journal, "--json"]);
    assert_eq!(ran.json()["recorded_verdict"], "fail", "{}", ran.stderr);
}

#[test]
fn logs() {
    let folder = scratch("properties-logs");
    let answered = format!("{SMALL}#Answered");
    let audit = "examples/properties/audit.jsonl";
    let map = ["--map", "examples/properties/audit.toml"];
    let args = [&["monitor", &answered, audit, "--json"][..], &map].concat();
    let document = iolite(&args).expect(1).json();
    assert_eq!(document["verdict"], "fail");
    assert_eq!(document["line"], 7);
    assert_eq!(
        (&document["seen"], &document["unseen"]),
        (&json!(3), &json!(3))
    );
    // Without the map nothing is seen, and that is said.
    let ran = iolite(&["monitor", &answered, audit]).expect(0);
    assert!(
        ran.stderr.contains("none of the 6 events"),
        "{}",
        ran.stderr
    );
    // A map that must know every event.
    let strict = write(
        &folder,
        "strict.toml",
        "unmapped = \"error\"\n[[map]]\naction = \"?exec\"\nto = \"?op_sec\"\n",
    );
    let ran = iolite(&["monitor", &answered, audit, "--map", &strict]).expect(2);
    assert!(ran.stderr.contains("journal"), "{}", ran.stderr);
    let ran = iolite(&[
        "monitor",
        &answered,
        audit,
        "--map",
        &write(
            &folder,
            "wrong.toml",
            "[[map]]\naction = \"?exec\"\nto = \"?op_sek\"\n",
        ),
    ])
    .expect(2);
    assert!(
        ran.stderr.contains("no property has the action `?op_sek`"),
        "{}",
        ran.stderr
    );
    // Several at once: each its own verdict, settled at its own event.
    let log = write(
        &folder,
        "run.txt",
        "?op_sec\n!log\n!crypt\n!crypt\n?op_sec\ndelta\n",
    );
    let ran = iolite(&[
        "monitor",
        &answered,
        &log,
        "--property",
        &format!("{SMALL}#LogFirst"),
        "--property",
        &format!("{SMALL}#Maintained"),
        "--ignore-quiescence",
        "--json",
    ])
    .expect(1);
    let document = ran.json();
    let verdicts: Vec<(&Value, &Value)> = document["properties"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (&p["verdict"], &p["step"]))
        .collect();
    let (unknown, fail) = (json!("unknown"), json!("fail"));
    let (none, fourth) = (json!(null), json!(4));
    assert_eq!(
        verdicts,
        [(&unknown, &none), (&fail, &fourth), (&unknown, &none)]
    );
    // Silence counts where it is not ignored, and a formula will do.
    let formula = "ltl:G(?op_sec -> F !log)";
    let over = ["--over", "?op_sec,!log"];
    let ran = iolite(&[&["monitor", formula, &log, "--json"][..], &over].concat()).expect(1);
    assert_eq!(ran.json()["line"], 6);
    let short = write(&folder, "short.txt", "?op_sec\n");
    let ran = iolite(&[&["monitor", formula, &short, "--json"][..], &over].concat()).expect(3);
    assert_eq!(ran.json()["verdict"], "unknown");
}

/// Equivalent formulas, and the operators for the same property, judge silence alike.
#[test]
fn silence_is_judged_by_the_language() {
    let folder = scratch("properties-silence");
    let declared = write(
        &folder,
        "declared.iol",
        "property P over { ?a, !b, !c } = (persistently (eps | (. )* (!b | !c))) or (recurrently (. )* !b)\n",
    );
    let verdict = |property: &str, log: &str| {
        let file = write(&folder, "log.txt", &(log.replace(' ', "\n") + "\n"));
        let mut args = vec!["monitor", property, file.as_str(), "--json"];
        if property.starts_with("ltl:") {
            args.extend(["--over", "?a,!b,!c"]);
        }
        let ran = iolite(&args);
        ran.json()["verdict"].as_str().unwrap_or("none").to_owned()
    };
    for formula in ["ltl:GF !b & GF !c", "ltl:GF !c & GF !b"] {
        assert_eq!(verdict(formula, "!c delta"), "fail", "{formula}");
    }
    assert_eq!(verdict("ltl:FG ! ?a", "delta"), "unknown");
    for (log, expected) in [
        ("!b ?a delta", "fail"),
        ("!b !c ?a delta", "fail"),
        ("?a !c delta", "unknown"),
        ("?a !c !c delta", "unknown"),
    ] {
        for property in [
            "ltl:GF ?a -> GF !b",
            "ltl:GF !b | FG ! ?a",
            declared.as_str(),
        ] {
            assert_eq!(verdict(property, log), expected, "{property} on {log}");
        }
    }
}

/// Safety formulas are observers of a specification and of a system under test.
#[test]
fn safety_formulas_as_observers() {
    let candy = "examples/candy/candy.iol";
    let verify = |property: &str| iolite(&["verify", candy, "--property", property, "--json"]);
    let proved = verify("ltl:G(!choc -> X(! !choc W ?dub))").expect(0);
    assert_eq!(proved.json()["properties"][0]["result"], "proved");
    let refuted = verify("ltl:! !choc W ?shil").expect(1).json();
    assert_eq!(refuted["properties"][0]["trace"], json!(["?dub", "!choc"]));
    let refuted = verify("ltl:G ! ?shil").expect(1).json();
    assert_eq!(refuted["properties"][0]["trace"], json!(["?shil"]));
    assert_eq!(refuted["properties"][0]["ending"], "bad-prefix");
    let observer = |property: &str| {
        let sut = "examples/candy/sut-generous.toml";
        iolite(&[
            "test",
            candy,
            "--observer",
            property,
            "--sut",
            sut,
            "--no-journal",
        ])
        .expect(2)
    };
    let ran = observer("ltl:G(?shil -> F !liq)");
    assert!(
        ran.stderr.contains("response, not safety"),
        "{}",
        ran.stderr
    );
    let ran = observer("ltl:G ! ?shil");
    assert!(ran.stderr.contains("rules of observers"), "{}", ran.stderr);
    let folder = scratch("properties-observers");
    let file = write(
        &folder,
        "w.iol",
        "property NoChoc over {?shil, ?dub, !choc} = ltl not !choc W ?dub\n",
    );
    let ran = iolite(&[
        "test",
        candy,
        "--observer",
        &file,
        "--sut",
        "examples/candy/sut-generous.toml",
        "--no-journal",
        "--json",
        "--runs",
        "5",
    ])
    .expect(1);
    assert_eq!(ran.json()["verdict"], "violate-fail");
}

#[test]
fn mistakes() {
    let folder = scratch("properties-mistakes");
    let incomplete = write(
        &folder,
        "incomplete.iol",
        "property P over {a, b} = streett {\n  initial state 1 {\n    a -> 1\n  }\n  \
         pair recurrent {1}\n}\n",
    );
    let several = write(
        &folder,
        "several.hoa",
        "HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"a\"\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0\n\
         [0] 0\n[0] 0 {0}\n--END--\nHOA: v1\n",
    );
    let broken_xml = write(&folder, "b.xml", "<StreettAutomaton><Alphabet>");
    for (args, part) in [
        (
            vec!["classify", "examples/papers/prop12_os.iol#Opp"],
            "declares no property `Opp`",
        ),
        (vec!["classify", OS], "declares more than one property"),
        (
            vec!["classify", "examples/candy/candy.iol"],
            "declares no property",
        ),
        (vec!["classify", "ltl:G(a -> "], "at byte"),
        (vec!["classify", "ltl:G(?a -> F !x)"], "--over"),
        (
            vec!["classify", "ltl:G(?a -> F !x)", "--over", "?a,!y"],
            "x is neither",
        ),
        (
            vec!["classify", "nothing.txt"],
            "a property is a declaration",
        ),
        (vec!["classify", "nothing.hoa"], "nothing.hoa"),
        (vec!["classify", &incomplete], "no transition on b"),
        (vec!["classify", &several], "several automata"),
        (vec!["classify", &broken_xml], "at byte"),
        (
            vec!["show", "examples/candy/candy.iol", "--format", "hoa"],
            "HOA and XML are for properties",
        ),
        (
            vec![
                "show",
                "examples/papers/prop12_os.iol#Op",
                "--format",
                "aut",
            ],
            "for systems",
        ),
        (
            vec![
                "test",
                "examples/candy/candy.iol",
                "--property",
                OS,
                "--sut",
                "cmd:cat",
            ],
            "is for system `Os`, not for",
        ),
        (
            vec!["test", "--property", "ltl:G a", "--sut", "cmd:cat"],
            "valuations",
        ),
        (
            vec!["test", "--property", OS, "--sut", "cmd:cat", "--suite", "x"],
            "needs a MODEL",
        ),
        (vec!["test", "--sut", "cmd:cat"], "MODEL"),
        (
            vec![
                "monitor",
                "examples/candy/candy.iol",
                "examples/brp/drifts.log",
                "--property",
                OS,
            ],
            "is for system `Os`, not for",
        ),
        (
            vec!["tester", "examples/papers/prop12_os.iol#Op", "-o", "x.pdf"],
            "which format",
        ),
    ] {
        let ran = iolite(&args).expect(2);
        assert!(ran.stderr.contains(part), "{args:?}\n{}", ran.stderr);
        assert!(ran.stdout.is_empty(), "{args:?}\n{}", ran.stdout);
    }
}

/// Properties of every class on finite models: bad prefixes, silence, cycles, fairness.
#[test]
fn models_satisfy_properties_of_every_class() {
    let folder = scratch("properties-verified");
    let model = write(
        &folder,
        "server.iol",
        "system Server {\n  input req\n  output busy, ok\n  internal give_up\n  \
         initial state Idle { ?req -> Working }\n  \
         state Working { !busy -> Working !ok -> Idle ?req -> Working give_up -> Idle }\n}\n\
         property Answered over {?req, !ok} = ltl G(?req -> F !ok)\n\
         property Calm over {?req, delta} = ltl G(?req -> F delta)\n",
    );
    let verify = |property: &str, flags: &[&str], exit: i32| {
        let mut args = vec!["verify", &model, "--property", property, "--json"];
        args.extend(flags);
        iolite(&args).expect(exit).json()["properties"][0].clone()
    };
    // It may give up, and then nobody asks any more.
    let silent = verify("ltl:G(?req -> F !ok)", &[], 1);
    assert_eq!(silent["trace"], json!(["?req"]));
    assert_eq!(silent["ending"], "output-lock");
    assert_eq!(silent["state"], "Idle");
    // Where the environment goes on, it may be busy for ever.
    let goes_on = ["--environment", "goes-on"];
    let busy = verify("ltl:G(?req -> X F(!ok | ?req))", &goes_on, 1);
    assert_eq!(busy["ending"], "cycle");
    assert_eq!(busy["cycle"], json!(["!busy"]));
    let strong = ["--environment", "goes-on", "--fairness", "strong"];
    verify("ltl:G(?req -> X F(!ok | ?req))", &strong, 0);
    let weak = ["--environment", "goes-on", "--fairness", "weak"];
    verify("ltl:G(!busy -> F(!ok | ?req))", &weak, 0);
    verify("ltl:GF ?req", &goes_on, 1);
    verify("ltl:GF ?req | GF !busy", &goes_on, 0);
    verify("ltl:F !ok", &[], 1);
    verify("ltl:FG ! ?req | GF ?req", &[], 0);
    // Actions that the property does not know change nothing: !busy for ever is a finite sequence.
    let declared = format!("{model}#Answered");
    assert_eq!(verify(&declared, &[], 1)["result"], "refuted");
    // δ is a letter where the property has it, and silence for ever is δδδ…
    assert_eq!(
        verify(&format!("{model}#Calm"), &[], 1)["cycle"],
        json!(["!busy"])
    );
    let ran = iolite(&["verify", &model, "--property", "ltl:GF !busy"]).expect(1);
    assert!(
        ran.stdout.contains("and no input any more"),
        "{}",
        ran.stdout
    );
    // A bound that ran out is no answer.
    verify("ltl:GF ?req | GF !busy", &["--max-pairs", "1"], 3);
}

/// Properties beside a specification: it drives, they select and judge [PROP12, §9.2 and §9.3].
#[test]
fn properties_beside_a_specification() {
    let candy = "examples/candy/candy.iol";
    let test = |property: &str, sut: &str, exit: i32| {
        let sut = format!("examples/candy/{sut}");
        let common = ["--no-journal", "--json", "--runs", "3", "--steps", "40"];
        let mut args = vec!["test", candy, "--property", property, "--sut", &sut];
        args.extend(common);
        iolite(&args).expect(exit).json()["verdict"].clone()
    };
    // Not allowed, and the property is broken with it.
    assert_eq!(
        test("ltl:! !choc W ?dub", "sut-generous.toml", 1),
        "violate-fail"
    );
    // The specification allows what the property forbids.
    assert_eq!(test("ltl:G ! !liq", "sut.toml", 1), "violate");
    let folder = scratch("properties-beside");
    let suite = folder.join("suite").display().to_string();
    let derive = |property: &str| {
        iolite(&[
            "derive",
            candy,
            "--property",
            property,
            "-o",
            &suite,
            "--json",
        ])
        .expect(0)
    };
    derive("ltl:! !choc W ?dub");
    // The shortest way to a violation is chocolate at once; the machine waits for a coin.
    let sut = "examples/candy/sut-generous.toml";
    iolite(&[
        "test",
        candy,
        "--suite",
        &suite,
        "--sut",
        sut,
        "--no-journal",
    ])
    .expect(3);
    // A log is judged by both.
    let log = write(
        &folder,
        "log.jsonl",
        "{\"action\":\"?dub\"}\n{\"action\":\"!choc\"}\n{\"action\":\"!choc\"}\n",
    );
    let monitor = |property: &str, exit: i32| {
        let ran = iolite(&["monitor", candy, &log, "--property", property, "--json"]);
        ran.expect(exit).json()
    };
    let both = monitor("ltl:G(!choc -> X ! !choc)", 1);
    assert_eq!(both["verdict"], "violate-fail");
    assert_eq!(both["conformance"], json!({"verdict": "fail", "line": 3}));
    assert_eq!(both["properties"][0]["step"], 3);
    let one = monitor("ltl:G ! !liq", 1);
    assert_eq!(
        (&one["verdict"], &one["properties"][0]["verdict"]),
        (&json!("fail"), &json!("unknown"))
    );
    // Without a model, the log stands alone.
    let alone = [
        "monitor",
        "--property",
        "ltl:G(!choc -> X ! !choc)",
        "--over",
        "?dub,!choc",
        &log,
    ];
    iolite(&alone).expect(1);
}

/// One dialect of formulas on the command line and in files.
#[test]
fn formulas_are_written_alike_everywhere() {
    let folder = scratch("properties-dialect");
    for (formula, class) in [
        ("[](?a -> <> !b)", "response"),
        ("G(?a -> X(?a and not ?a or !b))", "safety"),
        ("GF ?a", "response"),
        ("FG ?a", "persistence"),
        ("GFX ?a", "response"),
        ("?a V !b", "safety"),
        ("?a M !b", "safety and guarantee"),
        ("G(Z ?a)", "safety"),
        ("F(!b and (?a T !b))", "safety"),
        ("G(!b -> O ?a)", "safety"),
    ] {
        let inline = iolite(&["classify", &format!("ltl:{formula}"), "--over", "?a,!b"]).expect(0);
        let text = format!("property P over {{?a, !b}} = ltl {formula}\n");
        let file = write(&folder, "p.iol", &text);
        let declared = iolite(&["classify", &file]).expect(0);
        let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        assert_eq!(first(&inline.stdout), format!("{formula}: {class}"));
        assert_eq!(first(&declared.stdout), format!("P: {class}"));
    }
}

/// What a log leaves pending is named, with the event since when.
#[test]
fn monitor_says_what_is_owed() {
    let dir = scratch("owed");
    let lines = ["?req", "!ok", "?req", "!log", "!log"];
    let lines = lines.map(|a| format!("{{\"action\":\"{a}\"}}\n"));
    let log = write(&dir, "log.jsonl", lines.concat());
    let property = "ltl:G(?req -> F(!ok | !nok))";
    let over = ["--property", property, "--over", "?req,!ok,!nok,!log"];
    let ran = iolite(&[&["monitor"][..], &over, &[&log]].concat()).expect(3);
    assert!(
        ran.stdout.contains("`!ok` or `!nok` is owed since event 3"),
        "{}",
        ran.stdout
    );
    let document = iolite(&[&["monitor", "--json"][..], &over, &[&log]].concat());
    let document = document.expect(3).json();
    assert_eq!(
        document["properties"][0]["pending"],
        json!({"since": 3, "owed": ["!ok", "!nok"], "steps": 1})
    );
}

/// What commands refuse, `check` refuses: an automaton that has no way for some action.
#[test]
fn check_refuses_what_commands_refuse() {
    let dir = scratch("incomplete");
    let text = "property P over { ?a, !x } = streett {\n  initial state s { ?a -> s }\n  pair recurrent { s } persistent {}\n}\n";
    let file = write(&dir, "p.iol", text);
    let said = |command: &[&str]| {
        let ran = iolite(command).expect(2);
        assert!(ran.stderr.contains("complete"), "{}", ran.stderr);
    };
    said(&["classify", &format!("{file}#P")]);
    said(&["check", &file]);
}

/// One dialect: what the command line reads, files read, with the same meaning.
#[test]
fn formulas_mean_the_same_in_files_and_on_the_command_line() {
    let folder = scratch("dialect");
    let formulas = [
        "GFa & FGb",
        "[]<>a && <>b",
        "G F a and F b or false",
        "XXa",
        "!a",
        "! a",
        "!(a & b)",
        "FG ! ?a",
        "G(!b -> F(!c | ! ?a))",
        "a <=> X b",
        "a <-> X b",
        "a => F b",
        "{a, ?a, !c} U b",
        "G a || 1",
        "Z a & (b T a)",
        "(a M b) V (a W b)",
    ];
    let over = "a,b,?a,!c";
    for formula in formulas {
        let text = format!("property P over {{ a, b, ?a, !c }} = ltl {formula}\n");
        let file = write(&folder, "f.iol", &text);
        let automaton = |property: &str, over: &[&str]| {
            let args = ["classify", property, "--format", "json"];
            let mut automaton = iolite(&[&args[..], over].concat()).expect(0).json();
            automaton["name"] = Value::Null;
            automaton
        };
        let written = automaton(&format!("{file}#P"), &[]);
        let given = automaton(&format!("ltl:{formula}"), &["--over", over]);
        assert_eq!(written, given, "{formula}");
    }
}

#[test]
fn the_smallest_automaton_is_searched_on_request() {
    let formula = "ltl:GF a -> GF b";
    let ran = iolite(&["classify", formula, "--minimise", "--json"])
        .expect(0)
        .json();
    assert_eq!(ran["minimised"]["smallest"], true);
    let text = iolite(&["classify", "ltl:GF a & GF b", "--minimise"])
        .expect(0)
        .stdout;
    assert!(
        text.contains("no automaton with nested pairs has fewer"),
        "{text}"
    );
    let folder = scratch("minimise");
    // Two states that expect the same and need not be two.
    let text = "property P over { a, b } = streett {
  initial state 1 { a -> 2  b -> 1 }
  state 2 { a -> 1  b -> 3 }
  state 3 { a -> 2  b -> 3 }
  pair recurrent {1, 3} persistent {}
}
";
    let file = format!("{}#P", write(&folder, "p.iol", text));
    let hoa = iolite(&["classify", &file, "--minimise", "--format", "hoa"])
        .expect(0)
        .stdout;
    let small = write(&folder, "p.hoa", &hoa);
    let class = |property: &str| iolite(&["classify", property, "--json"]).expect(0).json();
    assert_eq!(class(&file)["semantic"], class(&small)["semantic"]);
    assert!(class(&small)["states"].as_u64() <= class(&file)["states"].as_u64());
    iolite(&["classify", &file, "--minimise", "--normalise"]).expect(2);
}

/// Edges to one successor share one label, so that a file stays readable with many propositions.
#[test]
fn automata_over_propositions_are_written_with_functions_on_their_edges() {
    let chain = (1..14)
        .rev()
        .fold("p14".to_owned(), |f, i| format!("p{i} U ({f})"));
    let hoa = iolite(&["classify", &format!("ltl:{chain}"), "--format", "hoa"])
        .expect(0)
        .stdout;
    assert!(hoa.len() < 20_000, "{} bytes", hoa.len());
    let folder = scratch("functions");
    let file = write(&folder, "chain.hoa", &hoa);
    let back = iolite(&["classify", &file, "--json"]).expect(0).json();
    assert_eq!(back["class"]["class"], "guarantee");
    assert_eq!(back["states"], 15);
    let (_, body) = hoa.split_once("--BODY--").expect("a body");
    assert!(body.lines().any(|l| l.starts_with("[t] ")), "{body}");
}
