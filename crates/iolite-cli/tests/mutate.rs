//! `iolite mutate`, as a user runs it.

mod common;

use common::{iolite, scratch, write};

const SWITCH: &str = "\
system Switch {
  input on, off
  output lit, dark
  initial state Off { ?on -> TurnedOn }
  state TurnedOn { !lit -> On }
  state On { ?off -> TurnedOff }
  state TurnedOff { !dark -> Off }
}
";

#[test]
fn each_file_is_read_again_and_relate_agrees() {
    let folder = scratch("mutate-files");
    let model = write(&folder, "switch.iol", SWITCH);
    let out = folder.join("mutants").display().to_string();
    let asked = ["mutate", &model, "-o", &out, "--json", "--max", "24"];
    let answer = iolite(&asked).expect(0).json();
    let mutants = answer["mutants"].as_array().expect("mutants");
    assert_eq!(mutants.len(), 24);
    assert_eq!(answer["all"], false);
    for mutant in mutants {
        let file = mutant["file"].as_str().expect("a file");
        let conforms = mutant["conforms"].as_bool().expect("decided");
        let complete = ["--complete-inputs", "self-loop", "--json"];
        let related = iolite(&[&["relate", "ioco", file, &model], &complete[..]].concat());
        let related = related.expect(i32::from(!conforms)).json();
        let trace = &related["counterexample"]["trace"];
        assert_eq!(trace, &mutant["counterexample"]["trace"], "{mutant}");
    }
    // The same again: nothing is left to do. Other options need another folder.
    assert_eq!(iolite(&asked).expect(0).json(), answer);
    let other = ["mutate", &model, "-o", &out, "--max", "5"];
    assert!(iolite(&other).expect(2).stderr.contains("--restart"));
    iolite(&[&other[..], &["--restart"]].concat()).expect(0);
}

#[test]
fn a_suite_is_scored_and_survivors_say_what_would_kill_them() {
    let folder = scratch("mutate-suite");
    let model = write(&folder, "switch.iol", SWITCH);
    // Looks at the first answer alone.
    let suite = write(
        &folder,
        "suite.iol",
        "test First {
           initial pass state A { ?on -> B }
           pass state B { !lit -> Right  !dark, delta -> Wrong }
           pass state Right  fail state Wrong
         }",
    );
    let asked = ["mutate", &model, "--operators", "drop", "--suite", &suite];
    let answer = iolite(&[&asked[..], &["--json"]].concat()).expect(1).json();
    let score = &answer["score"];
    assert_eq!((&score["killed"], &score["wrong"]), (&2.into(), &4.into()));
    assert_eq!(score["survivors"].as_array().map(Vec::len), Some(2));
    assert_eq!(score["unsound"].as_array().map(Vec::len), Some(0));
    let told = iolite(&asked).expect(1).stdout;
    assert!(
        told.contains("would be killed by delta after ?on !lit ?off"),
        "{told}"
    );
}

#[test]
fn what_cannot_be_decided_is_unknown_until_a_run_kills_it() {
    let folder = scratch("mutate-data");
    // Which of the two was taken shows in the sum, and not always: there is no deterministic form.
    let model = write(
        &folder,
        "count.iol",
        "system Count {
           var n: int = 0
           input add(k: int)
           output sum(k: int)
           initial state Idle { ?add(k) / n := n + k -> Told  ?add(k) / n := n + 2 * k -> Told }
           state Told { !sum(k) [k == n] -> Idle }
         }",
    );
    // There is no deterministic form: a difference is found, that there is none is not proved.
    let asked = ["mutate", &model, "--operators", "drop-assignment", "--json"];
    let answer = iolite(&asked).expect(0).json();
    assert_eq!(answer["mutants"][0]["conforms"], false, "{answer}");
    let asked = ["mutate", &model, "--operators", "drop", "--json"];
    let answer = iolite(&asked).expect(3).json();
    let mutant = &answer["mutants"][0];
    assert!(mutant["conforms"].is_null(), "{mutant}");
    let why = mutant["unknown"].as_str().unwrap_or_default();
    assert!(why.contains("no difference up to"), "{mutant}");
    assert_eq!(answer["mutants"][2]["conforms"], false, "{answer}");
}

