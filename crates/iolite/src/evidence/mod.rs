//! Certificates: made whole, and looked at again with code that shares nothing with the searches.

mod certify;
mod data;
mod tables;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use iolite_derive::{Criterion, ModelRef, location};
use iolite_exec::{CERTIFICATE_FORMAT, Certificate as Judged};
use iolite_lts::QuiescencePolicy;
use iolite_lts::relation::{Relation, follow_run, follow_run_in_queues};
use iolite_recheck::{Certificate, FORMAT, Fault, Observation, check};

use certify::Reading;

use crate::{
    Error, JudgeOptions, PropertyOptions, PropertyReadOptions, ReadOptions, RelationDocument, Spec,
    SymbolicSpec, System, Workspace,
};

pub use certify::JudgedBy;

/// How a certificate is looked at.
#[derive(Clone, Debug, Default)]
pub struct ExplainOptions {
    /// Another implementation than the one it names.
    pub implementation: Option<ModelRef>,
    /// Another specification than the one it names.
    pub specification: Option<ModelRef>,
    /// Which states are quiescent, for certificates that do not say it.
    pub quiescence: QuiescencePolicy,
    /// The solver, for models with data.
    pub solver: Option<String>,
    /// When solving has to end, and what is said then.
    pub until: Option<(Instant, String)>,
    /// How properties are read, for certificates that do not say it.
    pub property: PropertyReadOptions,
}

/// What looking again has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The certificate is right.
    Confirmed,
    /// It is not, for this reason.
    Refuted(String),
    /// A solver or a bound gave up, or something is missing.
    Undecided(String),
}

/// A part of a claim, and who confirmed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The part.
    pub what: String,
    /// Who confirmed it.
    pub by: &'static str,
}

/// A certificate, and what looking again has shown.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The claim.
    pub claim: Certificate,
    /// What was shown.
    pub checked: Checked,
    /// Models that are not those that the certificate was made from.
    pub models_changed: Vec<ModelRef>,
    /// The parts that were confirmed.
    pub parts: Vec<Part>,
    /// What is true, but not as it would have been written.
    pub notes: Vec<String>,
    /// What is not confirmed by anybody.
    pub told: Vec<String>,
}

/// What the specification allows after a trace, and where it is then.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    allowed: Vec<String>,
    locations: Vec<String>,
}

impl Found {
    /// What stepping along the trace of a run gives.
    fn of(model: &System, policy: QuiescencePolicy, claim: &Certificate) -> Option<Self> {
        if !claim.channels.is_empty() {
            return None;
        }
        let suspension = !matches!(claim.kind.as_str(), "ioconf" | "ioconf-f" | "iot");
        let found = match claim.context.as_str() {
            "queues" => follow_run_in_queues(model, policy, claim.kind == "uioco", &claim.trace)?,
            _ => follow_run(model, policy, suspension, &claim.trace)?,
        };
        let locations = found.states.iter().map(|&s| location(model, s));
        Some(Self {
            locations: locations.collect(),
            allowed: found.allowed,
        })
    }

    /// Whether the certificate says the same.
    fn is_told_by(&self, claim: &Certificate) -> bool {
        let set = |texts: &[String]| texts.iter().cloned().collect::<BTreeSet<String>>();
        let allowed = claim.allowed.iter().map(|o| match o {
            Observation::Action(action) => action.clone(),
            Observation::Refusal(refusal) => refusal.refuses.join(" "),
        });
        set(&self.locations) == set(&claim.locations)
            && set(&self.allowed) == allowed.collect::<BTreeSet<String>>()
    }
}

const TOO_LONG: &str = "the run was too long for its certificate; see the journal";

/// The checker that shares nothing with what made the claim.
const RECHECK: &str = "iolite-recheck, from the definitions";
/// The reader of model texts.
const READER: &str = "the reader of the language, which read the text again";
/// The route for models with data.
const FORMULAS: &str = "one formula for each way through the locations, and the solver";
/// What is only compared with the tester.
const TESTER: &str = "the tester, asked again";

/// States that data may unfold to, to read a certificate of an unfolded model.
const UNFOLDED: usize = 10_000;

