//! Slow and crashing systems over pipes, as a user sees them.

mod common;

use std::fmt::Write;
use std::fs;

use common::{Ran, iolite, scratch};

const MODEL: &str = "system Echo {\n  input a\n  output x\n  initial state Idle { ?a -> Busy }\n  state Busy { !x -> Idle }\n}\n";

/// Model and description of a Python program whose silence is called after 20 ms.
fn set_up(name: &str, program: &str, more: &str) -> [String; 2] {
    let folder = scratch(name);
    let model = folder.join("echo.iol");
    let system = folder.join("sut.toml");
    fs::write(&model, MODEL).unwrap();
    let program = format!("import sys, os, time\nprint('ready', flush=True)\n{program}");
    fs::write(folder.join("sut.py"), program).unwrap();
    let mut toml = format!(
        "command = [\"python3\", \"-u\", \"{}\"]\nready = \"ready\"\n",
        folder.join("sut.py").display()
    );
    let _ = writeln!(toml, "{more}");
    toml += "[quiescence]\ntimeout-ms = 20\n[limits]\nstartup-timeout-ms = 20000\n";
    fs::write(&system, toml).unwrap();
    [model.display().to_string(), system.display().to_string()]
}

fn test([model, system]: &[String; 2], more: &[&str]) -> Ran {
    let fixed = [
        "test",
        model,
        "--sut",
        system,
        "--runs",
        "2",
        "--steps",
        "4",
        "--no-journal",
    ];
    iolite(&[&fixed, more].concat())
}

const SLOW: &str = "for line in sys.stdin:\n  time.sleep(0.15)\n  print('x', flush=True)\n";

#[test]
fn a_slow_system_is_flaky() {
    let files = set_up("flaky-slow", SLOW, "");
    let ran = test(&files, &["--json"]).expect(1);
    let json = ran.json();
    assert_eq!(json["verdict"], "flaky");
    assert_eq!(json["verdicts"]["flaky"], 2, "{json}");
    assert_eq!(json["failures"].as_array().unwrap().len(), 0);
    assert_eq!(json["flaky"][0]["run"], 0);
    let junit = scratch("flaky-junit").join("junit.xml");
    let junit_path = junit.display().to_string();
    let told = test(&files, &["--allow-flaky", "--junit", &junit_path]).expect(0);
    assert!(told.stdout.contains("flaky means"), "{}", told.stdout);
    assert!(told.stdout.contains("2 flaky"), "{}", told.stdout);
    let xml = fs::read_to_string(&junit).unwrap();
    assert!(
        xml.contains("flakyFailure") && xml.contains("failures=\"0\""),
        "{xml}"
    );
    // Who does not want to wait again gets the old answer.
    let json = test(&files, &["--confirm", "0", "--json"]).expect(1).json();
    assert_eq!(json["verdict"], "fail");
}

/// What a goal says of a run that is flaky is as little certain as what the run says.
#[test]
fn goals_of_a_flaky_run_are_flaky() {
    let files = set_up("flaky-goal", SLOW, "");
    let observer = scratch("flaky-goal-observer").join("watch.iol");
    let text = "observer Watch {
      initial state Ok { ?a -> Owed  * -> Ok }
      state Owed { !x -> Ok  delta -> Bad  * -> Owed }
      violate state Bad
    }";
    fs::write(&observer, text).unwrap();
    let path = observer.display().to_string();
    let json = test(&files, &["--observer", &path, "--json"])
        .expect(1)
        .json();
    assert_eq!(json["verdicts"]["flaky"], 2, "{json}");
    assert_eq!(json["goals"]["Watch"]["flaky"], 2, "{json}");
}

