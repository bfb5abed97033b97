//! `iolite fmt`: the canonical layout of `.iol` files.

use std::path::PathBuf;

use iolite::{Error, ReadOptions};

use crate::args::workspace;
use crate::output::{Exit, print, write_whole};

/// Print model files in their canonical layout; comments stay where they are
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The .iol files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Write the layout back to the files instead of printing it
    #[arg(long, short)]
    write: bool,
    /// Change nothing; exit code 1 when a file is not in its canonical layout
    #[arg(long, conflicts_with = "write")]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let workspace = workspace(&ReadOptions::default());
    let mut exit = Exit::Holds;
    for path in &args.files {
        let source = workspace.source(path)?;
        let formatted = match std::str::from_utf8(source.bytes()) {
            Ok(text) => iolite_lang::fmt::format(text),
            Err(_) => Err(iolite_lang::parse_bytes(source.bytes()).1),
        };
        let text = formatted.map_err(|found| source.rejected(&found))?;
        let changed = text.as_bytes() != source.bytes();
        if args.check {
            if changed {
                print(&format!("{}: not in canonical layout\n", path.display()))?;
                exit = Exit::Fails;
            }
        } else if !args.write {
            print(&text)?;
        } else if changed {
            write_whole(path, text.as_bytes())?;
        }
    }
    Ok(exit)
}
