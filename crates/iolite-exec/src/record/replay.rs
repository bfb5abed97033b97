//! A recorded run once more.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{Menu, Step, Tester};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    Adapter, Choice, ExecError, Op, Options, Pace, RunId, RunOutcome, Sink, Strategy, run,
};

/// Where a replay left the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Number of the step, from 0.
    pub step: usize,
    /// What was recorded there.
    pub recorded: String,
    /// What happened now; `None` where the tester did not take the stimulus.
    pub seen: Option<String>,
}

/// What a replay came to.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The run, judged anew.
    pub outcome: RunOutcome,
    /// Where it left the record, if it did.
    pub divergence: Option<Divergence>,
}

/// A run as it was recorded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record<'a> {
    /// What happened, in order.
    pub steps: &'a [Step],
    /// For each step, whether it is an output that came before a stimulus; empty where nobody knows.
    pub preempting: &'a [bool],
    /// How long was waited before stimuli, by the number of the step.
    pub pauses: Option<&'a BTreeMap<u64, Duration>>,
    /// Whether the system ended after the last step.
    pub crashed: bool,
}

impl<'a> Record<'a> {
    /// Steps of which nothing else is known.
    pub fn new(steps: &'a [Step]) -> Self {
        Self {
            steps,
            ..Self::default()
        }
    }
}

/// Gives the recorded stimuli, and compares; ends at the first difference.
struct Follow<'a> {
    record: Record<'a>,
    next: usize,
    difference: Option<Step>,
}

impl Strategy for Follow<'_> {
    fn choose(&mut self, _: &Menu, _: &mut Xoshiro256PlusPlus) -> Choice {
        if self.difference.is_some() {
            return Choice::Finish;
        }
        let Record {
            steps,
            preempting,
            crashed,
            ..
        } = self.record;
        match steps.get(self.next).map(|&s| Op::of(s)) {
            // The end of the system is seen by whoever looks for an output.
            None if crashed => Choice::Await,
            None => Choice::Finish,
            Some(Op::Give(a)) => Choice::Give(a),
            Some(Op::Observe) if preempting.get(self.next) == Some(&true) => Choice::Await,
            Some(Op::Observe) => Choice::Observe,
        }
    }

    fn happened(&mut self, step: Step, _: bool) {
        if self.difference.is_some() {
            return;
        }
        if self.record.steps.get(self.next) == Some(&step) {
            self.next += 1;
        } else {
            self.difference = Some(step);
        }
    }
}

/// Reruns a record. The run keeps its seed and asks as it did, so that a model under test is scheduled
/// alike.
pub fn replay<T, P, K>(
    tester: &mut T,
    adapter: &mut P,
    record: Record<'_>,
    options: &Options,
    id: RunId,
    sink: &mut K,
) -> Result<Replay, ExecError>
where
    T: Tester,
    P: Adapter + ?Sized,
    K: Sink + ?Sized,
{
    // Runs forget what earlier ones met; the record's actions must stay.
    tester.alphabet().pin();
    let mut follow = Follow {
        record,
        next: 0,
        difference: None,
    };
    let mut options = options.clone();
    options.limits.steps = None;
    options.pace = Pace::Recorded(Arc::new(record.pauses.cloned().unwrap_or_default()));
    let outcome = run(tester, adapter, &mut follow, &options, id, sink)?;
    let record = record.steps;
    let divergence = (follow.next < record.len() || follow.difference.is_some()).then(|| {
        let recorded = record.get(follow.next);
        Divergence {
            step: follow.next,
            recorded: recorded.map_or_else(|| "the end".into(), |s| s.text(tester.alphabet())),
            seen: follow.difference.map(|s| s.text(tester.alphabet())),
        }
    });
    Ok(Replay {
        outcome,
        divergence,
    })
}
