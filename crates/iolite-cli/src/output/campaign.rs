//! What `iolite test` reports about its runs: journal, reports, and the outcome in words or JSON.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use iolite::{
    Campaign, Certificate, Constants, Error, Judge, ModelCoverageReport, Notice, Summary, Target,
    Verdict, WholeCertificate, Workspace, save_query,
};
use iolite_exec::report::{Console, Discovery, Extent, JUnit, JsonLines};
use iolite_exec::{
    ExecError, Fanout, Interruption, Journal, JournalForm, JournalHeader, JournalWriter, ModelText,
    SutConfig, chart, new_journal_path,
};
use iolite_report::{ModelPart, Report, page};
use serde::Serialize;

use super::annotations::{AnnotationForm, Annotations};
use super::certificates::{Certificates, Claim, FailureDocument};
use super::status;
use super::values_tried::{self, ValuesDocument};
use super::{
    Exit, counted, description, leave_stdout_to_events, print, print_json, silence, write_json,
    write_whole,
};
use crate::commands::test::Args;
use crate::commands::test_suite::CaseDocument;

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Reports")]
pub(crate) struct ReportArgs {
    /// Where the runs are journaled as they happen: lines of JSON, or in a compact form where the name
    /// ends in .iolj [default: a new file in .iolite, to which .iolite/latest links; compact from 1000000
    /// steps]
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Keep no journal
    #[arg(long)]
    no_journal: bool,
    /// Write the certificate of the first failing run to this file, for `iolite explain`
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Write a report in the XML of `JUnit`
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Annotate the model where runs failed, for a forge: `github` (workflow commands on standard error) or
    /// `gitlab:FILE.json` (a code quality report)
    #[arg(long, value_name = "FORGE")]
    annotations: Option<AnnotationForm>,
    /// Write a report for people: one HTML file that loads nothing
    #[arg(long, value_name = "FILE", conflicts_with = "no_journal")]
    report: Option<PathBuf>,
    /// Write the stream of events as JSON lines; with `-` to standard output, and the words to standard
    /// error
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Write what of the model the runs reached, and what they did not, with line and nearest trace, as
    /// JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) coverage: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Say too which boundaries of guards, transitions and pairs of values were not tried, where the
    /// model has data
    #[arg(long, short)]
    verbose: bool,
}

/// The name that this process gives its journal where the user gives none.
static NEW_JOURNAL: OnceLock<PathBuf> = OnceLock::new();

impl ReportArgs {
    /// A file that is asked for by name.
    pub(crate) fn files(&self) -> Option<&'static str> {
        [
            (self.journal.is_some(), "--journal"),
            (self.certificate.is_some(), "--certificate"),
            (self.junit.is_some(), "--junit"),
            (self.annotations.is_some(), "--annotations"),
            (self.report.is_some(), "--report"),
            (self.events.is_some(), "--events"),
        ]
        .into_iter()
        .find_map(|(asked, flag)| asked.then_some(flag))
    }

    /// A flag about what is written or printed.
    #[cfg(feature = "fleet")]
    pub(crate) fn given(&self) -> Option<&'static str> {
        let others = [
            (self.no_journal, "--no-journal"),
            (self.coverage.is_some(), "--coverage"),
            (self.json, "--json"),
            (self.verbose, "--verbose"),
        ];
        let others = others.into_iter();
        self.files().or_else(|| {
            others
                .into_iter()
                .find_map(|(given, flag)| given.then_some(flag))
        })
    }

    /// Where the runs are journaled, if they are.
    fn journal(&self) -> Option<&Path> {
        if self.no_journal {
            return None;
        }
        let chosen = self.journal.as_deref();
        let new = || new_journal_path(JournalForm::JsonLines);
        Some(chosen.unwrap_or_else(|| NEW_JOURNAL.get_or_init(new)))
    }
}

fn create(path: &Path) -> Result<std::fs::File, Error> {
    std::fs::File::create(path).map_err(|e| Error::writing(path, &e))
}

