//! Whether a model passes test cases, exactly: every test run counts.

mod data;
mod document;

use std::ops::ControlFlow;
use std::path::PathBuf;

use iolite_derive::{ModelRef, TestCase, TestRun, TestRuns, TestStep, Verdict, test_runs_while};
use iolite_lts::{Completed, LabelKind, Semantics, StateId, missing_input};

use crate::{
    Error, ExplicitSpec, Place, SemanticsOptions, SharedCertificates, SuiteCase, Workspace, vacuity,
};

/// Failing test cases that have certificates.
const CERTIFIED: usize = 100;

pub(crate) use data::{FailingRun, Instances, failing, failing_run, refused as test_case_refused};
pub use document::{PassesDocument, TestRunDocument, TestedCase};

/// How far the judgement of a suite is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuiteEffort {
    /// Test cases that were looked at by themselves.
    pub judged: usize,
    /// Test cases of the suite.
    pub cases: usize,
    /// Pairs of states, or places, that were met: of the test case at hand, and of all together after the last.
    pub met: usize,
}

/// Who hears how far it is, and may stop a search with a reason.
pub type ProceedSuite<'a> = dyn FnMut(SuiteEffort) -> Option<String> + 'a;

/// What a run ends with beside its actions, where that is an observation too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// Silence, where the test case has no θ [LTS96, def. 7.1].
    Silence,
    /// The implementation refuses all that is offered.
    Refusal(Vec<String>),
}

/// What else ends the run of a test case in this state.
pub(crate) fn run_end(case: &TestCase, run: &TestRun) -> Option<RunEnd> {
    if run.is_foreign() {
        return None;
    }
    match &case.state(run.test_state).step {
        TestStep::End => None,
        TestStep::Observe { .. } => Some(RunEnd::Silence),
        TestStep::Stimulate { stimulus, .. } => {
            Some(RunEnd::Refusal(vec![case.labels().text(*stimulus)]))
        }
        TestStep::Offer { actions } => {
            let texts = actions.iter().map(|&(l, _)| case.labels().text(l));
            Some(RunEnd::Refusal(texts.collect()))
        }
    }
}

/// Whether a test case only offers actions to be agreed on, as those for conf do.
pub(crate) fn is_symmetric(case: &TestCase) -> bool {
    let symmetric = |step: &TestStep| matches!(step, TestStep::End | TestStep::Offer { .. });
    case.states().iter().all(|state| symmetric(&state.step))
}

impl Workspace {
    /// Decides for each test case whether a model passes it: `i passes t` [LTS96, def. 3.2]. A case
    /// that no run fails counts as passed, also where runs may leave its goal (`inconc`).
    pub fn passes(
        &self,
        implementation: &ModelRef,
        suite: &[PathBuf],
        semantics: SemanticsOptions,
        proceed: &mut ProceedSuite<'_>,
    ) -> Result<PassesDocument, Error> {
        if let Some(cases) = self.symbolic_suite(suite)? {
            return self.passes_data(implementation, &cases, semantics);
        }
        let implementation = self.explicit(implementation)?;
        implementation.reject_livelock(semantics.policy(), self.options().budget())?;
        let cases = self.suite_of(suite, &implementation)?;
        let mut document = PassesDocument::new(implementation.reference().to_string(), semantics);
        let mut certificates = Vec::new();
        for case in &cases {
            let reference = implementation.reference().to_string();
            self.compare_labels(
                (implementation.labels(), &reference),
                (case.case.labels(), &case.place),
                true,
            )?;
            let mut gave_up = None;
            let judged = document.cases.len();
            let mut proceed = |met: usize| {
                gave_up = proceed(SuiteEffort {
                    judged,
                    cases: cases.len(),
                    met,
                });
                match gave_up {
                    Some(_) => ControlFlow::Break(()),
                    None => ControlFlow::Continue(()),
                }
            };
            // Also between small test cases, of which there may be many.
            let runs = match proceed(0) {
                ControlFlow::Break(()) => None,
                ControlFlow::Continue(()) => {
                    runs_of(&implementation, &case.case, semantics, &mut proceed)?
                }
            };
            let Some(runs) = runs else {
                document.unknown = gave_up;
                break;
            };
            let tested = tell(&implementation, case, semantics, &runs);
            let made = certificates.iter().flatten().count();
            let failing = runs.failing().filter(|_| made < CERTIFIED);
            let whole = failing.map(|(verdict, run)| {
                self.certify_test_run(&implementation, case, verdict, run, semantics)
            });
            certificates.push(whole.transpose()?);
            document.cases.push(tested);
        }
        let all = SharedCertificates::new(&certificates);
        document.shared = all.shared;
        for (case, claim) in document.cases.iter_mut().zip(all.claims) {
            case.certificate = claim;
        }
        document.certificate = certificates.into_iter().flatten().next().map(Box::new);
        document.passes = document.decide(cases.len());
        if document.passes == Some(true) {
            let cases: Vec<&TestCase> = cases.iter().map(|case| &*case.case).collect();
            document.warnings = vacuity::of_suite(&implementation, &cases, semantics.policy());
            for warning in &document.warnings {
                self.warn(&format!("warning: {warning}"));
            }
        }
        Ok(document)
    }
}

