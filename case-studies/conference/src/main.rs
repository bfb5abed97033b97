//! Runs the experiment and prints its table, as Markdown.

use std::path::Path;
use std::process::ExitCode;

use conference::{Experiment, FAULTS, NAMES, Row};
use iolite::Error;

const USAGE: &str = "usage: conference [--seeds N] [--events N] [--long N] [--coverage]";

struct Flags {
    experiment: Experiment,
    /// The events of the long run against what no short one failed.
    long: u64,
}

fn flags() -> Option<Flags> {
    let mut flags = Flags {
        experiment: Experiment {
            seeds: 10,
            events: 2_000,
            coverage: false,
        },
        long: 100_000,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next()?.parse::<u64>().ok().filter(|&n| n > 0);
        match word.as_str() {
            "--seeds" => flags.experiment.seeds = number()?,
            "--events" => flags.experiment.events = number()?,
            "--long" => flags.long = number()?,
            "--coverage" => flags.experiment.coverage = true,
            _ => return None,
        }
    }
    Some(flags)
}

fn main() -> ExitCode {
    let Some(flags) = flags() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(4)
        }
    }
}

fn run(flags: &Flags) -> Result<(), Error> {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("conference.iol");
    println!("| | fault | verdict | events: median | least | most | found | ms a run |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut failed = 0;
    let (mut least, mut most) = (u64::MAX, 0);
    for fault in 0..=FAULTS {
        let mut row = flags.experiment.row(&model, fault)?;
        let mut note = String::new();
        if !row.fails() {
            let long = Experiment {
                seeds: 1,
                events: flags.long,
                ..flags.experiment
            };
            row = long.row(&model, fault)?;
            note = format!(" ({} events)", flags.long);
        }
        failed += u32::from(row.fails());
        if let (Some(first), Some(last)) = (row.detected().first(), row.detected().last()) {
            least = least.min(*first);
            most = most.max(*last);
        }
        println!("{}", line(fault, &row, &note));
    }
    println!();
    println!(
        "{failed} of {FAULTS} mutants fail, after {least} to {most} events. In [IOCO99, §5]: 25 of 27, \
         after 2 to 498."
    );
    Ok(())
}

fn line(fault: u8, row: &Row, note: &str) -> String {
    let name = match fault {
        0 => "none",
        k => NAMES[usize::from(k) - 1],
    };
    let verdict = if row.fails() { "fail" } else { "pass" };
    let events = row.detected();
    let shown = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), |n| n.to_string());
    let runs = row.runs.len();
    format!(
        "| {fault} | {name} | {verdict}{note} | {} | {} | {} | {} of {runs} | {} |",
        shown(row.median()),
        shown(events.first().copied()),
        shown(events.last().copied()),
        events.len(),
        row.time.as_millis() / runs.max(1) as u128,
    )
}