/// Adds and tells the sum; what is not positive is left open.
const METER: &str = "\
system Meter {
  var s: int = 0
  input add(n: int), ask
  output is(v: int)
  initial state Idle { ?add(n) [n > 0] / s := s + n -> Idle  ?ask -> Asked }
  state Asked { !is(v) [v == s] -> Idle }
}
observer Negative for Meter {
  initial state Watching { !is(v) [v < 0] -> Bad  * -> Watching }
  violate state Bad
}
purpose Ten for Meter {
  initial state Start { ?add(n) [n == 10] -> Added }
  state Added { ?ask -> Asked }
  state Asked { !is(v) -> Told }
  accept state Told
}
";

/// Mutants with infinite data are killed by test cases with data, purposes and observers, exactly.
#[test]
fn infinite_data_are_killed_by_suites_purposes_and_properties() {
    let folder = scratch("mutate-infinite-tests");
    let model = write(&folder, "meter.iol", METER);
    let suite = folder.join("suite").display().to_string();
    let (meter, purpose) = (format!("{model}#Meter"), format!("{model}#Ten"));
    let negative = format!("{model}#Negative");
    iolite(&["derive", &meter, "--purpose", &purpose, "-o", &suite]).expect(0);
    let mutate = |more: &[&str]| {
        let ran = iolite(&[&["mutate", &meter, "--json"], more].concat());
        let answer = ran.json();
        let mutants = answer["mutants"].as_array().cloned().unwrap_or_default();
        assert!(mutants.len() > 2, "{answer}");
        for mutant in &mutants {
            assert!(mutant["killed"].is_boolean(), "{mutant}");
            // A test case of the model kills nothing that conforms.
            let sound = mutant["killed"] != true || mutant["conforms"] == false;
            assert!(sound || mutant["violates"].is_string(), "{mutant}");
        }
        mutants
    };
    let some = "change-assignment,drop,weaken-guard";
    let stored = mutate(&["--operators", some, "--suite", &suite]);
    let derived = mutate(&["--operators", some, "--purpose", &purpose]);
    let killed = |all: &[serde_json::Value]| -> Vec<bool> {
        all.iter().map(|m| m["killed"] == true).collect()
    };
    assert_eq!(killed(&stored), killed(&derived));
    assert!(killed(&stored).contains(&true) && killed(&stored).contains(&false));
    let changed = |m: &&serde_json::Value| m["operator"] == "change-assignment";
    let wrong = stored.iter().find(changed);
    let after = wrong.map(|m| m["killed_after"].clone()).unwrap_or_default();
    assert_eq!(after[0], "?add(10)", "{stored:?}");
    // A sum that is negative conforms, since nothing is said of adding less than 1; the observer minds.
    let operators = "drop-guard,drop-assignment,change-assignment";
    let watched = mutate(&["--operators", operators, "--property", &negative]);
    let open = watched.iter().find(|m| m["operator"] == "drop-guard");
    let open = open.expect("a mutant without the first guard");
    assert_eq!(open["violates"], "Negative", "{open}");
    let kept = watched.iter().find(|m| m["operator"] == "drop-assignment");
    assert_eq!(kept.expect("a mutant")["killed"], false);
    // A property that the model does not have says nothing of its mutants.
    let never = format!(
        "{METER}observer Never for Meter {{ initial state W {{ !is(v) [v > 8] -> Bad  * -> W }} violate state Bad }}"
    );
    let other = write(&folder, "never.iol", &never);
    let (meter, never) = (format!("{other}#Meter"), format!("{other}#Never"));
    let refused = iolite(&["mutate", &meter, "--property", &never]).expect(2);
    assert!(
        refused.stderr.contains("itself violates Never"),
        "{}",
        refused.stderr
    );
}

/// A threshold that nobody knows.
const GATE: &str = "\
system Gate {
  const k: int
  assume k >= 1
  var n: int = 0
  input go(x: int)
  output hi, lo
  initial state A { ?go(x) / n := x -> B }
  state B { !hi [n >= k] -> A  !lo [n < k] -> A }
}
purpose High for Gate { initial state W { !hi -> Done  * -> W } accept state Done }
";

