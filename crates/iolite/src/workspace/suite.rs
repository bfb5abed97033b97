//! Stored test cases, and those that `.iol` files declare.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use iolite_derive::{Criterion, ModelRef, TestCase, TestCaseError, Verdict};
use iolite_formats::test_case::json;
use iolite_lang::syntax::ast::Mark;
use iolite_lang::{
    Diagnostic, declares_labels, lower_test, lower_test_over, systems, watched_system,
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

impl Workspace {
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
            } else if path.is_dir() {
                let entries = std::fs::read_dir(path).map_err(|e| Error::reading(path, &e))?;
                let mut inside: Vec<PathBuf> = entries
                    .filter_map(|entry| Some(entry.ok()?.path()))
                    .filter(|p| p.extension().is_some_and(|e| e == "json"))
                    .collect();
                inside.sort();
                for path in inside {
                    cases.push(self.stored_case(&path)?);
                }
            } else {
                cases.push(self.stored_case(path)?);
            }
        }
        if cases.is_empty() {
            return Err(Error::input("the suite holds no test case (*.json)"));
        }
        Ok(cases)
    }

    fn stored_case(&self, path: &Path) -> Result<SuiteCase, Error> {
        let source = self.source(path)?;
        let case = json::read(source.text()?)
            .map_err(|e| Error::input(format!("{}: {e}", path.display())))?;
        Ok(SuiteCase {
            place: path.display().to_string(),
            case: Arc::new(case),
        })
    }

    /// A stored test case, where the file is one.
    pub fn test_case(&self, reference: &ModelRef) -> Result<Option<TestCase>, Error> {
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
        let names = pick_all(reference, "test case", &source.declared("test"))?;
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
        let names = pick_all(reference, "test case", &source.declared("test"))?;
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
