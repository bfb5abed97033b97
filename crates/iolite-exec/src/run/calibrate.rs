//! Measured response times, and what timeouts they speak for.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;

use crate::{Event, ExecError, Quiescence, Sink};

/// Reads the events of runs with a long timeout and keeps how long outputs took.
#[derive(Clone, Debug, Default)]
pub struct Calibrator {
    /// Times by the action that the output followed, in `?a`, `!x` notation.
    times: BTreeMap<String, Vec<u64>>,
    last: Option<(String, u64)>,
    silences: u64,
    dropped: u64,
}

/// Times that are kept for an action; more change nothing.
const KEPT: usize = 100_000;

/// What was measured after one action.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measure {
    /// Number of outputs.
    pub samples: usize,
    /// Half of them took less, in microseconds.
    pub median: u64,
    /// 99 of 100 took less.
    pub p99: u64,
    /// The longest.
    pub max: u64,
    /// The timeout that is proposed.
    pub timeout: u64,
    /// With 95% confidence, at most this share of outputs takes longer than the longest seen. The
    /// timeout is longer still; how much smaller the share gets by that, measurement cannot tell.
    pub risk: f64,
}

/// The timeouts that are proposed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Proposal {
    /// All outputs together.
    pub overall: Option<Measure>,
    /// By the action that the output followed.
    pub actions: BTreeMap<String, Measure>,
    /// How often nothing came in the long timeout of the measurement.
    pub silences: u64,
    /// Measurements that were not kept.
    pub dropped: u64,
}

impl Sink for Calibrator {
    fn event(&mut self, event: &Event) -> Result<(), ExecError> {
        match event {
            Event::RunStarted { .. } => self.last = Some((String::new(), 0)),
            Event::Stimulus { action, at, .. } => self.last = Some((action.to_string(), *at)),
            Event::Output { action, at, .. } => {
                if let Some((cause, begin)) = self.last.take() {
                    let times = self.times.entry(cause).or_default();
                    if times.len() < KEPT {
                        times.push(at.saturating_sub(begin));
                    } else {
                        self.dropped += 1;
                    }
                }
                self.last = Some((action.to_string(), *at));
            }
            Event::Quiescence { at, .. } => {
                self.silences += 1;
                self.last = Some(("delta".into(), *at));
            }
            // They belong to a step that is an event of its own.
            Event::Bytes { .. } => {}
            _ => self.last = None,
        }
        Ok(())
    }
}

/// Shorter timeouts are not proposed: the scheduler of a busy machine alone needs that.
const SHORTEST: u64 = 10_000;

/// The share of unseen times above the largest of n seen ones, with 95% confidence: solves
/// (1 - p)^n = 0.05. It assumes that the measured times are alike those to come, and nothing about
/// how they are spread.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn risk(samples: usize) -> f64 {
    1.0 - 0.05_f64.powf(1.0 / samples as f64)
}

fn measure(times: &mut [u64], factor: f64) -> Option<Measure> {
    times.sort_unstable();
    let max = *times.last()?;
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a proposal in microseconds"
    )]
    let timeout = (max as f64 * factor.max(1.0)).ceil() as u64;
    Some(Measure {
        samples: times.len(),
        median: at(50),
        p99: at(99),
        max,
        timeout: timeout.max(SHORTEST),
        risk: risk(times.len()),
    })
}

impl Calibrator {
    /// Nothing measured yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The proposal: the longest time seen, times `factor`.
    pub fn proposal(&self, factor: f64) -> Proposal {
        let mut all: Vec<u64> = self.times.values().flatten().copied().collect();
        Proposal {
            overall: measure(&mut all, factor),
            actions: self
                .times
                .iter()
                .filter_map(|(action, times)| {
                    let name = if action.is_empty() { "start" } else { action };
                    Some((name.to_owned(), measure(&mut times.clone(), factor)?))
                })
                .collect(),
            silences: self.silences,
            dropped: self.dropped,
        }
    }
}

impl Proposal {
    /// The timeouts as they stand in the description of a system under test.
    pub fn toml(&self) -> Option<String> {
        let quiescence = self.quiescence()?;
        let ms = |time: Duration| time.as_millis().max(1);
        let mut text = format!("[quiescence]\ntimeout-ms = {}\n", ms(quiescence.default));
        if !quiescence.actions.is_empty() {
            text.push_str("\n[quiescence.actions]\n");
            for (action, time) in &quiescence.actions {
                let key = serde_json::Value::from(action.as_str());
                let _ = writeln!(text, "{key} = {}", ms(*time));
            }
        }
        Some(text)
    }

    /// The proposal as timeouts: one by default, and longer or much shorter ones by action.
    pub fn quiescence(&self) -> Option<Quiescence> {
        let overall = self.overall.as_ref()?;
        Some(Quiescence {
            default: Duration::from_micros(overall.timeout),
            states: BTreeMap::new(),
            actions: self
                .actions
                .iter()
                // Few samples say too little to go below the default.
                .filter(|(name, m)| {
                    m.samples >= 30 && m.timeout < overall.timeout && *name != "start"
                })
                .map(|(name, m)| (name.clone(), Duration::from_micros(m.timeout)))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn risk_is_the_rule_of_three() {
        assert!((risk(100) - 0.0295).abs() < 0.001);
        assert!((risk(1) - 0.95).abs() < 1e-9);
    }

    #[test]
    fn times_are_from_the_last_event_to_the_output() {
        let mut calibrator = Calibrator::new();
        let mut at = 0;
        for i in 0..50 {
            let (run, step) = (0, i * 2);
            calibrator
                .event(&Event::Stimulus {
                    run,
                    step,
                    action: "?a".into(),
                    at,
                })
                .unwrap();
            at += 1000 + i * 10;
            calibrator
                .event(&Event::Output {
                    run,
                    step: step + 1,
                    action: "!x".into(),
                    at,
                    preempted: None,
                    note: None,
                })
                .unwrap();
            at += 77_000;
            calibrator
                .event(&Event::Quiescence {
                    run,
                    step,
                    at,
                    patience: 77_000,
                })
                .unwrap();
        }
        let proposal = calibrator.proposal(20.0);
        let a = &proposal.actions["?a"];
        assert_eq!((a.samples, a.max, a.timeout), (50, 1490, 29_800));
        assert_eq!(proposal.silences, 50);
        let toml = format!("command = \"x\"\n{}", proposal.toml().unwrap());
        let config = crate::SutConfig::parse(&toml).unwrap();
        assert_eq!(config.quiescence().default, Duration::from_millis(29));
        assert_eq!(proposal.actions.len(), 1);
    }
}
