//! Verdicts and answers that would have been wrong: each of these was once.

mod common;

use common::{Ran, iolite, scratch, write};

const SPEC: &str =
    "system S { input a output x, y  initial state A { ?a -> B }  state B { !x -> A } }\n";

/// It sometimes shows `!x` before any input.
const EAGER: &str = "\
system I {
  input a  output x, y  internal t
  initial state Z { t -> A  t -> C }
  state A { ?a -> B }  state B { ?a -> B }  state C { ?a -> C  !x -> A }
}
";

fn test_with_journal(spec: &str, sut: &str, journal: &str, more: &[&str]) -> Ran {
    let sut = format!("model:{sut}");
    let args = ["test", spec, "--sut", &sut, "--journal", journal];
    let completion = ["--complete-inputs", "self-loop"];
    iolite(&[&args[..], &completion, more].concat())
}

#[test]
fn a_run_without_a_step_is_no_pass() {
    let folder = scratch("honesty-steps");
    let spec = write(&folder, "spec.iol", SPEC);
    iolite(&[
        "test",
        &spec,
        "--sut",
        &format!("model:{spec}"),
        "--steps",
        "0",
    ])
    .expect(2);
}

#[test]
fn each_run_of_a_journal_is_a_trace_of_its_own() {
    let folder = scratch("honesty-journal");
    let spec = write(&folder, "spec.iol", SPEC);
    let eager = write(&folder, "eager.iol", EAGER);
    let journal = folder.join("runs.jsonl").display().to_string();
    let short = ["--steps", "1", "--runs", "20"];
    test_with_journal(&spec, &spec, &journal, &short).expect(0);
    let judged = iolite(&["monitor", &spec, &journal, "--json"])
        .expect(0)
        .json();
    assert_eq!(judged["runs"], 20);
    // One run of two is wrong; joined to the other it would look right.
    let ran = test_with_journal(&spec, &eager, &journal, &["--steps", "1", "--runs", "30"]);
    assert_eq!(ran.expect(1).code, 1);
    let judged = iolite(&["monitor", &spec, &journal, "--json"])
        .expect(1)
        .json();
    let run = judged["run"].to_string();
    let args = ["monitor", &spec, &journal, "--json", "--run"];
    let alone = iolite(&[&args[..], &[run.as_str()]].concat()).expect(1);
    assert_eq!(alone.json()["certificate"]["observed"], "!x");
    iolite(&[&args[..], &["99"]].concat()).expect(2);
}

#[test]
fn the_strict_policy_refuses_livelocks_everywhere() {
    let folder = scratch("honesty-strict");
    let text = "system S { input a output x internal t  initial state A { ?a -> B } \
                state B { !x -> A t -> C } state C { t -> B } }\n";
    let explicit = write(&folder, "explicit.iol", text);
    let data = write(
        &folder,
        "data.iol",
        text.replace("input a", "var n: int = 0 input a"),
    );
    let log = write(&folder, "log.txt", "?a\ndelta\n");
    let suite = folder.join("suite").display().to_string();
    for model in [&explicit, &data] {
        let sut = format!("model:{explicit}");
        let strict = ["--quiescence", "strict"];
        for args in [
            &["monitor", model, &log][..],
            &["test", model, "--sut", &sut, "--no-journal"],
            &["derive", model, "-o", &suite],
        ] {
            let ran = iolite(&[args, &strict].concat()).expect(2);
            assert!(ran.stderr.contains("diverge"), "{}", ran.stderr);
        }
    }
    iolite(&["monitor", &explicit, &log]).expect(0);
}

const COPY: &str = "\
system S {
  var x: 0..3 = 0  input a(n: 0..3)  output o(n: 0..9)
  initial state A { ?a(n) / x := n -> B }
  state B { !o(n) [n == x] -> A }
}
";

