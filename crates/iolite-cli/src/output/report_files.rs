//! The files that `iolite test` writes of its runs: journal, events, reports.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use iolite::{Campaign, Error, Summary, Target, Workspace};
use iolite_exec::report::{Console, Extent, JUnit, JsonLines};
use iolite_exec::{
    ExecError, Fanout, Journal, JournalForm, JournalHeader, JournalWriter, ModelText,
    new_journal_path,
};
use iolite_report::{ModelPart, Report, page};

use super::annotations::{AnnotationForm, Annotations};
use super::{description, leave_stdout_to_events, status, write_whole};
use crate::commands::test::Args;

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
    pub(super) certificate: Option<PathBuf>,
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
    pub(super) verbose: bool,
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
    pub(super) fn journal(&self) -> Option<&Path> {
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
            sinks
                .0
                .push(Box::new(JsonLines(Box::new(std::io::stdout()))));
        }
        Some(path) => sinks.0.push(Box::new(JsonLines(Box::new(create(path)?)))),
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
