//! A recorded run once more.

use iolite_derive::{Menu, Step, Tester};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Adapter, Choice, ExecError, Op, Options, RunId, RunOutcome, Sink, Strategy, run};

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

/// Gives the recorded stimuli, and compares; ends at the first difference.
struct Follow<'a> {
    record: &'a [Step],
    preempting: &'a [bool],
    next: usize,
    difference: Option<Step>,
}

impl Strategy for Follow<'_> {
    fn choose(&mut self, _: &Menu, _: &mut Xoshiro256PlusPlus) -> Choice {
        if self.difference.is_some() {
            return Choice::Finish;
        }
        match self.record.get(self.next).map(|&s| Op::of(s)) {
            None => Choice::Finish,
            Some(Op::Give(a)) => Choice::Give(a),
            Some(Op::Observe) if self.preempting.get(self.next) == Some(&true) => Choice::Await,
            Some(Op::Observe) => Choice::Observe,
        }
    }

    fn happened(&mut self, step: Step, _: bool) {
        if self.difference.is_some() {
            return;
        }
        if self.record.get(self.next) == Some(&step) {
            self.next += 1;
        } else {
            self.difference = Some(step);
        }
    }
}

/// Reruns a record, in which outputs came before stimuli where `preempting` says so. The run keeps
/// its seed and asks as it did, so that a model under test is scheduled alike.
pub fn replay<T, P, K>(
    tester: &mut T,
    adapter: &mut P,
    (record, preempting): (&[Step], &[bool]),
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
        preempting,
        next: 0,
        difference: None,
    };
    let mut options = options.clone();
    options.limits.steps = None;
    let outcome = run(tester, adapter, &mut follow, &options, id, sink)?;
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
