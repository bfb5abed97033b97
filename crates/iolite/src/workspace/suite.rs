//! Stored test cases, and those that `.iol` files declare.

use std::collections::HashSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use iolite_derive::{Criterion, ModelRef, SymbolicTestCase, TestCase, TestCaseError, Verdict};
use iolite_formats::symbolic_test_case;
use iolite_formats::test_case::json;
use iolite_lang::syntax::ast::Mark;
use iolite_lang::{
    Diagnostic, declares_labels, diagnostic, lower_test, lower_test_over, systems, watched_system,
};
use iolite_lts::{Lts, StateId};

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
            if reference.is_iol() || is_suite_file(&reference) {
                other = Some(path.clone());
                continue;
            }
            for path in files(path)? {
                match self.symbolic_case(&path)? {
                    Some(case) => cases.push(SymbolicSuiteCase {
                        place: path.display().to_string(),
                        case: Arc::new(case),
                    }),
                    None => other = Some(path),
                }
            }
        }
        match (cases.first(), other) {
            (None, _) => Ok(None),
            (Some(_), None) => Ok(Some(cases)),
            (Some(case), Some(other)) => Err(Error::input(format!(
                "the suite mixes test cases with data ({}) and others ({})",
                case.place,
                other.display()
            ))
            .hint(
                "run them apart: those with data take the model as it is, the others its states",
            )),
        }
    }

    /// A stored test case with data, where the file is one.
    pub fn symbolic_case(&self, path: &Path) -> Result<Option<SymbolicTestCase>, Error> {
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
        for path in paths {
            let reference = ModelRef::from(path.display().to_string().as_str());
            if reference.is_iol() {
                cases.extend(written(&reference)?);
            } else if is_suite_file(&reference) {
                cases.extend(self.listed_cases(&reference)?);
            } else {
                for path in files(path)? {
                    cases.push(self.stored_case(&path)?);
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

    fn stored_case(&self, path: &Path) -> Result<SuiteCase, Error> {
        let source = self.source(path)?;
        if self.symbolic_case(path)?.is_some() {
            return Err(
                Error::input(format!("{}: it is a test case with data", path.display()))
                    .hint("`iolite test MODEL --suite` runs it, `iolite show` draws it"),
            );
        }
        let case = json::read(source.text()?)
            .map_err(|e| Error::input(format!("{}: {e}", path.display())))?;
        Ok(SuiteCase {
            place: path.display().to_string(),
            case: Arc::new(case),
        })
    }

    /// The test cases of a file with one a line, or the one that the reference names.
    fn listed_cases(&self, reference: &ModelRef) -> Result<Vec<SuiteCase>, Error> {
        let path = reference.path();
        let source = self.source(path)?;
        let mut cases: Vec<SuiteCase> = Vec::new();
        let mut names = HashSet::new();
        for (number, line) in (1..).zip(source.text()?.lines()) {
            if line.is_empty() {
                continue;
            }
            let wrong =
                |why: &dyn Display| Error::input(format!("{}:{number}: {why}", path.display()));
            let case = json::read(line).map_err(|e| {
                let is_journal = number == 1 && line.contains("\"journal\"");
                let hint = "this is a journal of runs; a suite has a test case a line, as `iolite derive -o FILE.jsonl` writes it";
                if is_journal { wrong(&e).hint(hint) } else { wrong(&e) }
            })?;
            // By its name a test case is found again.
            if !names.insert(case.name().to_owned()) {
                return Err(wrong(&format!("a second test case {}", case.name())));
            }
            if reference
                .name
                .as_deref()
                .is_none_or(|name| name == case.name())
            {
                cases.push(SuiteCase {
                    place: format!("{}#{}", path.display(), case.name()),
                    case: Arc::new(case),
                });
            }
        }
        match &reference.name {
            Some(name) if cases.is_empty() => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let hint = diagnostic::did_you_mean(name, names.iter().copied());
                let error = Error::input(format!("{} has no test case `{name}`", path.display()));
                Err(match hint {
                    Some(hint) => error.hint(hint),
                    None => error,
                })
            }
            _ => Ok(cases),
        }
    }

    /// A stored test case, where the file is one.
    pub fn test_case(&self, reference: &ModelRef) -> Result<Option<TestCase>, Error> {
        if is_suite_file(reference) && reference.name.is_some() {
            let mut found = self.listed_cases(reference)?;
            return Ok(found.pop().map(|found| (*found.case).clone()));
        }
        if reference.ending() != "json" {
            return Ok(None);
        }
        let source = self.source(reference.path())?;
        Ok(source.text().ok().and_then(|text| json::read(text).ok()))
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

/// Whether a reference is to a file with a test case a line.
fn is_suite_file(reference: &ModelRef) -> bool {
    reference.ending() == "jsonl" && !reference.path().is_dir()
}

/// The files of a folder that hold test cases, in the order of their names; a file is itself.
fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).map_err(|e| Error::reading(path, &e))?;
    let mut inside: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .collect();
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
