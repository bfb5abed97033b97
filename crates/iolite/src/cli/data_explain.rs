//! `iolite explain` for runs of models with data: one formula for each way through the locations,
//! instead of sets of symbolic states.

use std::sync::Arc;
use std::time::Instant;

use iolite_derive::{Observation, Progress, SymbolicTester, Tester};
use iolite_exec::Certificate;
use iolite_expr::Strategy;
use iolite_lts::QuiescencePolicy;
use iolite_sts::{HasTrace, Iosts, Symbolic, TraceStep};

use super::Failure;
use super::data_options::solver;
use super::explain::{Checked, Found};
use super::source::{Opened, rejected};

/// Points of runs that are looked at for one trace.
const BUDGET: usize = 20_000;

fn step(opened: &Opened, model: &Iosts, text: &str) -> Option<TraceStep> {
    match text {
        "delta" | "deadlock" => Some(TraceStep::Delta),
        _ => iolite_lang::parse_action(&opened.file, model, text).map(TraceStep::Action),
    }
}

/// What the model allows after the trace, and where it is then; `None` where that cannot be told.
pub(super) fn found(
    opened: &Opened,
    policy: QuiescencePolicy,
    solver_name: Option<&str>,
    trace: &[String],
) -> Result<Option<Found>, Failure> {
    let model = iolite_lang::lower_data(&opened.file, &opened.name)
        .map_err(|d| rejected(&opened.reference.path, &opened.bytes, &d))?;
    let model = Arc::new(model);
    let semantics = Symbolic::new(model.clone(), &[], policy, solver(solver_name)?);
    let tester = semantics
        .ok()
        .map(|s| SymbolicTester::new(s, 0, Strategy::Small));
    let Some(Ok(mut tester)) = tester else {
        return Ok(None);
    };
    for text in trace {
        let progress = match step(opened, &model, text) {
            Some(TraceStep::Delta) => tester.observe(&Observation::Quiescence),
            Some(TraceStep::Action(action)) if text.starts_with('?') => tester.stimulate(&action),
            Some(TraceStep::Action(action)) => tester.observe(&Observation::Output(action)),
            None => return Ok(None),
        };
        if progress != Progress::Continue {
            return Ok(None);
        }
    }
    Ok(Some(Found {
        allowed: tester.allowed(),
        locations: tester.locations(),
    }))
}

/// Looks again at a run's certificate; the model is taken with the constants of its reference.
pub(super) fn recheck(
    opened: &Opened,
    policy: QuiescencePolicy,
    solver_name: Option<&str>,
    until: Option<Instant>,
    certificate: &Certificate,
) -> Result<Checked, Failure> {
    let model = iolite_lang::lower_data(&opened.file, &opened.name)
        .map_err(|d| rejected(&opened.reference.path, &opened.bytes, &d))?;
    let step = |text: &str| step(opened, &model, text);
    let Some(observed) = &certificate.observed else {
        return Ok(Checked::Refuted(
            "no observation decided the verdict".to_owned(),
        ));
    };
    if !observed.starts_with('!') && !matches!(observed.as_str(), "delta" | "deadlock") {
        return Ok(Checked::Refuted(format!(
            "{observed} is neither an output nor delta, and nothing else can be wrong"
        )));
    }
    let mut trace = Vec::new();
    for text in &certificate.trace {
        match step(text) {
            Some(step) => trace.push(step),
            None => {
                return Ok(Checked::Refuted(format!(
                    "the specification has no action {text}"
                )));
            }
        }
    }
    let mut solver = solver(solver_name)?;
    solver.set_deadline(until);
    let mut has = |trace: &[TraceStep]| model.has_trace(trace, policy, &mut solver, BUDGET);
    let before = has(&trace);
    let after = match step(observed) {
        Some(step) => {
            trace.push(step);
            has(&trace)
        }
        // An output that the specification does not even have, or with values that it has none of,
        // it does not give.
        None => HasTrace::No,
    };
    Ok(match (before, after) {
        (HasTrace::Yes, HasTrace::No) => Checked::Confirmed,
        (HasTrace::No, _) => {
            Checked::Refuted("the specification does not have the trace before it".to_owned())
        }
        (_, HasTrace::Yes) => Checked::Refuted(format!("the specification allows {observed}")),
        (HasTrace::Unknown(why), _) | (_, HasTrace::Unknown(why)) => {
            Checked::Undecided(why.to_string())
        }
    })
}
