//! Certificates of observers beside models with data: inductive invariants, and runs with all values.

use std::time::Instant;

use iolite_derive::{Criterion, ModelRef};
use iolite_expr::{Kind, Op, Solver, Term, Value, Var};
use iolite_lang::DataNames;
use iolite_property::ObserverRules;
use iolite_recheck::{Certificate, DataClaim, LocationCondition, Model, ValuedRun, ValuedStep};
use iolite_sts::analysis::{
    self, Answer, Broken, Invariant, NotInductive, ObservedProduct, Run, Undecided,
};
use iolite_sts::{Iosts, LabelKind, TransitionId, ValuedAction};

use super::certify::{named, policy_name};
use super::{CheckOutcome, ExplainOptions, Explanation, Part, RECHECK, policy};
use crate::{
    Error, PropertyReadOptions, Spec, Verification, VerificationOptions, VerifiedProperty,
    Workspace, as_iosts, solver,
};

/// The route for invariants.
pub(super) const QUESTIONS: &str = "the solver, asked for each part of it";
/// The route for runs.
pub(super) const FIRED: &str = "the simulator, which fired it step by step";

/// What somebody claims is not so.
fn refuted(reason: impl Into<String>) -> CheckOutcome {
    CheckOutcome::Refuted(reason.into())
}

impl Workspace {
    /// The whole certificate of an answer for which data were kept; `None` for any other, and where it
    /// is unknown.
    ///
    /// # Errors
    ///
    /// Where a condition or a value cannot be written so that it is read again.
    pub fn certify_data(
        &self,
        verification: &Verification,
        property: &VerifiedProperty,
        options: &VerificationOptions,
    ) -> Result<Option<Certificate>, Error> {
        let Some(found) = &property.data else {
            return Ok(None);
        };
        let names = DataNames::of(&found.product);
        let mut data = DataClaim {
            observer: found.observer.to_string(),
            name: property.name.clone(),
            ..DataClaim::default()
        };
        let (verdict, trace, locations) = match &found.answer {
            Answer::Unknown { .. } => return Ok(None),
            Answer::Proved(proof) => {
                let model = &found.product;
                let mut faults = &proof.faults;
                data.invariant = Some(
                    match (conditions(model, &proof.invariant), &proof.induction) {
                        (Ok(conditions), _) => conditions,
                        (Err(_), Some(induction)) => {
                            data.induction = Some(induction.k);
                            faults = &induction.faults;
                            conditions(model, &induction.lemmas)?
                        }
                        (Err(unwritten), None) => return Err(unwritten),
                    },
                );
                data.faults = faults.iter().map(|t| t.index()).collect();
                data.how.clone_from(&proof.how);
                ("proved", Vec::new(), Vec::new())
            }
            Answer::Refuted(refutation) => {
                let (model, run) = (&found.product, &refutation.run);
                let told = told(model, &names, run).ok_or_else(unwritten)?;
                if valued(model, &names, &told).as_ref() != Ok(run) {
                    return Err(unwritten());
                }
                data.run = Some(told);
                data.how.clone_from(&refutation.how);
                ("refuted", refutation.texts(model), places(model, run))
            }
        };
        let system = ModelRef {
            hash: None,
            ..verification.system.clone()
        };
        let mut whole = Certificate {
            model: named(&verification.system),
            trace,
            locations,
            specification: Some(Model {
                reference: system.to_string(),
                table: None,
            }),
            data: Some(data),
            ..Certificate::new(
                Criterion::Safety.name(),
                verdict,
                policy_name(options.quiescence),
            )
        };
        let references = [system, found.observer.clone()];
        self.add_files(&mut whole, &references, &PropertyReadOptions::default())?;
        Ok(Some(whole))
    }

