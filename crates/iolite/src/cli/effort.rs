//! How much is tested, and how the next step is chosen.

use std::time::Duration;

use iolite_exec::{ExecError, Plan, Uniform, Weighted};

use super::Failure;
use super::judge::Judge;
use super::test::AnyStrategy;
use crate::CoverageGuide;

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Effort")]
pub(super) struct EffortOptions {
    /// Steps of one run
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(super) steps: u64,
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 10)]
    runs: u64,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,
    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS")]
    time: Option<f64>,
    /// Stop after the first failing run
    #[arg(long)]
    pub(super) stop_on_fail: bool,
    /// Stop when so much of the model's suspension automaton was seen, such as 100%
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(super) until_coverage: Option<f64>,
    /// How the next step is chosen
    #[arg(long, value_enum, default_value_t = StrategyFlag::Uniform)]
    pub(super) strategy: StrategyFlag,
    /// Weights for stopping, stimulating and observing, such as 0,2,1 (strategy weighted)
    #[arg(
        long,
        value_name = "STOP,STIMULATE,OBSERVE",
        value_delimiter = ',',
        num_args = 1
    )]
    pub(super) weights: Vec<f64>,
    /// Systems under test at the same time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Go on with other runs after the infrastructure failed in one
    #[arg(long)]
    pub(super) keep_going: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum StrategyFlag {
    /// Stimulating and observing alike; with --observer or --purpose, mostly the shortest way there
    Uniform,
    /// By --weights
    Weighted,
    /// Towards transitions of the model that no run has seen yet
    Coverage,
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%');
    let percent: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` is no percentage"))?;
    if (0.0..=100.0).contains(&percent) {
        Ok(percent / 100.0)
    } else {
        Err("a percentage is between 0 and 100".to_owned())
    }
}

/// Sets of the suspension automaton up to which coverage is recorded without being asked for.
const COVERAGE_LIMIT: usize = 20_000;

/// The same, where the user asks for coverage.
const COVERAGE_LIMIT_ASKED: usize = 5_000_000;

impl EffortOptions {
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let time = self.time.map(Duration::try_from_secs_f64).transpose();
        Ok(Plan {
            seed: self.seed,
            runs: self.runs,
            first: 0,
            jobs: self.jobs.max(1),
            time: time.map_err(|e| Failure::input(format!("--time: {e}")))?,
            stop_on_fail: self.stop_on_fail,
            stop_on_fault: !self.keep_going,
        })
    }

    pub(super) fn strategy(&self, judge: &Judge) -> Result<AnyStrategy, ExecError> {
        let leads = self.strategy == StrategyFlag::Coverage;
        let asked = leads || self.until_coverage.is_some();
        let limit = if asked {
            COVERAGE_LIMIT_ASKED
        } else {
            COVERAGE_LIMIT
        };
        let choice: AnyStrategy = match self.weights.as_slice() {
            [stop, stimulate, observe] => Box::new(Weighted {
                stop: *stop,
                stimulate: *stimulate,
                observe: *observe,
                stimuli: Vec::new(),
            }),
            _ => Box::new(Uniform),
        };
        Ok(match judge.shadow(limit)? {
            Some(shadow) if leads => Box::new(CoverageGuide::leading(shadow, choice)),
            Some(shadow) => Box::new(CoverageGuide::recording(shadow, choice)),
            None if asked => {
                return Err(ExecError::Config(format!(
                    "the model's suspension automaton has more than {limit} states, too many to \
                     measure coverage"
                )));
            }
            None => choice,
        })
    }
}
