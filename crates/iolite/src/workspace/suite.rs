//! Stored test cases, and those that `.iol` files declare.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use iolite_derive::{Criterion, ModelRef, SymbolicTestCase, TestCase, TestCaseError, Verdict};
use iolite_formats::symbolic_test_case;
use iolite_formats::test_case::json::{self, Reader};
use iolite_lang::syntax::ast::Mark;
use iolite_lang::{
    Diagnostic, declares_labels, lower_test, lower_test_over, systems, watched_system,
};
use iolite_lts::{Lts, StateId};

use super::suite_file::{ListedCase, StoredCase, suite_reference};
use super::{ExplicitSpec, SourceFile, Workspace, pick_all};
use crate::Error;

/// A test case of a suite.
#[derive(Clone, Debug)]
pub struct SuiteCase {
    /// Where it is: a file, or `FILE.iol#T`.
    pub place: String,
    /// The test case.
    pub case: Arc<TestCase>,
}

/// A test case with data of a suite.
#[derive(Clone, Debug)]
pub struct SymbolicSuiteCase {
    /// The file.
    pub place: String,
    /// The test case.
    pub case: Arc<SymbolicTestCase>,
}

impl Workspace {
    /// The test cases with data of files and folders, in the order of their names; `None` where the suite
    /// has none. They cannot be mixed with others, since those need the states of the model.
    pub fn symbolic_suite(
        &self,
        paths: &[PathBuf],
    ) -> Result<Option<Vec<SymbolicSuiteCase>>, Error> {
        let mut cases = Vec::new();
        let mut other = None;
        for path in paths {
            let reference = ModelRef::from(path.display().to_string().as_str());
            if reference.is_iol() {
                other = Some(reference.to_string());
            } else if let Some(reference) = suite_reference(&reference) {
                for ListedCase { place, case } in &*self.listed_cases(&reference)? {
                    let place = place.clone();
                    match case {
                        StoredCase::Data(case) => cases.push(SymbolicSuiteCase {
                            place,
                            case: Arc::clone(case),
                        }),
                        StoredCase::States(_) => other = Some(place),
                    }
                }
            } else {
                for path in files(path)? {
                    let place = path.display().to_string();
                    match self.symbolic_file(&path)? {
                        Some(case) => cases.push(SymbolicSuiteCase {
                            place,
                            case: Arc::new(case),
                        }),
                        None => other = Some(place),
                    }
                }
            }
        }
        match (cases.first(), other) {
            (None, _) => Ok(None),
            (Some(_), None) => Ok(Some(cases)),
            (Some(case), Some(other)) => Err(Error::input(format!(
                "the suite mixes test cases with data ({}) and others ({other})",
                case.place
            ))
            .hint(
                "run them apart: those with data take the model as it is, the others its states",
            )),
        }
    }

    /// A stored test case with data, where the file is one, or the line of a suite that the reference names.
    pub fn symbolic_case(
        &self,
        reference: &ModelRef,
    ) -> Result<Option<Arc<SymbolicTestCase>>, Error> {
        Ok(match self.listed_case(reference)? {
            Some(StoredCase::Data(case)) => Some(case),
            Some(StoredCase::States(_)) => None,
            None => self.symbolic_file(reference.path())?.map(Arc::new),
        })
    }

    /// The test case of a suite in one file that a reference names.
    fn listed_case(&self, reference: &ModelRef) -> Result<Option<StoredCase>, Error> {
        let Some(reference) = suite_reference(reference) else {
            return Ok(None);
        };
        if reference.name.is_none() {
            let message = format!("{reference}: one test case is wanted, and this may have many");
            return Err(Error::input(message).hint(format!("name it: {reference}#T")));
        }
        let listed = self.listed_cases(&reference)?;
        Ok(listed.first().map(|listed| listed.case.clone()))
    }

