//! `iolite monitor`: passive testing of a log recorded elsewhere.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolite::{
    Certificate, Channel, Constants, Context, Error, JournalRun, Judge, JudgeOptions, JudgedBy,
    LogReport, ModelRef, Monitor, Notice, PropertyJudge, QueueOptions, ReadOptions, Verdict,
    WholeCertificate, Workspace, save_query,
};
use iolite_exec::codec::Template;
use iolite_exec::{
    COMPACT_ENDING, LogEntry, LogFormat, LogReader, SutConfig, chart, journal_lines,
};
use serde::Serialize;

use super::monitor_properties;
use crate::args::bounds::{self, Watch};
use crate::args::data::{DataArgs, ValueArgs};
use crate::args::judge::JudgeArgs;
use crate::args::property::PropertyArgs;
use crate::args::workspace;
use crate::output::certificates::{Certificates, Certified, Claim, FailureDocument};
use crate::output::{Exit, print, print_json, write_json};

/// Judge a recorded log by a model
///
/// JSON lines: a journal of ours, {"action":"?a"}, or {"input":"a","args":[1]} and
/// {"output":"x"}, with "time" in seconds where silence counts. Text: a line an action, read by the
/// templates of a system's description.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The specification, or a property: FILE.iol#P, FILE.hoa, FILE.xml or ltl:FORMULA; it may be left
    /// out where --property judges
    model: ModelRef,
    /// The log
    #[arg(required_unless_present = "property")]
    log: Option<PathBuf>,
    #[command(flatten)]
    judge: JudgeArgs,
    #[command(flatten)]
    properties: PropertyArgs,
    #[command(flatten)]
    data: DataArgs,
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
    /// Draw the tester of the property with the way that the log took through it, as SVG; for one property
    #[arg(long, value_name = "SVG")]
    picture: Option<PathBuf>,
    /// Write the certificate of a failing verdict to this file, for `iolite explain`
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadOptions,
}

impl Args {
    /// The log: what stands alone is the log.
    fn log(&self) -> &Path {
        self.log.as_deref().unwrap_or_else(|| self.model.path())
    }

    /// The specification or first property; none where --property judges alone.
    fn model(&self) -> Option<&ModelRef> {
        self.log.as_ref().map(|_| &self.model)
    }
}

/// Bytes of a journal's header.
const HEADER: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LogKind {
    Json,
    Text,
}

#[derive(Serialize)]
struct Document<'a> {
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
    /// The failing runs, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<FailureDocument<'a>>,
    /// What their certificates have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<&'a Claim>,
    /// Certificates that could not be made, and why.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    /// The whole certificate of the run that the verdict is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<&'a WholeCertificate>,
    /// What people are shown of it.
    #[serde(skip)]
    shown: Option<Certificate>,
    /// What the log shows about constants that were left unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    constants: Option<Constants>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let mut watch = bounds::watch();
    let workspace = workspace(&args.read);
    let judge = judge(args, &workspace, &watch)?;
    let quiescence = args.quiescence_ms.map(Duration::from_millis);
    let monitor = Monitor::new(judge, quiescence).recording(args.picture.is_some());
    if monitor.judge().properties().is_none() && args.picture.is_some() {
        return Err(Error::input(
            "--picture draws the tester of a property, and a model judges here",
        )
        .hint("judge by the property alone"));
    }
    if monitor.judge().properties().is_some() {
        let mut log = log(args, only_run(args)?)?;
        let mut options = args.properties.options();
        if let Some(first) = args.model() {
            options.properties.insert(0, first.clone());
        }
        let certify = |judged: &Certificate, _: bool| {
            certified(args, &workspace, judged, JudgedBy::Properties(&options))
        };
        let picture = args.picture.as_deref();
        return monitor_properties::run(
            &monitor, &mut log, args.json, &mut watch, &certify, picture,
        );
    }
    let beside = beside(args, &workspace)?;
    if !beside.is_empty() {
        let mut options = args.properties.options();
        options.properties = beside;
        let judge = PropertyJudge::beside(&workspace, &options, &args.model)?;
        let properties_alone = options;
        let run = only_run(args)?;
        let properties = Monitor::new(Judge::Properties(judge), quiescence);
        let conformance = judged(args, &monitor, run, &mut watch)?;
        let mut log = log(args, run)?;
        let options = judge_options(args, &workspace, &watch)?;
        let certify = |judged: &Certificate, by_model: bool| {
            if by_model {
                return certified(args, &workspace, judged, JudgedBy::Model(&options));
            }
            let alone = properties_alone.read_beside(&workspace, &judged.model, &args.model)?;
            certified(args, &workspace, judged, JudgedBy::Properties(&alone))
        };
        let both = (&properties, conformance);
        return monitor_properties::run_beside(both, &mut log, args.json, &mut watch, &certify);
    }
    conclude(args, &workspace, &monitor, &mut watch)
}

