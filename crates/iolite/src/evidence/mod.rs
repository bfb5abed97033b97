//! Certificates looked at again, with code that shares nothing with the searches.

mod data;
mod property;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use iolite_derive::{Context, Criterion, ModelRef, location};
use iolite_exec::Certificate;
use iolite_lts::relation::{
    Claim, Recheck, Relation, UnknownRelation, follow_run, follow_run_in_queues, recheck,
    recheck_run, recheck_run_in_queues,
};
use iolite_lts::{Completed, Interned, QuiescencePolicy};

use crate::{
    CounterexampleDocument, Error, ExplicitSpec, ObservedDocument, PropertyReadOptions,
    ReadOptions, RelationDocument, Spec, SymbolicSpec, System, Workspace,
};

/// How a certificate is looked at.
#[derive(Clone, Debug, Default)]
pub struct ExplainOptions {
    /// Another implementation than the one it names.
    pub implementation: Option<ModelRef>,
    /// Another specification than the one it names.
    pub specification: Option<ModelRef>,
    /// Which states are quiescent, for certificates of runs.
    pub quiescence: QuiescencePolicy,
    /// The solver, for models with data.
    pub solver: Option<String>,
    /// When solving has to end, and what is said then.
    pub until: Option<(Instant, String)>,
    /// How properties are read.
    pub property: PropertyReadOptions,
}

/// What looking again has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The certificate is right.
    Confirmed,
    /// It is not, for this reason.
    Refuted(String),
    /// A solver or a bound gave up.
    Undecided(String),
}

impl From<Recheck> for Checked {
    fn from(verdict: Recheck) -> Self {
        match verdict {
            Recheck::Confirmed => Self::Confirmed,
            Recheck::Refuted(reason) => Self::Refuted(reason),
        }
    }
}

/// What a certificate claims.
#[derive(Clone, Debug)]
pub enum Claimed {
    /// That a relation does not hold.
    Relation(Box<RelationDocument>),
    /// That a run failed.
    Run(Box<Certificate>),
}

/// A certificate, and what looking again has shown.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The claim.
    pub claimed: Claimed,
    /// What was shown.
    pub checked: Checked,
    /// Models that are not those that the certificate was made from.
    pub models_changed: Vec<ModelRef>,
    /// What is allowed and where, where the certificate says something else.
    pub found: Option<Found>,
    /// What was done.
    pub how: &'static str,
}

/// What the specification allows after a trace, and where it is then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What is allowed.
    pub allowed: Vec<String>,
    /// Where the specification is.
    pub locations: Vec<String>,
}

impl Found {
    /// What stepping along the trace of a run gives.
    fn of(model: &System, policy: QuiescencePolicy, certificate: &Certificate) -> Option<Self> {
        let suspension = !certificate.kind.ends_at_delta();
        let trace = &certificate.trace;
        let found = match certificate.context {
            Context::Synchronous => follow_run(model, policy, suspension, trace)?,
            Context::Queues => {
                follow_run_in_queues(model, policy, is_universal(certificate), trace)?
            }
        };
        let locations = found.states.iter().map(|&s| location(model, s));
        Some(Self {
            locations: locations.collect(),
            allowed: found.allowed,
        })
    }

    /// Whether the certificate says the same. Observers and purposes tell of their own places too.
    fn is_told_by(&self, certificate: &Certificate) -> bool {
        let set = |texts: &[String]| texts.iter().cloned().collect::<BTreeSet<String>>();
        let told = set(&certificate.locations);
        let mine = set(&self.locations);
        let places = match certificate.kind {
            Criterion::Safety | Criterion::Purpose => mine.is_subset(&told),
            _ => mine == told,
        };
        places && set(&self.allowed) == set(&certificate.allowed)
    }
}

/// Whether an input is specified only where every state takes it.
fn is_universal(certificate: &Certificate) -> bool {
    certificate.kind == Criterion::Relation(Relation::Uioco)
}

const TOO_LONG: &str = "the run was too long for its certificate; see the journal";

/// States that data may unfold to, to read a certificate of an unfolded model.
const UNFOLDED: usize = 10_000;

impl Workspace {
    /// Looks at a certificate again.
    pub fn explain(&self, path: &Path, options: &ExplainOptions) -> Result<Explanation, Error> {
        let source = self.source(path)?;
        if let Ok(certificate) = serde_json::from_slice::<Certificate>(source.bytes()) {
            return self.explain_run(&certificate, options);
        }
        let document = serde_json::from_slice(source.bytes()).map_err(|e| {
            Error::input(format!("{}: no certificate: {e}", path.display()))
                .hint("`iolite relate … --certificate FILE` writes one")
        })?;
        self.explain_relation(document, options).map_err(|e| {
            let unnamed = e.message() == NOT_NEGATIVE;
            if unnamed {
                Error::input(format!("{}: {NOT_NEGATIVE}", path.display()))
            } else {
                e
            }
        })
    }

