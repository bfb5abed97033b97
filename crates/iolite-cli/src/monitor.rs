//! `iolite monitor`: passive testing of a log recorded elsewhere.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::time::Duration;

use iolite_derive::Verdict;
use iolite_exec::codec::Template;
use iolite_exec::{
    ExecError, Journal, LogFormat, LogReader, MonitorOptions, Monitored, SutConfig, chart,
    monitor_watched,
};
use iolite_lts::Labels;
use serde::Serialize;

use super::data_options::{DataOptions, ValueOptions};
use super::judge::{Judge, JudgeOptions, TestedRelation};
use super::learnt::Constants;
use super::property_run::{PropertyJudge, PropertyOptions};
use super::property_source::{PropertyRef, is_property};
use super::source::{ModelRef, ReadOptions};
use super::symbolic_run::SymbolicJudge;
use super::test::fault;
use super::time_limit::{TimeLimit, Watch};
use super::{Exit, Failure, print, print_json, property_monitor};

/// Judge a recorded log by a model
///
/// JSON lines: a journal of ours, {"action":"?a"}, or {"input":"a","args":[1]} and
/// {"output":"x"}, with "time" in seconds where silence counts. Text: a line an action, read by the
/// templates of a system's description.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The specification, or a property: FILE.iol#P, FILE.hoa, FILE.xml or ltl:FORMULA
    model: ModelRef,
    /// The log
    log: PathBuf,
    #[command(flatten)]
    judge: JudgeOptions,
    #[command(flatten)]
    properties: PropertyOptions,
    #[command(flatten)]
    data: DataOptions,
    /// How the log is written [default: json for .jsonl and .json, else text]
    #[arg(long, value_enum)]
    log_format: Option<LogKind>,
    /// The description of the system whose templates read a text log
    #[arg(long, value_name = "TOML")]
    templates: Option<PathBuf>,
    /// What stands before a message of a text log, such as "{time} {message}"
    #[arg(long, value_name = "TEMPLATE")]
    prefix: Option<String>,
    /// Leave out lines that fit nothing, instead of an error
    #[arg(long)]
    skip_other: bool,
    /// A gap of so many milliseconds between two lines is quiescence
    #[arg(long, value_name = "MS")]
    quiescence_ms: Option<u64>,
    /// Judge this run of a journal alone
    #[arg(long, value_name = "N")]
    run: Option<u64>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    time_limit: TimeLimit,
    #[command(flatten)]
    read: ReadOptions,
}

/// Bytes of a journal's header.
const HEADER: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogKind {
    Json,
    Text,
}

#[derive(Serialize)]
struct Document {
    verdict: Verdict,
    steps: u64,
    /// The runs of a journal, and the one that the verdict is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<u64>,
    /// The line where the verdict came, from 1.
    line: Option<usize>,
    /// Why the verdict is no `pass` and no `fail`, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<iolite_exec::Certificate>,
    /// What the log tells of constants that were left unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    constants: Option<Constants>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut watch = args.time_limit.start()?;
    if let Some(symbolic) = data_judge(args, &watch)? {
        return run_symbolic(args, &symbolic, &mut watch);
    }
    let judge = judge(args)?;
    let options = options(args, judge.kind(), &judge.model, &judge.hash);
    if let Some(properties) = judge.properties() {
        let mut log = match runs(args)?.as_slice() {
            [one] => log(args, *one)?,
            several => {
                return Err(Failure::input(format!(
                    "{}: a journal of {} runs, and a property judges one at a time",
                    args.log.display(),
                    several.len()
                ))
                .hint("pick one with --run N"));
            }
        };
        return property_monitor::run(properties, &mut log, &options, args.json, &mut watch);
    }
    let mut tester = judge.tester().map_err(|e| fault(&e))?;
    let parse = |text: &str| judge.parse(text);
    conclude(args, None, |log| {
        let watched = &mut |steps, line| look(&mut watch, steps, line);
        let monitored = monitor_watched(&mut tester, log, &parse, &options, watched);
        watch.finish();
        monitored
    })
}

/// Shows how far the log was read, and says why it is not read on when the time is up.
pub(super) fn look(watch: &mut Watch, steps: u64, line: usize) -> Option<String> {
    watch.report(|| format!("line {line}, {steps} steps"));
    watch.time_is_up()
}

