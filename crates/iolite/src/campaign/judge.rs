//! Which tester judges a run: by a relation, by observers, or by test purposes.

use std::collections::BTreeSet;
use std::sync::Arc;

use iolite_derive::{IocoTester, IoconfOracle, OracleTester, PurposeTester, SafetyTester};
use iolite_exec::{Certificate, ExecError, JobId, Summary, guided};
use iolite_lts::{Extended, LabelId, LabelKind, Labels, Semantics};
use iolite_property::{Observer, Purpose};

use super::action_table::ActionTable;
use super::foreign_names::bare;
use super::learnt::Constants;
use super::property_run::PropertyJudge;
use super::relate::trace_set;
use super::semantics_options::{QuiescenceFlag, reject_livelock};
use super::signature::{SeenValues, Signature};
use super::source::{self, Model, ModelRef, ReadOptions, System};
use super::symbolic_run::SymbolicJudge;
use super::target::Target;
use super::test::{AnyAdapter, AnyStrategy, AnyTester};
use super::weights::{ActionWeight, InputWeights};
use super::{Failure, objective, watched};

/// The specification with room for the names of foreign outputs.
pub(super) type Specification = Extended<System>;

/// What a run is judged by.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Verdicts")]
pub(super) struct JudgeOptions {
    /// ioco, ioconf, or ioconf-f with --traces
    #[arg(long, default_value = "ioco", value_name = "RELATION")]
    pub(super) relation: TestedRelation,
    /// The set F of ioconf-f
    #[arg(long, value_name = "FILE#F")]
    pub(super) traces: Option<ModelRef>,
    /// Try to make the system violate these safety properties (repeatable)
    #[arg(long, value_name = "FILE#W", conflicts_with = "purpose")]
    pub(super) observer: Vec<ModelRef>,
    /// Try to reach these test purposes (repeatable)
    #[arg(long, value_name = "FILE#P")]
    pub(super) purpose: Vec<ModelRef>,
    /// Whether a cycle of internal actions is quiescent, or an error
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    pub(super) quiescence: QuiescenceFlag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum TestedRelation {
    Ioco,
    Ioconf,
    IoconfF,
}

/// What one job works with.
pub(super) struct Pair {
    pub(super) tester: AnyTester,
    pub(super) adapter: AnyAdapter,
    /// What the numbers of actions stand for, where actions carry values.
    pub(super) valued: Option<ActionTable>,
}

/// Makes one tester for each job.
pub(super) struct Judge {
    reference: ModelRef,
    read: ReadOptions,
    extra: Labels,
    options: JudgeOptions,
    labels: Arc<Labels>,
    observers: Vec<Observer>,
    purposes: Vec<Purpose>,
    /// Properties that judge alone, without a specification.
    properties: Option<PropertyJudge>,
    /// A model with data, tested as it is.
    symbolic: Option<SymbolicJudge>,
    /// What the labels of a model with data stand for that was unfolded.
    signature: Option<Arc<Signature>>,
    seen: SeenValues,
    /// The file's fingerprint, for journals and certificates.
    pub(super) hash: String,
    /// The model's reference, with its name filled in.
    pub(super) model: ModelRef,
}

impl Judge {
    /// Loads everything once, so that mistakes show before anything is started. `extra` are labels
    /// that the specification need not know.
    pub(super) fn new(
        reference: &ModelRef,
        read: &ReadOptions,
        options: &JudgeOptions,
        extra: Labels,
    ) -> Result<Self, Failure> {
        if (options.relation == TestedRelation::IoconfF) != options.traces.is_some() {
            return Err(Failure::input(
                "--traces FILE#F and --relation ioconf-f belong together",
            ));
        }
        let mut extra = extra;
        let Model {
            reference: model,
            system,
            hash,
            signature,
        } = source::load(reference, read)?;
        if let Some(label) = system
            .labels()
            .of_kind(iolite_lts::LabelKind::Undirected)
            .next()
        {
            let label = system.labels().text(label);
            return Err(Failure::input(format!(
                "{model} has the plain label `{label}`; testing needs ?inputs and !outputs"
            ))
            .hint(format!(
                "direct it with --input {label} or --output {label}"
            )));
        }
        let policy = options.quiescence.policy();
        reject_livelock(&system, &model, policy, read.budget())?;
        // Values of inputs that no transition takes are no mistake of whoever gave them.
        for input in signature.iter().flat_map(|s| s.inputs()) {
            extra.intern(LabelKind::Input, &Labels::with_other_values(input));
        }
        let view = Extended::new(system, &extra);
        let labels = Arc::new(view.labels().clone());
        let mut observers = Vec::new();
        for reference in &options.observer {
            observers.extend(objective::observers(reference, read, &model, &labels)?);
        }
        let mut purposes = Vec::new();
        for reference in &options.purpose {
            purposes.extend(objective::purposes(reference, &model, &labels)?);
        }
        if let Some(traces) = &options.traces {
            watched::check_reference(traces, &model)?;
        }
        let judge = Self {
            reference: reference.clone(),
            read: read.clone(),
            extra,
            options: options.clone(),
            labels,
            observers,
            purposes,
            properties: None,
            symbolic: None,
            signature,
            seen: SeenValues::default(),
            hash,
            model,
        };
        // The set of traces is checked here too.
        judge.tester().map_err(|e| Failure::input(e.to_string()))?;
        Ok(judge)
    }

