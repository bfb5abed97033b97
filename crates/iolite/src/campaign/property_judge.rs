//! Judging by properties alone \[PROP12\].

use std::path::PathBuf;
use std::sync::Arc;

use iolite_derive::{
    ActionId, Alphabet, LetterMap, ModelRef, PropertyEnd, PropertyObjective, PropertyTester, Step,
    Tester, Verdict, WatchedProperty,
};
use iolite_exec::{Certificate, Summary};
use iolite_expr::{Answer, Sampler, Solver, Strategy, Term, Value};
use iolite_lts::{Label, LabelId, LabelKind, Labels};
use iolite_property::canonical_tester::DEADLOCK;
use iolite_property::{
    Basis, CanonicalTester, GuardedAction, PropertyVerdict, Reading, Relation, TesterOptions,
};

use super::abstraction::{Abstraction, LetterDictionary};
use super::judge::AnyTester;
use crate::property_verification::actions;
use crate::workspace::formula;
use crate::{Error, ExplicitSpec, Property, PropertyReadOptions, Spec, Workspace};

/// How properties judge.
#[derive(Clone, Debug)]
pub struct PropertyOptions {
    /// The properties.
    pub properties: Vec<ModelRef>,
    /// The relation between executions and properties.
    pub relation: Relation,
    /// From the system's events to the properties' actions: a TOML file of `[[map]]` rules.
    pub map: Option<PathBuf>,
    /// Only give inputs that lead on to this verdict, and stop where it is lost.
    pub target: Option<PropertyVerdict>,
    /// The inputs to give; those of the properties where none is named.
    pub inputs: Vec<String>,
    /// Silence says nothing.
    pub ignore_quiescence: bool,
    /// When a sequence determines a property.
    pub basis: Basis,
    /// How properties are read.
    pub read: PropertyReadOptions,
}

impl Default for PropertyOptions {
    fn default() -> Self {
        Self {
            properties: Vec::new(),
            relation: Relation::Inclusion,
            map: None,
            target: None,
            inputs: Vec::new(),
            ignore_quiescence: false,
            basis: Basis::Determinacy(Reading::FiniteAndInfinite),
            read: PropertyReadOptions::default(),
        }
    }
}

/// Judges by properties alone.
pub struct PropertyJudge {
    properties: Vec<Property>,
    watched: Vec<WatchedProperty>,
    abstraction: Arc<Abstraction>,
    inputs: Vec<ActionId>,
    /// Inputs with values, where a property has guards on them.
    valued_inputs: Vec<String>,
    relation: Relation,
    target: Option<PropertyVerdict>,
}

impl PropertyJudge {
    /// Loads everything once, so that mistakes show before anything is started.
    pub fn new(workspace: &Workspace, options: &PropertyOptions) -> Result<Self, Error> {
        let mut properties: Vec<Property> = Vec::new();
        for reference in &options.properties {
            properties.extend(workspace.properties(reference, &options.read)?);
        }
        Self::of(workspace, options, properties)
    }

    /// The same beside a model, whose actions formulas speak of where no others are named.
    pub fn beside(
        workspace: &Workspace,
        options: &PropertyOptions,
        model: &ModelRef,
    ) -> Result<Self, Error> {
        let Some(labels) = labels_of(workspace, model)? else {
            return Self::new(workspace, options);
        };
        let mut properties: Vec<Property> = Vec::new();
        for reference in &options.properties {
            let read = options.beside(reference, &labels, model);
            for property in workspace.properties(reference, &read)? {
                workspace.check_watched_reference(&property.reference, model)?;
                if options.map.is_none() {
                    check_actions(&property, &labels, model)?;
                }
                properties.push(property);
            }
        }
        Self::of(workspace, options, properties)
    }

