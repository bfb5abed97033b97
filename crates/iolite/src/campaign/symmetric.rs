//! Test cases for conf, executed against a model: symmetric interaction [LTS96, §4].

use std::collections::BTreeMap;
use std::path::PathBuf;

use iolite_derive::{ModelRef, Verdict};
use iolite_exec::{RunId, SymmetricModel, run_symmetric};
use serde::Serialize;

use crate::{Error, Workspace};

/// A test case and what its runs came to.
#[derive(Clone, Debug, Serialize)]
pub struct SymmetricCase {
    /// Its name.
    pub case: String,
    /// Its place.
    pub file: String,
    /// The worst verdict.
    pub verdict: Option<Verdict>,
    /// How often each verdict was given.
    pub verdicts: BTreeMap<Verdict, u64>,
    /// The first failing run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing: Option<SymmetricFailure>,
}

/// A run that failed.
#[derive(Clone, Debug, Serialize)]
pub struct SymmetricFailure {
    /// Its number, from 0.
    pub run: u64,
    /// Its seed.
    pub seed: u64,
    /// The actions that were taken.
    pub trace: Vec<String>,
    /// What was refused then, where that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuses: Option<Vec<String>>,
}

impl Workspace {
    /// Runs each test case of a suite so many times against a model that agrees to actions, seeded.
    /// `specification` is what declared test cases take their labels from.
    pub fn run_symmetric(
        &self,
        specification: &ModelRef,
        suite: &[PathBuf],
        implementation: &ModelRef,
        (repeat, seed): (u64, u64),
    ) -> Result<Vec<SymmetricCase>, Error> {
        let spec = self.explicit(specification)?;
        let implementation = self.explicit(implementation)?;
        let reference = implementation.reference().to_string();
        let mut number = 0;
        let mut cases = Vec::new();
        for case in self.suite(suite, &spec)? {
            self.compare_labels(
                (implementation.labels(), &reference),
                (case.case.labels(), &case.place),
                true,
            )?;
            let mut system = SymmetricModel::new(implementation.system());
            let mut verdicts = BTreeMap::new();
            let mut failing = None;
            for _ in 0..repeat {
                let id = RunId::of(seed, number);
                number += 1;
                let run = run_symmetric(&case.case, &mut system, id.seed)
                    .map_err(|e| Error::input(format!("{}: {e}", case.place)))?;
                *verdicts.entry(run.verdict).or_insert(0) += 1;
                if run.verdict.is_failing() && failing.is_none() {
                    let labels = case.case.labels();
                    let texts = |ids: &[iolite_lts::LabelId]| -> Vec<String> {
                        ids.iter().map(|&l| labels.text(l)).collect()
                    };
                    let offered = || {
                        let mut at = case.case.initial();
                        for label in &run.trace {
                            let steps = case.case.state(at).steps();
                            let step = steps.iter().find(|(l, _)| l == label);
                            at = step.map_or(at, |&(_, to)| to);
                        }
                        let steps = case.case.state(at).steps();
                        texts(&steps.iter().map(|&(l, _)| l).collect::<Vec<_>>())
                    };
                    failing = Some(SymmetricFailure {
                        run: id.number,
                        seed: id.seed,
                        trace: texts(&run.trace),
                        refuses: run.refused.then(offered),
                    });
                }
            }
            cases.push(SymmetricCase {
                case: case.case.name().to_owned(),
                file: case.place,
                verdict: Verdict::worst(verdicts.keys().copied()),
                verdicts,
                failing,
            });
        }
        Ok(cases)
    }
}