/// A property judges one trace at a time.
fn only_run(args: &Args) -> Result<Option<u64>, Error> {
    match runs(args)?.as_slice() {
        [one] => Ok(*one),
        several => Err(Error::input(format!(
            "{}: a journal of {} runs, and a property judges one at a time",
            args.log().display(),
            several.len()
        ))
        .hint("pick one with --run N")),
    }
}

/// What the log is judged by.
fn judge(args: &Args, workspace: &Workspace, watch: &Watch) -> Result<Judge, Error> {
    let Some(model) = args.model() else {
        args.judge.reject_context_of_properties()?;
        let judge = PropertyJudge::new(workspace, &args.properties.options());
        return judge.map(Judge::Properties);
    };
    if workspace.is_property(model)? {
        args.judge.reject_context_of_properties()?;
        let mut options = args.properties.options();
        options.properties.insert(0, model.clone());
        return PropertyJudge::new(workspace, &options).map(Judge::Properties);
    }
    if let Some(flag) = args.properties.idle_beside_model()
        && beside(args, workspace)?.is_empty()
    {
        return Err(Error::input(format!(
            "{flag} has no effect with {model}: it is for properties"
        )));
    }
    Judge::new(workspace, model, &judge_options(args, workspace, watch)?)
}

/// The whole certificate of a failing verdict, written where that is asked for, or why there is none.
fn certified(
    args: &Args,
    workspace: &Workspace,
    judged: &Certificate,
    by: JudgedBy<'_>,
) -> Result<Certified, Error> {
    let whole = workspace.certify_run(judged, by)?;
    if let (Some(path), Ok(whole)) = (&args.certificate, &whole) {
        write_json(path, whole)?;
    }
    Ok(whole)
}

/// The properties beside a model that are declared as such; others are observers.
fn beside(args: &Args, workspace: &Workspace) -> Result<Vec<ModelRef>, Error> {
    let mut found = Vec::new();
    for reference in &args.properties.property {
        if workspace.means_property(reference)? {
            found.push(reference.clone());
        }
    }
    Ok(found)
}

fn judge_options(args: &Args, workspace: &Workspace, watch: &Watch) -> Result<JudgeOptions, Error> {
    let values = ValueArgs::default();
    let mut options = args.judge.options(&args.data, &values, None, 0);
    for reference in &args.properties.property {
        if !workspace.means_property(reference)? {
            options.observers.push(reference.clone());
        }
    }
    options.data.until = watch.until();
    // A journal of ours says what lay between.
    let header = header(args)?.unwrap_or_default();
    let context = args.judge.context.unwrap_or(header.context);
    options.queues = (context == Context::Queues).then(|| QueueOptions {
        passive: true,
        channels: header.channels.into(),
        ..QueueOptions::default()
    });
    Ok(options)
}

/// Shows how far the log was read, and says why it is not read on when the time is up.
pub(crate) fn look(watch: &mut Watch, steps: u64, line: usize) -> Option<String> {
    // A clock costs more than a step.
    if !watch.is_due() {
        return None;
    }
    watch.report(|| format!("line {line}, {steps} steps"));
    watch.exceeded()
}

/// What the first line of a journal says that matters here.
#[derive(Default, serde::Deserialize)]
struct Header {
    #[serde(rename = "journal")]
    _journal: serde_json::Value,
    #[serde(default)]
    context: Context,
    #[serde(default)]
    channels: Vec<Channel>,
}

/// The header of a journal; `None` for any other log.
fn header(args: &Args) -> Result<Option<Header>, Error> {
    if matches!(format(args)?, LogFormat::Text { .. }) {
        return Ok(None);
    }
    let mut first = String::new();
    let read = lines(args)?.take(HEADER).read_line(&mut first);
    let header = read.is_ok().then(|| serde_json::from_str(&first).ok());
    Ok(header.flatten())
}

/// The runs of a journal, each a trace of its own; any other log is one trace.
fn runs(args: &Args) -> Result<Vec<Option<u64>>, Error> {
    if header(args)?.is_none() {
        return match args.run {
            None => Ok(vec![None]),
            Some(_) => Err(Error::input("--run is for journals, which have runs")),
        };
    }
    let mut runs = started(args)?;
    let all = runs.len();
    runs.retain(|&run| args.run.is_none_or(|wanted| wanted == run));
    if runs.is_empty() {
        return Err(no_such_run(args, all));
    }
    Ok(runs.into_iter().map(Some).collect())
}

/// The numbers of the runs of a journal, in the order in which they began.
fn started(args: &Args) -> Result<Vec<u64>, Error> {
    let mut journal = log(args, None)?;
    let mut runs = Vec::new();
    while let Some(entry) = journal.entry().map_err(|e| Error::input(e.to_string()))? {
        if let LogEntry::RunStarted(run) = entry {
            runs.push(run);
        }
    }
    Ok(runs)
}

