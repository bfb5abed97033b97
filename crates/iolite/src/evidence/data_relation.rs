//! Certificates of relations between models whose data do not unfold.
//!
//! A difference is a trace and an observation: formulas over the locations of each model say whether it has
//! them, and neither det(S^δ) nor the product that was searched is needed. That there is none is an inductive
//! invariant of I^δ beside the tester of S, and one that shows that every input is taken.

use std::sync::Arc;

use iolite_derive::ModelRef;
use iolite_expr::{Value, Var};
use iolite_lang::DataNames;
use iolite_lts::relation::Relation;
use iolite_recheck::{Certificate, DataClaim, Model, Observation};
use iolite_sts::analysis::Proof;
use iolite_sts::{
    Beside, Comparison, HasTrace, InstanceComparison, InstanceProof, Iosts, RunPlace, TraceStep,
    refusing,
};

use super::certify::{self, named, policy_name};
use super::data::{self, Between, DataRun};
use super::data_claim;
use super::recheck_data::{DataReport, FORMULAS, part};
use super::{CheckOutcome, ExplainOptions, Part, RECHECK, policy};
use crate::relation::decided_with_data;
use crate::{
    CompletionFlag, CounterexampleDocument, Error, PropertyReadOptions, RelationDocument,
    Workspace, as_iosts, solver,
};

/// What proves a relation between models with data.
#[derive(Clone, Debug)]
pub(crate) struct RelationProof {
    /// I^δ beside the tester of S.
    pub(crate) product: Iosts,
    /// Its invariant.
    pub(crate) proof: Proof,
    /// The implementation beside its refusals, and the invariant that excludes them; nothing where it was
    /// completed.
    pub(crate) enabled: Option<(Iosts, Proof)>,
    /// The instance of the specification that the proof speaks of, where constants of it have no value.
    pub(crate) instance: Option<InstanceProof>,
}

/// The implementation as it is compared.
fn completed(i: Arc<Iosts>, s: &Iosts, how: Option<&str>) -> Result<Arc<Iosts>, Error> {
    if how.is_none() {
        return Ok(i);
    }
    let found = i.input_completed(s, &mut solver(None)?);
    let found = found.map_err(|e| Error::undecided(e.to_string()))?;
    Ok(Arc::new(found))
}

impl Workspace {
    /// The whole certificate of a relation between models with data that does not hold.
    pub(crate) fn certify_difference(
        &self,
        document: &RelationDocument,
        found: &CounterexampleDocument,
    ) -> Result<Certificate, Error> {
        let mut whole = Certificate {
            trace: found.trace.clone(),
            observed: Some(certify::observation(&found.observed)),
            allowed: found.allowed.iter().map(certify::observation).collect(),
            locations: found
                .specification_states
                .iter()
                .map(certify::place)
                .collect(),
            implementation_location: Some(certify::place(&found.implementation_state)),
            ..related(document, "fail")
        };
        self.add_related_files(&mut whole, document)?;
        Ok(whole)
    }

    /// The same of one that holds.
    pub(super) fn certify_relation_proof(
        &self,
        document: &RelationDocument,
        found: &RelationProof,
    ) -> Result<Certificate, Error> {
        let conditions =
            |model: &Iosts, proof: &Proof| data_claim::conditions(model, &proof.invariant);
        let enabled = found.enabled.as_ref();
        let enabled = enabled.map(|(model, proof)| conditions(model, proof));
        let instance = found.instance.as_ref();
        let specified = instance.and_then(|i| i.specified.as_ref());
        let specified = specified.map(|(model, proof)| conditions(model, proof));
        let values = |i: &InstanceProof| {
            let values = i.values.iter();
            values
                .map(|(n, v)| (n.to_string(), v.to_string()))
                .collect()
        };
        let mut whole = Certificate {
            data: Some(DataClaim {
                invariant: Some(conditions(&found.product, &found.proof)?),
                enabled: enabled.transpose()?,
                instance: instance.map(values),
                specified: specified.transpose()?,
                faults: found.proof.faults.iter().map(|t| t.index()).collect(),
                how: found.proof.how.clone(),
                ..DataClaim::default()
            }),
            ..related(document, "holds")
        };
        self.add_related_files(&mut whole, document)?;
        Ok(whole)
    }