    fn explain_relation(
        &self,
        document: RelationDocument,
        options: &ExplainOptions,
    ) -> Result<Explanation, Error> {
        let claimed = document.counterexample.as_ref();
        let Some(counterexample) = claimed.filter(|_| document.holds == Some(false)) else {
            return Err(Error::input(NOT_NEGATIVE));
        };
        // The certificate says how its files are to be read.
        let reading = self.read_as(document.reading.clone());
        let named = |given: &Option<ModelRef>, text: &str| {
            reading.explicit(&given.clone().unwrap_or_else(|| text.into()))
        };
        let implementation = named(&options.implementation, &document.implementation)?;
        let specification = named(&options.specification, &document.specification)?;
        let models = [
            (&implementation, &document.implementation_hash),
            (&specification, &document.specification_hash),
        ];
        let changed = models
            .into_iter()
            .filter(|(spec, hash)| spec.reference().hash.as_ref() != Some(hash));
        let models_changed = changed.map(|(spec, _)| spec.reference().clone()).collect();
        let verdict = recheck_relation(
            &reading,
            &document,
            counterexample,
            &implementation,
            &specification,
        )?;
        Ok(Explanation {
            claimed: Claimed::Relation(Box::new(document)),
            checked: verdict.into(),
            models_changed,
            found: None,
            how: "both models were stepped along the trace again",
        })
    }

    /// A certificate of a run or a log: the specification alone is stepped.
    fn explain_run(
        &self,
        certificate: &Certificate,
        options: &ExplainOptions,
    ) -> Result<Explanation, Error> {
        let explained = |checked, changed: Option<ModelRef>, how, found: Option<Found>| {
            let found = found.filter(|found| !found.is_told_by(certificate));
            Ok(Explanation {
                claimed: Claimed::Run(Box::new(certificate.clone())),
                checked,
                models_changed: changed.into_iter().collect(),
                found,
                how,
            })
        };
        let named = certificate.model.file.is_some().then(|| ModelRef {
            hash: None,
            ..certificate.model.clone()
        });
        let reference = options.specification.clone().or(named);
        let reference = reference.ok_or_else(|| {
            Error::input("the certificate names no model").hint("add --specification MODEL")
        })?;
        if !certificate.verdict.is_failing() {
            let reason = format!("it claims `{}`, which is no failure", certificate.verdict);
            return explained(Checked::Refuted(reason), None, "", None);
        }
        if let Some(observed) = &certificate.observed
            && certificate.allowed.contains(observed)
        {
            let reason = format!("it says itself that {observed} is allowed");
            return explained(Checked::Refuted(reason), None, "", None);
        }
        let changed = |hash: &Option<String>| {
            let claimed = certificate.model.hash.as_ref();
            claimed.is_some_and(|claimed| Some(claimed) != hash.as_ref())
        };
        match certificate.kind {
            Criterion::Written => {
                return Err(Error::input(
                    "it is of a hand-written test case, whose verdicts are its author's: nothing \
                     follows from the model that could be re-checked",
                ));
            }
            Criterion::Property => {
                let property = self.property(&reference, &options.property)?;
                let changed = changed(&property.reference.hash);
                let verdict = property::recheck(&property.automaton, certificate)?;
                return explained(
                    verdict.into(),
                    changed.then_some(property.reference),
                    "the property's automaton was stepped along the trace again",
                    None,
                );
            }
            Criterion::Relation(Relation::Ioco) if reference.is_iol() => {
                if let Spec::Symbolic(spec) = &*self.spec(&reference)? {
                    let verdict = recheck_data(spec, certificate, options)?;
                    let found = match verdict {
                        Checked::Confirmed if certificate.context == Context::Synchronous => {
                            self.found_in_data(spec, certificate, options)?
                        }
                        _ => None,
                    };
                    let changed = changed(&spec.reference().hash);
                    return explained(
                        verdict,
                        changed.then(|| spec.reference().clone()),
                        "every way through the locations was tried, each as one formula",
                        found,
                    );
                }
            }
            Criterion::Relation(_) | Criterion::Safety | Criterion::Purpose => {}
        }
        let spec = self.explicit(&reference)?;
        let system = spec.system();
        let verdict = recheck_steps(&system, certificate, options.quiescence);
        // What ioconf-f allows depends on the set of traces, which the certificate does not name.
        let told = certificate.kind != Criterion::Relation(Relation::IoconfF);
        let found = match verdict {
            Recheck::Confirmed if told => Found::of(&system, options.quiescence, certificate),
            _ => None,
        };
        let changed = changed(&spec.reference().hash);
        explained(
            verdict.into(),
            changed.then(|| spec.reference().clone()),
            match certificate.context {
                Context::Synchronous => "the specification was stepped along the trace again",
                Context::Queues => {
                    "the specification was stepped again along every order of the messages that \
                     explains the trace"
                }
            },
            found,
        )
    }

