//! A specification, as everything that judges by it shares it.

use std::sync::Arc;

use iolite_derive::{Action, ActionId, Alphabet, ModelRef, action_of};
use iolite_exec::codec::{Dictionary, LabelDictionary, Message, SortDictionary, valued};
use iolite_expr::Solver;
use iolite_lang::{File, lower_data, lower_lazily, unfold_data};
use iolite_lts::{
    Label, LabelKind, Labels, Lts, QuiescencePolicy, Semantics, Suspension, System, explore,
};
use iolite_sts::{Iosts, ValuedAction};

use super::{Declared, Property, ReadOptions, SourceFile, too_many_states};
use crate::Error;
use crate::explorer::{ExploredSystem, Explorer};

/// What runs are judged by.
#[derive(Clone, Debug)]
pub enum Spec {
    /// A transition system with labels.
    Explicit(ExplicitSpec),
    /// A model with data, not unfolded.
    Symbolic(SymbolicSpec),
    /// Properties that judge without a model.
    Properties(Vec<Property>),
}

impl Spec {
    /// How it is named; properties by the first of them.
    pub fn reference(&self) -> ModelRef {
        match self {
            Self::Explicit(spec) => spec.reference().clone(),
            Self::Symbolic(spec) => spec.reference().clone(),
            Self::Properties(all) => {
                let first = all.first();
                first.map(|p| p.reference.clone()).unwrap_or_default()
            }
        }
    }
}

/// What the labels of an unfolded model stand for: actions with values of their sorts.
#[derive(Clone, Debug)]
pub struct Signature {
    source: Arc<SourceFile>,
    model: Arc<Iosts>,
}

impl Signature {
    /// The model that was unfolded.
    pub fn model(&self) -> &Arc<Iosts> {
        &self.model
    }

    pub(crate) fn parse(&self, text: &str) -> Option<ValuedAction> {
        parse_valued(self.source.tree().0, &self.model, text)
    }
}

/// An action in the language's notation, or in that of messages, where words need no quotes and
/// records have colons.
fn parse_valued(file: &File, model: &Iosts, text: &str) -> Option<ValuedAction> {
    iolite_lang::parse_action(file, model, text).or_else(|| {
        let (kind, text) = match text.strip_prefix('?') {
            Some(text) => (LabelKind::Input, text),
            None => (LabelKind::Output, text.strip_prefix('!')?),
        };
        valued(model, kind, &Message::exact(text)).ok()
    })
}

/// Where the system of an explicit specification comes from.
#[derive(Clone, Debug)]
enum Origin {
    /// It is there.
    Lts(Arc<Lts>),
    /// A composition is made of its declaration, which is cheap; each walk of it explores what it visits.
    Declared(Declared, usize),
    /// Another program explores it.
    Explored(Arc<Explorer>),
}

/// A transition system with labels. Cheap to clone: the large parts are shared.
#[derive(Clone, Debug)]
pub struct ExplicitSpec {
    reference: ModelRef,
    origin: Origin,
    signature: Option<Signature>,
    labels: Arc<Labels>,
    alphabet: Alphabet,
}

impl ExplicitSpec {
    pub(super) fn declared(declared: Declared, read: &ReadOptions) -> Result<Self, Error> {
        let Declared {
            source,
            name,
            reference,
        } = declared.clone();
        let file = source.file()?;
        let rejected = |found: Vec<_>| source.rejected(&found);
        if !declared.has_data() {
            let system = lower_lazily(file, &name, read.budget()).map_err(rejected)?;
            let labels = Arc::new(system.labels().clone());
            let origin = match system {
                // What nothing leads to is not part of the system.
                System::Explicit(lts) => {
                    let lts = explore(&*lts, read.budget()).map_err(|e| too_many_states(&e))?;
                    Origin::Lts(Arc::new(lts))
                }
                System::OnDemand(_) => Origin::Declared(declared, read.budget()),
            };
            return Ok(Self::new(reference, origin, labels, None));
        }
        // Finite data become an explicit system; what is infinite is said, never cut.
        let lts = unfold_data(file, &name, &mut Solver::embedded(), read.unfolding())
            .map_err(rejected)?;
        let model = Arc::new(lower_data(file, &name).map_err(rejected)?);
        let labels = Arc::new(lts.labels().clone());
        let signature = Signature {
            source: Arc::clone(&source),
            model,
        };
        Ok(Self::new(
            reference,
            Origin::Lts(Arc::new(lts)),
            labels,
            Some(signature),
        ))
    }

