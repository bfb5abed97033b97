//! `iolite fleet make`: the process that makes the runs of one campaign, as a worker orders them.

use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use iolite::{ConstantBounds, Error, MutationOptions, SharedConstants, SharedCoverage};
use iolite_exec::{Event, ExecError, RunRange, Share, Sink, end_well_on_signals, interrupted};
use iolite_fleet::{
    Bounds, Description, MadeItem, MakerFault, MakerLine, MakerOrder, RangeEnd, Seen,
};
use serde_json::value::RawValue;

use super::error;
use super::job::{Job, TestSetup};
use crate::args::workspace;
use crate::commands::monitor_logs::LogDocument;
use crate::commands::{monitor, mutate, test};
use crate::output::Exit;

/// Flags of `iolite fleet make`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The worker's own system under test
    #[arg(long, value_name = "SUT")]
    sut: Option<String>,
}

/// Bytes of a line of input: a description, or an order.
const MOST_LINE: u64 = 8 << 20;

/// Bytes of a run's record; beyond them its steps are left out.
const MOST_RECORD: usize = 64 << 20;

/// Lines of standard input. When there are no more the worker has ended, and so does this process.
fn lines() -> Result<Receiver<Vec<u8>>, Error> {
    let (sender, receiver) = sync_channel(1);
    let read = move || {
        let mut input = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = (&mut input).take(MOST_LINE).read_until(b'\n', &mut line);
            if !matches!(read, Ok(1..)) || line.last() != Some(&b'\n') {
                break;
            }
            if sender.send(line).is_err() {
                return;
            }
        }
        drop(sender);
        // A run that is going on ends well; one that does not end is ended.
        let own = rustix::process::getpid();
        for _ in 0..2 {
            let _ = rustix::process::kill_process(own, rustix::process::Signal::TERM);
            std::thread::sleep(Duration::from_secs(2));
        }
    };
    let thread = std::thread::Builder::new().name("orders".into());
    let started = thread.spawn(read);
    started.map_err(|e| Error::fault(format!("cannot read orders: {e}")))?;
    Ok(receiver)
}

fn tell(line: &MakerLine) -> Result<(), ExecError> {
    let failed = |e: std::io::Error| ExecError::Report(format!("standard output: {e}"));
    let mut bytes = serde_json::to_vec(line).map_err(|e| failed(e.into()))?;
    bytes.push(b'\n');
    let mut output = std::io::stdout().lock();
    output
        .write_all(&bytes)
        .and_then(|()| output.flush())
        .map_err(failed)
}

/// The record of a run, as its events come.
#[derive(Default)]
struct Recorder {
    run: Option<u64>,
    record: String,
    /// Whether steps are left out.
    cut: bool,
    end: Option<(String, bool, Option<MakerFault>)>,
    learnt: Vec<String>,
}

impl Recorder {
    fn put(&mut self, event: &Event) -> Result<(), ExecError> {
        let text = serde_json::to_string(event)
            .map_err(|e| ExecError::Report(format!("an event: {e}")))?;
        self.record
            .push(if self.record.is_empty() { '[' } else { ',' });
        self.record.push_str(&text);
        Ok(())
    }

    /// The run is over: whatever follows is of another one.
    fn flush(&mut self) -> Result<(), ExecError> {
        let (run, end) = (self.run.take(), self.end.take());
        let mut record = std::mem::take(&mut self.record);
        self.cut = false;
        let (Some(item), Some((verdict, failing, fault))) = (run, end) else {
            return Ok(());
        };
        record.push(']');
        let record = RawValue::from_string(record)
            .map_err(|e| ExecError::Report(format!("a record: {e}")))?;
        tell(&MakerLine::Made(MadeItem {
            item,
            verdict,
            failing,
            fault,
            record,
        }))
    }
}

impl Sink for Recorder {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        let Some(run) = event.run() else {
            return Ok(());
        };
        if self.run != Some(run) {
            self.flush()?;
            self.run = Some(run);
            tell(&MakerLine::Started(run))?;
        }
        match event {
            Event::Progress { .. } => return Ok(()),
            Event::RunEnded { verdict, .. } => {
                self.end = Some((verdict.to_string(), verdict.is_failing(), None));
            }
            // A signal: the run is made again.
            Event::Fault { code, .. } if code == "interrupted" => return Ok(()),
            Event::Fault { code, message, .. } => {
                let fault = MakerFault {
                    code: code.clone(),
                    message: message.clone(),
                };
                self.end = Some(("error".to_owned(), false, Some(fault)));
            }
            Event::Notice { kind, message, .. } => {
                let new = kind == "learnt" && !self.learnt.contains(message);
                if new && self.learnt.len() < 100 {
                    self.learnt.push(message.clone());
                }
            }
            _ if self.record.len() > MOST_RECORD => {
                if !std::mem::replace(&mut self.cut, true) {
                    self.put(&Event::Notice {
                        run,
                        kind: "record-cut".to_owned(),
                        message: format!("steps beyond {MOST_RECORD} bytes are not recorded"),
                    })?;
                }
                return Ok(());
            }
            _ => {}
        }
        self.put(event)
    }
}