impl Workspace {
    /// Looks at a certificate again: at the document of a negative answer, at one that holds it as
    /// `certificate`, or at a claim of a run alone, whose models are then read from disk.
    pub fn explain(&self, path: &Path, options: &ExplainOptions) -> Result<Explanation, Error> {
        let source = self.source(path)?;
        let wrong = |e: serde_json::Error| {
            Error::input(format!("{}: no certificate: {e}", path.display()))
                .hint("`iolite relate … --certificate FILE` writes one")
        };
        let value: serde_json::Value = serde_json::from_slice(source.bytes()).map_err(wrong)?;
        let format = |value: &serde_json::Value| value.get("format").cloned();
        if format(&value) == Some(FORMAT.into()) {
            let claim = serde_json::from_value(value).map_err(wrong)?;
            return self.explain_whole(claim, options);
        }
        let inner = value.get("certificate").filter(|inner| inner.is_object());
        if let Some(inner) = inner.cloned() {
            if format(&inner) == Some(CERTIFICATE_FORMAT.into()) {
                let judged = serde_json::from_value(inner).map_err(wrong)?;
                return self.explain_judged(&judged, options);
            }
            let claim: Certificate = serde_json::from_value(inner).map_err(wrong)?;
            let differs = (value.get("counterexample").is_some())
                .then(|| serde_json::from_value::<RelationDocument>(value).map_err(wrong))
                .transpose()?
                .and_then(|document| differs(&document, &claim));
            let mut explained = self.explain_whole(claim, options)?;
            if let (Some(reason), Checked::Confirmed) = (differs, &explained.checked) {
                explained.checked = Checked::Refuted(reason);
            }
            return Ok(explained);
        }
        if format(&value) == Some(CERTIFICATE_FORMAT.into()) {
            let judged: Judged = serde_json::from_value(value).map_err(wrong)?;
            return self.explain_judged(&judged, options);
        }
        let document: RelationDocument = serde_json::from_value(value).map_err(wrong)?;
        let found = document.counterexample.as_ref();
        let Some(found) = found.filter(|_| document.holds == Some(false)) else {
            return Err(Error::input(format!(
                "{}: the answer is no negative one with a counterexample, so there is nothing to \
                 re-check",
                path.display()
            )));
        };
        let reading = self.read_as(document.reading.clone());
        let claim = reading.certify_relation(&document, found)?;
        let mut explained = reading.explain_whole(claim, options)?;
        explained.notes.push(FROM_DISK.to_owned());
        let models = [
            (&document.implementation, &document.implementation_hash),
            (&document.specification, &document.specification_hash),
        ];
        for (reference, hash) in models {
            let reference = ModelRef::from(reference.as_str());
            let own = self.source(reference.path());
            if own.is_ok_and(|own| own.hash() != hash) {
                explained.models_changed.push(reference);
            }
        }
        Ok(explained)
    }

    /// The claim of a run without its models: they are read from disk.
    fn explain_judged(
        &self,
        judged: &Judged,
        options: &ExplainOptions,
    ) -> Result<Explanation, Error> {
        if judged.kind == Criterion::Written {
            return Err(Error::input(
                "it is of a hand-written test case, whose verdicts are its author's: nothing \
                 follows from the model that could be re-checked",
            ));
        }
        let named = judged.model.file.is_some().then(|| ModelRef {
            hash: None,
            ..judged.model.clone()
        });
        let reference = options.specification.clone().or(named).ok_or_else(|| {
            Error::input("the certificate names no model").hint("add --specification MODEL")
        })?;
        let mut judged = judged.clone();
        let hash = judged.model.hash.take();
        judged.model = reference.clone();
        let relation = match judged.kind {
            Criterion::Relation(relation) => relation,
            _ => Relation::Ioco,
        };
        let model = JudgeOptions {
            relation,
            quiescence: options.quiescence,
            ..JudgeOptions::default()
        };
        let properties = PropertyOptions {
            properties: vec![reference.clone()],
            relation: match judged.verdict {
                iolite_derive::Verdict::WeakFail => iolite_property::Relation::NonDisjointness,
                _ => iolite_property::Relation::Inclusion,
            },
            read: options.property.clone(),
            ..PropertyOptions::default()
        };
        let by = match judged.kind {
            Criterion::Property => JudgedBy::Properties(&properties),
            _ => JudgedBy::Model(&model),
        };
        let missing = match judged.kind {
            Criterion::Safety => Some("observers"),
            Criterion::Purpose => Some("purposes"),
            Criterion::Relation(Relation::IoconfF) => Some("set of traces"),
            _ => None,
        };
        if let Some(missing) = missing {
            return Err(Error::undecided(format!(
                "the certificate does not carry its {missing}; `--certificate FILE` writes one that \
                 does"
            )));
        }
        let claim = self.certify_run(&judged, by)?;
        let claim = claim.ok_or_else(|| Error::input("there is nothing to re-check"))?;
        let options = ExplainOptions {
            specification: None,
            ..options.clone()
        };
        let mut explained = self.explain_whole(claim, &options)?;
        explained.notes.push(FROM_DISK.to_owned());
        let own = self.source(reference.path());
        if hash.is_some_and(|hash| own.is_ok_and(|own| own.hash() != hash)) {
            explained.models_changed.push(reference);
        }
        Ok(explained)
    }