    /// Looks again at an invariant or a run. What they speak of is made from the texts.
    pub(super) fn recheck_data_claim(
        &self,
        explained: &mut Explanation,
        options: &ExplainOptions,
    ) -> Result<CheckOutcome, Error> {
        let claim = explained.claim.clone();
        let mut parts = vec![Part {
            what: "files: each text has its hash".to_owned(),
            by: RECHECK,
        }];
        let (checked, out_of_time) =
            match (&claim.data, &claim.specification, &claim.implementation) {
                (Some(data), Some(_), Some(_)) => {
                    let checked = self.recheck_relation_proof(&claim, data, options, &mut parts)?;
                    (
                        checked,
                        options
                            .until
                            .as_ref()
                            .is_some_and(|(until, _)| Instant::now() >= *until),
                    )
                }
                (Some(data), Some(specification), None) => {
                    self.recheck_observed(&claim, data, specification, options, &mut parts)?
                }
                (Some(data), None, Some(implementation)) => {
                    self.recheck_failing(&claim, data, implementation, options, &mut parts)?
                }
                _ => return Ok(refuted("it claims nothing")),
            };
        if checked == CheckOutcome::Confirmed {
            explained.parts = parts;
            let how = claim.data.as_ref().map_or("", |data| data.how.as_str());
            explained.told.push(format!("who found it: {how}"));
        }
        Ok(match (&checked, &options.until) {
            (CheckOutcome::Undecided(_), Some((_, reason))) if out_of_time => {
                CheckOutcome::Undecided(reason.clone())
            }
            _ => checked,
        })
    }

    /// An observer beside a specification; and whether the time was over.
    fn recheck_observed(
        &self,
        claim: &Certificate,
        data: &DataClaim,
        specification: &Model,
        options: &ExplainOptions,
        parts: &mut Vec<Part>,
    ) -> Result<(CheckOutcome, bool), Error> {
        let spec = self.spec(&specification.reference.as_str().into())?;
        let system = match &*spec {
            Spec::Symbolic(symbolic) => symbolic.model().as_ref().clone(),
            Spec::Explicit(explicit) => as_iosts::system(explicit)?,
            Spec::Properties(_) => return Ok((refuted("the specification is a property"), false)),
        };
        let reference = ModelRef::from(data.observer.as_str());
        let observers = self.data_observers(&reference, &system, &spec, ObserverRules::Acceptor)?;
        let mut observers = observers.into_iter();
        let Some((_, observer, violate)) = observers.find(|(name, ..)| *name == data.name) else {
            let reason = format!("{} has no observer {}", data.observer, data.name);
            return Ok((refuted(reason), false));
        };
        let product = analysis::watch(&system, &observer, &violate, policy(claim))
            .map_err(|e| Error::input(format!("{reference}: {e}")))?;
        let mut solver = solver(options.solver.as_deref())?;
        solver.set_deadline(options.until.as_ref().map(|(until, _)| *until));
        let checked = match (&data.invariant, &data.run) {
            (Some(conditions), _) => {
                let faults = Some(data.faults.as_slice());
                let claimed = (conditions.as_slice(), data.induction);
                recheck_invariant(&product, claimed, faults, &mut solver, parts)
            }
            (None, Some(run)) => recheck_run(&product, &system, claim, run, &mut solver, parts),
            (None, None) => refuted("it claims nothing"),
        };
        if let Some(fault) = solver.fault() {
            return Err(Error::fault(fault));
        }
        Ok((checked, solver.is_out_of_time()))
    }
}

/// Characters of a reason that are shown: it may quote an invariant.
const SHOWN_REASON: usize = 200;

pub(super) fn unwritten() -> Error {
    Error::undecided("no certificate is written: a term of it has no words in the language")
}

pub(super) fn undecided(undecided: &Undecided) -> CheckOutcome {
    CheckOutcome::Undecided(format!("the solver did not decide: {}", undecided.0))
}

/// The disjuncts of a condition; none of `false`.
fn alternatives(term: &Term) -> Vec<Term> {
    match term.kind() {
        Kind::App(Op::Or, args) if args.iter().all(Term::is_total) => args.to_vec(),
        _ if term.is_false() => Vec::new(),
        _ => vec![term.clone()],
    }
}

/// The conditions of an invariant, as they are read again.
pub(super) fn conditions(
    model: &Iosts,
    invariant: &Invariant,
) -> Result<Vec<LocationCondition>, Error> {
    let names = DataNames::of(model);
    let conditions = written(model, &names, invariant);
    // A term that has no words in the language would make a certificate of something else, and one that is
    // too deep for its parser would not be checked.
    match read(model, &names, &conditions) {
        Ok(_) => Ok(conditions),
        Err(why) => {
            let why: String = why.chars().take(SHOWN_REASON).collect();
            Err(Error::undecided(format!(
                "no certificate is written: the invariant could not be read again: {why}"
            )))
        }
    }
}

fn written(model: &Iosts, names: &DataNames, invariant: &Invariant) -> Vec<LocationCondition> {
    let condition = |(id, location): (_, &iolite_sts::Location)| LocationCondition {
        location: location.name.to_string(),
        any: alternatives(invariant.at(id))
            .iter()
            .map(|t| names.write(t))
            .collect(),
    };
    model.locations().map(condition).collect()
}