    fn add_related_files(
        &self,
        whole: &mut Certificate,
        document: &RelationDocument,
    ) -> Result<(), Error> {
        let references = [&document.implementation, &document.specification];
        let references = references.map(|reference| ModelRef::from(reference.as_str()));
        self.add_files(whole, &references, &PropertyReadOptions::default())
    }

    /// A difference between two models with data.
    pub(super) fn recheck_difference(
        &self,
        claim: &Certificate,
        implementation: &Model,
        specification: &Model,
        options: &ExplainOptions,
    ) -> Result<DataReport, Error> {
        if let Some(reason) = misplaced(claim, implementation) {
            return Ok(DataReport::refuted(reason.to_owned()));
        }
        let spec = |model: &Model| self.spec(&model.reference.as_str().into());
        let (spec_i, spec_s) = (spec(implementation)?, spec(specification)?);
        let s = as_iosts::of(&spec_s)?;
        let i = completed(as_iosts::of(&spec_i)?, &s, claim.complete_inputs.as_deref())?;
        let until = options.until.as_ref().map(|(until, _)| *until);
        let run = DataRun {
            spec: &spec_s,
            model: &s,
            policy: policy(claim),
            solver: options.solver.as_deref(),
            until,
            every_state: claim.kind == "uioco",
            of_the_union: true,
            fronts: data::fronts(&s, policy(claim)),
        };
        let observed = match &claim.observed {
            Some(Observation::Action(action)) => action.as_str(),
            _ => return Ok(DataReport::refuted("nothing was observed".to_owned())),
        };
        match run.is_allowed(&claim.trace, Some(observed), Between::Nothing)? {
            Ok(false) => {}
            Ok(true) => {
                let reason = format!("the specification allows {observed} there");
                return Ok(DataReport::refuted(reason));
            }
            Err(checked) => return Ok(checked.into()),
        }
        let mut own = solver(options.solver.as_deref())?;
        own.set_deadline(until);
        let actions = claim.actions();
        let steps: Option<Vec<TraceStep>> = actions
            .iter()
            .map(|text| data::step(&spec_i, &i, text))
            .collect();
        let Some(steps) = steps else {
            let reason = "the implementation does not have all these actions".to_owned();
            return Ok(DataReport::refuted(reason));
        };
        let told = claim.implementation_location.as_deref();
        let mut fronts = data::fronts(&i, policy(claim)).into_inner();
        let shown = match told {
            None => fronts.has(&steps, Beside::default(), &mut own),
            Some(text) => match run_place(&i, text) {
                None => HasTrace::No,
                Some(place) => fronts.has_from(&steps, &place, &mut own),
            },
        };
        crate::answers_count(&own)?;
        match shown {
            HasTrace::Yes => {}
            HasTrace::No => {
                let reason = "the implementation does not show it, or not there".to_owned();
                return Ok(DataReport::refuted(reason));
            }
            HasTrace::Unknown(why) => return Ok(DataReport::undecided(&why)),
        }
        let mut report = DataReport::from(CheckOutcome::Confirmed);
        report
            .parts
            .push(part("files: each text has its hash", RECHECK));
        let what = format!("trace: {} steps of both models", claim.trace.len());
        report.parts.push(part(&what, FORMULAS));
        let what = format!(
            "observed: {observed}, which the implementation shows and the specification does not"
        );
        report.parts.push(part(&what, FORMULAS));
        if told.is_some() {
            report
                .parts
                .push(part("the place of the implementation", FORMULAS));
        } else {
            let note = "it does not say where the implementation is";
            report.notes.push(note.to_owned());
        }
        if claim.complete_inputs.is_none() {
            let told = "that the implementation takes every input";
            report.told.push(told.to_owned());
        }
        // A replaced specification allows other things.
        if options.specification.is_none() {
            Self::recheck_told(&run, claim, &[], &mut report)?;
        }
        Ok(report)
    }

