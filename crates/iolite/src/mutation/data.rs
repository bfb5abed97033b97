//! What kills mutants whose data are kept: test cases with data and properties, proved, refuted or neither.

use std::sync::Arc;

use super::MutantDocument;
use super::examine::{BUDGET, Examiner, Kill, Worker};
use crate::passes::{Instances, failing_run};
use crate::verification_turns::ProofSearch;
use crate::{
    Error, ErrorKind, ModelRef, Spec, SymbolicSuiteCase, VerificationOptions, Workspace, as_iosts,
    solver,
};

impl Examiner<'_> {
    /// The first property that a system violates, as an implementation: with its inputs completed.
    pub(super) fn data_violation(
        &self,
        workspace: &Workspace,
        system: &Spec,
    ) -> Result<Kill, Error> {
        if self.options.properties.is_empty() {
            return Ok(Kill::No);
        }
        let model = self.workspace.spec(self.model)?;
        let over = as_iosts::of(&model)?;
        let completed = as_iosts::of(system)?.input_completed(&over, &mut solver(None)?);
        let completed = match completed {
            Ok(completed) => completed,
            Err(error) => return Ok(Kill::Unknown(error.to_string())),
        };
        let asked = VerificationOptions {
            properties: self.options.properties.clone(),
            quiescence: self.options.quiescence.policy(),
            time: Some(BUDGET.time),
            ..VerificationOptions::default()
        };
        let search = ProofSearch {
            steps: BUDGET.steps,
            asks_spacer: false,
        };
        // Observers and properties are for the model by name.
        let found = workspace.verify_symbolic(&completed, &model, &asked, search)?;
        Ok(Kill::of(found.properties))
    }
}

impl Worker<'_> {
    /// Every run of every test case with data.
    pub(super) fn run_data_suite(
        &self,
        workspace: &Workspace,
        reference: &ModelRef,
        document: &mut MutantDocument,
    ) -> Result<(), Error> {
        let Examiner {
            data_suite: suite,
            options,
            ..
        } = self.examiner;
        if suite.is_empty() {
            return Ok(());
        }
        let model = workspace
            .spec(reference)
            .and_then(|spec| as_iosts::of(&spec));
        let model = match model {
            Err(error) if error.kind() != ErrorKind::Fault => {
                document.undecided.get_or_insert(error.message().to_owned());
                return Ok(());
            }
            model => model?,
        };
        document.killed = Some(false);
        // A specification with unknown constants allows what one of its instances does, so a mutant that conforms
        // may be another instance, and only a run that fails with all values speaks against the test case. Any
        // other mutant stands for implementations with values, each tested by the same instance.
        let instances = match document.conforms {
            Some(true) => Instances::All,
            _ => Instances::Each,
        };
        for SymbolicSuiteCase { place, case } in suite {
            let semantics = options.semantics();
            let found = failing_run(
                Arc::clone(&model),
                reference,
                case,
                semantics,
                BUDGET,
                instances,
            );
            let open = match found {
                Ok(Ok(None)) => continue,
                Ok(Ok(Some(failing))) => {
                    document.killed = Some(true);
                    document.killed_by = Some(place.clone());
                    document.killed_after = Some(failing.told.run);
                    document.killed_with = failing.with;
                    return Ok(());
                }
                Ok(Err(why)) => why,
                Err(error) if error.kind() == ErrorKind::Fault => return Err(error),
                Err(error) => error.message().to_owned(),
            };
            document
                .undecided
                .get_or_insert(format!("{}: {open}", case.name()));
        }
        Ok(())
    }
}
