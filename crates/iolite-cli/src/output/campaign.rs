//! What `iolite test` reports about its runs together, in words or JSON.

use std::collections::BTreeMap;
use std::path::Path;

use iolite::{
    Campaign, Certificate, Constants, Error, Judge, ModelCoverage, ModelCoverageReport, Notice,
    Summary, Target, Verdict, WholeCertificate, Workspace, save_query,
};
use iolite_exec::report::Discovery;
use iolite_exec::{ExecError, Fanout, Interruption, SutConfig, chart};
use serde::Serialize;

use super::certificates::{Certificates, Claim, FailureDocument};
use super::report_files::ReportArgs;
use super::values_tried::{self, ValuesDocument};
use super::{Exit, beside_answer, counted, print, print_json, silence, status, write_json};
use crate::commands::test::{Args, report};
use crate::commands::test_suite::CaseDocument;

#[derive(Serialize)]
struct Document<'a> {
    verdict: Option<Verdict>,
    verdicts: &'a BTreeMap<Verdict, u64>,
    runs: u64,
    steps: u64,
    seed: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<iolite_exec::Coverage>,
    failures: Vec<FailureDocument<'a>>,
    /// What the certificates of failures have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<&'a Claim>,
    /// Certificates that could not be made, and why.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    /// What flaky runs showed before they were repeated.
    flaky: Vec<&'a iolite_exec::Certificate>,
    /// Each observer or purpose, judged alone on the same runs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    goals: &'a BTreeMap<String, BTreeMap<Verdict, u64>>,
    /// The properties that the first failing run violates, where properties judge alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violated: Vec<String>,
    faults: Vec<FaultDocument>,
    /// The signal that ended the campaign before its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupted: Option<&'static str>,
    /// What the runs show about constants that were left unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    constants: Option<Constants>,
    /// Inputs that no value was found for somewhere; where one was given in no run, the verdict is
    /// `unknown` at best.
    untried: Vec<String>,
    /// Why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    untried_reasons: BTreeMap<String, &'a str>,
    /// Which values were tried, where the model has data.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<ValuesDocument<'a>>,
    /// Each test case by itself, where a suite was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<&'a [CaseDocument]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<String>,
    /// The whole certificate of the first failing run, for `iolite explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<&'a WholeCertificate>,
    /// The chance that one more run shows something new.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_run: Option<NextRun>,
    /// What of the model was reached, and what was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reached: Option<&'a ModelCoverageReport>,
}

/// What is said of the runs together, beside their verdicts.
#[derive(Default)]
pub(crate) struct Aftermath {
    pub(crate) discovery: Option<Discovery>,
    pub(crate) reached: Option<ModelCoverageReport>,
}

#[derive(Serialize)]
struct NextRun {
    #[serde(flatten)]
    discovery: Discovery,
    assumptions: &'static str,
}

#[derive(Serialize)]
struct FaultDocument {
    run: u64,
    code: String,
    message: String,
}

/// Tells of what the runs found out and no verdict says; a query that was not decided is saved.
pub(crate) fn warn(judge: &Judge, notices: &[Notice], unknown_query: &Path) {
    for notice in notices {
        let Some(mut text) = judge.warning(notice) else {
            continue;
        };
        if let Notice::Undecided(why) = notice {
            text += &save_query(&why.query, unknown_query);
        }
        say!("{text}");
    }
}

/// Writes what is only written whole. The verdict does not depend on it, so a fault is kept for the
/// summary.
pub(crate) fn finish(mut sinks: Fanout<'_>, summary: &mut Summary) {
    use iolite_exec::Sink;
    summary.unwritten.extend(sinks.finish().err());
}

/// Says what is missing of journal and reports, after everything else was said.
pub(crate) fn tell_unwritten(summary: &Summary) {
    for error in &summary.unwritten {
        say!("error: {error}");
    }
}

