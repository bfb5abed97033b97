//! `iolite lsp`: the editor server.

use iolite::Error;
use iolite_lsp::{Ending, LspError};

use crate::output::{Exit, status};

/// Serve an editor: diagnostics as you type, canonical layout, outline, definitions, hover (LSP)
///
/// Speaks the Language Server Protocol on standard input and output; an editor starts it
/// (docs/editors.md says how it is told). It knows .iol files, takes them from the editor and opens none
/// itself. Exit code 0 after the editor has said `shutdown`, 1 where it left without.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// For editors that name the way to talk; there is no other
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(_: &Args) -> Result<Exit, Error> {
    status::leave();
    let (input, output) = (std::io::stdin().lock(), std::io::stdout().lock());
    match iolite_lsp::serve(input, output) {
        Ok(Ending::ShutDown) => Ok(Exit::Holds),
        Ok(Ending::Left) => Ok(Exit::Fails),
        Err(LspError::Framing(error)) => Err(Error::input(error.to_string())
            .hint("an editor starts this command; docs/editors.md says how it is told")),
        Err(error @ LspError::Write(_)) => Err(Error::fault(error.to_string())),
    }
}
