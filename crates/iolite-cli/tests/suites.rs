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
