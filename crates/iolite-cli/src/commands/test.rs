//! `iolite test`: on-the-fly and stored tests of a real system.

use std::path::PathBuf;
use std::time::Duration;

use iolite::{
    Campaign, Certificate, Error, Judge, JudgeOptions, JudgedBy, ModelCoverage,
    ModelCoverageReport, ModelRef, PropertyJudge, ReadOptions, Relation, Selection, Target,
    TargetOptions, Workspace, explorer_command,
};
use iolite_exec::report::{Extent, ResidualRisk};
use iolite_exec::{JournalHeader, end_well_on_signals};

use super::{test_suite, test_symmetric};
use crate::args::data::{DataArgs, ValueArgs};
use crate::args::effort::EffortArgs;
use crate::args::judge::JudgeArgs;
use crate::args::property::PropertyArgs;
use crate::args::target::TargetArgs;
use crate::args::workspace;
use crate::output::Exit;
use crate::output::campaign::{self, Aftermath, conclude, finish};
use crate::output::certificates::Certified;
use crate::output::report_files::{ReportArgs, header, sinks, write_report};

/// Test a real system against a model
///
/// On the fly by default: what to do next is derived while the system answers. A failing run prints
/// the trace, what was allowed, and the command that replays it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The specification; none when --property judges alone. With both, the specification drives, and
    /// each property says which way to go and judges too
    #[arg(required_unless_present = "property")]
    pub(crate) model: Option<ModelRef>,
    /// Flags of the campaign with this name in iolite.toml, in its table [campaign.NAME]; those that are
    /// given here count more
    // It is written out before flags are parsed (`project.rs`); here it stands for --help.
    #[arg(long, value_name = "NAME")]
    campaign: Option<String>,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    #[command(flatten)]
    pub(crate) properties: PropertyArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    /// Run stored test cases instead: JSON files, folders of them, FILE.jsonl with one a line, or those that FILE.iol
    /// declares; FILE#T for one
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) suite: Vec<PathBuf>,
    /// How often each stored test case is run
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) repeat: u64,
    #[command(flatten)]
    pub(crate) effort: EffortArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) read: ReadOptions,
}

