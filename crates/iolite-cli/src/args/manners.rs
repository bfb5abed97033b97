//! How much a command says, and whether in colour.

use std::io::IsTerminal;
use std::sync::OnceLock;

use crate::output::status;

/// When messages are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    Always,
    Never,
}

/// Flags that every command has.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Manners {
    /// Print answers and errors only: no progress, no warnings, no explanations
    #[arg(long, short, global = true)]
    quiet: bool,
    /// When to colour messages
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
}

static COLOUR: OnceLock<bool> = OnceLock::new();

/// Whether messages are coloured.
pub(crate) fn colour() -> bool {
    *COLOUR.get_or_init(|| {
        let declined = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        std::io::stderr().is_terminal() && !declined
    })
}

impl Manners {
    pub(crate) fn start(&self) {
        match self.color {
            ColorChoice::Auto => {}
            ColorChoice::Always => drop(COLOUR.set(true)),
            ColorChoice::Never => drop(COLOUR.set(false)),
        }
        if self.quiet {
            status::be_quiet();
        }
        status::start();
    }
}
