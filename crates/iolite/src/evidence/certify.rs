//! Certificates that are whole: what a search or a tester claims, with the models it rests on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use iolite_derive::{Context, Criterion, ModelRef};
use iolite_exec::Certificate as Judged;
use iolite_lts::QuiescencePolicy;
use iolite_lts::relation::Relation;
use iolite_recheck::{
    Certificate, Channel, DataObserver, Model, Named, Observation, Observer, Refusal, SourceText,
    State,
};
use serde::{Deserialize, Serialize};

use super::channel_certificate;
use super::tables::{self, Need};
use super::watched_property::{BesideProperty, doubt};
use super::watcher::{Following, Watcher};
use crate::data::split_outside;
use crate::workspace::{conformance_model, formula, hash, suite_reference};
use crate::{
    CounterexampleDocument, DataAutomaton, Error, ExplicitSpec, GoalAutomaton, JudgeOptions,
    ObservedDocument, Place, Proof, Property, PropertyOptions, PropertyReadOptions, ReadOptions,
    RelationDocument, Spec, Verification, VerificationOptions, VerifiedProperty, Workspace,
};

/// States of a model that formulas have answered for and that is still unfolded for its certificate.
const FEW: usize = 10_000;

/// What a run or a log was judged by, so that its certificate can carry it.
#[derive(Clone, Copy, Debug)]
pub enum JudgedBy<'a> {
    /// A model, and what else.
    Model(&'a JudgeOptions),
    /// Properties alone.
    Properties(&'a PropertyOptions),
}

/// How the files of a certificate are read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Reading {
    pub(super) models: ReadOptions,
    pub(super) properties: PropertyReadOptions,
}

/// Whether the actions that a formula is over are told of something that is none.
pub(super) fn says_nothing_over(reference: &ModelRef, read: &PropertyReadOptions) -> bool {
    !read.over.is_empty() && formula(reference).is_none()
}

/// Whether a model stands beside a property that has no guards, which alone speak of its parameters.
pub(super) fn says_nothing_beside(property: &Property, read: &PropertyReadOptions) -> bool {
    read.beside.is_some() && property.automaton.alphabet().guarded().is_empty()
}

pub(super) fn policy_name(policy: QuiescencePolicy) -> &'static str {
    match policy {
        QuiescencePolicy::Livelock => "livelock",
        QuiescencePolicy::Strict => "strict",
        QuiescencePolicy::Fair => "fair",
    }
}

impl Workspace {
    /// The whole certificate of a failing run or log, or why there is none: the verdict is that of a
    /// hand-written test case, from which nothing follows, or of a stored one whose observers or set of
    /// traces are not at hand.
    pub fn certify_run(
        &self,
        judged: &Judged,
        by: JudgedBy<'_>,
    ) -> Result<Result<Certificate, String>, Error> {
        let missing = match (judged.kind, by) {
            (Criterion::Written, _) => {
                Some("the verdicts of a hand-written test case are its author's")
            }
            (Criterion::Safety, JudgedBy::Model(options))
                if options.observers.is_empty() && options.properties.is_none() =>
            {
                Some("the observers of a stored test case are not at hand")
            }
            (Criterion::Relation(Relation::IoconfF), JudgedBy::Model(options))
                if options.traces.is_none() =>
            {
                Some("the set of traces of a stored test case is not at hand")
            }
            _ => None,
        };
        if let Some(missing) = missing {
            return Ok(Err(missing.to_owned()));
        }
        if let JudgedBy::Model(options) = by
            && let Some(properties) = &options.properties
        {
            let actions = judged.trace.iter().chain(&judged.observed);
            let actions: Vec<String> = actions.cloned().collect();
            if let Some(why) = self.unread_beside(properties, &judged.model, &actions)? {
                return Ok(Err(why));
            }
        }
        let mut whole = Certificate {
            model: named(&judged.model),
            context: judged.context.name().to_owned(),
            channels: judged.channels.iter().map(channel).collect(),
            trace: trace_of(judged, by),
            trace_omitted: judged.trace_omitted,
            observed: judged.observed.clone().map(Observation::Action),
            allowed: judged
                .allowed
                .iter()
                .cloned()
                .map(Observation::Action)
                .collect(),
            locations: once(judged.locations.clone()),
            run: Some(judged.run),
            seed: Some(judged.seed),
            patience: judged.patience,
            ..Certificate::new(judged.kind.name(), judged.verdict.name(), "livelock")
        };
        match by {
            JudgedBy::Model(options) => {
                if let Some(why) = self.add_specification(&mut whole, judged, options)? {
                    return Ok(Err(why));
                }
            }
            JudgedBy::Properties(options) => self.add_property(&mut whole, judged, options)?,
        }
        Ok(match doubt(&whole) {
            None => Ok(whole),
            Some(reason) => Err(reason),
        })
    }

