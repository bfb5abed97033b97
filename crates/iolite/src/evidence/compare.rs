//! Tables of a certificate against the texts beside them, and models put in the place of others.

use std::collections::BTreeSet;

use iolite_derive::{LetterMap, ModelRef};
use iolite_recheck::{Certificate, Observation, Test};

use super::certify::{self, Reading};
use super::recheck_data::AllowedThere;
use super::{CheckOutcome, policy, tables};
use crate::{Error, Property, Spec, Workspace, explorer_command};

fn refuted(reference: &str, reason: impl std::fmt::Display) -> CheckOutcome {
    CheckOutcome::Refuted(format!(
        "{reference}: the table is not that of the text: {reason}"
    ))
}

impl Workspace {
    pub(super) fn replace_implementation(
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
    pub(super) fn replace_specification(
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
        if let Some(found) = AllowedThere::of(&spec.system(), policy, claim) {
            claim.allowed = found.allowed.into_iter().map(Observation::Action).collect();
            claim.locations = found.locations;
        }
        self.replace_file(claim, other)
    }

    pub(super) fn replace_file(
        &self,
        claim: &mut Certificate,
        other: &ModelRef,
    ) -> Result<(), Error> {
        let source = self.whole_source(other.path())?;
        let path = other.path().display().to_string();
        claim.files.retain(|file| file.path != path);
        claim.files.push(iolite_recheck::SourceText {
            path,
            hash: source.hash().to_owned(),
            text: source.text()?.to_owned(),
        });
        Ok(())
    }

    /// Whether the tables of observers and purposes are those of the texts beside them.
    pub(super) fn compare_observers(
        &self,
        claim: &Certificate,
        reading: &Reading,
        spec: &Spec,
    ) -> Result<(), CheckOutcome> {
        for property in &claim.properties {
            self.watched_difference(property, reading, spec, &claim.actions())
                .map_err(|reason| refuted(&property.automaton.reference, reason))?;
        }
        for observer in &claim.observers {
            let reference = ModelRef::from(observer.reference.as_str());
            let found = self.watching_tables(&reference, claim.kind == "purpose", spec);
            let found = found.map_err(|e| refuted(&observer.reference, e))?;
            if !found.contains(observer) {
                return Err(refuted(&observer.reference, "it is another one"));
            }
        }
        Ok(())
    }

    /// What a guard of a property has no value for is neither in the property nor outside of it.
    fn reads_every_step(
        &self,
        claim: &Certificate,
        property: &Property,
    ) -> Result<(), CheckOutcome> {
        let model = claim.specification.as_ref();
        let Some((model, table)) = model.and_then(|m| Some((m, m.table.as_ref()?))) else {
            return Ok(());
        };
        let spec = self.explicit(&model.reference.as_str().into());
        let spec = spec.map_err(|e| refuted(&model.reference, e))?;
        let letters = LetterMap::new(property.automaton.alphabet(), spec.labels());
        let taken = table.rows.iter().flatten().flatten();
        let taken: BTreeSet<&String> = taken.map(|&(label, _)| &table.labels[label].1).collect();
        let mut labels = spec.labels().iter().map(|(id, _)| id);
        let unread = labels.find_map(|id| {
            let why = letters.undefined(id)?;
            taken.contains(&spec.labels().text(id)).then_some(why)
        });
        match unread {
            Some(why) => Err(CheckOutcome::Undecided(why.to_owned())),
            None => Ok(()),
        }
    }

    /// Whether each table is what the text beside it means.
    pub(super) fn compare_tables(
        &self,
        claim: &Certificate,
        reading: &Reading,
    ) -> Result<String, CheckOutcome> {
        let models = [&claim.specification, &claim.implementation];
        let explored = |model: &&iolite_recheck::Model| {
            explorer_command(&model.reference.as_str().into()).is_some()
        };
        if let Some(model) = models.into_iter().flatten().find(explored) {
            return Err(CheckOutcome::Undecided(format!(
                "{}: the claim follows from its table, but that the table is what the program says is \
                 not checked: a certificate executes nothing",
                model.reference
            )));
        }
        for model in models.into_iter().flatten() {
            let Some(table) = &model.table else {
                continue;
            };
            let spec = self.explicit(&model.reference.as_str().into());
            let spec = spec.map_err(|e| refuted(&model.reference, e))?;
            if let Some(reason) = tables::difference(&spec.system(), table) {
                return Err(refuted(&model.reference, reason));
            }
        }
        if let Some(specification) = &claim.specification {
            let spec = self.explicit(&specification.reference.as_str().into());
            let spec = spec.map_err(|e| refuted(&specification.reference, e))?;
            self.compare_observers(claim, reading, &Spec::Explicit(spec.clone()))?;
            let tests: Vec<Test> = claim.test.iter().chain(&claim.suite).cloned().collect();
            self.judged_test_difference(&tests, &spec)
                .map_err(CheckOutcome::Refuted)?;
            if let Some(traces) = &claim.traces {
                let reference = ModelRef::from(traces.reference.as_str());
                // Of two models F is over the labels of both, of a run over those of the specification.
                let other = match &claim.implementation {
                    Some(model) => self
                        .explicit(&model.reference.as_str().into())
                        .map_err(|e| refuted(&model.reference, e))?,
                    None => spec.clone(),
                };
                let set = self.traces_between(&reference, &spec, &other);
                let (set, labels) = set.map_err(|e| refuted(&traces.reference, e))?;
                let found = tables::trace_set(traces.reference.clone(), &set, &labels);
                if found != *traces {
                    return Err(refuted(&traces.reference, "it is another set"));
                }
            }
        }
        if let (Some(test), Some(of)) = (&claim.test, &claim.implementation) {
            self.test_difference(test, &of.reference.as_str().into())
                .map_err(|reason| refuted(&test.reference, reason))?;
        }
        if let Some(told) = &claim.property {
            let reference = ModelRef::from(told.reference.as_str());
            let property = self.property(&reference, &reading.properties);
            let property = property.map_err(|e| refuted(&told.reference, e))?;
            let events = match &claim.specification {
                Some(model) => {
                    let spec = self.explicit(&model.reference.as_str().into());
                    let spec = spec.map_err(|e| refuted(&model.reference, e))?;
                    spec.labels().iter().map(|(_, l)| l.to_string()).collect()
                }
                None => claim.actions(),
            };
            let reference = told.reference.clone();
            let found = if claim.verdict == "proved" {
                self.reads_every_step(claim, &property)?;
                tables::closed_property(reference, &property.automaton, &events)
            } else {
                tables::property(reference, &told.relation, &property.automaton, &events)
            };
            if found != *told {
                return Err(refuted(&told.reference, "it is another automaton"));
            }
        }
        Ok("tables: each is what the text of its model means".to_owned())
    }
}
