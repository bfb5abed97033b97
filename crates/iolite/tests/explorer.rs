//! Models that another program explores: the same answers as the model itself, and no answer at all from a
//! program that fails, floods or contradicts itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolite::{
    Campaign, ErrorKind, Judge, JudgeOptions, ModelRef, Relation, RelationOptions, Target,
    TargetOptions, Verdict, Workspace,
};
use iolite_lts::{LabelKind, Semantics};
use proptest::prelude::*;

fn folder(name: &str) -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("iolite-explorer-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// A program in Python with these lines between question and answer.
fn program(folder: &Path, body: &str) -> ModelRef {
    let path = folder.join("model.py");
    let text = format!(
        "import json, sys, time, os\nasked = 0\nfor line in sys.stdin:\n    q = json.loads(line)\n    asked += 1\n{}",
        body.lines()
            .map(|l| format!("    {l}\n"))
            .collect::<Vec<_>>()
            .concat()
    );
    fs::write(&path, text).expect("the program is written");
    ModelRef::from(format!("explore:python3 \"{}\"", path.display()).as_str())
}

fn explorer_of_table(folder: &Path, table: &str, labels: &str) -> ModelRef {
    program(
        folder,
        &format!(
            "table = {table}\n\
             if q['ask'] == 'initial':\n    \
                 print(json.dumps({{'explorer': 1, 'labels': {labels}, 'initial': 0}}), flush=True)\n\
             else:\n    \
                 print(json.dumps({{'successors': table[q['state']]}}), flush=True)"
        ),
    )
}

fn relate(
    workspace: &Workspace,
    i: &ModelRef,
    s: &ModelRef,
) -> Result<Option<bool>, iolite::Error> {
    let mut options = RelationOptions::new(Relation::Ioco);
    options.semantics.complete_inputs = Some(iolite::CompletionFlag::SelfLoop);
    let document = workspace.relate(i, s, &options, &mut |_| None)?;
    Ok(document.holds)
}

fn campaign(
    workspace: &Workspace,
    model: &ModelRef,
    sut: &str,
    runs: u64,
) -> Result<iolite_exec::Summary, iolite::Error> {
    let judge = Judge::new(workspace, model, &JudgeOptions::default())?;
    let options = TargetOptions {
        sut: sut.to_owned(),
        complete_inputs: Some(iolite_lts::Completion::SelfLoop),
        ..TargetOptions::default()
    };
    let target = Target::new(workspace, &options)?;
    Campaign::new(judge)
        .runs(runs)
        .steps(40)
        .run(&target, &mut ())
}

/// States with their steps, as (label, state).
type Table = Vec<Vec<(u8, usize)>>;

fn any_table() -> impl Strategy<Value = Table> {
    (1usize..5).prop_flat_map(|n| {
        prop::collection::vec(prop::collection::vec((0u8..5, 0..n), 0..4), n..=n)
    })
}

const LABELS: [&str; 5] = ["?a", "?b", "!x", "!y", "i"];

fn as_iol(table: &Table) -> String {
    let mut text = "system M {\n  input a, b\n  output x, y\n".to_owned();
    for (k, steps) in table.iter().enumerate() {
        let initial = if k == 0 { "initial " } else { "" };
        text += &format!("  {initial}state s{k} {{\n");
        for (label, target) in steps {
            text += &format!("    {} -> s{target}\n", LABELS[usize::from(*label)]);
        }
        text += "  }\n";
    }
    text + "}\n"
}

fn as_python(table: &Table) -> String {
    let rows: Vec<String> = table
        .iter()
        .map(|steps| {
            let steps = steps.iter();
            let steps = steps.map(|(l, t)| format!("['{}', {t}]", LABELS[usize::from(*l)]));
            format!("[{}]", steps.collect::<Vec<_>>().join(", "))
        })
        .collect();
    format!("[{}]", rows.join(", "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A model is the same whoever explores it: relations, and runs step by step.
    #[test]
    fn explored_and_written_models_agree(table in any_table(), other in any_table(), k in 0u32..1_000_000) {
        let folder = folder(&format!("agree-{k}"));
        let explored = explorer_of_table(&folder, &as_python(&table), "['?a','?b','!x','!y']");
        let written = folder.join("m.iol");
        fs::write(&written, as_iol(&table)).expect("written");
        let implementation = folder.join("i.iol");
        fs::write(&implementation, as_iol(&other)).expect("written");
        let (written, i) = (ModelRef::file(&written), ModelRef::file(&implementation));
        let workspace = Workspace::new();
        let by_file = relate(&workspace, &i, &written).map_err(|e| e.to_string());
        let by_program = relate(&workspace, &i, &explored).map_err(|e| e.to_string());
        prop_assert_eq!(by_file.is_ok(), by_program.is_ok());
        prop_assert_eq!(by_file.ok(), by_program.ok());
        let sut = format!("model:{i}");
        let by_file = campaign(&workspace, &written, &sut, 3);
        let by_program = campaign(&workspace, &explored, &sut, 3);
        match (by_file, by_program) {
            (Ok(a), Ok(b)) => {
                let text = |s: &iolite_exec::Summary| -> BTreeMap<u64, (Vec<String>, Option<String>)> {
                    s.failures.iter().map(|(k, c)| (*k, (c.trace.clone(), c.observed.clone()))).collect()
                };
                prop_assert_eq!(&a.verdicts, &b.verdicts);
                prop_assert_eq!(text(&a), text(&b));
            }
            (Err(_), Err(_)) => {}
            (a, b) => prop_assert!(false, "{:?} {:?}", a.is_ok(), b.is_ok()),
        }
        let _ = fs::remove_dir_all(folder);
    }
}

/// A model that counts without end: what a test walks is asked for, and no more.
#[test]
fn infinite_models_are_tested_lazily() {
    let folder = folder("lazy");
    let asked = folder.join("asked");
    let model = program(
        &folder,
        &format!(
            "if q['ask'] == 'initial':\n    \
                 print('{{\"explorer\":1,\"labels\":[\"?up\",\"!ok\"],\"initial\":0}}', flush=True)\n\
             else:\n    \
                 n = q['state']\n    \
                 open({:?}, 'a').write('.')\n    \
                 steps = [['?up', n + 1]] if n % 2 == 0 else [['!ok', n + 1]]\n    \
                 print(json.dumps({{'successors': steps}}), flush=True)",
            asked.display().to_string()
        ),
    );
    let workspace = Workspace::new();
    let summary = campaign(&workspace, &model, &format!("model:{model}"), 2).expect("runs");
    assert_eq!(summary.verdict(), Some(Verdict::Pass));
    let count = fs::read(&asked).expect("it was asked").len();
    assert!((20..=60).contains(&count), "{count} states for 40 steps");
    // The whole of it cannot be had.
    let workspace = Workspace::with_options(iolite::ReadOptions {
        max_states: Some(500),
        ..iolite::ReadOptions::default()
    });
    let refused = relate(&workspace, &model, &model).expect_err("it has no end");
    assert_eq!(refused.kind(), ErrorKind::Undecided, "{refused}");
    let _ = fs::remove_dir_all(folder);
}

/// Programs that fail in one way or another, and what is said of them.
#[test]
fn programs_that_fail_are_faults() {
    const GREETING: &str = "if q['ask'] == 'initial':\n    \
        print('{\"explorer\":1,\"labels\":[\"?a\",\"!x\"],\"initial\":0}', flush=True)\n    \
        continue\n";
    for (name, body, words) in [
        (
            "dies",
            "sys.stderr.write('no such model'); sys.exit(3)",
            "no such model",
        ),
        (
            "complains",
            "print('{\"error\":\"out of ideas\"}', flush=True)",
            "out of ideas",
        ),
        (
            "babbles",
            "print('hello', flush=True)",
            "not as it should be",
        ),
        (
            "mistyped",
            "print('{\"succesors\":[]}', flush=True)",
            "not as it should be",
        ),
        (
            "invents",
            "print('{\"successors\":[[\"!y\",0]]}', flush=True)",
            "not among those that it named",
        ),
        (
            "quiescent",
            "print('{\"successors\":[[\"delta\",0]]}', flush=True)",
            "quiescence is computed",
        ),
        (
            "talks",
            "print('{\"successors\":[[\"?a\",1]]}\\n{\"successors\":[]}', flush=True); time.sleep(0.2)",
            "nobody asked for",
        ),
        (
            "floods",
            "sys.stdout.write('[' * (17 << 20)); sys.stdout.flush()",
            "bytes",
        ),
        (
            "large",
            "print(json.dumps({'successors': [['?a', 'z' * 70000]]}), flush=True)",
            "bytes",
        ),
        (
            "changes",
            "print(json.dumps({'successors': [['?a', asked], ['!x', 0]]}), flush=True)",
            "answered otherwise",
        ),
        (
            "nested",
            "print('[' * 100000, flush=True)",
            "not as it should be",
        ),
    ] {
        let folder = folder(name);
        let model = program(&folder, &format!("{GREETING}{body}"));
        let workspace = Workspace::new();
        let file = folder.join("i.iol");
        // It does everything, so that a walk goes on as long as the model does.
        fs::write(
            &file,
            "system I { input a output x initial state s { ?a -> s !x -> s } }",
        )
        .expect("written");
        let i = ModelRef::file(&file);
        let error = relate(&workspace, &i, &model).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Fault, "{name}: {error}");
        assert!(error.message().contains(words), "{name}: {error}");
        // No run has a verdict either.
        let workspace = Workspace::new();
        match campaign(&workspace, &model, &format!("model:{i}"), 200) {
            Err(error) => assert_eq!(error.kind(), ErrorKind::Fault, "{name}: {error}"),
            Ok(summary) => {
                assert!(summary.failures.is_empty(), "{name}");
                assert!(!summary.faults.is_empty(), "{name}");
            }
        }
        let _ = fs::remove_dir_all(folder);
    }
}

#[test]
fn greetings_are_checked() {
    for (name, answer, words) in [
        (
            "version",
            "{\"explorer\":2,\"labels\":[],\"initial\":0}",
            "version 2",
        ),
        (
            "delta",
            "{\"explorer\":1,\"labels\":[\"delta\"],\"initial\":0}",
            "quiescence is computed",
        ),
        (
            "control",
            "{\"explorer\":1,\"labels\":[\"?a\\nb\"],\"initial\":0}",
            "is no label",
        ),
    ] {
        let folder = folder(name);
        let model = program(&folder, &format!("print({answer:?}, flush=True)"));
        let error = Workspace::new().explicit(&model).expect_err(name);
        assert!(error.message().contains(words), "{name}: {error}");
        let _ = fs::remove_dir_all(folder);
    }
    for (command, words) in [
        ("explore:", "is followed by"),
        ("explore:/no/such/program", "cannot reach"),
    ] {
        let error = Workspace::new()
            .explicit(&command.into())
            .expect_err(command);
        assert!(error.message().contains(words), "{command}: {error}");
    }
}

/// One program for all who share a snapshot, and none left behind.
#[test]
fn a_snapshot_has_one_program() {
    let folder = folder("one");
    let started = folder.join("started");
    let model = program(
        &folder,
        &format!(
            "if q['ask'] == 'initial':\n    \
                 open({:?}, 'a').write(str(os.getpid()) + ' ')\n    \
                 print('{{\"explorer\":1,\"labels\":[\"?a\",\"!x\"],\"initial\":\"s\"}}', flush=True)\n\
             else:\n    \
                 print('{{\"successors\":[[\"?a\",\"s\"],[\"i\",\"s\"]]}}', flush=True)",
            started.display().to_string()
        ),
    );
    let workspace = Workspace::new();
    let spec = workspace.explicit(&model).expect("explored");
    let again = workspace.explicit(&model).expect("explored");
    workspace.spec(&model).expect("explored");
    let system = spec.system();
    assert_eq!(system.labels().of_kind(LabelKind::Input).count(), 1);
    assert_eq!(system.describe(&system.initial()), "s");
    let text = fs::read_to_string(&started).expect("it was started");
    let pids: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(pids.len(), 1);
    drop((workspace, spec, again, system));
    let process = PathBuf::from("/proc").join(pids[0]);
    for _ in 0..100 {
        if !process.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!process.exists(), "the program is still there");
    let _ = fs::remove_dir_all(folder);
}
