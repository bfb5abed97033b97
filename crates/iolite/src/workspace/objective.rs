//! Observers and test purposes, as users name them.

use std::sync::Arc;

use iolite_derive::{LetterMap, ModelRef};
use iolite_formats::dot;
use iolite_lang::{Automaton, lower_observer, lower_purpose, named_instances};
use iolite_lts::{Labels, StateId};
use iolite_property::determinacy::{Determinacy, Reading};
use iolite_property::safety_observer::{SafetyObserverError, safety_observer};
use iolite_property::star_automaton::{Edge, On, Place};
use iolite_property::{AutomatonSource, Observer, ObserverRules, Purpose};

use super::property::{conformance_model, formula};
use super::{
    ExplicitSpec, Format, PropertyReadOptions, SourceFile, Spec, SymbolicSpec, Workspace, pick_all,
};
use crate::Error;
use crate::property_verification::actions;

/// The specification that goals are beside.
#[derive(Clone, Copy)]
pub(crate) enum Beside<'a> {
    Explicit(&'a ExplicitSpec),
    Symbolic(&'a SymbolicSpec),
}

impl<'a> Beside<'a> {
    pub(crate) fn new(spec: &'a Spec) -> Option<Self> {
        match spec {
            Spec::Explicit(spec) => Some(Self::Explicit(spec)),
            Spec::Symbolic(spec) => Some(Self::Symbolic(spec)),
            Spec::Properties(_) => None,
        }
    }

    fn reference(self) -> &'a ModelRef {
        match self {
            Self::Explicit(spec) => spec.reference(),
            Self::Symbolic(spec) => spec.reference(),
        }
    }

    /// The labels for goals: of a model with data, its actions with whatever values, and those with
    /// certain values that are named.
    fn labels(self, named: &[String]) -> Arc<Labels> {
        match self {
            Self::Explicit(spec) => Arc::clone(spec.labels()),
            Self::Symbolic(spec) => Arc::new(spec.gate_labels(named)),
        }
    }
}

/// Why a property cannot be taken as an observer. Where inputs may violate too, the question is one of
/// verification, which is left open for other classes.
fn no_observer(
    property: &super::Property,
    rules: ObserverRules,
    error: &SafetyObserverError,
) -> Error {
    let refused = Error::input(format!("{}: {error}", property.reference));
    match error {
        SafetyObserverError::NotSafety(_) if rules == ObserverRules::Acceptor => {
            Error::undecided(format!(
                "{}: {error}, and formulas decide safety properties only",
                property.reference
            ))
        }
        SafetyObserverError::NotSafety(_) => refused.hint(
            "only violations of safety properties show on finite traces; --property takes others",
        ),
        _ => refused,
    }
}

impl Workspace {
    /// The observers that a reference means, beside a specification: one declaration of an `.iol`
    /// file (all of them without `#Name`), a safety property, or an acceptor in DOT whose double
    /// circles violate. What is for another system gets a warning.
    pub fn observers(&self, reference: &ModelRef, spec: &Spec) -> Result<Vec<Observer>, Error> {
        let beside = beside(spec)?;
        self.load_observers(reference, beside, ObserverRules::Definition5)
    }

    /// The same under other rules for properties: verification also takes violations by inputs, which a
    /// tester could not blame on the system.
    pub(crate) fn observers_by(
        &self,
        reference: &ModelRef,
        spec: &Spec,
        rules: ObserverRules,
    ) -> Result<Vec<Observer>, Error> {
        self.load_observers(reference, beside(spec)?, rules)
    }

    /// The same beside an explicit specification.
    pub(crate) fn observers_of(
        &self,
        reference: &ModelRef,
        spec: &ExplicitSpec,
    ) -> Result<Vec<Observer>, Error> {
        self.load_observers(
            reference,
            Beside::Explicit(spec),
            ObserverRules::Definition5,
        )
    }

