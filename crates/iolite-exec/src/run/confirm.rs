//! Failing runs that are repeated before they count.
//!
//! A `fail` by silence rests on a timeout: the system may have been about to answer. Such a run is
//! repeated as it was, and where it had failed, and wherever an answer had come, the system is given more time. A failure that does not
//! come back is [`Verdict::Flaky`], which proves nothing and is counted apart.

use std::sync::Arc;
use std::time::Duration;

use iolite_derive::{Menu, Notice, Step, Tester, Verdict};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::run::engine::{execute, micros};
use crate::{
    Adapter, Certificate, Choice, Event, ExecError, Options, Pace, RunOutcome, RunSetup, Sink,
    Strategy, interrupted,
};

/// How often a failing run is repeated before it is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirm {
    /// Repetitions of a run whose last observation is δ, over a channel where waiting takes time.
    pub silence: u32,
    /// Repetitions of a run whose last observation is an output.
    pub outputs: u32,
}

impl Default for Confirm {
    fn default() -> Self {
        Self {
            silence: 3,
            outputs: 0,
        }
    }
}

impl Confirm {
    /// Nothing is repeated.
    pub const NEVER: Self = Self {
        silence: 0,
        outputs: 0,
    };
}

/// What one repetition says of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confirmation {
    /// The run failed again: by the same silence, with more time, by an output, or by what came instead and nothing explains.
    Reproduced,
    /// Everything was as before, and where the run had failed the system did something else, which
    /// is allowed.
    Refuted,
    /// The system ended, which is a failure of its own: it had been about to, and the run is a
    /// `crash`.
    Crashed,
    /// The system went another way before that point, or was slow there, so that the repetition says nothing.
    Diverged,
    /// The infrastructure failed in the repetition, which says nothing.
    Fault,
}

/// The longest wait of a repetition. Longer than that nobody waits for a `fail`.
const LONGEST: Duration = Duration::from_secs(60);

/// What each repetition waits longer, whatever the timeout: a busy machine is late by such times.
const GRACE: Duration = Duration::from_millis(250);

/// How often the longest wait is tried again where the system went another way, or the infrastructure failed.
const AGAIN: u32 = 3;

/// How long the repetition with this number, from 1, waits where `patience` had not been enough: two,
/// four, eight times as long, and a little more. A machine that was busy for a moment is excused by
/// the first, a system that is slower than its timeout says by the last.
fn longer(patience: Duration, attempt: u32) -> Duration {
    patience
        .saturating_mul(1 << attempt.min(3))
        .saturating_add(GRACE * attempt.min(3))
        .clamp(patience, LONGEST.max(patience))
}

/// Does what the record did. Where the record has an answer, and at its end, it waits longer; a silence within it is one again
/// after the time that it took.
struct Repeat<'a> {
    record: &'a [Step],
    /// How long to wait for answers and for the last step, where that was δ.
    patience: Option<Duration>,
    next: usize,
    /// Outputs that came before their place in the record.
    ahead: Vec<Step>,
    /// Whether messages crossed otherwise than in the record.
    crossed: bool,
    difference: Option<Step>,
}

impl<'a> Repeat<'a> {
    fn new(record: &'a [Step], patience: Option<Duration>) -> Self {
        Self {
            record,
            patience,
            next: 0,
            ahead: Vec::new(),
            crossed: false,
            difference: None,
        }
    }

    /// Whether this output stands in the record later, before the next silence. Stimuli and outputs cross, and outputs of several
    /// channels overtake each other; what was silent in between separates them.
    fn is_early(&self, step: Step) -> bool {
        let is = |s: &&Step| **s == step;
        let until_silence = self.record[self.next..]
            .iter()
            .take_while(|s| matches!(s, Step::Stimulus(_) | Step::Output(_)));
        matches!(step, Step::Output(_))
            && until_silence.filter(is).count() > self.ahead.iter().filter(is).count()
    }

    fn skip_seen(&mut self) {
        while let Some(step) = self.record.get(self.next)
            && let Some(at) = self.ahead.iter().position(|seen| seen == step)
        {
            self.ahead.swap_remove(at);
            self.next += 1;
        }
    }

    /// Whether only the last step was not seen again.
    fn is_at_the_end(&self) -> bool {
        self.next + 1 == self.record.len()
    }

