//! Deciding an implementation relation between two models.

mod data;
mod document;
mod queues;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::thread;

use iolite_derive::{Context, DEFAULT_MAX_IN_FLIGHT, ModelRef};
use iolite_lts::relation::{
    Allowed, Answer, AnySide, Counterexample, Effort, Holds, Observed, RelateError, Relation,
    Search,
};
use iolite_lts::{LabelId, LabelKind, Labels, Semantics, StateId};

use crate::{Error, ExplicitSpec, SemanticsOptions, System, Workspace, vacuity};

pub(crate) use data::{decided_with_data, not_enabled, own_state};
pub use document::{
    CounterexampleDocument, EffortDocument, ObservedDocument, Place, RelationDocument,
};

/// What is asked.
#[derive(Clone, Debug)]
pub struct RelationOptions {
    /// The relation.
    pub relation: Relation,
    /// The set F of `ioconf_F`.
    pub traces: Option<ModelRef>,
    /// What the models mean where they leave it open.
    pub semantics: SemanticsOptions,
    /// How many counterexamples, each the first of its kind.
    pub counterexamples: usize,
    /// Through what the implementation is observed.
    pub context: Context,
    /// Through queues: how many inputs may be under way at a time.
    pub max_in_flight: usize,
    /// Whether a negative answer carries its certificate. That holds the texts and the transitions of
    /// both models, so it is as large as they are.
    pub certificate: bool,
    /// How many threads search. Neither the answer nor the counterexample depends on it. Systems that
    /// are explored on demand, and the strict policy, are searched by one.
    pub jobs: NonZeroUsize,
}

/// One job for each core that this process may use. The system is asked once: it reads some files to find out.
pub fn all_cores() -> NonZeroUsize {
    static CORES: OnceLock<NonZeroUsize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
}

impl RelationOptions {
    /// A relation in step, with one counterexample and its certificate.
    pub fn new(relation: Relation) -> Self {
        Self {
            relation,
            traces: None,
            semantics: SemanticsOptions::default(),
            counterexamples: 1,
            context: Context::Synchronous,
            max_in_flight: DEFAULT_MAX_IN_FLIGHT,
            certificate: true,
            jobs: all_cores(),
        }
    }
}

/// Who hears how far a search is, and may stop it with a reason.
pub type Proceed<'a> = dyn FnMut(&Effort) -> Option<String> + 'a;

/// An answer, before it is known which question it belongs to.
#[derive(Clone, Debug)]
pub struct Decision {
    /// `None` when the search was given up.
    pub holds: Option<bool>,
    /// Why it was given up.
    pub unknown: Option<String>,
    /// The counterexamples, a shortest one first.
    pub counterexamples: Vec<CounterexampleDocument>,
    /// What the search took.
    pub effort: Effort,
}

/// A specification that is prepared for a relation; its sets serve all implementations.
pub struct PreparedSpecification<'w> {
    workspace: &'w Workspace,
    spec: ExplicitSpec,
    side: AnySide,
    /// The set F of `ioconf_F`, which is read again for each implementation: it is over the labels of both.
    traces: Option<ModelRef>,
    jobs: NonZeroUsize,
    semantics: SemanticsOptions,
    counterexamples: usize,
    relation: Relation,
    /// How many inputs may be under way, where the implementation is observed through queues.
    queues: Option<usize>,
}

