//! One mutant: does it conform, and what kills it.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{ModelRef, TestRun, TestStep, Verdict, test_runs};
use iolite_exec::Summary;
use iolite_lang::mutation::Mutant;
use iolite_lts::{Completed, Semantics, StateId, System};
use iolite_sts::PruningGoal;
use iolite_sts::analysis::VerifyBudget;

use super::{MutantDocument, MutationOptions};
use crate::relation::decided_with_data;
use crate::workspace::too_many_states;
use crate::{
    Campaign, CompletionFlag, DerivationOptions, DerivationSelection, Derived, Error, ErrorKind,
    ExecutionEnding, ExplicitSpec, GoalDerivation, Judge, JudgeOptions, Proof, RelationDocument,
    RelationOptions, Selection, SelectionOptions, Spec, SuiteCase, SymbolicSuiteCase, Target,
    TargetOptions, UnfoldingLimit, VerificationOptions, VerifiedProperty, Workspace,
};

/// Test cases that are derived towards a purpose.
const PURPOSE_CASES: u64 = 10;

/// What is spent on one mutant whose data do not unfold: less than `relate` spends, since there are many.
pub(super) const BUDGET: VerifyBudget = VerifyBudget {
    steps: 100_000,
    time: Duration::from_secs(20),
    question: Duration::from_millis(500),
};

/// A mutant that has so many times the states of its model is looked at with its data first.
const GROWTH: usize = 10;

/// How much longer than the shortest way to a purpose they may be.
const PURPOSE_SLACK: usize = 5;

/// What all mutants of a model are held against.
pub(super) struct Examiner<'w> {
    pub(super) workspace: &'w Workspace,
    /// The same files; what is doubtful about a property is told once, of the model.
    quiet: Workspace,
    pub(super) model: &'w ModelRef,
    /// The declaration of a mutant that is meant.
    name: String,
    pub(super) options: &'w MutationOptions,
    /// The model, unfolded where it has data; or why it cannot be.
    spec: Result<ExplicitSpec, Error>,
    /// Whether nothing can be said of mutants without their states.
    needs_states: bool,
    suite: Vec<SuiteCase>,
    /// Test cases that keep data.
    pub(super) data_suite: Vec<SymbolicSuiteCase>,
}

/// The same, prepared for one thread.
pub(super) struct Worker<'e> {
    pub(super) examiner: &'e Examiner<'e>,
    campaign: Option<Campaign>,
}

impl<'w> Examiner<'w> {
    pub(super) fn new(
        workspace: &'w Workspace,
        model: &'w ModelRef,
        name: &str,
        options: &'w MutationOptions,
    ) -> Result<Self, Error> {
        // A mistake in the model is an error; data that cannot be unfolded are not.
        workspace.spec(model)?;
        // A suite that is not there is not one of states either.
        for path in &options.suite {
            let is_declaration = path.to_string_lossy().contains('#');
            if let (Err(error), false) = (path.metadata(), is_declaration) {
                return Err(Error::reading(path, &error));
            }
        }
        let mut data_suite = workspace
            .symbolic_suite(&options.suite)?
            .unwrap_or_default();
        // These test cases, these relations and chaos are about states.
        let needs_states = data_suite.is_empty() && !options.suite.is_empty()
            || decided_with_data(options.relation).is_none()
            || options.complete_inputs == Some(CompletionFlag::Chaos);
        let spec = if needs_states {
            workspace.explicit(model)
        } else {
            workspace.states_soon(model, 0)?
        };
        let needs_tests = !options.suite.is_empty()
            || !options.purposes.is_empty()
            || !options.properties.is_empty();
        if let Err(error) = &spec
            && needs_tests
            && !is_infinite(error)
        {
            return Err(error.clone());
        }
        let mut suite = Vec::new();
        if data_suite.is_empty() && !options.suite.is_empty() {
            // These test cases are of states.
            suite = workspace.suite(&options.suite, spec.as_ref().map_err(Clone::clone)?)?;
        }
        towards_purposes(
            workspace,
            (model, spec.is_ok()),
            options,
            &mut suite,
            &mut data_suite,
        )?;
        let chaos = options.complete_inputs == Some(CompletionFlag::Chaos);
        if chaos && (!data_suite.is_empty() || needs_tests && spec.is_err()) {
            return Err(Error::input(
                "--complete-inputs chaos needs the states of mutants, and their data are kept here",
            )
            .hint("--complete-inputs self-loop does not"));
        }
        if suite.iter().any(offers) {
            return Err(Error::input(
                "the suite has test cases for conf, which have no inputs and outputs",
            ));
        }
        let examiner = Self {
            workspace,
            quiet: workspace.read_as(workspace.options().clone()),
            model,
            name: name.to_owned(),
            options,
            spec,
            needs_states,
            suite,
            data_suite,
        };
        examiner.reject_violated()?;
        Ok(examiner)
    }

