//! `iolite explain` for runs of models with data: one formula for each way through the locations,
//! instead of sets of symbolic states.

use std::sync::Arc;
use std::time::Instant;

use iolite_derive::{
    Alphabet, ConformanceTester, Context, Progress, Step, SymbolicOracle, Tester, action_of,
};
use iolite_exec::Certificate;
use iolite_expr::{Solver, Strategy};
use iolite_lts::{LabelKind, Labels, QuiescencePolicy};
use iolite_sts::{HasTrace, Iosts, Symbolic, TraceStep};

use super::{Checked, Found};
use crate::{Error, SymbolicSpec, solver};

/// Points of runs that are looked at for one trace.
const BUDGET: usize = 20_000;

fn step(spec: &SymbolicSpec, text: &str) -> Option<TraceStep> {
    match text {
        "delta" | "deadlock" => Some(TraceStep::Delta),
        _ => iolite_lang::parse_action(spec.file(), spec.model(), text).map(TraceStep::Action),
    }
}

/// Whether a label stands for the values of an output that the unfolded model never gives.
fn is_other_values(model: &Iosts, label: &str) -> bool {
    let mut outputs = model.gates().map(|(_, a)| a);
    outputs.any(|a| {
        let other = || format!("!{}", Labels::with_other_values(&a.name));
        a.kind == LabelKind::Output && !a.params.is_empty() && label == other()
    })
}