/// The runs of a journal, each a trace of its own; any other log is one trace.
fn runs(args: &Args) -> Result<Vec<Option<u64>>, Failure> {
    let journal = match format(args)? {
        LogFormat::JsonLines => {
            let mut first = String::new();
            let file = File::open(&args.log).map_err(|e| Failure::reading(&args.log, &e))?;
            let read = BufReader::new(file).take(HEADER).read_line(&mut first);
            let header = read.is_ok().then(|| serde_json::from_str(&first).ok());
            let header: Option<serde_json::Value> = header.flatten();
            header.is_some_and(|header| header.get("journal").is_some())
        }
        LogFormat::Text { .. } => false,
    };
    if !journal {
        return match args.run {
            None => Ok(vec![None]),
            Some(_) => Err(Failure::input("--run is for journals, which have runs")),
        };
    }
    let journal = Journal::read(&args.log).map_err(|e| Failure::input(e.to_string()))?;
    let wanted = |n: &u64| args.run.is_none_or(|run| run == *n);
    let numbers = journal.runs().map(|id| id.number).filter(wanted);
    let runs: Vec<Option<u64>> = numbers.map(Some).collect();
    if runs.is_empty() {
        return Err(Failure::input(format!(
            "{}: no such run; it has {} runs",
            args.log.display(),
            journal.runs().count()
        )));
    }
    Ok(runs)
}

/// A model with data is judged as it is, unless something is asked for that needs it unfolded.
fn data_judge(args: &Args, watch: &Watch) -> Result<Option<SymbolicJudge>, Failure> {
    let needs = [
        (args.data.unfold, "--unfold"),
        (!args.judge.observer.is_empty(), "--observer"),
        (!args.judge.purpose.is_empty(), "--purpose"),
        (args.judge.relation != TestedRelation::Ioco, "--relation"),
    ];
    let explicit = needs
        .iter()
        .find_map(|(asked, flag)| asked.then_some(*flag));
    if is_property(&args.model)? {
        return Ok(None);
    }
    SymbolicJudge::load_unless(
        explicit,
        &args.model,
        (&args.data, &ValueOptions::default()),
        args.judge.quiescence.policy(),
        0,
        watch.until(),
    )
}

fn run_symbolic(args: &Args, judge: &SymbolicJudge, watch: &mut Watch) -> Result<Exit, Failure> {
    if !args.properties.property.is_empty() {
        return Err(property_beside_system(args));
    }
    let options = options(args, "ioco", &judge.reference, &judge.hash);
    let mut tester = judge.valued_tester()?;
    let parse = |text: &str| judge.parse_valued(text);
    conclude(args, Some(judge), |log| {
        let watched = &mut |steps, line| look(watch, steps, line);
        let monitored = monitor_watched(&mut tester, log, &parse, &options, watched);
        watch.finish();
        let mut monitored = monitored?;
        if monitored.verdict == Verdict::Unknown && monitored.broken_off.is_none() {
            // The limit may have passed in the middle of a step.
            monitored.broken_off = watch.time_is_up();
        }
        if monitored.broken_off.is_none() {
            // People read it here, programs in the document.
            judge.tell_doubt(&tester);
            let doubt = tester.doubt().filter(|_| args.json);
            monitored.broken_off = doubt.map(|doubt| doubt.reason.to_string());
        }
        judge.learn(&mut tester);
        Ok(monitored)
    })
}

type Log = LogReader<BufReader<File>>;

fn log(args: &Args, run: Option<u64>) -> Result<Log, Failure> {
    let file = File::open(&args.log).map_err(|e| Failure::reading(&args.log, &e))?;
    let name = args.log.display().to_string();
    let log = LogReader::new(BufReader::new(file), &name, format(args)?);
    Ok(match run {
        Some(run) => log.of_run(run),
        None => log,
    })
}

fn options(args: &Args, kind: &str, model: &ModelRef, hash: &str) -> MonitorOptions {
    MonitorOptions {
        quiescence: args.quiescence_ms.map(Duration::from_millis),
        kind: kind.to_owned(),
        model: iolite_exec::ModelRef {
            file: Some(model.path.display().to_string()),
            name: model.name.clone(),
            hash: Some(hash.to_owned()),
        },
    }
}

