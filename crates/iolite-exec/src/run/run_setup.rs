//! Everything that takes part in one run.

use iolite_derive::Tester;

use crate::run::engine::execute;
use crate::{Adapter, Event, ExecError, Options, RunId, RunOutcome, Sink, Strategy};

/// Who takes part in one run, and what it needs to know.
pub struct RunSetup<'a, T, P: ?Sized, S: ?Sized, K: ?Sized> {
    /// Judges.
    pub tester: &'a mut T,
    /// Reaches the system.
    pub adapter: &'a mut P,
    /// Chooses.
    pub strategy: &'a mut S,
    /// What else is to be known.
    pub options: &'a Options,
    /// Which run it is.
    pub id: RunId,
    /// Reads the events.
    pub sink: &'a mut K,
}

impl<T, P, S, K> RunSetup<'_, T, P, S, K>
where
    T: Tester,
    P: Adapter + ?Sized,
    S: Strategy + ?Sized,
    K: Sink + ?Sized,
{
    /// Runs the tester once: starts or resets the system, drives it, and judges. The system is left as
    /// it is at the end; the next start resets it.
    pub fn run(mut self) -> Result<RunOutcome, ExecError> {
        let result = execute(&mut self, None);
        self.tell_end(&result)?;
        result
    }

    /// Tells of the end of the run.
    pub(crate) fn tell_end(
        &mut self,
        result: &Result<RunOutcome, ExecError>,
    ) -> Result<(), ExecError> {
        let Ok(outcome) = result else {
            // The event of the fault was emitted where it happened.
            return Ok(());
        };
        self.sink.event(&Event::RunEnded {
            run: self.id.number,
            verdict: outcome.verdict,
            end: outcome.end,
            steps: outcome.steps,
            elapsed: crate::run::engine::micros(outcome.elapsed),
            certificate: outcome.certificate.clone().map(Box::new),
            results: outcome.results.iter().cloned().collect(),
        })
    }
}

/// Runs the tester once: a [`RunSetup`] of these, [run](RunSetup::run).
pub fn run<T, P, S, K>(
    tester: &mut T,
    adapter: &mut P,
    strategy: &mut S,
    options: &Options,
    id: RunId,
    sink: &mut K,
) -> Result<RunOutcome, ExecError>
where
    T: Tester,
    P: Adapter + ?Sized,
    S: Strategy + ?Sized,
    K: Sink + ?Sized,
{
    let setup = RunSetup {
        tester,
        adapter,
        strategy,
        options,
        id,
        sink,
    };
    setup.run()
}