impl Args {
    /// A flag that needs something of a model that data do not have. Test cases with data take the model as it
    /// is.
    fn needs(&self, symbolic_suite: bool) -> Option<&'static str> {
        (!self.suite.is_empty() && !symbolic_suite).then_some("--suite")
    }

    /// Flags that speak of a model.
    fn needs_model(&self) -> Option<&'static str> {
        let coverage = [
            (!self.suite.is_empty(), "--suite"),
            (self.effort.until_coverage.is_some(), "--until-coverage"),
            (
                self.effort.strategy == Selection::Coverage,
                "--strategy coverage",
            ),
            (!self.judge.observer.is_empty(), "--observer"),
            (!self.judge.purpose.is_empty(), "--purpose"),
        ];
        let mut given = coverage.into_iter();
        given.find_map(|(asked, flag)| asked.then_some(flag))
    }

    /// Command lines that the flags themselves name, and no description on disk.
    pub(crate) fn programs(&self) -> impl Iterator<Item = String> {
        let sut = self.target.sut.strip_prefix("cmd:").map(str::to_owned);
        let explored = self.target.sut.strip_prefix("model:").map(ModelRef::from);
        let models = self.model.iter().cloned().chain(explored);
        let explorers: Vec<String> = models
            .filter_map(|model| explorer_command(&model).map(str::to_owned))
            .collect();
        let solver = self.data.solver.clone();
        sut.into_iter().chain(explorers).chain(solver)
    }

    /// What the runs are judged by.
    fn judge(&self, workspace: &Workspace, target: &Target) -> Result<Judge, Error> {
        let Some(model) = &self.model else {
            if let Some(flag) = self.needs_model() {
                return Err(Error::input(format!("{flag} needs a MODEL")));
            }
            self.judge.reject_context_of_properties()?;
            let judge = PropertyJudge::new(workspace, &self.properties.options())?;
            return Ok(Judge::Properties(judge));
        };
        if let Some(flag) = self.properties.idle_beside_model()
            && self.properties.property.is_empty()
        {
            return Err(Error::input(format!(
                "{flag} has no effect beside a model: it is for --property"
            )));
        }
        let mut options = self.judge_options(workspace)?;
        options.queues = target.queues(self.judge.context);
        if !self.properties.property.is_empty() {
            options.properties = Some(self.properties.options());
        }
        // The solver may be meant for the model that plays the system alone.
        if options.data.solver.is_some()
            && target.has_data()
            && !options.keeps_data(workspace, model)?
        {
            options.data.solver = None;
        }
        Judge::new(workspace, model, &options)
    }

    /// The system under test, and what its silence means.
    pub(crate) fn target_options(&self) -> TargetOptions {
        TargetOptions {
            quiescence: self.judge.quiescence.policy(),
            ..self.target.options(&self.data)
        }
    }

    /// The campaign that the flags ask for.
    fn judge_options(&self, workspace: &Workspace) -> Result<JudgeOptions, Error> {
        let seed = self.effort.seed;
        let symbolic = workspace.symbolic_suite(&self.suite)?.is_some();
        let needs = self.needs(symbolic);
        Ok(self.judge.options(&self.data, &self.values, needs, seed))
    }

    /// The whole certificate of a failing run, or why there is none.
    pub(crate) fn certify(
        &self,
        workspace: &Workspace,
        judged: &Certificate,
    ) -> Result<Certified, Error> {
        if self.model.is_none() {
            let options = self.properties.options();
            return workspace.certify_run(judged, JudgedBy::Properties(&options));
        }
        let mut options = self.judge_options(workspace)?;
        if !self.properties.property.is_empty() {
            options.properties = Some(self.properties.options());
        }
        workspace.certify_run(judged, JudgedBy::Model(&options))
    }

    pub(crate) fn campaign(
        &self,
        workspace: &Workspace,
        target: &Target,
    ) -> Result<Campaign, Error> {
        let judge = self.judge(workspace, target)?;
        self.effort.apply(Campaign::new(judge))
    }
}

/// Follows runs in a model with data, and in any where that is asked for.
pub(crate) fn model_coverage(
    args: &Args,
    campaign: &Campaign,
) -> Result<Option<ModelCoverage>, Error> {
    let asked = args.report.coverage.is_some();
    if !asked && !matches!(campaign.judge(), Judge::Symbolic(_)) {
        return Ok(None);
    }
    let coverage = campaign.model_coverage(if asked { u64::MAX } else { FOLLOWED })?;
    if coverage.is_none() && asked {
        return Err(Error::input(
            "--coverage is of a MODEL, and of one that is not too large",
        ));
    }
    Ok(coverage)
}

/// Steps that are followed where nobody asks for it.
const FOLLOWED: u64 = 50_000;

/// What was reached. Proofs that the rest is out of reach may take longer where the list is asked for.
pub(crate) fn report(args: &Args, coverage: &ModelCoverage) -> Result<ModelCoverageReport, Error> {
    let asked = args.report.coverage.is_some();
    coverage.report(Duration::from_secs(if asked { 20 } else { 1 }))
}

/// Where the runs of a campaign come from.
pub(crate) enum Runs {
    /// They are made now.
    Live,
    /// They were made by others.
    #[cfg(feature = "fleet")]
    Recorded(Recording),
}

/// Runs that were made by others.
#[cfg(feature = "fleet")]
pub(crate) struct Recording {
    /// Where they are from, for messages.
    pub(crate) place: String,
    /// The command line that makes them in one process.
    pub(crate) command: Vec<String>,
    /// Reads them in the order of their numbers.
    pub(crate) read: ReadRuns,
    /// How many there are.
    pub(crate) count: u64,
    /// Why runs may be missing, if they may.
    pub(crate) missing: Option<String>,
    /// Microseconds from the first to the last.
    pub(crate) elapsed: u64,
    /// The seed of the campaign.
    pub(crate) seed: u64,
    /// How many were read.
    pub(crate) taken: u64,
}