    /// A judge by properties alone.
    pub(super) fn of_properties(
        properties: PropertyJudge,
        read: &ReadOptions,
        options: &JudgeOptions,
    ) -> Self {
        Self {
            reference: properties.reference(),
            read: read.clone(),
            extra: Labels::new(),
            options: options.clone(),
            labels: Arc::clone(properties.labels()),
            observers: Vec::new(),
            purposes: Vec::new(),
            hash: properties.hash(),
            model: properties.reference(),
            properties: Some(properties),
            symbolic: None,
            signature: None,
            seen: SeenValues::default(),
        }
    }

    /// A judge by a model with data, which is not unfolded.
    pub(super) fn of_data(
        symbolic: SymbolicJudge,
        read: &ReadOptions,
        options: &JudgeOptions,
    ) -> Self {
        Self {
            reference: symbolic.reference.clone(),
            read: read.clone(),
            extra: Labels::new(),
            options: options.clone(),
            labels: Arc::new(Labels::new()),
            observers: Vec::new(),
            purposes: Vec::new(),
            hash: symbolic.hash.clone(),
            model: symbolic.reference.clone(),
            properties: None,
            symbolic: Some(symbolic),
            signature: None,
            seen: SeenValues::default(),
        }
    }

    /// The properties that judge alone, where they do.
    pub(super) fn properties(&self) -> Option<&PropertyJudge> {
        self.properties.as_ref()
    }

    /// The certificate of a failing run, and the properties that it violates where properties judge
    /// alone.
    pub(super) fn blame(&self, certificate: &Certificate) -> (Certificate, Vec<String>) {
        match &self.properties {
            Some(properties) => properties.blame(certificate),
            None => (certificate.clone(), Vec::new()),
        }
    }

    /// What several runs say together.
    pub(super) fn overall(&self, summary: &Summary) -> Option<iolite_derive::Verdict> {
        match &self.properties {
            Some(properties) => properties.overall(summary),
            None => summary.verdict(),
        }
    }

    /// A tester for one job, and the system that it drives.
    pub(super) fn pair(&self, target: &Target, job: JobId) -> Result<Pair, ExecError> {
        if let Some(symbolic) = &self.symbolic {
            return symbolic.pair(target, job);
        }
        let (tester, adapter): (AnyTester, AnyAdapter) = if let Some(alone) = &self.properties {
            let (tester, adapter) = alone.pair(target, job)?;
            (Box::new(tester), adapter)
        } else {
            let seen = SeenValues::default();
            let adapter = target.adapter(job, &self.labels, self.signature(&seen))?;
            (self.shown(&seen, self.bare_tester()?), adapter)
        };
        Ok(Pair {
            tester,
            adapter,
            valued: None,
        })
    }

