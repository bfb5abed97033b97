//! Does a finite model satisfy an r-property of any class?

use std::collections::BTreeSet;

use iolite_derive::{
    Ending, Environment, Execution, Executions, Fairness, LetterMap, ModelRef,
    PropertySatisfaction, recheck_violation, satisfies,
};
use iolite_lts::{LabelId, LabelKind, Labels, Semantics};
use iolite_property::canonical_tester::DEADLOCK;
use serde::{Deserialize, Serialize};

use crate::verification::{Proof, VerificationOptions, VerifiedProperty};
use crate::workspace::formula;
use crate::{Error, ExplicitSpec, Property, PropertyReadOptions, Workspace, vacuity};

/// Which infinite executions of a model count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum FairnessFlag {
    /// All of them
    #[default]
    None,
    /// An output or internal action that stays enabled is taken again and again
    Weak,
    /// An output or internal action that is enabled again and again is taken again and again
    Strong,
}

impl From<FairnessFlag> for Fairness {
    fn from(flag: FairnessFlag) -> Self {
        match flag {
            FairnessFlag::None => Self::None,
            FairnessFlag::Weak => Self::Weak,
            FairnessFlag::Strong => Self::Strong,
        }
    }
}

/// Whether the environment may leave a model that waits for an input waiting for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum EnvironmentFlag {
    /// It may: an execution can end wherever only inputs are possible
    #[default]
    MayStop,
    /// It gives another input whenever the model waits for one
    GoesOn,
}

impl From<EnvironmentFlag> for Environment {
    fn from(flag: EnvironmentFlag) -> Self {
        match flag {
            EnvironmentFlag::MayStop => Self::MayStop,
            EnvironmentFlag::GoesOn => Self::GoesOn,
        }
    }
}

/// How an execution that breaks a property goes on after its trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutionEnding {
    /// Whatever follows, the property is violated.
    BadPrefix,
    /// The model waits for an input, and none comes.
    OutputLock,
    /// The model can do nothing any more.
    Deadlock,
    /// These actions again and again, internal ones left out; none where the model stays in a cycle of
    /// internal actions.
    Cycle(Vec<String>),
}

impl Workspace {
    /// Exec(M) ⊆ Π for the properties that a reference means, and how many states were looked at.
    pub(crate) fn verify_properties(
        &self,
        reference: &ModelRef,
        spec: &ExplicitSpec,
        options: &VerificationOptions,
    ) -> Result<(Vec<VerifiedProperty>, usize), Error> {
        spec.reject_livelock(options.quiescence, self.options().budget())?;
        let read = PropertyReadOptions {
            over: actions(spec.labels(), formula(reference)),
            beside: Some(spec.reference().clone()),
            ..PropertyReadOptions::default()
        };
        let mut found = Vec::new();
        let mut met = 0;
        for property in self.properties(reference, &read)? {
            self.check_watched_reference(&property.reference, spec.reference())?;
            let (verified, states) = self.verify_property(&property, spec, options)?;
            met += states;
            found.push(verified);
        }
        Ok((found, met))
    }