    fn load_observers(
        &self,
        reference: &ModelRef,
        beside: Beside<'_>,
        rules: ObserverRules,
    ) -> Result<Vec<Observer>, Error> {
        if self.is_safety_property(reference)? {
            return self.safety_properties(reference, beside, rules);
        }
        let source = self.source(reference.path())?;
        if Format::of(reference.path())? == Format::Dot {
            let observer = self.acceptor(&source, &beside.labels(&[]))?;
            self.warn_of_vacuous(&observer, &source.path().display().to_string());
            return Ok(vec![observer]);
        }
        let file = own_file(&source)?;
        let names = pick_all(reference, "observer", &source.declared("observer")?)?;
        let observer = |name: &str| {
            self.check_watched(&source, name, beside.reference())?;
            let labels = beside.labels(&named_instances(file, name));
            let lowered = lower_observer(file, name, &labels).map_err(|d| source.rejected(&d))?;
            let automaton = automaton(name, &lowered.automaton, &labels);
            let observer = Observer::new(automaton, &lowered.violate, ObserverRules::Definition5)
                .map_err(|errors| breaches(&source, name, &errors))?;
            self.warn_of_vacuous(&observer, &format!("{}#{name}", source.path().display()));
            Ok(observer)
        };
        names.into_iter().map(observer).collect()
    }

    /// Whether a reference beside a model means properties, and not the observers of a file.
    pub fn means_property(&self, reference: &ModelRef) -> Result<bool, Error> {
        self.is_safety_property(reference)
    }

    /// Tells of an observer that nothing can violate: whatever is proved of it says nothing.
    fn warn_of_vacuous(&self, observer: &Observer, name: &str) {
        if !observer.can_be_violated() {
            self.warn(&format!(
                "warning: no action leads observer {name} to a violate state, so nothing can violate it"
            ));
        }
    }

    /// Whether a reference names a property: not where it means the observers of a file.
    pub(crate) fn is_safety_property(&self, reference: &ModelRef) -> Result<bool, Error> {
        self.is_property_and_no("observer", reference)
    }

    /// Whether a reference names a property, and not the declarations of a file that start with this word.
    fn is_property_and_no(&self, keyword: &str, reference: &ModelRef) -> Result<bool, Error> {
        let foreign = formula(reference).is_some() || conformance_model(reference).is_some();
        if reference.name.is_some() || foreign || !reference.is_iol() {
            return self.is_property(reference);
        }
        let source = self.source(reference.path())?;
        Ok(source.declared(keyword)?.is_empty() && !source.declared("property")?.is_empty())
    }

    /// Safety properties with guards on values as observers over their own letters, with their alphabets;
    /// none where no property of the reference has guards.
    pub(crate) fn guarded_safety_properties(
        &self,
        reference: &ModelRef,
        spec: &SymbolicSpec,
        rules: ObserverRules,
    ) -> Result<Vec<(Observer, Arc<iolite_property::Alphabet>)>, Error> {
        let beside = Beside::Symbolic(spec);
        let read = PropertyReadOptions {
            over: actions(&beside.labels(&[]), formula(reference)),
            hoa: None,
            beside: Some(spec.reference().clone()),
        };
        let properties = self.properties(reference, &read)?;
        let guarded = |p: &super::Property| !p.automaton.alphabet().guarded().is_empty();
        if !properties.iter().any(guarded) {
            return Ok(Vec::new());
        }
        let observer = |property: &super::Property| {
            self.check_watched_reference(&property.reference, spec.reference())?;
            let observer = safety_observer(&property.name, &property.automaton, rules)
                .map_err(|e| no_observer(property, rules, &e))?;
            Ok((observer, Arc::clone(property.automaton.alphabet())))
        };
        properties.iter().map(observer).collect()
    }

    /// Safety properties as observers. Formulas speak of the system's actions.
    fn safety_properties(
        &self,
        reference: &ModelRef,
        beside: Beside<'_>,
        rules: ObserverRules,
    ) -> Result<Vec<Observer>, Error> {
        let labels = beside.labels(&[]);
        let options = PropertyReadOptions {
            over: actions(&labels, formula(reference)),
            hoa: None,
            beside: Some(beside.reference().clone()),
        };
        let properties = self.properties(reference, &options)?;
        let observer = |property: &super::Property| {
            self.check_watched_reference(&property.reference, beside.reference())?;
            let observer = safety_observer(&property.name, &property.automaton, rules)
                .map_err(|e| no_observer(property, rules, &e))?;
            match beside {
                _ if property.automaton.alphabet().guarded().is_empty() => {
                    Ok(observer.over(&labels))
                }
                Beside::Explicit(_) => guarded_observer(property, &observer, &labels),
                Beside::Symbolic(_) => Err(Error::input(format!(
                    "{}: a property with guards on values is no observer over actions",
                    property.reference
                ))
                .hint("--property takes it")),
            }
        };
        properties.iter().map(observer).collect()
    }