    /// Adds the specification; why that cannot be done, where a bound ran out.
    fn add_specification(
        &self,
        whole: &mut Certificate,
        judged: &Judged,
        options: &JudgeOptions,
    ) -> Result<Option<String>, Error> {
        policy_name(options.quiescence).clone_into(&mut whole.quiescence);
        let reference = ModelRef {
            hash: None,
            ..judged.model.clone()
        };
        let mut references = vec![reference.clone()];
        let mut reading = PropertyReadOptions::default();
        if let Some(properties) = &options.properties {
            references.extend(properties.properties.iter().cloned());
            reading = properties.read.clone();
        }
        if options.keeps_data(self, &reference)? {
            let spec = self.spec(&reference)?;
            self.add_observers(whole, judged, &spec, options)?;
            let missing = channel_certificate::allow(whole, &spec, self.budget())?;
            if missing.is_some() {
                return Ok(missing);
            }
            references.extend(options.observers.iter().chain(&options.purposes).cloned());
            whole.model = named(&reference_of(&spec));
            whole.specification = Some(Model {
                reference: reference_of(&spec).to_string(),
                table: None,
            });
        } else {
            let spec = self.explicit(&reference)?;
            if judged.kind == Criterion::Relation(Relation::IoconfF)
                && let Some(traces) = &options.traces
            {
                let set = self.traces(traces, spec.reference(), spec.labels())?;
                let set = tables::trace_set(traces.to_string(), &set, spec.labels());
                whole.traces = Some(set);
                references.push(traces.clone());
            }
            let beside = Spec::Explicit(spec.clone());
            self.add_observers(whole, judged, &beside, options)?;
            references.extend(options.observers.iter().chain(&options.purposes).cloned());
            whole.model = named(spec.reference());
            whole.specification = Some(model(&spec, whole, false));
        }
        self.add_files(whole, &references, &reading)?;
        Ok(None)
    }

