//! Testing a system against a specification, or by properties alone.

mod abstraction;
mod check;
mod constants;
mod coverage_guide;
mod data_coverage_guide;
mod examined_goals;
mod explicit_judge;
mod follower;
mod judge;
mod model_coverage;
mod model_goal;
mod model_under_test;
mod open_constants;
mod property_judge;
mod recorded;
mod retrace;
mod selection;
mod shared_constants;
mod shared_coverage;
mod suite_coverage;
mod symbolic_judge;
mod symmetric;
mod target;
mod unknown_names;
mod unmade_runs;
mod weights;

use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{
    Alphabet, Concurring, Context, Criterion, ModelRef, StoredTester, SymbolicTestCase, TestCase,
    Tester, model_hash, over_strict, symbolic_model_hash,
};
use iolite_exec::{
    Adapter, Confirm, Description, Instance, JobId, JournalForm, JournalHeader, Options, Pace,
    Plan, Share, Sink, Steered, Steering, Summary, SutConfig, Uniform, campaign,
};

use self::selection::SharedGoals;
use crate::{Error, SuiteCase, SymbolicSuiteCase, Workspace};

pub use check::{CheckError, Passed};
pub use constants::Constants;
pub use coverage_guide::{CoverageGuide, CoveredModel};
pub use explicit_judge::ExplicitJudge;
pub(crate) use judge::reject_relation_towards;
pub use judge::{AnyStrategy, AnyTester, Judge, JudgeOptions, not_solved};
pub use model_coverage::{MissedGoal, ModelCoverage, ModelCoverageReport};
pub(crate) use model_goal::named_goal;
pub use model_goal::{GoalKind, ModelGoal};
pub use model_under_test::{ModelUnderTest, chosen_constants, running_model, symbolic_sut};
pub(crate) use property_judge::watched_beside;
pub use property_judge::{PropertyJudge, PropertyOptions};
pub use recorded::{Pair, RecordedRun};
pub use retrace::{Retracing, ValuesTried};
pub use selection::{Selection, SelectionOptions};
pub use shared_constants::{ConstantBounds, SharedConstants};
pub use shared_coverage::SharedCoverage;
pub use suite_coverage::SuiteCoverage;
pub use symbolic_judge::SymbolicJudge;
pub use symmetric::{SymmetricCase, SymmetricFailure};
pub use target::{Target, TargetOptions};
pub use weights::ActionWeight;

/// Pairs of states that are looked at in a hand-written test case.
const STRICT_LIMIT: usize = 100_000;

/// An adapter of a shape known only at run time.
pub type AnyAdapter = Box<dyn Adapter>;

/// Runs of a tester against a system: who judges, how much is tested, how the next step is chosen.
///
/// ```no_run
/// use iolite::{Campaign, Workspace};
///
/// # struct Turnstile;
/// # impl iolite::SystemUnderTest<String> for Turnstile {
/// #     fn reset(&mut self) {}
/// #     fn stimulate(&mut self, _: &String) {}
/// #     fn output(&mut self, _: std::time::Duration) -> Option<String> { None }
/// # }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let workspace = Workspace::new();
/// let passed = Campaign::of(&workspace, "turnstile.iol")?
///     .runs(100)
///     .steps(50)
///     .check(Turnstile)?;
/// println!("{} steps, nothing wrong", passed.summary.steps);
/// # Ok(())
/// # }
/// ```
pub struct Campaign {
    judge: Judge,
    plan: Plan,
    share: Share,
    /// Runs of the whole campaign, where that is known.
    whole: Option<u64>,
    steps: u64,
    until_coverage: Option<f64>,
    selection: SelectionOptions,
    confirm: Confirm,
    repeat_silence: bool,
    pace: Pace,
    silence: Option<Duration>,
    steering: Option<Steering>,
    seen: Option<SharedCoverage>,
    learnt: Option<SharedConstants>,
    /// The goals of a model with data, examined once for all runs.
    examined: SharedGoals,
}

impl Campaign {
    /// Ten runs of a hundred steps, seed 0, judged by `judge`.
    pub fn new(judge: Judge) -> Self {
        Self {
            judge,
            plan: Plan {
                runs: 10,
                ..Plan::default()
            },
            share: Share::Whole,
            whole: Some(10),
            steps: 100,
            until_coverage: None,
            selection: SelectionOptions::default(),
            confirm: Confirm::default(),
            repeat_silence: false,
            pace: Pace::default(),
            silence: None,
            steering: None,
            seen: None,
            learnt: None,
            examined: SharedGoals::default(),
        }
    }

    /// The same for ioco to a model of a workspace.
    pub fn of(workspace: &Workspace, model: &str) -> Result<Self, Error> {
        let model = ModelRef::from(model);
        Judge::new(workspace, &model, &JudgeOptions::default()).map(Self::new)
    }