/// Who judged recorded or finished runs, and what is to be said of them.
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Conclusion<'a> {
    /// Who judged; none where the model is not at hand.
    pub(crate) judge: Option<&'a Judge>,
    /// Model and criterion.
    pub(crate) title: String,
    /// How the system is reached.
    pub(crate) config: Option<&'a SutConfig>,
    pub(crate) seed: u64,
    /// Where the runs are journaled, if they are.
    pub(crate) journal: Option<&'a Path>,
    /// Whether replaying executes what stands only in the journal.
    pub(crate) trust: bool,
    pub(crate) json: bool,
    pub(crate) allow_flaky: bool,
    /// Say too which values were not tried.
    pub(crate) verbose: bool,
    /// The test cases of a suite.
    pub(crate) cases: Option<&'a [CaseDocument]>,
    /// The certificates of the failing runs, in the order of the summary.
    pub(crate) certificates: Certificates,
    /// What is said of the runs together, where they were followed.
    pub(crate) after: Option<&'a Aftermath>,
}

pub(crate) fn conclude(
    args: &Args,
    workspace: &Workspace,
    target: &Target,
    campaign: &Campaign,
    summary: &Summary,
    (cases, after): (Option<&[CaseDocument]>, &Aftermath),
) -> Result<Exit, Error> {
    let (report, judge) = (&args.report, campaign.judge());
    warn(judge, &summary.notices, &args.data.unknown_query);
    let first = summary.failures.values().next().map(|c| judge.blame(c));
    // The document has all of them, a file the first.
    let wanted = match (report.json, &report.certificate) {
        (true, _) => usize::MAX,
        (false, Some(_)) => 1,
        (false, None) => 0,
    };
    let certificates = Certificates::new(summary.failures.values().take(wanted), |judged| {
        args.certify(workspace, &judge.blame(judged).0)
    });
    let certificate = match (&report.certificate, &first, &certificates.first) {
        (Some(path), Some(_), Some(whole)) => write_json(path, whole),
        // Only the claim is known.
        (Some(path), Some((certificate, _)), None) => write_json(path, certificate),
        _ => Ok(()),
    };
    let conclusion = Conclusion {
        judge: Some(judge),
        title: title(judge),
        config: Some(target.config()),
        seed: campaign.campaign_seed(),
        journal: report.journal(),
        trust: args.programs().next().is_some(),
        json: report.json,
        allow_flaky: args.effort.allow_flaky,
        verbose: report.verbose,
        cases,
        certificates,
        after: Some(after),
    };
    let exit = conclusion.print(summary)?;
    let exit = beside_answer(exit, certificate);
    Ok(beside_answer(exit, write_reached(report, after)))
}

/// What people call the runs of a judge.
pub(crate) fn title(judge: &Judge) -> String {
    match judge.properties() {
        Some(properties) => properties.title(),
        None => format!("{} {}", judge.reference(), judge.criterion()),
    }
}