    fn symbolic_file(&self, path: &Path) -> Result<Option<SymbolicTestCase>, Error> {
        if path.extension().is_none_or(|e| e != "json") {
            return Ok(None);
        }
        let source = self.source(path)?;
        let Ok(text) = source.text() else {
            return Ok(None);
        };
        if !symbolic_test_case::json::is_one(text) {
            return Ok(None);
        }
        let case = symbolic_test_case::json::read(text);
        let case = case.map_err(|e| Error::input(format!("{}: {e}", path.display())))?;
        Ok(Some(case))
    }

    /// The test cases of files and folders, in the order of their names, and those that `.iol` files
    /// declare, in the order of the file, over the labels of a specification.
    pub fn suite(&self, paths: &[PathBuf], spec: &ExplicitSpec) -> Result<Vec<SuiteCase>, Error> {
        self.cases(paths, |reference| self.written_cases(reference, spec))
    }

    /// The same without a specification: a declared test case is over the labels that it declares, else
    /// over those of the system that it is for, else over those of the implementation.
    pub(crate) fn suite_of(
        &self,
        paths: &[PathBuf],
        implementation: &ExplicitSpec,
    ) -> Result<Vec<SuiteCase>, Error> {
        self.cases(paths, |reference| {
            self.declared_cases(reference, implementation)
        })
    }

    fn cases(
        &self,
        paths: &[PathBuf],
        written: impl Fn(&ModelRef) -> Result<Vec<SuiteCase>, Error>,
    ) -> Result<Vec<SuiteCase>, Error> {
        let mut cases = Vec::new();
        let mut reader = Reader::default();
        for path in paths {
            let reference = ModelRef::from(path.display().to_string().as_str());
            if reference.is_iol() {
                cases.extend(written(&reference)?);
            } else if let Some(reference) = suite_reference(&reference) {
                for ListedCase { place, case } in &*self.listed_cases(&reference)? {
                    match case {
                        StoredCase::States(case) => cases.push(SuiteCase {
                            place: place.clone(),
                            case: Arc::clone(case),
                        }),
                        StoredCase::Data(_) => return Err(with_data(place)),
                    }
                }
            } else {
                for path in files(path)? {
                    cases.push(self.stored_case(&path, &mut reader)?);
                }
            }
        }
        if cases.is_empty() {
            return Err(Error::input(
                "the suite holds no test case (*.json, or lines of *.jsonl)",
            ));
        }
        Ok(cases)
    }

    fn stored_case(&self, path: &Path, reader: &mut Reader) -> Result<SuiteCase, Error> {
        let source = self.source(path)?;
        if self.symbolic_file(path)?.is_some() {
            return Err(with_data(&path.display().to_string()));
        }
        let case = reader
            .read(source.text()?)
            .map_err(|e| Error::input(format!("{}: {e}", path.display())))?;
        Ok(SuiteCase {
            place: path.display().to_string(),
            case: Arc::new(case),
        })
    }

    /// A stored test case, where the file is one, or the line of a suite that the reference names.
    pub fn test_case(&self, reference: &ModelRef) -> Result<Option<Arc<TestCase>>, Error> {
        if let Some(StoredCase::States(case)) = self.listed_case(reference)? {
            return Ok(Some(case));
        }
        if reference.ending() != "json" {
            return Ok(None);
        }
        let source = self.source(reference.path())?;
        let case = source.text().ok().and_then(|text| json::read(text).ok());
        Ok(case.map(Arc::new))
    }

    /// The declarations `test T { … }` that a reference means, over the labels of a specification.
    fn written_cases(
        &self,
        reference: &ModelRef,
        spec: &ExplicitSpec,
    ) -> Result<Vec<SuiteCase>, Error> {
        let source = self.source(reference.path())?;
        let file = source.file()?;
        let names = pick_all(reference, "test case", &source.declared("test")?)?;
        let case = |name: &str| {
            self.check_watched(&source, name, spec.reference())?;
            written_case(&source, name, lower_test_over(file, name, spec.labels()))
        };
        names.into_iter().map(case).collect()
    }