/// Judges each trace of the log, and tells the worst verdict.
fn conclude(
    args: &Args,
    symbolic: Option<&SymbolicJudge>,
    mut judge: impl FnMut(&mut Log) -> Result<Monitored, ExecError>,
) -> Result<Exit, Failure> {
    let runs = runs(args)?;
    let mut worst: Option<(Option<u64>, Monitored)> = None;
    let mut all = 0;
    for &run in &runs {
        let monitored = judge(&mut log(args, run)?).map_err(|e| Failure::input(e.to_string()))?;
        all += monitored.steps;
        if worst
            .as_ref()
            .is_none_or(|(_, w)| rank(monitored.verdict) < rank(w.verdict))
        {
            worst = Some((run, monitored));
        }
    }
    let Some((run, monitored)) = worst else {
        return Err(Failure::input(format!(
            "{}: no run to judge",
            args.log.display()
        )));
    };
    let Monitored {
        verdict,
        line,
        certificate,
        broken_off: reason,
        ..
    } = monitored;
    let steps = all;
    // A log in which nothing was recognised says nothing, least of all that all is well.
    let verdict = if steps == 0 {
        Verdict::Unknown
    } else {
        verdict
    };
    let document = Document {
        verdict,
        steps,
        runs: run.is_some().then_some(runs.len()),
        run,
        line,
        reason,
        certificate,
        constants: symbolic.and_then(SymbolicJudge::constants),
    };
    if args.json {
        print_json(&document)?;
    } else {
        print(&tell(args, &document))?;
    }
    Ok(match verdict {
        verdict if verdict.is_failing() => Exit::Fails,
        Verdict::Pass | Verdict::WeakPass => Exit::Holds,
        _ => Exit::Inconclusive,
    })
}

/// How bad a verdict is, the worst first.
fn rank(verdict: Verdict) -> u8 {
    match verdict {
        verdict if verdict.is_failing() => 0,
        Verdict::Unknown => 1,
        Verdict::Inconc => 2,
        _ => 3,
    }
}

fn judge(args: &Args) -> Result<Judge, Failure> {
    if is_property(&args.model)? {
        let mut options = args.properties.clone();
        options.property.insert(0, PropertyRef::from(&args.model));
        let properties = PropertyJudge::new(&options)?;
        return Ok(Judge::of_properties(properties, &args.read, &args.judge));
    }
    if !args.properties.property.is_empty() {
        return Err(property_beside_system(args));
    }
    Judge::new(&args.model, &args.read, &args.judge, Labels::new())
}

fn property_beside_system(args: &Args) -> Failure {
    Failure::input(format!(
        "{} is a system, and --property judges without one",
        args.model
    ))
    .hint("give the first property in place of the model")
}

fn format(args: &Args) -> Result<LogFormat, Failure> {
    let ending = args.log.extension().and_then(|e| e.to_str());
    let json = match args.log_format {
        Some(kind) => kind == LogKind::Json,
        None => matches!(ending, Some("json" | "jsonl" | "ndjson")),
    };
    if json {
        return Ok(LogFormat::JsonLines);
    }
    let config = match &args.templates {
        Some(path) => SutConfig::load(path).map_err(|e| fault(&e))?,
        None => SutConfig::default(),
    };
    let mut inputs = Vec::new();
    for (name, action) in &config.actions {
        if let Some(send) = &action.send {
            let template =
                Template::parse(send).map_err(|e| Failure::input(format!("action {name}: {e}")))?;
            inputs.push((name.clone(), template));
        }
    }
    let prefix = args
        .prefix
        .as_ref()
        .map(|text| Template::parse(text))
        .transpose();
    Ok(LogFormat::Text {
        prefix: prefix.map_err(|e| Failure::input(format!("--prefix: {e}")))?,
        inputs,
        outputs: config.action_map().map_err(|e| fault(&e))?,
        skip_other: args.skip_other,
    })
}

fn tell(args: &Args, document: &Document) -> String {
    let log = args.log.display();
    let Document {
        verdict,
        steps,
        runs,
        run,
        line,
        reason,
        certificate,
        constants,
    } = document;
    let constants = constants.as_ref().map(Constants::tell).unwrap_or_default();
    let reason = reason
        .as_ref()
        .map(|r| format!(": {r}"))
        .unwrap_or_default();
    let chart = certificate.as_ref().map(chart).unwrap_or_default();
    if let (Some(runs), Some(run)) = (runs, run) {
        let which = if *runs > 1 && rank(*verdict) < 3 {
            format!(", first in run {run}")
        } else {
            String::new()
        };
        return format!(
            "{chart}{log}: {verdict}{which}; {runs} runs, {steps} steps{reason}\n{constants}"
        );
    }
    match line {
        Some(line) => {
            format!("{chart}{log}:{line}: {verdict} after {steps} steps{reason}\n{constants}")
        }
        None => format!("{chart}{log}: {verdict}, {steps} steps{reason}\n{constants}"),
    }
}