    /// A whole certificate. Nothing is read from disk, but to tell of files that have changed.
    fn explain_whole(
        &self,
        mut claim: Certificate,
        options: &ExplainOptions,
    ) -> Result<Explanation, Error> {
        let known: Result<Criterion, _> = claim.kind.parse();
        known.map_err(|e| Error::input(e.to_string()))?;
        let reading: Reading = match &claim.reading {
            serde_json::Value::Null => Reading::default(),
            reading => serde_json::from_value(reading.clone())
                .map_err(|e| Error::input(format!("no certificate: reading: {e}")))?,
        };
        let mut models_changed = Vec::new();
        let own = self.read_as(reading.models.clone());
        if let Some(other) = &options.implementation {
            own.replace_implementation(&mut claim, other)?;
            models_changed.push(other.clone());
        }
        if let Some(other) = &options.specification {
            own.replace_specification(&mut claim, other)?;
            models_changed.push(other.clone());
        }
        for file in &claim.files {
            let disk = self.source(Path::new(&file.path));
            if disk.is_ok_and(|disk| disk.hash() != file.hash) {
                models_changed.push(ModelRef::file(Path::new(&file.path)));
            }
        }
        let mut explained = Explanation {
            claim,
            checked: Checked::Confirmed,
            models_changed,
            parts: Vec::new(),
            notes: Vec::new(),
            told: Vec::new(),
        };
        let embedded = Self::with_options(reading.models.clone());
        for file in &explained.claim.files {
            embedded.insert(Path::new(&file.path), file.text.as_bytes());
        }
        let by = |what: String, by| Part { what, by };
        explained.checked = match check(&explained.claim) {
            Ok(report) => {
                explained.parts = report
                    .confirmed
                    .into_iter()
                    .map(|w| by(w, RECHECK))
                    .collect();
                explained.notes = report.notes;
                explained.told = report.told;
                match embedded.compare_tables(&explained.claim, &reading) {
                    Ok(what) => {
                        explained.parts.push(by(what, READER));
                        embedded.recheck_constants(&explained.claim, options)?
                    }
                    Err(checked) => checked,
                }
            }
            Err(Fault::Rejected(reason)) => Checked::Refuted(reason),
            Err(Fault::Undecided(reason)) => {
                match embedded.recheck_data(&explained.claim, options)? {
                    Some((checked, parts)) => {
                        explained.parts = parts;
                        checked
                    }
                    None => Checked::Undecided(reason),
                }
            }
        };
        Ok(explained)
    }

    fn replace_implementation(
        &self,
        claim: &mut Certificate,
        other: &ModelRef,
    ) -> Result<(), Error> {
        let spec = self.explicit(other)?;
        let completed = claim.complete_inputs.is_some();
        claim.implementation = Some(certify::model(&spec, claim, completed));
        claim.implementation_location = None;
        self.replace_file(claim, other)
    }

    /// Another specification allows other things and is elsewhere: what counts is the trace and the
    /// observation.
    fn replace_specification(
        &self,
        claim: &mut Certificate,
        other: &ModelRef,
    ) -> Result<(), Error> {
        let table = claim.specification.as_ref().and_then(|m| m.table.as_ref());
        if table.is_none() {
            let reference = other.to_string();
            claim.model = certify::named(other);
            claim.specification = Some(iolite_recheck::Model {
                reference,
                table: None,
            });
            return self.replace_file(claim, other);
        }
        let spec = self.explicit(other)?;
        claim.model = certify::named(spec.reference());
        claim.specification = Some(certify::model(&spec, claim, false));
        let policy = policy(claim);
        if let Some(found) = Found::of(&spec.system(), policy, claim) {
            claim.allowed = found.allowed.into_iter().map(Observation::Action).collect();
            claim.locations = found.locations;
        }
        self.replace_file(claim, other)
    }

    fn replace_file(&self, claim: &mut Certificate, other: &ModelRef) -> Result<(), Error> {
        let source = self.source(other.path())?;
        let path = other.path().display().to_string();
        claim.files.retain(|file| file.path != path);
        claim.files.push(iolite_recheck::SourceText {
            path,
            hash: source.hash().to_owned(),
            text: source.text()?.to_owned(),
        });
        Ok(())
    }

