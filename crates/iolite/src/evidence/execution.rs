//! Certificates of executions that refute properties.

use iolite_derive::Criterion;
use iolite_recheck::{Certificate, Model};

use super::certify::{named, policy_name};
use super::tables;
use crate::property_verification::actions;
use crate::workspace::formula;
use crate::{
    EnvironmentFlag, Error, ExecutionEnding, ExplicitSpec, FairnessFlag, Proof,
    PropertyReadOptions, VerificationOptions, VerifiedProperty, Workspace,
};

/// States of a model whose executions have certificates.
const STATES: usize = 20_000;

impl Workspace {
    /// The whole certificate of an execution that is not in a property; `None` where fairness or the
    /// environment decides what an execution is, and where the model is too large.
    pub(super) fn certify_execution(
        &self,
        spec: &ExplicitSpec,
        property: &VerifiedProperty,
        options: &VerificationOptions,
    ) -> Result<Option<Certificate>, Error> {
        let plain = options.fairness == FairnessFlag::None
            && options.environment == EnvironmentFlag::MayStop;
        let (Proof::Refuted { trace, .. }, Some(ending), true) =
            (&property.proof, &property.ending, plain)
        else {
            return Ok(None);
        };
        for reference in &options.properties {
            if !self.is_safety_property(reference)? {
                continue;
            }
            let read = PropertyReadOptions {
                over: actions(spec.labels(), formula(reference)),
                ..PropertyReadOptions::default()
            };
            let found = self.properties(reference, &read)?;
            let Some(found) = found.into_iter().find(|p| p.name == property.name) else {
                continue;
            };
            let Some((table, _)) = tables::whole_table(&spec.system(), STATES) else {
                return Ok(None);
            };
            let automaton =
                tables::property(found.reference.to_string(), "inclusion", &found.automaton);
            let (name, cycle) = match ending {
                ExecutionEnding::BadPrefix => ("bad-prefix", None),
                ExecutionEnding::OutputLock => ("output-lock", None),
                ExecutionEnding::Deadlock => ("deadlock", None),
                ExecutionEnding::Cycle(cycle) => ("cycle", Some(cycle.clone())),
            };
            let mut whole = Certificate {
                model: named(spec.reference()),
                trace: trace.clone(),
                ending: Some(name.to_owned()),
                cycle,
                property: Some(automaton),
                specification: Some(Model {
                    reference: spec.reference().to_string(),
                    table: Some(table),
                }),
                ..Certificate::new(
                    Criterion::Property.name(),
                    "refuted",
                    policy_name(options.quiescence),
                )
            };
            let system = iolite_derive::ModelRef {
                hash: None,
                ..spec.reference().clone()
            };
            self.add_files(&mut whole, &[system, found.reference.clone()], &read)?;
            return Ok(Some(whole));
        }
        Ok(None)
    }
}
