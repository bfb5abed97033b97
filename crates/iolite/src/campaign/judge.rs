//! Which tester judges a run: by a relation, towards goals, or by properties alone.

use std::collections::BTreeSet;
use std::time::Instant;

use iolite_derive::{
    ActionId, Alphabet, Channel, Context, Criterion, ModelRef, Notice, QueueOptions,
    SymbolicCaseTester, SymbolicOracleError, SymbolicTestCase, Tester, Verdict,
};
use iolite_exec::codec::{Dictionary, HoleKind};
use iolite_exec::{Certificate, Strategy, Summary};
use iolite_expr::{Solver, Sort, Strategy as ValueStrategy, Value};
use iolite_lts::relation::Relation;
use iolite_lts::{LabelKind, QuiescencePolicy};

use super::constants::Constants;
use super::explicit_judge::ExplicitJudge;
use super::property_judge::{PropertyJudge, PropertyOptions};
use super::symbolic_judge::SymbolicJudge;
use crate::{DataOptions, Error, Spec, ValueOptions, Workspace};

/// What runs are judged by, beside a model.
#[derive(Clone, Debug)]
pub struct JudgeOptions {
    /// The relation.
    pub relation: Relation,
    /// The set F of `ioconf_F`.
    pub traces: Option<ModelRef>,
    /// Try to make the system violate these safety properties.
    pub observers: Vec<ModelRef>,
    /// Try to reach these test purposes.
    pub purposes: Vec<ModelRef>,
    /// Properties of any class beside the model, and how they judge.
    pub properties: Option<PropertyOptions>,
    /// Which states are quiescent.
    pub quiescence: QuiescencePolicy,
    /// Where messages queue between tester and system, how; `None` where both step together.
    pub queues: Option<QueueOptions>,
    /// How a model with data is understood.
    pub data: DataOptions,
    /// Which values its inputs carry.
    pub values: ValueOptions,
    /// Why a model with data is to be unfolded, where it is.
    pub unfold: Option<&'static str>,
    /// The seed of everything random.
    pub seed: u64,
}

impl Default for JudgeOptions {
    fn default() -> Self {
        Self {
            relation: Relation::Ioco,
            traces: None,
            observers: Vec::new(),
            purposes: Vec::new(),
            properties: None,
            quiescence: QuiescencePolicy::Livelock,
            queues: None,
            data: DataOptions::default(),
            values: ValueOptions::default(),
            unfold: None,
            seed: 0,
        }
    }
}

impl JudgeOptions {
    /// Whether a model is judged by its data, not unfolded.
    pub fn keeps_data(&self, workspace: &Workspace, model: &ModelRef) -> Result<bool, Error> {
        if self.needs_unfolding().is_some() {
            return Ok(false);
        }
        Ok(matches!(&*workspace.spec(model)?, Spec::Symbolic(_)))
    }

    /// Why data must be unfolded, where something asks for it.
    fn needs_unfolding(&self) -> Option<&'static str> {
        let kept = matches!(
            self.relation,
            Relation::Ioco | Relation::Uioco | Relation::Ioconf
        );
        self.unfold.or((!kept).then_some("--relation"))
    }

    /// The option that gives goals, if one does.
    fn goal(&self) -> Option<&'static str> {
        [
            (!self.observers.is_empty(), "--observer"),
            (!self.purposes.is_empty(), "--purpose"),
            (self.properties.is_some(), "--property"),
        ]
        .into_iter()
        .find_map(|(given, flag)| given.then_some(flag))
    }

    /// An option that only models with data have, if one was given.
    fn given_for_data(&self) -> Option<&'static str> {
        [
            (!self.data.constants.is_empty(), "--const"),
            (self.data.solver.is_some(), "--solver"),
            (!self.values.pool.is_empty(), "--pool"),
            (!self.values.dictionary.is_empty(), "--dictionary"),
        ]
        .into_iter()
        .find_map(|(given, flag)| given.then_some(flag))
    }
}

/// Makes the testers of a campaign. Everything is loaded once, so that mistakes show before anything
/// is started.
pub enum Judge {
    /// By a transition system with labels.
    Explicit(ExplicitJudge),
    /// By a model with data.
    Symbolic(SymbolicJudge),
    /// By properties alone.
    Properties(PropertyJudge),
}

/// What a test case with data needs to know of the judge.
pub(super) struct CaseValues {
    pub(super) constants: Vec<(String, Value)>,
    pub(super) strategy: ValueStrategy,
    pub(super) solver: Option<String>,
    pub(super) until: Option<Instant>,
}

impl CaseValues {
    fn unknown() -> Self {
        Self {
            constants: Vec::new(),
            strategy: ValueStrategy::Mixed,
            solver: None,
            until: None,
        }
    }

