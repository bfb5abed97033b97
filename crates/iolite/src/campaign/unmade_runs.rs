//! What the runs of a stored test case come to that cannot be set up.

use iolite_derive::Verdict;
use iolite_exec::{End, Event, ExecError, RunId, Sink, Summary};

use super::Campaign;
use crate::{Error, ErrorKind};

impl Campaign {
    /// What the runs of a stored test case come to that cannot be set up for this reason, those of this share numbered from
    /// `first`: `unknown` where a bound or a solver ran out, else a fault. `sink` is told, so that reports and journal
    /// have them.
    pub fn unmade_runs(
        &self,
        why: &Error,
        sink: &mut dyn Sink,
        (first, repeat): (u64, u64),
    ) -> Summary {
        let mut summary = Summary::default();
        let numbers = self
            .plan_within(first, first.saturating_add(repeat))
            .numbers();
        let mut events = Vec::new();
        for run in (0..).map_while(|k| numbers.get(k)) {
            if why.kind() == ErrorKind::Undecided {
                let seed = RunId::of(self.plan.seed, run).seed;
                events.push(Event::RunStarted { run, seed });
                events.push(Event::Notice {
                    run,
                    kind: "undecided".to_owned(),
                    message: why.message().to_owned(),
                });
                events.push(Event::RunEnded {
                    run,
                    verdict: Verdict::Unknown,
                    end: End::Tester,
                    steps: 0,
                    elapsed: 0,
                    certificate: None,
                    results: [].into(),
                });
                *summary.verdicts.entry(Verdict::Unknown).or_default() += 1;
            } else {
                let error = ExecError::from(why.clone());
                events.push(Event::Fault {
                    run,
                    steps: 0,
                    code: error.code().to_owned(),
                    message: error.to_string(),
                });
                summary.faults.insert(run, error);
            }
            let told = events.drain(..).try_for_each(|event| sink.event(&event));
            summary.unwritten.extend(told.err());
            let is_over = !summary.faults.is_empty() && self.plan.stop_on_fault;
            if is_over || !summary.unwritten.is_empty() {
                break;
            }
        }
        summary
    }
}
