//! Properties of any class beside a specification: as the tables that certificates carry, and where the
//! canonical testers are that judged.

use iolite_derive::{LetterMap, ModelRef};
use iolite_lts::{Label, LabelKind, Labels};
use iolite_property::{Alphabet, CanonicalTester, EventReading, PropertyVerdict};
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
    /// The properties of a run with these actions beside a specification.
    pub(super) fn properties_beside(
        &self,
        options: &PropertyOptions,
        spec: &Spec,
        actions: &[String],
    ) -> Result<Vec<BesideProperty>, Error> {
        let labels = labels(spec);
        let found = watched_beside(self, options, &labels, &spec.reference())?.into_iter();
        let found = found.map(|(property, watched)| {
            let guarded = !property.automaton.alphabet().guarded().is_empty();
            let mut own = Labels::new();
            for action in actions {
                own.intern_text(action);
            }
            let labels = if guarded { &own } else { &labels };
            BesideProperty {
                written: written(
                    &property,
                    options.relation.name(),
                    options.ignore_quiescence,
                    actions,
                ),
                tester: table(&property.reference, &watched.name, &watched.tester, labels),
            }
        });
        Ok(found.collect())
    }

    /// Why a property beside a model cannot say which letter one of these actions is, where that is so.
    pub(super) fn unread_beside(
        &self,
        options: &PropertyOptions,
        model: &ModelRef,
        actions: &[String],
    ) -> Result<Option<String>, Error> {
        for reference in &options.properties {
            let read = options.read_beside(self, reference, model)?.read;
            for property in self.properties(reference, &read)? {
                let why = unread(property.automaton.alphabet(), actions);
                if let Some(why) = why {
                    return Ok(Some(format!("{}: {why}", property.name)));
                }
            }
        }
        Ok(None)
    }

    /// Where a property of a certificate is not that of its text.
    pub(super) fn watched_difference(
        &self,
        told: &WatchedProperty,
        reading: &Reading,
        spec: &Spec,
        actions: &[String],
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
        // Which letters actions are by their values is compared one by one: what need not be said may be left out.
        let silent = |mut watched: WatchedProperty| {
            watched.automaton.values.clear();
            watched
        };
        let wanted = silent(told.clone());
        let same = |(property, _): &&(Property, _)| {
            silent(written(property, relation, told.ignores_silence, actions)) == wanted
        };
        let Some((property, _)) = found.iter().find(same) else {
            return Err("it is another automaton".to_owned());
        };
        let sigma = property.automaton.alphabet();
        let letter = |event: &str| event_reading(sigma, event).letter().map(|l| sigma.text(l));
        let table = &told.automaton;
        let mut said = table.values.iter();
        let wrong = said.find(|(event, told)| letter(event).as_ref() != Some(*told));
        let own = |text: &str| table.letters.iter().find(|l| *l == text).cloned();
        let read = |action: &str| {
            let bare = || own(action.split_once('(')?.0);
            let valued = table.values.get(action).cloned();
            valued.or_else(|| own(action)).or_else(bare)
        };
        let seen = |action: &&String| **action != "delta" && **action != "deadlock";
        let mut actions_seen = actions.iter().filter(seen);
        let unsaid = actions_seen.find(|action| read(action) != letter(action));
        if let Some(event) = wrong.map(|(event, _)| event).or(unsaid) {
            return Err(format!("{event} is another letter of it"));
        }
        unread(sigma, actions).map_or(Ok(()), Err)
    }
}

fn labels(spec: &Spec) -> Labels {
    match spec {
        Spec::Explicit(spec) => (**spec.labels()).clone(),
        Spec::Symbolic(spec) => spec.gate_labels(&[]),
        Spec::Properties(_) => Labels::new(),
    }
}

/// What an action of a specification is to a property.
fn event_reading(sigma: &Alphabet, action: &str) -> EventReading {
    let label = Label::parse(action);
    match label.kind {
        LabelKind::Internal | LabelKind::Delta => EventReading::Unseen,
        kind => sigma.read(kind, &label.name),
    }
}

fn unread(sigma: &Alphabet, actions: &[String]) -> Option<String> {
    let mut readings = actions.iter().map(|action| event_reading(sigma, action));
    readings.find_map(|reading| match reading {
        EventReading::Undefined(why) => Some(why.clone()),
        EventReading::Letter(_) | EventReading::Unseen => None,
    })
}

fn written(
    property: &Property,
    relation: &str,
    ignores_silence: bool,
    actions: &[String],
) -> WatchedProperty {
    let automaton = &property.automaton;
    let sigma = automaton.alphabet();
    let mut table = tables::property(
        property.reference.to_string(),
        relation,
        automaton,
        &Vec::new(),
    );
    for action in actions {
        let letter = event_reading(sigma, action).letter();
        if let Some(letter) = letter.filter(|&l| sigma.cell_of(l).is_some()) {
            table.values.insert(action.clone(), sigma.text(letter));
        }
    }
    WatchedProperty {
        name: property.name.clone(),
        states: automaton
            .structure()
            .states()
            .map(|q| automaton.name(q))
            .collect(),
        ignores_silence,
        automaton: table,
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
