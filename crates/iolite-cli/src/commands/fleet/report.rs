//! `iolite fleet report`: what a campaign came to, as if one process had made it.

use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use clap::Parser;
use iolite::{Error, MergedMutants, MutantDocument, MutationDocument};
use iolite_exec::{Event, JournalForm, new_journal_path};
use iolite_fleet::{Description, Fleet, Kind, Outcome, ReportedCampaign, digest};
use serde::Deserialize;

use super::job::Job;
use super::{ServerArgs, error};
use crate::args::workspace;
use crate::commands::monitor_logs::{LogDocument, LogsDocument};
use crate::commands::recorded::absolute;
use crate::commands::{mutate, test};
use crate::output::{Exit, beside_answer, write_json};
use crate::{Cli, Command};

/// Say what a campaign came to, as if one process had made it
///
/// The answer, the JSON document, the journal and the reports are those of `iolite test`, `mutate` or
/// `monitor` with the same flags; the journal can be replayed, shrunk and explained. Where the campaign's files are not in the
/// current folder, they are put into .iolite/fleet/ID.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[command(after_help = "\
Exit codes: those of the campaign's own command, by the verdicts of all runs; 2 also where the campaign is not complete.")]
pub(crate) struct Args {
    /// The campaign
    id: String,
    #[command(flatten)]
    server: ServerArgs,
    /// Report what is there, although the campaign goes on
    #[arg(long)]
    partial: bool,
    /// The journal of the whole [default: a new file in .iolite]
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the certificate of the first failing run to this file, for `iolite explain`
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Write a report in the XML of `JUnit`
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write a report for people: one HTML file that loads nothing
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write what of the model the runs reached, and what they did not, as JSON
    #[arg(long, value_name = "FILE")]
    coverage: Option<PathBuf>,
    /// Flaky runs do not fail the command; they are shown all the same
    #[arg(long)]
    allow_flaky: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Say too which boundaries of guards, transitions and pairs of values were not tried, where the
    /// model has data
    #[arg(long, short)]
    verbose: bool,
}

impl Args {
    /// Whether everything about each mutant or log is asked for; the answer for people needs little of it.
    fn wants_all(&self) -> bool {
        self.json || self.output.is_some()
    }

    /// The flags of `iolite test` that say the same.
    fn flags(&self) -> Vec<String> {
        let journal = self.output.clone();
        let journal = journal.unwrap_or_else(|| new_journal_path(JournalForm::JsonLines));
        let files = [
            ("--journal", Some(&journal)),
            ("--certificate", self.certificate.as_ref()),
            ("--junit", self.junit.as_ref()),
            ("--report", self.report.as_ref()),
            ("--coverage", self.coverage.as_ref()),
        ];
        let named = |(flag, path): (&str, Option<&PathBuf>)| {
            path.map(|path| format!("{flag}={}", absolute(path).display()))
        };
        let mut flags: Vec<String> = files.into_iter().filter_map(named).collect();
        let switches = [
            (self.allow_flaky, "--allow-flaky"),
            (self.json, "--json"),
            (self.verbose, "--verbose"),
        ];
        let switches = switches.into_iter().filter(|(on, _)| *on);
        flags.extend(switches.map(|(_, flag)| flag.to_owned()));
        flags
    }
}

/// What stands in the record of an item that was set aside.
#[derive(Deserialize)]
struct SetAside {
    error: Why,
}

#[derive(Deserialize)]
struct Why {
    code: String,
    message: String,
}

/// The events of a run.
fn events(outcome: &Outcome) -> Result<Vec<Event>, Error> {
    let wrong = |why: &dyn std::fmt::Display| {
        Error::fault(format!(
            "the record of run {} on the server: {why}",
            outcome.item
        ))
    };
    let text = outcome.record.get();
    let run = outcome.item;
    if text.starts_with('{') {
        let aside: SetAside = serde_json::from_str(text).map_err(|e| wrong(&e))?;
        let mut message = aside.error.message;
        for (k, said) in (1..).zip(&outcome.tries) {
            message += &format!("\n  try {k}: {said}");
        }
        let code = aside.error.code;
        return Ok(vec![Event::Fault {
            run,
            steps: 0,
            code,
            message,
        }]);
    }
    let mut events: Vec<Event> = serde_json::from_str(text).map_err(|e| wrong(&e))?;
    if events.iter().any(|event| event.run() != Some(run)) {
        return Err(wrong(&"it is about other runs too"));
    }
    for event in &mut events {
        if let Event::Fault { message, .. } = event
            && outcome.tries.len() > 1
        {
            *message += &format!(" (in each of {} tries)", outcome.tries.len());
        }
    }
    Ok(events)
}

