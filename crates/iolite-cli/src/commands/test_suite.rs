//! `iolite test --suite`: stored test cases against a real system.

use std::collections::BTreeMap;

use iolite::{Campaign, Error, Judge, Summary, Target, Verdict, Workspace};
use iolite_exec::end_well_on_signals;
use serde::Serialize;

use super::test::Args;
use crate::output::campaign::{conclude, counts, exit, finish, sinks, tell_unwritten};
use crate::output::{Exit, print, print_json};

#[derive(Serialize)]
struct CaseDocument {
    case: String,
    file: String,
    verdict: Option<Verdict>,
    verdicts: BTreeMap<Verdict, u64>,
    faults: usize,
}

pub(crate) fn run(
    args: &Args,
    workspace: &Workspace,
    target: &Target,
    campaign: &Campaign,
) -> Result<Exit, Error> {
    if !args.effort.weight.is_empty() {
        return Err(Error::input(
            "--weight is for testing on the fly; the test cases of a suite fix their inputs",
        ));
    }
    let Judge::Explicit(judge) = campaign.judge() else {
        return Err(Error::input("--suite needs a MODEL"));
    };
    let cases = workspace.suite(&args.suite, judge.spec())?;
    campaign.warn_of_other_models(workspace, &cases)?;
    let mut sinks = sinks(&args.report, target, campaign, "iolite test --suite", None)?;
    end_well_on_signals()?;
    let mut documents = Vec::new();
    let mut all = Summary::default();
    let mut first = 0;
    for case in cases {
        let runs = (first, args.repeat);
        let summary = campaign.run_case(&case.case, target, &mut sinks, runs)?;
        first += args.repeat;
        documents.push(CaseDocument {
            case: case.case.name().to_owned(),
            file: case.place,
            verdict: summary.verdict(),
            verdicts: summary.verdicts.clone(),
            faults: summary.faults.len(),
        });
        let stop = args.effort.stop_on_fail && summary.verdict().is_some_and(Verdict::is_failing)
            || !summary.faults.is_empty() && !args.effort.keep_going
            || summary.interrupted.is_some()
            || !summary.unwritten.is_empty();
        all.merge(summary);
        if stop {
            break;
        }
    }
    finish(sinks, &mut all);
    if args.report.json {
        print_json(&documents)?;
        tell_unwritten(&all);
        return Ok(exit(all.verdict(), &all));
    }
    for document in &documents {
        let faults = if document.faults > 0 {
            ", no verdict in some"
        } else {
            ""
        };
        let verdicts = counts(&document.verdicts);
        print(&format!("{}: {verdicts}{faults}\n", document.case))?;
    }
    conclude(args, workspace, target, campaign, &all)
}
