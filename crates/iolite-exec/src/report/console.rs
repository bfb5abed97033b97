//! A line of progress, and the outcome in a few lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::time::Instant;

use iolite_derive::Verdict;

use crate::{Coverage, Event, ExecError, Sink};

/// Writes for people. On a terminal one line is written over again and again; elsewhere only what
/// stays is written.
#[derive(Debug)]
pub struct Console<W> {
    out: W,
    live: bool,
    begin: Instant,
    verdicts: BTreeMap<Verdict, u64>,
    faults: u64,
    steps: u64,
    /// Steps of the runs that go on.
    running: BTreeMap<u64, u64>,
    coverage: Option<Coverage>,
    line_open: bool,
}

impl<W: Write> Console<W> {
    /// `live` says that `out` is a terminal.
    pub fn new(out: W, live: bool) -> Self {
        Self {
            out,
            live,
            begin: Instant::now(),
            verdicts: BTreeMap::new(),
            faults: 0,
            steps: 0,
            running: BTreeMap::new(),
            coverage: None,
            line_open: false,
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

    fn progress(&mut self) -> std::io::Result<()> {
        if !self.live {
            return Ok(());
        }
        let steps = self.steps + self.running.values().sum::<u64>();
        let rate = rate(steps, self.begin.elapsed().as_secs_f64());
        let covered = self.coverage.map_or_else(String::new, |c| {
            format!(" · {:.0}% covered", c.ratio() * 100.0)
        });
        let counts = self.counts();
        write!(
            self.out,
            "\r\x1b[2K{steps} steps · {rate}{covered} · {counts}"
        )?;
        self.line_open = true;
        self.out.flush()
    }

    fn line(&mut self, text: &str) -> std::io::Result<()> {
        if std::mem::take(&mut self.line_open) {
            write!(self.out, "\r\x1b[2K")?;
        }
        writeln!(self.out, "{text}")
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
                self.progress()
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
                if verdict.is_failing() {
                    self.line(&format!("run {run}: {verdict} after {steps} steps"))?;
                }
                self.progress()
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
                    "run {run}: no verdict after {steps} steps: {message}"
                ))
            }
            Event::CampaignEnded { steps, elapsed, .. } => {
                #[expect(clippy::cast_precision_loss, reason = "for people")]
                let seconds = *elapsed as f64 / 1e6;
                let rate = rate(*steps, seconds);
                let counts = self.counts();
                self.line(&format!(
                    "{counts} · {steps} steps in {seconds:.2} s · {rate}"
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
    fn what_stays_is_written_without_a_terminal() {
        let mut out = Vec::new();
        let mut console = Console::new(&mut out, false);
        for (run, verdict) in [(0, Verdict::Pass), (1, Verdict::Fail)] {
            console
                .event(&Event::Progress {
                    run,
                    steps: 3,
                    coverage: None,
                })
                .unwrap();
            console
                .event(&Event::RunEnded {
                    run,
                    verdict,
                    end: End::Tester,
                    steps: 5,
                    elapsed: 1,
                    certificate: None,
                })
                .unwrap();
        }
        console
            .event(&Event::CampaignEnded {
                verdicts: BTreeMap::new(),
                faults: 0,
                steps: 10,
                elapsed: 2_000_000,
            })
            .unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "run 1: fail after 5 steps\n1 pass, 1 fail · 10 steps in 2.00 s · 5 events/s\n"
        );
    }
}