/// Goes to a folder that holds the files of the campaign.
pub(super) fn enter(fleet: &Fleet, id: &str, description: &Description) -> Result<(), Error> {
    let same = |folder: &Path| {
        let is_same = |file: &iolite_fleet::TravellingFile| {
            let bytes = std::fs::read(folder.join(&file.path));
            bytes.is_ok_and(|bytes| digest(&bytes) == file.sha256)
        };
        description.files.iter().all(is_same)
    };
    if same(Path::new(".")) {
        return Ok(());
    }
    let folder = Path::new(".iolite/fleet").join(id);
    if !same(&folder) {
        fleet.unpack(description, &folder).map_err(error)?;
    }
    std::env::set_current_dir(&folder).map_err(|e| Error::reading(&folder, &e))
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let fleet = args.server.connect()?;
    let campaign = fleet.report(&args.id).map_err(error)?;
    let status = &campaign.status;
    let lost = status.items.saturating_sub(status.done);
    if !status.complete && !args.partial {
        return Err(Error::input(format!(
            "{} goes on: {} of {} {}s are done",
            args.id,
            status.done,
            status.items,
            status.kind.noun()
        ))
        .hint("--partial reports what is there; `iolite fleet watch` waits for its end"));
    }
    match campaign.description.kind {
        Kind::Test => test(args, fleet, campaign),
        Kind::Mutate | Kind::Monitor if lost > 0 && status.stopped.is_none() && !args.partial => {
            let noun = status.kind.noun();
            Err(Error::fault(format!(
                "{lost} {noun}s of campaign {} are lost: nobody has them to do, and there is no result",
                args.id
            ))
            .hint(
                "submitting the campaign again gives what is missing to workers; --partial reports what is there",
            ))
        }
        Kind::Mutate => mutants(args, &fleet, &campaign),
        Kind::Monitor => logs(args, &fleet, &campaign),
    }
}

