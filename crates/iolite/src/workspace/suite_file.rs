//! Suites in one file: a test case a line, of either kind.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use iolite_derive::{ModelRef, SymbolicTestCase, TestCase};
use iolite_formats::symbolic_test_case;
use iolite_formats::test_case::json::{self, Reader};
use iolite_lang::diagnostic;
use serde::Deserialize;

use super::source_file::{FileStream, Left, Wanted, hash};
use super::{LARGE_TEXT, Workspace, changed, lock};
use crate::Error;

/// A test case of either kind.
#[derive(Clone, Debug)]
pub(crate) enum StoredCase {
    /// One of states.
    States(Arc<TestCase>),
    /// One that keeps data.
    Data(Arc<SymbolicTestCase>),
}

impl StoredCase {
    /// Reads a line.
    fn read(line: &str, reader: &mut Reader) -> Result<Self, Box<dyn std::error::Error>> {
        match reader.read(line) {
            Ok(case) => Ok(Self::States(Arc::new(case))),
            // Looked at only now: most suites have test cases of states, and each line of theirs is read once.
            Err(_) if symbolic_test_case::json::is_one(line) => {
                let case = symbolic_test_case::json::read(line)?;
                Ok(Self::Data(Arc::new(case)))
            }
            Err(e) => Err(e.into()),
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            Self::States(case) => case.name(),
            Self::Data(case) => case.name(),
        }
    }

    /// Appends its line, as `derive` writes it.
    pub(crate) fn append_line(&self, text: &mut String) -> Result<(), Error> {
        match self {
            Self::States(case) => {
                json::append_line(case, text);
                Ok(())
            }
            Self::Data(case) => symbolic_test_case::json::append_line(case, text)
                .map_err(|e| Error::input(format!("{}: {e}", case.name()))),
        }
    }
}

/// A test case of a file, and where it is: `FILE.jsonl#T`.
#[derive(Clone, Debug)]
pub(crate) struct ListedCase {
    pub(crate) place: String,
    pub(crate) case: StoredCase,
}

/// What tells test cases apart.
#[derive(Deserialize)]
struct Head {
    name: String,
}

/// The same as a reference to a suite in one file or to a test case of it, whose name may be a formula; `None` for
/// references to others.
pub(crate) fn suite_reference(reference: &ModelRef) -> Option<ModelRef> {
    let text = reference.to_string();
    let whole = ModelRef::file(Path::new(&text));
    if whole.ending() == "jsonl" {
        return (!whole.path().is_dir()).then_some(whole);
    }
    let (file, name) = [".jsonl", ".jsonl.gz"].iter().find_map(|ending| {
        let mark = text.find(&format!("{ending}#"))? + ending.len();
        Some((&text[..mark], &text[mark + 1..]))
    })?;
    let file = ModelRef::file(Path::new(file));
    (!file.path().is_dir()).then(|| file.with_name(name))
}

impl Workspace {
    /// The test cases of a file with one a line, or the one that the reference names, in the order of the file.
    pub(crate) fn listed_cases(&self, reference: &ModelRef) -> Result<Arc<[ListedCase]>, Error> {
        let file = ModelRef::file(reference.path());
        let known = |reference: &ModelRef| lock(&self.suites).get(reference).cloned();
        if let Some(cases) = known(reference) {
            return Ok(cases);
        }
        let cases: Arc<[ListedCase]> = match (&reference.name, known(&file)) {
            (Some(name), Some(all)) => {
                let one = all.iter().find(|listed| listed.case.name() == name);
                let names = all.iter().map(|listed| listed.case.name());
                let one = one.ok_or_else(|| no_such_case(reference.path(), name, names))?;
                Arc::new([one.clone()])
            }
            _ => self.read_cases(reference)?.into(),
        };
        lock(&self.suites).insert(reference.clone(), Arc::clone(&cases));
        Ok(cases)
    }

    fn read_cases(&self, reference: &ModelRef) -> Result<Vec<ListedCase>, Error> {
        let path = reference.path();
        let mut cases: Vec<ListedCase> = Vec::new();
        let mut names = BTreeSet::new();
        let mut reader = Reader::default();
        self.each_line(path, &mut |number, line| {
            let wrong = |why: &dyn Display| {
                let error = Error::input(format!("{}:{number}: {why}", path.display()));
                if number == 1 && line.contains("\"journal\"") {
                    return error.hint(
                        "this is a journal of runs; a suite has a test case a line, as `iolite derive -o FILE.jsonl` \
                         writes it",
                    );
                }
                error
            };
            // Of the others only the name is wanted, which costs little memory.
            let head = match &reference.name {
                Some(_) => serde_json::from_str::<Head>(line).ok(),
                None => None,
            };
            let wanted = match (&reference.name, &head) {
                (Some(wanted), Some(head)) => head.name == *wanted,
                _ => true,
            };
            let name = if wanted {
                let case = StoredCase::read(line, &mut reader).map_err(|e| wrong(&e))?;
                let name = case.name().to_owned();
                let place = format!("{}#{name}", path.display());
                cases.push(ListedCase { place, case });
                name
            } else {
                head.map(|head| head.name).unwrap_or_default()
            };
            // By its name a test case is found again.
            if let Some(name) = names.replace(name) {
                return Err(wrong(&format!("a second test case {name}")));
            }
            Ok(())
        })?;
        match &reference.name {
            Some(name) if cases.is_empty() => {
                Err(no_such_case(path, name, names.iter().map(String::as_str)))
            }
            _ => Ok(cases),
        }
    }

