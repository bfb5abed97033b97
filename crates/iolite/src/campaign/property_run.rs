//! Properties alone, without a specification, against a running system or on a log.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use iolite_derive::{
    Observation, PropertyEnd, PropertyTester, Refusal, Tester, Verdict, WatchedProperty,
};
use iolite_exec::{Adapter, Certificate, ConcreteAction, ExecError, JobId, Received, Summary};
use iolite_lts::{LabelId, LabelKind, Labels};
use iolite_property::canonical_tester::DEADLOCK;
use iolite_property::{CanonicalTester, Relation, TesterOptions};

use super::Failure;
use super::abstraction::{AbstractingCodec, Abstraction};
use super::played_model::{LetterDictionary, Played};
use super::property_source::{
    self, BasisFlag, Property, PropertyReadOptions, PropertyRef, RelationFlag, TargetFlag,
    relation_name,
};
use super::source::ModelRef;
use super::target::Target;

/// How properties judge a run.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Properties without a model")]
pub(super) struct PropertyOptions {
    /// Judge by these properties: FILE.iol#P (all of a file without #P), FILE.hoa, FILE.xml or
    /// ltl:FORMULA (repeatable)
    #[arg(long, value_name = "PROPERTY")]
    pub(super) property: Vec<PropertyRef>,
    /// The relation between executions and properties
    #[arg(long, value_enum, default_value = "inclusion", value_name = "RELATION")]
    property_relation: RelationFlag,
    /// From the system's events to the properties' actions: a TOML file of [[map]] rules
    #[arg(long, value_name = "TOML")]
    map: Option<PathBuf>,
    /// Only give inputs that lead on to this verdict, and stop where it is lost
    #[arg(long, value_enum, value_name = "VERDICT")]
    target: Option<TargetFlag>,
    /// The inputs to give [default: those of the properties]
    #[arg(long, value_name = "ACTIONS", value_delimiter = ',')]
    inputs: Vec<String>,
    /// Silence says nothing
    #[arg(long)]
    ignore_quiescence: bool,
    /// When a sequence determines a property
    #[arg(long, value_enum, default_value_t)]
    basis: BasisFlag,
    #[command(flatten)]
    pub(super) read: PropertyReadOptions,
}

/// Makes testers of properties.
pub(super) struct PropertyJudge {
    properties: Vec<Property>,
    watched: Vec<WatchedProperty>,
    abstraction: Arc<Abstraction>,
    inputs: Vec<LabelId>,
    relation: Relation,
    target: Option<TargetFlag>,
    seen: AtomicU64,
    unseen: AtomicU64,
}

impl PropertyJudge {
    /// Loads everything once, so that mistakes show before anything is started.
    pub(super) fn new(options: &PropertyOptions) -> Result<Self, Failure> {
        let mut properties: Vec<Property> = Vec::new();
        for reference in &options.property {
            properties.extend(property_source::load_all(reference, &options.read)?);
        }
        let relation = options.property_relation.relation();
        let mut watched = Vec::new();
        let mut labels = Labels::new();
        for property in &properties {
            let automaton = &property.automaton;
            let sigma = automaton.alphabet();
            if !sigma.propositions().is_empty() {
                return Err(Failure::input(format!(
                    "{}: its letters are valuations of {}, and events are actions",
                    property.name,
                    sigma.propositions().join(", ")
                ))
                .hint("name the actions of a formula with --over ?a,!x; of an HOA file with --hoa actions"));
            }
            // A property that speaks of δ itself has its observation as a letter.
            let own_delta =
                sigma.letter(LabelId::DELTA).is_some() || sigma.letter_of_text(DEADLOCK).is_some();
            let tester = CanonicalTester::new(
                automaton,
                TesterOptions {
                    relation,
                    quiescence: !options.ignore_quiescence && !own_delta,
                    basis: options.basis.basis(),
                },
            );
            let tester = tester.map_err(|e| Failure::input(format!("{}: {e}", property.name)))?;
            labels.join(sigma.labels());
            watched.push(WatchedProperty {
                name: property.name.clone(),
                tester,
            });
        }
        let abstraction = Abstraction::new(labels, &options.inputs, options.map.as_deref())?;
        let table = abstraction.labels();
        let inputs = if options.inputs.is_empty() {
            table.inputs().collect()
        } else {
            let name = |n: &String| n.trim().trim_start_matches('?').to_owned();
            let get = |n: &String| table.get(LabelKind::Input, &name(n));
            options.inputs.iter().filter_map(get).collect()
        };
        Ok(Self {
            properties,
            watched,
            abstraction: Arc::new(abstraction),
            inputs,
            relation,
            target: options.target,
            seen: AtomicU64::new(0),
            unseen: AtomicU64::new(0),
        })
    }

