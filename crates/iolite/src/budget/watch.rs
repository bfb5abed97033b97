//! What a loop asks at each turn: whether it may go on.

use std::time::{Duration, Instant};

use iolite_exec::Interruption;

use super::{Budget, Exceeded};

/// Looks at the bounds of a command, and shows how far it is.
#[derive(Debug)]
pub struct Watch {
    budget: Budget,
    next_report: Duration,
    asked: u32,
    /// Whether a signal ends the work as a bound does.
    heeds_signals: bool,
}

impl Watch {
    /// Work begins that may take so much.
    pub fn new(budget: Budget) -> Self {
        Self {
            budget,
            next_report: Duration::from_secs(1),
            asked: 0,
            heeds_signals: false,
        }
    }

    /// Takes a signal for a bound that ran out, where the process listens to signals.
    #[must_use]
    pub fn heeding_signals(mut self, heeds: bool) -> Self {
        self.heeds_signals = heeds;
        self
    }

    fn interruption(&self) -> Option<Interruption> {
        iolite_exec::interrupted().filter(|_| self.heeds_signals)
    }

    /// Whether it is worth looking at the clock: now and then, and when the watchdog barked.
    pub fn is_due(&mut self) -> bool {
        let due = self.asked.is_multiple_of(256)
            || self.budget.is_raised()
            || self.interruption().is_some();
        self.asked = self.asked.wrapping_add(1);
        due
    }

    /// When the time is up.
    pub fn until(&self) -> Option<Instant> {
        self.budget.until()
    }

    /// What is said when the time is up.
    pub fn when_it_is_up(&self) -> Option<String> {
        Some(Exceeded::Time(self.budget.time()?).to_string())
    }

    /// Why there is no answer, when a bound ran out.
    pub fn exceeded(&self) -> Option<String> {
        let exceeded = self.budget.exceeded().map(|what| what.to_string());
        exceeded.or_else(|| Some(format!("interrupted by {}", self.interruption()?)))
    }

    /// The same for work that counts its bytes.
    pub fn exceeded_by(&self, bytes: usize) -> Option<String> {
        let what = self.budget.exceeded_by(bytes as u64);
        what.map(|what| what.to_string())
    }

    /// Says how far a long command is, now and then: for the line that people see, and for the answer when a
    /// bound runs out.
    pub fn report(&mut self, text: impl FnOnce() -> String) {
        let elapsed = self.budget.elapsed();
        if elapsed >= self.next_report {
            self.next_report = elapsed + Duration::from_millis(500);
            self.budget.know(text());
        }
    }
}