/// A report that is written when the runs are over. Until then there is no file, and none of an earlier
/// campaign: a tester that is killed leaves nothing that a build server could take for its report.
pub(crate) struct ReportFile {
    path: PathBuf,
    file: Option<std::fs::File>,
}

impl ReportFile {
    pub(crate) fn new(path: &Path) -> Result<Self, Error> {
        if path.is_file() {
            std::fs::remove_file(path).map_err(|e| Error::writing(path, &e))?;
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(Error::fault(format!(
                "cannot write {}: there is no folder {}",
                path.display(),
                folder.display()
            )));
        }
        let path = path.to_owned();
        Ok(Self { path, file: None })
    }

    fn open(&mut self) -> std::io::Result<&mut std::fs::File> {
        let shown = |e: std::io::Error| {
            std::io::Error::new(e.kind(), format!("{}: {e}", self.path.display()))
        };
        match &mut self.file {
            Some(file) => Ok(file),
            empty => Ok(empty.insert(std::fs::File::create(&self.path).map_err(shown)?)),
        }
    }
}

impl std::io::Write for ReportFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.open()?.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.open()?.flush()
    }
}

/// The command that replays a run of a journal, without its number.
pub(crate) fn replay(journal: &Path) -> String {
    format!("iolite replay {}", journal.display())
}

/// Writes the page of the journal that is done. The verdict does not depend on it, so a fault is kept for the
/// summary.
pub(crate) fn write_report(
    args: &Args,
    workspace: &Workspace,
    campaign: &Campaign,
    summary: &mut Summary,
) {
    let (Some(path), Some(journal)) = (&args.report.report, args.report.journal()) else {
        return;
    };
    if !journal.exists() {
        // No run was started, and the console says why.
        return;
    }
    let place = journal.display().to_string();
    let trust = args.programs().next().is_some();
    let written = Journal::read(journal)
        .map_err(|e| Error::fault(e.to_string()))
        .and_then(|journal| {
            let model = Some(ModelPart::new(campaign, workspace, &journal)?);
            let report = Report {
                journal: &journal,
                place,
                trust,
                against: None,
                shrunk: Vec::new(),
                model,
            };
            write_whole(path, page(&report).as_bytes())
        });
    if let Err(error) = written {
        let error = ExecError::Report(error.message().to_owned());
        summary.unwritten.push(error);
    }
}

/// The first line of the journal of a campaign that this command line sets up.
pub(crate) fn header(
    workspace: &Workspace,
    target: &Target,
    campaign: &Campaign,
    command: Vec<String>,
) -> JournalHeader {
    let options = description::options(&command);
    let mut header = campaign.journal_header(target.config(), command);
    if let Some(description) = &mut header.description {
        description.options = options;
        let files = workspace.hashes().into_iter();
        let files = files.map(|(path, hash)| (path.display().to_string(), hash));
        description.files = files.collect();
    }
    let texts = workspace.texts(MOST_MODEL_BYTES).into_iter();
    let texts = texts.map(|(path, text)| ModelText {
        path: path.display().to_string(),
        text,
    });
    header.models = texts.collect();
    header
}

/// Bytes of model texts that a journal carries.
const MOST_MODEL_BYTES: usize = 4 << 20;