    /// Whether each table is what the text beside it means.
    fn compare_tables(&self, claim: &Certificate, reading: &Reading) -> Result<String, Checked> {
        let refuted = |reference: &str, reason: String| {
            Checked::Refuted(format!(
                "{reference}: the table is not that of the text: {reason}"
            ))
        };
        let models = [&claim.specification, &claim.implementation];
        for model in models.into_iter().flatten() {
            let Some(table) = &model.table else {
                continue;
            };
            let spec = self.explicit(&model.reference.as_str().into());
            let spec = spec.map_err(|e| refuted(&model.reference, e.to_string()))?;
            if let Some(reason) = tables::difference(&spec.system(), table) {
                return Err(refuted(&model.reference, reason));
            }
        }
        if let Some(specification) = &claim.specification {
            let spec = self.explicit(&specification.reference.as_str().into());
            let spec = spec.map_err(|e| refuted(&specification.reference, e.to_string()))?;
            for observer in &claim.observers {
                let reference = ModelRef::from(observer.reference.as_str());
                let found = match claim.kind.as_str() {
                    "purpose" => self.purposes_of(&reference, &spec).map(|found| {
                        let table = |p: &iolite_property::Purpose| {
                            let accept = |s| p.is_accept(s);
                            tables::observer(observer.reference.clone(), p.automaton(), accept)
                        };
                        found.iter().map(table).collect()
                    }),
                    _ => self.observer_tables(&reference, &spec),
                };
                let found: Vec<iolite_recheck::Observer> =
                    found.map_err(|e| refuted(&observer.reference, e.to_string()))?;
                if !found.contains(observer) {
                    return Err(refuted(&observer.reference, "it is another one".to_owned()));
                }
            }
            if let Some(traces) = &claim.traces {
                let reference = ModelRef::from(traces.reference.as_str());
                let set = self.traces(&reference, spec.reference(), spec.labels());
                let set = set.map_err(|e| refuted(&traces.reference, e.to_string()))?;
                let found = tables::trace_set(traces.reference.clone(), &set, spec.labels());
                if found != *traces {
                    return Err(refuted(&traces.reference, "it is another set".to_owned()));
                }
            }
        }
        if let Some(told) = &claim.property {
            let reference = ModelRef::from(told.reference.as_str());
            let property = self.property(&reference, &reading.properties);
            let property = property.map_err(|e| refuted(&told.reference, e.to_string()))?;
            let found =
                tables::property(told.reference.clone(), &told.relation, &property.automaton);
            if found != *told {
                return Err(refuted(
                    &told.reference,
                    "it is another automaton".to_owned(),
                ));
            }
        }
        Ok("tables: each is what the text of its model means".to_owned())
    }

    /// A table is the union of its instances over unknown constants. That a run is wrong there does not
    /// prove that it is wrong for all of them.
    fn recheck_constants(
        &self,
        claim: &Certificate,
        options: &ExplainOptions,
    ) -> Result<Checked, Error> {
        let model = claim.specification.as_ref();
        let Some(model) = model.filter(|_| claim.implementation.is_none()) else {
            return Ok(Checked::Confirmed);
        };
        let spec = self.spec(&model.reference.as_str().into())?;
        let Spec::Symbolic(spec) = &*spec else {
            return Ok(Checked::Confirmed);
        };
        let run = data::DataRun {
            spec,
            policy: policy(claim),
            solver: options.solver.as_deref(),
            until: options.until.as_ref().map(|(until, _)| *until),
        };
        run.recheck_constants(&claim.trace)
    }

