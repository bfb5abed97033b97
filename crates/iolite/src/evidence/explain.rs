//! A certificate is read, and each part of it looked at again.

use std::collections::BTreeSet;
use std::path::Path;

use iolite_derive::{Criterion, ModelRef};
use iolite_exec::{CERTIFICATE_FORMAT, Certificate as Judged};
use iolite_lts::relation::Relation;
use iolite_recheck::{Certificate, FORMAT, Fault, LETTERS_OF_VALUES, check};

use super::certify::{self, JudgedBy, Reading};
use super::shared;
use super::{CheckOutcome, ExplainOptions, Explanation, Part, READER, RECHECK};
use crate::workspace::suite_reference;
use crate::{Error, JudgeOptions, ObservedDocument, PropertyOptions, RelationDocument, Workspace};

/// What nobody looks at of an answer that has a certificate in it.
const UNREAD: &str = "what the answer says around its certificate";
const UNREAD_RELATION: &str = "the effort, further counterexamples and warnings of the answer";

const FROM_DISK: &str = "it does not carry its models; they were read from disk now";

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
        if let Some(run) = options.run {
            let claim = shared::joined(&value, shared::pick(&value, run)?)?;
            let own = claim.run.filter(|own| *own != run);
            let mut explained = self.explain_whole(claim, options)?;
            if let (Some(own), CheckOutcome::Confirmed) = (own, &explained.checked) {
                let reason = format!("the answer gives it to run {run}, and it is of run {own}");
                explained.checked = CheckOutcome::Refuted(reason);
            }
            explained.told.push(UNREAD.to_owned());
            return Ok(explained);
        }
        if format(&value) == Some(FORMAT.into()) {
            let claim = Certificate::from_document(value).map_err(wrong)?;
            return self.explain_whole(claim, options);
        }
        let inner = value.get("certificate").filter(|inner| inner.is_object());
        if let Some(inner) = inner.cloned() {
            if format(&inner) == Some(CERTIFICATE_FORMAT.into()) {
                let judged = serde_json::from_value(inner).map_err(wrong)?;
                return self.explain_judged(&judged, options);
            }
            let claim = Certificate::from_document(inner).map_err(wrong)?;
            let related = value.get("relation").is_some() && value.get("holds").is_some();
            let (differs, around) = if related {
                let document: RelationDocument = serde_json::from_value(value).map_err(wrong)?;
                (differs(&document, &claim), UNREAD_RELATION)
            } else {
                (None, UNREAD)
            };
            let mut explained = self.explain_whole(claim, options)?;
            if let (Some(reason), CheckOutcome::Confirmed) = (differs, &explained.checked) {
                explained.checked = CheckOutcome::Refuted(reason);
            }
            explained.told.push(around.to_owned());
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

    /// A whole certificate that was made just now; `from_disk` of files as they are on disk now.
    pub fn explain_now(
        &self,
        claim: Certificate,
        from_disk: bool,
        options: &ExplainOptions,
    ) -> Result<Explanation, Error> {
        let mut explained = self.explain_whole(claim, options)?;
        if from_disk {
            explained.notes.push(FROM_DISK.to_owned());
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
        let claim = claim.map_err(Error::input)?;
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
            let path = Path::new(&file.path);
            let is_changed = if suite_reference(&ModelRef::file(path)).is_some() {
                self.has_other_cases(path, &file.text)
            } else {
                let disk = self.source(path);
                disk.is_ok_and(|disk| disk.hash() != file.hash)
            };
            if is_changed {
                models_changed.push(ModelRef::file(path));
            }
        }
        let mut explained = Explanation {
            claim,
            checked: CheckOutcome::Confirmed,
            models_changed,
            parts: Vec::new(),
            notes: Vec::new(),
            told: Vec::new(),
            not_rechecked: Vec::new(),
        };
        let embedded = Self::with_options(reading.models.clone()).without_explorers();
        for file in &explained.claim.files {
            embedded.insert(Path::new(&file.path), file.text.as_bytes());
        }
        let idle = embedded.idle_reading(&explained.claim, &reading);
        let by = |what: String, by| Part { what, by };
        if let Some(reason) = other_beside(&explained.claim, &reading) {
            explained.checked = CheckOutcome::Refuted(reason);
            return Ok(explained);
        }
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
                        explained.told.retain(|told| told != LETTERS_OF_VALUES);
                        embedded.recheck_constants(&explained.claim, options)?
                    }
                    Err(checked) => checked,
                }
            }
            Err(Fault::Rejected(reason)) => CheckOutcome::Refuted(reason),
            Err(Fault::Undecided(_)) if explained.claim.data.is_some() => {
                embedded.recheck_data_claim(&mut explained, options)?
            }
            Err(Fault::Undecided(reason)) => {
                match embedded.recheck_data(&explained.claim, &reading, options)? {
                    Some(report) => {
                        explained.parts = report.parts;
                        explained.notes = report.notes;
                        explained.told = report.told;
                        explained.not_rechecked = report.not_rechecked;
                        report.checked
                    }
                    None => CheckOutcome::Undecided(reason),
                }
            }
        };
        explained.notes.extend(idle);
        Ok(explained)
    }

    /// What a certificate says of how its property was read, and that makes no difference.
    fn idle_reading(&self, claim: &Certificate, reading: &Reading) -> Option<String> {
        let told = claim.property.as_ref()?;
        let reference = ModelRef::from(told.reference.as_str());
        let read = &reading.properties;
        let over = certify::says_nothing_over(&reference, read);
        // The model beside it is the specification, where there is one.
        let alone = claim.specification.is_none() && read.beside.is_some();
        let beside = alone && {
            let property = self.property(&reference, read);
            property.is_ok_and(|property| certify::says_nothing_beside(&property, read))
        };
        let what = match (over, beside) {
            (true, true) => "`over` and `beside` say",
            (true, false) => "`over` says",
            (false, true) => "`beside` says",
            (false, false) => return None,
        };
        Some(format!("reading: {what} nothing of {reference}"))
    }
}