/// Gives the events of each run with a number in this range, in order, as long as they are taken.
#[cfg(feature = "fleet")]
pub(crate) type ReadRuns = Box<
    dyn FnMut(
        std::ops::Range<u64>,
        &mut dyn FnMut(u64, Vec<iolite_exec::Event>) -> Result<(), Error>,
    ) -> Result<(), Error>,
>;

#[cfg(feature = "fleet")]
impl Recording {
    /// Checks that these are the runs of the campaign of a journal, as far as their number goes.
    fn check(&mut self, header: &JournalHeader) -> Result<(), Error> {
        self.seed = header.seed;
        let planned = header.description.as_ref().and_then(|d| d.runs);
        let planned = planned.unwrap_or(self.count);
        let place = &self.place;
        if self.count > planned {
            return Err(Error::fault(format!(
                "{place} has {} runs, and its command line makes {planned}",
                self.count
            )));
        }
        match (planned - self.count, &self.missing) {
            (0, _) => Ok(()),
            (missing, Some(why)) => {
                warning!("warning: {missing} runs were left out: {why}");
                Ok(())
            }
            (missing, None) => Err(Error::fault(format!(
                "{missing} runs of {place} are lost: nobody has them to do, and there is no result"
            ))
            .hint("submitting the campaign again gives what is missing to workers; --partial reports what is there")),
        }
    }

    /// Gives the events of each run of a range to readers, and adds them to a summary.
    pub(crate) fn each(
        &mut self,
        runs: std::ops::Range<u64>,
        sinks: &mut dyn iolite_exec::Sink,
        summary: &mut iolite::Summary,
        then: &mut dyn FnMut(&[iolite_exec::Event]),
    ) -> Result<(), Error> {
        let (seed, place) = (self.seed, self.place.clone());
        let taken = &mut self.taken;
        let mut last = None;
        (self.read)(runs, &mut |run, events| {
            if last.is_some_and(|last| last >= run) {
                return Err(Error::fault(format!("run {run} of {place} is there twice")));
            }
            last = Some(run);
            *taken += 1;
            check_run(run, &events, seed)
                .map_err(|why| Error::fault(format!("run {run} of {place}: {why}")))?;
            for event in &events {
                summary.read(event);
            }
            tell(&events, sinks, summary);
            then(&events);
            Ok(())
        })
    }

    /// Whether all runs that there were to be read were read.
    fn check_all(&self) -> Result<(), Error> {
        if self.taken >= self.count {
            return Ok(());
        }
        Err(Error::fault(format!(
            "{} has {} runs, and {} of them could be read; try again",
            self.place, self.count, self.taken
        )))
    }

    /// The end of the campaign, for readers and for the summary of all runs.
    pub(crate) fn end(&self, sinks: &mut dyn iolite_exec::Sink, summary: &mut iolite::Summary) {
        let end = iolite_exec::Event::CampaignEnded {
            verdicts: summary.verdicts.clone(),
            faults: summary.faults.len() as u64,
            steps: summary.steps,
            elapsed: self.elapsed,
            untried: summary.untried.keys().map(|i| format!("?{i}")).collect(),
        };
        summary.read(&end);
        tell(&[end], sinks, summary);
    }
}