/// Makes runs of `iolite test`.
struct TestMaker {
    setup: TestSetup,
    args: Box<test::Args>,
    /// What all workers saw.
    seen: SharedCoverage,
    /// What all workers learnt of constants.
    learnt: SharedConstants,
}

impl TestMaker {
    fn new(mut args: Box<test::Args>, sut: Option<&str>) -> Result<Self, Error> {
        if let Some(sut) = sut {
            sut.clone_into(&mut args.target.sut);
        }
        let mut setup = TestSetup::new(&args)?;
        let seen = SharedCoverage::default();
        let learnt = SharedConstants::default();
        setup.campaign.prepare(&setup.workspace, &setup.target)?;
        // When to stop is for the whole campaign to say, and a fault is tried again.
        setup.campaign = setup
            .campaign
            .stop_on_fail(false)
            .time(None)
            .until_coverage(None)
            .asking_for_coverage(args.effort.until_coverage.is_some())
            .sharing_coverage(seen.clone())
            .sharing_constants(learnt.clone());
        Ok(Self {
            setup,
            args,
            seen,
            learnt,
        })
    }

    fn make(&mut self, order: &MakerOrder) -> Result<RangeEnd, Error> {
        let range = RunRange::new(order.from, order.to).map_err(|e| Error::input(e.to_string()))?;
        let mut recorder = Recorder::default();
        let others = order.seen.as_deref().and_then(|seen| Seen::read(seen).ok());
        if let Some(others) = others {
            self.seen.add(others.iter().map(|n| n as usize));
            self.seen.exclude(others.excluded().map(|n| n as usize));
        }
        for (name, (least, greatest)) in order.bounds.iter() {
            self.learnt.add(name, ConstantBounds { least, greatest });
        }
        let TestSetup {
            target,
            campaign,
            cases,
            ..
        } = &mut self.setup;
        campaign.set_share(Share::Range(range));
        match cases {
            None => unwritten(campaign.run(target, &mut recorder)?)?,
            Some(cases) => {
                let mut first: u64 = 0;
                for case in cases {
                    let runs = (first, self.args.repeat);
                    first = first.saturating_add(self.args.repeat);
                    if campaign.takes_some_of(runs.0, first) && interrupted().is_none() {
                        unwritten(case.run(campaign, target, &mut recorder, runs)?)?;
                    }
                }
            }
        }
        recorder.flush()?;
        let numbers = self.seen.seen().into_iter().map(|n| n as u64);
        let total = self.seen.total();
        let seen = total.and_then(|total| Seen::new(total as u64, numbers));
        let excluded = self.seen.excluded().into_iter().map(|n| n as u64);
        let seen = seen.map(|seen| seen.excluding(excluded));
        Ok(RangeEnd {
            seen: seen.map(|seen| seen.to_text()),
            learnt: recorder.learnt,
            bounds: self.bounds(),
        })
    }
}

impl TestMaker {
    /// What runs here and elsewhere left of constants.
    fn bounds(&self) -> Bounds {
        let mut bounds = Bounds::default();
        for (name, left) in self.learnt.learnt() {
            bounds.add(&name, (left.least, left.greatest));
        }
        bounds
    }
}