#[test]
fn mutants_with_open_constants_are_killed_by_the_same_instance() {
    let folder = scratch("mutate-open-constants");
    let model = write(&folder, "gate.iol", GATE);
    let (gate, purpose) = (format!("{model}#Gate"), format!("{model}#High"));
    let operators = "drop-guard,weaken-guard,constant";
    let answer = iolite(&[
        "mutate",
        &gate,
        "--purpose",
        &purpose,
        "--operators",
        operators,
        "--json",
    ])
    .json();
    let mutants = answer["mutants"].as_array().cloned().unwrap_or_default();
    let of = |operator: &str| {
        mutants
            .iter()
            .filter(|m| m["operator"] == operator)
            .collect::<Vec<_>>()
    };
    for mutant in of("drop-guard").into_iter().chain(of("weaken-guard")) {
        assert_eq!(
            (&mutant["conforms"], &mutant["killed"]),
            (&false.into(), &true.into()),
            "{mutant}"
        );
        // The run fails with this value of the threshold, where it would pass with others.
        let after = mutant["killed_after"].as_array().expect("a run");
        let given = after[0].as_str().and_then(|step| {
            step.strip_prefix("?go(")?
                .strip_suffix(')')?
                .parse::<i64>()
                .ok()
        });
        let value = mutant["killed_with"][0]
            .as_str()
            .and_then(|text| text.strip_prefix("k = ")?.parse::<i64>().ok());
        let (given, k) = (given.expect("a number"), value.expect("a threshold"));
        let right = if given >= k { "!hi" } else { "!lo" };
        assert!(k >= 1 && after[1] != right, "{mutant}");
        assert_eq!(
            mutant["killed_with"].as_array().map(Vec::len),
            Some(1),
            "{mutant}"
        );
    }
    // What n is at the start is never seen.
    for mutant in of("constant") {
        assert_eq!(
            (&mutant["conforms"], &mutant["killed"]),
            (&true.into(), &false.into()),
            "{mutant}"
        );
    }
    assert!(
        of("drop-guard").len() == 2 && of("weaken-guard").len() == 1 && of("constant").len() == 2,
        "{answer}"
    );
}

/// A completion that is asked for holds for relations without inputs too, as it does for `relate`.
#[test]
fn completions_are_those_of_relate() {
    let folder = scratch("mutate-completions");
    let model = write(&folder, "switch.iol", SWITCH);
    for relation in ["trace", "testing", "conf", "ioconf"] {
        for how in [
            &[][..],
            &["--complete-inputs", "self-loop"],
            &["--complete-inputs", "chaos"],
        ] {
            let out = folder.join("mutants").display().to_string();
            let asked = [
                "mutate",
                &model,
                "-o",
                &out,
                "--restart",
                "--json",
                "--max",
                "8",
            ];
            let answer = iolite(&[&asked[..], &["--relation", relation], how].concat()).json();
            // Relations with inputs complete them anyhow.
            let usual = ["--complete-inputs", "self-loop"];
            let how = if relation == "ioconf" && how.is_empty() {
                &usual
            } else {
                how
            };
            assert_eq!(answer["complete_inputs"].as_str(), how.last().copied());
            for mutant in answer["mutants"].as_array().expect("mutants") {
                let file = mutant["file"].as_str().expect("a file");
                let related =
                    iolite(&[&["relate", relation, file, &model, "--json"], how].concat());
                assert_eq!(
                    related.json()["holds"],
                    mutant["conforms"],
                    "{relation} {how:?} {mutant}"
                );
            }
        }
    }
}

#[test]
fn mistakes() {
    let folder = scratch("mutate-mistakes");
    let model = write(&folder, "switch.iol", SWITCH);
    for (wrong, said) in [
        (
            &["--operators", "dorp"][..],
            "the operators are drop, redirect",
        ),
        (&["--partition", "3/2"], "K/N"),
        (&["--relation", "ioconf-f"], "set of traces"),
        (&["--relation", "trace", "--runs", "1"], "is not tested"),
        (&["--steps", "3"], "--runs"),
        (&["--suite", "nowhere.json"], "nowhere.json"),
    ] {
        let ran = iolite(&[&["mutate", &model], wrong].concat()).expect(2);
        assert!(ran.stderr.contains(said), "{wrong:?}: {}", ran.stderr);
    }
    // A file that is no system of states is explored first.
    let aut = write(
        &folder,
        "m.aut",
        "des (0, 2, 2)\n(0, \"?a\", 1)\n(1, \"!x\", 0)\n",
    );
    let answer = iolite(&["mutate", &aut, "--json"]).expect(0).json();
    assert!(answer["mutants"].as_array().is_some_and(|m| m.len() > 5));
}