/// Why the model that stands beside properties, for the parameters that their guards speak of, is not the one of the claim.
fn other_beside(claim: &Certificate, reading: &Reading) -> Option<String> {
    let beside = reading.properties.beside.as_ref()?;
    let specification = claim.specification.as_ref()?;
    let own = ModelRef::from(specification.reference.as_str());
    // The only system of a file need not be named, and a hash is that of the file.
    let named = beside.name.is_none() || beside.name == own.name;
    let mut files = claim.files.iter();
    let hashed = beside
        .hash
        .as_ref()
        .is_none_or(|hash| files.any(|file| file.hash == *hash));
    (beside.file != own.file || !named || !hashed).then(|| {
        format!("reading: {beside} stands beside the properties, and the specification is {own}")
    })
}

/// Where an answer and the certificate in it say different things.
fn differs(document: &RelationDocument, claim: &Certificate) -> Option<String> {
    let reference = |model: &Option<iolite_recheck::Model>| {
        let model = model.as_ref();
        model.map(|m| m.reference.clone()).unwrap_or_default()
    };
    let hash = |reference: &str, told: &str| {
        let path = ModelRef::from(reference).path().display().to_string();
        let mut files = claim.files.iter();
        files.any(|file| file.path == path && file.hash == told)
    };
    let semantics = &document.semantics;
    let completed = semantics.complete_inputs.map(|how| how.name().to_owned());
    let reading: Reading = serde_json::from_value(claim.reading.clone()).unwrap_or_default();
    let mut same = vec![
        (document.holds == Some(claim.verdict == "holds"), "holds"),
        (document.unknown.is_none(), "unknown"),
        (document.relation == claim.kind, "relation"),
        (
            reference(&claim.implementation) == document.implementation,
            "implementation",
        ),
        (
            reference(&claim.specification) == document.specification,
            "specification",
        ),
        (
            hash(&document.implementation, &document.implementation_hash),
            "implementation_hash",
        ),
        (
            hash(&document.specification, &document.specification_hash),
            "specification_hash",
        ),
        (
            claim.traces.as_ref().map(|traces| &traces.reference) == document.traces.as_ref(),
            "traces",
        ),
        (document.context.name() == claim.context, "context"),
        (
            certify::policy_name(semantics.policy()) == claim.quiescence
                && completed == claim.complete_inputs,
            "semantics",
        ),
        (document.reading == reading.models, "reading"),
    ];
    if let Some(found) = &document.counterexample {
        let observed = |list: &[ObservedDocument]| -> Vec<_> {
            list.iter().map(certify::observation).collect()
        };
        let places: Vec<String> = found
            .specification_states
            .iter()
            .map(certify::place)
            .collect();
        let listed: BTreeSet<&String> = places.iter().collect();
        let place = certify::place(&found.implementation_state);
        same.extend([
            (found.trace == claim.trace, "trace"),
            (
                Some(certify::observation(&found.observed)) == claim.observed,
                "observed",
            ),
            (observed(&found.allowed) == claim.allowed, "allowed"),
            (
                claim.locations.iter().collect::<BTreeSet<_>>() == listed,
                "specification_states",
            ),
            (
                claim.implementation_location == Some(place),
                "implementation_state",
            ),
        ]);
    }
    let wrong = same.into_iter().find(|(same, _)| !same);
    wrong.map(|(_, key)| format!("the answer and its certificate differ in `{key}`"))
}
