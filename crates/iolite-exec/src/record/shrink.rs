//! The shortest way found to a failure.

use std::cmp::Reverse;
use std::ops::Range;
use std::time::{Duration, Instant};

use iolite_derive::{Step, Tester, Verdict};
use rustc_hash::FxHashMap;

use crate::{Adapter, ExecError, Op, Options, Pace, RunId, RunOutcome, Script, interrupted, run};

/// How hard to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkPlan {
    /// Executions of a candidate before it counts as not failing: more for a system that chooses.
    pub attempts: u32,
    /// Executions in all.
    pub executions: u32,
    /// Time in all, confirmations included: a quarter of it is kept for them.
    pub time: Duration,
    /// Executions of the result, to count how often it fails.
    pub confirmations: u32,
    /// Seed.
    pub seed: u64,
}

impl Default for ShrinkPlan {
    fn default() -> Self {
        Self {
            attempts: 3,
            executions: 2000,
            time: Duration::from_secs(60),
            confirmations: 20,
            seed: 0,
        }
    }
}

/// A shrunk failure.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The failing run that was found, with its certificate; `None` when the failure never came
    /// again.
    pub run: Option<RunOutcome>,
    /// Steps of the trace that was given.
    pub from_steps: usize,
    /// Executions that it took.
    pub executions: u32,
    /// Whether no single step can be left out any more, as far as the attempts tell; `false` when
    /// time or executions ran out.
    pub minimal: bool,
    /// Of the confirmations, how many failed.
    pub reproduced: u32,
    /// How many confirmations there were.
    pub confirmations: u32,
}

/// Executions in a row without a verdict before shrinking is given up.
const FAULTS: u32 = 10;

struct Shrinker<'a, T, P: ?Sized> {
    tester: &'a mut T,
    adapter: &'a mut P,
    options: Options,
    plan: ShrinkPlan,
    verdict: Verdict,
    executions: u32,
    /// Executions in a row that came to no verdict.
    faults: u32,
    deadline: Instant,
}

