//! A bar of progress, and the outcome in a few lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Stderr, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use iolite_derive::Verdict;

use super::counted;
use crate::{Coverage, Event, ExecError, Sink};

/// Writes for people: lines that stay, and on a terminal a bar below them.
#[derive(Debug)]
pub struct Console<W> {
    out: W,
    bar: ProgressBar,
    begin: Instant,
    verdicts: BTreeMap<Verdict, u64>,
    faults: u64,
    steps: u64,
    /// Steps of the runs that go on.
    running: BTreeMap<u64, u64>,
    coverage: Option<Coverage>,
    extent: Extent,
}

/// How much there is to do, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Runs.
    pub runs: Option<u64>,
    /// Steps of a run, at most.
    pub steps: Option<u64>,
    /// Time of all runs.
    pub time: Option<Duration>,
}

impl Extent {
    /// The time that is left after some of it, if all goes on as it has: at most that of the time limit.
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    fn left(
        &self,
        ended: u64,
        running: impl Iterator<Item = u64>,
        elapsed: Duration,
    ) -> Option<Duration> {
        let by_time = self.time.map(|time| time.saturating_sub(elapsed));
        let by_runs = self.runs.and_then(|runs| {
            let part = |steps: u64| {
                self.steps
                    .map_or(0.0, |most| steps as f64 / most.max(1) as f64)
            };
            let done = ended as f64 + running.map(|steps| part(steps).min(1.0)).sum::<f64>();
            let share = done / runs.max(1) as f64;
            // Nothing can be said of the whole by less than a hundredth of it.
            (share >= 0.01).then(|| elapsed.mul_f64((1.0 / share - 1.0).clamp(0.0, 1e6)))
        });
        match (by_time, by_runs) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
}

/// A length of time for people.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5999 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

impl Console<Stderr> {
    /// On standard error, with a bar if that is a terminal.
    pub fn terminal(extent: Extent) -> Self {
        let runs = extent.runs;
        let shape = match runs {
            Some(_) => "{bar:20} {pos}/{len} runs · {wide_msg}",
            None => "{spinner} {pos} runs · {wide_msg}",
        };
        let bar = ProgressBar::with_draw_target(runs, ProgressDrawTarget::stderr())
            .with_finish(ProgressFinish::AndClear);
        if let Ok(style) = ProgressStyle::with_template(shape) {
            bar.set_style(style);
        }
        Self {
            bar,
            extent,
            ..Self::new(std::io::stderr())
        }
    }
}

impl<W: Write> Console<W> {
    /// Without a bar.
    pub fn new(out: W) -> Self {
        Self {
            out,
            bar: ProgressBar::hidden(),
            begin: Instant::now(),
            verdicts: BTreeMap::new(),
            faults: 0,
            steps: 0,
            running: BTreeMap::new(),
            coverage: None,
            extent: Extent::default(),
        }
    }

    fn counts(&self) -> String {
        let mut text = String::new();
        for (verdict, count) in &self.verdicts {
            let _ = write!(
                text,
                "{}{count} {verdict}",
                if text.is_empty() { "" } else { ", " }
            );
        }
        if self.faults > 0 {
            let gap = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{gap}{} without a verdict", self.faults);
        }
        if text.is_empty() {
            text.push_str("no verdict yet");
        }
        text
    }

    /// Brings the bar up to date; it draws itself a few times a second at most.
    fn progress(&self) {
        let steps = self.steps + self.running.values().sum::<u64>();
        let rate = rate(steps, self.begin.elapsed().as_secs_f64());
        let covered = self.coverage.map_or_else(String::new, |c| {
            format!(" · {:.0}% covered", c.ratio() * 100.0)
        });
        let counts = self.counts();
        let ended = self.verdicts.values().sum::<u64>() + self.faults;
        let running = self.running.values().copied();
        let left = self.extent.left(ended, running, self.begin.elapsed());
        let left = left.map_or_else(String::new, |left| format!(" · {} left", duration(left)));
        self.bar
            .set_message(format!("{steps} steps · {rate}{covered} · {counts}{left}"));
        self.bar.set_position(ended);
    }

    fn line(&mut self, text: &str) -> std::io::Result<()> {
        let Self { bar, out, .. } = self;
        bar.suspend(|| writeln!(out, "{text}"))
    }

