//! A talk with the user, line by line.

use std::io::{BufRead, IsTerminal, Write};

use super::{Exit, Failure, print};

/// Gives each line to `reply` until it says `false` or nothing more comes; with a prompt for people.
pub(super) fn converse(
    mut reply: impl FnMut(&str) -> Result<bool, Failure>,
) -> Result<Exit, Failure> {
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
        let line = line.map_err(|e| Failure::fault(format!("standard input: {e}")))?;
        if !reply(line.trim())? {
            return Ok(Exit::Holds);
        }
    }
}
