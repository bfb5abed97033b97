//! How much time and memory a command may take, and signs of life while it works.

use std::sync::OnceLock;
use std::time::Duration;

use iolite::{Budget, Error, Exceeded, LastResort, MemoryLimit};

pub(crate) use iolite::Watch;

use crate::output::{Exit, status};

/// When to give up. Every command has these flags.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Bounds")]
pub(crate) struct Bounds {
    /// Give up after so many seconds: the answer is then unknown (exit code 3)
    #[arg(long, global = true, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,
    /// Give up beyond so much memory, such as 500M or 2G: the answer is then unknown (exit code 3)
    /// [default: 80% of what is free]
    #[arg(long, global = true, value_name = "BYTES", value_parser = parse_bytes)]
    max_memory: Option<u64>,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

/// `500M`, `2G`, `100000`.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..]
        .to_ascii_uppercase()
        .trim_end_matches("IB")
    {
        "" | "B" => 1,
        "K" | "KB" => 1 << 10,
        "M" | "MB" => 1 << 20,
        "G" | "GB" => 1 << 30,
        "T" | "TB" => 1 << 40,
        other => return Err(format!("`{other}` is no unit; K, M, G and T are")),
    };
    let number: u64 = digits.parse().map_err(|e| format!("`{digits}`: {e}"))?;
    number
        .checked_mul(unit)
        .ok_or_else(|| "too large".to_owned())
}

/// What this process may take; one process is one command.
static BUDGET: OnceLock<Budget> = OnceLock::new();

/// What this command may take.
pub(crate) fn budget() -> Budget {
    BUDGET.get().cloned().unwrap_or_default()
}

/// What is known so far, for an end without memory.
pub(crate) fn with_known(write: impl FnOnce(&str)) {
    if let Some(budget) = BUDGET.get() {
        budget.with_known(write);
    }
}

/// The command begins.
pub(crate) fn watch() -> Watch {
    Watch::new(budget())
}

impl Bounds {
    /// The time begins, and somebody watches.
    pub(crate) fn start(&self) -> Result<(), Error> {
        let memory = match self.max_memory {
            Some(bytes) => Some(MemoryLimit::Given(bytes)),
            None => MemoryLimit::of_machine(),
        };
        let budget = BUDGET.get_or_init(|| Budget::new(self.timeout, memory));
        iolite::watch(budget, End).map_err(|e| Error::fault(format!("cannot watch bounds: {e}")))
    }
}

/// How a command ends whose bounds ran out.
struct End;

impl LastResort for End {
    fn ask(&mut self, _: Exceeded) -> bool {
        // Runs of a campaign end as they do at a signal.
        iolite_exec::interrupt_at_bound()
    }

    fn end(&mut self, what: Exceeded, known: Option<String>) {
        let known = known.unwrap_or_else(|| "there is no partial answer".to_owned());
        status::say(&format_args!("error: {what}\n  {known}"));
        iolite_exec::kill_systems();
        std::process::exit(Exit::Inconclusive as i32);
    }
}