    fn take(&mut self, event: &Event) -> std::io::Result<()> {
        match event {
            Event::Progress {
                run,
                steps,
                coverage,
            } => {
                self.running.insert(*run, *steps);
                self.coverage = coverage.or(self.coverage);
                self.progress();
                Ok(())
            }
            Event::RunEnded {
                run,
                verdict,
                steps,
                ..
            } => {
                *self.verdicts.entry(*verdict).or_default() += 1;
                self.steps += steps;
                self.running.remove(run);
                if verdict.is_failing() || *verdict == Verdict::Flaky {
                    self.line(&format!(
                        "run {run}: {verdict} after {}",
                        counted(*steps, "step")
                    ))?;
                }
                self.progress();
                Ok(())
            }
            Event::Fault {
                run,
                steps,
                message,
                ..
            } => {
                self.faults += 1;
                self.steps += steps;
                self.running.remove(run);
                self.line(&format!(
                    "run {run}: no verdict after {}: {message}",
                    counted(*steps, "step")
                ))?;
                self.progress();
                Ok(())
            }
            Event::CampaignEnded { steps, elapsed, .. } => {
                #[expect(clippy::cast_precision_loss, reason = "for people")]
                let seconds = *elapsed as f64 / 1e6;
                let rate = rate(*steps, seconds);
                let counts = self.counts();
                self.bar.finish_and_clear();
                self.line(&format!(
                    "{counts} · {} in {seconds:.2} s · {rate}",
                    counted(*steps, "step")
                ))?;
                self.out.flush()
            }
            _ => Ok(()),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn rate(steps: u64, seconds: f64) -> String {
    let rate = steps as f64 / seconds.max(1e-6);
    if rate >= 1e6 {
        format!("{:.1} M events/s", rate / 1e6)
    } else if rate >= 1e4 {
        format!("{:.0} k events/s", rate / 1e3)
    } else {
        format!("{rate:.0} events/s")
    }
}

impl<W: Write> Sink for Console<W> {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        self.take(event)
            .map_err(|e| ExecError::Report(e.to_string()))
    }

    fn wants_steps(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::End;

    #[test]
    fn what_is_left_follows_from_what_was_done() {
        let second = Duration::from_secs;
        let runs = Extent {
            runs: Some(10),
            steps: Some(100),
            time: None,
        };
        let left = |extent: Extent, ended, running: &[u64], at| {
            extent.left(ended, running.iter().copied(), second(at))
        };
        assert_eq!(left(runs, 5, &[], 20), Some(second(20)));
        assert_eq!(left(runs, 4, &[50, 50], 20), Some(second(20)));
        assert_eq!(left(runs, 0, &[], 20), None);
        assert_eq!(left(runs, 10, &[], 20), Some(second(0)));
        let timed = Extent {
            time: Some(second(30)),
            ..runs
        };
        assert_eq!(left(timed, 1, &[], 20), Some(second(10)));
        assert_eq!(
            left(
                Extent {
                    runs: None,
                    ..timed
                },
                1,
                &[],
                40
            ),
            Some(second(0))
        );
        assert_eq!(duration(second(99)), "99 s");
        assert_eq!(duration(second(100)), "2 min");
        assert_eq!(duration(second(7200)), "2 h");
    }

    #[test]
    fn lines_stay_and_the_bar_counts() {
        let mut out = Vec::new();
        let mut console = Console::new(&mut out);
        for (run, verdict) in [(0, Verdict::Pass), (1, Verdict::Fail)] {
            console
                .event(&Event::Progress {
                    run,
                    steps: 3,
                    coverage: Some(Coverage { seen: 1, total: 4 }),
                })
                .unwrap();
            let shown = console.bar.message();
            assert!(
                shown.starts_with(&format!("{} steps · ", 3 + 5 * run)),
                "{shown}"
            );
            assert!(shown.contains(" · 25% covered · "), "{shown}");
            assert_eq!(console.bar.position(), run);
            console
                .event(&Event::RunEnded {
                    run,
                    verdict,
                    end: End::Tester,
                    steps: 5,
                    elapsed: 1,
                    certificate: None,
                    results: BTreeMap::new(),
                })
                .unwrap();
        }
        console
            .event(&Event::CampaignEnded {
                verdicts: BTreeMap::new(),
                faults: 0,
                steps: 10,
                elapsed: 2_000_000,
                untried: Vec::new(),
            })
            .unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "run 1: fail after 5 steps\n1 pass, 1 fail · 10 steps in 2.00 s · 5 events/s\n"
        );
    }
}