    /// A property that the model violates tells nothing of a mutant.
    fn reject_violated(&self) -> Result<(), Error> {
        let found = match &self.spec {
            Ok(spec) => self.violation(self.workspace, spec)?,
            Err(_) => self.data_violation(self.workspace, &*self.workspace.spec(self.model)?)?,
        };
        match found {
            Kill::No => Ok(()),
            Kill::Yes { by, after } => Err(Error::input(format!(
                "the model itself violates {by}, after {}",
                match after.as_slice() {
                    [] => "nothing".to_owned(),
                    after => after.join(" "),
                }
            ))
            .hint(
                "inputs that the model does not take are completed here, as those of its mutants are; \
                 `iolite verify` looks at the model as it is",
            )),
            Kill::Unknown(why) => Err(Error::undecided(why)),
        }
    }

    /// The first property that a system violates, as an implementation: with its inputs completed.
    fn violation(&self, workspace: &Workspace, system: &ExplicitSpec) -> Result<Kill, Error> {
        let (options, Ok(spec)) = (self.options, &self.spec) else {
            return Ok(Kill::No);
        };
        if options.properties.is_empty() {
            return Ok(Kill::No);
        }
        let inside = system.system();
        let view = Completed::over(&inside, options.completion().into(), spec.labels());
        let budget = workspace.options().budget();
        let completed = iolite_lts::explore(&view, budget).map_err(|e| too_many_states(&e))?;
        // Observers and properties are for the model by name.
        let completed = ExplicitSpec::foreign(spec.reference().clone(), completed);
        let asked = VerificationOptions {
            properties: options.properties.clone(),
            quiescence: options.quiescence.policy(),
            ..VerificationOptions::default()
        };
        Ok(Kill::of(workspace.verify_spec(&completed, &asked)?))
    }

    fn relation(&self) -> RelationOptions {
        RelationOptions {
            semantics: self.options.semantics(),
            ..RelationOptions::new(self.options.relation)
        }
    }

    /// Whether the model conforms to itself, once its inputs are completed.
    pub(super) fn model_conforms(&self) -> Result<Option<bool>, Error> {
        let Ok(spec) = &self.spec else {
            let model = self.workspace.spec(self.model)?;
            return Ok(self.decide_with_data(&model)?.ok().and_then(|d| d.holds));
        };
        let mut side = self.workspace.specification(spec, &self.relation())?;
        Ok(side.decide(spec, &mut |_| None)?.holds)
    }

    /// What the relation says of a system whose data, or those of the model, do not unfold: proved,
    /// refuted with a shortest trace, or unknown. Why it is not asked, where it is not.
    fn decide_with_data(&self, system: &Spec) -> Result<Result<RelationDocument, String>, Error> {
        let options = self.relation();
        if decided_with_data(options.relation).is_none() {
            let why = format!("{} is not decided for infinite data", options.relation);
            return Ok(Err(why));
        }
        let model = self.workspace.spec(self.model)?;
        match self.quiet.relate_models(system, &model, &options, BUDGET) {
            Ok(decision) => Ok(Ok(decision)),
            Err(error) if error.kind() == ErrorKind::Fault => Err(error),
            Err(error) => Ok(Err(error.message().to_owned())),
        }
    }

    /// What one thread needs.
    pub(super) fn worker(&self) -> Result<Worker<'_>, Error> {
        Ok(Worker {
            examiner: self,
            campaign: self.campaign()?,
        })
    }

    fn campaign(&self) -> Result<Option<Campaign>, Error> {
        let Some(effort) = &self.options.on_the_fly else {
            return Ok(None);
        };
        let purposes = effort.purposes.iter();
        let judge = JudgeOptions {
            relation: self.options.relation,
            purposes: purposes.map(|p| ModelRef::from(p.as_str())).collect(),
            quiescence: self.options.quiescence.policy(),
            // Finite data are unfolded, so that no solver stands between tests and mutants.
            unfold: self.spec.is_ok().then_some("mutate"),
            seed: self.options.seed,
            ..JudgeOptions::default()
        };
        let selection = SelectionOptions {
            // With data, paths to goals would be solved again for each mutant.
            selection: if effort.coverage && self.spec.is_ok() {
                Selection::Coverage
            } else {
                Selection::Uniform
            },
            ..SelectionOptions::default()
        };
        let judge = Judge::new(self.workspace, self.model, &judge)?;
        Ok(Some(
            Campaign::new(judge)
                .runs(effort.runs)
                .steps(effort.steps)
                .seed(self.options.seed)
                .selection(selection)
                .stop_on_fail(true),
        ))
    }
}

