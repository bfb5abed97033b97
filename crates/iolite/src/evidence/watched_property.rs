//! Properties of any class beside a specification: as the tables that certificates carry, and where the
//! canonical testers are that judged.

use iolite_derive::{LetterMap, ModelRef};
use iolite_lts::{LabelKind, Labels};
use iolite_property::{CanonicalTester, PropertyVerdict};
use iolite_recheck::{Certificate, Observer, WatchedProperty};

use super::certify::Reading;
use super::tables;
use crate::campaign::watched_beside;
use crate::{Error, Property, PropertyOptions, Spec, Workspace};

/// A property beside a specification, as it is written, and its tester as an observer.
pub(super) struct BesideProperty {
    pub(super) written: WatchedProperty,
    pub(super) tester: Observer,
}

impl Workspace {
    /// The properties of a run beside a specification.
    pub(super) fn properties_beside(
        &self,
        options: &PropertyOptions,
        spec: &Spec,
    ) -> Result<Vec<BesideProperty>, Error> {
        let labels = labels(spec);
        let found = watched_beside(self, options, &labels, &spec.reference())?.into_iter();
        let found = found.map(|(property, watched)| BesideProperty {
            written: written(
                &property,
                options.relation.name(),
                options.ignore_quiescence,
            ),
            tester: table(&property.reference, &watched.name, &watched.tester, &labels),
        });
        Ok(found.collect())
    }

    /// Whether a property beside a model has guards on values.
    pub(super) fn has_guards_beside(
        &self,
        options: &PropertyOptions,
        model: &ModelRef,
    ) -> Result<bool, Error> {
        for reference in &options.properties {
            let read = options.read_beside(self, reference, model)?.read;
            let found = self.properties(reference, &read)?;
            if found
                .iter()
                .any(|p| !p.automaton.alphabet().guarded().is_empty())
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where a property of a certificate is not that of its text.
    pub(super) fn watched_difference(
        &self,
        told: &WatchedProperty,
        reading: &Reading,
        spec: &Spec,
    ) -> Result<(), String> {
        let reference = ModelRef::from(told.automaton.reference.as_str());
        let options = PropertyOptions {
            properties: vec![reference],
            read: reading.properties.clone(),
            ..PropertyOptions::default()
        };
        let found = watched_beside(self, &options, &labels(spec), &spec.reference());
        let found = found.map_err(|e| e.to_string())?;
        let relation = told.automaton.relation.as_str();
        let same = |(property, _): &(Property, _)| {
            written(property, relation, told.ignores_silence) == *told
        };
        if found.iter().any(same) {
            Ok(())
        } else {
            Err("it is another automaton".to_owned())
        }
    }
}

fn labels(spec: &Spec) -> Labels {
    match spec {
        Spec::Explicit(spec) => (**spec.labels()).clone(),
        Spec::Symbolic(spec) => spec.gate_labels(&[]),
        Spec::Properties(_) => Labels::new(),
    }
}

fn written(property: &Property, relation: &str, ignores_silence: bool) -> WatchedProperty {
    let automaton = &property.automaton;
    WatchedProperty {
        name: property.name.clone(),
        states: automaton
            .structure()
            .states()
            .map(|q| automaton.name(q))
            .collect(),
        ignores_silence,
        // Properties with guards beside a model have no certificate: nothing depends on values here.
        automaton: tables::property(
            property.reference.to_string(),
            relation,
            automaton,
            &Vec::new(),
        ),
    }
}

/// A canonical tester over the labels of a specification; what it fails is marked.
fn table(reference: &ModelRef, name: &str, tester: &CanonicalTester, labels: &Labels) -> Observer {
    let map = LetterMap::new(tester.alphabet(), labels);
    let visible = labels.iter().filter(|(_, l)| l.kind != LabelKind::Internal);
    let visible: Vec<_> = visible.map(|(id, _)| id).collect();
    let structure = tester.structure();
    let mut steps = Vec::new();
    for state in structure.states() {
        for (number, &label) in visible.iter().enumerate() {
            let letter = map.letter(label);
            let to = letter.map_or(state, |letter| structure.step(state, letter));
            steps.push((state.index(), number, to.index()));
        }
    }
    let fails = |verdict| matches!(verdict, PropertyVerdict::Fail | PropertyVerdict::WeakFail);
    let states = || structure.states();
    Observer {
        reference: reference.to_string(),
        name: name.to_owned(),
        labels: visible.iter().map(|&l| labels.text(l)).collect(),
        states: states().map(|q| tester.name(q).to_owned()).collect(),
        initial: tester.initial().index(),
        marked: states()
            .filter(|&q| fails(tester.verdict(q)))
            .map(iolite_lts::StateId::index)
            .collect(),
        steps,
    }
}

/// Why the checker would not confirm a certificate with properties that has tables.
pub(super) fn doubt(whole: &Certificate) -> Option<String> {
    if whole.properties.is_empty() {
        return None;
    }
    match iolite_recheck::check(whole) {
        Err(iolite_recheck::Fault::Rejected(reason)) => Some(format!(
            "it is judged by other rules than those that certificates follow: {reason}"
        )),
        _ => None,
    }
}
