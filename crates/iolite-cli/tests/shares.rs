//! `--range`, `--partition` and `iolite merge`, as a CI job uses them, against a real program.

mod common;

use std::path::Path;

use common::{iolite, scratch, write};
use serde_json::Value;

/// A candy machine that now and then gives nothing for a dubbeltje. A model plays it: what a program does depends on the
/// machine's load, and two campaigns need not see the same.
const MISER: &str = "
system Miser {
  input shil, dub
  output liq, choc
  initial state Ready { ?shil -> Shilling  ?dub -> Dubbeltje  ?dub -> Ready }
  state Shilling { !liq -> Ready  ?shil -> Shilling  ?dub -> Shilling }
  state Dubbeltje { !choc -> Ready  ?shil -> Dubbeltje  ?dub -> Dubbeltje }
}
";

fn test(journal: &str, more: &[&str]) -> common::Ran {
    let folder = Path::new(journal).parent().expect("a folder");
    let sut = format!("model:{}", write(folder, "miser.iol", MISER));
    let mut args = vec![
        "test",
        "examples/candy/candy.iol",
        "--sut",
        &sut,
        "--steps",
        "6",
        "--journal",
        journal,
        "--json",
    ];
    args.extend(more);
    iolite(&args)
}

fn place(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// What does not depend on the machine's clock.
fn lasting(document: &Value) -> Value {
    let keys = [
        "verdict", "verdicts", "runs", "steps", "seed", "coverage", "failures",
    ];
    let pick = |key: &str| (key.to_owned(), document[key].clone());
    let mut lasting = Value::Object(keys.into_iter().map(pick).collect());
    // Only `test` makes them whole.
    for failure in lasting["failures"].as_array_mut().into_iter().flatten() {
        if let Some(failure) = failure.as_object_mut() {
            failure.remove("certificate");
        }
    }
    lasting
}

#[test]
fn parts_on_three_machines_are_one_campaign() {
    let folder = scratch("shares");
    let whole_file = place(&folder, "whole.jsonl");
    let whole = test(&whole_file, &["--runs", "9"]).expect(1).json();
    let mut parts = Vec::new();
    for k in 1..=3 {
        let file = place(&folder, &format!("part-{k}.jsonl"));
        let part = test(&file, &["--runs", "9", "--partition", &format!("{k}/3")]).json();
        assert_eq!(part["runs"], 3);
        parts.push(file);
    }
    let merged_file = place(&folder, "merged.jsonl");
    let junit = place(&folder, "junit.xml");
    let mut args = vec!["merge"];
    args.extend(parts.iter().rev().map(String::as_str));
    args.extend(["-o", &merged_file, "--json", "--junit", &junit]);
    let merged = iolite(&args).expect(1).json();
    assert_eq!(lasting(&merged), lasting(&whole));
    assert_eq!(
        merged["failures"].as_array().map(Vec::is_empty),
        Some(false)
    );
    let junit = std::fs::read_to_string(junit).expect("a report");
    assert_eq!(junit.matches("<testcase ").count(), 9, "{junit}");
    // The merged journal is a journal: its failing run fails again.
    iolite(&["replay", &merged_file]).expect(1);
    // Slices are shares too.
    let slices = [(0, 4), (4, 9)].map(|(a, b)| {
        let file = place(&folder, &format!("slice-{a}.jsonl"));
        test(&file, &["--range", &format!("{a}..{b}")]);
        file
    });
    let out = place(&folder, "of-slices.jsonl");
    let joined = iolite(&["merge", &slices[0], &slices[1], "-o", &out, "--json"]).json();
    assert_eq!(lasting(&joined), lasting(&whole));
    // Something is missing, double, or of another campaign.
    let refused = |files: &[&str], said: &str| {
        let mut args = vec!["merge"];
        args.extend(files);
        args.extend(["-o", &out]);
        let ran = iolite(&args).expect(2);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    };
    refused(
        &[&parts[0], &parts[2]],
        "3 runs of the campaign are in no journal: 1, 4, 7",
    );
    refused(&[&parts[0], &parts[0]], "run 0 is in ");
    let other = place(&folder, "other.jsonl");
    test(
        &other,
        &["--runs", "9", "--partition", "2/3", "--seed", "1"],
    );
    refused(
        &[&parts[0], &other, &parts[2]],
        "seed is 1 there and 0 here",
    );
    test(
        &other,
        &[
            "--runs",
            "9",
            "--partition",
            "2/3",
            "--strategy",
            "coverage",
        ],
    );
    refused(
        &[&parts[0], &other, &parts[2]],
        "--strategy is coverage there and uniform here",
    );
    refused(
        &[&parts[0], &write(&folder, "no.jsonl", "{}\n")],
        "no journal header",
    );
    refused(&[&place(&folder, "nothing.jsonl")], "cannot read");
    let own = iolite(&["merge", &parts[0], "-o", &parts[0], "--partial"]).expect(2);
    assert!(
        own.stderr.contains("would be overwritten"),
        "{}",
        own.stderr
    );
}

#[test]
fn shares_are_checked() {
    for (flags, said) in [
        (&["--partition", "0/3"][..], "K from 1 to N"),
        (&["--range", "3..3"], "A below B"),
        (
            &["--range", "0..3", "--partition", "1/3"],
            "cannot be used with",
        ),
        (&["--runs", "5", "--range", "3..9"], "goes beyond --runs 5"),
    ] {
        let mut args = vec!["test", "examples/candy/candy.iol", "--sut"];
        args.extend(["model:examples/candy/candy.iol", "--no-journal"]);
        args.extend(flags);
        let ran = iolite(&args).expect(2);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}

/// Stored test cases are numbered, and shared out by number.
#[test]
fn suites_are_shared_out() {
    let folder = scratch("shares-suite");
    let suite = place(&folder, "suite");
    let derived = [
        "derive",
        "examples/candy/candy.iol",
        "--count",
        "5",
        "-o",
        &suite,
    ];
    iolite(&derived).expect(0);
    let run = |journal: &str, more: &[&str]| {
        let mut args = vec!["test", "examples/candy/candy.iol", "--sut"];
        args.extend([
            "model:examples/candy/candy.iol",
            "--suite",
            &suite,
            "--repeat",
            "2",
        ]);
        args.extend(["--journal", journal, "--json"]);
        args.extend(more);
        iolite(&args).json()
    };
    let runs = |document: &Value| document["runs"].as_u64().expect("runs");
    let all = runs(&run(&place(&folder, "whole.jsonl"), &[]));
    let files = ["1/3", "2/3", "3/3"].map(|part| {
        let file = place(&folder, &format!("{}.jsonl", &part[..1]));
        (runs(&run(&file, &["--partition", part])), file)
    });
    assert_eq!(files.iter().map(|(n, _)| n).sum::<u64>(), all);
    let out = place(&folder, "merged.jsonl");
    let [(_, a), (_, b), (_, c)] = &files;
    let merged = iolite(&["merge", a, b, c, "-o", &out, "--json"]).json();
    assert_eq!(merged["runs"], all);
}

/// A program over pipes: what its shares saw is what the merged campaign tells.
#[test]
fn parts_of_a_real_program() {
    let folder = scratch("shares-program");
    let mut files = Vec::new();
    let mut verdicts = std::collections::BTreeMap::<String, u64>::new();
    for part in ["1/2", "2/2"] {
        let file = place(&folder, &format!("{}.jsonl", &part[..1]));
        let mut args = vec!["test", "examples/candy/candy.iol"];
        args.extend(["--sut", "examples/candy/sut-generous.toml", "--steps", "12"]);
        args.extend([
            "--runs",
            "4",
            "--partition",
            part,
            "--journal",
            &file,
            "--json",
        ]);
        let document = iolite(&args).json();
        for (verdict, n) in document["verdicts"].as_object().expect("counts") {
            *verdicts.entry(verdict.clone()).or_default() += n.as_u64().expect("a count");
        }
        files.push(file);
    }
    let out = place(&folder, "merged.jsonl");
    let merged = iolite(&["merge", &files[0], &files[1], "-o", &out, "--json"]).json();
    assert_eq!(merged["runs"], 4);
    let told = serde_json::to_value(&verdicts).expect("JSON");
    assert_eq!(merged["verdicts"], told);
    assert!(merged["coverage"]["seen"].as_u64() > Some(0), "{merged}");
}

/// Documents of shares, joined, against the document of one process.
fn joined(folder: &Path, name: &str, line: &[&str], code: i32) {
    let run = |more: &[&str]| {
        let mut args = line.to_vec();
        args.extend(more);
        args.push("--json");
        iolite(&args)
    };
    let whole = run(&[]).expect(code).json();
    let parts = [1, 2, 3].map(|k| {
        let part = run(&["--partition", &format!("{k}/3")]);
        write(folder, &format!("{name}-{k}.json"), part.stdout)
    });
    let out = place(folder, &format!("{name}.json"));
    let merge = |files: &[&str], more: &[&str]| {
        let mut args = vec!["merge"];
        args.extend(files);
        args.extend(["-o", &out, "--json"]);
        args.extend(more);
        iolite(&args)
    };
    let all = [parts[2].as_str(), &parts[0], &parts[1]];
    assert_eq!(merge(&all, &[]).expect(code).json(), whole, "{name}");
    let written = std::fs::read_to_string(&out).expect("a document");
    assert_eq!(
        serde_json::from_str::<Value>(&written).expect("JSON"),
        whole
    );
    // Something is missing, or there twice.
    assert!(
        merge(&all[..2], &[])
            .expect(2)
            .stderr
            .contains("in no share")
    );
    merge(&all[..2], &["--partial"]);
    let twice = [all[0], all[1], all[2], all[0]];
    let twice = merge(&twice, &[]).expect(2).stderr;
    assert!(
        twice.contains("in two shares") || twice.contains(" is in "),
        "{twice}"
    );
}

#[test]
fn mutants_and_logs_in_parts() {
    let folder = scratch("shares-documents");
    joined(
        &folder,
        "mutants",
        &["mutate", "examples/candy/candy.iol", "--max", "11"],
        0,
    );
    let log = |k: usize, steps: &[&str]| {
        let lines: Vec<String> = steps
            .iter()
            .map(|s| format!("{{\"action\":\"{s}\"}}\n"))
            .collect();
        write(&folder, &format!("log-{k}.jsonl"), lines.concat())
    };
    let logs = [
        log(0, &["?shil", "!liq"]),
        log(1, &["?dub", "!liq"]),
        log(2, &["?dub", "!choc"]),
        log(3, &["?shil", "!choc"]),
    ];
    let mut line = vec!["monitor", "examples/candy/candy.iol"];
    line.extend(logs.iter().map(String::as_str));
    joined(&folder, "logs", &line, 1);
    // Documents of two kinds are not of one analysis.
    let (one, other) = (
        place(&folder, "mutants-1.json"),
        place(&folder, "logs-1.json"),
    );
    let out = place(&folder, "out.json");
    let mixed = iolite(&["merge", &one, &other, "-o", &out]).expect(2);
    assert!(
        mixed.stderr.contains("is not a document as"),
        "{}",
        mixed.stderr
    );
}