    fn of(
        workspace: &Workspace,
        options: &PropertyOptions,
        properties: Vec<Property>,
    ) -> Result<Self, Error> {
        let mut watched = Vec::new();
        let mut labels = Labels::new();
        for property in &properties {
            watched.push(watch(property, options)?);
            labels.join(property.automaton.alphabet().labels());
        }
        let map = options.map.as_ref().map(|path| workspace.source(path));
        let map = map.transpose()?;
        let guarded = guarded_actions(&properties);
        let names = guarded.iter().map(|a| (a.kind(), a.name().to_owned()));
        let extra = &options.inputs;
        let abstraction = Abstraction::new(labels, extra, names.collect(), map.as_deref())?;
        let table = abstraction.labels();
        let valued_inputs = valued_inputs(&guarded, extra);
        let inputs: Vec<LabelId> = if options.inputs.is_empty() {
            let sigma = properties.iter().map(|p| p.automaton.alphabet());
            let cells: Vec<String> = sigma.flat_map(|s| cell_texts(s)).collect();
            let plain = |l: &LabelId| !cells.contains(&table.text(*l));
            table.inputs().filter(plain).collect()
        } else {
            let name = |n: &String| n.trim().trim_start_matches('?').to_owned();
            let get = |n: &String| table.get(LabelKind::Input, &name(n));
            options.inputs.iter().filter_map(get).collect()
        };
        Ok(Self {
            properties,
            watched,
            inputs: inputs.into_iter().map(ActionId::from).collect(),
            valued_inputs,
            abstraction: Arc::new(abstraction),
            relation: options.relation,
            target: options.target,
        })
    }

    pub(super) fn abstraction(&self) -> &Arc<Abstraction> {
        &self.abstraction
    }

    pub(super) fn dictionary(&self, alphabet: &Alphabet) -> LetterDictionary {
        LetterDictionary::new(&self.abstraction, alphabet)
    }

    /// Whether an action of this alphabet stands for something that no property sees.
    pub(crate) fn is_unseen(&self, alphabet: &Alphabet, action: ActionId) -> bool {
        self.abstraction.is_unseen(alphabet, action)
    }

    /// Where the first property is written, for journals and certificates.
    pub fn reference(&self) -> ModelRef {
        let first = self.properties.first();
        first.map(|p| p.reference.clone()).unwrap_or_default()
    }

    /// What people call the whole.
    pub fn title(&self) -> String {
        let names: Vec<&str> = self.properties.iter().map(|p| p.name.as_str()).collect();
        format!("{} {}", names.join(", "), self.relation.name())
    }

    fn watcher(&self, alphabet: &Alphabet) -> PropertyTester {
        let labels = self.abstraction.labels();
        PropertyTester::with_alphabet(self.watched.clone(), alphabet, labels)
    }

    /// Watches a log, to its end or until every property is settled.
    pub fn monitor(&self, alphabet: &Alphabet) -> PropertyTester {
        self.watcher(alphabet).until(PropertyEnd::AllSettled)
    }

    /// The canonical testers of the properties, with their names.
    pub fn watched(&self) -> &[WatchedProperty] {
        &self.watched
    }

    /// A tester that drives.
    pub(super) fn tester(&self, alphabet: &Alphabet) -> AnyTester {
        let dictionary = self.dictionary(alphabet);
        let mut inputs = self.inputs.clone();
        inputs.extend(
            self.valued_inputs
                .iter()
                .map(|text| dictionary.recorded(text)),
        );
        // They are offered in every run.
        alphabet.pin();
        let tester = self.watcher(alphabet).driving(inputs);
        Box::new(match self.target {
            Some(target) => tester.aiming_at(target),
            None => tester,
        })
    }

