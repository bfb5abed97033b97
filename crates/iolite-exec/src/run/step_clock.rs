//! The times of the events of one run.

use std::time::Instant;

use crate::run::engine::micros;

/// Events that share one look at the clock at most.
const MOST_SHARED: u32 = 64;

/// Microseconds that events which share a look at the clock may be apart.
const APART: u64 = 100;

/// Microseconds since a run began. Where waiting costs time, the clock is read for each event. Where it does not, a look at
/// the clock would take a third of a step, so that fast steps share one: the more, the less time the last ones took.
#[derive(Debug)]
pub(crate) struct StepClock {
    begin: Instant,
    shares: bool,
    /// The last time that was read.
    at: u64,
    /// Events that share one look at the clock at present.
    stride: u32,
    /// Events that have this time before the clock is read again.
    left: u32,
}

impl StepClock {
    /// The clock of a run that began then; `timed` says whether waiting costs time in it.
    pub(crate) fn new(begin: Instant, timed: bool) -> Self {
        Self {
            begin,
            shares: !timed,
            at: 0,
            stride: 1,
            left: 0,
        }
    }

    /// The time of the next event.
    #[inline]
    pub(crate) fn now(&mut self) -> u64 {
        if self.left == 0 {
            self.look();
        }
        self.left -= 1;
        self.at
    }

    fn look(&mut self) {
        let before = std::mem::replace(&mut self.at, micros(self.begin.elapsed()));
        if self.shares {
            self.adapt(self.at.saturating_sub(before));
        }
        self.left = self.stride;
    }

    /// Chooses the next stride by the time that the last one took.
    fn adapt(&mut self, taken: u64) {
        self.stride = if taken > APART {
            (self.stride / 2).max(1)
        } else if taken <= APART / 2 {
            (self.stride * 2).min(MOST_SHARED)
        } else {
            self.stride
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_steps_have_times_of_their_own() {
        let mut clock = StepClock::new(Instant::now(), false);
        for _ in 0..20 {
            clock.adapt(1);
        }
        assert_eq!(clock.stride, MOST_SHARED);
        for _ in 0..20 {
            clock.adapt(APART + 1);
        }
        assert_eq!(clock.stride, 1);
    }

    #[test]
    fn times_do_not_go_back_and_are_not_in_the_future() {
        for timed in [false, true] {
            let begin = Instant::now();
            let mut clock = StepClock::new(begin, timed);
            let mut last = 0;
            for _ in 0..1000 {
                let now = clock.now();
                assert!(last <= now && now <= micros(begin.elapsed()));
                last = now;
            }
            assert!(!timed || clock.stride == 1);
        }
    }
}
