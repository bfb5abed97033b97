//! `iolite merge`: the shares of a campaign as one.

use std::path::{Path, PathBuf};

use iolite::{
    Criterion, Error, MergeError, MergeOptions, Merged, MergedMutants, MutationDocument, Summary,
    merge,
};
use iolite_exec::report::JUnit;
use iolite_exec::{ExecError, Fanout, Journal, Sink};

use super::monitor_logs::LogsDocument;
use super::{mutate, recorded};
use crate::output::campaign::{Conclusion, finish, title, warn};
use crate::output::certificates::Certificates;
use crate::output::report_files::{ReportFile, replay};
use crate::output::{Exit, beside_answer, write_json, write_whole};

/// Join the journals of the shares of a campaign
///
/// Shares are made by `iolite test --partition K/N` or `--range A..B`, on any machines. The result is the
/// journal, the verdict, the coverage and the reports of the whole campaign, as if one process had made
/// all runs. The documents of `iolite mutate --partition K/N --json` and `iolite monitor --partition K/N
/// --json` are joined in the same way.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[command(after_help = "\
Exit codes: those of `iolite test`, by the verdicts of all runs; 2 also where the journals are not of one
campaign, a run is in two of them, or runs are in none.")]
pub(crate) struct Args {
    /// The journals of the shares, or the documents of --json of mutants or logs
    #[arg(required = true)]
    journals: Vec<PathBuf>,
    /// The journal of the whole
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: PathBuf,
    /// Join what is there, although runs are missing
    #[arg(long)]
    partial: bool,
    /// The shares may describe the system under test differently: each had a device of its own
    #[arg(long)]
    any_system: bool,
    /// Write a report in the XML of `JUnit`
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Flaky runs do not fail the command; they are shown all the same
    #[arg(long)]
    allow_flaky: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The journals, each with its name.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Vec<(String, Journal)>, Error> {
    let read = |path: &PathBuf| {
        let journal = Journal::read(path).map_err(|e| Error::input(e.to_string()))?;
        Ok((path.display().to_string(), journal))
    };
    paths.iter().map(read).collect()
}

/// Journals of one campaign, joined; doubts become warnings.
pub(crate) fn joined(
    journals: Vec<(String, Journal)>,
    options: MergeOptions,
) -> Result<Journal, Error> {
    let Merged { journal, warnings } = merge(journals, options).map_err(|error| {
        let wrong = Error::input(error.to_string());
        match error {
            MergeError::Gaps { .. } => wrong.hint("--partial joins what is there"),
            MergeError::OtherSystem { .. } => wrong
                .hint("--any-system joins them all the same, where each had a device of its own"),
            MergeError::Different { .. } => wrong
                .hint("shares of one campaign have all flags but --range and --partition alike"),
            _ => wrong,
        }
    })?;
    for warning in warnings {
        warning!("warning: {warning}");
    }
    Ok(journal)
}

/// Bytes of a document that is merged.
const MOST_DOCUMENT: u64 = 1 << 30;

/// A file as a document of this kind; `None` where it is something else.
fn document<T: serde::de::DeserializeOwned>(path: &Path) -> Option<T> {
    let file = std::fs::File::open(path).ok()?;
    if file.metadata().ok()?.len() > MOST_DOCUMENT {
        return None;
    }
    serde_json::from_reader(std::io::BufReader::new(file)).ok()
}

/// All files as documents of one kind, if the first is one.
fn all_documents<T: serde::de::DeserializeOwned>(
    args: &Args,
) -> Result<Option<Vec<(String, T)>>, Error> {
    let name = |path: &PathBuf| path.display().to_string();
    let Some(first) = args.journals.first() else {
        return Ok(None);
    };
    let Some(read) = document(first) else {
        return Ok(None);
    };
    let mut all = vec![(name(first), read)];
    for path in &args.journals[1..] {
        let Some(read) = document(path) else {
            return Err(Error::input(format!(
                "{} is not a document as {} is",
                name(path),
                name(first)
            )));
        };
        all.push((name(path), read));
    }
    Ok(Some(all))
}

/// Joins documents of mutants or logs; `None` where the files are journals.
fn documents(args: &Args) -> Result<Option<Exit>, Error> {
    let refused = |why: String| {
        let error = Error::input(why);
        if args.partial {
            error
        } else {
            error.hint("--partial joins what is there")
        }
    };
    if let Some(shares) = all_documents::<MutationDocument>(args)? {
        let mut merged = MergedMutants::default();
        for (name, share) in shares {
            merged.add(&name, share).map_err(refused)?;
        }
        let whole = merged.finish(args.partial).map_err(refused)?;
        let answer = mutate::conclude(&whole, args.json)?;
        let written = write_json(&args.output, &whole);
        return Ok(Some(beside_answer(answer, written)));
    }
    if let Some(shares) = all_documents::<LogsDocument>(args)? {
        let whole = LogsDocument::merge(shares, args.partial).map_err(refused)?;
        let answer = whole.conclude(args.json)?;
        let written = write_json(&args.output, &whole);
        return Ok(Some(beside_answer(answer, written)));
    }
    Ok(None)
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    if let Some(exit) = documents(args)? {
        return Ok(exit);
    }
    let options = MergeOptions {
        partial: args.partial,
        any_system: args.any_system,
    };
    let journal = joined(read(&args.journals)?, options)?;
    // Paths of the test's command line are relative to its folder, which is entered below.
    let output = recorded::absolute(&args.output);
    let mut summary = Summary::of_events(&journal.events);
    if let Err(error) = write_whole(&output, &journal.to_bytes()) {
        let error = ExecError::Report(error.message().to_owned());
        summary.unwritten.push(error);
    }
    let mut sinks = Fanout::default();
    if let Some(path) = &args.junit {
        let junit = JUnit::new(ReportFile::new(path)?, "iolite merge")
            .about(&journal.header, Some(replay(&args.output)));
        sinks.0.push(Box::new(junit.allow_flaky(args.allow_flaky)));
    }
    for event in &journal.events {
        if let Err(error) = sinks.event(event) {
            summary.unwritten.push(error);
            break;
        }
    }
    finish(sinks, &mut summary);
    let known = recorded::campaign(&journal.header);
    let known = match known {
        Ok(known) => Some(known),
        Err(error) if journal.header.kind == Criterion::Property => {
            // What several runs say of a property depends on its relation, which is not in the journal.
            return Err(error);
        }
        Err(error) => {
            warning!("warning: coverage is not counted: {}", error.message());
            None
        }
    };
    if let Some(known) = &known {
        summary.coverage = known.coverage_of(&journal)?;
        summary
            .notices
            .extend(known.campaign.learnt_from(&journal.events)?);
        warn(
            known.campaign.judge(),
            &summary.notices,
            Path::new("iolite.unknown.smt2"),
        );
    }
    let judge = known.as_ref().map(|known| known.campaign.judge());
    let header = &journal.header;
    let failures = summary.failures.values();
    let certificates = match &known {
        Some(known) if args.json => Certificates::new(failures, |judged| {
            let judged = &known.campaign.judge().blame(judged).0;
            known.args.certify(&known.workspace, judged)
        }),
        None if args.json => Certificates::new(failures, |_| {
            Ok(Err("the model of the journals is not at hand".to_owned()))
        }),
        _ => Certificates::default(),
    };
    let conclusion = Conclusion {
        judge,
        title: judge.map_or_else(|| format!("{} {}", header.model, header.kind), title),
        config: known.as_ref().map(|known| known.target.config()),
        seed: header.seed,
        journal: Some(&args.output),
        trust: known
            .as_ref()
            .is_some_and(|k| k.args.programs().next().is_some()),
        json: args.json,
        allow_flaky: args.allow_flaky,
        verbose: false,
        cases: None,
        certificates,
        after: None,
    };
    conclusion.print(&summary)
}