#[test]
fn a_crash_is_a_result_of_its_own() {
    let crash = "sys.stdin.readline(); sys.stderr.write('boom'); sys.exit(3)\n";
    // A busy machine may take longer than 20 ms to end a program.
    let test = |files: &[String; 2], more: &[&str]| {
        test(files, &[&["--quiescence-ms", "1000"], more].concat())
    };
    let files = set_up("crash", crash, "");
    let json = test(&files, &["--json"]).expect(1).json();
    assert_eq!(json["verdict"], "crash", "{json}");
    assert_eq!(json["verdicts"]["crash"], 2);
    assert_eq!(json["failures"][0]["run"], 0);
    assert_eq!(json["failures"][0]["exit"]["how"]["code"], 3);
    let told = test(&files, &[]).expect(1).stdout;
    assert!(
        told.contains("exit code 3") && told.contains("boom"),
        "{told}"
    );
    let files = set_up("crash-error", crash, "on-exit = \"error\"");
    test(&files, &[]).expect(4);
    let files = set_up("crash-deadlock", crash, "on-exit = \"deadlock\"");
    let json = test(&files, &["--json"]).expect(1).json();
    assert_eq!(json["verdict"], "fail");
    assert_eq!(json["failures"][0]["observed"], "deadlock");
    let files = set_up("crash-start", "sys.exit(3)\n", "");
    // It may end before the first step, which is a fault, or be caught in it.
    let code = test(&files, &[]).code;
    assert!(code == 4 || code == 1, "{code}");
}

#[test]
fn a_crash_is_replayed_and_shrunk() {
    let program = "n = 0\nfor line in sys.stdin:\n  n += 1\n  if n == 2: os._exit(7)\n  print('x', flush=True)\n";
    let files = set_up("crash-replay", program, "");
    let folder = scratch("crash-replay-journal");
    let journal = folder.join("j.jsonl").display().to_string();
    let [model, system] = &files;
    let ran = iolite(&[
        "test",
        model,
        "--sut",
        system,
        "--quiescence-ms",
        "3000",
        "--runs",
        "1",
        "--journal",
        &journal,
        "--json",
    ]);
    let json = ran.expect(1).json();
    assert_eq!(json["verdict"], "crash", "{json}");
    let again = iolite(&["replay", &journal, "--json"]).expect(1);
    assert!(again.stdout.contains("crash"), "{}", again.stdout);
    let shrunk = iolite(&["shrink", &journal, "--json"]).expect(1);
    assert!(shrunk.stdout.contains("crash"), "{}", shrunk.stdout);
}

