//! `iolite test --suite`: stored test cases against a real system.

use std::path::PathBuf;

use iolite_derive::{
    ModelRef as CaseModel, StoredTester, TestCase, TestCaseError, Verdict, model_hash,
};
use iolite_exec::{Instance, JobId, Options, Plan, Summary, Uniform, campaign};
use iolite_lang::lower_test_over;
use iolite_lang::syntax::ast::Mark;
use iolite_lts::{Lts, Semantics, StateId};
use serde::Serialize;

use super::goals::Goals;
use super::judge::Judge;
use super::property_source::is_iol;
use super::signature::SeenValues;
use super::source::{self, ModelRef, ReadOptions};
use super::target::Target;
use super::test::{AnyAdapter, AnyStrategy, AnyTester, Args, fault};
use super::test_report::{conclude, exit, sinks};
use super::{Exit, Failure, print, print_json, watched};

/// What the test cases of the language are for, where a derived one names its relation: they are
/// their own judges.
pub(super) const WRITTEN: &str = "test";

/// The test cases of files and folders, in the order of their names, and those that `.iol` files
/// declare, in the order of the file.
pub(super) fn read_suite(
    paths: &[PathBuf],
    model: &ModelRef,
    read: &ReadOptions,
) -> Result<Vec<(PathBuf, TestCase)>, Failure> {
    let mut cases = Vec::new();
    for path in paths {
        let reference = ModelRef::from(path.display().to_string());
        if is_iol(&reference) {
            cases.extend(written(&reference, model, read)?);
        } else if path.is_dir() {
            let entries = std::fs::read_dir(path).map_err(|e| Failure::reading(path, &e))?;
            let mut inside: Vec<PathBuf> = entries
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|p| p.extension().is_some_and(|e| e == "json"))
                .collect();
            inside.sort();
            for path in inside {
                cases.push(stored(path)?);
            }
        } else {
            cases.push(stored(path.clone())?);
        }
    }
    if cases.is_empty() {
        return Err(Failure::input("the suite holds no test case (*.json)"));
    }
    Ok(cases)
}

fn stored(path: PathBuf) -> Result<(PathBuf, TestCase), Failure> {
    let bytes = source::read(&path)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::input(format!("{}: no UTF-8 text", path.display())))?;
    let case = TestCase::from_json(&text)
        .map_err(|e| Failure::input(format!("{}: {e}", path.display())))?;
    Ok((path, case))
}

/// The declarations `test T { … }` that a reference means, over the labels of the model.
fn written(
    reference: &ModelRef,
    model: &ModelRef,
    read: &ReadOptions,
) -> Result<Vec<(PathBuf, TestCase)>, Failure> {
    let bytes = source::read(&reference.path)?;
    let file = source::parse(&reference.path, &bytes)?;
    let names = source::declared(&file, "test");
    let names = match (&reference.name, names.as_slice()) {
        (None, [_, ..]) => names,
        _ => vec![source::pick(reference, "test case", &names)?],
    };
    let system = source::load(model, read)?.system;
    let case = |name: &str| {
        watched::check(&reference.path, &file, name, model)?;
        let (lts, marks) = lower_test_over(&file, name, system.labels())
            .map_err(|d| source::rejected(&reference.path, &bytes, &d))?;
        let verdict = |mark: &Mark| match mark {
            Mark::Pass => Verdict::Pass,
            Mark::Fail => Verdict::Fail,
            _ => Verdict::Inconc,
        };
        let verdicts: Vec<Verdict> = marks.iter().map(verdict).collect();
        let case = TestCase::from_lts(name, WRITTEN, CaseModel::default(), &lts, &verdicts);
        let place = format!("{}#{name}", reference.path.display());
        let case = case.map_err(|e| Failure::input(format!("{place}: {}", named(&e, &lts))))?;
        Ok((PathBuf::from(place), case))
    };
    names.into_iter().map(case).collect()
}

/// The mistake with the state's name, not its number.
fn named(error: &TestCaseError, lts: &Lts) -> String {
    let (TestCaseError::NotComplete { state, label }
    | TestCaseError::Nondeterministic { state, label }) = error
    else {
        return error.to_string();
    };
    // The initial state is the first of the test case.
    let initial = lts.initial().index();
    let index = match *state {
        0 => initial,
        k if k <= initial => k - 1,
        k => k,
    };
    let name = lts.name(StateId::new(index));
    match error {
        TestCaseError::NotComplete { .. } => format!(
            "state `{name}` observes but does not say what {label} means; `*` stands for what the \
             other transitions do not name"
        ),
        _ => format!("state `{name}`: {label} leads to more than one state"),
    }
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
fn warn_of_other_models(
    args: &Args,
    reference: &ModelRef,
    cases: &[(PathBuf, TestCase)],
) -> Result<(), Failure> {
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
    let Some(model) = &args.model else {
        return Err(Failure::input("--suite needs a MODEL"));
    };
    let cases = read_suite(&args.suite, model, &args.read)?;
    warn_of_other_models(args, model, &cases)?;
    let mut sinks = sinks(
        &args.report,
        target,
        judge,
        args.effort.seed,
        "iolite test --suite",
        None,
    )?;
    let mut documents = Vec::new();
    let mut all = Summary::default();
    let mut plan = Plan {
        runs: args.repeat,
        jobs: 1,
        ..args.effort.plan()?
    };
    let foreign = target.extra_labels()?;
    for (path, case) in cases {
        let case = case.knowing(&foreign);
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
