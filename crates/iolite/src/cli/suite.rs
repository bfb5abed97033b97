//! `iolite test --suite`: stored test cases against a real system.

use std::path::PathBuf;

use iolite_derive::{StoredTester, TestCase, Verdict, model_hash};
use iolite_exec::{Instance, JobId, Options, Plan, Summary, Uniform, campaign};
use serde::Serialize;

use super::goals::Goals;
use super::judge::Judge;
use super::signature::SeenValues;
use super::source;
use super::target::Target;
use super::test::{AnyAdapter, AnyStrategy, AnyTester, Args, fault};
use super::test_report::{conclude, exit, sinks};
use super::{Exit, Failure, print, print_json};

/// The test cases of files and folders, in the order of their names.
fn read_suite(paths: &[PathBuf]) -> Result<Vec<(PathBuf, TestCase)>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = std::fs::read_dir(path).map_err(|e| Failure::reading(path, &e))?;
            let mut inside: Vec<PathBuf> = entries
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|p| p.extension().is_some_and(|e| e == "json"))
                .collect();
            inside.sort();
            files.extend(inside);
        } else {
            files.push(path.clone());
        }
    }
    let read = |path: PathBuf| {
        let bytes = source::read(&path)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Failure::input(format!("{}: no UTF-8 text", path.display())))?;
        let case = TestCase::from_json(&text)
            .map_err(|e| Failure::input(format!("{}: {e}", path.display())))?;
        Ok((path, case))
    };
    let cases = files
        .into_iter()
        .map(read)
        .collect::<Result<Vec<_>, Failure>>()?;
    if cases.is_empty() {
        return Err(Failure::input("the suite holds no test case (*.json)"));
    }
    Ok(cases)
}

#[derive(Serialize)]
struct CaseDocument {
    case: String,
    file: String,
    verdict: Option<Verdict>,
    verdicts: std::collections::BTreeMap<Verdict, u64>,
    faults: usize,
}

/// Test cases of another model, or of an older text of this one, prove nothing about this one.
fn warn_of_other_models(args: &Args, cases: &[(PathBuf, TestCase)]) -> Result<(), Failure> {
    let Some(reference) = &args.model else {
        return Ok(());
    };
    let model = source::load(reference, &args.read)?;
    let hash = model_hash(&model.system.explicit(args.read.budget())?);
    let other: Vec<&PathBuf> = cases
        .iter()
        .filter(|(_, case)| !case.model().hash.is_empty() && case.model().hash != hash)
        .map(|(path, _)| path)
        .collect();
    if let Some(first) = other.first() {
        eprintln!(
            "warning: {} of {} test cases were derived from another model than {reference} as it is \
             now, such as {}; their verdicts are about that one",
            other.len(),
            cases.len(),
            first.display()
        );
    }
    Ok(())
}

pub(super) fn run(
    args: &Args,
    target: &Target,
    judge: &Judge,
    options: &Options,
) -> Result<Exit, Failure> {
    if !args.effort.weight.is_empty() {
        return Err(Failure::input(
            "--weight is for testing on the fly; the test cases of a suite fix their inputs",
        ));
    }
    let cases = read_suite(&args.suite)?;
    warn_of_other_models(args, &cases)?;
    let mut sinks = sinks(
        &args.report,
        target,
        judge,
        args.effort.seed,
        "iolite test --suite",
    )?;
    let mut documents = Vec::new();
    let mut all = Summary::default();
    let mut plan = Plan {
        runs: args.repeat,
        jobs: 1,
        ..args.effort.plan()?
    };
    for (path, case) in cases {
        let labels = case.labels().clone();
        let mut options = options.clone();
        options.limits.steps = None;
        case.relation().clone_into(&mut options.kind);
        let summary = campaign(&plan, &options, &mut sinks, |job: JobId| {
            let seen = SeenValues::default();
            Ok(Instance::<AnyTester, AnyAdapter, AnyStrategy> {
                tester: judge.shown(&seen, Box::new(StoredTester::new(case.clone()))),
                adapter: target.adapter(job, &labels, judge.signature(&seen))?,
                strategy: Box::new(Uniform),
            })
        });
        let summary = summary.map_err(|e| fault(&e))?;
        plan.first += args.repeat;
        documents.push(CaseDocument {
            case: case.name().to_owned(),
            file: path.display().to_string(),
            verdict: summary.verdict(),
            verdicts: summary.verdicts.clone(),
            faults: summary.faults.len(),
        });
        let stop = args.effort.stop_on_fail && summary.verdict().is_some_and(Verdict::is_failing)
            || !summary.faults.is_empty() && !args.effort.keep_going;
        merge(&mut all, summary);
        if stop {
            break;
        }
    }
    drop(sinks);
    if args.report.json {
        print_json(&documents)?;
        return Ok(exit(all.verdict(), &all));
    }
    for CaseDocument {
        case,
        verdicts,
        faults,
        ..
    } in &documents
    {
        let counts: Vec<String> = verdicts.iter().map(|(v, n)| format!("{n} {v}")).collect();
        let faults = if *faults > 0 {
            ", no verdict in some"
        } else {
            ""
        };
        print(&format!("{case}: {}{faults}\n", counts.join(", ")))?;
    }
    conclude(
        &args.report,
        target,
        judge,
        args.effort.seed,
        &all,
        &Goals::new(),
    )
}

fn merge(all: &mut Summary, more: Summary) {
    for (verdict, n) in more.verdicts {
        *all.verdicts.entry(verdict).or_default() += n;
    }
    all.faults.extend(more.faults);
    all.failures.extend(more.failures);
    all.steps += more.steps;
    all.elapsed += more.elapsed;
}
