//! `iolite test`: on-the-fly and stored tests of a real system.

use std::path::PathBuf;
use std::time::Duration;

use iolite::{
    Campaign, Certificate, Error, Judge, JudgeOptions, JudgedBy, ModelCoverage,
    ModelCoverageReport, ModelRef, PropertyJudge, ReadOptions, Relation, Selection, Target,
    TargetOptions, Workspace, explorer_command,
};
use iolite_exec::report::ResidualRisk;
use iolite_exec::{JournalHeader, end_well_on_signals};

use super::{test_suite, test_symmetric};
use crate::args::data::{DataArgs, ValueArgs};
use crate::args::effort::EffortArgs;
use crate::args::judge::JudgeArgs;
use crate::args::property::PropertyArgs;
use crate::args::target::TargetArgs;
use crate::args::workspace;
use crate::output::Exit;
use crate::output::campaign::{
    Aftermath, ReportArgs, conclude, finish, header, sinks, write_report,
};
use crate::output::certificates::Certified;

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
    /// Run stored test cases instead: JSON files, folders of them, or those that FILE.iol declares,
    /// FILE.iol#T for one
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
    /// What happened in them, and the end of the campaign.
    pub(crate) events: Vec<iolite_exec::Event>,
    /// Whether runs may be missing.
    pub(crate) partial: bool,
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

    /// Checks that recorded runs are those of the campaign, each once and with its seed, and puts them in
    /// order.
    pub(crate) fn check(&mut self, header: &JournalHeader) -> Result<(), Error> {
        match self {
            Self::Live => {
                let _ = header;
                end_well_on_signals()?;
            }
            #[cfg(feature = "fleet")]
            Self::Recorded(recording) => {
                let journal = iolite_exec::Journal {
                    header: header.clone(),
                    events: std::mem::take(&mut recording.events),
                    torn: false,
                };
                let options = iolite::MergeOptions {
                    partial: recording.partial,
                    any_system: false,
                };
                let place = recording.place.clone();
                recording.events = super::merge::joined(vec![(place, journal)], options)?.events;
            }
        }
        Ok(())
    }
}

/// Gives recorded events to readers.
#[cfg(feature = "fleet")]
pub(crate) fn tell<'a>(
    events: impl Iterator<Item = &'a iolite_exec::Event>,
    sinks: &mut dyn iolite_exec::Sink,
    summary: &mut iolite::Summary,
) {
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
    let planned = Some(args.effort.runs_here()?);
    let about = ("iolite test", args.effort.allow_flaky);
    let header = header(workspace, &target, &campaign, runs.command());
    runs.check(&header)?;
    let mut sinks = sinks(&args.report, &header, &campaign, about, planned)?;
    sinks.0.push(Box::new(&mut risk));
    if let Some(reached) = &mut reached {
        sinks.0.push(Box::new(reached));
    }
    let mut summary = match &runs {
        Runs::Live => campaign.run(&target, &mut sinks)?,
        #[cfg(feature = "fleet")]
        Runs::Recorded(recording) => {
            let mut summary = iolite::Summary::of_events(&recording.events);
            tell(recording.events.iter(), &mut sinks, &mut summary);
            summary.coverage = campaign.coverage_of(&recording.events)?;
            let learnt = campaign.learnt_from(&recording.events)?;
            summary.notices.extend(learnt);
            summary
        }
    };
    finish(sinks, &mut summary);
    write_report(args, workspace, &campaign, &mut summary);
    let after = Aftermath {
        discovery: risk.discovery(),
        reached: reached.map(|r| report(args, &r)).transpose()?,
    };
    let said = (None, &after);
    conclude(args, workspace, &target, &campaign, &summary, said)
}
