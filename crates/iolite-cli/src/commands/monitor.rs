//! `iolite monitor`: passive testing of a log recorded elsewhere.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolite::{
    Certificate, Channel, Constants, Context, Error, JournalRun, Judge, JudgeOptions, JudgedBy,
    Log, LogReport, ModelRef, Monitor, Notice, Partition, PropertyJudge, QueueOptions, ReadOptions,
    Verdict, WholeCertificate, Workspace, journal_lines, save_query,
};
use iolite_exec::codec::Template;
use iolite_exec::{
    COMPACT_ENDING, Interruption, KEPT_NOTICES, LogFormat, SutConfig, chart, end_well_on_signals,
    interrupted,
};
use serde::Serialize;

use super::log_input;
use super::monitor_logs::{self, JudgedLog};
use super::monitor_properties;
use crate::args::bounds::{self, Watch};
use crate::args::data::{DataArgs, ValueArgs};
use crate::args::judge::JudgeArgs;
use crate::args::property::PropertyArgs;
use crate::args::workspace;
use crate::output::certificates::{Certificates, Claim, FailureDocument};
use crate::output::{Exit, counted, write_json};

/// Judge a recorded log by a model
///
/// JSON lines: a journal of ours, {"action":"?a"}, or {"input":"a","args":[1]} and
/// {"output":"x"}, with "time" in seconds where silence counts. Text: a line an action, read by the
/// templates of a system's description. Several logs are judged one by one, and the worst verdict counts.
/// A signal (Ctrl-C) ends it with what is known: exit code 1 where something has failed, 3 where not all was judged.
#[derive(Clone, clap::Args)]
pub(crate) struct Args {
    /// The specification, or a property: FILE.iol#P, FILE.hoa, FILE.xml or ltl:FORMULA; it may be left
    /// out where --property judges
    pub(crate) model: ModelRef,
    /// The log, or several; `-` is standard input, judged as it comes
    #[arg(required_unless_present = "property", value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// Which of them is judged now.
    #[arg(skip)]
    at: usize,
    /// Whether a signal ends the judging with what is known.
    #[arg(skip)]
    heeds_signals: bool,
    /// Judge only the K-th of N parts of the logs; `iolite merge` joins the documents of --json
    #[arg(long, value_name = "K/N")]
    pub(crate) partition: Option<Partition>,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    #[command(flatten)]
    pub(crate) properties: PropertyArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// How the log is written [default: json for .jsonl and .json and where standard input begins with {, else text]
    #[arg(long, value_enum)]
    log_format: Option<LogKind>,
    /// The description of the system whose templates read a text log, and through whose channels --context queues
    /// looks
    #[arg(long, value_name = "TOML")]
    pub(crate) templates: Option<PathBuf>,
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
    pub(crate) run: Option<u64>,
    /// Draw the tester of the property with the way that the log took through it, as SVG; for one property
    #[arg(long, value_name = "SVG")]
    pub(crate) picture: Option<PathBuf>,
    /// Write the certificate of a failing verdict to this file, for `iolite explain`
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) read: ReadOptions,
}

impl Args {
    /// The log: what stands alone is the log.
    fn log(&self) -> &Path {
        let log = self.logs.get(self.at).map(PathBuf::as_path);
        log.unwrap_or_else(|| self.model.path())
    }

    /// The same about one of the logs.
    pub(crate) fn of_log(&self, at: usize) -> Self {
        Self { at, ..self.clone() }
    }