/// Reads what items came to, in their order.
fn each(
    fleet: &Fleet,
    id: &str,
    items: Range<u64>,
    take: &mut dyn FnMut(Outcome) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut taken = Ok(());
    let read = fleet.outcomes(id, items, &mut |outcome| {
        taken = take(outcome);
        match taken {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    read.map_err(error)?;
    taken
}

/// Gives the records of items to `take`, one by one; those that were set aside are named. Whether there were any.
fn documents<T: serde::de::DeserializeOwned>(
    args: &Args,
    fleet: &Fleet,
    campaign: &ReportedCampaign,
    take: &mut dyn FnMut(&str, T) -> Result<(), Error>,
) -> Result<bool, Error> {
    let only_tests = [
        (args.certificate.is_some(), "--certificate"),
        (args.junit.is_some(), "--junit"),
        (args.report.is_some(), "--report"),
        (args.coverage.is_some(), "--coverage"),
        (args.allow_flaky, "--allow-flaky"),
    ];
    if let Some((_, flag)) = only_tests.into_iter().find(|(given, _)| *given) {
        return Err(Error::input(format!(
            "{flag} is for campaigns of `iolite test`"
        )));
    }
    let noun = campaign.description.kind.noun();
    let mut taken: u64 = 0;
    let mut aside = false;
    each(fleet, &args.id, 0..u64::MAX, &mut |outcome| {
        let text = outcome.record.get();
        if outcome.verdict == "error" {
            let why: SetAside = serde_json::from_str(text)
                .map_err(|e| Error::fault(format!("the record of {noun} {}: {e}", outcome.item)))?;
            let (item, why) = (outcome.item, why.error.message);
            say!(
                "error: {noun} {item} came to nothing: {}",
                why.escape_debug()
            );
            aside = true;
            return Ok(());
        }
        let read = serde_json::from_str(text)
            .map_err(|e| Error::fault(format!("the record of {noun} {}: {e}", outcome.item)))?;
        taken += 1;
        take(&format!("{noun} {}", outcome.item), read)
    })?;
    if campaign.status.complete && taken < campaign.status.done && !aside {
        return Err(Error::fault(
            "the server does not give all results; try again",
        ));
    }
    Ok(aside)
}

/// Items that came to nothing are faults, unless something failed.
fn with_faults(exit: Exit, aside: bool) -> Exit {
    match exit {
        Exit::Fails => Exit::Fails,
        _ if aside => Exit::Fault,
        exit => exit,
    }
}

fn mutants(args: &Args, fleet: &Fleet, campaign: &ReportedCampaign) -> Result<Exit, Error> {
    let mut merged = MergedMutants::default();
    let aside = documents(
        args,
        fleet,
        campaign,
        &mut |name, mut share: MutationDocument| {
            if !args.wants_all() {
                let mutants = share.mutants.iter_mut();
                mutants.for_each(MutantDocument::without_untold_runs);
            }
            merged.add(name, share).map_err(Error::fault)
        },
    )?;
    let partial = args.partial || aside || campaign.status.stopped.is_some();
    let whole = merged.finish(partial).map_err(Error::fault)?;
    let exit = with_faults(mutate::conclude(&whole, args.json)?, aside);
    let output = args.output.as_ref();
    let written = output.map_or(Ok(()), |path| write_json(path, &whole));
    Ok(beside_answer(exit, written))
}

fn logs(args: &Args, fleet: &Fleet, campaign: &ReportedCampaign) -> Result<Exit, Error> {
    let mut logs = Vec::new();
    let aside = documents(args, fleet, campaign, &mut |_, mut log: LogDocument| {
        if !args.wants_all() {
            log.without_document();
        }
        logs.push(log);
        Ok(())
    })?;
    let Job::Monitor(monitor) = Job::of(&campaign.description.command)? else {
        return Err(Error::input("it is no campaign of `iolite monitor`"));
    };
    let whole = LogsDocument::new(&monitor, logs);
    let exit = with_faults(whole.conclude(args.json)?, aside);
    let output = args.output.as_ref();
    let written = output.map_or(Ok(()), |path| write_json(path, &whole));
    Ok(beside_answer(exit, written))
}

fn test(args: &Args, fleet: Fleet, campaign: ReportedCampaign) -> Result<Exit, Error> {
    let ReportedCampaign {
        description,
        status,
    } = campaign;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "microseconds"
    )]
    let elapsed = (status.seconds * 1e6) as u64;
    // Checked as a worker checks it; then with the flags of the report.
    Job::of(&description.command)?;
    let mut command = description.command.clone();
    let flags = args.flags();
    enter(&fleet, &args.id, &description)?;
    command.extend(flags);
    let parsed = Cli::try_parse_from(&command).map_err(|e| Error::input(e.to_string()))?;
    let Command::Test(mut test) = parsed.command else {
        return Err(Error::input("it is no campaign of `iolite test`"));
    };
    // Nothing that the server says is executed.
    test.data.solver = None;
    let workspace = workspace(&test.read).without_explorers();
    let missing = match &status.stopped {
        Some(reason) => Some(reason.tell(status.kind.noun())),
        None => args.partial.then(|| "the campaign goes on".to_owned()),
    };
    let id = args.id.clone();
    // One by one, so that a campaign need not fit into memory.
    let read: test::ReadRuns = Box::new(move |runs, take| {
        each(&fleet, &id, runs, &mut |outcome| {
            take(outcome.item, events(&outcome)?)
        })
    });
    let recording = test::Recording {
        place: format!("campaign {}", args.id),
        command,
        read,
        count: status.done,
        missing,
        elapsed,
        seed: 0,
        taken: 0,
    };
    test::run_of(&test, &workspace, test::Runs::Recorded(recording))
}