    fn declared_cases(
        &self,
        reference: &ModelRef,
        implementation: &ExplicitSpec,
    ) -> Result<Vec<SuiteCase>, Error> {
        let source = self.source(reference.path())?;
        let file = source.file()?;
        let names = pick_all(reference, "test case", &source.declared("test")?)?;
        let case = |name: &str| {
            let of = watched_system(file, name).filter(|of| systems(file).contains(of));
            let lowered = match of {
                _ if declares_labels(file, name) => lower_test(file, name),
                Some(of) => {
                    let of = ModelRef::file(reference.path()).with_name(of);
                    lower_test_over(file, name, self.explicit(&of)?.labels())
                }
                None => lower_test_over(file, name, implementation.labels()),
            };
            written_case(&source, name, lowered)
        };
        names.into_iter().map(case).collect()
    }
}

/// A test case with data is not one of states.
fn with_data(place: &str) -> Error {
    Error::input(format!("{place}: it is a test case with data"))
        .hint("`iolite test MODEL --suite` runs it, `iolite show` draws it")
}

/// The files of a folder that hold test cases, in the order of their names; a file is itself.
fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).and_then(|entries| {
        let paths = entries.map(|entry| Ok(entry?.path()));
        stored(paths)
    });
    entries.map_err(|e| Error::reading(path, &e))
}

/// Those of the files that hold test cases, in the order of their names. One that cannot be read is an error: a smaller
/// suite passes more easily.
fn stored(paths: impl Iterator<Item = io::Result<PathBuf>>) -> io::Result<Vec<PathBuf>> {
    let mut inside = paths.collect::<io::Result<Vec<PathBuf>>>()?;
    inside.retain(|p| p.extension().is_some_and(|e| e == "json"));
    inside.sort();
    Ok(inside)
}

/// A declared test case, once its labels are known.
fn written_case(
    source: &SourceFile,
    name: &str,
    lowered: Result<(Lts, Vec<Mark>), Vec<Diagnostic>>,
) -> Result<SuiteCase, Error> {
    let (lts, marks) = lowered.map_err(|d| source.rejected(&d))?;
    let verdict = |mark: &Mark| match mark {
        Mark::Pass => Verdict::Pass,
        Mark::Fail => Verdict::Fail,
        _ => Verdict::Inconc,
    };
    let verdicts: Vec<Verdict> = marks.iter().map(verdict).collect();
    let model = ModelRef::default();
    let case = TestCase::from_lts(name, Criterion::Written, model, &lts, &verdicts);
    let place = format!("{}#{name}", source.path().display());
    let case = case.map_err(|e| Error::input(format!("{place}: {}", named(&e, &lts))))?;
    Ok(SuiteCase {
        place,
        case: Arc::new(case),
    })
}

/// The mistake with the state's name, not its number.
fn named(error: &TestCaseError, lts: &Lts) -> String {
    let (TestCaseError::NotComplete { state, label }
    | TestCaseError::Nondeterministic { state, label }) = error
    else {
        return error.to_string();
    };
    // The initial state is the first of the test case.
    let initial = lts.initial().index();
    let index = match *state {
        0 => initial,
        k if k <= initial => k - 1,
        k => k,
    };
    let name = lts.name(StateId::new(index));
    match error {
        TestCaseError::NotComplete { .. } => format!(
            "state `{name}` observes but does not say what {label} means; `*` stands for what the \
             other transitions do not name"
        ),
        _ => format!("state `{name}`: {label} leads to more than one state"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_cannot_be_read_makes_no_suite_smaller() {
        let names = ["b.json", "notes.txt", "a.json"];
        let paths = || names.iter().map(|name| Ok(PathBuf::from(name)));
        let inside = stored(paths()).expect("all can be read");
        assert_eq!(inside, ["a.json", "b.json"].map(PathBuf::from));
        let failing = paths().chain([Err(io::Error::other("bad sector"))]);
        assert_eq!(stored(failing).unwrap_err().to_string(), "bad sector");
    }
}
