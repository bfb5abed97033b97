//! Certificates of models that fail test cases.

use iolite_derive::{ModelRef, TestCase, TestRun, TestStep, Verdict};
use iolite_recheck::{Certificate, Observation, Refusal, Test};

use super::certify::{model, named, once, place, policy_name};
use super::tables;
use crate::passes::{RunEnd, run_end};
use crate::workspace::suite_reference;
use crate::{Error, ExplicitSpec, PropertyReadOptions, SemanticsOptions, SuiteCase, Workspace};

impl Workspace {
    /// The whole certificate of a test run that fails.
    pub(crate) fn certify_test_run(
        &self,
        implementation: &ExplicitSpec,
        case: &SuiteCase,
        verdict: Verdict,
        run: &TestRun,
        semantics: SemanticsOptions,
    ) -> Result<Certificate, Error> {
        let reference = ModelRef::from(case.place.as_str());
        let reference = suite_reference(&reference).unwrap_or(reference);
        let own = reference.with_hash(self.cited_hash(&reference)?);
        let mut trace = run.actions.clone();
        let observed = match run_end(&case.case, run) {
            Some(RunEnd::Silence) => Some(Observation::Action("delta".to_owned())),
            Some(RunEnd::Refusal(refuses)) => Some(Observation::Refusal(Refusal { refuses })),
            // What the tester does itself is not observed.
            None if trace.last().is_some_and(|last| last.starts_with('?')) => None,
            None => trace.pop().map(Observation::Action),
        };
        let at = observed_in(&case.case, run);
        let ended = crate::passes::place(implementation, &case.case, semantics, run.implementation);
        let mut whole = Certificate {
            model: named(&own),
            complete_inputs: semantics.complete_inputs.map(|how| how.name().to_owned()),
            trace,
            allowed: match observed {
                Some(_) => allowed(&case.case, at),
                None => Vec::new(),
            },
            observed,
            locations: once(case.case.states()[at].locations.to_vec()),
            implementation_location: Some(place(&ended)),
            test: Some(tables::test(&case.place, &case.case)),
            ..Certificate::new(
                case.case.criterion().name(),
                verdict.name(),
                policy_name(semantics.policy()),
            )
        };
        let completed = whole.complete_inputs.is_some();
        whole.implementation = Some(model(implementation, &whole, completed));
        let references = [implementation.reference().clone(), reference];
        self.add_files(&mut whole, &references, &PropertyReadOptions::default())?;
        Ok(whole)
    }

    /// Where the test case of a certificate is not that of its text.
    pub(super) fn test_difference(&self, told: &Test, of: &ModelRef) -> Result<(), String> {
        let implementation = self.explicit(of).map_err(|e| e.to_string())?;
        let path = std::path::PathBuf::from(&told.reference);
        let cases = self.suite_of(&[path], &implementation);
        let cases = cases.map_err(|e| e.to_string())?;
        let same = |case: &SuiteCase| tables::test(&case.place, &case.case) == *told;
        if cases.iter().any(same) {
            Ok(())
        } else {
            Err("it is another test case".to_owned())
        }
    }
}

/// The state of the test case in which the last observation was made.
fn observed_in(case: &TestCase, run: &TestRun) -> usize {
    if run.is_foreign() || case.state(run.test_state).step != TestStep::End {
        return run.test_state.index();
    }
    let before = run.trace.split_last().map_or(&[][..], |(_, before)| before);
    let mut at = case.initial();
    for label in before {
        let steps = case.state(at).steps();
        at = steps
            .iter()
            .find(|(l, _)| l == label)
            .map_or(at, |&(_, t)| t);
    }
    at.index()
}

/// What would not have ended the run with a failing verdict.
fn allowed(case: &TestCase, at: usize) -> Vec<Observation> {
    let state = &case.states()[at];
    let fails = |to: &iolite_derive::TestState| to.step == TestStep::End && to.verdict.is_failing();
    let right = state.steps().into_iter();
    let right = right.filter(|&(_, to)| !fails(case.state(to)));
    let mut texts: Vec<String> = right.map(|(l, _)| case.labels().text(l)).collect();
    let silent = matches!(
        state.step,
        TestStep::Observe {
            quiescence: None,
            ..
        }
    );
    if silent && !state.verdict.is_failing() {
        texts.push("delta".to_owned());
    }
    texts.into_iter().map(Observation::Action).collect()
}