    fn solver(&self) -> Result<Solver, Error> {
        let mut solver = crate::solver(self.solver.as_deref())?;
        solver.set_deadline(self.until);
        Ok(solver)
    }
}

/// Why there is no tester.
enum CaseError {
    Oracle(SymbolicOracleError),
    Other(Error),
}

impl From<SymbolicOracleError> for CaseError {
    fn from(error: SymbolicOracleError) -> Self {
        Self::Oracle(error)
    }
}

/// A tester of a shape known only at run time.
pub type AnyTester = Box<dyn Tester>;
/// A strategy of a shape known only at run time.
pub type AnyStrategy = Box<dyn Strategy>;

impl Judge {
    /// The judge by a model: as it is, or unfolded where that is asked for.
    pub fn new(
        workspace: &Workspace,
        model: &ModelRef,
        options: &JudgeOptions,
    ) -> Result<Self, Error> {
        if (options.relation == Relation::IoconfF) != options.traces.is_some() {
            return Err(Error::input(
                "--traces FILE#F and --relation ioconf-f belong together",
            ));
        }
        if options.properties.is_some() {
            let others = [
                (!options.observers.is_empty(), "--observer"),
                (!options.purposes.is_empty(), "--purpose"),
            ];
            if let Some((_, flag)) = others.into_iter().find(|(given, _)| *given) {
                return Err(Error::input(format!(
                    "{flag} and --property do not go together beside a model"
                )));
            }
        }
        if let Some(flag) = options.goal() {
            reject_relation_towards(flag, options.relation)?;
        }
        let reason = options.needs_unfolding();
        let spec = match reason {
            Some(_) => None,
            None => Some(workspace.spec(model)?),
        };
        if let Some(Spec::Symbolic(symbolic)) = spec.as_deref() {
            return SymbolicJudge::new(workspace, symbolic, options).map(Self::Symbolic);
        }
        if let Some(flag) = options.given_for_data() {
            return Err(not_solved(flag, model, reason));
        }
        let spec = workspace.explicit(model)?;
        ExplicitJudge::new(workspace, &spec, options).map(Self::Explicit)
    }

    /// How the specification is named, with its hash.
    pub fn reference(&self) -> ModelRef {
        match self {
            Self::Explicit(judge) => judge.spec().reference().clone(),
            Self::Symbolic(judge) => judge.spec().reference().clone(),
            Self::Properties(judge) => judge.reference(),
        }
    }

    /// What it judges by.
    pub fn criterion(&self) -> Criterion {
        match self {
            Self::Explicit(judge) => judge.criterion(),
            Self::Symbolic(judge) => judge.criterion(),
            Self::Properties(_) => Criterion::Property,
        }
    }

    /// In which context it judges. Properties alone speak of what the tester sees, whatever lies
    /// between.
    pub fn context(&self) -> Context {
        match self.queues() {
            Some(_) => Context::Queues,
            None => Context::Synchronous,
        }
    }

    /// The channels that it judges through, where there are several or one loses or reorders messages.
    pub fn channels(&self) -> Vec<Channel> {
        self.queues()
            .map(|queues| queues.channels.to_vec())
            .unwrap_or_default()
    }

    fn queues(&self) -> Option<&QueueOptions> {
        match self {
            Self::Explicit(judge) => judge.queues(),
            Self::Symbolic(judge) => judge.queues(),
            Self::Properties(_) => None,
        }
    }

    /// The properties that judge alone, where they do.
    pub fn properties(&self) -> Option<&PropertyJudge> {
        match self {
            Self::Properties(judge) => Some(judge),
            Self::Explicit(_) | Self::Symbolic(_) => None,
        }
    }

    /// An alphabet for one job.
    pub fn alphabet(&self) -> Alphabet {
        match self {
            Self::Explicit(judge) => judge.spec().alphabet().fork(),
            Self::Symbolic(_) => Alphabet::default(),
            Self::Properties(judge) => judge.abstraction().alphabet().fork(),
        }
    }

    /// A tester over an alphabet of this judge.
    pub fn tester(&self, alphabet: &Alphabet) -> Result<AnyTester, Error> {
        match self {
            Self::Explicit(judge) => judge.tester(alphabet),
            Self::Symbolic(judge) => judge.tester(alphabet),
            Self::Properties(judge) => Ok(judge.tester(alphabet)),
        }
    }

