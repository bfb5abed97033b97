//! The campaign of a journal, set up anew from its own command line; nothing is executed.

use std::path::{Path, PathBuf};

use clap::Parser;
use iolite::{Campaign, Error, Target, Workspace};
use iolite_exec::{Coverage, Journal, JournalHeader};

use super::test;
use crate::args::workspace;
use crate::{Cli, Command};

/// The campaign of a journal.
pub(crate) struct Recorded {
    pub(crate) args: Box<test::Args>,
    pub(crate) workspace: Workspace,
    pub(crate) target: Target,
    pub(crate) campaign: Campaign,
}

/// The flags of the test that wrote a journal; `None` where it was no test.
pub(crate) fn test_args(header: &JournalHeader) -> Option<Box<test::Args>> {
    match Cli::try_parse_from(&header.command).ok()?.command {
        Command::Test(args) => Some(args),
        _ => None,
    }
}

/// Goes to the folder in which the test was started, since the paths of its command line are relative to it.
pub(crate) fn enter_folder(header: &JournalHeader) -> Result<(), Error> {
    let Some(folder) = &header.folder else {
        return Ok(());
    };
    if !folder.is_dir() {
        warning!(
            "warning: {} is not there; files are looked for in the current folder",
            folder.display()
        );
        return Ok(());
    }
    std::env::set_current_dir(folder).map_err(|e| Error::reading(folder, &e))
}

/// A path as seen from any folder.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The campaign of a journal whose runs are only looked at. The model must be the one that judged. A
/// solver that the journal names is not started: the embedded one answers.
pub(crate) fn campaign(header: &JournalHeader) -> Result<Recorded, Error> {
    let Some(mut args) = test_args(header) else {
        return Err(Error::input("the journal is not one of `iolite test`"));
    };
    enter_folder(header)?;
    args.data.solver = None;
    args.data.unknown_query = PathBuf::from("iolite.unknown.smt2");
    let workspace = workspace(&args.read);
    let target = Target::new(&workspace, &args.target.options(&args.data))?;
    let campaign = args.campaign(&workspace, &target)?;
    let reference = campaign.judge().reference();
    if reference.hash != header.model.hash {
        return Err(Error::input(format!(
            "{reference} has changed since the journal was written"
        )));
    }
    Ok(Recorded {
        args,
        workspace,
        target,
        campaign,
    })
}

impl Recorded {
    /// What the runs of a journal covered together.
    pub(crate) fn coverage_of(&self, journal: &Journal) -> Result<Option<Coverage>, Error> {
        if self.args.suite.is_empty() {
            return self.campaign.coverage_of(&journal.events);
        }
        Ok(self.campaign.suite_coverage().map(|mut coverage| {
            for event in &journal.events {
                coverage.read(event);
            }
            let count = coverage.transitions();
            Coverage {
                seen: count.seen as u64,
                total: count.total as u64,
            }
        }))
    }
}