impl Conclusion<'_> {
    fn verdict(&self, summary: &Summary) -> Option<Verdict> {
        match self.judge {
            Some(judge) => judge.overall(summary),
            None => summary.verdict(),
        }
    }

    fn judges_by_properties(&self) -> bool {
        self.judge.is_some_and(|judge| judge.properties().is_some())
    }

    /// The properties that a failing run violates.
    fn violated(&self, certificate: &Certificate) -> Vec<String> {
        let judge = self.judge.map(|judge| judge.blame(certificate).1);
        judge.unwrap_or_default()
    }

    /// Prints what the runs came to, in words or as JSON.
    pub(crate) fn print(&self, summary: &Summary) -> Result<Exit, Error> {
        // Where properties judge alone, each is a goal; only several of them are worth a list.
        let listed = !self.judges_by_properties() && !summary.goals.is_empty();
        let none = BTreeMap::new();
        let goals = if listed { &summary.goals } else { &none };
        if self.json {
            print_json(&self.document(summary, goals))?;
        } else {
            print(&self.tell(summary))?;
            if let Some(after) = self.after {
                print(&self.tell_after(after, summary))?;
            }
            for (name, verdicts) in goals {
                print(&format!("  {name}: {}\n", counts(verdicts)))?;
            }
        }
        tell_unwritten(summary);
        Ok(exit(self.verdict(summary), summary, self.allow_flaky))
    }

    /// What a pass leaves open, in words.
    fn tell_after(&self, after: &Aftermath, summary: &Summary) -> String {
        let mut text = String::new();
        if let (Some(reached), Some(judge)) = (&after.reached, self.judge) {
            text += &reached.tell(&judge.reference().path().display().to_string());
        }
        if let (Some(discovery), Some(Verdict::Pass)) = (after.discovery, self.verdict(summary))
            && !status::is_quiet()
        {
            let (chance, assumptions) = (discovery.tell(), Discovery::ASSUMPTIONS);
            text += &format!("next run: {chance}\n  if {assumptions}\n");
        }
        text
    }

    fn failures<'s>(&'s self, summary: &'s Summary) -> Vec<FailureDocument<'s>> {
        let failures = summary.failures.values().zip(self.certificates.claims());
        let failure = |(judged, certificate)| FailureDocument {
            judged,
            certificate,
        };
        failures.map(failure).collect()
    }

    fn document<'s>(
        &'s self,
        summary: &'s Summary,
        goals: &'s BTreeMap<String, BTreeMap<Verdict, u64>>,
    ) -> Document<'s> {
        let untried = summary.untried.iter();
        let untried_reasons: BTreeMap<String, &str> =
            untried.map(|(i, why)| (format!("?{i}"), &**why)).collect();
        let first = summary.failures.values().next();
        let faults = summary.faults.iter().map(|(&run, e)| FaultDocument {
            run,
            code: e.code().to_owned(),
            message: e.to_string(),
        });
        let constants = self.judge.map(|judge| judge.constants(&summary.notices));
        let journal = self.journal.filter(|path| path.exists());
        Document {
            verdict: self.verdict(summary),
            verdicts: &summary.verdicts,
            runs: summary.runs(),
            steps: summary.steps,
            seed: self.seed,
            seconds: summary.elapsed.as_secs_f64(),
            coverage: summary.coverage,
            failures: self.failures(summary),
            shared: self.certificates.shared(),
            warnings: &self.certificates.warnings,
            flaky: summary.flaky.values().collect(),
            goals,
            violated: first.map(|c| self.violated(c)).unwrap_or_default(),
            faults: faults.collect(),
            interrupted: summary.interrupted.map(Interruption::name),
            constants: constants.flatten(),
            untried: untried_reasons.keys().cloned().collect(),
            untried_reasons,
            values: summary.values.as_ref().map(ValuesDocument::new),
            cases: self.cases,
            journal: journal.map(|path| path.display().to_string()),
            certificate: self.certificates.first.as_ref(),
            reached: self.after.and_then(|after| after.reached.as_ref()),
            next_run: self.after.and_then(|after| {
                Some(NextRun {
                    discovery: after.discovery?,
                    assumptions: Discovery::ASSUMPTIONS,
                })
            }),
        }
    }

    fn tell(&self, summary: &Summary) -> String {
        let mut text = String::new();
        if let Some((run, certificate)) = summary.failures.iter().next() {
            text += &format!(
                "run {run}: {}\n\n{}",
                certificate.verdict,
                chart(certificate)
            );
            let violated = self.violated(certificate);
            if !violated.is_empty() {
                text += &format!("violates: {}\n", violated.join(", "));
            }
            if let Some(config) = self.config {
                text += &silence::hint(certificate, config);
            }
            if let Some(journal) = self.journal {
                let journal = journal.display();
                // What stands only in the journal is not executed without the user's word.
                let trust = if self.trust { " --trust" } else { "" };
                text += &format!("  replay:   iolite replay {journal} --run {run}{trust}\n");
                text += &format!("  shrink:   iolite shrink {journal} --run {run}{trust}\n");
            }
            text.push('\n');
        }
        text += &silence::flaky(summary, self.config, self.journal.is_some());
        for (run, error) in &summary.faults {
            text += &format!("run {run}: no verdict: {error}\n");
        }
        let counts = match counts(&summary.verdicts) {
            counts if counts.is_empty() => "no verdict".to_owned(),
            counts => counts,
        };
        if let Some(by) = summary.interrupted {
            text += &format!("interrupted by {by}: what follows is of the runs until then\n");
        }
        text += &format!(
            "{}: {counts}; {}, {} in {:.1} s",
            self.title,
            counted(summary.runs(), "run"),
            counted(summary.steps, "step"),
            summary.elapsed.as_secs_f64()
        );
        if let Some(coverage) = summary.coverage {
            let what = match self.judge {
                Some(Judge::Symbolic(_)) => "coverage goals of the model",
                _ => "transitions of the suspension automaton",
            };
            text += &format!("; {} of {} {what} seen", coverage.seen, coverage.total);
        }
        text.push('\n');
        for (input, why) in &summary.untried {
            text += &format!("untried: ?{input} somewhere: {why}\n");
        }
        let constants = self.judge.map(|judge| judge.constants(&summary.notices));
        if let Some(constants) = constants.flatten() {
            text += &constants.tell();
        }
        if self.verbose
            && let Some(values) = &summary.values
        {
            text += &values_tried::tell(values);
        }
        if self.judges_by_properties() {
            if self.verdict(summary) == Some(Verdict::Unknown) {
                text += "unknown means: no run settled the property, and nothing wrong was seen\n";
            }
        } else if summary.never_tried().next().is_some() {
            let never: Vec<String> = summary.never_tried().map(|i| format!("?{i}")).collect();
            text += &format!(
                "unknown: {} was given in no run, so these runs say nothing about it\n",
                never.join(", ")
            );
        } else if summary.verdict() == Some(Verdict::Pass)
            && summary.faults.is_empty()
            && !status::is_quiet()
        {
            text += "pass means: nothing wrong was seen in these runs; testing cannot show more\n";
        }
        text
    }
}

