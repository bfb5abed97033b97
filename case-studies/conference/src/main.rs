//! Runs the experiment and prints its tables, as Markdown.

use std::path::Path;
use std::process::ExitCode;

use conference::{Experiment, FAULTS, NAMES, Row, Suite};
use iolite::{Context, Error};

const USAGE: &str = "\
usage: conference [--seeds N] [--runs N] [--steps N] [--long N] [--context queues|synchronous] [--only PART]…
                  [--suite NAME]…

PART is mutants, coverage or suites; all of them where none is given. NAME is the beginning of a suite's name; all of them
where none is given.";

struct Flags {
    experiment: Experiment,
    /// The events of the long test of what no short one failed.
    long: u64,
    parts: Vec<String>,
    /// How the names of the suites begin that are compared.
    suites: Vec<String>,
}

fn flags() -> Option<Flags> {
    let mut flags = Flags {
        experiment: Experiment {
            seeds: 10,
            runs: 10,
            steps: 2_000,
            coverage: false,
            context: Context::Queues,
        },
        long: 100_000,
        parts: Vec::new(),
        suites: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next()?;
        let number = || value.parse::<u64>().ok().filter(|&n| n > 0);
        match word.as_str() {
            "--seeds" => flags.experiment.seeds = number()?,
            "--runs" => flags.experiment.runs = number()?,
            "--steps" => flags.experiment.steps = number()?,
            "--long" => flags.long = number()?,
            "--context" => flags.experiment.context = value.parse().ok()?,
            "--suite" => flags.suites.push(value),
            "--only" if ["mutants", "coverage", "suites"].contains(&&*value) => {
                flags.parts.push(value);
            }
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
    let wants = |part: &str| flags.parts.is_empty() || flags.parts.iter().any(|p| p == part);
    if wants("mutants") {
        mutants(flags, &model)?;
    }
    if wants("coverage") {
        coverage(flags, &model)?;
    }
    if wants("suites") {
        suites(flags, &model)?;
    }
    Ok(())
}

fn mutants(flags: &Flags, model: &Path) -> Result<(), Error> {
    println!("## Mutants\n");
    println!("| | fault | verdict | events: median | least | most | found | ms a seed |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut rows = Vec::new();
    for fault in 0..=FAULTS {
        let mut row = flags.experiment.row(model, fault)?;
        let mut note = String::new();
        if !row.fails() {
            row = flags.experiment.long_row(model, fault, flags.long)?;
            note = format!(" ({} events)", row.events());
        }
        println!("{}", line(fault, &row, &note));
        rows.push(row);
    }
    let failed = rows.iter().filter(|row| row.fails()).count();
    let events: Vec<u64> = rows.iter().flat_map(Row::detected).collect();
    println!(
        "\n{failed} of {FAULTS} mutants fail, after {} to {} events. In [IOCO99, §5]: 25 of 27, after 2 to \
         498.\n",
        shown(events.iter().min().copied()),
        shown(events.iter().max().copied()),
    );
    Ok(())
}

/// In step with the entity, so that nothing but the choice differs.
fn coverage(flags: &Flags, model: &Path) -> Result<(), Error> {
    println!("## Coverage-guided against uniform\n");
    println!("| | uniform | found | coverage | found |");
    println!("| --- | --- | --- | --- | --- |");
    let uniform = Experiment {
        context: Context::Synchronous,
        ..flags.experiment
    };
    let guided = Experiment {
        coverage: true,
        ..uniform
    };
    let mut better = (0, 0);
    for fault in 1..=FAULTS {
        let (row, other) = (uniform.row(model, fault)?, guided.row(model, fault)?);
        if !row.fails() && !other.fails() {
            continue;
        }
        println!(
            "| {fault} | {} | {} | {} | {} |",
            shown(row.median()),
            row.detected().len(),
            shown(other.median()),
            other.detected().len(),
        );
        // A median that was not reached is longer than any.
        let events = |row: &Row| row.median().unwrap_or(u64::MAX);
        better.0 += u32::from(events(&row) < events(&other));
        better.1 += u32::from(events(&other) < events(&row));
    }
    println!(
        "\nUniform choice is faster for {}, guidance for {}.\n",
        better.0, better.1
    );
    Ok(())
}

fn suites(flags: &Flags, model: &Path) -> Result<(), Error> {
    println!("## Stored suites\n");
    println!(
        "| suite | test cases | killed | let pass, the correct ones among them | events | derived in ms | run in ms |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let wanted = |suite: &Suite| {
        let named = flags.suites.iter();
        flags.suites.is_empty() || named.clone().any(|name| suite.name.starts_with(name))
    };
    for suite in Suite::all().into_iter().filter(wanted) {
        let score = suite.score(model)?;
        let cut = match score.complete {
            Some(false) => " (not all)",
            _ => "",
        };
        let passed: Vec<u8> = (1..=FAULTS).filter(|k| !score.killed.contains(k)).collect();
        // Few are named.
        let names = match passed.len() {
            0 | 6.. => String::new(),
            _ => format!(
                ": {}",
                passed
                    .iter()
                    .map(u8::to_string)
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        };
        println!(
            "| {}{cut} | {} | {} | {}{names} | {} | {} | {} |",
            suite.name,
            score.cases,
            score.killed.len(),
            passed.len(),
            score.events,
            score.derived.as_millis(),
            score.run.as_millis(),
        );
        if score.original_fails {
            return Err(Error::fault(format!(
                "{}: a test case fails the original",
                suite.name
            )));
        }
    }
    Ok(())
}

fn shown(number: Option<u64>) -> String {
    number.map_or_else(|| "–".to_owned(), |n| n.to_string())
}

fn line(fault: u8, row: &Row, note: &str) -> String {
    let name = match fault {
        0 => "none",
        k => NAMES[usize::from(k) - 1],
    };
    let verdict = if row.fails() { "fail" } else { "pass" };
    let events = row.detected();
    let seeds = row.seeds.len();
    format!(
        "| {fault} | {name} | {verdict}{note} | {} | {} | {} | {} of {seeds} | {} |",
        shown(row.median()),
        shown(events.first().copied()),
        shown(events.last().copied()),
        events.len(),
        row.time.as_millis() / seeds.max(1) as u128,
    )
}
