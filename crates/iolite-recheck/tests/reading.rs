//! README.md says what is read for each kind of certificate and how long that takes; a sceptic plans with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Lines that are read in a minute.
const PACE: usize = 25;

fn lines(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).expect("a file");
    text.lines().count()
}

/// The cells of all rows of tables whose first cell begins so.
fn rows(begin: &str) -> Vec<Vec<&'static str>> {
    let readme = include_str!("../README.md").lines();
    let rows = readme.filter(|row| row.starts_with('|') && !row.starts_with("| ---"));
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect());
    cells
        .filter(|cells: &Vec<&str>| cells[0].starts_with(begin))
        .collect()
}

fn number(cell: &str) -> usize {
    cell.replace(',', "").parse().expect("a number")
}

/// A line more in a file does not make the figures wrong.
fn assert_close(told: usize, is: usize, by: usize, what: &str) {
    assert!(told.abs_diff(is) <= by, "{what}: {is}, not {told}");
}

/// All files of the crate with their lines, by name below `src`.
fn sources() -> BTreeMap<String, usize> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).expect("below src");
                found.insert(name.display().to_string(), lines(&path));
            }
        }
    }
    found
}

#[test]
fn every_file_has_a_row_with_its_length() {
    let mut sources = sources();
    for row in rows("`src/") {
        let path = row[0].trim_matches('`').trim_start_matches("src/");
        let own = sources.remove(path).expect("one row for a file that is");
        assert_close(number(row[1]), own, 10, path);
        assert_close(number(row[2]), own / PACE, 1, path);
    }
    assert!(sources.is_empty(), "without a row: {sources:?}");
}

#[test]
fn every_kind_of_certificate_is_read_in_an_hour() {
    let sources = sources();
    let named = |file: &str| {
        let mut own = sources
            .iter()
            .filter(|(path, _)| path.rsplit('/').next() == Some(file));
        let (_, lines) = own.next().expect("a file of that name");
        assert!(own.next().is_none(), "two files are {file}");
        *lines
    };
    let first: usize = rows("`src/")[..6]
        .iter()
        .map(|row| sources[row[0].trim_matches('`').trim_start_matches("src/")])
        .sum();
    let kinds: Vec<_> = rows("")
        .into_iter()
        .filter(|row| row.len() == 4 && row[0] != "certificate")
        .collect();
    assert!(kinds.len() >= 13, "the table of kinds");
    for row in kinds {
        let files = row[1].split(", ").map(|file| named(file.trim_matches('`')));
        let all = first + files.sum::<usize>();
        assert_close(number(row[2]), all, 40, row[0]);
        assert_close(number(row[3]), all / PACE, 2, row[0]);
        assert!(all <= 60 * PACE, "{} is not read in an hour", row[0]);
    }
}
