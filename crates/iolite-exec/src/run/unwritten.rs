//! What a journal holds back for a moment.

use std::fmt;
use std::time::{Duration, Instant};

use crate::ExecError;

/// What the sink has not written yet while an adapter is asked for something. A system that is waited for may hang, or take the
/// machine down with it, so whoever is about to wait for long has it written first.
#[derive(Default)]
pub struct Unwritten<'a>(Option<Held<'a>>);

struct Held<'a> {
    until: Instant,
    write: &'a mut dyn FnMut() -> Result<(), ExecError>,
}

impl fmt::Debug for Unwritten<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let until = self.0.as_ref().map(|held| held.until);
        f.debug_tuple("Unwritten").field(&until).finish()
    }
}

impl<'a> Unwritten<'a> {
    /// What waits may leave unwritten until then, and what writes it.
    pub fn until(until: Instant, write: &'a mut dyn FnMut() -> Result<(), ExecError>) -> Self {
        Self(Some(Held { until, write }))
    }

    /// Writes it, if there is anything.
    pub fn write(&mut self) -> Result<(), ExecError> {
        match self.0.take() {
            Some(held) => (held.write)(),
            None => Ok(()),
        }
    }

    /// How long a wait that begins now, and would last so long, may last before this is asked again. Where it may not begin, what is
    /// unwritten is written first.
    pub fn bound(&mut self, now: Instant, wait: Duration) -> Result<Duration, ExecError> {
        let Some(held) = &self.0 else {
            return Ok(wait);
        };
        let left = held.until.saturating_duration_since(now);
        if left.is_zero() && !wait.is_zero() {
            self.write()?;
            return Ok(wait);
        }
        Ok(wait.min(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_waits_begin_when_all_is_written() {
        let ms = Duration::from_millis;
        let begin = Instant::now();
        let mut writes = 0;
        let mut write = || {
            writes += 1;
            Ok(())
        };
        let mut unwritten = Unwritten::until(begin + ms(1), &mut write);
        assert_eq!(unwritten.bound(begin, ms(0)), Ok(ms(0)));
        assert_eq!(unwritten.bound(begin, ms(1)), Ok(ms(1)));
        assert_eq!(unwritten.bound(begin, ms(9)), Ok(ms(1)));
        assert_eq!(unwritten.bound(begin + ms(1), ms(0)), Ok(ms(0)));
        assert!(unwritten.0.is_some());
        assert_eq!(unwritten.bound(begin + ms(1), ms(8)), Ok(ms(8)));
        assert!(unwritten.0.is_none());
        assert_eq!(unwritten.bound(begin, ms(9)), Ok(ms(9)));
        unwritten.write().expect("nothing is left");
        assert_eq!(writes, 1);
        assert_eq!(Unwritten::default().bound(begin, ms(9)), Ok(ms(9)));
    }
}
