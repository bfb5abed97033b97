//! `iolite init`: what it writes runs as it says.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{iolite, scratch};

/// The exit code of `iolite` run in a folder, and what it printed.
fn run_in(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_iolite"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("iolite starts");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

/// Each kind of system: the model is sound and in canonical layout, the system conforms, the planted fault is found.
#[test]
fn what_is_written_runs() {
    for kind in ["stdio", "tcp", "http"] {
        let folder = scratch(&format!("init-{kind}"));
        let path = folder.to_str().expect("a path of text");
        let written = iolite(&["init", path, "--kind", kind, "--json"]).expect(0);
        let commands = written.json()["commands"].clone();
        let commands = commands.as_array().expect("a list of commands");
        assert_eq!(commands.len(), 2);
        for arguments in [
            ["check", "turnstile.iol"].as_slice(),
            &["fmt", "--check", "turnstile.iol"],
        ] {
            let (code, text) = run_in(&folder, arguments);
            assert_eq!(code, Some(0), "{text}");
        }
        for (command, expected) in commands.iter().zip([0, 1]) {
            let words: Vec<&str> = command.as_str().expect("a command").split(' ').collect();
            assert_eq!(words[0], "iolite");
            let (code, text) = run_in(&folder, &words[1..]);
            assert_eq!(code, Some(expected), "{kind}: {command}\n{text}");
        }
    }
}

/// A crate is written with its tests; the same sources are compiled and run by the library's own tests.
#[test]
fn a_crate_names_its_library() {
    let folder = scratch("init-crate");
    let path = folder.to_str().expect("a path of text");
    // Without the library the commands that are printed would not run.
    let refused = iolite(&["init", path, "--kind", "in-process"]).expect(2);
    assert!(
        refused.stderr.contains("--library PATH"),
        "{}",
        refused.stderr
    );
    let library = folder.join("a \"b\"");
    let library = library.to_str().expect("a path of text");
    let init = ["init", path, "--kind", "in-process", "--library", library];
    let refused = iolite(&init).expect(2);
    assert!(
        refused.stderr.contains("no Cargo.toml"),
        "{}",
        refused.stderr
    );
    assert!(!folder.join("turnstile.iol").exists());
    std::fs::create_dir_all(library).expect("a folder");
    std::fs::write(format!("{library}/Cargo.toml"), "").expect("a manifest");
    iolite(&init).expect(0);
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let library = manifest["dev-dependencies"]["iolite"]["path"].as_str();
    assert!(
        library.is_some_and(|l| l.ends_with("a \"b\"")),
        "{library:?}"
    );
    assert!(folder.join("tests/conformance.rs").is_file());
}

/// Nothing is overwritten, and nobody is asked who is not there.
#[test]
fn mistakes_write_nothing() {
    let folder = scratch("init-taken");
    let path = folder.to_str().expect("a path of text");
    std::fs::write(folder.join("sut.toml"), "mine").expect("a file");
    let refused = iolite(&["init", path, "--kind", "tcp"]).expect(2);
    assert!(
        refused.stderr.contains("sut.toml is there already"),
        "{}",
        refused.stderr
    );
    let names: Vec<_> = std::fs::read_dir(&folder).expect("a folder").collect();
    assert_eq!(names.len(), 1);
    let unasked = iolite(&["init", path]).expect(2);
    assert!(
        unasked.stderr.contains("--kind stdio"),
        "{}",
        unasked.stderr
    );
    iolite(&["init", path, "--kind", "tcp", "--library", "."]).expect(2);
}
