//! `iolite report`: journals as one HTML file.

use std::path::{Path, PathBuf};

use iolite::{Error, MergeOptions};
use iolite_exec::Journal;
use iolite_report::{ModelPart, Report, page};

use super::merge::{joined, read};
use super::recorded;
use crate::output::{Exit, print, print_json, write_whole};

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
    let output = recorded::absolute(&args.output);
    let to_stdout = args.output.as_os_str() == "-";
    let text = text_of(
        &journal,
        place,
        against.as_ref().map(|(name, j)| (name.clone(), j)),
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
            "{}: {runs} runs, {bytes} bytes\n",
            report.display()
        ))?;
    }
    Ok(Exit::Holds)
}

/// The page of a journal, with what its model adds where that is at hand.
pub(crate) fn text_of(
    journal: &Journal,
    place: String,
    against: Option<(String, &Journal)>,
) -> Result<String, Error> {
    let trust = recorded::test_args(&journal.header);
    let trust = trust.is_some_and(|args| args.programs().next().is_some());
    let known = recorded::campaign(&journal.header);
    let model = match &known {
        Ok(known) => Some(ModelPart::new(&known.campaign, &known.workspace, journal)?),
        Err(error) => {
            eprintln!(
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
        model,
    }))
}