    /// What the repetition says, where it had this outcome.
    fn judge(&self, verdict: Verdict, again: &RunOutcome) -> Confirmation {
        // A silence elsewhere was not the one that is to be confirmed, whereas a forbidden output is seen or not.
        let by_output = ends_with_output(again);
        // Through several channels what came instead may need an explanation, which was waited for as long as for the answer.
        let is_instead = self.is_at_the_end() && self.difference.is_some();
        let fails_again = again.verdict == verdict
            || (verdict == Verdict::Fail && again.verdict == Verdict::ViolateFail);
        if fails_again && (by_output || is_instead || self.next == self.record.len()) {
            Confirmation::Reproduced
        } else if again.verdict == Verdict::Crash && self.is_at_the_end() {
            Confirmation::Crashed
        } else if is_instead && !self.crossed && !again.verdict.is_failing() {
            Confirmation::Refuted
        } else {
            Confirmation::Diverged
        }
    }
}

/// Whether the last that happened was an output.
fn ends_with_output(outcome: &RunOutcome) -> bool {
    matches!(outcome.trace.last(), Some(Step::Output(_)))
}

impl Strategy for Repeat<'_> {
    fn choose(&mut self, _: &Menu, _: &mut Xoshiro256PlusPlus) -> Choice {
        if self.difference.is_some() {
            return Choice::Finish;
        }
        match (self.record.get(self.next), self.patience) {
            (None, _) => Choice::Finish,
            (Some(&Step::Stimulus(a)), _) => Choice::Give(a),
            (Some(Step::Quiescence), Some(_)) if !self.is_at_the_end() => Choice::Observe,
            (Some(_), Some(patience)) => Choice::ObserveFor(patience),
            (Some(_), None) => Choice::Observe,
        }
    }

    fn happened(&mut self, step: Step, _: bool) {
        if self.difference.is_some() {
            return;
        }
        if self.record.get(self.next) == Some(&step) {
            self.next += 1;
        } else if self.is_early(step) {
            self.ahead.push(step);
            self.crossed = true;
        } else {
            self.difference = Some(step);
        }
        self.skip_seen();
    }
}

/// The last observation of a failing run that is to be repeated, and how often.
fn repetitions(
    outcome: &RunOutcome,
    options: &Options,
    timed: bool,
) -> Option<(Option<Duration>, u32)> {
    let by_observation = outcome.end == crate::End::Tester && outcome.trace.omitted() == 0;
    if !outcome.verdict.is_failing() || !by_observation {
        return None;
    }
    let (patience, count) = match outcome.trace.steps().last()? {
        Step::Quiescence if timed => {
            let waited = outcome.certificate.as_ref()?.patience?;
            (Some(Duration::from_micros(waited)), options.confirm.silence)
        }
        Step::Output(_) => (None, options.confirm.outputs),
        _ => return None,
    };
    (count > 0).then_some((patience, count))
}

/// Whether a failure by silence is not repeated because the beginning of the run alone was kept.
fn is_too_long(outcome: &RunOutcome, options: &Options, timed: bool) -> bool {
    let by_silence = timed && outcome.trace.last() == Some(Step::Quiescence);
    let is_asked = options.confirm.silence > 0 && outcome.end == crate::End::Tester;
    outcome.verdict.is_failing() && by_silence && is_asked && outcome.trace.omitted() > 0
}

/// Puts another verdict in place of the one that did not come back, for the goals too: what they say of the last observation
/// is no more certain than what the run says of it. A failure of conformance is always the last observation's.
fn replace(outcome: &mut RunOutcome, verdict: Verdict) {
    let withdrawn = [outcome.verdict, Verdict::Fail, Verdict::ViolateFail];
    for (_, result) in &mut outcome.results {
        if withdrawn.contains(result) {
            *result = verdict;
        }
    }
    outcome.verdict = verdict;
}