impl<T, P> Shrinker<'_, T, P>
where
    T: Tester,
    P: Adapter + ?Sized,
{
    /// Whether only what is kept for confirmations is left.
    fn exhausted(&self) -> bool {
        let left = self.plan.executions.saturating_sub(self.executions);
        left <= self.plan.confirmations.min(self.plan.executions / 4) || self.is_over(self.deadline)
    }

    fn is_over(&self, deadline: Instant) -> bool {
        self.executions >= self.plan.executions
            || Instant::now() >= deadline
            || interrupted().is_some()
    }

    fn execute(&mut self, ops: &[Op]) -> Result<Option<RunOutcome>, ExecError> {
        let id = RunId::of(self.plan.seed, u64::from(self.executions));
        self.executions += 1;
        let mut script = Script::new(ops.to_vec());
        let outcome = run(
            self.tester,
            self.adapter,
            &mut script,
            &self.options,
            id,
            &mut (),
        );
        match outcome {
            Ok(outcome) => {
                self.faults = 0;
                Ok((outcome.verdict == self.verdict).then_some(outcome))
            }
            // What was found so far is the result.
            Err(ExecError::Interrupted(_)) => Ok(None),
            // A part of the trace may crash the system, and is then no shorter way to the failure;
            // a system that is gone for good is another matter.
            Err(error) => {
                self.faults += 1;
                if self.faults > FAULTS {
                    Err(error)
                } else {
                    Ok(None)
                }
            }
        }
    }

    /// Whether the candidate fails in one of so many attempts.
    fn attempt(&mut self, ops: &[Op], attempts: u32) -> Result<Option<RunOutcome>, ExecError> {
        for _ in 0..attempts.max(1) {
            if self.exhausted() {
                break;
            }
            if let Some(outcome) = self.execute(ops)? {
                return Ok(Some(outcome));
            }
        }
        Ok(None)
    }

    /// Tries the run without some of its steps; keeps what is shorter and fails.
    fn leave_out(
        &mut self,
        best: &mut RunOutcome,
        range: Range<usize>,
        attempts: u32,
    ) -> Result<bool, ExecError> {
        let ops = ops_of(best.trace.steps(), self.verdict);
        let candidate: Vec<_> = ops[..range.start]
            .iter()
            .chain(&ops[range.end..])
            .copied()
            .collect();
        match self.attempt(&candidate, attempts)? {
            Some(outcome) if ops_of(outcome.trace.steps(), self.verdict).len() < ops.len() => {
                *best = outcome;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Leaves out what runs are made of: ways that return to an action, then whole exchanges of a stimulus
    /// and its answers, the last first. An exchange less leaves a dialogue behind that systems accept.
    fn leave_out_dialogue(
        &mut self,
        best: &mut RunOutcome,
        attempts: u32,
    ) -> Result<(), ExecError> {
        'again: loop {
            for range in loops(best.trace.steps()) {
                if self.exhausted() {
                    return Ok(());
                }
                if self.leave_out(best, range, attempts)? {
                    continue 'again;
                }
            }
            break;
        }
        let mut next = exchanges(best.trace.steps()).len();
        while next > 0 && !self.exhausted() {
            next -= 1;
            if let Some(range) = exchanges(best.trace.steps()).get(next) {
                self.leave_out(best, range.clone(), attempts)?;
            }
        }
        Ok(())
    }

    /// Leaves out ever smaller parts; whether no single step can be left out any more.
    fn leave_out_parts(&mut self, best: &mut RunOutcome, attempts: u32) -> Result<bool, ExecError> {
        let mut chunk = (best.trace.steps().len() / 2).max(1);
        loop {
            let mut from = 0;
            let mut smaller = false;
            while from < best.trace.steps().len() {
                if self.exhausted() {
                    return Ok(false);
                }
                let to = (from + chunk).min(best.trace.steps().len());
                if self.leave_out(best, from..to, attempts)? {
                    smaller = true;
                } else {
                    from = to;
                }
            }
            if chunk == 1 && !smaller {
                return Ok(!self.exhausted());
            }
            if !smaller {
                chunk = (chunk / 2).max(1);
            }
            chunk = chunk.min(best.trace.steps().len().max(1));
        }
    }
}

/// Ways that return to the same action that are tried at a time.
const LOOPS: usize = 64;

/// Parts of a trace from an action to the same action later, the longest first.
fn loops(steps: &[Step]) -> Vec<Range<usize>> {
    let mut first: FxHashMap<Step, usize> = FxHashMap::default();
    let mut found: FxHashMap<usize, usize> = FxHashMap::default();
    for (i, &step) in steps.iter().enumerate() {
        match first.get(&step) {
            Some(&from) => {
                found.insert(from, i);
            }
            None => {
                first.insert(step, i);
            }
        }
    }
    let mut ranges: Vec<Range<usize>> = found.into_iter().map(|(from, to)| from..to).collect();
    ranges.sort_by_key(|range| (Reverse(range.len()), range.start));
    ranges.truncate(LOOPS);
    ranges
}

/// Each stimulus with the observations that follow it.
fn exchanges(steps: &[Step]) -> Vec<Range<usize>> {
    let is_stimulus = |step: &Step| matches!(step, Step::Stimulus(_));
    let starts: Vec<usize> = (0..steps.len())
        .filter(|&i| is_stimulus(&steps[i]))
        .collect();
    let ends = starts.iter().skip(1).copied().chain([steps.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&from, to)| from..to)
        .collect()
}

/// The script of a run; the failure may have come before the script's end. A crash is seen by whoever
/// looks for an output.
fn ops_of(steps: &[Step], verdict: Verdict) -> Vec<Op> {
    let crash = (verdict == Verdict::Crash).then_some(Op::Observe);
    steps.iter().map(|&s| Op::of(s)).chain(crash).collect()
}

/// Minimises a failing trace by running parts of it: without its loops, without whole exchanges, then without
/// ever smaller parts (delta debugging, [Zeller and Hildebrandt 2002]). Each candidate is a script of stimuli and observations; what the
/// system answers is judged by the tester, which also refuses stimuli that lead out of the
/// specification's suspension traces. So each result is a failing run that really happened.
pub fn shrink<T, P>(
    tester: &mut T,
    adapter: &mut P,
    trace: &[Step],
    verdict: Verdict,
    options: &Options,
    plan: &ShrinkPlan,
) -> Result<Shrunk, ExecError>
where
    T: Tester,
    P: Adapter + ?Sized,
{
    // Runs forget what earlier ones met; the trace's actions must stay.
    tester.alphabet().pin();
    let now = Instant::now();
    let mut shrinker = Shrinker {
        tester,
        adapter,
        options: options.clone(),
        plan: *plan,
        verdict,
        executions: 0,
        faults: 0,
        // The rest is for confirmations, which belong to the time that was given.
        deadline: now.checked_add(plan.time / 4 * 3).unwrap_or(now),
    };
    let end = now.checked_add(plan.time).unwrap_or(now);
    shrinker.options.limits.steps = None;
    // No execution takes longer than all of them may.
    shrinker.options.limits.until = Some(end);
    // Steps are left out, so pauses that were recorded by number have no place.
    shrinker.options.pace = Pace::Off;
    let mut shrunk = Shrunk {
        run: None,
        from_steps: trace.len(),
        executions: 0,
        minimal: false,
        reproduced: 0,
        confirmations: 0,
    };
    let given = ops_of(trace, verdict);
    // The whole trace gets more attempts than its parts: without it there is nothing to shrink.
    let mut best = None;
    for _ in 0..10 {
        best = shrinker.attempt(&given, plan.attempts)?;
        if best.is_some() {
            break;
        }
    }
    let Some(mut best) = best else {
        shrunk.executions = shrinker.executions;
        return Ok(shrunk);
    };
    // One attempt a candidate; what remains is then tried as often as the plan says.
    let mut rounds = vec![1];
    rounds.extend((plan.attempts > 1).then_some(plan.attempts));
    for attempts in rounds {
        shrinker.leave_out_dialogue(&mut best, attempts)?;
        shrunk.minimal = shrinker.leave_out_parts(&mut best, attempts)?;
    }
    let ops = ops_of(best.trace.steps(), verdict);
    for _ in 0..plan.confirmations {
        if shrinker.is_over(end) {
            break;
        }
        shrunk.confirmations += 1;
        if shrinker.execute(&ops)?.is_some() {
            shrunk.reproduced += 1;
        }
    }
    shrunk.executions = shrinker.executions;
    shrunk.run = Some(best);
    Ok(shrunk)
}
