//! How much is tested, and how the next step is chosen.

use std::time::Duration;

use iolite_exec::{ExecError, Plan, Sparing, Uniform, Weighted};

use super::Failure;
use super::action_table::ActionTable;
use super::judge::Judge;
use super::test::{AnyStrategy, AnyTester};
use super::weights::{ActionWeight, InputWeights};
use iolite::CoverageGuide;

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
    weights: Vec<f64>,
    /// How often an input is chosen beside the others, such as ?coin=3; those that are not named
    /// weigh 1, and one of weight 0 is given only where nothing else can be done. With values, the
    /// weight is that of the name (repeatable)
    #[arg(long, value_name = "ACTION=N")]
    pub(super) weight: Vec<ActionWeight>,
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

    /// Flags that belong together, and the weights of the inputs.
    pub(super) fn choices(&self, judge: &Judge) -> Result<Choices<'_>, Failure> {
        if (self.strategy == StrategyFlag::Weighted) != (self.weights.len() == 3) {
            return Err(Failure::input(
                "--strategy weighted and --weights STOP,STIMULATE,OBSERVE belong together",
            ));
        }
        let inputs = match &*self.weight {
            [] => None,
            given => Some(judge.weights(given)?),
        };
        Ok(Choices {
            effort: self,
            inputs,
        })
    }
}

/// How the next step is chosen, with everything checked.
pub(super) struct Choices<'a> {
    effort: &'a EffortOptions,
    inputs: Option<InputWeights>,
}

impl Choices<'_> {
    /// The choice without a lead.
    fn plain(&self, valued: Option<&ActionTable>) -> AnyStrategy {
        let effort = self.effort;
        let (stop, stimulate, observe) = match effort.weights.as_slice() {
            [stop, stimulate, observe] => (*stop, *stimulate, *observe),
            _ if self.inputs.is_none() => return Box::new(Uniform),
            _ => (0.0, 1.0, 1.0),
        };
        match &self.inputs {
            Some(inputs) => Box::new(Weighted {
                stop,
                stimulate,
                observe,
                stimuli: inputs.of_job(valued.cloned()),
            }),
            None => Box::new(Weighted {
                stop,
                stimulate,
                observe,
                stimuli: Vec::new(),
            }),
        }
    }

    /// Inputs of weight 0 are kept from a strategy that follows a lead.
    fn sparing(&self, strategy: AnyStrategy) -> AnyStrategy {
        match &self.inputs {
            Some(inputs) => Box::new(Sparing::new(strategy, inputs.of_job(None))),
            None => strategy,
        }
    }

    /// A tester with a goal, and the strategy that leads there; `None` without a goal, or where
    /// another strategy is asked for.
    pub(super) fn towards_goal(
        &self,
        judge: &Judge,
    ) -> Result<Option<(AnyTester, AnyStrategy)>, ExecError> {
        if self.effort.strategy != StrategyFlag::Uniform {
            return Ok(None);
        }
        let led = judge.towards_goal(|| self.plain(None))?;
        Ok(led.map(|(tester, strategy)| (tester, self.sparing(strategy))))
    }

    /// The strategy of one job.
    pub(super) fn strategy(
        &self,
        judge: &Judge,
        valued: Option<&ActionTable>,
    ) -> Result<AnyStrategy, ExecError> {
        let effort = self.effort;
        let leads = effort.strategy == StrategyFlag::Coverage;
        let asked = leads || effort.until_coverage.is_some();
        let limit = if asked {
            COVERAGE_LIMIT_ASKED
        } else {
            COVERAGE_LIMIT
        };
        let choice = self.plain(valued);
        Ok(match judge.shadow(limit)? {
            Some(shadow) if leads => self.sparing(Box::new(CoverageGuide::leading(shadow, choice))),
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
