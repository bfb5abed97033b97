//! `iolite test`: test a real system against a model, on the fly or with a stored suite.

use std::path::PathBuf;

use iolite_derive::Tester;
use iolite_exec::{Adapter, ExecError, Instance, Options, Strategy, campaign};
use iolite_lts::LabelId;

use super::data_options::{DataOptions, ValueOptions};
use super::effort::{EffortOptions, StrategyFlag};
use super::goals::{Goals, Traces};
use super::judge::{Judge, JudgeOptions, TestedRelation};
use super::property_run::{PropertyJudge, PropertyOptions};
use super::signature::SeenValues;
use super::source::{self, ModelRef, ReadOptions};
use super::suite;
use super::symbolic_run::SymbolicJudge;
use super::target::{Target, TargetOptions};
use super::test_report::{ReportOptions, conclude, sinks};
use super::{Exit, Failure, foreign_names};

/// Test a real system against a model
///
/// On the fly by default: what to do next is derived while the system answers. A failing run prints
/// the trace, what was allowed, and the command that replays it.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The specification; none when --property judges alone
    #[arg(required_unless_present = "property")]
    pub(super) model: Option<ModelRef>,
    #[command(flatten)]
    pub(super) target: TargetOptions,
    #[command(flatten)]
    pub(super) judge: JudgeOptions,
    #[command(flatten)]
    pub(super) properties: PropertyOptions,
    #[command(flatten)]
    pub(super) data: DataOptions,
    #[command(flatten)]
    values: ValueOptions,
    /// Run stored test cases instead: JSON files, folders of them, or those that FILE.iol declares,
    /// FILE.iol#T for one
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(super) suite: Vec<PathBuf>,
    /// How often each stored test case is run
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) repeat: u64,
    #[command(flatten)]
    pub(super) effort: EffortOptions,
    #[command(flatten)]
    pub(super) report: ReportOptions,
    #[command(flatten)]
    pub(super) read: ReadOptions,
}

pub(super) type AnyTester = Box<dyn Tester<Action = LabelId>>;
pub(super) type AnyAdapter = Box<dyn Adapter<LabelId>>;
pub(super) type AnyStrategy = Box<dyn Strategy<LabelId>>;

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let effort = &args.effort;
    let target = Target::new(&args.target, &args.data, &args.read)?;
    let judge = judge(args, &target)?;
    let choices = effort.choices(&judge)?;
    if let Some(model) = &args.model {
        warn_of_violating_specification(model, &args.read, &judge, args)?;
    }
    foreign_names::warn(&target.config, &judge)?;
    let options = options(&target, &judge, effort);
    if !args.suite.is_empty() {
        return suite::run(args, &target, &judge, &options);
    }
    let plan = effort.plan()?;
    let mut sinks = sinks(
        &args.report,
        &target,
        &judge,
        effort.seed,
        "iolite test",
        Some(plan.runs),
    )?;
    let traces = Traces::default();
    let with_goals = args.judge.observer.len() + args.judge.purpose.len() > 0;
    if with_goals {
        sinks.0.push(Box::new(traces.clone()));
    }
    let summary = campaign(&plan, &options, &mut sinks, |job| {
        if let Some((tester, strategy)) = choices.towards_goal(&judge)? {
            let seen = SeenValues::default();
            let adapter = target.adapter(job, judge.labels(), judge.signature(&seen))?;
            return Ok(Instance {
                tester: judge.shown(&seen, tester),
                adapter,
                strategy,
            });
        }
        let pair = judge.pair(&target, job)?;
        let strategy = choices.strategy(&judge, pair.valued.as_ref())?;
        Ok(Instance {
            tester: pair.tester,
            adapter: pair.adapter,
            strategy,
        })
    });
    let summary = summary.map_err(|e| fault(&e))?;
    drop(sinks);
    let goals = if with_goals {
        traces.judge(&judge)?
    } else {
        Goals::new()
    };
    conclude(&args.report, &target, &judge, effort.seed, &summary, &goals)
}

