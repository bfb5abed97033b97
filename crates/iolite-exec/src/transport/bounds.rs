//! The limits that keep a hostile system under test from taking the tester down.

use std::time::{Duration, Instant};

/// The instant that is `after` from now, at most a year: a description may ask for more than the clock
/// can represent.
pub(crate) fn from_now(after: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    Instant::now() + after.min(YEAR)
}

/// Limits on waiting times and on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of one message (`max-message-bytes`); a longer one ends the run with an error.
    pub max_message: usize,
    /// Bytes that may wait unread on a channel while a stimulus is being written.
    pub max_pending: usize,
    /// How long the tester waits for the rest of a half-read message once the patience for an
    /// observation is over; after that the run ends with an error.
    pub message_timeout: Duration,
    /// How long the system may take to start and to be reachable.
    pub startup_timeout: Duration,
    /// How long a stimulus may take to be written.
    pub send_timeout: Duration,
    /// How long a process may take to end by itself after it was asked to.
    pub stop_grace: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            max_message: 1 << 20,
            max_pending: 16 << 20,
            message_timeout: Duration::from_secs(2),
            startup_timeout: Duration::from_secs(5),
            send_timeout: Duration::from_secs(2),
            stop_grace: Duration::from_millis(500),
        }
    }
}
