//! `iolite explain` for runs of models with data: one formula for each way through the locations,
//! instead of sets of symbolic states. The tester is asked only after the formulas have spoken: how it would have
//! written what was allowed, and where.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use iolite_derive::{
    Alphabet, ChannelOracle, ConformanceTester, Progress, QueueOptions, QueueOracle, Step,
    SymbolicOracle, Tester, action_of,
};
use iolite_expr::{Solver, Strategy, Term};
use iolite_lts::{LabelKind, Labels, QuiescencePolicy};
use iolite_recheck::{Certificate, Channel};
use iolite_sts::{Beside, Fronts, HasTrace, Iosts, Stop, Symbolic, TraceStep, ValuedAction};

use super::CheckOutcome;
use super::data_channels::Channels;
use super::recheck_data::AllowedThere;
use crate::{Error, Spec, answers_count, solver};

/// Points of runs that are looked at for one step of a trace.
pub(super) const BUDGET: usize = 20_000;

/// Points of runs that are looked at for all traces of one certificate; the work of the solver is counted in.
pub(super) const WHOLE_BUDGET: u64 = 200_000;

/// The same while a certificate is made. Less than what it is looked at with, so that what is written into it can be
/// found out again.
const MAKING_BUDGET: u64 = WHOLE_BUDGET / 4;

/// Where ways are after the traces of one certificate.
pub(super) fn fronts(model: &Iosts, policy: QuiescencePolicy) -> RefCell<Fronts<'_>> {
    RefCell::new(Fronts::new(model, policy, BUDGET, WHOLE_BUDGET))
}

/// The same while it is made, which somebody may end.
pub(super) fn fronts_for_making(
    model: &Iosts,
    policy: QuiescencePolicy,
    stop: impl Fn() -> bool + 'static,
) -> RefCell<Fronts<'_>> {
    let fronts = Fronts::new(model, policy, BUDGET, MAKING_BUDGET);
    RefCell::new(fronts.until(Stop::new(stop)))
}