type Log = LogReader<Box<dyn BufRead>>;

/// The lines of the log; those of a journal in the compact form as if it were in the other one.
fn lines(args: &Args) -> Result<Box<dyn BufRead>, Error> {
    let reading = |e: &std::io::Error| Error::reading(args.log(), e);
    let file = File::open(args.log()).map_err(|e| reading(&e))?;
    journal_lines(BufReader::new(file)).map_err(|e| reading(&e))
}

fn no_such_run(args: &Args, all: usize) -> Error {
    let log = args.log().display();
    Error::input(format!("{log}: no such run; it has {all} runs"))
}

fn log(args: &Args, run: Option<u64>) -> Result<Log, Error> {
    let name = args.log().display().to_string();
    let log = LogReader::new(lines(args)?, &name, format(args)?);
    Ok(match run {
        Some(run) => log.of_run(run),
        None => log,
    })
}

/// Judges a trace of the log, and why it was not judged to its end where it was not.
fn judged(
    args: &Args,
    monitor: &Monitor,
    run: Option<u64>,
    watch: &mut Watch,
) -> Result<LogReport, Error> {
    let mut log = log(args, run)?;
    let report = monitor.log(&mut log, &mut |steps, line| look(watch, steps, line));
    Ok(told(args, monitor, watch, report?))
}

/// Tells of what is notable about a trace that was judged.
fn told(args: &Args, monitor: &Monitor, watch: &Watch, mut report: LogReport) -> LogReport {
    if report.verdict == Verdict::Unknown && report.broken_off.is_none() {
        // The limit may have passed in the middle of a step.
        report.broken_off = watch.exceeded();
    }
    let broken_off = report.broken_off.is_some();
    for notice in &report.notices {
        let Some(mut text) = monitor.judge().warning(notice) else {
            continue;
        };
        if let Notice::Undecided(why) = notice {
            if broken_off {
                continue;
            }
            text += &save_query(&why.query, &args.data.unknown_query);
            // People read it here, programs in the document.
            report.broken_off = args.json.then(|| why.reason.to_string());
        }
        say!("{text}");
    }
    report
}

/// What the traces of a log come to together.
#[derive(Default)]
struct Together {
    /// How many runs of a journal there are.
    runs: Option<usize>,
    steps: u64,
    notices: Vec<Notice>,
    /// The worst of them, the earliest of these.
    worst: Option<(JournalRun, LogReport)>,
    /// What the failing runs showed, by their order.
    failures: BTreeMap<usize, Certificate>,
    /// How many more there are.
    dropped: usize,
}

/// Failing runs of a journal that are listed.
const MOST_FAILURES: usize = 1_000;

impl Together {
    fn add(&mut self, run: JournalRun, mut report: LogReport) {
        self.steps += report.steps;
        self.notices.append(&mut report.notices);
        if let Some(judged) = &report.certificate {
            // Of a log without end the first are kept.
            self.failures.insert(run.order, judged.clone());
            if self.failures.len() > MOST_FAILURES {
                self.failures.pop_last();
                self.dropped += 1;
            }
        }
        let worse = self.worst.as_ref().is_none_or(|(before, worst)| {
            let both = [report.verdict, worst.verdict];
            let is_worse = report.verdict != worst.verdict;
            is_worse && Verdict::worst(both) == Some(report.verdict)
                || !is_worse && run.order < before.order
        });
        if worse {
            self.worst = Some((run, report));
        }
    }
}

/// Judges every trace of the log.
fn judged_together(args: &Args, monitor: &Monitor, watch: &mut Watch) -> Result<Together, Error> {
    let mut together = Together::default();
    if header(args)?.is_none() {
        if args.run.is_some() {
            return Err(Error::input("--run is for journals, which have runs"));
        }
        let only = JournalRun {
            order: 0,
            number: 0,
        };
        together.add(only, judged(args, monitor, None, watch)?);
        return Ok(together);
    }
    let mut log = log(args, args.run)?;
    let mut reports = Vec::new();
    let (runs, broken_off) = monitor.journal(
        &mut log,
        &mut |steps, line| look(watch, steps, line),
        &mut |run, report| {
            // Notices are printed between lines of the log, never within one.
            if report.notices.is_empty() && report.verdict != Verdict::Unknown {
                together.add(run, report);
            } else {
                reports.push((run, report));
            }
            Ok(())
        },
    )?;
    for (run, report) in reports {
        let report = told(args, monitor, watch, report);
        together.add(run, report);
    }
    if runs == 0 {
        return Err(no_such_run(args, started(args)?.len()));
    }
    if let Some(reason) = broken_off {
        // Whatever the rest of the journal says, it was not judged.
        let rest = LogReport::unknown(reason);
        let last = JournalRun {
            order: runs,
            number: together.worst.as_ref().map_or(0, |(run, _)| run.number),
        };
        together.add(last, rest);
    }
    together.runs = Some(runs);
    Ok(together)
}

