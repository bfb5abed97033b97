//! What `iolite test` tells of its runs: journal, reports, and the outcome in words or JSON.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use iolite_derive::Verdict;
use iolite_exec::report::{Console, JUnit, JsonLines};
use iolite_exec::{Fanout, JournalHeader, JournalWriter, Summary, chart};
use serde::Serialize;

use super::goals::{self, Goals};
use super::judge::Judge;
use super::learnt::Constants;
use super::target::Target;
use super::test::fault;
use super::{Exit, Failure, print, print_json, silence};

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

fn create(path: &Path) -> Result<std::fs::File, Failure> {
    std::fs::File::create(path).map_err(|e| Failure::writing(path, &e))
}

/// Journal first, then what else was asked for.
pub(super) fn sinks(
    report: &ReportOptions,
    target: &Target,
    judge: &Judge,
    seed: u64,
    suite: &str,
    runs: Option<u64>,
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
        sinks.0.push(Box::new(Console::terminal(runs)));
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
    /// What the runs tell of constants that were left unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    constants: Option<Constants>,
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<String>,
}

#[derive(Serialize)]
struct FaultDocument {
    run: u64,
    code: &'static str,
    message: String,
}

pub(super) fn conclude(
    report: &ReportOptions,
    target: &Target,
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
            constants: judge.constants(),
            journal: (!report.no_journal).then(|| report.journal.display().to_string()),
        })?;
    } else {
        print(&tell(report, target, judge, summary))?;
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

fn tell(report: &ReportOptions, target: &Target, judge: &Judge, summary: &Summary) -> String {
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
        text += &silence::hint(certificate, &target.config);
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
    if let Some(constants) = judge.constants() {
        text += &constants.tell();
    }
    if judge.properties().is_some() {
        if judge.overall(summary) == Some(Verdict::Unknown) {
            text += "unknown means: no run settled the property, and nothing wrong was seen\n";
        }
    } else if summary.verdict() == Some(Verdict::Pass) && summary.faults.is_empty() {
        text += "pass means: nothing wrong was seen in these runs; testing cannot show more\n";
    }
    text
}
