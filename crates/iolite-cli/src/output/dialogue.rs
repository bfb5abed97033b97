//! A talk with the user, line by line.

use std::io::{BufRead, IsTerminal, Write};

use crate::output::{Exit, print};
use iolite::Error;

/// Gives each line to `reply` until it says `false` or nothing more comes; with a prompt for people.
pub(crate) fn converse(mut reply: impl FnMut(&str) -> Result<bool, Error>) -> Result<Exit, Error> {
    let interactive = std::io::stdin().is_terminal();
    let mut lines = std::io::stdin().lock().lines();
    loop {
        if interactive {
            print("> ")?;
            let _ = std::io::stdout().flush();
        }
        let Some(line) = lines.next() else {
            return Ok(Exit::Holds);
        };
        let line = line.map_err(|e| Error::fault(format!("standard input: {e}")))?;
        if !reply(line.trim())? {
            return Ok(Exit::Holds);
        }
    }
}
