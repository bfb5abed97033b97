//! `iolite test`: test a real system against a model, on the fly or with a stored suite.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolite_derive::{StoredTester, TestCase, Tester, Verdict};
use iolite_exec::report::{Console, JUnit, JsonLines};
use iolite_exec::{
    Adapter, ExecError, Fanout, Instance, JobId, JournalHeader, JournalWriter, Options, Plan,
    Strategy, Summary, Uniform, Weighted, campaign, chart,
};
use iolite_lts::LabelId;
use serde::Serialize;

use super::data_options::{DataOptions, ValueOptions};
use super::goals::{self, Goals, Traces};
use super::judge::{Judge, JudgeOptions, TestedRelation};
use super::property_run::{PropertyJudge, PropertyOptions};
use super::source::{self, ModelRef, ReadOptions};
use super::symbolic_run::SymbolicJudge;
use super::target::{Target, TargetOptions};
use super::{Exit, Failure, print, print_json};
use crate::CoverageGuide;

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
    data: DataOptions,
    #[command(flatten)]
    values: ValueOptions,
    /// Run stored test cases instead: JSON files, or folders of them
    #[arg(long, value_name = "PATH", num_args = 1..)]
    suite: Vec<PathBuf>,
    /// How often each stored test case is run
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u64,
    #[command(flatten)]
    pub(super) effort: EffortOptions,
    #[command(flatten)]
    report: ReportOptions,
    #[command(flatten)]
    pub(super) read: ReadOptions,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Effort")]