#[test]
fn a_wrong_value_is_a_fail_where_data_are_unfolded() {
    let folder = scratch("honesty-value");
    let spec = write(&folder, "spec.iol", COPY);
    let answer = write(&folder, "answer.sh", "read x; echo 'o(7)'; cat\n");
    let sut = format!("cmd:sh {answer}");
    let args = ["test", &spec, "--sut", &sut, "--no-journal", "--unfold"];
    let ran = iolite(&[&args[..], &["--json", "--runs", "1", "--seed", "1"]].concat());
    let observed = &ran.expect(1).json()["failures"][0]["observed"];
    assert_eq!(*observed, "!o(7)");
    let wrong = COPY.replace("{ !o(n) [n == x]", "{ ?a(_) -> B !o(n) [n == x + 4]");
    let wrong = write(&folder, "wrong.iol", wrong);
    let log = write(&folder, "log.txt", "?a(1)\n!o(5)\n");
    for flags in [&[][..], &["--unfold"]] {
        iolite(&[&["monitor", &spec, &log], flags].concat()).expect(1);
    }
    let suite = folder.join("suite").display().to_string();
    iolite(&["derive", &spec, "-o", &suite, "--count", "4"]).expect(0);
    let sut = format!("model:{wrong}");
    let args = ["test", &spec, "--sut", &sut, "--no-journal"];
    iolite(&[&args[..], &["--suite", &suite]].concat()).expect(1);
    // Test cases of another model say so, and so does a folder that was used before.
    let other = write(&folder, "other.iol", COPY.replace("n == x", "n == x + 1"));
    let args = ["test", &other, "--sut", &sut, "--no-journal"];
    let ran = iolite(&[&args[..], &["--suite", &suite]].concat());
    assert!(ran.stderr.contains("another model"), "{}", ran.stderr);
    let ran = iolite(&["derive", &spec, "-o", &suite, "--count", "2"]).expect(0);
    assert!(ran.stderr.contains("2 more test cases"), "{}", ran.stderr);
}

#[test]
fn a_guard_that_faults_is_no_silence_in_an_unfolded_system() {
    let folder = scratch("honesty-fault");
    let text = COPY.replace("var x", "var w: int[] = [1, 2, 3], x");
    let faulty = write(&folder, "faulty.iol", text.replace("n == x]", "n == w[x]]"));
    let mute = text.replace("n == x]", "x < 3 && n == w[x]]");
    let mute = write(&folder, "mute.iol", mute);
    let log = write(&folder, "log.txt", "?a(3)\ndelta\n");
    iolite(&["monitor", &faulty, &log]).expect(3);
    iolite(&["monitor", &mute, &log]).expect(0);
    for args in [
        &["monitor", &faulty, &log, "--unfold"][..],
        &[
            "relate",
            "ioco",
            &mute,
            &faulty,
            "--complete-inputs",
            "self-loop",
        ],
        &["show", &faulty],
    ] {
        let ran = iolite(args).expect(2);
        assert!(ran.stderr.contains("IOL405"), "{}", ran.stderr);
    }
}

#[test]
fn explain_confirms_claims_and_not_traces_alone() {
    let folder = scratch("honesty-explain");
    for text in [
        SPEC.to_owned(),
        SPEC.replace("input a", "var n: int = 0 input a"),
    ] {
        let spec = write(&folder, "spec.iol", text);
        let log = write(&folder, "log.txt", "?a\n!y\n");
        let judged = iolite(&["monitor", &spec, &log, "--json"]).expect(1).json();
        let certificate = judged["certificate"].clone();
        let explain = |certificate: &serde_json::Value| {
            let file = write(&folder, "cert.json", certificate.to_string());
            iolite(&["explain", &file]).code
        };
        assert_eq!(explain(&certificate), 0);
        for (key, value, code) in [
            ("verdict", serde_json::json!("pass"), 1),
            ("observed", serde_json::json!("?a"), 1),
            ("observed", serde_json::json!("!x"), 1),
            ("allowed", serde_json::json!(["!x", "!y"]), 1),
            ("kind", serde_json::json!("xyz"), 2),
            ("trace", serde_json::json!(["?a", "?a"]), 1),
        ] {
            let mut tampered = certificate.clone();
            tampered[key] = value;
            assert_eq!(explain(&tampered), code, "{tampered}");
        }
    }
}