/// A step of a trace as a model has it, which was made of `spec`.
pub(super) fn step(spec: &Spec, model: &Iosts, text: &str) -> Option<TraceStep> {
    match (text, spec) {
        ("delta" | "deadlock", _) => Some(TraceStep::Delta),
        (_, Spec::Symbolic(spec)) => {
            iolite_lang::parse_action(spec.file(), model, text).map(TraceStep::Action)
        }
        _ => {
            let kind = match text.as_bytes().first()? {
                b'?' => LabelKind::Input,
                b'!' => LabelKind::Output,
                _ => return None,
            };
            let action = model.find_gate(kind, &text[1..])?;
            let values = Vec::new();
            Some(TraceStep::Action(ValuedAction { action, values }))
        }
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

/// What lies between tester and system.
#[derive(Clone, Copy)]
pub(super) enum Between<'a> {
    /// Nothing.
    Nothing,
    /// A FIFO each way.
    Queues,
    /// Several channels, or one that loses or reorders messages.
    Channels(&'a [Channel]),
}

impl<'a> Between<'a> {
    /// As a certificate says.
    pub(super) fn of(claim: &'a Certificate) -> Self {
        match (claim.context.as_str(), claim.channels.as_slice()) {
            ("queues", []) => Self::Queues,
            ("queues", channels) => Self::Channels(channels),
            _ => Self::Nothing,
        }
    }
}

/// A run beside a model with data; the model is taken with the constants of its reference.
pub(super) struct DataRun<'a> {
    pub(super) spec: &'a Spec,
    /// The model that it means.
    pub(super) model: &'a Arc<Iosts>,
    pub(super) policy: QuiescencePolicy,
    pub(super) solver: Option<&'a str>,
    pub(super) until: Option<Instant>,
    /// An input counts only where every state takes it (uioco).
    pub(super) every_state: bool,
    /// The claim is about the union of the instances, as relations between models are: an input that only some values
    /// of unknown constants specify leaves those. A tester cannot tell which value a system has, so for a run the
    /// others explain what follows.
    pub(super) of_the_union: bool,
    /// Where ways are after traces, for all that is asked of this run.
    pub(super) fronts: RefCell<Fronts<'a>>,
}

impl DataRun<'_> {
    /// What the model allows after the trace, and where it is then, by the tester; `None` where that
    /// cannot be told.
    pub(super) fn found(
        &self,
        trace: &[String],
        between: Between<'_>,
    ) -> Result<Option<AllowedThere>, Error> {
        let mut own = solver(self.solver)?;
        own.set_deadline(self.until);
        let Some(oracle) = oracle(self.model, self.policy, own) else {
            return Ok(None);
        };
        let oracle = if self.of_the_union {
            oracle.of_the_union()
        } else {
            oracle
        };
        match between {
            Between::Nothing => {}
            Between::Queues => {
                let queues = QueueOracle::new(oracle, QueueOptions::default());
                return Ok(self.found_by(&mut ConformanceTester::new(queues), trace));
            }
            Between::Channels(channels) => {
                let channels = channels.iter().cloned().map(channel).collect();
                let options = QueueOptions {
                    channels,
                    ..QueueOptions::default()
                };
                let channels = ChannelOracle::new(oracle, options);
                return Ok(self.found_by(&mut ConformanceTester::new(channels), trace));
            }
        }
        let mut tester = ConformanceTester::new(oracle);
        let found = self.found_by(&mut tester, trace);
        answers_count(tester.oracle_mut().semantics().solver())?;
        Ok(found)
    }

    fn found_by(&self, tester: &mut impl Tester, trace: &[String]) -> Option<AllowedThere> {
        for text in trace {
            let step = step(self.spec, self.model, text)?;
            if take(tester, self.model, &step) != Progress::Continue {
                return None;
            }
        }
        Some(AllowedThere {
            allowed: tester.allowed(),
            locations: tester.locations(),
        })
    }
}

fn channel(told: Channel) -> iolite_derive::Channel {
    let Channel {
        name,
        inputs,
        outputs,
        loss,
        reorder,
    } = told;
    iolite_derive::Channel {
        name,
        inputs,
        outputs,
        loss,
        reorder,
    }
}

fn oracle(model: &Arc<Iosts>, policy: QuiescencePolicy, solver: Solver) -> Option<SymbolicOracle> {
    let semantics = Symbolic::new(model.clone(), &[], policy, solver).ok()?;
    let alphabet = Alphabet::default();
    SymbolicOracle::new(semantics, &alphabet, 0, Strategy::Small).ok()
}

fn take(tester: &mut impl Tester, model: &Iosts, step: &TraceStep) -> Progress {
    let TraceStep::Action(valued) = step else {
        return tester.step(Step::Quiescence);
    };
    let input = model.gate(valued.action).kind == LabelKind::Input;
    let action = action_of(model, tester.alphabet(), valued);
    tester.step(if input {
        Step::Stimulus(action)
    } else {
        Step::Output(action)
    })
}