    /// The certificate with the property that its trace violates in place of the first one, and the
    /// names of all that it violates.
    pub(super) fn blame(&self, certificate: &Certificate) -> (Certificate, Vec<String>) {
        let alphabet = self.abstraction.alphabet().fork();
        let dictionary = self.dictionary(&alphabet);
        let mut tester = self.monitor(&alphabet);
        for text in certificate.trace.iter().chain(&certificate.observed) {
            if let Some(step) = Step::parse(text, |text| Some(dictionary.recorded(text))) {
                tester.step(step);
            }
        }
        let mut certificate = certificate.clone();
        let mut violated = Vec::new();
        for (outcome, property) in tester.outcomes().into_iter().zip(&self.properties) {
            if outcome.verdict.is_failing() {
                if violated.is_empty() {
                    certificate.model = property.reference.clone();
                }
                violated.push(outcome.name);
            }
        }
        (certificate, violated)
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

    /// Whether further runs change nothing about that: where one execution inside is enough, it alone does.
    pub(super) fn is_settled(&self, summary: &Summary) -> bool {
        match self.relation {
            Relation::NonDisjointness => summary.verdicts.contains_key(&Verdict::Pass),
            _ => self.overall(summary).is_some_and(Verdict::is_failing),
        }
    }
}

/// The actions on whose values a property has guards.
fn guarded_actions(properties: &[Property]) -> Vec<&GuardedAction> {
    let guarded = properties
        .iter()
        .flat_map(|p| p.automaton.alphabet().guarded());
    guarded.map(|(action, _)| action).collect()
}

/// The letters that are cells, in the notation of the alphabet.
fn cell_texts(sigma: &iolite_property::Alphabet) -> Vec<String> {
    let cells = sigma.guarded().iter().flat_map(|(_, letters)| letters);
    cells.map(|&l| sigma.text(l)).collect()
}

/// Values that are tried for each letter of a guarded input.
const VALUES: usize = 8;

/// Inputs with values for each cell of each guarded input that is to be given.
fn valued_inputs(guarded: &[&GuardedAction], wanted: &[String]) -> Vec<String> {
    let name = |n: &String| n.trim().trim_start_matches('?').to_owned();
    let wanted: Vec<String> = wanted.iter().map(name).collect();
    let mut texts: Vec<String> = Vec::new();
    for action in guarded.iter().filter(|a| a.kind() == LabelKind::Input) {
        for given in wanted.iter().filter(|w| w.contains('(')) {
            if Value::split_action(given).0 == action.name() {
                texts.push(format!("?{given}"));
            }
        }
        if !wanted.is_empty() && !wanted.iter().any(|w| w == action.name()) {
            continue;
        }
        for cell in action.cells() {
            let mut solver = Solver::embedded();
            let defined = action.guards().iter().map(Term::defined);
            solver.assert(&Term::all(defined.chain([cell.condition().clone()])));
            let mut sampler = Sampler::new(0, Strategy::Mixed);
            for _ in 0..VALUES {
                let Answer::Sat(model) = sampler.sample(&mut solver, action.params()) else {
                    break;
                };
                let values = action.params().iter().filter_map(|p| model.value(p.id));
                let values: Vec<String> = values.map(ToString::to_string).collect();
                texts.push(format!("?{}({})", action.name(), values.join(", ")));
            }
        }
    }
    texts.sort();
    texts.dedup();
    texts
}

/// Properties beside a specification with these labels. Formulas speak of its actions where the options
/// name none.
pub(super) fn objectives(
    workspace: &Workspace,
    options: &PropertyOptions,
    labels: &Arc<Labels>,
    beside: &ModelRef,
) -> Result<Vec<PropertyObjective>, Error> {
    let alone = [
        (options.map.is_some(), "--map"),
        (!options.inputs.is_empty(), "--inputs"),
    ];
    if let Some((_, flag)) = alone.into_iter().find(|(given, _)| *given) {
        return Err(Error::input(format!(
            "{flag} is for properties without a model: {beside} knows its actions"
        )));
    }
    let mut found = Vec::new();
    for (property, WatchedProperty { name, tester }) in
        watched_beside(workspace, options, labels, beside)?
    {
        workspace.check_watched_reference(&property.reference, beside)?;
        check_actions(&property, labels, beside)?;
        let at_once = tester.verdict(tester.initial());
        if at_once.is_final() {
            return Err(Error::input(format!(
                "{name}: `{at_once}` before anything happens; there is nothing to test"
            )));
        }
        let objective = PropertyObjective::new(&name, tester, labels, options.target);
        found.push(objective.ok_or_else(|| {
            Error::input(format!("{name}: no finite run gives such a verdict"))
                .hint("`iolite testable` says which verdicts a property has")
        })?);
    }
    Ok(found)
}

/// The properties beside a specification with these labels, each with its canonical tester.
pub(crate) fn watched_beside(
    workspace: &Workspace,
    options: &PropertyOptions,
    labels: &Labels,
    model: &ModelRef,
) -> Result<Vec<(Property, WatchedProperty)>, Error> {
    let mut found = Vec::new();
    for reference in &options.properties {
        let read = options.beside(reference, labels, model);
        for property in workspace.properties(reference, &read)? {
            let watched = watch(&property, options)?;
            found.push((property, watched));
        }
    }
    Ok(found)
}

/// A property of which nothing in the model is an action is most likely for another one.
fn check_actions(property: &Property, labels: &Labels, beside: &ModelRef) -> Result<(), Error> {
    let alphabet = property.automaton.alphabet();
    let letters = LetterMap::new(alphabet, labels);
    // The letters of an action with guards are its cells, and a label without values is in none of them.
    let is_guarded = |kind: LabelKind, name: &str| {
        let mut guarded = alphabet.guarded().iter();
        guarded.any(|(action, _)| action.kind() == kind && action.name() == name)
    };
    let is_known = |(id, label): (LabelId, &Label)| {
        letters.letter(id).is_some() || is_guarded(label.kind, Value::split_action(&label.name).0)
    };
    if labels.iter().any(is_known) {
        return Ok(());
    }
    Err(Error::input(format!(
        "{}: it knows no action of {beside}",
        property.name
    )))
}

impl PropertyOptions {
    /// How a property is read beside a model with these labels: a formula speaks of its actions.
    fn beside(
        &self,
        reference: &ModelRef,
        labels: &Labels,
        model: &ModelRef,
    ) -> PropertyReadOptions {
        let mut read = self.read.clone();
        read.beside = Some(model.clone());
        if read.over.is_empty() {
            read.over = actions(labels, formula(reference));
        }
        read
    }