    /// The tester's labels.
    pub(super) fn labels(&self) -> &Arc<Labels> {
        self.abstraction.labels()
    }

    /// Where the first property is written, for journals and certificates.
    pub(super) fn reference(&self) -> ModelRef {
        let first = self.properties.first();
        first.map_or_else(|| ModelRef::from(String::new()), |p| p.reference.clone())
    }

    /// The fingerprint of its file.
    pub(super) fn hash(&self) -> String {
        let first = self.properties.first();
        first.map(|p| p.hash.clone()).unwrap_or_default()
    }

    /// What people call the whole.
    pub(super) fn title(&self) -> String {
        let names: Vec<&str> = self.properties.iter().map(|p| p.name.as_str()).collect();
        format!("{} {}", names.join(", "), relation_name(self.relation))
    }

    fn watcher(&self) -> PropertyTester {
        let abstraction = Arc::clone(&self.abstraction);
        PropertyTester::new(self.watched.clone(), Arc::clone(self.labels()))
            .naming(Arc::new(move |label| abstraction.foreign_name(label)))
    }

    /// The certificate with the property that its trace violates in place of the first one, and the
    /// names of all that it violates.
    pub(super) fn blame(&self, certificate: &Certificate) -> (Certificate, Vec<String>) {
        let mut tester = self.monitor();
        let mut violated = Vec::new();
        let mut certificate = certificate.clone();
        for text in certificate.trace.iter().chain(&certificate.observed) {
            let observation = match text.as_str() {
                "delta" => Observation::Quiescence,
                "deadlock" => Observation::Deadlock,
                _ if text.starts_with('?') => {
                    tester.stimulate(&self.recorded(text));
                    continue;
                }
                _ => Observation::Output(self.recorded(text)),
            };
            tester.observe(&observation);
        }
        for (outcome, property) in tester.outcomes().into_iter().zip(&self.properties) {
            if outcome.verdict.is_failing() {
                if violated.is_empty() {
                    certificate.model = iolite_exec::ModelRef {
                        file: Some(property.reference.path.display().to_string()),
                        name: property.reference.name.clone(),
                        hash: Some(property.hash.clone()),
                    };
                }
                violated.push(outcome.name);
            }
        }
        (certificate, violated)
    }

    /// Watches a log, to its end or until every property is settled.
    pub(super) fn monitor(&self) -> PropertyTester {
        self.watcher().until(PropertyEnd::AllSettled)
    }

    /// A tester and the system it drives.
    pub(super) fn pair(
        &self,
        target: &Target,
        job: JobId,
    ) -> Result<(PropertyTester, Box<dyn Adapter<LabelId>>), ExecError> {
        let refusal: Refusal = Arc::new(AtomicBool::new(false));
        let mut tester = self
            .watcher()
            .driving(self.inputs.clone(), Arc::clone(&refusal));
        if let Some(target) = self.target {
            tester = tester.aiming_at(target.verdict());
        }
        let config = |failure: Failure| ExecError::Config(failure.to_string());
        if let Some(played) = target.played(false).map_err(config)? {
            let dictionary = LetterDictionary {
                abstraction: Arc::clone(&self.abstraction),
                model: played.model().clone(),
            };
            let played = Played::new(target.running(&played)?, dictionary).refusing(refusal);
            return Ok((tester, Box::new(played)));
        }
        let adapter: Box<dyn Adapter<LabelId>> = match target.model_labels()? {
            Some(labels) => {
                let inner = target.adapter(job, &labels, None)?;
                Box::new(Translated::new(inner, &labels, &self.abstraction, refusal))
            }
            None => Box::new(target.config.adapter(
                job,
                AbstractingCodec {
                    actions: target.config.action_map()?,
                    abstraction: Arc::clone(&self.abstraction),
                },
            )?),
        };
        Ok((tester, adapter))
    }