    /// The specification or first property; none where --property judges alone.
    fn model(&self) -> Option<&ModelRef> {
        self.logs.first().map(|_| &self.model)
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
    /// Why the journal could not be read on.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
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
    let from_input = args
        .logs
        .iter()
        .filter(|log| log_input::is_standard_input(log));
    let model = args.model().map(ModelRef::path);
    if from_input.count() + usize::from(model.is_some_and(log_input::is_standard_input)) > 1 {
        return Err(Error::input(
            "standard input is one thing: the model or a log, once",
        ));
    }
    end_well_on_signals()?;
    let args = &Args {
        heeds_signals: true,
        ..args.clone()
    };
    if args.logs.len() > 1 || args.partition.is_some() {
        return monitor_logs::run(args);
    }
    judge_log(args).map_err(or_interrupted)?.print(args.json)
}

/// Where a signal came before the first step of a log, that is why there is no verdict.
fn or_interrupted(error: Error) -> Error {
    match interrupted() {
        None | Some(Interruption::Bound) => error,
        Some(by) => Error::undecided(format!("interrupted by {by} before a step was judged")),
    }
}

/// Checks what the logs are judged by, as far as one of them that can be read is needed for that.
pub(crate) fn check(args: &Args) -> Result<(), Error> {
    if header(args).is_err() {
        return Ok(());
    }
    judge(
        args,
        &workspace(&args.read).without_texts(),
        &bounds::watch(),
    )
    .map(drop)
}

/// Judges one log.
pub(crate) fn judge_log(args: &Args) -> Result<JudgedLog, Error> {
    let mut watch = bounds::watch().heeding_signals(args.heeds_signals);
    let workspace = workspace(&args.read).without_texts();
    let judge = judge(args, &workspace, &watch)?;
    let quiescence = args.quiescence_ms.map(Duration::from_millis);
    let monitor = Monitor::new(judge, quiescence).recording(args.picture.is_some());
    if monitor.judge().properties().is_none() && args.picture.is_some() {
        return Err(Error::input(
            "--picture draws the tester of a property, and a model judges here",
        )
        .hint("judge by the property alone"));
    }
    let judge = monitor.judge().properties();
    if judge.is_some_and(|judge| judge.watched().len() != 1) && args.picture.is_some() {
        return Err(Error::input("--picture draws one property").hint("name one with FILE.iol#P"));
    }
    if monitor.judge().properties().is_some() {
        let mut log = OneRun::open(args, monitor.judge())?;
        let mut options = args.properties.options();
        if let Some(first) = args.model() {
            options.properties.insert(0, first.clone());
        }
        let certify = |judged: &Certificate, _: bool| {
            workspace.certify_run(judged, JudgedBy::Properties(&options))
        };
        let report = monitor.log(&mut log.reader, &mut |n, line| look(&mut watch, n, line))?;
        log.check(report.broken_off.is_some())?;
        let written = |whole: &WholeCertificate| write_certificate(args, whole);
        let drawn = match &args.picture {
            Some(path) => monitor_properties::draw(&monitor, &report, path),
            None => Ok(()),
        };
        let judged = monitor_properties::conclude(report, None, &certify, &written)?;
        return Ok(judged.beside(drawn));
    }
    let beside = beside(args, &workspace)?;
    if !beside.is_empty() {
        let mut options = args.properties.options();
        options.properties = beside;
        let judge = PropertyJudge::beside(&workspace, &options, &args.model)?;
        let properties_alone = options;
        let mut log = OneRun::open(args, monitor.judge())?;
        let properties = Monitor::new(Judge::Properties(judge), quiescence);
        let mut looking = |steps, line| look(&mut watch, steps, line);
        let (mut conformance, report) =
            monitor.log_beside(&properties, &mut log.reader, &mut looking)?;
        log.check(report.broken_off.is_some())?;
        let notices = take_notices(args, &watch, &mut conformance);
        warn(args, &monitor, &notices);
        let options = judge_options(args, &workspace, &watch)?;
        let certify = |judged: &Certificate, by_model: bool| {
            if by_model {
                return workspace.certify_run(judged, JudgedBy::Model(&options));
            }
            let alone = properties_alone.read_beside(&workspace, &judged.model, &args.model)?;
            workspace.certify_run(judged, JudgedBy::Properties(&alone))
        };
        let written = |whole: &WholeCertificate| write_certificate(args, whole);
        return monitor_properties::conclude(report, Some(conformance), &certify, &written);
    }
    conclude(args, &workspace, &monitor, &mut watch)
}

/// A log of which properties judge one trace: the only one, or the run of a journal that was asked for. How
/// many runs a journal has is known when it has been read.
struct OneRun<'a> {
    args: &'a Args,
    reader: Log,
    is_journal: bool,
}

impl<'a> OneRun<'a> {
    fn open(args: &'a Args, judge: &Judge) -> Result<Self, Error> {
        let is_journal = header(args)?.is_some();
        let reader = log(args, judge, run_of(args, is_journal)?)?;
        Ok(Self {
            args,
            reader: match args.run {
                None if is_journal => reader.of_first_run(),
                _ => reader,
            },
            is_journal,
        })
    }

