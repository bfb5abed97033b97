//! Certificates of suites: a test case that fails what conforms, and an error that no test case detects.

use iolite_derive::{ModelRef, Undetected, Unsound};
use iolite_lts::relation::{Followed, follow_run};
use iolite_recheck::{Certificate, Observation, Refusal, Test};

use super::certify::{model, named, once, policy_name};
use super::tables;
use crate::{Error, ExplicitSpec, PropertyReadOptions, SuiteCase, SuiteOptions, Workspace};

/// States and steps of test cases that a certificate may carry.
const MOST_TEST_STATES: usize = 1_000_000;

impl Workspace {
    /// The whole certificate of a test case that is not sound.
    pub(crate) fn certify_unsound(
        &self,
        spec: &ExplicitSpec,
        case: &SuiteCase,
        found: &Unsound,
        options: SuiteOptions,
    ) -> Result<Certificate, Error> {
        let mut trace = found.run.clone();
        let observed = match &found.refuses {
            Some(refuses) => Some(Observation::Refusal(Refusal {
                refuses: refuses.clone(),
            })),
            // What the tester does itself is not observed.
            None if trace.last().is_some_and(|last| last.starts_with('?')) => None,
            None => trace.pop().map(Observation::Action),
        };
        let allowed = found.allowed.iter().cloned().map(Observation::Action);
        let whole = Certificate {
            trace,
            observed,
            allowed: allowed.collect(),
            test: Some(tables::test(&case.place, &case.case)),
            ..claim(options, "unsound")
        };
        self.beside_specification(whole, spec, &[case])
    }

    /// The whole certificate of an error that no test case of a suite detects; `None` where they are too
    /// large to be listed.
    pub(crate) fn certify_undetected(
        &self,
        spec: &ExplicitSpec,
        cases: &[SuiteCase],
        found: &Undetected,
        options: SuiteOptions,
    ) -> Result<Option<Certificate>, Error> {
        let states = cases.iter().flat_map(|case| case.case.states());
        let size: usize = states.map(|state| 1 + state.steps().len()).sum();
        if size > MOST_TEST_STATES {
            return Ok(None);
        }
        let observed = match (&found.observed, &found.refuses) {
            (Some(action), _) => Some(Observation::Action(action.clone())),
            (None, Some(refuses)) => Some(Observation::Refusal(Refusal {
                refuses: refuses.clone(),
            })),
            (None, None) => None,
        };
        let cases: Vec<&SuiteCase> = cases.iter().collect();
        let mut whole = Certificate {
            trace: found.trace.clone(),
            observed,
            suite: cases
                .iter()
                .map(|case| tables::test(&case.place, &case.case))
                .collect(),
            ..claim(options, "undetected")
        };
        if found.refuses.is_none() {
            let allowed = follow(spec, &whole).into_iter().flat_map(|f| f.allowed);
            whole.allowed = allowed.map(Observation::Action).collect();
        }
        self.beside_specification(whole, spec, &cases).map(Some)
    }

    /// The specification, where it is, and all texts.
    fn beside_specification(
        &self,
        mut whole: Certificate,
        spec: &ExplicitSpec,
        cases: &[&SuiteCase],
    ) -> Result<Certificate, Error> {
        whole.model = named(spec.reference());
        let system = spec.system();
        let states = follow(spec, &whole).into_iter().flat_map(|f| f.states);
        let places = states.map(|s| iolite_derive::location(&system, s));
        whole.locations = once(places.collect());
        whole.specification = Some(model(spec, &whole, false));
        let of_cases = cases.iter().map(|case| ModelRef::from(case.place.as_str()));
        let references: Vec<ModelRef> = [spec.reference().clone()]
            .into_iter()
            .chain(of_cases)
            .collect();
        self.add_files(&mut whole, &references, &PropertyReadOptions::default())?;
        Ok(whole)
    }

    /// Where a test case that a specification judges is not that of its text.
    pub(super) fn judged_test_difference(
        &self,
        told: &[Test],
        spec: &ExplicitSpec,
    ) -> Result<(), String> {
        for told in told {
            let path = std::path::PathBuf::from(&told.reference);
            let cases = self.suite(&[path], spec).map_err(|e| e.to_string())?;
            let same = |case: &SuiteCase| tables::test(&case.place, &case.case) == *told;
            if !cases.iter().any(same) {
                return Err(format!("{} is another test case", told.name));
            }
        }
        Ok(())
    }
}

fn claim(options: SuiteOptions, verdict: &str) -> Certificate {
    let policy = policy_name(options.semantics.policy());
    Certificate::new(options.relation.name(), verdict, policy)
}

/// Where the specification is after the trace of a certificate, in which only ioco counts δ.
fn follow(spec: &ExplicitSpec, whole: &Certificate) -> Option<Followed> {
    let suspension = whole.kind == "ioco";
    let mut trace = whole.trace.clone();
    trace.retain(|action| suspension || action != "delta");
    follow_run(&spec.system(), super::policy(whole), suspension, &trace)
}