/// What the model allows after the trace, and where it is then; `None` where that cannot be told.
pub(super) fn found(
    spec: &SymbolicSpec,
    policy: QuiescencePolicy,
    solver_name: Option<&str>,
    trace: &[String],
) -> Result<Option<Found>, Error> {
    let Some(mut tester) = tester(spec.model(), policy, solver(solver_name)?) else {
        return Ok(None);
    };
    for text in trace {
        match step(spec, text).map(|step| take(&mut tester, &step)) {
            Some(Progress::Continue) => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(Found {
        allowed: tester.allowed(),
        locations: tester.locations(),
    }))
}

type DataTester = ConformanceTester<SymbolicOracle>;

fn tester(model: &Arc<Iosts>, policy: QuiescencePolicy, solver: Solver) -> Option<DataTester> {
    let semantics = Symbolic::new(model.clone(), &[], policy, solver).ok()?;
    let alphabet = Alphabet::default();
    let oracle = SymbolicOracle::new(semantics, &alphabet, 0, Strategy::Small).ok()?;
    Some(ConformanceTester::new(oracle))
}

fn take(tester: &mut DataTester, step: &TraceStep) -> Progress {
    let TraceStep::Action(valued) = step else {
        return tester.step(Step::Quiescence);
    };
    let model = tester.oracle().model();
    let input = model.gate(valued.action).kind == LabelKind::Input;
    let action = action_of(model, tester.alphabet(), valued);
    tester.step(if input {
        Step::Stimulus(action)
    } else {
        Step::Output(action)
    })
}

/// Why a trace proves nothing, where an input of it is not specified by all values of the constants
/// as far as that is known: the others explain what follows.
fn guessed(tester: &mut DataTester, trace: &[TraceStep]) -> Option<String> {
    for step in trace {
        take(tester, step);
    }
    let place = tester.state()?;
    match (place.guessed(), place.unsure()) {
        (Some(input), _) => Some(format!(
            "only some values of the constants specify {}, and the others explain whatever follows",
            tester.alphabet().text(input)
        )),
        (None, Some(input)) => Some(format!(
            "whether all values of the constants specify {} was not found out",
            tester.alphabet().text(input)
        )),
        (None, None) => None,
    }
}

/// Looks again at a run's certificate; the model is taken with the constants of its reference.
pub(super) fn recheck(
    spec: &SymbolicSpec,
    policy: QuiescencePolicy,
    solver_name: Option<&str>,
    until: Option<Instant>,
    certificate: &Certificate,
) -> Result<Checked, Error> {
    let model = spec.model();
    let step = |text: &str| step(spec, text);
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
    if observed.ends_with("(…)") && !is_other_values(model, observed) {
        return Ok(Checked::Refuted(format!(
            "the specification has no output {observed}"
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
    if certificate.context == Context::Queues {
        let mut has = Explanations {
            spec,
            policy,
            solver: solver(solver_name)?,
            second: solver_name,
            until,
        };
        has.solver.set_deadline(until);
        return has.recheck(&trace, step(observed), observed);
    }
    if let Some(mut tester) = tester(model, policy, solver(solver_name)?) {
        tester.oracle_mut().semantics().solver().set_deadline(until);
        if let Some(reason) = guessed(&mut tester, &trace) {
            return Ok(Checked::Undecided(reason));
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

/// Local explanations of one observed trace that are looked at.
const MOST_LOCAL: usize = 256;

/// A run through queues: every order in which inputs may have been taken, each as traces of its own.
struct Explanations<'a> {
    spec: &'a SymbolicSpec,
    policy: QuiescencePolicy,
    solver: Solver,
    second: Option<&'a str>,
    until: Option<Instant>,
}

/// A local trace, and how many inputs it has taken.
type Local = (Vec<TraceStep>, usize);

impl Explanations<'_> {
    fn has(&mut self, trace: &[TraceStep]) -> HasTrace {
        let Self { policy, solver, .. } = self;
        self.spec.model().has_trace(trace, *policy, solver, BUDGET)
    }

    fn is_input(&self, step: &TraceStep) -> bool {
        let TraceStep::Action(valued) = step else {
            return false;
        };
        self.spec.model().gate(valued.action).kind == LabelKind::Input
    }

    /// Why the inputs of a local trace prove nothing, where they do not.
    fn doubt(&self, local: &[TraceStep]) -> Result<Option<String>, Error> {
        let model = self.spec.model();
        let Some(mut tester) = tester(model, self.policy, solver(self.second)?) else {
            return Ok(None);
        };
        let deadline = self.until;
        tester
            .oracle_mut()
            .semantics()
            .solver()
            .set_deadline(deadline);
        Ok(guessed(&mut tester, local))
    }

    /// The local traces that explain one more observation; a verdict where there can be none.
    fn observe(
        &mut self,
        locals: Vec<Local>,
        sent: &[TraceStep],
        observed: Option<&TraceStep>,
    ) -> Result<Result<Vec<Local>, Checked>, Error> {
        let mut next = Vec::new();
        for (mut local, mut taken) in locals {
            loop {
                let silent = matches!(observed, Some(TraceStep::Delta));
                if let Some(observed) = observed.filter(|_| !silent || taken == sent.len()) {
                    local.push(observed.clone());
                    match self.has(&local) {
                        HasTrace::Yes => next.push((local.clone(), taken)),
                        HasTrace::No => {}
                        HasTrace::Unknown(why) => {
                            return Ok(Err(Checked::Undecided(why.to_string())));
                        }
                    }
                    local.pop();
                }
                if next.len() > MOST_LOCAL {
                    let reason = format!("more than {MOST_LOCAL} orders explain the trace");
                    return Ok(Err(Checked::Undecided(reason)));
                }
                let Some(input) = sent.get(taken) else { break };
                local.push(input.clone());
                taken += 1;
                match self.has(&local) {
                    HasTrace::Yes => {}
                    HasTrace::No => {
                        return Ok(Err(Checked::Refuted(
                            "an input may have been taken where the specification leaves it open, \
                             and anything may follow"
                                .to_owned(),
                        )));
                    }
                    HasTrace::Unknown(why) => return Ok(Err(Checked::Undecided(why.to_string()))),
                }
                if let Some(reason) = self.doubt(&local)? {
                    return Ok(Err(Checked::Undecided(reason)));
                }
            }
        }
        Ok(Ok(next))
    }

    fn recheck(
        &mut self,
        trace: &[TraceStep],
        last: Option<TraceStep>,
        observed: &str,
    ) -> Result<Checked, Error> {
        let mut locals: Vec<Local> = vec![(Vec::new(), 0)];
        let mut sent = Vec::new();
        for step in trace {
            if self.is_input(step) {
                sent.push(step.clone());
                continue;
            }
            match self.observe(locals, &sent, Some(step))? {
                Ok(next) if next.is_empty() => {
                    return Ok(Checked::Refuted(
                        "no order of the messages explains the trace before it".to_owned(),
                    ));
                }
                Ok(next) => locals = next,
                Err(checked) => return Ok(checked),
            }
        }
        Ok(match self.observe(locals, &sent, last.as_ref())? {
            Ok(next) if next.is_empty() => Checked::Confirmed,
            Ok(_) => Checked::Refuted(format!("an order of the messages explains {observed}")),
            Err(checked) => checked,
        })
    }
}