impl DataRun<'_> {
    /// Whether the specification allows what was observed after a trace that it has. Through queues, in
    /// whatever order inputs were taken.
    pub(super) fn is_allowed(
        &self,
        texts: &[String],
        observed: Option<&str>,
        between: Between<'_>,
    ) -> Result<Result<bool, CheckOutcome>, Error> {
        let Some(observed) = observed else {
            return refuted("no observation decided the verdict".to_owned());
        };
        let model = self.model;
        if !observed.starts_with('!') && !matches!(observed, "delta" | "deadlock") {
            return refuted(format!(
                "{observed} is neither an output nor delta, and nothing else can be wrong"
            ));
        }
        if observed.ends_with("(…)") && !is_other_values(model, observed) {
            return refuted(format!("the specification has no output {observed}"));
        }
        let mut trace = Vec::new();
        for text in texts {
            if text == "deadlock" {
                return refuted("nothing follows a deadlock".to_owned());
            }
            match step(self.spec, self.model, text) {
                Some(step) => trace.push(step),
                None => return refuted(format!("the specification has no action {text}")),
            }
        }
        let mut own = solver(self.solver)?;
        own.set_deadline(self.until);
        if let Between::Channels(channels) = between {
            return Channels::new(self, channels)?.is_allowed(texts, observed);
        }
        if let Between::Queues = between {
            let mut every = Explanations {
                run: self,
                solver: own,
            };
            let allowed =
                every.is_allowed(&trace, step(self.spec, self.model, observed).as_ref())?;
            answers_count(&every.solver)?;
            return Ok(allowed);
        }
        for (k, step) in trace.iter().enumerate() {
            if self.every_state && is_input(model, step) {
                let before = (&trace[..k], Beside::default());
                match self.fronts.borrow_mut().takes(before, step, &mut own) {
                    Ok(true) => {}
                    Ok(false) => {
                        let (step, input) = (k + 1, &texts[k]);
                        return refuted(format!("step {step}: a state refuses {input}"));
                    }
                    Err(why) => return Ok(Err(CheckOutcome::Undecided(why.to_string()))),
                }
            }
        }
        let mut has = |trace: &[TraceStep]| {
            let mut fronts = self.fronts.borrow_mut();
            fronts.has(trace, Beside::default(), &mut own)
        };
        let before = has(&trace);
        let after = match step(self.spec, self.model, observed) {
            Some(step) => {
                trace.push(step);
                let after = has(&trace);
                trace.pop();
                after
            }
            // An output that the specification does not even have, or with values that it has none
            // of, it does not give.
            None => HasTrace::No,
        };
        answers_count(&own)?;
        let allowed = match (before, after) {
            (HasTrace::Yes, HasTrace::No) => false,
            (HasTrace::No, _) => {
                return refuted("the specification does not have the trace before it".to_owned());
            }
            (_, HasTrace::Yes) => true,
            (HasTrace::Unknown(why), _) | (_, HasTrace::Unknown(why)) => {
                return Ok(Err(CheckOutcome::Undecided(why.to_string())));
            }
        };
        Ok(match self.recheck_constants(texts)? {
            CheckOutcome::Confirmed => Ok(allowed),
            other => Err(other),
        })
    }

    /// The conditions over constants under which the specification has a trace.
    pub(super) fn conditions(
        &self,
        texts: &[String],
        solver: &mut Solver,
    ) -> Result<Vec<Term>, Arc<str>> {
        let Some(trace) = self.steps(texts) else {
            // What it does not have, no value of its constants explains; the trace before it, some do.
            let before = texts.split_last().map_or(texts, |(_, before)| before);
            return self.conditions(before, solver);
        };
        let mut fronts = self.fronts.borrow_mut();
        let conditions = fronts.conditions(&trace, Beside::default(), solver)?;
        match (conditions.is_empty(), trace.split_last()) {
            // An output that is not allowed leaves the constants as they were.
            (true, Some((_, before))) => fronts.conditions(before, Beside::default(), solver),
            _ => Ok(conditions),
        }
    }

    /// The steps of a trace; `None` where the specification does not have all of them.
    pub(super) fn steps(&self, texts: &[String]) -> Option<Vec<TraceStep>> {
        let texts = texts.iter();
        texts.map(|t| step(self.spec, self.model, t)).collect()
    }

    /// All orders that explain a trace that was seen through queues, with the inputs under way taken one by one, and
    /// whether all are.
    pub(super) fn explained(
        &self,
        trace: &[TraceStep],
    ) -> Result<Result<Vec<Settled>, CheckOutcome>, Error> {
        let mut solver = solver(self.solver)?;
        solver.set_deadline(self.until);
        let mut every = Explanations { run: self, solver };
        let (locals, sent) = match every.after(trace)? {
            Ok(after) => after,
            Err(checked) => return Ok(Err(checked)),
        };
        answers_count(&every.solver)?;
        let mut all = Vec::new();
        for (mut local, taken) in locals {
            all.push((local.clone(), taken == sent.len()));
            for (k, input) in sent.iter().enumerate().skip(taken) {
                local.push(input.clone());
                all.push((local.clone(), k + 1 == sent.len()));
            }
        }
        Ok(Ok(all))
    }

    /// A run is wrong if it is wrong for all values of the constants. Those that leave an input of it open explain
    /// whatever follows, so all that explain the trace must specify its inputs.
    pub(super) fn recheck_constants(&self, texts: &[String]) -> Result<CheckOutcome, Error> {
        if self.model.constants().is_empty() || self.of_the_union {
            return Ok(CheckOutcome::Confirmed);
        }
        let Some(trace) = self.steps(texts) else {
            return Ok(CheckOutcome::Refuted(
                "the specification does not have the trace before it".to_owned(),
            ));
        };
        let mut solver = solver(self.solver)?;
        solver.set_deadline(self.until);
        let mut checked = CheckOutcome::Confirmed;
        for k in 0..trace.len() {
            if checked == CheckOutcome::Confirmed {
                checked = self.recheck_constants_of(&trace[..=k], &mut solver);
            }
        }
        answers_count(&solver)?;
        Ok(checked)
    }

    /// The same for the last step of a trace.
    pub(super) fn recheck_constants_of(
        &self,
        trace: &[TraceStep],
        solver: &mut Solver,
    ) -> CheckOutcome {
        let model = self.model;
        let Some((last, before)) = trace.split_last().filter(|(s, _)| is_input(model, s)) else {
            return CheckOutcome::Confirmed;
        };
        let input = match last {
            TraceStep::Action(valued) => model.label(valued),
            TraceStep::Delta => String::new(),
        };
        let mut fronts = self.fronts.borrow_mut();
        match fronts.every_instance_takes(before, last, solver) {
            Ok(true) => CheckOutcome::Confirmed,
            Ok(false) => CheckOutcome::Undecided(format!(
                "only some values of the constants specify ?{input}, and the others explain whatever \
                 follows"
            )),
            Err(why) => CheckOutcome::Undecided(format!(
                "whether all values of the constants specify ?{input} was not found out: {why}"
            )),
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it ends a function that may fail")]
fn refuted<T>(reason: String) -> Result<Result<T, CheckOutcome>, Error> {
    Ok(Err(CheckOutcome::Refuted(reason)))
}

pub(super) const LEFT_OPEN: &str = "an input may have been taken where the specification leaves it open, and \
                         anything may follow";

fn is_input(model: &Iosts, step: &TraceStep) -> bool {
    let TraceStep::Action(valued) = step else {
        return false;
    };
    model.gate(valued.action).kind == LabelKind::Input
}

/// Local explanations of one observed trace that are looked at.
const MOST_LOCAL: usize = 256;

/// A run through queues: every order in which inputs may have been taken, each as traces of its own.
struct Explanations<'a, 'r> {
    run: &'a DataRun<'r>,
    solver: Solver,
}

/// A local trace, and whether it has taken all inputs.
pub(super) type Settled = (Vec<TraceStep>, bool);

/// A local trace, and how many inputs it has taken.
type Local = (Vec<TraceStep>, usize);

/// Local traces that explain a trace, and its inputs.
type Explained = (Vec<Local>, Vec<TraceStep>);

impl Explanations<'_, '_> {
    fn has(&mut self, trace: &[TraceStep]) -> HasTrace {
        let mut fronts = self.run.fronts.borrow_mut();
        fronts.has(trace, Beside::default(), &mut self.solver)
    }

    fn class(&mut self, trace: &[TraceStep]) -> Option<usize> {
        let mut fronts = self.run.fronts.borrow_mut();
        fronts.class(trace, Beside::default(), &mut self.solver)
    }

    /// Whether every state after a local trace takes an input, where that is asked.
    fn takes(&mut self, local: &[TraceStep], input: &TraceStep) -> Result<bool, Arc<str>> {
        if !self.run.every_state {
            return Ok(true);
        }
        let mut fronts = self.run.fronts.borrow_mut();
        fronts.takes((local, Beside::default()), input, &mut self.solver)
    }

    /// The local traces that explain one more observation; a verdict where there can be none.
    fn observe(
        &mut self,
        locals: Vec<Local>,
        sent: &[TraceStep],
        observed: Option<&TraceStep>,
    ) -> Result<Result<Vec<Local>, CheckOutcome>, Error> {
        let mut next = Vec::new();
        // Orders that lead to the same points have the same future.
        let mut classes = BTreeSet::new();
        for (mut local, mut taken) in locals {
            loop {
                let silent = matches!(observed, Some(TraceStep::Delta));
                if let Some(observed) = observed.filter(|_| !silent || taken == sent.len()) {
                    local.push(observed.clone());
                    match self.has(&local) {
                        HasTrace::Yes => {
                            let class = self.class(&local);
                            if class.is_none_or(|class| classes.insert((class, taken))) {
                                next.push((local.clone(), taken));
                            }
                        }
                        HasTrace::No => {}
                        HasTrace::Unknown(why) => {
                            return Ok(Err(CheckOutcome::Undecided(why.to_string())));
                        }
                    }
                    local.pop();
                }
                if next.len() > MOST_LOCAL {
                    let reason = format!("more than {MOST_LOCAL} orders explain the trace");
                    return Ok(Err(CheckOutcome::Undecided(reason)));
                }
                let Some(input) = sent.get(taken) else { break };
                match self.takes(&local, input) {
                    Ok(true) => {}
                    Ok(false) => return refuted(LEFT_OPEN.to_owned()),
                    Err(why) => return Ok(Err(CheckOutcome::Undecided(why.to_string()))),
                }
                local.push(input.clone());
                taken += 1;
                match self.has(&local) {
                    HasTrace::Yes => {}
                    HasTrace::No => {
                        return refuted(LEFT_OPEN.to_owned());
                    }
                    HasTrace::Unknown(why) => {
                        return Ok(Err(CheckOutcome::Undecided(why.to_string())));
                    }
                }
                let constants = self.run.recheck_constants_of(&local, &mut self.solver);
                if constants != CheckOutcome::Confirmed {
                    return Ok(Err(constants));
                }
            }
        }
        Ok(Ok(next))
    }

    /// The local traces that explain a trace, and the inputs of it.
    fn after(&mut self, trace: &[TraceStep]) -> Result<Result<Explained, CheckOutcome>, Error> {
        let mut locals: Vec<Local> = vec![(Vec::new(), 0)];
        let mut sent = Vec::new();
        for step in trace {
            if is_input(self.run.model, step) {
                sent.push(step.clone());
                continue;
            }
            match self.observe(locals, &sent, Some(step))? {
                Ok(next) if next.is_empty() => {
                    return refuted(
                        "no order of the messages explains the trace before it".to_owned(),
                    );
                }
                Ok(next) => locals = next,
                Err(checked) => return Ok(Err(checked)),
            }
        }
        Ok(Ok((locals, sent)))
    }

    fn is_allowed(
        &mut self,
        trace: &[TraceStep],
        last: Option<&TraceStep>,
    ) -> Result<Result<bool, CheckOutcome>, Error> {
        let (locals, sent) = match self.after(trace)? {
            Ok(after) => after,
            Err(checked) => return Ok(Err(checked)),
        };
        let after = self.observe(locals, &sent, last)?;
        Ok(after.map(|next| !next.is_empty()))
    }
}
