//! The recipes of docs/campaigns.md, run as the schedulers they are for would run them: with the variables that
//! these set, and each task a second time, as after a preemption.

mod common;

use std::path::Path;
use std::process::Command;

use common::{Ran, root, scratch, write};

/// The first block of a section that begins with this fence.
fn block(section: &str, fence: &str) -> String {
    let text = std::fs::read_to_string(root().join("docs/campaigns.md")).expect("the manual");
    let (_, text) = text
        .split_once(&format!("## {section}\n"))
        .expect("a section");
    let (_, text) = text.split_once(&format!("```{fence}\n")).expect("a block");
    text.split("```").next().unwrap_or_default().to_owned()
}

/// A folder in which the recipes' files are there.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = scratch(name);
    std::fs::copy(
        root().join("examples/candy/candy.iol"),
        folder.join("model.iol"),
    )
    .expect("a model");
    write(&folder, "sut.toml", "model = \"model.iol\"\n");
    folder
}

/// A script in a folder, with `iolite` on the path.
fn script(folder: &Path, text: &str, variables: &[(&str, String)]) -> Ran {
    let own = Path::new(env!("CARGO_BIN_EXE_iolite"))
        .parent()
        .expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.arg("-c").arg(text).current_dir(folder);
    command.env("PATH", format!("{}:{path}", own.display()));
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let output = command.output().expect("sh starts");
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn a_slurm_array() {
    let folder = folder("recipe-slurm");
    let task = block("A Slurm array", "sh").replace("--runs 100000", "--runs 90");
    assert!(task.contains("--runs 90"), "{task}");
    for number in [1, 2, 3, 4, 2] {
        let variables = [
            ("SLURM_ARRAY_TASK_ID", number.to_string()),
            ("SLURM_ARRAY_TASK_COUNT", "4".to_owned()),
        ];
        script(&folder, &task, &variables).expect(0);
    }
    let merged = script(
        &folder,
        "iolite merge part-*.jsonl -o all.jsonl --json",
        &[],
    );
    assert_eq!(merged.expect(0).json()["runs"], 90);
}

#[test]
fn a_kubernetes_indexed_job() {
    let folder = folder("recipe-kubernetes");
    let job = block("A Kubernetes indexed job", "yaml");
    // The text of the container's argument, as YAML folds it, with another place for the results.
    let (_, argument) = job.split_once("            - iolite").expect("an argument");
    let (argument, _) = argument
        .split_once("          volumeMounts")
        .expect("its end");
    let lines: Vec<&str> = argument.lines().map(str::trim).collect();
    let task = format!("iolite {}", lines.join(" ").trim());
    let task = task
        .replace("--runs 100000", "--runs 100")
        .replace("/results/", "./");
    assert!(task.contains("JOB_COMPLETION_INDEX + 1"), "{task}");
    for index in (0..20).chain([7]) {
        script(
            &folder,
            &task,
            &[("JOB_COMPLETION_INDEX", index.to_string())],
        )
        .expect(0);
    }
    let merged = script(
        &folder,
        "iolite merge part-*.jsonl -o all.jsonl --json",
        &[],
    );
    assert_eq!(merged.expect(0).json()["runs"], 100);
}
