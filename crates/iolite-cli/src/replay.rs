//! `iolite replay` and `iolite shrink`: a recorded run once more.

use std::path::PathBuf;

use clap::Parser;
use iolite_derive::{StoredTester, TestCase, Verdict};
use iolite_exec::{
    Event, ExecError, JobId, Journal, JournalWriter, Replay, RunId, ShrinkPlan, Step, chart,
    replay, shrink,
};
use iolite_lts::LabelId;
use serde::Serialize;

use super::judge::{Judge, Pair};
use super::signature::SeenValues;
use super::target::Target;
use super::test::{self, fault};
use super::{Cli, Command, Exit, Failure, print, print_json, silence, suite};

/// Run a journaled run once more, and say where it differs
#[derive(clap::Args)]
pub(super) struct ReplayArgs {
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
pub(super) struct ShrinkArgs {
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
    journal: PathBuf,
    /// Which run [default: the first failing one, else the last]
    #[arg(long, value_name = "N")]
    run: Option<u64>,
    /// Another system under test than the journal's
    #[arg(long, value_name = "SUT")]
    sut: Option<String>,
}

/// A journal with everything that its run needs, set up anew from its own command line.
struct Record {
    id: RunId,
    steps: Vec<Step<LabelId>>,
    /// Which of them are outputs that came before a stimulus.
    preempting: Vec<bool>,
    verdict: Option<Verdict>,
    args: test::Args,
    target: Target,
    judge: Judge,
    /// The hand-written test case that judged the run, where one did. Derived ones judge as the model
    /// does, so that the model judges them again.
    written: Option<TestCase>,
    header: iolite_exec::JournalHeader,
}

impl Record {
    fn pair(&self) -> Result<Pair, ExecError> {
        let Some(case) = &self.written else {
            return self.judge.pair(&self.target, JobId(0));
        };
        let seen = SeenValues::default();
        let signature = self.judge.signature(&seen);
        Ok(Pair {
            tester: self
                .judge
                .shown(&seen, Box::new(StoredTester::new(case.clone()))),
            adapter: self.target.adapter(JobId(0), case.labels(), signature)?,
            valued: None,
        })
    }
}

/// The hand-written test case of this run.
fn written(args: &test::Args, run: u64) -> Result<Option<TestCase>, Failure> {
    let Some(model) = args.model.as_ref().filter(|_| !args.suite.is_empty()) else {
        return Ok(None);
    };
    let cases = suite::read_suite(&args.suite, model, &args.read)?;
    let number = run.checked_div(args.repeat).unwrap_or(run);
    let case = usize::try_from(number)
        .ok()
        .and_then(|k| cases.into_iter().nth(k));
    Ok(case
        .map(|(_, case)| case)
        .filter(|case| case.relation() == suite::WRITTEN))
}

impl Which {
    fn open(&self) -> Result<Record, Failure> {
        let path = self.journal.display();
        let journal = Journal::read(&self.journal).map_err(|e| Failure::input(e.to_string()))?;
        let cli = Cli::try_parse_from(&journal.header.command);
        let Ok(Cli {
            command: Command::Test(mut args),
        }) = cli
        else {
            return Err(Failure::input(format!(
                "{path}: it is no journal of `iolite test`"
            )));
        };
        if let Some(sut) = &self.sut {
            args.target.sut.clone_from(sut);
        }
        let id = match self.run {
            Some(number) => journal.runs().find(|id| id.number == number),
            None => journal.run_of_interest(),
        };
        let Some(id) = id else {
            let known = journal.runs().count();
            return Err(Failure::input(format!(
                "{path}: no such run; it has {known} runs"
            )));
        };
        let target = Target::new(&args.target, &args.data, &args.read)?;
        let judge = test::judge(&args, &target)?;
        if journal.header.model.hash.as_ref() != Some(&judge.hash) {
            eprintln!(
                "warning: {} has changed since the journal was written",
                judge.model
            );
        }
        let foreign = target.extra_labels()?;
        let written = written(&args, id.number)?.map(|case| case.knowing(&foreign));
        let steps = journal
            .steps(id.number, &|text| match &written {
                Some(case) => case.labels().get_text(text),
                None => judge.parse(text),
            })
            .map_err(|e| Failure::input(format!("{path}: {e}")))?;
        let verdict = journal.events.iter().find_map(|event| match event {
            Event::RunEnded { run, verdict, .. } if *run == id.number => Some(*verdict),
            _ => None,
        });
        let preempting = journal.preempting(id.number);
        let header = journal.header;
        Ok(Record {
            id,
            steps,
            preempting,
            verdict,
            args: *args,
            target,
            judge,
            written,
            header,
        })
    }
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
    certificate: Option<iolite_exec::Certificate>,
}

#[derive(Serialize)]
struct DivergenceDocument {
    step: usize,
    recorded: String,
    seen: Option<String>,
}

pub(super) fn run_replay(args: &ReplayArgs) -> Result<Exit, Failure> {
    let record = args.which.open()?;
    let pair = record.pair();
    let Pair {
        mut tester,
        mut adapter,
        ..
    } = pair.map_err(|e| fault(&e))?;
    let mut options = test::options(&record.target, &record.judge, &record.args.effort);
    if let Some(case) = &record.written {
        case.relation().clone_into(&mut options.kind);
    }
    let mut sinks = iolite_exec::Fanout::default();
    if let Some(path) = &args.journal_to {
        let journal = JournalWriter::create(path, &record.header).map_err(|e| fault(&e))?;
        sinks.0.push(Box::new(journal));
    }
    let outcome = replay(
        &mut tester,
        &mut adapter,
        (&record.steps, &record.preempting),
        &options,
        record.id,
        &mut sinks,
    );
    let stopped = adapter.stop();
    let Replay {
        outcome,
        divergence,
    } = outcome.map_err(|e| fault(&e))?;
    stopped.map_err(|e| fault(&e))?;
    let document = ReplayDocument {
        run: record.id.number,
        recorded_verdict: record.verdict,
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
    Ok(match document.verdict {
        verdict if verdict.is_failing() => Exit::Fails,
        Verdict::Pass | Verdict::WeakPass if document.divergence.is_none() => Exit::Holds,
        _ => Exit::Inconclusive,
    })
}

fn tell_replay(document: &ReplayDocument, target: &Target) -> String {
    let mut text = String::new();
    if let Some(certificate) = &document.certificate {
        text += &chart(certificate);
        text += &silence::hint(certificate, &target.config);
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
        "run {}: {} after {} steps; the journal's verdict is {recorded}\n",
        document.run, document.verdict, document.steps
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
    certificate: Option<iolite_exec::Certificate>,
}

pub(super) fn run_shrink(args: &ShrinkArgs) -> Result<Exit, Failure> {
    let record = args.which.open()?;
    if let Some(case) = &record.written {
        return Err(Failure::input(format!(
            "run {} is of the hand-written test case {}, which fixes its steps",
            record.id.number,
            case.name()
        )));
    }
    let Some(verdict) = record.verdict.filter(|v| v.is_failing()) else {
        return Err(Failure::input(format!(
            "run {} did not fail, so there is nothing to shrink",
            record.id.number
        )));
    };
    let time = std::time::Duration::try_from_secs_f64(args.time)
        .map_err(|e| Failure::input(format!("--time: {e}")))?;
    let plan = ShrinkPlan {
        attempts: args.attempts,
        executions: args.executions,
        time,
        confirmations: args.confirmations,
        seed: record.id.seed,
    };
    let pair = record.judge.pair(&record.target, JobId(0));
    let Pair {
        mut tester,
        mut adapter,
        ..
    } = pair.map_err(|e| fault(&e))?;
    let options = test::options(&record.target, &record.judge, &record.args.effort);
    let shrunk = shrink(
        &mut tester,
        &mut adapter,
        &record.steps,
        verdict,
        &options,
        &plan,
    );
    let stopped = adapter.stop();
    let shrunk = shrunk.map_err(|e| fault(&e))?;
    stopped.map_err(|e| fault(&e))?;
    let document = ShrinkDocument {
        run: record.id.number,
        verdict,
        from_steps: shrunk.from_steps,
        to_steps: shrunk.run.as_ref().map(|run| run.trace.steps().len()),
        minimal: shrunk.minimal,
        executions: shrunk.executions,
        reproduced: shrunk.reproduced,
        confirmations: shrunk.confirmations,
        certificate: shrunk.run.and_then(|run| run.certificate),
    };
    if let (Some(path), Some(certificate)) = (&args.certificate, &document.certificate) {
        let text = serde_json::to_vec_pretty(certificate)
            .map_err(|e| Failure::fault(format!("writing JSON: {e}")))?;
        super::failure::write_whole(path, &text)?;
    }
    if args.json {
        print_json(&document)?;
    } else {
        print(&tell_shrink(&document))?;
    }
    Ok(if document.to_steps.is_some() {
        Exit::Fails
    } else {
        Exit::Inconclusive
    })
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
    format!(
        "{chart}run {}: {} steps instead of {}, {minimal}; {} runs; it failed in {} of {} \
         confirmations\n",
        document.run,
        to,
        document.from_steps,
        document.executions,
        document.reproduced,
        document.confirmations
    )
}