/// What properties say of a system.
pub(super) enum Kill {
    No,
    Yes {
        by: String,
        after: Vec<String>,
    },
    /// Why a bound ran out.
    Unknown(String),
}

impl Kill {
    /// By the first property that is violated.
    pub(super) fn of(verified: Vec<VerifiedProperty>) -> Self {
        let mut open = None;
        for property in verified {
            match property.proof {
                Proof::Refuted { trace, .. } => {
                    return Self::Yes {
                        by: property.name,
                        after: with_ending(trace, property.ending),
                    };
                }
                Proof::Unknown { left } => {
                    open = Some(format!("{}: {}", property.name, left.join(", ")));
                }
                Proof::Proved { .. } => {}
            }
        }
        open.map_or(Self::No, Self::Unknown)
    }
}

/// A violating execution as a list of steps.
fn with_ending(mut trace: Vec<String>, ending: Option<ExecutionEnding>) -> Vec<String> {
    match ending {
        None | Some(ExecutionEnding::BadPrefix) => {}
        Some(ExecutionEnding::OutputLock) => trace.push("delta".to_owned()),
        Some(ExecutionEnding::Deadlock) => trace.push("deadlock".to_owned()),
        Some(ExecutionEnding::Cycle(cycle)) => trace.push(match cycle.as_slice() {
            [] => "(i)^ω".to_owned(),
            cycle => format!("({})^ω", cycle.join(" ")),
        }),
    }
    trace
}

/// The test cases that are derived towards purposes: of states where the model has finitely many, else with
/// data.
fn towards_purposes(
    workspace: &Workspace,
    (model, is_finite): (&ModelRef, bool),
    options: &MutationOptions,
    cases: &mut Vec<SuiteCase>,
    data_cases: &mut Vec<SymbolicSuiteCase>,
) -> Result<(), Error> {
    if options.purposes.is_empty() {
        return Ok(());
    }
    let before = cases.len() + data_cases.len();
    let derivation = DerivationOptions {
        relation: options.relation,
        traces: None,
        context: iolite_derive::Context::Synchronous,
        max_in_flight: None,
        policy: options.quiescence.policy(),
        budget: workspace.options().budget(),
        selection: DerivationSelection::Goals(GoalDerivation {
            observers: Vec::new(),
            purposes: options.purposes.clone(),
            properties: Vec::new(),
            alternatives: PURPOSE_CASES,
            seed: options.seed,
            slack: PURPOSE_SLACK,
            pruning: PruningGoal::default(),
        }),
        unfold: is_finite.then_some("--purpose"),
        solver: None,
        // They are few.
        jobs: NonZeroUsize::MIN,
    };
    let (found, derived) = workspace.derive_all(model, &derivation, &mut |derived| {
        if let Derived::Symbolic { case, .. } = derived {
            data_cases.push(SymbolicSuiteCase {
                place: format!("purpose {}", case.name()),
                case: Arc::new(*case),
            });
        }
        Ok(ControlFlow::Continue(()))
    })?;
    cases.extend(found.into_iter().map(|case| SuiteCase {
        place: format!("purpose {}", case.name()),
        case: Arc::new(case),
    }));
    for note in derived.notes {
        workspace.warn(&format!("warning: {note}"));
    }
    if cases.len() + data_cases.len() == before {
        return Err(Error::input(
            "no test case could be derived towards the purposes",
        ));
    }
    Ok(())
}

fn offers(case: &SuiteCase) -> bool {
    let states = case.case.states();
    states
        .iter()
        .any(|s| matches!(s.step, TestStep::Offer { .. }))
}