    pub(super) fn explored(reference: ModelRef, explorer: Explorer) -> Self {
        let labels = Arc::clone(explorer.labels());
        Self::new(
            reference,
            Origin::Explored(Arc::new(explorer)),
            labels,
            None,
        )
    }

    pub(crate) fn foreign(reference: ModelRef, lts: Lts) -> Self {
        let labels = Arc::new(lts.labels().clone());
        Self::new(reference, Origin::Lts(Arc::new(lts)), labels, None)
    }

    fn new(
        reference: ModelRef,
        origin: Origin,
        labels: Arc<Labels>,
        signature: Option<Signature>,
    ) -> Self {
        let action = |label: &Label| {
            let signature = signature.as_ref()?;
            let valued = signature.parse(&label.to_string())?;
            let gate = signature.model.gate(valued.action);
            Some(Action {
                kind: gate.kind,
                name: (*gate.name).into(),
                args: valued.values,
            })
        };
        let alphabet = Alphabet::of_actions(&labels, |id| {
            let label = labels.label(id);
            action(label).unwrap_or_else(|| label.into())
        });
        Self {
            reference,
            origin,
            signature,
            labels,
            alphabet,
        }
    }

    /// How it is named, with the hash of its file.
    pub fn reference(&self) -> &ModelRef {
        &self.reference
    }

    /// Its labels.
    pub fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// Its actions. Each job forks it.
    pub fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// What the labels stand for, where data were unfolded.
    pub fn signature(&self) -> Option<&Signature> {
        self.signature.as_ref()
    }

    /// The system, to walk.
    pub fn system(&self) -> System {
        match &self.origin {
            Origin::Lts(lts) => System::Explicit(Arc::clone(lts)),
            Origin::Declared(declared, budget) => {
                let lowered = lower_lazily(declared.file(), &declared.name, *budget);
                lowered.expect("it was lowered before")
            }
            Origin::Explored(explorer) => System::on_demand(ExploredSystem(Arc::clone(explorer))),
        }
    }

    /// The program that explores it, where one does.
    pub(crate) fn explorer(&self) -> Option<&Arc<Explorer>> {
        match &self.origin {
            Origin::Explored(explorer) => Some(explorer),
            Origin::Lts(_) | Origin::Declared(..) => None,
        }
    }

    /// An error where a program explores it and has failed, so that nothing that was found counts.
    pub fn believe(&self) -> Result<(), Error> {
        let fault = self.explorer().and_then(|explorer| explorer.fault());
        fault.map_or(Ok(()), |fault| Err(fault.into()))
    }

    /// The same before a negative answer is given: what was asked last is asked once more.
    pub fn believe_twice(&self) -> Result<(), Error> {
        if let Some(explorer) = self.explorer() {
            explorer.confirm();
        }
        self.believe()
    }

    /// Between the tester's actions and messages.
    pub fn dictionary(&self, alphabet: &Alphabet) -> Box<dyn Dictionary> {
        match &self.signature {
            Some(signature) => Box::new(SortDictionary::new(alphabet, &signature.model)),
            None => Box::new(LabelDictionary::new(alphabet, &self.labels)),
        }
    }

    /// The action in `?a`, `!x(1)` notation, if the specification can have such a one.
    pub fn read_action(&self, alphabet: &Alphabet, text: &str) -> Option<ActionId> {
        alphabet.declared(text).or_else(|| {
            let signature = self.signature.as_ref()?;
            let action = signature.parse(text)?;
            Some(action_of(&signature.model, alphabet, &action))
        })
    }