    /// A run may have been judged by the unfolded model, which tells of values one by one.
    fn found_in_data(
        &self,
        spec: &SymbolicSpec,
        certificate: &Certificate,
        options: &ExplainOptions,
    ) -> Result<Option<Found>, Error> {
        let solver = options.solver.as_deref();
        let found = data::found(spec, options.quiescence, solver, &certificate.trace)?;
        if found.as_ref().is_some_and(|f| f.is_told_by(certificate)) {
            return Ok(found);
        }
        let few = self.read_as(ReadOptions {
            max_states: Some(UNFOLDED),
            ..self.options().clone()
        });
        let unfolded = few.explicit(spec.reference()).ok();
        let unfolded = unfolded
            .and_then(|spec| Found::of(&spec.system(), options.quiescence, certificate))
            .filter(|found| found.is_told_by(certificate));
        Ok(unfolded.or(found))
    }
}

const NOT_NEGATIVE: &str =
    "the answer is no negative one with a counterexample, so there is nothing to re-check";

fn recheck_steps(system: &System, certificate: &Certificate, policy: QuiescencePolicy) -> Recheck {
    match &certificate.observed {
        _ if certificate.trace_omitted > 0 => Recheck::Refuted(TOO_LONG.to_owned()),
        None => Recheck::Refuted("no observation decided the verdict".to_owned()),
        Some(observed) => {
            let suspension = !certificate.kind.ends_at_delta();
            let observed = match observed.as_str() {
                "deadlock" => "delta",
                observed => observed,
            };
            let trace = &certificate.trace;
            match certificate.context {
                Context::Synchronous => recheck_run(system, policy, suspension, trace, observed),
                Context::Queues => {
                    let universal = is_universal(certificate);
                    recheck_run_in_queues(system, policy, universal, trace, observed)
                }
            }
        }
    }
}

fn recheck_data(
    spec: &SymbolicSpec,
    certificate: &Certificate,
    options: &ExplainOptions,
) -> Result<Checked, Error> {
    if certificate.trace_omitted > 0 {
        return Ok(Checked::Refuted(TOO_LONG.to_owned()));
    }
    let until = options.until.as_ref().map(|(until, _)| *until);
    let solver = options.solver.as_deref();
    let verdict = data::recheck(spec, options.quiescence, solver, until, certificate)?;
    Ok(match (verdict, &options.until) {
        (Checked::Undecided(_), Some((until, reason))) if Instant::now() >= *until => {
            Checked::Undecided(reason.clone())
        }
        (verdict, _) => verdict,
    })
}

fn recheck_relation(
    workspace: &Workspace,
    document: &RelationDocument,
    counterexample: &CounterexampleDocument,
    implementation: &ExplicitSpec,
    specification: &ExplicitSpec,
) -> Result<Recheck, Error> {
    let relation: Relation = document
        .relation
        .parse()
        .map_err(|e: UnknownRelation| Error::input(e.to_string()))?;
    let observed = match &counterexample.observed {
        ObservedDocument::Action(action) => Ok(action.clone()),
        ObservedDocument::Refusal { refuses } => Err(refuses.clone()),
    };
    let claim = Claim {
        relation,
        policy: document.semantics.policy(),
        trace: counterexample.trace.clone(),
        observed,
    };
    let labels = specification.labels();
    if let Some(traces) = &document.traces {
        let reference = ModelRef::from(traces.as_str());
        let set = workspace.traces(&reference, specification.reference(), labels)?;
        let step = |at, action: &String| set.follow(at, labels.get_text(action)?);
        let end = claim.trace.iter().try_fold(set.initial(), step);
        if !end.is_some_and(|end| set.accepts(end)) {
            return Ok(Recheck::Refuted(format!("the trace is not in {traces}")));
        }
    }
    let (implementation, specification) = (implementation.system(), specification.system());
    let Some(how) = document.semantics.complete_inputs else {
        return Ok(recheck(&implementation, &specification, &claim));
    };
    let view = Interned::new(Completed::over(&implementation, how.into(), labels));
    Ok(recheck(&view, &specification, &claim))
}
