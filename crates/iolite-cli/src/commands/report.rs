//! `iolite report`: journals as one HTML file.

use std::path::{Path, PathBuf};

use iolite::{Error, MergeOptions};
use iolite_exec::Journal;
use iolite_report::{ModelPart, Report, ShrunkRun, page};

use super::merge::{joined, read};
use super::recorded;
use crate::output::{Exit, counted, print, print_json, write_whole};

/// Write a report of journaled runs: one HTML file that loads nothing
///
/// Several journals are merged first, as `iolite merge` does; missing runs are no error here.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Journals of `iolite test`
    #[arg(default_value = ".iolite/latest")]
    journals: Vec<PathBuf>,
    /// The file; `-` for standard output
    #[arg(short = 'o', long = "output", value_name = "FILE.html")]
    output: PathBuf,
    /// Show what changed since this earlier campaign
    #[arg(long, value_name = "JOURNAL")]
    against: Option<PathBuf>,
    /// Show a run that was made shorter beside what it was: what `iolite shrink --json` printed
    #[arg(long, value_name = "FILE")]
    shrunk: Vec<PathBuf>,
    /// The shares may describe the system under test differently
    #[arg(long)]
    any_system: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(serde::Serialize)]
struct Document<'a> {
    report: &'a Path,
    runs: usize,
    bytes: usize,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let mut journals = read(&args.journals)?;
    let against = args.against.as_ref().map(std::slice::from_ref).map(read);
    let against = against.transpose()?.and_then(|mut read| read.pop());
    let options = MergeOptions {
        partial: true,
        any_system: args.any_system,
    };
    let journal = match journals.len() {
        1 => journals.remove(0).1,
        _ => joined(journals, options)?,
    };
    let place = match args.journals.as_slice() {
        [only] => only.display().to_string(),
        // They are merged to be replayed.
        _ => "MERGED.jsonl".to_owned(),
    };
    let shrunk = args.shrunk.iter().map(|file| shrunk_run(file, &journal));
    let shrunk = shrunk.collect::<Result<Vec<_>, Error>>()?;
    let output = recorded::absolute(&args.output);
    let to_stdout = args.output.as_os_str() == "-";
    let text = text_of(
        &journal,
        place,
        against.as_ref().map(|(name, j)| (name.clone(), j)),
        shrunk,
    )?;
    if to_stdout {
        print(&text)?;
        return Ok(Exit::Holds);
    }
    write_whole(&output, text.as_bytes())?;
    let document = Document {
        report: &args.output,
        runs: journal.runs().count(),
        bytes: text.len(),
    };
    if args.json {
        print_json(&document)?;
    } else {
        let Document {
            report,
            runs,
            bytes,
        } = document;
        print(&format!(
            "{}: {}, {bytes} bytes\n",
            report.display(),
            counted(runs, "run")
        ))?;
    }
    Ok(Exit::Holds)
}

/// A run of this journal as `iolite shrink --json` made it shorter.
fn shrunk_run(file: &Path, journal: &Journal) -> Result<ShrunkRun, Error> {
    let shown = file.display();
    let text =
        std::fs::read(file).map_err(|e| Error::input(format!("cannot read {shown}: {e}")))?;
    let shrunk: ShrunkRun = serde_json::from_slice(&text).map_err(|e| {
        Error::input(format!("{shown}: {e}"))
            .hint("`iolite shrink JOURNAL --run N --json > FILE` writes such a file")
    })?;
    if journal.runs().all(|run| run.number != shrunk.run) {
        return Err(Error::input(format!(
            "{shown} is of run {}, which is not in the journal",
            shrunk.run
        )));
    }
    Ok(shrunk)
}

/// The page of a journal, with what its model adds where that is at hand.
pub(crate) fn text_of(
    journal: &Journal,
    place: String,
    against: Option<(String, &Journal)>,
    shrunk: Vec<ShrunkRun>,
) -> Result<String, Error> {
    let trust = recorded::test_args(&journal.header);
    let trust = trust.is_some_and(|args| args.programs().next().is_some());
    let known = recorded::campaign(&journal.header);
    let model = match &known {
        Ok(known) => Some(ModelPart::new(&known.campaign, &known.workspace, journal)?),
        Err(error) => {
            warning!(
                "warning: the page has no picture of the model: {}",
                error.message()
            );
            None
        }
    };
    Ok(page(&Report {
        journal,
        place,
        trust,
        against,
        shrunk,
        model,
    }))
}