    /// What the runs tell of constants that were left unknown, if any were.
    pub(super) fn constants(&self) -> Option<Constants> {
        self.symbolic.as_ref().and_then(SymbolicJudge::constants)
    }

    /// What the actions that are given on the command line weigh.
    pub(super) fn weights(&self, given: &[ActionWeight]) -> Result<InputWeights, Failure> {
        match &self.symbolic {
            Some(symbolic) => InputWeights::of_gates(symbolic.model(), given),
            None => InputWeights::of_labels(&self.labels, given),
        }
    }

    /// The alphabet of the testers.
    pub(super) fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// What the labels of an unfolded model stand for, with room for other values that are seen.
    pub(super) fn signature<'a>(
        &'a self,
        seen: &'a SeenValues,
    ) -> Option<(&'a Arc<Signature>, &'a SeenValues)> {
        Some((self.signature.as_ref()?, seen))
    }

    /// The tester, which shows other values as they were where a model was unfolded.
    pub(super) fn shown(&self, seen: &SeenValues, tester: AnyTester) -> AnyTester {
        match &self.signature {
            Some(_) => seen.shown_by(tester),
            None => tester,
        }
    }

    /// The observers that were asked for.
    pub(super) fn observers(&self) -> &[Observer] {
        &self.observers
    }

