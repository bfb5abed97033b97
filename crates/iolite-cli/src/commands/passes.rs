//! `iolite passes`: whether a model passes test cases, every run counted.

use std::path::PathBuf;

use iolite::{Error, ModelRef, ReadOptions, SemanticsOptions, SuiteEffort};

use crate::args::{bounds, workspace};
use crate::output::{Exit, beside_answer, print, print_json, write_json};

/// Decide whether a model passes each test case, exactly
///
/// Every run that the test case and the model can have together counts, not some of them at random. An
/// output that a test case does not know fails it. Test cases with data are taken as they are, infinite models too:
/// a proof, a run that fails, or neither. Exit code 0 means that no run of any test case fails,
/// 1 that one does, 3 that a bound ran out or that some test case can only end `inconc`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The model of the implementation
    implementation: ModelRef,
    /// Stored test cases: *.json, folders of them, *.jsonl with one a line, and .iol files that declare test cases
    #[arg(required = true)]
    suite: Vec<PathBuf>,
    #[command(flatten)]
    semantics: SemanticsOptions,
    #[command(flatten)]
    read: ReadOptions,
    /// Write the certificate of the first test case that fails to this file, for `iolite explain`
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// How far a suite is judged: by its test cases while they are looked at, then by what is met of all of them.
pub(super) fn known_of_suite(effort: SuiteEffort, met: &str) -> String {
    let SuiteEffort {
        judged,
        cases,
        met: count,
    } = effort;
    match (judged < cases, count) {
        (true, 0) => format!("{judged} of {cases} test cases"),
        (true, count) => format!("{judged} of {cases} test cases, {count} {met}"),
        (false, count) => format!("{count} {met}"),
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let mut watch = bounds::watch();
    let document = workspace(&args.read).without_texts().passes(
        &args.implementation,
        &args.suite,
        args.semantics,
        &mut |effort| {
            watch.report(|| known_of_suite(effort, "pairs of states"));
            watch.exceeded()
        },
    );
    let document = document?;
    if args.json {
        print_json(&document)?;
    } else {
        print(&document.tell())?;
    }
    let answer = match document.passes {
        Some(true) => Exit::Holds,
        Some(false) => Exit::Fails,
        None => Exit::Inconclusive,
    };
    let written = match (&document.certificate, &args.certificate) {
        (Some(certificate), Some(path)) => write_json(path, certificate),
        (None, Some(_)) if document.passes == Some(false) => {
            warning!(
                "warning: there is no certificate: failing runs of test cases with data have none"
            );
            Ok(())
        }
        _ => Ok(()),
    };
    Ok(beside_answer(answer, written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_a_suite_is() {
        let known = |judged, met| {
            let effort = SuiteEffort {
                judged,
                cases: 12,
                met,
            };
            known_of_suite(effort, "places")
        };
        assert_eq!(known(3, 0), "3 of 12 test cases");
        assert_eq!(known(3, 7), "3 of 12 test cases, 7 places");
        // Nobody knows how many there are.
        assert_eq!(known(12, 700), "700 places");
    }
}
