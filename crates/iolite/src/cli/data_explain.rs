//! `iolite explain` for runs of models with data: one formula for each way through the locations,
//! instead of sets of symbolic states.

use std::time::Instant;

use iolite_exec::Certificate;
use iolite_lts::QuiescencePolicy;
use iolite_sts::{HasTrace, TraceStep};

use super::Failure;
use super::data_options::solver;
use super::explain::Checked;
use super::source::{Opened, rejected};

/// Points of runs that are looked at for one trace.
const BUDGET: usize = 20_000;

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
    let step = |text: &str| match text {
        "delta" | "deadlock" => Some(TraceStep::Delta),
        _ => iolite_lang::parse_action(&opened.file, &model, text).map(TraceStep::Action),
    };
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
        // An output that the specification does not even have, it does not give.
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