impl Workspace {
    /// Prepares a specification for a relation.
    pub fn specification(
        &self,
        spec: &ExplicitSpec,
        options: &RelationOptions,
    ) -> Result<PreparedSpecification<'_>, Error> {
        if (options.relation == Relation::IoconfF) != options.traces.is_some() {
            return Err(Error::input("--traces FILE#F and ioconf-f belong together"));
        }
        let through_queues = options.context == Context::Queues;
        if through_queues {
            queues::reject(options)?;
        }
        let (relation, policy) = (options.relation, options.semantics.policy());
        Ok(PreparedSpecification {
            workspace: self,
            spec: spec.clone(),
            side: AnySide::new(relation, spec.system(), policy),
            traces: options.traces.clone(),
            jobs: options.jobs,
            semantics: options.semantics,
            counterexamples: options.counterexamples.max(1),
            relation,
            queues: through_queues.then_some(options.max_in_flight),
        })
    }

    /// Decides a relation between two models; the document of a negative answer holds its certificate,
    /// where the options ask for one.
    pub fn relate(
        &self,
        implementation: &ModelRef,
        specification: &ModelRef,
        options: &RelationOptions,
        proceed: &mut Proceed<'_>,
    ) -> Result<RelationDocument, Error> {
        self.read_both(implementation, specification);
        if let Some(document) = self.relate_data(implementation, specification, options)? {
            return Ok(document);
        }
        let implementation = self.explicit(implementation)?;
        let specification = self.explicit(specification)?;
        self.compare_labels(
            (
                implementation.labels(),
                &implementation.reference().to_string(),
            ),
            (
                specification.labels(),
                &specification.reference().to_string(),
            ),
            !options.relation.is_directed(),
        )?;
        let mut prepared = self.specification(&specification, options)?;
        let decision = prepared.decide(&implementation, proceed)?;
        let through_queues = prepared.queues;
        // The sets of the search are not needed any more, and a certificate is large.
        drop(prepared);
        let hash = |spec: &ExplicitSpec| spec.reference().hash.clone().unwrap_or_default();
        let mut document = RelationDocument {
            relation: options.relation.name().to_owned(),
            implementation: implementation.reference().to_string(),
            implementation_hash: hash(&implementation),
            specification: specification.reference().to_string(),
            specification_hash: hash(&specification),
            traces: options.traces.as_ref().map(ToString::to_string),
            context: options.context,
            max_in_flight: through_queues,
            semantics: options.semantics,
            reading: self.options().clone(),
            holds: decision.holds,
            unknown: decision.unknown,
            counterexample: decision.counterexamples.first().cloned(),
            counterexamples: if options.counterexamples > 1 {
                decision.counterexamples
            } else {
                Vec::new()
            },
            warnings: Vec::new(),
            proof: None,
            effort: decision.effort.into(),
            certificate: None,
            evidence: None,
        };
        if document.holds == Some(true) {
            let traces = options.traces.as_ref();
            let traces = traces.map(|f| self.traces_between(f, &specification, &implementation));
            document.warnings = vacuity::of_relation(
                options.relation,
                &implementation,
                &specification,
                traces.transpose()?.as_ref(),
                options.semantics.policy(),
            );
            for warning in &document.warnings {
                self.warn(&format!("warning: {warning}"));
            }
        }
        if let Some(found) = document.counterexample.clone()
            && options.certificate
        {
            let certificate = self.certify_relation(&document, &found)?;
            document.certificate = Some(Box::new(certificate));
        }
        Ok(document)
    }

    /// Labels that look alike and will never match: a plain one against a directed one is an error
    /// where plain ones are meant, an input against an output a warning. Each side comes with its name.
    pub(crate) fn compare_labels(
        &self,
        (i, implementation): (&Labels, &str),
        (s, specification): (&Labels, &str),
        plain_are_meant: bool,
    ) -> Result<(), Error> {
        for (_, label) in i.iter().filter(|(_, l)| l.kind.is_visible()) {
            if s.get(label.kind, &label.name).is_some() {
                continue;
            }
            let others = [LabelKind::Input, LabelKind::Output, LabelKind::Undirected];
            let twin = others.into_iter().find_map(|kind| s.get(kind, &label.name));
            let Some(twin) = twin.map(|id| s.label(id)) else {
                continue;
            };
            let message = format!(
                "`{label}` of {implementation} and `{twin}` of {specification} are different actions"
            );
            let plain = label.kind == LabelKind::Undirected || twin.kind == LabelKind::Undirected;
            if plain && plain_are_meant {
                return Err(Error::input(message).hint(format!(
                    "direct the plain one with --input {0} or --output {0}",
                    label.name
                )));
            } else if !plain && i.get(twin.kind, &label.name).is_none() {
                self.warn(&format!("warning: {message}"));
            }
        }
        Ok(())
    }
}

impl RelationDocument {
    /// The answer for people.
    pub fn tell(&self) -> String {
        document::tell(self)
    }
}