/// A failing verdict is proved by its trace, whatever went wrong beside it; without one, a fault
/// outweighs everything. A flaky run fails the command as well, unless that is allowed: then the other
/// runs decide.
pub(crate) fn exit(verdict: Option<Verdict>, summary: &Summary, allow_flaky: bool) -> Exit {
    let flaky = summary.verdicts.contains_key(&Verdict::Flaky);
    match verdict {
        Some(verdict) if verdict.is_failing() => Exit::Fails,
        _ if flaky && !allow_flaky => Exit::Fails,
        _ if !summary.faults.is_empty() || !summary.unwritten.is_empty() => Exit::Fault,
        Some(Verdict::Flaky) => {
            let others = summary.verdicts.keys().filter(|v| **v != Verdict::Flaky);
            Verdict::worst(others.copied()).map_or(Exit::Holds, Into::into)
        }
        Some(verdict) => verdict.into(),
        None => Exit::Inconclusive,
    }
}

/// What was reached, where that was followed. The verdict does not depend on it, so a fault is kept for the
/// summary.
pub(crate) fn reached(
    args: &Args,
    coverage: Option<ModelCoverage>,
    summary: &mut Summary,
) -> Option<ModelCoverageReport> {
    match report(args, &coverage?) {
        Ok(reached) => Some(reached),
        Err(error) => {
            let error = ExecError::Report(error.message().to_owned());
            summary.unwritten.push(error);
            None
        }
    }
}

/// Writes what was reached, where that is asked for.
fn write_reached(report: &ReportArgs, after: &Aftermath) -> Result<(), Error> {
    match (&report.coverage, &after.reached) {
        (Some(path), Some(reached)) => write_json(path, reached),
        _ => Ok(()),
    }
}

/// `3 pass, 1 fail`.
pub(crate) fn counts(verdicts: &BTreeMap<Verdict, u64>) -> String {
    let counts = verdicts.iter().map(|(verdict, n)| format!("{n} {verdict}"));
    counts.collect::<Vec<_>>().join(", ")
}