/// Journal first, then what else was asked for.
pub(crate) fn sinks(
    report: &ReportArgs,
    header: &JournalHeader,
    campaign: &Campaign,
    (suite, allow_flaky): (&str, bool),
    extent: Extent,
) -> Result<Fanout<'static>, Error> {
    let mut sinks = Fanout::default();
    // The name that is used from now on.
    NEW_JOURNAL.get_or_init(|| new_journal_path(campaign.journal_form()));
    if let Some(path) = report.journal() {
        sinks.0.push(Box::new(JournalWriter::create(path, header)?));
    }
    match &report.events {
        Some(path) if path.as_os_str() == "-" => {
            if report.json {
                return Err(
                    Error::input("--json and --events - both ask for standard output")
                        .hint("give --events a file"),
                );
            }
            leave_stdout_to_events();
            sinks.0.push(Box::new(JsonLines(std::io::stdout())));
        }
        Some(path) => sinks.0.push(Box::new(JsonLines(create(path)?))),
        None => {}
    }
    if let Some(path) = &report.report {
        // Before the runs, which may take the night.
        ReportFile::new(path)?;
    }
    if let Some(path) = &report.junit {
        let replay = report.journal().map(replay);
        let junit = JUnit::new(ReportFile::new(path)?, suite);
        let junit = junit.allow_flaky(allow_flaky).about(header, replay);
        sinks.0.push(Box::new(junit));
    }
    if let Some(form) = &report.annotations {
        let replay = report.journal().map(replay);
        sinks
            .0
            .push(Box::new(Annotations::new(form, header, replay)?));
    }
    if std::io::stderr().is_terminal() && !status::is_quiet() {
        status::leave();
        sinks.0.push(Box::new(Console::terminal(extent)));
    }
    Ok(sinks)
}

#[derive(Serialize)]
struct Document<'a> {
    verdict: Option<Verdict>,
    verdicts: &'a BTreeMap<Verdict, u64>,
    runs: u64,
    steps: u64,
    seed: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<iolite_exec::Coverage>,
    failures: Vec<FailureDocument<'a>>,
    /// What the certificates of failures have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<&'a Claim>,
    /// Certificates that could not be made, and why.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    /// What flaky runs showed before they were repeated.
    flaky: Vec<&'a iolite_exec::Certificate>,
    /// Each observer or purpose, judged alone on the same runs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    goals: &'a BTreeMap<String, BTreeMap<Verdict, u64>>,
    /// The properties that the first failing run violates, where properties judge alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violated: Vec<String>,
    faults: Vec<FaultDocument>,
    /// The signal that ended the campaign before its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupted: Option<&'static str>,
    /// What the runs show about constants that were left unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    constants: Option<Constants>,
    /// Inputs that no value was found for somewhere; where one was given in no run, the verdict is
    /// `unknown` at best.
    untried: Vec<String>,
    /// Why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    untried_reasons: BTreeMap<String, &'a str>,
    /// Which values were tried, where the model has data.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<ValuesDocument<'a>>,
    /// Each test case by itself, where a suite was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<&'a [CaseDocument]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<String>,
    /// The whole certificate of the first failing run, for `iolite explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<&'a WholeCertificate>,
    /// The chance that one more run shows something new.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_run: Option<NextRun>,
    /// What of the model was reached, and what was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reached: Option<&'a ModelCoverageReport>,
}

/// What is said of the runs together, beside their verdicts.
#[derive(Default)]
pub(crate) struct Aftermath {
    pub(crate) discovery: Option<Discovery>,
    pub(crate) reached: Option<ModelCoverageReport>,
}

#[derive(Serialize)]
struct NextRun {
    #[serde(flatten)]
    discovery: Discovery,
    assumptions: &'static str,
}

#[derive(Serialize)]
struct FaultDocument {
    run: u64,
    code: String,
    message: String,
}

/// Tells of what the runs found out and no verdict says; a query that was not decided is saved.
pub(crate) fn warn(judge: &Judge, notices: &[Notice], unknown_query: &Path) {
    for notice in notices {
        let Some(mut text) = judge.warning(notice) else {
            continue;
        };
        if let Notice::Undecided(why) = notice {
            text += &save_query(&why.query, unknown_query);
        }
        say!("{text}");
    }
}

/// Writes what is only written whole. The verdict does not depend on it, so a fault is kept for the
/// summary.
pub(crate) fn finish(mut sinks: Fanout<'_>, summary: &mut Summary) {
    use iolite_exec::Sink;
    summary.unwritten.extend(sinks.finish().err());
}

/// Says what is missing of journal and reports, after everything else was said.
pub(crate) fn tell_unwritten(summary: &Summary) {
    for error in &summary.unwritten {
        say!("error: {error}");
    }
}

