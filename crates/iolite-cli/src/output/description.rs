//! The options of a test that determine its runs, for the header of the journal.

use std::collections::BTreeMap;

use clap::CommandFactory;

use crate::Cli;

/// Options that say which runs are made, when to stop, or where to write. No run depends on them, or the
/// header has them elsewhere.
const NOT_OF_RUNS: [&str; 23] = [
    "model",
    "campaign",
    "sut",
    "seed",
    "runs",
    "range",
    "partition",
    "jobs",
    "time",
    "stop_on_fail",
    "keep_going",
    "allow_flaky",
    "unknown_query",
    "journal",
    "no_journal",
    "certificate",
    "junit",
    "annotations",
    "events",
    "report",
    "against",
    "json",
    "timeout",
];

/// The options of `iolite test` that determine a run beside model, seed and system, defaults included.
pub(crate) fn options(command: &[String]) -> BTreeMap<String, Vec<String>> {
    let cli = Cli::command();
    let parsed = cli.clone().try_get_matches_from(command);
    let Ok(Some((name, test))) = parsed.as_ref().map(clap::ArgMatches::subcommand) else {
        return BTreeMap::new();
    };
    // Groups of flags have ids too.
    let flags = cli.find_subcommand(name).into_iter();
    let flags = flags.flat_map(clap::Command::get_arguments);
    let ids = flags.map(|flag| flag.get_id().as_str());
    let ids = ids.filter(|id| !NOT_OF_RUNS.contains(id));
    let values = ids.filter_map(|id| {
        let raw = test.try_get_raw(id).ok().flatten()?;
        let values = raw.map(|value| value.to_string_lossy().into_owned());
        Some((id.replace('_', "-"), values.collect()))
    });
    values.collect()
}