/// A certificate of the log, judged with these flags, and what `explain` makes of it once changed.
fn explained(
    folder: &std::path::Path,
    (model, log): (&str, &str),
    flags: &[&str],
    change: impl FnOnce(&mut serde_json::Value),
) -> Ran {
    let log = write(folder, "log.txt", log);
    let judged = iolite(&[&["monitor", model, &log, "--json"], flags].concat());
    let mut certificate = judged.expect(1).json()["certificate"].clone();
    change(&mut certificate);
    let file = write(folder, "cert.json", certificate.to_string());
    iolite(&["explain", &file])
}

#[test]
fn values_that_an_unfolded_model_never_gives_are_shown_and_confirmed() {
    let folder = scratch("honesty-other-values");
    let spec = write(&folder, "spec.iol", COPY);
    let log = (spec.as_str(), "?a(1)\n!o(5)\n");
    let ran = explained(&folder, log, &["--unfold"], |c| {
        assert_eq!(c["observed"], "!o(5)");
    });
    ran.expect(0);
    let unseen = |c: &mut serde_json::Value| c["observed"] = serde_json::json!("!o(…)");
    explained(&folder, log, &["--unfold"], unseen).expect(0);
    for (key, value) in [
        ("observed", serde_json::json!("!p(…)")),
        ("observed", serde_json::json!("?a(…)")),
        ("trace", serde_json::json!(["?a(1)", "!o(2)", "?a(0)"])),
    ] {
        let ran = explained(&folder, log, &["--unfold"], |c| c[key] = value.clone());
        assert_eq!(ran.code, 1, "{key} {value}: {}", ran.stdout);
    }
}

/// A certificate that falsifies what was allowed, or where, is false.
#[test]
fn explain_rejects_what_was_not_allowed_and_places_that_are_not_there() {
    let folder = scratch("honesty-allowed");
    let plain = write(&folder, "plain.iol", SPEC);
    let data = write(&folder, "data.iol", COPY);
    for (log, flags, allowed) in [
        ((&*plain, "?a\n!y\n"), &[][..], "!x"),
        ((&*data, "?a(1)\n!o(2)\n"), &[], "!o(1)"),
        ((&*data, "?a(1)\n!o(2)\n"), &["--unfold"], "!o(1)"),
    ] {
        let ran = explained(&folder, log, flags, |_| {}).expect(0);
        assert!(!ran.stdout.contains("note:"), "{}", ran.stdout);
        let shown = format!("allowed:  {allowed}\n");
        assert!(ran.stdout.contains(&shown), "{}", ran.stdout);
        for (key, value) in [("allowed", "!o(3)"), ("locations", "Nowhere")] {
            let change = |c: &mut serde_json::Value| c[key] = serde_json::json!([value]);
            let ran = explained(&folder, log, flags, change).expect(1);
            assert!(ran.stdout.contains("not confirmed"), "{}", ran.stdout);
        }
    }
}

const WATCHED: &str = "system S {
  input a
  output x, y, z
  initial state A { ?a -> B }
  state B { !x -> A  !y -> A }
}
observer NoY for S {
  initial state Ok { !y -> Bad  !z -> Bad  * -> Ok }
  violate state Bad
}
";

/// The verdicts of [SAFE04]: each certificate is confirmed, and none passes for another.
#[test]
fn certificates_carry_their_observers() {
    let folder = scratch("honesty-observers");
    let spec = write(&folder, "spec.iol", WATCHED);
    let watch = format!("{spec}#NoY");
    for (log, verdict) in [
        ("?a\n!y\n", "violate"),
        ("?a\n!z\n", "violate-fail"),
        ("!x\n", "fail"),
    ] {
        let log = write(&folder, "log.txt", log);
        let file = folder.join("c.json").display().to_string();
        let args = [
            "monitor",
            &spec,
            &log,
            "--observer",
            &watch,
            "--certificate",
            &file,
        ];
        iolite(&args).expect(1);
        iolite(&["explain", &file]).expect(0);
        let text = std::fs::read_to_string(&file).expect("the certificate");
        let whole: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(whole["verdict"], verdict);
        for other in ["violate", "violate-fail", "fail"]
            .iter()
            .filter(|v| **v != verdict)
        {
            let mut forged = whole.clone();
            forged["verdict"] = serde_json::json!(other);
            let forged = write(&folder, "forged.json", forged.to_string());
            iolite(&["explain", &forged]).expect(1);
        }
    }
}