    /// That a relation between two models with data holds.
    pub(super) fn recheck_relation_proof(
        &self,
        claim: &Certificate,
        data: &DataClaim,
        options: &ExplainOptions,
        parts: &mut Vec<Part>,
    ) -> Result<CheckOutcome, Error> {
        let reference = |model: &Option<Model>| {
            let model = model.as_ref();
            ModelRef::from(model.map_or("", |m| m.reference.as_str()))
        };
        let s = as_iosts::of(&*self.spec(&reference(&claim.specification))?)?;
        let i = as_iosts::of(&*self.spec(&reference(&claim.implementation))?)?;
        let i = completed(i, &s, claim.complete_inputs.as_deref())?;
        let relation: Option<Relation> = claim.kind.parse().ok();
        let Some(relation) = relation.and_then(decided_with_data) else {
            return Ok(CheckOutcome::Refuted("it is no relation".to_owned()));
        };
        // The products are made as they were made for the search: conditions are of their locations.
        let mut own = solver(None)?;
        let (product, specified) = match &data.instance {
            None => {
                let comparison = Comparison::new(&i, &s, relation, &mut own);
                match comparison.and_then(|c| c.product(policy(claim))) {
                    Ok(product) => (product, None),
                    Err(why) => return Ok(CheckOutcome::Undecided(why.to_string())),
                }
            }
            Some(told) => {
                let Some(values) = instance_values(&s, &i, told) else {
                    let reason =
                        "these are not the constants of the specification, or no values of theirs";
                    return Ok(CheckOutcome::Refuted(reason.to_owned()));
                };
                let values: Vec<(&str, Value)> =
                    values.iter().map(|(n, v)| (&**n, v.clone())).collect();
                let made =
                    InstanceComparison::new(&i, &s, relation, &values, policy(claim), &mut own);
                match made {
                    Ok(Some(made)) => (made.product, made.specified),
                    Ok(None) => {
                        let reason = "the specification has no such instance for all constants of the implementation";
                        return Ok(CheckOutcome::Refuted(reason.to_owned()));
                    }
                    Err(why) => return Ok(CheckOutcome::Undecided(why.to_string())),
                }
            }
        };
        let mut solver = solver(options.solver.as_deref())?;
        solver.set_deadline(options.until.as_ref().map(|(until, _)| *until));
        let invariant = data.invariant.as_deref().unwrap_or_default();
        let faults = Some(data.faults.as_slice());
        let checked =
            data_claim::recheck_invariant(&product, (invariant, None), faults, &mut solver, parts);
        if checked != CheckOutcome::Confirmed {
            return Ok(checked);
        }
        if let Some(specified) = specified {
            let told = data.specified.as_deref().unwrap_or_default();
            let mut shown = Vec::new();
            let checked = data_claim::recheck_invariant(
                &specified,
                (told, None),
                None,
                &mut solver,
                &mut shown,
            );
            if checked != CheckOutcome::Confirmed {
                return Ok(checked);
            }
            let what = "instance: by another invariant, it specifies every input that others do";
            parts.push(part(what, data_claim::QUESTIONS));
        }
        let Some(enabled) = &data.enabled else {
            return Ok(checked);
        };
        let watched = match refusing(&i, &s, &mut own) {
            Ok(watched) => watched,
            Err(why) => return Ok(CheckOutcome::Undecided(why.to_string())),
        };
        let mut shown = Vec::new();
        let checked =
            data_claim::recheck_invariant(&watched, (enabled, None), None, &mut solver, &mut shown);
        if checked == CheckOutcome::Confirmed {
            let what = "inputs: by another invariant, the implementation takes every one";
            parts.push(part(what, data_claim::QUESTIONS));
        }
        Ok(checked)
    }
}

/// The values of an instance, in the order of the specification's constants that the implementation does not have.
fn instance_values(
    specification: &Iosts,
    implementation: &Iosts,
    told: &[(String, String)],
) -> Option<Vec<(Box<str>, Value)>> {
    let names = DataNames::of(specification);
    let shared = |var: &Var| {
        let mut all = implementation.constants().iter().map(|c| &c.var);
        all.any(|own| own.name == var.name && own.sort == var.sort)
    };
    let open = specification.constants().iter().map(|c| &c.var);
    let open: Vec<&Var> = open.filter(|v| !shared(v)).collect();
    let same = open.len() == told.len() && open.iter().zip(told).all(|(v, (n, _))| *v.name == **n);
    same.then_some(())?;
    let value = |(v, (_, text)): (&&Var, &(String, String))| {
        let value = names.read_value(text, &v.sort).ok()?;
        Some(((*v.name).into(), value))
    };
    open.iter().zip(told).map(value).collect()
}