/// Whether events are those of one run with the campaign's seed that came to an end.
#[cfg(feature = "fleet")]
fn check_run(run: u64, events: &[iolite_exec::Event], seed: u64) -> Result<(), &'static str> {
    use iolite_exec::Event;
    let seed = iolite_exec::RunId::of(seed, run).seed;
    let mut begun = false;
    for event in events {
        if event.run() != Some(run) {
            return Err("it is about other runs too");
        }
        if let Event::RunStarted { seed: own, .. } = event {
            if std::mem::replace(&mut begun, true) {
                return Err("it is there twice");
            }
            if *own != seed {
                return Err("it has a seed that is not the campaign's");
            }
        }
    }
    let ended = events.iter().any(|event| match event {
        Event::RunEnded { .. } => true,
        Event::Fault { code, .. } => code != "interrupted",
        _ => false,
    });
    if ended {
        return Ok(());
    }
    Err("it did not come to an end")
}

impl Runs {
    /// The command line of the journal.
    pub(crate) fn command(&self) -> Vec<String> {
        match self {
            Self::Live => crate::project::command(),
            #[cfg(feature = "fleet")]
            Self::Recorded(recording) => recording.command.clone(),
        }
    }

    /// Checks that recorded runs are those of the campaign, as far as that is known before they are read.
    pub(crate) fn check(&mut self, header: &JournalHeader) -> Result<(), Error> {
        match self {
            Self::Live => {
                let _ = header;
                end_well_on_signals()?;
            }
            #[cfg(feature = "fleet")]
            Self::Recorded(recording) => recording.check(header)?,
        }
        Ok(())
    }
}

/// Gives recorded events to readers.
#[cfg(feature = "fleet")]
fn tell(
    events: &[iolite_exec::Event],
    sinks: &mut dyn iolite_exec::Sink,
    summary: &mut iolite::Summary,
) {
    if !summary.unwritten.is_empty() {
        return;
    }
    for event in events {
        if let Err(error) = sinks.event(event) {
            summary.unwritten.push(error);
            return;
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    run_of(args, &workspace(&args.read), Runs::Live)
}

/// The campaign of the flags, with runs that are made now or were made before.
pub(crate) fn run_of(args: &Args, workspace: &Workspace, mut runs: Runs) -> Result<Exit, Error> {
    if args.judge.relation == Relation::Conf && !args.suite.is_empty() {
        return test_symmetric::run(args, workspace);
    }
    let target = Target::new(workspace, &args.target_options())?;
    let campaign = args.campaign(workspace, &target)?;
    campaign.prepare(workspace, &target)?;
    if !args.suite.is_empty() {
        return test_suite::run(args, workspace, &target, &campaign, runs);
    }
    let mut risk = ResidualRisk::default();
    let mut reached = model_coverage(args, &campaign)?;
    let extent = Extent {
        runs: Some(args.effort.runs_here()?),
        steps: Some(args.effort.steps),
        time: args
            .effort
            .time
            .and_then(|s| Duration::try_from_secs_f64(s).ok()),
    };
    let about = ("iolite test", args.effort.allow_flaky);
    let header = header(workspace, &target, &campaign, runs.command());
    runs.check(&header)?;
    let mut sinks = sinks(&args.report, &header, &campaign, about, extent)?;
    sinks.0.push(Box::new(&mut risk));
    if let Some(reached) = &mut reached {
        sinks.0.push(Box::new(reached));
    }
    let mut summary = match &mut runs {
        Runs::Live => campaign.run(&target, &mut sinks)?,
        #[cfg(feature = "fleet")]
        Runs::Recorded(recording) => {
            let mut summary = iolite::Summary::default();
            let mut retracing = campaign.retracing()?;
            recording.each(0..u64::MAX, &mut sinks, &mut summary, &mut |events| {
                retracing.read(events);
            })?;
            recording.check_all()?;
            recording.end(&mut sinks, &mut summary);
            summary.coverage = retracing.coverage();
            summary.notices.extend(retracing.learnt());
            summary
        }
    };
    finish(sinks, &mut summary);
    write_report(args, workspace, &campaign, &mut summary);
    let after = Aftermath {
        discovery: risk.discovery(),
        reached: campaign::reached(args, reached, &mut summary),
    };
    let said = (None, &after);
    conclude(args, workspace, &target, &campaign, &summary, said)
}
