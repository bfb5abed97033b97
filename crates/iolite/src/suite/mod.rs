//! The quality of a suite for a specification: is it sound, what does it cover, how exhaustive is it.

mod data;
mod document;

use std::ops::ControlFlow;
use std::path::PathBuf;

use iolite_derive::{
    Criterion, Exhaustiveness, ModelRef, SuiteRelation, TestCase, exhaustiveness, reach, soundness,
};
use iolite_lts::relation::Relation;

use crate::passes::is_symmetric;
use crate::{
    Error, ExplicitSpec, ProceedSuite, SemanticsOptions, SharedCertificates, SuiteCase,
    SuiteEffort, Workspace,
};

pub use document::{
    ExhaustivenessDocument, JudgedCase, SuiteDocument, UndetectedDocument, UnsoundDocument,
};

/// Test cases that are not sound and have certificates.
const CERTIFIED: usize = 100;

/// States of the suspension automaton beyond which coverage is not counted.
const COVERAGE_LIMIT: usize = 1_000_000;

/// What is asked of a suite.
#[derive(Clone, Copy, Debug)]
pub struct SuiteOptions {
    /// ioco, ioconf or conf.
    pub relation: Relation,
    /// What the models mean where they leave it open; nothing is completed.
    pub semantics: SemanticsOptions,
    /// Transitions that are not covered, listed at most.
    pub uncovered: usize,
}

impl Workspace {
    /// Judges a suite: whether it is sound for a relation to a specification, what it covers, and to
    /// what depth it is exhaustive.
    pub fn judge_suite(
        &self,
        specification: &ModelRef,
        suite: &[PathBuf],
        options: SuiteOptions,
        proceed: &mut ProceedSuite<'_>,
    ) -> Result<SuiteDocument, Error> {
        let name = options.relation.name();
        let relation = SuiteRelation::of(options.relation).ok_or_else(|| {
            Error::input(format!(
                "suites are judged for ioco, ioconf and conf, not for {name}"
            ))
        })?;
        if let Some(judged) = self.judge_data_suite(specification, suite, (relation, options))? {
            return Ok(judged);
        }
        let spec = self.explicit(specification)?;
        let policy = options.semantics.policy();
        if relation != SuiteRelation::Conf {
            spec.reject_plain_labels()?;
            spec.reject_livelock(policy, self.options().budget())?;
        }
        let cases = self.suite(suite, &spec)?;
        for case in &cases {
            self.check_case(&spec, case, relation)?;
        }
        let system = spec.system();
        let mut gave_up = None;
        let mut proceed = |judged: usize, met: usize| {
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
        let mut judged = Vec::new();
        let mut certificates = Vec::new();
        for case in &cases {
            if proceed(judged.len(), 0).is_break() {
                break;
            }
            let unsound = soundness(&case.case, &system, relation, policy);
            let made = certificates.iter().flatten().count();
            let certified = unsound.as_ref().filter(|_| made < CERTIFIED);
            let whole = certified.map(|found| self.certify_unsound(&spec, case, found, options));
            certificates.push(whole.transpose()?);
            judged.push(JudgedCase {
                case: case.case.name().to_owned(),
                file: case.place.clone(),
                relation: case.case.criterion().to_string(),
                sound: unsound.is_none(),
                witness: unsound.map(UnsoundDocument::from),
                certificate: None,
            });
        }
        let all: Vec<&TestCase> = cases.iter().map(|case| &*case.case).collect();
        let found = if judged.len() == cases.len() {
            exhaustiveness(&all, &system, relation, policy, &mut |met| {
                proceed(cases.len(), met)
            })
        } else {
            Exhaustiveness::AtLeast(0)
        };
        let missed = match &found {
            Exhaustiveness::UpTo(_, found) => {
                self.certify_undetected(&spec, &cases, found, options)?
            }
            _ => None,
        };
        let mut warnings = Vec::new();
        if matches!(found, Exhaustiveness::UpTo(..)) && missed.is_none() {
            warnings.push(
                "no certificate of what is not detected: the test cases are too large".to_owned(),
            );
        }
        let shared = SharedCertificates::new(&certificates);
        for (case, claim) in judged.iter_mut().zip(&shared.claims) {
            case.certificate.clone_from(claim);
        }
        let unsound = judged.iter().filter(|case| !case.sound).count();
        let certified = judged.iter().filter(|c| c.certificate.is_some()).count();
        if certified < unsound {
            warnings.push(format!(
                "{certified} of {unsound} test cases that are not sound have certificates; all would be too large"
            ));
        }
        for warning in &warnings {
            self.warn(&format!("warning: {warning}"));
        }
        let coverage = reach(&all, &system, policy, COVERAGE_LIMIT, options.uncovered).ok();
        let whole = judged.len() == cases.len();
        let sound = if judged.iter().all(|case| case.sound) {
            whole.then_some(true)
        } else {
            Some(false)
        };
        Ok(SuiteDocument {
            specification: spec.reference().to_string(),
            relation: name.to_owned(),
            semantics: options.semantics,
            sound,
            unknown: gave_up,
            cases: judged,
            coverage,
            exhaustive: found.into(),
            keeps_data: false,
            warnings,
            shared: shared.shared,
            certificate: missed.map(Box::new),
            first_unsound: certificates.into_iter().flatten().next().map(Box::new),
        })
    }

    /// Whether a test case fits the relation and the alphabet.
    fn check_case(
        &self,
        spec: &ExplicitSpec,
        case: &SuiteCase,
        relation: SuiteRelation,
    ) -> Result<(), Error> {
        let symmetric = is_symmetric(&case.case);
        let ends_at_once = case.case.states()[0].steps().is_empty();
        let offers = case
            .case
            .states()
            .iter()
            .any(|s| matches!(s.step, iolite_derive::TestStep::Offer { .. }));
        let place = &case.place;
        if relation == SuiteRelation::Conf && !symmetric && !ends_at_once {
            return Err(Error::input(format!(
                "{place}: a test case for conf offers actions; this one stimulates and observes"
            ))
            .hint("--relation ioco or --relation ioconf judges it"));
        }
        if relation != SuiteRelation::Conf && offers {
            return Err(Error::input(format!(
                "{place}: it offers plain actions, which only conf speaks of"
            ))
            .hint("--relation conf judges it"));
        }
        if case.case.criterion() == Criterion::Relation(Relation::IoconfF) {
            self.warn(&format!(
                "warning: {place} was derived for ioconf-f, and is judged for another relation"
            ));
        }
        self.compare_labels(
            (case.case.labels(), place),
            (spec.labels(), &spec.reference().to_string()),
            true,
        )
    }
}
