//! A model with data that plays the system under test, not unfolded.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use iolite_derive::Refusal;
use iolite_exec::codec::Heard;
use iolite_exec::{Adapter, ConcreteAction, ExecError, Received, SymbolicSut};
use iolite_expr::{Span, Value};
use iolite_lang::{File, LineIndex};
use iolite_lts::{Completion, LabelId, LabelKind, Labels, QuiescencePolicy};
use iolite_sts::{GateId, Iosts, Simulation, SimulationError, Symbolic, ValuedAction};

use super::Failure;
use super::abstraction::Abstraction;
use super::action_table::ActionTable;
use super::data_options::{DataOptions, constants, solver};
use super::source::{self, Format, ModelRef, Opened};
use super::symbolic_run::saved;
use super::valued_codec::concrete;
use super::wire_value::valued;

/// A model that is run as it is, with a solver for its values.
pub(super) struct PlayedModel {
    reference: ModelRef,
    text: Vec<u8>,
    file: Arc<File>,
    model: Arc<Iosts>,
    constants: Vec<(String, Value)>,
    options: DataOptions,
}

impl PlayedModel {
    /// The model if it has data; one without any too where the tester's actions have `values`. The
    /// options' constants are its own.
    pub(super) fn load(
        reference: &ModelRef,
        options: &DataOptions,
        values: bool,
    ) -> Result<Option<Self>, Failure> {
        if Format::of(&reference.path)? != Format::Iol {
            return Ok(None);
        }
        let Opened {
            bytes,
            file,
            name,
            reference,
            ..
        } = source::open(reference)?;
        if !values && !iolite_lang::has_data(&file, &name) {
            return Ok(None);
        }
        let model = iolite_lang::lower_data(&file, &name)
            .map_err(|d| source::rejected(&reference.path, &bytes, &d))?;
        let played = Self {
            constants: constants(&file, &model, &options.constants)?,
            reference,
            text: bytes,
            file: Arc::new(file),
            model: Arc::new(model),
            options: options.clone(),
        };
        played.check()?;
        Ok(Some(played))
    }

    /// The model.
    pub(super) fn model(&self) -> &Arc<Iosts> {
        &self.model
    }

    fn simulation(&self, completion: Option<Completion>) -> Result<Simulation, Failure> {
        let constants: Vec<(&str, Value)> = self
            .constants
            .iter()
            .map(|(n, v)| (n.as_str(), v.clone()))
            .collect();
        let solver = solver(self.options.solver.as_deref())?;
        // A running model may go in circles, whatever that is called.
        let policy = QuiescencePolicy::Livelock;
        let semantics = Symbolic::new(self.model.clone(), &constants, policy, solver)
            .map_err(|e| Failure::input(format!("{}: {e}", self.reference)))?;
        Ok(Simulation::new(semantics).completed(completion))
    }

    /// Mistakes show before anything is started.
    fn check(&self) -> Result<(), Failure> {
        let started = self.simulation(None)?.start(0);
        started.map_err(|error| {
            let text = Words::new(self).of(&error);
            match error {
                SimulationError::Undecided { .. } => Failure::undecided(text),
                _ => Failure::input(text),
            }
        })
    }

    /// The model as a system under test.
    pub(super) fn sut(
        &self,
        completion: Option<Completion>,
        seed: u64,
    ) -> Result<SymbolicSut, Failure> {
        let words = Words::new(self);
        let sut = SymbolicSut::new(self.simulation(completion)?, seed);
        Ok(sut.telling(move |error| words.of(error)))
    }

    /// What tells which values the constants have in a run that nobody gave one.
    pub(super) fn chosen(&self) -> impl Fn(&Simulation) -> Option<String> + Send + use<> {
        let given = |name: &str| self.constants.iter().any(|(n, _)| n == name);
        let constants = self.model.constants().iter();
        let open: Vec<Option<Arc<str>>> = constants
            .map(|c| (!given(&c.var.name)).then(|| Arc::from(&*c.var.name)))
            .collect();
        move |run| {
            let all = open.iter().zip(run.constants());
            let chosen: Vec<String> = all
                .filter_map(|(name, value)| Some(format!("{} = {value}", name.as_ref()?)))
                .collect();
            (!chosen.is_empty()).then(|| chosen.join(", "))
        }
    }

