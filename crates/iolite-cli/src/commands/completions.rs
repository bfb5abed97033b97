//! `iolite completions` and `iolite man`: what shells and `man` want to know of the command line.

use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::Shell;
use iolite::Error;

use crate::Cli;
use crate::output::{Exit, print};

/// Print a completion script for a shell
///
/// For bash, for instance: iolite completions bash > ~/.local/share/bash-completion/completions/iolite
#[derive(clap::Args)]
pub(crate) struct CompletionArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionArgs) -> Result<Exit, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "iolite", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Holds)
}

/// Write manual pages, one for each command
#[derive(clap::Args)]
pub(crate) struct ManArgs {
    /// The folder, such as /usr/local/share/man/man1; it is made where it is missing
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    folder: PathBuf,
}

pub(crate) fn run_man(args: &ManArgs) -> Result<Exit, Error> {
    let folder = &args.folder;
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(|e| Error::writing(folder, &e))?;
    Ok(Exit::Holds)
}