impl Worker<'_> {
    /// Looks at one mutant.
    pub(super) fn examine(
        &self,
        number: usize,
        file: &Path,
        mutant: &Mutant,
    ) -> Result<MutantDocument, Error> {
        let mut document = MutantDocument {
            number,
            file: file.display().to_string(),
            operator: mutant.operator.name().to_owned(),
            line: mutant.line,
            change: mutant.change.clone(),
            conforms: None,
            unknown: None,
            counterexample: None,
            killed: None,
            undecided: None,
            killed_by: None,
            violates: None,
            killed_after: None,
            killed_with: Vec::new(),
            events: None,
        };
        // A snapshot of its own: what is read of one mutant is not kept while others are looked at.
        let options = self.examiner.workspace.options().clone();
        let workspace = Workspace::with_options(options);
        let path = PathBuf::from("mutant.iol");
        workspace.insert(&path, mutant.text.as_bytes());
        let reference = ModelRef::file(&path).with_name(self.examiner.name.clone());
        let explicit = match &self.examiner.spec {
            Ok(_) if self.examiner.needs_states => workspace.explicit(&reference),
            Ok(spec) => match workspace.states_soon(&reference, GROWTH * state_count(spec)) {
                Ok(found) => found,
                Err(error) => Err(error),
            },
            Err(error) => Err(error.clone()),
        };
        match (&explicit, &self.examiner.spec) {
            (Ok(explicit), Ok(spec)) => {
                // Prepared anew for each mutant: sets that others left behind would change which of
                // several shortest counterexamples is found first.
                let options = self.examiner.relation();
                let mut side = self.examiner.workspace.specification(spec, &options)?;
                match side.decide(explicit, &mut |_| None) {
                    Ok(decision) => {
                        document.conforms = decision.holds;
                        document.unknown = decision.unknown;
                        document.counterexample = decision.counterexamples.into_iter().next();
                    }
                    // The strict policy has no answer for a mutant that diverges.
                    Err(error) if error.kind() != ErrorKind::Fault => {
                        document.unknown = Some(error.message().to_owned());
                    }
                    Err(error) => return Err(error),
                }
            }
            (Err(error), _) if is_infinite(error) => {
                self.decide_with_data(&workspace, &reference, &mut document)?;
            }
            (Err(error), _) if error.kind() != ErrorKind::Fault => {
                document.unknown = Some(error.message().to_owned());
            }
            (Err(error), _) => return Err(error.clone()),
            (Ok(_), Err(_)) => {}
        }
        self.run_suite(explicit.as_ref().ok(), &mut document);
        if document.killed != Some(true) {
            self.run_data_suite(&workspace, &reference, &mut document)?;
        }
        if document.killed != Some(true) {
            self.ask_properties(
                (&workspace, &reference),
                explicit.as_ref().ok(),
                &mut document,
            )?;
        }
        if document.killed != Some(true) {
            self.run_on_the_fly(&workspace, &reference, explicit.is_ok(), &mut document)?;
        }
        match (document.killed, &document.undecided) {
            (Some(true), _) => document.undecided = None,
            // What one of the tests leaves open the others do not settle.
            (Some(false), Some(_)) => document.killed = None,
            _ => {}
        }
        Ok(document)
    }

    /// The relation where data do not unfold.
    fn decide_with_data(
        &self,
        workspace: &Workspace,
        reference: &ModelRef,
        document: &mut MutantDocument,
    ) -> Result<(), Error> {
        let mutant = match workspace.spec(reference) {
            Err(error) if error.kind() != ErrorKind::Fault => {
                document.unknown = Some(error.message().to_owned());
                return Ok(());
            }
            mutant => mutant?,
        };
        match self.examiner.decide_with_data(&mutant)? {
            Ok(decision) => {
                document.conforms = decision.holds;
                document.counterexample = decision.counterexample;
                if decision.holds.is_none() {
                    let why = decision
                        .unknown
                        .unwrap_or_else(|| "no proof was found".to_owned());
                    let depth = decision.effort.depth;
                    document.unknown = Some(format!(
                        "{why}; there is no difference up to traces of length {depth}"
                    ));
                }
            }
            Err(why) => document.unknown = Some(why),
        }
        Ok(())
    }

    /// Every test run of every test case, so that nothing is left to chance.
    fn run_suite(&self, explicit: Option<&ExplicitSpec>, document: &mut MutantDocument) {
        let Examiner { suite, options, .. } = self.examiner;
        if suite.is_empty() {
            return;
        }
        let (Some(explicit), Ok(spec)) = (explicit, &self.examiner.spec) else {
            let why = "the test cases are of states, and the data of the mutant are infinite";
            document.undecided = Some(why.to_owned());
            return;
        };
        let how = options.completion().into();
        let system = explicit.system();
        let view = Completed::over(&system, how, spec.labels());
        document.killed = Some(false);
        for case in suite {
            if let Some(run) = failing_run(case, &view, options) {
                document.killed_after = Some(run.actions);
                document.killed_by = Some(case.place.clone());
                document.killed = Some(true);
                return;
            }
        }
    }

    /// Whether it violates a property that the model has.
    fn ask_properties(
        &self,
        (workspace, reference): (&Workspace, &ModelRef),
        explicit: Option<&ExplicitSpec>,
        document: &mut MutantDocument,
    ) -> Result<(), Error> {
        if self.examiner.options.properties.is_empty() {
            return Ok(());
        }
        let found = match explicit {
            Some(explicit) => self.examiner.violation(&self.examiner.quiet, explicit)?,
            None => match workspace.spec(reference) {
                Ok(mutant) => self
                    .examiner
                    .data_violation(&self.examiner.quiet, &mutant)?,
                Err(error) if error.kind() != ErrorKind::Fault => {
                    Kill::Unknown(error.message().to_owned())
                }
                Err(error) => return Err(error),
            },
        };
        match found {
            Kill::No => document.killed = Some(false),
            Kill::Yes { by, after } => {
                document.killed = Some(true);
                document.killed_by = Some(format!("property {by}"));
                document.killed_after = Some(after);
                document.violates = Some(by);
            }
            Kill::Unknown(why) => {
                document.undecided.get_or_insert(why);
            }
        }
        Ok(())
    }

    fn run_on_the_fly(
        &self,
        workspace: &Workspace,
        reference: &ModelRef,
        unfold: bool,
        document: &mut MutantDocument,
    ) -> Result<(), Error> {
        let Some(campaign) = &self.campaign else {
            return Ok(());
        };
        let options = &self.examiner.options;
        let target = Target::new(
            workspace,
            &TargetOptions {
                sut: format!("model:{reference}"),
                complete_inputs: Some(options.completion().into()),
                unfold,
                ..TargetOptions::default()
            },
        );
        let target = match target {
            // The mutant has no values to begin with, or its solver gives up.
            Err(error) if error.kind() != ErrorKind::Fault => {
                let reason = || error.message().to_owned();
                document.unknown = Some(document.unknown.take().unwrap_or_else(reason));
                return Ok(());
            }
            target => target?,
        };
        let summary = campaign.run(&target, &mut ())?;
        document.events = Some(summary.steps);
        match failure(&summary) {
            Some((run, trace)) => {
                document.killed = Some(true);
                document.killed_by = Some(format!("run {run}"));
                document.killed_after = Some(trace);
                // A run that fails is a proof, also where the relation was not decided.
                if document.conforms.is_none() {
                    document.conforms = Some(false);
                    document.unknown = None;
                }
            }
            None if summary.faults.is_empty() => document.killed = Some(false),
            None => {
                let fault = summary.faults.values().next();
                let reason = fault.map(ToString::to_string);
                document.unknown = document.unknown.take().or(reason);
            }
        }
        Ok(())
    }
}