    /// Observers, or purposes: those without data as tables, and where each is after the trace.
    fn add_observers(
        &self,
        whole: &mut Certificate,
        judged: &Judged,
        spec: &Spec,
        options: &JudgeOptions,
    ) -> Result<(), Error> {
        let purpose = judged.kind == Criterion::Purpose;
        let references = match judged.kind {
            Criterion::Safety => options.observers.as_slice(),
            Criterion::Purpose => options.purposes.as_slice(),
            _ => &[],
        };
        // Through queues an observer is followed in every order, and a purpose in the tester's.
        let every_order = judged.kind == Criterion::Safety
            && judged.context == Context::Queues
            && judged.channels.is_empty();
        let mut places = Vec::new();
        for reference in references {
            for goal in self.watching(reference, purpose, spec)? {
                let GoalAutomaton::Data(data) = &goal else {
                    let table = watching_table(reference, &goal);
                    places.push(table.as_ref().map(|table| {
                        if every_order {
                            places_in_queues(table, &judged.trace)
                        } else {
                            place_after(table, &judged.trace)
                        }
                    }));
                    whole.observers.extend(table);
                    continue;
                };
                let own = own_constants(&options.data.constants, data, spec);
                let named = DataObserver {
                    reference: reference.with_name(data.iosts.name()).to_string(),
                    constants: own,
                };
                let watcher = Watcher::new(data.clone(), spec, &named).ok();
                whole.data_observers.push(named);
                let mut solver = crate::solver(options.data.solver.as_deref())?;
                solver.set_deadline(options.data.until);
                places.push(watcher.and_then(|watcher| {
                    let mut following = Following::new(&watcher, spec, &mut solver).ok()?;
                    following.place_after(&judged.trace, every_order).ok()
                }));
            }
        }
        if let Some(properties) = options.properties.as_ref().filter(|_| !purpose) {
            let actions = whole.actions();
            let beside = self.properties_beside(properties, spec, &actions)?;
            for BesideProperty { written, tester } in beside {
                places.push(Some(if every_order {
                    places_in_queues(&tester, &judged.trace)
                } else {
                    place_after(&tester, &judged.trace)
                }));
                whole.properties.push(written);
            }
        }
        // The tester follows a goal until it is decided; a certificate tells of the whole trace.
        let own = judged.locations.len().saturating_sub(places.len());
        let (locations, theirs) = judged.locations.split_at(own);
        let theirs = theirs.iter().chain(std::iter::repeat(&whole.kind));
        let places = places.into_iter().zip(theirs);
        let places = places.map(|(place, told)| place.unwrap_or_else(|| told.clone()));
        whole.locations = once(locations.iter().cloned().chain(places).collect());
        Ok(())
    }

    fn watching(
        &self,
        reference: &ModelRef,
        purpose: bool,
        spec: &Spec,
    ) -> Result<Vec<GoalAutomaton>, Error> {
        let one = std::slice::from_ref(reference);
        if purpose {
            self.goals(&[], one, spec)
        } else {
            self.goals(one, &[], spec)
        }
    }

    /// The observers, or purposes, without data that a reference means, as tables.
    pub(super) fn watching_tables(
        &self,
        reference: &ModelRef,
        purpose: bool,
        spec: &Spec,
    ) -> Result<Vec<Observer>, Error> {
        let goals = self.watching(reference, purpose, spec)?;
        let tables = goals
            .iter()
            .filter_map(|goal| watching_table(reference, goal));
        Ok(tables.collect())
    }

    /// The observers that a reference means, as tables.
    pub(super) fn observer_tables(
        &self,
        reference: &ModelRef,
        spec: &ExplicitSpec,
    ) -> Result<Vec<Observer>, Error> {
        let observers = self.observers_of(reference, spec)?;
        let table = |o: &iolite_property::Observer| {
            tables::observer(reference.to_string(), o.automaton(), |s| o.is_violate(s))
        };
        Ok(observers.iter().map(table).collect())
    }

    fn add_property(
        &self,
        whole: &mut Certificate,
        judged: &Judged,
        options: &PropertyOptions,
    ) -> Result<(), Error> {
        let reference = ModelRef {
            hash: None,
            ..judged.model.clone()
        };
        let property = self.property(&reference, &options.read)?;
        whole.model = named(&reference);
        let relation = options.relation.name();
        whole.property = Some(tables::property(
            reference.to_string(),
            relation,
            &property.automaton,
            &whole.actions(),
        ));
        whole.allowed.clear();
        whole.locations.clear();
        let mut read = options.read.clone();
        if says_nothing_over(&reference, &read) {
            read.over.clear();
        }
        if says_nothing_beside(&property, &read) {
            read.beside = None;
        }
        let references: Vec<ModelRef> =
            [reference].into_iter().chain(read.beside.clone()).collect();
        self.add_files(whole, &references, &read)
    }