/// Who judged recorded or finished runs, and what is to be said of them.
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Conclusion<'a> {
    /// Who judged; none where the model is not at hand.
    pub(crate) judge: Option<&'a Judge>,
    /// Model and criterion.
    pub(crate) title: String,
    /// How the system is reached.
    pub(crate) config: Option<&'a SutConfig>,
    pub(crate) seed: u64,
    /// Where the runs are journaled, if they are.
    pub(crate) journal: Option<&'a Path>,
    /// Whether replaying executes what stands only in the journal.
    pub(crate) trust: bool,
    pub(crate) json: bool,
    pub(crate) allow_flaky: bool,
    /// Say too which values were not tried.
    pub(crate) verbose: bool,
    /// The test cases of a suite.
    pub(crate) cases: Option<&'a [CaseDocument]>,
    /// The certificates of the failing runs, in the order of the summary.
    pub(crate) certificates: Certificates,
    /// What is said of the runs together, where they were followed.
    pub(crate) after: Option<&'a Aftermath>,
}

pub(crate) fn conclude(
    args: &Args,
    workspace: &Workspace,
    target: &Target,
    campaign: &Campaign,
    summary: &Summary,
    (cases, after): (Option<&[CaseDocument]>, &Aftermath),
) -> Result<Exit, Error> {
    let (report, judge) = (&args.report, campaign.judge());
    warn(judge, &summary.notices, &args.data.unknown_query);
    let first = summary.failures.values().next().map(|c| judge.blame(c));
    write_reached(report, after)?;
    // The document has all of them, a file the first.
    let wanted = match (report.json, &report.certificate) {
        (true, _) => usize::MAX,
        (false, Some(_)) => 1,
        (false, None) => 0,
    };
    let certificates = Certificates::new(summary.failures.values().take(wanted), |judged| {
        args.certify(workspace, &judge.blame(judged).0)
    });
    let certificate = match (&report.certificate, &first, &certificates.first) {
        (Some(path), Some(_), Some(whole)) => write_json(path, whole),
        // Only the claim is known.
        (Some(path), Some((certificate, _)), None) => write_json(path, certificate),
        _ => Ok(()),
    };
    let conclusion = Conclusion {
        judge: Some(judge),
        title: title(judge),
        config: Some(target.config()),
        seed: campaign.campaign_seed(),
        journal: report.journal(),
        trust: args.programs().next().is_some(),
        json: report.json,
        allow_flaky: args.effort.allow_flaky,
        verbose: report.verbose,
        cases,
        certificates,
        after: Some(after),
    };
    let exit = conclusion.print(summary)?;
    if let Err(error) = certificate {
        say!("{error}");
        return Ok(if exit == Exit::Holds {
            Exit::Fault
        } else {
            exit
        });
    }
    Ok(exit)
}

/// What people call the runs of a judge.
pub(crate) fn title(judge: &Judge) -> String {
    match judge.properties() {
        Some(properties) => properties.title(),
        None => format!("{} {}", judge.reference(), judge.criterion()),
    }
}

