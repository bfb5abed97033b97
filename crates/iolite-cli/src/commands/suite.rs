//! `iolite suite`: is a suite sound, what does it cover, how exhaustive is it.

use std::path::PathBuf;

use iolite::{
    Error, ModelRef, QuiescenceFlag, ReadOptions, Relation, SemanticsOptions, SuiteOptions,
};

use super::passes::known_of_suite;
use crate::args::{bounds, workspace};
use crate::output::{Exit, beside_answer, print, print_json, write_json};

/// Judge a suite: is it sound, what does it cover, how exhaustive is it
///
/// A test case is sound if no implementation that conforms can fail it; otherwise a run is shown that the
/// specification allows. A suite is exhaustive to depth n if every wrong observation within n actions
/// fails some test case; the first one beyond that goes undetected is shown. Exit code 0 means sound, 1
/// not sound, 3 that a bound ran out.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The specification
    specification: ModelRef,
    /// Stored test cases: *.json, folders of them, *.jsonl with one a line, and .iol files that declare test cases
    #[arg(required = true)]
    suite: Vec<PathBuf>,
    /// The relation that the suite is to test for: ioco, ioconf or conf
    #[arg(long, value_name = "RELATION", default_value = "ioco")]
    relation: Relation,
    /// Which states of the specification are quiescent
    #[arg(long, value_name = "POLICY", default_value = "livelock")]
    quiescence: QuiescenceFlag,
    /// List at most so many transitions of the suspension automaton that are not covered
    #[arg(long, value_name = "N", default_value_t = 0)]
    uncovered: usize,
    #[command(flatten)]
    read: ReadOptions,
    /// Write the certificate of the first test case that is not sound, or else of what the suite does not
    /// detect, to this file, for `iolite explain`
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let mut watch = bounds::watch();
    let options = SuiteOptions {
        relation: args.relation,
        semantics: SemanticsOptions {
            quiescence: args.quiescence,
            complete_inputs: None,
        },
        uncovered: args.uncovered,
    };
    let document = workspace(&args.read).judge_suite(
        &args.specification,
        &args.suite,
        options,
        &mut |effort| {
            watch.report(|| known_of_suite(effort, "places"));
            watch.exceeded()
        },
    );
    let document = document?;
    if args.json {
        print_json(&document)?;
    } else {
        print(&document.tell())?;
    }
    let answer = match document.sound {
        Some(true) => Exit::Holds,
        Some(false) => Exit::Fails,
        None => Exit::Inconclusive,
    };
    let Some(path) = &args.certificate else {
        return Ok(answer);
    };
    let first = document.first_unsound.as_ref();
    let Some(certificate) = first.or(document.certificate.as_ref()) else {
        warning!(
            "warning: no certificate was written: no test case is known not to be sound, and no \
             error that the suite does not detect"
        );
        return Ok(answer);
    };
    Ok(beside_answer(answer, write_json(path, certificate)))
}