    pub(super) fn add_files(
        &self,
        whole: &mut Certificate,
        references: &[ModelRef],
        properties: &PropertyReadOptions,
    ) -> Result<(), Error> {
        let mut seen = BTreeSet::new();
        // Of a suite in one file only what the claim is about: the file may have gigabytes.
        let mut cited: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
        for reference in references {
            if let Some(suite) = suite_reference(reference) {
                let names = cited.entry(suite.path().to_owned()).or_default();
                names.extend(suite.name);
                continue;
            }
            let model = conformance_model(reference);
            let path = model.as_ref().unwrap_or(reference).path();
            if path.to_string_lossy().starts_with("ltl:") || !seen.insert(path.to_owned()) {
                continue;
            }
            let source = self.whole_source(path)?;
            whole.files.push(SourceText {
                path: path.display().to_string(),
                hash: source.hash().to_owned(),
                text: source.text()?.to_owned(),
            });
        }
        for (path, names) in cited {
            let text = self.cited_lines(&path, &names)?;
            whole.files.push(SourceText {
                path: path.display().to_string(),
                hash: hash(text.as_bytes()),
                text,
            });
        }
        let reading = Reading {
            models: self.options().clone(),
            properties: properties.clone(),
        };
        whole.reading = serde_json::to_value(reading)
            .map_err(|e| Error::input(format!("the certificate cannot be written: {e}")))?;
        Ok(())
    }

    /// The whole certificate of a relation that does not hold.
    pub(crate) fn certify_relation(
        &self,
        document: &RelationDocument,
        found: &CounterexampleDocument,
    ) -> Result<Certificate, Error> {
        let mut whole = Certificate {
            context: document.context.name().to_owned(),
            trace: found.trace.clone(),
            observed: Some(observation(&found.observed)),
            allowed: found.allowed.iter().map(observation).collect(),
            locations: once(found.specification_states.iter().map(place).collect()),
            implementation_location: Some(place(&found.implementation_state)),
            ..Certificate::new(
                &document.relation,
                "fail",
                policy_name(document.semantics.policy()),
            )
        };
        if let Some(how) = document.semantics.complete_inputs {
            whole.complete_inputs = Some(how.name().to_owned());
        }
        let implementation = ModelRef::from(document.implementation.as_str());
        let specification = ModelRef::from(document.specification.as_str());
        let spec = self.explicit(&specification)?;
        whole.model = named(spec.reference());
        let mut references = vec![implementation.clone(), specification];
        if let Some(traces) = &document.traces {
            let reference = ModelRef::from(traces.as_str());
            let (set, labels) =
                self.traces_between(&reference, &spec, &self.explicit(&implementation)?)?;
            whole.traces = Some(tables::trace_set(traces.clone(), &set, &labels));
            references.push(reference);
        }
        let completed = whole.complete_inputs.is_some();
        whole.implementation = Some(model(&self.explicit(&implementation)?, &whole, completed));
        whole.specification = Some(model(&spec, &whole, false));
        self.add_files(&mut whole, &references, &PropertyReadOptions::default())?;
        Ok(whole)
    }