/// Judges each trace of the log, and tells the worst verdict.
fn conclude(
    args: &Args,
    workspace: &Workspace,
    monitor: &Monitor,
    watch: &mut Watch,
) -> Result<Exit, Error> {
    let Together {
        runs,
        steps,
        notices,
        worst,
        failures,
        dropped,
    } = judged_together(args, monitor, watch)?;
    let Some((run, report)) = worst else {
        return Err(Error::input(format!(
            "{}: no run to judge",
            args.log().display()
        )));
    };
    // A log in which nothing was recognised says nothing, least of all that all is well.
    let verdict = if steps == 0 {
        Verdict::Unknown
    } else {
        report.verdict
    };
    let nothing = (steps == 0).then(|| "no line of the log is a step".to_owned());
    if nothing.is_some() && args.skip_other {
        warning!(
            "warning: --skip-other left out every line of {}; do --templates and --prefix fit?",
            args.log().display()
        );
    }
    let options = judge_options(args, workspace, watch)?;
    let by = JudgedBy::Model(&options);
    let certify = |judged: &Certificate| workspace.certify_run(judged, by);
    // A document of a journal lists all failing runs; else the one that the verdict is of is enough.
    let several = args.json && runs.is_some();
    let wanted = args.json || args.certificate.is_some();
    let worst = report.certificate.as_ref().filter(|_| wanted);
    let listed: Vec<&Certificate> = failures.values().filter(|_| several).collect();
    let mut certificates = if several {
        Certificates::new(listed.iter().copied(), certify)
    } else {
        Certificates::new(worst.into_iter(), certify)
    };
    let whole = match worst {
        Some(judged) if several => certify(judged)?.ok(),
        _ => certificates.first.take(),
    };
    if let (Some(path), Some(whole)) = (&args.certificate, &whole) {
        write_json(path, whole)?;
    }
    if dropped > 0 && several {
        let warning = format!("{dropped} more failing runs are not listed");
        warning!("warning: {warning}");
        certificates.warnings.push(warning);
    }
    let document = Document {
        verdict,
        steps,
        runs,
        run: runs.map(|_| run.number),
        line: report.line,
        reason: report.broken_off.or(nothing),
        failures: listed
            .iter()
            .zip(certificates.claims())
            .map(|(&judged, certificate)| FailureDocument {
                judged,
                certificate,
            })
            .collect(),
        shared: certificates.shared().filter(|_| several),
        warnings: &certificates.warnings,
        certificate: whole.as_ref(),
        shown: report.certificate.clone(),
        constants: monitor.judge().constants(&notices),
    };
    if args.json {
        print_json(&document)?;
    } else {
        print(&tell(args, &document))?;
    }
    Ok(verdict.into())
}

fn format(args: &Args) -> Result<LogFormat, Error> {
    let ending = args.log().extension().and_then(|e| e.to_str());
    let json = match args.log_format {
        Some(kind) => kind == LogKind::Json,
        None => matches!(ending, Some("json" | "jsonl" | "ndjson" | COMPACT_ENDING)),
    };
    if json {
        return Ok(LogFormat::JsonLines);
    }
    let config = match &args.templates {
        Some(path) => SutConfig::load(path)?,
        None => SutConfig::default(),
    };
    let mut inputs = Vec::new();
    for (name, action) in &config.actions {
        if let Some(send) = &action.send {
            let template =
                Template::parse(send).map_err(|e| Error::input(format!("action {name}: {e}")))?;
            inputs.push((name.clone(), template));
        }
    }
    let prefix = args
        .prefix
        .as_ref()
        .map(|text| Template::parse(text))
        .transpose();
    Ok(LogFormat::Text {
        prefix: prefix.map_err(|e| Error::input(format!("--prefix: {e}")))?,
        inputs,
        outputs: config.action_map()?,
        skip_other: args.skip_other,
    })
}

fn tell(args: &Args, document: &Document<'_>) -> String {
    let log = args.log().display();
    let Document {
        verdict,
        steps,
        runs,
        run,
        line,
        reason,
        shown,
        constants,
        ..
    } = document;
    let constants = constants.as_ref().map(Constants::tell).unwrap_or_default();
    let reason = reason
        .as_ref()
        .map(|r| format!(": {r}"))
        .unwrap_or_default();
    let chart = shown.as_ref().map(chart).unwrap_or_default();
    if let (Some(runs), Some(run)) = (runs, run) {
        let which = if *runs > 1 && Exit::from(*verdict) != Exit::Holds {
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