    /// The test purposes that a reference means, beside a specification.
    pub fn purposes(&self, reference: &ModelRef, spec: &Spec) -> Result<Vec<Purpose>, Error> {
        let beside = beside(spec)?;
        self.load_purposes(reference, beside)
    }

    /// The same beside an explicit specification.
    pub(crate) fn purposes_of(
        &self,
        reference: &ModelRef,
        spec: &ExplicitSpec,
    ) -> Result<Vec<Purpose>, Error> {
        self.load_purposes(reference, Beside::Explicit(spec))
    }

    fn load_purposes(
        &self,
        reference: &ModelRef,
        beside: Beside<'_>,
    ) -> Result<Vec<Purpose>, Error> {
        if self.is_property_purpose(reference)? {
            return self.property_purposes(reference, beside);
        }
        let source = self.source(reference.path())?;
        let file = own_file(&source)?;
        let names = pick_all(reference, "purpose", &source.declared("purpose")?)?;
        let purpose = |name: &str| {
            self.check_watched(&source, name, beside.reference())?;
            let labels = beside.labels(&named_instances(file, name));
            let lowered = lower_purpose(file, name, &labels).map_err(|d| source.rejected(&d))?;
            let automaton = automaton(name, &lowered.automaton, &labels);
            Purpose::new(automaton, &lowered.accept, &lowered.refuse)
                .map_err(|errors| breaches(&source, name, &errors))
        };
        names.into_iter().map(purpose).collect()
    }

    /// Whether a reference after `--purpose` names a property, and not the purposes of a file.
    pub(crate) fn is_property_purpose(&self, reference: &ModelRef) -> Result<bool, Error> {
        self.is_property_and_no("purpose", reference)
    }

    /// Properties as purposes: a run that fulfils one for good accepts, one that breaks it for good refuses
    /// [PROP12, §9.2].
    fn property_purposes(
        &self,
        reference: &ModelRef,
        beside: Beside<'_>,
    ) -> Result<Vec<Purpose>, Error> {
        let labels = beside.labels(&[]);
        let read = PropertyReadOptions {
            over: actions(&labels, formula(reference)),
            hoa: None,
            beside: Some(beside.reference().clone()),
        };
        let purpose = |property: &super::Property| {
            self.check_watched_reference(&property.reference, beside.reference())?;
            property_purpose(property, &labels)
        };
        self.properties(reference, &read)?
            .iter()
            .map(purpose)
            .collect()
    }

    /// A foreign acceptor. Labels that the system does not know can never happen, so their edges go.
    fn acceptor(&self, source: &SourceFile, labels: &Arc<Labels>) -> Result<Observer, Error> {
        let bytes = source.bytes();
        let loaded = dot::read_acceptor(bytes, &self.options().dot_options(bytes));
        let acceptor = self.accept(source, loaded)?;
        let lts = &acceptor.lts;
        let stem = source.path().file_stem().unwrap_or_default();
        let edges = lts.transitions().filter_map(|(source, label, target)| {
            let label = lts.labels().label(label);
            let label = labels.get(label.kind, &label.name)?;
            Some(Edge {
                source,
                on: On::Label(label),
                target,
                line: lts.line(source).unwrap_or(0),
            })
        });
        let place = |s: StateId| Place::new(lts.name(s), lts.line(s).unwrap_or(0));
        let automaton = AutomatonSource {
            name: stem.to_string_lossy().into_owned(),
            labels: Arc::clone(labels),
            states: lts.states().map(place).collect(),
            initial: lts.initial(),
            edges: edges.collect(),
        };
        Observer::new(automaton, &acceptor.accepting, ObserverRules::Acceptor)
            .map_err(|errors| breaches(source, "acceptor", &errors))
    }
}