    /// The whole certificate of a refuted property; `None` for any other answer, and where data were
    /// not unfolded.
    pub fn certify_refutation(
        &self,
        verification: &Verification,
        property: &VerifiedProperty,
        options: &VerificationOptions,
    ) -> Result<Option<Certificate>, Error> {
        let Proof::Refuted { trace, .. } = &property.proof else {
            return Ok(None);
        };
        let reference = ModelRef {
            hash: None,
            ..verification.system.clone()
        };
        // What formulas answered has a certificate of its own, where states are not few.
        let few = property.data.as_ref().map(|_| {
            self.read_as(ReadOptions {
                max_states: Some(FEW),
                ..self.options().clone()
            })
        });
        let Ok(spec) = few.as_ref().unwrap_or(self).explicit(&reference) else {
            return Ok(None);
        };
        let mut found = None;
        for reference in &options.properties {
            // What is no safety property has no observer, and its refutation is no finite trace.
            let Ok(tables) = self.observer_tables(reference, &spec) else {
                continue;
            };
            let violated = |o: &Observer| {
                o.name == property.name && end(o, trace).is_some_and(|at| o.marked.contains(&at))
            };
            let table = tables.into_iter().find(violated);
            if let Some(table) = table {
                found = Some((reference.clone(), table));
                break;
            }
        }
        let Some((watcher, observer)) = found else {
            return self.certify_execution(&spec, property, options);
        };
        let system = spec.system();
        let followed = iolite_lts::relation::follow_run(&system, options.quiescence, true, trace);
        let Some(followed) = followed else {
            return Ok(None);
        };
        let states = followed.states.iter();
        let mut locations: Vec<String> = states
            .map(|&s| iolite_derive::location(&system, s))
            .collect();
        locations.push(place_after(&observer, trace));
        let mut whole = Certificate {
            model: named(spec.reference()),
            trace: trace.clone(),
            locations: once(locations),
            observers: vec![observer],
            ..Certificate::new(
                Criterion::Safety.name(),
                "refuted",
                policy_name(options.quiescence),
            )
        };
        whole.specification = Some(model(&spec, &whole, false));
        let references = [reference, watcher];
        self.add_files(&mut whole, &references, &PropertyReadOptions::default())?;
        Ok(Some(whole))
    }
}

/// The table of an observer or a purpose without data.
fn watching_table(reference: &ModelRef, goal: &GoalAutomaton) -> Option<Observer> {
    let reference = reference.to_string();
    match goal {
        GoalAutomaton::Observer(o) => {
            let violates = |s| o.is_violate(s);
            Some(tables::observer(reference, o.automaton(), violates))
        }
        GoalAutomaton::Purpose(p) => {
            let accepts = |s| p.is_accept(s);
            Some(tables::observer(reference, p.automaton(), accepts))
        }
        GoalAutomaton::Property(_) | GoalAutomaton::Data(_) => None,
    }
}

/// The values that were given to constants of an observer, and not to the specification's.
fn own_constants(given: &[String], data: &DataAutomaton, spec: &Spec) -> Vec<String> {
    let of_model = |name: &str| match spec {
        Spec::Symbolic(spec) => {
            let mut constants = spec.model().constants().iter();
            constants.any(|c| *c.var.name == *name)
        }
        _ => false,
    };
    let pieces = given.iter().flat_map(|text| split_outside(text, ','));
    let named = pieces.filter_map(|piece| piece.split_once('='));
    let named = named.map(|(name, value)| (name.trim(), value.trim()));
    let own = |name: &str| {
        let mut constants = data.iosts.constants().iter();
        constants.any(|c| *c.var.name == *name) && !of_model(name)
    };
    let own = named.filter(|(name, _)| own(name));
    own.map(|(name, value)| format!("{name}={value}")).collect()
}

fn channel(channel: &iolite_derive::Channel) -> Channel {
    let iolite_derive::Channel {
        name,
        inputs,
        outputs,
        loss,
        reorder,
    } = channel.clone();
    Channel {
        name,
        inputs,
        outputs,
        loss,
        reorder,
    }
}

pub(super) fn named(reference: &ModelRef) -> Named {
    Named {
        file: reference.file.clone(),
        name: reference.name.clone(),
        hash: reference.hash.clone(),
    }
}

/// Each once, in order.
pub(super) fn once(mut texts: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    texts
}

fn reference_of(spec: &Spec) -> ModelRef {
    match spec {
        Spec::Explicit(spec) => spec.reference().clone(),
        Spec::Symbolic(spec) => spec.reference().clone(),
        Spec::Properties(_) => ModelRef::default(),
    }
}

/// The trace of a run. A relation sees δ where a system ended, and where a log goes on after that, it goes on after δ; a
/// property tells the two apart.
fn trace_of(judged: &Judged, by: JudgedBy<'_>) -> Vec<String> {
    let mut trace = judged.trace.clone();
    if let JudgedBy::Model(_) = by {
        let ended = trace.iter_mut().filter(|action| *action == "deadlock");
        ended.for_each(|action| "delta".clone_into(action));
    }
    trace
}