pub(super) struct EffortOptions {
    /// Steps of one run
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(super) steps: u64,
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 10)]
    runs: u64,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,
    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS")]
    time: Option<f64>,
    /// Stop after the first failing run
    #[arg(long)]
    stop_on_fail: bool,
    /// Stop when so much of the model's suspension automaton was seen, such as 100%
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    until_coverage: Option<f64>,
    /// How the next step is chosen
    #[arg(long, value_enum, default_value_t = StrategyFlag::Uniform)]
    strategy: StrategyFlag,
    /// Weights for stopping, stimulating and observing, such as 0,2,1 (strategy weighted)
    #[arg(
        long,
        value_name = "STOP,STIMULATE,OBSERVE",
        value_delimiter = ',',
        num_args = 1
    )]
    weights: Vec<f64>,
    /// Systems under test at the same time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Go on with other runs after the infrastructure failed in one
    #[arg(long)]
    keep_going: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum StrategyFlag {
    /// Stimulating and observing alike; with --observer or --purpose, mostly the shortest way there
    Uniform,
    /// By --weights
    Weighted,
    /// Towards transitions of the model that no run has seen yet
    Coverage,
}

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Reports")]
pub(super) struct ReportOptions {
    /// Where the runs are journaled as they happen
    #[arg(long, value_name = "FILE", default_value = "iolite.journal.jsonl")]
    pub(super) journal: PathBuf,
    /// Keep no journal
    #[arg(long)]
    no_journal: bool,
    /// Write the certificate of the first failing run to this file, for `iolite explain`
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Write a report in the XML of `JUnit`
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the stream of events as JSON lines
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%');
    let percent: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` is no percentage"))?;
    if (0.0..=100.0).contains(&percent) {
        Ok(percent / 100.0)
    } else {
        Err("a percentage is between 0 and 100".to_owned())
    }
}

/// Sets of the suspension automaton up to which coverage is recorded without being asked for.
const COVERAGE_LIMIT: usize = 20_000;

/// The same, where the user asks for coverage.
const COVERAGE_LIMIT_ASKED: usize = 5_000_000;

pub(super) type AnyTester = Box<dyn Tester<Action = LabelId>>;
type AnyAdapter = Box<dyn Adapter<LabelId>>;
pub(super) type AnyStrategy = Box<dyn Strategy<LabelId>>;

impl EffortOptions {
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let time = self.time.map(Duration::try_from_secs_f64).transpose();
        Ok(Plan {
            seed: self.seed,
            runs: self.runs,
            first: 0,
            jobs: self.jobs.max(1),
            time: time.map_err(|e| Failure::input(format!("--time: {e}")))?,
            stop_on_fail: self.stop_on_fail,
            stop_on_fault: !self.keep_going,
        })
    }

    fn strategy(&self, judge: &Judge) -> Result<AnyStrategy, ExecError> {
        let leads = self.strategy == StrategyFlag::Coverage;
        let asked = leads || self.until_coverage.is_some();
        let limit = if asked {
            COVERAGE_LIMIT_ASKED
        } else {
            COVERAGE_LIMIT
        };
        let choice: AnyStrategy = match self.weights.as_slice() {
            [stop, stimulate, observe] => Box::new(Weighted {
                stop: *stop,
                stimulate: *stimulate,
                observe: *observe,
                stimuli: Vec::new(),
            }),
            _ => Box::new(Uniform),
        };
        Ok(match judge.shadow(limit)? {
            Some(shadow) if leads => Box::new(CoverageGuide::leading(shadow, choice)),
            Some(shadow) => Box::new(CoverageGuide::recording(shadow, choice)),
            None if asked => {
                return Err(ExecError::Config(format!(
                    "the model's suspension automaton has more than {limit} states, too many to \
                     measure coverage"
                )));
            }
            None => choice,
        })
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let effort = &args.effort;
    if (effort.strategy == StrategyFlag::Weighted) != (effort.weights.len() == 3) {
        return Err(Failure::input(
            "--strategy weighted and --weights STOP,STIMULATE,OBSERVE belong together",
        ));
    }
    let target = Target::new(&args.target, &args.read)?;
    let judge = judge(args, &target)?;
    if let Some(model) = &args.model {
        warn_of_violating_specification(model, &args.read, &judge, args)?;
    }
    let options = options(&target, &judge, effort);
    if !args.suite.is_empty() {
        return run_suite(args, &target, &judge, &options);
    }
    let plan = effort.plan()?;
    let mut sinks = sinks(&args.report, &target, &judge, effort.seed, "iolite test")?;
    let traces = Traces::default();
    let with_goals = args.judge.observer.len() + args.judge.purpose.len() > 0;
    if with_goals {
        sinks.0.push(Box::new(traces.clone()));
    }
    let summary = campaign(&plan, &options, &mut sinks, |job| {
        if effort.strategy == StrategyFlag::Uniform
            && let Some((tester, strategy)) = judge.towards_goal()?
        {
            let adapter = target.adapter(job, judge.labels())?;
            return Ok(Instance {
                tester,
                adapter,
                strategy,
            });
        }
        let (tester, adapter) = judge.pair(&target, job)?;
        Ok(Instance {
            tester,
            adapter,
            strategy: effort.strategy(&judge)?,
        })
    });
    let summary = summary.map_err(|e| fault(&e))?;
    drop(sinks);
    let goals = if with_goals {
        traces.judge(&judge)?
    } else {
        Goals::new()
    };
    conclude(&args.report, &judge, effort.seed, &summary, &goals)
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
            target.config.model.is_some(),
            "a model as the system under test",
        ),
    ];
    let explicit = needs
        .iter()
        .find_map(|(asked, flag)| asked.then_some(*flag));
    let symbolic = match explicit {
        Some(_) => None,
        None => SymbolicJudge::load(
            model,
            &args.data,
            &args.values,
            args.judge.quiescence.policy(),
            args.effort.seed,
        )?,
    };
    let given = args.data.given().or_else(|| args.values.given());
    match (symbolic, given, explicit) {
        (Some(symbolic), ..) => Ok(Some(Judge::of_data(symbolic, &args.read, &args.judge))),
        (None, None, _) => Ok(None),
        (None, Some(flag), Some(reason)) => Err(Failure::input(format!(
            "{flag} is for models whose data are solved for, and {reason} needs them unfolded"
        ))
        .hint("give constants with the model, as in `FILE#Sender(max = 3)`")),
        (None, Some(flag), None) => Err(Failure::input(format!(
            "{flag} is for models with data, and {model} has none"
        ))),
    }
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

/// [Rusu et al. 2004] take it that S ⊨ ω; where it is not so, the user hears of it first.
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

fn create(path: &Path) -> Result<std::fs::File, Failure> {
    std::fs::File::create(path).map_err(|e| Failure::writing(path, &e))
}

