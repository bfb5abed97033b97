//! Certificates of executions that refute properties.

use iolite_derive::{Criterion, Ending};
use iolite_lts::{LabelId, StateId};
use iolite_recheck::{Certificate, Model};

use super::certify::{named, policy_name};
use super::tables;
use crate::property_verification::actions;
use crate::workspace::formula;
use crate::{
    EnvironmentFlag, Error, ExecutionEnding, ExplicitSpec, FairnessFlag, Proof,
    PropertyReadOptions, VerificationOptions, VerifiedProperty, Workspace,
};

/// What a certificate says of fairness.
pub(super) fn fairness_name(flag: FairnessFlag) -> Option<String> {
    match flag {
        FairnessFlag::None => None,
        FairnessFlag::Weak => Some("weak".to_owned()),
        FairnessFlag::Strong => Some("strong".to_owned()),
    }
}

/// What a certificate says of the environment.
pub(super) fn environment_name(flag: EnvironmentFlag) -> Option<String> {
    match flag {
        EnvironmentFlag::MayStop => None,
        EnvironmentFlag::GoesOn => Some("goes-on".to_owned()),
    }
}

/// States of a model whose executions have certificates.
const STATES: usize = 20_000;

impl Workspace {
    /// The whole certificate of an execution that is not in a property; `None` where the model is too
    /// large.
    pub(super) fn certify_execution(
        &self,
        spec: &ExplicitSpec,
        property: &VerifiedProperty,
        options: &VerificationOptions,
    ) -> Result<Option<Certificate>, Error> {
        let (Proof::Refuted { trace, .. }, Some(ending)) = (&property.proof, &property.ending)
        else {
            return Ok(None);
        };
        for reference in &options.properties {
            if !self.is_safety_property(reference)? {
                continue;
            }
            let read = PropertyReadOptions {
                over: actions(spec.labels(), formula(reference)),
                beside: Some(spec.reference().clone()),
                ..PropertyReadOptions::default()
            };
            let found = self.properties(reference, &read)?;
            let Some(found) = found.into_iter().find(|p| p.name == property.name) else {
                continue;
            };
            let Some((table, numbers)) = tables::whole_table(&spec.system(), STATES) else {
                return Ok(None);
            };
            let steps = |steps: &[(LabelId, StateId)]| -> Option<Vec<(String, usize)>> {
                let step = |&(label, to): &(LabelId, StateId)| {
                    Some((spec.labels().text(label), *numbers.get(&to)?))
                };
                steps.iter().map(step).collect()
            };
            // Where every execution counts, what can be seen of one says all.
            let plain = options.fairness == FairnessFlag::None
                && options.environment == EnvironmentFlag::MayStop;
            let execution = property.execution.as_ref().filter(|_| !plain);
            let execution = execution.and_then(|execution| {
                let cycle = match &execution.ending {
                    Ending::Cycle(cycle) => cycle.as_slice(),
                    Ending::BadPrefix | Ending::OutputLock | Ending::Deadlock => &[],
                };
                Some(iolite_recheck::Execution {
                    stem: steps(&execution.stem)?,
                    cycle: steps(cycle)?,
                })
            });
            let events: Vec<String> = spec.labels().iter().map(|(_, l)| l.to_string()).collect();
            let reference = found.reference.to_string();
            let automaton = tables::property(reference, "inclusion", &found.automaton, &events);
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
                execution,
                fairness: fairness_name(options.fairness),
                environment: environment_name(options.environment),
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
