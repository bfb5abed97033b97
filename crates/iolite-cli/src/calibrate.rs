//! `iolite calibrate`: how long must silence last to be quiescence?

use iolite_exec::{Calibrator, Instance, Plan, Proposal, campaign};

use super::data_options::{DataOptions, ValueOptions};
use super::effort::EffortOptions;
use super::judge::{Judge, JudgeOptions};
use super::source::{ModelRef, ReadOptions};
use super::symbolic_run::SymbolicJudge;
use super::target::{Target, TargetOptions};
use super::test::{self, fault};
use super::{Exit, Failure, print, print_json};

/// Measure the system's response times, and propose timeouts for quiescence with the risk that stays
#[derive(clap::Args)]
pub(super) struct Args {
    /// The specification
    model: ModelRef,
    #[command(flatten)]
    target: TargetOptions,
    #[command(flatten)]
    judge: JudgeOptions,
    #[command(flatten)]
    data: DataOptions,
    #[command(flatten)]
    effort: EffortOptions,
    /// The proposal is the longest time seen, times this
    #[arg(long, value_name = "X", default_value_t = 3.0)]
    factor: f64,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadOptions,
}

/// The patience of the measurement, where the user gives none: longer than any answer should take.
const PATIENCE_MS: u64 = 2000;

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut target = Target::new(&args.target, &args.data, &args.read)?;
    // What the description says is what is to be found out.
    let patience = args.target.quiescence_ms.unwrap_or(PATIENCE_MS);
    target.config.set_one_timeout(patience);
    let judge = judge(args, &target)?;
    let plan = Plan {
        jobs: 1,
        ..args.effort.plan()?
    };
    let choices = args.effort.choices(&judge)?;
    let mut calibrator = Calibrator::new();
    let options = test::options(&target, &judge, &args.effort);
    let summary = campaign(&plan, &options, &mut calibrator, |job| {
        let pair = judge.pair(&target, job)?;
        Ok(Instance {
            strategy: choices.strategy(&judge, pair.valued.as_ref())?,
            tester: pair.tester,
            adapter: pair.adapter,
        })
    });
    let summary = summary.map_err(|e| fault(&e))?;
    if let Some(error) = summary.faults.into_values().next() {
        return Err(fault(&error));
    }
    let proposal = calibrator.proposal(args.factor);
    if args.json {
        print_json(&proposal)?;
    } else {
        print(&tell(&proposal))?;
    }
    Ok(if proposal.overall.is_some() {
        Exit::Holds
    } else {
        Exit::Inconclusive
    })
}

fn judge(args: &Args, target: &Target) -> Result<Judge, Failure> {
    let needed = [
        (args.data.unfold, "--unfold"),
        (
            target.is_foreign_model(),
            "a model without values as the system under test",
        ),
    ];
    let needed = needed
        .iter()
        .find_map(|(asked, flag)| asked.then_some(*flag));
    let symbolic = SymbolicJudge::load_unless(
        needed,
        &args.model,
        (&args.data, &ValueOptions::default()),
        args.judge.quiescence.policy(),
        args.effort.seed,
        None,
    )?;
    match symbolic {
        Some(symbolic) => {
            let symbolic = symbolic.against(target)?;
            Ok(Judge::of_data(symbolic, &args.read, &args.judge))
        }
        None => Judge::new(&args.model, &args.read, &args.judge, target.extra_labels()?),
    }
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