    /// The lines of a file that are not empty, with their numbers. A large file is read piece by piece and not kept.
    fn each_line(
        &self,
        path: &Path,
        visit: &mut dyn FnMut(usize, &str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let known = lock(&self.files).get(path).cloned();
        let is_kept = known.as_ref().is_some_and(|known| !known.is_forgotten());
        let wanted = Wanted {
            text: false,
            ..self.wanted
        };
        let file = ModelRef::file(path);
        let stream = (!is_kept).then(|| FileStream::open(&file, LARGE_TEXT, wanted));
        let Some(stream) = stream.flatten() else {
            let source = self.whole_source(path)?;
            let mut lines = (1..).zip(source.text()?.lines());
            return lines
                .by_ref()
                .filter(|(_, line)| !line.is_empty())
                .try_for_each(|(number, line)| visit(number, line));
        };
        self.count_read(path);
        let mut reader = BufReader::with_capacity(1 << 16, stream);
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            let read = reader.read_until(b'\n', &mut bytes);
            if read.map_err(|e| Error::reading(path, &e))? == 0 {
                break;
            }
            let line = std::str::from_utf8(&bytes)
                .map_err(|_| Error::input(format!("{}:{number}: no UTF-8 text", path.display())))?;
            let line = line.trim_end_matches(['\n', '\r']);
            if !line.is_empty() {
                visit(number, line)?;
            }
        }
        let same = match reader.into_inner().finish(path, self.style) {
            Left::Source(source) => {
                let same = known.is_none_or(|known| known.hash() == source.hash());
                lock(&self.files).insert(path.to_owned(), source);
                same
            }
            Left::Checksum(sum) => {
                let before = lock(&self.unhashed).insert(path.to_owned(), sum);
                before.is_none_or(|before| before == sum)
            }
        };
        if same { Ok(()) } else { Err(changed(path)) }
    }

    /// The lines of these test cases of a file, as `derive` writes them: what a certificate cites of a suite.
    pub(crate) fn cited_lines(
        &self,
        path: &Path,
        names: &BTreeSet<String>,
    ) -> Result<String, Error> {
        let file = ModelRef::file(path);
        let all = lock(&self.suites).get(&file).cloned();
        let mut text = String::new();
        if let Some(all) = all {
            let cited = all.iter().map(|listed| &listed.case);
            let mut cited = cited.filter(|case| names.contains(case.name()));
            cited.try_for_each(|case| case.append_line(&mut text))?;
            return Ok(text);
        }
        for name in names {
            let listed = self.listed_cases(&file.with_name(name))?;
            let mut cited = listed.iter().map(|listed| &listed.case);
            cited.try_for_each(|case| case.append_line(&mut text))?;
        }
        Ok(text)
    }

    /// The hash of what a certificate cites of the file of a test case.
    pub(crate) fn cited_hash(&self, reference: &ModelRef) -> Result<String, Error> {
        let Some(suite) = suite_reference(reference) else {
            return Ok(self.source(reference.path())?.hash().to_owned());
        };
        let names = suite.name.iter().cloned().collect();
        let lines = self.cited_lines(suite.path(), &names)?;
        Ok(hash(lines.as_bytes()))
    }

    /// Whether a file has other test cases now than these lines, or some of them not at all. A file that is not there
    /// says nothing.
    pub(crate) fn has_other_cases(&self, path: &Path, lines: &str) -> bool {
        let same = |line: &str| {
            let cited = StoredCase::read(line, &mut Reader::default()).ok()?;
            let reference = ModelRef::file(path).with_name(cited.name());
            let listed = self.listed_cases(&reference).ok()?;
            let (mut own, mut other) = (String::new(), String::new());
            cited.append_line(&mut own).ok()?;
            listed.first()?.case.append_line(&mut other).ok()?;
            (own == other).then_some(())
        };
        let mut lines = lines.lines().filter(|line| !line.is_empty());
        path.is_file() && !lines.all(|line| same(line).is_some())
    }
}

fn no_such_case<'a>(path: &Path, name: &str, names: impl Iterator<Item = &'a str>) -> Error {
    let error = Error::input(format!("{} has no test case `{name}`", path.display()));
    match diagnostic::did_you_mean(name, names) {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
