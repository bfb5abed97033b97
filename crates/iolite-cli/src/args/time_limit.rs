//! How long a command may think, and signs of life while it does.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use iolite::Error;

/// When to give up.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct TimeLimit {
    /// Give up after so many seconds: the answer is then unknown
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
}

impl TimeLimit {
    /// The time there is.
    pub(crate) fn limit(&self) -> Result<Option<Duration>, Error> {
        let limit = self.timeout.map(Duration::try_from_secs_f64).transpose();
        limit.map_err(|e| Error::input(format!("--timeout: {e}")))
    }

    /// The time begins.
    pub(crate) fn start(&self) -> Result<Watch, Error> {
        Ok(Watch {
            started: Instant::now(),
            limit: self.limit()?,
            next_report: Duration::from_secs(1),
            shown: false,
        })
    }
}

/// The time that has passed since a command began.
#[derive(Debug)]
pub(crate) struct Watch {
    started: Instant,
    limit: Option<Duration>,
    next_report: Duration,
    shown: bool,
}

impl Watch {
    /// When the time is up.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.started.checked_add(self.limit?)
    }

    /// What is said when the time is up.
    pub(crate) fn when_it_is_up(&self) -> Option<String> {
        let limit = self.limit?;
        Some(format!("no answer within {} seconds", limit.as_secs_f64()))
    }

    /// Why there is no answer, when the time is up.
    pub(crate) fn time_is_up(&self) -> Option<String> {
        self.limit.filter(|&t| self.started.elapsed() >= t)?;
        self.when_it_is_up()
    }

    /// Shows how far a long command is, now and then, to people.
    pub(crate) fn report(&mut self, text: impl FnOnce() -> String) {
        let elapsed = self.started.elapsed();
        if elapsed >= self.next_report && std::io::stderr().is_terminal() {
            self.next_report = elapsed + Duration::from_millis(500);
            self.shown = true;
            eprint!("\r\x1b[K{}", text());
        }
    }

    /// Takes what was shown away.
    pub(crate) fn finish(&mut self) {
        if std::mem::take(&mut self.shown) {
            eprint!("\r\x1b[K");
        }
    }
}