/// The invariant that conditions mean; why there is none otherwise.
fn read(
    model: &Iosts,
    names: &DataNames,
    conditions: &[LocationCondition],
) -> Result<Invariant, String> {
    let locations = model.locations().map(|(_, l)| &*l.name);
    if !locations.eq(conditions.iter().map(|c| c.location.as_str())) {
        return Err("the locations are not those of model and observer".to_owned());
    }
    let mut terms = Vec::new();
    for condition in conditions {
        let any: Result<Vec<Term>, String> =
            condition.any.iter().map(|text| names.read(text)).collect();
        let any = any.map_err(|e| format!("{}: {e}", condition.location))?;
        terms.push(Term::any(any));
    }
    Ok(Invariant::new(model, terms))
}

/// Whether conditions are inductive and exclude what they must, by themselves or as lemmas of k-induction; with the
/// transitions whose faults they need not exclude, where faults matter.
pub(super) fn recheck_invariant(
    product: &ObservedProduct,
    (conditions, k): (&[LocationCondition], Option<usize>),
    faults: Option<&[usize]>,
    solver: &mut Solver,
    parts: &mut Vec<Part>,
) -> CheckOutcome {
    let (model, _) = product.for_proofs();
    let invariant = match read(model, &DataNames::of(model), conditions) {
        Ok(invariant) => invariant,
        Err(reason) => return refuted(reason),
    };
    let broken = match k {
        None => product
            .recheck_proof(&invariant, solver)
            .map(|broken| broken.map(|broken| words(model, &broken))),
        Some(k) => product
            .recheck_induction(&invariant, k, solver)
            .map(|broken| broken.map(|broken| induction_words(model, &broken, k))),
    };
    match broken {
        Ok(None) => {}
        Ok(Some(reason)) => return refuted(reason),
        Err(e) => return undecided(&e),
    }
    let found = faults.map(|_| product.faults(&invariant, solver));
    let mut found = found.unwrap_or_default().into_iter();
    let said = |t: &TransitionId| faults.is_some_and(|said| said.contains(&t.index()));
    if let Some(t) = found.find(|t| !said(t)) {
        return CheckOutcome::Undecided(format!(
            "{}: it is not excluded that a term there has no value",
            arrow(model, t)
        ));
    }
    let part = |what: &str| Part {
        what: what.to_owned(),
        by: QUESTIONS,
    };
    parts.push(part("initiation: every initial state satisfies it"));
    parts.push(part("consecution: every transition preserves it"));
    if let Some(k) = k {
        parts.push(part(&format!(
            "base: within {k} steps no run from an initial state is violating"
        )));
        parts.push(part(&format!(
            "step: no run of {k} steps within it ends in a violating location"
        )));
    } else {
        parts.push(part("safety: it excludes every violating location"));
    }
    CheckOutcome::Confirmed
}

/// A transition in words.
fn arrow(model: &Iosts, id: TransitionId) -> String {
    let t = model.transition(id);
    let (from, to) = (model.location(t.source), model.location(t.target));
    format!("{} -> {}", from.name, to.name)
}

fn words(model: &Iosts, broken: &Broken) -> String {
    match broken {
        Broken::Initiation => "an initial state does not satisfy the invariant".to_owned(),
        Broken::Consecution(t) => {
            format!("{}: a step leads out of the invariant", arrow(model, *t))
        }
        Broken::Exclusion(l) => format!(
            "the invariant allows the violating location {}",
            model.location(*l).name
        ),
    }
}

fn induction_words(model: &Iosts, broken: &NotInductive, k: usize) -> String {
    match broken {
        NotInductive::Lemmas(broken) => words(model, broken),
        NotInductive::Base(steps) => {
            format!("a run from an initial state is violating after {steps} steps")
        }
        NotInductive::Step(l) => format!(
            "a run of {k} steps within the lemmas ends in the violating location {}",
            model.location(*l).name
        ),
    }
}

/// The action of a step as traces show it.
pub(super) fn action_text(model: &Iosts, transition: TransitionId, values: &[Value]) -> String {
    let action = model.transition(transition).action;
    let kind = model.gate(action).kind;
    let values = values.to_vec();
    let label = model.label(&ValuedAction { action, values });
    match kind {
        LabelKind::Internal => label,
        kind => format!("{}{label}", kind.sigil()),
    }
}

