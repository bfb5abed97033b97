//! `iolite replay` and `iolite shrink`: a recorded run once more.

use std::path::{Path, PathBuf};

use iolite::{
    Campaign, Certificate, Error, Judge, RecordedRun, Target, Verdict, WholeCertificate, Workspace,
    explorer_command,
};
use iolite_exec::{
    Event, Fanout, Journal, JournalHeader, JournalWriter, Replay, ShrinkPlan, chart,
    end_well_on_signals,
};
use serde::Serialize;

use super::recorded::{absolute, enter_folder, test_args};
use super::test;
use crate::args::workspace;
use crate::output::{Exit, beside_answer, counted, print, print_json, silence, write_json};

/// Run a journaled run once more, and say where it differs
#[derive(clap::Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    which: Which,
    /// Write the journal of the new run to this file
    #[arg(long, value_name = "FILE")]
    journal_to: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Find a shorter run that fails in the same way
#[derive(clap::Args)]
pub(crate) struct ShrinkArgs {
    #[command(flatten)]
    which: Which,
    /// Tries of a shorter run before it counts as not failing
    #[arg(long, value_name = "N", default_value_t = 3)]
    attempts: u32,
    /// Runs in all
    #[arg(long, value_name = "N", default_value_t = 2000)]
    executions: u32,
    /// Runs of the result, to count how often it fails
    #[arg(long, value_name = "N", default_value_t = 20)]
    confirmations: u32,
    /// Seconds in all
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    time: f64,
    /// Write the certificate of the shorter run to this file
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
struct Which {
    /// The journal of `iolite test`
    #[arg(default_value = ".iolite/latest")]
    journal: PathBuf,
    /// Which run [default: the first failing one, else the last]
    #[arg(long, value_name = "N")]
    run: Option<u64>,
    /// Another system under test than the journal's
    #[arg(long, value_name = "SUT")]
    sut: Option<String>,
    /// Execute command lines that stand only in the journal, such as --sut cmd:… of the test
    #[arg(long)]
    trust: bool,
}

/// A journal with everything that its run needs, set up anew from its own command line.
struct Record {
    args: Box<test::Args>,
    workspace: Workspace,
    run: RecordedRun,
    target: Target,
    campaign: Campaign,
    header: JournalHeader,
}

impl Which {
    fn open(&self) -> Result<Record, Error> {
        let path = self.journal.display();
        let journal = Journal::read(&self.journal).map_err(|e| Error::input(e.to_string()))?;
        let Some(mut args) = test_args(&journal.header) else {
            return Err(Error::input(format!(
                "{path}: it is no journal of `iolite test`"
            )));
        };
        if let Some(sut) = &self.sut {
            args.target.sut = absolute_sut(sut);
        }
        self.check_trust(&args)?;
        enter_folder(&journal.header)?;
        // A file that a journal names is not written.
        args.data.unknown_query = PathBuf::from("iolite.unknown.smt2");
        let run = RecordedRun::of(&journal, self.run)
            .map_err(|e| Error::input(format!("{path}: {}", e.message())))?;
        let workspace = workspace(&args.read);
        let target = Target::new(&workspace, &args.target_options())?;
        let campaign = args.campaign(&workspace, &target)?;
        let now = serde_json::to_value(target.config()).unwrap_or_default();
        if self.sut.is_none() && now != journal.header.sut {
            warning!(
                "warning: the description of the system has changed since the journal was written"
            );
        }
        let reference = campaign.judge().reference();
        if run.model.hash != reference.hash {
            warning!("warning: {reference} has changed since the journal was written");
        }
        let case = case_of(&args, &campaign, &workspace, run.id.number)?;
        Ok(Record {
            run: match case {
                Some(case) => run.judged_by(case),
                None => run,
            },
            target,
            campaign,
            header: journal.header,
            args,
            workspace,
        })
    }
}

impl Which {
    /// A journal may come from anywhere, so it executes nothing by itself: a command line is taken from a
    /// description on disk, from this command's flags, or, having been shown, with the user's word.
    fn check_trust(&self, args: &test::Args) -> Result<(), Error> {
        let of_user = self.sut.as_ref().and_then(|sut| {
            let explored = || sut.strip_prefix("model:")?.strip_prefix(iolite::EXPLORE);
            sut.strip_prefix("cmd:").or_else(explored)
        });
        let foreign: Vec<String> = args
            .programs()
            .filter(|program| Some(program.as_str()) != of_user)
            .map(|program| format!("  {}", program.escape_debug()))
            .collect();
        if foreign.is_empty() {
            return Ok(());
        }
        let shown = foreign.join("\n");
        if self.trust {
            say!("executing what the journal says:\n{shown}");
            return Ok(());
        }
        Err(Error::input(format!(
            "{} asks to execute what no description on disk says:\n{shown}",
            self.journal.display()
        ))
        .hint("with --trust it is executed; --sut names another system"))
    }
}

/// The claim of a failing run in a journal with the models that it rests on, and whether these had to be
/// read from disk, because the journal does not have them.
pub(crate) fn journaled_certificate(
    journal: &Path,
    run: Option<u64>,
) -> Result<(WholeCertificate, bool), Error> {
    let path = journal.display();
    let journal = Journal::read(journal).map_err(|e| Error::input(e.to_string()))?;
    let Some(args) = test_args(&journal.header) else {
        return Err(Error::input(format!(
            "{path}: it is no journal of `iolite test`"
        )));
    };
    let ended = journal.events.iter().find_map(|event| match event {
        Event::RunEnded {
            run: number,
            certificate: Some(certificate),
            verdict,
            ..
        } if run.map_or(verdict.is_failing(), |run| run == *number) => Some(certificate),
        _ => None,
    });
    let Some(certificate) = ended else {
        return Err(Error::input(format!(
            "{path}: there is no such failing run in it, so there is nothing to re-check"
        )));
    };
    if let Some(command) = args.model.as_ref().and_then(explorer_command) {
        return Err(Error::input(format!(
            "{path}: another program explores its model, and a journal executes nothing by itself: {}",
            command.escape_debug()
        ))
        .hint("`iolite replay --trust` runs it again"));
    }
    enter_folder(&journal.header)?;
    let workspace = workspace(&args.read);
    let models = &journal.header.models;
    for model in models {
        workspace.insert(Path::new(&model.path), model.text.as_bytes());
    }
    // Texts that are not those that the runs were judged by prove nothing.
    let told = journal.header.description.as_ref();
    for (path, hash) in told.map(|d| &d.files).into_iter().flatten() {
        if models.iter().any(|model| model.path == *path)
            && workspace.source(Path::new(path))?.hash() != hash
        {
            return Err(Error::input(format!(
                "the journal's text of {path} is not the one with its hash"
            )));
        }
    }
    let whole = args.certify(&workspace, certificate)?;
    let whole =
        whole.map_err(|reason| Error::input(format!("there is no certificate: {reason}")))?;
    Ok((whole, models.is_empty()))
}

/// A system under test as seen from any folder.
fn absolute_sut(sut: &str) -> String {
    if let Some(model) = sut.strip_prefix("model:")
        && !model.starts_with(iolite::EXPLORE)
    {
        return format!("model:{}", absolute(Path::new(model)).display());
    }
    if Path::new(sut).is_file() {
        return absolute(Path::new(sut)).display().to_string();
    }
    sut.to_owned()
}

/// The test case of this run, where a suite was run.
fn case_of(
    args: &test::Args,
    campaign: &Campaign,
    workspace: &iolite::Workspace,
    run: u64,
) -> Result<Option<iolite_derive::TestCase>, Error> {
    let Judge::Explicit(judge) = campaign.judge() else {
        return Ok(None);
    };
    if args.suite.is_empty() {
        return Ok(None);
    }
    let cases = workspace.suite(&args.suite, judge.spec())?;
    let number = run.checked_div(args.repeat).unwrap_or(run);
    let case = usize::try_from(number).ok().and_then(|k| cases.get(k));
    Ok(case.map(|case| (*case.case).clone()))
}

#[derive(Serialize)]
struct ReplayDocument {
    run: u64,
    recorded_verdict: Option<Verdict>,
    verdict: Verdict,
    steps: u64,
    /// Where the new run left the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    divergence: Option<DivergenceDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<Certificate>,
}

#[derive(Serialize)]
struct DivergenceDocument {
    step: usize,
    recorded: String,
    seen: Option<String>,
}

pub(crate) fn run_replay(args: &ReplayArgs) -> Result<Exit, Error> {
    // The test's folder is entered with the journal.
    let journal_to = args.journal_to.as_deref().map(absolute);
    let record = args.which.open()?;
    end_well_on_signals()?;
    let mut sinks = Fanout::default();
    if let Some(path) = &journal_to {
        let journal = JournalWriter::create(path, &record.header)?;
        sinks.0.push(Box::new(journal));
    }
    let Replay {
        outcome,
        divergence,
    } = record
        .campaign
        .replay(&record.run, &record.target, &mut sinks)?;
    let document = ReplayDocument {
        run: record.run.id.number,
        recorded_verdict: record.run.verdict,
        verdict: outcome.verdict,
        steps: outcome.steps,
        divergence: divergence.map(|d| DivergenceDocument {
            step: d.step,
            recorded: d.recorded,
            seen: d.seen,
        }),
        certificate: outcome.certificate,
    };
    if args.json {
        print_json(&document)?;
    } else {
        print(&tell_replay(&document, &record.target))?;
    }
    Ok(match Exit::from(document.verdict) {
        Exit::Holds if document.divergence.is_some() => Exit::Inconclusive,
        exit => exit,
    })
}

fn tell_replay(document: &ReplayDocument, target: &Target) -> String {
    let mut text = String::new();
    if let Some(certificate) = &document.certificate {
        text += &chart(certificate);
        text += &silence::hint(certificate, target.config());
    }
    if let Some(DivergenceDocument {
        step,
        recorded,
        seen,
    }) = &document.divergence
    {
        let seen = seen
            .as_deref()
            .unwrap_or("the specification does not go on so");
        text += &format!("step {}: recorded {recorded}, now {seen}\n", step + 1);
    }
    let recorded = document.recorded_verdict.map_or("none", Verdict::name);
    text += &format!(
        "run {}: {} after {}; the journal's verdict is {recorded}\n",
        document.run,
        document.verdict,
        counted(document.steps, "step")
    );
    text
}

#[derive(Serialize)]
struct ShrinkDocument {
    run: u64,
    verdict: Verdict,
    from_steps: usize,
    /// `null` when the failure did not come again.
    to_steps: Option<usize>,
    minimal: bool,
    executions: u32,
    reproduced: u32,
    confirmations: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<Certificate>,
}

pub(crate) fn run_shrink(args: &ShrinkArgs) -> Result<Exit, Error> {
    let certificate_to = args.certificate.as_deref().map(absolute);
    let record = args.which.open()?;
    end_well_on_signals()?;
    let id = record.run.id;
    if let Some(case) = record.run.written() {
        return Err(Error::input(format!(
            "run {} is of the hand-written test case {}, which fixes its steps",
            id.number,
            case.name()
        )));
    }
    let Some(verdict) = record.run.verdict.filter(|v| v.is_failing()) else {
        return Err(Error::input(format!(
            "run {} did not fail, so there is nothing to shrink",
            id.number
        )));
    };
    let time = std::time::Duration::try_from_secs_f64(args.time)
        .map_err(|e| Error::input(format!("--time: {e}")))?;
    let plan = ShrinkPlan {
        attempts: args.attempts,
        executions: args.executions,
        time,
        confirmations: args.confirmations,
        seed: id.seed,
    };
    let shrunk = record
        .campaign
        .shrink(&record.run, verdict, &record.target, &plan)?;
    let document = ShrinkDocument {
        run: id.number,
        verdict,
        from_steps: shrunk.from_steps,
        to_steps: shrunk.run.as_ref().map(|run| run.trace.steps().len()),
        minimal: shrunk.minimal,
        executions: shrunk.executions,
        reproduced: shrunk.reproduced,
        confirmations: shrunk.confirmations,
        certificate: shrunk.run.and_then(|run| run.certificate),
    };
    if args.json {
        print_json(&document)?;
    } else {
        print(&tell_shrink(&document))?;
    }
    let answer = if document.to_steps.is_some() {
        Exit::Fails
    } else {
        Exit::Inconclusive
    };
    let written = match (&certificate_to, &document.certificate) {
        (Some(path), Some(certificate)) => {
            let whole = record.args.certify(&record.workspace, certificate);
            match whole.unwrap_or_else(|e| Err(e.message().to_owned())) {
                Ok(whole) => write_json(path, &whole),
                Err(reason) => {
                    warning!("warning: there is no whole certificate: {reason}");
                    write_json(path, certificate)
                }
            }
        }
        _ => Ok(()),
    };
    Ok(beside_answer(answer, written))
}

fn tell_shrink(document: &ShrinkDocument) -> String {
    let Some(to) = document.to_steps else {
        return format!(
            "run {}: the failure did not come again in {} runs\n",
            document.run, document.executions
        );
    };
    let chart = document.certificate.as_ref().map(chart).unwrap_or_default();
    let minimal = if document.minimal {
        "no step can be left out"
    } else {
        "time or runs ran out"
    };
    let steps = if to == document.from_steps {
        format!("{to} steps as before")
    } else {
        format!("{to} steps instead of {}", document.from_steps)
    };
    format!(
        "{chart}run {}: {steps}, {minimal}; {} runs; it failed in {} of {} confirmations\n",
        document.run, document.executions, document.reproduced, document.confirmations
    )
}
