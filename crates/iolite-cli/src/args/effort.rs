//! How much is tested, and how the next step is chosen.

use std::time::Duration;

use iolite::{
    ActionWeight, Campaign, Cover, Error, Order, Partition, RunRange, Selection, SelectionOptions,
    Share, Steering,
};
use iolite_exec::{Confirm, Pace};

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Effort")]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
pub(crate) struct EffortArgs {
    /// Steps of one run. Through several channels it is observed a little longer where the last outputs need others to be
    /// explained
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) steps: u64,
    /// Number of runs [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u64>,
    /// Make only runs A, …, B-1, with the numbers and seeds that they have in the whole campaign
    #[arg(long, value_name = "A..B", conflicts_with = "partition")]
    range: Option<RunRange>,
    /// Make only the K-th of N parts of the runs: every N-th, from number K-1 on. `iolite merge` joins
    /// the journals of the parts
    #[arg(long, value_name = "K/N")]
    partition: Option<Partition>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) time: Option<f64>,
    /// Stop after the first failing run
    #[arg(long)]
    pub(crate) stop_on_fail: bool,
    /// Stop when so much of the model was seen, such as 100%: of the transitions of its suspension automaton,
    /// with data of what --cover names without what is proved to be out of reach
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub(crate) until_coverage: Option<f64>,
    /// How the next step is chosen
    #[arg(long, value_enum, default_value_t)]
    pub(crate) strategy: Selection,
    /// What --strategy coverage and --until-coverage look at in a model with data [default: transitions]
    #[arg(long, value_enum, value_name = "WHAT")]
    cover: Option<Cover>,
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
    pub(crate) weight: Vec<ActionWeight>,
    /// Systems under test at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::parse_jobs)]
    jobs: usize,
    /// Go on with other runs after the infrastructure failed in one
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Time that passes before a stimulus: off, a time such as 5ms, or a range such as 0..50ms, drawn
    /// evenly (seeded). auto: in one run of four, up to twice the response times seen in it
    #[arg(long, value_name = "PACE", default_value_t)]
    pace: Pace,
    /// Wait for silence again also where it was just observed and the model learns nothing from it
    #[arg(long)]
    repeat_silence: bool,
    /// Repeat a run that failed by silence so many times, each with a longer timeout, before it is
    /// reported; one that does not fail again is flaky. 0 reports every run at once
    #[arg(long, value_name = "N", default_value_t = Confirm::default().silence)]
    confirm: u32,
    /// The same for runs that failed by an output
    #[arg(long, value_name = "N", default_value_t = Confirm::default().outputs)]
    confirm_outputs: u32,
    /// Flaky runs do not fail the command; they are shown all the same
    #[arg(long)]
    pub(crate) allow_flaky: bool,
    /// Take orders from standard input while the campaign runs, one a line: pause, resume, step [N],
    /// give ?a(1), observe, stop; with `=paused` nothing is chosen before one comes
    #[arg(long, value_name = "paused", num_args = 0..=1, require_equals = true, default_missing_value = "running")]
    steer: Option<SteeredFrom>,
}

/// How a campaign that takes orders begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SteeredFrom {
    /// By itself
    Running,
    /// Waiting for an order
    Paused,
}

/// Reads orders until there are none. A campaign whose orders end goes on by itself.
fn steering(from: SteeredFrom) -> Result<Steering, Error> {
    let steering = Steering::new(|wanted, possible| {
        let possible = possible.join(", ");
        say!("{wanted} cannot be given now; what can: {possible}");
    });
    if from == SteeredFrom::Paused {
        steering.order(Order::Pause);
    }
    let orders = steering.clone();
    let read = move || {
        for line in std::io::stdin().lines() {
            let Ok(line) = line else { break };
            match line.parse::<Order>() {
                Ok(order) => orders.order(order),
                Err(_) if line.trim().is_empty() => {}
                Err(e) => say!("{e}"),
            }
        }
        orders.order(Order::Resume);
    };
    let thread = std::thread::Builder::new().name("orders".into());
    let started = thread.spawn(read);
    started.map_err(|e| Error::fault(format!("cannot read orders: {e}")))?;
    Ok(steering)
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%');
    let percent: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` is no percentage"))?;
    // 0.9 is more likely nine tenths than nine in a thousand.
    if percent > 0.0 && percent < 1.0 && !text.ends_with('%') {
        return Err(format!(
            "`{text}` is less than one percent; {} means that share, {text}% the small one",
            percent * 100.0
        ));
    }
    if (0.0..=100.0).contains(&percent) {
        Ok(percent / 100.0)
    } else {
        Err("a percentage is between 0 and 100".to_owned())
    }
}

impl EffortArgs {
    /// A flag that says what this process does of a campaign, and nothing about the campaign.
    #[cfg(feature = "fleet")]
    pub(crate) fn of_process(&self) -> Option<&'static str> {
        [
            (self.range.is_some(), "--range"),
            (self.partition.is_some(), "--partition"),
            (self.jobs > 1, "--jobs"),
            (self.steer.is_some(), "--steer"),
        ]
        .into_iter()
        .find_map(|(given, flag)| given.then_some(flag))
    }

    /// Runs of the whole campaign.
    pub(crate) fn number_of_runs(&self) -> u64 {
        self.runs.unwrap_or(10)
    }

    /// Runs that are made here, for the progress bar.
    pub(crate) fn runs_here(&self) -> Result<u64, Error> {
        let end = match self.range {
            Some(range) => range.end(),
            None => self.number_of_runs(),
        };
        Ok(self.share()?.within(0, end).count)
    }

    /// The runs of the campaign that are made here.
    fn share(&self) -> Result<Share, Error> {
        match (self.range, self.partition) {
            (Some(range), _) => {
                if let Some(runs) = self.runs.filter(|&runs| runs < range.end()) {
                    return Err(Error::input(format!(
                        "--range {range} goes beyond --runs {runs}, the runs of the whole campaign"
                    )));
                }
                Ok(Share::Range(range))
            }
            (None, Some(partition)) => Ok(Share::Partition(partition)),
            (None, None) => Ok(Share::Whole),
        }
    }

    pub(crate) fn apply(&self, campaign: Campaign) -> Result<Campaign, Error> {
        let runs = self.number_of_runs();
        let share = self.share()?;
        let mut campaign = campaign.runs(runs);
        if self.runs.is_none() && self.range.is_some() {
            campaign = campaign.without_end();
        }
        let mut campaign = campaign.share(share);
        if let Some(from) = self.steer {
            campaign = campaign.steered(steering(from)?);
        }
        let time = self.time.map(Duration::try_from_secs_f64).transpose();
        Ok(campaign
            .seed(self.seed)
            .steps(self.steps)
            .jobs(self.jobs)
            .time(time.map_err(|e| Error::input(format!("--time: {e}")))?)
            .stop_on_fail(self.stop_on_fail)
            .keep_going(self.keep_going)
            .until_coverage(self.until_coverage)
            .pace(self.pace.clone())
            .repeat_silence(self.repeat_silence)
            .confirm(Confirm {
                silence: self.confirm,
                outputs: self.confirm_outputs,
            })
            .selection(SelectionOptions {
                selection: self.strategy,
                weights: self.weights.clone(),
                inputs: self.weight.clone(),
                coverage_asked: false,
                cover: self.cover,
            }))
    }
}