impl Conclusion<'_> {
    fn verdict(&self, summary: &Summary) -> Option<Verdict> {
        match self.judge {
            Some(judge) => judge.overall(summary),
            None => summary.verdict(),
        }
    }

    fn judges_by_properties(&self) -> bool {
        self.judge.is_some_and(|judge| judge.properties().is_some())
    }

    /// The properties that a failing run violates.
    fn violated(&self, certificate: &Certificate) -> Vec<String> {
        let judge = self.judge.map(|judge| judge.blame(certificate).1);
        judge.unwrap_or_default()
    }

    /// Prints what the runs came to, in words or as JSON.
    pub(crate) fn print(&self, summary: &Summary) -> Result<Exit, Error> {
        // Where properties judge alone, each is a goal; only several of them are worth a list.
        let listed = !self.judges_by_properties() && !summary.goals.is_empty();
        let none = BTreeMap::new();
        let goals = if listed { &summary.goals } else { &none };
        if self.json {
            print_json(&self.document(summary, goals))?;
        } else {
            print(&self.tell(summary))?;
            if let Some(after) = self.after {
                print(&self.tell_after(after, summary))?;
            }
            for (name, verdicts) in goals {
                print(&format!("  {name}: {}\n", counts(verdicts)))?;
            }
        }
        tell_unwritten(summary);
        Ok(exit(self.verdict(summary), summary, self.allow_flaky))
    }

    /// What a pass leaves open, in words.
    fn tell_after(&self, after: &Aftermath, summary: &Summary) -> String {
        let mut text = String::new();
        if let (Some(reached), Some(judge)) = (&after.reached, self.judge) {
            text += &reached.tell(&judge.reference().path().display().to_string());
        }
        if let (Some(discovery), Some(Verdict::Pass)) = (after.discovery, self.verdict(summary))
            && !status::is_quiet()
        {
            let (chance, assumptions) = (discovery.tell(), Discovery::ASSUMPTIONS);
            text += &format!("next run: {chance}\n  if {assumptions}\n");
        }
        text
    }

    fn failures<'s>(&'s self, summary: &'s Summary) -> Vec<FailureDocument<'s>> {
        let failures = summary.failures.values().zip(self.certificates.claims());
        let failure = |(judged, certificate)| FailureDocument {
            judged,
            certificate,
        };
        failures.map(failure).collect()
    }

    fn document<'s>(
        &'s self,
        summary: &'s Summary,
        goals: &'s BTreeMap<String, BTreeMap<Verdict, u64>>,
    ) -> Document<'s> {
        let untried = summary.untried.iter();
        let untried_reasons: BTreeMap<String, &str> =
            untried.map(|(i, why)| (format!("?{i}"), &**why)).collect();
        let first = summary.failures.values().next();
        let faults = summary.faults.iter().map(|(&run, e)| FaultDocument {
            run,
            code: e.code().to_owned(),
            message: e.to_string(),
        });
        let constants = self.judge.map(|judge| judge.constants(&summary.notices));
        let journal = self.journal.filter(|path| path.exists());
        Document {
            verdict: self.verdict(summary),
            verdicts: &summary.verdicts,
            runs: summary.runs(),
            steps: summary.steps,
            seed: self.seed,
            seconds: summary.elapsed.as_secs_f64(),
            coverage: summary.coverage,
            failures: self.failures(summary),
            shared: self.certificates.shared(),
            warnings: &self.certificates.warnings,
            flaky: summary.flaky.values().collect(),
            goals,
            violated: first.map(|c| self.violated(c)).unwrap_or_default(),
            faults: faults.collect(),
            interrupted: summary.interrupted.map(Interruption::name),
            constants: constants.flatten(),
            untried: untried_reasons.keys().cloned().collect(),
            untried_reasons,
            values: summary.values.as_ref().map(ValuesDocument::new),
            cases: self.cases,
            journal: journal.map(|path| path.display().to_string()),
            certificate: self.certificates.first.as_ref(),
            reached: self.after.and_then(|after| after.reached.as_ref()),
            next_run: self.after.and_then(|after| {
                Some(NextRun {
                    discovery: after.discovery?,
                    assumptions: Discovery::ASSUMPTIONS,
                })
            }),
        }
    }

    fn tell(&self, summary: &Summary) -> String {
        let mut text = String::new();
        if let Some((run, certificate)) = summary.failures.iter().next() {
            text += &format!(
                "run {run}: {}\n\n{}",
                certificate.verdict,
                chart(certificate)
            );
            let violated = self.violated(certificate);
            if !violated.is_empty() {
                text += &format!("violates: {}\n", violated.join(", "));
            }
            if let Some(config) = self.config {
                text += &silence::hint(certificate, config);
            }
            if let Some(journal) = self.journal {
                let journal = journal.display();
                // What stands only in the journal is not executed without the user's word.
                let trust = if self.trust { " --trust" } else { "" };
                text += &format!("  replay:   iolite replay {journal} --run {run}{trust}\n");
                text += &format!("  shrink:   iolite shrink {journal} --run {run}{trust}\n");
            }
            text.push('\n');
        }
        text += &silence::flaky(summary, self.journal.is_some());
        for (run, error) in &summary.faults {
            text += &format!("run {run}: no verdict: {error}\n");
        }
        let counts = match counts(&summary.verdicts) {
            counts if counts.is_empty() => "no verdict".to_owned(),
            counts => counts,
        };
        if let Some(by) = summary.interrupted {
            text += &format!("interrupted by {by}: what follows is of the runs until then\n");
        }
        text += &format!(
            "{}: {counts}; {}, {} in {:.1} s",
            self.title,
            counted(summary.runs(), "run"),
            counted(summary.steps, "step"),
            summary.elapsed.as_secs_f64()
        );
        if let Some(coverage) = summary.coverage {
            let what = match self.judge {
                Some(Judge::Symbolic(_)) => "coverage goals of the model",
                _ => "transitions of the suspension automaton",
            };
            text += &format!("; {} of {} {what} seen", coverage.seen, coverage.total);
        }
        text.push('\n');
        for (input, why) in &summary.untried {
            text += &format!("untried: ?{input} somewhere: {why}\n");
        }
        let constants = self.judge.map(|judge| judge.constants(&summary.notices));
        if let Some(constants) = constants.flatten() {
            text += &constants.tell();
        }
        if self.verbose
            && let Some(values) = &summary.values
        {
            text += &values_tried::tell(values);
        }
        if self.judges_by_properties() {
            if self.verdict(summary) == Some(Verdict::Unknown) {
                text += "unknown means: no run settled the property, and nothing wrong was seen\n";
            }
        } else if summary.never_tried().next().is_some() {
            let never: Vec<String> = summary.never_tried().map(|i| format!("?{i}")).collect();
            text += &format!(
                "unknown: {} was given in no run, so these runs say nothing about it\n",
                never.join(", ")
            );
        } else if summary.verdict() == Some(Verdict::Pass)
            && summary.faults.is_empty()
            && !status::is_quiet()
        {
            text += "pass means: nothing wrong was seen in these runs; testing cannot show more\n";
        }
        text
    }
}

