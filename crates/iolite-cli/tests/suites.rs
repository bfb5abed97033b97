//! `iolite passes` and `iolite suite`, as a user runs them.

mod common;

use common::{iolite, scratch, write};
use serde_json::Value;

const CANDY: &str = "system Machine {
  input but  output liq, choc
  initial state Idle { ?but -> Busy }
  state Busy { !liq -> Idle  ?but -> Busy }
}
system Choc {
  input but  output liq, choc
  initial state Idle { ?but -> Busy }
  state Busy { !choc -> Idle  ?but -> Busy }
}
system Mute {
  input but  output liq
  initial state Idle { ?but -> Idle }
}
system Odd {
  input but  output liq, gum
  initial state Idle { ?but -> Busy }
  state Busy { !gum -> Idle  ?but -> Busy }
}
system Late {
  input but  output liq, choc
  initial state Idle { ?but -> Busy }
  state Busy { i -> Ready  ?but -> Busy }
  state Ready { !liq -> Idle }
}
";

fn derived(name: &str, more: &[&str]) -> (String, String) {
    let folder = scratch(name);
    let file = write(&folder, "candy.iol", CANDY);
    let suite = folder.join("suite").display().to_string();
    let model = format!("{file}#Machine");
    let args = [&["derive", &model, "--depth", "3", "-o", &suite], more].concat();
    iolite(&args).expect(0);
    (file, suite)
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().expect("a list").iter();
    all.map(|v| v.as_str().expect("a text").to_owned())
        .collect()
}

#[test]
fn a_model_passes_or_fails_each_test_case() {
    let (file, suite) = derived("passes", &["--exhaustive", "traces"]);
    let passes = |name: &str, more: &[&str]| {
        let model = format!("{file}#{name}");
        iolite(&[&["passes", &model, &suite], more].concat())
    };
    let right = passes("Machine", &["--json"]).expect(0).json();
    assert_eq!(right["passes"], true);
    assert!(right["cases"].as_array().unwrap().len() > 1);
    for (name, last) in [("Choc", "!choc"), ("Mute", "delta"), ("Odd", "!gum")] {
        let ran = passes(name, &["--json"]).expect(1).json();
        assert_eq!(ran["passes"], false);
        let cases = ran["cases"].as_array().unwrap();
        let failing = cases.iter().find(|c| c["passes"] == false).unwrap();
        let run = texts(&failing["failing"]["run"]);
        assert_eq!(run, ["?but", last], "{name}");
        assert_eq!(failing["failing"]["verdict"], "fail");
    }
    // Internal steps before the output change nothing.
    passes("Late", &["--complete-inputs", "self-loop"]).expect(0);
    let text = passes("Choc", &[]).expect(1).stdout;
    assert!(text.contains("  run   ?but !choc\n"), "{text}");
}

