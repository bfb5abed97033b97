//! How long to wait before a stimulus.
//!
//! A tester that stimulates as fast as it can sees the system in the first microseconds of each of its
//! states only. A controller that ignores a button late in a phase passes such a test. So in some runs
//! time passes before stimuli.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::RunId;

/// How long to wait before stimuli, where waiting takes time. Written `off`, `auto`, `5ms` or
/// `0..50ms`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// Stimuli follow each other at once.
    Off,
    /// In one run of four, half of the stimuli wait up to twice the longest response time that this
    /// run has seen, and no longer than half of the default timeout of silence.
    #[default]
    Auto,
    /// Before each stimulus, a time drawn evenly between the two.
    Between(Duration, Duration),
    /// As it was: by the number of the step.
    Recorded(Arc<BTreeMap<u64, Duration>>),
}

/// The longest pause that can be asked for.
const LONGEST: Duration = Duration::from_secs(3600);

/// A time such as `50ms`, `2s` or `800us`; a bare number takes its unit from `unit`.
fn parse_time(text: &str, unit: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (number, own) = text.split_at(digits);
    let seconds = match if own.is_empty() { unit } else { own } {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "" => return Err(format!("`{text}` has no unit: us, ms or s")),
        other => return Err(format!("`{other}` is no unit of time: us, ms or s")),
    };
    let number: f64 = number
        .trim()
        .parse()
        .map_err(|_| format!("`{text}` is no time"))?;
    let time = Duration::try_from_secs_f64(number * seconds)
        .map_err(|_| format!("`{text}` is no time to wait"))?;
    if time > LONGEST {
        return Err(format!("`{text}` is longer than an hour"));
    }
    Ok(time)
}

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => return Ok(Self::Off),
            "auto" => return Ok(Self::Auto),
            _ => {}
        }
        let Some((from, to)) = text.split_once("..") else {
            let time = parse_time(text, "").map_err(|e| {
                format!("{e}; a pace is off, auto, a time such as 5ms or a range such as 0..50ms")
            })?;
            return Ok(Self::Between(time, time));
        };
        let unit = to.trim_start_matches(|c: char| !c.is_alphabetic());
        let (from, to) = (parse_time(from, unit)?, parse_time(to, "")?);
        if from > to {
            return Err(format!("`{text}` ends before it begins"));
        }
        Ok(Self::Between(from, to))
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Auto => f.write_str("auto"),
            Self::Between(from, to) => write!(f, "{}..{}us", from.as_micros(), to.as_micros()),
            Self::Recorded(_) => f.write_str("recorded"),
        }
    }
}

/// Keeps pauses apart from whatever else a run's seed decides.
const PAUSES: u64 = 0x5c1e_9f02_d7a3_6b48;

/// One run of so many is paced, where nobody said how.
const ONE_RUN_OF: u32 = 4;

/// Pauses that a run remembers.
const KEPT: usize = 1 << 16;

/// Draws the pauses of one run.
#[derive(Debug)]
pub(crate) struct Pacer {
    pace: Pace,
    rng: Xoshiro256PlusPlus,
    /// The longest pause that is chosen without being asked for.
    longest: Duration,
    /// When the last stimulus was given, until an output follows it.
    stimulus: Option<Instant>,
    /// The longest time that an output took after a stimulus.
    response: Duration,
    pauses: BTreeMap<u64, Duration>,
}