    /// A run of a model with data, looked at by formulas; `None` where that is not what is missing.
    fn recheck_data(
        &self,
        claim: &Certificate,
        options: &ExplainOptions,
    ) -> Result<Option<(Checked, Vec<Part>)>, Error> {
        let Some(model) = claim.specification.as_ref().filter(|m| m.table.is_none()) else {
            return Ok(None);
        };
        let queues = match claim.context.as_str() {
            "synchronous" => false,
            "queues" => true,
            _ => return Ok(None),
        };
        if claim.kind != "ioco" || claim.implementation.is_some() {
            return Ok(None);
        }
        if claim.trace_omitted > 0 {
            return Ok(Some((Checked::Undecided(TOO_LONG.to_owned()), Vec::new())));
        }
        let spec = self.spec(&model.reference.as_str().into())?;
        let Spec::Symbolic(spec) = &*spec else {
            let reason = "the model has no data, so its table must be there".to_owned();
            return Ok(Some((Checked::Refuted(reason), Vec::new())));
        };
        let observed = match &claim.observed {
            Some(Observation::Action(action)) => Some(action.clone()),
            _ => None,
        };
        if !claim.channels.is_empty() {
            let reason = "several channels, or messages that are lost or reordered, are not re-checked \
                          for models with data";
            return Ok(Some((Checked::Undecided(reason.to_owned()), Vec::new())));
        }
        let refuted = |reason: String| Ok(Some((Checked::Refuted(reason), Vec::new())));
        if claim.verdict != "fail" {
            return refuted(format!("the verdict is `fail`, not `{}`", claim.verdict));
        }
        if !matches!(claim.quiescence.as_str(), "livelock" | "strict") {
            return refuted(format!(
                "`{}` is no policy of quiescence here",
                claim.quiescence
            ));
        }
        let until = options.until.as_ref().map(|(until, _)| *until);
        let solver = options.solver.as_deref();
        let run = data::DataRun {
            spec,
            policy: policy(claim),
            solver,
            until,
        };
        let mut checked = run.recheck(&claim.trace, observed.as_deref(), queues)?;
        let by = |what: &str, by| Part {
            what: what.to_owned(),
            by,
        };
        let mut parts = Vec::new();
        if checked == Checked::Confirmed {
            parts.push(by("files: each text has its hash", RECHECK));
            parts.push(by(
                "trace and verdict: no way explains what was observed",
                FORMULAS,
            ));
            // Replaced specifications allow other things; through queues, what is allowed is not
            // compared.
            if options.specification.is_none() && !queues {
                if self.data_is_told(spec, &run, claim)? {
                    parts.push(by("allowed and locations", TESTER));
                } else {
                    let reason = "what is allowed, or where, is something else".to_owned();
                    checked = Checked::Refuted(reason);
                }
            }
        }
        if let (Checked::Undecided(_), Some((until, reason))) = (&checked, &options.until)
            && Instant::now() >= *until
        {
            checked = Checked::Undecided(reason.clone());
        }
        Ok(Some((checked, parts)))
    }

    /// Whether what is allowed and where is what the tester says, or the unfolded model, which tells
    /// of values one by one.
    fn data_is_told(
        &self,
        spec: &SymbolicSpec,
        run: &data::DataRun<'_>,
        claim: &Certificate,
    ) -> Result<bool, Error> {
        if run
            .found(&claim.trace)?
            .is_some_and(|f| f.is_told_by(claim))
        {
            return Ok(true);
        }
        let few = self.read_as(ReadOptions {
            max_states: Some(UNFOLDED),
            ..self.options().clone()
        });
        let Ok(unfolded) = few.explicit(spec.reference()) else {
            return Ok(false);
        };
        let found = Found::of(&unfolded.system(), policy(claim), claim);
        Ok(found.is_some_and(|f| f.is_told_by(claim)))
    }
}

const FROM_DISK: &str = "it does not carry its models; they were read from disk now";

fn policy(claim: &Certificate) -> QuiescencePolicy {
    match claim.quiescence.as_str() {
        "strict" => QuiescencePolicy::Strict,
        _ => QuiescencePolicy::Livelock,
    }
}

/// Where an answer and the certificate in it say different things.
fn differs(document: &RelationDocument, claim: &Certificate) -> Option<String> {
    let counterexample = document.counterexample.as_ref()?;
    let told = serde_json::to_value(counterexample).ok()?;
    let own = serde_json::to_value(claim).ok()?;
    for key in ["trace", "observed", "allowed"] {
        if told.get(key) != own.get(key) {
            return Some(format!("the answer and its certificate differ in `{key}`"));
        }
    }
    let model = |model: &Option<iolite_recheck::Model>| model.as_ref().map(|m| m.reference.clone());
    let places: Vec<String> = counterexample
        .specification_states
        .iter()
        .map(certify::place)
        .collect();
    let listed: BTreeSet<&String> = places.iter().collect();
    let same = [
        (document.holds == Some(false), "holds"),
        (document.relation == claim.kind, "relation"),
        (
            model(&claim.implementation).as_ref() == Some(&document.implementation),
            "implementation",
        ),
        (
            model(&claim.specification).as_ref() == Some(&document.specification),
            "specification",
        ),
        (
            claim.locations.iter().collect::<BTreeSet<_>>() == listed,
            "specification_states",
        ),
        (
            claim.implementation_location
                == Some(certify::place(&counterexample.implementation_state)),
            "implementation_state",
        ),
    ];
    let wrong = same.into_iter().find(|(same, _)| !same);
    wrong.map(|(_, key)| format!("the answer and its certificate differ in `{key}`"))
}