    /// Its outputs as labels of a tester without values: with any value, where they carry some.
    pub(super) fn output_labels(&self, labels: &mut Labels) {
        for (_, action) in self.model.gates() {
            if action.kind != LabelKind::Output {
                continue;
            }
            if action.params.is_empty() {
                labels.intern(LabelKind::Output, &action.name);
            } else {
                let name = Labels::with_other_values(&action.name);
                labels.intern(LabelKind::Output, &name);
            }
        }
    }
}

/// Why a model does not run on, with the place in its text and the query that is to blame.
struct Words {
    reference: ModelRef,
    text: Vec<u8>,
    lines: LineIndex,
    model: Arc<Iosts>,
    unknown_query: PathBuf,
}

impl Words {
    fn new(played: &PlayedModel) -> Self {
        Self {
            reference: played.reference.clone(),
            lines: LineIndex::new(&played.text),
            text: played.text.clone(),
            model: played.model.clone(),
            unknown_query: played.options.unknown_query.clone(),
        }
    }

    fn of(&self, error: &SimulationError) -> String {
        let at = match error.place(&self.model) {
            Some(place) => self.place(place),
            None => self.reference.to_string(),
        };
        let query = match error {
            SimulationError::Undecided { query, .. } => saved(query, &self.unknown_query),
            _ => String::new(),
        };
        format!("{at}: {error}{query}")
    }

    fn place(&self, Span { start, .. }: Span) -> String {
        let start = start as usize;
        let line = self.lines.line(start);
        let begin = self.lines.line_span(&self.text, line).start;
        let before = self.text.get(begin..start).unwrap_or_default();
        let column = String::from_utf8_lossy(before).chars().count() + 1;
        format!("{}:{line}:{column}", self.reference.path.display())
    }
}

/// What the actions of the tester and of the model that it tests are to each other.
pub(super) trait Dictionary {
    /// The model's input for a stimulus; where it has none, the stimulus in words.
    fn input(&self, stimulus: LabelId) -> Result<ValuedAction, String>;

    /// What an output is to the tester.
    fn output(&self, output: &ValuedAction) -> Result<LabelId, ExecError>;
}

/// The labels of a tester of explicit models.
pub(super) struct LabelDictionary {
    labels: Arc<Labels>,
    file: Arc<File>,
    model: Arc<Iosts>,
    outputs: HashMap<ConcreteAction, LabelId>,
}

impl LabelDictionary {
    pub(super) fn new(labels: &Arc<Labels>, played: &PlayedModel) -> Self {
        let action = |id| ConcreteAction::parse(&labels.label(id).name);
        Self {
            outputs: labels.outputs().map(|id| (action(id), id)).collect(),
            labels: Arc::clone(labels),
            file: played.file.clone(),
            model: played.model.clone(),
        }
    }
}

impl Dictionary for LabelDictionary {
    fn input(&self, stimulus: LabelId) -> Result<ValuedAction, String> {
        // Labels of unfolded models are in the language's notation, others as messages are.
        let text = self.labels.text(stimulus);
        if let Some(action) = iolite_lang::parse_action(&self.file, &self.model, &text) {
            return Ok(action);
        }
        let heard = Heard::notation(&self.labels.label(stimulus).name);
        valued(&self.model, LabelKind::Input, &heard).map_err(|_| text)
    }

    fn output(&self, output: &ValuedAction) -> Result<LabelId, ExecError> {
        let action = concrete(&self.model, output);
        let (kind, name) = (LabelKind::Output, self.model.label(output));
        let message = || self.outputs.get(&action).copied();
        let other = || self.labels.other_values(kind, &action.name);
        let known = self.labels.get(kind, &name).or_else(message);
        known.or_else(other).ok_or_else(|| {
            ExecError::Model(format!("output !{action} is not in the tester's alphabet"))
        })
    }
}

/// The valued actions of a tester of models with data.
pub(super) struct TableDictionary {
    table: ActionTable,
    /// The specification, with the outputs of the played model after its own actions.
    specification: Arc<Iosts>,
    model: Arc<Iosts>,
    /// By action of the played model: what it is where the specification does not have it.
    foreign: Vec<Option<GateId>>,
}