/// What the runs are judged by.
pub(super) fn judge(args: &Args, target: &Target) -> Result<Judge, Failure> {
    let Some(model) = &args.model else {
        let asked = [
            (!args.suite.is_empty(), "--suite"),
            (!args.judge.observer.is_empty(), "--observer"),
            (!args.judge.purpose.is_empty(), "--purpose"),
            (args.effort.until_coverage.is_some(), "--until-coverage"),
            (
                args.effort.strategy == StrategyFlag::Coverage,
                "--strategy coverage",
            ),
        ];
        if let Some((_, flag)) = asked.iter().find(|(asked, _)| *asked) {
            return Err(Failure::input(format!("{flag} needs a MODEL")));
        }
        let properties = PropertyJudge::new(&args.properties)?;
        return Ok(Judge::of_properties(properties, &args.read, &args.judge));
    };
    if !args.properties.property.is_empty() {
        return Err(Failure::input("--property judges alone, without a MODEL").hint(
            "beside a model, give a safety property with --observer; for others leave the model out",
        ));
    }
    match data_judge(args, model, target)? {
        Some(judge) => Ok(judge),
        None => Judge::new(model, &args.read, &args.judge, target.extra_labels()?),
    }
}

/// A model with data is tested as it is, unless something is asked for that needs it unfolded.
fn data_judge(args: &Args, model: &ModelRef, target: &Target) -> Result<Option<Judge>, Failure> {
    let needs = [
        (args.data.unfold, "--unfold"),
        (!args.suite.is_empty(), "--suite"),
        (!args.judge.observer.is_empty(), "--observer"),
        (!args.judge.purpose.is_empty(), "--purpose"),
        (args.effort.until_coverage.is_some(), "--until-coverage"),
        (
            args.effort.strategy == StrategyFlag::Coverage,
            "--strategy coverage",
        ),
        (args.judge.relation != TestedRelation::Ioco, "--relation"),
        (
            target.is_foreign_model(),
            "a model without values as the system under test",
        ),
    ];
    let explicit = needs
        .iter()
        .find_map(|(asked, flag)| asked.then_some(*flag));
    let load = |data: &DataOptions| {
        let policy = args.judge.quiescence.policy();
        let options = (data, &args.values);
        SymbolicJudge::load_unless(explicit, model, options, policy, args.effort.seed, None)
    };
    // The solver may be meant for the model that plays the system alone.
    if args.data.solver.is_some() && target.played(false)?.is_some() {
        let without = DataOptions {
            solver: None,
            ..args.data.clone()
        };
        if load(&without)?.is_none() {
            return Ok(None);
        }
    }
    let Some(symbolic) = load(&args.data)? else {
        return Ok(None);
    };
    let symbolic = symbolic.against(target)?;
    Ok(Some(Judge::of_data(symbolic, &args.read, &args.judge)))
}

/// What a run needs to know beside tester, system and strategy.
pub(super) fn options(target: &Target, judge: &Judge, effort: &EffortOptions) -> Options {
    let mut options = Options {
        quiescence: target.config.quiescence(),
        on_exit: target.config.on_exit,
        kind: judge.kind().to_owned(),
        model: iolite_exec::ModelRef {
            file: Some(judge.model.path.display().to_string()),
            name: judge.model.name.clone(),
            hash: Some(judge.hash.clone()),
        },
        ..Options::default()
    };
    options.limits.steps = Some(effort.steps);
    options.limits.coverage = effort.until_coverage;
    options
}

/// An infrastructure fault, in the words of the engine; a bad description is the user's to mend.
pub(super) fn fault(error: &ExecError) -> Failure {
    match error {
        ExecError::Config(message) => Failure::input(message.clone()),
        _ => Failure::fault(error.to_string()),
    }
}

/// [SAFE04] take it that S ⊨ ω; where it is not so, the user hears of it first.
fn warn_of_violating_specification(
    reference: &ModelRef,
    read: &ReadOptions,
    judge: &Judge,
    args: &Args,
) -> Result<(), Failure> {
    if judge.observers().is_empty() {
        return Ok(());
    }
    let answers =
        super::verify::answers(reference, read, args.judge.quiescence, judge.observers())?;
    for (observer, answer) in judge.observers().iter().zip(answers) {
        if let iolite_derive::Satisfaction::Violated { trace, .. } = answer {
            eprintln!(
                "warning: the specification itself violates {}, after {}; the verdict is then \
                 `violate`",
                observer.name(),
                source::texts(judge.labels(), &trace).join(" ")
            );
        }
    }
    Ok(())
}