/// Journal first, then what else was asked for.
fn sinks(
    report: &ReportOptions,
    target: &Target,
    judge: &Judge,
    seed: u64,
    suite: &str,
) -> Result<Fanout<'static>, Failure> {
    let mut sinks = Fanout::default();
    if !report.no_journal {
        let sut = serde_json::to_value(&target.config)
            .map_err(|e| Failure::fault(format!("writing JSON: {e}")))?;
        let model = iolite_exec::ModelRef {
            file: Some(judge.model.path.display().to_string()),
            name: judge.model.name.clone(),
            hash: Some(judge.hash.clone()),
        };
        let mut header = JournalHeader::new(judge.kind(), model, seed, sut);
        header.command = std::env::args().collect();
        let journal = JournalWriter::create(&report.journal, &header).map_err(|e| fault(&e))?;
        sinks.0.push(Box::new(journal));
    }
    if let Some(path) = &report.events {
        sinks.0.push(Box::new(JsonLines(create(path)?)));
    }
    if let Some(path) = &report.junit {
        sinks.0.push(Box::new(JUnit::new(create(path)?, suite)));
    }
    if std::io::stderr().is_terminal() {
        sinks
            .0
            .push(Box::new(Console::new(std::io::stderr(), true)));
    }
    Ok(sinks)
}

#[derive(Serialize)]
struct Document<'a> {
    verdict: Option<Verdict>,
    verdicts: &'a std::collections::BTreeMap<Verdict, u64>,
    runs: u64,
    steps: u64,
    seed: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<iolite_exec::Coverage>,
    failures: Vec<&'a iolite_exec::Certificate>,
    /// Each observer or purpose, judged alone on the same runs.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    goals: &'a Goals,
    /// The properties that the first failing run violates, where properties judge alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violated: Vec<String>,
    faults: Vec<FaultDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<String>,
}

#[derive(Serialize)]
struct FaultDocument {
    run: u64,
    code: &'static str,
    message: String,
}

fn conclude(
    report: &ReportOptions,
    judge: &Judge,
    seed: u64,
    summary: &Summary,
    goals: &Goals,
) -> Result<Exit, Failure> {
    let first = summary.failures.values().next().map(|c| judge.blame(c));
    if let (Some(path), Some((certificate, _))) = (&report.certificate, &first) {
        let text = serde_json::to_vec_pretty(certificate)
            .map_err(|e| Failure::fault(format!("writing JSON: {e}")))?;
        super::failure::write_whole(path, &text)?;
    }
    if report.json {
        print_json(&Document {
            verdict: judge.overall(summary),
            verdicts: &summary.verdicts,
            runs: summary.runs(),
            steps: summary.steps,
            seed,
            seconds: summary.elapsed.as_secs_f64(),
            coverage: summary.coverage,
            failures: summary.failures.values().collect(),
            goals,
            violated: first.map(|(_, names)| names).unwrap_or_default(),
            faults: summary
                .faults
                .iter()
                .map(|(&run, e)| FaultDocument {
                    run,
                    code: e.code(),
                    message: e.to_string(),
                })
                .collect(),
            journal: (!report.no_journal).then(|| report.journal.display().to_string()),
        })?;
    } else {
        print(&tell(report, judge, summary))?;
        print(&goals::tell(goals))?;
    }
    Ok(exit(judge.overall(summary), summary))
}

/// A failing verdict is proved by its trace, whatever went wrong beside it; without one, a fault
/// outweighs everything.
pub(super) fn exit(verdict: Option<Verdict>, summary: &Summary) -> Exit {
    match verdict {
        Some(verdict) if verdict.is_failing() => Exit::Fails,
        _ if !summary.faults.is_empty() => Exit::Fault,
        Some(Verdict::Pass | Verdict::WeakPass) => Exit::Holds,
        _ => Exit::Inconclusive,
    }
}

fn tell(report: &ReportOptions, judge: &Judge, summary: &Summary) -> String {
    let mut text = String::new();
    if let Some((run, certificate)) = summary.failures.iter().next() {
        text += &format!(
            "run {run}: {}\n\n{}",
            certificate.verdict,
            chart(certificate)
        );
        let (_, violated) = judge.blame(certificate);
        if !violated.is_empty() {
            text += &format!("violates: {}\n", violated.join(", "));
        }
        if !report.no_journal {
            let journal = report.journal.display();
            text += &format!("  replay:   iolite replay {journal} --run {run}\n");
            text += &format!("  shrink:   iolite shrink {journal} --run {run}\n");
        }
        text.push('\n');
    }
    for (run, error) in &summary.faults {
        text += &format!("run {run}: no verdict: {error}\n");
    }
    let counts: Vec<String> = summary
        .verdicts
        .iter()
        .map(|(verdict, n)| format!("{n} {verdict}"))
        .collect();
    let counts = if counts.is_empty() {
        "no verdict".to_owned()
    } else {
        counts.join(", ")
    };
    let title = match judge.properties() {
        Some(properties) => properties.title(),
        None => format!("{} {}", judge.model, judge.kind()),
    };
    text += &format!(
        "{title}: {counts}; {} runs, {} steps in {:.1} s",
        summary.runs(),
        summary.steps,
        summary.elapsed.as_secs_f64()
    );
    if let Some(coverage) = summary.coverage {
        text += &format!(
            "; {} of {} transitions of the suspension automaton seen",
            coverage.seen, coverage.total
        );
    }
    text.push('\n');
    if judge.properties().is_some() {
        if judge.overall(summary) == Some(Verdict::Unknown) {
            text += "unknown means: no run settled the property, and nothing wrong was seen\n";
        }
    } else if summary.verdict() == Some(Verdict::Pass) && summary.faults.is_empty() {
        text += "pass means: nothing wrong was seen in these runs; testing cannot show more\n";
    }
    text
}