    /// How many runs.
    #[must_use]
    pub fn runs(mut self, runs: u64) -> Self {
        self.plan.runs = runs;
        self.whole = Some(runs);
        self
    }

    /// Only a share of the runs, with the numbers that they have in the whole. A slice may lie beyond
    /// the runs that were asked for.
    #[must_use]
    pub fn share(mut self, share: Share) -> Self {
        self.share = share;
        if let Share::Range(range) = share
            && self.whole.is_some_and(|whole| whole < range.end())
        {
            self.whole = None;
        }
        self
    }

    /// Another share of the same campaign.
    pub fn set_share(&mut self, share: Share) {
        self.share = share;
    }

    /// Nobody knows how many runs the whole campaign has.
    #[must_use]
    pub fn without_end(mut self) -> Self {
        self.whole = None;
        self
    }

    /// How many steps a run has at most.
    #[must_use]
    pub fn steps(mut self, steps: u64) -> Self {
        self.steps = steps;
        self
    }

    /// The seed of everything random.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.plan.seed = seed;
        self
    }

    /// Instances of the system under test at the same time.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.plan.jobs = jobs.max(1);
        self
    }

    /// No new run begins after this time.
    #[must_use]
    pub fn time(mut self, time: Option<Duration>) -> Self {
        self.plan.time = time;
        self
    }

    /// No new run after a failing one.
    #[must_use]
    pub fn stop_on_fail(mut self, stop: bool) -> Self {
        self.plan.stop_on_fail = stop;
        self
    }

    /// Further runs after the infrastructure failed in one.
    #[must_use]
    pub fn keep_going(mut self, keep_going: bool) -> Self {
        self.plan.stop_on_fault = !keep_going;
        self
    }

    /// Ends when this much of the model's suspension automaton was seen, between 0 and 1.
    #[must_use]
    pub fn until_coverage(mut self, coverage: Option<f64>) -> Self {
        self.until_coverage = coverage;
        self
    }

    /// Coverage is counted although the model is large, or an error says why it is not.
    #[must_use]
    pub fn asking_for_coverage(mut self, asked: bool) -> Self {
        self.selection.coverage_asked |= asked;
        self
    }

    /// How the next step is chosen.
    #[must_use]
    pub fn selection(mut self, selection: SelectionOptions) -> Self {
        self.selection = selection;
        // Others may be wanted.
        self.examined = SharedGoals::default();
        self
    }

    /// How often a failing run is repeated before it counts.
    #[must_use]
    pub fn confirm(mut self, confirm: Confirm) -> Self {
        self.confirm = confirm;
        self
    }

    /// Waits for silence again also where it was just observed and changed nothing.
    #[must_use]
    pub fn repeat_silence(mut self, repeat: bool) -> Self {
        self.repeat_silence = repeat;
        self
    }

    /// How long to wait before stimuli.
    #[must_use]
    pub fn pace(mut self, pace: Pace) -> Self {
        self.pace = pace;
        self
    }

    /// A system in this process has threads of its own: it is given this time to show an output before
    /// its silence counts. Without it, a system says at once whether there is one.
    #[must_use]
    pub fn silence_after(mut self, time: Duration) -> Self {
        self.silence = Some(time);
        self
    }

    /// Lets somebody steer the campaign while it runs.
    #[must_use]
    pub fn steered(mut self, steering: Steering) -> Self {
        self.steering = Some(steering);
        self
    }

    /// Adds what is seen of the model to what others saw, and goes where nobody has been.
    #[must_use]
    pub fn sharing_coverage(mut self, seen: SharedCoverage) -> Self {
        self.seen = Some(seen);
        self
    }

    /// Adds what is learnt of unknown constants to what others learnt. It restricts nothing but which values
    /// [`Selection::Coverage`] tries.
    #[must_use]
    pub fn sharing_constants(mut self, learnt: SharedConstants) -> Self {
        self.learnt = Some(learnt);
        self
    }

    /// Who judges.
    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    /// The seed.
    pub fn campaign_seed(&self) -> u64 {
        self.plan.seed
    }

    fn chooser(&self) -> Result<selection::Chooser, Error> {
        let mut options = self.selection.clone();
        options.coverage_asked |= self.until_coverage.is_some();
        let examined = Arc::clone(&self.examined);
        // Jobs of one process share what machines share.
        let several = || (self.plan.jobs > 1).then(SharedCoverage::default);
        let seen = self.seen.clone().or_else(several);
        let learnt = self.learnt.clone().unwrap_or_default();
        selection::Chooser::new(&options, &self.judge, (seen, learnt), examined)
    }

    /// What a run needs to know beside tester, system and strategy.
    fn options(&self, config: Option<&SutConfig>) -> Options {
        let mut options = Options {
            criterion: self.judge.criterion(),
            model: self.judge.reference(),
            context: self.judge.context(),
            channels: self.judge.channels(),
            confirm: self.confirm,
            repeat_silence: self.repeat_silence,
            pace: self.pace.clone(),
            steering: self.steering.clone(),
            ..Options::default()
        };
        if let Some(config) = config {
            options.quiescence = config.quiescence();
            options.on_exit = config.on_exit;
        }
        options.limits.steps = Some(self.steps);
        options.limits.coverage = self.until_coverage;
        options
    }

    /// How a journal of this campaign is written, where nobody says: in lines that people read, unless
    /// there are too many of them.
    pub fn journal_form(&self) -> JournalForm {
        /// Steps of a long campaign; lines of them would take 70 MB.
        const LONG: u64 = 1_000_000;
        if self.plan.runs.saturating_mul(self.steps) >= LONG {
            JournalForm::Compact
        } else {
            JournalForm::JsonLines
        }
    }

    /// The first line of a journal of this campaign. `command` is how it can be set up again.
    pub fn journal_header(&self, config: &SutConfig, command: Vec<String>) -> JournalHeader {
        let sut = serde_json::to_value(config).unwrap_or_default();
        let model = self.judge.reference();
        let mut header = JournalHeader::new(self.judge.criterion(), model, self.plan.seed, sut);
        header.command = command;
        header.context = self.judge.context();
        header.channels = self.judge.channels();
        header.folder = std::env::current_dir().ok();
        header.description = Some(Description {
            runs: self.whole,
            share: Some(self.share),
            ..Description::default()
        });
        header
    }

    /// Tells of names in the description that the model does not know, and checks the options.
    pub fn prepare(&self, workspace: &Workspace, target: &Target) -> Result<(), Error> {
        self.chooser()?;
        unknown_names::warn(workspace, target.config(), &self.judge);
        unknown_names::check_requests(target.config(), &self.judge)?;
        target.check_templates(&*self.judge.dictionary(&self.judge.alphabet()))?;
        Ok(())
    }

    /// Tests the system.
    pub fn run(&self, target: &Target, sink: &mut (dyn Sink + Send)) -> Result<Summary, Error> {
        let chooser = self.chooser()?;
        let options = self.options(Some(target.config()));
        let plan = self.plan_within(0, self.whole.unwrap_or(u64::MAX));
        campaign(&plan, &options, sink, |job| {
            let alphabet = self.judge.alphabet();
            let (tester, mut strategy) = chooser.pair(&self.judge, &alphabet)?;
            if let Some(steering) = &self.steering {
                strategy = Box::new(Steered::new(strategy, steering.clone(), &alphabet));
            }
            let adapter = target.adapter(job, self.judge.dictionary(&alphabet))?;
            Ok(Instance {
                tester,
                adapter,
                strategy,
            })
        })
    }

    /// The runs of this share among those with these numbers.
    fn plan_within(&self, from: u64, to: u64) -> Plan {
        let numbers = self.share.within(from, to);
        Plan {
            first: numbers.first,
            runs: numbers.count,
            stride: numbers.stride,
            ..self.plan
        }
    }

    /// Whether this share has a run among those with these numbers.
    pub fn takes_some_of(&self, from: u64, to: u64) -> bool {
        self.share.within(from, to).count > 0
    }

    /// Runs one stored test case against the system, `repeat` times, or those of these runs that are of
    /// this share; the runs are numbered from `first`.
    pub fn run_case(
        &self,
        case: &TestCase,
        target: &Target,
        sink: &mut (dyn Sink + Send),
        (first, repeat): (u64, u64),
    ) -> Result<Summary, Error> {
        let plan = Plan {
            jobs: 1,
            ..self.plan_within(first, first.saturating_add(repeat))
        };
        let mut options = self.options(Some(target.config()));
        options.limits.steps = None;
        options.criterion = case.criterion();
        if options.criterion == Criterion::Written {
            // Its author's verdicts are about the order in which the tester sees messages.
            options.context = Context::Synchronous;
            options.channels.clear();
        }
        campaign(&plan, &options, sink, |job: JobId| {
            let alphabet = self.judge.alphabet();
            let adapter = target.adapter(job, self.judge.dictionary(&alphabet))?;
            Ok::<_, Error>(Instance::<AnyTester, AnyAdapter, AnyStrategy> {
                tester: self.stored(case, &alphabet)?,
                adapter,
                strategy: Box::new(Uniform),
            })
        })
    }

    /// Runs one stored test case with data against the system, as [`run_case`](Self::run_case) does; it
    /// need not end, so a run has its greatest number of steps.
    pub fn run_symbolic_case(
        &self,
        case: &Arc<SymbolicTestCase>,
        target: &Target,
        sink: &mut (dyn Sink + Send),
        (first, repeat): (u64, u64),
    ) -> Result<Summary, Error> {
        let plan = Plan {
            jobs: 1,
            ..self.plan_within(first, first.saturating_add(repeat))
        };
        let mut options = self.options(Some(target.config()));
        options.criterion = case.criterion();
        campaign(&plan, &options, sink, |job: JobId| {
            let alphabet = self.judge.alphabet();
            let adapter = target.adapter(job, self.judge.dictionary(&alphabet))?;
            let tester = self.judge.case_tester(case, &alphabet)?;
            Ok::<_, Error>(Instance::<AnyTester, AnyAdapter, AnyStrategy> {
                tester: self.in_context(tester, &alphabet)?,
                adapter,
                strategy: Box::new(Uniform),
            })
        })
    }

    /// The tester of a stored test case.
    fn stored(&self, case: &TestCase, alphabet: &Alphabet) -> Result<AnyTester, Error> {
        let tester = StoredTester::with_alphabet(case.clone(), alphabet);
        if case.criterion() == Criterion::Written {
            return Ok(Box::new(tester));
        }
        self.in_context(tester, alphabet)
    }

    /// A derived test case is synchronous, so where messages queue it fails a run only if the judge, who
    /// knows of the queues, does too.
    fn in_context(
        &self,
        tester: impl Tester + 'static,
        alphabet: &Alphabet,
    ) -> Result<AnyTester, Error> {
        if self.judge.context() == Context::Synchronous {
            return Ok(Box::new(tester));
        }
        Ok(Box::new(Concurring::new(
            tester,
            self.judge.tester(alphabet)?,
        )))
    }

    /// Tells of test cases with data that were derived from another model, or from an older text of this
    /// one.
    pub fn warn_of_other_symbolic_models(
        &self,
        workspace: &Workspace,
        cases: &[SymbolicSuiteCase],
    ) {
        let Judge::Symbolic(judge) = &self.judge else {
            return;
        };
        let hash = symbolic_model_hash(judge.spec().model());
        let other = |case: &&SymbolicSuiteCase| {
            let of = case.case.model().hash.as_ref();
            of.is_some_and(|of| !of.is_empty() && *of != hash)
        };
        if let Some(first) = cases.iter().find(other) {
            workspace.warn(&format!(
                "warning: {} was derived from another model than {} as it is now; its verdicts are about \
                 that one",
                first.place,
                judge.spec().reference()
            ));
        }
    }

    /// Warns of hand-written test cases that fail what the specification allows: their `fail` says
    /// nothing about it.
    pub fn warn_of_strict_cases(&self, workspace: &Workspace, cases: &[SuiteCase]) {
        let Judge::Explicit(judge) = &self.judge else {
            return;
        };
        let mut oracle = judge.ioco(&self.judge.alphabet());
        let written = |case: &&SuiteCase| case.case.criterion() == Criterion::Written;
        for case in cases.iter().filter(written) {
            if let Some((trace, seen)) = over_strict(&case.case, &mut oracle, STRICT_LIMIT) {
                let after = match trace.as_slice() {
                    [] => "at the start".to_owned(),
                    trace => format!("after {}", trace.join(" ")),
                };
                workspace.warn(&format!(
                    "warning: {} fails {seen} {after}, which {} allows: its fail is its own and not one \
                     of the model",
                    case.case.name(),
                    judge.spec().reference()
                ));
            }
        }
    }

    /// Tells of test cases that were derived from another model, or from an older text of this one:
    /// they prove nothing about it.
    pub fn warn_of_other_models(
        &self,
        workspace: &Workspace,
        cases: &[SuiteCase],
    ) -> Result<(), Error> {
        let Judge::Explicit(judge) = &self.judge else {
            return Ok(());
        };
        let budget = workspace.options().budget();
        let hash = model_hash(&*judge.spec().whole_system(budget)?);
        let known = |case: &&SuiteCase| {
            let of = case.case.model().hash.as_ref();
            of.is_some_and(|of| !of.is_empty() && *of != hash)
        };
        let other: Vec<&SuiteCase> = cases.iter().filter(known).collect();
        if let Some(first) = other.first() {
            workspace.warn(&format!(
                "warning: {} of {} test cases were derived from another model than {} as it is now, \
                 such as {}; their verdicts are about that one",
                other.len(),
                cases.len(),
                judge.spec().reference(),
                first.place
            ));
        }
        Ok(())
    }
}
