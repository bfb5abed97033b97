//! The README and the manuals say what is so: their models are checked, their descriptions of
//! systems loaded, their commands run and the answers compared.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{iolite, root, scratch, write};
use iolite_exec::SutConfig;

/// A fenced block of a document.
struct Block {
    /// File and line of the fence.
    place: String,
    /// What follows the fence: the language, and a file name where other blocks use the file.
    language: String,
    file: Option<String>,
    text: String,
}

/// The README and every manual, by name.
fn documents() -> Vec<PathBuf> {
    let mut manuals = pages_in("docs");
    manuals.insert(0, root().join("README.md"));
    manuals
}

fn pages_in(folder: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(root().join(folder)).expect("the manuals");
    let mut pages: Vec<PathBuf> = files.map(|f| f.expect("a manual").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|e| e == "md"));
    pages.sort();
    assert!(pages.len() >= 2, "{pages:?}");
    pages
}

fn blocks(document: &Path) -> Vec<Block> {
    let text = std::fs::read_to_string(document).expect("a document");
    let name = document.file_name().unwrap_or_default().to_string_lossy();
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                let mut words = info.split_whitespace().map(str::to_owned);
                open = Some(Block {
                    place: format!("{name}:{}", number + 1),
                    language: words.next().unwrap_or_default(),
                    file: words.next(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{name}: a block without an end");
    blocks
}

fn blocks_in(language: &str, documents: &[PathBuf]) -> Vec<Block> {
    let mut found: Vec<Block> = documents.iter().flat_map(|d| blocks(d)).collect();
    found.retain(|b| b.language == language);
    assert!(!found.is_empty(), "no block in {language}");
    found
}

#[test]
fn models_pass_the_check() {
    let folder = scratch("manual-models");
    for block in blocks_in("iol", &documents()) {
        let file = write(&folder, "block.iol", &block.text);
        let ran = iolite(&["check", "--deny-warnings", &file]);
        assert_eq!(ran.code, 0, "{}\n{}", block.place, ran.stderr);
    }
}

/// A block of language `toml` is a whole description; `toml-part` is one together with a command.
#[test]
fn descriptions_are_loaded() {
    let documents = documents();
    let parts = blocks_in("toml-part", &documents).into_iter().map(|part| {
        let text = format!("command = \"program\"\n{}", part.text);
        Block { text, ..part }
    });
    for block in blocks_in("toml", &documents).into_iter().chain(parts) {
        if let Err(error) = SutConfig::parse(&block.text) {
            panic!("{}: {error}", block.place);
        }
    }
}

/// A folder like the root of the project, where commands may leave journals behind.
fn mirror(name: &str) -> PathBuf {
    let folder = scratch(name);
    let examples = root().canonicalize().expect("the root").join("examples");
    std::os::unix::fs::symlink(examples, folder.join("examples")).expect("a link");
    folder
}

/// Runs a line of a shell with `iolite` on its path; both outputs as they come.
fn shell(line: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_iolite"));
    let mut path = program.parent().expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {line}")])
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .expect("a shell");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The same text with `0.0` in each `in 1.2 s`: how long it takes depends on the machine.
fn untimed(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for k in 1..words.len().saturating_sub(1) {
        let is_time = words[k].parse::<f64>().is_ok() && words[k].contains('.');
        let unit = words[k + 1].split(|c: char| !c.is_alphanumeric()).next();
        if is_time && words[k - 1].ends_with("in") && unit == Some("s") {
            words[k] = "0.0";
        }
    }
    words.join(" ")
}

#[test]
fn commands_print_what_is_told() {
    let mut wrong = String::new();
    for document in documents() {
        let name = document.file_stem().unwrap_or_default().to_string_lossy();
        let folder = mirror(&format!("manual-{name}"));
        let blocks = blocks(&document);
        for block in &blocks {
            if let Some(file) = &block.file {
                write(&folder, file, &block.text);
            }
        }
        let consoles = blocks.iter().filter(|b| b.language == "console");
        let mut commands = 0;
        for block in consoles {
            for command in block.text.split_inclusive("\n$ ") {
                let command = command.strip_suffix("$ ").unwrap_or(command);
                let command = command.strip_prefix("$ ").unwrap_or(command);
                let (line, told) = command.split_once('\n').unwrap_or((command, ""));
                assert!(line.starts_with("iolite "), "{}: {line}", block.place);
                let printed = shell(line, &folder);
                if untimed(&printed) != untimed(told) {
                    let place = &block.place;
                    wrong += &format!("{place}: {line}\nprints\n{printed}instead of\n{told}\n");
                }
                commands += 1;
            }
        }
        // What the page of the fleet shows needs a server and a feature; it has tests of its own.
        assert!(commands > 0 || name == "fleet", "{name} shows no command");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn times_do_not_matter() {
    assert_eq!(
        untimed("2 steps in 1.5 s; 3 of 6\nin 2 s"),
        "2 steps in 0.0 s; 3 of 6\nin 2 s"
    );
    assert_eq!(untimed("in 12.0 s\nrest"), "in 0.0 s\nrest");
}

/// The files of the project below a folder, from the root.
fn files_below(folder: &Path, files: &mut Vec<String>) {
    let entries = std::fs::read_dir(folder).expect("a folder");
    for entry in entries.map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, files);
        } else if let Ok(path) = path.strip_prefix(root()) {
            files.push(format!("/{}", path.display()));
        }
    }
}

/// Paths in backquotes: of Rust files, and below a crate. `{a,b}.rs` is two.
fn paths_named(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for quoted in text.split('`').skip(1).step_by(2) {
        let is_path = |c: char| c.is_ascii_alphanumeric() || "_-./{},".contains(c);
        let below_crate = quoted.starts_with("iolite") && quoted.contains("/src");
        let is_rust = Path::new(quoted).extension().is_some_and(|e| e == "rs");
        let is_file = is_rust || below_crate;
        if !is_file || !quoted.chars().all(is_path) {
            continue;
        }
        match quoted
            .split_once('{')
            .and_then(|(a, rest)| Some((a, rest.split_once('}')?)))
        {
            Some((before, (names, after))) => {
                let named = names
                    .split(',')
                    .map(|name| format!("{before}{name}{after}"));
                paths.extend(named);
            }
            None => paths.push(quoted.to_owned()),
        }
    }
    paths
}

#[test]
fn documents_name_files_that_exist() {
    let mut files = Vec::new();
    for folder in ["crates", "benches/src", "case-studies"] {
        files_below(&root().join(folder), &mut files);
    }
    let mut documents = documents();
    documents.extend(pages_in("docs/decisions"));
    for name in [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "GLOSSARY.md",
        "benches/README.md",
    ] {
        documents.push(root().join(name));
    }
    let mut checked = 0;
    for document in documents {
        let text = std::fs::read_to_string(&document).expect("a document");
        for path in paths_named(&text) {
            let wanted = format!("/{}", path.trim_end_matches('/'));
            let exists =
                |file: &String| file.ends_with(&wanted) || file.contains(&format!("{wanted}/"));
            assert!(files.iter().any(exists), "{}: {path}", document.display());
            checked += 1;
        }
    }
    assert!(checked > 300, "{checked}");
}

/// A crate depends on those above it in the table of ARCHITECTURE.md, which has all of them.
#[test]
fn crates_depend_on_those_above_them() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a document");
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `iolite"));
    let table: Vec<String> = rows
        .filter_map(|row| Some(format!("iolite{}", row.split_once('`')?.0)))
        .collect();
    let place = |name: &str| table.iter().position(|other| other == name);
    let folders = std::fs::read_dir(root().join("crates")).expect("the crates");
    let mut checked = 0;
    for folder in folders {
        let folder = folder.expect("a crate").path();
        let name = folder
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let own = place(&name).unwrap_or_else(|| panic!("{name} is not in the table"));
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let manifest: toml::Table = manifest.parse().expect("TOML");
        let Some(dependencies) = manifest.get("dependencies").and_then(|d| d.as_table()) else {
            continue;
        };
        for dependency in dependencies.keys().filter(|key| key.starts_with("iolite")) {
            let other =
                place(dependency).unwrap_or_else(|| panic!("{dependency} is not in the table"));
            assert!(
                other < own,
                "{name} stands above {dependency}, on which it depends"
            );
            checked += 1;
        }
    }
    assert!(checked > 30, "{checked}");
}