    /// What it judges by, in a word.
    pub(super) fn kind(&self) -> &'static str {
        if self.properties.is_some() {
            return "property";
        }
        match (
            self.observers.is_empty(),
            self.purposes.is_empty(),
            self.options.relation,
        ) {
            (false, ..) => "safety",
            (_, false, _) => "purpose",
            (_, _, TestedRelation::Ioco) => "ioco",
            (_, _, TestedRelation::Ioconf) => "ioconf",
            (_, _, TestedRelation::IoconfF) => "ioconf-f",
        }
    }

    fn specification(&self) -> Result<Specification, ExecError> {
        let model = source::load(&self.reference, &self.read)
            .map_err(|failure| ExecError::Config(failure.to_string()))?;
        Ok(Extended::new(model.system, &self.extra))
    }

    /// A tester of actions that [`Judge::parse`] reads.
    pub(super) fn tester(&self) -> Result<AnyTester, ExecError> {
        Ok(self.shown(&self.seen, self.bare_tester()?))
    }

    fn bare_tester(&self) -> Result<AnyTester, ExecError> {
        if let Some(properties) = &self.properties {
            return Ok(properties.tester());
        }
        let specification = self.specification()?;
        let policy = self.options.quiescence.policy();
        if !self.observers.is_empty() {
            let observers = self.observers.clone();
            return Ok(Box::new(SafetyTester::new(
                specification,
                policy,
                observers,
            )));
        }
        if !self.purposes.is_empty() {
            let purposes = self.purposes.clone();
            return Ok(Box::new(PurposeTester::new(
                specification,
                policy,
                purposes,
            )));
        }
        Ok(match self.options.relation {
            TestedRelation::Ioco => Box::new(IocoTester::new(specification, policy)),
            TestedRelation::Ioconf => {
                Box::new(OracleTester::new(IoconfOracle::new(specification, policy)))
            }
            TestedRelation::IoconfF => {
                let traces = self.options.traces.as_ref();
                let set = traces.map(|f| trace_set(f, &self.read, specification.labels()));
                let set = set
                    .transpose()
                    .map_err(|f| ExecError::Config(f.to_string()))?;
                Box::new(OracleTester::new(IoconfOracle::with_traces(
                    specification,
                    policy,
                    set,
                )))
            }
        })
    }

    /// Each observer or purpose with a tester of its own.
    pub(super) fn goals(&self) -> Result<Vec<(String, AnyTester)>, ExecError> {
        let policy = self.options.quiescence.policy();
        let mut goals: Vec<(String, AnyTester)> = Vec::new();
        for observer in &self.observers {
            let only = vec![observer.clone()];
            let tester = SafetyTester::new(self.specification()?, policy, only);
            goals.push((observer.name().to_owned(), Box::new(tester)));
        }
        for purpose in &self.purposes {
            let only = vec![purpose.clone()];
            let tester = PurposeTester::new(self.specification()?, policy, only);
            goals.push((purpose.name().to_owned(), Box::new(tester)));
        }
        Ok(goals)
    }

    /// A tester with a goal, and the strategy that follows its advice; `None` without a goal.
    /// `otherwise` chooses where there is no advice.
    pub(super) fn towards_goal(
        &self,
        otherwise: impl FnOnce() -> AnyStrategy,
    ) -> Result<Option<(AnyTester, AnyStrategy)>, ExecError> {
        let policy = self.options.quiescence.policy();
        if !self.observers.is_empty() {
            let observers = self.observers.clone();
            let tester = SafetyTester::new(self.specification()?, policy, observers);
            let (tester, strategy) = guided(tester, |_| None);
            let strategy = strategy.otherwise(otherwise());
            return Ok(Some((Box::new(tester), Box::new(strategy))));
        }
        if !self.purposes.is_empty() {
            let purposes = self.purposes.clone();
            let tester = PurposeTester::new(self.specification()?, policy, purposes);
            let (tester, strategy) = guided(tester, |_| None);
            let strategy = strategy.otherwise(otherwise());
            return Ok(Some((Box::new(tester), Box::new(strategy))));
        }
        Ok(None)
    }

    /// A tester that records coverage, or `None` where the model has more than `limit` sets.
    pub(super) fn shadow(
        &self,
        limit: usize,
    ) -> Result<Option<IocoTester<Specification>>, ExecError> {
        if self.properties.is_some() || self.symbolic.is_some() {
            return Ok(None);
        }
        let policy = self.options.quiescence.policy();
        let mut shadow = IocoTester::new(self.specification()?, policy);
        Ok(shadow.track_coverage(limit).is_ok().then_some(shadow))
    }

    /// The actions that are tested, and δ, without values.
    pub(super) fn actions(&self) -> BTreeSet<(LabelKind, String)> {
        if let Some(symbolic) = &self.symbolic {
            let actions = symbolic.model().gates();
            let actions = actions.map(|(_, a)| (a.kind, a.name.to_string()));
            return actions
                .chain([(LabelKind::Delta, "delta".to_owned())])
                .collect();
        }
        let labels = self.labels.iter();
        labels
            .map(|(_, l)| (l.kind, bare(&l.name).to_owned()))
            .collect()
    }

    /// The names of the places of the model; `None` where it has more than `limit` states.
    pub(super) fn places(&self, limit: usize) -> Result<Option<BTreeSet<String>>, Failure> {
        if let Some(symbolic) = &self.symbolic {
            let locations = symbolic.model().locations();
            return Ok(Some(locations.map(|(_, l)| l.name.to_string()).collect()));
        }
        let system = source::load(&self.reference, &self.read)?.system;
        let Ok(system) = system.explicit(limit) else {
            return Ok(None);
        };
        let place = |state| Semantics::place(&system, &state);
        Ok(Some(system.states().map(place).collect()))
    }

    /// An action in `?a`, `!x` notation.
    pub(super) fn parse(&self, text: &str) -> Option<LabelId> {
        if let Some(symbolic) = &self.symbolic {
            return symbolic.parse(text);
        }
        match &self.properties {
            Some(properties) => Some(properties.recorded(text)),
            None => self.labels.get_text(text).or_else(|| {
                let signature = self.signature.as_ref()?;
                signature.find(&self.labels, text, &self.seen)
            }),
        }
    }
}