fn property_purpose(property: &super::Property, labels: &Arc<Labels>) -> Result<Purpose, Error> {
    let automaton = &property.automaton;
    let s = automaton.structure();
    let wrong = |e: &dyn std::fmt::Display| Error::input(format!("{}: {e}", property.reference));
    let determined =
        Determinacy::new(automaton, Reading::FiniteAndInfinite).map_err(|e| wrong(&e))?;
    if !s.co_reach(&determined.positive).contains(s.initial()) {
        return Err(wrong(&"no finite run fulfils it for good, so it is no purpose")
            .hint("a purpose is a property of what is reached, such as `ltl F !done`; --property judges others"));
    }
    if determined.positive.contains(s.initial()) {
        return Err(wrong(
            &"it holds before anything happens; there is nothing to reach",
        ));
    }
    let letters = LetterMap::new(automaton.alphabet(), labels);
    let mut edges = Vec::new();
    for (label, _) in labels.iter() {
        if let Some(why) = letters.undefined(label) {
            return Err(wrong(&format!(
                "it cannot read {}: {why}",
                labels.text(label)
            )));
        }
        let Some(letter) = letters.letter(label) else {
            continue;
        };
        let going =
            |q: &StateId| !determined.positive.contains(*q) && !determined.negative.contains(*q);
        edges.extend(s.states().filter(going).map(|source| Edge {
            source,
            on: On::Label(label),
            target: s.step(source, letter),
            line: 0,
        }));
    }
    let source = AutomatonSource {
        name: property.name.clone(),
        labels: Arc::clone(labels),
        states: s
            .states()
            .map(|q| Place::new(automaton.name(q), 0))
            .collect(),
        initial: s.initial(),
        edges,
    };
    let accept: Vec<StateId> = determined.positive.iter().collect();
    let refuse: Vec<StateId> = determined.negative.iter().collect();
    Purpose::new(source, &accept, &refuse)
        .map_err(|errors| wrong(&errors.first().map(ToString::to_string).unwrap_or_default()))
}

/// An observer that looks at values, over labels that carry them.
fn guarded_observer(
    property: &super::Property,
    observer: &Observer,
    labels: &Arc<Labels>,
) -> Result<Observer, Error> {
    let sigma = property.automaton.alphabet();
    let letters = LetterMap::new(sigma, labels);
    let wrong = |e: &dyn std::fmt::Display| Error::input(format!("{}: {e}", property.reference));
    let states = || (0..observer.automaton().state_count()).map(StateId::new);
    let mut edges = Vec::new();
    for (label, _) in labels.iter() {
        if let Some(why) = letters.undefined(label) {
            return Err(wrong(&format!(
                "it cannot read {}: {why}",
                labels.text(label)
            )));
        }
        for source in states().filter(|&s| !observer.is_violate(s)) {
            let target = match letters.letter(label) {
                Some(letter) => observer.step(source, sigma.label(letter)),
                None => Some(source),
            };
            edges.extend(target.map(|target| Edge {
                source,
                on: On::Label(label),
                target,
                line: 0,
            }));
        }
    }
    let source = AutomatonSource {
        name: observer.name().to_owned(),
        labels: Arc::clone(labels),
        states: states()
            .map(|s| observer.automaton().place(s).clone())
            .collect(),
        initial: observer.initial(),
        edges,
    };
    let violate: Vec<StateId> = states().filter(|&s| observer.is_violate(s)).collect();
    Observer::new(source, &violate, ObserverRules::Definition5)
        .map_err(|errors| wrong(&errors.first().map(ToString::to_string).unwrap_or_default()))
}

fn own_file(source: &SourceFile) -> Result<&iolite_lang::File, Error> {
    if Format::of(source.path())? != Format::Iol {
        return Err(Error::input(format!(
            "{}: expected an .iol file",
            source.path().display()
        )));
    }
    source.file()
}

fn beside(spec: &Spec) -> Result<Beside<'_>, Error> {
    Beside::new(spec).ok_or_else(|| Error::input("observers and purposes need a model beside them"))
}

fn breaches<E: ToString>(source: &SourceFile, name: &str, errors: &[E]) -> Error {
    let lines: Vec<String> = errors
        .iter()
        .map(|e| format!("\n  {}", e.to_string()))
        .collect();
    Error::input(format!(
        "{}#{name}:{}",
        source.path().display(),
        lines.concat()
    ))
}

fn automaton(name: &str, lowered: &Automaton, labels: &Arc<Labels>) -> AutomatonSource {
    let edge = |(source, label, target): (StateId, _, _)| Edge {
        source,
        on: On::Label(label),
        target,
        line: lowered.states[source.index()].line,
    };
    AutomatonSource {
        name: name.to_owned(),
        labels: Arc::clone(labels),
        states: lowered
            .states
            .iter()
            .map(|s| Place::new(s.name.clone(), s.line))
            .collect(),
        initial: lowered.initial,
        edges: lowered.transitions().map(edge).collect(),
    }
}