/// What `verify` refutes has a certificate too, and it stands without its files.
#[test]
fn a_refuted_observer_has_a_certificate() {
    let folder = scratch("honesty-refuted");
    let spec = write(&folder, "spec.iol", WATCHED);
    let watch = format!("{spec}#NoY");
    let file = folder.join("c.json").display().to_string();
    let model = format!("{spec}#S");
    let args = [
        "verify",
        &model,
        "--property",
        &watch,
        "--certificate",
        &file,
        "--json",
    ];
    let ran = iolite(&args).expect(1).json();
    assert_eq!(ran["properties"][0]["certificate"]["verdict"], "refuted");
    std::fs::remove_file(&spec).expect("the file goes");
    iolite(&["explain", &file]).expect(0);
    let text = std::fs::read_to_string(&file).expect("the certificate");
    let forged = write(&folder, "forged.json", text.replacen("!y", "!x", 1));
    iolite(&["explain", &forged]).expect(1);
}

/// A formula's certificate knows its actions, so that they need not be named again.
#[test]
fn a_formula_is_explained_without_its_actions() {
    let folder = scratch("honesty-formula");
    let log = write(&folder, "log.txt", "?a\n!x\n");
    let file = folder.join("c.json").display().to_string();
    let formula = "ltl:G(not !x)";
    let args = [
        "monitor",
        formula,
        &log,
        "--over",
        "?a,!x,!y",
        "--certificate",
        &file,
    ];
    let ran = iolite(&args);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    iolite(&["explain", &file]).expect(0);
}

#[test]
fn no_step_of_a_log_is_lost() {
    let folder = scratch("honesty-log");
    let spec = write(&folder, "spec.iol", SPEC);
    for log in [
        "{\"action\":\"?a\"}\n{\"action\":[\"!y\"]}\n",
        "{\"input\":\"a\",\"output\":\"y\"}\n",
        "{\"action\":\"?a\"}\n!y",
    ] {
        let log = write(&folder, "log.jsonl", log);
        iolite(&["monitor", &spec, &log]).expect(2);
    }
}

#[test]
fn a_certificate_is_written_through_a_link() {
    let folder = scratch("honesty-link");
    let spec = write(&folder, "spec.iol", SPEC);
    let wrong = write(
        &folder,
        "wrong.iol",
        SPEC.replace("!x -> A", "!y -> A ?a -> B"),
    );
    let target = folder.join("target.json");
    std::fs::write(&target, "").expect("a file");
    let link = folder.join("link.json");
    std::os::unix::fs::symlink(&target, &link).expect("a link");
    let link = link.display().to_string();
    let args = ["relate", "ioco", &wrong, &spec, "--certificate", &link];
    iolite(&[&args[..], &["--complete-inputs", "self-loop"]].concat()).expect(1);
    assert!(std::fs::read(&target).is_ok_and(|bytes| !bytes.is_empty()));
    assert!(std::fs::symlink_metadata(&link).is_ok_and(|m| m.is_symlink()));
}