    /// Whether there was one run to judge; what was judged of a journal with several is no answer.
    fn check(&mut self, is_broken_off: bool) -> Result<(), Error> {
        let log = self.args.log();
        if !self.is_journal {
            return Ok(());
        }
        // A journal that comes through a pipe may have no end, and a verdict is not kept back for it.
        if !is_broken_off && !log_input::is_standard_input(log) {
            while self
                .reader
                .entry()
                .map_err(|e| Error::input(e.to_string()))?
                .is_some()
            {}
        }
        let several = match (self.args.run, self.reader.begun()) {
            (_, (all, 0)) if !is_broken_off => return Err(no_such_run(self.args, all)),
            (None, (all, _)) => all,
            (Some(_), (_, of_number)) => of_number,
        };
        if several > 1 {
            return Err(Error::input(format!(
                "{}: a journal of {several} runs, and a property judges one at a time",
                log.display(),
            ))
            .hint("pick one with --run N"));
        }
        Ok(())
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

/// Writes the certificate of the verdict, where that is asked for.
fn write_certificate(args: &Args, whole: &WholeCertificate) -> Result<(), Error> {
    match &args.certificate {
        Some(path) => write_json(path, whole),
        None => Ok(()),
    }
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
    // A journal of ours says what lay between; of another log the description of the system does.
    let (recorded, channels) = match (header(args)?, &args.templates) {
        (Some(header), _) => (header.context, header.channels),
        (None, Some(path)) => (Context::default(), SutConfig::load(path)?.judged_channels()),
        (None, None) => (Context::default(), Vec::new()),
    };
    let context = args.judge.context.unwrap_or(recorded);
    options.queues = (context == Context::Queues).then(|| QueueOptions {
        passive: true,
        channels: channels.into(),
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
    // An array would be taken for the fields in their order.
    let is_object = read.is_ok() && first.starts_with('{');
    let header = is_object.then(|| serde_json::from_str(&first).ok());
    Ok(header.flatten())
}

/// The run of a journal that was asked for; any other log has none.
fn run_of(args: &Args, is_journal: bool) -> Result<Option<u64>, Error> {
    if args.run.is_some() && !is_journal {
        return Err(Error::input("--run is for journals, which have runs"));
    }
    Ok(args.run)
}

/// The lines of the log; those of a journal in the compact form as if it were in the other one.
fn lines(args: &Args) -> Result<Box<dyn BufRead>, Error> {
    // A wait for the first line that a bound has ended is no fault of the log.
    let reading = |e: &std::io::Error| match interrupted() {
        Some(why) => Error::undecided(format!("{}: no line came: {why}", args.log().display())),
        None => Error::reading(args.log(), e),
    };
    let log = log_input::open(args.log()).map_err(|e| reading(&e))?;
    journal_lines(log).map_err(|e| reading(&e))
}

fn no_such_run(args: &Args, all: usize) -> Error {
    let log = args.log().display();
    Error::input(format!("{log}: no such run; it has {all} runs"))
}

fn log(args: &Args, judge: &Judge, run: Option<u64>) -> Result<Log, Error> {
    let name = args.log().display().to_string();
    let input = log_input::open(args.log()).map_err(|e| Error::reading(args.log(), &e))?;
    let mut format = format(args)?;
    if let LogFormat::Text { templates, .. } = &mut format {
        let dictionary = judge.dictionary(&judge.alphabet());
        let fitted = std::mem::take(templates)
            .by_parameters(&|kind, action| dictionary.parameters(kind, action));
        *templates = fitted.map_err(|e| Error::input(e.to_string()))?;
    }
    let log = Log::new(input, &name, format);
    Ok(match run {
        Some(run) => log.of_run(run),
        None => log,
    })
}

/// Says in the report why nothing was decided, and takes its notices out of it.
fn take_notices(args: &Args, watch: &Watch, report: &mut LogReport) -> Vec<Notice> {
    if report.verdict == Verdict::Unknown && report.broken_off.is_none() {
        // The limit may have passed in the middle of a step.
        report.broken_off = watch.exceeded();
    }
    let mut notices = std::mem::take(&mut report.notices);
    if report.broken_off.is_some() {
        // What was undecided then is not why.
        notices.retain(|notice| !matches!(notice, Notice::Undecided(_)));
    }
    for notice in &notices {
        if let Notice::Undecided(why) = notice {
            // People read it in a warning, programs in the document.
            report.broken_off = args.json.then(|| why.reason.to_string());
        }
    }
    notices
}

/// Warns of what is notable about the traces that were judged.
fn warn(args: &Args, monitor: &Monitor, notices: &[Notice]) {
    for notice in notices {
        let Some(mut text) = monitor.judge().warning(notice) else {
            continue;
        };
        if let Notice::Undecided(why) = notice {
            text += &save_query(&why.query, &args.data.unknown_query);
        }
        say!("{text}");
    }
}

/// What the traces of a log come to together.
#[derive(Default)]
struct Together {
    /// How many runs of a journal there are.
    runs: Option<usize>,
    steps: u64,
    /// What runs had to say, each once; the first [`KEPT_NOTICES`].
    notices: Vec<Notice>,
    /// The worst of them, the earliest of these.
    worst: Option<(JournalRun, LogReport)>,
    /// What the failing runs showed, by their order.
    failures: BTreeMap<usize, Certificate>,
    /// How many more there are.
    dropped: usize,
    /// Why a journal could not be read on after these runs.
    error: Option<Error>,
}

/// Failing runs of a journal that are listed.
const MOST_FAILURES: usize = 1_000;

impl Together {
    /// A journal may have any number of runs, so their notices are kept as a campaign keeps those of its runs.
    fn keep(&mut self, notices: Vec<Notice>) {
        for notice in notices {
            // Nobody asks a monitor which values were tried.
            let is_wanted = !matches!(notice, Notice::Values(_) | Notice::Tried { .. });
            if is_wanted && self.notices.len() < KEPT_NOTICES && !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
        }
    }

    fn add(&mut self, run: JournalRun, report: LogReport) {
        self.steps += report.steps;
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
    let is_journal = header(args)?.is_some();
    let mut log = log(args, monitor.judge(), run_of(args, is_journal)?)?;
    if !is_journal {
        let only = JournalRun {
            order: 0,
            number: 0,
        };
        let mut report = monitor.log(&mut log, &mut |steps, line| look(watch, steps, line))?;
        together.keep(take_notices(args, watch, &mut report));
        together.add(only, report);
        return Ok(together);
    }
    let mut known = 0;
    let shared = RefCell::new(watch);
    let judged = monitor.journal(
        &mut log,
        &mut |steps, line| look(&mut shared.borrow_mut(), steps, line),
        &mut |run, mut report| {
            known += 1;
            together.keep(take_notices(args, &shared.borrow(), &mut report));
            together.add(run, report);
            Ok(())
        },
    );
    let (runs, broken_off) = match judged {
        // What the runs before came to stands beside it.
        Err(error) if known > 0 => {
            let error = together.error.insert(error);
            (known, Some(error.message().to_owned()))
        }
        judged => judged?,
    };
    if runs == 0 {
        return Err(no_such_run(args, log.begun().0));
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
) -> Result<JudgedLog, Error> {
    let Together {
        runs,
        steps,
        notices,
        worst,
        failures,
        dropped,
        error,
    } = judged_together(args, monitor, watch)?;
    warn(args, monitor, &notices);
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
    let nothing = if steps == 0 {
        let how = match format(args)? {
            LogFormat::JsonLines => {
                "; a step is an object in a line of its own, such as {\"action\":\"?a\"}"
            }
            LogFormat::Text { .. } => "",
        };
        Some(format!("no line of the log is a step{how}"))
    } else {
        None
    };
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
        Some(judged) if several => certify(judged).ok().and_then(Result::ok),
        _ => certificates.first.take(),
    };
    let written = whole.as_ref().map(|whole| write_certificate(args, whole));
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
        error: error.as_ref().map(Error::message),
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
    let judged = JudgedLog::new(verdict, tell(args, &document), &document)?;
    Ok(judged.beside(written.unwrap_or(Ok(()))).but(error))
}

fn begins_as_json(args: &Args) -> Result<bool, Error> {
    let start = lines(args)?.fill_buf().map(|start| start.starts_with(b"{"));
    start.map_err(|e| Error::reading(args.log(), &e))
}

fn format(args: &Args) -> Result<LogFormat, Error> {
    let ending = args.log().extension().and_then(|e| e.to_str());
    let json = match args.log_format {
        Some(kind) => kind == LogKind::Json,
        None if log_input::is_standard_input(args.log()) => begins_as_json(args)?,
        None if matches!(ending, Some("json" | "jsonl" | "ndjson" | COMPACT_ENDING)) => true,
        // Whatever its name: a line of text begins so only where a template says it does. A pipe cannot be read twice.
        None if args.templates.is_none() && args.prefix.is_none() && args.log().is_file() => {
            begins_as_json(args)?
        }
        None => false,
    };
    if json {
        return Ok(LogFormat::JsonLines);
    }
    let config = match &args.templates {
        Some(path) => SutConfig::load(path)?,
        None => SutConfig::default(),
    };
    let prefix = args
        .prefix
        .as_ref()
        .map(|text| Template::parse(text))
        .transpose();
    Ok(LogFormat::Text {
        prefix: prefix.map_err(|e| Error::input(format!("--prefix: {e}")))?,
        templates: config.action_map()?,
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
    let steps = counted(*steps, "step");
    if let (Some(runs), Some(run)) = (runs, run) {
        let which = if *runs > 1 && Exit::from(*verdict) != Exit::Holds {
            format!(", first in run {run}")
        } else {
            String::new()
        };
        return format!(
            "{chart}{log}: {verdict}{which}; {}, {steps}{reason}\n{constants}",
            counted(*runs, "run")
        );
    }
    match line {
        Some(line) => {
            format!("{chart}{log}:{line}: {verdict} after {steps}{reason}\n{constants}")
        }
        None => format!("{chart}{log}: {verdict}, {steps}{reason}\n{constants}"),
    }
}