impl Pacer {
    pub(crate) fn new(pace: &Pace, id: RunId, timed: bool, silence: Duration) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(id.seed ^ PAUSES);
        let pace = match pace {
            _ if !timed => Pace::Off,
            Pace::Auto if rng.random_range(0..ONE_RUN_OF) > 0 => Pace::Off,
            pace => pace.clone(),
        };
        Self {
            pace,
            rng,
            longest: silence / 2,
            stimulus: None,
            response: Duration::ZERO,
            pauses: BTreeMap::new(),
        }
    }

    /// A stimulus was given.
    #[inline]
    pub(crate) fn stimulated(&mut self) {
        if matches!(self.pace, Pace::Auto) {
            self.stimulus = Some(Instant::now());
        }
    }

    /// An output came.
    #[inline]
    pub(crate) fn answered(&mut self) {
        if let Some(since) = self.stimulus.take() {
            self.response = self.response.max(since.elapsed());
        }
    }

    /// How long to wait before the stimulus of this step.
    #[inline]
    pub(crate) fn before_stimulus(&mut self, step: u64) -> Option<Duration> {
        if matches!(self.pace, Pace::Off) {
            return None;
        }
        self.draw(step)
    }

    fn draw(&mut self, step: u64) -> Option<Duration> {
        let pause = match &self.pace {
            Pace::Off => return None,
            Pace::Recorded(pauses) => *pauses.get(&step)?,
            Pace::Between(from, to) => self.between(*from, *to),
            Pace::Auto => {
                let waits = self.rng.random::<bool>();
                let most = self.response.saturating_mul(2).min(self.longest);
                let pause = self.between(Duration::ZERO, most);
                waits.then_some(pause)?
            }
        };
        if pause.is_zero() {
            return None;
        }
        if self.pauses.len() < KEPT {
            self.pauses.insert(step, pause);
        }
        Some(pause)
    }

    fn between(&mut self, from: Duration, to: Duration) -> Duration {
        let micros = |d: Duration| u64::try_from(d.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(
            self.rng
                .random_range(micros(from)..=micros(to).max(micros(from))),
        )
    }

    /// The pauses of the run.
    pub(crate) fn take_pauses(&mut self) -> BTreeMap<u64, Duration> {
        std::mem::take(&mut self.pauses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paces_are_read() {
        let ms = Duration::from_millis;
        assert_eq!("off".parse(), Ok(Pace::Off));
        assert_eq!("auto".parse(), Ok(Pace::Auto));
        assert_eq!("0..50ms".parse(), Ok(Pace::Between(ms(0), ms(50))));
        assert_eq!(
            "500us..1.5s".parse(),
            Ok(Pace::Between(Duration::from_micros(500), ms(1500)))
        );
        assert_eq!("5ms".parse(), Ok(Pace::Between(ms(5), ms(5))));
        let shown = Pace::Between(ms(1), ms(2));
        assert_eq!(shown.to_string().parse(), Ok(shown));
        for (text, says) in [
            ("50", "unit"),
            ("fast", "off, auto"),
            ("9ms..1ms", "before it begins"),
            ("-1ms", "no time"),
            ("2h", "unit"),
            ("1e300s", "unit"),
            ("99999999999999999999s", "no time"),
            ("9999s", "hour"),
            ("..5ms", "no time"),
            ("", "unit"),
        ] {
            let error = text.parse::<Pace>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn pauses_are_seeded_and_recorded() {
        let pace: Pace = "0..50ms".parse().unwrap();
        let draw = |seed| {
            let mut pacer = Pacer::new(&pace, RunId::of(seed, 0), true, Duration::from_secs(1));
            let pauses: Vec<_> = (0..20).map(|step| pacer.before_stimulus(step)).collect();
            (pauses, pacer.take_pauses())
        };
        let (one, kept) = draw(1);
        assert_eq!(one, draw(1).0);
        assert_ne!(one, draw(2).0);
        let again = Pace::Recorded(Arc::new(kept));
        let mut pacer = Pacer::new(&again, RunId::of(9, 9), true, Duration::ZERO);
        let replayed: Vec<_> = (0..20).map(|step| pacer.before_stimulus(step)).collect();
        assert_eq!(one, replayed);
        // A model takes no time.
        let mut pacer = Pacer::new(&pace, RunId::of(1, 0), false, Duration::ZERO);
        assert_eq!(pacer.before_stimulus(0), None);
    }
}