const TYPED: &str = "\
record P { x: 0..3, y: 0..3 }
system M {
  input go  output p(v: P), s(v: string), n(v: 0..9), b(v: bool)
  initial state S { ?go -> T }
  state T {
    !p(v) [v == P { x = 1, y = 2 }] -> S  !s(v) [v == \"5\"] -> S  !n(v) [v == 5] -> S  !b(v) [v] -> S
  }
}
";

/// The exit codes of a log, as it is and unfolded.
fn judged(model: &str, log: &str, more: &[&str]) -> [i32; 2] {
    [&[][..], &["--unfold"]]
        .map(|flags| iolite(&[&["monitor", model, log], flags, more].concat()).code)
}

#[test]
fn a_json_value_has_its_type_and_no_other() {
    let folder = scratch("honesty-json");
    let model = write(&folder, "typed.iol", TYPED);
    let rule = |name: &str| format!("[actions.{name}]\nrecv = '{name} {{v:json}}'\n");
    let rules: String = ["p", "s", "n", "b"].map(rule).concat();
    let rules = write(&folder, "sut.toml", format!("command = 'true'\n{rules}"));
    for (message, code) in [
        ("n 5", 0),
        ("n 6", 1),
        ("n \"5\"", 2),
        ("s \"5\"", 0),
        ("s 5", 2),
        ("b true", 0),
        ("b \"true\"", 2),
        (r#"p {"y":2,"x":1}"#, 0),
        (r#"p {"y":2,"x":"1"}"#, 2),
        (r#"p {"y":2,"x":1,"z":1}"#, 2),
        (r#"p {"y":2,"x":1,"x":1}"#, 2),
    ] {
        let text = write(&folder, "log.txt", format!("?go\n{message}\n"));
        let read = judged(&model, &text, &["--templates", &rules]);
        assert_eq!(read, [code; 2], "{message}");
        let (name, value) = message.split_once(' ').expect("two words");
        let line = format!("{{\"output\":\"{name}\",\"args\":[{value}]}}");
        let lines = format!("{{\"input\":\"go\"}}\n{line}\n");
        let lines = write(&folder, "log.jsonl", lines);
        assert_eq!(judged(&model, &lines, &[]), [code; 2], "{line}");
    }
    let large = "{\"input\":\"go\"}\n{\"output\":\"n\",\"args\":[5000000000000000000005]}\n";
    let large = write(&folder, "large.jsonl", large);
    assert_eq!(judged(&model, &large, &[]), [1; 2]);
}

/// Unfolded, what text stands for was once guessed from its looks.
#[test]
fn text_is_read_by_the_sorts_where_data_are_unfolded() {
    let folder = scratch("honesty-text");
    let model = write(&folder, "typed.iol", TYPED);
    let rules = "command = 'true'\n[actions.p]\nrecv = 'p {v:json}'\n[actions.s]\nrecv = 's {v}'\n\
                 [actions.n]\nrecv = 'n {v:word}'\n";
    let rules = write(&folder, "sut.toml", rules);
    for (message, code) in [
        ("s 5", 0),
        ("s 6", 1),
        ("n 5", 0),
        ("n 6", 1),
        ("n 12", 1),
        ("n x", 2),
        (r#"p {"x":1,"y":2}"#, 0),
        (r#"p {"x":2,"y":1}"#, 1),
        ("!p({x: 1, y: 2})", 0),
        ("!s(5)", 0),
        ("!n(\"5\")", 2),
    ] {
        let log = write(&folder, "log.txt", format!("?go\n{message}\n"));
        let read = judged(&model, &log, &["--templates", &rules]);
        assert_eq!(read, [code; 2], "{message}");
        if let Some(said) = message.strip_prefix('!') {
            let sut = write(&folder, "say.sh", format!("read x; echo '{said}'; cat\n"));
            let sut = format!("cmd:sh {sut}");
            let args = [
                "test",
                &model,
                "--sut",
                &sut,
                "--no-journal",
                "--steps",
                "2",
            ];
            let more = ["--runs", "1", "--quiescence-ms", "2000"];
            let exit = if code == 2 { 4 } else { code };
            for flags in [&[][..], &["--unfold"]] {
                iolite(&[&args[..], &more, flags].concat()).expect(exit);
            }
        }
    }
}

/// An input that the model does not specify tells nothing of the system, whatever its values.
#[test]
fn an_input_with_other_values_is_inconclusive_unfolded_or_not() {
    let folder = scratch("honesty-input");
    let model = write(&folder, "spec.iol", COPY);
    for input in ["?a(7)", "?a(-1)"] {
        let log = write(
            &folder,
            "log.txt",
            format!("?a(1)\n!o(1)\n{input}\n!o(9)\n"),
        );
        assert_eq!(judged(&model, &log, &[]), [3; 2], "{input}");
    }
    for unknown in ["?b(7)", "?a(7, 7)", "?a(\"7\")", "?a"] {
        let log = write(&folder, "log.txt", format!("{unknown}\n"));
        assert_eq!(judged(&model, &log, &[]), [2; 2], "{unknown}");
    }
}