/// What could not be written is lost, and so must be the run.
fn unwritten(summary: iolite::Summary) -> Result<(), Error> {
    match summary.unwritten.into_iter().next() {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

/// Looks at mutants of `iolite mutate`.
fn make_mutants(args: &mutate::Args, order: &MakerOrder) -> Result<(), Error> {
    let range = RunRange::new(order.from, order.to).map_err(|e| Error::input(e.to_string()))?;
    let options = MutationOptions {
        share: Share::Range(range),
        jobs: 1,
        ..args.options()
    };
    tell(&MakerLine::Started(order.from))?;
    let mut document = workspace(&args.read).mutate(&args.model, &options, &mut |done, all| {
        if done < all {
            tell(&MakerLine::Started(order.from + done as u64))?;
        }
        Ok(())
    })?;
    for mutant in std::mem::take(&mut document.mutants) {
        let verdict = match (mutant.conforms, mutant.killed) {
            (Some(true), _) => "conforms",
            (_, Some(true)) => "killed",
            (None, _) => "unknown",
            (Some(false), Some(false)) => "survived",
            (Some(false), None) => "wrong",
        };
        let item = mutant.number as u64 - 1;
        document.mutants = vec![mutant];
        made(item, verdict, false, &document)?;
    }
    Ok(())
}

/// Judges logs of `iolite monitor`.
fn make_logs(args: &monitor::Args, order: &MakerOrder) -> Result<(), Error> {
    // Whoever asks for the report may want it as JSON, with certificates.
    let mut args = args.clone();
    args.json = true;
    for item in order.from..order.to.min(args.logs.len() as u64) {
        tell(&MakerLine::Started(item))?;
        let judged = LogDocument::of(&args, item as usize);
        let judged = judged.map_err(|why| why.message().to_owned());
        let judged = judged.and_then(|(log, _)| match (&log.error, log.verdict) {
            // What failed before has failed.
            (Some(error), _) if !log.is_failing() => Err(error.message.clone()),
            (_, verdict) => Ok((verdict.map(|v| v.to_string()).unwrap_or_default(), log)),
        });
        match judged {
            Ok((verdict, log)) => made(item, &verdict, log.is_failing(), &log)?,
            Err(why) => {
                let error = serde_json::json!({ "code": "log", "message": why });
                let record = serde_json::json!({ "error": error });
                tell(&MakerLine::Made(MadeItem {
                    item,
                    verdict: "error".to_owned(),
                    failing: false,
                    fault: Some(MakerFault {
                        code: "log".to_owned(),
                        message: why,
                    }),
                    record: raw(&record)?,
                }))?;
            }
        }
    }
    Ok(())
}

fn raw(record: &impl serde::Serialize) -> Result<Box<RawValue>, Error> {
    let text = serde_json::to_string(record);
    // A document inside may have been written for people. A line end is never part of a JSON text's
    // strings, and a record is one line.
    text.and_then(|text| RawValue::from_string(text.replace('\n', " ")))
        .map_err(|e| Error::fault(format!("a record: {e}")))
}

fn made(
    item: u64,
    verdict: &str,
    failing: bool,
    record: &impl serde::Serialize,
) -> Result<(), Error> {
    tell(&MakerLine::Made(MadeItem {
        item,
        verdict: verdict.to_owned(),
        failing,
        fault: None,
        record: raw(record)?,
    }))?;
    Ok(())
}

/// Whatever makes the items of a campaign.
enum AnyMaker {
    Test(Box<TestMaker>),
    Mutate(Box<mutate::Args>),
    Monitor(Box<monitor::Args>),
}

impl AnyMaker {
    fn new(job: Job, sut: Option<&str>) -> Result<Self, Error> {
        Ok(match job {
            Job::Test(test) => Self::Test(Box::new(TestMaker::new(test, sut)?)),
            Job::Mutate(args) => Self::Mutate(args),
            Job::Monitor(args) => Self::Monitor(args),
        })
    }

    fn make(&mut self, order: &MakerOrder) -> Result<RangeEnd, Error> {
        match self {
            Self::Test(maker) => return maker.make(order),
            Self::Mutate(args) => make_mutants(args, order)?,
            Self::Monitor(args) => make_logs(args, order)?,
        }
        Ok(RangeEnd::default())
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let lines = lines()?;
    let Ok(line) = lines.recv() else {
        return Ok(Exit::BadInput);
    };
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    let made = Description::read(line)
        .map_err(error)
        .and_then(|description| AnyMaker::new(Job::of(&description.command)?, args.sut.as_deref()));
    let mut maker = match made {
        Ok(maker) => maker,
        Err(why) => {
            tell(&MakerLine::Refused(why.to_string()))?;
            return Err(why);
        }
    };
    end_well_on_signals()?;
    while let Ok(line) = lines.recv() {
        let order: MakerOrder =
            serde_json::from_slice(&line).map_err(|e| Error::input(format!("no order: {e}")))?;
        let end = maker.make(&order)?;
        if interrupted().is_some() {
            break;
        }
        tell(&MakerLine::End(end))?;
    }
    Ok(Exit::Holds)
}