    /// With the strict policy a cycle of internal actions is an error, before anything is judged by
    /// it.
    pub(crate) fn reject_livelock(
        &self,
        policy: QuiescencePolicy,
        budget: usize,
    ) -> Result<(), Error> {
        if policy != QuiescencePolicy::Strict {
            return Ok(());
        }
        let system = self.system();
        let view = Suspension::new(&system, policy);
        explore(&view, budget).map_err(|e| too_many_states(&e))?;
        match view.livelock() {
            None => Ok(()),
            Some(state) => Err(Error::input(format!(
                "{} diverges: state {} lies on a cycle of internal actions",
                self.reference,
                system.describe(&state)
            ))
            .hint("--quiescence livelock takes such a state for quiescent")),
        }
    }

    /// The first plain label, which testing has no use for.
    pub(crate) fn reject_plain_labels(&self) -> Result<(), Error> {
        let Some(label) = self.labels.of_kind(LabelKind::Undirected).next() else {
            return Ok(());
        };
        let label = self.labels.text(label);
        Err(Error::input(format!(
            "{} has the plain label `{label}`; testing needs ?inputs and !outputs",
            self.reference
        ))
        .hint(format!(
            "direct it with --input {label} or --output {label}"
        )))
    }
}

/// A model with data, as it is. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SymbolicSpec {
    declared: Declared,
    model: Arc<Iosts>,
}

impl SymbolicSpec {
    pub(crate) fn new(declared: Declared) -> Result<Self, Error> {
        let model = lower_data(declared.source.file()?, &declared.name)
            .map_err(|found| declared.source.rejected(&found))?;
        Ok(Self {
            declared,
            model: Arc::new(model),
        })
    }

    /// How it is named, with the hash of its file.
    pub fn reference(&self) -> &ModelRef {
        &self.declared.reference
    }

    /// The same under another name: an instance with these constants, so that a certificate names it
    /// whole.
    pub(crate) fn with_constants(mut self, constants: &[String]) -> Self {
        let (Some(name), false) = (&self.declared.reference.name, constants.is_empty()) else {
            return self;
        };
        let given = constants.join(", ");
        let name = match name.strip_suffix(')') {
            Some(instance) => format!("{instance}, {given})"),
            None => format!("{name}({given})"),
        };
        self.declared.reference.name = Some(name);
        self
    }

    /// Its file.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.declared.source
    }

    /// The tree of its file.
    pub(crate) fn file(&self) -> &File {
        self.declared.file()
    }

    /// The model.
    pub fn model(&self) -> &Arc<Iosts> {
        &self.model
    }

    /// Between the tester's actions and messages.
    pub fn dictionary(&self, alphabet: &Alphabet) -> Box<dyn Dictionary> {
        Box::new(SortDictionary::new(alphabet, &self.model))
    }

    /// The action in `?a`, `!x(1)` notation, if the model can have such a one.
    pub fn read_action(&self, alphabet: &Alphabet, text: &str) -> Option<ActionId> {
        let action = self.parse(text)?;
        Some(action_of(&self.model, alphabet, &action))
    }

    /// The same as a valued action of the model.
    pub fn parse(&self, text: &str) -> Option<ValuedAction> {
        parse_valued(self.file(), &self.model, text)
    }

    /// Labels that stand for its actions with whatever values: `o(…)`, and those with certain values
    /// that are named.
    pub(crate) fn gate_labels(&self, named: &[String]) -> Labels {
        let mut labels = Labels::new();
        for text in named {
            if let Some(action) = self.parse(text) {
                let kind = self.model.gate(action.action).kind;
                labels.intern(kind, &self.model.label(&action));
            }
        }
        for (_, gate) in self.model.gates() {
            let visible = matches!(gate.kind, LabelKind::Input | LabelKind::Output);
            match (visible, gate.params.is_empty()) {
                (false, _) => continue,
                (true, true) => labels.intern(gate.kind, &gate.name),
                (true, false) => labels.intern(gate.kind, &Labels::with_other_values(&gate.name)),
            };
        }
        labels
    }
}