impl PreparedSpecification<'_> {
    /// Decides whether an implementation is in the relation.
    pub fn decide(
        &mut self,
        implementation: &ExplicitSpec,
        proceed: &mut Proceed<'_>,
    ) -> Result<Decision, Error> {
        // A search may end before it meets a livelock, and trace, testing and conf do not look for one.
        let (policy, budget) = (self.semantics.policy(), self.workspace.options().budget());
        for spec in [implementation, &self.spec] {
            spec.reject_livelock(policy, budget)?;
        }
        let system = implementation.system();
        let decision = self.check(implementation, &system, proceed);
        // What a program that explores a model gave before it failed is neither yes nor no.
        for spec in [implementation, &self.spec] {
            match &decision {
                Ok(Decision {
                    holds: Some(false), ..
                }) => spec.believe_twice()?,
                _ => spec.believe()?,
            }
        }
        decision
    }

    fn check(
        &mut self,
        implementation: &ExplicitSpec,
        system: &System,
        proceed: &mut Proceed<'_>,
    ) -> Result<Decision, Error> {
        let completion = self.semantics.complete_inputs.map(Into::into);
        if let Some(max_in_flight) = self.queues {
            let view = self.side.view(system, completion);
            return self.check_in_queues(implementation, &*view, max_in_flight, proceed);
        }
        if let Some(reference) = &self.traces {
            let workspace = self.workspace;
            let (traces, _) = workspace.traces_between(reference, &self.spec, implementation)?;
            self.side.follow(traces);
        }
        let mut gave_up = None;
        let answer = self.side.check(
            system,
            completion,
            self.jobs,
            &mut Search {
                counterexamples: self.counterexamples,
                proceed: &mut |effort| {
                    gave_up = proceed(effort);
                    match gave_up {
                        Some(_) => ControlFlow::Break(()),
                        None => ControlFlow::Continue(()),
                    }
                },
            },
        );
        let Answer {
            holds,
            effort,
            labels,
        } = answer.map_err(|e| explain_error(&e, implementation, &self.spec))?;
        let view = self.side.view(system, completion);
        let tell =
            |c: &Counterexample| counterexample(c, &labels, &*view, self.side.specification());
        let (holds, counterexamples) = match &holds {
            Holds::Yes => (Some(true), Vec::new()),
            Holds::Unknown => (None, Vec::new()),
            Holds::No(found) => (Some(false), found.iter().map(tell).collect()),
        };
        Ok(Decision {
            holds,
            unknown: gave_up.filter(|_| holds.is_none()),
            counterexamples,
            effort,
        })
    }
}

/// What can be done about an implementation that is not input-enabled.
pub(crate) const COMPLETE_INPUTS: &str = "--complete-inputs self-loop ignores unexpected inputs, \
                                          --complete-inputs chaos allows anything after one";

/// What can be done about a livelock under the strict policy.
pub(crate) const OTHER_POLICY: &str = "--quiescence livelock takes such a cycle for quiescence, --quiescence fair for one that is left \
     where it can be";

fn texts(labels: &Labels, ids: &[LabelId]) -> Vec<String> {
    ids.iter().map(|&l| labels.text(l)).collect()
}

fn counterexample(
    found: &Counterexample,
    labels: &Labels,
    implementation: &dyn Semantics<State = StateId>,
    specification: &System,
) -> CounterexampleDocument {
    let refusal = |set: &[LabelId]| ObservedDocument::Refusal {
        refuses: texts(labels, set),
    };
    CounterexampleDocument {
        trace: texts(labels, &found.trace),
        observed: match &found.observed {
            Observed::Action(label) => ObservedDocument::Action(labels.text(*label)),
            Observed::Refusal(set) => refusal(set),
        },
        allowed: match &found.allowed {
            Allowed::Actions(actions) => texts(labels, actions)
                .into_iter()
                .map(ObservedDocument::Action)
                .collect(),
            Allowed::Refusals(sets) => sets.iter().map(|set| refusal(set)).collect(),
        },
        implementation_state: Place::of(implementation, found.implementation),
        specification_states: found
            .specification
            .iter()
            .map(|&state| Place::of(specification, state))
            .collect(),
    }
}

fn explain_error(
    error: &RelateError,
    implementation: &ExplicitSpec,
    specification: &ExplicitSpec,
) -> Error {
    let failure = Error::input(format!(
        "{error}\n  implementation {}\n  specification  {}",
        implementation.reference(),
        specification.reference()
    ));
    match error {
        RelateError::NotInputEnabled { .. } => failure.hint(COMPLETE_INPUTS),
        RelateError::Livelock { .. } => failure.hint(OTHER_POLICY),
        RelateError::Undirected { label, .. } => failure.hint(format!(
            "write ?{label} or !{label} in the model, or direct it with --input {label} or --output \
             {label}"
        )),
        RelateError::NoTraceSet => failure,
    }
}