/// A run in words; `None` where a value has none.
pub(super) fn told(model: &Iosts, names: &DataNames, run: &Run) -> Option<ValuedRun> {
    let pairs = |vars: Vec<&Var>, values: &[Value]| -> Option<Vec<(String, String)>> {
        let pairs = vars.into_iter().zip(values);
        pairs
            .map(|(var, value)| Some((names.name(var)?.to_owned(), value.to_string())))
            .collect()
    };
    let step = |(t, values): &(TransitionId, Vec<Value>)| ValuedStep {
        action: action_text(model, *t, values),
        transition: t.index(),
        values: values.iter().map(ToString::to_string).collect(),
        to: model.location(model.transition(*t).target).name.to_string(),
    };
    Some(ValuedRun {
        constants: pairs(constants(model), &run.constants)?,
        initial: pairs(variables(model), &run.initial)?,
        steps: run.steps.iter().map(step).collect(),
    })
}

fn constants(model: &Iosts) -> Vec<&Var> {
    model.constants().iter().map(|c| &c.var).collect()
}

fn variables(model: &Iosts) -> Vec<&Var> {
    model.variables().iter().map(|v| &v.var).collect()
}

/// The run that the words mean; why there is none otherwise.
pub(super) fn valued(model: &Iosts, names: &DataNames, told: &ValuedRun) -> Result<Run, String> {
    let values = |vars: Vec<&Var>, told: &[(String, String)]| {
        let names_of = vars.iter().map(|v| names.name(v).unwrap_or_default());
        if !names_of.eq(told.iter().map(|(name, _)| name.as_str())) {
            return Err("constants or variables are not those of model and observer".to_owned());
        }
        let pairs = vars.iter().zip(told);
        pairs
            .map(|(v, (_, text))| names.read_value(text, &v.sort))
            .collect::<Result<Vec<Value>, String>>()
    };
    let mut steps = Vec::new();
    for (k, step) in told.steps.iter().enumerate() {
        let wrong = |reason: String| format!("step {}: {reason}", k + 1);
        if step.transition >= model.transitions().len() {
            return Err(wrong(format!("there is no transition {}", step.transition)));
        }
        let id = TransitionId::new(step.transition);
        let transition = model.transition(id);
        let params = &model.gate(transition.action).params;
        if params.len() != step.values.len() {
            return Err(wrong(format!("{} takes other parameters", step.action)));
        }
        let values = params.iter().zip(&step.values);
        let values: Result<Vec<Value>, String> = values
            .map(|(p, text)| names.read_value(text, &p.sort))
            .collect();
        let values = values.map_err(wrong)?;
        let to = &*model.location(transition.target).name;
        if action_text(model, id, &values) != step.action || to != step.to {
            return Err(format!(
                "step {}: the transition is another one than is told",
                k + 1
            ));
        }
        steps.push((id, values));
    }
    Ok(Run {
        constants: values(constants(model), &told.constants)?,
        initial: values(variables(model), &told.initial)?,
        steps,
    })
}

/// Where the run is before its last step, which enters the violating location.
fn places(model: &Iosts, run: &Run) -> Vec<String> {
    let states = run.replay(model).unwrap_or_default();
    let before = states.len().checked_sub(2).and_then(|k| states.get(k));
    before.map(|s| model.describe(s)).into_iter().collect()
}

fn recheck_run(
    product: &ObservedProduct,
    system: &Iosts,
    claim: &Certificate,
    told: &ValuedRun,
    solver: &mut Solver,
    parts: &mut Vec<Part>,
) -> CheckOutcome {
    let model = &product.model;
    let run = match valued(model, &DataNames::of(model), told) {
        Ok(run) => run,
        Err(reason) => return refuted(reason),
    };
    match product.recheck_run(system, &run, solver) {
        Ok(true) => {}
        Ok(false) => return refuted("it is no run of model and observer to a violating location"),
        Err(e) => return undecided(&e),
    }
    let shown = run
        .steps
        .iter()
        .filter(|(t, _)| model.kind(*t).is_visible());
    let shown = shown.map(|(t, values)| action_text(model, *t, values));
    if !shown.eq(claim.trace.iter().cloned()) {
        return refuted("the trace is not what the run shows");
    }
    if places(model, &run) != claim.locations {
        return refuted("before its last step the run is elsewhere");
    }
    let part = |what: &str| Part {
        what: what.to_owned(),
        by: FIRED,
    };
    parts.push(part("run: from an initial state to a violating location"));
    parts.push(part("trace and locations: those of the run"));
    CheckOutcome::Confirmed
}
