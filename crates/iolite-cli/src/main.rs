//! The `iolite` command.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: iolite_cli::Allocator = iolite_cli::Allocator;

fn main() -> ExitCode {
    iolite_cli::main()
}