/// Whether data are infinite, or more than a bound allows; anything else is wrong for every relation.
fn is_infinite(error: &Error) -> bool {
    error.kind() == ErrorKind::Undecided || error.unfolding() == Some(UnfoldingLimit::InfiniteData)
}

/// The states of a model that was unfolded; none where it is explored on demand.
fn state_count(spec: &ExplicitSpec) -> usize {
    match spec.system() {
        System::Explicit(lts) => lts.state_count(),
        System::OnDemand(_) => 0,
    }
}

/// A shortest run of a test case with a mutant that ends in `fail`.
fn failing_run<M: Semantics<State = StateId>>(
    case: &SuiteCase,
    mutant: &M,
    options: &MutationOptions,
) -> Option<TestRun> {
    let runs = test_runs(&case.case, mutant, options.quiescence.policy());
    let failing = [Verdict::Fail, Verdict::ViolateFail];
    let found = failing.into_iter().filter_map(|v| runs.run(v));
    found.min_by_key(|run| run.len()).cloned()
}

/// The first run that shows a mutant not to conform. A property that model and mutant violate alike
/// (`violate`) says nothing of that.
fn failure(summary: &Summary) -> Option<(u64, Vec<String>)> {
    let failing = |v: Verdict| matches!(v, Verdict::Fail | Verdict::ViolateFail);
    let (&run, certificate) = summary.failures.iter().find(|(_, c)| failing(c.verdict))?;
    let mut trace = certificate.trace.clone();
    trace.extend(certificate.observed.clone());
    Some((run, trace))
}
