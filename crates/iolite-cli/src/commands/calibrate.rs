//! `iolite calibrate`: how long must silence last to be quiescence?

use iolite::{Campaign, Error, Judge, ModelRef, ReadOptions, Target};
use iolite_exec::{Calibrator, Interruption, Proposal, end_well_on_signals, interrupted};
use serde::Serialize;

use crate::args::data::{DataArgs, ValueArgs};
use crate::args::effort::EffortArgs;
use crate::args::judge::JudgeArgs;
use crate::args::target::TargetArgs;
use crate::args::workspace;
use crate::output::{Exit, print, print_json};

/// Measure the system's response times, and propose timeouts for quiescence with the risk that stays
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The specification
    model: ModelRef,
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    judge: JudgeArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    effort: EffortArgs,
    /// The proposal is the longest time seen, times this
    #[arg(long, value_name = "X", default_value_t = 3.0)]
    factor: f64,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadOptions,
}

/// What was measured, and what cut it short.
#[derive(Serialize)]
struct Measured<'a> {
    #[serde(flatten)]
    proposal: &'a Proposal,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupted: Option<&'static str>,
}

/// The patience of the measurement, where the user gives none: longer than any answer should take.
const PATIENCE_MS: u64 = 2000;

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let workspace = workspace(&args.read);
    // What the description says is what is to be found out.
    let patience = args.target.quiescence_ms.unwrap_or(PATIENCE_MS);
    let target = Target::new(&workspace, &args.target.options(&args.data))?.with_timeout(patience);
    let options = args
        .judge
        .options(&args.data, &ValueArgs::default(), None, args.effort.seed);
    let judge = Judge::new(&workspace, &args.model, &options)?;
    let campaign = args.effort.apply(Campaign::new(judge))?.jobs(1);
    let mut calibrator = Calibrator::new();
    end_well_on_signals()?;
    let summary = campaign.run(&target, &mut calibrator)?;
    if let Some(error) = summary.faults.into_values().next() {
        return Err(error.into());
    }
    let proposal = calibrator.proposal(args.factor);
    let interrupted = interrupted().map(Interruption::name);
    if args.json {
        print_json(&Measured {
            proposal: &proposal,
            interrupted,
        })?;
    } else {
        print(&tell(&proposal))?;
        if let Some(by) = interrupted {
            say!("cut short by {by}: these are the answers that had come by then");
        }
    }
    Ok(if proposal.overall.is_some() {
        Exit::Holds
    } else {
        Exit::Inconclusive
    })
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds for people")]
fn tell(proposal: &Proposal) -> String {
    let Some(overall) = &proposal.overall else {
        return "no output was seen, so there is nothing to measure\n".to_owned();
    };
    let ms = |micros: u64| micros as f64 / 1000.0;
    let mut text = format!(
        "{} answers, median {:.1} ms, 99% within {:.1} ms, longest {:.1} ms; silence {} times\n\n",
        overall.samples,
        ms(overall.median),
        ms(overall.p99),
        ms(overall.max),
        proposal.silences
    );
    text += &format!(
        "[quiescence]\ntimeout-ms = {}\n",
        overall.timeout.div_ceil(1000)
    );
    let others = proposal
        .actions
        .iter()
        .filter(|(action, _)| !action.is_empty());
    let actions: Vec<String> = others
        .map(|(action, m)| format!("\"{action}\" = {}", m.timeout.div_ceil(1000)))
        .collect();
    if !actions.is_empty() {
        text += &format!(
            "# by the action before: actions = {{ {} }}\n",
            actions.join(", ")
        );
    }
    text += &format!(
        "\nwith 95% confidence at most {:.2}% of answers take longer than the longest one seen\n",
        overall.risk * 100.0
    );
    text
}
