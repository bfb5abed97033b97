//! `iolite test --suite`: stored test cases against a real system.

use std::collections::BTreeMap;

use iolite::{
    Campaign, Error, ErrorKind, Judge, Notice, Sink, SuiteCase, Summary, SymbolicSuiteCase, Target,
    Verdict, Workspace,
};
use iolite_derive::{Count, Criterion};
use iolite_exec::report::Extent;
use iolite_exec::{Coverage, Event, Fanout};
use serde::Serialize;

use super::test::{Args, Runs, model_coverage};
use crate::output::campaign::{self, Aftermath, conclude, counts, finish};
use crate::output::report_files::{header, sinks, write_report};
use crate::output::{Exit, print};

/// What the runs of one test case came to.
#[derive(Serialize)]
pub(crate) struct CaseDocument {
    case: String,
    file: String,
    verdict: Option<Verdict>,
    verdicts: BTreeMap<Verdict, u64>,
    /// Whose verdict it is: a relation to the model, or the test case's own where it was written by
    /// hand.
    judged_by: String,
    /// Why runs ended `inconc`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
    faults: usize,
    /// Why it could not be set up, so that it has no runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_set_up: Option<String>,
    /// The transitions of the suspension automaton that this and the earlier cases took.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Coverage>,
}

/// What runs took, as the other commands count it.
fn covered(count: Count) -> Coverage {
    Coverage {
        seen: count.seen as u64,
        total: count.total as u64,
    }
}

/// A test case of either kind.
pub(crate) enum AnyCase {
    Explicit(SuiteCase),
    Symbolic(SymbolicSuiteCase),
}

impl AnyCase {
    /// The test cases that the flags name.
    pub(crate) fn all(
        args: &Args,
        workspace: &Workspace,
        campaign: &Campaign,
    ) -> Result<Vec<Self>, Error> {
        if let Some(cases) = workspace.symbolic_suite(&args.suite)? {
            if matches!(campaign.judge(), Judge::Properties(_)) {
                return Err(Error::input("--suite needs a MODEL"));
            }
            if args.data.unfold {
                return Err(Error::input(
                    "--unfold has no effect on test cases with data: they keep them",
                ));
            }
            campaign.warn_of_other_symbolic_models(workspace, &cases);
            return Ok(cases.into_iter().map(Self::Symbolic).collect());
        }
        let Judge::Explicit(judge) = campaign.judge() else {
            return Err(Error::input("--suite needs a MODEL"));
        };
        let cases = workspace.suite(&args.suite, judge.spec())?;
        campaign.warn_of_other_models(workspace, &cases)?;
        campaign.warn_of_strict_cases(workspace, &cases);
        Ok(cases.into_iter().map(Self::Explicit).collect())
    }

    fn name(&self) -> &str {
        match self {
            Self::Explicit(case) => case.case.name(),
            Self::Symbolic(case) => case.case.name(),
        }
    }

    fn place(&self) -> &str {
        match self {
            Self::Explicit(case) => &case.place,
            Self::Symbolic(case) => &case.place,
        }
    }

    /// Whose verdict it is.
    fn judged_by(&self) -> String {
        let criterion = match self {
            Self::Explicit(case) => case.case.criterion(),
            Self::Symbolic(case) => case.case.criterion(),
        };
        match criterion {
            Criterion::Written => "the test case itself".to_owned(),
            criterion => criterion.to_string(),
        }
    }

    pub(crate) fn run(
        &self,
        campaign: &Campaign,
        target: &Target,
        sink: &mut (dyn Sink + Send),
        runs: (u64, u64),
    ) -> Result<Summary, Error> {
        match self {
            Self::Explicit(case) => campaign.run_case(&case.case, target, sink, runs),
            Self::Symbolic(case) => campaign.run_symbolic_case(&case.case, target, sink, runs),
        }
    }
}