impl<T, P, S, K> RunSetup<'_, T, P, S, K>
where
    T: Tester,
    P: Adapter + ?Sized,
    S: Strategy + ?Sized,
    K: Sink + ?Sized,
{
    /// As [`run`](Self::run), and repeats a run that failed as often as the options ask. The verdict
    /// stands if a repetition failed again and none contradicted it, where it failed by silence the one with the longest wait; else it is
    /// `flaky`.
    pub fn run_confirmed(mut self) -> Result<RunOutcome, ExecError> {
        let mut result = execute(&mut self, None);
        if let Ok(outcome) = &mut result
            && let Some(asked) = repetitions(outcome, self.options, self.adapter.is_timed())
        {
            let pinned = self.tester.alphabet().pin();
            let confirmed = self.confirm(outcome, asked);
            self.tester.alphabet().unpin(pinned);
            match confirmed? {
                Confirmed::Stands => {}
                Confirmed::Not => replace(outcome, Verdict::Flaky),
                Confirmed::Crash(certificate) => {
                    replace(outcome, Verdict::Crash);
                    outcome.certificate = certificate.map(|c| *c);
                }
            }
        }
        if let Ok(outcome) = &mut result
            && is_too_long(outcome, self.options, self.adapter.is_timed())
        {
            if let Some(event) = Event::notice(self.id.number, &Notice::NotRepeated) {
                self.sink.event(&event)?;
            }
            outcome.notices.push(Notice::NotRepeated);
        }
        self.tell_end(&result)?;
        result
    }

    /// Repeats the run; what it showed instead where it failed again is kept in the certificate.
    fn confirm(
        &mut self,
        outcome: &mut RunOutcome,
        (patience, count): (Option<Duration>, u32),
    ) -> Result<Confirmed, ExecError> {
        let mut options = self.options.clone();
        // The repetitions are few; a campaign whose time is over must not report a failure for that.
        options.limits.until = None;
        options.limits.steps = None;
        options.limits.coverage = None;
        options.pace = Pace::Recorded(Arc::new(outcome.pauses.clone()));
        let mut reproduced = false;
        let most = if patience.is_some() {
            count.saturating_add(AGAIN)
        } else {
            count
        };
        for attempt in 1..=most {
            let last = patience.map(|patience| longer(patience, attempt.min(count)));
            let mut repeat = Repeat::new(outcome.trace.steps(), last);
            // What the run before left under way may be as late as the answer that is waited for here.
            self.adapter.leave_time(last.unwrap_or_default());
            let mut setup = RunSetup {
                tester: &mut *self.tester,
                adapter: &mut *self.adapter,
                strategy: &mut repeat,
                options: &options,
                id: self.id,
                sink: &mut (),
            };
            let again = execute(&mut setup, last);
            if interrupted().is_some()
                && let Err(error) = again
            {
                // Neither confirmed nor contradicted: nothing is claimed.
                self.sink.event(&Event::Fault {
                    run: self.id.number,
                    steps: outcome.steps,
                    code: error.code().into(),
                    message: error.to_string(),
                })?;
                return Err(error);
            }
            let by_output = again.as_ref().is_ok_and(ends_with_output);
            let result = match &again {
                Ok(again) => repeat.judge(outcome.verdict, again),
                Err(_) => Confirmation::Fault,
            };
            let seen = repeat
                .difference
                .map(|step| step.text(self.tester.alphabet()));
            if result == Confirmation::Reproduced
                && let (Some(seen), Some(certificate)) = (&seen, &mut outcome.certificate)
                && !certificate.instead.contains(seen)
            {
                certificate.instead.push(seen.clone());
            }
            self.sink.event(&Event::Confirmation {
                run: self.id.number,
                attempt,
                patience: last.map(micros),
                result,
                seen: match &again {
                    Ok(_) => seen,
                    Err(error) => Some(error.to_string()),
                },
            })?;
            match result {
                Confirmation::Reproduced if attempt >= count => return Ok(Confirmed::Stands),
                // An output that was seen was seen, however long others take.
                Confirmation::Reproduced if patience.is_some() && by_output => {
                    return Ok(Confirmed::Stands);
                }
                // The system may need longer than this wait, and the longest one has yet to show that it does not.
                Confirmation::Reproduced => reproduced = patience.is_none(),
                Confirmation::Refuted => return Ok(Confirmed::Not),
                Confirmation::Crashed => {
                    return Ok(Confirmed::Crash(
                        again.ok().and_then(|a| a.certificate).map(Box::new),
                    ));
                }
                Confirmation::Diverged | Confirmation::Fault => {}
            }
        }
        Ok(if reproduced {
            Confirmed::Stands
        } else {
            Confirmed::Not
        })
    }
}

/// What the repetitions came to.
enum Confirmed {
    /// The failure stands.
    Stands,
    /// It does not.
    Not,
    /// The system crashes there, as this shows.
    Crash(Option<Box<Certificate>>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repetition_waits_longer_within_bounds() {
        let ms = Duration::from_millis;
        let waits = [1, 2, 3, 4].map(|attempt| longer(ms(20), attempt));
        assert_eq!(waits, [ms(290), ms(580), ms(910), ms(910)]);
        assert_eq!(longer(ms(50_000), 1), LONGEST);
        // Who asked for more than the longest gets what was asked for.
        assert_eq!(longer(ms(90_000), 3), ms(90_000));
    }
}