#[test]
fn a_model_that_is_not_input_enabled_is_refused_by_name() {
    let (file, suite) = derived("passes-inputs", &[]);
    let model = format!("{file}#Late");
    let ran = iolite(&["passes", &model, &suite]).expect(2);
    assert!(ran.stderr.contains("Ready"), "{}", ran.stderr);
    assert!(ran.stderr.contains("?but"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--complete-inputs"), "{}", ran.stderr);
}

#[test]
fn a_failing_test_case_has_a_certificate() {
    let (file, suite) = derived("passes-certificate", &["--exhaustive", "traces"]);
    let folder = scratch("passes-certificate-out");
    let path = folder.join("c.json").display().to_string();
    for name in ["Choc", "Mute", "Odd"] {
        let model = format!("{file}#{name}");
        iolite(&["passes", &model, &suite, "--certificate", &path]).expect(1);
        let told = iolite(&["explain", &path]).expect(0).stdout;
        assert!(told.contains("every part of the claim is true"), "{told}");
        // Another verdict, another end, another text.
        let text = std::fs::read_to_string(&path).unwrap();
        let edits = [
            (
                "\"verdict\": \"fail\",\n  \"quiescence\"",
                "\"verdict\": \"pass\",\n  \"quiescence\"",
            ),
            (
                "\"?but\"\n  ],\n  \"observed\"",
                "\"?but\",\n    \"?but\"\n  ],\n  \"observed\"",
            ),
            ("\"kind\": \"ioco\"", "\"kind\": \"ioconf\""),
        ];
        for (from, to) in edits {
            let edited = text.replacen(from, to, 1);
            assert_ne!(edited, text, "{from}\n{text}");
            let forged = write(&folder, "forged.json", &edited);
            let ran = iolite(&["explain", &forged]);
            assert_eq!(ran.code, 1, "{to}\n{}", ran.stdout);
        }
    }
}

/// [LTS96, examples 3.3 and 4.13]: p1 passes t1, p3 fails it by refusing the liquorice.
#[test]
fn conf_test_cases_are_run_symmetrically() {
    let (models, tests) = (
        "examples/papers/lts96_fig1.iol",
        "examples/papers/lts96_fig2.iol",
    );
    let t1 = format!("{tests}#t1");
    iolite(&["passes", &format!("{models}#p1"), &t1]).expect(0);
    let folder = scratch("passes-conf");
    let path = folder.join("c.json").display().to_string();
    let args = [
        "passes",
        &format!("{models}#p3"),
        &t1,
        "--json",
        "--certificate",
        &path,
    ];
    let ran = iolite(&args).expect(1).json();
    let failing = &ran["cases"][0]["failing"];
    assert_eq!(texts(&failing["run"]), ["shil"]);
    assert_eq!(texts(&failing["refuses"]), ["liq"]);
    iolite(&["explain", &path]).expect(0);
}

#[test]
fn derived_suites_are_sound_and_their_depth_is_known() {
    let (file, suite) = derived("suite", &["--exhaustive", "traces"]);
    let model = format!("{file}#Machine");
    let ran = iolite(&["suite", &model, &suite, "--json"])
        .expect(0)
        .json();
    assert_eq!(ran["sound"], true);
    assert!(ran["exhaustive"]["depth"].as_u64().unwrap() >= 3, "{ran}");
    let witness = &ran["exhaustive"]["witness"];
    assert_eq!(
        texts(&witness["trace"]).len() as u64,
        ran["exhaustive"]["depth"].as_u64().unwrap()
    );
    assert_eq!(ran["coverage"]["model_states"]["seen"], 2);
    // For another specification they are not sound.
    let other = format!("{file}#Choc");
    let ran = iolite(&["suite", &other, &suite, "--json"])
        .expect(1)
        .json();
    let cases = ran["cases"].as_array().unwrap();
    let wrong = cases.iter().find(|c| c["sound"] == false).unwrap();
    assert_eq!(texts(&wrong["witness"]["run"]), ["?but", "!choc"]);
    assert_eq!(wrong["witness"]["specified"], true);
    let told = iolite(&["suite", &other, &suite]).expect(1).stdout;
    assert!(told.contains("not sound for ioco"), "{told}");
}

#[test]
fn a_test_case_of_another_kind_is_refused() {
    let folder = scratch("suite-kinds");
    let file = write(&folder, "candy.iol", CANDY);
    let tests = "examples/papers/lts96_fig2.iol#t1";
    let ran = iolite(&["suite", "examples/papers/lts96_fig1.iol#p1", tests]).expect(2);
    assert!(ran.stderr.contains("plain label"), "{}", ran.stderr);
    let conf = [
        "suite",
        "examples/papers/lts96_fig1.iol#p1",
        tests,
        "--relation",
        "conf",
    ];
    iolite(&conf).expect(0);
    // p3 may refuse the liquorice, so t1 is not sound for it.
    let conf = [
        "suite",
        "examples/papers/lts96_fig1.iol#p3",
        tests,
        "--relation",
        "conf",
    ];
    let told = iolite(&conf).expect(1).stdout;
    assert!(told.contains("the refusal of {liq}"), "{told}");
    let model = format!("{file}#Machine");
    let none = folder.join("none.json").display().to_string();
    iolite(&["suite", &model, &none]).expect(2);
    iolite(&["suite", &model, &file]).expect(2);
}

/// The same test cases, executed: p3 refuses the liquorice in some runs and not in others.
#[test]
fn conf_test_cases_run_against_models() {
    let (models, tests) = (
        "examples/papers/lts96_fig1.iol",
        "examples/papers/lts96_fig2.iol",
    );
    let (model, suite) = (format!("{models}#p1"), format!("{tests}#t1"));
    let run = |name: &str, more: &[&str]| {
        let sut = format!("model:{models}#{name}");
        let args = [
            "test",
            &model,
            "--relation",
            "conf",
            "--suite",
            &suite,
            "--sut",
            &sut,
        ];
        iolite(&[&args[..], &["--repeat", "50"], more].concat())
    };
    let told = run("p1", &[]).expect(0).stdout;
    assert_eq!(told, "t1: 50 pass\n");
    let ran = run("p3", &["--json"]).expect(1).json();
    let verdicts = &ran[0]["verdicts"];
    assert!(verdicts["pass"].as_u64().unwrap() > 0 && verdicts["fail"].as_u64().unwrap() > 0);
    assert_eq!(texts(&ran[0]["failing"]["trace"]), ["shil"]);
    assert_eq!(texts(&ran[0]["failing"]["refuses"]), ["liq"]);
    let ran = run("p3", &["--junit", "x.xml"]).expect(2);
    assert!(ran.stderr.contains("--junit"), "{}", ran.stderr);
    let args = [
        "test",
        &model,
        "--relation",
        "conf",
        "--suite",
        &suite,
        "--sut",
        "cmd:cat",
    ];
    let ran = iolite(&args).expect(2);
    assert!(ran.stderr.contains("model:"), "{}", ran.stderr);
}

/// Journals, `test --json` and `shrink` lead to whole certificates too.
#[test]
fn failing_tests_leave_whole_certificates() {
    let folder = scratch("whole-certificates");
    let file = write(&folder, "candy.iol", CANDY);
    let (model, sut) = (format!("{file}#Machine"), format!("model:{file}#Choc"));
    for form in ["journal.jsonl", "journal.iolj"] {
        let journal = folder.join(form).display().to_string();
        let args = [
            "test",
            &model,
            "--sut",
            &sut,
            "--journal",
            &journal,
            "--json",
        ];
        let ran = iolite(&args).expect(1);
        assert_eq!(ran.json()["certificate"]["format"], "iolite-certificate/2");
        let answer = write(&folder, "answer.json", &ran.stdout);
        iolite(&["explain", &answer]).expect(0);
        let told = iolite(&["explain", &journal]).expect(0).stdout;
        assert!(told.contains("every part of the claim is true"), "{told}");
        let certificate = folder.join("c.json").display().to_string();
        iolite(&["shrink", &journal, "--certificate", &certificate]).expect(1);
        let text = std::fs::read_to_string(&certificate).unwrap();
        assert!(text.contains("iolite-certificate/2"), "{text}");
        iolite(&["explain", &certificate]).expect(0);
        // Another model on disk by now: the claim is about the text that the journal carries.
        let changed = CANDY.replacen("!liq -> Idle", "!choc -> Idle", 1);
        write(&folder, "candy.iol", &changed);
        let told = iolite(&["explain", &journal]).expect(0);
        let told = told.stdout + &told.stderr;
        assert!(told.contains("is not the file"), "{told}");
        write(&folder, "candy.iol", CANDY);
    }
}

/// A model that plays the system is as fair as the tester takes it to be.
#[test]
fn fair_systems_leave_their_livelocks() {
    let folder = scratch("fair");
    let file = write(
        &folder,
        "poll.iol",
        "system Poll { output ready  initial state Wait { i -> Wait  !ready -> Done } state Done {} }
         system Stuck { output ready  initial state Wait { i -> Wait } }
         system Ready { output ready  initial state Wait { !ready -> Done } state Done {} }",
    );
    let (model, test) = (
        format!("{file}#Ready"),
        ["test", "--no-journal", "--runs", "200"],
    );
    let run = |sut: &str, policy: &str| {
        let sut = format!("model:{file}#{sut}");
        let more = [&model[..], "--sut", &sut, "--quiescence", policy];
        iolite(&[&test[..], &more].concat())
    };
    run("Poll", "livelock").expect(1);
    run("Poll", "fair").expect(0);
    run("Stuck", "fair").expect(1);
}

/// Labels without direction are an error, not a panic.
#[test]
fn plain_labels_are_derived_for_conf_only() {
    let folder = scratch("plain-derive");
    let suite = folder.join("suite").display().to_string();
    let model = "examples/papers/lts96_fig1.iol#p1";
    for more in [
        &["--cover", "transitions"][..],
        &["--relation", "ioconf"],
        &[],
    ] {
        let ran = iolite(&[&["derive", model, "-o", &suite], more].concat()).expect(2);
        assert!(ran.stderr.contains("plain label"), "{}", ran.stderr);
    }
    iolite(&["derive", model, "-o", &suite, "--relation", "conf"]).expect(0);
}

/// What is left out is told with its reason: no limit was reached where there are too many actions for all sets of them.
#[test]
fn sets_that_are_not_listed_are_no_limit() {
    let folder = scratch("unlisted-sets");
    let suite = folder.join("suite").display().to_string();
    let steps = (0..13).map(|k| format!("(0,\"a{k}\",{})\n", k + 1));
    let text = format!("des (0,13,14)\n{}", steps.collect::<String>());
    let model = write(&folder, "wide.aut", text);
    let conf = [
        "--relation",
        "conf",
        "--exhaustive",
        "every",
        "--depth",
        "1",
    ];
    let derive = ["derive", &model, "-o", &suite];
    let ran = iolite(&[&derive[..], &conf].concat()).expect(3);
    assert!(
        ran.stdout.contains("more than 12 actions"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("limit"), "{}", ran.stdout);
    let few = [
        "--relation",
        "conf",
        "--exhaustive",
        "traces",
        "--limit",
        "1",
    ];
    let narrow = "examples/papers/lts96_fig1.iol#p1";
    let ran = iolite(&[&["derive", narrow, "-o", &suite][..], &few].concat()).expect(3);
    assert!(ran.stdout.contains("the limit of 1 was"), "{}", ran.stdout);
}

/// The files of a folder, with their texts, in order.
fn files(folder: &str) -> Vec<(String, Option<Vec<u8>>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut files: Vec<_> = entries
        .map(|e| {
            let name = e.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(e.path()).ok())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_suite_that_cannot_be_written_ends_where_one_job_ends() {
    let folder = scratch("unwritable");
    let file = write(&folder, "candy.iol", CANDY);
    let model = format!("{file}#Late");
    let kinds: [&[&str]; 5] = [
        &["--exhaustive", "traces", "--depth", "9"],
        &["--exhaustive", "maximal", "--depth", "5"],
        &["--count", "90"],
        &["--complete", "1"],
        &["--relation", "conf", "--count", "90"],
    ];
    for (k, kind) in kinds.iter().enumerate() {
        let derive = |jobs: &str, blocked: Option<usize>| {
            let suite = folder.join(format!("suite-{k}-{jobs}-{}", blocked.is_some()));
            // A folder in the place of a test case: it can neither be written nor replaced.
            if let Some(n) = blocked {
                std::fs::create_dir_all(suite.join(format!("Late-{n}.json"))).unwrap();
            }
            let suite = suite.display().to_string();
            let args = ["derive", &model, "-o", &suite, "--jobs", jobs];
            let args = [&args, *kind, &["--export", "aut"]].concat();
            let code = iolite(&args).code;
            (code, files(&suite))
        };
        let whole = derive("1", None);
        let count = whole.1.len() / 2;
        assert!(count > 3, "{kind:?}: {count} test cases");
        assert_eq!(derive("3", None), whole, "{kind:?}");
        let blocked = (count / 2).min(40);
        let (code, left) = derive("1", Some(blocked));
        assert_eq!(code, 4, "{kind:?}");
        // The test cases before it, each in two files, and the folder.
        assert_eq!(left.len(), 2 * (blocked - 1) + 1, "{kind:?}");
        for jobs in ["2", "5"] {
            assert_eq!(
                derive(jobs, Some(blocked)),
                (code, left.clone()),
                "{kind:?}"
            );
        }
    }
}

/// One file holds what a folder holds, one test case a line, and every command takes it.
#[test]
fn a_suite_may_be_one_file() {
    let (file, folder) = derived("one-file", &["--exhaustive", "traces"]);
    let lines = folder.replace("suite", "suite.jsonl");
    let machine = format!("{file}#Machine");
    let derive = |output: &str, more: &[&str]| {
        let args = ["derive", &machine, "--depth", "3", "-o", output];
        iolite(&[&args, more].concat())
    };
    let mut texts = Vec::new();
    for jobs in ["1", "3"] {
        let document = derive(
            &lines,
            &["--exhaustive", "traces", "--jobs", jobs, "--json"],
        );
        let document = document.expect(0).json();
        let place = format!("{lines}#Machine-1");
        assert_eq!(document["cases"][0]["file"], place.as_str());
        texts.push(std::fs::read_to_string(&lines).unwrap());
    }
    assert_eq!(texts[0], texts[1]);
    let of_folder = files(&folder);
    assert_eq!(texts[0].lines().count(), of_folder.len());
    for line in texts[0].lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = format!("{}.json", case["name"].as_str().unwrap());
        let (_, text) = of_folder.iter().find(|(file, _)| *file == name).unwrap();
        assert_eq!(
            case,
            serde_json::from_slice::<Value>(text.as_ref().unwrap()).unwrap()
        );
    }
    // The files of a folder come in the order of their names, so that only what does not depend on it is compared.
    for name in ["Machine", "Choc", "Mute"] {
        let model = format!("{file}#{name}");
        let passes = |suite: &str| {
            let ran = iolite(&["passes", &model, suite, "--json"]);
            (ran.code, ran.json()["passes"].clone())
        };
        assert_eq!(passes(&lines), passes(&folder), "{name}");
        let sut = format!("model:{model}");
        let test = |suite: &str| {
            let args = [
                "test",
                &machine,
                "--suite",
                suite,
                "--sut",
                &sut,
                "--json",
                "--no-journal",
            ];
            let ran = iolite(&args);
            (ran.code, ran.json()["verdicts"].clone())
        };
        assert_eq!(test(&lines), test(&folder), "{name}");
    }
    let coverage = |suite: &str| iolite(&["suite", &machine, suite]).expect(0).stdout;
    assert_eq!(coverage(&lines), coverage(&folder));
    // One of them.
    let one = format!("{lines}#Machine-2");
    let choc = format!("{file}#Choc");
    let drawn = |case: &str| iolite(&["show", case, "--format", "dot"]).expect(0).stdout;
    assert_eq!(drawn(&one), drawn(&format!("{folder}/Machine-2.json")));
    let failed = iolite(&["passes", &choc, &lines, "--json"])
        .expect(1)
        .json();
    let cases = failed["cases"].as_array().unwrap();
    let failing = cases.iter().find(|case| case["passes"] == false).unwrap();
    let place = failing["file"].as_str().unwrap();
    assert_eq!(iolite(&["passes", &choc, place]).code, 1, "{place}");
    // What it claims is confirmed from the file.
    let ran = iolite(&["passes", &choc, place, "--json"]).expect(1);
    let document = write(&scratch("one-file-claim"), "passes.json", ran.stdout);
    let told = iolite(&["explain", &document]).expect(0).stdout;
    assert!(told.contains("confirmed"), "{told}");
}

#[test]
fn mistakes_in_suites_of_one_file() {
    let folder = scratch("one-file-mistakes");
    let file = write(&folder, "candy.iol", CANDY);
    let model = format!("{file}#Machine");
    let lines = folder.join("suite.jsonl").display().to_string();
    iolite(&["derive", &model, "--count", "3", "-o", &lines]).expect(0);
    let text = std::fs::read_to_string(&lines).unwrap();
    let mistake = |args: &[&str], parts: &[&str]| {
        let ran = iolite(args).expect(2);
        for part in parts {
            assert!(ran.stderr.contains(part), "{part}\n{}", ran.stderr);
        }
    };
    let none = format!("{lines}#Machine-9");
    mistake(
        &["suite", &model, &none],
        &["no test case `Machine-9`", "did you mean"],
    );
    let twice = write(&folder, "twice.jsonl", text.repeat(2));
    mistake(
        &["suite", &model, &twice],
        &["twice.jsonl:4", "a second test case Machine-1"],
    );
    let torn = write(&folder, "torn.jsonl", &text[..text.len() / 2]);
    mistake(
        &["suite", &model, &torn],
        &["torn.jsonl:", "not a test case"],
    );
    let journal = write(&folder, "j.jsonl", "{\"journal\":\"iolite-journal/1\"}\n");
    mistake(&["suite", &model, &journal], &["this is a journal"]);
    let empty = write(&folder, "empty.jsonl", "");
    mistake(&["suite", &model, &empty], &["holds no test case"]);
    let other = folder.join("other.jsonl").display().to_string();
    let export = ["derive", &model, "-o", &other, "--export", "aut"];
    mistake(&export, &["name a folder"]);
    assert!(!folder.join("other.jsonl").exists());
    let packed = folder.join("other.jsonl.gz").display().to_string();
    mistake(&["derive", &model, "-o", &packed], &["gzip FILE.jsonl"]);
    assert!(!folder.join("other.jsonl.gz").exists());
    // A device is written to as it is, and a full one is told.
    let full = folder.join("full.jsonl");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let full = full.display().to_string();
    let ran = iolite(&["derive", &model, "--count", "3", "-o", &full]).expect(4);
    assert!(ran.stderr.contains("full"), "{}", ran.stderr);
}