    /// The same options for a property that judged beside a model, as if it judged alone.
    pub fn read_beside(
        &self,
        workspace: &Workspace,
        reference: &ModelRef,
        model: &ModelRef,
    ) -> Result<Self, Error> {
        let Some(labels) = labels_of(workspace, model)? else {
            return Ok(self.clone());
        };
        Ok(Self {
            read: self.beside(reference, &labels, model),
            ..self.clone()
        })
    }
}

/// The labels of a model; `None` where it is a property.
fn labels_of(workspace: &Workspace, model: &ModelRef) -> Result<Option<Arc<Labels>>, Error> {
    Ok(match &*workspace.spec(model)? {
        Spec::Explicit(spec) => Some(Arc::clone(spec.labels())),
        Spec::Symbolic(spec) => Some(Arc::new(spec.gate_labels(&[]))),
        Spec::Properties(_) => None,
    })
}

impl Workspace {
    /// Properties as goals beside an explicit specification.
    pub(crate) fn property_objectives(
        &self,
        options: &PropertyOptions,
        spec: &ExplicitSpec,
    ) -> Result<Vec<PropertyObjective>, Error> {
        objectives(self, options, spec.labels(), spec.reference())
    }
}

fn watch(property: &Property, options: &PropertyOptions) -> Result<WatchedProperty, Error> {
    let sigma = property.automaton.alphabet();
    if !sigma.propositions().is_empty() {
        return Err(Error::input(format!(
            "{}: its letters are valuations of {}, and events are actions",
            property.name,
            sigma.propositions().join(", ")
        ))
        .hint(
            "name the actions of a formula with --over ?a,!x; of an HOA file with --hoa actions",
        ));
    }
    // A property that speaks of δ itself has its observation as a letter.
    let own_delta =
        sigma.letter(LabelId::DELTA).is_some() || sigma.letter_of_text(DEADLOCK).is_some();
    let tester = CanonicalTester::new(
        &property.automaton,
        TesterOptions {
            relation: options.relation,
            quiescence: !options.ignore_quiescence && !own_delta,
            basis: options.basis,
        },
    );
    Ok(WatchedProperty {
        name: property.name.clone(),
        tester: tester.map_err(|e| Error::input(format!("{}: {e}", property.name)))?,
    })
}