    fn verify_property(
        &self,
        property: &Property,
        spec: &ExplicitSpec,
        options: &VerificationOptions,
    ) -> Result<(VerifiedProperty, usize), Error> {
        let automaton = &property.automaton;
        let sigma = automaton.alphabet();
        if !sigma.propositions().is_empty() {
            return Err(Error::input(format!(
                "{}: its letters are valuations of {}, and a model has actions",
                property.name,
                sigma.propositions().join(", ")
            ))
            .hint("declare an HOA file's propositions as actions (`iolite show --hoa actions`)"));
        }
        let letters = LetterMap::new(sigma, spec.labels());
        let vacuous = vacuity::of_property(
            &property.name,
            automaton,
            &letters,
            spec.labels(),
            spec.reference(),
        );
        if let Some(warning) = &vacuous {
            self.warn(&format!("warning: {warning}"));
        }
        let executions = Executions {
            fairness: options.fairness.into(),
            environment: options.environment.into(),
            quiescence: options.quiescence,
        };
        let system = spec.system();
        let wrong = |e: &dyn std::fmt::Display| Error::input(format!("{}: {e}", property.name));
        let (answer, met) = satisfies(&system, automaton, &letters, executions, options.max_pairs)
            .map_err(|e| wrong(&e))?;
        let mut found = None;
        let (proof, ending) = match answer {
            PropertySatisfaction::Holds => (
                Proof::Proved {
                    invariant: None,
                    faults: 0,
                },
                None,
            ),
            PropertySatisfaction::Violated(execution) => {
                recheck_violation(&system, automaton, &letters, executions, &execution).map_err(
                    |why| {
                        Error::fault(format!(
                            "{}: the execution that was found does not stand: {why}",
                            property.name
                        ))
                    },
                )?;
                let told = (
                    Proof::Refuted {
                        trace: texts(spec.labels(), &execution.stem),
                        state: system.describe(&execution.turning_point()),
                        constants: Vec::new(),
                    },
                    Some(ending(spec.labels(), &execution)),
                );
                found = Some(execution);
                told
            }
            PropertySatisfaction::Open(execution) => {
                let trace = texts(spec.labels(), &execution.stem);
                let trace = if trace.is_empty() {
                    "nothing".to_owned()
                } else {
                    trace.join(" ")
                };
                let left = format!(
                    "after {trace} the model may stay silent for ever, and the property leaves open \
                     whether that is right"
                );
                (Proof::Unknown { left: vec![left] }, None)
            }
            PropertySatisfaction::Undefined(execution, why) => {
                let trace = texts(spec.labels(), &execution.stem).join(" ");
                let left = format!("after {trace} the property cannot go on: {why}");
                (Proof::Unknown { left: vec![left] }, None)
            }
            PropertySatisfaction::Unknown => {
                let left = format!("more than {} pairs of states", options.max_pairs);
                (Proof::Unknown { left: vec![left] }, None)
            }
        };
        let verified = VerifiedProperty {
            name: property.name.clone(),
            proof,
            relevance: None,
            ending,
            execution: found,
            vacuous,
            data: None,
        };
        Ok((verified, met))
    }
}

/// The actions of a model as a formula names them, and silence where the formula does.
pub(crate) fn actions(labels: &Labels, formula: Option<&str>) -> Vec<String> {
    let visible = labels.iter().filter(|(_, l)| {
        matches!(
            l.kind,
            LabelKind::Input | LabelKind::Output | LabelKind::Undirected
        )
    });
    // With values, a formula speaks of the action: `!o` for every `!o(…)`.
    let actions = visible.map(|(_, l)| {
        let text = l.to_string();
        let action = text.split_once('(').map(|(action, _)| action.to_owned());
        action.unwrap_or(text)
    });
    let mut over: BTreeSet<String> = actions.collect();
    let words = formula.unwrap_or_default();
    for word in words.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        match word {
            "delta" | "δ" => over.insert("delta".to_owned()),
            DEADLOCK => over.insert(DEADLOCK.to_owned()),
            _ => false,
        };
    }
    over.into_iter().collect()
}

fn texts(labels: &Labels, steps: &[(LabelId, iolite_lts::StateId)]) -> Vec<String> {
    let visible = steps
        .iter()
        .filter(|(l, _)| labels.kind(*l) != LabelKind::Internal);
    visible.map(|&(l, _)| labels.text(l)).collect()
}

fn ending(labels: &Labels, execution: &Execution) -> ExecutionEnding {
    match &execution.ending {
        Ending::BadPrefix => ExecutionEnding::BadPrefix,
        Ending::OutputLock => ExecutionEnding::OutputLock,
        Ending::Deadlock => ExecutionEnding::Deadlock,
        Ending::Cycle(steps) => ExecutionEnding::Cycle(texts(labels, steps)),
    }
}