/// All runs of a test case with an implementation that has all inputs; `None` where the search was
/// stopped.
fn runs_of(
    implementation: &ExplicitSpec,
    case: &TestCase,
    semantics: SemanticsOptions,
    proceed: &mut dyn FnMut(usize) -> ControlFlow<()>,
) -> Result<Option<TestRuns>, Error> {
    let system = implementation.system();
    let policy = semantics.policy();
    let about = |error: Error| error.about(&implementation.reference().to_string(), case.name());
    let found = if let Some(how) = semantics.complete_inputs {
        let completed = Completed::over(&system, how.into(), case.labels());
        test_runs_while(case, &completed, policy, proceed)
    } else {
        if !is_symmetric(case) {
            check_inputs(&system, case).map_err(about)?;
        }
        test_runs_while(case, &system, policy, proceed)
    };
    Ok(found)
}

/// Implementations are input-enabled over their own inputs and those of the test case, `L_I`
/// [LTS96, def. 5.1]; otherwise a test run may end where the theory says nothing.
fn check_inputs<M: Semantics<State = StateId>>(system: &M, case: &TestCase) -> Result<(), Error> {
    let own = system.labels();
    let unknown = case.labels().inputs().find(|&input| {
        let name = &case.labels().label(input).name;
        own.get(LabelKind::Input, name).is_none()
    });
    let (state, input) = if let Some(input) = unknown {
        (system.initial(), case.labels().text(input))
    } else if let Some((state, input)) = missing_input(system) {
        (state, own.text(input))
    } else {
        return Ok(());
    };
    let state = system.describe(&state);
    Err(Error::input(format!(
        "the implementation is not input-enabled: state {state} does not take {input}"
    ))
    .hint(crate::relation::COMPLETE_INPUTS))
}

fn tell(
    implementation: &ExplicitSpec,
    case: &SuiteCase,
    semantics: SemanticsOptions,
    runs: &TestRuns,
) -> TestedCase {
    let run = |verdict: Verdict, run: &TestRun| {
        let end = run_end(&case.case, run);
        let mut actions = run.actions.clone();
        let mut refused = None;
        match end {
            Some(RunEnd::Silence) => actions.push("delta".to_owned()),
            Some(RunEnd::Refusal(set)) => refused = Some(set),
            None => {}
        }
        let place = place(implementation, &case.case, semantics, run.implementation);
        TestRunDocument {
            verdict,
            run: actions,
            refuses: refused,
            implementation_state: place,
        }
    };
    TestedCase {
        case: case.case.name().to_owned(),
        file: case.place.clone(),
        relation: case.case.criterion().to_string(),
        passes: !runs.fails(),
        verdicts: runs.verdicts().map(|(v, r)| (v, r.len())).collect(),
        failing: runs.failing().map(|(v, r)| run(v, r)),
        certificate: None,
    }
}

/// A state of the implementation, which may be one of its completion.
pub(crate) fn place(
    implementation: &ExplicitSpec,
    case: &TestCase,
    semantics: SemanticsOptions,
    state: StateId,
) -> Place {
    let system = implementation.system();
    match semantics.complete_inputs {
        Some(how) => Place::of(&Completed::over(&system, how.into(), case.labels()), state),
        None => Place::of(&system, state),
    }
}
