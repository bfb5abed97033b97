//! A model that plays the system under test.

use std::path::PathBuf;
use std::sync::Arc;

use iolite_derive::ModelRef;
use iolite_exec::codec::Dictionary;
use iolite_exec::{Adapter, ModelSut, RefusedInput, RunningModel, SymbolicSut};
use iolite_lang::LineIndex;
use iolite_lts::{Completed, Completion, Interned, LabelKind, Labels, QuiescencePolicy, Semantics};
use iolite_sts::{Iosts, Simulation, SimulationError};

use crate::{
    CompletionFlag, DataOptions, Error, ExplicitSpec, ExploredModel, KnownModel, Spec, Workspace,
    save_query,
};

/// A model that is run as it is, with a solver for its values where it has data.
#[derive(Clone, Debug)]
pub enum ModelUnderTest {
    /// A transition system with labels.
    Explicit(ExplicitSpec),
    /// A model with data.
    Symbolic(KnownModel),
}

impl ModelUnderTest {
    /// Loads the model, unfolded where that is asked for. The constants of the options are its own.
    pub fn load(
        workspace: &Workspace,
        reference: &ModelRef,
        options: &DataOptions,
        unfold: bool,
    ) -> Result<Self, Error> {
        if !unfold && let Spec::Symbolic(spec) = &*workspace.spec(reference)? {
            let model = KnownModel::new(spec, options)?;
            // Mistakes show before anything is started.
            let started = simulation(&model, None)?.start(0);
            started.map_err(|error| {
                let text = ErrorText::new(&model).of(&error);
                match error {
                    SimulationError::Undecided { .. } => Error::undecided(text),
                    _ => Error::input(text),
                }
            })?;
            return Ok(Self::Symbolic(model));
        }
        workspace.explicit(reference).map(Self::Explicit)
    }

    /// The model as a system under test of a tester whose actions the dictionary knows. Inputs are
    /// completed for whatever the tester gives, and chaos gives what the tester knows too.
    pub(crate) fn adapter(
        &self,
        dictionary: Box<dyn Dictionary>,
        completion: Option<Completion>,
        quiescence: QuiescencePolicy,
    ) -> Result<Box<dyn Adapter>, Error> {
        match self {
            Self::Symbolic(model) => Ok(Box::new(symbolic_sut(model, dictionary, completion, 0)?)),
            Self::Explicit(spec) => {
                let sut: Box<dyn Adapter> = match completion {
                    None => {
                        let sut = ModelSut::new(spec.system(), dictionary, 0);
                        Box::new(sut.with_quiescence(quiescence))
                    }
                    Some(how) => {
                        let mut others = dictionary.alphabet().declared_labels();
                        let unknown = unknown_input(spec.labels(), &others);
                        others.intern(LabelKind::Input, &unknown);
                        let view = Completed::over(spec.system(), how, &others);
                        let unknown = view.labels().get(LabelKind::Input, &unknown);
                        let sut = ModelSut::new(view, dictionary, 0).with_unknown_input(unknown);
                        Box::new(sut.with_quiescence(quiescence))
                    }
                };
                Ok(match spec.explorer() {
                    None => sut,
                    Some(_) => Box::new(ExploredModel::new(sut, spec)),
                })
            }
        }
    }
}

/// A name for any input that neither the model nor the tester declares.
fn unknown_input(own: &Labels, others: &Labels) -> String {
    let mut name = "…".to_owned();
    let is_taken = |name: &str| {
        let has = |labels: &Labels| labels.get(LabelKind::Input, name).is_some();
        has(own) || has(others)
    };
    while is_taken(&name) {
        name.push('…');
    }
    name
}

/// A model without data that runs. What an input that it does not take leads to is for it to say: nothing, anything, or an error.
pub fn running_model(
    spec: &ExplicitSpec,
    dictionary: Box<dyn Dictionary>,
    completion: Option<CompletionFlag>,
    seed: u64,
) -> Box<dyn RunningModel> {
    let refused = match completion {
        Some(CompletionFlag::SelfLoop) => RefusedInput::SelfLoop,
        Some(CompletionFlag::Chaos) | None => RefusedInput::Error,
    };
    if completion == Some(CompletionFlag::Chaos) {
        let view = Interned::new(Completed::new(spec.system(), Completion::Chaos));
        let sut = ModelSut::new(view, dictionary, seed).on_refused_input(refused);
        return Box::new(ExploredModel::new(sut, spec));
    }
    let sut = ModelSut::new(spec.system(), dictionary, seed).on_refused_input(refused);
    Box::new(ExploredModel::new(sut, spec))
}

fn simulation(model: &KnownModel, completion: Option<Completion>) -> Result<Simulation, Error> {
    // A running model may go in circles, whatever that is called.
    let semantics = model.semantics(QuiescencePolicy::Livelock)?;
    Ok(Simulation::new(semantics).completed(completion))
}

/// A model with data that runs.
pub fn symbolic_sut(
    model: &KnownModel,
    dictionary: Box<dyn Dictionary>,
    completion: Option<Completion>,
    seed: u64,
) -> Result<SymbolicSut, Error> {
    let text = ErrorText::new(model);
    let sut = SymbolicSut::new(simulation(model, completion)?, dictionary, seed);
    Ok(sut.telling(move |error| text.of(error)))
}

/// What tells which values the constants have in a run that nobody gave one.
pub fn chosen_constants(
    model: &KnownModel,
) -> impl Fn(&Simulation) -> Option<String> + Send + use<> {
    let unknown = model.unknown_constants();
    let constants = model.spec().model().constants().iter();
    let open: Vec<Option<Arc<str>>> = constants
        .map(|c| {
            let name = c.var.name.to_string();
            unknown.contains(&name).then(|| name.into())
        })
        .collect();
    move |run| {
        let all = open.iter().zip(run.constants());
        let chosen: Vec<String> = all
            .filter_map(|(name, value)| Some(format!("{} = {value}", name.as_ref()?)))
            .collect();
        (!chosen.is_empty()).then(|| chosen.join(", "))
    }
}

/// Why a model does not run on, with the place in its text and the query that is to blame.
struct ErrorText {
    reference: ModelRef,
    text: Vec<u8>,
    lines: LineIndex,
    model: Arc<Iosts>,
    unknown_query: Option<PathBuf>,
}

impl ErrorText {
    fn new(model: &KnownModel) -> Self {
        let text = model.spec().source().bytes();
        Self {
            reference: model.spec().reference().clone(),
            lines: LineIndex::new(text),
            text: text.to_vec(),
            model: model.spec().model().clone(),
            unknown_query: model.unknown_query().cloned(),
        }
    }

    fn of(&self, error: &SimulationError) -> String {
        let at = match error.place(&self.model) {
            Some(place) => self.place(place.start as usize),
            None => self.reference.to_string(),
        };
        let query = match (error, &self.unknown_query) {
            (SimulationError::Undecided { query, .. }, Some(path)) => save_query(query, path),
            _ => String::new(),
        };
        format!("{at}: {error}{query}")
    }

    fn place(&self, start: usize) -> String {
        let line = self.lines.line(start);
        let begin = self.lines.line_span(&self.text, line).start;
        let before = self.text.get(begin..start).unwrap_or_default();
        let column = String::from_utf8_lossy(before).chars().count() + 1;
        format!("{}:{line}:{column}", self.reference.path().display())
    }
}