/// The test cases of files and folders, in the order of their names.
pub(super) fn read_suite(paths: &[PathBuf]) -> Result<Vec<(PathBuf, TestCase)>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = std::fs::read_dir(path).map_err(|e| Failure::reading(path, &e))?;
            let mut inside: Vec<PathBuf> = entries
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|p| p.extension().is_some_and(|e| e == "json"))
                .collect();
            inside.sort();
            files.extend(inside);
        } else {
            files.push(path.clone());
        }
    }
    let read = |path: PathBuf| {
        let bytes = source::read(&path)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::input(format!("{}: no UTF-8 text", path.display())))?;
        let case = TestCase::from_json(&text)
            .map_err(|e| Failure::input(format!("{}: {e}", path.display())))?;
        Ok((path, case))
    };
    let cases = files
        .into_iter()
        .map(read)
        .collect::<Result<Vec<_>, Failure>>()?;
    if cases.is_empty() {
        return Err(Failure::input("the suite holds no test case (*.json)"));
    }
    Ok(cases)
}

#[derive(Serialize)]
struct CaseDocument {
    case: String,
    file: String,
    verdict: Option<Verdict>,
    verdicts: std::collections::BTreeMap<Verdict, u64>,
    faults: usize,
}

fn run_suite(
    args: &Args,
    target: &Target,
    judge: &Judge,
    options: &Options,
) -> Result<Exit, Failure> {
    let cases = read_suite(&args.suite)?;
    let mut sinks = sinks(
        &args.report,
        target,
        judge,
        args.effort.seed,
        "iolite test --suite",
    )?;
    let mut documents = Vec::new();
    let mut all = Summary::default();
    let mut plan = Plan {
        runs: args.repeat,
        jobs: 1,
        ..args.effort.plan()?
    };
    for (path, case) in cases {
        let labels = case.labels().clone();
        let mut options = options.clone();
        options.limits.steps = None;
        case.relation().clone_into(&mut options.kind);
        let summary = campaign(&plan, &options, &mut sinks, |job: JobId| {
            Ok(Instance::<AnyTester, AnyAdapter, AnyStrategy> {
                tester: Box::new(StoredTester::new(case.clone())),
                adapter: target.adapter(job, &labels)?,
                strategy: Box::new(Uniform),
            })
        });
        let summary = summary.map_err(|e| fault(&e))?;
        plan.first += args.repeat;
        documents.push(CaseDocument {
            case: case.name().to_owned(),
            file: path.display().to_string(),
            verdict: summary.verdict(),
            verdicts: summary.verdicts.clone(),
            faults: summary.faults.len(),
        });
        let stop = args.effort.stop_on_fail && summary.verdict().is_some_and(Verdict::is_failing)
            || !summary.faults.is_empty() && !args.effort.keep_going;
        merge(&mut all, summary);
        if stop {
            break;
        }
    }
    drop(sinks);
    if args.report.json {
        print_json(&documents)?;
        return Ok(exit(all.verdict(), &all));
    }
    for CaseDocument {
        case,
        verdicts,
        faults,
        ..
    } in &documents
    {
        let counts: Vec<String> = verdicts.iter().map(|(v, n)| format!("{n} {v}")).collect();
        let faults = if *faults > 0 {
            ", no verdict in some"
        } else {
            ""
        };
        print(&format!("{case}: {}{faults}\n", counts.join(", ")))?;
    }
    conclude(&args.report, judge, args.effort.seed, &all, &Goals::new())
}

fn merge(all: &mut Summary, more: Summary) {
    for (verdict, n) in more.verdicts {
        *all.verdicts.entry(verdict).or_default() += n;
    }
    all.faults.extend(more.faults);
    all.failures.extend(more.failures);
    all.steps += more.steps;
    all.elapsed += more.elapsed;
}