/// A claim about two models without tables.
fn related(document: &RelationDocument, verdict: &str) -> Certificate {
    let model = |reference: &String| Model {
        reference: reference.clone(),
        table: None,
    };
    let policy = policy_name(document.semantics.policy());
    Certificate {
        model: named(&ModelRef {
            hash: Some(document.specification_hash.clone()),
            ..ModelRef::from(document.specification.as_str())
        }),
        complete_inputs: document
            .semantics
            .complete_inputs
            .map(|how: CompletionFlag| how.name().to_owned()),
        implementation: Some(model(&document.implementation)),
        specification: Some(model(&document.specification)),
        ..Certificate::new(&document.relation, verdict, policy)
    }
}

/// What a difference between models with data cannot have.
fn misplaced(claim: &Certificate, implementation: &Model) -> Option<&'static str> {
    let plain = Certificate {
        model: claim.model.clone(),
        trace: claim.trace.clone(),
        observed: claim.observed.clone(),
        allowed: claim.allowed.clone(),
        locations: claim.locations.clone(),
        implementation_location: claim.implementation_location.clone(),
        complete_inputs: claim.complete_inputs.clone(),
        specification: claim.specification.clone(),
        implementation: claim.implementation.clone(),
        files: claim.files.clone(),
        reading: claim.reading.clone(),
        ..Certificate::new(&claim.kind, "fail", &claim.quiescence)
    };
    let kind = claim.kind.as_str();
    if *claim != plain {
        Some("it is of two models without tables, and claims nothing else")
    } else if !matches!(kind, "ioco" | "uioco" | "ioconf") {
        Some("it is no relation that is decided where data are kept")
    } else if implementation.table.is_some() {
        Some("both models have their tables, or none")
    } else if claim
        .complete_inputs
        .as_deref()
        .is_some_and(|how| how != "self-loop")
    {
        Some("inputs are completed by self-loops where data are kept")
    } else if kind == "ioconf" && claim.trace.iter().any(|action| action == "delta") {
        Some("ioconf knows no silence within a trace")
    } else {
        None
    }
}

/// The place that a text like `Sent (n = 1, f = []) with max = 3` means.
fn run_place(model: &Iosts, text: &str) -> Option<RunPlace> {
    let names = DataNames::of(model);
    let mut constants = Vec::new();
    let mut text = text;
    let vars: Vec<_> = model.constants().iter().map(|c| &c.var).collect();
    if !vars.is_empty() {
        let (before, rest) = text.rsplit_once(" with ")?;
        constants = assigned(&names, &vars, rest)?;
        text = before;
    }
    let vars: Vec<_> = model.variables().iter().map(|v| &v.var).collect();
    let mut values: Vec<Value> = Vec::new();
    if !vars.is_empty() {
        let (before, rest) = text.split_once(" (")?;
        values = assigned(&names, &vars, rest.strip_suffix(')')?)?;
        text = before;
    }
    let mut locations = model.locations();
    let (location, _) = locations.find(|(_, l)| *l.name == *text)?;
    Some(RunPlace {
        location,
        values,
        constants,
    })
}

/// The values of variables in `a = 1, b = 2`.
fn assigned(names: &DataNames, vars: &[&iolite_expr::Var], text: &str) -> Option<Vec<Value>> {
    let mut rest = text;
    let mut values = Vec::new();
    for (k, var) in vars.iter().enumerate() {
        rest = rest.strip_prefix(&format!("{} = ", var.name))?;
        let own = match vars.get(k + 1) {
            Some(next) => {
                let (own, _) = rest.split_once(&format!(", {} = ", next.name))?;
                rest = &rest[own.len() + 2..];
                own
            }
            None => rest,
        };
        values.push(names.read_value(own, &var.sort).ok()?);
    }
    Some(values)
}
