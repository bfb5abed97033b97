//! The shortest way found to a failure.

use std::time::{Duration, Instant};

use iolite_derive::{Step, Tester, Verdict};

use crate::{Adapter, ExecError, Op, Options, Pace, RunId, RunOutcome, Script, interrupted, run};

/// How hard to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkPlan {
    /// Executions of a candidate before it counts as not failing: more for a system that chooses.
    pub attempts: u32,
    /// Executions in all.
    pub executions: u32,
    /// Time in all.
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
    fn exhausted(&self) -> bool {
        self.executions >= self.plan.executions
            || Instant::now() >= self.deadline
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

    /// Whether the candidate fails in one of the attempts.
    fn attempt(&mut self, ops: &[Op]) -> Result<Option<RunOutcome>, ExecError> {
        for _ in 0..self.plan.attempts.max(1) {
            if self.exhausted() {
                break;
            }
            if let Some(outcome) = self.execute(ops)? {
                return Ok(Some(outcome));
            }
        }
        Ok(None)
    }
}

/// The script of a run; the failure may have come before the script's end. A crash is seen by whoever
/// looks for an output.
fn ops_of(steps: &[Step], verdict: Verdict) -> Vec<Op> {
    let crash = (verdict == Verdict::Crash).then_some(Op::Observe);
    steps.iter().map(|&s| Op::of(s)).chain(crash).collect()
}

/// Minimises a failing trace by running parts of it, large parts left out first (delta debugging,
/// [Zeller and Hildebrandt 2002]). Each candidate is a script of stimuli and observations; what the
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
        deadline: now.checked_add(plan.time).unwrap_or(now),
    };
    shrinker.options.limits.steps = None;
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
        best = shrinker.attempt(&given)?;
        if best.is_some() {
            break;
        }
    }
    let Some(mut best) = best else {
        shrunk.executions = shrinker.executions;
        return Ok(shrunk);
    };
    let mut ops = ops_of(best.trace.steps(), verdict);
    let mut chunk = (ops.len() / 2).max(1);
    'shrinking: loop {
        let mut from = 0;
        let mut smaller = false;
        while from < ops.len() {
            if shrinker.exhausted() {
                break 'shrinking;
            }
            let to = (from + chunk).min(ops.len());
            let candidate: Vec<_> = ops[..from].iter().chain(&ops[to..]).copied().collect();
            match shrinker.attempt(&candidate)? {
                Some(outcome) => {
                    let shorter = ops_of(outcome.trace.steps(), verdict);
                    if shorter.len() < ops.len() {
                        ops = shorter;
                        best = outcome;
                        smaller = true;
                    } else {
                        from = to;
                    }
                }
                None => from = to,
            }
        }
        if chunk == 1 && !smaller {
            shrunk.minimal = !shrinker.exhausted();
            break;
        }
        if !smaller {
            chunk = (chunk / 2).max(1);
        }
        chunk = chunk.min(ops.len().max(1));
    }
    for _ in 0..plan.confirmations {
        if interrupted().is_some() {
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