pub(crate) fn run(
    args: &Args,
    workspace: &Workspace,
    target: &Target,
    campaign: &Campaign,
    mut runs: Runs,
) -> Result<Exit, Error> {
    if !args.effort.weight.is_empty() {
        return Err(Error::input(
            "--weight is for testing on the fly; the test cases of a suite fix their inputs",
        ));
    }
    let cases = AnyCase::all(args, workspace, campaign)?;
    let mut reached = model_coverage(args, campaign)?;
    let about = ("iolite test --suite", args.effort.allow_flaky);
    let mut header = header(workspace, target, campaign, runs.command());
    if let Some(description) = &mut header.description {
        description.runs = Some((cases.len() as u64).saturating_mul(args.repeat));
    }
    runs.check(&header)?;
    let mut sinks = sinks(&args.report, &header, campaign, about, Extent::default())?;
    if let Some(reached) = &mut reached {
        sinks.0.push(Box::new(reached));
    }
    let mut coverage = campaign.suite_coverage();
    let mut documents = Vec::new();
    let mut all = Summary::default();
    let mut first = 0;
    for case in cases {
        let numbers = (first, args.repeat);
        first += args.repeat;
        if !campaign.takes_some_of(numbers.0, first) {
            continue;
        }
        // Test cases are finite, so the events of one fit into memory.
        let mut events: Vec<Event> = Vec::new();
        let mut readers = Fanout(vec![Box::new(&mut sinks)]);
        if coverage.is_some() {
            readers.0.push(Box::new(&mut events));
        }
        let mut not_set_up = None;
        let mut summary = match &mut runs {
            Runs::Live => match case.run(campaign, target, &mut readers, numbers) {
                Ok(summary) => summary,
                // Nothing was judged that could be lost, and it is the user's to mend.
                Err(error) if error.kind() == ErrorKind::Input && documents.is_empty() => {
                    return Err(error);
                }
                Err(error) => {
                    not_set_up = Some(error.message().to_owned());
                    campaign.unmade_runs(&error, &mut readers, numbers)
                }
            },
            #[cfg(feature = "fleet")]
            Runs::Recorded(recording) => {
                let mut summary = Summary::default();
                recording.each(numbers.0..first, &mut readers, &mut summary, &mut |_| {})?;
                summary
            }
        };
        drop(readers);
        if let Some(coverage) = &mut coverage {
            for event in &events {
                coverage.read(event);
            }
        }
        let judged_by = case.judged_by();
        // They are reported with their test case.
        let mut reasons = Vec::new();
        summary.notices.retain(|notice| match notice {
            Notice::LeftGoal(reason) => {
                reasons.push(reason.clone());
                false
            }
            _ => true,
        });
        summary.coverage = coverage.as_ref().map(|c| covered(c.transitions()));
        documents.push(CaseDocument {
            case: case.name().to_owned(),
            file: case.place().to_owned(),
            verdict: summary.verdict(),
            verdicts: summary.verdicts.clone(),
            judged_by,
            reasons,
            faults: summary.faults.len(),
            not_set_up,
            coverage: summary.coverage,
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
    #[cfg(feature = "fleet")]
    if let Runs::Recorded(recording) = &runs {
        // The end of the campaign is of no test case.
        recording.end(&mut sinks, &mut all);
    }
    finish(sinks, &mut all);
    write_report(args, workspace, campaign, &mut all);
    let after = Aftermath {
        // Stored test cases are no sample of anything.
        discovery: None,
        reached: campaign::reached(args, reached, &mut all),
    };
    for document in documents.iter().filter(|_| !args.report.json) {
        let verdicts = counts(&document.verdicts);
        let faults = match (document.faults, verdicts.is_empty()) {
            (0, _) => "",
            (_, false) => ", no verdict in some",
            (_, true) => "no verdict",
        };
        let whose = match document.judged_by.as_str() {
            own @ "the test case itself" => format!(", judged by {own}, not by the model"),
            _ => String::new(),
        };
        print(&format!("{}: {verdicts}{faults}{whose}\n", document.case))?;
        if let Some(why) = &document.not_set_up {
            print(&format!("  not set up: {why}\n"))?;
        }
        for reason in &document.reasons {
            print(&format!("  inconc: {reason}\n"))?;
        }
    }
    let said = (Some(&*documents), &after);
    conclude(args, workspace, target, campaign, &all, said)
}