impl TableDictionary {
    pub(super) fn new(
        table: ActionTable,
        specification: &Arc<Iosts>,
        played: &PlayedModel,
    ) -> Self {
        let model = played.model.clone();
        let is_output = |a: &iolite_sts::Gate| a.kind == LabelKind::Output;
        let count = model.gates().filter(|(_, a)| is_output(a)).count();
        let mut next = specification.gates().len().saturating_sub(count);
        let foreign = model
            .gates()
            .map(|(_, a)| {
                is_output(a).then(|| {
                    next += 1;
                    GateId::new(next - 1)
                })
            })
            .collect();
        Self {
            table,
            specification: specification.clone(),
            model,
            foreign,
        }
    }
}

impl Dictionary for TableDictionary {
    fn input(&self, stimulus: LabelId) -> Result<ValuedAction, String> {
        let action = self.table.action(stimulus);
        let action = action.ok_or_else(|| format!("number {}", stimulus.index()))?;
        let heard = Heard::typed(concrete(&self.specification, &action));
        valued(&self.model, LabelKind::Input, &heard).map_err(|_| format!("?{}", heard.action))
    }

    fn output(&self, output: &ValuedAction) -> Result<LabelId, ExecError> {
        let heard = Heard::typed(concrete(&self.model, output));
        if let Ok(known) = valued(&self.specification, LabelKind::Output, &heard) {
            return Ok(self.table.number(&known));
        }
        let action = &heard.action;
        let foreign = self.foreign[output.action.index()]
            .ok_or_else(|| ExecError::Model(format!("{action} is no output of the model")))?;
        Ok(self.table.number(&ValuedAction {
            action: foreign,
            values: output.values.clone(),
        }))
    }
}

/// The letters of properties, by way of their abstraction.
pub(super) struct LetterDictionary {
    pub(super) abstraction: Arc<Abstraction>,
    pub(super) model: Arc<Iosts>,
}

impl Dictionary for LetterDictionary {
    fn input(&self, stimulus: LabelId) -> Result<ValuedAction, String> {
        let heard = Heard::notation(&self.abstraction.concrete(stimulus).to_string());
        valued(&self.model, LabelKind::Input, &heard).map_err(|_| format!("?{}", heard.action))
    }

    fn output(&self, output: &ValuedAction) -> Result<LabelId, ExecError> {
        let text = format!("!{}", concrete(&self.model, output));
        self.abstraction
            .parse(&text)
            .ok_or_else(|| ExecError::Config(format!("the map has no rule for {text}")))
    }
}

/// A model that plays the system, in the words of the tester.
pub(super) struct Played<D> {
    sut: SymbolicSut,
    dictionary: D,
    /// Told of refused inputs, where they are no fault.
    refusal: Option<Refusal>,
}

impl<D: Dictionary> Played<D> {
    pub(super) fn new(sut: SymbolicSut, dictionary: D) -> Self {
        Self {
            sut,
            dictionary,
            refusal: None,
        }
    }

    /// An input that the model does not take ends the run with the verdict before.
    pub(super) fn refusing(mut self, refusal: Refusal) -> Self {
        self.refusal = Some(refusal);
        self
    }

    fn told(&self, received: Received<ValuedAction>) -> Result<Received<LabelId>, ExecError> {
        Ok(match received {
            Received::Output(output) => Received::Output(self.dictionary.output(&output)?),
            Received::Nothing => Received::Nothing,
            Received::Ended(exit) => Received::Ended(exit),
        })
    }
}

impl<D: Dictionary> Adapter<LabelId> for Played<D> {
    fn start(&mut self, seed: u64) -> Result<(), ExecError> {
        self.sut.start(seed)
    }

    fn poll(&mut self) -> Result<Option<Received<LabelId>>, ExecError> {
        let polled = self.sut.poll()?;
        polled.map(|received| self.told(received)).transpose()
    }

    fn send(&mut self, stimulus: &LabelId) -> Result<(), ExecError> {
        let sent = match self.dictionary.input(*stimulus) {
            Ok(input) => self.sut.send(&input),
            Err(foreign) => self.sut.send_foreign(&foreign),
        };
        match (sent, &self.refusal) {
            (Err(ExecError::Refused { .. }), Some(refusal)) => {
                refusal.store(true, Ordering::Relaxed);
                Ok(())
            }
            (sent, _) => sent,
        }
    }

    fn receive(&mut self, patience: Duration) -> Result<Received<LabelId>, ExecError> {
        let received = self.sut.receive(patience)?;
        self.told(received)
    }

    fn stop(&mut self) -> Result<(), ExecError> {
        self.sut.stop()
    }

    fn is_timed(&self) -> bool {
        self.sut.is_timed()
    }
}