/// A failing verdict is proved by its trace, whatever went wrong beside it; without one, a fault
/// outweighs everything. A flaky run fails the command as well, unless that is allowed: then the other
/// runs decide.
pub(crate) fn exit(verdict: Option<Verdict>, summary: &Summary, allow_flaky: bool) -> Exit {
    let flaky = summary.verdicts.contains_key(&Verdict::Flaky);
    match verdict {
        Some(verdict) if verdict.is_failing() => Exit::Fails,
        _ if flaky && !allow_flaky => Exit::Fails,
        _ if !summary.faults.is_empty() || !summary.unwritten.is_empty() => Exit::Fault,
        Some(Verdict::Flaky) => {
            let others = summary.verdicts.keys().filter(|v| **v != Verdict::Flaky);
            Verdict::worst(others.copied()).map_or(Exit::Holds, Into::into)
        }
        Some(verdict) => verdict.into(),
        None => Exit::Inconclusive,
    }
}

/// Writes what was reached, where that is asked for.
pub(crate) fn write_reached(report: &ReportArgs, after: &Aftermath) -> Result<(), Error> {
    match (&report.coverage, &after.reached) {
        (Some(path), Some(reached)) => write_json(path, reached),
        _ => Ok(()),
    }
}

/// `3 pass, 1 fail`.
pub(crate) fn counts(verdicts: &BTreeMap<Verdict, u64>) -> String {
    let counts = verdicts.iter().map(|(verdict, n)| format!("{n} {verdict}"));
    counts.collect::<Vec<_>>().join(", ")
}
