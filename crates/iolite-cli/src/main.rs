//! The `iolite` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    iolite_cli::main()
}