    /// The tester of a stored test case with data, over an alphabet of this judge.
    pub(super) fn case_tester(
        &self,
        case: &std::sync::Arc<SymbolicTestCase>,
        alphabet: &Alphabet,
    ) -> Result<SymbolicCaseTester, Error> {
        let known = match self {
            Self::Symbolic(judge) => judge.case_values(),
            Self::Explicit(_) | Self::Properties(_) => CaseValues::unknown(),
        };
        let tester = SymbolicCaseTester::new(
            std::sync::Arc::clone(case),
            &known.constants,
            alphabet,
            known.strategy,
            || known.solver().map_err(CaseError::Other),
        );
        tester.map_err(|e| match e {
            CaseError::Other(e) => e,
            CaseError::Oracle(e @ SymbolicOracleError::Undecided(_)) => {
                Error::undecided(format!("{}: {e}", case.name()))
            }
            CaseError::Oracle(e) => Error::input(format!("{}: {e}", case.name())),
        })
    }

    /// A tester with a goal, and the strategy that follows its advice; `None` without a goal.
    /// `otherwise` chooses where there is no advice.
    pub(crate) fn towards_goal(
        &self,
        alphabet: &Alphabet,
        otherwise: impl FnOnce() -> AnyStrategy,
    ) -> Result<Option<(AnyTester, AnyStrategy)>, Error> {
        match self {
            Self::Explicit(judge) => judge.towards_goal(alphabet, otherwise),
            Self::Symbolic(judge) => judge.towards_goal(alphabet, otherwise),
            Self::Properties(_) => Ok(None),
        }
    }

    /// Between the actions of an alphabet and messages.
    pub fn dictionary(&self, alphabet: &Alphabet) -> Box<dyn Dictionary> {
        match self {
            Self::Explicit(judge) => judge.spec().dictionary(alphabet),
            Self::Symbolic(judge) => judge.spec().dictionary(alphabet),
            Self::Properties(judge) => Box::new(judge.dictionary(alphabet)),
        }
    }

    /// The action of an event in a log; `None` for one that the specification does not know.
    pub fn read_action(&self, alphabet: &Alphabet, text: &str) -> Option<ActionId> {
        match self {
            Self::Explicit(judge) => judge.spec().read_action(alphabet, text),
            Self::Symbolic(judge) => judge.spec().read_action(alphabet, text),
            Self::Properties(judge) => judge.dictionary(alphabet).event(text),
        }
    }

    /// The action of a step in a journal or a certificate of ours, which need not be one of the
    /// specification's.
    pub fn recorded(&self, alphabet: &Alphabet, text: &str) -> ActionId {
        if let Self::Properties(judge) = self {
            return judge.dictionary(alphabet).recorded(text);
        }
        let foreign = || alphabet.intern((&iolite_lts::Label::parse(text)).into());
        self.read_action(alphabet, text).unwrap_or_else(foreign)
    }

    /// What several runs say together.
    pub fn overall(&self, summary: &Summary) -> Option<Verdict> {
        match self {
            Self::Properties(judge) => judge.overall(summary),
            Self::Explicit(_) | Self::Symbolic(_) => summary.verdict(),
        }
    }

    /// Whether no further run changes whether these speak against the system.
    pub fn is_settled(&self, summary: &Summary) -> bool {
        match self {
            Self::Properties(judge) => judge.is_settled(summary),
            Self::Explicit(_) | Self::Symbolic(_) => {
                summary.verdict().is_some_and(Verdict::is_failing)
            }
        }
    }

    /// The certificate of a failing run, and the properties that it violates where properties judge
    /// alone.
    pub fn blame(&self, certificate: &Certificate) -> (Certificate, Vec<String>) {
        match self {
            Self::Properties(judge) => judge.blame(certificate),
            Self::Explicit(_) | Self::Symbolic(_) => (certificate.clone(), Vec::new()),
        }
    }

    /// What runs with these notices show about constants that were left unknown, if any were.
    pub fn constants(&self, notices: &[Notice]) -> Option<Constants> {
        match self {
            Self::Symbolic(judge) => Constants::of(judge.unknown_constants(), notices),
            Self::Explicit(_) | Self::Properties(_) => None,
        }
    }