/// A model with the states that the claim needs.
pub(super) fn model(spec: &ExplicitSpec, whole: &Certificate, completed: bool) -> Model {
    let mut actions: Vec<&str> = whole.trace.iter().map(String::as_str).collect();
    if let Some(Observation::Action(action)) = &whole.observed {
        actions.push(if action == "deadlock" {
            "delta"
        } else {
            action
        });
    }
    let need = Need {
        actions: &actions,
        queues: whole.context == "queues",
        unobserved: !whole.channels.is_empty(),
        completed,
    };
    Model {
        reference: spec.reference().to_string(),
        table: Some(tables::table(&spec.system(), need)),
    }
}

pub(super) fn observation(document: &ObservedDocument) -> Observation {
    match document {
        ObservedDocument::Action(action) => Observation::Action(action.clone()),
        ObservedDocument::Refusal { refuses } => Observation::Refusal(Refusal {
            refuses: refuses.clone(),
        }),
    }
}

pub(super) fn place(place: &Place) -> String {
    let (state, line) = (place.state.clone(), place.line);
    State { state, line }.to_string()
}

fn place_after(observer: &Observer, trace: &[String]) -> String {
    let place = end(observer, trace);
    let place = place.map_or("left for good", |at| observer.states[at].as_str());
    format!("{}: {place}", observer.name)
}

/// Where an observer may be after a trace that was seen through queues: each order is where it is, and
/// the inputs that it has not taken.
fn places_in_queues(observer: &Observer, trace: &[String]) -> String {
    type Way = (Option<usize>, Vec<String>);
    let follow = |at: Option<usize>, action: &String| {
        let at = at?;
        let label = label_of(observer, action);
        let Some(label) = label.filter(|_| !observer.marked.contains(&at)) else {
            return Some(at);
        };
        let step = observer.steps.iter().find(|s| (s.0, s.1) == (at, label));
        step.map(|s| s.2)
    };
    // What is reached by taking inputs.
    let taking = |ways: BTreeSet<Way>| {
        let mut all = BTreeSet::new();
        for (mut at, mut left) in ways {
            all.insert((at, left.clone()));
            while !left.is_empty() {
                at = follow(at, &left.remove(0));
                all.insert((at, left.clone()));
            }
        }
        all
    };
    let mut ways: BTreeSet<Way> = BTreeSet::from([(Some(observer.initial), Vec::new())]);
    for action in trace {
        if action.starts_with('?') {
            let longer = ways.into_iter().map(|(at, mut left)| {
                left.push(action.clone());
                (at, left)
            });
            ways = longer.collect();
            continue;
        }
        let all = taking(ways).into_iter();
        let seen = all.filter(|(_, left)| action != "delta" || left.is_empty());
        ways = seen.map(|(at, left)| (follow(at, action), left)).collect();
    }
    let name = |at: Option<usize>| at.map_or("left for good", |at| observer.states[at].as_str());
    let places: BTreeSet<&str> = taking(ways).into_iter().map(|(at, _)| name(at)).collect();
    let places: Vec<&str> = places.into_iter().collect();
    format!("{}: {}", observer.name, places.join(" or "))
}

/// Where an observer is after a trace, unless it was left.
fn end(observer: &Observer, trace: &[String]) -> Option<usize> {
    let mut at = Some(observer.initial);
    for action in trace {
        let (Some(from), Some(label)) = (at, label_of(observer, action)) else {
            continue;
        };
        let step = observer.steps.iter().find(|s| (s.0, s.1) == (from, label));
        at = step.map(|s| s.2);
    }
    at
}

/// The label of an action, or of its name with whatever values.
fn label_of(observer: &Observer, action: &str) -> Option<usize> {
    let exactly = |text: &str| observer.labels.iter().position(|l| l == text);
    exactly(action).or_else(|| {
        let (name, _) = action.split_once('(')?;
        exactly(&format!("{name}(…)"))
    })
}