    /// A tester without a system, for checks.
    pub(super) fn tester(&self) -> Box<dyn Tester<Action = LabelId>> {
        Box::new(self.watcher())
    }

    /// The letter of a step in a journal or a certificate of ours.
    pub(super) fn recorded(&self, text: &str) -> LabelId {
        self.abstraction.recorded(text)
    }

    /// The letter of an event of a log.
    pub(super) fn parse(&self, text: &str) -> Option<LabelId> {
        let label = self.abstraction.parse(text)?;
        let counter = if self.abstraction.is_unseen(label) {
            &self.unseen
        } else {
            &self.seen
        };
        counter.fetch_add(1, Ordering::Relaxed);
        Some(label)
    }

    /// How many events of a log the properties saw, and how many they did not.
    pub(super) fn counts(&self) -> (u64, u64) {
        let count = |n: &AtomicU64| n.load(Ordering::Relaxed);
        (count(&self.seen), count(&self.unseen))
    }

    /// What several runs say together. `Exec ∩ Π ≠ ∅` needs one execution inside; the other relations
    /// speak of all.
    pub(super) fn overall(&self, summary: &Summary) -> Option<Verdict> {
        if self.relation == Relation::NonDisjointness
            && summary.verdicts.contains_key(&Verdict::Pass)
        {
            return Some(Verdict::Pass);
        }
        summary.verdict()
    }
}

/// A model under test behind the abstraction. An input that it does not take ends the run with the
/// verdict before [PROP12, §7]: such a model need not be input-enabled.
struct Translated {
    inner: Box<dyn Adapter<LabelId>>,
    /// Letters of the model's labels; `None` where the map must know one and does not.
    to_tester: Vec<Option<LabelId>>,
    /// Labels of the model for the tester's inputs.
    of_tester: Vec<Option<LabelId>>,
    model: Arc<Labels>,
    refusal: Refusal,
}

impl Translated {
    fn new(
        inner: Box<dyn Adapter<LabelId>>,
        model: &Arc<Labels>,
        abstraction: &Abstraction,
        refusal: Refusal,
    ) -> Self {
        let to_tester = model
            .iter()
            .map(|(_, l)| abstraction.parse(&l.to_string()))
            .collect();
        let of_tester = abstraction
            .labels()
            .iter()
            .map(|(id, _)| {
                let wanted = abstraction.concrete(id);
                let same = |l: &LabelId| ConcreteAction::parse(&model.label(*l).name) == wanted;
                model.inputs().find(same)
            })
            .collect();
        Self {
            inner,
            to_tester,
            of_tester,
            model: Arc::clone(model),
            refusal,
        }
    }

    fn translate(&self, received: Received<LabelId>) -> Result<Received<LabelId>, ExecError> {
        Ok(match received {
            Received::Output(label) => {
                Received::Output(self.to_tester[label.index()].ok_or_else(|| {
                    ExecError::Config(format!(
                        "the map has no rule for {}",
                        self.model.text(label)
                    ))
                })?)
            }
            other => other,
        })
    }
}

impl Adapter<LabelId> for Translated {
    fn start(&mut self, seed: u64) -> Result<(), ExecError> {
        self.inner.start(seed)
    }

    fn poll(&mut self) -> Result<Option<Received<LabelId>>, ExecError> {
        let polled = self.inner.poll()?;
        polled.map(|r| self.translate(r)).transpose()
    }

    fn send(&mut self, stimulus: &LabelId) -> Result<(), ExecError> {
        let sent = match self.of_tester[stimulus.index()] {
            Some(input) => self.inner.send(&input),
            None => Err(ExecError::Refused {
                stimulus: String::new(),
                reason: String::new(),
            }),
        };
        match sent {
            Err(ExecError::Refused { .. }) => {
                self.refusal.store(true, Ordering::Relaxed);
                Ok(())
            }
            sent => sent,
        }
    }

    fn receive(&mut self, patience: Duration) -> Result<Received<LabelId>, ExecError> {
        let received = self.inner.receive(patience)?;
        self.translate(received)
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        self.inner.stop()
    }

    fn is_timed(&self) -> bool {
        self.inner.is_timed()
    }

    fn take_note(&mut self) -> Option<String> {
        self.inner.take_note()
    }
}