/// The system may choose `y` for ever: a test that needs `x` says so instead of passing, and goes on
/// where it can.
#[test]
fn suites_say_what_they_reached() {
    let folder = scratch("suite-truth");
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let model = write(
        "m.iol",
        "system M {\n  input a\n  output x, y, z\n  initial state Idle { ?a -> Busy }\n  state Busy { !x -> Done  !y -> Idle }\n  state Done { !z -> Idle }\n}\n\ntest Strict for M {\n  initial inconc state One { ?a -> Two }\n  inconc state Two { !x -> Good  !y -> Bad  !z -> Bad  delta -> Bad }\n  pass state Good\n  fail state Bad\n}\n",
    );
    let suite = folder.join("suite").display().to_string();
    iolite(&[
        "derive",
        &format!("{model}#M"),
        "--cover",
        "transitions",
        "-o",
        &suite,
    ])
    .expect(0);
    let systems = write(
        "s.iol",
        "system Stubborn {\n  input a\n  output y\n  initial state Idle { ?a -> Busy }\n  state Busy { !y -> Idle  ?a -> Busy }\n}\n\nsystem Fair {\n  input a\n  output x, y, z\n  initial state Idle { ?a -> Busy }\n  state Busy { !x -> Done  !y -> Idle  ?a -> Busy }\n  state Done { !z -> Idle  ?a -> Done }\n}\n",
    );
    let run = |system: &str, suite: &str, more: &[&str]| {
        let sut = format!("model:{systems}#{system}");
        let model = format!("{model}#M");
        let fixed = [
            "test",
            &model,
            "--suite",
            suite,
            "--sut",
            &sut,
            "--no-journal",
        ];
        iolite(&[&fixed, more].concat())
    };
    let ran = run("Stubborn", &suite, &[]).expect(3);
    assert!(ran.stdout.contains("inconc: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("the test needed"), "{}", ran.stdout);
    assert!(
        ran.stdout
            .contains("transitions of the suspension automaton seen"),
        "{}",
        ran.stdout
    );
    let json = run("Stubborn", &suite, &["--json"]).expect(3).json();
    // The same document as without a suite, and each test case in it.
    assert_eq!(json["verdict"], "inconc");
    assert!(json["verdicts"]["inconc"].as_u64() > Some(0), "{json}");
    assert_eq!(json["failures"], serde_json::json!([]));
    assert_eq!(json["untried"], serde_json::json!([]));
    let last = json["cases"].as_array().unwrap().last().unwrap();
    assert_eq!(last["coverage"], json["coverage"]);
    let reasons = |case: &serde_json::Value| case["reasons"][0].as_str().map(str::to_owned);
    let cases = json["cases"].as_array().unwrap();
    for case in cases.iter().filter(|c| c["verdict"] == "inconc") {
        assert!(reasons(case).unwrap().contains("the test needed"), "{case}");
    }
    assert!(
        last["coverage"]["seen"].as_u64() < last["coverage"]["total"].as_u64(),
        "{last}"
    );
    // One that chooses x now and then is led back to the goal.
    let json = run("Fair", &suite, &["--json", "--repeat", "10", "--seed", "4"]).json();
    let last = json["cases"].as_array().unwrap().last().unwrap();
    assert_eq!(
        last["coverage"]["seen"], last["coverage"]["total"],
        "{last}"
    );
    for case in json["cases"].as_array().unwrap() {
        assert!(case["verdicts"]["fail"].is_null(), "{case}");
    }
    // A hand-written test forbids y, which the model allows.
    let own = run("Stubborn", &format!("{model}#Strict"), &[]).expect(1);
    assert!(own.stderr.contains("fails !y after ?a"), "{}", own.stderr);
    assert!(
        own.stdout.contains("judged by the test case itself"),
        "{}",
        own.stdout
    );
}

/// A stored test towards a purpose goes on where the system chooses otherwise and the goal can still be
/// reached.
#[test]
fn test_cases_towards_a_purpose_find_back() {
    let folder = scratch("purpose-trees");
    let path = folder.join("m.iol");
    let text = "system M {\n  input a\n  output x, y\n  initial state Idle { ?a -> Busy }\n  state Busy { !x -> Idle  !y -> Idle }\n}\n\nsystem Fair {\n  input a\n  output x, y\n  initial state Idle { ?a -> Busy }\n  state Busy { !x -> Idle  !y -> Idle  ?a -> Busy }\n}\n\nsystem Stubborn {\n  input a\n  output x, y\n  initial state Idle { ?a -> Busy }\n  state Busy { !y -> Idle  ?a -> Busy }\n}\n\npurpose SeeX for M {\n  initial state Wait { !x -> Seen  * -> Wait }\n  accept state Seen\n}\n";
    fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    let (model, purpose) = (format!("{path}#M"), format!("{path}#SeeX"));
    let suite = folder.join("suite").display().to_string();
    iolite(&["derive", &model, "--purpose", &purpose, "-o", &suite]).expect(0);
    let run = |system: &str| {
        let sut = format!("model:{path}#{system}");
        let fixed = ["test", &model, "--suite", &suite, "--sut", &sut];
        let more = ["--no-journal", "--json", "--repeat", "20"];
        iolite(&[&fixed[..], &more].concat()).json()
    };
    // Without a way back, half of the runs would end at the first y.
    let fair = run("Fair");
    assert!(fair["verdicts"]["pass"].as_u64() >= Some(16), "{fair}");
    let stubborn = run("Stubborn");
    assert_eq!(stubborn["verdicts"], serde_json::json!({"inconc": 20}));
    let reasons = stubborn["cases"][0]["reasons"].to_string();
    assert!(reasons.contains("the test needed"), "{reasons}");
}
