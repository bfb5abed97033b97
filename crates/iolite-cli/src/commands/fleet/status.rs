//! `iolite fleet status`, `watch` and `stop`: how far campaigns are.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use iolite::Error;
use iolite_fleet::{Fleet, FleetError, Status};

use super::{ServerArgs, error};
use crate::output::{Exit, counted, print, print_json};

/// Say how far campaigns are
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The campaign [default: all of them]
    id: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Show how far a campaign is, until it is complete
#[derive(clap::Args)]
pub(crate) struct WatchArgs {
    /// The campaign
    id: String,
    #[command(flatten)]
    server: ServerArgs,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    every: f64,
    /// End with exit code 4 when the server has not answered for so long [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    give_up: Option<Duration>,
    /// Print a JSON document a line, at each look
    #[arg(long)]
    json: bool,
}

/// End a campaign before its time: no run of it is begun any more
#[derive(clap::Args)]
pub(crate) struct StopArgs {
    /// The campaign
    id: String,
    #[command(flatten)]
    server: ServerArgs,
}

/// A worker that was not heard for so long is not counted.
const LOST: f64 = 20.0;

/// `312 of 5000 runs: 310 pass, 2 fail; 4 workers`.
fn line(status: &Status) -> String {
    let mut text = format!(
        "{} of {}",
        status.done,
        counted(status.items, status.kind.noun())
    );
    let verdicts = status.verdicts.iter();
    let verdicts: Vec<String> = verdicts
        .map(|(verdict, n)| format!("{n} {verdict}"))
        .collect();
    if !verdicts.is_empty() {
        text += &format!(": {}", verdicts.join(", "));
    }
    if let Some((seen, total)) = status.coverage {
        // Of a model with data, its coverage goals.
        text += &format!("; {seen} of {total} covered");
    }
    let there = status.workers.iter().filter(|w| w.heard < LOST).count();
    text += &format!("; {}", counted(there as u64, "worker"));
    if status.done > 0 && status.seconds > 0.0 {
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let rate = status.done as f64 / status.seconds;
        text += &format!("; {rate:.1} a second");
    }
    if let Some(reason) = &status.stopped {
        text += &format!("; ended: {}", reason.tell(status.kind.noun()));
    } else if status.complete && status.done < status.items {
        let lost = status.items - status.done;
        text += &format!("; {lost} are lost: submit it again");
    } else if status.complete {
        text += "; complete";
    }
    text
}

fn tell(status: &Status) -> String {
    let mut text = format!("{}: {}\n", status.id, line(status));
    if !status.needs.is_empty() {
        text += &format!("  needs:     {}\n", status.needs);
    }
    if !status.set_aside.is_empty() {
        let items: Vec<String> = status.set_aside.iter().map(u64::to_string).collect();
        text += &format!("  set aside: {}\n", items.join(", "));
    }
    for condition in &status.learnt {
        text += &format!("  learnt:    {condition}\n");
    }
    for (name, (least, greatest)) in status.bounds.iter() {
        let end = |end: Option<i64>| end.map_or("…".to_owned(), |n| n.to_string());
        let name = name.escape_debug();
        text += &format!("  left:      {name} in {}..{}\n", end(least), end(greatest));
    }
    for worker in &status.workers {
        let name = worker.name.escape_debug();
        let noun = status.kind.noun();
        let offers = match worker.offers.as_str() {
            "" => String::new(),
            offers => format!(", offers {}", offers.escape_debug()),
        };
        text += &format!(
            "  worker:    {name}: {}{offers}, heard {:.0} s ago\n",
            counted(worker.written, noun),
            worker.heard
        );
    }
    text
}

fn all(fleet: &Fleet, id: Option<&String>) -> Result<Vec<Status>, Error> {
    let ids = match id {
        Some(id) => vec![id.clone()],
        None => fleet.campaigns().map_err(error)?,
    };
    let statuses = ids.iter().map(|id| fleet.status(id).map_err(error));
    statuses.collect()
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let fleet = args.server.connect()?;
    let statuses = all(&fleet, args.id.as_ref())?;
    match (&args.id, args.json) {
        (Some(_), true) => print_json(&statuses.first())?,
        (None, true) => print_json(&serde_json::json!({ "campaigns": statuses }))?,
        (_, false) if statuses.is_empty() => print("the server has no campaign\n")?,
        (_, false) => print(&statuses.iter().map(tell).collect::<String>())?,
    }
    Ok(Exit::Holds)
}

pub(crate) fn watch(args: &WatchArgs) -> Result<Exit, Error> {
    let pause = Duration::try_from_secs_f64(args.every.max(0.1))
        .map_err(|e| Error::input(format!("--every: {e}")))?;
    let fleet = args.server.connect()?;
    let live = std::io::stdout().is_terminal();
    let mut lost = None;
    loop {
        let status = match fleet.status(&args.id) {
            Ok(status) => status,
            Err(FleetError::Server(why)) => {
                let since = *lost.get_or_insert_with(|| {
                    say!("warning: {why}; trying again until the server answers");
                    Instant::now()
                });
                if since.elapsed() >= args.give_up.unwrap_or(super::GIVE_UP) {
                    return Err(error(FleetError::Lost(why)));
                }
                std::thread::sleep(pause);
                continue;
            }
            Err(other) => return Err(error(other)),
        };
        lost = None;
        let done = status.complete;
        if args.json {
            let line = serde_json::to_string(&status)
                .map_err(|e| Error::fault(format!("writing JSON: {e}")))?;
            print(&format!("{line}\n"))?;
        } else if live && !done {
            print(&format!("\r\x1b[K{}", line(&status)))?;
        } else if live {
            print(&format!("\r\x1b[K{}", tell(&status)))?;
        } else if done {
            print(&tell(&status))?;
        } else {
            print(&format!("{}\n", line(&status)))?;
        }
        let _ = std::io::stdout().flush();
        if done {
            return Ok(Exit::Holds);
        }
        std::thread::sleep(pause);
    }
}

pub(crate) fn stop(args: &StopArgs) -> Result<Exit, Error> {
    let fleet = args.server.connect()?;
    fleet.stop(&args.id).map_err(error)?;
    print(&format!(
        "{} is ended; its workers finish within seconds\n",
        args.id
    ))?;
    Ok(Exit::Holds)
}