    /// What a notice tells people, where it is a warning.
    pub fn warning(&self, notice: &Notice) -> Option<String> {
        match notice {
            Notice::Untried { input, reason } => Some(format!(
                "warning: no values for ?{input}: {reason}; where that is so, it is not tried, and \
                 these runs say nothing about it"
            )),
            Notice::Guessed { input } => Some(format!(
                "warning: only some values of the constants specify ?{input} with the values it is \
                 given; the others explain whatever comes after it, so such a run cannot fail: give \
                 constants with --const, or assume more of them"
            )),
            Notice::Undecided(why) => {
                let place = why.place.filter(|place| place.is_some());
                let place = match (self, place) {
                    (Self::Symbolic(judge), Some(place)) => {
                        let source = judge.spec().source();
                        let line = source.tree().0.lines.line(place.start as usize);
                        format!(" ({}:{line})", source.path().display())
                    }
                    _ => String::new(),
                };
                Some(format!("warning: undecided: {}{place}", why.reason))
            }
            Notice::Crossed { input } => Some(format!(
                "warning: {input} may have crossed an output under way and been taken where the \
                 model does not specify it; anything may follow, so such a run ends there and \
                 passes: specify {input} there, or stimulate after silence"
            )),
            Notice::NotRepeated => Some(
                "warning: a failure by silence was not repeated with more time, since its run is longer \
                 than the 1,048,576 steps that are kept of one; if the system may only have been slow, \
                 test with shorter runs or a longer timeout"
                    .to_owned(),
            ),
            Notice::LeftGoal(reason) => Some(format!("inconc: {reason}")),
            Notice::SolverFault(why) | Notice::ModelFault(why) => Some(format!("error: {why}")),
            Notice::Tried { .. }
            | Notice::Values(_)
            | Notice::Learnt(_)
            | Notice::LookaheadBound => None,
        }
    }

    /// The actions that are tested, and δ, by kind and name without values.
    pub(crate) fn actions(&self) -> BTreeSet<(LabelKind, String)> {
        match self {
            Self::Symbolic(judge) => {
                let gates = judge.spec().model().gates();
                let gates = gates.map(|(_, a)| (a.kind, a.name.to_string()));
                gates
                    .chain([(LabelKind::Delta, "delta".to_owned())])
                    .collect()
            }
            Self::Explicit(judge) => names_of(judge.spec().labels()),
            Self::Properties(judge) => names_of(judge.abstraction().labels()),
        }
    }

    /// Whether the model has an output with so many parameters that takes whatever values these holes of a
    /// template read. A value that may not fit makes it false.
    pub(crate) fn takes(&self, output: &str, params: usize, holes: &[(usize, &HoleKind)]) -> bool {
        match self {
            Self::Symbolic(judge) => {
                let model = judge.spec().model();
                let Some(gate) = model.find_gate(LabelKind::Output, output) else {
                    return false;
                };
                let sorts = &model.gate(gate).params;
                sorts.len() == params
                    && holes.iter().all(|(param, kind)| {
                        matches!(
                            (&sorts[*param].sort, kind),
                            (
                                Sort::Int | Sort::Range(_),
                                HoleKind::Int | HoleKind::Binary { .. }
                            ) | (Sort::Bool, HoleKind::Bool | HoleKind::CapitalBool)
                                | (
                                    Sort::String,
                                    HoleKind::Any
                                        | HoleKind::Text
                                        | HoleKind::Word
                                        | HoleKind::DotLines
                                        | HoleKind::Regex(_)
                                )
                        )
                    })
            }
            Self::Explicit(judge) => {
                let labels = judge.spec().labels();
                let mut outputs = labels.iter().filter(|(_, l)| l.kind == LabelKind::Output);
                params == 0 && outputs.any(|(_, l)| *l.name == *output)
            }
            Self::Properties(_) => false,
        }
    }

    /// The names of the places of the model; `None` where it has more than `limit` states, or none.
    pub(crate) fn places(&self, limit: usize) -> Option<BTreeSet<String>> {
        match self {
            Self::Symbolic(judge) => {
                let locations = judge.spec().model().locations();
                Some(locations.map(|(_, l)| l.name.to_string()).collect())
            }
            Self::Explicit(judge) => judge.places(limit),
            Self::Properties(_) => None,
        }
    }
}

fn names_of(labels: &iolite_lts::Labels) -> BTreeSet<(LabelKind, String)> {
    let bare = |name: &str| name.split('(').next().unwrap_or(name).to_owned();
    let labels = labels.iter();
    labels.map(|(_, l)| (l.kind, bare(&l.name))).collect()
}

/// Goals and coverage are defined beside ioco: whatever heads for them fails what ioco does not allow, though another
/// relation may. So the combination is an error, not a relation that is ignored.
pub(crate) fn reject_relation_towards(flag: &str, relation: Relation) -> Result<(), Error> {
    if relation == Relation::Ioco {
        return Ok(());
    }
    Err(Error::input(format!(
        "--relation {relation} and {flag} do not go together: what heads for a goal or for coverage judges by ioco"
    )))
}

/// A flag of solving, where nothing is solved.
pub fn not_solved(flag: &str, model: &ModelRef, reason: Option<&str>) -> Error {
    match reason {
        Some(reason) => Error::input(format!(
            "{flag} is for models whose data are solved for, and {reason} needs them unfolded"
        ))
        .hint("give constants with the model, as in `FILE#Sender(max = 3)`"),
        None => Error::input(format!(
            "{flag} is for models with data, and {model} has none"
        )),
    }
}
