//! Certificates of models with data that fail test cases with data: a run with all its values.

use std::sync::Arc;

use iolite_derive::{ModelRef, SymbolicTestCase};
use iolite_lang::DataNames;
use iolite_recheck::{Certificate, DataClaim, Model};
use iolite_sts::{LocationId, TestProgram};

use super::certify::{named, place, policy_name};
use super::data_claim::{self, FIRED};
use super::recheck_data::part;
use super::{CheckOutcome, ExplainOptions, Part, policy};
use crate::passes::{FailingRun, failing};
use crate::workspace::suite_reference;
use crate::{Error, PropertyReadOptions, SemanticsOptions, Workspace, as_iosts, solver};

impl Workspace {
    /// The whole certificate of a run of a test case with data that fails.
    pub(crate) fn certify_failing(
        &self,
        implementation: &ModelRef,
        (file, case): (&str, &SymbolicTestCase),
        run: &FailingRun,
        semantics: SemanticsOptions,
    ) -> Result<Certificate, Error> {
        let names = DataNames::of(&run.product);
        let told = data_claim::told(&run.product, &names, &run.found.run);
        let told = told.ok_or_else(data_claim::unwritten)?;
        let reference = ModelRef::from(file);
        let reference = suite_reference(&reference).unwrap_or(reference);
        let own = reference.with_hash(self.cited_hash(&reference)?);
        let implementation = ModelRef {
            hash: None,
            ..implementation.clone()
        };
        let mut whole = Certificate {
            model: named(&own),
            complete_inputs: semantics.complete_inputs.map(|how| how.name().to_owned()),
            trace: run.told.run.clone(),
            implementation_location: Some(place(&run.told.implementation_state)),
            implementation: Some(Model {
                reference: implementation.to_string(),
                table: None,
            }),
            data: Some(DataClaim {
                observer: file.to_owned(),
                name: case.name().to_owned(),
                run: Some(told),
                how: run.found.how.clone(),
                ..DataClaim::default()
            }),
            ..Certificate::new(
                case.criterion().name(),
                run.told.verdict.name(),
                policy_name(semantics.policy()),
            )
        };
        let references = [implementation, reference];
        self.add_files(&mut whole, &references, &PropertyReadOptions::default())?;
        Ok(whole)
    }

    /// A run of a test case beside a model, fired step by step; and whether the time was over.
    pub(super) fn recheck_failing(
        &self,
        claim: &Certificate,
        data: &DataClaim,
        implementation: &Model,
        options: &ExplainOptions,
        parts: &mut Vec<Part>,
    ) -> Result<(CheckOutcome, bool), Error> {
        let refuted = |reason: &str| Ok((CheckOutcome::Refuted(reason.to_owned()), false));
        let Some(case) = self.symbolic_case(&data.observer.as_str().into())? else {
            return refuted("it is no test case with data");
        };
        if case.name() != data.name || case.criterion().name() != claim.kind {
            return refuted("the test case is another one");
        }
        let program = case.program().mirrored();
        let mut model = as_iosts::of(&*self.spec(&implementation.reference.as_str().into())?)?;
        if claim.complete_inputs.is_some() {
            let completed = model.input_completed(&program, &mut solver(None)?);
            match completed {
                Ok(completed) => model = Arc::new(completed),
                Err(why) => return Ok((CheckOutcome::Undecided(why.to_string()), false)),
            }
        }
        let verdicts: Vec<LocationId> = case.verdicts().map(|(l, _)| l).collect();
        let fails = case.verdicts().filter(|(_, v)| v.is_failing());
        let fails: Vec<LocationId> = fails.map(|(l, _)| l).collect();
        let test = TestProgram {
            model: &program,
            verdicts: &verdicts,
        };
        let product = match test.product(&model, &fails, policy(claim)) {
            Ok(product) => product,
            Err(why) => return Ok((CheckOutcome::Undecided(why.to_string()), false)),
        };
        let Some(told) = &data.run else {
            return refuted("the run is missing");
        };
        let run = match data_claim::valued(&product.model, &DataNames::of(&product.model), told) {
            Ok(run) => run,
            Err(reason) => return refuted(&reason),
        };
        let mut solver = solver(options.solver.as_deref())?;
        solver.set_deadline(options.until.as_ref().map(|(until, _)| *until));
        match product.recheck_run(&model, &run, &mut solver) {
            Ok(true) => {}
            Ok(false) => return refuted("it is no run of model and test case that fails"),
            Err(e) => return Ok((data_claim::undecided(&e), solver.is_out_of_time())),
        }
        if let Some(fault) = solver.fault() {
            return Err(Error::fault(fault));
        }
        let found = failing(&case, &program, &model, &product.model, &run);
        if found.verdict.name() != claim.verdict {
            return refuted(&format!("the verdict is `{}`", found.verdict.name()));
        }
        if found.run != claim.trace {
            return refuted("the trace is not what the run shows");
        }
        let ends = place(&found.implementation_state);
        if claim.implementation_location.as_ref() != Some(&ends) || !claim.locations.is_empty() {
            return refuted("the run ends elsewhere");
        }
        parts.push(part(
            "run: of the model beside the test case, to a failing verdict",
            FIRED,
        ));
        parts.push(part(
            "trace and the place of the implementation: those of the run",
            FIRED,
        ));
        Ok((CheckOutcome::Confirmed, false))
    }
}
